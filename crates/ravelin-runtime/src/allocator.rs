//! The runtime's own memory: never the program's `malloc`.
//!
//! Small blocks come in classes. Each thread caches some free blocks of each class and exchanges them with the common
//! stock in batches, so most allocations take no lock. Large blocks are mappings.

use crate::mapping;
use crate::spin::Spin;
use crate::this_thread;
use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

/// Sizes and addresses are multiples of this.
const STEP: usize = 16;
/// Classes 0 to 31 are the multiples of 16 up to 512; after that there are four classes per doubling, up to
/// [`LARGEST`].
const FINE: usize = 32;
const LARGEST: usize = 1 << 16;
pub const CLASSES: usize = FINE + 4 * 7;
/// How many bytes move between a thread and the stock at a time, and how many blocks at most.
const BATCH: usize = 1 << 13;
const BATCH_BLOCKS: usize = 32;
/// How many bytes a thread takes from the stock at a time: a short run should not touch pages that it does not need.
const REFILL: usize = 1 << 11;
/// How much a stock takes at a time. It begins with little and takes [`GROWTH`] times as much each time: the first blocks
/// of all classes lie in few pages, because each page that a forked process writes is copied.
const CHUNK: usize = 1 << 18;
const FIRST_CHUNK: usize = 1 << 9;
const GROWTH: usize = 4;
/// Chunks begin at multiples of this, so that blocks of this size lie in one line of the cache.
const LINE: usize = 1 << 6;
/// How much is taken from the kernel at a time.
const REGION: usize = 1 << 25;
/// The size of the first region, which is enough for most programs. Later regions use huge pages.
const BEGINNING: usize = 1 << 23;

struct Own;

#[cfg_attr(not(test), global_allocator)]
static OWN: Own = Own;

struct Free {
    next: *mut Free,
}

/// The free blocks of one thread.
pub struct Cache {
    heads: [*mut Free; CLASSES],
    counts: [u32; CLASSES],
}

impl Cache {
    /// No blocks.
    pub const fn new() -> Cache {
        Cache { heads: [null_mut(); CLASSES], counts: [0; CLASSES] }
    }

    fn pop(&mut self, class: usize) -> *mut u8 {
        if self.heads[class].is_null() {
            self.refill(class);
        }
        let head = self.heads[class];
        if !head.is_null() {
            // SAFETY: blocks in the list are free and hold a link.
            self.heads[class] = unsafe { (*head).next };
            self.counts[class] -= 1;
        }
        head.cast()
    }

    fn push(&mut self, class: usize, block: *mut u8) {
        let block: *mut Free = block.cast();
        // SAFETY: the block is free now, big enough for a link and aligned.
        unsafe { (*block).next = self.heads[class] };
        self.heads[class] = block;
        self.counts[class] += 1;
        if self.counts[class] as usize >= 2 * batch(class) {
            self.give_back(class, batch(class));
        }
    }

    #[cold]
    fn refill(&mut self, class: usize) {
        let mut stock = STOCK[class].lock();
        for _ in 0..batch(class).min((REFILL / size_of_class(class)).max(1)) {
            let block: *mut Free = stock.take(class);
            if block.is_null() {
                return;
            }
            // SAFETY: the block is free and big enough for a link.
            unsafe { (*block).next = self.heads[class] };
            self.heads[class] = block;
            self.counts[class] += 1;
        }
    }

    #[cold]
    fn give_back(&mut self, class: usize, how_many: usize) {
        let mut stock = STOCK[class].lock();
        for _ in 0..how_many {
            let block = self.heads[class];
            if block.is_null() {
                return;
            }
            // SAFETY: blocks in the list are free and hold a link.
            unsafe {
                self.heads[class] = (*block).next;
                (*block).next = stock.free;
            }
            stock.free = block;
            self.counts[class] -= 1;
        }
    }

    /// Gives all blocks back when the thread ends.
    pub fn drain(&mut self) {
        for class in 0..CLASSES {
            self.give_back(class, usize::MAX);
        }
    }
}

/// Memory taken from the kernel that no stock has yet.
struct Chunks {
    fresh: usize,
    end: usize,
    beginning: bool,
}

static CHUNKS: Spin<Chunks> = Spin::new(Chunks { fresh: 0, end: 0, beginning: true });

impl Chunks {
    /// The address of a chunk, or 0 if there is no memory.
    fn take(&mut self, length: usize) -> usize {
        let taken = length;
        if self.end - self.fresh < length {
            let length = if self.beginning { BEGINNING } else { REGION };
            let region = mapping::map(length) as usize;
            if region == 0 {
                return 0;
            }
            if !self.beginning {
                // SAFETY: it was mapped just now.
                unsafe { mapping::prefer_huge_pages(region, length) };
            }
            self.beginning = false;
            (self.fresh, self.end) = (region, region + length);
        }
        self.fresh += taken;
        self.fresh - taken
    }
}

/// The common stock of one class.
struct Stock {
    free: *mut Free,
    fresh: usize,
    end: usize,
    /// How much it took last time.
    taken: usize,
}

// SAFETY: the pointers lead to free blocks to which there are no other references.
unsafe impl Send for Stock {}

