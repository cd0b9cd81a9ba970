//! Programs compiled for speed: the fast counterpart of the reference semantics.
//!
//! A [`Machine`] lays out the state of a program as packed words and compiles its expressions and steps to run on them.
//! It fuses local steps, reduces the order of independent ones, and is explored by ravelin-explore. It answers no
//! questions by itself: ravelin-analysis uses it, and ravelin-semantics checks every resulting run.
//!
//! Reading order: [`layout`](mod@layout) (how a state is packed), [`code`](mod@code) (expressions), `compile` and
//! `step` (instructions), `expand` (successors of a state), `moves` (the same by table), `deadlock`, then the reductions: `fuse` and `chain`, `liveness`,
//! `persistent`, `symmetry`. Beside the state: [`attack`] (delayed stores, for TSO and PSO) and [`monitor`] (what each
//! thread knows, for C11). Instead of memory: [`messages`] (all that C11 permits).
//!
//! What it must never know: where a program came from, and what an answer looks like.

mod access;
pub mod attack;
mod chain;
mod code;
mod compile;
mod deadlock;
mod endless;
mod expand;
mod fuse;
mod growing;
mod layout;
mod liveness;
pub mod messages;
pub mod monitor;
mod moves;
mod observe;
mod persistent;
mod possible;
mod ranges;
mod run;
mod settings;
mod step;
mod stops;
mod symmetry;

pub use compile::{BuildError, Machine};
pub use deadlock::may_wait;
pub use endless::{Endless, endless};
pub use layout::{Growth, Overflow};
pub use possible::{PossibleValues, values_of};
pub use run::{ExploredProgram, ProgramEnd, Run, RunError, UnpackedState, UnreadablePath, Violation, run};
pub use settings::{Purpose, Reductions, Settings};
pub use stops::may_stop;
