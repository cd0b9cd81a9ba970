//! The execution that an SC run and one stale access make: what each step reads, and in which order the writes to each cell come.
//!
//! The run is replayed on the reference semantics, and its trace says where each value came from. The access after it is tried with
//! every write that it could read and every place among the writes of its cell, those closest to SC first. Whether the model has
//! such an execution is not decided here, but by ordering it (`order.rs`) and by replaying the result.

use crate::robustness::attack::is_delayable;
use crate::witness::start_of;
use ravelin_machine::monitor::MonitorFinding;
use ravelin_program::{Address, Instruction, Model, Order, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::trace::{Trace, ValueSource};
use std::collections::{BTreeMap, VecDeque};

/// What threads do, in an order that has program order in it. The stale access is the last one.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    pub deeds: Vec<Deed>,
    /// By address: the deeds that write it, in the order in which they reach memory.
    pub writes: BTreeMap<Value, Vec<usize>>,
}

/// A step of a thread.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub action: Action,
    pub thread: usize,
    pub transition: TransitionId,
    pub access: Option<DeedAccess>,
    /// A store that waits in a buffer before it reaches memory.
    pub buffered: bool,
    /// All stores of the thread before it reach memory before it is done.
    pub drains: bool,
    /// PSO: they reach memory before any store behind it. A release store comes before itself.
    pub marks: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DeedAccess {
    pub address: Value,
    /// The write that is read, if one is: none is the initial value.
    pub reads: Option<Option<usize>>,
    pub writes: bool,
}

/// The SC run, and what the thread of the stale access holds behind it.
struct ReplayedRun {
    execution: Execution,
    /// By deed: what it writes.
    written: Vec<Option<Value>>,
    start: State,
    end: State,
}

impl Execution {
    /// Every execution that the run and a stale access make, those closest to SC first.
    pub fn candidates(program: &Program, finding: &MonitorFinding) -> Result<Vec<Execution>, String> {
        let reference = Reference::new(program, Model::Sc, None).map_err(|error| error.to_string())?;
        let run = ReplayedRun::of(&reference, finding)?;
        let (thread, transition) = (finding.thread, finding.transition);
        let code = reference.program().threads.get(thread.0).and_then(|code| code.transitions.get(transition.0));
        let instruction = &code.ok_or("the stale access is no step of the program")?.instruction;
        let accesses = instruction.accesses();
        let [access] = accesses[..] else { return Err("the stale access is not one access".to_owned()) };
        let registers = &run.end.threads[thread.0].registers;
        let eval = |expr: &ravelin_program::Expr| expr.eval(&mut |register| registers[register.0]);
        let address = |address: &Address| eval(&address.expr);
        let Ok(address) = address(access.address) else { return Ok(Vec::new()) };
        let expected = match instruction {
            Instruction::CompareExchange { expected, .. } => Some(eval(expected)),
            _ => None,
        };
        let spurious = matches!(instruction, Instruction::CompareExchange { weak: true, .. });
        let earlier = run.execution.writes.get(&address).map_or(0, Vec::len);
        let mut candidates = Vec::new();
        for place in (0..earlier).rev() {
            let source = place.checked_sub(1).map(|before| run.execution.writes[&address][before]);
            let held = source.map_or(run.start.cell(address), |write| run.written[write].unwrap_or_default());
            for choice in 0..=Value::from(spurious) {
                let succeeds = expected.is_none_or(|expected| expected == Ok(held)) && choice == 0;
                let mut execution = run.execution.clone();
                let action = Action::Step { thread, transition, choice };
                let mut deed = Deed::new(action, instruction);
                let writes = access.writes && succeeds;
                deed.access = Some(DeedAccess { address, reads: access.reads.then_some(source), writes });
                if writes {
                    let number = execution.deeds.len();
                    execution.writes.entry(address).or_default().insert(place, number);
                }
                execution.deeds.push(deed);
                candidates.push(execution);
            }
        }
        Ok(candidates)
    }

    /// The number of the stale access.
    pub fn stale(&self) -> usize {
        self.deeds.len() - 1
    }

    /// Without what a shortest happens-before cycle through the stale access does not need: only the events of the cycle, what their threads do
    /// before them, and what these read. `None` if there is no cycle.
    pub fn of_cycle(&self) -> Option<Execution> {
        let mut needed = vec![false; self.deeds.len()];
        let mut waiting = self.cycle()?;
        while let Some(deed) = waiting.pop() {
            if !std::mem::replace(&mut needed[deed], true) {
                let thread = self.deeds[deed].thread;
                waiting.extend((0..deed).filter(|&before| self.deeds[before].thread == thread));
                waiting.extend(self.source(deed).flatten());
            }
        }
        let mut numbers = vec![usize::MAX; self.deeds.len()];
        for (number, deed) in (0..self.deeds.len()).filter(|&deed| needed[deed]).enumerate() {
            numbers[deed] = number;
        }
        let renumbered = |deed: &Deed| {
            let mut deed = deed.clone();
            if let Some(DeedAccess { reads: Some(Some(source)), .. }) = &mut deed.access {
                *source = numbers[*source];
            }
            deed
        };
        let deeds = self.deeds.iter().zip(&needed).filter(|(_, needed)| **needed).map(|(deed, _)| renumbered(deed));
        let deeds = deeds.collect();
        let kept =
            |writes: &Vec<usize>| writes.iter().filter(|&&deed| needed[deed]).map(|&deed| numbers[deed]).collect();
        let writes = self.writes.iter().map(|(&address, writes)| (address, kept(writes))).collect();
        Some(Execution { deeds, writes })
    }

