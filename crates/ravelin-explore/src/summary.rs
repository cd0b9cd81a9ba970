//! What all processes have to know of a round to decide alike how the search goes on.

use crate::any::AnySystem;
use crate::halt::Halt;
use crate::shard::Shard;
use crate::space::split;
use crate::system::{Sink, System};
use std::time::Duration;

/// The shards together, after a round.
pub(crate) struct Summary<I> {
    pub states: u64,
    /// The most states that a process has in memory, as the largest of its shards would make it.
    pub in_memory: u64,
    pub frontier: u64,
    /// States of this level that are not expanded.
    pub left: u64,
    pub bytes: u64,
    pub transitions: u64,
    pub found: bool,
    /// The least rank of a state about which something was found in this level.
    pub found_rank: u32,
    /// The state that says so is needed where others must come to the same end.
    pub interrupt: Option<(Vec<u64>, I)>,
    pub interrupt_rank: u32,
    /// Somebody asked to stop.
    pub stopped: bool,
    /// The time limit that is over. Processes may have different ones, and the first that is over ends the search for all.
    pub late: Option<Duration>,
    /// It is time for a checkpoint.
    pub due: bool,
    /// The memory that all may use together. Machines differ, and the least counts, so that all come to the same end.
    pub memory: Option<u64>,
    /// A process cannot move its states to disk.
    pub cannot_spill: bool,
    /// What went wrong here, and the first process in which something did.
    pub failed: Option<Halt>,
    pub failed_in: Option<usize>,
}

impl<I> Default for Summary<I> {
    fn default() -> Self {
        Summary {
            states: 0,
            in_memory: 0,
            frontier: 0,
            left: 0,
            bytes: 0,
            transitions: 0,
            found: false,
            found_rank: u32::MAX,
            interrupt: None,
            interrupt_rank: u32::MAX,
            stopped: false,
            late: None,
            due: false,
            memory: None,
            cannot_spill: false,
            failed: None,
            failed_in: None,
        }
    }
}

/// What stands for no limit of memory, or for none of time that is over.
const NO_LIMIT: u64 = u64::MAX;
/// Words before the interrupting state in what a process tells of its shards.
const NUMBERS: usize = 15;

impl<I: Send> Summary<I> {
    /// `here`: shards of this process.
    pub fn add(&mut self, shard: &mut Shard<I>, here: usize) {
        let states = shard.visited.len();
        self.states += states;
        if !shard.visited.is_on_disk() {
            self.in_memory = self.in_memory.max(states * here as u64);
        }
        self.frontier += states - shard.expanded + shard.visited.waiting();
        self.left += shard.unexpanded();
        self.bytes += shard.visited.bytes() as u64;
        self.transitions += std::mem::take(&mut shard.sink.transitions);
        self.found |= !shard.findings.is_empty();
        if let Some(finding) = shard.findings.first() {
            let index = split(finding.state.0, shard.shards).1;
            self.found_rank = self.found_rank.min(shard.visited.rank(index).unwrap_or(0));
        }
        if let Some((state, rank, interrupt)) = shard.interrupt.take()
            && (self.interrupt.is_none() || rank < self.interrupt_rank)
        {
            self.interrupt = Some((state, interrupt));
            self.interrupt_rank = rank;
        }
        self.failed = self.failed.take().or(shard.failed.take());
    }

    /// As words, for the other processes.
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![
            self.states,
            self.in_memory,
            self.frontier,
            self.left,
            self.bytes,
            self.transitions,
            u64::from(self.found),
            u64::from(self.stopped),
            self.late.map_or(NO_LIMIT, |time| u64::try_from(time.as_nanos()).unwrap_or(NO_LIMIT - 1)),
            u64::from(self.due),
            self.memory.unwrap_or(NO_LIMIT),
            u64::from(self.cannot_spill),
            u64::from(self.failed.is_some()),
            u64::from(self.found_rank),
            u64::from(self.interrupt_rank),
        ];
        words.extend(self.interrupt.iter().flat_map(|(state, _)| state));
        words
    }

    /// The sum of what all processes told; what went wrong here is known here only. An interrupt is not told itself but found again in the
    /// state that led to it.
    pub fn sum(told: &[Vec<u64>], failed: Option<Halt>, system: &AnySystem<I>) -> Summary<I> {
        let mut sum = Summary { failed, ..Summary::default() };
        for (process, words) in told.iter().enumerate() {
            let Some((numbers, state)) = words.split_at_checked(NUMBERS) else { continue };
            let [
                states,
                in_memory,
                frontier,
                left,
                bytes,
                transitions,
                found,
                stopped,
                late,
                due,
                memory,
                cannot_spill,
                failed,
                found_rank,
                interrupt_rank,
            ] = *numbers
            else {
                continue;
            };
            sum.states += states;
            sum.in_memory = sum.in_memory.max(in_memory);
            sum.frontier += frontier;
            sum.left += left;
            sum.bytes += bytes;
            sum.transitions += transitions;
            sum.found |= found != 0;
            sum.stopped |= stopped != 0;
            let late = Some(late).filter(|&late| late != NO_LIMIT).map(Duration::from_nanos);
            sum.late = [sum.late, late].into_iter().flatten().min();
            sum.due |= due != 0;
            let memory = Some(memory).filter(|&memory| memory != NO_LIMIT);
            sum.memory = [sum.memory, memory].into_iter().flatten().min();
            sum.cannot_spill |= cannot_spill != 0;
            sum.failed_in = sum.failed_in.or((failed != 0).then_some(process));
            sum.found_rank = sum.found_rank.min(found_rank as u32);
            let is_first = sum.interrupt.is_none() || (interrupt_rank as u32) < sum.interrupt_rank;
            if is_first && state.len() == system.width() && !state.is_empty() {
                sum.interrupt_rank = interrupt_rank as u32;
                let mut nowhere = Sink::new(system.width(), 1);
                let again = system.expand(state, &mut system.scratch(), &mut nowhere);
                sum.interrupt = again.err().map(|interrupt| (state.to_vec(), interrupt));
            }
        }
        sum
    }
}
