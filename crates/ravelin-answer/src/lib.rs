//! Ravelin's answers as plain data: verdicts, runs, graphs, sets of fences.
//!
//! There is one type per question, also for what the sanitizer found ([`sanitizer`]), and every output is a view of it: text, JSON, pages, pictures, SARIF. An answer is
//! self-contained: threads, cells and instructions are named as in the program. JSON is these types as serde writes and
//! reads them. With the feature `schema` they also generate the JSON schema in `docs/json-schema.json`.
//!
//! This crate is data. It computes nothing, and knows neither programs nor engines.
//!
//! ```
//! use ravelin_answer::{Answer, Document};
//!
//! let text = r#"{ "schema": "ravelin/2", "command": "reach", "answers": [
//!     { "kind": "none", "file": "sb.rav", "model": null, "verdict": "error", "message": "no such file" }] }"#;
//! let document = Document::read(text)?;
//! assert!(matches!(&document.answers[0], Answer::None(none) if none.message == "no such file"));
//! # Ok::<(), ravelin_answer::DocumentError>(())
//! ```

mod attack;
mod confirm;
mod cover;
mod document;
mod fence;
mod graph;
mod impact;
mod json;
mod machines;
mod measure;
mod place;
mod reach;
mod robust;
mod run;
pub mod sanitizer;
mod sound;
mod states;
pub mod text;
mod threads;
mod verdict;

pub use attack::{Attack, AttackWitness, CycleEvent, Fate, InfeasibilityReason, OvertakingAccess, WitnessPart};
pub use confirm::{
    AllowedBy, ConfirmOutcome, Confirmation, FencedTest, HardwareTest, OutcomeCount, TestCounts, TestMethod, TestPart,
    TestThread,
};
pub use cover::{CoverOutcome, Coverability, Firing};
pub use document::{
    Answer, Comparison, Diagnostic, Diagnostics, Document, DocumentError, NoAnswer, NoVerdict, OtherPlace, SCHEMA,
    Severity,
};
pub use fence::{
    ChangeKind, FenceChange, FenceEffort, FenceOutcome, FencePlaces, FencePurpose, FenceSet, Fences, FencesUnknown,
    NeededFence, PlaceCost, Trouble, TroubleKind, WantedSets,
};
pub use graph::{Edge, EdgeKind, Event};
pub use impact::{Grade, Impact};
pub use machines::Machines;
pub use measure::{Limit, Statistics};
pub use place::SourcePlace;
pub use reach::{ReachEffort, Reachability, RunWitness, Simulation};
pub use robust::{
    C11Race, C11Robustness, C11Witness, KeptLoop, Property, Remedy, RobustEffort, Robustness, SeqCstBasis, Strengthen,
    TriangularRace, TriangularRaces, WaitingLoop,
};
pub use run::{
    AccessStorage, BufferEntry, CellValue, InitialState, InitialThread, RegisterValue, RunStep, RunStepKind,
    StepAccess, StepCall,
};
pub use sanitizer::{FixTrial, SanitizerReport};
pub use states::{EndRun, EndState, EndThread, FinalCondition, FinalStates, Quantifier};
pub use threads::{AnyNumber, CopyCount, Instance, NetSearch};
pub use verdict::{DeadlockVerdict, Deadlocks, StopPlace, Stops, Verdict, Violation, WaitingThread};
