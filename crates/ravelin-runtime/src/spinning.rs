//! Waiting loops without annotations.
//!
//! A load that a thread repeats at the same place in the program, with no write or other atomic access in between, was
//! one round of a waiting loop. The value it read is one that makes the loop repeat. A stale read of such a value is
//! harmless: the loop repeats once more. A read counts as harmless under two conditions. No such value was ever seen to
//! leave the loop, anywhere in the run, and all values that may be read are such values.

use crate::spin::Spin;
use std::sync::atomic::{AtomicU64, Ordering};

/// Values remembered for each place.
const VALUES: usize = 16;
const FILTER: usize = 64;

/// The last load of a thread.
#[derive(Default)]
pub struct LastLoad {
    pc: usize,
    address: usize,
    value: u64,
    disturbed: bool,
    /// How often it was made before in a row.
    rounds: u32,
    /// How often the thread has done something that others can see.
    effects: u32,
}

struct Loop {
    pc: usize,
    /// Values after which the same load came again.
    rounds: Vec<u64>,
    /// Values after which something else came, by a hash of six bits: too many are safer than too few.
    left: u64,
}

static LOOPS: Spin<Vec<Loop>> = Spin::new(Vec::new());
/// Places in `LOOPS`, by a hash, so that most loads need no lookup.
static MAYBE: [AtomicU64; FILTER] = [const { AtomicU64::new(0) }; FILTER];

impl LastLoad {
    /// The thread loads `value`.
    #[inline(always)]
    pub fn loaded(&mut self, pc: usize, address: usize, value: u64) {
        let mut rounds = 0;
        if self.pc == pc && self.address == address && !self.disturbed {
            rounds = self.rounds.saturating_add(1);
            let round = key(pc, self.value);
            if !ROUNDS.has(round) {
                ROUNDS.add(round);
                went_round(pc, self.value);
            }
        } else {
            self.leave_loop();
        }
        *self = LastLoad { pc, address, value, disturbed: false, rounds, effects: self.effects };
    }

    /// How often the load that was the thread's last action was made before in a row; `None` if the thread did anything
    /// else.
    pub fn rounds(&self) -> Option<u32> {
        (self.pc != 0 && !self.disturbed).then_some(self.rounds)
    }

    /// How often the thread has done something that others can see, or written to memory that is not its stack.
    pub fn effects(&self) -> u32 {
        self.effects
    }

    /// The thread does something else that others can see.
    #[inline(always)]
    pub fn left(&mut self) {
        self.effects = self.effects.wrapping_add(1);
        self.leave_loop();
    }

    #[inline(always)]
    fn leave_loop(&mut self) {
        if self.pc != 0 {
            if is_loop(self.pc) && !LEAVINGS.has(key(self.pc, bit(self.value))) {
                left_with(self.pc, self.value);
            }
            self.pc = 0;
        }
    }

    /// The thread writes memory. On its own stack that is part of the loop.
    #[inline(always)]
    pub fn disturbed(&mut self, address: usize, stack: (usize, usize)) {
        let elsewhere = address < stack.0 || address >= stack.1;
        self.disturbed |= elsewhere;
        self.effects = self.effects.wrapping_add(u32::from(elsewhere));
    }
}

/// Whether reading any of these values at `pc` only makes a loop repeat.
pub fn harmless(pc: usize, values: &[u64]) -> bool {
    if values.is_empty() || !is_loop(pc) {
        return false;
    }
    let loops = LOOPS.lock();
    loops
        .iter()
        .find(|one| one.pc == pc)
        .is_some_and(|one| values.iter().all(|value| one.rounds.contains(value) && one.left & bit(*value) == 0))
}

