//! Records into a set of states, many at a time, whatever the set is.
//!
//! What is done for every record is compiled for each of the usual widths, where a state is copied and compared without a loop.

use crate::order::{MergedRecords, label};
use crate::room::Room;

/// Groups of insertions whose cache misses are made to overlap.
pub(crate) const GROUP: usize = 32;

/// A set of states that records are put into. Methods are compiled for states of `W` words, and with 0 for those of any width.
pub(crate) trait Insertions {
    fn width(&self) -> usize;

    fn len(&self) -> usize;

    /// Whether it is so small that nothing is gained by [`Insertions::touch`].
    fn is_cached(&self) -> bool;

    /// Makes room for so many states.
    fn reserve(&mut self, states: usize);

    /// Reads what a group of insertions will need, so that the processor waits for all of it at once instead of for one
    /// insertion after the other.
    fn touch<'g, const W: usize>(&self, group: impl Iterator<Item = &'g [u64]> + Clone);

    /// Adds a state, unless it is there; whether it is new, and only then the parent is asked for. There must be room for one more.
    fn insert_of<const W: usize>(&mut self, state: &[u64], hash: u64, parent: impl FnOnce() -> u64) -> bool;
}

/// Calls a function that is compiled for each of the usual widths.
macro_rules! by_width {
    ($width:expr, $function:ident, $($argument:expr),*) => {
        match $width {
            1 => $function::<1, S>($($argument),*),
            2 => $function::<2, S>($($argument),*),
            3 => $function::<3, S>($($argument),*),
            4 => $function::<4, S>($($argument),*),
            _ => $function::<0, S>($($argument),*),
        }
    };
}

/// Adds the states of an outbox that are not there yet. Records are `width` words of state, the hash, the parent.
pub(crate) fn absorb<S: Insertions>(store: &mut S, outbox: &[u64]) {
    by_width!(store.width(), absorb_of, store, outbox);
}

fn absorb_of<const W: usize, S: Insertions>(store: &mut S, outbox: &[u64]) {
    let width = if W == 0 { store.width() } else { W };
    let record = width + 2;
    for group in outbox.chunks(GROUP * record) {
        store.reserve(store.len() + GROUP);
        if !store.is_cached() {
            store.touch::<W>(group.chunks_exact(record).map(|entry| &entry[..width + 1]));
        }
        for entry in group.chunks_exact(record) {
            let (state, rest) = entry.split_at(width);
            store.insert_of::<W>(state, rest[0], || rest[1]);
        }
    }
}

/// The same for records that are in order (`order.rs`), each with the number of its sender, which with the lower half of the last word
/// gives the parent's id; adds the labels of the new states.
pub(crate) fn absorb_in_order<S: Insertions>(
    store: &mut S,
    records: MergedRecords,
    labels: &mut Vec<u64>,
    id: impl Fn(usize, u64) -> u64,
) {
    let id = &id;
    by_width!(store.width(), absorb_in_order_of, store, records, labels, id);
}

fn absorb_in_order_of<const W: usize, S: Insertions>(
    store: &mut S,
    mut records: MergedRecords,
    labels: &mut Vec<u64>,
    id: &impl Fn(usize, u64) -> u64,
) {
    let width = if W == 0 { store.width() } else { W };
    let mut group: [(usize, &[u64]); GROUP] = [(0, &[]); GROUP];
    loop {
        let mut len = 0;
        for (slot, entry) in group.iter_mut().zip(&mut records) {
            *slot = entry;
            len += 1;
        }
        if len == 0 {
            return;
        }
        store.reserve(store.len() + GROUP);
        if !store.is_cached() {
            store.touch::<W>(group[..len].iter().map(|(_, entry)| *entry));
        }
        for &(sender, entry) in &group[..len] {
            let (state, rest) = entry.split_at(width);
            if store.insert_of::<W>(state, rest[0], || id(sender, rest[1])) {
                labels.push(label(rest[0], rest[1]));
            }
        }
    }
}

/// Adds the states of some records that are not there yet, as long as there is room, and gives each of these records to `added`.
pub(crate) fn absorb_within<'r>(
    store: &mut impl Insertions,
    records: impl Iterator<Item = (usize, &'r [u64])>,
    room: &Room,
    id: impl Fn(usize, u64) -> u64,
    mut added: impl FnMut(&[u64]),
) {
    for (sender, entry) in records {
        if !room.is_left() {
            return;
        }
        store.reserve(store.len() + 1);
        let (state, rest) = entry.split_at(store.width());
        if store.insert_of::<0>(state, rest[0], || id(sender, rest[1])) {
            room.take();
            added(rest);
        }
    }
}
