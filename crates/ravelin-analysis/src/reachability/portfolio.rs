//! Several engines, one answer: the question goes to whoever can settle it, and the answer says who did.
//!
//! Under SC the bounded engine is exact. Under TSO a short bounded search comes first: it finds most violations, and is exact where
//! no store ever had to wait for room. What it leaves open goes to the load-buffer engine, which decides every program with finite
//! domains, and, if that takes long or the domains are not finite, to the lazy engine beside it; the first of the two to settle the
//! question ends the other. Under PSO the bounded search is followed by the backward search for PSO.
//!
//! Only the bounded engine sees deadlocks. Where another engine proves that nothing else can go wrong, `deadlocks` settles them if it
//! can; the answer says if it could not.

use super::BackwardCounts;
use super::backward::BackwardAnswer;
use super::bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
use super::dual::dual;
use super::lazy::{Lazy, OpenCause, lazy};
use super::pso::pso;
use super::sb::sb;
use crate::c11::c11_reach;
use crate::deadlocks::settle;
use crate::parameterised::{AnyNumber, reach_for_any_number};
use crate::witness::Witness;
use crate::{AnalysisError, Verdict};
use ravelin_answer::{DeadlockVerdict, Violation};
use ravelin_explore::Statistics;
use ravelin_machine::may_wait;
use ravelin_program::{Model, Program};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// States of the bounded search that comes first.
const FIRST_LOOK: u64 = 20_000;
/// How long the load-buffer engine works alone.
const HEAD_START: Duration = Duration::from_millis(300);
/// How often the user's wish to stop is passed on.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Who is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReachEngine {
    #[default]
    Auto,
    /// All states, with bounded store buffers.
    Bounded,
    /// SC reachability, extended by delayed stores where they matter.
    Lazy,
    /// Backwards over the single-buffer semantics; under PSO over one buffer a thread and cell.
    Sb,
    /// Backwards over the load-buffer semantics.
    Dual,
    /// Any number of threads under SC, as a Petri net.
    Cover,
    /// Under RA and RC20: the program is robust and has no data race, so SC decides.
    Robust,
}

impl ReachEngine {
    /// Those that can be chosen; `cover` and `robust` are taken where they fit.
    pub const CHOSEN: [ReachEngine; 5] =
        [ReachEngine::Auto, ReachEngine::Bounded, ReachEngine::Lazy, ReachEngine::Sb, ReachEngine::Dual];

    pub fn name(self) -> &'static str {
        match self {
            ReachEngine::Auto => "auto",
            ReachEngine::Bounded => "bounded",
            ReachEngine::Lazy => "lazy",
            ReachEngine::Sb => "sb",
            ReachEngine::Dual => "dual",
            ReachEngine::Cover => "cover",
            ReachEngine::Robust => "robust",
        }
    }
}

/// An answer, who gave it, and what it took.
#[derive(Clone, Debug)]
pub struct PortfolioAnswer {
    pub reachability: ReachabilityAnswer,
    /// Who settled the question, or tried last.
    pub engine: ReachEngine,
    pub effort: ReachabilityEffort,
    /// Why an engine that was asked could not try, as a sentence.
    pub not_tried: Option<String>,
    /// The question was about any number of threads. If the answer is *violated*, the run is one of an instance.
    pub any_number: Option<Box<AnyNumber>>,
    /// Whether there is a deadlock. The verdict may be *holds* although that is unknown.
    pub deadlocks: DeadlockVerdict,
}

impl PortfolioAnswer {
    /// The answer of an engine that goes from state to state.
    pub(crate) fn by(engine: ReachEngine, reachability: ReachabilityAnswer) -> PortfolioAnswer {
        PortfolioAnswer {
            reachability,
            engine,
            effort: ReachabilityEffort::States,
            not_tried: None,
            any_number: None,
            deadlocks: DeadlockVerdict::NotAsked,
        }
    }
}

#[derive(Clone, Debug)]
pub enum ReachabilityEffort {
    /// States and transitions, as the statistics say.
    States,
    /// Constraints of a backward search.
    Constraints(BackwardCounts),
    Rounds(Box<Lazy>),
}

