//! Reports that no thread can continue, and ends the program.

use super::turn::{self, seat};
use crate::file;
use crate::process;
use crate::this_thread;
use crate::threads;
use libc::c_int;
use ravelin_findings::{BlockedThread, Record, Standstill, WaitsFor};
use ravelin_schedule::{Stalemate, ThreadStatus, WaitReason};
use std::sync::atomic::{AtomicBool, Ordering};

/// Records what every thread waits for, and ends the program.
#[cold]
pub fn tell(kind: Stalemate) -> ! {
    let _inside = this_thread::enter_unwatched();
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::SeqCst) {
        let kind = match kind {
            Stalemate::Deadlock => Standstill::Deadlock,
            Stalemate::Livelock => Standstill::Livelock,
        };
        let blocked = everybody(kind);
        for thread in &blocked {
            threads::describe(thread.thread);
        }
        file::write_modules();
        let (point, _) = super::progress();
        file::write(&Record::Stuck(ravelin_findings::StandstillRecord { kind, seconds: 0, point, threads: blocked }));
    }
    process::halt()
}

/// What each thread that has not ended waits for.
pub fn everybody(kind: Standstill) -> Vec<BlockedThread> {
    let places = turn::with(|turns| {
        let running = turns.running();
        (0..turns.places())
            .map(|place| (place, turns.state(place), running == Some(place)))
            .filter(|(_, state, _)| *state != ThreadStatus::Ended)
            .collect::<Vec<_>>()
    });
    let all = places.unwrap_or_default().into_iter().map(|(place, state, has_turn)| {
        let mut blocked = blocked(place, state);
        if kind == Standstill::NoProgress && matches!(state, ThreadStatus::Ready | ThreadStatus::Outside) {
            blocked.waits_for = match state {
                ThreadStatus::Ready if !has_turn => WaitsFor::Turn,
                _ if turn::sleeps(place) => WaitsFor::Unknown,
                _ => WaitsFor::Point,
            };
            let left_its_point = blocked.waits_for != WaitsFor::Turn && !turn::is_away(place);
            // What it is doing now is not known, but its calls are.
            if left_its_point && seat(place).pc.load(Ordering::Relaxed) != 0 {
                blocked.stack.drain(..blocked.stack.len().min(1));
            }
        }
        blocked
    });
    all.collect()
}

fn blocked(place: usize, state: ThreadStatus) -> BlockedThread {
    let seat = seat(place);
    let (waits_for, object) = match state {
        ThreadStatus::Ready | ThreadStatus::Ended => (WaitsFor::Nothing, 0),
        ThreadStatus::Waiting { on: WaitReason::Object(object), .. } => (seat.waits_for(), object),
        ThreadStatus::Waiting { on: WaitReason::Descriptor, .. } => (WaitsFor::Descriptor, 0),
        ThreadStatus::Waiting { on: WaitReason::Time, .. } => (WaitsFor::Time, 0),
        ThreadStatus::Waiting { on: WaitReason::Memory, .. } => (WaitsFor::Nothing, 0),
        ThreadStatus::Waiting { on: WaitReason::Others, .. } => (WaitsFor::Nothing, 0),
        ThreadStatus::Outside => (WaitsFor::Unknown, 0),
    };
    let holder = if waits_for == WaitsFor::Mutex { holder(object) } else { 0 };
    let object = if waits_for == WaitsFor::Thread { object & !(1 << 63) } else { object } as u64;
    let pc = seat.pc.load(Ordering::Relaxed);
    let thread = seat.thread.load(Ordering::Acquire);
    // SAFETY: states are never freed, and the thread waits for its turn, or is the calling one.
    let stack = if thread.is_null() { vec![pc as u64] } else { unsafe { (*thread).stack_at(pc) } };
    let stack = stack.into_iter().filter(|pc| *pc != 0).collect();
    BlockedThread { thread: seat.number.load(Ordering::Relaxed), waits_for, object, holder, stack }
}

/// One more than the number of the thread that holds a mutex of the C library; 0 if that is not known.
fn holder(mutex: usize) -> u64 {
    /// Where the C library keeps the owner, as its header shows (`__owner`).
    const OWNER: usize = 8;
    // SAFETY: a thread waits for this mutex, so it exists.
    let owner = unsafe { ((mutex + OWNER) as *const c_int).read_volatile() };
    let holder = turn::with(|turns| {
        (0..turns.places()).find(|&place| turns.state(place) != ThreadStatus::Ended && turn::tid(place) == owner)
    });
    match holder.flatten() {
        Some(place) if owner != 0 => seat(place).number.load(Ordering::Relaxed) + 1,
        _ => 0,
    }
}
