//! The examples of the paper and what each of them shows in its runs, and traces that a wrong clock gets wrong.
//!
//! Every trace also goes through the judges, with happens-before between all its events.

use crate::judged::compare::{Against, compare, violations};
use crate::judged::traces::{self, Operation, Step, SyncOperation};
use crate::judged::watched::Habits;
use ravelin_clocks::AtomicOrder::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use ravelin_clocks::CasKind::{self, Blocking, Strong, Weak};
use ravelin_clocks::{LocationAccess, LocationClocks, ReleaseClocks, ThreadClocks, WitnessMode};
use std::collections::BTreeSet;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

fn load(x: usize, order: AtomicOrder) -> Operation {
    Operation::Load { x, order }
}

fn store(x: usize, value: u64, order: AtomicOrder) -> Operation {
    Operation::Store { x, order, value }
}

fn update(x: usize, value: u64, order: AtomicOrder) -> Operation {
    Operation::Update { x, order, value }
}

fn wait(x: usize, value: u64) -> Operation {
    Operation::Wait { x, order: Acquire, value }
}

fn cas(kind: CasKind, x: usize, expected: u64, value: u64) -> Operation {
    Operation::CompareExchange { x, success: AcqRel, failure: Acquire, kind, expected, value }
}

fn fence(order: AtomicOrder) -> Operation {
    Operation::Synchronise(SyncOperation::Fence { order })
}

fn step(thread: usize, operation: Operation) -> Step {
    Step { thread, operation }
}

/// Starts threads 1 to `count`, none of which knows anything.
fn started(count: usize) -> Vec<Step> {
    (1..=count).map(|child| step(0, Operation::Synchronise(SyncOperation::Spawn { child }))).collect()
}

/// The steps at which there are violations, counted from the first after the starts, and whether they are predicted.
#[track_caller]
fn found(threads: usize, trace: &[Step]) -> Vec<(usize, bool)> {
    let whole = [started(threads).as_slice(), trace].concat();
    let found = violations(&whole).unwrap_or_else(|difference| panic!("{difference}\n{}", traces::print(&whole)));
    found.into_iter().map(|(number, violation)| (number - threads, violation.predicted)).collect()
}

/// The most that a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shows {
    Nothing,
    Predicted,
    Witness,
}
use Shows::{Nothing, Predicted, Witness};

/// What the runs of a program show, over all interleavings.
#[track_caller]
fn shown(program: &[&[Operation]]) -> Vec<Shows> {
    let mut shown = BTreeSet::new();
    let mut open = vec![(vec![0; program.len()], Vec::new())];
    while let Some((at, trace)) = open.pop() {
        let mut ended = true;
        for thread in 0..program.len() {
            if let Some(&operation) = program[thread].get(at[thread]) {
                ended = false;
                let (mut at, mut trace): (Vec<usize>, Vec<Step>) = (at.clone(), trace.clone());
                at[thread] += 1;
                trace.push(step(thread + 1, operation));
                open.push((at, trace));
            }
        }
        if ended {
            let most = found(program.len(), &trace).into_iter().map(|(_, predicted)| match predicted {
                true => Predicted,
                false => Witness,
            });
            shown.insert(most.max().unwrap_or(Nothing));
        }
    }
    shown.into_iter().collect()
}

