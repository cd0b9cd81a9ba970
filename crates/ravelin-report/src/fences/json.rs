//! Fences as JSON. The fields are described in docs/json.md.

use super::{Shown, after, threads};
use crate::json::{limit, witness};
use crate::parameterised;
use crate::robustness::json::{attack_witness, race};
use ravelin_analysis::fences::{FenceSet, Outcome, Purpose, Trouble};
use ravelin_program::{Program, Site, lower_for_hardware};
use serde_json::{Value, json};

/// The answer to `fence`.
pub fn fences(shown: &Shown) -> Value {
    let answer = shown.answer;
    let (outcome, trouble, why) = match &answer.outcome {
        Outcome::NotNeeded => ("not_needed", None, None),
        Outcome::Found => ("found", None, None),
        Outcome::WrongUnderSc(trouble) => ("wrong_under_sc", Some(trouble), None),
        Outcome::NoSet(trouble) => ("no_set", Some(trouble), None),
        Outcome::Unknown(why) => ("unknown", None, Some(why)),
    };
    let purpose = match shown.purpose {
        Purpose::Robust => "robustness",
        Purpose::RaceFree => "trf",
        Purpose::Safe(_) => "safety",
    };
    let reasons = shown.reasons.iter().map(|needed| {
        let rest: Vec<usize> = answer.sets.first().map_or(&[][..], |set| &set.offers).to_vec();
        let rest: Vec<usize> = rest.into_iter().filter(|&offer| offer != needed.offer).collect();
        json!({
            "place": shown.sites[shown.offers[needed.offer].site].name,
            "trouble": needed.trouble.as_ref().map(|trouble| told(&shown.lowered(&rest), trouble)),
        })
    });
    json!({
        "file": shown.file,
        "model": shown.model,
        "purpose": purpose,
        "seq_cst": shown.seq_cst.map(|reading| reading.name()),
        "outcome": outcome,
        "sets": answer.sets.iter().map(|found| set(shown, found)).collect::<Vec<_>>(),
        "truncated": answer.truncated,
        "trouble": trouble.map(|trouble| told(&shown.lowered(&[]), trouble)),
        "unknown": why.map(|why| json!({
            "limit": why.limit.map(limit),
            "one_delaying_thread": why.one_delaying_thread,
            "unchecked": set(shown, &why.unchecked),
        })),
        "needed": reasons.collect::<Vec<_>>(),
        "checked": shown.checked,
        "diff": shown.diff,
        "effort": {
            "queries": answer.effort.queries,
            "clauses": answer.effort.clauses,
            "states": answer.effort.states,
            "seconds": answer.effort.elapsed.as_secs_f64(),
        },
    })
}

/// The places where fences may go.
pub fn places(file: &str, program: &Program, places: &[(&Site, u64)]) -> Value {
    let place = |(found, cost): &(&Site, u64)| {
        let mut told = site(program, found);
        told["cost"] = json!(cost);
        told
    };
    json!({ "file": file, "places": places.iter().map(place).collect::<Vec<_>>() })
}

fn site(program: &Program, site: &Site) -> Value {
    json!({
        "place": site.name,
        "line": site.position.map(|position| position.line),
        "column": site.position.map(|position| position.column),
        "after": after(program, site),
        "threads": threads(program, site),
    })
}

fn set(shown: &Shown, set: &FenceSet) -> Value {
    let changes = shown.changes(set).into_iter().map(|(number, done)| {
        let mut told = site(shown.program, &shown.sites[number]);
        told["change"] = json!(done.name());
        told
    });
    json!({
        "cost": set.cost.main,
        "fences": set.fences(shown.offers, shown.sites),
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn told(program: &Program, trouble: &Trouble) -> Value {
    match trouble {
        Trouble::Attack(found, Some(instance)) => {
            let lowered = lower_for_hardware(&instance.program);
            json!({ "attack": attack_witness(&lowered, found), "instance": parameterised::instance(instance) })
        }
        Trouble::Attack(found, None) => json!({ "attack": attack_witness(program, found) }),
        Trouble::Race(found) => json!({ "race": race(found) }),
        Trouble::C11(found) => crate::c11::json::violation(found),
        Trouble::Run(found, Some(instance)) => {
            json!({ "run": witness(found), "instance": parameterised::instance(instance) })
        }
        Trouble::Run(found, None) => json!({ "run": witness(found) }),
    }
}
