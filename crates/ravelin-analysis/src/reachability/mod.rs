//! Can a goal be reached?

pub mod backward;
mod bounded;
pub mod certificate;
pub mod dual;
pub mod finite;
mod lazy;
mod portfolio;
mod pso;
mod sb;

pub use backward::Counts;
pub(crate) use bounded::assertions;
pub use bounded::{Question, Reachability, reach};
pub use dual::{Dual, dual};
pub use finite::NotFinite;
pub use lazy::{Lazy, Unsettled, lazy};
pub use portfolio::{Answer, Effort, Engine, answer};
pub use pso::pso;
pub use sb::{Sb, sb};
