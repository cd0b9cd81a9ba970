//! Answers of `check`: robustness against hardware and C11, and freedom from triangular races.

use super::facts::{RawExplored, RawStatistics, fact};
use super::raw::{RawAnyNumber, RawLimit, RawVerdict, number_of_threads};
use super::telling::{RawAttackWitness, RawExecution, RawRace};
use super::{Graph, Story, Verdict, Wrong};
use crate::numbers::{counted, grouped};
use serde::Deserialize;
use serde_json::Value;

pub fn story(answer: &Value) -> Result<Story, Wrong> {
    match (answer["property"].as_str(), answer["model"].as_str()) {
        (Some("trf"), _) => triangular(Triangular::deserialize(answer)?),
        (_, Some("ra" | "rc20")) => c11(C11::deserialize(answer)?),
        _ => hardware(Hardware::deserialize(answer)?),
    }
}

#[derive(Deserialize)]
struct Hardware {
    file: String,
    model: String,
    verdict: RawVerdict,
    engine: String,
    one_delaying_thread: bool,
    attacks: Vec<RawAttack>,
    witness: Option<RawAttackWitness>,
    limit: Option<RawLimit>,
    explored: RawExplored,
    any_number: Option<RawAnyNumber>,
}

#[derive(Deserialize)]
struct RawAttack {
    fate: String,
    reason: Option<String>,
}

fn hardware(answer: Hardware) -> Result<Story, Wrong> {
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.verdict);
    let (threads, note) = number_of_threads(answer.any_number.as_ref(), verdict);
    let (word, sentence) = match verdict {
        Verdict::Holds => (
            "robust",
            format!(
                "{file} is robust against {model}{threads}: each of its executions is one of sequential consistency."
            ),
        ),
        Verdict::Violated => (
            "not robust",
            format!(
                "{file}{threads} is not robust against {model}: it has an execution that sequential consistency forbids."
            ),
        ),
        _ => {
            let why = match &answer.limit {
                Some(limit) => limit.words(),
                None if answer.one_delaying_thread => {
                    "no thread does harm by delaying its stores alone, and that several do none \
                     together is a theorem for tso only"
                        .to_owned()
                }
                None => "some attacks were not settled".to_owned(),
            };
            ("unknown", format!("Whether {file} is robust against {model} is unknown: {why}."))
        }
    };
    let mut notes: Vec<String> = Vec::new();
    if let Some(witness) = &answer.witness {
        notes.push(remedy(witness, &answer.attacks));
        if let Some(limit) = &answer.limit {
            notes.push(format!("Not every attack was settled: {}.", limit.words()));
        }
    }
    notes.extend(note);
    let mut statistics = answer.explored.facts();
    fact(&mut statistics, "engine", answer.engine);
    let count = |is: &dyn Fn(&RawAttack) -> bool| answer.attacks.iter().filter(|attack| is(attack)).count() as u64;
    let searched = |attack: &RawAttack| attack.reason.as_deref() == Some("searched");
    for (name, number) in [
        ("attacks", answer.attacks.len() as u64),
        ("infeasible without search", count(&|attack| attack.fate == "infeasible" && !searched(attack))),
        ("infeasible after search", count(&|attack| attack.fate == "infeasible" && searched(attack))),
        ("feasible", count(&|attack| attack.fate == "feasible")),
        ("open", count(&|attack| attack.fate == "open")),
    ] {
        if number > 0 || name == "attacks" {
            fact(&mut statistics, name, grouped(number));
        }
    }
    let telling = answer.witness.map(|witness| witness.told(model)).transpose()?;
    Ok(Story {
        file: answer.file,
        model: Some(answer.model),
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        telling,
        statistics,
        ..Story::default()
    })
}

/// The fence that stops the attack, and what is known of the others.
fn remedy(witness: &RawAttackWitness, attacks: &[RawAttack]) -> String {
    let (fence, second) = match witness.by_store() {
        true => ("A release fence (`fence(release)`)", "store"),
        false => ("A fence (`fence(seq_cst)`)", "load"),
    };
    let count = |fate: &str| attacks.iter().filter(|attack| attack.fate == fate).count();
    let others = match (count("feasible"), count("open")) {
        (0 | 1, 0) => ", the only feasible one".to_owned(),
        (2, 0) => "; one more is feasible".to_owned(),
        (feasible, 0) => format!("; {} more are feasible", grouped(feasible as u64 - 1)),
        _ => "; others may remain".to_owned(),
    };
    format!(
        "{fence} between the store{} and the {second}{} stops this attack ({}){others}.",
        witness.store.on_line(),
        witness.load.on_line(),
        witness.attack
    )
}

#[derive(Deserialize)]
struct Triangular {
    file: String,
    model: String,
    verdict: RawVerdict,
    implies_robust: bool,
    race: Option<RawRace>,
    limit: Option<RawLimit>,
    statistics: RawStatistics,
}

