//! The memory that findings are written to, shared with `ravelin run`.
//!
//! It is a segment of the arena that `ravelin run` has created. If there is none or it cannot be reached, it is a file
//! in a directory. Either way pages are allocated before they are used: if the kernel could not provide a page when it
//! is touched, the program would be killed.

use crate::kernel;
use crate::mapping;
use ravelin_findings::arena;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many programs may follow each other in a process (`exec`) and still have a file each.
const IMAGES: u32 = 1000;
/// How many bytes are allocated at a time.
const CHUNK: usize = 1 << 16;

/// Memory of [`arena::SEGMENT`] bytes.
#[derive(Clone, Copy)]
pub struct SegmentMemory {
    pub start: *mut AtomicU64,
    /// Bytes that can be used.
    pub allocated: usize,
}

impl SegmentMemory {
    /// A segment of the arena at a path; `None` if that is impossible.
    pub fn in_arena(path: &[u8]) -> Option<SegmentMemory> {
        with_arena(path, |file, head| {
            let taken = head[arena::TAKEN].fetch_add(1, Ordering::Relaxed);
            let there_is = taken < head[arena::SEGMENTS].load(Ordering::Relaxed);
            there_is.then(|| SegmentMemory::new(file, arena::offset(taken))).flatten()
        })
        .flatten()
    }

