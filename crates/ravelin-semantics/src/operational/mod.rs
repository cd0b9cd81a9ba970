//! Operational semantics of SC, TSO and PSO: the reference for checking fast engines and replaying witnesses.
//!
//! A state is control, registers, memory, and a store buffer for each thread ([`State`]). The rules are those of Table
//! 1 of *Checking and Enforcing Robustness against TSO*, in the notation of Fig. 2 of *Lazy TSO Reachability*, with the
//! atomic read-write of section 4.2 of *Counter-Example Guided Fence Insertion*. `step.rs` maps each to its code. What
//! those papers omit (locked blocks, the bus lock, domains, faults, PSO with release stores) is documented beside its
//! code.
//!
//! Programs are read through the x86 mapping ([`ravelin_program::HardwareProgram`]) under every model, SC included, so
//! that one action means the same under each. Costs are those of a naive interpreter: a clone of the state for a step.
//!
//! ```
//! use ravelin_program::{Expr, Order, ProgramBuilder, Variable};
//! use ravelin_program::Model;
//! use ravelin_semantics::operational::Reference;
//!
//! // Store buffering: only with buffers do both threads read 0.
//! let mut program = ProgramBuilder::new("SB");
//! let cells = [program.variable(Variable::scalar("x")), program.variable(Variable::scalar("y"))];
//! for me in 0..2 {
//!     let mut thread = program.thread(format!("t{me}"));
//!     let r = thread.register("r");
//!     thread.store(cells[me], Expr::Const(1), Order::Relaxed);
//!     thread.load(r, cells[1 - me], Order::Relaxed);
//!     thread.finish();
//! }
//! let program = program.finish().expect("a valid program");
//! for (model, expected) in [(Model::Sc, false), (Model::Tso, true), (Model::Pso, true)] {
//!     let explored = Reference::new(&program, model, None).unwrap().explore(10_000).unwrap();
//!     let both_zero = explored.finals.iter().any(|state| state.threads.iter().all(|thread| thread.registers == [0]));
//!     assert_eq!(both_zero, expected, "{model}");
//! }
//! ```

mod deadlock;
mod explore;
mod refusal;
mod state;
mod step;

pub use deadlock::WaitingThread;
pub use explore::{EnabledSteps, Exploration};
pub use refusal::{NotModelled, Refusal, TooMany};
pub use state::{Buffer, PendingEntry, State, ThreadState};

use crate::Action;
use ravelin_program::{
    Copies, Domain, GoalKind, HardwareProgram, InitialValue, Instruction, LocId, Model, Observable, Program, Value,
    validate,
};
use std::collections::BTreeMap;

/// The most initial states that [`Reference::initial_states`] lists, and the most values of a `havoc`.
pub const MOST_INITIAL_STATES: usize = 1 << 16;
const MOST_HAVOC_VALUES: u64 = 1 << 16;

/// A program under a memory model.
#[derive(Clone, Debug)]
pub struct Reference {
    program: Program,
    model: Model,
    bound: Option<usize>,
}

impl Reference {
    /// The program under a model, with at most `bound` pending stores per thread (over all addresses, also under PSO).
    pub fn new(program: &Program, model: Model, bound: Option<usize>) -> Result<Reference, NotModelled> {
        if model.is_c11() {
            return Err(NotModelled::NotHardware(model));
        }
        if let Some(invalid) = validate(program).first() {
            return Err(NotModelled::Invalid(invalid.message.clone()));
        }
        for thread in &program.threads {
            if thread.copies == Copies::Any {
                return Err(NotModelled::AnyCopies(thread.name.clone()));
            }
            let wide = thread.transitions.iter().any(|transition| match transition.instruction {
                Instruction::Havoc { lo, hi, .. } => lo.abs_diff(hi) >= MOST_HAVOC_VALUES,
                _ => false,
            });
            if wide {
                return Err(NotModelled::WideHavoc { thread: thread.name.clone(), limit: MOST_HAVOC_VALUES });
            }
        }
        Ok(Reference { program: HardwareProgram::new(program).into_inner(), model, bound })
    }

