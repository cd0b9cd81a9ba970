//! Threads: starting, joining, detaching, naming, and noticing their end.
//!
//! A new thread first runs a function of the runtime. It waits there until its parent has recorded which number belongs
//! to its handle, so that no thread can join or detach an unknown handle. A handle that is in use again belongs to a
//! new thread, so recording it replaces the old entry.
//!
//! The destructor of a thread-specific value notices the end. It runs however the thread ends, after the destructors of
//! C++'s `thread_local` variables. It postpones itself to the last of the rounds in which the C library calls such
//! destructors, so that those of the program run first. `pthread_exit` and `thrd_exit` therefore need no wrapper, and
//! must have none: they unwind the stack.

use super::table::ObjectTable;
use crate::schedule::time;
use crate::threads::Seed;
use crate::{kernel, schedule, this_thread, threads};
use libc::c_int;
use ravelin_findings::events::Act;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The threads whose handles can still be used.
pub static HANDLES: ObjectTable<ThreadEntry> = ObjectTable::new();

#[derive(Clone, Copy)]
pub struct ThreadEntry {
    number: u32,
    detached: bool,
}

interpose! {
    fn pthread_create(handle: usize, attributes: usize, function: usize, argument: usize; pc) -> c_int {
        if REFUSES.load(Ordering::Relaxed) && REFUSES.swap(false, Ordering::Relaxed) {
            return libc::EAGAIN;
        }
        // SAFETY: the program gave this address as one of a function of this type.
        let function = ThreadFunction::Posix(unsafe {
            std::mem::transmute::<usize, unsafe extern "C" fn(usize) -> usize>(function)
        });
        let Some(start) = Start::new(function, argument, attributes, pc) else {
            return real(handle, attributes, function.address(), argument);
        };
        starts(pc);
        let status = real(handle, attributes, child as *const () as usize, start as usize);
        settle(start, handle, is_detached(attributes), status);
        schedule::point_unless_steered(pc);
        status
    }

    fn thrd_create(handle: usize, function: usize, argument: usize; pc) -> c_int {
        // SAFETY: the program gave this address as one of a function of this type.
        let function = ThreadFunction::C11(unsafe {
            std::mem::transmute::<usize, unsafe extern "C" fn(usize) -> c_int>(function)
        });
        let Some(start) = Start::new(function, argument, 0, pc) else {
            return real(handle, function.address(), argument);
        };
        starts(pc);
        let status = real(handle, child as *const () as usize, start as usize);
        settle(start, handle, false, status);
        schedule::point_unless_steered(pc);
        status
    }

    fn pthread_join(handle: usize, result: usize; pc) -> c_int {
        let number = number_of(handle);
        await_without_events(number);
        await_end(number, pc, || None);
        let status = joined(handle, number, real(handle, result));
        await_without_events(None);
        status
    }

    fn pthread_tryjoin_np(handle: usize, result: usize; pc) -> c_int {
        schedule::yields(pc);
        let number = number_of(handle);
        joined(handle, number, real(handle, result))
    }

    fn pthread_timedjoin_np(handle: usize, result: usize, until: usize; pc) -> c_int {
        let number = number_of(handle);
        // SAFETY: the program gave this address as one of a time.
        if !await_end(number, pc, || unsafe { time::when(libc::CLOCK_REALTIME, until) }) {
            return libc::ETIMEDOUT;
        }
        joined(handle, number, real(handle, result, until))
    }

    fn pthread_clockjoin_np(handle: usize, result: usize, clock: c_int, until: usize; pc) -> c_int {
        let number = number_of(handle);
        // SAFETY: the program gave this address as one of a time.
        if !await_end(number, pc, || unsafe { time::when(clock, until) }) {
            return libc::ETIMEDOUT;
        }
        joined(handle, number, real(handle, result, clock, until))
    }

    fn thrd_join(handle: usize, result: usize; pc) -> c_int {
        let number = number_of(handle);
        await_without_events(number);
        await_end(number, pc, || None);
        let status = joined(handle, number, real(handle, result));
        await_without_events(None);
        status
    }

    fn pthread_cancel(handle: usize; pc) -> c_int {
        schedule::point(pc);
        let number = number_of(handle);
        let status = real(handle);
        if let Some(number) = number {
            schedule::cancelled(u64::from(number));
        }
        status
    }

    fn pthread_detach(handle: usize) -> c_int {
        let number = number_of(handle);
        mark(handle, number, true);
        detached(handle, number, real(handle))
    }

    fn thrd_detach(handle: usize) -> c_int {
        let number = number_of(handle);
        mark(handle, number, true);
        detached(handle, number, real(handle))
    }

    fn pthread_setname_np(handle: usize, name: usize) -> c_int {
        let number = number_of(handle);
        let status = real(handle, name);
        if status == 0 && let Some(number) = number {
            // SAFETY: the C library has accepted the name, so it is a string.
            let name = unsafe { std::ffi::CStr::from_ptr(name as *const _) };
            threads::named(number, name.to_bytes());
        }
        status
    }
}

