//! Which graphs a model allows, and which have a race.
//!
//! Every axiom is closed under prefixes: if it holds for a graph, it holds for the graph without an event that is (po ∪
//! rf)-last. No derived relation between the other events needs that event. fr and mo between two of them are
//! unchanged. A chain of rs, sw or hb that ends at one of them runs backwards through po and rf only. An RMW that reads
//! its immediate predecessor still does. A graph that fails an axiom may therefore be abandoned while it grows.

use super::{Graph, OrderReading, Relation, Relations};
use ravelin_program::Order;

/// The model allows the graph: [`coherent`], [`atomic`], [`causal`] and [`psc_acyclic`].
pub fn rc20_consistent(graph: &Graph, reading: OrderReading) -> bool {
    let relations = Relations::of(graph, reading);
    causal(&relations) && atomic(&relations) && coherent(&relations) && psc_acyclic(graph, &relations, reading)
}

/// hb; eco? is irreflexive.
pub fn coherent(relations: &Relations) -> bool {
    relations.hb.then(&relations.eco.optional()).is_irreflexive()
}

/// An RMW reads its immediate mo-predecessor: no write comes between (fr; mo is irreflexive), and it reads neither
/// itself nor a later write (rf; mo? is irreflexive).
pub fn atomic(relations: &Relations) -> bool {
    relations.fr.then(&relations.mo).is_irreflexive() && relations.rf.then(&relations.mo.optional()).is_irreflexive()
}

/// po ∪ rf is acyclic.
pub fn causal(relations: &Relations) -> bool {
    relations.po.union(&relations.rf).is_acyclic()
}

/// RC11's axiom for seq_cst accesses and fences: psc_base ∪ psc_F is acyclic.
pub fn psc_acyclic(graph: &Graph, relations: &Relations, reading: OrderReading) -> bool {
    let size = graph.len();
    let Relations { po, mo, fr, eco, hb, .. } = relations;
    let address = |event: usize| graph.events[event].label.address();
    let same_address = |a: usize, b: usize| address(a).is_some() && address(a) == address(b);
    let seq_cst = |event: usize| reading.order(&graph.events[event].label) == Order::SeqCst;
    // Both relations begin and end with such events.
    if !(0..size).any(seq_cst) {
        return true;
    }

    let events = Relation::on(size, seq_cst);
    let fences = Relation::on(size, |event| seq_cst(event) && graph.events[event].label.is_fence());
    let po_elsewhere = po.filter(|a, b| !same_address(a, b));
    let scb = po.union(&po_elsewhere.then(hb).then(&po_elsewhere)).union(&hb.filter(same_address)).union(mo).union(fr);
    let from = events.union(&fences.then(&hb.optional()));
    let to = events.union(&hb.optional().then(&fences));
    let psc_base = from.then(&scb).then(&to);
    let psc_fence = fences.then(&hb.union(&hb.then(eco).then(hb))).then(&fences);
    psc_base.union(&psc_fence).is_acyclic()
}

/// Some interleaving has this graph: po ∪ rf ∪ mo ∪ fr is acyclic.
pub fn sc_consistent(graph: &Graph) -> bool {
    sc_order(graph).is_acyclic()
}

/// The same without the non-atomic accesses, which are checked for races and not for robustness.
pub fn atomics_sc_consistent(graph: &Graph) -> bool {
    let counts = |event: usize| graph.events[event].is_initial() || graph.events[event].is_atomic();
    sc_order(graph).filter(|a, b| counts(a) && counts(b)).is_acyclic()
}

/// Pairs of accesses that race, each pair once with the smaller event first.
pub fn races(graph: &Graph, reading: OrderReading) -> Vec<(usize, usize)> {
    let hb = Relations::of(graph, reading).hb;
    let race = |a: usize, b: usize| {
        let (first, second) = (&graph.events[a], &graph.events[b]);
        let different_threads = !first.is_initial() && !second.is_initial() && first.thread != second.thread;
        let same_address = first.label.address().is_some() && first.label.address() == second.label.address();
        let conflict = same_address && (first.label.writes() || second.label.writes());
        let non_atomic = !first.is_atomic() || !second.is_atomic();
        different_threads && conflict && non_atomic && !hb.contains(a, b) && !hb.contains(b, a)
    };
    (0..graph.len()).flat_map(|a| (a + 1..graph.len()).map(move |b| (a, b))).filter(|&(a, b)| race(a, b)).collect()
}

fn sc_order(graph: &Graph) -> Relation {
    let (rf, mo) = (graph.rf(), graph.mo());
    let fr = rf.inverse().then(&mo).filter(|read, write| read != write);
    graph.po().union(&rf).union(&mo).union(&fr)
}
