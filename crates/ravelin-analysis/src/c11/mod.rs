//! Robustness against the C11-style models: release/acquire, and RC20.
//!
//! From *Dynamic Robustness Verification against Weak Memory* (Margalit, Kokologiannakis, Itzhaky, Lahav; PLDI 2025): a program is
//! robust if each of its execution graphs that the model allows is one of SC. The search runs the program under SC with a monitor
//! beside it (`ravelin_machine::monitor`); what it finds becomes a graph that the axioms of `ravelin_semantics::rc20` judge.
//!
//! Reading order: `question` (what can be asked), `witness` (how an answer is made good), `graph` (edges and cycles of a graph),
//! `sentence` (in words); `seq_cst` and `sc_graphs` (programs with seq_cst accesses); `observational` (stale values that are not used); then `spin` (loops that wait, rewritten to instructions that wait); then `reach` and `replay` (can a goal be violated?);
//! then the repair of a program that is not robust, or not safe: `repair` (the question and the loop), `offers` (what can be done),
//! `violating_run` (what is learned from a violation).
//!
//! ```
//! use ravelin_analysis::Verdict;
//! use ravelin_analysis::c11::{C11Question, c11_robustness};
//! use ravelin_program::Model;
//!
//! let text = "
//!     static x; static y;
//!     thread p { x.store(1, release); let a = y.load(acquire); }
//!     thread q { y.store(1, release); let b = x.load(acquire); }";
//! let source = ravelin_program::Source::new("sb.rav", text);
//! let program = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav).program.expect("a program");
//! let answer = c11_robustness(&program, &C11Question::new(Model::Rc20)).expect("an answer");
//! assert_eq!(answer.verdict, Verdict::Violated);
//! ```

mod graph;
mod machines;
mod observational;
mod offers;
mod question;
mod reach;
mod remedy;
mod repair;
mod replay;
mod sc_graphs;
mod sentence;
mod seq_cst;
mod spin;
mod violating_run;
mod witness;

pub use graph::edges;
pub use observational::{ObservationalAnswer, ObservationalObstacle, ObstacleReason, observational};
pub use offers::{C11Weights, c11_offers, order_sites};
pub use question::{C11Answer, C11Question, C11Violation, c11_robustness};
pub(crate) use question::{has_accesses, has_seq_cst_accesses, refused};
pub use ravelin_machine::monitor::MonitorRefusal;
pub use reach::c11_reach;
pub(crate) use reach::{FEW_GRAPHS, explore_growing};
pub use remedy::{C11Remedy, remedy};
pub use repair::{StrengthenAnswer, StrengthenPurpose, StrengthenQuestion, strengthen, strengthen_without};
pub use replay::ReplayedRun;
pub use spin::{SpinLoop, SpinObstacle, SpinOutcome, SpinRewrite, sites_with_waits, with_exact_waits, with_waits};
pub use witness::{C11Race, C11Witness};
