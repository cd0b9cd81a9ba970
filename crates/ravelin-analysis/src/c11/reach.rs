//! Can something forbidden happen under release/acquire or RC20?
//!
//! 1. A violation under SC is one.
//! 2. A program that is robust, and has no data race, has SC's executions only: if SC has no violation, there is none. No bound is needed.
//!    Deadlocks are among these: a thread that waits for ever has read the mo-latest value.
//! 3. Otherwise all states of the machine with messages (`ravelin_machine::messages`) are explored. Its answer is exact unless a cell had
//!    more messages than the bound; the bound is then doubled as long as the limits allow, and without limits as long as searches are small, unless one was given.
//!
//! Seq_cst *accesses* are outside RC20. Taken as release/acquire ones they allow more than RC11, with a hidden fence before or after
//! each they allow less (design: "seq_cst accesses, exactly"). So no violation in the first reading means that there is none, and a violation in
//! one of the others, or in the first with a graph that RC11's psc axiom accepts, is one. Otherwise the graphs of a small program without loops
//! are listed. What remains is *unknown*. That a program is robust is settled as in `seq_cst.rs`.

use super::question::{C11Question, add, c11_robustness, has_seq_cst_accesses};
use super::replay::replay;
use crate::reachability::{PortfolioAnswer, ReachEngine, ReachabilityAnswer, ReachabilityQuestion, assertions, reach};
use crate::witness::Witness;
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_explore::{Limit, Options, Statistics, Until};
use ravelin_machine::messages::{ExploredMessages, MOST_MESSAGES, MessageSettings, explore_messages};
use ravelin_machine::monitor::refuse_hardware;
use ravelin_machine::{BuildError, Purpose, Reductions};
use ravelin_program::{Copies, Model, Program, SeqCstReading};
use ravelin_semantics::rc20::{Execution, GraphLimits, OrderReading, deadlock, enumerate, violated_goals};
use std::time::Instant;

/// States of the SC search that comes first, and of the question whether the program is robust.
const FIRST_LOOK: u64 = 20_000;
const ROBUST_LOOK: u64 = 200_000;
/// The first bound on the messages of a cell.
const FIRST_MESSAGES: usize = 4;
/// If there is no limit of time or states, the bound grows until this number of states was explored.
const UNLIMITED_STATES: u64 = 200_000;
/// Graphs that are listed to decide about seq_cst accesses.
pub(crate) const FEW_GRAPHS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };
/// States that the search for a shortest run may visit beyond those of the first search.
const SHORTEST_EXTRA_STATES: u64 = 100_000;

/// Asks whether some goal can be violated, an assertion can fail, a fault can happen, or a deadlock, if the question is about them.
/// `Auto` tries SC and robustness first, `Bounded` explores messages at once, with one bound.
pub fn c11_reach(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
) -> Result<PortfolioAnswer, AnalysisError> {
    reach_by(program, question, engine, Runs::Shortest)
}

/// Which run is wanted, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Any; it need not be short.
    First,
    /// A shortest, if it is found within reasonable limits.
    Shortest,
}

/// As [`c11_reach`].
pub(super) fn reach_by(
    program: &Program,
    question: &ReachabilityQuestion,
    engine: ReachEngine,
    wanted: Runs,
) -> Result<PortfolioAnswer, AnalysisError> {
    refuse(program)?;
    let start = Instant::now();
    // A bounded search has one bound.
    let messages = question.messages.or((engine == ReachEngine::Bounded).then_some(FIRST_MESSAGES));
    let question = &ReachabilityQuestion { messages, ..*question };
    let mut effort = Statistics::default();
    let mut ask = || {
        if engine == ReachEngine::Auto
            && let Some(answer) = by_sc(program, question, &mut effort, start)?
        {
            return Ok(answer);
        }
        by_messages(program, question, wanted, &mut effort, start)
    };
    let asked = match engine {
        ReachEngine::Auto | ReachEngine::Bounded => ask(),
        _ => return Err(AnalysisError::EngineIsForHardware(engine.name())),
    };
    match asked {
        Err(AnalysisError::Limit(limit)) => {
            Ok(PortfolioAnswer::by(ReachEngine::Bounded, ReachabilityAnswer::unknown(program, question, limit, start)))
        }
        Ok(mut answer) => {
            answer.reachability.statistics.elapsed = start.elapsed();
            Ok(answer)
        }
        error => error,
    }
}

