//! Observational robustness: does the program differ from SC in more than loads whose value is not used?
//!
//! From *Verifying Observational Robustness against a C11-Style Memory Model* (Margalit, Lahav; POPL 2021). A program is observationally robust
//! if each of its execution graphs that the model allows, without loads whose values do not matter, is one of SC. The search is that for
//! robustness with taints (`ravelin_machine::monitor`): a load that may be stale taints its register, and a use of the register is an obstacle to the
//! proof. The rule is sound and not complete: *holds* is a proof, and an obstacle means *not proved*. Only a data race is a violation.
//!
//! seq_cst accesses are read as release/acquire ones, which allow all that RC11 allows.

use super::question::{C11Question, refuse_copies, refused};
use super::replay::ReplayedRun;
use super::sentence;
use super::witness::{C11Race, race, replay};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_answer::{InitialState, RunStep};
use ravelin_explore::{Limit, Options, Statistics, Until};
use ravelin_machine::monitor::{C11Settings, MonitorFinding, MonitorFindingKind, monitor_for};
use ravelin_program::{Instruction, Model, Program, RegId, SeqCstReading, ThreadId, TransitionId};
use ravelin_semantics::Action;
use ravelin_semantics::rc20::{Graph, GraphStep, GrowingGraph, OrderReading, races, rc20_consistent};
use std::collections::HashMap;
use std::time::Instant;

/// The answer.
#[derive(Clone, Debug)]
pub struct ObservationalAnswer {
    /// Holds: observationally robust, and without data races if they were asked for. Violated: there is a data race. Unknown: not proved.
    pub verdict: Verdict,
    pub model: Model,
    /// Where the proof ends, if it does.
    pub obstacle: Option<Box<ObservationalObstacle>>,
    pub race: Option<Box<C11Race>>,
    /// Loads that may be stale. If the program is observationally robust, their values are not used where they are.
    pub irrelevant: Vec<(ThreadId, TransitionId)>,
    pub limit: Option<Limit>,
    pub statistics: Statistics,
}

/// Where a proof of observational robustness ends: a run under SC, and the next step of a thread.
#[derive(Clone, Debug)]
pub struct ObservationalObstacle {
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    pub actions: Vec<Action>,
    pub thread: ThreadId,
    pub transition: TransitionId,
    pub reason: ObstacleReason,
    /// What is wrong, in one sentence.
    pub sentence: String,
}

/// Why nothing is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstacleReason {
    /// The step is an access that may be stale, and one that is never irrelevant.
    StaleAccess,
    /// The step uses the value of a load, or a goal sees it behind the step; the load is this step of the run, or the next one.
    Use { load: usize },
    /// The step may race with an earlier access, in an execution in which loads before were stale.
    Race,
}

/// Asks whether a program is observationally robust. The reading of seq_cst accesses in the question does not matter.
pub fn observational(program: &Program, question: &C11Question) -> Result<ObservationalAnswer, AnalysisError> {
    refuse_copies(program)?;
    let start = Instant::now();
    let C11Question { model, races, reductions, budget, .. } = *question;
    let settings =
        C11Settings { model, seq_cst: SeqCstReading::RelAcq, chains: false, observational: true, races, reductions };
    let mut answer = ObservationalAnswer {
        verdict: Verdict::Unknown,
        model,
        obstacle: None,
        race: None,
        irrelevant: Vec::new(),
        limit: None,
        statistics: Statistics::default(),
    };
    let reading = if model == Model::Ra { OrderReading::ReleaseAcquire } else { OrderReading::Written };
    let mut first: Option<MonitorFinding> = None;
    let mut judged = Ok(None);
    // A race says more than an obstacle.
    let mut accept = |found: &MonitorFinding| {
        if found.kind == MonitorFindingKind::Race {
            judged = racing(program, reading, found);
        }
        first.get_or_insert_with(|| found.clone());
        Ok(!matches!(judged, Ok(None)))
    };
    let options = Options { budget: budget.in_memory(), until: Until::LevelOfFirstFinding };
    let search = match monitor_for(program, settings, &options, &mut accept).map_err(refused) {
        Err(AnalysisError::Limit(limit)) => {
            let limit = Some(budget.limits.as_given(limit));
            return Ok(ObservationalAnswer { limit, ..answer });
        }
        search => search?,
    };
    answer.race = judged?.map(Box::new);
    answer.statistics = Statistics { elapsed: start.elapsed(), ..search.statistics };
    answer.irrelevant = search.irrelevant;
    if answer.race.is_some() {
        answer.verdict = Verdict::Violated;
    } else if let Some(found) = first {
        answer.obstacle = Some(Box::new(obstacle(program, &found)?));
    } else if let Some(limit) = search.limit {
        answer.limit = Some(budget.limits.as_given(limit));
    } else {
        answer.verdict = Verdict::Holds;
    }
    Ok(answer)
}

