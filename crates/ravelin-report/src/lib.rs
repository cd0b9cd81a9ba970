//! Views of answers beyond the terminal: pages ([`page`]), pictures ([`picture`]), words ([`explain`]) and SARIF
//! ([`sarif`]), all derived from the types of ravelin-answer; all but SARIF through a [`story`].
//!
//! This crate computes no answers; it must never know how an answer was found.

pub mod explain;
pub mod page;
pub mod picture;
pub mod sarif;
pub mod story;
