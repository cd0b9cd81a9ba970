//! Where the processes of a run store what they find, until it is read.
//!
//! An arena in memory ([`ravelin_findings::arena`]) uses no disk space and disappears when the last process that uses
//! it ends, however it ends. Programs open it through `/proc`, so that programs which a shell or `make` starts find it
//! too, whatever files they inherit.
//!
//! A program that cannot open it, in a container for example, creates a directory, which is read, too. A program that
//! became another user creates it as that user: its name cannot be guessed, which proves that it belongs to this run.
//! If the findings are to be kept, they go into the user's directory at once.

use super::NotWatched;
use ravelin_findings::{Findings, arena, header};
use std::collections::hash_map::RandomState;
use std::ffi::{CStr, OsStr};
use std::fs::{self, File, OpenOptions};
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of the arena, as far as the limit for files allows; unused pages do not exist.
const LENGTH: u64 = 1 << 40;

/// What is found in one run.
pub struct FindingsStore {
    /// `None` if the findings are kept, or if an arena is impossible.
    arena: Option<File>,
    directory: PathBuf,
    /// The directory is not the user's and is removed at the end.
    own: bool,
}

/// What the processes of a run left.
#[derive(Debug, Default)]
pub struct StoredFindings {
    pub processes: Vec<Findings>,
    /// How many processes could not record anything.
    pub unrecorded: u64,
}

impl FindingsStore {
    pub fn new(keep: Option<&Path>) -> Result<FindingsStore, NotWatched> {
        if let Some(keep) = keep {
            return FindingsStore::in_directory(keep);
        }
        let arena = new_arena().ok();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            // Only programs of this run know the name before such a directory exists.
            let secret = RandomState::new().hash_one(number);
            // The length is fixed, so that the program's stack is always at the same address.
            let name = format!("ravelin-run-{:08}-{number:06}-{secret:016x}", std::process::id());
            let path = std::env::temp_dir().join(name);
            if arena.is_some() && fs::symlink_metadata(&path).is_err() {
                return Ok(FindingsStore { arena, directory: path, own: true });
            }
            match std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&path) {
                Ok(()) => return Ok(FindingsStore { arena, directory: path, own: true }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NotWatched::NotKept(path, error)),
            }
        }
    }

    fn in_directory(keep: &Path) -> Result<FindingsStore, NotWatched> {
        let not_kept = |error| NotWatched::NotKept(keep.to_owned(), error);
        fs::create_dir_all(keep).map_err(not_kept)?;
        let directory = fs::canonicalize(keep).map_err(not_kept)?;
        // Old findings would be taken for those of this run.
        for entry in fs::read_dir(&directory).map_err(not_kept)? {
            let file = entry.map_err(not_kept)?.path();
            if file.extension() == Some(OsStr::new("findings")) {
                fs::remove_file(&file).map_err(not_kept)?;
            }
        }
        Ok(FindingsStore { arena: None, directory, own: false })
    }

    /// The arena, if the findings are in one.
    pub fn arena(&self) -> Option<&File> {
        self.arena.as_ref()
    }

    /// Sets the environment of a program so that it finds the store.
    pub fn tell(&self, command: &mut Command) {
        command.env("RAVELIN_FINDINGS", &self.directory).env_remove("RAVELIN_ARENA");
        if let Some(arena) = &self.arena {
            command.env("RAVELIN_ARENA", path_in_memory(arena));
        }
    }

    /// Everything that was found, by process number.
    pub fn read(&self) -> Result<StoredFindings, NotWatched> {
        let mut stored = StoredFindings::default();
        if let Some(arena) = &self.arena {
            read_arena(arena, &mut stored).map_err(|error| NotWatched::NotRead(PathBuf::from("memory"), error))?;
        }
        match owner(&self.directory) {
            // A program that became another user; an ordinary user may not even read it.
            Some(owner) if self.own && owner != our_user() => {
                let mut found = StoredFindings::default();
                match read_directory(&self.directory, &mut found) {
                    Ok(()) => {
                        stored.processes.append(&mut found.processes);
                        stored.unrecorded += found.unrecorded;
                    }
                    Err(_) => stored.unrecorded += 1,
                }
            }
            // Programs create it when they need it.
            None if self.arena.is_some() => {}
            _ => read_directory(&self.directory, &mut stored)?,
        }
        stored.processes.sort_by_key(|findings| findings.process);
        Ok(stored)
    }
}

