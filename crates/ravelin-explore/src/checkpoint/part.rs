//! The file in which one process keeps its part of an exploration: a header, then one block for each checkpoint, only ever appended.
//!
//! All numbers are little-endian. The header is [`HEADER`] words and a word with their CRC-32. A block is its head, a word with the head's
//! CRC-32, the payload and a word with the payload's: for each shard the new states, each with its parent, then the new
//! findings (state and kind). The head has the sizes of all this, so a file that ends early is recognised
//! as such, and what was not finished is cut off.

use crate::files::{StorageAction, StorageError};
use crate::halt::Halt;
use crc32fast::Hasher;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// "RAVELCKP".
const MAGIC: u64 = 0x504b_434c_4556_4152;
const VERSION: u64 = 2;
const BLOCK_MAGIC: u64 = 0x4b43_4f4c_4256_4152;
/// Words of a header.
const HEADER: usize = 10;
/// Words of a block's head, without those of its shards.
const HEAD: usize = 7;
/// Words for each shard in a block's head.
const SHARD: usize = 3;
const MOST_SHARDS: u64 = 1 << 16;
const BUFFER: usize = 1 << 16;

/// Which exploration a file belongs to, and how it is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckpointHeader {
    pub width: u64,
    pub processes: u64,
    pub process: u64,
    /// Shards of each process.
    pub workers: u64,
    pub until: u64,
    /// A fingerprint of the initial states.
    pub initial: u64,
    /// The number of the exploration in its run.
    pub sequence: u64,
    /// A fingerprint of the run.
    pub run: u64,
}

impl CheckpointHeader {
    fn words(&self) -> [u64; HEADER] {
        let CheckpointHeader { width, processes, process, workers, until, initial, sequence, run } = *self;
        [MAGIC, VERSION, width, processes, process, workers, until, initial, sequence, run]
    }

    /// Whether two files are parts of the same exploration, however it is shared out.
    fn is_of_same(&self, other: &CheckpointHeader) -> bool {
        let about =
            |header: &CheckpointHeader| (header.width, header.until, header.initial, header.sequence, header.run);
        about(self) == about(other)
    }
}

/// What a block adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockHead {
    /// Blocks before this one.
    pub number: u64,
    pub depth: u64,
    /// Of all processes.
    pub transitions: u64,
    pub cut_off: bool,
    pub findings: u64,
    pub shards: Vec<BlockSpan>,
}

/// The states of a shard that are in a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockSpan {
    pub from: u64,
    pub to: u64,
    /// States before this one are expanded.
    pub expanded: u64,
}

impl BlockHead {
    fn words(&self) -> Vec<u64> {
        let cut_off = u64::from(self.cut_off);
        let shards = self.shards.len() as u64;
        let mut words = vec![BLOCK_MAGIC, self.number, self.depth, self.transitions, cut_off, self.findings, shards];
        words.extend(self.shards.iter().flat_map(|span| [span.from, span.to, span.expanded]));
        words
    }

    /// Bytes of the payload, unless the numbers are nonsense.
    fn payload(&self, width: u64) -> Option<u64> {
        let mut bytes = self.findings.checked_mul(16)?;
        for span in &self.shards {
            let states = span.to.checked_sub(span.from)?;
            bytes = bytes.checked_add(states.checked_mul(width.checked_add(1)?.checked_mul(8)?)?)?;
        }
        Some(bytes)
    }
}

/// A block that is whole, and where its payload is.
#[derive(Clone, Debug)]
pub(super) struct CheckpointBlock {
    pub head: BlockHead,
    start: u64,
    end: u64,
}

/// A file with the blocks that are whole.
pub(super) struct CheckpointFile {
    pub path: PathBuf,
    pub header: CheckpointHeader,
    pub blocks: Vec<CheckpointBlock>,
}

fn wrong(path: &Path, what: impl Into<String>) -> StorageError {
    StorageError::new(StorageAction::Read, path, &io::Error::new(io::ErrorKind::InvalidData, what.into()))
}

