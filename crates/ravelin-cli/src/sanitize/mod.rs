//! `ravelin cc`, `ravelin c++`, `ravelin run`, `ravelin verify`, `ravelin replay`, `ravelin cargo` and `ravelin findings`.

pub mod arguments;
mod bar;
mod cargo;
mod checkpoint;
mod consequences;
mod fix;
mod fix_all;
mod replay;
mod run;
mod verify;

pub use cargo::{cargo, rustc};
pub use replay::replay;
pub use run::run;
pub use verify::{resume, verify};

use crate::exit::Exit;
use crate::files;
use crate::pages::Pages;
use anyhow::Context;
use arguments::{Compile, Findings, ReportFormat, ReportOptions};
use ravelin::answer::SanitizerReport;
use ravelin::answer::text::Style;
use ravelin::{Answer, Document};
use ravelin_output::escape::{Colors, escaped_but_for};
use ravelin_output::{Color, Stream, stdout};
use ravelin_report::sarif;
use ravelin_sanitizer::compiler::{self, CLanguage};
use ravelin_sanitizer::gathered_from;
use ravelin_sanitizer::report::{Wanted, gather};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

/// Becomes the compiler, so that its exit code and signals are ours.
pub fn compile(language: CLanguage, arguments: &Compile) -> anyhow::Result<ExitCode> {
    let mut command = compiler::command(language, &arguments.arguments)?;
    let error = command.exec();
    Err(error).with_context(|| format!("{}: the compiler cannot be run", command.get_program().display()))
}

/// Reports what is in findings files.
pub fn findings(arguments: &Findings) -> anyhow::Result<Exit> {
    let wanted = arguments.report.wanted()?;
    let report = gather(gathered_from(&arguments.files)?, &wanted);
    arguments.report.print("findings", vec![report.answer(None)], &report.sources(), stdout())?;
    Ok(report.verdict().into())
}

impl ReportOptions {
    fn wanted(&self) -> anyhow::Result<Wanted> {
        let mut wanted = Wanted { spinning: self.spinning, library: self.show_library, ..Wanted::default() };
        for file in &self.suppressions {
            wanted.suppressions.read(file)?;
        }
        Ok(wanted)
    }

    /// Prints what was found, and writes the page.
    fn print(
        &self,
        command: &str,
        reports: Vec<SanitizerReport>,
        sources: &[(String, String)],
        for_people: Stream,
    ) -> anyhow::Result<()> {
        let answers = reports.into_iter().map(|report| Answer::Sanitizer(Box::new(report)));
        let document = Document::new(command, answers.collect());
        self.print_document(&document, for_people)?;
        let pages = Pages { html: self.html.clone(), svg: None };
        pages.check()?;
        pages.write(&document, sources)
    }

    /// Writes a document to the file that was asked for, or else text to `for_people` and the rest to standard output.
    fn print_document(&self, document: &Document, for_people: Stream) -> anyhow::Result<()> {
        // A file is no terminal, wherever the rest goes.
        let color = match (&self.output, self.paint.color) {
            (Some(_), color) => color == Color::Always,
            (None, color) => color.paints(for_people),
        };
        let written = match self.format {
            ReportFormat::Text => {
                document.answers.iter().map(|answer| answer.text(Style { color, width: None })).collect()
            }
            ReportFormat::Json => document.text(),
            ReportFormat::Sarif => {
                let root = std::env::current_dir().ok().map(|folder| folder.display().to_string());
                sarif::report(&document.answers, root.as_deref())
            }
        };
        match (&self.output, self.format) {
            // Users will look at it on a terminal.
            (Some(file), ReportFormat::Text) => {
                let colors = if color { Colors::Kept } else { Colors::Escaped };
                files::write(file, escaped_but_for(&written, colors).as_bytes())
            }
            (Some(file), ReportFormat::Json | ReportFormat::Sarif) => files::write(file, written),
            (None, ReportFormat::Text) => Ok(for_people.text(&written)?),
            (None, ReportFormat::Json | ReportFormat::Sarif) => Ok(stdout().text(&written)?),
        }
    }
}
