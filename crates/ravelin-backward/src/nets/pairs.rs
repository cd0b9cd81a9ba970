//! What can be marked together: a forward over-approximation that prunes the search.
//!
//! The least relation that contains the pairs of places marked at the start and is closed under firing, where a transition is thought
//! to be enabled as soon as the places it takes from are pairwise possible. A marking with a pair of places outside of the relation
//! is unreachable. A place is paired with itself if it can hold two tokens. This is what planners call mutexes (h², Haslum and
//! Geffner 2000); in nets that come from programs it finds that a cell holds one value at a time, that a thread is at one place,
//! and which places are never occupied together because of locks and phases.
//!
//! Costs: the square of the number of places in bits, and some rounds over all transitions with as many bits each. Nets with more
//! than [`MOST_PLACES`] places are only asked which places can be marked at all.

use super::{InitialTokens, Marking, Net, PlaceId};

/// Places for which pairs are kept: 32 MiB of bits.
const MOST_PLACES: usize = 1 << 14;

/// Which places can be marked together, perhaps.
pub struct Pairs {
    words: usize,
    /// Places that can be marked.
    single: Vec<u64>,
    /// A row of bits for each place; none if there are too many places.
    rows: Option<Vec<u64>>,
}

impl Pairs {
    /// Computes them; `None` if `late`, which is asked now and then, says that there is no more time.
    pub fn new(net: &Net, late: &mut dyn FnMut() -> bool) -> Option<Pairs> {
        let places = net.places.len();
        let words = places.div_ceil(64);
        let rows = (places <= MOST_PLACES).then(|| vec![0; words * places]);
        let mut pairs = Pairs { words, single: vec![0; words], rows };
        let starts = |count: u32| {
            let allows = move |(_, initial): &(usize, &InitialTokens)| initial.allows(count);
            net.initial.iter().enumerate().filter(allows).map(|(place, _)| place)
        };
        let first: Vec<usize> = starts(1).collect();
        for &place in &first {
            set(&mut pairs.single, place);
        }
        if let Some(rows) = &mut pairs.rows {
            for &place in &first {
                let row = &mut rows[place * words..][..words];
                first.iter().filter(|other| **other != place).for_each(|other| set(row, *other));
            }
            starts(2).for_each(|place| set(&mut rows[place * words..][..words], place));
        }
        pairs.close(net, late).then_some(pairs)
    }

    /// The pairs in a marking are all possible.
    pub fn allow(&self, marking: &Marking) -> bool {
        marking.iter().enumerate().all(|(at, (place, count))| {
            self.can_hold(place)
                && (count < 2 || self.can_meet(place, place))
                && marking.places().skip(at + 1).all(|other| self.can_meet(place, other))
        })
    }

    /// The place can be marked at all.
    pub fn can_hold(&self, place: PlaceId) -> bool {
        get(&self.single, place as usize)
    }

    /// Both can be marked at the same time; of one and the same place: it can hold two tokens.
    pub fn can_meet(&self, place: PlaceId, other: PlaceId) -> bool {
        self.rows.as_ref().is_none_or(|rows| get(&rows[place as usize * self.words..], other as usize))
    }

    /// Fires all transitions until nothing is new.
    fn close(&mut self, net: &Net, late: &mut dyn FnMut() -> bool) -> bool {
        // When a row last changed, and when a transition was last fired, in firings.
        let mut changed = vec![1u64; net.places.len()];
        let mut fired = vec![0u64; net.transitions.len()];
        let mut grew = 1u64;
        let mut clock = 1u64;
        let mut together = vec![0u64; self.words];
        let mut patience = 0u32;
        loop {
            let mut any = false;
            for (number, transition) in net.transitions.iter().enumerate() {
                patience += 1;
                if patience.is_multiple_of(1024) && late() {
                    return false;
                }
                let news = transition.takes.places().map(|place| changed[place as usize]).max().unwrap_or(grew);
                if news <= fired[number] || !self.allow(&transition.takes) {
                    continue;
                }
                clock += 1;
                fired[number] = clock - 1;
                let given = || transition.gives.iter().chain(transition.sets.iter().map(|place| (*place, 1)));
                for (place, _) in given() {
                    if !get(&self.single, place as usize) {
                        set(&mut self.single, place as usize);
                        changed[place as usize] = clock;
                        grew = clock;
                        any = true;
                    }
                }
                let Some(rows) = &mut self.rows else { continue };
                together.copy_from_slice(&self.single);
                for place in transition.takes.places() {
                    let row = &rows[place as usize * self.words..][..self.words];
                    together.iter_mut().zip(row).for_each(|(bits, row)| *bits &= row);
                }
                // What a cell held before it is set is gone.
                for &overwritten in transition.sets.iter().flat_map(|set| net.cell_with(*set)) {
                    together[overwritten as usize / 64] &= !(1 << (overwritten % 64));
                }
                for (place, count) in given() {
                    if count >= 2 {
                        any |= meet(rows, self.words, place, place, &mut changed, clock);
                    }
                    for (other, _) in given().filter(|(other, _)| *other != place) {
                        any |= meet(rows, self.words, place, other, &mut changed, clock);
                    }
                    for word in 0..self.words {
                        let mut new = together[word] & !rows[place as usize * self.words + word];
                        while new != 0 {
                            let other = word as u32 * 64 + new.trailing_zeros();
                            new &= new - 1;
                            any |= meet(rows, self.words, place, other, &mut changed, clock);
                            any |= meet(rows, self.words, other, place, &mut changed, clock);
                        }
                    }
                }
            }
            if !any {
                return true;
            }
        }
    }
}

/// Notes that two places can be marked together. `false` if that was known.
fn meet(rows: &mut [u64], words: usize, place: PlaceId, other: PlaceId, changed: &mut [u64], clock: u64) -> bool {
    let row = &mut rows[place as usize * words..][..words];
    if get(row, other as usize) {
        return false;
    }
    set(row, other as usize);
    changed[place as usize] = clock;
    true
}

fn get(bits: &[u64], place: usize) -> bool {
    bits[place / 64] >> (place % 64) & 1 == 1
}

fn set(bits: &mut [u64], place: usize) {
    bits[place / 64] |= 1 << (place % 64);
}
