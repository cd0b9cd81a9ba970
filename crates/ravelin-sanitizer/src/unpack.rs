//! The runtime as files on disk, because compilers and dynamic linkers need files.
//!
//! The binary carries them inside, the two large ones compressed. They are written once into a directory named after their contents, each to a
//! temporary name first and then renamed. Parallel builds therefore see whole files only, and a new version of Ravelin
//! never changes what an older one linked.

use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ravelin.o.packed"));
const SHARED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ravelin.so.packed"));
const LIST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ravelin.list"));
const HEADER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ravelin.h"));

/// Replaces gcc's own runtime: linkers read a text in place of a library as a script, and this one adds nothing.
const NOTHING: &[u8] = b"/* The runtime of Ravelin is linked instead of this. */\n";

/// Every file with its place in the directory.
const FILES: &[(&str, &[u8])] = &[
    ("ravelin.o", OBJECT),
    ("ravelin.list", LIST),
    ("include/ravelin.h", HEADER),
    ("gcc/libtsan.so", NOTHING),
    ("gcc/libtsan.a", NOTHING),
    ("gcc/libtsan_preinit.o", NOTHING),
    ("shared/libtsan.so.2", SHARED),
    ("shared/libtsan.so.0", SHARED),
];

/// No directory for the runtime could be written.
#[derive(Debug, thiserror::Error)]
#[error("the sanitizer's runtime could not be unpacked to {}; say where it may go with RAVELIN_CACHE", .directory.display())]
pub struct NotUnpacked {
    directory: PathBuf,
    source: io::Error,
}

/// The runtime's files.
#[derive(Clone, Debug)]
pub struct Runtime {
    directory: PathBuf,
}

impl Runtime {
    /// Finds the files, or writes them.
    pub fn unpack() -> Result<Runtime, NotUnpacked> {
        let mut failed = None;
        for cache in caches() {
            let directory = cache.join(concat!("runtime-", env!("RAVELIN_RUNTIME_VERSION")));
            match write_missing(&directory) {
                Ok(()) => return Ok(Runtime { directory }),
                // The first directory is the one the user knows about.
                Err(source) => failed = failed.or(Some(NotUnpacked { directory, source })),
            }
        }
        Err(failed.expect("there is always a temporary directory to try"))
    }

    /// The object that a watched program links.
    pub fn object(&self) -> PathBuf {
        self.directory.join("ravelin.o")
    }

    /// The functions that shared libraries of a watched program must find in it.
    pub fn dynamic_list(&self) -> PathBuf {
        self.directory.join("ravelin.list")
    }

    /// The directory of `ravelin.h`.
    pub fn include(&self) -> PathBuf {
        self.directory.join("include")
    }

    /// The directory in which gcc finds empty libraries under the names of its own runtime.
    pub fn instead_of_gcc(&self) -> PathBuf {
        self.directory.join("gcc")
    }

    /// A file that is created later and kept with the runtime.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The directory in which a program that was linked with gcc's runtime finds Ravelin's under that name, if it could
    /// be built.
    pub fn shared(&self) -> Option<PathBuf> {
        (!SHARED.is_empty()).then(|| self.directory.join("shared"))
    }
}

/// Where the files may go, best first.
fn caches() -> Vec<PathBuf> {
    if let Some(own) = std::env::var_os("RAVELIN_CACHE").filter(|path| !path.is_empty()) {
        return vec![std::path::absolute(&own).unwrap_or_else(|_| own.into())];
    }
    let mut caches = Vec::new();
    let user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    caches.extend(user.or_else(|| Some(home()?.join(".cache"))).map(|cache| cache.join("ravelin")));
    // SAFETY: geteuid has no preconditions and cannot fail.
    let user = unsafe { libc::geteuid() };
    caches.push(std::env::temp_dir().join(format!("ravelin-{user}")));
    caches
}

fn write_missing(directory: &Path) -> io::Result<()> {
    for (name, packed) in FILES {
        let path = directory.join(name);
        let whole = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() == length(packed));
        if !whole {
            let parent = path.parent().unwrap_or(directory);
            fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            write_whole(&path, &contents(packed)?)?;
        }
    }
    // In a temporary directory another user may have been first, whose code must not get into watched programs.
    // SAFETY: as above.
    let own = unsafe { libc::geteuid() };
    match fs::metadata(directory)?.uid() {
        owner if owner == own || owner == 0 => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "the directory belongs to another user")),
    }
}

/// How the output of `gzip` begins. Objects, archives and texts begin otherwise.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The length of a file that may be compressed: `gzip` writes it at the end.
fn length(packed: &[u8]) -> u64 {
    match packed.last_chunk() {
        Some(last) if packed.starts_with(GZIP) => u32::from_le_bytes(*last).into(),
        _ => packed.len() as u64,
    }
}

/// The contents of a file that may be compressed.
fn contents(packed: &'static [u8]) -> io::Result<Cow<'static, [u8]>> {
    if !packed.starts_with(GZIP) {
        return Ok(Cow::Borrowed(packed));
    }
    let mut contents = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut contents)?;
    Ok(Cow::Owned(contents))
}

/// Writes a file completely or not at all.
fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{number}.new", std::process::id()));
    let written = fs::write(&temporary, contents).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // A file that cannot be written can hardly be removed; the error is reported already.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_unpacked_to_its_length() {
        for (name, packed) in FILES {
            let contents = contents(packed).expect(name);
            assert_eq!(contents.len() as u64, length(packed), "{name}");
            assert!(!contents.starts_with(GZIP), "{name}");
        }
        let object = contents(OBJECT).expect("an object");
        assert!(object.starts_with(b"\x7fELF") || object.starts_with(b"!<arch>"));
    }
}
