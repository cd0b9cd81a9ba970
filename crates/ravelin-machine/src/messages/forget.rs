//! Makes messages and views canonical: what cannot matter any more is forgotten.
//!
//! A message is forgotten if every thread that may still touch its cell has to read, and write, behind it. Threads that may still execute
//! a seq_cst fence count as well, because a fence compares its view with the messages. A view of a forgotten message is one of the
//! oldest message that is kept.
//!
//! A seq_cst fence is forgotten if no access can be ordered before it any more: its view is not newer than the oldest message of any
//! cell. Wherever it occurs, the fences before it take its place. A fence with no way on is forgotten without replacement.

use super::fences::members;
use super::future::ThreadFuture;
use super::memory::{Fence, FenceSet, Memory, ThreadRow};

impl Memory {
    /// Forgets what the threads can no longer depend on. `removed` gets the number of messages that each cell lost.
    pub fn forget(&mut self, futures: &[&ThreadFuture], removed: &mut Vec<usize>) {
        removed.clear();
        let fences_to_come = futures.iter().any(|future| future.seq_cst);
        for (thread, future) in futures.iter().enumerate() {
            self.forget_view(thread, future);
        }
        for cell in 0..self.cells {
            let last = self.messages[cell].len() - 1;
            let depends = |(_, future): &(usize, &&ThreadFuture)| future.touches[cell] || future.seq_cst;
            let floor = futures.iter().enumerate().filter(depends);
            let floor = floor.map(|(thread, _)| self.oldest_readable(thread, cell)).min().unwrap_or(last);
            removed.push(floor);
            self.forget_messages(cell, floor);
            if !fences_to_come {
                self.forgotten[cell] = 0;
                for message in &mut self.messages[cell] {
                    (message.written_after, message.read_after) = (0, 0);
                }
            }
        }
        if !self.fences.is_empty() {
            self.forget_fences();
        }
    }

    fn forget_view(&mut self, thread: usize, future: &ThreadFuture) {
        let [cur, acq, rel] = [ThreadRow::Cur, ThreadRow::Acq, ThreadRow::Rel].map(|row| self.thread_row(thread, row));
        if !future.runs {
            for row in [cur, acq, rel] {
                self.view_mut(row).fill(0);
                self.known_fences[row] = 0;
            }
            return;
        }
        if !future.acquires {
            self.assign(acq, cur);
        }
        if !future.relaxed_writes {
            self.view_mut(rel).fill(0);
            self.known_fences[rel] = 0;
        }
        // What it knows of a cell that it never touches matters only if others can learn it.
        if !future.publishes && !future.seq_cst {
            for cell in (0..self.cells).filter(|&cell| !future.touches[cell]) {
                self.view_mut(cur)[cell] = 0;
                self.view_mut(acq)[cell] = 0;
            }
        }
    }

    fn forget_messages(&mut self, cell: usize, floor: usize) {
        if floor > 0 {
            for message in self.messages[cell].drain(..floor) {
                self.forgotten[cell] |= message.written_after | message.read_after;
            }
            for row in 0..self.rows() {
                let position = &mut self.view_mut(row)[cell];
                *position = position.saturating_sub(floor as u8);
            }
        }
        // Nothing can be put before the oldest message.
        self.messages[cell][0].joined = false;
    }

    fn forget_fences(&mut self) {
        let threads = 3 * self.threads;
        let mut used: FenceSet = self.known_fences[..threads].iter().fold(0, |all, set| all | set);
        for message in self.messages.iter().flatten() {
            used |= self.known_fences[message.row as usize] | message.written_after | message.read_after;
        }
        used |= self.forgotten.iter().fold(0, |all, set| all | set);
        // What leads to a fence that is used is used.
        used = members(used).fold(used, |all, fence| all | self.fences[fence].before);
        let is_past = |fence: &Fence| self.view(fence.row as usize).iter().all(|&position| position == 0);
        let past: FenceSet =
            (0..self.fences.len()).filter(|&fence| is_past(&self.fences[fence])).fold(0, |all, fence| all | 1 << fence);
        let kept = used & !past;
        if kept.count_ones() as usize == self.fences.len() && self.fences.len() < 2 {
            return;
        }
        let mut order: Vec<(Vec<u64>, usize)> = members(kept).map(|fence| (self.fence_key(fence), fence)).collect();
        order.sort();
        let replaced: Vec<FenceSet> = (0..self.fences.len())
            .map(|fence| {
                let now = |old: usize| order.iter().position(|(_, other)| *other == old).map_or(0, |new| 1 << new);
                if kept >> fence & 1 == 1 {
                    now(fence)
                } else {
                    members(self.fences[fence].before & kept).fold(0, |all, other| all | now(other))
                }
            })
            .collect();
        let renamed = |set: FenceSet| members(set).fold(0, |all, fence| all | replaced[fence]);
        for set in self.known_fences.iter_mut().chain(&mut self.forgotten) {
            *set = renamed(*set);
        }
        for message in self.messages.iter_mut().flatten() {
            message.written_after = renamed(message.written_after);
            message.read_after = renamed(message.read_after);
        }
        self.fences = order
            .iter()
            .map(|&(_, fence)| Fence { before: renamed(self.fences[fence].before & kept), ..self.fences[fence] })
            .collect();
    }

    /// What distinguishes a fence, whatever its number: what it knew, and which sets contain it.
    fn fence_key(&self, fence: usize) -> Vec<u64> {
        let contains = |set: FenceSet| set >> fence & 1;
        let view = self.view(self.fences[fence].row as usize).iter().map(|&position| u64::from(position));
        let threads = self.known_fences[..3 * self.threads].iter().copied();
        let messages =
            self.messages.iter().flatten().flat_map(|message| {
                [self.known_fences[message.row as usize], message.written_after, message.read_after]
            });
        view.chain(threads.chain(messages).chain(self.forgotten.iter().copied()).map(contains)).collect()
    }
}
