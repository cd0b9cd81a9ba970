//! Answers of `states`: all states in which a program can end.

use super::facts::RawStatistics;
use super::raw::RawLimit;
use super::{Story, Wrong};
use crate::numbers::{counted, grouped};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Final states, and those in which nothing can move although some thread is not at its end.
#[derive(Clone, Debug)]
pub struct States {
    pub finals: Vec<EndState>,
    pub stuck: Vec<EndState>,
}

/// A state as names and values: registers as `thread.register`, then cells.
#[derive(Clone, Debug)]
pub struct EndState {
    pub values: Vec<(String, i64)>,
    /// Sequential consistency forbids it; none if that could not be settled.
    pub beyond_sc: Option<bool>,
}

#[derive(Deserialize)]
struct RawStates {
    file: String,
    model: String,
    complete: bool,
    buffer: Option<u64>,
    limit: Option<RawLimit>,
    #[serde(rename = "final")]
    finals: Vec<RawEndState>,
    stuck: Vec<RawEndState>,
    statistics: RawStatistics,
}

#[derive(Deserialize)]
struct RawEndState {
    threads: Vec<RawThread>,
    memory: BTreeMap<String, i64>,
    beyond_sc: Option<bool>,
}

#[derive(Deserialize)]
struct RawThread {
    thread: String,
    registers: BTreeMap<String, i64>,
}

impl From<RawEndState> for EndState {
    fn from(raw: RawEndState) -> EndState {
        let registers = raw.threads.into_iter().flat_map(|thread| {
            let RawThread { thread, registers } = thread;
            registers.into_iter().map(move |(register, value)| (format!("{thread}.{register}"), value))
        });
        EndState { values: registers.chain(raw.memory).collect(), beyond_sc: raw.beyond_sc }
    }
}

pub fn story(answer: &Value) -> Result<Story, Wrong> {
    let answer = RawStates::deserialize(answer)?;
    let (file, model) = (&answer.file, &answer.model);
    let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count() as u64;
    let number = counted(answer.finals.len() as u64, "state");
    let sentence = match (model.as_str(), beyond) {
        ("sc", _) => format!("{file} can end in {number} under sc."),
        (_, 0) => format!("{file} can end in {number} under {model}, all of them possible under sc."),
        _ => format!("{file} can end in {number} under {model}, {} of them not possible under sc.", grouped(beyond)),
    };
    let mut notes = Vec::new();
    if let Some(limit) = &answer.limit {
        notes.push(format!("These are not all: {}.", limit.words()));
    } else if !answer.complete {
        let buffer = answer.buffer.unwrap_or(0);
        notes.push(format!("Within store buffers of {buffer}: some store had to wait for room, so there may be more."));
    }
    let states = States {
        finals: answer.finals.into_iter().map(EndState::from).collect(),
        stuck: answer.stuck.into_iter().map(EndState::from).collect(),
    };
    Ok(Story {
        word: number,
        sentence,
        notes,
        states: Some(states),
        statistics: answer.statistics.facts(),
        file: answer.file,
        model: Some(answer.model),
        ..Story::default()
    })
}
