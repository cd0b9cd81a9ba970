//! Views of answers beyond the terminal: pages ([`page`]), pictures ([`picture`]), words ([`explain`]) and SARIF
//! ([`sarif`]), all derived from the types of ravelin-answer through a [`story`]; and the sanitizer's findings in every
//! form ([`sanitizer`]).
//!
//! This crate computes no answers; it must never know how an answer was found.

pub mod explain;
pub mod page;
pub mod picture;
#[cfg(feature = "sanitizer")]
pub mod sanitizer;
pub mod sarif;
pub mod story;
