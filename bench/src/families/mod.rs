//! Families of programs that grow with the number of their threads, as texts in `.rav`: mutual exclusion from the
//! literature, double-checked locking and a seqlock. Those have no fences, and threads come back for ever unless a family says
//! otherwise, so each is what one writes with sequential consistency in mind.
//!
//! One file per family, each with a function `text`.

mod bakery;
mod burns;
mod chase_lev;
mod dijkstra;
mod double_checked_locking;
pub mod lamport;
mod mcs;
mod partial_dekker;
mod peterson;
mod philosophers;
mod rcu;
mod seqlock;
mod spinlock;
mod szymanski;
mod ticket;

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

    /// Locks, a deque and RCU, as they are written for C11.
    pub const LOCKS: [Family; 6] = [
        Family { name: "spinlock", text: spinlock::text, robust: true },
        Family { name: "ticket lock", text: ticket::text, robust: true },
        Family { name: "MCS lock", text: mcs::text, robust: true },
        Family { name: "philosophers", text: philosophers::text, robust: true },
        Family { name: "Chase-Lev", text: chase_lev::text, robust: true },
        Family { name: "RCU", text: rcu::text, robust: true },
    ];

    /// Its member with so many threads, with a fence behind every store.
    pub fn fenced(self, threads: usize) -> Result<Program> {
        let fenced = |line: &str| match line.contains(".store(") && line.ends_with(';') {
            true => format!("{line} fence(seq_cst);\n"),
            false => format!("{line}\n"),
        };
        let text = (self.text)(threads).lines().map(fenced).collect();
        sources::parse(&format!("{} with {threads} threads and fences", self.name), text)
    }

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
    use ravelin_analysis::c11::{C11Question, c11_robustness};
    use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
    use ravelin_program::Model;

    #[test]
    fn fences_behind_stores_make_every_family_robust() {
        for family in Family::ALL {
            let program = family.fenced(2).expect("a program");
            let answer = robustness(&program, &RobustnessQuestion::new(Model::Tso)).expect("an answer");
            assert_eq!(answer.verdict, Verdict::Holds, "{}", family.name);
        }
    }

    #[test]
    fn locks_are_robust_and_free_of_races() {
        for family in Family::LOCKS {
            for threads in [2, 3] {
                let program = family.program(threads).expect("a program");
                for model in [Model::Ra, Model::Rc20] {
                    let answer = c11_robustness(&program, &C11Question::new(model)).expect("an answer");
                    assert_eq!(answer.verdict, Verdict::Holds, "{} with {threads} threads, {model}", family.name);
                }
            }
        }
    }

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