#[test]
fn store_buffering() {
    let sb = |w, r| shown(&[&[store(X, 1, w), load(Y, r)], &[store(Y, 1, w), load(X, r)]]);
    assert_eq!(sb(Release, Acquire), [Nothing, Witness]);
    assert_eq!(sb(Relaxed, Relaxed), [Nothing, Witness]);
    assert_eq!(sb(SeqCst, SeqCst), [Nothing]);
    // The fence stands behind the access: the first of these is found and the second is not.
    assert_eq!(sb(Release, SeqCst), [Nothing, Witness]);
    assert_eq!(sb(SeqCst, Acquire), [Nothing]);
    let fenced = |f| {
        shown(&[
            &[store(X, 1, Relaxed), fence(f), load(Y, Relaxed)],
            &[store(Y, 1, Relaxed), fence(f), load(X, Relaxed)],
        ])
    };
    assert_eq!(fenced(SeqCst), [Nothing]);
    assert_eq!(fenced(AcqRel), [Nothing, Witness]);
    let updates = |a| {
        shown(&[
            &[store(X, 1, Relaxed), update(Z, 1, a), load(Y, Relaxed)],
            &[store(Y, 1, Relaxed), update(Z, 1, a), load(X, Relaxed)],
        ])
    };
    assert_eq!(updates(AcqRel), [Nothing]);
    // Whoever updates second is forced to know what nothing has told it, in every run.
    assert_eq!(updates(Acquire), [Witness]);
}

#[test]
fn message_passing() {
    let mp = |w, r| shown(&[&[store(X, 1, Relaxed), store(Y, 1, w)], &[load(Y, r), load(X, Relaxed)]]);
    assert_eq!(mp(Release, Acquire), [Nothing]);
    assert_eq!(mp(SeqCst, SeqCst), [Nothing]);
    assert_eq!(mp(Relaxed, Acquire), [Nothing, Witness]);
    assert_eq!(mp(Release, Relaxed), [Nothing, Witness]);
    let fenced = |w, r| {
        shown(&[
            &[store(X, 1, Relaxed), fence(w), store(Y, 1, Relaxed)],
            &[load(Y, Relaxed), fence(r), load(X, Relaxed)],
        ])
    };
    assert_eq!(fenced(Release, Acquire), [Nothing]);
    assert_eq!(fenced(SeqCst, SeqCst), [Nothing]);
    assert_eq!(fenced(Acquire, Release), [Nothing, Witness]);
    // A relaxed update goes on with the release sequence, a relaxed store does not.
    let passed =
        |on| shown(&[&[store(X, 1, Relaxed), store(Y, 1, Release)], &[on], &[load(Y, Acquire), load(X, Relaxed)]]);
    assert_eq!(passed(update(Y, 2, Relaxed)), [Nothing]);
    assert_eq!(passed(store(Y, 2, Relaxed)), [Nothing, Witness]);
}

/// Example 3.1: whoever comes second sees it, whatever the first has done since.
#[test]
fn overwritten_store_buffering() {
    let (one, other) = (
        [store(X, 1, Release), load(Y, Acquire), store(X, 2, Release)],
        [store(Y, 1, Release), load(X, Acquire), store(Y, 2, Release)],
    );
    assert_eq!(shown(&[&one, &other]), [Nothing, Predicted, Witness]);
    let alone = |thread, program: [Operation; 3]| program.map(|operation| step(thread, operation)).to_vec();
    for (first, second) in [((1, one), (2, other)), ((2, other), (1, one))] {
        let trace = [alone(first.0, first.1), alone(second.0, second.1)].concat();
        assert_eq!(found(2, &trace), [(4, true)], "one after the other");
    }
    // The stores are the first thing that both do in every run without a report.
    let trace = [(1, one[0]), (2, other[0]), (1, one[1]), (1, one[2]), (2, other[1]), (2, other[2])];
    assert_eq!(found(2, &trace.map(|(thread, operation)| step(thread, operation))), []);
}

/// Figure 6.
#[test]
fn writes_do_not_squeeze_before_updates() {
    let program = |first, last| shown(&[&[first, load(Y, Acquire)], &[store(Y, 1, Release), last]]);
    assert_eq!(program(update(X, 1, AcqRel), load(X, Acquire)), [Nothing, Witness]);
    assert_eq!(program(update(X, 1, AcqRel), store(X, 2, Release)), [Nothing]);
    assert_eq!(program(update(X, 1, AcqRel), update(X, 2, AcqRel)), [Nothing]);
    assert_eq!(program(store(X, 1, Release), store(X, 2, Release)), [Nothing, Witness]);
    assert_eq!(program(store(X, 1, Release), update(X, 2, AcqRel)), [Nothing, Witness]);
}