    /// `<directory>/<process>.findings`, in a directory that is created if needed. `None` if that is impossible; then
    /// an empty file says so, if it can be created.
    pub fn in_directory(directory: &[u8]) -> Option<SegmentMemory> {
        let ended = [directory, b"\0"].concat();
        // SAFETY: the path ends with a zero byte. What matters is whether a file can be created in it.
        unsafe { kernel::call(libc::SYS_mkdir, [ended.as_ptr() as usize, 0o700]) };
        let process = kernel::process();
        let open_new = |image: u32| {
            let name = if image == 0 { format!("/{process}.findings") } else { format!("/{process}-{image}.findings") };
            open(&[directory, name.as_bytes()].concat(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
        };
        let file = (0..IMAGES).map(open_new).find(|file| *file != Err(libc::EEXIST))?.ok()?;
        let place = if may_be_as_long() && resize(file, arena::SEGMENT) { SegmentMemory::new(file, 0) } else { None };
        if place.is_none() {
            resize(file, 0);
        }
        close(file);
        place
    }

    fn new(file: i32, offset: u64) -> Option<SegmentMemory> {
        let start = mapping::map_file(file, arena::SEGMENT, offset as usize);
        if start.is_null() {
            return None;
        }
        let mut place = SegmentMemory { start: start.cast(), allocated: 0 };
        if place.allocate(CHUNK) {
            return Some(place);
        }
        // Kernels before 5.14 cannot do that. Then everything is allocated at once, while the file is open.
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

    /// Makes sure that the first `length` bytes can be used. Returns whether that was possible.
    pub fn allocate(&mut self, length: usize) -> bool {
        if length <= self.allocated {
            return true;
        }
        let end = length.next_multiple_of(CHUNK).min(arena::SEGMENT);
        if length > end {
            return false;
        }
        let from = self.start as usize + self.allocated;
        // SAFETY: within the mapping; missing pages are created, and existing ones are not changed.
        let done = unsafe {
            kernel::call(libc::SYS_madvise, [from, end - self.allocated, libc::MADV_POPULATE_WRITE as usize])
        };
        if done == 0 {
            self.allocated = end;
        }
        done == 0
    }
}

/// Maps the words at the beginning of an arena at a fixed address, where they stay; `None` if that is impossible.
pub fn map_head(path: &[u8], address: usize) -> Option<*mut [AtomicU64; arena::WORDS]> {
    let mapped = with_arena(path, |file, _| mapping::map_file_at(address, file, arena::HEAD, 0))?;
    (!mapped.is_null()).then_some(mapped.cast())
}

/// Counts this process among those that could not record anything, if the arena can be reached.
pub fn none_in_arena(path: &[u8]) {
    with_arena(path, |_, head| head[arena::UNRECORDED].fetch_add(1, Ordering::Relaxed));
}

/// Does something with an arena's file and the words at its beginning.
pub fn with_arena<R>(path: &[u8], work: impl FnOnce(i32, &[AtomicU64; arena::WORDS]) -> R) -> Option<R> {
    let file = open(path, libc::O_RDWR).ok()?;
    // The path may name something else by now, which is too short to be mapped: it is read first.
    let mut magic = 0u64;
    // SAFETY: the kernel writes at most eight bytes.
    unsafe { kernel::call(libc::SYS_pread64, [file as usize, (&raw mut magic) as usize, 8, 0]) };
    let head = if magic == arena::MAGIC { mapping::map_file(file, arena::HEAD, 0) } else { std::ptr::null_mut() };
    let mut result = None;
    if !head.is_null() {
        // SAFETY: an arena begins with a page, which its creator has written; any bits are atomics.
        result = Some(work(file, unsafe { &*head.cast::<[AtomicU64; arena::WORDS]>() }));
        // SAFETY: mapped above with this length, and not used any more.
        unsafe { mapping::unmap(head, arena::HEAD) };
    }
    close(file);
    result
}

/// An open file, or the kernel's reason. The C library is not used, because `errno` is zero when a program starts.
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

/// Whether files may be as long as a segment. Trying would raise a signal that ends the program.
fn may_be_as_long() -> bool {
    let mut limit = [u64::MAX; 2];
    // SAFETY: the kernel writes two words.
    let asked =
        unsafe { kernel::call(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, 0, limit.as_mut_ptr() as usize]) };
    asked != 0 || limit[0] >= arena::SEGMENT as u64
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::AtomicU32;

    /// A directory that does not exist yet, and that is removed when this is dropped.
    pub struct Scratch(PathBuf);

    impl Scratch {
        pub fn new() -> Scratch {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            Scratch(std::env::temp_dir().join(format!("ravelin-runtime-{}-{number}", std::process::id())))
        }

        pub fn path(&self) -> &[u8] {
            self.0.as_os_str().as_bytes()
        }

        fn files(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).expect("the directory");
            let mut names: Vec<String> =
                entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            // There may be no directory.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn give_back(place: SegmentMemory) {
        // SAFETY: mapped with this length, and not used any more.
        unsafe { mapping::unmap(place.start.cast(), arena::SEGMENT) };
    }

    fn word<'a>(place: &SegmentMemory, index: usize) -> &'a AtomicU64 {
        assert!(8 * index < place.allocated);
        // SAFETY: within what was allocated, and the tests unmap it last.
        unsafe { &*place.start.add(index) }
    }

    #[test]
    fn every_program_of_a_process_gets_a_file_of_its_own_in_a_directory() {
        let scratch = Scratch::new();
        let places = [0, 1, 2].map(|_| SegmentMemory::in_directory(scratch.path()).expect("a place"));
        let process = std::process::id();
        let names = ["-1.findings", "-2.findings", ".findings"].map(|end| format!("{process}{end}"));
        assert_eq!(scratch.files(), names);
        word(&places[1], 7).store(42, Ordering::Relaxed);
        let file = std::fs::read(scratch.0.join(format!("{process}-1.findings"))).expect("the file");
        assert_eq!(file.len(), arena::SEGMENT);
        assert_eq!(file[56..64], 42_u64.to_ne_bytes());
        places.into_iter().for_each(give_back);
    }

    #[test]
    fn there_is_no_place_in_a_directory_that_cannot_be_made() {
        let scratch = Scratch::new();
        let within = [scratch.path(), b"/deeper"].concat();
        assert!(SegmentMemory::in_directory(&within).is_none(), "only the last part of a path is made");
        assert!(!Path::new(OsStr::from_bytes(&within)).exists());
        assert!(SegmentMemory::in_directory(b"/proc/self/stat").is_none());
    }

    #[test]
    fn memory_is_allocated_in_steps_up_to_the_whole_segment() {
        let scratch = Scratch::new();
        let mut place = SegmentMemory::in_directory(scratch.path()).expect("a place");
        assert!(place.allocated >= CHUNK);
        let by_steps = place.allocated == CHUNK;
        assert!(place.allocate(CHUNK + 1));
        assert!(!by_steps || place.allocated == 2 * CHUNK);
        assert!(place.allocate(arena::SEGMENT));
        assert_eq!(place.allocated, arena::SEGMENT);
        word(&place, arena::SEGMENT / 8 - 1).store(1, Ordering::Relaxed);
        assert!(!place.allocate(arena::SEGMENT + 1));
        give_back(place);
    }

    /// An arena with room for this many segments.
    fn arena_of(segments: u64) -> (Scratch, Vec<u8>) {
        let scratch = Scratch::new();
        std::fs::create_dir(&scratch.0).expect("a directory");
        let path = scratch.0.join("arena");
        let file = std::fs::File::create(&path).expect("a file");
        file.set_len(arena::offset(segments)).expect("a long file");
        let mut head = [0_u64; arena::WORDS];
        (head[arena::MAGIC_AT], head[arena::SEGMENTS]) = (arena::MAGIC, segments);
        let head: Vec<u8> = head.iter().flat_map(|word| word.to_ne_bytes()).collect();
        std::os::unix::fs::FileExt::write_all_at(&file, &head, 0).expect("a head");
        (scratch, path.into_os_string().into_encoded_bytes())
    }

    fn word_of(arena: &[u8], at: u64) -> u64 {
        let file = std::fs::File::open(OsStr::from_bytes(arena)).expect("the arena");
        let mut word = [0; 8];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut word, at).expect("a word");
        u64::from_ne_bytes(word)
    }

    #[test]
    fn segments_of_an_arena_are_taken_in_turn_until_there_is_none() {
        let (_scratch, path) = arena_of(2);
        let places = [0, 1].map(|_| SegmentMemory::in_arena(&path).expect("a segment"));
        word(&places[0], 3).store(10, Ordering::Relaxed);
        word(&places[1], 3).store(11, Ordering::Relaxed);
        assert_eq!([0, 1].map(|segment| word_of(&path, arena::offset(segment) + 24)), [10, 11]);
        assert!(SegmentMemory::in_arena(&path).is_none());
        assert_eq!(word_of(&path, 8 * arena::TAKEN as u64), 3, "whoever got none is counted");
        places.into_iter().for_each(give_back);
    }

    #[test]
    fn processes_that_record_nothing_are_counted_in_the_arena() {
        let (_scratch, path) = arena_of(1);
        none_in_arena(&path);
        none_in_arena(&path);
        assert_eq!(word_of(&path, 8 * arena::UNRECORDED as u64), 2);
    }

    #[test]
    fn what_is_no_arena_is_left_alone() {
        let scratch = Scratch::new();
        std::fs::create_dir(&scratch.0).expect("a directory");
        let path = scratch.0.join("other");
        for content in [&b""[..], b"RAV", b"some other file, of somebody else"] {
            std::fs::write(&path, content).expect("a file");
            assert!(SegmentMemory::in_arena(path.as_os_str().as_bytes()).is_none());
            none_in_arena(path.as_os_str().as_bytes());
            assert_eq!(std::fs::read(&path).expect("the file"), content);
        }
        assert!(SegmentMemory::in_arena(b"/ravelin/is/not/there").is_none());
    }
}
