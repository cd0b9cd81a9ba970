//! The program as a whole: how watching begins and ends.

use crate::blocks;
use crate::closes;
use crate::collect;
use crate::file;
use crate::interpose::threads as interposed_threads;
use crate::kernel;
use crate::lock_order;
use crate::options;
use crate::records;
use crate::repair;
use crate::report;
use crate::schedule;
use crate::server;
use crate::shadow;
use crate::spin::Spin;
use crate::this_thread;
use crate::threads;
use crate::tso;
use ravelin_findings::serving::ForkObstacle;
use ravelin_findings::{header, notes};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

static PREPARED: Spin<bool> = Spin::new(false);
/// Whether there is room for shadow and records: not checked yet, no, or yes.
static RESERVED: AtomicU8 = AtomicU8::new(UNASKED);
const UNASKED: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;
static RESERVING: Spin<()> = Spin::new(());
static WATCHING: AtomicBool = AtomicBool::new(false);
static HAS_FORKED: AtomicBool = AtomicBool::new(false);
/// Whether the program was not started by `ravelin run`.
static STARTED_ALONE: AtomicBool = AtomicBool::new(false);
/// Whether this process was forked and has not started a thread since.
static IS_CHILD: AtomicBool = AtomicBool::new(false);
/// Where the file of this process and of its children is created: in an arena, or else in a directory.
static PLACES: Spin<[Option<&[u8]>; 2]> = Spin::new([None; 2]);

/// Registers the first thread, for its calls; nothing is watched yet. May run before the C library is ready.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {
    threads::begin_first();
}

/// Runs before the program's own constructors.
extern "C" fn constructor() {
    __tsan_init();
    prepare();
}

// SAFETY: the entry is a function without arguments that the C library calls once.
#[cfg_attr(not(test), unsafe(link_section = ".init_array.00001"))]
#[used]
static CONSTRUCTOR: extern "C" fn() = constructor;

/// Creates the findings file and reads the options, once.
fn prepare() {
    let mut prepared = PREPARED.lock();
    if *prepared {
        return;
    }
    *prepared = true;
    if let Some(words) = variable(c"RAVELIN_OPTIONS") {
        options::read(&String::from_utf8_lossy(words));
        if let Some(mut inside) = this_thread::enter_unwatched() {
            let thread = inside.thread();
            thread.trace.resize(thread.calls());
            tso::begin(&mut thread.clocks);
        }
    }
    reserve();
    let arena = variable(c"RAVELIN_ARENA");
    *PLACES.lock() = [arena, variable(c"RAVELIN_FINDINGS")];
    schedule::open_steering(arena);
    create_file();
}

fn create_file() {
    let [arena, directory] = *PLACES.lock();
    let wanted = arena.is_some() || directory.is_some();
    STARTED_ALONE.store(!wanted, Ordering::Relaxed);
    if wanted && !file::create(arena, directory) {
        say("ravelin: what is found in this program cannot be recorded; the report will lack it\n");
    }
}

pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the environment is not changed while the program starts.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes())
    }
}

/// The program is about to start a second thread: from now on accesses are watched.
pub fn begin_watching() {
    if WATCHING.load(Ordering::Acquire) {
        return;
    }
    threads::begin_first();
    prepare();
    if IS_CHILD.swap(false, Ordering::AcqRel) {
        begin_in_child();
    }
    if !reserve() {
        file::note(notes::NO_ADDRESS_SPACE);
        say("ravelin: no address space for the sanitizer (is it limited by ulimit -v?); nothing is watched\n");
        threads::switch_off();
    } else {
        repair::find_places();
        if !schedule::steer::waits_for_mark() {
            server::stand();
        }
        this_thread::allow_stopping();
        this_thread::set_watched(true);
        schedule::begin_several();
        if schedule::is_on() {
            interposed_threads::notice_end_of_first();
        }
    }
    if STARTED_ALONE.load(Ordering::Relaxed) {
        say(
            "ravelin: this program is built to be watched, but nothing reports what is found; start it by `ravelin run`\n",
        );
    }
    WATCHING.store(true, Ordering::Release);
}

