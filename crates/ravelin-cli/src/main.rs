//! `ravelin`: arguments in, exit code out. Everything else is done by the libraries.

mod arguments;
mod ask;
mod certificate;
mod check;
mod cluster;
mod completions;
mod convert;
mod cover;
mod diagnose;
mod exit;
mod expect;
mod explain;
mod fence;
mod input;
mod limits;
mod model;
mod pages;
mod profile;
mod progress;
mod reach;
mod resume;
mod sanitize;
mod serve;
mod simulate;
mod states;
mod stops;
mod storage;
mod terminal;

use arguments::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use ravelin_sanitizer::compiler::Language;
use ravelin_sanitizer::rust::WRAPPER;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if words.next().is_some_and(|name| Path::new(&name).file_name() == Some(OsStr::new(WRAPPER))) {
        return ended(sanitize::rustc(&words.collect::<Vec<_>>()));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Wrong } else { Exit::Holds };
            // Nothing is left to be said if even this cannot be written.
            let _ = error.print();
            return code.into();
        }
    };
    let result: anyhow::Result<Exit> = match &arguments.command {
        Command::Cc(arguments) => return ended(sanitize::compile(Language::C, arguments)),
        Command::Cxx(arguments) => return ended(sanitize::compile(Language::Cxx, arguments)),
        Command::Run(arguments) => return ended(sanitize::run(arguments)),
        Command::Cargo(arguments) => return ended(sanitize::cargo(arguments)),
        Command::Replay(arguments) => sanitize::replay(arguments),
        Command::Findings(arguments) => sanitize::findings(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Reach(arguments) => reach::run(arguments),
        Command::Cluster(arguments) => cluster::run(arguments),
        Command::Resume(arguments) => resume::run(arguments),
        Command::Fence(arguments) => fence::run(arguments),
        Command::States(arguments) => states::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Certificate(arguments) => certificate::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Cover(arguments) => cover::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments),
        Command::Man(arguments) => completions::manual(arguments),
        Command::Diagnose(arguments) => diagnose::run(arguments),
    };
    ended(result)
}

/// The exit code, and the message if there is one.
fn ended(result: anyhow::Result<impl Into<ExitCode>>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_broken_pipe(&error) => Exit::Holds.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            Exit::Wrong.into()
        }
    }
}