/// Example 4.2.
#[test]
fn barriers() {
    let bar = |p, q| shown(&[&[store(X, 1, Release), p], &[store(Y, 1, Release), q]]);
    assert_eq!(bar(load(Y, Acquire), load(X, Acquire)), [Nothing, Witness]);
    assert_eq!(bar(wait(Y, 1), wait(X, 1)), [Nothing]);
    assert_eq!(bar(wait(Y, 0), wait(X, 2)), [Nothing]);
    assert_eq!(bar(wait(Y, 0), wait(X, 0)), [Nothing, Witness]);
}

#[test]
fn compare_exchanges_look_at_values() {
    let cases = |kind, expected| {
        shown(&[&[store(X, 1, Release), load(Y, Acquire)], &[store(Y, 1, Release), cas(kind, X, expected, 5)]])
    };
    // 0 is stale: expecting it may succeed, expecting 1 may fail, expecting 2 fails anyhow but not with 0.
    assert_eq!(cases(Strong, 0), [Nothing, Witness]);
    assert_eq!(cases(Strong, 1), [Nothing, Witness]);
    assert_eq!(cases(Strong, 2), [Nothing, Witness]);
    assert_eq!(cases(Weak, 0), [Nothing, Witness]);
    assert_eq!(cases(Blocking, 0), [Nothing, Witness]);
    assert_eq!(cases(Blocking, 1), [Nothing]);
    // Behind an update nothing can be put, but a failing one may still read what was before it.
    let behind = |kind, expected| {
        shown(&[&[update(X, 1, AcqRel), load(Y, Acquire)], &[store(Y, 1, Release), cas(kind, X, expected, 5)]])
    };
    assert_eq!(behind(Strong, 0), [Nothing]);
    assert_eq!(behind(Weak, 0), [Nothing, Witness]);
    assert_eq!(behind(Strong, 1), [Nothing, Witness]);
    assert_eq!(behind(Blocking, 0), [Nothing]);
}

#[test]
fn two_plus_two_writes() {
    let program = |w| shown(&[&[store(X, 1, w), store(Y, 2, w)], &[store(Y, 1, w), store(X, 2, w)]]);
    assert_eq!(program(Release), [Nothing, Witness]);
    assert_eq!(program(SeqCst), [Nothing]);
}

#[test]
fn independent_reads_of_independent_writes() {
    let program =
        |w, r| shown(&[&[store(X, 1, w)], &[store(Y, 1, w)], &[load(X, r), load(Y, r)], &[load(Y, r), load(X, r)]]);
    assert_eq!(program(Release, Acquire), [Nothing, Witness]);
    assert_eq!(program(SeqCst, SeqCst), [Nothing]);
}

/// Only an epoch of its own keeps what a thread did after a release apart from what it did before.
#[test]
fn what_comes_after_a_release_is_not_released() {
    let trace = [
        step(1, store(X, 1, Release)),
        step(2, store(Y, 1, Relaxed)),
        step(1, load(Y, Relaxed)),
        step(3, load(X, Acquire)),
        step(3, load(Y, Relaxed)),
    ];
    assert_eq!(found(3, &trace), []);
}

/// To see something once more does not make the first time later.
#[test]
fn a_sighting_keeps_its_date() {
    let trace = [
        step(2, store(Y, 1, Relaxed)),
        step(1, load(Y, Relaxed)),
        step(1, store(X, 1, Release)),
        step(1, load(Y, Relaxed)),
        step(3, load(X, Acquire)),
        step(3, load(Y, Relaxed)),
        step(3, store(Y, 2, Relaxed)),
    ];
    assert_eq!(found(3, &trace), []);
}

