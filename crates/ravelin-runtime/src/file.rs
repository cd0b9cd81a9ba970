//! The findings file, mapped into memory.

use crate::kernel;
use crate::place::{self, SegmentMemory};
use crate::spin::Spin;
use ravelin_findings::{COUNT_WORD, Module, Record, SPINNING_WORD, STALE_WORDS, Spinning, arena, encode, header};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

const WORDS: usize = arena::SEGMENT / 8;

static WORDS_AT: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// Locked while a record is written. Holds how many bytes can be used.
static ALLOCATED: Spin<usize> = Spin::new(0);
/// Modules in the file already, by start address.
static MODULES: Spin<Vec<u64>> = Spin::new(Vec::new());

/// A record in the file; empty if there was no room.
pub struct FileRecord(usize);

impl FileRecord {
    /// Where the finding's count is, or 0 if there is none.
    pub fn count_address(&self) -> usize {
        if self.0 == 0 { 0 } else { self.0 + 8 * COUNT_WORD }
    }

    /// Changes the numbers of a stale access: it occurred once more, like this.
    pub fn set_stale(&self, [value, newest, point]: [u64; 3]) {
        if self.0 != 0 {
            // SAFETY: the record is in the mapping, which stays.
            let word = |index: usize| unsafe { &*((self.0 + 8 * STALE_WORDS[index]) as *const AtomicU64) };
            word(0).fetch_add(1, Ordering::Relaxed);
            word(1).store(value, Ordering::Relaxed);
            word(2).store(newest, Ordering::Relaxed);
            word(3).store(point, Ordering::Relaxed);
        }
    }

    /// Changes what is known about spinning.
    pub fn set_spinning(&self, spinning: Spinning) {
        if self.0 != 0 {
            // SAFETY: the record is in the mapping, which stays.
            let word = unsafe { &*((self.0 + 8 * SPINNING_WORD) as *const AtomicU64) };
            word.store(spinning as u64, Ordering::Relaxed);
        }
    }
}

/// Creates the file in the arena, or else in the directory. Returns whether that was possible.
pub fn create(arena: Option<&[u8]>, directory: Option<&[u8]>) -> bool {
    let place = arena.and_then(SegmentMemory::in_arena).or_else(|| directory.and_then(SegmentMemory::in_directory));
    let Some(place) = place else {
        arena.map(place::none_in_arena);
        return false;
    };
    *ALLOCATED.lock() = place.allocated;
    WORDS_AT.store(place.start, Ordering::Release);
    set(header::PROCESS, kernel::process() as u64);
    set(header::USED, header::WORDS as u64);
    set(header::THREADS, 1);
    set(header::MAGIC_AT, header::MAGIC);
    true
}

/// Whether there is no file.
pub fn is_missing() -> bool {
    WORDS_AT.load(Ordering::Acquire).is_null()
}

/// The header as it is now: the beginning of several runs.
pub fn beginning() -> [u64; header::WORDS] {
    std::array::from_fn(|index| word(index).map_or(0, |word| word.load(Ordering::Relaxed)))
}

/// Gives the file the header of [`beginning`], so that what was recorded since then is forgotten.
pub fn begin_again(beginning: &[u64; header::WORDS]) {
    for (index, value) in beginning.iter().enumerate() {
        set(index, *value);
    }
}

/// This process has the file from now on.
pub fn take_over() {
    set(header::PROCESS, kernel::process() as u64);
}

/// Leaves the file to the parent: this process is a forked child.
pub fn abandon() {
    WORDS_AT.store(std::ptr::null_mut(), Ordering::Release);
}

/// This process is a forked child whose file, which is about to be created, has no modules.
pub fn forget_modules() {
    MODULES.lock().clear();
}

fn word(index: usize) -> Option<&'static AtomicU64> {
    let words = WORDS_AT.load(Ordering::Acquire);
    // SAFETY: the mapping has `WORDS` words and stays.
    (!words.is_null() && index < WORDS).then(|| unsafe { &*words.add(index) })
}

