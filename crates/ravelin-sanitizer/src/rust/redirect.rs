//! Redirects atomic accesses of the standard library to the runtime's entries for them.
//!
//! Generic and small functions of the standard library are compiled with the program, and inlined into it. Only the
//! debug information shows which calls of an instrumented access are theirs, and addresses are final only after
//! linking. So the linked program is changed. Every call of `__tsan_atomic…` whose innermost function outside `core` is
//! one of the standard library goes to `__ravelin_library_…`. Calls are found by their targets: five bytes that call
//! exactly such a function do not occur by accident.

use addr2line::Loader;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a program was not changed.
#[derive(Debug, thiserror::Error)]
pub enum NotRedirected {
    #[error("{}: the linked program cannot be read", .0.display())]
    NotRead(PathBuf, #[source] io::Error),
    #[error("{}: the linked program is no executable, or has no debug information", .0.display())]
    NotUnderstood(PathBuf),
    #[error("{}: the linked program cannot be changed", .0.display())]
    NotWritten(PathBuf, #[source] io::Error),
}

/// The owner of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Program,
    Library,
    /// A read-write lock of the standard library, for reading or for writing.
    Reader,
    Writer,
}

/// Changes a linked program, and returns how many calls were redirected.
pub fn redirect(path: &Path) -> Result<usize, NotRedirected> {
    let mut bytes = fs::read(path).map_err(|error| NotRedirected::NotRead(path.to_owned(), error))?;
    let changes = changes(&bytes, path).ok_or_else(|| NotRedirected::NotUnderstood(path.to_owned()))?;
    for &(offset, distance) in &changes {
        bytes[offset..offset + 4].copy_from_slice(&distance.to_le_bytes());
    }
    if !changes.is_empty() {
        // The program may be running, or have a second hard link: it is replaced, not written to.
        let not_written = |error| NotRedirected::NotWritten(path.to_owned(), error);
        let permissions = fs::metadata(path).map_err(not_written)?.permissions();
        let temporary = path.with_extension(format!("{}.new", std::process::id()));
        fs::write(&temporary, &bytes)
            .and_then(|()| fs::set_permissions(&temporary, permissions))
            .and_then(|()| fs::rename(&temporary, path))
            .map_err(not_written)?;
    }
    Ok(changes.len())
}

/// The offsets in the file of the distances of calls, and the new distances.
fn changes(bytes: &[u8], path: &Path) -> Option<Vec<(usize, i32)>> {
    let file = object::File::parse(bytes).ok()?;
    let debug = Loader::new(path).ok()?;
    let mut addresses: HashMap<&str, u64> = HashMap::new();
    for symbol in file.symbols() {
        let name = symbol.name().unwrap_or_default();
        if symbol.is_definition() && (name.starts_with("__tsan_atomic") || name.starts_with("__ravelin_")) {
            addresses.insert(name, symbol.address());
        }
    }
    let entries: HashMap<u64, &str> =
        addresses.iter().filter_map(|(name, &address)| Some((address, name.strip_prefix("__tsan_")?))).collect();
    let mut changes = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Some((start, _)) = section.file_range() else { continue };
        let code = section.data().ok()?;
        for (at, window) in code.windows(5).enumerate() {
            // A call, or the jump that replaces a call at the end of a function.
            if window[0] != 0xe8 && window[0] != 0xe9 {
                continue;
            }
            let distance = i32::from_le_bytes([window[1], window[2], window[3], window[4]]);
            let after = section.address() + at as u64 + 5;
            let Some(entry) = entries.get(&after.wrapping_add_signed(i64::from(distance))) else { continue };
            let set = match owner(&debug, after - 5) {
                Owner::Program => continue,
                Owner::Library => "library",
                Owner::Reader => "reader",
                Owner::Writer => "writer",
            };
            // Fences do not change, because they also order the program's accesses.
            let Some(&target) = addresses.get(&*format!("__ravelin_{set}_{entry}")) else { continue };
            let distance = i32::try_from(target.wrapping_sub(after).cast_signed()).ok()?;
            changes.push((usize::try_from(start).ok()? + at + 1, distance));
        }
    }
    Some(changes)
}

/// The owner of the call at this address.
fn owner(debug: &Loader, address: u64) -> Owner {
    let Ok(mut frames) = debug.find_frames(address) else { return Owner::Program };
    while let Ok(Some(frame)) = frames.next() {
        let file = frame.location.as_ref().and_then(|location| location.file).unwrap_or_default();
        if crate::symbols::is_part_of(file, "core") {
            continue;
        }
        if !crate::symbols::is_part_of(file, "std") && !crate::symbols::is_part_of(file, "alloc") {
            return Owner::Program;
        }
        if !file.contains("rwlock/futex.rs") && !file.contains("futex_rwlock.rs") {
            return Owner::Library;
        }
        let name = frame.function.as_ref().and_then(|name| name.raw_name().ok()).unwrap_or_default();
        let name = crate::symbols::demangled(&name);
        let last = name.rsplit("::").next().unwrap_or_default();
        return if last.contains("read") && !last.contains("wake") { Owner::Reader } else { Owner::Writer };
    }
    Owner::Program
}