/// The witness of a race: under SC, or where the loads before that are irrelevant are stale, as old as they may be.
fn racing(program: &Program, reading: OrderReading, found: &MonitorFinding) -> Result<Option<C11Race>, InternalError> {
    if let Some(race) = race(program, reading, found)? {
        return Ok(Some(race));
    }
    let mut replayed = ReplayedRun::new(program, &found.run.start.memory);
    for (number, &action) in found.run.actions.iter().enumerate() {
        let latest = GraphStep { action, reads: None, writes: None };
        let is_stale = found.irrelevant.contains(&number);
        replayed = match is_stale.then(|| oldest(&replayed, action, reading)).flatten() {
            Some(stale) => stale,
            None => {
                replayed.follow(&latest).map_err(InternalError)?;
                replayed
            }
        };
    }
    let racing = |graph: &Graph| {
        let second = GrowingGraph::newest(graph, found.thread)?;
        let pairs = races(graph, reading);
        let pair = pairs.iter().find(|&&(a, b)| a == second || b == second)?;
        Some((if pair.0 == second { pair.1 } else { pair.0 }, second))
    };
    let graphs = replayed.grown().extensions(found.thread, found.transition).into_iter();
    let mut racing = graphs.filter_map(|graph| racing(&graph).map(|pair| (graph, pair)));
    let Some((graph, (first, second))) = racing.find(|(graph, _)| rc20_consistent(graph, reading)) else {
        return Ok(None);
    };
    Ok(Some(C11Race {
        initial: replayed.initial(&found.run.start)?,
        events: replayed.told(&graph),
        edges: super::edges(&graph),
        first,
        second,
        sentence: sentence::of_race(program, &graph, first, second),
        actions: found.run.actions.clone(),
        steps: replayed.steps,
        graph,
    }))
}

/// The run with a load that reads the oldest write that the model allows.
fn oldest<'a>(replayed: &ReplayedRun<'a>, action: Action, reading: OrderReading) -> Option<ReplayedRun<'a>> {
    (0..replayed.graph().len()).find_map(|place| {
        let mut stale = replayed.clone();
        stale.follow(&GraphStep { action, reads: Some(place), writes: None }).ok()?;
        rc20_consistent(stale.graph(), reading).then_some(stale)
    })
}

fn obstacle(program: &Program, found: &MonitorFinding) -> Result<ObservationalObstacle, InternalError> {
    let internal = |what: String| InternalError(format!("an obstacle to observational robustness: {what}"));
    let (initial, steps) = replay(program, &found.run).map_err(internal)?;
    let reason = match found.kind {
        MonitorFindingKind::Stale => ObstacleReason::StaleAccess,
        MonitorFindingKind::Race => ObstacleReason::Race,
        MonitorFindingKind::Use => {
            let load = source(program, found).ok_or_else(|| internal("no load is used".to_owned()))?;
            ObstacleReason::Use { load }
        }
    };
    let code = &program.threads[found.thread.0];
    let place = |transition: TransitionId| {
        let step = &code.transitions[transition.0];
        let line = program.source.position(step.span).map(|position| format!(" on line {}", position.line));
        format!("`{}`{}", program.tell_transition(code, step), line.unwrap_or_default())
    };
    let here = place(found.transition);
    let thread = &code.name;
    let sentence = match reason {
        ObstacleReason::StaleAccess => {
            format!("{here} of {thread} may be stale, and such an access always matters.")
        }
        ObstacleReason::Race => format!("{here} of {thread} may race if loads before it are stale."),
        ObstacleReason::Use { load } => match found.run.actions.get(load) {
            Some(Action::Step { transition, .. }) => {
                format!("{thread} may read an old value with {}, and {here} depends on it.", place(*transition))
            }
            _ => format!("{thread} may read an old value with {here}, and a goal depends on it."),
        },
    };
    let actions = found.run.actions.clone();
    let (thread, transition) = (found.thread, found.transition);
    Ok(ObservationalObstacle { initial, steps, actions, thread, transition, reason, sentence })
}

/// The load whose value is used: a step of the run, or the step behind it.
fn source(program: &Program, found: &MonitorFinding) -> Option<usize> {
    let code = &program.threads[found.thread.0];
    let mut loads: HashMap<RegId, usize> = HashMap::new();
    for (number, action) in found.run.actions.iter().enumerate() {
        let Action::Step { thread, transition, .. } = *action else { continue };
        if thread != found.thread {
            continue;
        }
        let instruction = &code.transitions[transition.0].instruction;
        let read = instruction.read_registers().iter().find_map(|register| loads.get(register).copied());
        for register in instruction.written_registers() {
            let tainted_by = match instruction {
                Instruction::Load { .. } if found.irrelevant.contains(&number) => Some(number),
                Instruction::Assign { .. } => read,
                _ => None,
            };
            match tainted_by {
                Some(load) => loads.insert(register, load),
                None => loads.remove(&register),
            };
        }
    }
    let last = &code.transitions[found.transition.0].instruction;
    let read = last.read_registers().iter().find_map(|register| loads.get(register).copied());
    // A goal sees a register behind the step: that of the step itself, or one that is loaded long before.
    let by_itself = matches!(last, Instruction::Load { .. }).then_some(found.run.actions.len());
    read.or_else(|| loads.values().min().copied()).or(by_itself)
}
