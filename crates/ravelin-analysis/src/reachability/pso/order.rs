//! What may be pending where a thread is, and where its stores are ordered among themselves: rough forward analyses that keep
//! buffers as sets (appendix B).
//!
//! A store-store fence is a release fence, and what stands before a release store or an unlocking. One before which nothing can be
//! pending orders nothing and is no fence here. After one a thread may be *late*: it is at the time when its earlier stores have
//! reached memory, while its loads may be of an earlier time.

use crate::reachability::finite::{CellId, CellPair, ControlPoint, EdgeEffect, Finite};
use ravelin_explore::{Limit, Watch};
use ravelin_program::Instruction;

/// What is known of one thread beforehand.
#[derive(Default)]
pub struct StoreOrder {
    /// By local state, sorted: the stores that may be pending there.
    pending: Vec<Vec<CellPair>>,
    /// By edge: a store-store fence comes first, and something may be pending then.
    pub fences: Vec<bool>,
    /// By local state: such a fence may have been passed since the thread last had to wait for empty buffers.
    late: Vec<bool>,
}

impl StoreOrder {
    /// If `ordered` is `false`, store-store fences are ignored.
    pub fn new(finite: &Finite, thread: usize, ordered: bool, watch: &Watch) -> Result<StoreOrder, Limit> {
        let graph = &finite.threads[thread];
        watch.hold(graph.edges.len() + graph.states.len() * (1 + size_of::<Vec<CellPair>>()))?;
        let code = &finite.program.threads[thread];
        let orders = |edge: &crate::reachability::finite::LocalEdge| {
            let written = match &code.transitions[edge.transition.0].instruction {
                Instruction::Store { order, .. } | Instruction::Fence(order) => order.is_release(),
                Instruction::Unlock(_) => true,
                _ => false,
            };
            // A store that faults orders nothing.
            let goes = matches!(graph.states[edge.to as usize].place, ControlPoint::At(_));
            ordered && written && goes && edge.effect != EdgeEffect::Fence
        };
        let mut fences: Vec<bool> = graph.edges.iter().map(orders).collect();
        let pending = pending_stores(finite, thread, &fences, watch)?;
        for (fence, edge) in fences.iter_mut().zip(&graph.edges) {
            *fence &= !pending[edge.from as usize].is_empty();
        }
        let late = late_states(finite, thread, &fences, watch)?;
        Ok(StoreOrder { pending, fences, late })
    }

    pub fn has_fences(&self) -> bool {
        self.fences.contains(&true)
    }

    /// This store may be pending in this state. Nothing is known of a thread in a set of states.
    pub fn may_pend(&self, control: u32, pair: CellPair) -> bool {
        self.pending.get(control as usize).is_none_or(|pending| pending.binary_search(&pair).is_ok())
    }

    /// Some store to the cell may.
    pub fn may_pend_for(&self, control: u32, cell: CellId) -> bool {
        let at = |pending: &Vec<CellPair>| pending.partition_point(|pair| pair.0 < cell);
        self.pending
            .get(control as usize)
            .is_none_or(|pending| pending.get(at(pending)).is_some_and(|pair| pair.0 == cell))
    }

    pub fn may_be_late(&self, control: u32) -> bool {
        self.late.get(control as usize).copied().unwrap_or_else(|| self.has_fences())
    }
}

/// For each local state, sorted, the stores that may be pending there.
fn pending_stores(finite: &Finite, thread: usize, fences: &[bool], watch: &Watch) -> Result<Vec<Vec<CellPair>>, Limit> {
    let graph = &finite.threads[thread];
    let mut pending: Vec<Vec<CellPair>> = vec![Vec::new(); graph.states.len()];
    loop {
        let mut changed = false;
        for (edge, fence) in graph.edges.iter().zip(fences) {
            watch.steps(1 + pending[edge.from as usize].len() / 16)?;
            let mut after = match &edge.effect {
                EdgeEffect::Local | EdgeEffect::Load(_) | EdgeEffect::Store(_) if !fence => {
                    pending[edge.from as usize].clone()
                }
                _ => Vec::new(),
            };
            if let EdgeEffect::Store(pair) = &edge.effect {
                after.push(*pair);
            }
            for pair in after {
                if let Err(at) = pending[edge.to as usize].binary_search(&pair) {
                    watch.hold(2 * size_of::<CellPair>())?;
                    pending[edge.to as usize].insert(at, pair);
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(pending);
        }
    }
}

fn late_states(finite: &Finite, thread: usize, fences: &[bool], watch: &Watch) -> Result<Vec<bool>, Limit> {
    let graph = &finite.threads[thread];
    let mut late = vec![false; graph.states.len()];
    loop {
        let mut changed = false;
        for (edge, fence) in graph.edges.iter().zip(fences) {
            watch.step()?;
            let keeps = matches!(edge.effect, EdgeEffect::Local | EdgeEffect::Load(_) | EdgeEffect::Store(_));
            if !late[edge.to as usize] && (*fence || keeps && late[edge.from as usize]) {
                late[edge.to as usize] = true;
                changed = true;
            }
        }
        if !changed {
            return Ok(late);
        }
    }
}
