//! What is wrong with a program, for editors: diagnostics as data, with the places where they begin and end.

use crate::exit::Exit;
use crate::named::named;
use clap::Args;
use ravelin::answer::Severity;
use ravelin::{Answer, Document, Language, ReadOptions};
use ravelin_output::stdout;
use ravelin_process::input;
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
    let text = input::read(&arguments.file)?;
    let reading = ReadOptions { language: arguments.from, ..ReadOptions::default() };
    let found = ravelin::diagnostics(&reading, arguments.file.display().to_string(), text)?;
    let is_wrong = found.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    stdout().text(&Document::new("diagnose", vec![Answer::Diagnostics(found)]).text())?;
    Ok(if is_wrong { Exit::Wrong } else { Exit::Holds })
}