/// The first thread that the program wants to start is refused.
static REFUSES: AtomicBool = AtomicBool::new(false);

/// Refuses the first thread, as if there were too many. Rust's test harness then runs its test in the first thread, so the
/// threads of the process are those of the test.
pub fn refuse_first() {
    REFUSES.store(true, Ordering::Relaxed);
}

/// Runs when the process starts: early keys need no memory in the threads.
pub fn prepare() {
    key();
}

/// The function that a thread will run.
#[derive(Clone, Copy)]
enum ThreadFunction {
    Posix(unsafe extern "C" fn(usize) -> usize),
    C11(unsafe extern "C" fn(usize) -> c_int),
}

impl ThreadFunction {
    fn address(self) -> usize {
        match self {
            ThreadFunction::Posix(function) => function as usize,
            ThreadFunction::C11(function) => function as usize,
        }
    }
}

/// What a parent leaves for its child. The child owns it once it is `settled`; before that, the parent does.
struct Start {
    seed: Option<Box<Seed>>,
    number: u32,
    function: ThreadFunction,
    argument: usize,
    /// The child's place in the schedule.
    place: Option<usize>,
    settled: AtomicBool,
}

impl Start {
    /// `None` if the new thread cannot be watched.
    fn new(function: ThreadFunction, argument: usize, attributes: usize, pc: usize) -> Option<*mut Start> {
        let mut seed = threads::starting(pc)?;
        seed.stack_size = stack_size(attributes);
        let _inside = this_thread::enter();
        let number = threads::number_of(&seed);
        let start =
            Start { seed: Some(seed), number, function, argument, place: None, settled: AtomicBool::new(false) };
        Some(Box::into_raw(Box::new(start)))
    }
}

/// The calling thread is about to start another.
fn starts(pc: usize) {
    if schedule::steer::is_on() {
        schedule::before(pc, Act::Start, 0);
    }
}

/// The parent has returned from starting the thread. It records the handle and lets the child continue, or undoes
/// everything if there is no child.
fn settle(start: *mut Start, handle: usize, detached: bool, status: c_int) {
    if status != 0 {
        // SAFETY: there is no child, so the parent owns it.
        let mut start = unsafe { Box::from_raw(start) };
        let seed = start.seed.take();
        {
            let _inside = this_thread::enter();
            drop(start);
        }
        if let Some(seed) = seed {
            threads::not_started(*seed);
        }
        return;
    }
    // SAFETY: the C library has stored the handle there, and the child leaves the start alone until it is settled.
    let (handle, number) = unsafe { ((handle as *const usize).read(), (*start).number) };
    HANDLES.insert(handle, ThreadEntry { number, detached });
    if detached {
        threads::detached(number);
    }
    // SAFETY: as above; this is the last use.
    unsafe {
        (*start).place = schedule::started(u64::from(number));
        (*start).settled.store(true, Ordering::Release);
    }
}

/// The first function of a new thread.
extern "C" fn child(start: *mut Start) -> usize {
    let (function, argument) = begin(start);
    this_thread::set_base((&raw const function) as usize);
    // SAFETY: what the program asked for when it started the thread. Nothing remains to be done in this frame, which
    // may be unwound.
    unsafe {
        match function {
            ThreadFunction::Posix(function) => function(argument),
            ThreadFunction::C11(function) => function(argument) as usize,
        }
    }
}

#[inline(never)]
fn begin(start: *mut Start) -> (ThreadFunction, usize) {
    // SAFETY: the parent frees it only if there is no child.
    while unsafe { !(*start).settled.load(Ordering::Acquire) } {
        kernel::yield_now();
    }
    // SAFETY: it is settled, so it is the child's.
    let mut start = unsafe { Box::from_raw(start) };
    let (function, argument) = (start.function, start.argument);
    if let Some(place) = start.place {
        schedule::begins(place);
    }
    if let Some(seed) = start.seed.take() {
        threads::begin(seed);
    }
    if let Some(place) = start.place {
        schedule::take_place(place);
    }
    {
        let _inside = this_thread::enter();
        drop(start);
    }
    // SAFETY: the key exists as long as the process.
    unsafe { libc::pthread_setspecific(key(), ROUNDS as *const _) };
    (function, argument)
}

