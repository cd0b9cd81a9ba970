//! From what the backward search found to a TSO run.
//!
//! The way from an initial constraint to the goal, read forwards, is a run of the load-buffer semantics: who does what when,
//! and when which message goes to which buffer. The TSO run orders updates as that run orders stores, and lets each thread run
//! ahead: it does all it can at any time (local steps, issuing stores, reading its own pending stores), and a load from memory at
//! the moment at which its message went out. So every load finds memory as its message tells it, and none of the thread's own
//! stores to the cell is pending: its own message was dropped before, so the store was done before the message went out.
//!
//! The run ends at the first state that shows the violation.

use super::part::{Letter, Message, PartId};
use super::step::OPEN;
use super::{DualConfiguration, LoadBuffers};
use crate::InternalError;
use crate::reachability::finite::{ControlPoint, EdgeEffect, LocalEdge};
use ravelin_backward::{BackwardSearch, ConstraintId, ConstraintOrigin};
use ravelin_machine::{Run, UnpackedState, Violation};
use ravelin_program::{InitialValue, Instruction, Model, Program, ThreadId};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{PendingEntry, Reference, Refusal, State};
use rustc_hash::FxHashMap;

/// A run of the load-buffer semantics.
struct LoadBufferRun {
    /// By thread, what it does, in its order.
    steps: Vec<Vec<ThreadStep>>,
    events: Vec<LoadBufferEvent>,
    /// By thread, how many messages its loads have used up.
    used: Vec<usize>,
}

struct ThreadStep {
    edge: LocalEdge,
    /// It waits for the message of this number.
    message: Option<usize>,
    /// Not a step: what it would do is the violation.
    fails: bool,
}

enum LoadBufferEvent {
    /// Memory sends the next message to a thread.
    Sent(usize),
    /// The thread's step of this number is done, as others see it.
    Loud(usize, usize),
}

/// The TSO run from a constraint that has an initial state to the goal, and the program with the initial memory it needs.
pub(super) fn tso_run(
    search: &mut BackwardSearch<'_, LoadBuffers<'_>>,
    from: ConstraintId,
    goal: &DualConfiguration,
    violation: Violation,
    program: &Program,
) -> Result<(Program, Run), InternalError> {
    let path = search.path(from);
    let configurations: Vec<DualConfiguration> =
        path.iter().map(|id| search.antichain.entries[*id as usize].constraint.clone()).collect();
    let mut run = LoadBufferRun::new(search.system.threads.len());
    run.send_all(&search.system, &configurations[0]);
    for (index, id) in path.iter().enumerate() {
        if let ConstraintOrigin::Step { step, .. } = search.antichain.entries[*id as usize].origin {
            let (before, after) = (&configurations[index], &configurations[index + 1]);
            run.step(&mut search.system, before, usize::from(step.thread), step.edge, after)?;
        }
    }
    run.arrive(&mut search.system, &configurations[configurations.len() - 1], goal)?;
    let program = with_initial_memory(&search.system, &configurations[0], program);
    let run = run.schedule(&program, violation)?;
    Ok((program, run))
}

/// The program, with one initial value for each cell that may start with any.
fn with_initial_memory(semantics: &LoadBuffers, start: &DualConfiguration, program: &Program) -> Program {
    let memory = semantics.initial_memory(start).unwrap_or_default();
    let finite = semantics.finite;
    let mut program = program.clone();
    for variable in &mut program.memory.variables {
        for (offset, initial) in
            variable.initial.iter_mut().enumerate().filter(|(_, initial)| **initial == InitialValue::Any)
        {
            let address = variable.base + offset as ravelin_program::Value;
            let value = finite.find_cell(address).and_then(|cell| match memory.get(cell as usize) {
                None | Some(&OPEN) => finite.cells[cell as usize].values.first(),
                Some(value) => finite.cells[cell as usize].values.get(*value as usize - 1),
            });
            *initial = InitialValue::Value(value.copied().unwrap_or(variable.domain.lo));
        }
    }
    program
}

