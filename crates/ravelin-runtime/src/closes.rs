//! File descriptors that one thread closes while another uses them, or closes them too.
//!
//! Nothing orders the two calls, so in another schedule the use comes after the close. It then fails, or it reaches the
//! file that has got the number meanwhile.
//!
//! For each number there are the uses since it was opened that no later use comes after, the last close, and where it
//! was opened. Calls count that come from instrumented code, as they do for memory. Files are also opened and closed
//! where the runtime does not see it: in the C library, by system calls, in other libraries. So a close by code that is
//! not instrumented ends what is known about a number, and a use after a close counts only if the number is free, or if
//! the call that opened it again was seen.
//!
//! A use is remembered before the call releases anything, so a thread that receives what was written comes after it. A
//! number that `dup2` gives another file is never free, so that is no close: programs replace a file in this way because
//! other threads may use it. But it is a use, which no other thread may close.

use crate::held::{self, call_record};
use crate::spin::Spin;
use crate::this_thread::{self, WatchedThread};
use crate::trace::{self, Time};
use crate::{instrumented, kernel, library, options, report, threads};
use libc::{c_int, c_uint};
use ravelin_clocks::Tid;
use ravelin_findings::{AccessKind, AccessRecord, MemoryKind, Problem};

/// Descriptors with higher numbers are not watched.
const NUMBERS: usize = 4096;
/// How many uses are remembered that are not ordered with each other.
const USES: usize = 8;

/// A call that has to do with a descriptor; all zeroes for none.
#[derive(Clone, Copy)]
struct Call {
    tid: Tid,
    epoch: u32,
    pc: usize,
}

const NONE: Call = Call { tid: 0, epoch: 0, pc: 0 };

#[derive(Clone, Copy)]
struct Descriptor {
    opened: Call,
    uses: [Call; USES],
    /// Which use is forgotten next if there is no room.
    oldest: usize,
    /// By whom the number was closed last. Remains when it is opened again.
    closed: Call,
}

const UNKNOWN: Descriptor = Descriptor { opened: NONE, uses: [NONE; USES], oldest: 0, closed: NONE };

static DESCRIPTORS: [Spin<Descriptor>; NUMBERS] = [const { Spin::new(UNKNOWN) }; NUMBERS];

/// The calling thread is about to use a descriptor, by a call that returns to `pc`.
#[inline(never)]
pub fn uses(file: c_int, pc: usize) {
    let Some(descriptor) = known(file) else { return };
    if !counts(pc) {
        return;
    }
    let Some(mut inside) = this_thread::enter() else { return };
    let thread = inside.thread();
    let mine = Call::here(thread, file, false, pc);
    let mut descriptor = descriptor.lock();
    let closed = descriptor.unordered_close(thread, file);
    descriptor.add(thread, mine);
    let opened = descriptor.opened;
    drop(descriptor);
    if let Some(closed) = closed {
        report(thread, (AccessKind::DescriptorUse, pc), (AccessKind::Close, closed), file, opened);
    }
}

/// The calling thread is about to close a descriptor.
#[inline(never)]
pub fn closes(file: c_int, pc: usize) {
    let Some(descriptor) = known(file) else { return };
    if !counts(pc) {
        return forget(file);
    }
    let Some(mut inside) = this_thread::enter() else { return };
    let thread = inside.thread();
    let mine = Call::here(thread, file, true, pc);
    let mut descriptor = descriptor.lock();
    let closed = descriptor.unordered_close(thread, file);
    let before = *descriptor;
    *descriptor = Descriptor { closed: mine, ..UNKNOWN };
    drop(descriptor);
    let used = before.uses.into_iter().filter(|call| call.is_unordered(thread));
    let used = used.map(|call| (AccessKind::DescriptorUse, call));
    for other in closed.map(|call| (AccessKind::Close, call)).into_iter().chain(used) {
        report(thread, (AccessKind::Close, pc), other, file, before.opened);
    }
}

