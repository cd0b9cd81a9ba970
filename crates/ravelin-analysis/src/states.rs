//! All states in which a program can end, and which of them only a weak memory model allows.

use crate::c11::{FEW_GRAPHS, ReplayedRun, explore_growing, has_seq_cst_accesses};
use crate::reachability::ReachabilityQuestion;
use crate::witness::{RunGraph, retell};
use crate::{AnalysisError, InternalError};
use ravelin_answer::{InitialState, RunStep};
use ravelin_explore::{Limit, Statistics, Storage, Until};
use ravelin_machine::messages::ExploredMessages;
use ravelin_machine::{ExploredProgram, ProgramEnd, Purpose, UnpackedState, UnreadablePath, run};
use ravelin_program::{
    Condition, Goal, InitialValue, Model, Observable, Program, RegId, SeqCstReading, ThreadId, Value,
};
use ravelin_semantics::rc20::{Execution, OrderReading, enumerate, rc20_consistent};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The most states of which a run is told.
const MOST_RUNS: usize = 100;

/// The answer.
#[derive(Clone, Debug)]
pub struct FinalStates {
    pub model: Model,
    pub buffer: Option<usize>,
    /// The bound on the messages of a cell, under RA and RC20.
    pub messages: Option<usize>,
    pub cut_off: bool,
    pub limit: Option<Limit>,
    pub finals: Vec<EndState>,
    /// States in which nothing can move although some thread is not at its end: blocked, or stopped by a failed
    /// assertion or a fault.
    pub stuck: Vec<EndState>,
    /// States that seq_cst accesses allow if they are release/acquire ones and no more, and of which it is not known whether RC11 allows
    /// them. They are not among the others.
    pub seq_cst_open: usize,
    pub statistics: Statistics,
}

impl FinalStates {
    /// Nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.limit.is_none() && !self.cut_off && self.seq_cst_open == 0
    }
}

/// How a state is reached.
#[derive(Clone, Debug)]
pub struct EndRun {
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    /// Unless the run is too long to be drawn.
    pub graph: Option<RunGraph>,
}

/// One way to end.
#[derive(Clone, Debug)]
pub struct EndState {
    pub shown: ShownState,
    /// SC does not allow it. `None` if the comparison could not be finished.
    pub beyond_sc: Option<bool>,
    /// A run to it, if SC does not allow it.
    pub run: Option<Box<EndRun>>,
}

/// What is seen of a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShownState {
    /// By thread: where it stands, and its registers by name.
    pub threads: Vec<EndThread>,
    /// Cells by name: the named ones, and others that do not hold 0.
    pub memory: Vec<(String, Value)>,
    /// What the program's observation asks to see, as `name=value;` each; without one, every register and named cell.
    pub text: String,
    /// Whether the first condition about final states holds here, if the program has one.
    pub condition: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndThread {
    pub name: String,
    pub location: String,
    pub at_end: bool,
    pub registers: Vec<(String, Value)>,
}

/// Lists all final and all stuck states under a model, each compared with SC.
pub fn states(program: &Program, question: &ReachabilityQuestion) -> Result<FinalStates, AnalysisError> {
    let start = Instant::now();
    match search(program, question, start) {
        Err(AnalysisError::Limit(limit)) => Ok(FinalStates {
            model: question.model,
            buffer: question.model.is_buffered().then_some(question.buffer),
            messages: None,
            cut_off: false,
            limit: Some(question.budget.limits.as_given(limit)),
            finals: Vec::new(),
            stuck: Vec::new(),
            seq_cst_open: 0,
            statistics: Statistics { elapsed: start.elapsed(), ..Statistics::default() },
        }),
        answer => answer,
    }
}

