//! `--certify` and `ravelin certificate`: proofs to carry away.

use crate::arguments;
use crate::cover;
use crate::exit::Exit;
use crate::input::{self, Unread};
use anyhow::{Context, bail};
use ravelin::Program;
use ravelin_analysis::parameterised::certificate::{self as any_number, Claim};
use ravelin_analysis::reachability::certificate::{Certificate, Checked, check};
use ravelin_output::stdout;
use serde_json::Value;
use std::path::PathBuf;

/// Checks a certificate. Its format says what it is about.
pub fn run(arguments: &arguments::Certificate) -> anyhow::Result<Exit> {
    let path = arguments.certificate.display().to_string();
    let text = std::fs::read_to_string(&arguments.certificate).with_context(|| path.clone())?;
    let not_one = || format!("{path} is not a certificate");
    let document: Value = serde_json::from_str(&text).with_context(not_one)?;
    let format = document.get("format").and_then(Value::as_str).unwrap_or_default().to_owned();
    let proved = if format == ravelin_nets::FORMAT {
        about_net(arguments, serde_json::from_value(document).with_context(not_one)?)?
    } else if arguments.net.is_some() {
        bail!("{path} is not about a net; omit --net");
    } else if format == any_number::FORMAT {
        about_any_number(arguments, serde_json::from_value(document).with_context(not_one)?)?
    } else {
        about_load_buffers(arguments, serde_json::from_value(document).with_context(not_one)?)?
    };
    let Some((file, proved)) = proved else { return Ok(Exit::Wrong) };
    match proved {
        Ok(what) => {
            writeln!(stdout(), "{path}: proves that {what}")?;
            Ok(Exit::Holds)
        }
        Err(flaw) => {
            writeln!(stdout(), "{path}: proves nothing about {}: {flaw}", file.display())?;
            Ok(Exit::Violated)
        }
    }
}

/// The file that a certificate is about, and what is proved of it or what is wrong with the proof; `None` if the program has errors.
type Proved = Option<(PathBuf, Result<String, String>)>;

fn about_net(arguments: &arguments::Certificate, certificate: ravelin_nets::Certificate) -> anyhow::Result<Proved> {
    let Some(file) = arguments.net.clone() else { bail!("name the net that the certificate is about with --net") };
    let net = cover::read(&file)?;
    let proved = ravelin_nets::check(net.inner(), &certificate).map_err(|flaw| flaw.to_string());
    let what = |checked: ravelin_nets::Checked| {
        format!(
            "no target of {} can be covered: {} markings are below {} targets, above no initial marking, and closed under all {} steps back",
            file.display(),
            checked.markings,
            checked.targets,
            checked.steps
        )
    };
    let proved = proved.map(what);
    Ok(Some((file, proved)))
}

fn about_any_number(
    arguments: &arguments::Certificate,
    certificate: any_number::Certificate,
) -> anyhow::Result<Proved> {
    let Some((file, program)) = program(arguments, &certificate.program)? else { return Ok(None) };
    let proved = any_number::check(program.inner(), &certificate).map_err(|flaw| flaw.to_string());
    let claim = match certificate.claim {
        Claim::Robust => format!("{} is robust against tso", file.display()),
        Claim::Unreachable => format!("no goal of {} can be reached under sc", file.display()),
    };
    let what = |checked: any_number::Checked| {
        format!(
            "{claim} for every number of threads: {} markings of {} nets contain the targets, no initial marking, and all {} steps back",
            checked.markings, checked.nets, checked.steps
        )
    };
    Ok(Some((file, proved.map(what))))
}

fn about_load_buffers(arguments: &arguments::Certificate, certificate: Certificate) -> anyhow::Result<Proved> {
    let Some((file, program)) = program(arguments, &certificate.program)? else { return Ok(None) };
    let proved = check(program.inner(), &certificate).map_err(|flaw| flaw.to_string());
    let what = |checked: Checked| {
        format!(
            "no goal of {} can be reached under tso: {} constraints contain {} cases of the goals, no initial state, and \
             all {} steps back from them",
            file.display(),
            checked.constraints,
            checked.goals,
            checked.steps
        )
    };
    let proved = proved.map(what);
    Ok(Some((file, proved)))
}

/// The program that a certificate is about.
fn program(arguments: &arguments::Certificate, named: &str) -> anyhow::Result<Option<(PathBuf, Program)>> {
    let file = arguments.program.clone().unwrap_or_else(|| PathBuf::from(named));
    match input::read(&file, &arguments.reading()) {
        Ok(program) => Ok(Some((file, program))),
        Err(Unread::Errors(_)) => Ok(None),
        Err(unread) => Err(anyhow::Error::from(unread).context("the program that the certificate is about")),
    }
}
