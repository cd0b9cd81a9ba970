//! Runs a program on messages, one step at a time, and grows its graph.

use ravelin_clocks::weak::{FenceOrder, SeqCstPlace, WeakAccess, WeakAct, WeakLocation, WeakOutcome};
use ravelin_clocks::{AtomicOrder, CasKind, ReleaseClocks, ThreadClocks, Tid};
use ravelin_program::{Address, Expr, Instruction, LocId, Order, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::rc20::{Execution, GrowingGraph};
use std::collections::BTreeMap;

/// What is forgotten, and when.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub values: usize,
    pub fences: usize,
    /// Messages that no thread can read are forgotten after each step.
    pub forgets: bool,
}

impl Bounds {
    pub const NONE: Bounds = Bounds { values: usize::MAX, fences: usize::MAX, forgets: false };
}

struct WeakRun<'a> {
    program: &'a Program,
    bounds: Bounds,
    graph: GrowingGraph<'a>,
    clocks: Vec<ThreadClocks>,
    fences: FenceOrder,
    locations: BTreeMap<Value, WeakLocation>,
}

/// One run to its end. `choose` gets a number of possibilities, and returns one.
pub fn run(program: &Program, place: SeqCstPlace, bounds: Bounds, choose: &mut dyn FnMut(usize) -> usize) -> Execution {
    let first = ThreadClocks::new(0, 1).release();
    let mut run = WeakRun {
        program,
        bounds,
        graph: GrowingGraph::new(program, &[]),
        clocks: (0..program.threads.len()).map(|index| started(index as Tid + 1, &first)).collect(),
        fences: FenceOrder::new(place, bounds.fences),
        locations: BTreeMap::new(),
    };
    loop {
        let ready: Vec<(ThreadId, TransitionId)> =
            (0..program.threads.len()).flat_map(|thread| run.next(ThreadId(thread))).collect();
        // Steps without an event commute with all others.
        let alone = |of: ThreadId| ready.iter().filter(|(thread, _)| *thread == of).count() == 1;
        let commutes = |&(thread, transition): &(ThreadId, TransitionId)| {
            is_local(run.instruction(thread, transition)) && alone(thread)
        };
        let index = match (ready.iter().position(commutes), ready.len()) {
            (_, 0) => break,
            (Some(index), _) => index,
            (None, 1) => 0,
            (None, several) => choose(several),
        };
        run.step(ready[index], choose);
    }
    let threads = run.graph.threads().to_vec();
    let complete = threads.iter().zip(&program.threads).all(|(state, thread)| thread.is_end(state.location));
    Execution { graph: run.graph.graph().clone(), threads, complete }
}

fn started(tid: Tid, by: &ReleaseClocks) -> ThreadClocks {
    let mut clocks = ThreadClocks::new(tid, 1);
    clocks.acquire(by);
    clocks
}

fn is_local(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Nop | Instruction::Assign { .. } | Instruction::Assume(_))
}

