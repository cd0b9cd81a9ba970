//! Lazy TSO reachability (Bouajjani, Calin, Derevenetc, Meyer; FASE 2015): SC reachability, with delayed stores introduced only
//! where they lead to something new. Buffers have no bound.
//!
//! Algorithm 1: ask whether the extended program reaches a goal under SC. If not, ask the oracle (`oracle`) for paths of the
//! program on which a store is worth delaying; extend the program by these (`delays`, `extend`, `emulate`, `goals`), and ask
//! again. If the oracle has none left, the extended program is robust and the goal is not reachable. A goal that is
//! reached gives an SC run of the extended program, which `rebuild` turns into a TSO run of the original.
//!
//! Two things differ from the paper. Paths are folded together by what is pending, so an extension stays exact where the original has
//! loops: *holds* is an answer for any program, and the paper's second variant, which keeps the store it delays and so must forget
//! what the oracle says about it, is not needed. And there is no unrolling (Theorem 4): each round extends by a path for every
//! attack that is feasible, so every reachable goal is found in the end as well (see `oracle`).
//!
//! It ends on every program that is robust, reaches a goal, or cannot issue stores for ever without a fence or locked instruction;
//! loop-free programs are among these. Else the rounds may go on without end, until a limit. The bus lock is an exception, see
//! [`OpenCause::BusLock`].

mod delays;
mod emulate;
mod extend;
mod goals;
mod oracle;
mod rebuild;

use super::bounded::{ReachabilityQuestion, assertions};
use crate::witness::Witness;
use crate::{AnalysisError, InternalError, Verdict};
use delays::Delays;
use extend::{ExtendedProgram, Use, extend};
use oracle::{Advice, Oracle};
use ravelin_explore::{Budget, Limit, Options, Until, Watch};
use ravelin_machine::{ExploredProgram, Purpose, Reductions, Settings, run};
use ravelin_program::{Copies, HardwareProgram, Instruction, Model, Program};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// States of the first SC searches. One that needs more does not keep the oracle waiting: in a space without end, a goal may be
/// near once a store is delayed.
const FIRST_STAGE: u64 = 200_000;
const STAGE_FACTOR: u64 = 4;
/// How often somebody who waits for the oracle looks whether to stop.
const LOOK: Duration = Duration::from_micros(200);
/// States that the search for a shorter run may visit.
const SHORTER_STATES: u64 = 100_000;

/// The answer.
#[derive(Clone, Debug)]
pub struct Lazy {
    pub verdict: Verdict,
    /// How many goals and assertions the program has. Faults are looked for in any case.
    pub goals: usize,
    /// Why the answer is unknown.
    pub unsettled: Option<OpenCause>,
    pub witness: Option<Witness>,
    /// SC searches, each of a program extended further.
    pub rounds: usize,
    /// Paths that the oracle gave.
    pub paths: usize,
    /// Threads that were extended, and the locations of all threads at the end; those of the program itself for comparison.
    pub extended_threads: usize,
    pub locations: usize,
    pub original_locations: usize,
    /// States of all SC searches, and of the last one.
    pub sc_states: u64,
    pub last_states: u64,
    /// States of all searches for attacks.
    pub oracle_states: u64,
    /// The most that one search needed.
    pub bytes: u64,
    pub elapsed: Duration,
}

/// What kept the question open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenCause {
    Limit(Limit),
    /// The program is as good as robust, but it uses the bus lock, and a condition on several threads is judged also while one of
    /// them holds it and others have stores pending; no computation with empty buffers need show that state.
    BusLock,
}

/// Asks whether some goal can be violated, an assertion can fail or a fault can happen under TSO, with buffers of any length. The
/// question's model and bound on buffers are not looked at. With several workers, the oracle is asked while the SC search runs.
pub fn lazy(program: &Program, question: &ReachabilityQuestion) -> Result<Lazy, AnalysisError> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(ravelin_machine::BuildError::AnyNumberOfCopies(thread.name.clone()).into());
    }
    let base = HardwareProgram::stable(program);
    let start = Instant::now();
    let watch = Watch::since(question.budget, "listing attacks", start);
    let mut inquiry = Inquiry::new(program, &base, question, start);
    let settled = match Oracle::new(&base, &watch).map_err(Into::into).and_then(|oracle| inquiry.settle(oracle)) {
        Err(AnalysisError::Limit(limit)) => InquiryEnd::Unknown(OpenCause::Limit(limit)),
        settled => settled?,
    };
    Ok(inquiry.answer(settled))
}

