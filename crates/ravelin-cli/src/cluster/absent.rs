//! In place of `links.rs` in a build without the feature `cluster`: one sentence, which says how to build with it.

use super::{Cluster, LocalCluster};
use crate::arguments::Inputs;
use anyhow::anyhow;
use ravelin::Peers;
use std::path::Path;
use std::process::ExitCode;

pub fn available() -> anyhow::Result<()> {
    Err(refusal())
}

pub fn connect(_: &Cluster, _: &Path, _: usize, _: &Inputs) -> anyhow::Result<Box<dyn Peers>> {
    Err(refusal())
}

pub fn machines(_: &Path) -> u64 {
    1
}

pub fn run(_: &LocalCluster) -> anyhow::Result<ExitCode> {
    Err(refusal())
}

fn refusal() -> anyhow::Error {
    anyhow!(
        "this `ravelin` was built without `cluster`; `cargo install --path crates/ravelin-cli --features cluster` (or \
         `cargo run --release --features cluster -- …`) builds it in"
    )
}
