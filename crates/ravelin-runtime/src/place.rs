//! The memory that findings are written to, shared with `ravelin run`.
//!
//! It is a segment of the arena that `ravelin run` has made, or, where there is none or it cannot be reached, a file in a
//! directory. Either way pages are allocated before they are used: a page that the kernel cannot provide when it is
//! touched would kill the program.

use crate::kernel;
use crate::mapping;
use ravelin_findings::arena;
use std::sync::atomic::{AtomicU64, Ordering};

/// As many programs may follow each other in a process (`exec`) and still have a file each.
const IMAGES: u32 = 1000;
/// Bytes that are allocated at a time.
const CHUNK: usize = 1 << 16;

/// Memory of [`arena::SEGMENT`] bytes.
#[derive(Clone, Copy)]
pub struct Place {
    pub start: *mut AtomicU64,
    /// Bytes that can be used.
    pub allocated: usize,
}

impl Place {
    /// A segment of the arena at a path; `None` if that is impossible.
    pub fn in_arena(path: &[u8]) -> Option<Place> {
        with_arena(path, |file, head| {
            let taken = head[arena::TAKEN].fetch_add(1, Ordering::Relaxed);
            let there_is = taken < head[arena::SEGMENTS].load(Ordering::Relaxed);
            there_is.then(|| Place::new(file, arena::offset(taken))).flatten()
        })
        .flatten()
    }

    /// `<directory>/<process>.findings`, in a directory that is made if there is none; `None` if that is impossible. Then
    /// a file without contents says so, if at all possible.
    pub fn in_directory(directory: &[u8]) -> Option<Place> {
        let ended = [directory, b"\0"].concat();
        // SAFETY: the path ends with a zero byte. What matters is whether a file can be created in it.
        unsafe { kernel::call(libc::SYS_mkdir, [ended.as_ptr() as usize, 0o700]) };
        let process = std::process::id();
        let open_new = |image: u32| {
            let name = if image == 0 { format!("/{process}.findings") } else { format!("/{process}-{image}.findings") };
            open(&[directory, name.as_bytes()].concat(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
        };
        let file = (0..IMAGES).map(open_new).find(|file| *file != Err(libc::EEXIST))?.ok()?;
        let place = if may_be_as_long() && resize(file, arena::SEGMENT) { Place::new(file, 0) } else { None };
        if place.is_none() {
            resize(file, 0);
        }
        close(file);
        place
    }

    fn new(file: i32, offset: u64) -> Option<Place> {
        let start = mapping::map_file(file, arena::SEGMENT, offset as usize);
        if start.is_null() {
            return None;
        }
        let mut place = Place { start: start.cast(), allocated: 0 };
        if place.allocate(CHUNK) {
            return Some(place);
        }
        // Kernels before 5.14 cannot do that; then everything at once, as long as the file is open.
        // SAFETY: no pointers are passed.
        let all = unsafe { kernel::call(libc::SYS_fallocate, [file as usize, 0, offset as usize, arena::SEGMENT]) };
        if all == 0 {
            place.allocated = arena::SEGMENT;
            return Some(place);
        }
        // SAFETY: mapped above with this length, and not used.
        unsafe { mapping::unmap(start, arena::SEGMENT) };
        None
    }

    /// Makes sure that the first `length` bytes can be used; whether that was possible.
    pub fn allocate(&mut self, length: usize) -> bool {
        if length <= self.allocated {
            return true;
        }
        let end = length.next_multiple_of(CHUNK).min(arena::SEGMENT);
        if length > end {
            return false;
        }
        let from = self.start as usize + self.allocated;
        // SAFETY: within the mapping; pages are made, and not changed if they are there.
        let done = unsafe {
            kernel::call(libc::SYS_madvise, [from, end - self.allocated, libc::MADV_POPULATE_WRITE as usize])
        };
        if done == 0 {
            self.allocated = end;
        }
        done == 0
    }
}

/// Counts this process among those that could not record anything, if the arena can be reached.
pub fn none_in_arena(path: &[u8]) {
    with_arena(path, |_, head| head[arena::UNRECORDED].fetch_add(1, Ordering::Relaxed));
}

/// Does something with an arena's file and the words at its beginning.
fn with_arena<R>(path: &[u8], work: impl FnOnce(i32, &[AtomicU64; arena::WORDS]) -> R) -> Option<R> {
    let file = open(path, libc::O_RDWR).ok()?;
    // What has this path may be something else by now, and too short to be mapped: it is read first.
    let mut magic = 0u64;
    // SAFETY: the kernel writes at most eight bytes.
    unsafe { kernel::call(libc::SYS_pread64, [file as usize, (&raw mut magic) as usize, 8, 0]) };
    let head = if magic == arena::MAGIC { mapping::map_file(file, arena::HEAD, 0) } else { std::ptr::null_mut() };
    let mut result = None;
    if !head.is_null() {
        // SAFETY: an arena begins with a page, which its creator has written; any bits are atomics.
        result = Some(work(file, unsafe { &*head.cast::<[AtomicU64; arena::WORDS]>() }));
        // SAFETY: mapped above with this length, and used no more.
        unsafe { mapping::unmap(head, arena::HEAD) };
    }
    close(file);
    result
}

/// An open file, or the kernel's reason. The C library is not asked, because `errno` is zero when a program starts.
fn open(path: &[u8], flags: i32) -> Result<i32, i32> {
    let path = [path, b"\0"].concat();
    let arguments = [path.as_ptr() as usize, (flags | libc::O_CLOEXEC) as usize, 0o600];
    // SAFETY: the path ends with a zero byte.
    let file = unsafe { kernel::call(libc::SYS_open, arguments) } as i32;
    if file < 0 { Err(-file) } else { Ok(file) }
}

fn close(file: i32) {
    // SAFETY: the file was opened here, and is used through its mapping only.
    unsafe { kernel::call(libc::SYS_close, [file as usize]) };
}

fn resize(file: i32, length: usize) -> bool {
    // SAFETY: no pointers are passed.
    unsafe { kernel::call(libc::SYS_ftruncate, [file as usize, length]) == 0 }
}

/// Whether files may be as long as a segment: to try would be a signal that ends the program.
fn may_be_as_long() -> bool {
    let mut limit = [u64::MAX; 2];
    // SAFETY: the kernel writes two words.
    let asked =
        unsafe { kernel::call(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, 0, limit.as_mut_ptr() as usize]) };
    asked != 0 || limit[0] >= arena::SEGMENT as u64
}
