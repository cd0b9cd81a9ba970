//! Where threads can stop under sequential consistency before their end: at a fault, or at an assertion that fails.
//!
//! Whatever a thread would do behind such a place, no analysis looks at: a program that stops at once is robust. So an answer
//! about robustness, fences or final states is told together with the stops.
//!
//! If the ranges of values exclude every stop, there is no search. Otherwise the states under SC are explored with all
//! reductions, and every stop is replayed on the reference semantics.

use crate::witness::{WitnessViolation, replay};
use crate::{AnalysisError, InternalError};
use ravelin_explore::{Limit, Limits, Options, Until};
use ravelin_machine::{Purpose, Reductions, Settings, may_stop, run};
use ravelin_program::Program;
use ravelin_semantics::Model;
use std::sync::atomic::AtomicBool;

/// Copies of a `thread p[*]` in the instance that is searched.
const COPIES: usize = 2;

/// How hard to look.
#[derive(Clone, Copy, Debug, Default)]
pub struct StopsQuestion<'a> {
    pub limits: Limits,
    pub workers: usize,
    pub stop: Option<&'a AtomicBool>,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// One for each place, in the order of threads and lines. [`WitnessViolation::Goal`] does not occur.
    pub found: Vec<WitnessViolation>,
    /// What ended the search before every place was looked at.
    pub limit: Option<Limit>,
}

/// Asks where threads can stop under SC.
///
/// Of a program with any number of threads an instance is searched: what is found is real, and there may be more.
pub fn stops(program: &Program, question: &StopsQuestion) -> Result<Stops, AnalysisError> {
    let instance;
    let program = if program.is_parameterised() {
        instance = program.instance(COPIES);
        &instance
    } else {
        program
    };
    if !may_stop(program) {
        return Ok(Stops::default());
    }
    let program = &Program { goals: Vec::new(), ..program.clone() };
    let settings = Settings { purpose: Purpose::Goals, reductions: Reductions::ALL, ..Settings::new(Model::Sc) };
    let options = Options {
        limits: question.limits,
        workers: question.workers,
        until: Until::Exhausted,
        stop: question.stop,
        ..Options::default()
    };
    let explored = run(program, settings, &options)?;
    let mut found = Vec::new();
    for violation in explored.violations() {
        let (violation, run) = violation.map_err(|error| InternalError(error.to_string()))?;
        found.push(replay(program, settings, violation, &run)?.violation);
    }
    // Several runs may lead to one place.
    let place = |stop: &WitnessViolation| (stop.position(), stop.thread().map(str::to_owned));
    found.sort_by_key(place);
    found.dedup_by_key(|stop| place(stop));
    Ok(Stops { found, limit: explored.limit() })
}
