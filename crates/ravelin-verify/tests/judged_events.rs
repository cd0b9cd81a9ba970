//! What the judge says about runs that the simulator does not make: threads that start and end, objects other than
//! locks, rounds of waiting loops, accesses of different sizes. And litmus tests, as runs.

use ravelin_findings::RecordedOrder::{self, AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_verify::judge::{JudgedModel, Judgement, Knowledge, StaleAccess, StaleKind, judge};

fn event(thread: u32, act: Act, order: RecordedOrder, address: u64, value: u64) -> RunEvent {
    let operation = RunOperation { act, order, address, size: 8 };
    RunEvent { thread, operation, flags: 0, read: value, written: value, pc: address, state: 5 }
}

fn write(thread: u32, order: RecordedOrder, address: u64, value: u64) -> RunEvent {
    event(thread, Act::Store, order, address, value)
}

fn read(thread: u32, order: RecordedOrder, address: u64, value: u64) -> RunEvent {
    event(thread, Act::Load, order, address, value)
}

fn fence(thread: u32, order: RecordedOrder) -> RunEvent {
    event(thread, Act::Fence, order, 0, 0)
}

fn object(thread: u32, act: Act, address: u64) -> RunEvent {
    event(thread, act, Plain, address, 0)
}

fn with(flag: u16, event: RunEvent) -> RunEvent {
    RunEvent { flags: event.flags | flag, ..event }
}

fn judged(events: &[RunEvent]) -> Judgement {
    judge(events, JudgedModel::Rc20, &|_: &RunEvent, _| false)
}

/// The accesses that may be stale.
fn stale(events: &[RunEvent]) -> Vec<usize> {
    judged(events).stale.iter().map(|stale| stale.event).collect()
}

const X: u64 = 8;
const Y: u64 = 16;
const Z: u64 = 24;

#[test]
fn litmus_tests() {
    // Of accesses and fences only, so the axioms can be asked as well.
    let stale = |events: &[RunEvent]| -> Vec<usize> {
        let found = judge(events, JudgedModel::Rc20, &crate::graphs::Plain).stale;
        assert_eq!(found, crate::graphs::stale_by_axioms(events, JudgedModel::Rc20, &crate::graphs::Plain));
        found.iter().map(|stale| stale.event).collect()
    };
    let store_buffering = |write_order, read_order| {
        stale(&[
            write(0, write_order, X, 1),
            read(0, read_order, Y, 0),
            write(1, write_order, Y, 1),
            read(1, read_order, X, 1),
        ])
    };
    assert_eq!(store_buffering(Release, Acquire), [3]);
    assert!(store_buffering(SeqCst, SeqCst).is_empty());
    // Neither order alone is enough.
    assert_eq!(store_buffering(Release, SeqCst), [3]);
    assert_eq!(store_buffering(SeqCst, Acquire), [3]);

    let message_passing = |published, seen| {
        stale(&[write(0, Relaxed, X, 1), write(0, published, Y, 1), read(1, seen, Y, 1), read(1, Relaxed, X, 1)])
    };
    assert!(message_passing(Release, Acquire).is_empty());
    assert_eq!(message_passing(Relaxed, Acquire), [3]);
    assert_eq!(message_passing(Release, Relaxed), [3]);

    // Fences that psc orders only together with the reads between them.
    let chain = |order| {
        let end = [read(2, Relaxed, Y, 1), fence(2, SeqCst), read(2, Relaxed, Z, 1)];
        let start = [write(0, Relaxed, Z, 1), fence(0, SeqCst), write(0, Relaxed, X, 1)];
        let middle = [read(1, order, X, 1), write(1, order, Y, 1)];
        stale(&[&start[..], &middle, &end].concat())
    };
    assert_eq!(chain(Relaxed), [7]);

    // Seq_cst accesses that are ordered by others between them, to a third location.
    let through_others = |published, seen| {
        stale(&[
            write(0, SeqCst, X, 1),
            read(0, SeqCst, Y, 0),
            write(1, SeqCst, Y, 1),
            write(1, published, Z, 1),
            read(2, seen, Z, 1),
            read(2, SeqCst, X, 1),
        ])
    };
    assert!(through_others(Release, Acquire).is_empty());
    assert_eq!(through_others(Release, Relaxed), [5]);

    // The write is read before the fence. Psc orders fences by that (hb; eco; hb), but not an access and a fence.
    let read_by_another = |order, fenced: bool| {
        let write_and_read = [write(0, Relaxed, X, 1), read(1, Relaxed, X, 1), fence(1, SeqCst)];
        let mut events = [&write_and_read[..], &[read(1, order, Y, 0), write(2, order, Y, 1)]].concat();
        events.extend(fenced.then(|| fence(2, SeqCst)));
        events.push(read(2, order, X, 1));
        stale(&events)
    };
    assert!(read_by_another(Relaxed, true).is_empty());
    assert_eq!(read_by_another(Relaxed, false), [5]);
    assert_eq!(read_by_another(SeqCst, false), [5]);

    // The release sequence continues through an update and not through a store.
    let sequence = |act| {
        stale(&[
            write(0, Relaxed, X, 1),
            write(0, Release, Y, 1),
            event(if act == Act::Update { 2 } else { 0 }, act, Relaxed, Y, 2),
            read(1, Acquire, Y, 2),
            read(1, Relaxed, X, 1),
        ])
    };
    assert!(sequence(Act::Update).is_empty());
    assert_eq!(sequence(Act::Store), [4]);
}

#[test]
fn a_stale_access_names_what_it_misses_and_what_it_could_read() {
    let events = [
        write(0, Relaxed, X, 1),
        write(0, Relaxed, X, 2),
        write(0, Relaxed, Y, 1),
        read(1, Relaxed, Y, 1),
        read(1, Relaxed, X, 2),
    ];
    let expected = |missed, source, value| StaleAccess { event: 4, missed, source, value, kind: StaleKind::Read };
    assert_eq!(judged(&events).stale, [expected(1, Some(0), Some(1)), expected(0, None, None)]);
}

#[test]
fn nothing_is_placed_between_an_update_and_what_it_read() {
    let run = |first, last| {
        let updated = RunEvent { read: 0, ..event(0, first, Relaxed, X, 1) };
        let events = [updated, write(0, Relaxed, Y, 1), read(1, Relaxed, Y, 1), event(1, last, Relaxed, X, 2)];
        judged(&events).stale.iter().map(|stale| stale.kind).collect::<Vec<_>>()
    };
    assert_eq!(run(Act::Store, Act::Store), [StaleKind::Write]);
    assert_eq!(run(Act::Store, Act::Update), [StaleKind::Update]);
    assert!(run(Act::Update, Act::Store).is_empty());
    assert!(run(Act::Update, Act::Update).is_empty());
    assert_eq!(run(Act::Update, Act::Load), [StaleKind::Read]);
}

#[test]
fn objects_and_threads_synchronise() {
    // The first thread writes, then both do something, then the second one reads.
    let run = |between: &[RunEvent]| {
        let mut events = vec![write(0, Relaxed, X, 1)];
        events.extend(between);
        events.push(write(0, Relaxed, Y, 1));
        events.extend([read(1, Relaxed, Y, 1), read(1, Relaxed, X, 1)]);
        stale(&events).len()
    };
    assert_eq!(run(&[]), 1);
    for (by_first, by_second) in [
        (Act::Unlock, Act::Lock),
        (Act::Unlock, Act::LockShared),
        (Act::UnlockShared, Act::Lock),
        (Act::Give, Act::Take),
        (Act::Touch, Act::Touch),
    ] {
        assert_eq!(run(&[object(0, by_first, Z), object(1, by_second, Z)]), 0, "{by_first:?}, {by_second:?}");
        assert_eq!(run(&[object(0, by_first, Z), object(1, by_second, Z + 8)]), 1);
    }
    assert_eq!(run(&[object(0, Act::Unlock, Z), object(1, Act::LockFails, Z)]), 1);
    assert_eq!(run(&[object(0, Act::UnlockShared, Z), object(1, Act::LockShared, Z)]), 1);
    assert_eq!(run(&[object(0, Act::Give, Z), with(flags::TIMED_OUT, object(1, Act::Take, Z))]), 1);
    assert_eq!(run(&[object(0, Act::Start, 1)]), 0);
    assert_eq!(run(&[object(0, Act::Start, 2), object(2, Act::End, 2), object(1, Act::Join, 2)]), 0);
    assert_eq!(run(&[object(0, Act::Start, 2), object(1, Act::Join, 2)]), 1);
}

#[test]
fn an_object_orders_accesses_even_if_nothing_is_synchronised() {
    // The lock was held when the second thread tried it, so its read comes after the write.
    let events =
        [write(0, Relaxed, X, 1), object(0, Act::Lock, Z), object(1, Act::LockFails, Z), read(1, Relaxed, X, 1)];
    assert_eq!(stale(&events), [3]);
    let without = [events[0], events[1], events[3]];
    assert!(stale(&without).is_empty());
}

#[test]
fn a_fence_without_effect_on_others_may_be_a_local_step() {
    let run = |act| {
        let fences = [event(0, act, Release, 0, 0), event(1, act, Acquire, 0, 0)];
        let writes = [write(0, Relaxed, X, 1), fences[0], write(0, Relaxed, Y, 1)];
        stale(&[&writes[..], &[read(1, Relaxed, Y, 1), fences[1], read(1, Relaxed, X, 1)]].concat())
    };
    assert_eq!((run(Act::Fence), run(Act::Local)), (vec![], vec![]));
}

/// A thread that waits for X, and what the other one has written before.
fn waiting(rounds: &[RunEvent]) -> Vec<RunEvent> {
    let mut events = rounds.to_vec();
    events.extend([write(0, Relaxed, X, 1), write(0, Relaxed, X, 2), write(0, Relaxed, Y, 1)]);
    events.extend([read(1, Relaxed, Y, 1)]);
    events
}

#[test]
fn values_that_make_a_loop_go_round_do_not_count() {
    let round = |value| with(flags::ROUND, read(1, Acquire, X, value));
    let end = read(1, Acquire, X, 2);
    let values = |events: &[RunEvent]| judged(events).stale.iter().map(|stale| stale.value).collect::<Vec<_>>();
    assert_eq!(values(&[&waiting(&[])[..], &[end]].concat()), [Some(1), None]);
    assert_eq!(values(&[&waiting(&[])[..], &[round(1), end]].concat()), [None]);
    // An earlier round has read the initial value, and is not directly before the end.
    assert_eq!(values(&[&waiting(&[round(0)])[..], &[round(1), end]].concat()), [Some(0)]);
    assert!(values(&[&waiting(&[round(0)])[..], &[round(1), round(0), end]].concat()).is_empty());
    // A round of two accesses says nothing about each.
    let other = RunEvent { state: 99, ..round(1) };
    assert_eq!(values(&[&waiting(&[round(0)])[..], &[round(1), other, end]].concat()), [Some(1), Some(0)]);
    // Nor does one whose state is not known.
    let unknown = |event: RunEvent| RunEvent { state: 0, ..event };
    assert_eq!(values(&[&waiting(&[])[..], &[unknown(round(1)), unknown(end)]].concat()), [Some(1), None]);
}

#[test]
fn a_pending_wait_may_be_passed_by_a_stale_value() {
    struct WaitsForOne;
    impl Knowledge for WaitsForOne {
        fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
            event.operation.address == X && event.thread == 1 && value != 1
        }
        fn initial(&self, _address: u64, _size: u32) -> Option<u64> {
            Some(0)
        }
    }
    let mut events = waiting(&[]);
    events.push(with(flags::PENDING, read(1, Acquire, X, 2)));
    let found = judge(&events, JudgedModel::Rc20, &WaitsForOne).stale;
    assert_eq!(found, [StaleAccess { event: 4, missed: 1, source: Some(0), value: Some(1), kind: StaleKind::Read }]);
}

