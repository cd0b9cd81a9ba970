//! Where the runtime keeps what it knows about the program's memory.
//!
//! Four arrays cover the whole address space, at fixed addresses between the program and its libraries. Their pages
//! exist only where something was written. Only the low 44 bits of an address count. Programs (0x55…, or the lowest 4
//! GB), and libraries and stacks (0x7e… and 0x7f…) differ in bits 40 to 43. `ravelin run` switches off the
//! randomisation that could move them further.
//!
//! | array | for each | holds |
//! | --- | --- | --- |
//! | cells | 8 bytes | the last non-atomic accesses ([`crate::race`]) |
//! | records | 8 bytes | number of the first [`crate::records::WordRecord`]: atomics, locks |
//! | blocks | 16 bytes | number of the heap block that begins here ([`crate::blocks`]) |
//! | groups | 4 KiB | whether the cells were written ([`before_first_write`]) |

use crate::kernel;
use crate::mapping;
use crate::schedule;
use ravelin_clocks::race::cell::ShadowCell;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

const BITS: u32 = 44;
const MASK: usize = (1 << BITS) - 1;

const CELLS: usize = 0x1000_0000_0000;
const CELLS_LENGTH: usize = (1 << BITS) * 4;
const RECORDS: usize = 0x6000_0000_0000;
const RECORDS_LENGTH: usize = (1 << BITS) / 2;
const BLOCKS: usize = 0x6800_0000_0000;
const BLOCKS_LENGTH: usize = (1 << BITS) / 4;
const GROUPS: usize = 0x6c00_0000_0000;
const GROUPS_LENGTH: usize = 1 << (BITS - GROUP_BITS);
/// The cells of 2^this many bytes come into being together.
const GROUP_BITS: u32 = 14;

const ARRAYS: [(usize, usize); 4] =
    [(CELLS, CELLS_LENGTH), (RECORDS, RECORDS_LENGTH), (BLOCKS, BLOCKS_LENGTH), (GROUPS, GROUPS_LENGTH)];

const PAGE: usize = 4096;

/// Reserves the arrays, and returns whether that was possible.
pub fn reserve() -> bool {
    ARRAYS.into_iter().all(|(address, length)| {
        let block = mapping::map_at(address, length);
        if !block.is_null() {
            // SAFETY: only tells the kernel to omit these pages from a core file.
            unsafe { kernel::call(libc::SYS_madvise, [block as usize, length, libc::MADV_DONTDUMP as usize]) };
        }
        !block.is_null()
    })
}

/// The cell of an address.
#[inline(always)]
pub fn cell(address: usize) -> &'static ShadowCell {
    let at = CELLS + ((address & MASK) & !7) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const ShadowCell) }
}

/// A cell that is empty is about to be written. If its page has only been read so far, the kernel has its page of zeros
/// there, and replacing that interrupts all cores that run the program. So the pages around it are made at once. Under a
/// schedule the program runs on one core, and a short run needs few of the pages.
#[inline(always)]
pub fn before_first_write(address: usize) {
    if schedule::is_wanted() {
        return touch(address);
    }
    let group = group(address);
    if group.load(Ordering::Relaxed) == 0 {
        make_group(group, address);
    }
}

#[cold]
fn make_group(group: &AtomicU8, address: usize) {
    group.store(1, Ordering::Relaxed);
    let (first, length) = (CELLS + ((address & MASK) >> GROUP_BITS << GROUP_BITS) * 4, 4 << GROUP_BITS);
    // SAFETY: the pages belong to a reserved array, and their content stays. A kernel that cannot do this does nothing.
    unsafe { mapping::make_pages(first, length) };
}

/// Under a schedule: a bit for each [`TOUCHED_BITS`] part of memory of which a cell or a record was ever made. Parts that
/// are far from each other share a bit. A small table, because each page that a run reads takes it a page fault.
static TOUCHED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// The size of a part, as a power of two.
const TOUCHED_BITS: u32 = 16;

fn touched(part: usize) -> (&'static AtomicU64, u64) {
    (&TOUCHED[part / 64 % TOUCHED.len()], 1 << (part % 64))
}

/// A cell or a record of this address is about to be made.
#[inline(never)]
pub fn touch(address: usize) {
    let (word, bit) = touched((address & MASK) >> TOUCHED_BITS);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Whether there may be cells or records of a range. New memory usually has none, and looking for them there takes longer
/// than a short run has for it.
pub fn may_be_touched(address: usize, length: usize) -> bool {
    if !schedule::is_wanted() {
        return true;
    }
    let (first, last) = ((address & MASK) >> TOUCHED_BITS, ((address & MASK) + length) >> TOUCHED_BITS);
    last - first >= 64 * TOUCHED.len()
        || (first..=last).any(|part| {
            let (word, bit) = touched(part);
            word.load(Ordering::Relaxed) & bit != 0
        })
}

#[inline(always)]
fn group(address: usize) -> &'static AtomicU8 {
    let at = GROUPS + ((address & MASK) >> GROUP_BITS);
    // SAFETY: within the reserved array by the mask, and any bits are atomics.
    unsafe { &*(at as *const AtomicU8) }
}

