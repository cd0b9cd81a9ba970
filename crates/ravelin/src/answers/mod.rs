//! Converts results of analyses to answers, with the names of the program.

mod c11;
mod cover;
mod fence;
mod reach;
mod robust;
mod states;
mod stops;
mod threads;

pub(crate) use c11::c11_robustness;
pub(crate) use cover::coverability;
pub(crate) use fence::{RepairResult, fences, places};
pub(crate) use reach::{reachability, witness};
pub(crate) use robust::{robustness, triangular_races};
pub(crate) use states::final_states;
pub(crate) use stops::stops;