impl LoadBufferRun {
    fn new(threads: usize) -> LoadBufferRun {
        LoadBufferRun { steps: (0..threads).map(|_| Vec::new()).collect(), events: Vec::new(), used: vec![0; threads] }
    }

    fn send_all(&mut self, semantics: &LoadBuffers, start: &DualConfiguration) {
        for thread in 0..self.steps.len() {
            self.send(semantics, thread, semantics.word(start, thread));
        }
    }

    fn send(&mut self, semantics: &LoadBuffers, thread: usize, letters: &[Letter]) {
        let sent = letters.iter().filter(|letter| matches!(semantics.alphabet.message(**letter), Message::Memory(_)));
        self.events.extend(sent.map(|_| LoadBufferEvent::Sent(thread)));
    }

    /// One step of the search, forwards: messages, silent steps, the step itself, messages.
    fn step(
        &mut self,
        semantics: &mut LoadBuffers,
        before: &DualConfiguration,
        thread: usize,
        edge: u32,
        after: &DualConfiguration,
    ) -> Result<(), InternalError> {
        let mut left = None;
        semantics.step_back(after, thread, edge, &mut |draft, _, configuration| {
            if left.is_none() && configuration == *before {
                left = Some(draft.left.clone());
            }
        });
        let left = left.ok_or_else(|| InternalError("a stored step cannot be found again".to_owned()))?;
        let from = semantics.finite.threads[thread].edges[edge as usize].from;
        let word: Vec<Letter> = semantics.word(after, thread)[..left[thread]].to_vec();
        let part = semantics.threads[thread].intern(from, &word);
        let (start, way) = silent_way(semantics, thread, part, before)?;
        for (other, left) in left.iter().enumerate() {
            let known = semantics.word(before, other).len();
            let early = if other == thread {
                semantics.threads[other].part(start).word[known..].to_vec()
            } else {
                semantics.word(after, other)[known..*left].to_vec()
            };
            self.send(semantics, other, &early);
        }
        self.go(semantics, thread, &way);
        let edge = semantics.finite.threads[thread].edges[edge as usize].clone();
        self.events.push(LoadBufferEvent::Loud(thread, self.steps[thread].len()));
        self.push(semantics, thread, edge, None);
        for (other, left) in left.iter().enumerate() {
            let late = semantics.word(after, other)[*left..].to_vec();
            self.send(semantics, other, &late);
        }
        Ok(())
    }

    /// The silent steps of all threads into the goal.
    fn arrive(
        &mut self,
        semantics: &mut LoadBuffers,
        last: &DualConfiguration,
        goal: &DualConfiguration,
    ) -> Result<(), InternalError> {
        for thread in 0..self.steps.len() {
            let (start, way) = silent_way(semantics, thread, semantics.part_of(goal, thread), last)?;
            let known = semantics.word(last, thread).len();
            let letters = semantics.threads[thread].part(start).word[known..].to_vec();
            self.send(semantics, thread, &letters);
            self.go(semantics, thread, &way);
        }
        Ok(())
    }

    /// Silent steps: each from a part over an edge into the next.
    fn go(&mut self, semantics: &LoadBuffers, thread: usize, way: &[(PartId, u32, PartId)]) {
        for &(from, edge, into) in way {
            let edge = semantics.finite.threads[thread].edges[edge as usize].clone();
            let word = |part: PartId| &semantics.threads[thread].part(part).word;
            let owns = |cell| {
                let is_own = |letter: &Letter| matches!(semantics.alphabet.message(*letter), Message::Own((of, _)) if *of == cell);
                word(from).iter().any(is_own)
            };
            let message = match &edge.effect {
                EdgeEffect::Load(reads) => reads.iter().any(|(cell, _)| !owns(*cell)).then_some(self.used[thread]),
                _ => None,
            };
            let messages = |part: PartId| {
                let is_message = |letter: &&Letter| matches!(semantics.alphabet.message(**letter), Message::Memory(_));
                word(part).iter().filter(is_message).count()
            };
            self.used[thread] += messages(from) - messages(into);
            self.push(semantics, thread, edge, message);
        }
    }

