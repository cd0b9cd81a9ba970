//! The clocks of x86-TSO against sets of facts, on random traces and on the shapes everybody knows.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many traces, and from where.

use crate::judged::judges::{Judgement, StoreBuffers};
use crate::judged::traces::{Act, Ask, Operation, Shape, Step, SyncOperation, World, generate, print, shrink};
use crate::judged::watched::{Habits, Watched};
use ravelin_clocks::{AccessViolation, AtomicOrder, CasKind, WitnessMode};

const SHORT: Shape =
    Shape { shortest: 5, longest: 150, many_threads: false, renames: false, runs: false, alone: false };
const KEPT: Habits =
    Habits { prune: 0, reuse: false, stride: 1, folds: true, synchronises: false, buffers: true, tells: 0 };

/// How many accesses were violations, and of how many; or the first difference.
fn compare(trace: &[Step], habits: Habits) -> Result<(u64, u64), String> {
    let mut world = World::new();
    let mut predicting = Watched::new(WitnessMode::Predict, habits);
    let mut standard = Watched::new(WitnessMode::Standard, habits);
    let mut sets = StoreBuffers::new();
    let (mut violations, mut asked) = (0, 0);
    for (number, &step) in trace.iter().enumerate() {
        let Some(event) = world.perform(step) else { continue };
        let remembered = match event.act {
            Act::Access { x, .. } => predicting.remembers_all(x),
            _ => true,
        };
        let found = predicting.perform(event, number);
        let found_in_this_run = standard.perform(event, number);
        if let Act::Access { x, ask, .. } = event.act {
            let judged = sets.check(event.thread, x, ask);
            let valued = matches!(ask, Ask::Wait(_) | Ask::CompareExchange(CasKind::Strong | CasKind::Blocking, _));
            // Values that are forgotten hide violations.
            let hidden = valued && !remembered && found.is_none();
            if !hidden && !same(found, judged.as_ref(), valued && !remembered) {
                return Err(format!("at step {number} ({step}): clocks {found:?}, sets {judged:?}"));
            }
            let in_this_run = judged.as_ref().is_some_and(|judged| !judged.predicted);
            // Of a compare-exchange the sets say only the first of two ways to go wrong.
            let in_two_ways = matches!(ask, Ask::CompareExchange(..)) && judged.is_some() && !in_this_run;
            if in_this_run != found_in_this_run.is_some() && !in_two_ways && (!valued || remembered) {
                return Err(format!("at step {number} ({step}): standard {found_in_this_run:?}, sets {judged:?}"));
            }
            violations += u64::from(judged.is_some());
            asked += 1;
        }
        sets.perform(event);
    }
    Ok((violations, asked))
}

fn same(found: Option<AccessViolation>, judged: Option<&Judgement>, forgotten: bool) -> bool {
    match (found, judged) {
        (None, None) => true,
        (Some(found), Some(judged)) => {
            found.missed.timestamp == judged.missed as u64
                && (forgotten || found.predicted == judged.predicted && found.reads == judged.reads)
        }
        _ => false,
    }
}

fn on_many(default: u64, shape: Shape, habits: Habits) {
    let (mut violations, mut asked) = (0, 0);
    let seeds = ravelin_testing::seeds(default);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let habits = Habits { stride: [1, 2, 5, 40][(seed % 4) as usize], ..habits };
        let trace = generate(seed, shape);
        match compare(&trace, habits) {
            Ok(seen) => (violations, asked) = (violations + seen.0, asked + seen.1),
            Err(_) => {
                let small = shrink(trace, |trace| compare(trace, habits).is_err());
                let Err(difference) = compare(&small, habits) else { unreachable!() };
                panic!("\nseed {seed}: {difference}\n{}", print(&small));
            }
        }
    }
    println!("{count} traces, {asked} accesses, {violations} violations");
    assert!(count < 500 || violations * 1_000 > asked, "too few violations to mean anything");
}

#[test]
fn clocks_agree_with_sets() {
    on_many(3_000, SHORT, KEPT);
}

#[test]
fn numbers_are_used_again() {
    on_many(1_500, Shape { many_threads: true, ..SHORT }, Habits { reuse: true, ..KEPT });
}

#[test]
fn threads_are_renamed() {
    on_many(1_500, Shape { renames: true, ..SHORT }, KEPT);
}

