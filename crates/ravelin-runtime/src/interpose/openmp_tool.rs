//! OpenMP as LLVM compiles it: the runtime is the tool that `libomp` reports its events to, by the interface that the
//! OpenMP standard defines for tools (OMPT, version 5). What is ordered is said in [`super::openmp`].
//!
//! A program that brings its own tool keeps it, and its synchronisation is not seen then.
//!
//! Of a lock it reports the end too late: another thread may have it already. Critical sections and the like are therefore
//! interposed, as are locks, which have the same names in both libraries.
//!
//! The library combines the results of a reduction by functions of the program, while the threads wait for each other
//! in a way that is not reported. These accesses are not watched. It uses the memory of tasks again by itself.

use super::openmp::{self, CREATED, DEPENDENT, ENDED, FORKED, ORDERED};
use crate::{memory, sync, this_thread};
use libc::{c_char, c_int, c_long, c_uint};

/// What the library asks of a tool.
#[repr(C)]
struct Tool {
    initialize: unsafe extern "C" fn(FindFunction, c_int, usize) -> c_int,
    finalize: unsafe extern "C" fn(usize),
    data: u64,
}

type FindFunction = unsafe extern "C" fn(*const c_char) -> Option<SetCallback>;
type SetCallback = unsafe extern "C" fn(c_int, usize) -> c_int;

static TOOL: Tool = Tool { initialize, finalize, data: 0 };

interpose! {
    fn ompt_start_tool(_version: c_uint, _name: usize) -> usize {
        (&raw const TOOL) as usize
    }

    fn __kmpc_omp_task_alloc(
        place: usize, thread: c_int, flags: c_int, size: usize, shared: usize, function: usize
    ) -> usize {
        let task = real(place, thread, flags, size, shared, function);
        if task != 0 {
            memory::forget(task & !7, size + shared);
        }
        task
    }

    fn __kmpc_critical(place: usize, thread: c_int, lock: usize) {
        real(place, thread, lock);
        sync::acquire(lock);
    }

    fn __kmpc_critical_with_hint(place: usize, thread: c_int, lock: usize, hint: c_uint) {
        real(place, thread, lock, hint);
        sync::acquire(lock);
    }

    fn __kmpc_end_critical(place: usize, thread: c_int, lock: usize) {
        sync::release(lock);
        real(place, thread, lock);
    }

    /// If the threads combine their results one after the other, they do so between this call and the next.
    fn __kmpc_reduce(
        place: usize, thread: c_int, count: c_int, size: usize, data: usize, function: usize, lock: usize
    ) -> c_int {
        let way = real(place, thread, count, size, data, function, lock);
        sync::acquire(lock);
        way
    }

    fn __kmpc_reduce_nowait(
        place: usize, thread: c_int, count: c_int, size: usize, data: usize, function: usize, lock: usize
    ) -> c_int {
        let way = real(place, thread, count, size, data, function, lock);
        sync::acquire(lock);
        way
    }

    fn __kmpc_end_reduce(place: usize, thread: c_int, lock: usize) {
        sync::release_join(lock);
        real(place, thread, lock);
    }

    fn __kmpc_end_reduce_nowait(place: usize, thread: c_int, lock: usize) {
        sync::release_join(lock);
        real(place, thread, lock);
    }

    fn __kmpc_ordered(place: usize, thread: c_int) {
        real(place, thread);
        sync::acquire_assumed(ORDERED);
    }

    fn __kmpc_end_ordered(place: usize, thread: c_int) {
        sync::release_join(ORDERED);
        real(place, thread);
    }

    fn __kmpc_doacross_wait(place: usize, thread: c_int, indices: usize) {
        real(place, thread, indices);
        sync::acquire_assumed(ORDERED);
    }

    fn __kmpc_doacross_post(place: usize, thread: c_int, indices: usize) {
        sync::release_join(ORDERED);
        real(place, thread, indices);
    }

    fn __kmpc_taskloop(
        place: usize, thread: c_int, task: usize, condition: c_int, low: usize, high: usize, step: c_long,
        nogroup: c_int, schedule: c_int, size: u64, copy: usize
    ) {
        sync::acquire_assumed(ENDED);
        real(place, thread, task, condition, low, high, step, nogroup, schedule, size, copy);
    }
}

unsafe extern "C" fn initialize(find: FindFunction, _device: c_int, _data: usize) -> c_int {
    // SAFETY: the library says how it finds the function of this name, which has this type.
    let Some(set) = (unsafe { find(c"ompt_set_callback".as_ptr()) }) else {
        return 0;
    };
    openmp::begin();
    for (event, callback) in [
        (3, parallel_begin as *const () as usize),
        (4, parallel_end as *const () as usize),
        (5, task_create as *const () as usize),
        (6, task_schedule as *const () as usize),
        (7, implicit_task as *const () as usize),
        (23, sync_region as *const () as usize),
        (31, reduction as *const () as usize),
    ] {
        // SAFETY: the callbacks have the types that the standard defines for these events.
        unsafe { set(event, callback) };
    }
    1
}

unsafe extern "C" fn finalize(_data: usize) {}

/// The beginning or the end of something.
const BEGIN: c_int = 1;
/// A task has completed, and so have those with this status.
const COMPLETE: c_int = 1;
const CANCEL: c_int = 3;
const LATE_FULFILL: c_int = 6;

extern "C" fn parallel_begin() {
    sync::release_join(FORKED);
}

extern "C" fn parallel_end() {
    sync::acquire_assumed(ENDED);
}

extern "C" fn implicit_task(endpoint: c_int) {
    if endpoint == BEGIN {
        sync::acquire_assumed(FORKED);
    } else {
        sync::release_join(ENDED);
    }
}

extern "C" fn sync_region(_kind: c_int, endpoint: c_int) {
    if endpoint == BEGIN {
        sync::release_join(ENDED);
    } else {
        sync::acquire_assumed(ENDED);
    }
}

/// A word belongs to each task: whether it has dependences.
extern "C" fn task_create(_creator: usize, _frame: usize, task: *mut u64, _flags: c_int, depends: c_int) {
    if !task.is_null() {
        // SAFETY: the library gives the word to the tool.
        unsafe { task.write(u64::from(depends != 0)) };
    }
    sync::release_join(CREATED);
}

extern "C" fn task_schedule(prior: *const u64, status: c_int, next: *const u64) {
    // SAFETY: the library gives the words of two tasks, or none.
    let depends = |task: *const u64| unsafe { task.as_ref() }.is_some_and(|depends| *depends != 0);
    if matches!(status, COMPLETE | CANCEL | LATE_FULFILL) {
        sync::release_join(ENDED);
        if depends(prior) {
            sync::release_join(DEPENDENT);
        }
    }
    sync::acquire_assumed(CREATED);
    if depends(next) {
        sync::acquire_assumed(DEPENDENT);
    }
}

extern "C" fn reduction(_kind: c_int, endpoint: c_int) {
    if endpoint == BEGIN {
        this_thread::hide();
    } else {
        this_thread::show();
    }
}
