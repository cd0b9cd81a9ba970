//! The messages of all cells and the views of all threads, unpacked.
//!
//! Only cells that several threads touch and one of them writes have messages here; they are numbered from 0. Positions are numbers too: 0
//! is the oldest message that is kept. A row is a view, one position per cell, with the seq_cst fences that happen before it.

use ravelin_program::Value;

/// Which row of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadRow {
    /// What happens before the thread's next step.
    Cur,
    /// What an acquire fence would add.
    Acq,
    /// What a release fence has given to later relaxed stores.
    Rel,
}

/// A set of seq_cst fences, as bits.
pub(super) type FenceSet = u64;

/// The most seq_cst fences that are kept at a time.
pub(super) const MOST_FENCES: usize = 64;

/// One message, without its view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    pub value: Value,
    /// It was written by an RMW that read the message before it, so nothing can stand between them.
    pub joined: bool,
    /// The number of its row.
    pub row: u32,
    /// Fences that happen before the write, and before some read of it.
    pub written_after: FenceSet,
    pub read_after: FenceSet,
}

/// A seq_cst fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fence {
    /// The number of the row with what it knew.
    pub row: u32,
    /// All fences with a psc path to it.
    pub before: FenceSet,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub cells: usize,
    pub threads: usize,
    /// All rows, `cells` positions each: three per thread, then those of messages and fences in any order.
    positions: Vec<u8>,
    /// The fences of each row.
    pub known_fences: Vec<FenceSet>,
    /// By cell, in modification order.
    pub messages: Vec<Vec<Message>>,
    pub fences: Vec<Fence>,
    /// By cell: the fences before writes and reads of messages that are forgotten.
    pub forgotten: Vec<FenceSet>,
}

impl Memory {
    pub fn new(cells: usize, threads: usize) -> Memory {
        Memory {
            cells,
            threads,
            positions: vec![0; 3 * threads * cells],
            known_fences: vec![0; 3 * threads],
            messages: vec![Vec::new(); cells],
            fences: Vec::new(),
            forgotten: vec![0; cells],
        }
    }

    /// Makes it equal to another without allocating.
    pub fn copy_from(&mut self, other: &Memory) {
        self.cells = other.cells;
        self.threads = other.threads;
        self.positions.clone_from(&other.positions);
        self.known_fences.clone_from(&other.known_fences);
        self.messages.resize_with(other.cells, Vec::new);
        for (mine, theirs) in self.messages.iter_mut().zip(&other.messages) {
            mine.clone_from(theirs);
        }
        self.fences.clone_from(&other.fences);
        self.forgotten.clone_from(&other.forgotten);
    }

    /// No messages, fences or rows but those of the threads, which know nothing.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.positions.resize(3 * self.threads * self.cells, 0);
        self.known_fences.clear();
        self.known_fences.resize(3 * self.threads, 0);
        self.messages.iter_mut().for_each(Vec::clear);
        self.fences.clear();
        self.forgotten.fill(0);
    }

    #[inline]
    pub fn thread_row(&self, thread: usize, row: ThreadRow) -> usize {
        3 * thread + row as usize
    }

    pub fn rows(&self) -> usize {
        self.known_fences.len()
    }

    #[inline]
    pub fn view(&self, row: usize) -> &[u8] {
        &self.positions[row * self.cells..(row + 1) * self.cells]
    }

    #[inline]
    pub fn view_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.positions[row * self.cells..(row + 1) * self.cells]
    }

    /// A new row that knows nothing.
    pub fn add_row(&mut self) -> usize {
        self.positions.resize(self.positions.len() + self.cells, 0);
        self.known_fences.push(0);
        self.known_fences.len() - 1
    }

    /// A new row, equal to another.
    pub fn add_copy(&mut self, of: usize) -> usize {
        self.positions.extend_from_within(of * self.cells..(of + 1) * self.cells);
        self.known_fences.push(self.known_fences[of]);
        self.known_fences.len() - 1
    }

    /// Makes a row equal to another.
    pub fn assign(&mut self, row: usize, from: usize) {
        self.positions.copy_within(from * self.cells..(from + 1) * self.cells, row * self.cells);
        self.known_fences[row] = self.known_fences[from];
    }

    /// Adds to a row what another knows.
    pub fn join(&mut self, row: usize, with: usize) {
        for cell in 0..self.cells {
            let other = self.positions[with * self.cells + cell];
            let mine = &mut self.positions[row * self.cells + cell];
            *mine = (*mine).max(other);
        }
        self.known_fences[row] |= self.known_fences[with];
    }

    /// Makes room for a message: every row that knows the message at the position, or a newer one, knows it by the next number.
    pub fn shift(&mut self, cell: usize, position: usize) {
        for row in 0..self.rows() {
            let at = &mut self.positions[row * self.cells + cell];
            *at += u8::from(usize::from(*at) >= position);
        }
    }

    /// The newest message of a cell that a thread knows: the oldest that it may read.
    #[inline]
    pub fn oldest_readable(&self, thread: usize, cell: usize) -> usize {
        usize::from(self.view(self.thread_row(thread, ThreadRow::Cur))[cell])
    }

    /// A write may stand right behind the message.
    #[inline]
    pub fn is_open(&self, cell: usize, position: usize) -> bool {
        self.messages[cell].get(position + 1).is_none_or(|next| !next.joined)
    }
}
