//! `cargo ravelin …` is `ravelin cargo …`: cargo looks for its own commands as programs named `cargo-…`.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Cargo repeats the command's name as the first argument.
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "ravelin") {
        arguments.remove(0);
    }
    // The program installed beside this one, or else the one on the path.
    let beside = std::env::current_exe().ok().map(|here| here.with_file_name("ravelin")).filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| "ravelin".into());
    let error = Command::new(&program).arg("cargo").args(arguments).exec();
    ravelin_output::complain!("error: {}: {error}", program.display());
    ExitCode::from(2)
}
