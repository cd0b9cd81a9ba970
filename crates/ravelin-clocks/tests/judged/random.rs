//! The crate against its judges, on random traces: every operation gets the same answer from location clocks as the paper
//! has them, from the execution graph, and (for standard witnesses) from Boolean matrices; happens-before is that of the
//! graph; and nothing changes when histories are pruned, numbers are used again and threads are renamed.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many traces, and from where.

use crate::judged::compare::{Against, compare};
use crate::judged::traces::{Operation, Shape, Step, THREADS, World, generate, print, shrink};
use crate::judged::watched::{Habits, Watched};
use ravelin_clocks::{AtomicOrder, Epoch, WitnessMode};

/// Compares on many traces, `default` of them if the environment says nothing; shrinks one that fails.
fn on_many(default: u64, shape: Shape, habits: Habits, against: Against) {
    let seeds = ravelin_testing::seeds(default);
    let count = seeds.end - seeds.start;
    let (mut asked, mut violations, mut predicted) = (0, 0, 0);
    for seed in seeds {
        let trace = generate(seed, shape);
        let habits = Habits { stride: [1, 2, 5, 40][(seed % 4) as usize], ..habits };
        match compare(&trace, habits, against) {
            Ok(seen) => {
                asked += seen.asked;
                violations += seen.violations;
                predicted += seen.predicted;
            }
            Err(_) => {
                let small = shrink(trace, |trace| compare(trace, habits, against).is_err());
                let Err(difference) = compare(&small, habits, against) else { unreachable!() };
                panic!("\nseed {seed}: {difference}\n{}", print(&small));
            }
        }
    }
    println!("{count} traces, {asked} accesses, {violations} violations, {predicted} of them predicted");
    assert!(count < 500 || predicted * 200 > asked / 10, "too few violations to mean anything");
}

const SHORT: Shape =
    Shape { shortest: 5, longest: 150, many_threads: false, renames: false, runs: false, alone: false };
const KEPT: Habits =
    Habits { prune: 0, reuse: false, stride: 1, folds: true, synchronises: false, buffers: false, tells: 0 };

#[test]
fn all_judges_agree() {
    on_many(3_000, SHORT, KEPT, Against::All);
}

#[test]
fn numbers_are_used_again() {
    let shape = Shape { many_threads: true, ..SHORT };
    on_many(1_500, shape, Habits { reuse: true, ..KEPT }, Against::All);
}

#[test]
fn threads_are_renamed() {
    let shape = Shape { renames: true, ..SHORT };
    on_many(1_500, shape, KEPT, Against::All);
}

#[test]
fn pruning_changes_nothing() {
    let shape = Shape { runs: true, renames: true, many_threads: true, ..SHORT };
    on_many(1_500, shape, Habits { prune: 10, reuse: true, ..KEPT }, Against::All);
}

#[test]
fn pruning_at_every_turn_changes_nothing() {
    let shape = Shape { shortest: 50, longest: 400, runs: true, ..SHORT };
    on_many(1_000, shape, Habits { prune: 2, ..KEPT }, Against::LocationClocks);
}

#[test]
fn pruning_changes_nothing_in_long_traces() {
    let shape = Shape { shortest: 2_000, longest: 2_000, many_threads: true, runs: true, alone: true, ..SHORT };
    on_many(60, shape, Habits { prune: 30, reuse: true, ..KEPT }, Against::LocationClocks);
}

#[test]
fn forgetting_what_all_know_changes_nothing() {
    let shape = Shape { runs: true, renames: true, many_threads: true, ..SHORT };
    on_many(1_500, shape, Habits { tells: 10, reuse: true, ..KEPT }, Against::All);
    on_many(1_500, shape, Habits { tells: 2, prune: 10, reuse: true, ..KEPT }, Against::LocationClocks);
    on_many(500, Shape { alone: true, ..shape }, Habits { tells: 3, prune: 20, ..KEPT }, Against::LocationClocks);
    let shape = Shape { shortest: 2_000, longest: 2_000, alone: true, ..shape };
    on_many(60, shape, Habits { tells: 5, prune: 30, reuse: true, ..KEPT }, Against::LocationClocks);
}

#[test]
fn long_runs_of_writes_are_folded() {
    let shape = Shape { shortest: 100, longest: 400, runs: true, ..SHORT };
    on_many(500, shape, KEPT, Against::LocationClocks);
}

#[test]
fn a_thread_that_goes_on_alone_is_folded() {
    let shape = Shape { shortest: 50, longest: 300, alone: true, ..SHORT };
    on_many(1_500, shape, KEPT, Against::All);
    on_many(1_500, Shape { renames: true, many_threads: true, runs: true, ..shape }, KEPT, Against::LocationClocks);
    on_many(500, shape, Habits { folds: false, ..KEPT }, Against::LocationClocks);
}

/// A thread alone does not fill the histories of its locations, whatever the orders are.
#[test]
fn histories_of_a_thread_alone_stay_short() {
    for order in [AtomicOrder::Relaxed, AtomicOrder::AcqRel, AtomicOrder::SeqCst] {
        let mut world = World::new();
        let mut watched = Watched::new(WitnessMode::Predict, KEPT);
        for number in 0..3_000 {
            let operation = Operation::Update { x: number % 3, order, value: 1 };
            let event = world.perform(Step { thread: 0, operation }).expect("it is possible");
            watched.perform(event, number);
        }
        assert!(watched.sightings() <= 3 * 2, "{order:?}: {} sightings", watched.sightings());
    }
}

/// Without robustness, threads know the same by happens-before.
#[test]
fn synchronisation_alone_gives_the_same_happens_before() {
    for seed in ravelin_testing::seeds(2_000) {
        let shape = Shape { many_threads: seed % 2 == 0, renames: seed % 3 == 0, ..SHORT };
        let trace = generate(seed, shape);
        let differs = |trace: &[Step]| first_difference_without_robustness(trace).is_some();
        if differs(&trace) {
            let small = shrink(trace, differs);
            panic!("seed {seed}: {:?}\n{}", first_difference_without_robustness(&small), print(&small));
        }
    }
}

/// The first step after which a thread knows something else, the thread, and what it knows with and without robustness.
fn first_difference_without_robustness(trace: &[Step]) -> Option<(usize, usize, [Vec<Epoch>; 2])> {
    let mut world = World::new();
    let mut all = Watched::new(WitnessMode::Predict, KEPT);
    let mut synchronising = Watched::new(WitnessMode::Predict, Habits { synchronises: true, ..KEPT });
    for (number, &step) in trace.iter().enumerate() {
        let Some(event) = world.perform(step) else { continue };
        for watched in [&mut all, &mut synchronising] {
            watched.perform(event, number);
        }
        for thread in 0..THREADS {
            let knows = [&all, &synchronising].map(|watched| {
                let mut epochs = watched.thread(thread).map_or_else(Vec::new, |thread| thread.cur.hb.epochs().to_vec());
                while epochs.last() == Some(&0) {
                    epochs.pop();
                }
                epochs
            });
            if knows[0] != knows[1] {
                return Some((number, thread, knows));
            }
        }
    }
    None
}
