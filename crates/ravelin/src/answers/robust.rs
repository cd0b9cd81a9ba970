//! Robustness against tso and pso, and triangular races.

use super::threads::any_number;
use ravelin_analysis::robustness::{
    self as analysis, AttackFate, AttackNames, JudgedAttack, attack_name, is_delayable,
};
use ravelin_answer::{
    Attack, AttackWitness, Fate, InfeasibilityReason, OvertakingAccess, Property, RobustEffort, Robustness,
    TriangularRace, TriangularRaces,
};
use ravelin_program::{HardwareProgram, Model, Program};

/// The answer to `check`.
pub fn robustness(file: &str, program: &Program, found: &analysis::RobustnessAnswer) -> Robustness {
    // Attacks refer to the program after the x86 mapping. They refer to an instance if one of any number of threads is
    // not robust.
    let instance = found.any_number.as_ref().and_then(|found| found.instance.as_ref());
    let program = &HardwareProgram::new(instance.map_or(program, |instance| &instance.program));
    let mut names = AttackNames::new(program);
    Robustness {
        file: file.to_owned(),
        model: found.model,
        property: Property::Robust,
        verdict: found.verdict,
        engine: found.engine.name().to_owned(),
        one_delaying_thread: found.one_delaying_thread,
        implied_by: found.implied_by,
        attacks: found.attacks.iter().map(|judged| attack(&mut names, program, judged)).collect(),
        witness: found.witness().map(|witness| Box::new(attack_witness(program, witness))),
        limit: found.limit.map(Into::into),
        explored: RobustEffort {
            states: found.explored.states,
            sc: found.explored.sc,
            delaying: found.explored.delaying,
            helping: found.explored.helping,
            bytes: found.explored.bytes,
            seconds: found.explored.elapsed.as_secs_f64(),
        },
        any_number: found.any_number.as_deref().map(any_number),
        stops: None,
        deadlocks: None,
        impact: None,
    }
}

fn attack(names: &mut AttackNames, program: &HardwareProgram, judged: &JudgedAttack) -> Attack {
    let analysis::Attack { thread, store, load } = judged.attack;
    let (fate, reason) = match &judged.fate {
        AttackFate::Dismissed(reason) => (Fate::Infeasible, Some(*reason)),
        AttackFate::Infeasible => (Fate::Infeasible, Some(InfeasibilityReason::Searched)),
        AttackFate::Feasible(_) => (Fate::Feasible, None),
        AttackFate::Open => (Fate::Open, None),
    };
    Attack {
        name: names.name(judged.attack),
        thread: program.threads[thread.0].name.clone(),
        store: names.place(thread, store).clone(),
        load: names.place(thread, load).clone(),
        overtaking: overtaking(program, judged.attack),
        fate,
        reason,
    }
}

/// Under PSO a store may overtake, too.
fn overtaking(program: &HardwareProgram, attack: analysis::Attack) -> OvertakingAccess {
    let second = &program.threads[attack.thread.0].transitions[attack.load.0];
    if is_delayable(&second.instruction) { OvertakingAccess::Store } else { OvertakingAccess::Load }
}

pub(super) fn attack_witness(program: &HardwareProgram, witness: &analysis::AttackWitness) -> AttackWitness {
    AttackWitness {
        attack: attack_name(program, witness.attack),
        model: witness.model,
        attacker: witness.attacker.clone(),
        helpers: witness.helpers.clone(),
        together: witness.together.clone(),
        store: witness.store.clone(),
        load: witness.load.clone(),
        overtaking: overtaking(program, witness.attack),
        sentence: witness.sentence.clone(),
        initial: witness.initial.clone(),
        steps: witness.steps.clone(),
        events: witness.graph.events.clone(),
        edges: witness.graph.edges.clone(),
        cycle: witness.cycle.clone(),
    }
}

/// The answer to `check --property trf`.
pub fn triangular_races(file: &str, found: &analysis::RaceFreedom) -> TriangularRaces {
    TriangularRaces {
        file: file.to_owned(),
        model: Model::Tso,
        property: Property::Trf,
        verdict: found.verdict,
        implies_robust: found.implies_robust,
        race: found.race.as_ref().map(|found| Box::new(race(found))),
        limit: found.limit.map(Into::into),
        statistics: (&found.statistics).into(),
        stops: None,
        deadlocks: None,
    }
}

pub(super) fn race(race: &analysis::RaceWitness) -> TriangularRace {
    TriangularRace {
        thread: race.thread.clone(),
        racing_thread: race.racing_thread.clone(),
        store: race.store.clone(),
        load: race.load.clone(),
        racing_store: race.racing_store.clone(),
        stored: race.stored.clone(),
        loaded: race.loaded.clone(),
        initial: race.initial.clone(),
        steps: race.steps.clone(),
        events: race.graph.as_ref().map(|graph| graph.events.clone()),
        edges: race.graph.as_ref().map(|graph| graph.edges.clone()),
    }
}
