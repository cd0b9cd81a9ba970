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
    /// A mutex of the standard library: its functions `lock`, `try_lock` and `unlock`.
    Lock,
    TryLock,
    Unlock,
    /// A read-write lock of the standard library, for reading or for writing: its functions `read` and `write`, those
    /// that unlock, and others.
    Read,
    ReadUnlock,
    Reader,
    Write,
    WriteUnlock,
    Writer,
    /// A channel: where it begins to send, to receive or to disconnect, and what follows.
    Send,
    Receive,
    Disconnect,
    Channel,
    /// The end of a scope, which waits for the threads of the scope.
    Scope,
    /// What only the standard library itself depends on: whether a thread panics, and who frees what a thread shares with
    /// its handle. Something else orders it, or it does not matter.
    Inner,
}

impl Owner {
    /// The set of entries for its accesses.
    fn entries(self) -> Option<&'static str> {
        match self {
            Owner::Program => None,
            Owner::Library => Some("library"),
            Owner::Lock => Some("lock"),
            Owner::TryLock => Some("trylock"),
            Owner::Unlock => Some("unlock"),
            Owner::Read => Some("read"),
            Owner::ReadUnlock => Some("readunlock"),
            Owner::Reader => Some("reader"),
            Owner::Write => Some("write"),
            Owner::WriteUnlock => Some("writeunlock"),
            Owner::Writer => Some("writer"),
            Owner::Send => Some("send"),
            Owner::Receive => Some("receive"),
            Owner::Disconnect => Some("disconnect"),
            Owner::Channel => Some("channel"),
            Owner::Scope => Some("scope"),
            Owner::Inner => Some("inner"),
        }
    }
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
            let Some(set) = owner(&debug, after - 5).entries() else { continue };
            // Fences do not change, because they also order the program's accesses.
            let target = |set: &str| addresses.get(&*format!("__ravelin_{set}_{entry}")).copied();
            let Some(target) = target(set).or_else(|| target("library")) else { continue };
            let distance = i32::try_from(target.wrapping_sub(after).cast_signed()).ok()?;
            changes.push((usize::try_from(start).ok()? + at + 1, distance));
        }
    }
    Some(changes)
}

/// The owner of the call at this address.
fn owner(debug: &Loader, address: u64) -> Owner {
    let Ok(mut frames) = debug.find_frames(address) else { return Owner::Program };
    // Those of the standard library, from the innermost one outside `core`.
    let mut library: Vec<(String, String)> = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let file = frame.location.as_ref().and_then(|location| location.file).unwrap_or_default();
        let is_part = |library| crate::symbols::is_part_of(file, library);
        if is_part("core") && library.is_empty() {
            continue;
        }
        if !["core", "alloc", "std"].into_iter().any(is_part) {
            break;
        }
        let name = frame.function.as_ref().and_then(|name| name.raw_name().ok()).unwrap_or_default();
        library.push((file.to_owned(), crate::symbols::demangled(&name)));
    }
    owner_of(&library)
}

/// The owner of an access with these files and functions, from the innermost one outwards.
fn owner_of(library: &[(String, String)]) -> Owner {
    let Some((file, function)) = library.first() else { return Owner::Program };
    let is_channel = |file: &str| {
        file.contains("sync/mpmc/")
            && ["list.rs", "array.rs", "waker.rs", "context.rs"].iter().any(|end| file.ends_with(end))
    };
    let innermost = owner_in(file, function);
    // A channel without room uses a lock, and the lock is what matters.
    let in_channel = library.iter().any(|(file, _)| is_channel(file))
        && !library.iter().any(|(file, _)| file.ends_with("mpmc/zero.rs"));
    if innermost == Owner::Inner || in_channel && is_channel(file) {
        return innermost;
    }
    if in_channel {
        return Owner::Channel;
    }
    // Whose references are counted is known from what drops or clones them.
    let is_thread =
        |(file, name): &(String, String)| name.contains("std::thread::") || file.contains("std/src/thread/");
    if file.ends_with("alloc/src/sync.rs") && library.iter().any(is_thread) {
        return Owner::Inner;
    }
    innermost
}

