//! What is wrong with a program, for programs: diagnostics as data, with the places where they begin and end. `ravelin diagnose`
//! gives nothing but these, for editors; errors among the answers of other commands carry them as well.

use crate::exit::Exit;
use crate::input;
use crate::named::named;
use clap::Args;
use ravelin_frontend::{Diagnostic, Language, Parsed, Severity};
use ravelin_output::stdout;
use ravelin_program::{Source, Span};
use ravelin_report::json;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Diagnose {
    /// The program; `-` reads standard input
    pub file: PathBuf,
    /// The language of the file, if the file name does not determine it
    #[arg(long, value_name = "LANGUAGE", value_parser = named(&Language::ALL, Language::name))]
    pub from: Option<Language>,
}

pub fn run(arguments: &Diagnose) -> anyhow::Result<Exit> {
    let reading = input::Reading { from: arguments.from, ..input::Reading::default() };
    let parsed = input::parse_quietly(&arguments.file, &reading)?;
    let exit = if parsed.program.is_some() { Exit::Holds } else { Exit::Wrong };
    let answer = json!({
        "file": parsed.source.name,
        "language": parsed.language.name(),
        "diagnostics": diagnostics(&parsed),
    });
    stdout().text(&json::document("diagnose", vec![answer]))?;
    Ok(exit)
}

/// An answer about a program that could not be read.
pub fn error(file: &str, parsed: &Parsed) -> Value {
    let mut answer = json::error(file, "the program has errors");
    answer["diagnostics"] = json!(diagnostics(parsed));
    answer
}

fn diagnostics(parsed: &Parsed) -> Vec<Value> {
    parsed.diagnostics.iter().map(|diagnostic| told(diagnostic, &parsed.source)).collect()
}

fn told(diagnostic: &Diagnostic, source: &Source) -> Value {
    let secondary = diagnostic.secondary.iter().map(|(span, label)| {
        let mut place = place(*span, source);
        place["label"] = json!(label);
        place
    });
    let mut told = place(diagnostic.span, source);
    told["severity"] = json!(if diagnostic.severity == Severity::Error { "error" } else { "warning" });
    told["message"] = json!(diagnostic.message);
    told["label"] = json!(diagnostic.label);
    told["notes"] = json!(diagnostic.notes);
    told["help"] = json!(diagnostic.help);
    told["others"] = json!(secondary.collect::<Vec<_>>());
    told
}

/// Where a span begins, and where it ends: the first character that does not belong to it.
fn place(span: Span, source: &Source) -> Value {
    let length = u32::try_from(source.text.len()).unwrap_or(u32::MAX);
    let at = |offset: u32| source.position(Span { start: offset.min(length), end: u32::MAX });
    let (start, end) = (at(span.start), at(span.end.max(span.start)));
    json!({
        "line": start.map(|at| at.line),
        "column": start.map(|at| at.column),
        "end_line": end.map(|at| at.line),
        "end_column": end.map(|at| at.column),
    })
}
