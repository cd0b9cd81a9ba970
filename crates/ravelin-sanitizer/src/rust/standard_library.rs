//! The functions of a toolchain's compiled standard library that synchronise, and an object file that wraps them.
//!
//! Their names are looked up in the library itself, because they contain a hash that differs between versions. The
//! linker (`--wrap`) sends calls from outside the library to `__wrap_NAME`, which the object defines: it passes the
//! address of the function to the runtime. The toolchain's own rustc builds the object from a few lines of assembly. It
//! is cached beside the runtime.

use super::TARGET;
use crate::unpack::Runtime;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use ravelin_numbers::fnv1a;
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// Functions, by the ends of their paths, and what the runtime does around each. Between versions they move from module
/// to module, but keep their names and arguments.
const WRAPPED: &[(&str, &str, &str)] = &[
    ("std::sys", "::Mutex::lock_contended", "lock"),
    ("std::sys", "::RwLock::read_contended", "read"),
    ("std::sys", "::RwLock::write_contended", "write"),
    ("std::sys", "::Condvar::wait", "condvar_wait"),
    ("std::sys", "::Condvar::wait_timeout", "condvar_wait_timeout"),
    ("std::sync", "::Condvar::notify_one", "condvar_notify"),
    ("std::sync", "::Condvar::notify_all", "condvar_notify"),
    ("std::sys", "::Condvar::notify_one", "condvar_notify"),
    ("std::sys", "::Condvar::notify_all", "condvar_notify"),
    ("std::sys", "::Once::call", "once_call"),
    ("std::sync", "::Once::wait", "once_wait"),
    ("std::sync", "::Once::wait_force", "once_wait"),
    ("std::sync", "::Barrier::wait", "barrier_wait"),
    ("std::thread", "::Thread::park", "thread_park"),
    ("std::thread", "::Thread::park_timeout", "thread_park"),
    ("std::thread", "::functions::park", "park"),
    ("std::thread", "::functions::park_timeout", "park"),
    ("std::io", "::Stdin::lock", "stream_lock"),
    ("std::io", "::Stdout::lock", "stream_lock"),
    ("std::io", "::Stderr::lock", "stream_lock"),
    ("std::", " as std::io::Read::read", "reading"),
    ("&std::", " as std::io::Read::read", "reading"),
    ("alloc::sync::Arcstd::fs::File", " as std::io::Read::read", "reading"),
    ("std::fs::File", "::FileExt::read_at", "reading"),
    ("std::net", "::UdpSocket::recv", "reading"),
    ("std::os::unix::net", "::UnixDatagram::recv", "reading"),
    ("std::", " as std::io::Write::write", "writing"),
    ("&std::", " as std::io::Write::write", "writing"),
    ("alloc::sync::Arcstd::fs::File", " as std::io::Write::write", "writing"),
    ("std::fs::File", "::FileExt::write_at", "writing"),
    ("std::net", "::UdpSocket::send", "writing"),
    ("std::os::unix::net", "::UnixDatagram::send", "writing"),
    ("std::thread", "::ScopeData::increment_num_running_threads", "scope_enter"),
    ("std::thread", "::ScopeData::decrement_num_running_threads", "scope_leave"),
];

/// A function that the runtime always needs.
const CURRENT: (&str, &str) = ("std::thread", "::current");

/// Why a toolchain cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotUnderstood {
    #[error("{}: rustc does not report where its standard library is", .0.display())]
    NotAsked(PathBuf, #[source] io::Error),
    #[error("{}: rustc has no standard library for {TARGET}", .0.display())]
    NoLibrary(PathBuf),
    #[error("{}: the standard library cannot be read", .0.display())]
    NotRead(PathBuf, #[source] io::Error),
    #[error("{}: this is no archive of object files", .0.display())]
    NoArchive(PathBuf),
    #[error(
        "{}: the standard library has no function {}, by which it is known; this version of Rust is too new or too old for the sanitizer", .0.display(), .1
    )]
    Unknown(PathBuf, String),
    #[error("{}: the functions around the standard library could not be compiled: {}", .0.display(), .1)]
    NotCompiled(PathBuf, String),
    #[error("{}: the functions around the standard library could not be written", .0.display())]
    NotWritten(PathBuf, #[source] io::Error),
}

/// What a program links besides the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapping {
    /// The object file.
    pub object: PathBuf,
    /// The symbols that the linker has to wrap.
    pub symbols: Vec<String>,
}

