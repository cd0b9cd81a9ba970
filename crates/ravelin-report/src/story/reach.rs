//! Answers of `reach`, and walks of `simulate`.

use super::facts::{RawStatistics, fact, numbers};
use super::raw::{RawAnyNumber, RawLimit, RawVerdict, number_of_threads};
use super::run::{RawInitial, RawStep, run};
use super::telling::RawWitness;
use super::{Story, Telling, Verdict, Wrong};
use crate::numbers::counted;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Reach {
    file: String,
    model: String,
    verdict: RawVerdict,
    engine: String,
    effort: Option<Value>,
    not_tried: Option<String>,
    goals: u64,
    buffer: Option<u64>,
    cut_off: bool,
    limit: Option<RawLimit>,
    witness: Option<RawWitness>,
    statistics: RawStatistics,
    any_number: Option<RawAnyNumber>,
}

pub fn reach(answer: &Value) -> Result<Story, Wrong> {
    let answer = Reach::deserialize(answer)?;
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.verdict);
    let (threads, note) = number_of_threads(answer.any_number.as_ref(), verdict);
    let mut notes: Vec<String> = note.into_iter().collect();
    let sentence = match (verdict, &answer.witness) {
        (Verdict::Violated, Some(witness)) => format!("{file}{threads} {} under {model}.", witness.violation.words()),
        (Verdict::Violated, None) => format!("{file}{threads} can reach what it forbids under {model}."),
        (Verdict::Holds, _) => {
            if answer.goals == 0 {
                notes.push("The program states no goal: only errors of the program itself were looked for.".to_owned());
            }
            format!("Nothing that {file} forbids can happen under {model}{threads}.")
        }
        _ => {
            let why = match (&answer.limit, answer.buffer) {
                (Some(limit), _) => limit.words(),
                (None, Some(buffer)) => format!("there is no violation within store buffers of {buffer}"),
                (None, None) => "the engine cannot settle it".to_owned(),
            };
            if answer.cut_off && answer.limit.is_none() {
                notes.push("Some store had to wait for room; a larger buffer (--buffer) allows more runs.".to_owned());
            }
            format!("Whether {file} can reach what it forbids under {model} is unknown: {why}.")
        }
    };
    notes.extend(answer.not_tried.map(|why| format!("Not every engine could try: {}.", why.trim_end_matches('.'))));
    let mut statistics = answer.statistics.facts();
    statistics.extend(answer.effort.iter().flat_map(numbers));
    fact(&mut statistics, "engine", answer.engine);
    if let Some(buffer) = answer.buffer {
        fact(&mut statistics, "store buffers up to", counted(buffer, "store"));
    }
    let word = match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        _ => "unknown",
    };
    Ok(Story {
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        telling: answer.witness.map(|witness| witness.told(model)).transpose()?,
        statistics,
        file: answer.file,
        model: Some(answer.model),
        ..Story::default()
    })
}

#[derive(Deserialize)]
struct Simulate {
    file: String,
    model: String,
    seed: u64,
    end: String,
    troubles: Vec<String>,
    initial: RawInitial,
    steps: Vec<RawStep>,
}

pub fn simulate(answer: &Value) -> Result<Story, Wrong> {
    let Simulate { file, model, seed, end, troubles, initial, steps } = Simulate::deserialize(answer)?;
    let run = run(initial, steps, matches!(model.as_str(), "tso" | "pso"))?;
    let steps = counted(run.steps.len() as u64, "step");
    Ok(Story {
        word: "a random run".to_owned(),
        sentence: format!("A random run of {file} under {model}, {steps} long, after which {end}."),
        notes: troubles.into_iter().map(|trouble| format!("At its end {trouble}.")).collect(),
        telling: Some(Telling { run_title: format!("run under {model}, seed {seed}"), run, ..Telling::default() }),
        file,
        model: Some(model),
        ..Story::default()
    })
}
