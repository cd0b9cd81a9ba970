//! What a load, a store, an RMW and a fence do to messages and views.
//!
//! | event of thread t at cell x | rule |
//! | --- | --- |
//! | reads message m | `cur` and `acq` know m; `acq` joins m's view if both are atomic, and so does `cur` if the read acquires |
//! | writes behind message p | a new message right behind p; `cur` and `acq` know it; its view is `cur` (release), `rel` (relaxed) or nothing (non-atomic), and itself |
//! | RMW reads m | both; what it leaves joins m's view (release sequence) |
//! | acquire fence | `cur := acq` |
//! | release fence | `rel := cur` |
//! | seq_cst fence | `cur := acq`, the fence's own node (`fences.rs`), `rel := cur` |
//!
//! A hidden seq_cst fence of a seq_cst access stands before or after it.

use super::memory::{Memory, Message, ThreadRow};
use crate::monitor::AccessStrength;
use ravelin_program::Value;

/// The step would make the graph inconsistent: it closes a cycle of psc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PscCycle;

impl Memory {
    /// Reads a message that is not older than the thread's view.
    pub fn read(
        &mut self,
        thread: usize,
        cell: usize,
        position: usize,
        strength: AccessStrength,
    ) -> Result<(), PscCycle> {
        debug_assert!(position >= self.oldest_readable(thread, cell));
        let cur = self.thread_row(thread, ThreadRow::Cur);
        let acq = self.thread_row(thread, ThreadRow::Acq);
        for row in [cur, acq] {
            let known = &mut self.view_mut(row)[cell];
            *known = (*known).max(position as u8);
        }
        let message = self.messages[cell][position].row as usize;
        if strength.atomic {
            self.join(acq, message);
            if strength.acquire {
                self.join(cur, message);
            }
        }
        self.messages[cell][position].read_after |= self.known_fences[cur];
        self.order_before_fences(cur, cell, position)
    }

    /// Writes right behind a message. Behind `update`, what is written also continues the release sequence of the message.
    pub fn write(
        &mut self,
        thread: usize,
        cell: usize,
        behind: usize,
        value: Value,
        strength: AccessStrength,
        update: bool,
    ) -> Result<(), PscCycle> {
        debug_assert!(self.is_open(cell, behind));
        let position = behind + 1;
        let cur = self.thread_row(thread, ThreadRow::Cur);
        let acq = self.thread_row(thread, ThreadRow::Acq);
        let rel = self.thread_row(thread, ThreadRow::Rel);
        self.shift(cell, position);
        // `acq` may know a newer message, which the gap need not respect.
        for row in [cur, acq] {
            let known = &mut self.view_mut(row)[cell];
            *known = (*known).max(position as u8);
        }
        let row = match (strength.atomic, strength.release) {
            (false, _) => self.add_row(),
            (true, false) => self.add_copy(rel),
            (true, true) => self.add_copy(cur),
        };
        if update {
            self.join(row, self.messages[cell][behind].row as usize);
        }
        self.view_mut(row)[cell] = position as u8;
        let written_after = self.known_fences[cur];
        let message = Message { value, joined: update, row: row as u32, written_after, read_after: 0 };
        self.messages[cell].insert(position, message);
        self.order_before_fences(cur, cell, position)
    }

    pub fn acquire_fence(&mut self, thread: usize) {
        self.assign(self.thread_row(thread, ThreadRow::Cur), self.thread_row(thread, ThreadRow::Acq));
    }

    pub fn release_fence(&mut self, thread: usize) {
        self.assign(self.thread_row(thread, ThreadRow::Rel), self.thread_row(thread, ThreadRow::Cur));
    }

    pub fn seq_cst_fence(&mut self, thread: usize) {
        self.acquire_fence(thread);
        self.add_fence(thread);
        self.release_fence(thread);
    }
}
