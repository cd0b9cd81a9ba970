//! Reachability.

use super::threads::any_number;
use ravelin_analysis::reachability::{PortfolioAnswer, ReachEngine, ReachabilityEffort};
use ravelin_analysis::witness::Witness;
use ravelin_answer::{ReachEffort, Reachability, RunWitness, Statistics};
use ravelin_program::{GoalKind, Program};

/// The answer to `reach`.
pub fn reachability(file: &str, program: &Program, found: &PortfolioAnswer) -> Reachability {
    let reached = &found.reachability;
    let effort = match &found.effort {
        ReachabilityEffort::States => None,
        ReachabilityEffort::Constraints(counts) => {
            let (generated, kept, minimal) = (counts.generated, counts.kept, counts.minimal);
            Some(ReachEffort::Constraints { generated, kept, minimal })
        }
        ReachabilityEffort::Rounds(lazy) => Some(ReachEffort::Rounds {
            rounds: lazy.rounds,
            paths: lazy.paths,
            sc_states: lazy.sc_states,
            oracle_states: lazy.oracle_states,
        }),
    };
    let state_bytes = (found.engine == ReachEngine::Bounded).then_some(reached.words as u64 * 8);
    Reachability {
        file: file.to_owned(),
        model: reached.model,
        verdict: reached.verdict,
        engine: found.engine.name().to_owned(),
        effort,
        not_tried: found.not_tried.clone(),
        goals: reached.goals,
        exists: program.goals.iter().filter(|goal| goal.kind == GoalKind::Exists).count(),
        deadlocks: found.deadlocks,
        buffer: reached.buffer,
        messages: reached.messages,
        seq_cst_open: reached.seq_cst_open,
        cut_off: reached.cut_off,
        limit: reached.limit.map(Into::into),
        witness: reached.witness.as_ref().map(|found| Box::new(witness(found))),
        statistics: Statistics { state_bytes, ..(&reached.statistics).into() },
        any_number: found.any_number.as_deref().map(any_number),
    }
}

pub(crate) fn witness(found: &Witness) -> RunWitness {
    RunWitness {
        violation: found.violation.clone(),
        model: found.model,
        shortest: found.shortest,
        initial: found.initial.clone(),
        steps: found.steps.clone(),
        events: found.graph.as_ref().map(|graph| graph.events.clone()),
        edges: found.graph.as_ref().map(|graph| graph.edges.clone()),
        cycle: found.graph.as_ref().map(|graph| graph.cycle.clone()),
    }
}
