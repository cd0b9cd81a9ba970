//! Answers of `reach`, and random walks of `simulate`.

use super::demonstration::{of_run, words};
use super::facts::{effort, fact, statistics};
use super::run::run;
use super::{Demonstration, Story, Verdict, number_of_threads};
use ravelin_answer::text::counted;
use ravelin_answer::{Reachability, Simulation};

pub fn reachability(answer: &Reachability) -> Story {
    let (file, model) = (&answer.file, answer.model);
    let verdict = Verdict::from(answer.verdict);
    let (threads, note) = number_of_threads(answer.any_number.as_ref(), verdict);
    let mut notes: Vec<String> = note.into_iter().collect();
    let sentence = match (verdict, &answer.witness) {
        (Verdict::Violated, Some(witness)) => format!("{file}{threads} {} under {model}.", words(&witness.violation)),
        (Verdict::Violated, None) => format!("{file}{threads} can reach what it forbids under {model}."),
        (Verdict::Holds, _) => {
            if answer.goals == 0 {
                notes.push(answer.without_goals());
            }
            notes.extend(answer.open_deadlocks());
            match answer.exists {
                0 => format!("Nothing that {file} forbids can happen under {model}{threads}."),
                exists if exists == answer.goals => {
                    format!("No state that {file} asks for can be reached under {model}{threads}.")
                }
                _ => format!(
                    "Nothing that {file} forbids can happen under {model}{threads}, and no state that it asks for can be reached."
                ),
            }
        }
        _ => {
            let why = match (&answer.limit, answer.buffer) {
                (Some(limit), _) => limit.to_string(),
                (None, Some(buffer)) => format!("there is no violation within store buffers of {buffer}"),
                (None, None) => "the engine cannot settle it".to_owned(),
            };
            if answer.cut_off && answer.limit.is_none() {
                notes.push("Some store had to wait for room; a larger buffer (--buffer) allows more runs.".to_owned());
            }
            format!("Whether {file} can reach what it forbids under {model} is unknown: {why}.")
        }
    };
    let not_tried = answer.not_tried.as_ref();
    notes.extend(not_tried.map(|why| format!("Not every engine could try: {}.", why.trim_end_matches('.'))));
    let mut statistics = statistics(&answer.statistics);
    statistics.extend(answer.effort.iter().flat_map(effort));
    fact(&mut statistics, "engine", answer.engine.clone());
    if let Some(buffer) = answer.buffer {
        fact(&mut statistics, "store buffers up to", counted(buffer as u64, "store"));
    }
    Story {
        verdict,
        word: answer.word().to_owned(),
        sentence,
        notes,
        demonstration: answer.witness.as_ref().map(|witness| of_run(witness)),
        statistics,
        file: answer.file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}

pub fn simulation(answer: &Simulation) -> Story {
    let Simulation { file, model, seed, end, troubles, initial, steps, .. } = answer;
    let run = run(initial, steps, model.is_buffered());
    let steps = counted(run.steps.len() as u64, "step");
    Story {
        word: "a random run".to_owned(),
        sentence: format!("A random run of {file} under {model}, {steps} long, after which {end}."),
        notes: troubles.iter().map(|trouble| format!("At its end {trouble}.")).collect(),
        demonstration: Some(Demonstration {
            run_title: format!("run under {model}, seed {seed}"),
            decisive: run.steps.len(),
            run,
            ..Demonstration::default()
        }),
        file: file.clone(),
        model: Some(*model),
        ..Story::default()
    }
}
