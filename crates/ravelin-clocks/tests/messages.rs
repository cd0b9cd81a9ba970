//! What threads learn from messages.

use ravelin_clocks::AtomicOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use ravelin_clocks::MessageAccess::{Load, Store, Update};
use ravelin_clocks::{AtomicOrder, FenceLocation, MessageAccess, ThreadClocks};

/// Whether thread 2 knows what thread 1 did first, after these accesses of one location, each by thread 1, 2 or 3.
fn known(accesses: &[(usize, MessageAccess, AtomicOrder)]) -> bool {
    let mut threads = [1, 2, 3].map(|tid| ThreadClocks::new(tid, 5));
    let mut message = None;
    for &(who, touch, order) in accesses {
        threads[who - 1].exchange_message(&mut message, touch, order);
    }
    threads[1].happens_after(1, 5)
}

#[test]
fn a_message_synchronises_as_in_c11() {
    assert!(known(&[(1, Store, Release), (2, Load, Acquire)]));
    assert!(known(&[(1, Update, AcqRel), (2, Update, Acquire)]));
    assert!(known(&[(1, Store, SeqCst), (2, Load, SeqCst)]));
    assert!(!known(&[(1, Store, Relaxed), (2, Load, Acquire)]));
    assert!(!known(&[(1, Store, Release), (2, Load, Relaxed)]));
    assert!(!known(&[(2, Load, Acquire), (1, Store, Release)]));
}

#[test]
fn updates_of_others_do_not_end_a_release_sequence_and_stores_do() {
    assert!(known(&[(1, Store, Release), (3, Update, Relaxed), (2, Load, Acquire)]));
    assert!(!known(&[(1, Store, Release), (3, Store, Relaxed), (2, Load, Acquire)]));
    assert!(!known(&[(1, Store, Release), (3, Store, Release), (2, Load, Acquire)]));
}

#[test]
fn fences_make_synchronisation_of_relaxed_accesses() {
    let (mut first, mut second) = (ThreadClocks::new(1, 5), ThreadClocks::new(2, 5));
    let mut hidden = FenceLocation::new();
    let mut message = None;
    first.fence(Release, &mut hidden);
    first.exchange_message(&mut message, Store, Relaxed);
    second.exchange_message(&mut message, Load, Relaxed);
    assert!(!second.happens_after(1, 5));
    second.fence(Acquire, &mut hidden);
    assert!(second.happens_after(1, 5));
}
