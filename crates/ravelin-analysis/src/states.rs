//! All states in which a program can end, and which of them only a weak memory model allows.

use crate::AnalysisError;
use crate::reachability::ReachabilityQuestion;
use ravelin_explore::{Limit, Statistics, Until};
use ravelin_machine::{BuildError, Purpose, RunError, UnpackedState, run};
use ravelin_program::{Condition, Goal, InitialValue, Model, Observable, Program, RegId, ThreadId, Value};
use std::collections::BTreeSet;
use std::time::Instant;

/// The answer.
#[derive(Clone, Debug)]
pub struct FinalStates {
    pub model: Model,
    pub buffer: Option<usize>,
    pub cut_off: bool,
    pub limit: Option<Limit>,
    pub finals: Vec<EndState>,
    /// States in which nothing can move although some thread is not at its end: blocked, or stopped by a failed
    /// assertion or a fault.
    pub stuck: Vec<EndState>,
    pub statistics: Statistics,
}

/// One way to end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndState {
    /// By thread: where it stands, and its registers by name.
    pub threads: Vec<EndThread>,
    /// Cells by name: the named ones, and others that do not hold 0.
    pub memory: Vec<(String, Value)>,
    /// What the program's observation asks to see, as `name=value;` each; without one, every register and named cell.
    pub shown: String,
    /// Whether the first condition about final states holds here, if the program has one.
    pub condition: Option<bool>,
    /// SC does not allow it. `None` if the comparison could not be finished.
    pub beyond_sc: Option<bool>,
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
            cut_off: false,
            limit: Some(question.budget.limits.as_given(limit)),
            finals: Vec::new(),
            stuck: Vec::new(),
            statistics: Statistics { elapsed: start.elapsed(), ..Statistics::default() },
        }),
        answer => answer,
    }
}

fn search(program: &Program, question: &ReachabilityQuestion, start: Instant) -> Result<FinalStates, AnalysisError> {
    let explored = run(program, question.settings(Purpose::Finals), &question.options(Until::Exhausted))?;
    let (finals, stuck) = collect(program, &explored);
    let sc = if question.model == Model::Sc {
        None
    } else {
        let budget = question.budget.child(start, explored.statistics().states);
        let question = ReachabilityQuestion { model: Model::Sc, budget, ..*question };
        match run(program, question.settings(Purpose::Finals), &question.options(Until::Exhausted)) {
            Ok(explored) => Some((explored.limit().is_none(), collect(program, &explored))),
            // What was found stays; what SC allows is not known.
            Err(RunError::Build(BuildError::Limit(_))) => Some((false, Ends::default())),
            Err(error) => return Err(error.into()),
        }
    };
    let judge = |states: BTreeSet<EndState>, pick: fn(&Ends) -> &BTreeSet<EndState>| -> Vec<EndState> {
        let beyond = |state: &EndState| match &sc {
            None => Some(false),
            Some((complete, ends)) => match pick(ends).contains(state) {
                true => Some(false),
                false if *complete => Some(true),
                false => None,
            },
        };
        states.into_iter().map(|state| EndState { beyond_sc: beyond(&state), ..state }).collect()
    };
    Ok(FinalStates {
        model: question.model,
        buffer: question.model.is_buffered().then_some(question.buffer),
        cut_off: explored.cut_off(),
        limit: explored.limit(),
        finals: judge(finals, |ends| &ends.0),
        stuck: judge(stuck, |ends| &ends.1),
        statistics: *explored.statistics(),
    })
}

/// Final and stuck states.
type Ends = (BTreeSet<EndState>, BTreeSet<EndState>);

fn collect(program: &Program, explored: &ravelin_machine::ExploredProgram) -> Ends {
    let mut ends = Ends::default();
    for (is_final, snapshot) in explored.ends() {
        if is_final && !passes_filter(program, &snapshot) {
            continue;
        }
        let ends = if is_final { &mut ends.0 } else { &mut ends.1 };
        ends.insert(end_state(program, &snapshot));
    }
    ends
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
    let items: Vec<String> = items.iter().map(|(name, atom)| format!("{name}={};", observe(atom, snapshot))).collect();
    items.join(" ")
}

fn end_state(program: &Program, snapshot: &UnpackedState) -> EndState {
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
    EndState {
        threads: threads.collect(),
        memory: memory.map(|(address, value)| (program.memory.name_of(address), value)).collect(),
        shown: shown(program, snapshot),
        condition: final_goal(program).map(|goal| evaluate(&goal.condition, snapshot)),
        beyond_sc: None,
    }
}

/// The condition that a litmus test ends with.
pub fn final_goal(program: &Program) -> Option<&Goal> {
    program.goals.iter().find(|goal| goal.is_final())
}
