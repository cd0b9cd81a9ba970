//! Loads that tell nobody anything new.
//!
//! A thread that has loaded a location, has learnt and written nothing since, and loads it again before anybody else has
//! written it, changes no clock: its first load stands for the second (see [`ravelin_clocks::Thread::changed`]). Waiting
//! loops and flags that are looked at again and again cost no more than the load itself then, and above all they take no
//! lock that the writer they wait for would need. (What is given up: a *non-atomic* write of the location that
//! happens after the first load, through a release fence and a store that comes after the second load, is not compared
//! with the second.)

use crate::records::{Locked, Place};
use ravelin_clocks::{Epoch, Thread};

const ENTRIES: usize = 32;

/// The last loads of a thread, by a hash of the address.
pub struct Loads([Load; ENTRIES]);

#[derive(Clone, Copy)]
struct Load {
    address: usize,
    place: Option<&'static Place>,
    turn: u32,
    /// The load's epoch.
    epoch: Epoch,
    /// Whether it acquired.
    acquired: bool,
    /// For seq_cst loads: how many seq_cst fences there had been, this one's included; else 0.
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
        (address >> 2) % ENTRIES
    }

    /// Makes a load if it would be nothing new. `fences` is 0, or for a seq_cst load how many seq_cst fences there were.
    #[inline(always)]
    pub fn again<R>(
        &self,
        thread: &Thread,
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
        // If nobody was there in between, this is the value that was there all the time.
        place.is_at(last.turn).then_some(value)
    }

    /// Remembers a load made at `epoch`.
    #[inline(always)]
    pub fn made(&mut self, address: usize, locked: &Locked, epoch: Epoch, acquired: bool) {
        let (place, turn) = locked.seen();
        self.0[Loads::index(address)] = Load { address, place: Some(place), turn, epoch, acquired, fences: 0 };
    }

    /// The load of `address` that was remembered last is followed by a seq_cst fence, the `fences`th.
    #[inline(always)]
    pub fn fenced(&mut self, address: usize, fences: u64) {
        self.0[Loads::index(address)].fences = fences;
    }
}