/// A relaxed update adds to a message, so whoever knows the moment of the message need not know it all.
#[test]
fn a_message_that_an_update_joined_is_of_no_moment() {
    let trace = [
        step(1, store(X, 1, Release)),
        step(3, load(X, Acquire)),
        step(2, store(Y, 1, Relaxed)),
        step(2, update(X, 2, Release)),
        step(3, load(X, Acquire)),
        step(3, load(Y, Relaxed)),
    ];
    assert_eq!(found(3, &trace), []);
}

/// A release fence is for the stores of its own thread.
#[test]
fn a_child_has_no_release_fence() {
    let trace = [
        step(1, store(Y, 1, Relaxed)),
        step(1, fence(Release)),
        step(1, Operation::Synchronise(SyncOperation::Spawn { child: 3 })),
        step(3, store(X, 1, Relaxed)),
        step(2, load(X, Acquire)),
        step(2, load(Y, Relaxed)),
    ];
    assert_eq!(found(2, &trace), [(5, false)]);
    // Neither does it have an acquire fence for what its parent has read.
    let trace = [
        step(1, store(Y, 1, Relaxed)),
        step(1, store(X, 1, Release)),
        step(2, load(X, Relaxed)),
        step(2, Operation::Synchronise(SyncOperation::Spawn { child: 3 })),
        step(3, fence(Acquire)),
        step(3, load(Y, Relaxed)),
    ];
    assert_eq!(found(2, &trace), [(5, false)]);
}

/// Fences make nothing come earlier, so a stale read behind two of them would be one of another order.
#[test]
fn seq_cst_fences_force_nothing() {
    let trace =
        [step(1, store(X, 1, Relaxed)), step(1, fence(SeqCst)), step(2, fence(SeqCst)), step(2, load(X, Relaxed))];
    assert_eq!(found(2, &trace), []);
}

/// Thread 4 updates x and thread 5 looks, on and on.
fn churn() -> Vec<Step> {
    (0..40).flat_map(|round| [step(4, update(X, round % 4, Relaxed)), step(5, load(X, Relaxed))]).collect()
}

/// Runs a trace of 5 threads and prunes after every operation; there must be no violation in the last one.
#[track_caller]
fn last_is_fine_when_pruned(parts: &[&[Step]]) {
    let whole = [started(5), parts.concat()].concat();
    let habits =
        Habits { prune: 1, reuse: false, stride: 1, folds: true, synchronises: false, buffers: false, tells: 1 };
    let seen = |trace: &[Step]| {
        let seen = compare(trace, habits, Against::All);
        seen.unwrap_or_else(|difference| panic!("{difference}\n{}", traces::print(&whole))).violations
    };
    assert_eq!(seen(&whole), seen(&whole[..whole.len() - 1]));
}