/// Where the number of the first record of an address's word is.
#[inline(always)]
pub fn record(address: usize) -> &'static AtomicU32 {
    let at = RECORDS + ((address & MASK) >> 3) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const AtomicU32) }
}

/// Where the number of a heap block is.
#[inline(always)]
pub fn block(address: usize) -> &'static AtomicU32 {
    let at = BLOCKS + ((address & MASK) >> 4) * 4;
    // SAFETY: within the reserved array by the mask, aligned, and any bits are atomics.
    unsafe { &*(at as *const AtomicU32) }
}

/// Calls `work` with every nonzero number of a record in a range. Pages that were never written are skipped.
pub fn for_each_record(address: usize, length: usize, mut work: impl FnMut(&'static AtomicU32)) {
    /// Searching for existing pages pays off for ranges longer than this.
    const LONG: usize = 1 << 15;
    let start = RECORDS + ((address & MASK) >> 3) * 4;
    let end = RECORDS + (((address & MASK) + length).div_ceil(8)) * 4;
    let mut within = |from: usize, to: usize| {
        for at in (from..to).step_by(4) {
            // SAFETY: within the reserved array, aligned, and any bits are atomics.
            let head = unsafe { &*(at as *const AtomicU32) };
            if head.load(Ordering::Relaxed) != 0 {
                work(head);
            }
        }
    };
    if end - start < LONG {
        return within(start, end);
    }
    // Enough for the stack of a thread, as it usually is.
    let mut exists = [0u8; 2048];
    let mut page = start & !(PAGE - 1);
    while page < end {
        let pages = (end - page).div_ceil(PAGE).min(exists.len());
        // SAFETY: the array of answers has room for that many pages, all of which are reserved.
        let asked = unsafe { kernel::call(libc::SYS_mincore, [page, pages * PAGE, exists.as_mut_ptr() as usize]) };
        for (index, exists) in exists.iter().enumerate().take(pages) {
            if asked != 0 || exists & 1 != 0 {
                let from = page + index * PAGE;
                within(from.max(start), (from + PAGE).min(end));
            }
        }
        page += pages * PAGE;
    }
}

/// Empties all cells.
pub fn clear_all_cells() {
    // SAFETY: the whole arrays, whose content may be zeroed at any time.
    unsafe {
        mapping::clear_pages(CELLS, CELLS_LENGTH);
        mapping::clear_pages(GROUPS, GROUPS_LENGTH);
    }
}

/// Empties the cells of a range of whole words.
pub fn clear_cells(address: usize, length: usize) {
    /// From this length on, the pages are given back.
    const LARGE: usize = 1 << 17;
    let start = CELLS + ((address & MASK) & !7) * 4;
    let length = length.div_ceil(8) * size_of::<ShadowCell>();
    let end = start + length;
    let (first, last) = (start.next_multiple_of(PAGE), end & !(PAGE - 1));
    // SAFETY: the range lies in the reserved array, whose content may be zeroed at any time.
    unsafe {
        if length < LARGE {
            std::ptr::write_bytes(start as *mut u8, 0, length);
        } else {
            std::ptr::write_bytes(start as *mut u8, 0, first - start);
            mapping::clear_pages(first, last - first);
            std::ptr::write_bytes(last as *mut u8, 0, end - last);
            let group = |cells: usize| group((cells - CELLS) / 4);
            let groups = group(last - 1).as_ptr().addr() - group(first).as_ptr().addr() + 1;
            std::ptr::write_bytes(group(first).as_ptr(), 0, groups);
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::process;
    use std::sync::atomic::AtomicUsize;

    /// The beginning of a range of addresses that nothing else uses, neither a test nor the test program itself. The
    /// shadow of memory exists whether or not the memory does.
    pub fn unused(length: usize) -> usize {
        const FIRST: usize = 0x0200_0000_0000;
        const GAP: usize = 1 << 20;
        static NEXT: AtomicUsize = AtomicUsize::new(FIRST);
        assert!(process::reserve(), "there is address space for the shadow");
        let address = NEXT.fetch_add(length.next_multiple_of(GAP) + GAP, Ordering::Relaxed);
        assert!(address + length < 2 * FIRST, "there are as many addresses");
        address
    }

    #[test]
    fn the_bytes_of_a_word_share_a_cell_and_a_record_and_no_others_do() {
        let word = unused(16);
        for byte in word..word + 8 {
            assert!(std::ptr::eq(cell(byte), cell(word)));
            assert!(std::ptr::eq(record(byte), record(word)));
        }
        assert_eq!(cell(word + 8).as_ptr() as usize - cell(word).as_ptr() as usize, size_of::<ShadowCell>());
        assert_eq!(record(word + 8).as_ptr() as usize - record(word).as_ptr() as usize, 4);
        assert_eq!(block(word + 16).as_ptr() as usize - block(word).as_ptr() as usize, 4);
        assert!(std::ptr::eq(block(word + 15), block(word)));
    }

    #[test]
    fn the_shadow_of_every_address_lies_in_its_array() {
        for address in [0, 0x40_0000, 0x5555_5555_4000, 0x7e12_3456_7890, 0x7fff_ffff_ffff, usize::MAX] {
            let within = |at: usize, start: usize, length: usize| (start..start + length).contains(&at);
            assert!(within(cell(address).as_ptr() as usize, CELLS, CELLS_LENGTH), "{address:#x}");
            assert!(within(record(address).as_ptr() as usize, RECORDS, RECORDS_LENGTH), "{address:#x}");
            assert!(within(block(address).as_ptr() as usize, BLOCKS, BLOCKS_LENGTH), "{address:#x}");
        }
    }

    #[test]
    fn programs_and_libraries_have_shadows_of_their_own() {
        let places = [0x40_0000, 0x5555_5555_4000, 0x7e00_0000_0000, 0x7f00_0000_0000, 0x7fff_f7fc_0000];
        for (index, one) in places.iter().enumerate() {
            for other in &places[index + 1..] {
                assert!(!std::ptr::eq(cell(*one), cell(*other)), "{one:#x} and {other:#x}");
            }
        }
    }

    #[test]
    fn a_range_is_touched_where_something_was_and_at_most_at_few_other_places() {
        let address = unused(64 << 20);
        // Of the test program there is no schedule, which would mean that nothing is missed.
        assert!(may_be_touched(address, 8));
        let bits = |address: usize, length: usize| {
            let parts = (address & MASK) >> TOUCHED_BITS..=((address & MASK) + length) >> TOUCHED_BITS;
            parts.filter(|&part| touched(part).0.load(Ordering::Relaxed) & touched(part).1 != 0).count()
        };
        assert_eq!(bits(address, 32 << 20), 0);
        touch(address + (5 << 20));
        touch(address + (5 << 20) + 8);
        assert_eq!(bits(address, 32 << 20), 1);
        assert_eq!(bits(address, 4 << 20), 0);
        assert_eq!(bits(address + (5 << 20) - 8, 8), 1, "the end of a range counts");
    }

    /// Where [`for_each_record`] finds something, as offsets in the range.
    fn found(address: usize, length: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for_each_record(address, length, |head| {
            found.push((head.as_ptr() as usize - record(address).as_ptr() as usize) * 2);
        });
        found
    }

    #[test]
    fn the_records_of_a_range_are_found_and_no_others() {
        // The second range is long enough that the kernel is asked for pages several times.
        for length in [4096, 64 << 20] {
            let address = unused(length + 16) + 8;
            let marked = [0, 8, 1024, length / 2, length - 8];
            for offset in marked {
                record(address + offset).store(1, Ordering::Relaxed);
            }
            record(address - 8).store(1, Ordering::Relaxed);
            record(address + length).store(1, Ordering::Relaxed);
            assert_eq!(found(address, length), marked);
            assert_eq!(found(address + 8, length - 8), marked[1..].iter().map(|at| at - 8).collect::<Vec<_>>());
            assert_eq!(found(address, length - 8), marked[..4]);
            assert_eq!(found(address, length - 7), marked, "a part of a word counts");
        }
    }

    #[test]
    fn the_cells_of_a_range_are_emptied_and_no_others() {
        // The cells of the second range are cleared as pages.
        for length in [64, 1 << 20] {
            let address = unused(length + 16) + 8;
            let marked = [0, 8, length / 2, length - 8];
            for offset in marked {
                cell(address + offset)[3].store(5, Ordering::Relaxed);
            }
            let (before, after) = (&cell(address - 8)[3], &cell(address + length)[0]);
            before.store(6, Ordering::Relaxed);
            after.store(7, Ordering::Relaxed);
            clear_cells(address, length);
            for offset in marked {
                assert_eq!(cell(address + offset)[3].load(Ordering::Relaxed), 0, "{offset} of {length}");
            }
            assert_eq!((before.load(Ordering::Relaxed), after.load(Ordering::Relaxed)), (6, 7), "beside {length}");
        }
    }

    #[test]
    fn the_pages_of_cells_are_made_together_and_again_after_they_were_cleared() {
        const LENGTH: usize = 1 << 20;
        let exist = |address: usize| {
            let mut exists = [0u8; (4 << GROUP_BITS) / PAGE];
            let cells = cell(address).as_ptr() as usize;
            // SAFETY: the array of answers has room for these pages, all of which are reserved.
            unsafe { kernel::call(libc::SYS_mincore, [cells, 4 << GROUP_BITS, exists.as_mut_ptr() as usize]) };
            exists.map(|exists| exists & 1 == 1)
        };
        let address = unused(LENGTH).next_multiple_of(1 << GROUP_BITS);
        for _ in 0..2 {
            assert_eq!(exist(address), [false; _]);
            before_first_write(address + 2 * PAGE);
            assert_eq!(exist(address), [true; _]);
            assert_eq!(exist(address + (1 << GROUP_BITS)), [false; _]);
            cell(address)[1].store(5, Ordering::Relaxed);
            before_first_write(address);
            assert_eq!(cell(address)[1].load(Ordering::Relaxed), 5, "what is there stays");
            clear_cells(address, LENGTH);
        }
    }
}
