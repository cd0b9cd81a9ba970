//! Which parts of the process were compiled with instrumentation.
//!
//! Functions of the C library are called by the program and by compiled libraries. How these libraries synchronise is
//! not seen, so what is done for them must not be compared with what others do. A call is known by the address that it
//! returns to. The file loaded around that address is instrumented if it names an entry of the runtime among its
//! dynamic symbols. What is statically linked into such a file counts as instrumented.
//!
//! Each file is looked at once. A file that is unloaded leaves its answer to whatever is loaded in its place.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The most files whose answers are kept. More are looked at each time.
const MOST: usize = 128;

/// A loaded file: its first address, and the address after its last one. The lowest bit of the first is the answer.
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
    for file in &FILES {
        let end = file.end.load(Ordering::Acquire);
        if end == 0 {
            break;
        }
        let start = file.start.load(Ordering::Relaxed);
        if (start & !1..end).contains(&pc) {
            return start & 1 != 0;
        }
    }
    look_up(pc)
}

#[cold]
#[inline(never)]
fn look_up(pc: usize) -> bool {
    let mut search = Search { pc, found: None };
    // SAFETY: the callback gets the search back and is not called after this returns.
    unsafe { libc::dl_iterate_phdr(Some(look_at), (&raw mut search).cast()) };
    let Some((start, end, is_instrumented)) = search.found else {
        return false;
    };
    let index = TAKEN.fetch_add(1, Ordering::Relaxed);
    if let Some(file) = FILES.get(index) {
        file.start.store(start & !1 | usize::from(is_instrumented), Ordering::Relaxed);
        file.end.store(end, Ordering::Release);
    } else {
        TAKEN.store(MOST, Ordering::Relaxed);
    }
    is_instrumented
}

struct Search {
    pc: usize,
    found: Option<(usize, usize, bool)>,
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
    search.found = Some((start, end, dynamic != 0 && unsafe { names_an_entry(base, dynamic) }));
    1
}

/// Whether the names of a file's dynamic symbols contain one of the runtime.
///
/// # Safety
/// `dynamic` is the address of the dynamic section of a file loaded at `base`.
unsafe fn names_an_entry(base: usize, dynamic: usize) -> bool {
    const STRINGS: usize = 5;
    const STRINGS_LENGTH: usize = 10;
    const ENTRY: u64 = u64::from_ne_bytes(*b"__tsan_f");
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
    // Words are compared one by one: library functions for this are themselves watched.
    // SAFETY: the table has that many bytes.
    strings != 0
        && (0..length.saturating_sub(7)).any(|at| unsafe { ((strings + at) as *const u64).read_unaligned() } == ENTRY)
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
        let text = *b"\0strlen\0__tsan_func_entry\0";
        let dynamic = [[5, text.as_ptr() as usize], [10, text.len()], [0, 0]];
        // SAFETY: a section as the function expects it; the text is not moved.
        unsafe {
            assert!(names_an_entry(0, dynamic.as_ptr() as usize));
            let shorter = [[10, text.len() - 14], [5, text.as_ptr() as usize], [0, 0]];
            assert!(!names_an_entry(0, shorter.as_ptr() as usize));
        }
    }
}
