//! One atomic access of the calling thread, whatever its kind and size.
//!
//! Before the access, the record of its location is locked. Afterwards the clocks are updated accordingly, and what they
//! find is reported. There are many entry points for compilers ([`crate::atomics`]); this is what they share.

use crate::atomics;
use crate::collect;
use crate::options;
use crate::race;
use crate::records::{self, LockedRecord};
use crate::report::{self, CompletedAccess};
use crate::schedule::steer;
use crate::stale;
use crate::this_thread::{self, InsideGuard, WatchedThread};
use crate::trace;
use crate::tso;
use ravelin_clocks::{AccessViolation, AtomicOrder, CasKind, LocationAccess, LocationClocks, MessageAccess};
use ravelin_findings::AccessKind;
use ravelin_findings::events::Act;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What is known about an access before it is made.
#[derive(Clone, Copy)]
pub struct AccessPlace {
    pub pc: usize,
    pub address: usize,
    pub size: usize,
    /// Whether it writes, or may write.
    pub writes: bool,
}

/// What an access did. Values are the low 64 bits.
#[derive(Clone, Copy)]
pub enum Effect {
    Load { value: u64 },
    Store { value: u64 },
    Update { old: u64, new: u64, changed: bool },
    CompareExchange { kind: CasKind, expected: u64, found: u64, written: Option<u64> },
}

/// An access that has begun. No other thread accesses the location meanwhile.
pub struct OpenAccess {
    place: AccessPlace,
    inside: InsideGuard,
    locked: LockedRecord,
    /// The non-atomic access that it races with.
    raced: Option<u64>,
}

impl Effect {
    pub fn does(&self) -> MessageAccess {
        match self {
            Effect::Load { .. } | Effect::CompareExchange { written: None, .. } => MessageAccess::Load,
            Effect::Store { .. } => MessageAccess::Store,
            Effect::Update { .. } | Effect::CompareExchange { .. } => MessageAccess::Update,
        }
    }

    /// Applies it to the clocks, and returns what may go wrong.
    #[inline(always)]
    fn apply(
        self,
        location: &mut LocationClocks,
        thread: &mut WatchedThread,
        access: LocationAccess,
    ) -> Option<AccessViolation> {
        let address = access.place as usize;
        match self {
            Effect::Load { value } => match thread.mark.waits_for(address) {
                None => location.load(&mut thread.clocks, access),
                Some(wanted) => location.wait(&mut thread.clocks, access, wanted, value == wanted),
            },
            Effect::Store { value } => location.store(&mut thread.clocks, access, value),
            Effect::Update { new, .. } => location.update(&mut thread.clocks, access, new),
            Effect::CompareExchange { kind, expected, written, .. } => {
                let kind = thread.mark.kind_of_cas(address, kind);
                location.compare_exchange(&mut thread.clocks, access, kind, expected, written)
            }
        }
    }

    /// Writes it down for a steered run.
    #[cold]
    pub fn tell(self, order: AtomicOrder) {
        let (act, read, written) = match self {
            Effect::Load { value } => (Act::Load, value, 0),
            Effect::Store { value } => (Act::Store, 0, value),
            Effect::Update { old, new, .. } => (Act::Update, old, new),
            Effect::CompareExchange { found, written: Some(written), .. } => (Act::Update, found, written),
            Effect::CompareExchange { expected, found, .. } => (Act::Load, found, expected),
        };
        steer::accessed(act, steer::recorded(order), read, written);
    }

    /// What it means for a waiting loop.
    #[inline(always)]
    pub fn spins(self, thread: &mut WatchedThread, place: AccessPlace) {
        match self {
            Effect::Load { value: read }
            // An exchange that finds what it writes is how some locks wait.
            | Effect::Update { old: read, changed: false, .. }
            | Effect::CompareExchange { found: read, written: None, .. } => {
                thread.spin.loaded(place.pc, place.address, read);
            }
            Effect::Store { .. } | Effect::Update { .. } | Effect::CompareExchange { .. } => thread.spin.left(),
        }
    }
}

/// The calling thread is about to make an access; `None` if that is not watched.
#[inline(always)]
pub fn begin(place: AccessPlace) -> Option<OpenAccess> {
    let AccessPlace { pc, address, size, writes } = place;
    let mut inside = this_thread::enter()?;
    let thread = inside.thread();
    let mine = race::atomic_slot(thread, address, size.min(8), u64::from(writes));
    thread.trace.access(pc, address, trace::shape(writes, true, size), thread.calls());
    let raced = race::check_atomic(thread, address, mine);
    let mut locked = records::lock_for(address, writes)?;
    let record = locked.record();
    race::note_atomic(thread, record, mine);
    record.location(|| value_at(address, size));
    Some(OpenAccess { place, inside, locked, raced })
}

/// The low bits of an atomic that the program accesses now.
#[cold]
fn value_at(address: usize, size: usize) -> u64 {
    // SAFETY: the program accesses these bytes now, so they can be read, and they are aligned.
    unsafe {
        match size {
            1 => AtomicU8::from_ptr(address as *mut u8).load(Ordering::SeqCst).into(),
            2 => AtomicU16::from_ptr(address as *mut u16).load(Ordering::SeqCst).into(),
            4 => AtomicU32::from_ptr(address as *mut u32).load(Ordering::SeqCst).into(),
            _ => AtomicU64::from_ptr(address as *mut u64).load(Ordering::SeqCst),
        }
    }
}

impl OpenAccess {
    /// The access was made.
    #[inline(always)]
    pub fn finish(self, kind: AccessKind, order: AtomicOrder, effect: Effect) {
        let OpenAccess { place, mut inside, mut locked, raced } = self;
        let AccessPlace { pc, address, size, writes } = place;
        let thread = inside.thread();
        let location = locked.record().location(|| 0);
        let site = report::site(pc, kind, order, size);
        let access = LocationAccess { place: address as u64, order, site, mode: options::mode() };
        let epoch = thread.clocks.epoch;
        let robustness = options::rc20();
        let does = effect.does();
        let source = if does == MessageAccess::Store {
            None
        } else {
            location.source(&thread.clocks, writes || !robustness && !location.is_owned_by(thread.clocks.tid))
        };
        let violation = if robustness {
            effect.apply(location, thread, access)
        } else if options::tso() {
            tso::apply(effect, locked.record(), thread, access)
        } else {
            location.synchronise(&mut thread.clocks, order, site, does);
            None
        };
        // A wait that does not pass is no event.
        let is_event = thread.clocks.epoch != epoch;
        if does != MessageAccess::Load {
            locked.wrote();
        } else if kind == AccessKind::Load && is_event {
            thread.loads.made(address, &locked, epoch, order.acquires());
        }
        if thread.special & steer::STEERED != 0 {
            stale::keep_source(locked.record().location(|| 0));
        }
        drop(locked);
        if let Some(source) = source.filter(|_| is_event) {
            thread.sources.read(epoch, site, address, source);
        }
        if let Some(violation) = violation {
            report::violation(thread, address, &violation, CompletedAccess { pc, kind, order, size, epoch });
        }
        if let Some(slot) = raced {
            report::race_of_atomic(thread, address, slot, CompletedAccess { pc, kind, order, size, epoch });
        }
        if order == AtomicOrder::SeqCst && is_event && robustness {
            let fences = atomics::fenced(|hidden| thread.clocks.hidden_fence(hidden));
            thread.loads.fenced(address, fences);
        }
        effect.spins(thread, place);
        if thread.special & steer::STEERED != 0 {
            effect.tell(order);
        }
        thread.new_epoch();
        collect::count(thread);
    }
}
