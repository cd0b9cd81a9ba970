//! Does weak memory change what my program does?
//!
//! Ravelin answers questions about concurrent programs under sequential consistency (sc), x86-TSO (tso), PSO (pso),
//! release/acquire (ra) and RC20 (rc20, a model of C11). Each question is a function that takes a program and returns a
//! builder.
//!
//! | question | function |
//! | --- | --- |
//! | Does weak memory leave all executions as they are? | [`check`] |
//! | Can a forbidden state be reached, an assertion fail? | [`reach`] |
//! | Which fences are the cheapest that help? | [`fence`] |
//! | In which states can the program end? | [`states`] |
//! | What does some run look like? | [`simulate`] |
//! | Can a marking of a Petri net be covered? | [`cover`] |
//! | What does the program look like in another language? | [`convert`] |
//!
//! Every builder takes a [`Budget`], and every answer is an [`Answer`]: it prints itself, and serde writes and reads
//! it.
//!
//! ```
//! use ravelin::{Budget, Model, Program};
//!
//! let text = "static x; static y;
//!     thread p { x.store(1); let a = y.load(); }
//!     thread q { y.store(1); let b = x.load(); }";
//! let program = Program::parse("sb.rav", text)?;
//! let answer = ravelin::check(&program).model(Model::Tso).budget(Budget::seconds(10)).run()?;
//! assert!(!answer.is_robust());
//! println!("{answer}");
//! # Ok::<(), ravelin::Error>(())
//! ```
//!
//! In tests, [`assert_robust!`] panics with the witness:
//!
//! ```no_run
//! ravelin::assert_robust!("models/queue.rav", tso, rc20);
//! ```

//!
//! # Features
//!
//! Dependencies for tests need none of them.
//!
//! - `html`: answers as pages, pictures and words ([`html`]).
//! - `sarif`: answers as SARIF ([`sarif`]).
//! - `cluster`: searches by several processes ([`cluster`]).
//! - `serve`: the web page of `ravelin serve` ([`serve`]).

#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answers;
mod certificate;
mod check;
mod clang;
pub mod confirm;
mod convert;
mod cover;
mod deadlocks;
mod error;
mod expect;
mod fence;
mod impact;
mod macros;
mod program;
mod reach;
mod resume;
mod setters;
mod shared;
mod simulate;
mod states;
mod stops;
mod units;

pub use certificate::Certificate;
pub use check::{Check, check};
pub use clang::CompileError;
pub use convert::{TargetLanguage, convert};
pub use cover::{Cover, Net, cover};
pub use error::Error;
pub use expect::{Command, ComparisonOptions, ComparisonSummary, Comparisons, ExpectationTable, FileComparison};
pub use fence::{Fence, fence, read_cost, read_placement, unified_diff};
pub use macros::__assert_robust;
pub use program::{ParseError, Program, ReadOptions, diagnostics};
pub use ravelin_analysis::fences::{CostBy, Placement, Sets};
pub use ravelin_analysis::reachability::ReachEngine;
pub use ravelin_analysis::robustness::RobustnessEngine;
/// Answers for viewing: pages, pictures and words.
///
/// ```
/// let program = ravelin::Program::parse("half.rav", "static x; thread p { x.store(1); }")?;
/// let document = ravelin::Document::new("check", vec![ravelin::check(&program).run()?]);
/// let stories = ravelin::html::stories(&document).expect("an answer of `check`");
/// let page = ravelin::html::page(&stories, &[(program.name().to_owned(), program.text().to_owned())]);
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// # Ok::<(), ravelin::Error>(())
/// ```
#[cfg(feature = "html")]
pub mod html {
    pub use ravelin_report::explain::explain;
    pub use ravelin_report::page::page;
    pub use ravelin_report::picture::svg;
    pub use ravelin_report::story::{StoryError, stories};
}

/// Answers as SARIF 2.1.0.
#[cfg(feature = "sarif")]
pub mod sarif {
    pub use ravelin_report::sarif::report;
}

#[cfg(feature = "cluster")]
pub use ravelin_cluster as cluster;
#[cfg(feature = "serve")]
pub use ravelin_serve as serve;

pub use ravelin_answer as answer;
pub use ravelin_answer::{Answer, Document, Verdict};
pub use ravelin_explore::{Budget, Checkpoints, Limit, Limits, Peers, Progress, Storage};
pub use ravelin_frontend::Language;
pub use ravelin_frontend::c::LiftOptions;
pub use ravelin_frontend::sites::RepairKind;
pub use ravelin_machine::Reductions;
pub use ravelin_program::{Model, SeqCstReading, UnknownModel};
pub use reach::{Reach, reach};
pub use resume::{SearchRecord, fingerprint};
pub use shared::SharedAnswers;
pub use simulate::{Simulate, Walk, simulate};
pub use states::{States, states};
pub use units::{parse_size, parse_time, usual_memory, usual_workers};
