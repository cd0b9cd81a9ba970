//! Answers of `confirm`: what this machine showed, beside the witness.

use super::demonstration::of_end_run;
use super::facts::{fact, seconds};
use super::{Demonstration, Story};
use ravelin_answer::text::grouped;
use ravelin_answer::{ConfirmOutcome, Confirmation, EndRun};

pub fn confirmation(answer: &Confirmation) -> Story {
    let file = &answer.file;
    let sentence = match answer.outcome {
        // Its test does not have all of the program.
        ConfirmOutcome::Seen if answer.source == "finding" => {
            format!("This machine shows the cycle of a finding in {file}.")
        }
        ConfirmOutcome::Seen => format!("This machine shows what the witness of {file} says."),
        ConfirmOutcome::NotSeen => format!("x86 allows the outcome of {file}, and this machine did not show it."),
        ConfirmOutcome::Forbidden => format!("x86 forbids the outcome of {file}: nothing was run."),
        ConfirmOutcome::ModelBroken => format!("This machine shows an outcome of {file} that x86-TSO forbids."),
    };
    let mut notes = vec![answer.sentence.clone()];
    notes.extend(answer.notes.iter().cloned());
    notes.extend(answer.limit.map(|limit| format!("It was not completed: {limit}.")));
    let mut facts = Vec::new();
    for test in &answer.tests {
        fact(&mut facts, "iterations", grouped(test.measured.iterations));
        fact(&mut facts, "time", seconds(test.measured.seconds));
        fact(&mut facts, "method", test.method.name());
    }
    Story {
        verdict: answer.verdict.into(),
        word: answer.outcome.word().to_owned(),
        sentence,
        notes,
        demonstration: answer.witness.as_ref().map(|found| demonstration(answer, found)),
        confirmation: Some(answer.clone()),
        statistics: facts,
        file: file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}

fn demonstration(answer: &Confirmation, found: &EndRun) -> Demonstration {
    Demonstration { sentence: answer.sentence.clone(), ..of_end_run(found, answer.model) }
}
