//! Seq_cst fences: RC11's psc axiom on a graph whose nodes are the fences.
//!
//! psc orders F before G if F happens before G, or if F happens before an access, the access is eco-before another, and that one
//! happens before G. A fence G knows a position of every cell (its view). So F is before G if F happens before G, before a write that is not
//! newer than what G knows, or before a read of a message that is older. The edges into G that exist when G runs are added then. Later an access
//! may still be put, or read, behind what G knows: it then orders all fences before it before G. A step that closes a cycle
//! has no consistent graph.
//!
//! Accesses have no part in a psc cycle but as ends of such edges, because seq_cst accesses are read as release/acquire ones with or
//! without hidden fences.

use super::memory::{Fence, FenceSet, MOST_FENCES, Memory, ThreadRow};
use super::rules::PscCycle;

/// The fences of a set.
pub(super) fn members(set: FenceSet) -> impl Iterator<Item = usize> {
    (0..MOST_FENCES).filter(move |fence| set >> fence & 1 == 1)
}

impl Memory {
    /// Adds the node of a fence of a thread, after its `cur` has acquired. There must be room for one.
    pub(super) fn add_fence(&mut self, thread: usize) {
        let cur = self.thread_row(thread, ThreadRow::Cur);
        let mut direct = self.known_fences[cur];
        for cell in 0..self.cells {
            let known = usize::from(self.view(cur)[cell]);
            direct |= self.forgotten[cell];
            for (position, message) in self.messages[cell].iter().enumerate().take(known + 1) {
                direct |= message.written_after;
                if position < known {
                    direct |= message.read_after;
                }
            }
        }
        let before = members(direct).fold(direct, |before, fence| before | self.fences[fence].before);
        let number = self.fences.len();
        debug_assert!(number < MOST_FENCES);
        let row = self.add_copy(cur) as u32;
        self.fences.push(Fence { row, before });
        self.known_fences[cur] |= 1 << number;
        let acq = self.thread_row(thread, ThreadRow::Acq);
        self.known_fences[acq] |= 1 << number;
    }

    /// An access behind the fences of a row, at a position: these fences come before all fences that know a newer message.
    pub(super) fn order_before_fences(&mut self, row: usize, cell: usize, position: usize) -> Result<(), PscCycle> {
        let earlier = self.known_fences[row];
        if earlier == 0 {
            return Ok(());
        }
        let earlier = members(earlier).fold(earlier, |all, fence| all | self.fences[fence].before);
        for later in 0..self.fences.len() {
            if usize::from(self.view(self.fences[later].row as usize)[cell]) <= position {
                continue;
            }
            if earlier >> later & 1 == 1 {
                return Err(PscCycle);
            }
            // Everything behind `later` is now behind `earlier` as well.
            for fence in 0..self.fences.len() {
                if fence == later || self.fences[fence].before >> later & 1 == 1 {
                    self.fences[fence].before |= earlier;
                    if self.fences[fence].before >> fence & 1 == 1 {
                        return Err(PscCycle);
                    }
                }
            }
        }
        Ok(())
    }
}
