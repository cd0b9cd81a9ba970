//! How a state is packed: each part gets a field of as many bits as it needs, within one word.
//!
//! A part whose values are known (a declared type, or an interval that inference found) gets room for exactly these. If
//! inference gave up, the field starts with 8 bits. When a value does not fit, the exploration is restarted with twice
//! as many ([`Overflow`]). Unbounded counters therefore take only the bits that they need.

use crate::ranges::{Interval, Ranges};
use ravelin_program::{Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Intervals with more values than this are treated as unknown.
const KNOWN_SIZE: u64 = 1 << 16;

/// A place in a packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub word: u32,
    pub shift: u32,
    pub mask: u64,
    /// The value of a field whose bits are all 0.
    pub lo: Value,
}

impl Field {
    #[inline]
    pub fn get(&self, state: &[u64]) -> Value {
        (((state[self.word as usize] >> self.shift) & self.mask) as Value).wrapping_add(self.lo)
    }

    #[inline]
    pub fn set(&self, state: &mut [u64], value: Value) {
        debug_assert!(self.holds(value));
        let bits = value.wrapping_sub(self.lo) as u64 & self.mask;
        let word = &mut state[self.word as usize];
        *word = *word & !(self.mask << self.shift) | bits << self.shift;
    }

    #[inline]
    pub fn holds(&self, value: Value) -> bool {
        value.wrapping_sub(self.lo) as u64 <= self.mask
    }

    pub fn bits(&self) -> u32 {
        64 - self.mask.leading_zeros()
    }
}

/// Something that the layout has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Register {
        thread: usize,
        register: usize,
    },
    Cell {
        slot: usize,
    },
    Address(Value),
    /// Messages beside the state need so many words.
    Messages {
        words: usize,
    },
}

impl Overflow {
    /// As words, for other processes that make the same search.
    pub(crate) fn words(self) -> [u64; 3] {
        match self {
            Overflow::Register { thread, register } => [0, thread as u64, register as u64],
            Overflow::Cell { slot } => [1, slot as u64, 0],
            Overflow::Address(address) => [2, address as u64, 0],
            Overflow::Messages { words } => [3, words as u64, 0],
        }
    }

    /// From the words of another process.
    pub(crate) fn of_words([kind, first, second]: [u64; 3]) -> Overflow {
        match kind {
            0 => Overflow::Register { thread: first as usize, register: second as usize },
            1 => Overflow::Cell { slot: first as usize },
            2 => Overflow::Address(first as Value),
            _ => Overflow::Messages { words: first as usize },
        }
    }
}

/// What was learnt from layouts that were too small; a new layout starts from it.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// By name: threads that run the same code grow together, so that they stay exchangeable.
    registers: BTreeMap<String, u32>,
    /// By variable, or by address for cells without a name.
    variables: BTreeMap<String, u32>,
    cells: BTreeMap<Value, u32>,
    addresses: BTreeSet<Value>,
    /// The address that was missing last.
    last: Option<Value>,
}

impl Growth {
    /// Makes room for what was outgrown, and for as much again.
    pub(crate) fn grow(&mut self, outgrown: Overflow, program: &Program, layout: &Layout) {
        let doubled = |bits: &mut u32| *bits = (*bits * 2).min(64);
        match outgrown {
            Overflow::Register { thread, register } => {
                let name = program.threads[thread].registers[register].name.clone();
                doubled(self.registers.entry(name).or_insert(FIRST_BITS));
            }
            Overflow::Cell { slot } => match program.memory.variable_at(layout.addresses[slot]) {
                Some(variable) => doubled(self.variables.entry(variable.name.clone()).or_insert(FIRST_BITS)),
                None => doubled(self.cells.entry(layout.addresses[slot]).or_insert(FIRST_BITS)),
            },
            Overflow::Address(address) => self.extrapolate(address),
            // The layout has no part in it.
            Overflow::Messages { .. } => {}
        }
    }

    /// A thread that traverses memory takes steps of one length: adds as many addresses ahead as exist.
    fn extrapolate(&mut self, address: Value) {
        let stride = self.last.map_or(1, |last| address.wrapping_sub(last));
        let ahead = self.addresses.len().clamp(1, 4096) as Value;
        // The farthest of these will be reached next, so the stride is measured from there.
        for step in 0..ahead {
            let next = address.wrapping_add(stride.wrapping_mul(step));
            self.addresses.insert(next);
            self.last = Some(next);
        }
    }

    fn of_register(&self, program: &Program, thread: usize, register: usize) -> Option<u32> {
        self.registers.get(&program.threads[thread].registers[register].name).copied()
    }

    fn of_cell(&self, program: &Program, address: Value) -> Option<u32> {
        match program.memory.variable_at(address) {
            Some(variable) => self.variables.get(&variable.name).copied(),
            None => self.cells.get(&address).copied(),
        }
    }
}

const FIRST_BITS: u32 = 8;

/// The fields of a state.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub words: usize,
    pub locations: Vec<Field>,
    pub registers: Vec<Vec<Field>>,
    /// By slot; `addresses` says which cell a slot is.
    pub cells: Vec<Field>,
    pub addresses: Vec<Value>,
    pub buffers: Vec<BufferFields>,
    /// The thread that holds the bus lock, plus 1; only if the program uses it.
    pub bus: Option<Field>,
}

/// The store buffer of one thread: the oldest entry first, unused entries all 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct BufferFields {
    pub len: Option<Field>,
    pub entries: Vec<EntryFields>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryFields {
    /// A slot, or the number of slots for a PSO marker.
    pub slot: Field,
    pub value: Field,
}

