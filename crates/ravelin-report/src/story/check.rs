//! Answers of `check`: robustness against hardware and C11, and freedom from triangular races.

use super::demonstration::{of_attack, of_data_race, of_race, of_run, of_stale, on_line, words};
use super::facts::{explored, fact, statistics};
use super::{Graph, Story, Verdict, number_of_threads};
use ravelin_answer::text::{counted, grouped};
use ravelin_answer::{
    Answer, AttackWitness, C11Robustness, Deadlocks, Fate, Impact, InfeasibilityReason, OvertakingAccess, Remedy,
    Robustness, TriangularRaces, WaitingLoop,
};
use ravelin_program::Model;

pub fn robustness(answer: &Robustness) -> Story {
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.robust());
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
                Some(limit) => limit.to_string(),
                None if answer.one_delaying_thread => {
                    "no thread does harm by delaying its stores alone, and whether several do together is not known"
                        .to_owned()
                }
                None => "some attacks were not settled".to_owned(),
            };
            ("unknown", format!("Whether {file} is robust against {model} is unknown: {why}."))
        }
    };
    let mut notes: Vec<String> = Vec::new();
    if let Some(witness) = &answer.witness {
        if !answer.impact.as_ref().is_some_and(Impact::is_harmless) {
            notes.push(remedy(witness, answer));
        }
        if let Some(limit) = &answer.limit {
            notes.push(format!("Not every attack was settled: {}.", limit));
        }
    }
    notes.extend(note);
    let mut statistics = explored(&answer.explored);
    fact(&mut statistics, "engine", answer.engine.clone());
    let searched = answer.count(|attack| attack.reason == Some(InfeasibilityReason::Searched));
    for (name, number) in [
        ("attacks", answer.attacks.len()),
        ("infeasible without search", answer.fates(Fate::Infeasible).saturating_sub(searched)),
        ("infeasible after search", searched),
        ("feasible", answer.fates(Fate::Feasible)),
        ("open", answer.fates(Fate::Open)),
    ] {
        if number > 0 || name == "attacks" {
            fact(&mut statistics, name, grouped(number as u64));
        }
    }
    Story {
        file: answer.file.clone(),
        model: Some(answer.model),
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        demonstration: answer.witness.as_ref().map(|witness| of_attack(witness)),
        statistics,
        ..Story::default()
    }
}

/// Whether it matters: behind the word, as the first note, and as the verdict if another property was asked about. The
/// run that violates a goal is shown if there is no other.
pub fn add_impact(answer: &Answer, story: &mut Story) {
    let (Some(impact), Some(model)) = (answer.impact(), answer.model()) else { return };
    story.verdict = answer.verdict().map_or(story.verdict, Verdict::from);
    let summary = impact.summary(model, answer.deadlocks());
    if let Some(summary) = summary.strip_prefix(", ") {
        story.word = match (&impact.witness, impact.is_harmless()) {
            (None, true) => format!("{}, but harmless", story.word),
            _ => format!("{}, and wrong", story.word),
        };
        let summary = summary.trim_start_matches("but ").trim_start_matches("and ");
        story.notes.insert(0, format!("{} is {summary}.", story.file));
    }
    story.notes.extend(impact.advice(model).into_iter().chain(impact.open(model)));
    if let Some(witness) = &impact.witness {
        story.demonstration.get_or_insert_with(|| of_run(witness));
    }
}

/// A deadlock beside a verdict. Its run is shown if there is no other.
pub fn add_deadlocks(deadlocks: &Deadlocks, model: Option<Model>, story: &mut Story) {
    if let Some(witness) = &deadlocks.witness {
        story.notes.push(format!("{} {} under {}.", story.file, words(&witness.violation), witness.model));
        story.demonstration.get_or_insert_with(|| of_run(witness));
    }
    story.notes.extend(deadlocks.open(model));
}

