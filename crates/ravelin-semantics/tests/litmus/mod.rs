//! Litmus shapes in a few words: threads of stores, loads and fences, and the outcome asked for.

use ravelin_program::{Address, Expr, Instruction, Model, Order, Program, ProgramBuilder, RmwOp, VarId, Variable};
use ravelin_semantics::operational::{Reference, State};

pub const VARIABLES: [&str; 3] = ["x", "y", "z"];

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Load(&'static str, Order),
    Store(&'static str, i64, Order),
    Swap(&'static str, i64),
    Fence(Order),
}

pub fn load(variable: &'static str) -> Op {
    Op::Load(variable, Order::Relaxed)
}

pub fn store(variable: &'static str, value: i64) -> Op {
    store_as(variable, value, Order::Relaxed)
}

pub fn store_as(variable: &'static str, value: i64, order: Order) -> Op {
    Op::Store(variable, value, order)
}

pub fn fence(order: Order) -> Op {
    Op::Fence(order)
}

/// A program and an outcome. The n-th load of a thread fills its register n.
pub struct Shape {
    program: Program,
    reads: Vec<(usize, Vec<i64>)>,
    ends: Vec<(&'static str, i64)>,
}

pub fn shape(threads: Vec<Vec<Op>>) -> Shape {
    let mut builder = ProgramBuilder::new("litmus");
    let ids: Vec<VarId> = VARIABLES.iter().map(|name| builder.variable(Variable::scalar(*name))).collect();
    for (index, ops) in threads.iter().enumerate() {
        let mut thread = builder.thread(format!("t{index}"));
        let mut loads = 0;
        let id = |name| ids[VARIABLES.iter().position(|variable| *variable == name).expect("a known variable")];
        for op in ops {
            match *op {
                Op::Load(variable, order) => {
                    let reg = thread.register(format!("r{loads}"));
                    loads += 1;
                    thread.load(reg, id(variable), order);
                }
                Op::Store(variable, value, order) => thread.store(id(variable), Expr::Const(value), order),
                Op::Swap(variable, value) => {
                    let address: Address = thread.address(id(variable));
                    thread.push(Instruction::Rmw {
                        arithmetic: ravelin_program::Arithmetic::Checked,
                        op: RmwOp::Exchange,
                        address,
                        operand: Expr::Const(value),
                        order: Order::Relaxed,
                        old: None,
                    });
                }
                Op::Fence(order) => thread.fence(order),
            }
        }
        thread.finish();
    }
    Shape { program: builder.finish().expect("a valid shape"), reads: Vec::new(), ends: Vec::new() }
}

impl Shape {
    /// Asks that the loads of a thread read these values.
    pub fn reads(mut self, thread: usize, values: &[i64]) -> Shape {
        self.reads.push((thread, values.to_vec()));
        self
    }

    /// Asks that memory holds the value in the end.
    pub fn ends(mut self, variable: &'static str, value: i64) -> Shape {
        self.ends.push((variable, value));
        self
    }

    /// Whether some run ends with the outcome.
    pub fn allows(&self, model: Model) -> bool {
        let reference = Reference::new(&self.program, model, None).expect("a program without `[*]`");
        let explored = reference.explore(200_000).expect("one initial state");
        assert!(explored.complete && explored.stuck.is_empty());
        explored.finals.iter().any(|state| self.outcome(state))
    }

    fn outcome(&self, state: &State) -> bool {
        let cell = |name| {
            let (_, variable) = self.program.memory.find(name).expect("a known variable");
            state.cell(variable.base)
        };
        self.reads.iter().all(|(thread, values)| state.threads[*thread].registers == *values)
            && self.ends.iter().all(|(name, value)| cell(name) == *value)
    }
}
