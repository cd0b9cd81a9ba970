//! Which cells each thread can still touch: static may-sets over slots, from each location on.
//!
//! This is the conflict relation of the reductions. A computed address counts as the cells of its values where they are
//! listed, and as all cells of its interval otherwise. An address that can leave the known cells counts as all cells and
//! as "elsewhere"; where there is no cell, the access is a fault and touches nothing.

use crate::layout::Layout;
use crate::ranges::Ranges;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Address, Instruction, LocId, Program, Thread, Unnamed};

/// A set of slots, and whether other cells belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots {
    bits: Vec<u64>,
    elsewhere: bool,
    /// Addresses without a cell belong to it.
    nowhere: bool,
}

impl Slots {
    fn insert(&mut self, slot: usize) {
        if self.bits.len() <= slot / 64 {
            self.bits.resize(slot / 64 + 1, 0);
        }
        self.bits[slot / 64] |= 1 << (slot % 64);
    }

    #[inline]
    pub fn contains(&self, slot: usize) -> bool {
        self.elsewhere || self.bits.get(slot / 64).is_some_and(|bits| bits >> (slot % 64) & 1 == 1)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bits.len() * 64).filter(|slot| self.bits[slot / 64] >> (slot % 64) & 1 == 1)
    }

    /// To other cells, or to none.
    pub fn leads_elsewhere(&self) -> bool {
        self.elsewhere || self.nowhere
    }

    /// Adds another set, and returns whether that changed anything.
    fn add(&mut self, other: &Slots) -> bool {
        let mut changed = (other.elsewhere && !self.elsewhere) || (other.nowhere && !self.nowhere);
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        self.elsewhere |= other.elsewhere;
        self.nowhere |= other.nowhere;
        changed
    }

    /// Keeps what another set has, too.
    fn keep(&mut self, other: &Slots) {
        if !other.elsewhere {
            if self.elsewhere {
                self.bits.clone_from(&other.bits);
            }
            let theirs = other.bits.iter().copied().chain(std::iter::repeat(0));
            self.bits.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine &= theirs);
        }
        self.elsewhere &= other.elsewhere;
        self.nowhere &= other.nowhere;
    }

    fn bytes(&self) -> usize {
        8 * self.bits.capacity()
    }
}

/// What a thread can still do from a location on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Future {
    pub reads: Slots,
    pub writes: Slots,
    pub bus: bool,
}

impl Future {
    /// An access to a cell, which writes it or not, conflicts with something in this future.
    #[inline]
    pub fn conflicts(&self, slot: usize, writes: bool) -> bool {
        self.writes.contains(slot) || (writes && self.reads.contains(slot))
    }

    /// What all of these futures have in common.
    pub fn common<'a>(mut futures: impl Iterator<Item = &'a Future>) -> Future {
        let mut common = futures.next().cloned().unwrap_or_default();
        for future in futures {
            common.reads.keep(&future.reads);
            common.writes.keep(&future.writes);
            common.bus &= future.bus;
        }
        common
    }

    fn bytes(&self) -> usize {
        self.reads.bytes() + self.writes.bytes()
    }

    fn add(&mut self, other: &Future) -> bool {
        let reads = self.reads.add(&other.reads);
        let writes = self.writes.add(&other.writes);
        let bus = other.bus && !self.bus;
        self.bus |= other.bus;
        reads || writes || bus
    }
}

/// The futures of all locations of a thread.
pub(crate) fn futures(
    program: &Program,
    thread: usize,
    ranges: &Ranges,
    layout: &Layout,
    watch: &Watch,
) -> Result<Vec<Future>, Limit> {
    let code = &program.threads[thread];
    let mut futures: Vec<Future> = Vec::with_capacity(code.locations.len());
    for location in 0..code.locations.len() {
        let mut future = Future::default();
        for (_, transition) in code.outgoing(LocId(location)) {
            future.add(&touched(program, thread, &transition.instruction, ranges, layout));
        }
        watch.hold(size_of::<Future>() + future.bytes())?;
        watch.steps(1 + future.bytes() / 512)?;
        futures.push(future);
    }
    loop {
        let mut changed = false;
        for transition in code.transitions.iter().rev() {
            let later = std::mem::take(&mut futures[transition.to.0]);
            let from = &mut futures[transition.from.0];
            if transition.from != transition.to {
                let bytes = from.bytes();
                changed |= from.add(&later);
                let grown = from.bytes().saturating_sub(bytes);
                watch.hold(grown)?;
            }
            watch.steps(1 + later.bytes() / 512)?;
            futures[transition.to.0] = later;
        }
        if !changed {
            return Ok(futures);
        }
    }
}

fn touched(program: &Program, thread: usize, instruction: &Instruction, ranges: &Ranges, layout: &Layout) -> Future {
    let mut future =
        Future { bus: matches!(instruction, Instruction::BusLock | Instruction::BusUnlock), ..Future::default() };
    for access in instruction.accesses() {
        let slots = slots(program, thread, access.address, ranges, layout);
        if access.reads {
            future.reads.add(&slots);
        }
        if access.writes {
            future.writes.add(&slots);
        }
    }
    future
}

/// The slots an address can lead to.
pub(crate) fn slots(program: &Program, thread: usize, address: &Address, ranges: &Ranges, layout: &Layout) -> Slots {
    let mut slots = Slots::default();
    let mut gaps = false;
    if let Some(addresses) = ranges.few.addresses(program, thread, address) {
        for address in addresses {
            match layout.slot_of(address) {
                Some(slot) => slots.insert(slot),
                None => gaps = true,
            }
        }
    } else {
        let interval = ranges.addresses(program, thread, address);
        let first = layout.addresses.partition_point(|&known| known < interval.lo);
        let mut known = 0i128;
        let at = layout.addresses.iter().enumerate().skip(first);
        for (slot, _) in at.take_while(|(_, address)| **address <= interval.hi) {
            slots.insert(slot);
            known += 1;
        }
        gaps = known < i128::from(interval.hi) - i128::from(interval.lo) + 1;
    }
    // Every cell that has a name is known.
    let nothing = program.memory.unnamed == Unnamed::Nothing;
    (slots.elsewhere, slots.nowhere) = (gaps && !nothing, gaps && nothing);
    slots
}

/// The slots that one thread alone touches: `Some(thread)` for these.
pub(crate) fn private_slots(
    threads: &[Thread],
    futures: &[Vec<Future>],
    slots: usize,
    watch: &Watch,
) -> Result<Vec<Option<usize>>, Limit> {
    let owner = |slot: usize| {
        let mut owner = None;
        for (thread, code) in threads.iter().enumerate() {
            let future = &futures[thread][code.initial.0];
            if future.reads.contains(slot) || future.writes.contains(slot) {
                if owner.is_some() {
                    return None;
                }
                owner = Some(thread);
            }
        }
        owner
    };
    (0..slots).map(|slot| watch.steps(1 + threads.len() / 16).map(|()| owner(slot))).collect()
}
