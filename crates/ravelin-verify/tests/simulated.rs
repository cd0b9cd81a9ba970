//! Steered runs of a [`Program`] under SC, in place of the runs of a process.
//!
//! A run does what [`Script`] and `ravelin_findings::steering` say. Every step is computed by the reference semantics. An event is one
//! memory access, fence, lock or unlock. Local instructions belong to the step before them, and those at the beginning of a
//! thread to no step. All threads exist from the beginning, so there are no starts, ends and joins.
//!
//! A cell that is only locked and unlocked, by its holder, is an object (`Act::Lock`, `Act::Unlock`). Other locks are
//! what they are in the language: an update that waits and a release store. Instructions that wait are not offered
//! before they can pass. A failed assertion or a fault ends the run.
//!
//! A run must be determined by its schedule. Where the language leaves something open, the first possibility is taken;
//! [`deterministic`] makes programs that leave nothing open.

use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_findings::steering::SteeredEnd;
use ravelin_program::{
    Address, Domain, Expr, Instruction, LocId, Order, Program, Thread, ThreadId, TransitionId, Value,
};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, Refusal, State};
use ravelin_verify::{RecordedRun, Script};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most events of a run.
const MOST_EVENTS: usize = 1 << 12;
/// The most local steps in a row; a thread that makes more never comes to an event.
const MOST_LOCAL_STEPS: usize = 1 << 10;

/// Makes runs of a program.
pub struct Simulator {
    reference: Reference,
    initial: State,
    /// The addresses that are objects.
    objects: BTreeSet<Value>,
    /// The registers behind each [`RunEvent::state`].
    registers: RefCell<HashMap<u64, Vec<Value>>>,
}

/// A run, and what a process could not tell.
#[derive(Clone)]
pub struct Simulation {
    pub run: RecordedRun,
    /// The state in which it ended.
    pub state: State,
    /// The thread whose assertion failed, or that has a fault.
    pub failed: Option<u32>,
}

impl Simulator {
    pub fn new(program: &Program) -> Simulator {
        let reference = Reference::as_written(program).expect("a program that the reference can run");
        let initial = reference.initial_states().expect("few initial states").swap_remove(0);
        Simulator { reference, initial, objects: objects(program), registers: RefCell::default() }
    }

    pub fn run(&self, script: &Script) -> RecordedRun {
        self.simulate(script).run
    }

    pub fn simulate(&self, script: &Script) -> Simulation {
        let mut simulation = self.beginning();
        self.steer(&mut simulation, script);
        let pending = (0..self.threads()).filter(|&thread| simulation.failed != Some(thread));
        let pending = pending.filter_map(|thread| self.next(&simulation.state, thread));
        let flag = |(_, event): (TransitionId, RunEvent)| RunEvent { flags: event.flags | flags::PENDING, ..event };
        simulation.run.pending = pending.map(flag).collect();
        simulation
    }

    /// The run in which no thread has made a step.
    pub fn beginning(&self) -> Simulation {
        let mut simulation = Simulation { run: RecordedRun::default(), state: self.initial.clone(), failed: None };
        for thread in 0..self.threads() {
            self.settle(&mut simulation, thread);
        }
        simulation
    }

    /// The run with one more step of a thread; `None` if it cannot run.
    pub fn continued(&self, simulation: &Simulation, thread: u32) -> Option<Simulation> {
        if simulation.failed.is_some() || !self.can_run(&simulation.state, thread) {
            return None;
        }
        let mut continued = simulation.clone();
        self.step(&mut continued, thread);
        Some(continued)
    }

    /// The instruction behind an event.
    pub fn instruction(&self, event: &RunEvent) -> &Instruction {
        &self.reference.program().threads[event.thread as usize].transitions[event.pc as usize].instruction
    }