fn search(program: &Program, question: &ReachabilityQuestion, start: Instant) -> Result<FinalStates, AnalysisError> {
    let found = match question.model.is_c11() {
        true => c11_ends(program, question, start)?,
        false => hardware_ends(program, question)?,
    };
    let sc = if question.model == Model::Sc {
        None
    } else {
        let budget = question.budget.child(start, found.statistics.states);
        match hardware_ends(program, &ReachabilityQuestion { model: Model::Sc, budget, ..*question }) {
            Ok(ends) => Some((ends.limit.is_none(), ends)),
            // What was found stays; what SC allows is not known.
            Err(AnalysisError::Limit(_)) => Some((false, Ends::default())),
            Err(error) => return Err(error),
        }
    };
    let mut runs = 0;
    let mut judge =
        |ends: BTreeMap<ShownState, EndSource>, of_sc: Option<&BTreeMap<ShownState, EndSource>>, all: bool| {
            let mut judged = Vec::new();
            for (shown, source) in ends {
                let beyond_sc = match of_sc.map(|ends| ends.contains_key(&shown)) {
                    None | Some(true) => Some(false),
                    Some(false) if all => Some(true),
                    Some(false) => None,
                };
                let mut run = None;
                if beyond_sc == Some(true) && runs < MOST_RUNS && has_paths(question) {
                    runs += 1;
                    run = found.explored.run_to(program, question, &source)?.map(Box::new);
                }
                judged.push(EndState { shown, beyond_sc, run });
            }
            Ok::<_, InternalError>(judged)
        };
    let all = sc.as_ref().is_none_or(|(all, _)| *all);
    let finals = judge(found.finals, sc.as_ref().map(|(_, ends)| &ends.finals), all)?;
    let stuck = judge(found.stuck, sc.as_ref().map(|(_, ends)| &ends.stuck), all)?;
    Ok(FinalStates {
        model: question.model,
        buffer: question.model.is_buffered().then_some(question.buffer),
        messages: found.messages,
        cut_off: found.cut_off,
        limit: found.limit,
        finals,
        stuck,
        seq_cst_open: found.seq_cst_open,
        statistics: Statistics { elapsed: start.elapsed(), ..found.statistics },
    })
}

/// Whether there are paths to all states. What was kept in files, or by other processes, has only the states.
fn has_paths(question: &ReachabilityQuestion) -> bool {
    let Storage { spill, checkpoints, peers, .. } = question.budget.storage;
    spill.is_none() && checkpoints.is_none() && peers.is_none()
}

/// How a model lets a program end.
#[derive(Default)]
struct Ends {
    finals: BTreeMap<ShownState, EndSource>,
    stuck: BTreeMap<ShownState, EndSource>,
    explored: Explorations,
    messages: Option<usize>,
    cut_off: bool,
    limit: Option<Limit>,
    seq_cst_open: usize,
    statistics: Statistics,
}

/// Where an end was found: in which exploration, if in one.
struct EndSource(Option<(usize, ProgramEnd)>);

/// What was explored to find the ends.
#[derive(Default)]
struct Explorations {
    hardware: Option<ExploredProgram>,
    messages: Vec<ExploredMessages>,
}

impl Explorations {
    /// A run to an end.
    fn run_to(
        &self,
        program: &Program,
        question: &ReachabilityQuestion,
        EndSource(source): &EndSource,
    ) -> Result<Option<EndRun>, InternalError> {
        let unreadable = |error: UnreadablePath| InternalError(error.to_string());
        let Some((number, end)) = source else { return Ok(None) };
        if let Some(explored) = &self.hardware {
            let run = explored.run_to(end).map_err(unreadable)?;
            let retold = retell(program, question.settings(Purpose::Finals), &run)?;
            return Ok(Some(EndRun { initial: retold.initial(), graph: retold.graph(), steps: retold.steps }));
        }
        let run = self.messages[*number].run_to(end).map_err(unreadable)?;
        let replayed = ReplayedRun::of(program, &run)?;
        let (initial, graph) = (replayed.initial(&run.start)?, Some(replayed.told_graph()));
        Ok(Some(EndRun { initial, graph, steps: replayed.steps }))
    }
}

impl Ends {
    fn add(&mut self, program: &Program, is_final: bool, state: &UnpackedState, source: EndSource) {
        if is_final && !passes_filter(program, state) {
            return;
        }
        let ends = if is_final { &mut self.finals } else { &mut self.stuck };
        ends.entry(shown_state(program, state)).or_insert(source);
    }

