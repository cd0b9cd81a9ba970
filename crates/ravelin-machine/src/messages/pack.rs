//! Messages and views as bits, written and read by the same code.
//!
//! What follows from the threads' locations is left out: rows that cannot matter, and the mo-latest value of each cell, which is in the packed
//! state of the machine. A position takes as many bits as its cell has messages to distinguish; a cell with one message takes none.

use super::future::ThreadFuture;
use super::memory::{Fence, Memory, Message, ThreadRow};
use crate::layout::Field;
use ravelin_program::Value;

/// Bits for the number of messages of a cell, and of fences.
const COUNT_BITS: u32 = 8;
const FENCE_COUNT_BITS: u32 = 7;

/// Writes or reads one number after the other.
pub(super) trait Bits {
    /// Whether numbers are read.
    const READS: bool;

    /// Writes the lowest bits of a number, or replaces it by what was written.
    fn number(&mut self, number: &mut u64, bits: u32);
}

/// Writes to words, which grow as needed.
#[derive(Default)]
pub(super) struct BitWriter {
    pub words: Vec<u64>,
    /// Bits of the last word that are not used.
    free: u32,
}

impl BitWriter {
    pub fn clear(&mut self) {
        self.words.clear();
        self.free = 0;
    }
}

impl Bits for BitWriter {
    const READS: bool = false;

    #[inline]
    fn number(&mut self, number: &mut u64, bits: u32) {
        if bits == 0 {
            return;
        }
        debug_assert!(bits == 64 || *number >> bits == 0);
        if self.free == 0 {
            self.words.push(0);
            self.free = 64;
        }
        let last = self.words.len() - 1;
        self.words[last] |= *number << (64 - self.free);
        if bits > self.free {
            self.words.push(*number >> self.free);
            self.free += 64;
        }
        self.free -= bits;
    }
}

pub(super) struct BitReader<'a> {
    words: &'a [u64],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(words: &'a [u64]) -> BitReader<'a> {
        BitReader { words, at: 0 }
    }
}

impl Bits for BitReader<'_> {
    const READS: bool = true;

    #[inline]
    fn number(&mut self, number: &mut u64, bits: u32) {
        if bits == 0 {
            *number = 0;
            return;
        }
        let (word, shift) = (self.at / 64, self.at as u32 % 64);
        let mut value = self.words[word] >> shift;
        if shift + bits > 64 {
            value |= self.words[word + 1] << (64 - shift);
        }
        *number = if bits == 64 { value } else { value & ((1 << bits) - 1) };
        self.at += bits as usize;
    }
}

/// How values and counts are packed.
pub(super) struct Packing {
    /// By cell: its field in the machine's state.
    pub fields: Vec<Field>,
    /// There can be seq_cst fences.
    pub fences: bool,
}

impl Packing {
    /// Writes a memory to bits, or reads it. `base` is the state of the machine, and `futures` what its threads can still do.
    pub fn code<B: Bits>(&self, memory: &mut Memory, base: &[u64], futures: &[&ThreadFuture], bits: &mut B) {
        if B::READS {
            memory.clear();
        }
        self.counts(memory, bits);
        let widths: Vec<u32> = memory.messages.iter().map(|messages| width(messages.len())).collect();
        let fences = memory.fences.len() as u32;
        let fences_to_come = futures.iter().any(|future| future.seq_cst);
        for (thread, future) in futures.iter().enumerate().filter(|(_, future)| future.runs) {
            let rows = [ThreadRow::Cur, ThreadRow::Acq, ThreadRow::Rel].map(|row| memory.thread_row(thread, row));
            row(memory, rows[0], &widths, None, fences, bits);
            if future.acquires {
                row(memory, rows[1], &widths, None, fences, bits);
            } else if B::READS {
                memory.assign(rows[1], rows[0]);
            }
            if future.relaxed_writes {
                row(memory, rows[2], &widths, None, fences, bits);
            }
        }
        for cell in 0..memory.cells {
            let count = memory.messages[cell].len();
            for position in 0..count {
                let mut message = memory.messages[cell][position];
                if position + 1 < count {
                    value(&self.fields[cell], &mut message.value, bits);
                } else if B::READS {
                    message.value = self.fields[cell].get(base);
                }
                if position > 0 {
                    let mut joined = u64::from(message.joined);
                    bits.number(&mut joined, 1);
                    message.joined = joined == 1;
                }
                row(memory, message.row as usize, &widths, Some((cell, position)), fences, bits);
                if fences_to_come {
                    bits.number(&mut message.written_after, fences);
                    bits.number(&mut message.read_after, fences);
                }
                memory.messages[cell][position] = message;
            }
            if fences_to_come {
                bits.number(&mut memory.forgotten[cell], fences);
            }
        }
        for number in 0..memory.fences.len() {
            let mut fence = memory.fences[number];
            view(memory, fence.row as usize, &widths, None, bits);
            bits.number(&mut fence.before, fences);
            memory.fences[number] = fence;
        }
    }

    /// How many messages and fences there are; reading makes room for them.
    fn counts<B: Bits>(&self, memory: &mut Memory, bits: &mut B) {
        for cell in 0..memory.cells {
            let mut count = memory.messages[cell].len() as u64;
            bits.number(&mut count, COUNT_BITS);
            if B::READS {
                for _ in 0..count {
                    let row = memory.add_row() as u32;
                    memory.messages[cell].push(Message { row, ..Message::default() });
                }
            }
        }
        if self.fences {
            let mut count = memory.fences.len() as u64;
            bits.number(&mut count, FENCE_COUNT_BITS);
            if B::READS {
                for _ in 0..count {
                    let row = memory.add_row() as u32;
                    memory.fences.push(Fence { row, before: 0 });
                }
            }
        }
    }
}

/// Bits for a position among so many.
fn width(messages: usize) -> u32 {
    usize::BITS - messages.saturating_sub(1).leading_zeros()
}

fn value<B: Bits>(field: &Field, value: &mut Value, bits: &mut B) {
    let mut offset = value.wrapping_sub(field.lo) as u64;
    bits.number(&mut offset, field.bits());
    *value = field.lo.wrapping_add(offset as Value);
}

/// A view and its fences. `own` is a position that is known.
fn row<B: Bits>(
    memory: &mut Memory,
    row: usize,
    widths: &[u32],
    own: Option<(usize, usize)>,
    fences: u32,
    bits: &mut B,
) {
    view(memory, row, widths, own, bits);
    bits.number(&mut memory.known_fences[row], fences);
}

fn view<B: Bits>(memory: &mut Memory, row: usize, widths: &[u32], own: Option<(usize, usize)>, bits: &mut B) {
    let positions = memory.view_mut(row);
    for (cell, (position, &width)) in positions.iter_mut().zip(widths).enumerate() {
        match own {
            Some((own, known)) if own == cell => *position = known as u8,
            _ => {
                let mut number = u64::from(*position);
                bits.number(&mut number, width);
                *position = number as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let numbers = [(5, 3), (0, 0), (u64::MAX, 64), (1, 1), (1 << 40, 41), (0, 7), (u64::MAX >> 1, 63), (3, 2)];
        let mut writer = BitWriter::default();
        for (mut number, bits) in numbers {
            writer.number(&mut number, bits);
        }
        let mut reader = BitReader::new(&writer.words);
        for (written, bits) in numbers {
            let mut read = 9;
            reader.number(&mut read, bits);
            assert_eq!(read, written);
        }
        assert_eq!(writer.words.len(), 3);
    }
}