    /// The program under SC as it is written, without the x86 mapping: for runs of engines that give C11 orders their
    /// own meaning.
    pub fn as_written(program: &Program) -> Result<Reference, NotModelled> {
        let reference = Reference::new(program, Model::Sc, None)?;
        Ok(Reference { program: program.clone(), ..reference })
    }

    /// The program after the x86 mapping, if it was mapped: actions refer to its transitions. Those of the original
    /// keep their numbers.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn model(&self) -> Model {
        self.model
    }

    pub fn bound(&self) -> Option<usize> {
        self.bound
    }

    /// All initial states: several if cells start with any value of their domain.
    pub fn initial_states(&self) -> Result<Vec<State>, TooMany> {
        let threads: Vec<ThreadState> = self
            .program
            .threads
            .iter()
            .map(|thread| ThreadState {
                location: thread.initial,
                registers: thread.registers.iter().map(|register| register.initial).collect(),
                buffer: Buffer::default(),
            })
            .collect();
        let too_many = TooMany { limit: MOST_INITIAL_STATES };
        let mut memories: Vec<BTreeMap<Value, Value>> = vec![BTreeMap::new()];
        for address in self.program.memory.named_addresses() {
            let (lo, hi) = match self.program.memory.initial_at(address) {
                InitialValue::Value(value) => (value, value),
                InitialValue::Any => {
                    let domain = self.program.memory.domain_at(address).unwrap_or(Domain::FULL);
                    (domain.lo, domain.hi)
                }
            };
            let ways = u128::from(lo.abs_diff(hi)) + 1;
            if ways * memories.len() as u128 > MOST_INITIAL_STATES as u128 {
                return Err(too_many);
            }
            memories = memories
                .iter()
                .flat_map(|memory| {
                    (lo..=hi).map(move |value| {
                        let mut memory = memory.clone();
                        memory.insert(address, value);
                        memory
                    })
                })
                .collect();
        }
        Ok(memories.into_iter().map(|memory| State { threads: threads.clone(), memory, bus: None }).collect())
    }

    /// Does one action, or returns precisely why it is impossible.
    pub fn apply(&self, state: &State, action: Action) -> Result<State, Refusal> {
        match action {
            Action::Step { thread, transition, choice } => step::step(self, state, thread, transition, choice),
            Action::Flush { thread, address } => step::flush(self, state, thread, address),
        }
    }

    /// Every thread is at its end, all buffers are empty and the bus lock is free.
    pub fn is_final(&self, state: &State) -> bool {
        let at_end = |(thread, at): (&ravelin_program::Thread, LocId)| thread.is_end(at);
        state.is_settled()
            && self.program.threads.iter().zip(state.threads.iter().map(|thread| thread.location)).all(at_end)
    }

    /// The goals that this state violates, as numbers in [`Program::goals`].
    ///
    /// Goals about final states apply to final states only, and conditions that mention memory only to settled states.
    /// Conditions are computed exactly, whatever the program's arithmetic, because they describe observations. A
    /// condition without a value (for example, it divides by zero) is not violated.
    pub fn violated_goals(&self, state: &State) -> Vec<usize> {
        let is_final = self.is_final(state);
        let settled = state.is_settled();
        let violated = |goal: &ravelin_program::Goal| {
            let judged = if goal.kind == GoalKind::Never { settled || !goal.mentions_memory() } else { is_final };
            let value = goal.condition.eval(&mut |atom| observe(state, atom));
            judged && value.is_ok_and(|value| goal.is_violated_by(value))
        };
        (0..self.program.goals.len()).filter(|&goal| violated(&self.program.goals[goal])).collect()
    }
}

fn observe(state: &State, atom: &Observable) -> Value {
    match *atom {
        Observable::At(thread, location) => Value::from(state.threads[thread.0].location == location),
        Observable::Register(thread, register) => state.threads[thread.0].registers[register.0],
        Observable::Memory(address) => state.cell(address),
    }
}