#[test]
fn a_compare_exchange_may_succeed_or_fail_on_an_older_value() {
    let run = |last: RunEvent| {
        let events = [&waiting(&[])[..], &[with(flags::COMPARES, last)]].concat();
        judged(&events).stale.iter().map(|stale| (stale.value, stale.kind)).collect::<Vec<_>>()
    };
    let succeeded = RunEvent { read: 2, written: 3, ..event(1, Act::Update, AcqRel, X, 0) };
    // What an unknown initial value does is not known, so it must be possible either way.
    assert_eq!(run(succeeded), [(Some(1), StaleKind::Read), (None, StaleKind::Update)]);
    let failed = |expected| RunEvent { read: 2, written: expected, ..event(1, Act::Load, Acquire, X, 0) };
    assert_eq!(run(failed(7)), [(Some(1), StaleKind::Read), (None, StaleKind::Update)]);
    assert_eq!(run(failed(1)), [(Some(1), StaleKind::Update), (None, StaleKind::Update)]);
}

#[test]
fn accesses_of_different_sizes_are_not_judged() {
    let mut events = waiting(&[]);
    let mut half = read(1, Acquire, X + 4, 0);
    half.operation.size = 4;
    events.extend([half, read(1, Acquire, X, 2)]);
    assert_eq!(judged(&events), Judgement { stale: Vec::new(), mixed_sizes: true, cut_off: false });
    // An object is no access.
    let mut events = waiting(&[]);
    let mut wake_up = object(1, Act::Give, X);
    wake_up.operation.size = 1;
    events.push(wake_up);
    assert!(!judged(&events).mixed_sizes);
}