    fn has(&self, program: &Program, is_final: bool, state: &UnpackedState) -> bool {
        let ends = if is_final { &self.finals } else { &self.stuck };
        ends.contains_key(&shown_state(program, state))
    }
}

fn hardware_ends(program: &Program, question: &ReachabilityQuestion) -> Result<Ends, AnalysisError> {
    let explored = run(program, question.settings(Purpose::Finals), &question.options(Until::Exhausted))?;
    let mut ends = Ends {
        cut_off: explored.cut_off(),
        limit: explored.limit(),
        statistics: *explored.statistics(),
        ..Ends::default()
    };
    for end in explored.ends() {
        let state = end.state.clone();
        ends.add(program, end.is_final, &state, EndSource(Some((0, end))));
    }
    ends.explored.hardware = Some(explored);
    Ok(ends)
}

/// Under RA and RC20. With seq_cst accesses, what fences before or after each allow is allowed by RC11, and so is what has a graph
/// that RC11's axioms accept. What is left of what release/acquire accesses allow is looked for among all graphs, if these can be listed.
fn c11_ends(program: &Program, question: &ReachabilityQuestion, start: Instant) -> Result<Ends, AnalysisError> {
    let mut ends = Ends::default();
    let weakest = explore_ends(program, question, SeqCstReading::RelAcq, &mut ends.statistics, start)?;
    let exact = question.model == Model::Ra || !has_seq_cst_accesses(program);
    ends.messages = Some(weakest.messages());
    ends.cut_off = weakest.cut_off();
    ends.limit = weakest.limit().map(|limit| question.budget.limits.as_given(limit));
    if exact {
        for end in weakest.ends() {
            let state = end.state.clone();
            ends.add(program, end.is_final, &state, EndSource(Some((0, end))));
        }
        ends.explored.messages = vec![weakest];
        return Ok(ends);
    }
    let mut explored = vec![weakest];
    for seq_cst in [SeqCstReading::After, SeqCstReading::Before] {
        explored.push(explore_ends(program, question, seq_cst, &mut ends.statistics, start)?);
    }
    for (number, exploration) in explored.iter().enumerate().skip(1) {
        for end in exploration.ends() {
            let state = end.state.clone();
            ends.add(program, end.is_final, &state, EndSource(Some((number, end))));
        }
    }
    let mut open = Vec::new();
    for end in explored[0].ends() {
        let state = end.state.clone();
        if ends.has(program, end.is_final, &state) || end.is_final && !passes_filter(program, &state) {
            continue;
        }
        let is_allowed = has_paths(question) && {
            let run = explored[0].run_to(&end).map_err(|error| InternalError(error.to_string()))?;
            rc20_consistent(ReplayedRun::of(program, &run)?.graph(), OrderReading::Written)
        };
        if is_allowed {
            ends.add(program, end.is_final, &state, EndSource(Some((0, end))));
        } else {
            open.push((end.is_final, state));
        }
    }
    if !open.is_empty() {
        match enumerate(program, OrderReading::Written, FEW_GRAPHS) {
            Ok(all) => {
                for execution in &all.executions {
                    let state = unpacked(program, execution);
                    let is_open = |(is_final, open): &(bool, UnpackedState)| {
                        *is_final == execution.complete && shown_state(program, open) == shown_state(program, &state)
                    };
                    if open.iter().any(is_open) {
                        ends.add(program, execution.complete, &state, EndSource(None));
                    }
                }
            }
            Err(_) => {
                let shown: BTreeSet<_> = open.iter().map(|(_, state)| shown_state(program, state)).collect();
                ends.seq_cst_open = shown.len();
            }
        }
    }
    ends.explored.messages = explored;
    Ok(ends)
}

