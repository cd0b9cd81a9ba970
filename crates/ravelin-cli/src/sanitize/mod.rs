//! `ravelin cc`, `ravelin c++`, `ravelin run`, `ravelin replay`, `ravelin cargo` and `ravelin findings`.

pub mod arguments;
mod cargo;
mod fix;
mod replay;
mod run;

pub use cargo::{cargo, rustc};
pub use replay::replay;
pub use run::run;

use crate::arguments::Color;
use crate::exit::Exit;
use crate::pages::Pages;
use crate::terminal::paints;
use anyhow::Context;
use arguments::{Compile, DisplayArguments, Findings, ReportFormat};
use ravelin::answer::text::Style;
use ravelin_output::escape::{Colors, escaped_but_for};
use ravelin_output::{Stream, replace, stdout};
use ravelin_report::sanitizer::json::document;
use ravelin_report::sanitizer::{json, sarif, text};
use ravelin_sanitizer::compiler::{self, CLanguage};
use ravelin_sanitizer::gathered_from;
use ravelin_sanitizer::report::{Report, Wanted, gather};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::ExitCode;

/// Becomes the compiler, so that its exit code and signals are ours.
pub fn compile(language: CLanguage, arguments: &Compile) -> anyhow::Result<ExitCode> {
    let mut command = compiler::command(language, &arguments.arguments)?;
    let error = command.exec();
    Err(error).with_context(|| format!("{}: the compiler cannot be run", command.get_program().display()))
}

/// Reports what is in findings files.
pub fn findings(arguments: &Findings) -> anyhow::Result<Exit> {
    let wanted = wanted(&arguments.shown)?;
    let report = gather(gathered_from(&arguments.files)?, &wanted);
    show("findings", &report, None, &arguments.shown, stdout())?;
    Ok(exit(&report))
}

/// What a report answers.
fn exit(report: &Report) -> Exit {
    match (report.is_clean(), report.is_complete()) {
        (false, _) => Exit::Violated,
        (true, true) => Exit::Holds,
        (true, false) => Exit::Unknown,
    }
}

fn wanted(shown: &DisplayArguments) -> anyhow::Result<Wanted> {
    let mut wanted = Wanted { spinning: shown.spinning, library: shown.show_library, ..Wanted::default() };
    for file in &shown.suppressions {
        wanted.suppressions.read(file)?;
    }
    Ok(wanted)
}

/// Writes the report to the file that was asked for, or else text to `for_people` and the rest to standard output.
fn show(
    command: &str,
    report: &Report,
    command_line: Option<&json::CommandLine>,
    shown: &DisplayArguments,
    for_people: Stream,
) -> anyhow::Result<()> {
    // A file is no terminal, wherever the rest goes.
    let color = match (&shown.output, shown.color) {
        (Some(_), color) => color == Color::Always,
        (None, color) => paints(color, for_people),
    };
    let root = std::env::current_dir().ok().map(|folder| folder.display().to_string());
    let written = match shown.format {
        ReportFormat::Text => text::report(report, Style { color, width: None }),
        ReportFormat::Json => document(command, vec![json::report(report, command_line)]),
        ReportFormat::Sarif => sarif::report(report, root.as_deref()),
    };
    match (&shown.output, shown.format) {
        (Some(file), _) => write_report(file, &written, shown)?,
        (None, ReportFormat::Text) => for_people.text(&written)?,
        (None, _) => stdout().text(&written)?,
    }
    let pages = Pages { html: shown.html.clone(), svg: None };
    pages.check()?;
    let answers = [json::report(report, command_line)];
    pages.write_findings(command, &answers, &report.sources())
}

/// Writes a report to a file. Text is for people, who will look at it on a terminal.
fn write_report(file: &Path, report: &str, shown: &DisplayArguments) -> anyhow::Result<()> {
    let colors = if shown.color == Color::Always { Colors::Kept } else { Colors::Escaped };
    let written = match shown.format {
        ReportFormat::Text => replace(file, escaped_but_for(report, colors).as_bytes()),
        ReportFormat::Json | ReportFormat::Sarif => replace(file, report),
    };
    written.with_context(|| file.display().to_string())
}
