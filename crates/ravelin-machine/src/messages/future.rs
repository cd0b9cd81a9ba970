//! What a thread can still do from each location on, as far as messages and views depend on it.

use crate::compile::Machine;
use crate::monitor::MonitorEffect;

/// From one location of a thread on.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadFuture {
    /// It has steps left.
    pub runs: bool,
    /// Acquire fences, hidden ones too: `acq` matters.
    pub acquires: bool,
    /// Relaxed atomic writes: `rel` matters.
    pub relaxed_writes: bool,
    /// Release writes or release fences: other threads can learn what it knows of any cell.
    pub publishes: bool,
    /// Seq_cst fences, hidden ones too.
    pub seq_cst: bool,
    /// By cell: it may read or write it, or write it.
    pub touches: Vec<bool>,
    pub writes: Vec<bool>,
}

/// The futures of each location of a thread. `cells` are the slots of the cells that have messages.
pub(super) fn thread_futures(
    machine: &Machine,
    thread: usize,
    effects: &[MonitorEffect],
    cells: &[usize],
) -> Vec<ThreadFuture> {
    let code = &machine.threads[thread];
    let locations = code.starts.len() - 1;
    let mut futures: Vec<ThreadFuture> = (0..locations)
        .map(|location| {
            let future = &code.futures[location];
            let writes: Vec<bool> = cells.iter().map(|&slot| future.writes.contains(slot)).collect();
            ThreadFuture {
                runs: code.starts[location] < code.starts[location + 1],
                touches: cells
                    .iter()
                    .zip(&writes)
                    .map(|(&slot, writes)| *writes || future.reads.contains(slot))
                    .collect(),
                writes,
                ..ThreadFuture::default()
            }
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for location in (0..locations).rev() {
            for index in code.starts[location]..code.starts[location + 1] {
                let effect = &effects[index];
                let later = &futures[code.steps[index].to as usize];
                let relaxed = |(mode, _, writes): (crate::monitor::AccessStrength, bool, bool)| {
                    writes && mode.atomic && !mode.release
                };
                let releases = |(mode, _, writes): (crate::monitor::AccessStrength, bool, bool)| writes && mode.release;
                let now = (
                    later.acquires || effect.fences_acquire(),
                    later.relaxed_writes || effect.accesses().any(relaxed),
                    later.publishes || effect.fences_release() || effect.accesses().any(releases),
                    later.seq_cst || effect.fences_seq_cst(),
                );
                let known = &mut futures[location];
                let joined = (
                    known.acquires | now.0,
                    known.relaxed_writes | now.1,
                    known.publishes | now.2,
                    known.seq_cst | now.3,
                );
                changed |= joined != (known.acquires, known.relaxed_writes, known.publishes, known.seq_cst);
                (known.acquires, known.relaxed_writes, known.publishes, known.seq_cst) = joined;
            }
        }
    }
    futures
}