impl Layout {
    /// `capacity`: for each thread how many entries its buffer has.
    pub fn new(program: &Program, ranges: &Ranges, capacity: &[usize], bus: bool, growth: &Growth) -> Layout {
        let mut packer = Packer::default();
        let mut addresses: Vec<Value> = ranges.cells.keys().copied().chain(growth.addresses.iter().copied()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let windows: Vec<Interval> = addresses
            .iter()
            .map(|address| {
                let interval = ranges.cells.get(address).copied().unwrap_or(ranges.others);
                window(interval, growth.of_cell(program, *address))
            })
            .collect();
        let locations = program
            .threads
            .iter()
            .map(|thread| packer.field(Interval { lo: 0, hi: thread.locations.len() as Value - 1 }))
            .collect();
        let registers = ranges
            .registers
            .iter()
            .enumerate()
            .map(|(thread, registers)| {
                registers
                    .iter()
                    .enumerate()
                    .map(|(register, interval)| {
                        packer.field(window(*interval, growth.of_register(program, thread, register)))
                    })
                    .collect()
            })
            .collect();
        let cells = windows.iter().map(|window| packer.field(*window)).collect();
        let any_value = windows.iter().copied().reduce(Interval::join).unwrap_or(Interval::point(0));
        let buffers = capacity
            .iter()
            .map(|&capacity| BufferFields {
                len: (capacity > 0).then(|| packer.field(Interval { lo: 0, hi: capacity as Value })),
                entries: (0..capacity)
                    .map(|_| EntryFields {
                        slot: packer.field(Interval { lo: 0, hi: addresses.len() as Value }),
                        value: packer.field(Interval { lo: any_value.lo.min(0), hi: any_value.hi.max(0) }),
                    })
                    .collect(),
            })
            .collect();
        let bus = bus.then(|| packer.field(Interval { lo: 0, hi: program.threads.len() as Value }));
        Layout { words: packer.free.len().max(1), locations, registers, cells, addresses, buffers, bus }
    }

    pub fn slot_of(&self, address: Value) -> Option<usize> {
        self.addresses.binary_search(&address).ok()
    }
}

/// The values a field has room for: the interval if it is known, else a guess that can grow.
fn window(interval: Interval, grown: Option<u32>) -> Interval {
    let size = (interval.hi as i128 - interval.lo as i128 + 1) as u128;
    if size <= u128::from(KNOWN_SIZE) {
        return interval;
    }
    let bits = grown.unwrap_or(FIRST_BITS);
    if bits >= 64 {
        return Interval::FULL;
    }
    let half = 1i64 << (bits - 1);
    if interval.lo >= 0 && interval.lo < 2 * half - 1 {
        Interval { lo: 0, hi: half - 1 + half }
    } else {
        Interval { lo: -half, hi: half - 1 }
    }
}

/// Puts fields into words, each into the first word that has room.
#[derive(Default)]
pub(crate) struct Packer {
    /// Bits left in each word.
    free: Vec<u32>,
    /// By number of bits: the words before this one have no room for as many. Room only shrinks.
    full: Vec<usize>,
}

impl Packer {
    /// Begins after words that are full.
    pub fn behind(words: usize) -> Packer {
        Packer { free: vec![0; words], full: Vec::new() }
    }

    pub fn words(&self) -> usize {
        self.free.len()
    }

    pub fn field(&mut self, values: Interval) -> Field {
        let range = (values.hi as i128 - values.lo as i128) as u128 as u64;
        let bits = 64 - range.leading_zeros();
        let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        if bits == 0 {
            return Field { word: 0, shift: 0, mask: 0, lo: values.lo };
        }
        self.full.resize(65, 0);
        let full = &mut self.full[bits as usize];
        while self.free.get(*full).is_some_and(|&free| free < bits) {
            *full += 1;
        }
        let word = *full;
        if word == self.free.len() {
            self.free.push(64);
        }
        let shift = 64 - self.free[word];
        self.free[word] -= bits;
        Field { word: word as u32, shift, mask, lo: values.lo }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_values_apart() {
        let mut packer = Packer::default();
        let windows = [(0, 1), (-3, 4), (5, 5), (Value::MIN, Value::MAX), (0, 1000), (-1, 62), (0, i64::MAX)];
        let fields: Vec<Field> = windows.iter().map(|&(lo, hi)| packer.field(Interval { lo, hi })).collect();
        let mut state = vec![0; packer.free.len()];
        for (field, (lo, hi)) in fields.iter().zip(windows) {
            assert_eq!(field.get(&state), lo, "all bits 0 stand for the least value");
            field.set(&mut state, hi);
        }
        for (field, (_, hi)) in fields.iter().zip(windows) {
            assert_eq!(field.get(&state), hi);
        }
        for (field, (lo, _)) in fields.iter().zip(windows) {
            field.set(&mut state, lo);
        }
        assert!(state.iter().all(|&word| word == 0));
    }

    #[test]
    fn unknown_values_start_with_eight_bits() {
        assert_eq!(window(Interval::FULL, None), Interval { lo: -128, hi: 127 });
        assert_eq!(window(Interval { lo: 0, hi: Value::MAX }, None), Interval { lo: 0, hi: 255 });
        assert_eq!(window(Interval::FULL, Some(64)), Interval::FULL);
        assert_eq!(window(Interval { lo: 3, hi: 9 }, None), Interval { lo: 3, hi: 9 });
    }
}
