//! Can a goal be reached?

mod backward;
mod bounded;
pub mod certificate;
mod control;
pub mod dual;
pub mod finite;
mod lazy;
mod portfolio;
mod pso;
mod sb;

pub use backward::BackwardAnswer;
pub(crate) use bounded::assertions;
pub use bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
pub use dual::dual;
pub use finite::NotFinite;
pub use lazy::{Lazy, OpenCause, lazy};
pub use portfolio::{PortfolioAnswer, ReachEngine, ReachabilityEffort, answer};
pub use pso::pso;
pub use ravelin_backward::BackwardCounts;
pub use sb::sb;
