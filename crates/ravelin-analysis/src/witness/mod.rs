//! Runs that show something: built from actions, replayed on the reference semantics, told step by step.

mod graph;
mod initial;
mod narrate;
mod replay;

pub use graph::RunGraph;
pub(crate) use graph::kind;
pub use initial::initial;
pub use narrate::narrate;
pub(crate) use replay::start_of;
pub use replay::{Computation, Witness, replay};
