//! x86-TSO: a store may be delayed behind later loads of its thread, and nothing else.

use super::{Barrier, MachineGraph, MachineOperation};

/// Whether the machine can produce the graph: ghb = ppo ∪ rfe ∪ co ∪ fr is acyclic, where ppo is po without the pairs from
/// a store to a load that neither an `mfence` nor a locked instruction separates; and each address by itself is
/// sequentially consistent.
pub fn allows(graph: &MachineGraph) -> bool {
    let operation = |event: usize| graph.events[event].operation;
    let is_access = |event: usize| operation(event).address().is_some();
    let preserved =
        graph.po.filter(|a, b| is_access(a) && is_access(b) && !(operation(a).is_store() && operation(b).is_load()));
    let fences = graph.on(|event| event.locked || event.operation == MachineOperation::Barrier(Barrier::Full));
    let fenced = graph.po.then(&fences).union(&fences.then(&graph.po));
    let communication = graph.external(&graph.rf).union(&graph.co).union(&graph.fr());
    graph.is_coherent() && preserved.union(&fenced).union(&communication).is_acyclic()
}
