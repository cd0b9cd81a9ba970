//! Runs that show something: built from actions, replayed on the reference semantics, told step by step.

mod graph;
mod initial;
mod narrate;
mod replay;

pub use graph::RunGraph;
pub(crate) use graph::kind;
pub use initial::initial;
pub use narrate::narrate;
pub(crate) use narrate::{accessed, cell_value, without_accesses};
pub use replay::{Computation, Witness, replay};
pub(crate) use replay::{describe, retell, start_of};
