//! Single claims about messages.

use ravelin_clocks::weak::{FenceOrder, PATIENCE, SeqCstPlace, WeakAccess, WeakAct, WeakLocation};
use ravelin_clocks::{AtomicOrder, CasKind, MessageAccess, ThreadClocks};

/// Two threads and the fences of a run.
struct Two {
    threads: [ThreadClocks; 2],
    fences: FenceOrder,
}

impl Two {
    fn new() -> Two {
        Two {
            threads: [ThreadClocks::new(0, 1), ThreadClocks::new(1, 1)],
            fences: FenceOrder::new(SeqCstPlace::After, 100),
        }
    }

    /// One access that takes the newest candidate or the oldest. Returns the value of the message, and what was done.
    fn access(
        &mut self,
        thread: usize,
        location: &mut WeakLocation,
        (act, order): (WeakAct, AtomicOrder),
        oldest: bool,
        value: u64,
    ) -> (u64, MessageAccess) {
        let access = WeakAccess { act, order, failure: order, site: 0 };
        let clocks = &mut self.threads[thread];
        let choose = |among| if oldest { among - 1 } else { 0 };
        let choice = location.choose(clocks, &mut self.fences, access, choose);
        location.take(clocks, &mut self.fences, access, choice, value);
        (choice.value, choice.does)
    }

    fn store(&mut self, thread: usize, location: &mut WeakLocation, value: u64, order: AtomicOrder) {
        self.access(thread, location, (WeakAct::Store, order), false, value);
    }

    /// A load of the oldest value.
    fn load(&mut self, thread: usize, location: &mut WeakLocation, order: AtomicOrder) -> u64 {
        self.access(thread, location, (WeakAct::Load, order), true, 0).0
    }
}

const RELAXED: AtomicOrder = AtomicOrder::Relaxed;
const ACQUIRE: AtomicOrder = AtomicOrder::Acquire;
const RELEASE: AtomicOrder = AtomicOrder::Release;

#[test]
fn an_acquired_flag_excludes_the_old_value_of_the_data_and_a_relaxed_one_does_not() {
    for (order, expected) in [(ACQUIRE, 1), (RELAXED, 0)] {
        let (mut two, mut data, mut flag) = (Two::new(), WeakLocation::new(0), WeakLocation::new(0));
        two.store(0, &mut data, 1, RELAXED);
        two.store(0, &mut flag, 1, RELEASE);
        assert_eq!(two.access(1, &mut flag, (WeakAct::Load, order), false, 0).0, 1);
        assert_eq!(two.load(1, &mut data, RELAXED), expected, "{order:?}");
    }
}

#[test]
fn a_thread_that_waits_sees_the_newest_value_in_the_end() {
    let (mut two, mut flag) = (Two::new(), WeakLocation::new(0));
    two.store(0, &mut flag, 1, RELAXED);
    for _ in 0..PATIENCE {
        assert_eq!(two.load(1, &mut flag, RELAXED), 0);
    }
    assert_eq!(two.load(1, &mut flag, RELAXED), 1);
    assert_eq!(two.load(1, &mut flag, RELAXED), 1, "it cannot go back");
}

#[test]
fn nothing_stands_between_a_read_modify_write_and_what_it_read() {
    let (mut two, mut counter) = (Two::new(), WeakLocation::new(0));
    two.access(0, &mut counter, (WeakAct::Update, RELAXED), true, 1);
    assert_eq!(two.access(1, &mut counter, (WeakAct::Update, RELAXED), true, 2).0, 1);
    let exchange = |kind| WeakAct::CompareExchange { kind, expected: 0 };
    let (value, does) = two.access(0, &mut counter, (exchange(CasKind::Strong), RELAXED), true, 9);
    assert_eq!((value, does), (1, MessageAccess::Load), "its own write, which is not the expected value");
}

#[test]
fn a_strong_compare_exchange_succeeds_on_an_equal_value_and_a_weak_one_may_fail() {
    for (kind, expected) in [(CasKind::Strong, MessageAccess::Update), (CasKind::Weak, MessageAccess::Load)] {
        let (mut two, mut word) = (Two::new(), WeakLocation::new(3));
        let exchange = WeakAct::CompareExchange { kind, expected: 3 };
        assert_eq!(two.access(0, &mut word, (exchange, RELAXED), true, 4), (3, expected));
    }
}

#[test]
fn values_beyond_the_limit_and_values_that_all_threads_know_to_be_old_are_forgotten() {
    let (mut two, mut word) = (Two::new(), WeakLocation::new(0));
    (1..=5).for_each(|value| two.store(0, &mut word, value, RELAXED));
    assert_eq!(word.kept(), 6);
    word.limit(3);
    assert_eq!((word.kept(), word.newest(), two.load(1, &mut word, RELAXED)), (3, 5, 3));
    // The second thread has read 3, and the first one has written 5.
    let known = two.threads[1].epoch;
    word.forget(&[0, known]);
    assert_eq!(word.kept(), 3);
    two.access(1, &mut word, (WeakAct::Load, RELAXED), false, 0);
    word.forget(&[0, two.threads[1].epoch]);
    assert_eq!((word.kept(), word.newest()), (1, 5));
}

#[test]
fn a_value_that_memory_got_from_elsewhere_takes_the_place_of_all_others() {
    let (mut two, mut word) = (Two::new(), WeakLocation::new(0));
    two.store(0, &mut word, 1, RELEASE);
    word.replace(7);
    assert_eq!((word.kept(), word.newest()), (1, 7));
    assert_eq!(two.load(1, &mut word, ACQUIRE), 7);
    assert!(two.threads[1].happens_after(0, 1), "what the last known write published stays");
}

/// `W z; F; W x ∥ R x; W y ∥ R y; F; R z` reads 1, 1, 0: psc allows it, and one common location of all fences would not.
#[test]
fn fences_are_ordered_by_psc_and_not_by_the_order_in_which_they_were_made() {
    let [mut x, mut y, mut z] = [0; 3].map(WeakLocation::new);
    let mut fences = FenceOrder::new(SeqCstPlace::After, 100);
    let mut threads = [1, 2, 3].map(|tid| ThreadClocks::new(tid, 1));
    let act = |thread: &mut ThreadClocks, fences: &mut FenceOrder, location: &mut WeakLocation, act, oldest| {
        let access = WeakAccess { act, order: RELAXED, failure: RELAXED, site: 0 };
        let choice = location.choose(thread, fences, access, |among| if oldest { among - 1 } else { 0 });
        location.take(thread, fences, access, choice, 1);
        choice.value
    };
    let [first, second, third] = &mut threads;
    act(first, &mut fences, &mut z, WeakAct::Store, false);
    first.weak_fence(AtomicOrder::SeqCst, &mut fences);
    act(first, &mut fences, &mut x, WeakAct::Store, false);
    assert_eq!(act(second, &mut fences, &mut x, WeakAct::Load, false), 1);
    act(second, &mut fences, &mut y, WeakAct::Store, false);
    assert_eq!(act(third, &mut fences, &mut y, WeakAct::Load, false), 1);
    third.weak_fence(AtomicOrder::SeqCst, &mut fences);
    assert_eq!(act(third, &mut fences, &mut z, WeakAct::Load, true), 0);
}
