//! Limits and workers from the command line, with defaults from the machine.
//!
//! A limit of 0 is obeyed, and a sentence says what it means.

use crate::arguments::{Resources, Search};
use ravelin::{Budget, Limits, Reductions, usual_memory, usual_workers};
use ravelin_output::complain;
use std::sync::Once;

/// One question is asked with several budgets, and the sentence is said once.
static SAID: Once = Once::new();

impl Resources {
    /// What a question may take, as far as the command line says.
    pub fn budget(&self) -> Budget<'static> {
        SAID.call_once(|| self.say_what_is_nothing());
        let memory = self.max_memory.or_else(usual_memory);
        let limits = Limits { states: self.max_states, memory, time: self.timeout, ..Limits::default() };
        Budget { limits, ..Budget::default() }.workers(self.workers())
    }

    pub fn workers(&self) -> usize {
        self.workers.unwrap_or_else(usual_workers)
    }

    fn say_what_is_nothing(&self) {
        let limits = [
            (self.timeout.is_some_and(|time| time.is_zero()), "--timeout 0 leaves no time to search"),
            (self.max_states == Some(0), "--max-states 0 lets no state be searched"),
            (self.max_memory == Some(0), "--max-memory 0 leaves no memory to search"),
        ];
        for (_, said) in limits.into_iter().filter(|(is_nothing, _)| *is_nothing) {
            complain!("warning: {said}: without this option there is no such limit");
        }
    }
}

impl Search {
    pub fn reductions(&self) -> Reductions {
        Reductions {
            fuse: !self.no_fuse,
            liveness: !self.no_liveness,
            partial_order: !self.no_partial_order,
            symmetry: !self.no_symmetry,
            ..Reductions::ALL
        }
    }
}