    fn push(&mut self, semantics: &LoadBuffers, thread: usize, edge: LocalEdge, message: Option<usize>) {
        let place = semantics.finite.threads[thread].states[edge.to as usize].place;
        let fails = matches!(place, ControlPoint::Failed(_));
        self.steps[thread].push(ThreadStep { edge, message, fails });
    }

    fn schedule(self, program: &Program, violation: Violation) -> Result<Run, InternalError> {
        let internal = |what: String| InternalError(format!("a run of the load-buffer semantics: {what}"));
        let reference = Reference::new(program, Model::Tso, None).map_err(|error| internal(error.to_string()))?;
        let starts = reference.initial_states().map_err(|error| internal(error.to_string()))?;
        let state = starts.into_iter().next().ok_or_else(|| internal("no initial state".to_owned()))?;
        let start = UnpackedState {
            locations: state.threads.iter().map(|thread| thread.location).collect(),
            registers: state.threads.iter().map(|thread| thread.registers.clone()).collect(),
            memory: state.memory.iter().map(|(address, value)| (*address, *value)).collect(),
        };
        let threads = self.steps.len();
        let mut schedule = TsoSchedule {
            reference: &reference,
            steps: &self.steps,
            violation,
            state,
            actions: Vec::new(),
            at: vec![0; threads],
            arrived: vec![0; threads],
            flushed: vec![0; threads],
        };
        match schedule.run(&self.events) {
            Ok(()) | Err(ScheduleStop::Shown) => {}
            Err(ScheduleStop::Wrong(what)) => return Err(internal(what)),
        }
        Ok(Run { start, actions: schedule.actions })
    }
}

/// A part, and silent steps from it over an edge into the next.
type SilentWay = (PartId, Vec<(PartId, u32, PartId)>);

/// Silent steps into `part` from one that memory, as it is known before them, shortens to what was stored.
fn silent_way(
    semantics: &mut LoadBuffers,
    thread: usize,
    part: PartId,
    before: &DualConfiguration,
) -> Result<SilentWay, InternalError> {
    let mut next: FxHashMap<PartId, (u32, PartId)> = FxHashMap::default();
    let found = semantics.silent_search(thread, part, &mut |from, edge, into| {
        next.entry(from).or_insert((edge, into));
    });
    let threads = semantics.threads.len();
    let may_take = (0..threads).all(|other| other == thread || !semantics.holds_bus(before, other));
    let start = found.into_iter().find(|from| {
        let whole = semantics.threads[thread].part(*from).word.len();
        let shortened = semantics.shorten(thread, *from, whole, may_take, &before.0[threads..]);
        shortened == semantics.part_of(before, thread)
    });
    let start = start.ok_or_else(|| InternalError("a stored way cannot be found again".to_owned()))?;
    let mut way = Vec::new();
    let mut at = start;
    while at != part {
        let Some(&(edge, into)) = next.get(&at) else {
            return Err(InternalError("a silent step cannot be found again".to_owned()));
        };
        way.push((at, edge, into));
        at = into;
    }
    Ok((start, way))
}

/// The TSO run while it is made.
struct TsoSchedule<'a> {
    reference: &'a Reference,
    steps: &'a [Vec<ThreadStep>],
    violation: Violation,
    state: State,
    actions: Vec<Action>,
    /// By thread: its next step, messages sent to it, and stores of its own in memory.
    at: Vec<usize>,
    arrived: Vec<usize>,
    flushed: Vec<usize>,
}

enum ScheduleStop {
    /// The violation shows.
    Shown,
    Wrong(String),
}

