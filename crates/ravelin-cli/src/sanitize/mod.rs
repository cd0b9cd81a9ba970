//! `ravelin cc`, `ravelin c++`, `ravelin run`, `ravelin cargo` and `ravelin findings`.

pub mod arguments;

use crate::arguments::Color;
use crate::exit::Exit;
use anyhow::Context;
use arguments::{Cargo, Compile, Findings, ReportFormat, Run, Shown};
use ravelin_report::json::document;
use ravelin_report::sanitizer::{json, sarif, text};
use ravelin_report::text::Style;
use ravelin_sanitizer::compiler::{self, Language};
use ravelin_sanitizer::report::{Gathered, Report, Wanted, gather};
use ravelin_sanitizer::{Watch, Watched, read_findings, rust, watch};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

/// Becomes the compiler, so that its exit code and signals are ours.
pub fn compile(language: Language, arguments: &Compile) -> anyhow::Result<ExitCode> {
    let mut command = compiler::command(language, &arguments.arguments)?;
    let error = command.exec();
    Err(error).with_context(|| format!("{}: the compiler cannot be run", command.get_program().display()))
}

/// Runs a program and reports.
pub fn run(arguments: &Run) -> anyhow::Result<ExitCode> {
    let wanted = wanted(&arguments.shown)?;
    let [program, rest @ ..] = &*arguments.program else { anyhow::bail!("which program?") };
    let options = [
        (arguments.no_predict, "no-predict"),
        (arguments.halt_on_first, "halt-on-first"),
        (arguments.no_races, "no-races"),
        (arguments.no_robustness, "no-robustness"),
    ];
    let watched = watch(&Watch {
        program: program.clone(),
        arguments: rest.to_vec(),
        options: options.into_iter().filter(|(chosen, _)| *chosen).map(|(_, word)| word).collect(),
        keep: arguments.findings.clone(),
        ..Watch::default()
    })?;
    let program = program.display().to_string();
    report_run(program, watched, &wanted, &arguments.shown, arguments.exit_code)
}

/// Runs cargo with the sanitizer, and reports what the programs it ran found.
pub fn cargo(arguments: &Cargo) -> anyhow::Result<ExitCode> {
    let wanted = wanted(&arguments.shown)?;
    let cargo = rust::Cargo::new(&arguments.command, arguments.races)?;
    if cargo.without_doctests {
        eprintln!("note: documentation tests are not run: the sanitizer does not watch them");
    }
    let options = [
        (arguments.no_predict, "no-predict"),
        (arguments.halt_on_first, "halt-on-first"),
        (!arguments.races, "no-races"),
        (arguments.no_robustness, "no-robustness"),
    ];
    let watched = watch(&Watch {
        program: cargo.program,
        arguments: cargo.arguments,
        options: options.into_iter().filter(|(chosen, _)| *chosen).map(|(_, word)| word).collect(),
        keep: arguments.findings.clone(),
        environment: cargo.environment,
        only_starts: true,
    })?;
    // Nothing ran, and cargo has said what there is to say.
    if watched.processes.is_empty() {
        return Ok(ExitCode::from(watched.exit_code));
    }
    let program = format!("cargo {}", arguments.command[0].display());
    report_run(program, Watched { executable: None, ..watched }, &wanted, &arguments.shown, arguments.exit_code)
}

/// Is rustc with the sanitizer, as cargo calls it.
pub fn rustc(arguments: &[OsString]) -> anyhow::Result<ExitCode> {
    let status = rust::compile(arguments)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn report_run(
    program: String,
    watched: Watched,
    wanted: &Wanted,
    shown: &Shown,
    if_found: u8,
) -> anyhow::Result<ExitCode> {
    let gathered = Gathered {
        program,
        executable: watched.executable.as_deref(),
        processes: watched.processes,
        directory: std::env::current_dir().ok(),
    };
    let report = gather(gathered, wanted);
    let ended = json::Ended { exit_code: watched.exit_code, signal: watched.signal };
    show("run", &report, Some(ended), shown, std::io::stderr())?;
    Ok(ExitCode::from(if report.findings.is_empty() { watched.exit_code } else { if_found }))
}

/// Reports what is in findings files.
pub fn findings(arguments: &Findings) -> anyhow::Result<Exit> {
    let wanted = wanted(&arguments.shown)?;
    let names: Vec<String> = arguments.files.iter().map(|file| file.display().to_string()).collect();
    let gathered = Gathered {
        program: names.join(", "),
        executable: None,
        processes: arguments.files.iter().map(|file| read_findings(file)).collect::<Result<_, _>>()?,
        directory: std::env::current_dir().ok(),
    };
    let report = gather(gathered, &wanted);
    show("findings", &report, None, &arguments.shown, std::io::stdout())?;
    Ok(if report.findings.is_empty() { Exit::Holds } else { Exit::Violated })
}

fn wanted(shown: &Shown) -> anyhow::Result<Wanted> {
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
    ended: Option<json::Ended>,
    shown: &Shown,
    mut for_people: impl Write + IsTerminal,
) -> anyhow::Result<()> {
    let color = match shown.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => shown.output.is_none() && for_people.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    };
    let written = match shown.format {
        ReportFormat::Text => text::report(report, Style { color }),
        ReportFormat::Json => document(command, vec![json::report(report, ended)]),
        ReportFormat::Sarif => sarif::report(report),
    };
    match (&shown.output, shown.format) {
        (Some(file), _) => std::fs::write(file, written).with_context(|| file.display().to_string())?,
        (None, ReportFormat::Text) => for_people.write_all(written.as_bytes())?,
        (None, _) => std::io::stdout().lock().write_all(written.as_bytes())?,
    }
    Ok(())
}
