//! The vocabulary that all parts of Ravelin share: what a program *is*.
//!
//! A [`Program`] is a set of [`Thread`]s over one flat shared [`Memory`]. A thread is a control-flow automaton:
//! locations, and transitions that carry an [`Instruction`]. Values are 64-bit integers, and addresses are values.
//! [`Goal`]s define what must not happen. Everything that comes from a source text carries its [`Span`].
//!
//! This crate is data: builders, validation and names for users. It must never know the syntax of programs
//! (ravelin-frontend), their behaviour (ravelin-semantics, ravelin-machine) or the questions about them.
//!
//! ```
//! use ravelin_program::{Expr, Order, ProgramBuilder, Variable};
//!
//! // Store buffering, one half: x = 1; r = y.
//! let mut program = ProgramBuilder::new("half-sb");
//! let x = program.variable(Variable::scalar("x"));
//! let y = program.variable(Variable::scalar("y"));
//! let mut thread = program.thread("t");
//! let r = thread.register("r");
//! thread.store(x, Expr::Const(1), Order::Relaxed);
//! thread.load(r, y, Order::Relaxed);
//! thread.finish();
//! let program = program.finish().expect("a valid program");
//! assert_eq!(program.threads[0].transitions.len(), 2);
//! ```

mod access_order;
mod builder;
mod display;
mod domain;
mod expr;
mod fault;
mod goal;
mod hardware;
mod instance;
mod instruction;
mod memory;
mod model;
mod notation;
mod program;
mod repair;
mod span;
mod tell;
mod thread;
mod validate;
mod wait;

pub use access_order::{Lowering, OrderSlot};
pub use builder::{ProgramBuilder, ThreadBuilder};
pub use display::{Show, default_failure, show_domain, show_expr};
pub use domain::{Admission, Arithmetic, Domain, Escape};
pub use expr::{BinaryOp, Expr, UnaryOp};
pub use fault::Fault;
pub use goal::{Condition, Goal, GoalKind, Observable, Observation, is_count, is_total};
pub use hardware::HardwareProgram;
pub use instruction::{Access, Address, Instruction, Order, RmwOp};
pub use memory::{InitialValue, Memory, Unnamed, VarId, Variable};
pub use model::{Model, SeqCstReading, UnknownModel};
pub use notation::{Notation, ValueNames};
pub use program::Program;
pub use repair::{Change, FenceStrength, Site, ThreadTransition, repaired};
pub use span::{Position, Source, Span};
pub use thread::{Call, CallId, Copies, LocId, Location, RegId, Register, Thread, ThreadId, Transition, TransitionId};
pub use validate::{ValidationError, validate};
pub use wait::{WaitAtom, WaitCondition};

/// A value of a register or a memory cell; also an address.
pub type Value = i64;