/// Explores with a bound on messages that grows.
fn explore_ends(
    program: &Program,
    question: &ReachabilityQuestion,
    seq_cst: SeqCstReading,
    effort: &mut Statistics,
    start: Instant,
) -> Result<ExploredMessages, AnalysisError> {
    explore_growing(program, question, Purpose::Finals, seq_cst, Until::Exhausted, effort, start)
}

fn unpacked(program: &Program, execution: &Execution) -> UnpackedState {
    let state = execution.state(program);
    UnpackedState {
        locations: execution.threads.iter().map(|thread| thread.location).collect(),
        registers: state.registers,
        memory: state.memory.into_iter().collect(),
    }
}

fn passes_filter(program: &Program, snapshot: &UnpackedState) -> bool {
    let filter = program.observation.as_ref().and_then(|observation| observation.filter.as_ref());
    filter.is_none_or(|filter| evaluate(filter, snapshot))
}

/// A condition without a value is not met.
fn evaluate(condition: &Condition, snapshot: &UnpackedState) -> bool {
    condition.eval(&mut |atom| observe(atom, snapshot)).is_ok_and(|value| value != 0)
}

fn observe(atom: &Observable, snapshot: &UnpackedState) -> Value {
    match *atom {
        Observable::At(thread, location) => Value::from(snapshot.locations[thread.0] == location),
        Observable::Register(thread, register) => snapshot.registers[thread.0][register.0],
        Observable::Memory(address) => {
            let cell = snapshot.memory.binary_search_by_key(&address, |(address, _)| *address);
            cell.map_or(0, |index| snapshot.memory[index].1)
        }
    }
}

/// What is to be seen of a state, in one line.
fn shown(program: &Program, snapshot: &UnpackedState) -> String {
    let everything = || {
        let mut all = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            for (register, declared) in thread.registers.iter().enumerate().filter(|(_, declared)| !declared.hidden) {
                let atom = Observable::Register(ThreadId(number), RegId(register));
                all.push((format!("{number}:{}", declared.name), atom));
            }
        }
        let cells = program.memory.named_addresses();
        all.extend(
            cells.map(|address| (format!("[{}]", program.memory.name_of(address)), Observable::Memory(address))),
        );
        all
    };
    let items = program.observation.as_ref().map_or_else(everything, |observation| observation.shown.clone());
    let value = |atom: &Observable| program.notation(atom).show(observe(atom, snapshot));
    let items: Vec<String> = items.iter().map(|(name, atom)| format!("{name}={};", value(atom))).collect();
    items.join(" ")
}

fn shown_state(program: &Program, snapshot: &UnpackedState) -> ShownState {
    let threads = program.threads.iter().enumerate().map(|(number, thread)| {
        let location = snapshot.locations[number];
        // A location of the lowered program stands between a seq_cst store and its fence.
        let known = location.0 < thread.locations.len();
        let registers = thread.registers.iter().zip(&snapshot.registers[number]);
        EndThread {
            name: thread.name.clone(),
            // At its end a thread is at its end, whichever of several it is.
            location: match known {
                true if thread.is_end(location) => "end".to_owned(),
                true => thread.location_name(location),
                false => "in a seq_cst store".to_owned(),
            },
            at_end: known && thread.is_end(location),
            registers: registers.filter(|(r, _)| !r.hidden).map(|(r, value)| (r.name.clone(), *value)).collect(),
        }
    });
    let initially_zero = |address| program.memory.initial_at(address) == InitialValue::Value(0);
    let worth_showing = |&(address, value): &(Value, Value)| {
        program.memory.variable_at(address).is_some() || value != 0 || !initially_zero(address)
    };
    let memory = snapshot.memory.iter().copied().filter(worth_showing);
    ShownState {
        threads: threads.collect(),
        memory: memory.map(|(address, value)| (program.memory.name_of(address), value)).collect(),
        text: shown(program, snapshot),
        condition: final_goal(program).map(|goal| evaluate(&goal.condition, snapshot)),
    }
}

/// The condition that a litmus test ends with.
pub fn final_goal(program: &Program) -> Option<&Goal> {
    program.goals.iter().find(|goal| goal.is_final())
}
