//! Straight-line programs over x, y and z in a few words.

use ravelin_program::{
    Address, Expr, Instruction, Model, Order, Program, ProgramBuilder, RegId, RmwOp, Value, Variable,
};
use ravelin_program::{ThreadId, TransitionId};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::trace::{CyclicComputation, Trace, find_violation};

pub const X: Value = 1;
pub const Y: Value = 2;
pub const Z: Value = 3;
pub const A: RegId = RegId(0);
pub const B: RegId = RegId(1);

pub fn cell(address: Value) -> Address {
    Address::computed(Expr::Const(address))
}

pub fn store(address: Value, value: Value) -> Instruction {
    Instruction::Store { address: cell(address), value: value.into(), order: Order::Relaxed }
}

pub fn load(reg: RegId, address: Value) -> Instruction {
    Instruction::Load { reg, address: cell(address), order: Order::Relaxed }
}

pub fn swap(address: Value, value: Value) -> Instruction {
    let (op, order) = (RmwOp::Exchange, Order::Relaxed);
    Instruction::Rmw {
        arithmetic: ravelin_program::Arithmetic::Checked,
        op,
        address: cell(address),
        operand: value.into(),
        order,
        old: None,
    }
}

pub fn compare_exchange(address: Value, expected: Value, new: Value, weak: bool) -> Instruction {
    Instruction::CompareExchange {
        address: cell(address),
        expected: expected.into(),
        new: new.into(),
        success: Order::Relaxed,
        failure: Order::Relaxed,
        weak,
        old: None,
        ok: None,
    }
}

pub fn fence() -> Instruction {
    Instruction::Fence(Order::SeqCst)
}

pub fn locked(body: &[Instruction]) -> Instruction {
    Instruction::Locked { body: body.to_vec(), drains: true }
}

/// `bus_lock; …; bus_unlock`.
pub fn bus(body: &[Instruction]) -> Vec<Instruction> {
    [&[Instruction::BusLock], body, &[Instruction::BusUnlock]].concat()
}

pub fn program(threads: &[Vec<Instruction>]) -> Program {
    let mut builder = ProgramBuilder::new("test");
    for name in ["x", "y", "z"] {
        builder.variable(Variable::scalar(name));
    }
    for (index, code) in threads.iter().enumerate() {
        let mut thread = builder.thread(format!("t{}", index + 1));
        thread.register("a");
        thread.register("b");
        for instruction in code {
            thread.push(instruction.clone());
        }
        thread.finish();
    }
    builder.finish().expect("a valid program")
}

pub fn reference(program: &Program, model: Model) -> Reference {
    Reference::new(program, model, None).expect("modelled")
}

pub fn start(reference: &Reference) -> State {
    reference.initial_states().expect("few")[0].clone()
}

pub fn violation(program: &Program, model: Model) -> Option<CyclicComputation> {
    find_violation(&reference(program, model), 100_000).expect("small enough")
}

pub fn trace(reference: &Reference, actions: &[Action]) -> Trace {
    Trace::of(reference, &start(reference), actions).expect("a run")
}

/// The kinds of a cycle's edges in a row: `po fr po fr`.
pub fn kinds(trace: &Trace) -> Option<String> {
    let names: Vec<&str> = trace.cycle()?.iter().map(|step| step.edge.name()).collect();
    Some(names.join(" "))
}

pub fn step(thread: usize, transition: usize) -> Action {
    Action::Step { thread: ThreadId(thread), transition: TransitionId(transition), choice: 0 }
}

pub fn flush(thread: usize, address: Value) -> Action {
    Action::Flush { thread: ThreadId(thread), address }
}
