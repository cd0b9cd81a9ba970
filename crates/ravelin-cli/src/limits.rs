//! Limits and workers from the command line, with defaults from the machine.

use crate::arguments::{Resources, Search};
use ravelin::{Budget, Limits, Reductions, usual_memory, usual_workers};

impl Resources {
    /// What a question may take, as far as the command line says.
    pub fn budget(&self) -> Budget<'static> {
        let memory = self.max_memory.or_else(usual_memory);
        let limits = Limits { states: self.max_states, memory, time: self.timeout, ..Limits::default() };
        Budget { limits, ..Budget::default() }.workers(self.workers())
    }

    pub fn workers(&self) -> usize {
        self.workers.unwrap_or_else(usual_workers).max(1)
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
