//! Accesses to a word that are not in its cell: atomic ones, and those for which the cell has no room.

use super::slot::{BYTES, EXCEPT_EPOCH, alike, races, remainder};
use crate::thread::ThreadClocks;

/// A list of accesses.
pub trait AccessList {
    /// All slots, in any order; 0 for an empty one.
    fn slots(&mut self) -> impl Iterator<Item = &mut u64>;

    /// Adds an access when no slot is empty.
    fn push(&mut self, access: u64);
}

impl AccessList for Vec<u64> {
    fn slots(&mut self) -> impl Iterator<Item = &mut u64> {
        self.iter_mut()
    }

    fn push(&mut self, access: u64) {
        Vec::push(self, access);
    }
}

/// Adds an access.
pub fn add(list: &mut impl AccessList, access: u64) {
    let mut room = None;
    for slot in list.slots() {
        if *slot == 0 {
            room = Some(slot);
        } else if alike(*slot, access) {
            *slot |= access;
            return;
        }
    }
    match room {
        Some(slot) => *slot = access,
        None => list.push(access),
    }
}

/// An access that `mine`, made by `thread` now, races with.
pub fn first_race(list: &mut impl AccessList, thread: &ThreadClocks, mine: u64) -> Option<u64> {
    list.slots().map(|slot| *slot).find(|&slot| races(thread, slot, mine))
}

/// The same, and forgets what `mine` makes superfluous. Then adds the access `added`, unless it is 0, and calls `each` with
/// all that is in the list. In one turn, because the lists of words that many threads use are long.
#[inline(always)]
pub fn meet(
    list: &mut impl AccessList,
    thread: &ThreadClocks,
    mine: u64,
    mut added: u64,
    mut each: impl FnMut(u64),
) -> Option<u64> {
    let (mut raced, mut room) = (None, None);
    list.slots().for_each(|slot| {
        if *slot & mine & BYTES != 0 {
            if raced.is_none() && races(thread, *slot, mine) {
                raced = Some(*slot);
            }
            *slot = remainder(thread, *slot, mine);
        }
        if *slot == 0 {
            room = Some(slot);
            return;
        }
        if added != 0 && alike(*slot, added) {
            *slot |= added;
            added = 0;
        }
        each(*slot);
    });
    if added != 0 {
        each(added);
        match room {
            Some(slot) => *slot = added,
            None => list.push(added),
        }
    }
    raced
}

/// Forgets what `mine`, made by `thread` now, makes superfluous.
pub fn trim(list: &mut impl AccessList, thread: &ThreadClocks, mine: u64) {
    for slot in list.slots().filter(|slot| **slot != 0) {
        *slot = remainder(thread, *slot, mine);
    }
}

/// Keeps an atomic access in the list of its location.
#[inline(always)]
pub fn note_atomic(list: &mut impl AccessList, thread: &ThreadClocks, mine: u64) {
    if let Some(slot) = list.slots().find(|slot| **slot & EXCEPT_EPOCH == mine & EXCEPT_EPOCH) {
        *slot = mine;
        return;
    }
    trim(list, thread, mine);
    add(list, mine);
}
