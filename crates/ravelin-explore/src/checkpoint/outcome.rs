//! How an exploration ended, kept so that it need not be made again: the end, the statistics, what was found and the ways there.

use super::part::CheckpointHeader;
use crate::files::{StorageAction, StorageError};
use crate::search::Until;
use crate::snapshot::{Snapshot, first_of_each_kind};
use crate::space::{End, Space, StateFinding, StateId, Statistics};
use crate::system::{Sink, System};
use std::io;
use std::path::Path;
use std::time::Duration;

/// "RAVELEND".
const MAGIC: u64 = 0x444e_454c_4556_4152;
const VERSION: u64 = 1;
const EXHAUSTED: u64 = 0;
const FOUND: u64 = 1;
const INTERRUPTED: u64 = 2;

fn about(header: &CheckpointHeader) -> [u64; 5] {
    [header.width, header.until, header.initial, header.sequence, header.run]
}

/// Writes an outcome, in one piece or not at all. Ends that more time or memory would change are not written.
pub(super) fn write<I>(
    path: &Path,
    header: &CheckpointHeader,
    space: &Space<I>,
    until: Until,
    interrupted_by: Option<Vec<u64>>,
) -> Result<bool, StorageError> {
    let end = match (&space.end, &interrupted_by) {
        (End::Exhausted, _) => EXHAUSTED,
        (End::Found, _) => FOUND,
        (End::Interrupted(_), Some(_)) => INTERRUPTED,
        _ => return Ok(false),
    };
    let Statistics { states, transitions, depth, frontier, bytes, elapsed, workers } = space.statistics;
    let mut words = vec![MAGIC, VERSION];
    words.extend(about(header));
    words.extend([end, u64::from(space.cut_off), states, transitions, depth, frontier, bytes]);
    words.extend([elapsed.as_nanos() as u64, workers as u64, space.findings.len() as u64]);
    for finding in &space.findings {
        words.extend([finding.state.0, u64::from(finding.kind)]);
        words.extend_from_slice(space.state(finding.state));
    }
    let chosen = first_of_each_kind(&space.findings, until);
    words.push(chosen.len() as u64);
    for id in chosen {
        let path = space.path(id);
        words.extend([id.0, path.len() as u64]);
        path.iter().for_each(|state| words.extend_from_slice(state));
    }
    words.extend(interrupted_by.into_iter().flatten());
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(u64::from(crc32fast::hash(&bytes)).to_le_bytes());
    ravelin_output::replace(path, &bytes).map_err(|error| StorageError::new(StorageAction::Write, path, &error))?;
    Ok(true)
}

/// Reads an outcome. `Ok(None)`: there is none.
pub(super) fn read<S: System>(
    path: &Path,
    header: &CheckpointHeader,
    system: &S,
) -> Result<Option<Space<S::Interrupt>>, StorageError> {
    let wrong = |what: &str| {
        StorageError::new(StorageAction::Read, path, &io::Error::new(io::ErrorKind::InvalidData, what.to_owned()))
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StorageError::new(StorageAction::Read, path, &error)),
    };
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect();
    let Some((crc, words)) = words.split_last() else { return Err(wrong("it is empty")) };
    if words.first() != Some(&MAGIC) {
        return Err(wrong("it is not a part of a checkpoint"));
    }
    if words.get(1) != Some(&VERSION) {
        return Err(wrong("it has another version of the format"));
    }
    if *crc != u64::from(crc32fast::hash(&bytes[..words.len() * 8])) || bytes.len() % 8 != 0 {
        return Err(wrong("it is damaged"));
    }
    let mut rest = WordReader { words: &words[2..], width: system.width() };
    if rest.take(5) != Some(&about(header)) {
        return Err(wrong("it belongs to another run"));
    }
    rest.space(system).map(Some).ok_or_else(|| wrong("it is damaged"))
}

/// Words that are read from the front.
struct WordReader<'a> {
    words: &'a [u64],
    width: usize,
}

impl<'a> WordReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u64]> {
        let (taken, rest) = self.words.split_at_checked(count)?;
        self.words = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u64> {
        self.take(1).map(|word| word[0])
    }

    fn space<S: System>(&mut self, system: &S) -> Option<Space<S::Interrupt>> {
        let [end, cut_off, states, transitions, depth, frontier, bytes, elapsed, workers] = *self.take(9)? else {
            return None;
        };
        let elapsed = Duration::from_nanos(elapsed);
        let statistics = Statistics { states, transitions, depth, frontier, bytes, elapsed, workers: workers as usize };
        let mut kept = Snapshot::new(self.width);
        let mut findings = Vec::new();
        for _ in 0..self.word()? {
            let (state, kind) = (StateId(self.word()?), self.word()? as u32);
            kept.keep_state(state, self.take(self.width)?.to_vec());
            findings.push(StateFinding { state, kind });
        }
        for _ in 0..self.word()? {
            let (id, length) = (StateId(self.word()?), self.word()? as usize);
            kept.keep_path(id, self.take(length.checked_mul(self.width)?)?.to_vec());
        }
        let end = match end {
            EXHAUSTED => End::Exhausted,
            FOUND => End::Found,
            // Why is found again in the state that led to it.
            _ => {
                let state = self.take(self.width)?;
                let mut nowhere = Sink::new(self.width, 1);
                End::Interrupted(system.expand(state, &mut system.scratch(), &mut nowhere).err()?)
            }
        };
        Some(Space { cut_off: cut_off != 0, findings, statistics, ..Space::elsewhere(end, kept) })
    }
}