/// How an inquiry ends.
enum InquiryEnd {
    Holds,
    Violated(Box<Witness>),
    Unknown(OpenCause),
}

struct Inquiry<'a> {
    program: &'a Program,
    base: &'a Program,
    question: &'a ReachabilityQuestion<'a>,
    delays: Vec<Delays>,
    start: Instant,
    stage: u64,
    /// The oracle has no advice for the delays as they are.
    robust: bool,
    lazy: Lazy,
}

impl<'a> Inquiry<'a> {
    fn new(
        program: &'a Program,
        base: &'a HardwareProgram,
        question: &'a ReachabilityQuestion<'a>,
        start: Instant,
    ) -> Inquiry<'a> {
        let locations = base.threads.iter().map(|thread| thread.locations.len()).sum();
        Inquiry {
            program,
            base,
            question,
            delays: vec![Delays::default(); base.threads.len()],
            start,
            stage: FIRST_STAGE,
            robust: false,
            lazy: Lazy {
                verdict: Verdict::Unknown,
                goals: program.goals.len() + assertions(program),
                unsettled: None,
                witness: None,
                rounds: 0,
                paths: 0,
                extended_threads: 0,
                locations,
                original_locations: locations,
                sc_states: 0,
                last_states: 0,
                oracle_states: 0,
                bytes: 0,
                elapsed: Duration::ZERO,
            },
        }
    }

    fn settle(&mut self, mut oracle: Oracle) -> Result<InquiryEnd, AnalysisError> {
        loop {
            let watch = Watch::new(self.left(), "extending the program");
            let extended = extend(self.base, &self.delays, Use::Search, &watch)?;
            self.lazy.locations = extended.program.threads.iter().map(|thread| thread.locations.len()).sum();
            self.lazy.rounds += 1;
            let (explored, advice) = self.round(&extended, &mut oracle)?;
            self.lazy.last_states = explored.statistics().states;
            self.lazy.sc_states += explored.statistics().states;
            self.lazy.bytes = self.lazy.bytes.max(explored.statistics().bytes);
            if let Some(witness) = self.witness(&extended, &explored)? {
                return Ok(InquiryEnd::Violated(Box::new(witness)));
            }
            if let Some(limit) = explored.limit().filter(|limit| self.is_users(*limit)) {
                return Ok(InquiryEnd::Unknown(OpenCause::Limit(limit)));
            }
            if self.robust {
                return Ok(self.settled_by_oracle());
            }
            let advice = match advice {
                Some(advice) => advice,
                None => oracle.ask(&self.delays, &options(self.left()))?,
            };
            self.lazy.oracle_states += advice.states;
            let watch = Watch::new(self.left(), "following paths");
            let added = oracle::follow(self.base, &mut self.delays, &advice.paths, &watch)?;
            self.lazy.paths += advice.paths.len();
            match (advice.paths.is_empty(), explored.limit(), advice.limit) {
                (true, None, None) => return Ok(self.settled_by_oracle()),
                (true, _, Some(limit)) => return Ok(InquiryEnd::Unknown(OpenCause::Limit(limit))),
                // Only the SC search has not come to its end.
                (true, Some(_), None) => (self.robust, self.stage) = (true, u64::MAX),
                (false, ..) if added == 0 => {
                    let what = "the oracle advises what was followed already".to_owned();
                    return Err(InternalError(what).into());
                }
                (false, Some(_), _) => self.stage = self.stage.saturating_mul(STAGE_FACTOR),
                (false, None, _) => {}
            }
            if let Some(limit) = self.question.budget.spent(self.start, self.used()) {
                return Ok(InquiryEnd::Unknown(OpenCause::Limit(limit)));
            }
        }
    }

    /// The SC search, and the oracle's advice if there is a worker for it to spare.
    fn round(
        &mut self,
        extended: &ExtendedProgram,
        oracle: &mut Oracle,
    ) -> Result<(ExploredProgram, Option<Advice>), AnalysisError> {
        let left = self.left();
        let stage = left.limits.states.map_or(self.stage, |states| states.min(self.stage));
        let search = left.states(stage);
        let sc = settings(self.question.reductions);
        // Beside each other only if there are states enough for both.
        let spare = left.limits.states.map(|states| states - stage);
        if left.workers < 2 || self.robust || spare.is_some_and(|spare| spare < stage) {
            let explored = run(&extended.program, sc, &options(search))?;
            return Ok((explored, None));
        }
        let enough = AtomicBool::new(false);
        let delays = &self.delays;
        std::thread::scope(|scope| {
            let enough = &enough;
            let mut aside = left.workers(left.workers / 2).silent().stop(enough);
            aside.limits.states = spare;
            let advice = scope.spawn(move || oracle.ask(delays, &options(aside)));
            let explored = run(&extended.program, sc, &options(search.workers(left.workers - left.workers / 2)));
            let settled = match &explored {
                Ok(explored) => {
                    explored.violation().is_some() || explored.limit().is_some_and(|limit| limit == Limit::Stopped)
                }
                Err(_) => true,
            };
            enough.store(settled, Ordering::Relaxed);
            // The oracle looks at one flag only; the user's has to be passed on.
            while !advice.is_finished() {
                if left.is_stopped() {
                    enough.store(true, Ordering::Relaxed);
                }
                std::thread::park_timeout(LOOK);
            }
            let advice = advice.join().map_err(|_| InternalError("the oracle panicked".to_owned()))?;
            let explored = explored?;
            if settled { Ok((explored, None)) } else { Ok((explored, Some(advice?))) }
        })
    }

    /// States of all searches.
    fn used(&self) -> u64 {
        self.lazy.sc_states + self.lazy.oracle_states
    }

    /// What is left for the next search.
    fn left(&self) -> Budget<'a> {
        self.question.budget.child(self.start, self.used())
    }

    /// A limit of the user, and not the size of a stage.
    fn is_users(&self, limit: Limit) -> bool {
        match limit {
            Limit::States(states) => states < self.stage,
            _ => true,
        }
    }

    fn witness(
        &self,
        extended: &ExtendedProgram,
        explored: &ExploredProgram,
    ) -> Result<Option<Witness>, AnalysisError> {
        let Some(found) = explored.violation() else { return Ok(None) };
        let (violation, run) = found.map_err(|error| InternalError(error.to_string()))?;
        let witness = rebuild::witness(self.program, extended, violation, &run)?;
        Ok(Some(self.shorter(extended)?.filter(|shorter| shorter.steps.len() < witness.steps.len()).unwrap_or(witness)))
    }

    /// A run from a search without reductions, if a small one finds it.
    fn shorter(&self, extended: &ExtendedProgram) -> Result<Option<Witness>, AnalysisError> {
        let budget = self.left().at_most(SHORTER_STATES).silent();
        let explored = run(&extended.program, settings(Reductions::NONE), &options(budget))?;
        let Some(found) = explored.violation() else { return Ok(None) };
        let (violation, run) = found.map_err(|error| InternalError(error.to_string()))?;
        Ok(Some(rebuild::witness(self.program, extended, violation, &run)?))
    }

    /// No goal is reached under SC, and the oracle has no advice.
    fn settled_by_oracle(&self) -> InquiryEnd {
        let mut transitions = self.base.threads.iter().flat_map(|thread| &thread.transitions);
        let bus = transitions.any(|transition| transition.instruction == Instruction::BusLock);
        if bus && self.base.goals.iter().any(goals::looks_across_threads) {
            InquiryEnd::Unknown(OpenCause::BusLock)
        } else {
            InquiryEnd::Holds
        }
    }

    fn answer(mut self, settled: InquiryEnd) -> Lazy {
        self.lazy.extended_threads = extend::extended_threads(&self.delays).count();
        self.lazy.elapsed = self.start.elapsed();
        match settled {
            InquiryEnd::Holds => self.lazy.verdict = Verdict::Holds,
            InquiryEnd::Violated(witness) => {
                self.lazy.verdict = Verdict::Violated;
                self.lazy.witness = Some(*witness);
            }
            InquiryEnd::Unknown(why) => self.lazy.unsettled = Some(self.named(why)),
        }
        self.lazy
    }

    /// A limit as the user gave it, not what was left of it.
    fn named(&self, why: OpenCause) -> OpenCause {
        match why {
            OpenCause::Limit(limit) => OpenCause::Limit(self.question.budget.limits.as_given(limit)),
            other => other,
        }
    }
}

fn settings(reductions: Reductions) -> Settings {
    Settings { model: Model::Sc, buffer: 0, purpose: Purpose::Goals, reductions, deadlocks: false }
}

fn options(budget: Budget<'_>) -> Options<'_> {
    Options { budget, until: Until::FirstFinding }
}
