//! How an answer looks: text for people ([`text`]), JSON for programs ([`json`]), herd's layout for scripts ([`herd`]).
//!
//! This crate computes no answer and asks no question; it must never know how an answer was found.

pub mod herd;
pub mod json;
mod numbers;
pub mod table;
pub mod text;
