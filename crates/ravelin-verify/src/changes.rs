//! A run of the program with stronger orders and more fences.
//!
//! What a program does under sequential consistency does not depend on them. So every run of the program is one of the
//! changed program, too, and the other way round: the same exploration serves all changes, and only what the judge says
//! about a run depends on them. The more changes there are, the fewer accesses can be stale.

use crate::judge::StaleAccess;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use rustc_hash::FxHashMap;

/// A change of a memory order at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderChange {
    Acquire,
    Release,
    AcqRel,
    SeqCst,
    /// A seq_cst fence just before the access.
    Fence,
}

impl OrderChange {
    pub const ALL: [OrderChange; 5] =
        [OrderChange::Acquire, OrderChange::Release, OrderChange::AcqRel, OrderChange::SeqCst, OrderChange::Fence];

    pub fn name(self) -> &'static str {
        match self {
            OrderChange::Acquire => "acquire",
            OrderChange::Release => "release",
            OrderChange::AcqRel => "acq_rel",
            OrderChange::SeqCst => "seq_cst",
            OrderChange::Fence => "fence",
        }
    }

    /// What an access gets that had `order`, as far as it can have it: a load does not release, a store does not
    /// acquire.
    pub fn apply(self, order: RecordedOrder, (reads, writes): (bool, bool)) -> RecordedOrder {
        let acquires = matches!(self, OrderChange::Acquire | OrderChange::AcqRel) && reads;
        let releases = matches!(self, OrderChange::Release | OrderChange::AcqRel) && writes;
        match (order.acquires() || acquires, order.releases() || releases) {
            _ if self == OrderChange::SeqCst || order == RecordedOrder::SeqCst => RecordedOrder::SeqCst,
            (true, true) => RecordedOrder::AcqRel,
            (true, false) => RecordedOrder::Acquire,
            (false, true) => RecordedOrder::Release,
            (false, false) => order,
        }
    }
}

/// Changes by the places of accesses, which are return addresses as in events.
#[derive(Clone, Debug, Default)]
pub struct Changes(FxHashMap<u64, Vec<OrderChange>>);

/// A run of the changed program.
#[derive(Debug)]
pub struct ChangedRun {
    pub events: Vec<RunEvent>,
    /// By index: that of the event before the changes. A fence has that of its access.
    original: Vec<usize>,
}

impl Changes {
    pub fn add(&mut self, pc: u64, change: OrderChange) {
        self.0.entry(pc).or_default().push(change);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The run of the changed program that makes the same steps.
    pub fn apply(&self, events: &[RunEvent]) -> ChangedRun {
        let mut run = ChangedRun { events: Vec::with_capacity(events.len()), original: Vec::new() };
        for (index, event) in events.iter().enumerate() {
            let mut event = *event;
            let is_access = matches!(event.operation.act, Act::Load | Act::Store | Act::Update);
            let changes = self.0.get(&event.pc).filter(|_| is_access && !event.is(flags::UNCHECKED));
            for change in changes.into_iter().flatten() {
                match change {
                    // Rounds of a waiting loop are no events, so there is nothing to order.
                    OrderChange::Fence if event.is(flags::ROUND) => {}
                    OrderChange::Fence => run.push(fence(&event), index),
                    order => strengthen(&mut event, *order),
                }
            }
            run.push(event, index);
        }
        run
    }
}

impl ChangedRun {
    fn push(&mut self, event: RunEvent, original: usize) {
        self.events.push(event);
        self.original.push(original);
    }

    /// A stale access of this run, with the indices of events before the changes.
    pub fn original(&self, stale: StaleAccess) -> StaleAccess {
        let index = |index: usize| self.original[index];
        StaleAccess { event: index(stale.event), missed: index(stale.missed), source: stale.source.map(index), ..stale }
    }
}

/// A thread that stands before an access has made the fence: nothing of it is seen before the access.
fn fence(access: &RunEvent) -> RunEvent {
    let operation = RunOperation { act: Act::Fence, order: RecordedOrder::SeqCst, address: 0, size: 0 };
    RunEvent { operation, flags: 0, read: 0, written: 0, state: 0, ..*access }
}

/// A compare-exchange has an order for success and one for failure, and a failed one is a load. Both become stronger.
fn strengthen(event: &mut RunEvent, change: OrderChange) {
    let does = match event.operation.act {
        Act::Load => (true, false),
        Act::Store => (false, true),
        _ => (true, true),
    };
    event.operation.order = change.apply(event.operation.order, does);
    if let Some(other) = event.other_order() {
        let otherwise = if event.operation.act == Act::Load { (true, true) } else { (true, false) };
        *event = event.with_other_order(change.apply(other, otherwise));
    }
}