    /// The events of a shortest cycle of po, rf, co and fr through the stale access.
    fn cycle(&self) -> Option<Vec<usize>> {
        let stale = self.stale();
        let mut reached_from: Vec<Option<usize>> = vec![None; self.deeds.len()];
        let mut waiting = VecDeque::from([stale]);
        while let Some(from) = waiting.pop_front() {
            for to in self.after(from) {
                if reached_from[to].is_none() {
                    reached_from[to] = Some(from);
                    if to == stale {
                        let mut cycle = vec![stale];
                        let mut at = from;
                        while at != stale {
                            cycle.push(at);
                            at = reached_from[at]?;
                        }
                        return Some(cycle);
                    }
                    waiting.push_back(to);
                }
            }
        }
        None
    }

    /// The events that are after one by po, rf, co or fr.
    fn after(&self, from: usize) -> Vec<usize> {
        let Deed { thread, access: Some(access), .. } = &self.deeds[from] else { return Vec::new() };
        let is_event = |deed: &usize| self.deeds[*deed].access.is_some();
        let mut after: Vec<usize> = (from + 1..self.deeds.len())
            .filter(|&later| self.deeds[later].thread == *thread)
            .filter(is_event)
            .collect();
        if access.writes {
            after.extend((0..self.deeds.len()).filter(|&read| self.source(read) == Some(Some(from))));
            after.extend(self.overwriters(access.address, Some(from)));
        }
        if let Some(source) = access.reads {
            after.extend(self.overwriters(access.address, source).filter(|&write| write != from));
        }
        after
    }

    /// What a deed reads.
    pub fn source(&self, deed: usize) -> Option<Option<usize>> {
        self.deeds[deed].access.and_then(|access| access.reads)
    }

    /// The writes to a cell after one of them, or after the initial value.
    pub fn overwriters(&self, address: Value, write: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let writes = self.writes.get(&address).map_or(&[][..], Vec::as_slice);
        let first = match write {
            None => 0,
            Some(write) => writes.iter().position(|&other| other == write).map_or(writes.len(), |at| at + 1),
        };
        writes[first..].iter().copied()
    }
}

impl Deed {
    fn new(action: Action, instruction: &Instruction) -> Deed {
        let (thread, transition) = match action {
            Action::Step { thread, transition, .. } => (thread, transition),
            // Under SC there are none.
            Action::Flush { thread, .. } => (thread, TransitionId(usize::MAX)),
        };
        let marks = match instruction {
            Instruction::Fence(order) | Instruction::Store { order, .. } => order.is_release(),
            Instruction::Unlock(_) => true,
            _ => false,
        };
        Deed {
            action,
            thread: thread.0,
            transition,
            access: None,
            buffered: is_delayable(instruction),
            drains: instruction.is_locked() || matches!(instruction, Instruction::Fence(Order::SeqCst)),
            marks,
        }
    }
}

impl ReplayedRun {
    fn of(reference: &Reference, finding: &MonitorFinding) -> Result<ReplayedRun, String> {
        let start = start_of(reference, &finding.run.start)?;
        let actions = &finding.run.actions;
        let trace = Trace::of(reference, &start, actions).map_err(|error| error.to_string())?;
        let mut end = start.clone();
        let mut deeds = Vec::with_capacity(actions.len());
        for &action in actions {
            end = reference.apply(&end, action).map_err(|refusal| refusal.to_string())?;
            let Action::Step { thread: ThreadId(thread), transition, .. } = action else {
                return Err("a run under SC has a pending store".to_owned());
            };
            deeds.push(Deed::new(action, &reference.program().threads[thread].transitions[transition.0].instruction));
        }
        let mut written = vec![None; deeds.len()];
        let made_by = |event: usize| trace.events[event].steps.first().map(|step| step.at);
        for (number, event) in trace.events.iter().enumerate() {
            let (Some(deed), [access]) = (made_by(number), &event.accesses[..]) else {
                return Err("a step has several accesses".to_owned());
            };
            let source = |source: ValueSource| match source {
                ValueSource::Initial => None,
                ValueSource::Event(event) => made_by(event),
            };
            let reads = access.read.map(|read| source(read.source));
            deeds[deed].access = Some(DeedAccess { address: access.address, reads, writes: access.write.is_some() });
            written[deed] = access.write.map(|write| write.value);
        }
        let mut writes = BTreeMap::new();
        for (&address, events) in &trace.memory_order {
            writes.insert(address, events.iter().filter_map(|&event| made_by(event)).collect());
        }
        Ok(ReplayedRun { execution: Execution { deeds, writes }, written, start, end })
    }
}