fn bit(value: u64) -> u64 {
    1 << (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

fn filter(pc: usize) -> (&'static AtomicU64, u64) {
    let hash = (pc as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (&MAYBE[(hash >> 58) as usize], 1 << (hash >> 52 & 63))
}

#[inline(always)]
fn is_loop(pc: usize) -> bool {
    let (word, bit) = filter(pc);
    word.load(Ordering::Relaxed) & bit != 0
}

/// The last keys of some kind, so that what they stand for is looked up once.
struct RecentKeys([AtomicU64; 64]);

/// Rounds that are in `LOOPS`, or counted so. The one pair whose key is 0 counts as known: that can only report too much.
static ROUNDS: RecentKeys = RecentKeys::new();
/// Places in `LOOPS`, with bits that are in `left`.
static LEAVINGS: RecentKeys = RecentKeys::new();

impl RecentKeys {
    const fn new() -> RecentKeys {
        RecentKeys([const { AtomicU64::new(0) }; 64])
    }

    #[inline(always)]
    fn slot(&self, key: u64) -> &AtomicU64 {
        &self.0[(key >> 58) as usize]
    }

    #[inline(always)]
    fn has(&self, key: u64) -> bool {
        self.slot(key).load(Ordering::Relaxed) == key
    }

    #[inline(always)]
    fn add(&self, key: u64) {
        self.slot(key).store(key, Ordering::Relaxed);
    }
}

/// A place and a value, which differs from that of the same place with another value, because the factor is odd.
#[inline(always)]
fn key(pc: usize, value: u64) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    (pc as u64).wrapping_mul(MIX).wrapping_add(value).wrapping_mul(MIX)
}

#[cold]
fn went_round(pc: usize, value: u64) {
    let mut loops = LOOPS.lock();
    let index = match loops.iter().position(|one| one.pc == pc) {
        Some(index) => index,
        None => {
            loops.push(Loop { pc, rounds: Vec::new(), left: 0 });
            let (word, bit) = filter(pc);
            word.fetch_or(bit, Ordering::Relaxed);
            loops.len() - 1
        }
    };
    let rounds = &mut loops[index].rounds;
    if !rounds.contains(&value) && rounds.len() < VALUES {
        rounds.push(value);
    }
}

#[cold]
fn left_with(pc: usize, value: u64) {
    let mut loops = LOOPS.lock();
    if let Some(one) = loops.iter_mut().find(|one| one.pc == pc) {
        one.left |= bit(value);
        LEAVINGS.add(key(pc, bit(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// A place in the program that no other test uses. All tests share what is known of loops.
    fn new_place() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0x40_0000);
        NEXT.fetch_add(16, Ordering::Relaxed)
    }

    const FLAG: usize = 0x1000;

    #[test]
    fn a_value_that_only_ever_made_a_loop_go_round_is_harmless() {
        let place = new_place();
        let mut last = LastLoad::default();
        for value in [0, 0, 0, 5] {
            last.loaded(place, FLAG, value);
        }
        last.left();
        assert!(harmless(place, &[0]));
    }

    #[test]
    fn a_value_that_left_the_loop_is_not_harmless() {
        let place = new_place();
        let mut last = LastLoad::default();
        for value in [0, 0, 5] {
            last.loaded(place, FLAG, value);
        }
        last.left();
        assert!(!harmless(place, &[5]), "never seen to go round");
        for value in [0, 5, 5] {
            last.loaded(place, FLAG, value);
        }
        last.left();
        assert!(!harmless(place, &[5]), "seen to go round once, and to leave as well");
        assert!(!harmless(place, &[0, 5]), "all values have to be harmless");
        assert!(harmless(place, &[0]));
    }

    #[test]
    fn every_value_of_a_loop_that_waits_through_several_is_harmless() {
        for first in [0, 7, u64::MAX - 3] {
            let place = new_place();
            let mut last = LastLoad::default();
            let values: Vec<u64> = (first..first + 3).collect();
            for &value in &values {
                last.loaded(place, FLAG, value);
                last.loaded(place, FLAG, value);
            }
            last.loaded(place, FLAG, first + 3);
            last.left();
            for value in values {
                assert!(harmless(place, &[value]), "{value}, of a loop that begins with {first}");
            }
        }
    }

    #[test]
    fn a_load_that_is_made_once_is_no_loop() {
        let (place, elsewhere) = (new_place(), new_place());
        let mut last = LastLoad::default();
        last.loaded(place, FLAG, 0);
        last.loaded(elsewhere, FLAG, 0);
        last.loaded(place, FLAG, 0);
        last.loaded(place, FLAG + 8, 0);
        last.left();
        assert!(!harmless(place, &[0]));
        assert!(!harmless(elsewhere, &[0]));
    }

    #[test]
    fn no_values_are_not_harmless() {
        let place = new_place();
        let mut last = LastLoad::default();
        last.loaded(place, FLAG, 0);
        last.loaded(place, FLAG, 0);
        assert!(harmless(place, &[0]));
        assert!(!harmless(place, &[]));
    }

    #[test]
    fn a_write_ends_the_round_unless_it_is_to_the_own_stack() {
        let stack = (0x7000, 0x8000);
        for (written, goes_round) in [(0x7000, true), (0x7fff, true), (0x6fff, false), (0x8000, false)] {
            let place = new_place();
            let mut last = LastLoad::default();
            last.loaded(place, FLAG, 0);
            last.disturbed(written, stack);
            assert_eq!(last.rounds().is_some(), goes_round, "{written:#x}");
            last.loaded(place, FLAG, 0);
            last.left();
            assert!(!harmless(place, &[0]), "0 has left the loop");
            assert_eq!(LOOPS.lock().iter().any(|one| one.pc == place), goes_round, "{written:#x}");
        }
    }

    #[test]
    fn rounds_are_counted_as_long_as_nothing_else_happens() {
        let place = new_place();
        let mut last = LastLoad::default();
        assert_eq!(last.rounds(), None);
        for rounds in 0..3 {
            last.loaded(place, FLAG, rounds);
            assert_eq!(last.rounds(), Some(rounds as u32));
        }
        last.loaded(place, FLAG + 8, 0);
        assert_eq!(last.rounds(), Some(0));
        last.left();
        assert_eq!(last.rounds(), None);
    }

    #[test]
    fn no_more_values_are_remembered_than_there_is_room_for() {
        let place = new_place();
        let mut last = LastLoad::default();
        for value in 0..=VALUES as u64 + 2 {
            last.loaded(place, FLAG, value);
        }
        let most = VALUES as u64;
        assert!(harmless(place, &[0, 1, most - 1]));
        assert!(!harmless(place, &[most]));
    }
}