impl Wrapping {
    /// For the standard library of this rustc.
    pub fn of(rustc: &OsStr, runtime: &Runtime) -> Result<Wrapping, NotUnderstood> {
        let library = library(rustc)?;
        let stem = runtime.beside(&format!("rust-{:016x}", fingerprint(&library)?));
        let (object, list) = (stem.with_extension("o"), stem.with_extension("list"));
        // The list is written last.
        if let Ok(list) = fs::read_to_string(&list)
            && object.is_file()
        {
            return Ok(Wrapping { object, symbols: list.lines().map(str::to_owned).collect() });
        }
        let bytes = fs::read(&library).map_err(|error| NotUnderstood::NotRead(library.clone(), error))?;
        let functions = functions(&bytes).ok_or_else(|| NotUnderstood::NoArchive(library.clone()))?;
        let (text, symbols) = assembly(&functions).map_err(|missing| NotUnderstood::Unknown(library, missing))?;
        compile(rustc, &text, &object)?;
        let temporary = stem.with_extension(format!("{}.new", std::process::id()));
        fs::write(&temporary, symbols.join("\n"))
            .and_then(|()| fs::rename(&temporary, &list))
            .map_err(|error| NotUnderstood::NotWritten(list, error))?;
        Ok(Wrapping { object, symbols })
    }
}

/// The file of the standard library.
fn library(rustc: &OsStr) -> Result<PathBuf, NotUnderstood> {
    let named = || PathBuf::from(rustc);
    let output = Command::new(rustc)
        .args(["--print=target-libdir", "--target", TARGET])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| NotUnderstood::NotAsked(named(), error))?;
    let directory = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let files = fs::read_dir(&directory).map_err(|_| NotUnderstood::NoLibrary(named()))?;
    let is_std = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    };
    let found = files.filter_map(|entry| Some(entry.ok()?.path())).find(is_std);
    found.ok_or_else(|| NotUnderstood::NoLibrary(named()))
}

/// A number for exactly this file and this version of the table above.
fn fingerprint(library: &Path) -> Result<u64, NotUnderstood> {
    let about = fs::metadata(library).map_err(|error| NotUnderstood::NotRead(library.to_owned(), error))?;
    let changed = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let words = format!("{} {} {} {WRAPPED:?}", library.display(), about.len(), changed.as_nanos());
    Ok(fnv1a(words.bytes()))
}

/// The visible functions of a library: symbol, and path without brackets.
fn functions(library: &[u8]) -> Option<Vec<(String, String)>> {
    let archive = ArchiveFile::parse(library).ok()?;
    let mut functions = Vec::new();
    for member in archive.members() {
        let data = member.ok()?.data(library).ok()?;
        // One member is no object but rustc's own.
        let Ok(file) = object::File::parse(data) else { continue };
        for symbol in file.symbols() {
            let is_function = symbol.is_definition() && symbol.is_global() && symbol.kind() == object::SymbolKind::Text;
            if let Ok(name) = symbol.name()
                && is_function
            {
                functions.push((name.to_owned(), path(name)));
            }
        }
    }
    Some(functions)
}

/// `std::sync::barrier::Barrier::wait` for `<std::sync::barrier::Barrier>::wait`.
fn path(symbol: &str) -> String {
    crate::symbols::demangled(symbol).replace(['<', '>'], "")
}

/// The text of the object file and the symbols it wraps, or a function that is missing.
fn assembly(functions: &[(String, String)]) -> Result<(String, Vec<String>), String> {
    let find = |start: &str, end: &str| {
        let found = functions.iter().filter(|(_, path)| path.starts_with(start) && path.ends_with(end));
        found.map(|(symbol, _)| symbol.as_str()).collect::<Vec<_>>()
    };
    let current = find(CURRENT.0, CURRENT.1).into_iter().next();
    let current = current.ok_or_else(|| format!("{}…{}", CURRENT.0, CURRENT.1))?;
    let mut text = String::from(
        ".section .init_array.00100,\"aw\",@init_array\n.p2align 3\n.quad __ravelin_library_is_there\n.text\n",
    );
    let mut symbols = Vec::new();
    for (start, end, around) in WRAPPED {
        let found = find(start, end);
        // Hardly anything works without these two; other functions may be missing for a reason.
        if found.is_empty() && ["lock", "once_call"].contains(around) {
            return Err(format!("{start}…{end}"));
        }
        for symbol in found {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                ".globl __wrap_{symbol}\n.type __wrap_{symbol},@function\n__wrap_{symbol}:\n\
                 mov r11, qword ptr [rip + __real_{symbol}@GOTPCREL]\n\
                 mov r10, qword ptr [rip + {current}@GOTPCREL]\n\
                 jmp qword ptr [rip + __ravelin_around_{around}@GOTPCREL]\n\
                 .size __wrap_{symbol}, . - __wrap_{symbol}\n"
            );
            symbols.push(symbol.to_owned());
        }
    }
    Ok((text, symbols))
}

