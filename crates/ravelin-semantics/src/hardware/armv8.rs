//! ARMv8: a store is seen by all other threads at once, but a thread may do its accesses in nearly any order.

use super::{Barrier, LoadKind, MachineGraph, MachineOperation};

/// Whether the machine can produce the graph: *ordered before*, ob = obs ∪ dob ∪ aob ∪ bob, is acyclic, and each address
/// by itself is sequentially consistent.
pub fn allows(graph: &MachineGraph) -> bool {
    let MachineGraph { po, rf, amo, address_dependency, data_dependency, control_dependency, .. } = graph;
    let barrier = |kind| graph.on(move |event| event.operation == MachineOperation::Barrier(kind));
    let load =
        |kind| graph.on(move |event| matches!(event.operation, MachineOperation::Load { kind: k, .. } if k == kind));
    let loads = graph.on(|event| event.operation.is_load());
    let stores = graph.on(|event| event.operation.is_store());
    let releases = graph.on(|event| matches!(event.operation, MachineOperation::Store { release: true, .. }));
    let acquires = load(LoadKind::Acquire);
    let any_acquires = acquires.union(&load(LoadKind::AcquirePc));
    let rfi = graph.internal(rf);

    // Observed by another thread.
    let fr = graph.fr();
    let obs = graph.external(&rf.union(&graph.co).union(&fr));

    // Ordered by dependencies.
    let dob = address_dependency
        .union(data_dependency)
        .union(&control_dependency.then(&stores))
        .union(&address_dependency.then(po).then(&stores))
        .union(&address_dependency.union(data_dependency).then(&rfi));

    // Ordered by atomic instructions.
    let stored = graph.on(|event| event.locked && event.operation.is_store());
    let aob = amo.union(&stored.then(&rfi).then(&any_acquires));

    // Ordered by barriers, and by loads that acquire and stores that release.
    let bob = po
        .then(&barrier(Barrier::Full))
        .then(po)
        .union(&loads.then(po).then(&barrier(Barrier::Load)).then(po))
        .union(&stores.then(po).then(&barrier(Barrier::Store)).then(po).then(&stores))
        .union(&any_acquires.then(po))
        .union(&po.then(&releases))
        .union(&releases.then(po).then(&acquires))
        .union(&po.then(&acquires).then(amo).then(&releases).then(po));

    graph.is_coherent() && obs.union(&dob).union(&aob).union(&bob).is_acyclic()
}
