//! Where all threads are: the index of the antichain by control, for semantics that keep it beside their words.
//!
//! A thread of which a goal says nothing is in a set of local states, and such a constraint covers others whose thread is in a
//! member. Which threads are in which sets is a constraint's *shape*.

use crate::reachability::dual::part::{Control, ThreadParts};
use crate::reachability::finite::{CellId, Finite, LocalStateId};
use ravelin_explore::{Limit, Watch};
use rustc_hash::FxHasher;
use std::hash::Hasher;

pub struct Controls {
    pub threads: Vec<ThreadParts>,
    /// By thread, the set it is in, if it is in one.
    shapes: Vec<Box<[Option<Control>]>>,
    /// By thread, cell by cell, and local state: a store of the thread to the cell may be pending.
    may_pend: Vec<Vec<bool>>,
    cells: usize,
}

impl Controls {
    pub fn new(finite: &Finite, threads: Vec<ThreadParts>, watch: &Watch) -> Result<Controls, Limit> {
        let cells = finite.cells.len();
        let mut may_pend = Vec::new();
        for (thread, graph) in threads.iter().zip(&finite.threads) {
            watch.hold(graph.states.len() * cells)?;
            let mut pends = vec![false; graph.states.len() * cells];
            for state in 0..graph.states.len() {
                watch.step()?;
                for (cell, _) in thread.own(state as LocalStateId) {
                    pends[state * cells + usize::from(*cell)] = true;
                }
            }
            may_pend.push(pends);
        }
        Ok(Controls { threads, shapes: Vec::new(), may_pend, cells })
    }

    /// Some store of the thread to the cell may be pending when it is in this state.
    pub fn may_pend(&self, thread: usize, control: Control, cell: CellId) -> bool {
        let at = control as usize * self.cells + cell as usize;
        // Nothing is known of a thread in a set of states.
        self.may_pend[thread].get(at).copied().unwrap_or(true)
    }

    /// Who of these holds the bus lock.
    pub fn holder(&self, controls: &[Control]) -> Option<usize> {
        (0..controls.len()).find(|thread| self.threads[*thread].holds_bus(controls[*thread]))
    }

    pub fn cover(&self, small: &[Control], large: &[Control]) -> bool {
        self.threads
            .iter()
            .zip(small.iter().zip(large))
            .all(|(thread, (one, other))| thread.control_covers(*one, *other))
    }

    pub fn key(&self, controls: impl Iterator<Item = Control>) -> u64 {
        let mut hasher = FxHasher::default();
        controls.for_each(|control| hasher.write_u32(control));
        hasher.finish()
    }

    pub fn shape(&mut self, controls: &[Control]) -> u32 {
        let set = |(thread, control): (&ThreadParts, &Control)| thread.set_of(*control).map(|_| *control);
        let shape: Box<[Option<Control>]> = self.threads.iter().zip(controls).map(set).collect();
        let known = self.shapes.iter().position(|known| *known == shape);
        known.unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        }) as u32
    }

    pub fn key_in_shape(&self, controls: &[Control], shape: u32) -> Option<u64> {
        let shape = &self.shapes[shape as usize];
        let fits = |((thread, control), set): ((&ThreadParts, &Control), &Option<Control>)| match set {
            Some(set) => thread.control_covers(*set, *control),
            None => thread.set_of(*control).is_none(),
        };
        if !self.threads.iter().zip(controls).zip(shape).all(fits) {
            return None;
        }
        Some(self.key(shape.iter().zip(controls).map(|(set, control)| set.unwrap_or(*control))))
    }
}
