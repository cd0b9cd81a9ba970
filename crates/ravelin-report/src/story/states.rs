//! Answers of `states`: all states in which a program can end.

use super::demonstration::of_end_run;
use super::facts::statistics;
use super::{Demonstration, Story};
use ravelin_answer::text::{counted, grouped};
use ravelin_answer::{self as answer, FinalStates};
use ravelin_program::Model;

/// Final states, and those in which nothing can move although some thread is not at its end.
#[derive(Clone, Debug)]
pub struct States {
    pub finals: Vec<EndStateView>,
    pub stuck: Vec<EndStateView>,
    /// Nothing was omitted.
    pub complete: bool,
}

/// A state as names and values: registers as `thread.register`, then cells.
#[derive(Clone, Debug)]
pub struct EndStateView {
    pub values: Vec<(String, String)>,
    /// Sequential consistency forbids it; none if that could not be determined.
    pub beyond_sc: Option<bool>,
    /// A run to it, if sequential consistency forbids it.
    pub run: Option<Box<Demonstration>>,
}

impl EndStateView {
    fn of(state: &answer::EndState, model: Model) -> EndStateView {
        let registers = state.threads.iter().flat_map(|thread| {
            thread.registers.iter().map(|(register, value)| (format!("{}.{register}", thread.thread), *value))
        });
        let shown = |(name, value): (String, i64)| {
            let value = state.names.get(&name).cloned().unwrap_or_else(|| value.to_string());
            (name, value)
        };
        let values = registers.chain(state.memory.iter().cloned()).map(shown).collect();
        let run = state.run.as_ref().map(|run| Box::new(of_end_run(run, model)));
        EndStateView { values, beyond_sc: state.beyond_sc, run }
    }

    /// `left.r = 0, right.r = 0`.
    pub fn words(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

pub fn final_states(answer: &FinalStates) -> Story {
    let (file, model) = (&answer.file, answer.model);
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count() as u64;
    let number = counted(answer.finals.len() as u64, "state");
    let sentence = match (model, beyond) {
        (Model::Sc, _) => format!("{file} can end in {number} under sc."),
        (_, 0) => format!("{file} can end in {number} under {model}, all of them possible under sc."),
        _ => format!("{file} can end in {number} under {model}, {} of them not possible under sc.", grouped(beyond)),
    };
    let mut notes = Vec::new();
    if let Some(limit) = &answer.limit {
        notes.push(format!("These are not all: {}.", limit));
    } else if !answer.complete {
        let buffer = answer.buffer.unwrap_or(0);
        notes.push(format!("Within store buffers of {buffer}: some store had to wait for room, so there may be more."));
    }
    let states = States {
        finals: answer.finals.iter().map(|state| EndStateView::of(state, model)).collect(),
        stuck: answer.stuck.iter().map(|state| EndStateView::of(state, model)).collect(),
        complete: answer.complete,
    };
    Story {
        word: number,
        sentence,
        notes,
        states: Some(states),
        statistics: statistics(&answer.statistics),
        file: answer.file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}
