//! Deadlocks: states in which some thread is not at its end, and every such thread stands at a `wait`, `lock` or `bcas` that cannot pass.
//!
//! A search of all states finds them; under ra and rc20 that of the machine with messages. Under tso and pso it is exact if no store ever had to wait for room in its buffer. Where one had to,
//! a robust program has the deadlocks that it has under sc: in a deadlock all buffers are empty, and the trace of a computation
//! determines the state in which it ends. So there is none if sc has none and the program is robust. Conversely a run under
//! sc is one under every other model. What is left is unknown.
//!
//! Every deadlock is replayed on the reference semantics, which judges by itself what a deadlock is.

use crate::c11::c11_reach;
use crate::reachability::{ReachEngine, ReachabilityQuestion};
use crate::robustness::{RobustnessQuestion, robustness};
use crate::witness::{Witness, replay};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::{self as told, DeadlockVerdict};
use ravelin_explore::{Options, Until, Watch};
use ravelin_machine::{ExploredProgram, Purpose, Reductions, Settings, Violation, may_stop, may_wait, run};
use ravelin_program::{Model, Program};
use std::time::Instant;

/// States of each search that settles deadlocks beside another answer.
pub const MOST_STATES: u64 = 200_000;
/// States that the search for a shortest run may visit beyond those of the first search.
const SHORTEST_EXTRA_STATES: u64 = 100_000;

/// The answer.
#[derive(Clone, Debug)]
pub struct DeadlockAnswer {
    pub verdict: DeadlockVerdict,
    /// A run to the deadlock that was found.
    pub witness: Option<Witness>,
    /// States that were explored.
    pub states: u64,
}

impl DeadlockAnswer {
    fn without_run(verdict: DeadlockVerdict, states: u64) -> DeadlockAnswer {
        DeadlockAnswer { verdict, witness: None, states }
    }
}

/// Looks for a deadlock by a search of all states. Goals do not matter. Under ra and rc20 a fault or a failed assertion may end the search
/// first; the answer is then unknown.
pub fn deadlocks(program: &Program, question: &ReachabilityQuestion) -> Result<DeadlockAnswer, AnalysisError> {
    if !may_wait(program) {
        return Ok(DeadlockAnswer::without_run(DeadlockVerdict::None, 0));
    }
    let found = if question.model.is_c11() { with_messages(program, question) } else { search(program, question) };
    match found {
        Err(AnalysisError::Limit(_)) => Ok(DeadlockAnswer::without_run(DeadlockVerdict::Unknown, 0)),
        answer => answer,
    }
}

fn with_messages(program: &Program, question: &ReachabilityQuestion) -> Result<DeadlockAnswer, AnalysisError> {
    let program = &Program { goals: Vec::new(), ..program.clone() };
    let question = ReachabilityQuestion { deadlocks: true, ..*question };
    let found = c11_reach(program, &question, ReachEngine::Bounded)?.reachability;
    let states = found.statistics.states;
    Ok(match (found.verdict, found.witness) {
        (Verdict::Violated, Some(witness)) if matches!(witness.violation, told::Violation::Deadlock { .. }) => {
            DeadlockAnswer { verdict: DeadlockVerdict::Found, witness: Some(witness), states }
        }
        (Verdict::Holds, _) => DeadlockAnswer::without_run(DeadlockVerdict::None, states),
        _ => DeadlockAnswer::without_run(DeadlockVerdict::Unknown, states),
    })
}

fn search(program: &Program, question: &ReachabilityQuestion) -> Result<DeadlockAnswer, AnalysisError> {
    let start = Instant::now();
    let program = &Program { goals: Vec::new(), ..program.clone() };
    // A fault or a failed assertion must not end the search.
    let stops = may_stop(program, &Watch::new(question.budget, "looking for deadlocks"))?;
    let until = if stops { Until::Exhausted } else { Until::FirstFinding };
    let settings = Settings { deadlocks: true, ..question.settings(Purpose::Goals) };
    let explored = run(program, settings, &question.options(until))?;
    let states = explored.statistics().states;
    let Some(found) = witness(program, settings, &explored)? else {
        let exhausted = explored.limit().is_none() && !explored.cut_off();
        let verdict = if exhausted { DeadlockVerdict::None } else { DeadlockVerdict::Unknown };
        return Ok(DeadlockAnswer::without_run(verdict, states));
    };
    let budget = question.budget.child(start, states).at_most(states * 4 + SHORTEST_EXTRA_STATES).silent();
    let settings = Settings { reductions: Reductions::NONE, ..settings };
    // A limit, or a full disk, must not lose what is found already.
    let shorter = match run(program, settings, &Options { budget, until }) {
        Ok(explored) => witness(program, settings, &explored)?.map(|found| Witness { shortest: true, ..found }),
        Err(_) => None,
    };
    Ok(DeadlockAnswer { verdict: DeadlockVerdict::Found, witness: Some(shorter.unwrap_or(found)), states })
}

fn witness(
    program: &Program,
    settings: Settings,
    explored: &ExploredProgram,
) -> Result<Option<Witness>, AnalysisError> {
    for violation in explored.violations() {
        let (violation, run) = violation.map_err(|error| InternalError(error.to_string()))?;
        if violation == Violation::Deadlock {
            return Ok(Some(replay(program, settings, violation, &run)?));
        }
    }
    Ok(None)
}

/// Settles deadlocks under tso or pso within a moment, for a program in which nothing else can go wrong.
pub fn settle(program: &Program, question: &ReachabilityQuestion) -> Result<DeadlockAnswer, AnalysisError> {
    let start = Instant::now();
    let asked = |model: Model, states: u64| {
        let budget = question.budget.child(start, states).at_most(MOST_STATES).silent().in_memory();
        ReachabilityQuestion { model, budget, ..*question }
    };
    let first = deadlocks(program, &asked(question.model, 0))?;
    if first.verdict != DeadlockVerdict::Unknown {
        return Ok(first);
    }
    let under_sc = deadlocks(program, &asked(Model::Sc, first.states))?;
    let states = first.states + under_sc.states;
    if under_sc.verdict != DeadlockVerdict::None {
        return Ok(DeadlockAnswer { states, ..under_sc });
    }
    let budget = asked(question.model, states).budget;
    let verdict = match robustness(program, &RobustnessQuestion { budget, ..RobustnessQuestion::new(question.model) }) {
        Ok(answer) if answer.verdict == Verdict::Holds => DeadlockVerdict::None,
        Ok(_) | Err(AnalysisError::Limit(_) | AnalysisError::TooManyAttacks { .. }) => DeadlockVerdict::Unknown,
        Err(error) => return Err(error),
    };
    Ok(DeadlockAnswer::without_run(verdict, states))
}
