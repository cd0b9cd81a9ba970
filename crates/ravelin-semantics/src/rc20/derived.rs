//! The derived relations of a graph, and which orders they are computed from.

use super::{Graph, Label, Relation};
use ravelin_program::Order;

/// How the written memory orders are interpreted. Non-atomic accesses and fences are always taken as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderReading {
    /// Every order as written: RC20, and RC11's psc axiom for seq_cst fences and accesses.
    Written,
    /// Atomic loads acquire, stores release, and RMWs do both, whatever is written.
    ReleaseAcquire,
    /// As written, but a seq_cst access is only a release/acquire one.
    SeqCstAsReleaseAcquire,
}

impl OrderReading {
    /// The effective order of a label.
    pub fn order(self, label: &Label) -> Order {
        let written = label.order();
        let weakened = match self {
            OrderReading::Written => false,
            OrderReading::ReleaseAcquire => written != Order::NonAtomic,
            OrderReading::SeqCstAsReleaseAcquire => written == Order::SeqCst,
        };
        match label {
            _ if !weakened => written,
            Label::Fence { .. } => written,
            Label::Read { .. } => Order::Acquire,
            Label::Write { .. } => Order::Release,
            Label::Rmw { .. } => Order::AcqRel,
        }
    }
}

/// All relations of the axioms, computed once for a graph.
#[derive(Clone, Debug)]
pub struct Relations {
    pub po: Relation,
    pub rf: Relation,
    pub mo: Relation,
    /// From a read to every write that is mo-after the one it reads.
    pub fr: Relation,
    /// Extended coherence order.
    pub eco: Relation,
    /// Release sequences: from a write to itself and to the RMWs that read it in a chain.
    pub rs: Relation,
    /// Synchronises-with.
    pub sw: Relation,
    /// Happens-before.
    pub hb: Relation,
}

impl Relations {
    pub fn of(graph: &Graph, reading: OrderReading) -> Relations {
        let size = graph.len();
        let label = |event: usize| &graph.events[event].label;
        let order = |event: usize| reading.order(label(event));
        let atomic = |event: usize| graph.events[event].is_atomic();

        let (po, rf, mo) = (graph.po(), graph.rf(), graph.mo());
        let fr = rf.inverse().then(&mo).filter(|read, write| read != write);
        let eco = rf.union(&mo).union(&fr).closure();

        let writes = Relation::on(size, |event| label(event).writes());
        let rmws = Relation::on(size, |event| label(event).is_rmw());
        let rs = writes.then(&rf.then(&rmws).star());

        // A fence applies its order to the atomic writes after it, or to the atomic reads before it.
        let releases = Relation::on(size, |event| order(event).is_release());
        let acquires = Relation::on(size, |event| order(event).is_acquire());
        let fences = Relation::on(size, |event| label(event).is_fence());
        let atomic_writes = Relation::on(size, |event| label(event).writes() && atomic(event));
        let atomic_reads = Relation::on(size, |event| label(event).reads() && atomic(event));
        let release_side = releases.then(&fences.then(&po).optional()).then(&atomic_writes);
        let acquire_side = atomic_reads.then(&po.then(&fences).optional()).then(&acquires);
        let sw = release_side.then(&rs).then(&rf).then(&acquire_side);

        let hb = po.union(&sw).closure();
        Relations { po, rf, mo, fr, eco, rs, sw, hb }
    }
}