/// Asks whether some goal can be violated, an assertion can fail, a fault can happen, or a deadlock, if the question is about them.
pub fn answer(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
) -> Result<PortfolioAnswer, AnalysisError> {
    if !question.deadlocks {
        return by_engines(program, question, engine);
    }
    if program.is_parameterised() || !may_wait(program) {
        let open = if may_wait(program) { DeadlockVerdict::Unknown } else { DeadlockVerdict::None };
        return Ok(PortfolioAnswer { deadlocks: open, ..by_engines(program, &goals_only(question), engine)? });
    }
    let start = Instant::now();
    let answer = by_engines(program, question, engine)?;
    let deadlocks = match (answer.reachability.verdict, answer.engine, &answer.reachability.witness) {
        (_, _, Some(Witness { violation: Violation::Deadlock { .. }, .. })) => DeadlockVerdict::Found,
        // Robust: there is none under SC, and every execution is one of SC.
        (Verdict::Holds, ReachEngine::Bounded | ReachEngine::Robust, _) => DeadlockVerdict::None,
        (Verdict::Holds, ..) => return with_deadlocks(answer, program, question, start),
        _ => DeadlockVerdict::Unknown,
    };
    Ok(PortfolioAnswer { deadlocks, ..answer })
}

/// An engine that does not see deadlocks has proved the rest.
fn with_deadlocks(
    answer: PortfolioAnswer,
    program: &Program,
    question: &ReachabilityQuestion,
    start: Instant,
) -> Result<PortfolioAnswer, AnalysisError> {
    let budget = question.budget.child(start, answer.reachability.statistics.states);
    let found = settle(program, &ReachabilityQuestion { budget, ..*question })?;
    let mut answer = PortfolioAnswer { deadlocks: found.verdict, ..answer };
    if let Some(witness) = found.witness {
        answer.reachability.verdict = Verdict::Violated;
        answer.reachability.witness = Some(witness);
    }
    Ok(answer)
}

/// The question without deadlocks, for engines that do not see them.
fn goals_only<'a>(question: &ReachabilityQuestion<'a>) -> ReachabilityQuestion<'a> {
    ReachabilityQuestion { deadlocks: false, ..*question }
}

fn by_engines(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
) -> Result<PortfolioAnswer, AnalysisError> {
    if program.is_parameterised() && !question.model.is_c11() {
        let start = Instant::now();
        return match reach_for_any_number(program, question, engine) {
            Err(AnalysisError::Limit(limit)) => {
                let reachability = ReachabilityAnswer::unknown(program, question, limit, start);
                Ok(PortfolioAnswer::by(engine, reachability))
            }
            answer => answer,
        };
    }
    match (question.model, engine) {
        (_, ReachEngine::Cover | ReachEngine::Robust) => bounded(program, question),
        (Model::Ra | Model::Rc20, _) => c11_reach(program, question, engine),
        (Model::Sc, _) | (_, ReachEngine::Bounded) => bounded(program, question),
        (Model::Tso, ReachEngine::Dual) => by_dual(program, question),
        (Model::Tso, ReachEngine::Sb) => by_sb(program, question),
        (Model::Tso, ReachEngine::Lazy) => by_lazy(program, question),
        (Model::Pso, ReachEngine::Sb) => by_pso(program, question),
        (Model::Pso, ReachEngine::Dual | ReachEngine::Lazy) => Err(AnalysisError::EngineIsForTso(engine.name())),
        (Model::Tso, ReachEngine::Auto) => auto(program, question),
        (Model::Pso, ReachEngine::Auto) => {
            let start = Instant::now();
            let first = bounded(program, &first_look(question))?;
            if is_settled(&first) {
                return Ok(first);
            }
            let budget = question.budget.child(start, first.reachability.statistics.states);
            let left = ReachabilityQuestion { budget, ..*question };
            unless_refused(by_pso(program, &left), program, &left).map(|answer| as_given(answer, question))
        }
    }
}

