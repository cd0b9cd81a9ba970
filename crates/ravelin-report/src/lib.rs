//! How an answer looks: text for people ([`text`]), JSON for programs ([`json`]), herd's layout for scripts ([`herd`]);
//! both text and JSON for fences ([`fences`]), reachability ([`reachability`]) and robustness ([`robustness`]);
//! text and JSON for what the sanitizer found ([`sanitizer`]);
//! SARIF for both ([`sarif`]). Answers that were kept as JSON are read back as stories ([`story`]), drawn ([`picture`]) and told in words
//! ([`explain`]).
//!
//! This crate computes no answer and asks no question; it must never know how an answer was found.

pub mod c11;
pub mod explain;
pub mod fences;
pub mod herd;
pub mod json;
pub mod nets;
mod numbers;
pub mod page;
mod parameterised;
pub mod picture;
pub mod reachability;
pub mod robustness;
pub mod sanitizer;
pub mod sarif;
pub mod stops;
pub mod story;
pub mod table;
pub mod text;
