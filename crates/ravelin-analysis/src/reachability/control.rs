//! Where all threads are: the files of the antichain by control, for semantics in which a constraint says where each thread is.
//!
//! A thread of which a goal says nothing is in a set of local states, and such a constraint covers others whose thread is in a
//! member. Which threads are in which sets is a constraint's *shape*. Constraints of one shape cover each other only if their controls
//! are equal, so these make a file; there are few shapes, and each is asked.

use super::dual::part::{Control, ThreadParts};
use super::finite::{CellId, Finite, LocalStateId};
use ravelin_backward::FileId;
use ravelin_explore::{Limit, Watch};
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// What an index needs to know of controls.
pub trait ControlSets {
    /// The control stands for a set of local states.
    fn is_set(&self, thread: usize, control: Control) -> bool;
    fn control_covers(&self, thread: usize, small: Control, large: Control) -> bool;
}

impl ControlSets for [ThreadParts] {
    fn is_set(&self, thread: usize, control: Control) -> bool {
        self[thread].set_of(control).is_some()
    }

    fn control_covers(&self, thread: usize, small: Control, large: Control) -> bool {
        self[thread].control_covers(small, large)
    }
}

/// The shapes that were seen so far: by thread, the set it is in, if it is in one.
#[derive(Default)]
pub struct ControlIndex(Vec<Box<[Option<Control>]>>);

impl ControlIndex {
    /// The file of the constraints with these controls, by thread.
    pub fn file<S: ControlSets + ?Sized>(
        &mut self,
        sets: &S,
        threads: usize,
        control: impl Fn(usize) -> Control,
    ) -> FileId {
        let set = |thread: usize| Some(control(thread)).filter(|control| sets.is_set(thread, *control));
        let is_same = |known: &[Option<Control>]| (0..threads).all(|thread| known[thread] == set(thread));
        if !self.0.iter().any(|known| is_same(known)) {
            self.0.push((0..threads).map(set).collect());
        }
        let mut file = FxHasher::default();
        for thread in 0..threads {
            file.write_u32(control(thread));
        }
        file.finish()
    }

    /// Asks of the files of all controls that cover these, until the answer is yes.
    pub fn in_smaller_files<S: ControlSets + ?Sized>(
        &self,
        sets: &S,
        control: impl Fn(usize) -> Control,
        mut covers: impl FnMut(FileId) -> bool,
    ) -> bool {
        'shapes: for shape in &self.0 {
            let mut file = FxHasher::default();
            for (thread, set) in shape.iter().enumerate() {
                let control = control(thread);
                let fits = match set {
                    Some(set) => sets.control_covers(thread, *set, control),
                    None => !sets.is_set(thread, control),
                };
                if !fits {
                    continue 'shapes;
                }
                file.write_u32(set.unwrap_or(control));
            }
            if covers(file.finish()) {
                return true;
            }
        }
        false
    }
}

/// The threads of a program with what the single-buffer and PSO semantics ask of them.
pub struct Controls {
    pub threads: Vec<ThreadParts>,
    index: ControlIndex,
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
        Ok(Controls { threads, index: ControlIndex::default(), may_pend, cells })
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

    pub fn file(&mut self, controls: &[Control]) -> FileId {
        self.index.file(self.threads.as_slice(), controls.len(), |thread| controls[thread])
    }

    pub fn in_smaller_files(&self, controls: &[Control], covers: impl FnMut(FileId) -> bool) -> bool {
        self.index.in_smaller_files(self.threads.as_slice(), |thread| controls[thread], covers)
    }
}
