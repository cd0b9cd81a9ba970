//! Robustness as JSON. The fields are described in docs/json.md.

use super::text::of_instance;
use crate::json::{edges, events, initial, limit, statistics, step};
use crate::parameterised;
use ravelin_analysis::robustness::{
    Attack, AttackFate, AttackNames, AttackWitness, Explored, JudgedAttack, Place, RaceFreedom, RaceWitness,
    Robustness, attack_name,
};
use ravelin_program::Program;
use serde_json::{Value, json};

/// The answer to `check`. `program` is the lowered one.
pub fn robustness(file: &str, program: &Program, answer: &Robustness) -> Value {
    let program = &of_instance(program, answer);
    let mut names = AttackNames::new(program);
    let mut told = json!({
        "file": file,
        "model": answer.model.name(),
        "property": "robust",
        "verdict": answer.verdict.name(),
        "engine": answer.engine.name(),
        "one_delaying_thread": answer.one_delaying_thread,
        "attacks": answer.attacks.iter().map(|judged| attack(&mut names, program, judged)).collect::<Vec<_>>(),
        "witness": answer.witness().map(|witness| attack_witness(program, witness)),
        "limit": answer.limit.map(limit),
        "explored": explored(&answer.explored),
    });
    if let Some(found) = &answer.any_number {
        told["any_number"] = parameterised::json(found);
    }
    told
}

/// The answer to `check --property trf`.
pub fn race_freedom(file: &str, answer: &RaceFreedom) -> Value {
    json!({
        "file": file,
        "model": "tso",
        "property": "trf",
        "verdict": answer.verdict.name(),
        "implies_robust": answer.implies_robust,
        "race": answer.race.as_ref().map(race),
        "limit": answer.limit.map(limit),
        "statistics": statistics(&answer.statistics, None),
    })
}

fn attack(names: &mut AttackNames, program: &Program, judged: &JudgedAttack) -> Value {
    let Attack { thread, store, load } = judged.attack;
    let (fate, reason) = match &judged.fate {
        AttackFate::Dismissed(reason) => ("infeasible", Some(reason.name())),
        AttackFate::Infeasible => ("infeasible", Some("searched")),
        AttackFate::Feasible(_) => ("feasible", None),
        AttackFate::Open => ("open", None),
    };
    json!({
        "name": names.name(judged.attack),
        "thread": program.threads[thread.0].name,
        "store": place(names.place(thread, store)),
        "load": place(names.place(thread, load)),
        "fate": fate,
        "reason": reason,
    })
}

pub(crate) fn attack_witness(program: &Program, witness: &AttackWitness) -> Value {
    let steps = witness.steps.iter().map(|in_part| {
        let mut told = step(&in_part.told);
        told["part"] = json!(in_part.part.name());
        told
    });
    let cycle = witness.cycle.iter().zip(&witness.graph.cycle).map(|(event, edge)| {
        json!({
            "event": edge.from,
            "thread": event.thread,
            "line": event.position.map(|position| position.line),
            "column": event.position.map(|position| position.column),
            "text": event.text,
            "edge": event.edge.name(),
            "cell": event.cell,
        })
    });
    json!({
        "attack": attack_name(program, witness.attack),
        "attacker": witness.attacker,
        "helpers": witness.helpers,
        "store": place(&witness.store),
        "load": place(&witness.load),
        "sentence": witness.sentence,
        "initial": initial(&witness.beginning),
        "steps": steps.collect::<Vec<_>>(),
        "events": events(&witness.graph),
        "edges": edges(&witness.graph),
        "cycle": cycle.collect::<Vec<_>>(),
    })
}

pub(crate) fn race(race: &RaceWitness) -> Value {
    json!({
        "thread": race.thread,
        "racing_thread": race.racing_thread,
        "store": place(&race.store),
        "load": place(&race.load),
        "racing_store": place(&race.racing_store),
        "stored": race.stored,
        "loaded": race.loaded,
        "initial": initial(&race.beginning),
        "steps": race.steps.iter().map(step).collect::<Vec<_>>(),
        "events": race.graph.as_ref().map(events),
        "edges": race.graph.as_ref().map(edges),
    })
}

fn place(place: &Place) -> Value {
    json!({
        "text": place.text,
        "line": place.position.map(|position| position.line),
        "column": place.position.map(|position| position.column),
    })
}

fn explored(explored: &Explored) -> Value {
    json!({
        "states": explored.states,
        "sc": explored.sc,
        "delaying": explored.delaying,
        "helping": explored.helping,
        "bytes": explored.bytes,
        "seconds": explored.elapsed.as_secs_f64(),
    })
}