/// The owner of an access in a function of the standard library.
fn owner_in(file: &str, function: &str) -> Owner {
    let last = function.rsplit("::").next().unwrap_or_default();
    if file.contains("mutex/futex.rs") || file.contains("futex_mutex.rs") {
        return match last {
            "lock" => Owner::Lock,
            "try_lock" => Owner::TryLock,
            "unlock" => Owner::Unlock,
            _ => Owner::Library,
        };
    }
    if file.contains("rwlock/futex.rs") || file.contains("futex_rwlock.rs") {
        return match last {
            "read" => Owner::Read,
            "read_unlock" => Owner::ReadUnlock,
            "write" => Owner::Write,
            "write_unlock" => Owner::WriteUnlock,
            _ if last.contains("read") && !last.contains("wake") => Owner::Reader,
            _ => Owner::Writer,
        };
    }
    let is_inner = file.ends_with("src/panicking.rs") || file.ends_with("sync/poison.rs");
    let is_channel = file.contains("sync/mpmc/") && !file.ends_with("counter.rs") && !file.ends_with("zero.rs");
    match last {
        _ if is_inner => Owner::Inner,
        "start_send" if is_channel => Owner::Send,
        "start_recv" if is_channel => Owner::Receive,
        "disconnect" if is_channel && file.ends_with("array.rs") => Owner::Disconnect,
        "disconnect_senders" | "disconnect_receivers" if is_channel => Owner::Disconnect,
        _ if is_channel => Owner::Channel,
        "scope" if file.ends_with("thread/scoped.rs") => Owner::Scope,
        _ => Owner::Library,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_locks_are_known() {
        let mutex = "/rustc/0/library/std/src/sys/sync/mutex/futex.rs";
        let rwlock = "/rustc/0/library/std/src/sys/sync/rwlock/futex.rs";
        for (file, function, owner) in [
            (mutex, "<std::sys::sync::mutex::futex::Mutex>::lock", Owner::Lock),
            (mutex, "<std::sys::sync::mutex::futex::Mutex>::try_lock", Owner::TryLock),
            (mutex, "<std::sys::sync::mutex::futex::Mutex>::unlock", Owner::Unlock),
            (rwlock, "<std::sys::sync::rwlock::futex::RwLock>::read", Owner::Read),
            (rwlock, "<std::sys::sync::rwlock::futex::RwLock>::try_read", Owner::Reader),
            (rwlock, "<std::sys::sync::rwlock::futex::RwLock>::try_write", Owner::Writer),
            (rwlock, "<std::sys::sync::rwlock::futex::RwLock>::write_unlock", Owner::WriteUnlock),
            ("/rustc/0/library/std/src/thread/scoped.rs", "std::thread::scoped::scope", Owner::Scope),
            ("/rustc/0/library/std/src/panicking.rs", "std::panicking::panic_count::count_is_zero", Owner::Inner),
            (
                "/rustc/0/library/std/src/sync/mpmc/list.rs",
                "std::sync::mpmc::list::Channel<T>::start_send",
                Owner::Send,
            ),
            (
                "/rustc/0/library/std/src/sync/mpmc/counter.rs",
                "std::sync::mpmc::counter::Sender<C>::release",
                Owner::Library,
            ),
        ] {
            assert_eq!(owner_in(file, function), owner, "{function}");
        }
    }

    #[test]
    fn who_calls_the_standard_library_from_within_decides() {
        let frames = |of: &[(&str, &str)]| {
            let owned = |(file, name): &(&str, &str)| (format!("/rustc/0/library/{file}"), (*name).to_owned());
            owner_of(&of.iter().map(owned).collect::<Vec<_>>())
        };
        let lock = ("std/src/sys/sync/mutex/futex.rs", "std::sys::sync::mutex::futex::Mutex::lock");
        let notify = ("std/src/sync/mpmc/waker.rs", "std::sync::mpmc::waker::SyncWaker::notify");
        let zero = ("std/src/sync/mpmc/zero.rs", "std::sync::mpmc::zero::Channel<T>::recv");
        let drop = ("alloc/src/sync.rs", "<alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop");
        let packet = ("core/src/ptr/mod.rs", "core::ptr::drop_in_place<alloc::sync::Arc<std::thread::Packet<()>>>");
        let own = ("core/src/ptr/mod.rs", "core::ptr::drop_in_place<alloc::sync::Arc<queue::Node>>");
        assert_eq!(frames(&[]), Owner::Program);
        assert_eq!(frames(&[lock]), Owner::Lock);
        assert_eq!(frames(&[lock, notify]), Owner::Channel);
        assert_eq!(frames(&[lock, zero]), Owner::Lock);
        assert_eq!(frames(&[drop, packet]), Owner::Inner);
        assert_eq!(frames(&[drop, own]), Owner::Library);
    }
}
