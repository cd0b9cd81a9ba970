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

pub use backward::BackwardCounts;
pub(crate) use bounded::assertions;
pub use bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
pub use dual::{Dual, dual};
pub use finite::NotFinite;
pub use lazy::{Lazy, OpenCause, lazy};
pub use portfolio::{PortfolioAnswer, ReachEngine, ReachabilityEffort, answer};
pub use pso::pso;
pub use sb::{Sb, sb};
