//! Attacks on robustness as views of the transition system (*Checking and Enforcing Robustness against TSO*, sections 4
//! and 5): which stores a thread delays, and how the other threads close a happens-before cycle around them.
//!
//! A witness is a computation τ1 · isu · τ2 · ld · τ3 · st · τ4. It is under SC up to the issue of the attacked store.
//! Then the attacker delays its stores until it has done the attacked load, and then helpers build a happens-before
//! path back to the store. None of this needs a store buffer. [`AttackFields`] defines what is kept beside an SC state,
//! `attacker` and `helper` how threads move.
//!
//! - `shared`: explores the SC space once for all attacks (`hunter` continues from its states, which `offers` gives it, in the
//!   orders of `frontier`, `clock` keeps the limits, `several` shares the hunters out over processes); the default.
//! - `instrumented`: the paper's program P_A, attack by attack or all in a single query (section 8.3 of the ESOP
//!   paper).
//! - `triangular`: triangular races, a cheaper condition about SC runs alone.
//!
//! Why helpers wait for the attacker's first access in `shared`: see there.

mod attacker;
mod clock;
mod footprint;
mod frontier;
mod helper;
mod hunter;
mod instrumented;
mod log;
mod offers;
mod read_back;
mod several;
mod shared;
mod successors;
mod triangular;
mod view;

pub use footprint::{AddressRange, Footprint, footprints};
pub use instrumented::{Query, query};
pub(crate) use log::AccessLog;
pub use read_back::{AttackRun, AttackStep, ReadBackError, WitnessPart};
pub use shared::{AttackResult, Extent, FIRST_SHARE, Hunt, HuntStatistics, hunt};
pub use triangular::{TriangularRace, TriangularSearch, triangular_races};

use crate::compile::{BuildError, Machine};
use crate::layout::Growth;
use crate::settings::{Purpose, Reductions, Settings};
use ravelin_explore::Watch;
use ravelin_program::{Model, Program, ThreadId, TransitionId};
use view::AttackFields;

/// A thread, its store, and the access that overtakes it. Transitions are those of the program after
/// [`ravelin_program::HardwareProgram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attack {
    pub thread: ThreadId,
    /// The store that is delayed.
    pub store: TransitionId,
    /// What overtakes it: a load, or under PSO another store.
    pub load: TransitionId,
}

/// A machine and what attacks add to its states.
pub(crate) struct Attacks<'a> {
    pub machine: &'a Machine,
    pub view: AttackFields,
}

/// A machine that runs under SC, without goals, with what attacks need.
///
/// Local steps are fused and dead registers forgotten: neither is visible to another thread or to an attack, and fences
/// are kept separate. Orders of steps and identities of threads are not reduced, because every SC state can be the
/// start of an attack (docs/robustness.md says what a reduction of orders would have to keep, and why it would save little).
pub(crate) fn machine(program: &Program, model: Model, growth: &Growth, watch: &Watch) -> Result<Machine, BuildError> {
    let mut program = program.clone();
    program.goals.clear();
    let reductions = Reductions { fuse: true, liveness: true, ..Reductions::NONE };
    let purpose = Purpose::Attacks(model);
    let settings = Settings { model: Model::Sc, buffer: 0, purpose, reductions, deadlocks: false };
    Machine::new(&program, settings, growth, watch)
}