impl Drop for FindingsStore {
    fn drop(&mut self) {
        if self.own && owner(&self.directory).is_some() {
            // A leftover in the temporary directory must not prevent the report.
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

/// The owner of the directory, if it exists and is not a link.
fn owner(directory: &Path) -> Option<u32> {
    fs::symlink_metadata(directory).ok().filter(|found| found.is_dir()).map(|found| found.uid())
}

fn our_user() -> u32 {
    // SAFETY: always allowed.
    unsafe { libc::geteuid() }
}

/// Opens a findings file. Other content of a directory may lead elsewhere (a link) or block (a pipe).
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Reads one findings file.
pub fn read_findings(path: &Path) -> Result<Findings, NotWatched> {
    let bytes = File::open(path).and_then(|mut file| used_part(&mut file));
    let bytes = bytes.map_err(|error| NotWatched::NotRead(path.to_owned(), error))?;
    ravelin_findings::read(&bytes).map_err(|error| NotWatched::NotFindings(path.to_owned(), error))
}

fn new_arena() -> io::Result<File> {
    let length = LENGTH.min(longest_file());
    let segments = length.saturating_sub(arena::HEAD as u64) / arena::SEGMENT as u64;
    if segments == 0 {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let file = file_in_memory(c"ravelin-findings")?;
    file.set_len(arena::offset(segments))?;
    let mut words = [0; arena::WORDS];
    words[arena::MAGIC_AT] = arena::MAGIC;
    words[arena::SEGMENTS] = segments;
    file.write_all_at(&words.map(u64::to_ne_bytes).concat(), 0)?;
    Ok(file)
}

/// A file that exists in memory only, as long as a process has it open.
pub fn file_in_memory(name: &CStr) -> io::Result<File> {
    // SAFETY: the name ends with a zero byte; the result is checked.
    let number = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the file was opened just now, and has no other owner.
    Ok(unsafe { File::from_raw_fd(number) })
}

/// The path by which other processes open a file in memory while this process has it open.
pub fn path_in_memory(file: &File) -> PathBuf {
    // The length is fixed, so that the program's stack is always at the same address; several slashes are one.
    PathBuf::from(format!("/proc{:/>9}/fd{:/>7}", std::process::id(), file.as_raw_fd()))
}

/// The limit for files: making a longer one would raise a signal.
fn longest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: u64::MAX, rlim_max: u64::MAX };
    // SAFETY: the C library fills the structure; if it does not there is no limit.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

fn read_arena(file: &File, stored: &mut StoredFindings) -> io::Result<()> {
    let mut head = [0; 8 * arena::WORDS];
    file.read_exact_at(&mut head, 0)?;
    let word = |index: usize| head[8 * index..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    stored.unrecorded += word(arena::UNRECORDED);
    // A program with wild writes may have overwritten the head: there are no more segments than were made.
    let segments = (file.metadata()?.len() - arena::HEAD as u64) / arena::SEGMENT as u64;
    for segment in 0..word(arena::TAKEN).min(segments) {
        let from = arena::offset(segment);
        let bytes = used_part(&mut FilePart { file, at: from, end: from + arena::SEGMENT as u64 })?;
        match ravelin_findings::read(&bytes) {
            Ok(findings) => stored.processes.push(findings),
            Err(_) if is_blank(&bytes) => {}
            Err(_) => stored.unrecorded += 1,
        }
    }
    Ok(())
}

fn read_directory(directory: &Path, stored: &mut StoredFindings) -> Result<(), NotWatched> {
    let not_read = |error| NotWatched::NotRead(directory.to_owned(), error);
    for entry in fs::read_dir(directory).map_err(not_read)? {
        let path = entry.map_err(not_read)?.path();
        if path.extension() != Some(OsStr::new("findings")) {
            continue;
        }
        let bytes = open(&path).and_then(|mut file| used_part(&mut file));
        let bytes = bytes.map_err(|error| NotWatched::NotRead(path.clone(), error))?;
        match ravelin_findings::read(&bytes) {
            Ok(findings) => stored.processes.push(findings),
            // There was no room for it.
            Err(_) if bytes.is_empty() => stored.unrecorded += 1,
            Err(_) if is_blank(&bytes) => {}
            Err(error) => return Err(NotWatched::NotFindings(path, error)),
        }
    }
    Ok(())
}

/// Whether a findings file was never begun: the process was killed before anything was watched.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// The header of a findings file and the part that the header says is in use: the file has room for many more findings
/// than there usually are.
fn used_part(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let header = header::WORDS * 8;
    let mut bytes = Vec::with_capacity(header);
    file.by_ref().take(header as u64).read_to_end(&mut bytes)?;
    let used = bytes.get(8 * header::USED..).and_then(|rest| rest.first_chunk::<8>()).copied().map(u64::from_ne_bytes);
    let rest = used.unwrap_or(0).saturating_mul(8).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A part of a file, read from its beginning on.
struct FilePart<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for FilePart<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(bytes.len());
        let length = self.file.read_at(&mut bytes[..most], self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}
