//! Memory that only one thread can access, during specialisation: what each object holds, as far as it is known.

use super::objects::ObjectId;
use super::value::{Datum, canonical};
use std::collections::BTreeMap;

/// What one object holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contents {
    /// Size and value of what was written, by offset. Entries do not overlap.
    entries: BTreeMap<u64, (u32, Datum)>,
    /// All other bytes are 0, or were never written.
    zero: bool,
}

/// What an object holds at some bytes cannot be given as one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entangled;

impl Contents {
    pub fn new(zero: bool) -> Contents {
        Contents { entries: BTreeMap::new(), zero }
    }

    pub fn entries(&self) -> impl Iterator<Item = (u64, u32, &Datum)> {
        self.entries.iter().map(|(offset, (size, datum))| (*offset, *size, datum))
    }

    pub fn for_each_mut(&mut self, mut change: impl FnMut(&mut Datum)) {
        self.entries.values_mut().for_each(|(_, datum)| change(datum));
    }

    /// Replaces a value by another of the same size.
    pub fn replace(&mut self, offset: u64, datum: Datum) {
        if let Some(entry) = self.entries.get_mut(&offset) {
            entry.1 = datum;
        }
    }

    pub fn read(&self, offset: u64, size: u32) -> Result<Datum, Entangled> {
        if let Some((own, datum)) = self.entries.get(&offset)
            && *own == size
        {
            return Ok(datum.clone());
        }
        let mut touched = self.overlapping(offset, size).peekable();
        if touched.peek().is_none() {
            return Ok(if self.zero { Datum::Int(0) } else { Datum::Undefined });
        }
        drop(touched);
        self.read_bytes(offset, size)
    }

    /// Puts a number together from bytes that were written in other sizes. Some of them may never have been written, as the
    /// padding of a struct that is passed in registers; they are 0.
    fn read_bytes(&self, offset: u64, size: u32) -> Result<Datum, Entangled> {
        if size > 8 {
            return Err(Entangled);
        }
        let mut bytes = [0u8; 8];
        let mut defined = false;
        for (number, byte) in bytes.iter_mut().enumerate().take(size as usize) {
            match self.byte(offset + number as u64) {
                Some(Datum::Int(value)) => (*byte, defined) = (value as u8, true),
                Some(Datum::Undefined) => {}
                Some(_) => return Err(Entangled),
                None => defined |= self.zero,
            }
        }
        Ok(if !defined { Datum::Undefined } else { Datum::Int(canonical(8 * size, i64::from_le_bytes(bytes).into())) })
    }

    /// One byte of what was written; `None` if nothing was.
    fn byte(&self, at: u64) -> Option<Datum> {
        let (start, (size, datum)) = self.entries.range(..=at).next_back()?;
        let number = at - start;
        if number >= u64::from(*size) {
            return None;
        }
        Some(match datum {
            Datum::Int(value) if number < 8 => Datum::Int((value >> (8 * number)) & 0xff),
            Datum::Int(_) => Datum::Int(0),
            Datum::Undefined => Datum::Undefined,
            other => other.clone(),
        })
    }

    pub fn write(&mut self, offset: u64, size: u32, datum: Datum) -> Result<(), Entangled> {
        if self.entries.get(&offset).is_some_and(|(own, _)| *own == size) {
            self.entries.insert(offset, (size, datum));
            return Ok(());
        }
        self.clear(offset, u64::from(size))?;
        self.entries.insert(offset, (size, datum));
        Ok(())
    }

    /// Makes all bytes of a range 0, or forgets them if `zero` is false.
    pub fn fill(&mut self, offset: u64, size: u64, byte: u8, defined: bool) -> Result<(), Entangled> {
        self.clear(offset, size)?;
        if defined == self.zero && (byte == 0 || !defined) {
            return Ok(());
        }
        let datum = if defined { Datum::Int(canonical(8, byte.into())) } else { Datum::Undefined };
        for at in offset..offset + size {
            self.entries.insert(at, (1, datum.clone()));
        }
        Ok(())
    }

    /// Removes what is within a range. What lies partly within it is cut, if it is a number.
    fn clear(&mut self, offset: u64, size: u64) -> Result<(), Entangled> {
        let end = offset + size;
        let touched: Vec<(u64, u32)> = self
            .entries
            .range(..end)
            .rev()
            .take_while(|(start, (length, _))| **start + u64::from(*length) > offset)
            .map(|(start, (length, _))| (*start, *length))
            .collect();
        for (start, length) in touched {
            let stop = start + u64::from(length);
            let outside: Vec<u64> = (start..stop).filter(|at| *at < offset || *at >= end).collect();
            let mut kept = Vec::with_capacity(outside.len());
            for at in outside {
                match self.byte(at) {
                    Some(Datum::Int(value)) => kept.push((at, Datum::Int(canonical(8, value.into())))),
                    Some(Datum::Undefined) => kept.push((at, Datum::Undefined)),
                    _ => return Err(Entangled),
                }
            }
            self.entries.remove(&start);
            for (at, datum) in kept {
                self.entries.insert(at, (1, datum));
            }
        }
        Ok(())
    }

    /// What lies within a range, with offsets from its start.
    pub fn part(&self, offset: u64, size: u64) -> Result<Vec<(u64, u32, Datum)>, Entangled> {
        let end = offset + size;
        let mut parts = Vec::new();
        for (start, (length, datum)) in self.entries.range(..end) {
            let stop = start + u64::from(*length);
            if stop <= offset {
                continue;
            }
            if *start < offset || stop > end {
                return Err(Entangled);
            }
            parts.push((start - offset, *length, datum.clone()));
        }
        Ok(parts)
    }

    /// Bytes that were not written are 0.
    pub fn is_zero(&self) -> bool {
        self.zero
    }

    fn overlapping(&self, offset: u64, size: u32) -> impl Iterator<Item = u64> + '_ {
        let end = offset + u64::from(size);
        self.entries
            .range(..end)
            .rev()
            .take_while(move |(start, (length, _))| **start + u64::from(*length) > offset)
            .map(|(start, _)| *start)
    }
}

/// The objects that a thread has to itself.
pub(super) type PrivateMemory = BTreeMap<ObjectId, Contents>;
