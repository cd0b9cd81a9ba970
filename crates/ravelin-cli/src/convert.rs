//! `ravelin convert`.

use crate::arguments::{Convert, To};
use crate::exit::Exit;
use crate::input::{self, Unread};
use anyhow::Context;
use ravelin_analysis::parameterised::petri_net_of_attacks;
use ravelin_analysis::robustness::{find_attack, instrument};
use ravelin_frontend::{Language, print, rav};
use ravelin_nets::spec;
use ravelin_output::{escaped, replace, stdout};
use ravelin_program::{Program, lower_for_hardware};

pub fn run(arguments: &Convert) -> anyhow::Result<Exit> {
    let read = match input::read(&arguments.file, &arguments.reading()) {
        Ok(read) => read,
        Err(Unread::Errors(_)) => return Ok(Exit::Wrong),
        Err(unread) => return Err(unread.into()),
    };
    // A program in its own language keeps its shape and its comments.
    let formats = read.language() == Language::Rav && arguments.copies.is_none() && arguments.instrument.is_none();
    let mut program = read.inner().clone();
    if arguments.to == Some(To::Spec) {
        let text = petri_net(&program, arguments.instrument.as_deref());
        return write(arguments, &text.with_context(|| arguments.file.display().to_string())?);
    }
    if let Some(attack) = &arguments.instrument {
        program = instrumented(&program, attack).with_context(|| arguments.file.display().to_string())?;
    }
    let text = match arguments.to.unwrap_or(To::Rav) {
        To::Rav if formats => rav::format(&rav::parse(program.source).ast),
        To::Rav => print::rav(&program),
        To::Litmus => print::litmus(&program).with_context(|| arguments.file.display().to_string())?,
        To::C => print::c(&program).with_context(|| arguments.file.display().to_string())?,
        To::Dot => print::dot(&program),
        To::Promela => print::promela(&program).with_context(|| arguments.file.display().to_string())?,
        To::Spec => petri_net(&program, None).with_context(|| arguments.file.display().to_string())?,
    };
    write(arguments, &text)
}

/// A program in its own language is written as it is. What others read quotes names of files and threads, in comments and labels only.
fn write(arguments: &Convert, text: &str) -> anyhow::Result<Exit> {
    let text = if arguments.to.unwrap_or(To::Rav) == To::Rav { text.into() } else { escaped(text) };
    match &arguments.output {
        Some(path) => replace(path, &*text).with_context(|| path.display().to_string())?,
        None => stdout().program(&text)?,
    }
    Ok(Exit::Holds)
}

/// The net of all attacks, or of one.
fn petri_net(program: &Program, attack: Option<&str>) -> anyhow::Result<String> {
    let attack = attack.map(|attack| find_attack(&lower_for_hardware(program), attack)).transpose()?;
    Ok(spec::print(&petri_net_of_attacks(program, attack)?))
}

/// Attacks speak of the program after the x86 mapping.
fn instrumented(program: &Program, attack: &str) -> anyhow::Result<Program> {
    let lowered = lower_for_hardware(program);
    let attack = find_attack(&lowered, attack)?;
    Ok(instrument(&lowered, attack)?)
}
