//! The one access of a steered run that is stale: it reads an older value than memory has, or writes behind a newer one.
//!
//! `ravelin verify --consequences` knows from the axioms which values an access may read ([`steer::is_stale`]), and
//! wants to see what the program does with them. From there on the run goes on under sequential consistency. That is one
//! of the behaviours of C11 (RC20): what is newer than the value and is read later is not forbidden by what the thread
//! knew before, and what it has not read it does not know. An acquire learns what the write of that value has published,
//! which is kept when it is made. A stale write or read-modify-write leaves memory as it is: it comes before the newer
//! writes in modification order, and later reads under sequential consistency see the newest. Robustness is not
//! watched in such a run, data races are.

use crate::access::{AccessPlace, Effect};
use crate::schedule::steer;
use crate::spin::Spin;
use crate::this_thread;
use ravelin_clocks::{AtomicOrder, LocationClocks, MessageAccess};

/// What the write has published that the stale access reads from.
static SOURCE: Spin<Option<Box<LocationClocks>>> = Spin::new(None);

/// The calling thread has made an access of a steered run, which leaves this in the record of its location.
#[cold]
pub fn keep_source(location: &LocationClocks) {
    if steer::is_on() && steer::is_stale_source() {
        *SOURCE.lock() = Some(Box::new(location.clone()));
    }
}

/// What the stale access reads.
pub fn value() -> u64 {
    steer::stale_value()
}

/// The calling thread makes the stale access, with this effect but for memory.
#[cold]
#[inline(never)]
pub fn made(place: AccessPlace, order: AtomicOrder, effect: Effect) {
    let Some(mut inside) = this_thread::enter() else { return };
    let thread = inside.thread();
    if !matches!(effect, Effect::Store { .. })
        && let Some(source) = &mut *SOURCE.lock()
    {
        source.synchronise(&mut thread.clocks, order, 0, MessageAccess::Load);
    }
    effect.spins(thread, place);
    effect.tell(order);
    thread.new_epoch();
}
