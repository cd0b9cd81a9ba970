//! Happens-before traces of runs: the independent reference for robustness.
//!
//! A trace is what remains of a run when the order of unrelated steps is forgotten (Appendix A of *Checking and
//! Enforcing Robustness against TSO*). Its nodes are the events. Its edges are the order in which a thread issued them
//! (po), which store a load read (rf, the paper's →src), in which order stores reached memory (co, →st) and which
//! stores overwrote what a load had read (fr, →cf).
//!
//! A computation is a run that ends with empty store buffers. By Lemma 1 (Shasha and Snir) some SC run has the same
//! trace exactly if there is no cycle. A program is therefore robust if no computation has a cycle.
//!
//! Everything that runs atomically is one event: a locked block, a read-modify-write, and all steps of a thread between
//! `bus_lock` and `bus_unlock`. A store is one event although it takes two actions, its issue and its flush.
//!
//! - [`Trace::of`] replays a run and records all of its events; [`Trace::cycle`] finds a shortest cycle.
//! - [`find_violation`] examines every computation of a program, which is feasible only for small loop-free programs.
//!
//! Nothing here is shared with an engine that decides robustness by attacks.
//!
//! ```
//! use ravelin_program::{Expr, Order, ProgramBuilder, Variable};
//! use ravelin_semantics::trace::{Trace, TraceEdge, find_violation};
//! use ravelin_program::Model;
//! use ravelin_semantics::operational::Reference;
//!
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
//! let reference = Reference::new(&program, Model::Tso, None).unwrap();
//! let violation = find_violation(&reference, 10_000).unwrap().expect("SB is not robust");
//! let trace = Trace::of(&reference, &violation.start, &violation.run).unwrap();
//! let kinds: Vec<TraceEdge> = trace.cycle().unwrap().iter().map(|step| step.edge).collect();
//! assert_eq!(kinds, [TraceEdge::Po, TraceEdge::Fr, TraceEdge::Po, TraceEdge::Fr]);
//! ```

mod build;
mod cycle;
mod enumerate;
mod past;
mod touch;

pub use cycle::{Arrow, CycleStep, TraceEdge};
pub use enumerate::{CyclicComputation, EnumerationLimit, find_violation};

use crate::operational::Refusal;
use ravelin_program::{ThreadId, TransitionId, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// The trace of one run. Events are numbered in the order in which they began, so those of a thread in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub events: Vec<TraceEvent>,
    /// For each thread its events, in program order.
    pub program_order: Vec<Vec<usize>>,
    /// For each address the events that stored to it, in the order in which they reached memory. An event that stored
    /// several times before any other did occurs once; pending stores do not occur.
    pub memory_order: BTreeMap<Value, Vec<usize>>,
    /// How many stores have not reached memory.
    pub pending: usize,
}

impl Trace {
    /// All store buffers are empty at the end.
    pub fn is_computation(&self) -> bool {
        self.pending == 0
    }
}

/// What one thread did in memory in one atomic step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    pub thread: ThreadId,
    /// The steps that make it up: one, or all steps between two instructions for the bus lock that access memory.
    pub steps: Vec<EventStep>,
    /// In the order in which they were made.
    pub accesses: Vec<EventAccess>,
}

/// A step of the run that belongs to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventStep {
    /// In [`crate::operational::Reference::program`].
    pub transition: TransitionId,
    /// Which action of the run it was.
    pub at: usize,
}

/// A load, a store, or a read-modify-write, which is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAccess {
    pub address: Value,
    pub read: Option<Read>,
    pub write: Option<Write>,
    /// Which of the event's [`TraceEvent::steps`] made it.
    pub step: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// The value of the cell, before the register's domain was applied.
    pub value: Value,
    pub source: ValueSource,
}

/// Where a value that was read came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// No thread had stored to the address.
    Initial,
    /// An event that stored it; the reading event itself if that is a block that stored before.
    Event(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub value: Value,
    /// Which action of the run brought it to memory: a flush, or the step itself; none while it is pending.
    pub reached: Option<usize>,
}

/// Why a list of actions has no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoTrace {
    #[error("the run starts with pending stores, and nothing is known of their issue")]
    PendingAtStart,
    #[error("action {at} is not possible: {refusal}")]
    NotARun { at: usize, refusal: Refusal },
}
