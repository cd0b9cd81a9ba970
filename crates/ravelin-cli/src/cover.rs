//! `ravelin cover`.

use crate::arguments::Cover;
use crate::ask::Answers;
use crate::exit::Exit;
use crate::files;
use crate::input::ReadError;
use anyhow::bail;
use ravelin::{Budget, Net};
use ravelin_output::reader_is_gone;
use ravelin_process::{input, interrupt};
use std::path::Path;
use std::time::Instant;

pub fn run(arguments: &Cover) -> anyhow::Result<Exit> {
    let Cover { files, certify, resources, output } = arguments;
    output.refuse_herd()?;
    output.refuse_sarif("cover")?;
    output.refuse_pages("cover")?;
    if certify.is_some() && files.len() != 1 {
        bail!("--certify writes a proof about one net: name one file");
    }
    interrupt::stop();
    let mut answers = Answers::new("cover", output, false);
    for path in files {
        if reader_is_gone() {
            break;
        }
        let file = path.display().to_string();
        let (budget, reading) = (resources.budget(), Instant::now());
        let net = match answers.read(&file, budget.limits, || read(path)) {
            Ok(net) => net,
            Err(error) => {
                answers.without_input(file, error)?;
                continue;
            }
        };
        let question = |budget: Budget| ravelin::cover(&net).budget(budget).run();
        let (answer, proof) = answers.ask(&file, None, budget.child(reading, 0), question)?;
        if let (Some(path), Some(proof)) = (certify, proof) {
            files::write(path, proof)?;
        }
        answers.add(Exit::of(&answer), answer, &|answer, style| answer.text(style))?;
    }
    answers.conclude()
}

/// Reads a net.
pub fn read(path: &Path) -> Result<Net, ReadError> {
    Ok(Net::parse(path.display().to_string(), &input::read(path)?)?)
}
