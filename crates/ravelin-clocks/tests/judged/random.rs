//! The crate against its judges, on random traces: every operation gets the same answer from location clocks as the paper
//! has them, from the execution graph, and (for standard witnesses) from Boolean matrices; happens-before is that of the
//! graph; and nothing changes when histories are pruned, numbers are used again and threads are renamed.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many traces, and from where.

use crate::judged::compare::{Against, compare};
use crate::judged::traces::{Operation, Shape, Step, THREADS, World, generate, print, shrink};
use crate::judged::watched::{Habits, Watched};
use ravelin_clocks::{AtomicOrder, CommonView, Epoch, LocationAccess, LocationClocks, ThreadClocks, WitnessMode};

/// Compares on many traces, `default` of them if the environment says nothing; shrinks one that fails.
fn on_many(default: u64, shape: Shape, habits: Habits, against: Against) {
    let seeds = ravelin_testing::seeds(default);
    let count = seeds.end - seeds.start;
    let (mut asked, mut violations, mut predicted, mut hidden) = (0, 0, 0, 0);
    for seed in seeds {
        let trace = generate(seed, shape);
        let habits = Habits { stride: [1, 2, 5, 40][(seed % 4) as usize], ..habits };
        match compare(&trace, habits, against) {
            Ok(seen) => {
                asked += seen.asked;
                violations += seen.violations;
                predicted += seen.predicted;
                hidden += seen.hidden;
            }
            Err(_) => {
                let small = shrink(trace, |trace| compare(trace, habits, against).is_err());
                let Err(difference) = compare(&small, habits, against) else { unreachable!() };
                panic!("\nseed {seed}: {difference}\n{}", print(&small));
            }
        }
    }
    println!(
        "{count} traces, {asked} accesses, {violations} violations, {predicted} of them predicted, {hidden} hidden"
    );
    assert!(count < 500 || predicted * 200 > asked / 10, "too few violations to mean anything");
    assert!(hidden * 10 <= violations, "{hidden} of {violations} violations are hidden");
}

const SHORT: Shape =
    Shape { shortest: 5, longest: 150, many_threads: false, renames: false, runs: false, alone: false };
const KEPT: Habits = Habits {
    prune: 0,
    reuse: false,
    stride: 1,
    folds: true,
    synchronises: false,
    buffers: false,
    tells: 0,
    idles: false,
};

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

/// Any threads may count as idle, also those that go on at once: then some violations are missed, and none is invented.
#[test]
fn what_only_idle_threads_do_not_know_may_hide_violations_and_invents_none() {
    let habits = Habits { tells: 5, idles: true, ..KEPT };
    let shape = Shape { runs: true, renames: true, many_threads: true, ..SHORT };
    on_many(1_500, shape, Habits { reuse: true, ..habits }, Against::LocationClocks);
    on_many(1_500, shape, Habits { tells: 2, prune: 10, reuse: true, ..habits }, Against::LocationClocks);
    on_many(500, Shape { alone: true, ..shape }, Habits { folds: false, ..habits }, Against::LocationClocks);
    let shape = Shape { shortest: 2_000, longest: 2_000, alone: true, ..shape };
    on_many(60, shape, Habits { prune: 30, reuse: true, ..habits }, Against::LocationClocks);
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

/// While a thread sleeps, others update a location in turn. Then it reads a flag, and the location. Returns how many
/// sightings the location had at most, and whether the sleeper may read an old value.
fn after_sleep(flag_order: AtomicOrder, read_order: AtomicOrder) -> (usize, bool) {
    let mut sleeper = ThreadClocks::new(0, 1);
    let begin = sleeper.release();
    let [mut one, mut other] = [1, 2].map(|tid| ThreadClocks::new(tid, 1));
    one.acquire(&begin);
    other.acquire(&begin);
    let access = |order| LocationAccess { place: 0, order, site: 1, mode: WitnessMode::Predict };
    let (mut updated, mut flag) = (LocationClocks::new(0), LocationClocks::new(0));
    let (mut most, mut common) = (0, CommonView::new());
    for round in 0..500 {
        for thread in [&mut one, &mut other] {
            assert_eq!(updated.update(thread, access(AtomicOrder::AcqRel), round), None);
        }
        if round % 5 == 0 {
            common.clear();
            common.idle_thread(&sleeper);
            [&one, &other].into_iter().for_each(|thread| common.thread(thread));
            [&mut one, &mut other].into_iter().for_each(|thread| thread.know_all(&common));
        }
        most = most.max(updated.history().len());
    }
    flag.store(&mut other, access(flag_order), 1);
    assert_eq!(flag.load(&mut sleeper, access(read_order)), None);
    (most, updated.load(&mut sleeper, access(AtomicOrder::Relaxed)).is_some())
}

#[test]
fn histories_stay_short_while_a_thread_sleeps_and_what_it_misses_then_is_found() {
    let (most, misses) = after_sleep(AtomicOrder::Relaxed, AtomicOrder::Relaxed);
    assert!(most <= 40, "{most} sightings");
    assert!(misses);
    assert!(!after_sleep(AtomicOrder::Release, AtomicOrder::Acquire).1);
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