/// The calling thread is about to close all descriptors from one number to another. `closing` is called for each that is
/// open, if the call counts.
#[inline(never)]
pub fn closes_range(first: c_uint, last: c_uint, pc: usize, closing: impl Fn(c_int)) {
    let last = last.min(NUMBERS as c_uint - 1);
    let counts = counts(pc);
    for file in first..=last {
        let file = file as c_int;
        if !counts {
            forget(file);
        } else if is_open(file) {
            closes(file, pc);
            closing(file);
        }
    }
}

/// The calling thread is about to give a descriptor the file of another one. If it is open, that is a use.
#[inline(never)]
pub fn replaces(file: c_int, by: c_int, pc: usize) {
    if file != by && counts(pc) && is_open(file) {
        uses(file, pc);
    }
}

/// The calling thread has got a new descriptor; nothing if the call failed.
#[inline(never)]
pub fn opened(file: c_int, pc: usize) {
    let Some(descriptor) = known(file) else { return };
    // Where a descriptor was opened is told also if that was before the second thread.
    let Some(mut inside) = held::known() else { return };
    let mine = Call::here(inside.thread(), file, true, pc);
    let mut descriptor = descriptor.lock();
    *descriptor = Descriptor { opened: mine, closed: descriptor.closed, ..UNKNOWN };
}

/// The calling thread has given a descriptor another file. If it was open, those who use it go on doing so.
pub fn replaced(file: c_int, pc: usize) {
    let was_open = |descriptor: &'static Spin<Descriptor>| !descriptor.lock().opened.is_none();
    let is_replaced = held::known().is_some_and(|_inside| known(file).is_some_and(was_open));
    if !is_replaced {
        opened(file, pc);
    }
}

/// A descriptor was closed by a call that does not count.
pub fn forget(file: c_int) {
    if let Some(descriptor) = known(file)
        && let Some(_inside) = held::known()
    {
        *descriptor.lock() = UNKNOWN;
    }
}

/// In a forked child there is no other thread.
pub fn begin_again() {
    DESCRIPTORS.iter().for_each(|descriptor| *descriptor.lock() = UNKNOWN);
}

fn known(file: c_int) -> Option<&'static Spin<Descriptor>> {
    DESCRIPTORS.get(usize::try_from(file).ok()?)
}

/// Whether calls that return to `pc` count.
fn counts(pc: usize) -> bool {
    this_thread::watched()
        && options::looks_for(Problem::DescriptorRace)
        && !library::is_there()
        && instrumented::contains(pc)
}

impl Descriptor {
    /// The last close if the calling thread does not come after it, nor after the call that opened the number again.
    fn unordered_close(&mut self, thread: &WatchedThread, file: c_int) -> Option<Call> {
        let closed = self.closed;
        if !closed.is_unordered(thread) || !self.opened.is_none() && !self.opened.is_unordered(thread) {
            return None;
        }
        if self.opened.is_none() && is_open(file) {
            // It was opened unseen, or is not closed yet.
            *self = UNKNOWN;
            return None;
        }
        Some(closed)
    }

    fn add(&mut self, thread: &WatchedThread, mine: Call) {
        let is_superfluous = |call: &Call| call.is_none() || !call.is_unordered(thread);
        let place = match self.uses.iter().position(is_superfluous) {
            Some(place) => place,
            None => {
                self.oldest = (self.oldest + 1) % USES;
                self.oldest
            }
        };
        self.uses[place] = mine;
        self.uses[place + 1..].iter_mut().filter(|call| is_superfluous(call)).for_each(|call| *call = NONE);
    }
}

impl Call {
    fn here(thread: &mut WatchedThread, file: c_int, ends: bool, pc: usize) -> Call {
        let calls = thread.calls();
        thread.trace.access(pc, at(file), trace::shape(ends, false, 1), calls);
        Call { tid: thread.clocks.tid, epoch: thread.clocks.epoch, pc }
    }

    fn is_none(&self) -> bool {
        self.pc == 0 && self.epoch == 0
    }

    /// Whether there is such a call, and the thread does not come after it.
    fn is_unordered(&self, thread: &WatchedThread) -> bool {
        !self.is_none() && !thread.clocks.happens_after(self.tid, self.epoch)
    }

