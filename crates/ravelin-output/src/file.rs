//! Files that are replaced as a whole or not at all.
//!
//! The new text is written to a file beside the old one, synced to the disk, and then renamed. There is therefore never
//! half a file: not on a full disk, not when the program is killed, not when the machine loses power. A file that
//! cannot be written is unchanged.
//!
//! - A file that is replaced keeps its permissions, and its owner if the process may set it. It must be writable
//!   itself: permission to change the directory is not enough to replace a read-only file.
//! - A symbolic link stays, and its target is replaced.
//! - Devices, pipes and sockets cannot be replaced; they are written to. `/dev/stdout` and `/dev/stderr` are the
//!   streams, wherever they lead.
//! - Other names of the same file (hard links) keep the old text.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many links are followed, as in the kernel.
const MOST_LINKS: usize = 40;

/// The parts around the number in names of unfinished files.
const BEFORE: &str = ".ravelin-";
const BEHIND: &str = ".part";

/// Replaces the content of the file at `path` by `contents`.
pub fn replace(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let contents = contents.as_ref();
    if let Some(mut stream) = own_stream(path) {
        return stream.write_all(contents);
    }
    let old = match fs::metadata(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match old {
        Some(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A file in /proc or /dev may have no other name.
        Some(old) if !old.is_file() || path.starts_with("/proc") || path.starts_with("/dev/fd") => {
            OpenOptions::new().write(true).open(path)?.write_all(contents)
        }
        old => replace_file(&target(path)?, old.as_ref(), contents),
    }
}

/// Whether a file remains from a replacement that was killed.
pub fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(BEFORE) && name.ends_with(BEHIND)
}

/// The stream that a path names. If it is redirected to a file, that file has other writers, so it is not replaced.
fn own_stream(path: &Path) -> Option<Box<dyn Write>> {
    match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => Some(Box::new(Descriptor(rustix::stdio::stdout()))),
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => Some(Box::new(Descriptor(rustix::stdio::stderr()))),
        _ => None,
    }
}

struct Descriptor(std::os::fd::BorrowedFd<'static>);

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(self.0, bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The final target of a path, whether or not it exists.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            return Ok(path);
        }
        let link = fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(Errno::LOOP.into())
}

fn replace_file(path: &Path, old: Option<&Metadata>, contents: &[u8]) -> io::Result<()> {
    if old.is_some() {
        match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
            // Some kernels do not support this; then the directory's permissions decide.
            Ok(()) | Err(Errno::NOSYS | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let (file, beside) = create_beside(path)?;
    let replaced = fill(file, old, contents).and_then(|()| fs::rename(&beside, path));
    if replaced.is_err() {
        // The first error is the one that is reported.
        let _ = fs::remove_file(&beside);
        return replaced;
    }
    // The new name is visible already; a directory that cannot be synced now is written later.
    let _ = File::open(directory_of(path)).and_then(|directory| directory.sync_all());
    Ok(())
}

/// A new file in the directory of another, under a unique name.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let beside = directory_of(path).join(format!("{BEFORE}{}-{number}{BEHIND}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, beside)),
            // From a killed process that had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let message = format!("cannot write beside it in {}: {error}", directory_of(path).display());
                return Err(io::Error::new(error.kind(), message));
            }
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn fill(mut file: File, old: Option<&Metadata>, contents: &[u8]) -> io::Result<()> {
    if let Some(old) = old {
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only root may change owners.
            let _ = std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()));
        }
        file.set_permissions(old.permissions())?;
    }
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A separate directory, which is removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("ravelin-output-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a directory");
            Scratch(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("a directory").flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
        let scratch = Scratch::new("replaced");
        let path = scratch.0.join("a");
        replace(&path, "one").expect("a new file");
        assert_eq!(fs::read(&path).expect("a file"), b"one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");
        replace(&path, "two").expect("a file that was there");
        assert_eq!(fs::read(&path).expect("a file"), b"two");
        assert_eq!(fs::metadata(&path).expect("a file").mode() & 0o7777, 0o640);
        assert_eq!(scratch.names(), ["a"]);
    }

    #[test]
    fn a_name_of_any_length_is_fine() {
        let scratch = Scratch::new("long");
        let path = scratch.0.join("x".repeat(255));
        replace(&path, "text").expect("a file");
        assert_eq!(fs::read(&path).expect("a file"), b"text");
    }

    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        let scratch = Scratch::new("links");
        fs::create_dir(scratch.0.join("deeper")).expect("a directory");
        fs::write(scratch.0.join("deeper/file"), "old").expect("a file");
        symlink("deeper/file", scratch.0.join("first")).expect("a link");
        symlink("first", scratch.0.join("second")).expect("a link");
        symlink("deeper/missing", scratch.0.join("dangling")).expect("a link");
        symlink("round", scratch.0.join("round")).expect("a link");
        replace(&scratch.0.join("second"), "new").expect("a file");
        replace(&scratch.0.join("dangling"), "made").expect("a file");
        assert!(replace(&scratch.0.join("round"), "nothing").is_err());
        for link in ["first", "second", "dangling", "round"] {
            assert!(scratch.0.join(link).is_symlink(), "{link}");
        }
        assert_eq!(fs::read(scratch.0.join("deeper/file")).expect("a file"), b"new");
        assert_eq!(fs::read(scratch.0.join("deeper/missing")).expect("a file"), b"made");
    }

    #[test]
    fn what_is_no_ordinary_file_is_written_to() {
        replace(Path::new("/dev/null"), "text").expect("a device");
        let error = replace(Path::new("/dev/full"), "text").expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()));
        let scratch = Scratch::new("fifo");
        let path = scratch.0.join("fifo");
        rustix::fs::mkfifoat(CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
        let from = path.clone();
        let reader = std::thread::spawn(move || fs::read(from));
        replace(&path, "through a pipe").expect("a pipe");
        assert_eq!(reader.join().expect("a reader").expect("a text"), b"through a pipe");
    }

    #[test]
    fn directories_and_missing_ones_are_errors() {
        let scratch = Scratch::new("directories");
        assert_eq!(replace(&scratch.0, "text").expect_err("a directory").kind(), io::ErrorKind::IsADirectory);
        assert!(replace(&scratch.0.join("missing/file"), "text").is_err());
        assert!(scratch.names().is_empty());
    }
}