/// Makes the object file, by a crate that holds nothing else.
fn compile(rustc: &OsStr, text: &str, object: &Path) -> Result<(), NotUnderstood> {
    let not_written = |error| NotUnderstood::NotWritten(object.to_owned(), error);
    // Cargo starts several of these processes at once. Each has its own directory, because rustc writes more files than
    // requested, under names that do not depend on the process.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = object.with_extension(format!("{}-{number}.new", std::process::id()));
    fs::create_dir_all(&directory).map_err(not_written)?;
    let compiled = compile_in(&directory, rustc, text).and_then(|made| fs::rename(made, object).map_err(not_written));
    // A leftover in the cache is harmless.
    let _ = fs::remove_dir_all(&directory);
    compiled
}

/// Makes the object file in this directory.
fn compile_in(directory: &Path, rustc: &OsStr, text: &str) -> Result<PathBuf, NotUnderstood> {
    let (source, made) = (directory.join("around.rs"), directory.join("around.o"));
    fs::write(&source, format!("#![no_std]\ncore::arch::global_asm!(r#\"{text}\"#);\n"))
        .map_err(|error| NotUnderstood::NotWritten(source.clone(), error))?;
    let output = Command::new(rustc)
        .args(["--crate-type=lib", "--crate-name=ravelin_around", "--emit=obj", "-Cpanic=abort", "--target", TARGET])
        .args(["-Ccodegen-units=1", "--edition=2021", "-o"])
        .args([&made, &source])
        .env_remove("RUSTC_WRAPPER")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(made),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(NotUnderstood::NotCompiled(PathBuf::from(rustc), said))
        }
        Err(error) => Err(NotUnderstood::NotAsked(PathBuf::from(rustc), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<(String, String)> {
        paths.iter().enumerate().map(|(number, path)| (format!("_R{number}"), (*path).to_owned())).collect()
    }

    #[test]
    fn functions_are_found_by_the_ends_of_their_paths() {
        let functions = named(&[
            "std::sys::sync::mutex::futex::Mutex::lock_contended",
            "std::sys::sync::once::futex::Once::call",
            "std::thread::current::current",
            "std::thread::functions::park",
            "std::thread::functions::park_timeout_ms",
        ]);
        let (text, symbols) = assembly(&functions).expect("all that is needed is there");
        assert_eq!(symbols, ["_R0", "_R1", "_R3"]);
        assert!(text.contains("__ravelin_around_lock@GOTPCREL") && text.contains("__real__R0@GOTPCREL"), "{text}");
    }

    #[test]
    fn a_library_that_is_not_known_is_not_taken() {
        let functions = named(&["std::sys::sync::mutex::futex::Mutex::lock_contended", "std::thread::current"]);
        assert_eq!(assembly(&functions).err().as_deref(), Some("std::sys…::Once::call"));
    }

    #[test]
    fn object_files_can_be_made_side_by_side() {
        let folder = std::env::temp_dir().join(format!("ravelin-around-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let object = folder.join("rust-0.o");
        let compiled: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let compile = || compile(OsStr::new("rustc"), ".globl here\nhere:\n", &object).map_err(|e| e.to_string());
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(compile)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(compiled, vec![Ok(()); 8]);
        assert!(fs::read(&object).expect("an object file").starts_with(b"\x7fELF"));
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 1, "something is left behind");
        fs::remove_dir_all(&folder).expect("the folder is removed");
    }

    #[test]
    fn paths_have_no_brackets() {
        let symbol = "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended";
        assert_eq!(path(symbol), "std::sys::sync::mutex::futex::Mutex::lock_contended");
        let old = "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE";
        assert_eq!(path(old), "std::sys::sync::mutex::futex::Mutex::lock_contended");
    }
}