    /// Its thread, and its stack as far as it is remembered.
    fn origin(self, file: c_int) -> (u64, Vec<u64>) {
        let find = |trace: &trace::ThreadTrace| {
            trace.find(Time::Epoch(self.epoch), |address, _, shape| address == at(file) && shape & trace::ATOMIC == 0)
        };
        let found = threads::trace_of(self.tid, find).flatten().map(|found| found.stack);
        let stack = found.filter(|stack| stack.first() == Some(&(self.pc as u64)));
        (threads::number_of_tid(self.tid, self.epoch), stack.unwrap_or_else(|| vec![self.pc as u64]))
    }
}

/// Where traces have a descriptor: an address that no program has.
fn at(file: c_int) -> usize {
    const DESCRIPTOR_ZERO: usize = 0x0900_0000_0000;
    DESCRIPTOR_ZERO + 16 * file as usize
}

fn is_open(file: c_int) -> bool {
    // SAFETY: asks for flags.
    unsafe { kernel::call(libc::SYS_fcntl, [file as usize, libc::F_GETFD as usize, 0]) >= 0 }
}

#[cold]
fn report(
    thread: &WatchedThread,
    (kind, pc): (AccessKind, usize),
    (other_kind, other): (AccessKind, Call),
    file: c_int,
    opened: Call,
) {
    let access = call_record(thread.number, kind, thread.stack_at(pc));
    let (number, stack) = other.origin(file);
    let other: AccessRecord = call_record(number, other_kind, stack);
    let (thread, stack) = if opened.is_none() { (0, Vec::new()) } else { opened.origin(file) };
    let place = MemoryKind::Descriptor { thread, stack };
    report::misuse_of(Problem::DescriptorRace, (file as usize, place), access, other, Vec::new());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::{beside, watched};

    /// Whether the calling thread finds a close that it does not come after.
    fn finds_close(file: c_int) -> bool {
        let mut inside = this_thread::enter().expect("a watched thread");
        known(file).expect("a small number").lock().unordered_close(inside.thread(), file).is_some()
    }

    fn close_here(file: c_int) {
        let mut inside = this_thread::enter().expect("a watched thread");
        let mine = Call::here(inside.thread(), file, true, 0x10);
        *known(file).expect("a small number").lock() = Descriptor { closed: mine, ..UNKNOWN };
    }

    /// Not open in a test.
    const FREE: c_int = 4000;

    #[test]
    fn a_close_in_another_thread_is_found_until_the_number_is_opened_in_this_one() {
        watched(|| {
            beside(|| close_here(FREE));
            assert!(finds_close(FREE));
            beside(|| close_here(FREE + 1));
            opened(FREE + 1, 0x20);
            assert!(!finds_close(FREE + 1));
            close_here(FREE + 2);
            assert!(!finds_close(FREE + 2), "by the same thread");
        });
    }

    #[test]
    fn a_number_that_is_open_was_opened_unseen() {
        watched(|| {
            // SAFETY: a new file in memory, closed below.
            let file = unsafe { libc::memfd_create(c"file".as_ptr(), 0) };
            beside(|| close_here(file));
            assert!(!finds_close(file));
            // SAFETY: it was opened above.
            unsafe { libc::close(file) };
        });
    }

    #[test]
    fn uses_that_are_ordered_take_one_place_and_others_their_own() {
        watched(|| {
            let add = |pc| {
                let mut inside = this_thread::enter().expect("a watched thread");
                let thread = inside.thread();
                let mine = Call::here(thread, FREE + 3, false, pc);
                known(FREE + 3).expect("a small number").lock().add(thread, mine);
            };
            let places = || {
                let uses = known(FREE + 3).expect("a small number").lock().uses;
                uses.iter().filter(|call| !call.is_none()).map(|call| call.pc).collect::<Vec<_>>()
            };
            add(1);
            add(2);
            assert_eq!(places(), [2]);
            beside(|| add(3));
            assert_eq!(places(), [3], "a thread comes after the one that started it");
            beside(|| add(4));
            assert_eq!(places(), [3, 4]);
            for pc in 5..40 {
                beside(|| add(pc));
            }
            assert_eq!(places().len(), USES);
            assert!(places().contains(&39));
        });
    }
}
