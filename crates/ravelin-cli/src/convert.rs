//! `ravelin convert`.

use crate::alone::ended_in_time;
use crate::arguments::Convert;
use crate::exit::Exit;
use crate::{files, input};
use ravelin::TargetLanguage;
use ravelin_output::{escaped, stdout};

pub fn run(arguments: &Convert) -> anyhow::Result<Exit> {
    let target = arguments.to.unwrap_or(TargetLanguage::Rav);
    let text = ended_in_time(arguments.timeout, || {
        let program = input::read(&arguments.file, &arguments.input.reading(arguments.timeout))?;
        anyhow::Ok(ravelin::convert(&program, target, arguments.instrument.as_deref())?)
    })?;
    // A program in its own language is written as it is. What others read quotes names of files and threads, in comments and labels only.
    let text = if target == TargetLanguage::Rav { text.as_str().into() } else { escaped(&text) };
    match &arguments.output {
        Some(path) => files::write(path, &*text)?,
        None => stdout().program(&text)?,
    }
    Ok(Exit::Holds)
}