/// Reserves the address space for everything that is remembered about memory, once. Returns whether there is enough.
/// The heap needs it before anything else is prepared, because libraries allocate in their constructors.
#[inline(always)]
pub fn reserve() -> bool {
    match RESERVED.load(Ordering::Acquire) {
        UNASKED => reserve_now(),
        answer => answer == YES,
    }
}

#[cold]
fn reserve_now() -> bool {
    let _reserving = RESERVING.lock();
    if RESERVED.load(Ordering::Acquire) == UNASKED {
        let all = shadow::reserve() && records::reserve() && blocks::reserve();
        RESERVED.store(if all { YES } else { NO }, Ordering::Release);
    }
    RESERVED.load(Ordering::Acquire) == YES
}

/// Whether accesses are watched in this process.
pub fn is_watching() -> bool {
    WATCHING.load(Ordering::Acquire) && !threads::is_off()
}

/// The program ends, for whatever reason; may be called several times.
pub fn ending() {
    let Some(mut inside) = this_thread::enter_unwatched() else {
        return;
    };
    report::settle();
    repair::tell_sites();
    tell_progress();
    file::set(header::ACCESSES, collect::hand_in(inside.thread()));
    file::set(header::LOCATIONS, records::MOST_LOCATIONS.load(Ordering::Relaxed));
    file::set(header::ENDED, 1);
}

/// Ends the program because of a finding.
pub fn halt() -> ! {
    report::settle();
    repair::tell_sites();
    end_at_once()
}

/// Ends the program after everything has been written.
pub fn end_at_once() -> ! {
    tell_progress();
    file::set(header::ENDED, 1);
    // SAFETY: ends the process without returning to the program.
    unsafe {
        kernel::call(libc::SYS_exit_group, [1]);
    }
    std::process::abort()
}

/// Before the process ends by itself, whatever the reason: the other threads of a steered program go on first.
pub fn exits() {
    schedule::exits();
}

fn tell_progress() {
    schedule::steer::ending();
    let (points, trail) = schedule::progress();
    file::set(header::POINTS, points);
    file::set(header::TRAIL, trail);
}

/// This process is a forked child with one thread. It is watched as a new process is, from its second thread on. But if
/// it is not `whole`, other threads of the parent may have held any of the runtime's locks, which are never released
/// here. Then its thread is unknown to the runtime, never enters it, and nothing is watched.
pub fn forked(whole: bool) {
    server::leave();
    schedule::switch_off();
    file::abandon();
    this_thread::set_watched(false);
    if whole && !threads::is_off() {
        schedule::leave_place();
        IS_CHILD.store(true, Ordering::Release);
        WATCHING.store(false, Ordering::Release);
    } else {
        threads::switch_off();
        this_thread::set_me(std::ptr::null_mut());
    }
}

/// This process ends without waiting for one that it has started.
pub fn leaves_process() {
    file::note(notes::BACKGROUND);
}

/// Whether this process has forked a child.
pub fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}

/// A forked child is about to start its second thread. Everything that happened in the parent happens before, and most
/// children never come here: they call `exec`.
fn begin_in_child() {
    file::forget_modules();
    report::begin_again();
    lock_order::begin_again();
    closes::begin_again();
    create_file();
    threads::alone();
    shadow::clear_all_cells();
}

/// This process has forked a child, which is watched if it is `whole`.
pub fn forking(whole: bool) {
    HAS_FORKED.store(true, Ordering::Relaxed);
    file::note(if whole { notes::FORKED } else { notes::FORKED | notes::CHILD_UNWATCHED });
    server::notice(ForkObstacle::Processes);
}

fn say(text: &str) {
    // SAFETY: writes bytes that exist.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