/// Sets a word of the header.
pub fn set(index: usize, value: u64) {
    if let Some(word) = word(index) {
        word.store(value, Ordering::Release);
    }
}

/// Adds a note to the header.
pub fn note(note: u64) {
    if let Some(word) = word(header::NOTES) {
        word.fetch_or(note, Ordering::Relaxed);
    }
}

/// Counts a finding once more.
pub fn count(address: usize) {
    if address != 0 {
        // SAFETY: `address` came from `FileRecord::count_address`, in the mapping, which stays.
        unsafe { &*(address as *const AtomicU64) }.fetch_add(1, Ordering::Relaxed);
    } else if let Some(word) = word(header::DROPPED) {
        word.fetch_add(1, Ordering::Relaxed);
    }
}

/// Appends a record.
pub fn write(record: &Record) -> FileRecord {
    let words = encode(record);
    let mut allocated = ALLOCATED.lock();
    let Some(used) = word(header::USED) else {
        return FileRecord(0);
    };
    let start = used.load(Ordering::Relaxed) as usize;
    let mut place = SegmentMemory { start: WORDS_AT.load(Ordering::Acquire), allocated: *allocated };
    let is_room = place.allocate(8 * (start + words.len()));
    *allocated = place.allocated;
    if !is_room {
        if let Some(dropped) = word(header::DROPPED) {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
        return FileRecord(0);
    }
    for (index, value) in words.iter().enumerate() {
        set(start + index, *value);
    }
    used.store((start + words.len()) as u64, Ordering::Release);
    FileRecord(word(start).map_or(0, |word| word as *const AtomicU64 as usize))
}

/// The loaded files.
pub fn modules() -> Vec<Module> {
    let mut found: Vec<Module> = Vec::new();
    // SAFETY: the callback gets the vector back and is not called after this returns.
    unsafe {
        libc::dl_iterate_phdr(Some(collect_module), (&raw mut found).cast());
    }
    found
}

/// Records the loaded files that are not in the file yet.
pub fn write_modules() {
    for module in modules() {
        let mut known = MODULES.lock();
        if !known.contains(&module.start) {
            known.push(module.start);
            drop(known);
            write(&Record::Module(module));
        }
    }
}

unsafe extern "C" fn collect_module(info: *mut libc::dl_phdr_info, _size: usize, found: *mut libc::c_void) -> i32 {
    // SAFETY: the C library gives a valid description, and `found` is the vector of `write_modules`.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<Module>>()) };
    let (mut start, mut end) = (u64::MAX, 0);
    for header in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: there are that many headers.
        let header = unsafe { &*info.dlpi_phdr.add(header) };
        if header.p_type == libc::PT_LOAD {
            start = start.min(info.dlpi_addr + header.p_vaddr);
            end = end.max(info.dlpi_addr + header.p_vaddr + header.p_memsz);
        }
    }
    if start < end {
        let mut path = if info.dlpi_name.is_null() {
            Vec::new()
        } else {
            // SAFETY: a string of the C library.
            unsafe { std::ffi::CStr::from_ptr(info.dlpi_name) }.to_bytes().to_vec()
        };
        if path.is_empty() {
            path = own_path();
        }
        found.push(Module { bias: info.dlpi_addr, start, end, path });
    }
    0
}

