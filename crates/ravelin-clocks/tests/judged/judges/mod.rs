//! Three ways to the answers of the crate, each as plain as it can be, one for x86-TSO, and what an answer is.

mod graph;
mod location_clocks;
mod matrices;
mod store_buffers;

pub use graph::Graph;
pub use location_clocks::LocationClocks;
pub use matrices::Matrices;
pub use store_buffers::StoreBuffers;

use crate::judged::traces::Ask;
use ravelin_clocks::CasKind;

/// A write to some location, in modification order.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub value: u64,
    pub update: bool,
}

/// A violation as a judge sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The number of the newest write that must come earlier under sequential consistency.
    pub missed: usize,
    /// It is not the newest of all: the violation is one of another run.
    pub predicted: bool,
    /// Whether a stale value is read.
    pub reads: bool,
    /// Which, newest first; empty where any will do (updates).
    pub values: Vec<u64>,
}

/// The definition: the thread knows the write numbered `known` by happens-before, that numbered `forced` must come earlier
/// under sequential consistency, and the thread is about to access the location.
///
/// A read may be from any write from `known` on; it is a violation if that write is before `forced`. A write may be put
/// right behind any write from `known` on whose successor is no RMW (4.1); it is a violation if that successor is not
/// after `forced`. A value that is asked for (4.3) has to be that of the write that is read.
pub fn judge(writes: &[Write], known: usize, forced: usize, ask: Ask) -> Option<Judgement> {
    let newest = writes.len() - 1;
    let plain = |upto: usize| writes[..=upto].iter().filter(|write| !write.update).count();
    let stale: Vec<usize> = (known..forced).rev().collect();
    let open: Vec<usize> = stale.iter().copied().filter(|&write| !writes[write + 1].update).collect();
    let values = |of: &[usize], matters: &dyn Fn(u64) -> bool| -> Vec<u64> {
        of.iter().map(|&write| writes[write].value).filter(|&value| matters(value)).collect()
    };
    let reading = |values: Vec<u64>| {
        (!values.is_empty()).then_some(Judgement { missed: forced, predicted: forced != newest, reads: true, values })
    };
    let writing = |reads: bool, values: Vec<u64>| Judgement {
        missed: forced,
        predicted: plain(forced) != plain(newest),
        reads,
        values,
    };
    match ask {
        Ask::Load => reading(values(&stale, &|_| true)),
        Ask::Wait(wanted) => reading(values(&stale, &|value| value == wanted)),
        Ask::Store => (!open.is_empty()).then(|| writing(false, Vec::new())),
        Ask::Update => (!open.is_empty()).then(|| writing(true, values(&open, &|_| true))),
        Ask::CompareExchange(kind, expected) => {
            let failing = match kind {
                CasKind::Strong => reading(values(&stale, &|value| value != expected)),
                CasKind::Weak => reading(values(&stale, &|_| true)),
                CasKind::Blocking => None,
            };
            let passing = || values(&open, &|value| value == expected).first().map(|_| writing(true, vec![expected]));
            failing.or_else(passing)
        }
    }
}