#[test]
fn no_events_are_no_problem() {
    assert_eq!(judged(&[]), Judgement::default());
}

#[test]
fn accesses_that_are_not_checked_order_by_what_they_synchronise_only() {
    let library = |event| with(flags::UNCHECKED, event);
    // Store buffering: neither checked nor evidence.
    let accesses = |first: [RunEvent; 2], second: [RunEvent; 2]| stale(&[first, second].concat());
    let (x1, y0, y1, x0) =
        (write(0, Release, X, 1), read(0, Acquire, Y, 0), write(1, Release, Y, 1), read(1, Acquire, X, 1));
    assert_eq!(accesses([x1, y0], [y1, x0]), [3]);
    assert!(accesses([library(x1), library(y0)], [library(y1), library(x0)]).is_empty());
    assert!(accesses([x1, library(y0)], [library(y1), x0]).is_empty(), "nothing orders the accesses to X");
    // Message passing: its order counts.
    let message = |published, seen| {
        stale(&[
            write(0, Relaxed, X, 1),
            library(write(0, published, Y, 1)),
            library(read(1, seen, Y, 1)),
            read(2, Relaxed, X, 1),
            read(1, Relaxed, X, 1),
        ])
    };
    assert!(message(Release, Acquire).is_empty());
    assert!(message(Relaxed, Relaxed).is_empty());
    // With a seq_cst order they are not among the seq_cst events, either.
    assert!(
        stale(&[
            write(0, SeqCst, X, 1),
            library(read(0, SeqCst, Y, 0)),
            library(write(1, SeqCst, Y, 1)),
            read(1, SeqCst, X, 1)
        ])
        .is_empty()
    );
}

#[test]
fn a_location_with_accesses_that_are_not_checked_is_not_judged() {
    let library = |event: RunEvent| {
        let operation = RunOperation { size: 1, ..event.operation };
        with(flags::UNCHECKED, RunEvent { operation, ..event })
    };
    let judgement = judged(&[
        write(0, Release, X, 1),
        read(0, Acquire, Y, 0),
        write(1, Release, Y, 1),
        library(read(1, Relaxed, X, 1)),
        read(1, Acquire, X, 1),
    ]);
    assert_eq!(judgement, Judgement::default(), "and its size does not matter");
}