/// What SC says, if that decides the question.
fn by_sc(
    program: &Program,
    question: &ReachabilityQuestion,
    effort: &mut Statistics,
    start: Instant,
) -> Result<Option<PortfolioAnswer>, AnalysisError> {
    let sc = |states: Option<u64>, effort: &Statistics| {
        let budget = question.budget.child(start, effort.states);
        let budget = states.map_or(budget, |states| budget.at_most(states));
        reach(program, &ReachabilityQuestion { model: Model::Sc, budget, ..*question })
    };
    let mut first = sc(Some(FIRST_LOOK), effort)?;
    add(effort, &first.statistics);
    let answer = |found: ReachabilityAnswer, engine: ReachEngine, effort: &Statistics| {
        let reachability = ReachabilityAnswer { model: question.model, statistics: *effort, ..found };
        Ok(Some(PortfolioAnswer::by(engine, reachability)))
    };
    if first.verdict == Verdict::Violated {
        return answer(first, ReachEngine::Bounded, effort);
    }
    let robust = C11Question {
        reductions: question.reductions,
        budget: question.budget.child(start, effort.states).at_most(ROBUST_LOOK),
        ..C11Question::new(question.model)
    };
    match c11_robustness(program, &robust) {
        Ok(robust) => {
            add(effort, &robust.statistics);
            if robust.verdict != Verdict::Holds {
                return Ok(None);
            }
        }
        Err(AnalysisError::NotC11(_)) => return Ok(None),
        Err(error) => return Err(error),
    }
    if first.verdict == Verdict::Unknown {
        first = sc(None, effort)?;
        add(effort, &first.statistics);
        first.limit = first.limit.map(|limit| question.budget.limits.as_given(limit));
    }
    let engine = if first.verdict == Verdict::Holds { ReachEngine::Robust } else { ReachEngine::Bounded };
    answer(first, engine, effort)
}

/// What the machine with messages says, in one reading of seq_cst accesses.
struct ReadingAnswer {
    verdict: Verdict,
    witness: Option<Witness>,
    /// A violation whose graph RC11 forbids was found.
    forbidden: bool,
    limit: Option<Limit>,
    cut_off: bool,
    messages: usize,
    words: usize,
}

fn by_messages(
    program: &Program,
    question: &ReachabilityQuestion,
    wanted: Runs,
    effort: &mut Statistics,
    start: Instant,
) -> Result<PortfolioAnswer, AnalysisError> {
    let mut last = in_reading(program, question, SeqCstReading::RelAcq, wanted, effort, start)?;
    if last.verdict == Verdict::Unknown && last.forbidden {
        for seq_cst in [SeqCstReading::After, SeqCstReading::Before] {
            let stricter = in_reading(program, question, seq_cst, wanted, effort, start)?;
            if stricter.verdict == Verdict::Violated {
                last = stricter;
                break;
            }
        }
    }
    if last.forbidden && last.verdict == Verdict::Unknown && no_graph_violates(program, question.deadlocks) {
        last = ReadingAnswer { verdict: Verdict::Holds, limit: None, cut_off: false, ..last };
    }
    let ReadingAnswer { verdict, witness, forbidden, limit, cut_off, messages, words } = last;
    Ok(PortfolioAnswer::by(
        ReachEngine::Bounded,
        ReachabilityAnswer {
            verdict,
            model: question.model,
            goals: program.goals.len() + assertions(program),
            buffer: None,
            messages: Some(messages),
            cut_off,
            seq_cst_open: forbidden && verdict == Verdict::Unknown,
            limit: limit.filter(|_| verdict == Verdict::Unknown),
            witness,
            statistics: *effort,
            words,
        },
    ))
}

/// All graphs of RC11 can be listed, and none violates a goal or fails, nor is one a deadlock, if they count.
fn no_graph_violates(program: &Program, deadlocks: bool) -> bool {
    let written = OrderReading::Written;
    let is_deadlock = |end: &Execution| {
        let memory = end.state(program).memory;
        deadlock(program, &end.threads, &|address| memory.get(&address).copied().unwrap_or(0)).is_some()
    };
    violated_goals(program, written, FEW_GRAPHS).is_ok_and(|goals| goals.is_empty())
        && enumerate(program, written, FEW_GRAPHS)
            .is_ok_and(|all| all.failures().is_empty() && !(deadlocks && all.executions.iter().any(is_deadlock)))
}