static STOCK: [Spin<Stock>; CLASSES] =
    [const { Spin::new(Stock { free: null_mut(), fresh: 0, end: 0, taken: 0 }) }; CLASSES];

impl Stock {
    fn take(&mut self, class: usize) -> *mut Free {
        if !self.free.is_null() {
            let block = self.free;
            // SAFETY: blocks in the list are free and hold a link.
            self.free = unsafe { (*block).next };
            return block;
        }
        self.take_fresh(class)
    }

    /// A block that was never used: all zeroes.
    fn take_fresh(&mut self, class: usize) -> *mut Free {
        let size = size_of_class(class);
        if self.end - self.fresh < size {
            let length = (GROWTH * self.taken).clamp(FIRST_CHUNK, CHUNK).max(size.next_multiple_of(LINE));
            let chunk = CHUNKS.lock().take(length);
            if chunk == 0 {
                return null_mut();
            }
            self.fresh = chunk;
            self.end = chunk + length;
            self.taken = length;
        }
        let block = self.fresh;
        self.fresh += size;
        block as *mut Free
    }
}

/// No other thread is in the middle of a change until [`unlock`]: the process is about to be copied.
pub fn lock() {
    STOCK.iter().for_each(Spin::close);
    CHUNKS.close();
}

/// See [`lock`].
pub fn unlock() {
    // SAFETY: `lock` has closed all of them.
    unsafe {
        CHUNKS.open();
        STOCK.iter().for_each(|stock| stock.open());
    }
}

/// How many blocks of a class move at a time.
fn batch(class: usize) -> usize {
    (BATCH / size_of_class(class)).clamp(1, BATCH_BLOCKS)
}

fn class_of(size: usize) -> usize {
    let size = size.max(1);
    if size <= FINE * STEP {
        return (size - 1) / STEP;
    }
    // The highest bit of `size - 1` gives the doubling, the two bits after it the quarter.
    let doubling = (size - 1).ilog2();
    let quarter = (size - 1) >> (doubling - 2) & 3;
    FINE + 4 * (doubling as usize - 9) + quarter
}

fn size_of_class(class: usize) -> usize {
    if class < FINE {
        return (class + 1) * STEP;
    }
    let (doubling, quarter) = ((class - FINE) / 4 + 9, (class - FINE) % 4);
    (5 + quarter) << (doubling - 2)
}

