//! A thread without its local steps: the places where it stops, and the deeds that lead from one to the next.
//!
//! What a thread does by itself can be done right after what it did before, so it is never seen in between. A thread stops where it can
//! do something that others notice, or where somebody looks (a goal that counts copies there). Which of several stops it goes to, it
//! decides on arrival. Where a thread can do nothing more that matters it is not kept at all.

use crate::reachability::finite::{CellPair, EdgeEffect, LocalGraph, LocalState, LocalStateId};
use ravelin_explore::{Limit, Watch};
use rustc_hash::{FxHashMap, FxHashSet};

/// A thread as others see it.
pub(super) struct Quiet {
    /// The local states it stops in.
    pub stops: Vec<LocalStateId>,
    /// Where it may begin, with the local steps to there, as edges of the graph.
    pub starts: Vec<(usize, Vec<usize>)>,
    pub deeds: Vec<VisibleMove>,
    /// By stop: a thread can get there only by deeds that another one could repeat right after it.
    pub repeatable: Vec<bool>,
}

/// A step that is not local, and the local ones after it.
pub(super) struct VisibleMove {
    pub from: usize,
    /// `None` if the thread does nothing more.
    pub to: Option<usize>,
    pub effect: EdgeEffect,
    /// The edge of the graph.
    pub edge: usize,
    pub then: Vec<usize>,
}

impl Quiet {
    /// `is_local` says which effects nobody notices, `is_watched` where somebody looks.
    pub fn new(
        graph: &LocalGraph,
        is_local: fn(&EdgeEffect) -> bool,
        is_watched: &dyn Fn(&LocalState) -> bool,
        watch: &Watch,
    ) -> Result<Quiet, Limit> {
        let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); graph.states.len()];
        for (number, edge) in graph.edges.iter().enumerate() {
            outgoing[edge.from as usize].push(number);
        }
        let is_stop = |state: LocalStateId| {
            let acts = outgoing[state as usize].iter().any(|edge| !is_local(&graph.edges[*edge].effect));
            acts || is_watched(&graph.states[state as usize])
        };
        let stops: Vec<LocalStateId> =
            (0..graph.states.len() as LocalStateId).filter(|state| is_stop(*state)).collect();
        let numbers: FxHashMap<LocalStateId, usize> =
            stops.iter().enumerate().map(|(number, state)| (*state, number)).collect();
        // The stops that local steps lead to, and the shortest ways.
        let arrivals = |from: LocalStateId| {
            let mut seen = FxHashSet::from_iter([from]);
            let mut waiting = vec![(from, Vec::new())];
            let mut found = Vec::new();
            let mut next = 0;
            while next < waiting.len() {
                let (state, way) = waiting[next].clone();
                next += 1;
                for &edge in &outgoing[state as usize] {
                    let to = graph.edges[edge].to;
                    if is_local(&graph.edges[edge].effect) && seen.insert(to) {
                        let mut way: Vec<usize> = way.clone();
                        way.push(edge);
                        waiting.push((to, way));
                    }
                }
                if let Some(stop) = numbers.get(&state) {
                    found.push((*stop, way));
                }
            }
            found
        };
        let mut deeds = Vec::new();
        let mut known: FxHashMap<LocalStateId, Vec<(usize, Vec<usize>)>> = FxHashMap::default();
        for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| !is_local(&edge.effect)) {
            let arrivals = known.entry(edge.to).or_insert_with(|| arrivals(edge.to));
            let deed = |to: Option<usize>, then: &[usize]| {
                let from = numbers[&edge.from];
                VisibleMove { from, to, effect: edge.effect.clone(), edge: number, then: then.to_vec() }
            };
            if arrivals.is_empty() {
                deeds.push(deed(None, &[]));
            }
            for (stop, way) in arrivals.iter() {
                watch.hold(size_of::<VisibleMove>() + size_of_val(&**way) + 32)?;
                deeds.push(deed(Some(*stop), way));
            }
        }
        let repeatable = repeatable(stops.len(), &deeds);
        Ok(Quiet { starts: arrivals(graph.initial), stops, deeds, repeatable })
    }
}

/// The stops behind no deed that cannot be repeated.
fn repeatable(stops: usize, deeds: &[VisibleMove]) -> Vec<bool> {
    let mut repeatable = vec![true; stops];
    loop {
        let mut changed = false;
        for deed in deeds {
            let Some(to) = deed.to else { continue };
            if repeatable[to] && !(repeatable[deed.from] && can_repeat(&deed.effect)) {
                repeatable[to] = false;
                changed = true;
            }
        }
        if !changed {
            return repeatable;
        }
    }
}

/// Another thread in the same place could do the same right after, and memory would be the same.
pub(super) fn can_repeat(effect: &EdgeEffect) -> bool {
    let unchanged = |reads: &[CellPair], writes: &[CellPair]| {
        writes.iter().all(|(cell, value)| reads.iter().all(|(of, read)| of != cell || read == value))
    };
    match effect {
        EdgeEffect::Local | EdgeEffect::Load(_) | EdgeEffect::Store(_) | EdgeEffect::Fence => true,
        EdgeEffect::Atomic { reads, writes } => unchanged(reads, writes),
        EdgeEffect::BusLock | EdgeEffect::BusUnlock => false,
    }
}