/// The first thread takes turns from now on: its end is noticed if it ends by `pthread_exit`. If it returns from `main`,
/// the process ends.
pub fn notice_end_of_first() {
    // No thread can be told to join it.
    threads::detached(0);
    // SAFETY: the key exists as long as the process.
    unsafe { libc::pthread_setspecific(key(), ROUNDS as *const _) };
}

/// How often the C library calls destructors of values that destructors have set (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

/// The key's destructor, with the number of rounds that are left.
unsafe extern "C" fn end_of_round(rounds: *mut libc::c_void) {
    let rounds = rounds as usize;
    if rounds > 1 {
        // SAFETY: the key exists as long as the process.
        unsafe { libc::pthread_setspecific(key(), (rounds - 1) as *const _) };
        return;
    }
    // SAFETY: always allowed.
    let handle = unsafe { libc::pthread_self() } as usize;
    HANDLES.remove_if(handle, |known| known.detached);
    let place = schedule::mine();
    let number = threads::own_number();
    if let Some(place) = place {
        schedule::ends(place);
        if schedule::is_last() {
            // The C library calls `exit` in it.
            return;
        }
    }
    threads::end();
    if let Some(place) = place {
        schedule::ended(place, number);
    }
}

fn key() -> libc::pthread_key_t {
    /// One more than the key; zero as long as there is none.
    static KEY: AtomicU32 = AtomicU32::new(0);
    let known = KEY.load(Ordering::Relaxed);
    if known != 0 {
        return known - 1;
    }
    let mut key = 0;
    // SAFETY: the key is stored in a variable of its type.
    unsafe { libc::pthread_key_create(&raw mut key, Some(end_of_round)) };
    match KEY.compare_exchange(0, key + 1, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => key,
        Err(first) => {
            // SAFETY: no other thread has seen this key.
            unsafe { libc::pthread_key_delete(key) };
            first - 1
        }
    }
}

/// The number of the thread with this handle. Threads that are not watched, as in a forked child, do not call this.
fn number_of(handle: usize) -> Option<u32> {
    if this_thread::watched() { HANDLES.get(handle).map(|known| known.number) } else { None }
}

/// With a schedule, waits for the end of a thread without the C library. Returns whether it has ended.
fn await_end(number: Option<u32>, pc: usize, until: impl FnOnce() -> Option<u64>) -> bool {
    match (schedule::mine(), number) {
        (Some(me), Some(number)) => schedule::await_end(me, pc, u64::from(number), until()),
        // A thread that is not known, which may end at any time.
        (Some(_), None) => {
            schedule::yields(pc);
            true
        }
        _ => true,
    }
}

/// The calling thread makes no event until the thread with this number has ended, or from now on does again. Handlers of
/// signals and of cancellation may make some all the same: they count as knowing what the other knows.
fn await_without_events(number: Option<u32>) {
    let thread = this_thread::me();
    if !thread.is_null() {
        let joins = number.map_or(0, |number| u64::from(number) + 1);
        // SAFETY: the calling thread's own state.
        unsafe { (*thread).joins.store(joins, Ordering::Relaxed) };
    }
}

fn joined(handle: usize, number: Option<u32>, status: c_int) -> c_int {
    if status == 0
        && let Some(number) = number
    {
        HANDLES.remove_if(handle, |known| known.number == number);
        threads::joined(number);
    }
    status
}

/// Before the thread is detached, so that its end finds the mark.
fn mark(handle: usize, number: Option<u32>, detached: bool) {
    if number.is_some() {
        HANDLES.change(handle, |known| {
            if let Some(known) = known
                && Some(known.number) == number
            {
                known.detached = detached;
            }
        });
    }
}

fn detached(handle: usize, number: Option<u32>, status: c_int) -> c_int {
    if status != 0 {
        mark(handle, number, false);
    } else if let Some(number) = number {
        threads::detached(number);
    }
    status
}

fn is_detached(attributes: usize) -> bool {
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if attributes != 0 {
        // SAFETY: the program's attributes, with which it starts a thread.
        unsafe { pthread_attr_getdetachstate(attributes, &raw mut state) };
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// How long the stack of a thread with these attributes is. (`pthread_getattr_np` would give it to the thread itself,
/// but it allocates.)
fn stack_size(attributes: usize) -> usize {
    let mut size = 0;
    // SAFETY: the program's attributes, or new ones, which are the default.
    unsafe {
        if attributes == 0 {
            let mut new = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
            if libc::pthread_attr_init(new.as_mut_ptr()) == 0 {
                libc::pthread_attr_getstacksize(new.as_ptr(), &raw mut size);
                libc::pthread_attr_destroy(new.as_mut_ptr());
            }
        } else {
            libc::pthread_attr_getstacksize(attributes as *const _, &raw mut size);
        }
    }
    size
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: usize, state: *mut c_int) -> c_int;
}
