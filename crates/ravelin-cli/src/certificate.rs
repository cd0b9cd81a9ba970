//! `ravelin certificate`: checks a proof that `--certify` wrote.

use crate::arguments;
use crate::cover;
use crate::exit::Exit;
use crate::input;
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
            let program = input::read(&file, &arguments.input.reading(None)).map_err(anyhow::Error::from);
            let program = program.context("the program that the certificate is about")?;
            (file, certificate.check(&program))
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
