//! `ravelin`: arguments in, exit code out. Everything else is done by the libraries.

// What is printed goes through ravelin-output.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod alone;
mod arguments;
mod ask;
mod certificate;
mod check;
mod cluster;
mod completions;
mod confirm;
mod convert;
mod cover;
mod diagnose;
mod doctor;
mod exit;
mod expect;
mod explain;
mod fence;
mod files;
mod input;
mod limits;
mod named;
mod pages;
mod progress;
mod reach;
mod relax;
mod resume;
mod sanitize;
mod serve;
mod simulate;
mod states;
mod storage;
mod words;

use arguments::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use ravelin_output::{Color, stderr, stdout};
use ravelin_process::{interrupt, parent};
use ravelin_sanitizer::compiler::CLanguage;
use ravelin_sanitizer::rust::WRAPPER;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::make_large_files_errors();
    parent::watch();
    let mut words = std::env::args_os();
    if words.next().is_some_and(|name| Path::new(&name).file_name() == Some(OsStr::new(WRAPPER))) {
        return ended(sanitize::rustc(&words.collect::<Vec<_>>()));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let (stream, exit) = if error.use_stderr() { (stderr(), Exit::Wrong) } else { (stdout(), Exit::Holds) };
            let message = error.render();
            let painted = Color::Auto.paints(stream);
            let message = if painted { message.ansi().to_string() } else { message.to_string() };
            return ended(stream.text(&message).map(|()| exit).map_err(Into::into));
        }
    };
    let result: anyhow::Result<Exit> = match &arguments.command {
        Command::Cc(arguments) => return ended(sanitize::compile(CLanguage::C, arguments)),
        Command::Cxx(arguments) => return ended(sanitize::compile(CLanguage::Cxx, arguments)),
        Command::Run(arguments) => return ended(sanitize::run(arguments)),
        Command::Verify(arguments) => return ended(sanitize::verify(arguments)),
        Command::Cargo(arguments) => return ended(sanitize::cargo(arguments)),
        Command::Replay(arguments) => sanitize::replay(arguments),
        Command::Findings(arguments) => sanitize::findings(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Reach(arguments) => reach::run(arguments),
        Command::Cluster(arguments) => return ended(cluster::run(arguments)),
        Command::Resume(arguments) if arguments.directory.is_file() => return ended(sanitize::resume(arguments)),
        Command::Resume(arguments) => resume::run(arguments),
        Command::Fence(arguments) => fence::run(arguments),
        Command::Relax(arguments) => relax::run(arguments),
        Command::States(arguments) => states::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Certificate(arguments) => certificate::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::Confirm(arguments) => confirm::run(arguments),
        Command::Cover(arguments) => cover::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Completions(arguments) => completions::completions(arguments),
        Command::Man(arguments) => completions::manual(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Diagnose(arguments) => diagnose::run(arguments),
    };
    ended(result)
}

/// The exit code, and the message if there is one.
fn ended(result: anyhow::Result<impl Into<ExitCode>>) -> ExitCode {
    match result {
        Ok(exit) => exit::unless_lost(exit.into()),
        Err(error) => Exit::of_error(&error).into(),
    }
}