// SAFETY: blocks of a class are disjoint pieces of mapped chunks, at least as big as requested, and aligned to 16.
// Requests for a larger size or alignment get a mapping.
unsafe impl GlobalAlloc for Own {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > STEP {
            return mapping::map(layout.size());
        }
        let class = class_of(layout.size());
        match this_thread::cache() {
            Some(cache) => cache.pop(class),
            None => STOCK[class].lock().take(class).cast(),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        /// Of a block of this size, pages may never be needed: they are not touched here if the block is new.
        const LARGE: usize = 1 << 12;
        if layout.size() > LARGEST || layout.align() > STEP {
            return mapping::map(layout.size());
        }
        if layout.size() >= LARGE {
            let class = class_of(layout.size());
            let mut stock = STOCK[class].lock();
            if stock.free.is_null() {
                return stock.take_fresh(class).cast();
            }
        }
        // SAFETY: guaranteed by the caller; a block that there is has that many bytes.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() > LARGEST || layout.align() > STEP {
            // SAFETY: `alloc` mapped it with this length.
            unsafe { mapping::unmap(block, layout.size()) };
            return;
        }
        let class = class_of(layout.size());
        match this_thread::cache() {
            Some(cache) => cache.push(class, block),
            None => {
                let block: *mut Free = block.cast();
                let mut stock = STOCK[class].lock();
                // SAFETY: the block is free now and big enough for a link.
                unsafe { (*block).next = stock.free };
                stock.free = block;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::watched;
    use std::collections::BTreeSet;

    /// A class of blocks that no other test uses, so that the stock is known.
    const DRAINED: usize = CLASSES - 2;
    const EXCHANGED: usize = CLASSES - 5;

    #[test]
    fn a_block_of_a_class_is_big_enough_and_no_smaller_class_has_one() {
        for size in 0..=LARGEST {
            let class = class_of(size);
            assert!(size_of_class(class) >= size, "{size}");
            assert!(class == 0 || size_of_class(class - 1) < size, "{size}");
        }
        assert_eq!(class_of(LARGEST), CLASSES - 1);
        assert_eq!(size_of_class(CLASSES - 1), LARGEST);
    }

    #[test]
    fn sizes_of_classes_grow_by_a_quarter_at_most_and_keep_blocks_aligned() {
        for class in 0..CLASSES {
            assert_eq!(size_of_class(class) % STEP, 0);
            assert!(batch(class) >= 1 && batch(class) <= BATCH_BLOCKS);
            assert!(size_of_class(class) <= CHUNK);
        }
        for class in FINE..CLASSES {
            assert!(size_of_class(class) * 4 <= size_of_class(class - 1) * 5, "{class}");
        }
    }

    /// Some blocks, each with the layout it was allocated with.
    fn allocate(layouts: &[Layout]) -> Vec<(*mut u8, Layout)> {
        // SAFETY: the layouts have sizes other than 0.
        layouts.iter().map(|layout| (unsafe { OWN.alloc(*layout) }, *layout)).collect()
    }

    /// Checks that each block is aligned and that all blocks can be filled without overlap, and frees them.
    fn use_and_free(blocks: &[(*mut u8, Layout)]) {
        for (index, (block, layout)) in blocks.iter().enumerate() {
            assert!(!block.is_null());
            assert_eq!(*block as usize % layout.align(), 0, "{layout:?}");
            // SAFETY: the block has that many bytes.
            unsafe { std::ptr::write_bytes(*block, index as u8, layout.size()) };
        }
        for (index, (block, layout)) in blocks.iter().enumerate() {
            // SAFETY: as above.
            let bytes = unsafe { std::slice::from_raw_parts(*block, layout.size()) };
            assert!(bytes.iter().all(|byte| *byte == index as u8), "{layout:?} shares memory");
        }
        for (block, layout) in blocks {
            // SAFETY: allocated with this layout, and not used any more.
            unsafe { OWN.dealloc(*block, *layout) };
        }
    }

    #[test]
    fn zeroed_blocks_are_zero_whether_they_were_used_or_not() {
        for layout in layouts() {
            for _ in 0..3 {
                // SAFETY: the layouts have sizes other than 0, and the block is freed with its own.
                unsafe {
                    let block = OWN.alloc_zeroed(layout);
                    assert!(!block.is_null());
                    let bytes = std::slice::from_raw_parts(block, layout.size());
                    assert!(bytes.iter().all(|byte| *byte == 0), "{layout:?}");
                    block.write_bytes(7, layout.size());
                    OWN.dealloc(block, layout);
                }
            }
        }
    }

    fn layouts() -> Vec<Layout> {
        let sizes = [1, 8, 16, 17, 100, 511, 512, 513, 640, 641, 4_000, 65_535, LARGEST, LARGEST + 1, 300_000];
        let shapes = sizes.into_iter().flat_map(|size| [1, 8, 16, 64, 4096].map(|align| (size, align)));
        shapes.map(|(size, align)| Layout::from_size_align(size, align).expect("a layout")).collect()
    }

    #[test]
    fn blocks_are_disjoint_and_aligned_in_a_thread_that_is_not_known() {
        for _ in 0..3 {
            use_and_free(&allocate(&layouts()));
        }
    }

    #[test]
    fn blocks_are_disjoint_and_aligned_in_a_thread_with_blocks_of_its_own() {
        watched(|| {
            for _ in 0..3 {
                let inside = this_thread::enter().expect("a watched thread");
                let (blocks, more) = (allocate(&layouts()), allocate(&layouts()));
                use_and_free(&blocks);
                use_and_free(&more);
                drop(inside);
            }
        });
    }

    #[test]
    fn a_block_that_was_given_back_is_handed_out_again() {
        let mut cache = Cache::new();
        let first = cache.pop(EXCHANGED);
        cache.push(EXCHANGED, first);
        assert_eq!(cache.pop(EXCHANGED), first);
        cache.push(EXCHANGED, first);
        cache.drain();
    }

    #[test]
    fn a_thread_gives_back_what_it_has_too_much_of_and_everything_at_its_end() {
        let count = |cache: &Cache| {
            let mut blocks = BTreeSet::new();
            let mut at = cache.heads[DRAINED];
            while !at.is_null() {
                assert!(blocks.insert(at as usize), "a block is in the list twice");
                // SAFETY: blocks in the list are free and hold a link.
                at = unsafe { (*at).next };
            }
            assert_eq!(blocks.len(), cache.counts[DRAINED] as usize);
            blocks.len()
        };
        let in_stock = || {
            let (mut stock_count, mut at) = (0, STOCK[DRAINED].lock().free);
            while !at.is_null() {
                stock_count += 1;
                // SAFETY: as above, and no other test uses the class.
                at = unsafe { (*at).next };
            }
            stock_count
        };
        let mut cache = Cache::new();
        let most = 2 * batch(DRAINED);
        let blocks: Vec<*mut u8> = (0..most + 3).map(|_| cache.pop(DRAINED)).collect();
        assert_eq!(blocks.iter().collect::<BTreeSet<_>>().len(), blocks.len());
        for block in &blocks {
            cache.push(DRAINED, *block);
            assert!(count(&cache) < most);
        }
        assert_eq!(count(&cache) + in_stock(), blocks.len());
        cache.drain();
        assert_eq!((count(&cache), in_stock()), (0, blocks.len()));
    }

    #[test]
    fn what_one_thread_gave_back_another_can_take() {
        const CLASS: usize = CLASSES - 3;
        let mut one = Cache::new();
        let blocks: BTreeSet<*mut u8> = (0..4).map(|_| one.pop(CLASS)).collect();
        blocks.iter().for_each(|block| one.push(CLASS, *block));
        one.drain();
        let mut other = Cache::new();
        assert!((0..4).all(|_| blocks.contains(&other.pop(CLASS))));
    }
}
