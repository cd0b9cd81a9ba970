//! Answers about robustness: whether a program is robust, which of its attacks are feasible, and triangular races.

pub mod json;
mod race;
pub mod text;