/// Explores with a bound on messages that grows until nothing is cut off, or something is found.
pub(crate) fn explore_growing(
    program: &Program,
    question: &ReachabilityQuestion,
    purpose: Purpose,
    seq_cst: SeqCstReading,
    until: Until,
    effort: &mut Statistics,
    start: Instant,
) -> Result<ExploredMessages, AnalysisError> {
    refuse(program)?;
    let ReachabilityQuestion { model, reductions, deadlocks, .. } = *question;
    let mut messages = question.messages.unwrap_or(FIRST_MESSAGES).clamp(1, MOST_MESSAGES);
    loop {
        let settings = MessageSettings { model, seq_cst, messages, purpose, reductions, deadlocks };
        let budget = question.budget.child(start, effort.states);
        let explored = explore_messages(program, settings, &Options { budget, until })?;
        add(effort, explored.statistics());
        let has_found = purpose == Purpose::Goals && explored.violation().is_some();
        // Without a limit the search would not end where messages are never forgotten.
        let limits = question.budget.limits;
        let is_limited = limits.time.is_some() || limits.states.is_some();
        let may_grow = question.messages.is_none()
            && messages < MOST_MESSAGES
            && (is_limited || effort.states < UNLIMITED_STATES)
            && !question.budget.is_stopped();
        if has_found || !explored.cut_off() || explored.limit().is_some() || !may_grow {
            return Ok(explored);
        }
        messages = (2 * messages).min(MOST_MESSAGES);
    }
}

/// Refuses programs that have no meaning in C11, or any number of threads.
fn refuse(program: &Program) -> Result<(), AnalysisError> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(BuildError::AnyNumberOfCopies(thread.name.clone()).into());
    }
    Ok(refuse_hardware(program)?)
}

fn in_reading(
    program: &Program,
    question: &ReachabilityQuestion,
    seq_cst: SeqCstReading,
    wanted: Runs,
    effort: &mut Statistics,
    start: Instant,
) -> Result<ReadingAnswer, AnalysisError> {
    let explored = explore_growing(program, question, Purpose::Goals, seq_cst, Until::FirstFinding, effort, start)?;
    let limit = explored.limit().map(|limit| question.budget.limits.as_given(limit));
    // Only seq_cst accesses that are taken as release/acquire ones have graphs that the axioms forbid.
    let may_be_forbidden =
        question.model == Model::Rc20 && seq_cst == SeqCstReading::RelAcq && has_seq_cst_accesses(program);
    let (mut witness, forbidden) = match witness(program, question.model, &explored)? {
        None => (None, false),
        Some(None) if may_be_forbidden => (None, true),
        Some(None) => {
            let what = format!("a run under {} has a graph that the axioms forbid", question.model);
            return Err(InternalError(what).into());
        }
        Some(found) => (found, false),
    };
    if let (Some(first), Runs::Shortest) = (&mut witness, wanted) {
        shorten(program, question, &explored, first, start)?;
    }
    let verdict = match &witness {
        Some(_) => Verdict::Violated,
        None if limit.is_some() || explored.cut_off() || forbidden => Verdict::Unknown,
        None => Verdict::Holds,
    };
    let cut_off = explored.cut_off() && witness.is_none();
    let (messages, words) = (explored.messages(), explored.words());
    Ok(ReadingAnswer { verdict, witness, forbidden, limit, cut_off, messages, words })
}

/// The witness of the first violation; `Some(None)` if RC11 forbids its graph.
fn witness(
    program: &Program,
    model: Model,
    explored: &ExploredMessages,
) -> Result<Option<Option<Witness>>, AnalysisError> {
    let Some(found) = explored.violation() else { return Ok(None) };
    let (violation, run) = found.map_err(|error| InternalError(error.to_string()))?;
    let reading = if model == Model::Ra { OrderReading::ReleaseAcquire } else { OrderReading::Written };
    Ok(Some(replay(program, model, reading, violation, &run)?))
}

/// Replaces a witness by a shortest one, if one is found within reasonable limits.
fn shorten(
    program: &Program,
    question: &ReachabilityQuestion,
    first: &ExploredMessages,
    found: &mut Witness,
    start: Instant,
) -> Result<(), AnalysisError> {
    let states = first.statistics().states;
    let budget = question.budget.child(start, states).at_most(states * 4 + SHORTEST_EXTRA_STATES).silent();
    let settings = MessageSettings { reductions: Reductions::NONE, ..first.settings() };
    // A limit must not lose what is found already.
    match explore_messages(program, settings, &Options { budget, until: Until::FirstFinding }) {
        Ok(explored) => {
            if let Some(Some(shortest)) = witness(program, question.model, &explored)? {
                *found = Witness { shortest: true, ..shortest };
            }
            Ok(())
        }
        Err(_) => Ok(()),
    }
}