/// The path of the program.
fn own_path() -> Vec<u8> {
    let mut path = vec![0u8; 4096];
    // SAFETY: at most that many bytes are written.
    let length = unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), path.len()) };
    path.truncate(length.max(0) as usize);
    path
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::place::tests::Scratch;
    use ravelin_findings::{
        AccessKind, AccessRecord, FindingRecord, Findings, Problem, RecordedOrder, ThreadRecord, notes,
    };
    use std::sync::Once;

    /// The content of the findings file, of which the test program has one. A test that checks its own records also
    /// calls this before it makes them, so that the file exists.
    pub fn findings() -> Findings {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            // The file stays as long as it is mapped.
            let scratch = Scratch::new();
            assert!(create(None, Some(scratch.path())), "there is room for a file");
        });
        let _writing = ALLOCATED.lock();
        let used = word(header::USED).expect("a file").load(Ordering::Acquire) as usize;
        let words = (0..used).map(|index| word(index).expect("a word").load(Ordering::Relaxed));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let findings = ravelin_findings::read(&bytes).expect("a findings file");
        assert_eq!(findings.damaged_at, None);
        findings
    }

    /// A finding that is identified by its address.
    fn finding(address: u64) -> Record {
        let access = AccessRecord {
            thread: 0,
            kind: AccessKind::PlainRead,
            order: RecordedOrder::Plain,
            size: 4,
            stack: vec![1, 2],
        };
        Record::Finding(FindingRecord {
            count: 1,
            spinning: Spinning::No,
            problem: Problem::Race,
            address,
            other: access.clone(),
            access,
            forgotten: 0,
            place: ravelin_findings::MemoryKind::Other,
            path: Vec::new(),
            point: 0,
        })
    }

    fn finding_record(address: u64) -> Option<FindingRecord> {
        findings().findings.into_iter().find(|finding| finding.address == address)
    }

    #[test]
    fn a_new_file_says_whose_it_is() {
        assert_eq!(findings().process, u64::from(std::process::id()));
    }

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        findings();
        let thread = ThreadRecord { number: 1 << 40, parent: 3, name: b"reader".to_vec(), stack: vec![7, 8] };
        write(&Record::Thread(thread.clone()));
        assert!(findings().threads.contains(&thread));
    }

    #[test]
    fn a_finding_is_counted_and_settled_in_place() {
        findings();
        let written = write(&finding(0xf11e_0001));
        count(written.count_address());
        count(written.count_address());
        written.set_spinning(Spinning::Harmless);
        let now = finding_record(0xf11e_0001).expect("the finding");
        assert_eq!((now.count, now.spinning), (3, Spinning::Harmless));
        assert_eq!((now.address, now.access.stack), (0xf11e_0001, vec![1, 2]), "the rest stays");
    }

    #[test]
    fn a_finding_for_which_there_was_no_room_is_counted_as_dropped() {
        let before = findings().dropped;
        let nowhere = FileRecord(0);
        assert_eq!(nowhere.count_address(), 0);
        nowhere.set_spinning(Spinning::Harmless);
        count(nowhere.count_address());
        assert!(findings().dropped > before);
    }

    #[test]
    fn notes_add_up() {
        findings();
        note(notes::FORKED);
        note(notes::OUT_OF_MEMORY);
        let both = notes::FORKED | notes::OUT_OF_MEMORY;
        assert_eq!(findings().notes & both, both);
    }

    #[test]
    fn the_loaded_files_are_written_once_with_where_they_are() {
        findings();
        write_modules();
        write_modules();
        let modules = findings().modules;
        let here = finding_record as *const () as u64;
        let own: Vec<&Module> = modules.iter().filter(|module| (module.start..module.end).contains(&here)).collect();
        let [own] = own[..] else { panic!("{} files have this function", own.len()) };
        let program = std::env::current_exe().expect("the program");
        assert_eq!(own.path, program.into_os_string().into_encoded_bytes());
        let library = libc::getpid as *const () as u64;
        assert!(modules.iter().any(|module| (module.start..module.end).contains(&library)));
    }

    #[test]
    fn records_of_several_threads_stay_whole() {
        const TIMES: u64 = 200;
        findings();
        std::thread::scope(|scope| {
            for thread in 1..=3 {
                scope.spawn(move || {
                    for time in 0..TIMES {
                        write(&finding(0xf11e << 32 | thread << 16 | time));
                    }
                });
            }
        });
        let ours = findings().findings.iter().filter(|finding| finding.address >> 32 == 0xf11e).count();
        assert_eq!(ours as u64, 3 * TIMES);
    }
}
