//! Runs that show something: built from actions, replayed on the reference semantics, told step by step.

mod beginning;
mod graph;
mod narrate;
mod replay;

pub use beginning::{Beginning, ThreadBeginning, beginning};
pub use graph::{RunEdge, RunEvent, RunGraph};
pub use narrate::{BufferEntry, CellValue, Narrated, RegisterValue, Source, narrate};
pub(crate) use replay::start_of;
pub use replay::{Computation, Witness, WitnessViolation, replay};