/// The bounded engine for a moment, then the others beside each other.
fn auto(program: &Program, asked: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    let start = Instant::now();
    let first = bounded(program, &first_look(asked))?;
    if is_settled(&first) || asked.budget.is_stopped() {
        return Ok(first);
    }
    let halt = AtomicBool::new(false);
    let budget = asked.budget.child(start, first.reachability.statistics.states).stop(&halt);
    let question = ReachabilityQuestion { budget, ..*asked };
    let answer = std::thread::scope(|scope| {
        let (send, receive) = channel();
        let begin = |engine: fn(&Program, &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError>| {
            let (send, question) = (send.clone(), &question);
            scope.spawn(move || {
                // Nobody listens any more once somebody else has settled the question.
                let _ = send.send(engine(program, question));
            });
        };
        begin(by_dual);
        let mut running = 1;
        let mut lazy_has_begun = false;
        let mut last = first;
        loop {
            match receive.recv_timeout(BETWEEN_LOOKS) {
                Ok(Ok(answer)) => {
                    running -= 1;
                    let not_tried = last.not_tried.take();
                    last = PortfolioAnswer { not_tried, ..answer };
                    if is_settled(&last) {
                        break;
                    }
                }
                Ok(Err(error)) if error.is_refusal() => {
                    running -= 1;
                    last.not_tried = Some(error.to_string());
                }
                Ok(Err(error)) => {
                    halt.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if asked.budget.is_stopped() {
                halt.store(true, Ordering::Relaxed);
            }
            if !lazy_has_begun && (running == 0 || start.elapsed() > HEAD_START) && !asked.budget.is_stopped() {
                lazy_has_begun = true;
                running += 1;
                begin(by_lazy);
            }
            if running == 0 {
                break;
            }
        }
        halt.store(true, Ordering::Relaxed);
        Ok(last)
    });
    answer.map(|answer| as_given(answer, asked))
}

/// With the limits as they were given, not what was left of them.
fn as_given(mut answer: PortfolioAnswer, asked: &ReachabilityQuestion) -> PortfolioAnswer {
    answer.reachability.limit = answer.reachability.limit.map(|limit| asked.budget.limits.as_given(limit));
    answer
}

/// A question that takes a moment.
fn first_look<'a>(question: &ReachabilityQuestion<'a>) -> ReachabilityQuestion<'a> {
    ReachabilityQuestion { budget: question.budget.at_most(FIRST_LOOK), ..*question }
}

fn is_settled(answer: &PortfolioAnswer) -> bool {
    answer.reachability.verdict != Verdict::Unknown
}

/// Where an engine cannot try, the bounded one does what it can within the limits that were given.
fn unless_refused(
    tried: Result<PortfolioAnswer, AnalysisError>,
    program: &Program,
    question: &ReachabilityQuestion,
) -> Result<PortfolioAnswer, AnalysisError> {
    match tried {
        Err(error) if error.is_refusal() => {
            Ok(PortfolioAnswer { not_tried: Some(error.to_string()), ..bounded(program, question)? })
        }
        tried => tried,
    }
}

fn bounded(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    Ok(PortfolioAnswer::by(ReachEngine::Bounded, reach(program, question)?))
}

fn by_dual(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    Ok(backwards(dual(program, &goals_only(question))?, ReachEngine::Dual))
}

fn by_sb(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    Ok(backwards(sb(program, &goals_only(question))?, ReachEngine::Sb))
}

fn by_pso(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    Ok(backwards(pso(program, &goals_only(question))?, ReachEngine::Sb))
}

fn backwards(found: BackwardAnswer, engine: ReachEngine) -> PortfolioAnswer {
    let effort = ReachabilityEffort::Constraints(found.counts);
    PortfolioAnswer { effort, ..PortfolioAnswer::by(engine, found.reachability) }
}

fn by_lazy(program: &Program, question: &ReachabilityQuestion) -> Result<PortfolioAnswer, AnalysisError> {
    let mut found = lazy(program, &goals_only(question))?;
    let reachability = ReachabilityAnswer {
        verdict: found.verdict,
        model: Model::Tso,
        goals: found.goals,
        buffer: None,
        messages: None,
        seq_cst_open: false,
        cut_off: false,
        limit: match found.unsettled {
            Some(OpenCause::Limit(limit)) => Some(limit),
            _ => None,
        },
        witness: found.witness.take(),
        statistics: Statistics {
            states: found.sc_states + found.oracle_states,
            bytes: found.bytes,
            elapsed: found.elapsed,
            workers: question.budget.workers,
            ..Statistics::default()
        },
        words: 0,
    };
    let effort = ReachabilityEffort::Rounds(Box::new(found));
    Ok(PortfolioAnswer {
        reachability,
        engine: ReachEngine::Lazy,
        effort,
        not_tried: None,
        any_number: None,
        deadlocks: DeadlockVerdict::NotAsked,
    })
}
