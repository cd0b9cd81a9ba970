//! From the events of a C11 graph to those of machine instructions.

use crate::rc20::{Graph, Label, OrderReading, Relation};
use ravelin_program::{Order, ThreadId, Value};

/// The events of instructions, and the relations of the axioms.
#[derive(Clone, Debug)]
pub struct MachineGraph {
    pub events: Vec<MachineEvent>,
    /// Program order, also from the initial writes.
    pub po: Relation,
    pub rf: Relation,
    /// Coherence: the order of the writes to each address.
    pub co: Relation,
    /// From the load of an atomic instruction to its store.
    pub amo: Relation,
    /// From a load to accesses whose address depends on what it read.
    pub address_dependency: Relation,
    /// From a load to stores whose value does.
    pub data_dependency: Relation,
    /// From a load to what follows a branch that depends on it.
    pub control_dependency: Relation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineEvent {
    /// `None` for an initial write.
    pub thread: Option<ThreadId>,
    pub operation: MachineOperation,
    /// Part of an instruction that reads and writes at once, or that would have, like a compare-exchange that fails. On
    /// x86 it has the prefix `lock`.
    pub locked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineOperation {
    Load { address: Value, kind: LoadKind },
    Store { address: Value, release: bool },
    Barrier(Barrier),
}

/// What later instructions of the thread wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    Plain,
    /// `ldapr`: not ordered after an earlier release.
    AcquirePc,
    /// `ldar`.
    Acquire,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// `mfence`, `dmb ish`.
    Full,
    /// `dmb ishld`: loads before it with everything after it.
    Load,
    /// `dmb ishst`: stores before it with stores after it. No operation of C11 needs it.
    Store,
}

/// The machine that a graph is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    X86(SeqCstStore),
    Armv8,
}

/// How compilers for x86 write a seq_cst store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeqCstStore {
    Exchange,
    Fenced,
}

impl MachineOperation {
    pub fn address(&self) -> Option<Value> {
        match *self {
            MachineOperation::Load { address, .. } | MachineOperation::Store { address, .. } => Some(address),
            MachineOperation::Barrier(_) => None,
        }
    }

    pub fn is_load(&self) -> bool {
        matches!(self, MachineOperation::Load { .. })
    }

    pub fn is_store(&self) -> bool {
        matches!(self, MachineOperation::Store { .. })
    }
}

impl MachineGraph {
    /// The pairs of events of two threads. Initial writes belong to none.
    pub fn external(&self, relation: &Relation) -> Relation {
        relation.filter(|a, b| self.events[a].thread != self.events[b].thread)
    }

    /// The pairs of events of the same thread.
    pub fn internal(&self, relation: &Relation) -> Relation {
        relation.filter(|a, b| self.events[a].thread == self.events[b].thread)
    }

    /// From a load to every store that is co-after the one it reads.
    pub fn fr(&self) -> Relation {
        self.rf.inverse().then(&self.co)
    }

    /// The identity on the events with a property.
    pub fn on(&self, holds: impl Fn(&MachineEvent) -> bool) -> Relation {
        Relation::on(self.events.len(), |event| holds(&self.events[event]))
    }

    /// Program order between accesses to the same address.
    pub fn po_loc(&self) -> Relation {
        let address = |event: usize| self.events[event].operation.address();
        self.po.filter(|a, b| address(a).is_some() && address(a) == address(b))
    }

    /// What every machine has: each address by itself is sequentially consistent, and nothing comes between the load and the
    /// store of an atomic instruction.
    pub fn is_coherent(&self) -> bool {
        let fr = self.fr();
        let between = self.external(&fr).then(&self.external(&self.co));
        self.po_loc().union(&self.rf).union(&self.co).union(&fr).is_acyclic()
            && self.amo.pairs().all(|(load, store)| !between.contains(load, store))
    }
}

/// Compiles a graph. `reading` says how its orders are meant. A read with `exchanges` is a compare-exchange that failed.
pub fn compile(
    graph: &Graph,
    reading: OrderReading,
    target: Target,
    exchanges: impl Fn(usize) -> bool,
) -> MachineGraph {
    let mut events = Vec::new();
    // Of each event: where it loads, and where it stores.
    let mut loads = vec![None; graph.len()];
    let mut stores = vec![None; graph.len()];
    for (index, event) in graph.events.iter().enumerate() {
        let order = reading.order(&event.label);
        let thread = event.thread;
        let mut push = |operation, locked| {
            events.push(MachineEvent { thread, operation, locked });
            events.len() - 1
        };
        let exchanged = target == Target::X86(SeqCstStore::Exchange) && order == Order::SeqCst;
        match event.label {
            Label::Read { address, .. } => {
                let kind = if exchanges(index) { atomic_load(order) } else { load(order) };
                loads[index] = Some(push(MachineOperation::Load { address, kind }, exchanges(index)));
            }
            Label::Write { address, .. } => {
                let release = order.is_release();
                stores[index] = Some(push(MachineOperation::Store { address, release }, exchanged));
                if target == Target::X86(SeqCstStore::Fenced) && order == Order::SeqCst {
                    push(MachineOperation::Barrier(Barrier::Full), false);
                }
            }
            Label::Rmw { address, .. } => {
                loads[index] = Some(push(MachineOperation::Load { address, kind: atomic_load(order) }, true));
                stores[index] = Some(push(MachineOperation::Store { address, release: order.is_release() }, true));
            }
            Label::Fence { .. } => {
                if let Some(barrier) = barrier(order, target) {
                    push(MachineOperation::Barrier(barrier), false);
                }
            }
        }
    }
    let size = events.len();
    let place = |of: &[Option<usize>], event: usize| of[event].unwrap_or_else(|| unreachable!("it is an access"));
    let mut rf = Relation::empty(size);
    graph.rf().pairs().for_each(|(write, read)| rf.insert(place(&stores, write), place(&loads, read)));
    let mut co = Relation::empty(size);
    graph.mo().pairs().for_each(|(one, other)| co.insert(place(&stores, one), place(&stores, other)));
    let mut amo = Relation::empty(size);
    loads.iter().zip(&stores).filter_map(|(&load, &store)| load.zip(store)).for_each(|(a, b)| amo.insert(a, b));
    let po = Relation::of(size, |a, b| {
        let (one, other): (&MachineEvent, &MachineEvent) = (&events[a], &events[b]);
        other.thread.is_some() && (one.thread.is_none() || one.thread == other.thread && a < b)
    });
    let none = Relation::empty(size);
    MachineGraph {
        events,
        po,
        rf,
        co,
        amo,
        address_dependency: none.clone(),
        data_dependency: none.clone(),
        control_dependency: none,
    }
}

fn load(order: Order) -> LoadKind {
    match order {
        Order::SeqCst => LoadKind::Acquire,
        order if order.is_acquire() => LoadKind::AcquirePc,
        _ => LoadKind::Plain,
    }
}

/// Atomic instructions of ARMv8 have only the strong kind.
fn atomic_load(order: Order) -> LoadKind {
    if order.is_acquire() { LoadKind::Acquire } else { LoadKind::Plain }
}

fn barrier(order: Order, target: Target) -> Option<Barrier> {
    match target {
        Target::X86(_) => (order == Order::SeqCst).then_some(Barrier::Full),
        Target::Armv8 if order.is_release() => Some(Barrier::Full),
        Target::Armv8 => order.is_acquire().then_some(Barrier::Load),
    }
}
