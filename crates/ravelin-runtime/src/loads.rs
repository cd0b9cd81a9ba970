//! Repeated loads that give no new information.
//!
//! Suppose that a thread has loaded a location, has learnt and written nothing since, and loads it again before another
//! thread has written it. Then the second load changes no clock: the first load covers it (see
//! [`ravelin_clocks::Thread::changed`]). Waiting loops and flags that are polled then cost no more than the load
//! itself. Above all, they take no lock that the writer they wait for would need.
//!
//! One case is given up. A *non-atomic* write of the location may happen after the first load, through a release fence
//! and a store that comes after the second load. Such a write is not compared with the second load.

use crate::records::{LockedRecord, RecordSlot};
use ravelin_clocks::{Epoch, ThreadClocks};

const ENTRIES: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 6;

/// The last loads of a thread, by a hash of the address.
pub struct Loads([Load; ENTRIES]);

#[derive(Clone, Copy)]
struct Load {
    address: usize,
    place: Option<&'static RecordSlot>,
    turn: u32,
    /// The load's epoch.
    epoch: Epoch,
    /// Whether it acquired.
    acquired: bool,
    /// For seq_cst loads: the number of seq_cst fences so far, including this one; else 0.
    fences: u64,
}

impl Loads {
    /// No loads.
    pub const fn new() -> Loads {
        const NONE: Load = Load { address: 0, place: None, turn: 0, epoch: 0, acquired: false, fences: 0 };
        Loads([NONE; ENTRIES])
    }

    #[inline(always)]
    fn index(address: usize) -> usize {
        // Atomics are often alone in their cache line, so the low bits alone would not do.
        ((address >> 2) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (usize::BITS - INDEX_BITS)
    }

    /// Makes a load if it would give no new information. `fences` is 0, or for a seq_cst load the number of seq_cst
    /// fences so far.
    #[inline(always)]
    pub fn again<R>(
        &self,
        thread: &ThreadClocks,
        address: usize,
        acquires: bool,
        fences: u64,
        load: impl FnOnce() -> R,
    ) -> Option<R> {
        let last = &self.0[Loads::index(address)];
        let place = last.place?;
        if last.address != address
            || last.epoch < thread.changed()
            || (acquires && !last.acquired)
            || (fences != 0 && last.fences != fences)
            || !place.is_at(last.turn)
        {
            return None;
        }
        let value = load();
        // If no thread used the record in between, this value was there all the time.
        place.is_at(last.turn).then_some(value)
    }

    /// Remembers a load made at `epoch`.
    #[inline(always)]
    pub fn made(&mut self, address: usize, locked: &LockedRecord, epoch: Epoch, acquired: bool) {
        let (place, turn) = locked.seen();
        self.0[Loads::index(address)] = Load { address, place: Some(place), turn, epoch, acquired, fences: 0 };
    }

    /// Records that a seq_cst fence, the `fences`th, follows the load of `address` that was remembered last.
    #[inline(always)]
    pub fn fenced(&mut self, address: usize, fences: u64) {
        self.0[Loads::index(address)].fences = fences;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use crate::shadow::tests::unused;

    /// A load of a new location, made by a thread and remembered.
    fn loaded(acquired: bool) -> (Loads, ThreadClocks, usize) {
        let (mut loads, mut thread, address) = (Loads::new(), ThreadClocks::new(1, 5), unused(8));
        let locked = records::lock_for(address, false).expect("a record");
        loads.made(address, &locked, thread.epoch, acquired);
        drop(locked);
        thread.advance();
        (loads, thread, address)
    }

    #[test]
    fn a_load_is_made_again_if_nobody_was_there() {
        let (loads, thread, address) = loaded(true);
        assert_eq!(loads.again(&thread, address, true, 0, || 7), Some(7));
        assert_eq!(loads.again(&thread, address, false, 0, || 8), Some(8));
        let other = (1..).map(|words| address + 4 * words).find(|other| Loads::index(*other) == Loads::index(address));
        let other = other.expect("another address with the same hash");
        assert_eq!(loads.again(&thread, other, true, 0, || 7), None);
        assert_eq!(loads.again(&thread, address + 4, true, 0, || 7), None);
    }

    #[test]
    fn a_load_is_something_new_after_a_write_and_while_somebody_is_at_the_record() {
        let (loads, thread, address) = loaded(true);
        let mut locked = records::lock(address).expect("a record");
        assert_eq!(loads.again(&thread, address, false, 0, || 7), None);
        locked.wrote();
        drop(locked);
        assert_eq!(loads.again(&thread, address, false, 0, || 7), None);
    }

    #[test]
    fn a_value_is_not_believed_if_somebody_wrote_while_it_was_loaded() {
        let (loads, thread, address) = loaded(true);
        let writes = || records::lock(address).expect("a record").wrote();
        assert_eq!(loads.again(&thread, address, false, 0, writes), None);
    }

    #[test]
    fn an_acquire_load_is_something_new_after_a_relaxed_one() {
        let (loads, thread, address) = loaded(false);
        assert_eq!(loads.again(&thread, address, true, 0, || 7), None);
        assert_eq!(loads.again(&thread, address, false, 0, || 7), Some(7));
    }

    #[test]
    fn a_load_is_something_new_after_the_thread_has_learnt_something() {
        let (loads, mut thread, address) = loaded(true);
        thread.acquire(&ThreadClocks::new(2, 9).release());
        thread.advance();
        assert_eq!(loads.again(&thread, address, true, 0, || 7), None);
    }

    #[test]
    fn a_seq_cst_load_is_something_new_after_another_seq_cst_fence() {
        let (mut loads, thread, address) = loaded(true);
        assert_eq!(loads.again(&thread, address, true, 4, || 7), None, "the first was no seq_cst load");
        loads.fenced(address, 4);
        assert_eq!(loads.again(&thread, address, true, 4, || 7), Some(7));
        assert_eq!(loads.again(&thread, address, true, 5, || 7), None);
    }

    #[test]
    fn nothing_is_known_at_first() {
        assert_eq!(Loads::new().again(&ThreadClocks::new(1, 1), 0, false, 0, || 7), None);
    }
}
