//! `ravelin cover`.

use crate::arguments::{Cover, Format};
use crate::ask::Answers;
use crate::exit::Exit;
use crate::in_time::in_time;
use crate::input::Interrupted;
use crate::{input, interrupt, progress};
use anyhow::{Context, bail};
use ravelin::answer::NoAnswer;
use ravelin::{Answer, Net, Progress};
use ravelin_output::{complain, reader_is_gone, replace};
use std::path::Path;

pub fn run(arguments: &Cover) -> anyhow::Result<Exit> {
    let Cover { files, certify, resources, output } = arguments;
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    output.refuse_sarif("cover")?;
    output.refuse_pages("cover")?;
    if certify.is_some() && files.len() != 1 {
        bail!("--certify writes a proof about one net: name one file");
    }
    let stop = interrupt::stop();
    let mut answers = Answers::new("cover", output);
    for path in files {
        if reader_is_gone() {
            break;
        }
        let file = path.display().to_string();
        let net = match read(path) {
            Ok(net) => net,
            Err(error) if error.is::<Interrupted>() => {
                let answer = Answer::None(NoAnswer::interrupted(&file, None, None));
                answers.add(Exit::Unknown, answer, &|answer, style| answer.text(style))?;
                continue;
            }
            Err(error) => {
                complain!("error: {error:#}");
                answers.fail(NoAnswer::error(&file, format!("{error:#}")));
                continue;
            }
        };
        let line = progress::Line::new(&format!("{file} cover"), true);
        let show = |progress: &Progress| line.show(progress);
        let question = ravelin::cover(&net).budget(resources.budget().stop(stop).progress(&show));
        let late = || {
            line.clear();
            let last = line.last().as_ref().map(Into::into);
            answers.conclude_with(NoAnswer::interrupted(&file, None, last))
        };
        let (answer, proof) = in_time(|| question.run(), late)?;
        drop(line);
        if let (Some(path), Some(proof)) = (certify, proof) {
            replace(path, proof).with_context(|| path.display().to_string())?;
        }
        answers.add(Exit::of(&answer), answer, &|answer, style| answer.text(style))?;
    }
    answers.conclude()
}

/// Reads a net.
pub fn read(path: &Path) -> anyhow::Result<Net> {
    let source = input::read_source(path)?;
    Ok(Net::parse(source.name, &source.text)?)
}
