//! The questions that can be asked of a program, and their answers.
//!
//! Every question has three answers ([`Verdict`]): it holds, it is violated and here is a run that shows it, or it is
//! unknown and here is the limit that was hit. A run is replayed on the reference semantics before anybody sees it; one that
//! does not replay is an [`InternalError`], never an answer.
//!
//! This crate computes answers and must never know what they look like on a screen (ravelin-report) or how the program
//! was written down (ravelin-frontend).

mod answer;
pub mod c11;
pub mod deadlocks;
pub mod fences;
mod implied;
pub mod parameterised;
pub mod reachability;
pub mod robustness;
pub mod simulation;
pub mod states;
pub mod stops;
pub mod witness;

pub use answer::{AnalysisError, InternalError};
pub use implied::implies;
pub use ravelin_answer::Verdict;
