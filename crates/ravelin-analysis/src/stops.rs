//! Where threads can stop under sequential consistency before their end: at a fault, or at an assertion that fails.
//!
//! Whatever a thread would do behind such a place, no analysis looks at: a program that stops at once is robust. So an answer
//! about robustness, fences or final states is told together with the stops.
//!
//! If the ranges of values exclude every stop, there is no search. Otherwise the states under SC are explored with all
//! reductions, and every stop is replayed on the reference semantics.
//!
//! Of a program with any number of threads a small instance is explored. If no thread of it stops, a net (`parameterised`) may prove within
//! a moment that none does in any instance, or find one that does. Otherwise the answer says how many copies were looked at.

use crate::parameterised::reach_by_proof;
use crate::reachability::ReachabilityQuestion;
use crate::witness::replay;
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::Violation;
use ravelin_explore::{Budget, Limit, Options, Until, Watch};
use ravelin_machine::{Purpose, Reductions, Settings, may_stop, run};
use ravelin_program::{Model, Program};

/// Copies of a `thread p[*]` in the instance that is searched.
const COPIES: usize = 2;
/// Markings and states that a proof for any number of copies may take.
const PROOF: u64 = 20_000;

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopsAnswer {
    /// One for each place, in the order of threads and lines. [`Violation::Goal`] does not occur.
    pub found: Vec<Violation>,
    /// What ended the search before every place was looked at.
    pub limit: Option<Limit>,
    /// Of a program with any number of threads: at most so many copies of each were looked at, and with more there may be more stops.
    /// `None`: the answer is about every number.
    pub copies: Option<usize>,
}

/// Asks where threads can stop under SC.
///
/// Of a program with any number of threads, what is found is real; see [`StopsAnswer::copies`] for what is not.
pub fn stops(program: &Program, budget: Budget) -> Result<StopsAnswer, AnalysisError> {
    match search(program, budget) {
        Err(AnalysisError::Limit(limit)) => Ok(StopsAnswer { limit: Some(limit), ..StopsAnswer::default() }),
        answer => answer,
    }
}

fn search(program: &Program, budget: Budget) -> Result<StopsAnswer, AnalysisError> {
    let program = &Program { goals: Vec::new(), ..program.clone() };
    if !program.is_parameterised() {
        return stops_of(program, budget);
    }
    let instance = program.instance(COPIES);
    // The ranges of values do not depend on how often a thread is there.
    if !may_stop(&instance, &Watch::new(budget, "looking for stops"))? {
        return Ok(StopsAnswer::default());
    }
    let few = StopsAnswer { copies: Some(COPIES), ..stops_of(&instance, budget)? };
    if !few.found.is_empty() || few.limit.is_some() {
        return Ok(few);
    }
    Ok(stops_of_any_number(program, budget)?.unwrap_or(few))
}

/// What can be proved about every number of copies; at most one stop, with the fewest copies. `None` if nothing can.
fn stops_of_any_number(program: &Program, budget: Budget) -> Result<Option<StopsAnswer>, AnalysisError> {
    let asked = ReachabilityQuestion { budget: budget.at_most(PROOF), ..ReachabilityQuestion::new(Model::Sc) };
    let answer = match reach_by_proof(program, &asked) {
        Err(refusal) if refusal.is_refusal() => return Ok(None),
        answer => answer?,
    };
    let instance = answer.any_number.as_ref().and_then(|found| found.instance.as_ref());
    let copies = instance.and_then(|instance| instance.copies.iter().map(|(_, copies)| *copies).max());
    Ok(match (answer.reachability.verdict, answer.reachability.witness) {
        (Verdict::Holds, _) => Some(StopsAnswer::default()),
        (Verdict::Violated, Some(witness)) => Some(StopsAnswer { found: vec![witness.violation], limit: None, copies }),
        _ => None,
    })
}

/// The stops of a program with a fixed number of threads.
fn stops_of(program: &Program, budget: Budget) -> Result<StopsAnswer, AnalysisError> {
    if !may_stop(program, &Watch::new(budget, "looking for stops"))? {
        return Ok(StopsAnswer::default());
    }
    let settings = Settings { purpose: Purpose::Goals, reductions: Reductions::ALL, ..Settings::new(Model::Sc) };
    let options = Options { budget, until: Until::Exhausted };
    let explored = run(program, settings, &options)?;
    let mut found = Vec::new();
    for violation in explored.violations() {
        let (violation, run) = violation.map_err(|error| InternalError(error.to_string()))?;
        found.push(replay(program, settings, violation, &run)?.violation);
    }
    // Several runs may lead to one place.
    let place = |stop: &Violation| (stop.position(), stop.thread().map(str::to_owned));
    found.sort_by_key(place);
    found.dedup_by_key(|stop| place(stop));
    Ok(StopsAnswer { found, limit: explored.limit(), copies: None })
}
