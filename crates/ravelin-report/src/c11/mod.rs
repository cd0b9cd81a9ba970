//! Answers about robustness against release/acquire and RC20, and about data races.

pub mod json;
pub mod text;

use ravelin_analysis::c11::{C11Answer, SpinLoop};
use ravelin_program::Program;

/// An answer with what is needed to show it.
pub struct Shown<'a> {
    pub file: &'a str,
    /// The program that was asked about: with its waits, if loops were rewritten.
    pub program: &'a Program,
    pub answer: &'a C11Answer,
    /// Loops that only wait, and what each could become or has become.
    pub spins: &'a [SpinLoop],
    /// They have been rewritten.
    pub rewritten: bool,
}

impl Shown<'_> {
    /// Whether the stale access stands in a loop that only waits.
    fn spinning(&self) -> Option<&SpinLoop> {
        let witness = self.answer.witness()?;
        let position = witness.events[witness.access].position?;
        self.spins.iter().find(|spin| spin.position.is_some_and(|at| at.line == position.line))
    }
}
