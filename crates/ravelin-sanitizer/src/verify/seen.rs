//! Which atomic accesses a program makes, and how often.

use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, flags};
use std::collections::BTreeMap;

/// Accesses by their places.
#[derive(Clone, Debug, Default)]
pub struct SeenAccesses(BTreeMap<u64, SeenAccess>);

/// An access at a place.
#[derive(Clone, Copy, Debug)]
pub struct SeenAccess {
    pub reads: bool,
    pub writes: bool,
    /// Of a compare-exchange, that of success.
    pub order: RecordedOrder,
    /// How often it was made, in all runs.
    pub times: u64,
}

impl SeenAccesses {
    pub fn note(&mut self, events: &[RunEvent]) {
        for event in events.iter().filter(|event| !event.is(flags::UNCHECKED) && event.pc != 0) {
            let RunEvent { operation, pc, .. } = *event;
            let compares = event.is(flags::COMPARES);
            let (reads, writes) = match operation.act {
                Act::Load => (true, compares),
                Act::Store => (false, true),
                Act::Update => (true, true),
                _ => continue,
            };
            let failed = compares && operation.act == Act::Load;
            let order = event.other_order().filter(|_| failed).unwrap_or(operation.order);
            let seen = self.0.entry(pc).or_insert(SeenAccess { reads, writes, order, times: 0 });
            seen.times += 1;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, SeenAccess)> + '_ {
        self.0.iter().map(|(pc, seen)| (*pc, *seen))
    }
}