/// Thread 1 publishes what it has seen of x, goes on, and looks at x again, twice: then nobody else knows of the first time.
/// What it knew then must not be forgotten as long as somebody holds what it published.
#[test]
fn old_knowledge_outlives_pruning() {
    let seen = [step(2, store(X, 1, Relaxed)), step(2, store(Z, 1, Relaxed)), step(1, load(X, Relaxed))];
    let looks = |and: &[Step]| {
        let look = [&churn(), [step(1, load(X, Relaxed))].as_slice(), and].concat();
        [look.clone(), look, churn()].concat()
    };
    let forced = step(3, load(Z, Relaxed));
    let check = step(3, store(X, 5, Relaxed));
    let (lock, unlock) = (
        Operation::Synchronise(SyncOperation::Lock { lock: 0 }),
        Operation::Synchronise(SyncOperation::Unlock { lock: 0 }),
    );
    // A location, a lock, and the fences hold it.
    let message = [forced, step(3, load(Y, Acquire)), check];
    last_is_fine_when_pruned(&[&seen, &[step(1, store(Y, 1, Release))], &looks(&[]), &message]);
    let locked = [forced, step(3, lock), check];
    last_is_fine_when_pruned(&[&seen, &[step(1, lock), step(1, unlock)], &looks(&[]), &locked]);
    let fenced = [forced, step(3, fence(SeqCst)), check];
    last_is_fine_when_pruned(&[&seen, &[step(1, fence(SeqCst))], &looks(&[step(1, fence(Release))]), &fenced]);
    // Thread 1 itself holds it, for its relaxed stores.
    let stored = [step(1, store(Y, 1, Relaxed)), step(3, load(Y, Acquire)), check];
    last_is_fine_when_pruned(&[&seen, &[step(1, fence(Release))], &looks(&[]), &stored]);
    // Thread 3 holds it, at once or for behind a fence; or the message of y alone does. All the sc clocks are ahead.
    let ahead = |thread| [step(1, store(Z, 2, Relaxed)), step(thread, load(Z, Relaxed))];
    let store_y = step(1, store(Y, 1, Release));
    let looks = looks(&[]);
    let holds = |order| [store_y, step(3, load(Y, order))];
    let over = step(1, store(Y, 2, Relaxed));
    last_is_fine_when_pruned(&[&seen, &holds(Acquire), &[over], &looks, &ahead(3), &churn(), &[check]]);
    let behind = [step(3, fence(Acquire)), check];
    last_is_fine_when_pruned(&[&seen, &holds(Relaxed), &[over], &looks, &ahead(3), &churn(), &behind]);
    let passed = [step(2, update(Y, 2, Relaxed))];
    let learnt = [step(3, load(Y, Acquire)), check];
    last_is_fine_when_pruned(&[&seen, &[store_y], &looks, &ahead(2), &passed, &churn(), &learnt]);
}

/// Found by random traces: a child begins with its parent's happens-before, and needs what its parent's view has beyond.
#[test]
fn a_child_has_what_hidden_fences_told_its_parent() {
    let trace = [
        step(1, store(Y, 2, SeqCst)),
        step(1, load(X, SeqCst)),
        step(2, load(Z, SeqCst)),
        step(2, Operation::Synchronise(SyncOperation::Spawn { child: 3 })),
        step(3, store(X, 1, SeqCst)),
        step(3, load(Y, SeqCst)),
    ];
    assert_eq!(found(2, &trace), []);
}

/// Found by random traces: the fence behind a seq_cst access is no fence for happens-before, which `found` compares.
#[test]
fn seq_cst_accesses_do_not_synchronise_others() {
    let after =
        [step(1, load(Y, SeqCst)), step(1, store(X, 1, Relaxed)), step(2, load(X, Acquire)), step(2, fence(Acquire))];
    assert_eq!(found(2, &after), []);
    let before =
        [step(1, store(X, 1, Release)), step(2, load(X, Relaxed)), step(2, load(Y, SeqCst)), step(2, load(X, Relaxed))];
    assert_eq!(found(2, &before), []);
}

/// Thread 3 reads what thread 2 wrote after it learnt of thread 1's store. If thread 2 has only assumed that, the store
/// comes earlier for thread 2, but nothing says so to thread 3.
#[test]
fn assumed_order_is_no_evidence() {
    let shown = |learn: fn(&mut ThreadClocks, &ReleaseClocks)| {
        let mut threads = [1, 2, 3].map(|tid| ThreadClocks::new(tid, 1));
        let [first, second, third] = &mut threads;
        let (mut x, mut y) = (LocationClocks::new(0), LocationClocks::new(0));
        let relaxed = |site| LocationAccess { place: 0, order: Relaxed, site, mode: WitnessMode::Predict };
        assert_eq!(x.store(first, relaxed(0), 1), None);
        let stored = first.epoch - 1;
        learn(second, &first.release());
        assert!(second.happens_after(1, stored));
        assert_eq!(y.store(second, relaxed(1), 1), None);
        assert_eq!(y.load(third, relaxed(2)), None);
        x.load(third, relaxed(3)).is_some()
    };
    assert!(shown(ThreadClocks::acquire));
    assert!(!shown(ThreadClocks::acquire_views));
}