    /// Whether the instruction behind an event would go on waiting if it read this value.
    pub fn waits(&self, event: &RunEvent, value: u64) -> bool {
        let registers = self.registers.borrow();
        let registers = &registers[&event.state];
        let read = value as Value;
        match self.instruction(event) {
            Instruction::Wait { condition, .. } => {
                condition.holds(read, &mut |register| registers[register.0]) == Ok(false)
            }
            Instruction::BlockingCas { expected, .. } => {
                expected.eval(&mut |register| registers[register.0]) != Ok(read)
            }
            Instruction::Lock(_) => read != 0,
            _ => false,
        }
    }

    fn threads(&self) -> u32 {
        self.reference.program().threads.len() as u32
    }

    fn steer(&self, simulation: &mut Simulation, script: &Script) {
        let mut turn = 0;
        for choice in &script.choices {
            if simulation.failed.is_some() || choice.times_out || !self.can_run(&simulation.state, choice.thread) {
                simulation.run.end = Some(SteeredEnd::NotEnabled);
                return;
            }
            turn = choice.thread;
            self.step(simulation, turn);
        }
        let mut sleepers: BTreeSet<u32> = script.sleepers.iter().copied().collect();
        while simulation.failed.is_none() {
            let runnable: Vec<u32> =
                (0..self.threads()).filter(|&thread| self.can_run(&simulation.state, thread)).collect();
            let mut awake = runnable.iter().copied().filter(|thread| !sleepers.contains(thread));
            let Some(first) = awake.clone().next() else {
                simulation.run.end = (!runnable.is_empty()).then_some(SteeredEnd::Asleep);
                return;
            };
            if simulation.run.events.len() == MOST_EVENTS {
                simulation.run.end = Some(SteeredEnd::Full);
                return;
            }
            turn = if awake.any(|thread| thread == turn) { turn } else { first };
            // Who sleeps is woken by a conflict with what it was about to do before the step.
            let sleeping: Vec<_> = sleepers.iter().filter_map(|&thread| self.next(&simulation.state, thread)).collect();
            self.step(simulation, turn);
            let done = simulation.run.events.last().expect("a step is an event").operation;
            for (_, next) in sleeping {
                if next.operation.conflicts(&done) {
                    sleepers.remove(&next.thread);
                }
            }
        }
    }

    fn can_run(&self, state: &State, thread: u32) -> bool {
        thread < self.threads()
            && self.next(state, thread).is_some_and(|(transition, _)| match self.apply(state, thread, transition) {
                Ok(_) => true,
                Err(refusal) => is_failure(&refusal),
            })
    }

    /// Makes the next step of a thread that can run.
    fn step(&self, simulation: &mut Simulation, thread: u32) {
        let (transition, event) = self.next(&simulation.state, thread).expect("the thread can run");
        simulation.run.events.push(event);
        match self.apply(&simulation.state, thread, transition) {
            Ok(state) => {
                simulation.state = state;
                self.settle(simulation, thread);
            }
            Err(_) => simulation.failed = Some(thread),
        }
    }

    /// Takes the local steps of a thread until it comes to an event, or cannot go on.
    fn settle(&self, simulation: &mut Simulation, thread: u32) {
        let code = self.code(thread);
        for _ in 0..MOST_LOCAL_STEPS {
            let location = simulation.state.threads[thread as usize].location;
            let local = |(id, transition): (TransitionId, &ravelin_program::Transition)| {
                transition.instruction.is_local().then(|| self.apply(&simulation.state, thread, id))
            };
            let taken = code.outgoing(location).map_while(local).find(|next| match next {
                Ok(_) => true,
                Err(refusal) => is_failure(refusal),
            });
            match taken {
                Some(Ok(state)) => simulation.state = state,
                Some(Err(_)) => {
                    simulation.failed = Some(thread);
                    return;
                }
                None => return,
            }
        }
    }

