//! Memory as places of a net, and what a deed does to it.
//!
//! Each value of each cell is a place, and the token of a cell is at what it holds (section D of the paper, s_{a,v}). A cell that holds
//! the same value always needs no places. One that starts with any value holds a question mark until somebody asks.

use crate::reachability::finite::{CellId, CellPair, EdgeEffect, Finite};
use ravelin_backward::nets::{InitialTokens, Net, PlaceId};

/// The places of memory.
pub(super) struct MemoryPlaces {
    /// By cell and value; empty for cells that hold one value always.
    values: Vec<Vec<PlaceId>>,
    /// By transition of the net among the first: the cell and the value that it starts with.
    pub starts: Vec<CellPair>,
}

/// A transition in the making.
#[derive(Clone, Default)]
pub(super) struct Arcs {
    pub takes: Vec<(PlaceId, u32)>,
    pub gives: Vec<(PlaceId, u32)>,
    pub sets: Vec<PlaceId>,
}

impl Arcs {
    pub fn take(&mut self, place: PlaceId) -> &mut Arcs {
        self.takes.push((place, 1));
        self
    }

    pub fn give(&mut self, place: PlaceId) -> &mut Arcs {
        self.gives.push((place, 1));
        self
    }

    /// Needs a token and leaves it there.
    pub fn look(&mut self, place: PlaceId) -> &mut Arcs {
        // Looking twice needs no second token.
        if !self.takes.contains(&(place, 1)) {
            self.take(place).give(place);
        }
        self
    }
}

impl MemoryPlaces {
    /// Adds the places of memory to a net that has no transitions yet.
    pub fn new(finite: &Finite, net: &mut Net) -> MemoryPlaces {
        let mut memory = MemoryPlaces { values: Vec::new(), starts: Vec::new() };
        for (number, cell) in finite.cells.iter().enumerate() {
            let name = finite.program.memory.name_of(cell.address);
            if cell.values.len() == 1 {
                memory.values.push(Vec::new());
                continue;
            }
            let known = cell.initial == 1;
            let place = |(value, holds): (usize, &i64)| {
                net.place(format!("{name}={holds}"), InitialTokens::Exactly(u32::from(known && value == 0)))
            };
            let places: Vec<PlaceId> = cell.values.iter().enumerate().map(place).collect();
            let open = (!known).then(|| net.place(format!("{name}=?"), InitialTokens::Exactly(1)));
            net.cell(places.iter().copied().chain(open));
            for (value, place) in places.iter().enumerate().take(cell.initial).filter(|_| !known) {
                net.transition(open.map(|open| (open, 1)), [(*place, 1)]);
                memory.starts.push((number as CellId, value as u16));
            }
            memory.values.push(places);
        }
        memory
    }

    /// What a deed does to memory.
    pub fn act(&self, effect: &EdgeEffect, arcs: &mut Arcs) {
        match effect {
            EdgeEffect::Load(reads) => reads.iter().for_each(|pair| self.read(*pair, arcs)),
            EdgeEffect::Store(pair) => arcs.sets.extend(self.place(*pair)),
            EdgeEffect::Atomic { reads, writes } => {
                for &(cell, value) in reads {
                    match writes.iter().find(|(of, _)| *of == cell) {
                        Some(&write) if write.1 != value => {
                            self.place((cell, value)).map(|old| arcs.take(old));
                            self.place(write).map(|new| arcs.give(new));
                        }
                        _ => self.read((cell, value), arcs),
                    }
                }
                let unread = |write: &&CellPair| reads.iter().all(|(cell, _)| *cell != write.0);
                arcs.sets.extend(writes.iter().filter(unread).filter_map(|write| self.place(*write)));
            }
            EdgeEffect::Local | EdgeEffect::Fence | EdgeEffect::BusLock | EdgeEffect::BusUnlock => {}
        }
    }

    /// Needs a cell to hold a value.
    pub fn read(&self, pair: CellPair, arcs: &mut Arcs) {
        if let Some(place) = self.place(pair) {
            arcs.look(place);
        }
    }

    pub fn place(&self, (cell, value): CellPair) -> Option<PlaceId> {
        self.values[cell as usize].get(value as usize).copied()
    }
}
