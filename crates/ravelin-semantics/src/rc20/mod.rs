//! RC20, release/acquire and sequential consistency as execution graphs: the reference for robustness and data races.
//!
//! Nothing here is optimised. Graphs are enumerated one by one and every axiom is evaluated on Boolean matrices, so a
//! program must be loop-free and small (about a dozen events).
//!
//! Where each notion is defined; *paper* is Margalit, Kokologiannakis, Itzhaky and Lahav, *Dynamic Robustness
//! Verification against Weak Memory*, PLDI 2025:
//!
//! | notion | function |
//! | --- | --- |
//! | events R, W, RMW (one event), F; initial writes (paper, section 2.1) | [`GraphEvent`], [`Label`] |
//! | po, rf, mo | [`Graph::po`], [`Graph::rf`], [`Graph::mo`] |
//! | fr = (rf⁻¹; mo) \ id | [`Relations::of`], field `fr` |
//! | eco = (rf ∪ mo ∪ fr)⁺ | field `eco` |
//! | rs = \[W ∪ RMW\]; (rf; \[RMW\])\* | field `rs` |
//! | sw, from a release write or a release fence before a write, through rs and rf, to an acquire read or to an acquire fence after a read | field `sw` |
//! | hb = (po ∪ sw)⁺ | field `hb` |
//! | coherence: hb; eco? irreflexive | [`coherent`] |
//! | atomicity: fr; mo irreflexive (paper, section 4.1) | [`atomic`] |
//! | no thin air: po ∪ rf acyclic | [`causal`] |
//! | psc acyclic, of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017) | [`psc_acyclic`] |
//! | consistent | [`rc20_consistent`] |
//! | SC-consistent: po ∪ rf ∪ mo ∪ fr acyclic (paper, definition 2.1) | [`sc_consistent`], and of the atomic events alone [`atomics_sc_consistent`] |
//! | race: conflicting accesses of two threads, one non-atomic, unordered by hb | [`races`] |
//! | the graphs that a program induces (paper, section 2.1) | [`enumerate`] |
//! | the graph of a run, and its extensions by one more step | [`GrowingGraph`] |
//! | robust: every consistent graph is SC-consistent (paper, section 2.2) | [`robust`] |
//!
//! An [`OrderReading`] determines how the written orders are interpreted. With [`OrderReading::Written`] and without seq_cst
//! accesses the model is RC20, with RC11's treatment of seq_cst fences. With seq_cst accesses it is RC11 except for
//! release sequences: a later relaxed store by the same thread does not continue one. [`OrderReading::ReleaseAcquire`] is
//! the release/acquire model of the paper's section 2.
//!
//! Blocking instructions (`wait`, `bcas`, `lock`) make no event for an attempt that fails (paper, section 4.3).
//! Non-atomic accesses are events with rf and mo edges like any other, but robustness considers only cycles of atomic
//! events.
//!
//! ```
//! use ravelin_program::{Expr, Order, ProgramBuilder, Variable};
//! use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, robust};
//!
//! // Store buffering: both threads may read 0 under release/acquire, so it is not robust.
//! let mut program = ProgramBuilder::new("sb");
//! let x = program.variable(Variable::scalar("x"));
//! let y = program.variable(Variable::scalar("y"));
//! for (name, mine, other) in [("p", x, y), ("q", y, x)] {
//!     let mut thread = program.thread(name);
//!     let r = thread.register("r");
//!     thread.store(mine, Expr::Const(1), Order::Release);
//!     thread.load(r, other, Order::Acquire);
//!     thread.finish();
//! }
//! let program = program.finish().expect("a valid program");
//! let all = enumerate(&program, OrderReading::Written, GraphLimits::default())?;
//! assert_eq!(all.executions.len(), 4);
//! assert!(!robust(&program, OrderReading::Written, GraphLimits::default())?.is_robust());
//! # Ok::<(), ravelin_semantics::rc20::EnumerationRefusal>(())
//! ```

mod consistency;
mod deadlock;
mod derived;
mod enumerate;
mod graph;
mod grow;
mod relation;
mod search;
mod thread;

pub use consistency::{
    atomic, atomics_sc_consistent, causal, coherent, psc_acyclic, races, rc20_consistent, sc_consistent,
};
pub use deadlock::deadlock;
pub use derived::{OrderReading, Relations};
pub use enumerate::{
    Enumeration, EnumerationRefusal, Execution, FinalState, GraphLimits, GraphRobustness, enumerate, robust,
    violated_goals,
};
pub use graph::{Graph, GraphEvent, Label};
pub use grow::{GraphStep, GrowingGraph, NoSuchStep};
pub use relation::Relation;
pub use thread::{GraphThread, ThreadFailure};