    /// What a thread does next, with the values that it would read and write now; `None` if it has ended or can do nothing but
    /// wait for an assumption.
    fn next(&self, state: &State, thread: u32) -> Option<(TransitionId, RunEvent)> {
        let at = &state.threads[thread as usize];
        let code = self.code(thread);
        let (id, transition) = code.outgoing(at.location).find(|(_, transition)| !transition.instruction.is_local())?;
        let eval = |expr: &Expr| expr.eval(&mut |register| at.registers[register.0]).unwrap_or(0);
        let cell = |address: &Address| eval(&address.expr);
        let after = self.apply(state, thread, id);
        let mut event = RunEvent {
            thread,
            operation: RunOperation::LOCAL,
            flags: 0,
            read: 0,
            written: 0,
            pc: id.0 as u64,
            state: self.intern(at.location, thread, &at.registers),
        };
        let written = |address: &Address, otherwise: Value| {
            after.as_ref().map_or(otherwise, |after| after.cell(cell(address))) as u64
        };
        let instruction = &transition.instruction;
        let ((act, order), address) = match instruction {
            Instruction::Load { address, order, .. } | Instruction::Wait { address, order, .. } => {
                ((Act::Load, *order), Some(address))
            }
            Instruction::Store { address, value, order } => {
                event.written = written(address, eval(value));
                event.flags = flags::OVERWRITES;
                ((Act::Store, *order), Some(address))
            }
            Instruction::Rmw { address, order, .. } => {
                event.written = written(address, 0);
                ((Act::Update, *order), Some(address))
            }
            Instruction::CompareExchange { address, expected, new, success, failure, .. } => {
                event.flags = flags::COMPARES;
                if state.cell(cell(address)) == eval(expected) {
                    event.flags |= flags::other_order(recorded(*failure));
                    event.written = written(address, eval(new));
                    ((Act::Update, *success), Some(address))
                } else {
                    event.flags |= flags::other_order(recorded(*success));
                    event.written = eval(expected) as u64;
                    ((Act::Load, *failure), Some(address))
                }
            }
            Instruction::BlockingCas { address, expected, new, order } => {
                let values = [eval(expected), eval(new)];
                (waiting_update(&mut event, state.cell(cell(address)), values, *order), Some(address))
            }
            Instruction::Lock(address) if self.objects.contains(&cell(address)) => {
                ((Act::Lock, Order::NonAtomic), Some(address))
            }
            Instruction::Unlock(address) if self.objects.contains(&cell(address)) => {
                ((Act::Unlock, Order::NonAtomic), Some(address))
            }
            Instruction::Lock(address) => {
                (waiting_update(&mut event, state.cell(cell(address)), [0, 1], Order::Acquire), Some(address))
            }
            Instruction::Unlock(address) => {
                event.written = written(address, 0);
                event.flags = flags::OVERWRITES;
                ((Act::Store, Order::Release), Some(address))
            }
            Instruction::Fence(order) => ((Act::Fence, *order), None),
            other => panic!("a run of a process has no {other:?}"),
        };
        if let (Some(address), Act::Load | Act::Store | Act::Update) = (address, act) {
            event.read = state.cell(cell(address)) as u64;
        }
        let (address, size) = address.map_or((0, 0), |address| ((cell(address) as u64).wrapping_mul(8), 8));
        event.operation = RunOperation { act, order: recorded(order), address, size };
        Some((id, event))
    }

    fn code(&self, thread: u32) -> &Thread {
        &self.reference.program().threads[thread as usize]
    }

    fn apply(&self, state: &State, thread: u32, transition: TransitionId) -> Result<State, Refusal> {
        let thread = ThreadId(thread as usize);
        let choice = match self.reference.program().threads[thread.0].transitions[transition.0].instruction {
            Instruction::Havoc { lo, .. } => lo,
            _ => 0,
        };
        self.reference.apply(state, Action::Step { thread, transition, choice })
    }

    fn intern(&self, location: LocId, thread: u32, registers: &[Value]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (location, thread, registers).hash(&mut hasher);
        let hash = hasher.finish().max(1);
        self.registers.borrow_mut().entry(hash).or_insert_with(|| registers.to_vec());
        hash
    }
}

