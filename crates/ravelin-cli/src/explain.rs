//! `ravelin explain`.

use crate::arguments::Color;
use crate::exit::Exit;
use crate::{input, terminal};
use anyhow::Context;
use clap::Args;
use ravelin::answer::text::Style;
use ravelin_output::stdout;
use ravelin_report::{explain::explain, story};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Explain {
    /// A report of `--format json`; `-` reads standard input
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// When to use colours
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

pub fn run(arguments: &Explain) -> anyhow::Result<Exit> {
    let source = input::read_source(&arguments.report)?;
    let document = story::read(&source.text).with_context(|| source.name.clone())?;
    let style = Style { color: terminal::paints(arguments.color, stdout()), width: terminal::width(stdout()) };
    stdout().text(&explain(&document, style))?;
    Ok(Exit::Holds)
}
