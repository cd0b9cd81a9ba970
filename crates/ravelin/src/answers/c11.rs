//! Robustness against ra and rc20, and data races.

use ravelin_analysis::c11::{self as analysis, C11Answer, C11Violation, SpinLoop, SpinOutcome, remedy};
use ravelin_answer::{
    C11Race, C11Robustness, C11Witness, KeptLoop, Property, Remedy, SeqCstBasis, Strengthen, TroubleKind, WaitingLoop,
};
use ravelin_program::Program;

/// The answer to `check --model ra` or `rc20`. `spins` are the program's loops; those that only wait may have been rewritten.
pub fn c11_robustness(
    file: &str,
    program: &Program,
    found: &C11Answer,
    spins: &[SpinLoop],
    rewritten: bool,
) -> C11Robustness {
    let (mut waiting, mut kept) = (Vec::new(), Vec::new());
    for spin in spins {
        let thread = program.threads[spin.thread.0].name.clone();
        let line = spin.position.map(|position| position.line);
        match &spin.outcome {
            SpinOutcome::Rewritten(rewrite) => waiting.push(WaitingLoop {
                thread,
                line,
                became: rewrite.became.clone(),
                weaker: rewrite.weaker,
                seen_by_goals: spin.is_seen_by_goals(program),
            }),
            SpinOutcome::Kept(obstacle) => kept.push(KeptLoop { thread, line, reason: obstacle.to_string() }),
        }
    }
    C11Robustness {
        file: file.to_owned(),
        model: found.model,
        property: Property::Robust,
        verdict: found.verdict,
        seq_cst: found.seq_cst,
        seq_cst_basis: found.basis,
        implied_by: found.implied_by,
        may_miss_violations: found.basis.is_some_and(SeqCstBasis::is_open),
        witness: found.witness().map(|witness| Box::new(stale(witness, remedy(found)))),
        race: found.race().map(|found| Box::new(race(found))),
        waiting_loops: waiting,
        kept_loops: kept,
        rewritten,
        limit: found.limit.map(Into::into),
        statistics: (&found.statistics).into(),
        stops: None,
        deadlocks: None,
        impact: None,
    }
}

/// The violation, without a remedy.
pub(super) fn violation(violation: &C11Violation) -> TroubleKind {
    match violation {
        C11Violation::NotRobust(witness) => TroubleKind::Stale(Box::new(stale(witness, None))),
        C11Violation::Race(found) => TroubleKind::DataRace(Box::new(race(found))),
    }
}

fn stale(witness: &analysis::C11Witness, remedy: Option<analysis::C11Remedy>) -> C11Witness {
    let remedy = remedy.map(|remedy| {
        let strengthen = remedy.strengthen.iter();
        let strengthen = strengthen.map(|(event, order)| Strengthen { event: *event, order: order.name().to_owned() });
        Remedy { strengthen: strengthen.collect(), fence_before: remedy.fences }
    });
    C11Witness {
        sentence: witness.sentence.clone(),
        access: witness.access,
        ignored: witness.ignored,
        initial: witness.initial.clone(),
        steps: witness.steps.clone(),
        events: witness.events.clone(),
        edges: witness.edges.clone(),
        cycle: witness.cycle.clone(),
        machines: Some(witness.machines),
        remedy,
    }
}

fn race(race: &analysis::C11Race) -> C11Race {
    C11Race {
        sentence: race.sentence.clone(),
        first: race.first,
        second: race.second,
        initial: race.initial.clone(),
        steps: race.steps.clone(),
        events: race.events.clone(),
        edges: race.edges.clone(),
    }
}
