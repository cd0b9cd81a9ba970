//! Where blocks of the heap were freed, so that a second `free` of the same block can be reported with both places.
//!
//! A table in which many addresses share a place, and the last one is remembered. If a block is freed again long after
//! the first time, the first may be forgotten; then only the C library says that something is wrong.

use crate::blocks::CALLS;
use crate::held::call_record;
use crate::spin::Spin;
use crate::{options, report, this_thread, threads};
use ravelin_findings::{AccessKind, AccessRecord, Problem};

/// Threads free at the same time: one lock for all would be contended.
const PARTS: usize = 64;
const PLACES: usize = 64;

#[derive(Clone, Copy)]
struct BlockFree {
    address: usize,
    size: usize,
    thread: u64,
    calls: [usize; CALLS],
}

const NONE: BlockFree = BlockFree { address: 0, size: 0, thread: 0, calls: [0; CALLS] };

static TABLE: [Spin<[BlockFree; PLACES]>; PARTS] = [const { Spin::new([NONE; PLACES]) }; PARTS];

/// The part and the place of an address.
fn at(address: usize) -> (&'static Spin<[BlockFree; PLACES]>, usize) {
    let hash = (address as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (&TABLE[hash as usize % PARTS], hash as usize / PARTS % PLACES)
}

/// A block of a size is freed by a call that returns to `pc`.
pub fn remember(address: usize, size: usize, pc: usize) {
    let Some(mut inside) = this_thread::enter_unwatched() else { return };
    let thread = inside.thread();
    let mut freed = BlockFree { address, size, thread: thread.number, calls: [0; CALLS] };
    freed.calls[0] = pc;
    for (call, frame) in freed.calls[1..].iter_mut().zip(thread.calls().iter().rev()) {
        *call = frame.pc;
    }
    let (part, place) = at(address);
    part.lock()[place] = freed;
}

/// A call that returns to `pc` frees what is not a block. If it was one, it is freed twice.
#[cold]
pub fn again(address: usize, pc: usize) {
    if threads::is_off() || !options::looks_for(Problem::DoubleFree) {
        return;
    }
    let Some(mut inside) = this_thread::enter_unwatched() else { return };
    let Some(first) = first(address) else { return };
    let thread = inside.thread();
    let second = AccessRecord { size: first.size, ..call_record(thread.number, AccessKind::Free, thread.stack_at(pc)) };
    report::misuse(Problem::DoubleFree, address, second, first, Vec::new());
}

/// The call that freed the block at an address, if it is remembered.
fn first(address: usize) -> Option<AccessRecord> {
    let (part, place) = at(address);
    let first = part.lock()[place];
    let stack = first.calls.into_iter().take_while(|&pc| pc != 0).map(|pc| pc as u64).collect();
    let access = AccessRecord { size: first.size as u64, ..call_record(first.thread, AccessKind::Free, stack) };
    (address != 0 && first.address == address).then_some(access)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::watched;

    #[test]
    fn the_place_where_a_block_was_freed_is_remembered() {
        watched(|| {
            let thread = this_thread::me();
            // SAFETY: the calling thread's own state.
            let number = unsafe {
                (*thread).enter_function(0x31, 900);
                (*thread).number
            };
            remember(0xf4ee_0010, 40, 0x32);
            let freed = first(0xf4ee_0010).expect("it was freed");
            assert_eq!((freed.thread, freed.kind, freed.size), (number, AccessKind::Free, 40));
            assert_eq!(freed.stack, [0x32, 0x31]);
            assert!(first(0xf4ee_0020).is_none() && first(0).is_none());
        });
    }
}
