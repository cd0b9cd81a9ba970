//! `ravelin certificate`: checks a proof that `--certify` wrote.

use crate::arguments;
use crate::cover;
use crate::exit::Exit;
use crate::input::{self, Unread};
use anyhow::{Context, bail};
use ravelin::Certificate;
use ravelin_output::stdout;
use std::path::PathBuf;

pub fn run(arguments: &arguments::Certificate) -> anyhow::Result<Exit> {
    let path = arguments.certificate.display().to_string();
    let text = std::fs::read_to_string(&arguments.certificate).with_context(|| path.clone())?;
    let certificate = Certificate::parse(&text).with_context(|| path.clone())?;
    let (file, proved) = match (certificate.program(), &arguments.net) {
        (None, None) => bail!("name the net that the certificate is about with --net"),
        (Some(_), Some(_)) => bail!("{path} is not about a net; omit --net"),
        (None, Some(file)) => (file.clone(), certificate.check_net(&cover::read(file)?)),
        (Some(named), None) => {
            let file = arguments.program.clone().unwrap_or_else(|| PathBuf::from(named));
            match input::read(&file, &arguments.input.reading()) {
                Ok(program) => (file, certificate.check(&program)),
                Err(Unread::Errors(_)) => return Ok(Exit::Wrong),
                Err(unread) => {
                    return Err(anyhow::Error::from(unread)).context("the program that the certificate is about");
                }
            }
        }
    };
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
