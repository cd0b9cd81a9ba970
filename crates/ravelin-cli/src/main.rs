//! `ravelin`: arguments in, exit code out. Everything else is done by the libraries.

mod arguments;
mod ask;
mod certificate;
mod check;
mod convert;
mod exit;
mod expect;
mod fence;
mod input;
mod limits;
mod model;
mod profile;
mod progress;
mod reach;
mod simulate;
mod states;

use arguments::{Arguments, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Wrong } else { Exit::Holds };
            // Nothing is left to be said if even this cannot be written.
            let _ = error.print();
            return code.into();
        }
    };
    let result = match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Reach(arguments) => reach::run(arguments),
        Command::Fence(arguments) => fence::run(arguments),
        Command::States(arguments) => states::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Certificate(arguments) => certificate::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_broken_pipe(&error) => Exit::Holds.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            Exit::Wrong.into()
        }
    }
}
