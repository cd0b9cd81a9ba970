//! `ravelin reach --certify` and `ravelin certificate`: proofs to carry away.

use crate::arguments;
use crate::ask::Subject;
use crate::exit::Exit;
use crate::input;
use anyhow::{Context, bail};
use ravelin_analysis::reachability::Question;
use ravelin_analysis::reachability::certificate::{Certificate, certify, check};
use std::path::{Path, PathBuf};

/// Writes a certificate that no goal can be reached.
pub fn write(path: &Path, subject: &Subject, question: &Question) -> anyhow::Result<()> {
    let Some(certificate) = certify(subject.program, question)? else {
        bail!("no certificate could be made within the limits");
    };
    let certificate = Certificate { program: subject.file.to_owned(), ..certificate };
    let text = serde_json::to_string(&certificate).context("the certificate cannot be written")?;
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Checks a certificate.
pub fn run(arguments: &arguments::Certificate) -> anyhow::Result<Exit> {
    let path = arguments.certificate.display().to_string();
    let text = std::fs::read_to_string(&arguments.certificate).with_context(|| path.clone())?;
    let certificate: Certificate =
        serde_json::from_str(&text).with_context(|| format!("{path} is not a certificate"))?;
    let file = arguments.program.clone().unwrap_or_else(|| PathBuf::from(&certificate.program));
    let read = input::read(&file, arguments.from.map(Into::into), arguments.copies);
    let Some((program, _)) = read.context("the program that the certificate is about")? else { return Ok(Exit::Wrong) };
    match check(&program, &certificate) {
        Ok(checked) => {
            println!(
                "{path}: proves that no goal of {} can be reached under tso: {} constraints contain {} cases of the goals, no initial state, and \
                 all {} steps back from them",
                file.display(),
                checked.constraints,
                checked.goals,
                checked.steps
            );
            Ok(Exit::Holds)
        }
        Err(flaw) => {
            println!("{path}: proves nothing about {}: {flaw}", file.display());
            Ok(Exit::Violated)
        }
    }
}
