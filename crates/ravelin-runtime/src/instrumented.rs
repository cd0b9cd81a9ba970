//! Which parts of the process were compiled with instrumentation.
//!
//! Functions of the C library are called by the program and by compiled libraries. How these libraries synchronise is
//! not seen, so what is done for them must not be compared with what others do. A call is known by the address that it
//! returns to. The file loaded around that address is instrumented if it names an entry of the runtime among its
//! dynamic symbols. What is statically linked into such a file counts as instrumented.
//!
//! A library that uses OpenMP or implements it is a third kind: it copies and frees what belongs to several threads, in an
//! order that only it knows.
//!
//! Each file is looked at once. A file that is unloaded leaves its answer to whatever is loaded in its place.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The most files whose answers are kept. More are looked at each time.
const MOST: usize = 128;

/// What kind of code a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum CodeKind {
    Plain = 0,
    Instrumented = 1,
    OpenMp = 2,
}

/// The bits of an address that hold a kind.
const KIND: usize = 3;

/// A loaded file: its first address, which begins a page and has the kind in its lowest bits, and the address after its
/// last one.
struct LoadedFile {
    start: AtomicUsize,
    end: AtomicUsize,
}

static FILES: [LoadedFile; MOST] =
    [const { LoadedFile { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; MOST];
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Whether the code at an address is instrumented.
#[inline(always)]
pub fn contains(pc: usize) -> bool {
    kind(pc) == CodeKind::Instrumented as usize
}

/// Whether the code at an address is not instrumented and belongs to a library with OpenMP.
pub fn is_openmp(pc: usize) -> bool {
    kind(pc) == CodeKind::OpenMp as usize
}

#[inline(always)]
fn kind(pc: usize) -> usize {
    for file in &FILES {
        let end = file.end.load(Ordering::Acquire);
        if end == 0 {
            break;
        }
        let start = file.start.load(Ordering::Relaxed);
        if (start & !KIND..end).contains(&pc) {
            return start & KIND;
        }
    }
    look_up(pc) as usize
}

#[cold]
#[inline(never)]
fn look_up(pc: usize) -> CodeKind {
    let mut search = Search { pc, found: None };
    // SAFETY: the callback gets the search back and is not called after this returns.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut search).cast()) };
    let Some((start, end, kind)) = search.found else {
        return CodeKind::Plain;
    };
    let index = TAKEN.fetch_add(1, Ordering::Relaxed);
    if let Some(file) = FILES.get(index) {
        file.start.store(start & !KIND | kind as usize, Ordering::Relaxed);
        file.end.store(end, Ordering::Release);
    } else {
        TAKEN.store(MOST, Ordering::Relaxed);
    }
    kind
}

struct Search {
    pc: usize,
    found: Option<(usize, usize, CodeKind)>,
}

unsafe extern "C" fn look_at(info: *mut libc::dl_phdr_info, _size: usize, search: *mut libc::c_void) -> i32 {
    // SAFETY: the C library gives a valid description, and the other is that of `look_up`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    let base = info.dlpi_addr as usize;
    let (mut start, mut end, mut dynamic) = (usize::MAX, 0, 0);
    for header in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: there are that many headers.
        let header = unsafe { &*info.dlpi_phdr.add(header) };
        let at = base.wrapping_add(header.p_vaddr as usize);
        match header.p_type {
            libc::PT_LOAD => {
                start = start.min(at);
                end = end.max(at + header.p_memsz as usize);
            }
            libc::PT_DYNAMIC => dynamic = at,
            _ => {}
        }
    }
    if !(start..end).contains(&search.pc) {
        return 0;
    }
    // SAFETY: the dynamic section of a file that stays loaded while its code runs.
    let kind = if dynamic == 0 { CodeKind::Plain } else { unsafe { kind_by_names(base, dynamic) } };
    search.found = Some((start, end, kind));
    1
}

/// The kind of a file by the names of its dynamic symbols.
///
/// # Safety
/// `dynamic` is the address of the dynamic section of a file loaded at `base`.
unsafe fn kind_by_names(base: usize, dynamic: usize) -> CodeKind {
    const STRINGS: usize = 5;
    const STRINGS_LENGTH: usize = 10;
    const ENTRY: u64 = u64::from_ne_bytes(*b"__tsan_f");
    const REGIONS: [u64; 2] = [u64::from_ne_bytes(*b"GOMP_par"), u64::from_ne_bytes(*b"__kmpc_f")];
    let (mut strings, mut length, mut at) = (0, 0, dynamic as *const [usize; 2]);
    loop {
        // SAFETY: the section ends with an entry whose tag is 0.
        let [tag, value] = unsafe { at.read() };
        match tag {
            0 => break,
            STRINGS => strings = if value < base { base + value } else { value },
            STRINGS_LENGTH => length = value,
            _ => {}
        }
        // SAFETY: this was not the last entry.
        at = unsafe { at.add(1) };
    }
    let mut kind = CodeKind::Plain;
    if strings == 0 {
        return kind;
    }
    // Words are compared one by one: library functions for this are themselves watched.
    for at in 0..length.saturating_sub(7) {
        // SAFETY: the table has that many bytes.
        let word = unsafe { ((strings + at) as *const u64).read_unaligned() };
        if word == ENTRY {
            return CodeKind::Instrumented;
        } else if word == REGIONS[0] || word == REGIONS[1] {
            kind = CodeKind::OpenMp;
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_not_instrumented() {
        let inside = libc::getpid as *const () as usize;
        for _ in 0..2 {
            assert!(!contains(inside));
        }
    }

    #[test]
    fn what_is_no_file_is_not_instrumented() {
        let here = 0_u8;
        assert!(!contains(&raw const here as usize));
        assert!(!contains(0));
    }

    #[test]
    fn a_file_that_names_an_entry_is_instrumented() {
        let text = *b"\0strlen\0GOMP_parallel\0__tsan_func_entry\0";
        let dynamic = [[5, text.as_ptr() as usize], [10, text.len()], [0, 0]];
        // SAFETY: a section as the function expects it; the text is not moved.
        unsafe {
            assert_eq!(kind_by_names(0, dynamic.as_ptr() as usize), CodeKind::Instrumented);
            let shorter = [[10, text.len() - 14], [5, text.as_ptr() as usize], [0, 0]];
            assert_eq!(kind_by_names(0, shorter.as_ptr() as usize), CodeKind::OpenMp);
        }
    }
}