/// The fence that stops the attack, and what is known about the others.
fn remedy(witness: &AttackWitness, answer: &Robustness) -> String {
    let (fence, second) = match witness.overtaking {
        OvertakingAccess::Store => ("A release fence (`fence(release)`)", "store"),
        OvertakingAccess::Load => ("A fence (`fence(seq_cst)`)", "load"),
    };
    let others = match (answer.fates(Fate::Feasible), answer.fates(Fate::Open)) {
        (0 | 1, 0) => ", the only feasible one".to_owned(),
        (2, 0) => "; one more is feasible".to_owned(),
        (feasible, 0) => format!("; {} more are feasible", grouped(feasible as u64 - 1)),
        _ => "; others may remain".to_owned(),
    };
    format!(
        "{fence} between the store{} and the {second}{} stops this attack ({}){others}.",
        on_line(&witness.store),
        on_line(&witness.load),
        witness.attack
    )
}

pub fn triangular_races(answer: &TriangularRaces) -> Story {
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
            let why = answer.limit.as_ref().map(|limit| format!(": {}", limit)).unwrap_or_default();
            ("unknown", format!("Whether {file} is free of triangular races is unknown{why}."))
        }
    };
    Story {
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        demonstration: answer.race.as_ref().map(|race| of_race(race)),
        statistics: statistics(&answer.statistics),
        file: answer.file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}

pub fn c11_robustness(answer: &C11Robustness) -> Story {
    let (file, model) = (&answer.file, &answer.model);
    let verdict = Verdict::from(answer.robust());
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
            let why = answer.limit.as_ref().map(|limit| format!(": {}", limit)).unwrap_or_default();
            ("unknown", format!("Whether {file} is robust against {model} is unknown{why}."))
        }
    };
    let demonstration = match (&answer.witness, &answer.race) {
        (Some(witness), _) => Some(of_stale(witness)),
        (None, Some(race)) => Some(of_data_race(race)),
        (None, None) => None,
    };
    let remedy = answer.witness.as_ref().and_then(|witness| witness.remedy.as_ref());
    let remedy = remedy.filter(|_| !answer.impact.as_ref().is_some_and(Impact::is_harmless));
    if let (Some(graph), Some(remedy)) = (demonstration.as_ref().and_then(|told| told.graph.as_ref()), remedy) {
        notes.extend(forbidding(graph, remedy));
    }
    let machines = answer.witness.as_ref().and_then(|witness| witness.machines);
    notes.extend(machines.map(|machines| machines.sentence().to_owned()));
    notes.extend(answer.seq_cst_basis.map(|basis| basis.sentence().to_owned()));
    if !answer.waiting_loops.is_empty() {
        let loops = answer.waiting_loops.iter().map(|WaitingLoop { thread, line, became, .. }| {
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
    Story {
        verdict,
        word: word.to_owned(),
        sentence,
        notes,
        demonstration,
        statistics: statistics(&answer.statistics),
        file: answer.file.clone(),
        model: Some(answer.model),
        ..Story::default()
    }
}

/// Which orders and fences would forbid the graph.
fn forbidding(graph: &Graph, remedy: &Remedy) -> Option<String> {
    let named = |event: usize| {
        let event = &graph.events[event];
        let line = event.line.map(|line| format!(" on line {line}")).unwrap_or_default();
        let thread = event.thread.as_ref().map(|thread| format!(" of {thread}")).unwrap_or_default();
        format!("`{}`{thread}{line}", event.text)
    };
    let strengthen = remedy.strengthen.iter().map(|one| format!("making {} {}", named(one.event), one.order));
    let fences = remedy.fence_before.iter().map(|&event| format!("a seq_cst fence before {}", named(event)));
    let parts: Vec<String> = strengthen.chain(fences).collect();
    let parts = Some(parts).filter(|parts| !parts.is_empty())?;
    Some(format!("This graph is forbidden by {}; others may remain.", parts.join(", and by ")))
}
