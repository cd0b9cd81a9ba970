//! How an answer looks beyond a terminal: pages ([`page`]), pictures ([`picture`]), words ([`explain`]) and SARIF ([`sarif`]), all made of
//! the types of ravelin-answer, by way of a [`story`]; and what the sanitizer found, in every form ([`sanitizer`]).
//!
//! This crate computes no answer and asks no question; it must never know how an answer was found.

pub mod explain;
pub mod page;
pub mod picture;
#[cfg(feature = "sanitizer")]
pub mod sanitizer;
pub mod sarif;
pub mod story;
