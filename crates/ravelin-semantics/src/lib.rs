//! The judge: what programs do, written straight from the papers' rules, slow and obviously right.

mod action;
pub mod generate;
pub mod operational;
pub mod rc20;

pub use action::{Action, Model};