#[test]
fn pruning_changes_nothing() {
    let shape = Shape { runs: true, renames: true, many_threads: true, ..SHORT };
    on_many(1_500, shape, Habits { prune: 10, reuse: true, ..KEPT });
    on_many(500, Shape { shortest: 50, longest: 400, runs: true, ..SHORT }, Habits { prune: 2, ..KEPT });
}

#[test]
fn a_thread_that_goes_on_alone_is_folded() {
    let shape = Shape { shortest: 50, longest: 300, alone: true, runs: true, ..SHORT };
    on_many(1_500, shape, KEPT);
    on_many(500, shape, Habits { folds: false, ..KEPT });
    let shape = Shape { shortest: 2_000, longest: 2_000, many_threads: true, ..shape };
    on_many(40, shape, Habits { prune: 30, reuse: true, ..KEPT });
}

/// A thread alone does not fill the histories of its locations.
#[test]
fn histories_of_a_thread_alone_stay_short() {
    let stores = |order| move |x| Operation::Store { x, order, value: 1 };
    let updates = |x| Operation::Update { x, order: AtomicOrder::Relaxed, value: 1 };
    let kinds: [&dyn Fn(usize) -> Operation; 3] =
        [&stores(AtomicOrder::Relaxed), &stores(AtomicOrder::SeqCst), &updates];
    for operation in kinds {
        let mut world = World::new();
        let mut watched = Watched::new(WitnessMode::Predict, KEPT);
        for number in 0..3_000 {
            let step = Step { thread: 0, operation: operation(number % 3) };
            let event = world.perform(step).expect("it is possible");
            watched.perform(event, number);
        }
        assert!(watched.sightings() <= 3 * 2, "{} sightings", watched.sightings());
    }
}

/// The steps of threads 1 and 2, one after the other, after both were started. Returns the steps that are violations.
fn violations(steps: &[(usize, Operation)]) -> Vec<usize> {
    let spawn = |child| Step { thread: 0, operation: Operation::Synchronise(SyncOperation::Spawn { child }) };
    let steps = steps.iter().map(|&(thread, operation)| Step { thread, operation });
    let mut world = World::new();
    let mut watched = Watched::new(WitnessMode::Predict, KEPT);
    let mut found = Vec::new();
    for (number, step) in (1..=4).map(spawn).chain(steps).enumerate() {
        let event = world.perform(step).expect("it is possible");
        if watched.perform(event, number).is_some() {
            found.push(number - 4);
        }
    }
    found
}

#[test]
fn only_what_a_store_buffer_can_do_is_found() {
    use AtomicOrder::{Acquire, Relaxed, SeqCst};
    let load = |x| Operation::Load { x, order: Relaxed };
    let store = |x| Operation::Store { x, order: Relaxed, value: 1 };
    let strong = |x| Operation::Store { x, order: SeqCst, value: 1 };
    let add = |x| Operation::Update { x, order: Relaxed, value: 1 };
    let fence = |order| Operation::Synchronise(SyncOperation::Fence { order });
    let fails = Operation::CompareExchange {
        x: 2,
        success: Relaxed,
        failure: Relaxed,
        kind: CasKind::Weak,
        expected: 7,
        value: 8,
    };
    // Store buffering, and what is between the store and the load of the second thread.
    let buffering = |between: &[Operation], first: Operation| {
        let mut steps = vec![(1, first), (1, fence(SeqCst)), (1, load(1)), (2, store(1))];
        steps.extend(between.iter().map(|&operation| (2, operation)));
        steps.push((2, load(0)));
        !violations(&steps).is_empty()
    };
    assert!(buffering(&[], store(0)));
    assert!(buffering(&[fence(Acquire), load(2), store(2)], store(0)));
    for drains in [fence(SeqCst), strong(2), add(2), fails] {
        assert!(!buffering(&[drains], store(0)), "{drains:?}");
    }
    let seq_cst_stores = [(1, strong(0)), (1, load(1)), (2, strong(1)), (2, load(0))];
    assert!(violations(&seq_cst_stores).is_empty());
    // Message passing, and independent reads of independent writes.
    assert!(violations(&[(1, store(0)), (1, store(1)), (2, load(1)), (2, load(0))]).is_empty());
    let iriw = [(1, store(0)), (2, load(0)), (2, load(1)), (3, store(1)), (4, load(1)), (4, load(0))];
    assert!(violations(&iriw).is_empty());
    // n6: the first thread reads its own store from the buffer, and is then overtaken by the other one.
    let n6 = [(2, store(1)), (2, store(0)), (1, store(0)), (1, load(0)), (1, load(1))];
    assert!(!violations(&n6).is_empty());
}
