//! Release/acquire and RC20 as a machine with messages and views: which states a program reaches under C11.
//!
//! Every store leaves a *message*. The messages of a cell stand in modification order. A thread has a *view*: for each cell the newest
//! message that it must not read behind. A load picks any message that is not older than the view, a store any gap that is not, an RMW
//! stands right behind the message it reads. Messages carry views, so that an acquire learns what a release knew. A state is thus a prefix of
//! a consistent execution graph, closed under po ∪ rf: the axioms of `ravelin_semantics::rc20` never become false by leaving out an event
//! that nothing depends on, so every consistent graph is built in every order that respects po and rf.
//!
//! Origin: views and timestamps are those of *A Promising Semantics for Relaxed-Memory Concurrency* (Kang, Hur, Lahav, Vafeiadis, Dreyer,
//! POPL 2017) without promises; release sequences as in RC20 (Margalit and Lahav, POPL 2021). Seq_cst fences are decided by RC11's psc axiom on
//! a graph of the fences alone (`fences.rs`). Reachability under release/acquire is undecidable (Abdulla, Arora, Atig, Krishna, PLDI
//! 2019), so the number of messages of a cell is bounded, and an exploration says whether the bound was met.
//!
//! How the parts fit:
//!
//! - A state is the packed state of the [`Machine`](crate::Machine), whose cells contain the mo-latest values, and beside it
//!   the messages (`memory.rs`), packed to a fixed number of words (`pack.rs`). Goals and blocked threads are therefore judged by the machine
//!   as it is.
//! - `rules.rs` is what a load, a store, an RMW and a fence do to messages and views.
//! - `forget.rs` makes states canonical: messages that no thread can read and no store can precede are forgotten, positions are
//!   counted from the oldest message kept.
//! - `search.rs` is the [`System`](ravelin_explore::System). It takes a step for every message that can be read and every gap. Only reads of
//!   cells that others may still write are a choice between threads: all other steps commute with everything, and are taken first.
//! - `read_back.rs` turns a path into steps with the message each one reads, which the axioms then check.

mod fences;
mod forget;
mod future;
mod memory;
mod pack;
mod read_back;
mod rules;
mod run;
mod search;

pub use read_back::{MessageRun, MessageStep};
pub use run::{ExploredMessages, MOST_MESSAGES, MessageSettings, explore_messages};