impl CheckpointFile {
    /// Reads and checks a file. `Ok(None)`: not even its header was finished.
    pub fn read(path: &Path, expected: &CheckpointHeader) -> Result<Option<CheckpointFile>, StorageError> {
        let failed = |error: io::Error| StorageError::new(StorageAction::Read, path, &error);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut reader = ChecksumReader { reader: BufReader::with_capacity(BUFFER, file), crc: Hasher::new(), at: 0 };
        if length < (HEADER as u64 + 1) * 8 {
            return Ok(None);
        }
        let words = reader.words(HEADER).map_err(failed)?;
        if words[0] != MAGIC {
            return Err(wrong(path, "it is not a part of a checkpoint"));
        }
        if words[1] != VERSION {
            let message = format!("it has version {} of the format, and this program reads {VERSION}", words[1]);
            return Err(wrong(path, message));
        }
        if !reader.crc_matches().map_err(failed)? {
            return Err(wrong(path, "its beginning is damaged"));
        }
        let [_, _, width, processes, process, workers, until, initial, sequence, run] = words[..] else {
            return Ok(None);
        };
        let header = CheckpointHeader { width, processes, process, workers, until, initial, sequence, run };
        if !header.is_of_same(expected) {
            return Err(wrong(path, "it belongs to another run"));
        }
        if workers == 0 || workers > MOST_SHARDS || process >= processes || processes > MOST_SHARDS {
            return Err(wrong(path, "its beginning is damaged"));
        }
        let mut part = CheckpointFile { path: path.to_owned(), header, blocks: Vec::new() };
        // A block that fails is the last one, which was being written, or there is damage.
        while let Some(block) = part.next_block(&mut reader, length).map_err(failed)? {
            match block {
                Ok(block) => part.blocks.push(block),
                Err(next) if reader.follows(next, length).map_err(failed)? => {
                    let message = format!("it is damaged in block {} of its checkpoints", part.blocks.len() + 1);
                    return Err(wrong(path, message));
                }
                Err(_) => break,
            }
        }
        Ok(Some(part))
    }

    /// The next block if there is a whole one; where the one after it would begin if its payload is not what was written.
    fn next_block(&self, reader: &mut ChecksumReader, length: u64) -> io::Result<Option<Result<CheckpointBlock, u64>>> {
        let words = HEAD + SHARD * self.header.workers as usize;
        if reader.at + (words as u64 + 1) * 8 > length {
            return Ok(None);
        }
        let words = reader.words(words)?;
        let [magic, number, depth, transitions, cut_off, findings, shards] = words[..HEAD] else { return Ok(None) };
        let spans = words[HEAD..].chunks_exact(SHARD);
        let spans = spans.map(|span| BlockSpan { from: span[0], to: span[1], expanded: span[2] }).collect();
        let head = BlockHead { number, depth, transitions, cut_off: cut_off != 0, findings, shards: spans };
        let continues = |(shard, span): (usize, &BlockSpan)| {
            let before = self.blocks.last().map_or(0, |block| block.head.shards[shard].to);
            span.from == before && span.expanded <= span.to
        };
        let fits = magic == BLOCK_MAGIC
            && reader.crc_matches()?
            && shards == self.header.workers
            && number == self.blocks.len() as u64
            && head.shards.iter().enumerate().all(continues);
        let payload = head.payload(self.header.width).filter(|_| fits);
        let start = reader.at;
        let Some(end) =
            payload.and_then(|bytes| start.checked_add(bytes)).filter(|end| end.saturating_add(8) <= length)
        else {
            return Ok(None);
        };
        reader.skip(end - start)?;
        let whole = reader.crc_matches()?;
        Ok(Some(if whole { Ok(CheckpointBlock { head, start, end }) } else { Err(reader.at) }))
    }

    /// Gives each state of a block, with its shard here and its parent, in the order of shards; and the findings.
    pub fn visit(
        &self,
        block: &CheckpointBlock,
        mut state: impl FnMut(usize, &[u64], u64) -> Result<(), Halt>,
        mut finding: impl FnMut(u64, u64),
    ) -> Result<(), Halt> {
        let failed = |error: io::Error| StorageError::new(StorageAction::Read, &self.path, &error);
        let open = |at: u64| -> io::Result<ChecksumReader> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(at))?;
            Ok(ChecksumReader { reader: BufReader::with_capacity(BUFFER, file), crc: Hasher::new(), at })
        };
        let width = self.header.width as usize;
        let mut reader = open(block.start).map_err(failed)?;
        let mut words = vec![0; width + 1];
        for (shard, span) in block.head.shards.iter().enumerate() {
            for _ in span.from..span.to {
                for word in &mut words {
                    *word = reader.word().map_err(failed)?;
                }
                state(shard, &words[..width], words[width])?;
            }
        }
        for _ in 0..block.head.findings {
            finding(reader.word().map_err(failed)?, reader.word().map_err(failed)?);
        }
        debug_assert_eq!(reader.at, block.end);
        Ok(())
    }
}

