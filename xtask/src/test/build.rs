//! Lints everything and builds what the tests need.
//!
//! Where no user is at the keyboard, clippy compiles what is run: its driver is rustc with more lints, so everything is
//! read and checked once, where `cargo clippy` checks all crates, also those of others, before `cargo test` compiles
//! them. A user has compiled most of it already, and is told about lints before anything is compiled.

use super::tools::is_unattended;
use crate::succeed;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All packages, with the features that are not on by default.
pub const EVERYTHING: [&str; 3] = ["--workspace", "--features", "ravelin-cli/cluster"];

/// What a user builds first has fewer features.
const FEWER_FEATURES: [&str; 1] = ["--workspace"];

/// That is `--all-targets` without unit tests of crates that have none (`test = false`): the files with unit tests of
/// such a crate are part of its test program.
const TARGETS: [&str; 5] = ["--lib", "--bins", "--examples", "--tests", "--benches"];

/// Arguments that clippy's driver gets from `cargo clippy -- -D warnings`.
const DENY_WARNINGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

pub fn lint_and_build() -> Result<()> {
    if driver().is_some() {
        // The last one leaves the binaries that the tests run.
        for packages in [&FEWER_FEATURES[..], &EVERYTHING] {
            succeed(cargo().arg("build").args(settings()).args(packages).args(TARGETS))?;
        }
    } else {
        for packages in [&EVERYTHING[..], &FEWER_FEATURES] {
            succeed(
                cargo().arg("clippy").args(settings()).args(packages).args(TARGETS).args(["--", "-D", "warnings"]),
            )?;
        }
    }
    succeed(cargo().arg("test").args(settings()).args(EVERYTHING).arg("--no-run"))
}

/// Cargo for every step. What incremental compilation writes is a quarter of all files, and is used only by a person
/// who changes something and builds again.
pub fn cargo() -> Command {
    let mut cargo = crate::cargo();
    if is_unattended() {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    if driver().is_some() {
        // The second variable is for `ravelin-sanitizer/build.rs`.
        cargo.env("CLIPPY_ARGS", DENY_WARNINGS).env("RAVELIN_LINTED_IS_RUN", "1");
    }
    cargo
}

/// Settings for every step that compiles. As arguments, because tests that start cargo would inherit variables.
pub fn settings() -> Vec<String> {
    const UNATTENDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/test/unattended.toml");
    let mut settings = Vec::new();
    if is_unattended() {
        settings.extend(["--config".to_owned(), UNATTENDED.to_owned()]);
    }
    if let Some(driver) = driver() {
        let driver = driver.display().to_string();
        settings.extend(["--config".to_owned(), format!("build.rustc-workspace-wrapper={driver:?}")]);
    }
    settings
}

/// Clippy's driver, if it compiles what is run.
fn driver() -> Option<PathBuf> {
    // As `cargo clippy` finds it.
    let driver = Path::new(&std::env::var_os("CARGO")?).with_file_name("clippy-driver");
    (is_unattended() && driver.is_file()).then_some(driver)
}