impl TsoSchedule<'_> {
    fn run(&mut self, events: &[LoadBufferEvent]) -> Result<(), ScheduleStop> {
        self.look()?;
        self.advance()?;
        for event in events {
            match *event {
                LoadBufferEvent::Sent(thread) => self.arrived[thread] += 1,
                LoadBufferEvent::Loud(thread, number) => self.loud(thread, number)?,
            }
            self.advance()?;
        }
        for thread in 0..self.steps.len() {
            while let Ok(next) = self.flushed_state(thread) {
                self.take_flush(thread, next)?;
            }
        }
        Err(ScheduleStop::Wrong("it does not show the violation".to_owned()))
    }

    /// Every thread does what it can: local steps, issuing stores, and loads whose time has come.
    fn advance(&mut self) -> Result<(), ScheduleStop> {
        for thread in 0..self.steps.len() {
            while let Some(step) = self.steps[thread].get(self.at[thread]) {
                let free = step.edge.effect.is_silent() || matches!(step.edge.effect, EdgeEffect::Store(_));
                if !free || step.fails || step.message.is_some_and(|message| message >= self.arrived[thread]) {
                    break;
                }
                let edge = &step.edge;
                let action =
                    Action::Step { thread: ThreadId(thread), transition: edge.transition, choice: edge.choice };
                match self.reference.apply(&self.state, action) {
                    Ok(next) => self.take(action, next)?,
                    Err(Refusal::BusHeld { .. }) => break,
                    Err(refusal) => return Err(ScheduleStop::Wrong(refusal.to_string())),
                }
                self.at[thread] += 1;
            }
        }
        Ok(())
    }

    fn loud(&mut self, thread: usize, number: usize) -> Result<(), ScheduleStop> {
        self.advance()?;
        let edge = &self.steps[thread][number].edge;
        if let EdgeEffect::Store(_) = edge.effect {
            let code = &self.reference.program().threads[thread];
            let stores = self.steps[thread][..=number].iter().filter(|step| {
                let instruction = &code.transitions[step.edge.transition.0].instruction;
                matches!(instruction, Instruction::Store { .. } | Instruction::Unlock(_))
            });
            let stores = stores.count();
            while self.flushed[thread] < stores {
                self.flush(thread)?;
            }
            return Ok(());
        }
        while !self.state.threads[thread].buffer.is_empty() {
            self.flush(thread)?;
        }
        self.look()?;
        let action = Action::Step { thread: ThreadId(thread), transition: edge.transition, choice: edge.choice };
        let next =
            self.reference.apply(&self.state, action).map_err(|refusal| ScheduleStop::Wrong(refusal.to_string()))?;
        self.at[thread] = number + 1;
        self.take(action, next)
    }

    fn flush(&mut self, thread: usize) -> Result<(), ScheduleStop> {
        let next = self.flushed_state(thread).map_err(ScheduleStop::Wrong)?;
        self.take_flush(thread, next)
    }

    fn flushed_state(&self, thread: usize) -> Result<(Action, State), String> {
        let Some(PendingEntry::Store { address, .. }) = self.state.threads[thread].buffer.entries().first() else {
            return Err("a store was not issued in time".to_owned());
        };
        let action = Action::Flush { thread: ThreadId(thread), address: *address };
        let next = self.reference.apply(&self.state, action).map_err(|refusal| refusal.to_string())?;
        Ok((action, next))
    }

    fn take_flush(&mut self, thread: usize, (action, next): (Action, State)) -> Result<(), ScheduleStop> {
        self.flushed[thread] += 1;
        self.take(action, next)
    }

    fn take(&mut self, action: Action, next: State) -> Result<(), ScheduleStop> {
        self.actions.push(action);
        self.state = next;
        self.look()
    }

    /// Whether the violation shows.
    fn look(&self) -> Result<(), ScheduleStop> {
        let shown = match self.violation {
            Violation::Goal(goal) => self.reference.violated_goals(&self.state).contains(&goal),
            Violation::Assert { thread, transition } => {
                self.is_near(thread) && self.reference.steps(&self.state).failed_asserts.contains(&(thread, transition))
            }
            Violation::Fault { thread, transition, fault } => {
                self.is_near(thread) && self.reference.steps(&self.state).faults.contains(&(thread, transition, fault))
            }
            Violation::Deadlock => self.reference.deadlock(&self.state).is_some(),
        };
        if shown { Err(ScheduleStop::Shown) } else { Ok(()) }
    }

    /// The thread's next step in this run is the one that fails, or the one before it was just taken.
    fn is_near(&self, thread: ThreadId) -> bool {
        self.steps[thread.0].get(self.at[thread.0] + 1).is_none_or(|step| step.fails)
    }
}
