//! Families of programs that grow with the number of their threads, as texts in `.rav`: mutual exclusion from the
//! literature, double-checked locking and a seqlock. None has fences, and threads come back for ever unless a family says
//! otherwise, so each is what one writes with sequential consistency in mind.
//!
//! One file per family, each with a function `text`.

mod bakery;
mod burns;
mod dijkstra;
mod double_checked_locking;
pub mod lamport;
mod partial_dekker;
mod peterson;
mod seqlock;
mod szymanski;

use crate::sources;
use anyhow::Result;
use ravelin_program::Program;

/// A family: its name, and the program for so many threads.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub text: fn(usize) -> String,
    /// Whether it is robust against TSO, for any number of threads from 2 on.
    pub robust: bool,
}

impl Family {
    pub const ALL: [Family; 9] = [
        Family { name: "bakery", text: bakery::text, robust: false },
        Family { name: "Burns", text: burns::text, robust: false },
        Family { name: "Dijkstra", text: dijkstra::text, robust: false },
        Family { name: "double-checked locking", text: double_checked_locking::text, robust: true },
        Family { name: "Lamport", text: lamport::text, robust: false },
        Family { name: "partial Dekker", text: partial_dekker::text, robust: false },
        Family { name: "Peterson", text: peterson::text, robust: false },
        Family { name: "seqlock", text: seqlock::text, robust: true },
        Family { name: "Szymanski", text: szymanski::text, robust: false },
    ];

    /// Its member with so many threads.
    pub fn program(self, threads: usize) -> Result<Program> {
        sources::parse(&format!("{} with {threads} threads", self.name), (self.text)(threads))
    }
}

/// Terms for all threads but one, joined.
fn others(threads: usize, me: usize, joint: &str, term: impl Fn(usize) -> String) -> String {
    (0..threads).filter(|&other| other != me).map(term).collect::<Vec<_>>().join(joint)
}

/// One text per thread, from a template in which `$me` is its number.
fn each(threads: usize, text: impl Fn(usize) -> String) -> String {
    (0..threads).map(|me| text(me).replace("$me", &me.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_analysis::Verdict;
    use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
    use ravelin_program::Model;

    #[test]
    fn members_have_their_threads_and_the_verdict_that_is_claimed() {
        for family in Family::ALL {
            for threads in [2, 3] {
                let program = family.program(threads).expect("a program");
                assert_eq!(program.threads.len(), threads, "{}", family.name);
                let answer = robustness(&program, &RobustnessQuestion::new(Model::Tso)).expect("an answer");
                let expected = if family.robust { Verdict::Holds } else { Verdict::Violated };
                assert_eq!(answer.verdict, expected, "{} with {threads} threads", family.name);
            }
        }
    }
}