/// The program with nothing left open: the first of several alternatives, the smallest value of a havoc, and strong
/// compare-exchanges only. Both branches of an `if` are kept.
pub fn deterministic(program: &Program) -> Program {
    let mut program = program.clone();
    for thread in &mut program.threads {
        for location in (0..thread.locations.len()).map(LocId) {
            let alternatives: Vec<(TransitionId, Instruction)> =
                thread.outgoing(location).map(|(id, transition)| (id, transition.instruction.clone())).collect();
            let is_if = match &alternatives[..] {
                [(_, Instruction::Assume(first)), (_, Instruction::Assume(second))] => {
                    *second == first.clone().not() || *first == second.clone().not()
                }
                _ => false,
            };
            if !is_if && alternatives.len() > 1 {
                let first = alternatives[0].0.0;
                thread.transitions.drain(first + 1..first + alternatives.len());
            }
        }
        for transition in &mut thread.transitions {
            match &mut transition.instruction {
                Instruction::Havoc { lo, hi, .. } => *hi = *lo,
                Instruction::CompareExchange { weak, .. } => *weak = false,
                _ => {}
            }
        }
    }
    program
}

/// A compare-exchange that waits until it succeeds. While it waits it is one that fails.
fn waiting_update(event: &mut RunEvent, found: Value, [expected, new]: [Value; 2], order: Order) -> (Act, Order) {
    event.flags = flags::COMPARES | flags::other_order(recorded(order));
    let succeeds = found == expected;
    event.written = if succeeds { new } else { expected } as u64;
    (if succeeds { Act::Update } else { Act::Load }, order)
}

fn is_failure(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::AssertFails | Refusal::Fault(_))
}

pub fn recorded(order: Order) -> RecordedOrder {
    match order {
        Order::NonAtomic => RecordedOrder::Plain,
        Order::Relaxed => RecordedOrder::Relaxed,
        Order::Acquire => RecordedOrder::Acquire,
        Order::Release => RecordedOrder::Release,
        Order::AcqRel => RecordedOrder::AcqRel,
        Order::SeqCst => RecordedOrder::SeqCst,
    }
}

/// The addresses that are used as locks only, and unlocked only where they are held.
fn objects(program: &Program) -> BTreeSet<Value> {
    let mut objects: BTreeSet<Value> = program.memory.named_addresses().collect();
    objects.retain(|&address| {
        let domain: Option<Domain> = program.memory.domain_at(address).ok();
        domain.is_some_and(|domain| domain.lo <= 0 && domain.hi >= 1)
    });
    for thread in &program.threads {
        for transition in &thread.transitions {
            let lock = matches!(transition.instruction, Instruction::Lock(_) | Instruction::Unlock(_));
            for access in transition.instruction.accesses() {
                match access.address.constant() {
                    Some(address) => {
                        objects.retain(|&object| lock || object != address);
                    }
                    // It could be any.
                    None => objects.clear(),
                }
            }
        }
    }
    let candidates: Vec<Value> = objects.iter().copied().collect();
    for address in candidates {
        if !program.threads.iter().all(|thread| unlocks_what_it_holds(thread, address)) {
            objects.remove(&address);
        }
    }
    objects
}

/// On every path of the thread, an unlock of the address follows a lock of it without another unlock between.
fn unlocks_what_it_holds(thread: &Thread, address: Value) -> bool {
    let mut seen = BTreeSet::from([(thread.initial, false)]);
    let mut pending = vec![(thread.initial, false)];
    while let Some((location, held)) = pending.pop() {
        for (_, transition) in thread.outgoing(location) {
            let here = |of: &Address| of.constant() == Some(address);
            let held = match &transition.instruction {
                Instruction::Lock(of) if here(of) => true,
                Instruction::Unlock(of) if here(of) && !held => return false,
                Instruction::Unlock(of) if here(of) => false,
                _ => held,
            };
            if seen.insert((transition.to, held)) {
                pending.push((transition.to, held));
            }
        }
    }
    true
}