fn triangular(answer: Triangular) -> Result<Story, Wrong> {
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.verdict);
    let mut notes = Vec::new();
    let (word, sentence) = match verdict {
        Verdict::Holds => {
            notes.push(match answer.implies_robust {
                true => format!("Hence it is robust against {model}."),
                false => "That does not settle whether it is robust: it has blocks of several accesses that are executed as one."
                    .to_owned(),
            });
            ("free of triangular races", format!("{file} is free of triangular races."))
        }
        Verdict::Violated => {
            notes.push("A program with a triangular race may still be robust: ask for --property robust.".to_owned());
            ("triangular race", format!("{file} has a triangular race."))
        }
        _ => {
            let why = answer.limit.as_ref().map(|limit| format!(": {}", limit.words())).unwrap_or_default();
            ("unknown", format!("Whether {file} is free of triangular races is unknown{why}."))
        }
    };
    Ok(Story {
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        telling: answer.race.map(RawRace::told).transpose()?,
        statistics: answer.statistics.facts(),
        file: answer.file,
        model: Some(answer.model),
        ..Story::default()
    })
}

#[derive(Deserialize)]
struct C11 {
    file: String,
    model: String,
    verdict: RawVerdict,
    seq_cst: Option<String>,
    witness: Option<RawExecution>,
    race: Option<RawExecution>,
    waiting_loops: Vec<RawSpin>,
    rewritten: bool,
    limit: Option<RawLimit>,
    statistics: RawStatistics,
}

#[derive(Deserialize)]
struct RawSpin {
    thread: String,
    line: Option<u32>,
    became: String,
}

fn c11(answer: C11) -> Result<Story, Wrong> {
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.verdict);
    let mut notes = Vec::new();
    let (word, sentence) = match verdict {
        Verdict::Holds => (
            "robust",
            format!("{file} is robust against {model}: each of its executions is one of sequential consistency."),
        ),
        Verdict::Violated if answer.race.is_some() => {
            notes.push("A program with a data race has no meaning in C11; robustness was not settled.".to_owned());
            ("data race", format!("{file} has a data race under {model}."))
        }
        Verdict::Violated => (
            "not robust",
            format!("{file} is not robust against {model}: it has an execution that sequential consistency forbids."),
        ),
        _ => {
            let why = answer.limit.as_ref().map(|limit| format!(": {}", limit.words())).unwrap_or_default();
            ("unknown", format!("Whether {file} is robust against {model} is unknown{why}."))
        }
    };
    let execution = answer.witness.or(answer.race);
    let remedy = execution.as_ref().and_then(|execution| {
        let remedy = execution.remedy.as_ref()?;
        Some((
            remedy.strengthen.iter().map(|one| (one.event, one.order.clone())).collect(),
            remedy.fence_before.clone(),
        ))
    });
    let telling = execution.map(RawExecution::told).transpose()?;
    if let (Some(graph), Some((strengthen, fences))) = (telling.as_ref().and_then(|told| told.graph.as_ref()), remedy) {
        notes.extend(forbidding(graph, strengthen, &fences)?);
    }
    if let Some(reading) = &answer.seq_cst {
        notes.push(format!(
            "seq_cst accesses are outside RC20; they were read as release/acquire ({reading}), so violations of RC11 may be missed."
        ));
    }
    if !answer.waiting_loops.is_empty() {
        let loops = answer.waiting_loops.iter().map(|RawSpin { thread, line, became }| {
            let line = line.map(|line| format!(" on line {line}")).unwrap_or_default();
            format!("of {thread}{line} (`{became}`)")
        });
        let loops = loops.collect::<Vec<_>>().join(", ");
        let number = counted(answer.waiting_loops.len() as u64, "loop");
        notes.push(match answer.rewritten {
            true => format!("{number} that only wait were rewritten: {loops}."),
            false => format!("{number} only wait, and --auto-wait would rewrite them: {loops}."),
        });
    }
    Ok(Story {
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        telling,
        statistics: answer.statistics.facts(),
        file: answer.file,
        model: Some(answer.model),
        ..Story::default()
    })
}

/// Which orders and fences would forbid the graph.
fn forbidding(graph: &Graph, strengthen: Vec<(usize, String)>, fences: &[usize]) -> Result<Option<String>, Wrong> {
    let named = |event: usize| {
        let event = graph.events.get(event).ok_or_else(|| format!("there is no event {event}"))?;
        let line = event.line.map(|line| format!(" on line {line}")).unwrap_or_default();
        let thread = event.thread.as_ref().map(|thread| format!(" of {thread}")).unwrap_or_default();
        Ok::<_, Wrong>(format!("`{}`{thread}{line}", event.text))
    };
    let mut parts = Vec::new();
    for (event, order) in strengthen {
        parts.push(format!("making {} {order}", named(event)?));
    }
    for &event in fences {
        parts.push(format!("a seq_cst fence before {}", named(event)?));
    }
    Ok((!parts.is_empty())
        .then(|| format!("This graph is forbidden by {}; others may remain.", parts.join(", and by "))))
}
