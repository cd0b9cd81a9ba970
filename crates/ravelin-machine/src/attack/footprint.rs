//! Which cells each instruction can touch, for answers that need no search.

use crate::ranges::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Instruction, Program, Value};

/// What an instruction may read and write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub reads: Vec<AddressRange>,
    pub writes: Vec<AddressRange>,
}

/// Consecutive addresses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressRange {
    pub first: Value,
    pub last: Value,
}

impl AddressRange {
    pub fn meets(&self, other: &AddressRange) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// The only cell, if there is only one.
    pub fn single(&self) -> Option<Value> {
        (self.first == self.last).then_some(self.first)
    }
}

/// By thread and transition of a lowered program.
pub fn footprints(program: &Program, watch: &Watch) -> Result<Vec<Vec<Footprint>>, Limit> {
    let ranges = Ranges::infer(program, watch)?;
    let of = |thread: usize, instruction: &Instruction| {
        let mut footprint = Footprint::default();
        for access in instruction.accesses() {
            let Interval { lo, hi } = ranges.addresses(program, thread, access.address);
            let cells = AddressRange { first: lo, last: hi };
            footprint.reads.extend(access.reads.then_some(cells));
            footprint.writes.extend(access.writes.then_some(cells));
        }
        footprint
    };
    let mut footprints = Vec::with_capacity(program.threads.len());
    for (number, thread) in program.threads.iter().enumerate() {
        watch.hold(thread.transitions.len() * (size_of::<Footprint>() + size_of::<AddressRange>()))?;
        footprints.push(thread.transitions.iter().map(|t| of(number, &t.instruction)).collect());
    }
    Ok(footprints)
}
