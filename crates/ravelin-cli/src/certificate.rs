//! `ravelin certificate`: checks a proof that `--certify` wrote.

use crate::alone::ended_in_time;
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
        (None, Some(file)) => {
            (file.clone(), ended_in_time(arguments.timeout, || anyhow::Ok(certificate.check_net(&cover::read(file)?)))?)
        }
        (Some(named), None) => {
            let file = arguments.program.clone().unwrap_or_else(|| PathBuf::from(named));
            let proved = ended_in_time(arguments.timeout, || {
                let program = input::read(&file, &arguments.input.reading(arguments.timeout));
                let program =
                    program.map_err(anyhow::Error::from).context("the program that the certificate is about")?;
                anyhow::Ok(certificate.check(&program))
            })?;
            (file, proved)
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