/// A reader that knows where it is and the checksum of what it read since the last one.
struct ChecksumReader {
    reader: BufReader<File>,
    crc: Hasher,
    at: u64,
}

impl ChecksumReader {
    fn take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    #[inline]
    fn word(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn words(&mut self, count: usize) -> io::Result<Vec<u64>> {
        (0..count)
            .map(|_| {
                let bytes = self.take::<8>()?;
                self.crc.update(&bytes);
                Ok(u64::from_le_bytes(bytes))
            })
            .collect()
    }

    fn skip(&mut self, mut bytes: u64) -> io::Result<()> {
        let mut buffer = [0; 1 << 13];
        while bytes > 0 {
            let piece = &mut buffer[..bytes.min(1 << 13) as usize];
            self.reader.read_exact(piece)?;
            self.crc.update(piece);
            self.at += piece.len() as u64;
            bytes -= piece.len() as u64;
        }
        Ok(())
    }

    /// Whether the next word is the checksum of what came since the last one.
    fn crc_matches(&mut self) -> io::Result<bool> {
        let crc = std::mem::replace(&mut self.crc, Hasher::new()).finalize();
        Ok(self.word()? == u64::from(crc))
    }

    /// Whether a block begins here.
    fn follows(&mut self, at: u64, length: u64) -> io::Result<bool> {
        Ok(self.at == at && at + 8 <= length && self.word()? == BLOCK_MAGIC)
    }
}

/// Appends blocks to a file.
pub(super) struct CheckpointWriter {
    path: PathBuf,
    file: File,
    pub blocks: u64,
    /// By shard: states that are written.
    pub written: Vec<u64>,
    buffer: Vec<u8>,
    crc: Hasher,
}

impl CheckpointWriter {
    /// A new file, or one that goes on after so many of its blocks.
    pub fn open(
        path: &Path,
        header: CheckpointHeader,
        after: Option<(&CheckpointFile, usize)>,
    ) -> Result<CheckpointWriter, StorageError> {
        let failed = |action| move |error: io::Error| StorageError::new(action, path, &error);
        let file = match after {
            None => OpenOptions::new().write(true).create(true).truncate(true).open(path),
            Some(_) => OpenOptions::new().write(true).open(path),
        };
        let workers = header.workers as usize;
        let mut writer = CheckpointWriter {
            path: path.to_owned(),
            file: file.map_err(failed(StorageAction::Create))?,
            blocks: 0,
            written: vec![0; workers],
            buffer: Vec::new(),
            crc: Hasher::new(),
        };
        match after.and_then(|(part, blocks)| Some((blocks, part.blocks.get(blocks.checked_sub(1)?)?))) {
            None => {
                writer.words(&header.words());
                writer.end_section()?;
            }
            Some((blocks, last)) => {
                let end = last.end + 8;
                let cut = writer.file.set_len(end).and_then(|()| writer.file.seek(SeekFrom::Start(end)));
                cut.map_err(failed(StorageAction::Write))?;
                writer.blocks = blocks as u64;
                writer.written = last.head.shards.iter().map(|span| span.to).collect();
            }
        }
        Ok(writer)
    }

    /// Begins a block; its head says what has to follow.
    pub fn begin(&mut self, head: &BlockHead) -> Result<(), StorageError> {
        self.words(&head.words());
        self.end_section()
    }

    #[inline]
    pub fn words(&mut self, words: &[u64]) {
        for word in words {
            self.buffer.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Writes what has been collected if it is much.
    #[inline]
    pub fn breathe(&mut self) -> Result<(), StorageError> {
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Ends a block, and sees to it that it is on the disk if that is wanted.
    pub fn end(&mut self, head: &BlockHead, sync: bool) -> Result<(), StorageError> {
        self.end_section()?;
        if sync {
            self.file.sync_data().map_err(|error| StorageError::new(StorageAction::Write, &self.path, &error))?;
        }
        self.blocks += 1;
        self.written = head.shards.iter().map(|span| span.to).collect();
        Ok(())
    }

    /// Writes the checksum of what came since the last one.
    fn end_section(&mut self) -> Result<(), StorageError> {
        self.flush()?;
        let crc = std::mem::replace(&mut self.crc, Hasher::new()).finalize();
        self.write(&u64::from(crc).to_le_bytes())
    }

    fn flush(&mut self) -> Result<(), StorageError> {
        self.crc.update(&self.buffer);
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.file.write_all(bytes).map_err(|error| StorageError::new(StorageAction::Write, &self.path, &error))
    }
}
