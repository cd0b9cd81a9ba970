//! `ravelin explain`.

use crate::arguments::Color;
use crate::exit::Exit;
use crate::{input, terminal};
use anyhow::Context;
use clap::Args;
use ravelin_report::text::Style;
use ravelin_report::{explain::explain, story};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Explain {
    /// What `--format json` wrote; `-` reads standard input
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// Colours
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

pub fn run(arguments: &Explain) -> anyhow::Result<Exit> {
    let source = input::read_source(&arguments.report)?;
    let document = story::read(&source.text).with_context(|| source.name.clone())?;
    let stdout = std::io::stdout();
    let style = Style { color: terminal::paints(arguments.color, &stdout), width: terminal::width(&stdout) };
    stdout.lock().write_all(explain(&document, style).as_bytes())?;
    Ok(Exit::Holds)
}
