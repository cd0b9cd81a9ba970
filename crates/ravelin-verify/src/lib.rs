//! Every schedule of a program that runs.
//!
//! A run is a list of events ([`ravelin_findings::events`]), one per step of a thread. [`Exploration`] chooses the runs:
//! one for each equivalence class of runs under reordering of events without conflict (Mazurkiewicz traces), by optimal
//! dynamic partial order reduction (Abdulla, Aronis, Jonsson, Sagonas, *Source sets*, JACM 2017). [`judge`] says whether
//! an access of a run could have read or been placed differently under C11 (RC20 with RC11's axiom for seq_cst).
//!
//! This crate starts no program. It knows no process, no address space and no memory model of a machine.

mod changes;
pub mod exploration;
pub mod judge;
mod run;

pub use changes::{ChangedRun, Changes, OrderChange};
pub use exploration::Exploration;
pub use run::{Choice, NoScript, RecordedRun, Script, StaleChoice};
