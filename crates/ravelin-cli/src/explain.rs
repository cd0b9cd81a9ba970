//! `ravelin explain`.

use crate::arguments::Paint;
use crate::exit::Exit;
use anyhow::Context;
use clap::Args;
use ravelin_output::stdout;
use ravelin_process::input;
use ravelin_report::{explain::explain, story};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Explain {
    /// A report of `--format json`; `-` reads standard input
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    #[command(flatten)]
    pub paint: Paint,
}

pub fn run(arguments: &Explain) -> anyhow::Result<Exit> {
    let text = input::read(&arguments.report)?;
    let document = story::read(&text).with_context(|| arguments.report.display().to_string())?;
    stdout().text(&explain(&document, arguments.paint.style()))?;
    Ok(Exit::Holds)
}