impl<'a> WeakRun<'a> {
    fn instruction(&self, thread: ThreadId, transition: TransitionId) -> &'a Instruction {
        &self.program.threads[thread.0].transitions[transition.0].instruction
    }

    /// The steps that a thread can take next. One that would fault is none.
    fn next(&self, thread: ThreadId) -> Vec<(ThreadId, TransitionId)> {
        let location: LocId = self.graph.threads()[thread.0].location;
        let steps = self.program.threads[thread.0].outgoing(location);
        let has_values = |exprs: &[&Expr]| exprs.iter().all(|expr| self.value(thread, expr).is_some());
        let passes = |instruction: &Instruction| match instruction {
            Instruction::Assume(condition) => self.value(thread, condition).is_some_and(|value| value != 0),
            Instruction::Assign { value, .. } | Instruction::Store { value, .. } => has_values(&[value]),
            Instruction::Rmw { operand, .. } => has_values(&[operand]),
            Instruction::CompareExchange { expected, new, .. } => has_values(&[expected, new]),
            _ => true,
        };
        steps.filter(|(_, step)| passes(&step.instruction)).map(|(transition, _)| (thread, transition)).collect()
    }

    fn eval(&self, thread: ThreadId, expr: &Expr) -> Value {
        self.value(thread, expr).expect("a step that faults is not taken")
    }

    fn value(&self, thread: ThreadId, expr: &Expr) -> Option<Value> {
        let registers = &self.graph.threads()[thread.0].registers;
        expr.eval(&mut |register| registers[register.0]).ok()
    }

    fn step(&mut self, (thread, transition): (ThreadId, TransitionId), choose: &mut dyn FnMut(usize) -> usize) {
        let instruction = self.instruction(thread, transition);
        let made = match instruction {
            Instruction::Fence(order) => {
                self.clocks[thread.0].weak_fence(atomic(*order), &mut self.fences);
                None
            }
            Instruction::Load { address, order, .. } => {
                Some(self.access(thread, address, (WeakAct::Load, *order, *order), choose, |_| 0))
            }
            Instruction::Store { address, value, order } => {
                let value = self.eval(thread, value) as u64;
                Some(self.access(thread, address, (WeakAct::Store, *order, *order), choose, |_| value))
            }
            Instruction::Rmw { op, arithmetic, address, operand, order, .. } => {
                let operand = self.eval(thread, operand);
                let change = |read| op.apply(*arithmetic, read as Value, operand).expect("no faults") as u64;
                Some(self.access(thread, address, (WeakAct::Update, *order, *order), choose, change))
            }
            Instruction::CompareExchange { address, expected, new, success, failure, weak, .. } => {
                let [expected, new] = [expected, new].map(|expr| self.eval(thread, expr) as u64);
                let kind = if *weak { CasKind::Weak } else { CasKind::Strong };
                let act = WeakAct::CompareExchange { kind, expected };
                let (outcome, read) = self.access(thread, address, (act, *success, *failure), choose, |_| new);
                Some((outcome, read.filter(|read| outcome.writes.is_none() && *read == expected)))
            }
            other => {
                assert!(is_local(other), "{other:?} is not run here");
                None
            }
        };
        let compares = matches!(instruction, Instruction::CompareExchange { .. });
        let spurious = compares && made.is_some_and(|(_, read)| read.is_some());
        let (reads, writes) = made.map_or((None, None), |(outcome, _)| (outcome.reads, outcome.writes));
        let action = Action::Step { thread, transition, choice: Value::from(spurious) };
        self.graph.follow_at(action, reads, writes).expect("the program takes the step too");
        for location in self.locations.values_mut() {
            location.limit(self.bounds.values);
            if self.bounds.forgets {
                location.forget(&known_to_all(&self.clocks));
            }
        }
    }

    /// Makes an access, and returns the value it read.
    fn access(
        &mut self,
        thread: ThreadId,
        address: &Address,
        (act, order, failure): (WeakAct, Order, Order),
        choose: &mut dyn FnMut(usize) -> usize,
        change: impl Fn(u64) -> u64,
    ) -> (WeakOutcome, Option<u64>) {
        let access = WeakAccess { act, order: atomic(order), failure: atomic(failure), site: 0 };
        let (clocks, fences, location) = self.parts(thread, address);
        let choice = location.choose(clocks, fences, access, choose);
        let outcome = location.take(clocks, fences, access, choice, change(choice.value));
        (outcome, outcome.reads.map(|_| choice.value))
    }

    fn parts(
        &mut self,
        thread: ThreadId,
        address: &Address,
    ) -> (&mut ThreadClocks, &mut FenceOrder, &mut WeakLocation) {
        let address = self.eval(thread, &address.expr);
        let initial = match self.program.memory.initial_at(address) {
            ravelin_program::InitialValue::Value(value) => value,
            ravelin_program::InitialValue::Any => panic!("cells here have one initial value"),
        };
        let location = self.locations.entry(address).or_insert_with(|| WeakLocation::new(initial as u64));
        (&mut self.clocks[thread.0], &mut self.fences, location)
    }
}

fn known_to_all(threads: &[ThreadClocks]) -> Vec<u32> {
    let known = |thread: &ThreadClocks, tid: Tid| {
        if thread.tid == tid { thread.epoch } else { thread.cur.hb.get(tid) }
    };
    (0..=threads.len() as Tid).map(|tid| threads.iter().map(|thread| known(thread, tid)).min().unwrap_or(0)).collect()
}

fn atomic(order: Order) -> AtomicOrder {
    match order {
        Order::Relaxed => AtomicOrder::Relaxed,
        Order::Acquire => AtomicOrder::Acquire,
        Order::Release => AtomicOrder::Release,
        Order::AcqRel => AtomicOrder::AcqRel,
        Order::SeqCst => AtomicOrder::SeqCst,
        Order::NonAtomic => panic!("all accesses are atomic here"),
    }
}

/// All runs of a program, one after the other, by all sequences of choices. Returns whether they were all made.
pub fn all_runs(
    program: &Program,
    place: SeqCstPlace,
    bounds: Bounds,
    most: usize,
    mut done: impl FnMut(Execution),
) -> bool {
    // The choices of the last run, each with the number of possibilities.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for _ in 0..most {
        let mut depth = 0;
        let execution = run(program, place, bounds, &mut |among| {
            if depth == path.len() {
                path.push((0, among));
            }
            assert_eq!(path[depth].1, among, "a run is determined by its choices");
            depth += 1;
            path[depth - 1].0
        });
        done(execution);
        while path.last().is_some_and(|&(chosen, among)| chosen + 1 == among) {
            path.pop();
        }
        match path.last_mut() {
            Some((chosen, _)) => *chosen += 1,
            None => return true,
        }
    }
    false
}
