//! Files of 64-bit words, and what can go wrong with them. Everything that the engine keeps outside memory goes through
//! here, so that each failure has a name: what was being done, to which file, and what the system said.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why something could not be kept or read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {action} `{}`: {reason}", .path.display())]
pub struct StorageError {
    pub action: StorageAction,
    pub path: PathBuf,
    pub kind: io::ErrorKind,
    reason: String,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageAction {
    CreateDirectory,
    Create,
    Write,
    Read,
}

impl std::fmt::Display for StorageAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StorageAction::CreateDirectory => "make the directory",
            StorageAction::Create => "create",
            StorageAction::Write => "write to",
            StorageAction::Read => "read",
        })
    }
}

impl StorageError {
    pub(crate) fn new(action: StorageAction, path: &Path, error: &io::Error) -> StorageError {
        StorageError { action, path: path.to_owned(), kind: error.kind(), reason: error.to_string() }
    }

    /// The disk, or what one may use of it, is full.
    pub fn is_full(&self) -> bool {
        matches!(self.kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
    }
}

/// Where one exploration keeps its files: a directory that the user named. What else is there is never touched.
pub(crate) struct Directory {
    path: PathBuf,
    /// How names of files begin, which no other exploration's do.
    prefix: String,
    used: Arc<DiskUsage>,
    files: AtomicU64,
}

/// Bytes in all files of a directory.
#[derive(Default)]
struct DiskUsage {
    now: AtomicU64,
    /// As if the disk had no more room than this.
    room: Option<u64>,
}

impl Directory {
    /// Makes the directory if there is none, and sees whether files can be made in it.
    pub fn create_in(path: &Path, room: Option<u64>) -> Result<Directory, StorageError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let failed = |error: io::Error| StorageError::new(StorageAction::CreateDirectory, path, &error);
        fs::create_dir_all(path).map_err(failed)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("ravelin-{}-{number}", std::process::id());
        let used = Arc::new(DiskUsage { room, ..DiskUsage::default() });
        let directory = Directory { path: path.to_owned(), prefix, used, files: AtomicU64::new(0) };
        WordFile::create(&directory, "first")?;
        Ok(directory)
    }
}

/// Words that are appended through a small buffer, and read at any place once they are flushed.
pub(crate) struct WordFile {
    path: PathBuf,
    file: File,
    used: Arc<DiskUsage>,
    /// Words in the file.
    written: u64,
    pending: Vec<u8>,
}

/// A file without a name, if the system has such files there.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(directory).ok()
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// Bytes that are written at once.
const PENDING: usize = 1 << 16;

impl WordFile {
    /// A new file; a number is added to its name. Where the system permits, it never has a name, or loses it at once, so that nothing is
    /// left of it even if the process is killed.
    pub fn create(directory: &Directory, name: &str) -> Result<WordFile, StorageError> {
        if let Some(file) = nameless(&directory.path) {
            let path = directory.path.join(name);
            return Ok(WordFile { path, file, used: directory.used.clone(), written: 0, pending: Vec::new() });
        }
        loop {
            let number = directory.files.fetch_add(1, Ordering::Relaxed);
            let path = directory.path.join(format!("{}-{name}-{number}", directory.prefix));
            let mut options = OpenOptions::new();
            match options.read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    if cfg!(unix) {
                        let _ = fs::remove_file(&path);
                    }
                    return Ok(WordFile { path, file, used: directory.used.clone(), written: 0, pending: Vec::new() });
                }
                // Of a process that had the same id, on another machine or before.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StorageError::new(StorageAction::Create, &path, &error)),
            }
        }
    }

    /// Words in all.
    pub fn len(&self) -> u64 {
        self.written + (self.pending.len() / 8) as u64
    }

    #[inline]
    pub fn append(&mut self, words: &[u64]) -> Result<(), StorageError> {
        for &word in words {
            self.pending.extend_from_slice(&word.to_ne_bytes());
        }
        if self.pending.len() >= PENDING { self.flush() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> Result<(), StorageError> {
        let bytes = self.pending.len() as u64;
        let now = self.used.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let written = match self.used.room.filter(|&room| now > room) {
            Some(_) => Err(io::Error::from(io::ErrorKind::StorageFull)),
            None => self.file.write_all(&self.pending),
        };
        written.map_err(|error| StorageError::new(StorageAction::Write, &self.path, &error))?;
        self.written += bytes / 8;
        self.pending.clear();
        Ok(())
    }

    /// Reads words from a place on; they must be there, and flushed.
    pub fn read(&self, place: u64, words: usize, into: &mut Vec<u64>) -> Result<(), StorageError> {
        debug_assert!(place + words as u64 <= self.written);
        let mut bytes = [0; 1 << 13];
        let (mut at, end) = (place * 8, (place + words as u64) * 8);
        while at < end {
            let piece = &mut bytes[..((end - at) as usize).min(1 << 13)];
            read_exact_at(&self.file, piece, at)
                .map_err(|error| StorageError::new(StorageAction::Read, &self.path, &error))?;
            into.extend(piece.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())));
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Forgets everything.
    pub fn clear(&mut self) -> Result<(), StorageError> {
        let failed = |error| StorageError::new(StorageAction::Write, &self.path, &error);
        self.file.set_len(0).map_err(failed)?;
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(0)).map_err(failed)?;
        self.used.now.fetch_sub(self.written * 8, Ordering::Relaxed);
        self.written = 0;
        self.pending.clear();
        Ok(())
    }
}

impl Drop for WordFile {
    fn drop(&mut self) {
        self.used.now.fetch_sub(self.written * 8, Ordering::Relaxed);
        if !cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}
