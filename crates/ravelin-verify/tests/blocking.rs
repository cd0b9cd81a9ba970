//! An exploration of threads that wait makes one run per trace.

use crate::machine::{Do, Machine, trace};
use crate::traces::Key;
use ravelin_testing::Random;
use ravelin_testing::seeds;
use ravelin_verify::Exploration;
use ravelin_verify::exploration::{ExplorationProgress, Options, Outcome};
use std::collections::BTreeSet;

pub struct Found {
    pub traces: BTreeSet<Key>,
    /// Also of runs that were blocked.
    pub everything: BTreeSet<Key>,
    pub twice: usize,
    pub complete: bool,
    pub statistics: ExplorationProgress,
}

/// Explores with up to `jobs` tasks in flight, which end in a random order. Runs that stop in the middle of a round count
/// as well: somebody looks at them.
pub fn explore(machine: &Machine, jobs: usize, seed: u64) -> Found {
    let mut exploration = Exploration::new(Options::default());
    let mut random = Random::new(seed);
    let mut everything = BTreeSet::new();
    let (mut traces, mut others, mut twice) = (BTreeSet::new(), BTreeSet::new(), 0);
    let mut in_flight = Vec::new();
    loop {
        while in_flight.len() < jobs
            && let Some(task) = exploration.next()
        {
            let run = machine.run(&task.script);
            in_flight.push((task, run));
        }
        if in_flight.is_empty() {
            break;
        }
        let (task, run) = in_flight.swap_remove(random.below(in_flight.len()));
        let outcome = exploration.done(&task, &run);
        assert!(!matches!(outcome, Outcome::Diverged { .. } | Outcome::Unknown), "{outcome:?}\n{task:?}\n{run:?}");
        everything.insert(trace(&run));
        if outcome == Outcome::New {
            twice += usize::from(!traces.insert(trace(&run)));
        } else if run.end.is_none() {
            others.insert(trace(&run));
        }
    }
    assert!(exploration.is_finished());
    traces.append(&mut others);
    Found { traces, everything, twice, complete: exploration.is_complete(), statistics: exploration.statistics() }
}

/// Threads that do what `kinds` make of random numbers.
pub fn machine(seed: u64, kinds: &[fn(&mut Random) -> Vec<Do>]) -> Machine {
    let mut random = Random::new(seed);
    let threads = (0..random.within(2..=4)).map(|_| {
        let parts = random.within(1..=3);
        (0..parts).flat_map(|_| random.pick(kinds)(&mut random)).collect()
    });
    Machine { threads: threads.collect() }
}

fn number(random: &mut Random) -> u64 {
    random.below(2) as u64
}

pub fn access(random: &mut Random) -> Vec<Do> {
    let cell = number(random);
    vec![if random.once_in(2) { Do::Load(cell) } else { Do::Store(cell, 1) }]
}

pub fn section(random: &mut Random) -> Vec<Do> {
    let lock = number(random);
    let mut inner = if random.once_in(2) { access(random) } else { vec![Do::Lock(2), Do::Unlock(2)] };
    let first = random.pick(&[Do::Lock(lock), Do::Lock(lock), Do::TryLock(lock)]);
    inner.insert(0, first);
    inner.push(Do::Unlock(lock));
    inner
}

fn nested(random: &mut Random) -> Vec<Do> {
    let lock = number(random);
    vec![Do::Lock(lock), Do::Lock(1 - lock), Do::Unlock(1 - lock), Do::Unlock(lock)]
}

fn shared(random: &mut Random) -> Vec<Do> {
    let lock = number(random);
    let mut inner = access(random);
    inner.insert(0, Do::LockShared(lock));
    inner.push(Do::UnlockShared(lock));
    inner
}

pub fn semaphore(random: &mut Random) -> Vec<Do> {
    let semaphore = number(random);
    vec![random.pick(&[Do::Give(semaphore), Do::Give(semaphore), Do::Take(semaphore)])]
}

fn in_time(random: &mut Random) -> Vec<Do> {
    let semaphore = number(random);
    vec![random.pick(&[Do::Give(semaphore), Do::Give(semaphore), Do::TakeInTime(semaphore)])]
}

pub fn waiting(random: &mut Random) -> Vec<Do> {
    let cell = number(random);
    let value = random.below(3) as u64;
    vec![random.pick(&[Do::Await(cell), Do::Store(cell, value), Do::Store(cell, 1)])]
}

fn waiting_for_both(random: &mut Random) -> Vec<Do> {
    let cell = number(random);
    let value = number(random);
    vec![random.pick(&[Do::AwaitBoth(cell, 1 - cell), Do::Store(cell, value), Do::Store(cell, 1)])]
}

fn events(machine: &Machine) -> usize {
    machine.threads.iter().map(Vec::len).sum()
}

fn check(name: &str, count: u64, most_events: usize, kinds: &[fn(&mut Random) -> Vec<Do>]) {
    for seed in seeds(count) {
        let machine = machine(seed, kinds);
        if events(&machine) > most_events {
            continue;
        }
        let all = machine.all();
        for jobs in [1, 3] {
            let found = explore(&machine, jobs, seed);
            let context = || {
                let missing = all.difference(&found.traces).next();
                format!("{name}, seed {seed}, {jobs} jobs: {:#?}\n{:?}\n{missing:?}", machine.threads, found.statistics)
            };
            assert!(found.traces == all, "{} of {}: {}", found.traces.len(), all.len(), context());
            assert!(found.complete && found.twice == 0, "{} twice: {}", found.twice, context());
        }
    }
}

#[test]
fn mutexes() {
    check("mutexes", 1000, 12, &[section, nested, access]);
}

#[test]
fn read_write_locks() {
    check("read-write locks", 1000, 12, &[section, shared]);
}

#[test]
fn semaphores() {
    check("semaphores", 500, 8, &[semaphore, semaphore, access]);
}

#[test]
fn waits_with_a_time_limit() {
    check("waits with a time limit", 500, 8, &[in_time, in_time, access]);
}

#[test]
fn waiting_loops() {
    check("waiting loops", 500, 8, &[waiting, waiting, access]);
}

#[test]
fn waiting_loops_with_two_cells() {
    check("waiting loops with two cells", 500, 8, &[waiting_for_both, waiting_for_both, access]);
}

#[test]
fn threads_that_start_others() {
    use Do::{Give, Join, Load, Lock, Start, Store, Take, Unlock};
    let child = |accesses: &[Do]| accesses.to_vec();
    for threads in [
        vec![vec![Start(1), Store(0, 1), Join(1), Load(0)], child(&[Load(0), Store(0, 2)])],
        vec![
            vec![Start(1), Start(2), Join(2), Join(1)],
            child(&[Store(0, 1), Load(1)]),
            child(&[Store(1, 1), Load(0)]),
        ],
        vec![vec![Start(1), Load(0), Join(1)], vec![Start(2), Store(0, 1)], child(&[Store(0, 2), Store(1, 1)])],
        // The second thread may wait for ever, and then the first one does so, too.
        vec![vec![Start(1), Lock(0), Take(0), Unlock(0), Join(1)], child(&[Lock(0), Give(0), Unlock(0)])],
    ] {
        let machine = Machine { threads };
        let all = machine.all();
        let found = explore(&machine, 1, 0);
        assert_eq!(found.traces, all, "{:?}", machine.threads);
        assert_eq!(found.statistics.runs, all.len() as u64 + found.statistics.impossible, "{:?}", machine.threads);
    }
}

#[test]
fn what_happens_beside_an_exit_is_seen() {
    use Do::{Exit, Load, Start, Store};
    // The exit comes first in the first run. The store, and then what the third thread reads, must be seen as well.
    let machine = Machine { threads: vec![vec![Start(1), Exit], vec![Start(2), Store(0, 1)], vec![Load(0)]] };
    let found = explore(&machine, 1, 0);
    let reads = |value: u64| {
        let loads = |event: &(u32, usize, u8, u64, u64, Vec<_>)| event.0 == 2 && event.1 == 0 && event.4 == value;
        found.everything.iter().any(|trace| trace.iter().any(loads))
    };
    assert!(reads(0) && reads(1), "{:#?}", found.everything);
}

/// Threads on which an earlier version missed traces.
#[test]
fn loops_with_two_cells_that_once_had_too_few_runs() {
    use Do::{AwaitBoth, Load, Store};
    for threads in [
        // A run that stops in the middle of a round is the only one of its trace.
        vec![
            vec![Store(0, 1), Store(1, 0)],
            vec![Store(1, 1), AwaitBoth(0, 1), Store(1, 1)],
            vec![AwaitBoth(0, 1)],
            vec![AwaitBoth(0, 1)],
        ],
        // A thread that waits at the end waits for the second cell.
        vec![
            vec![AwaitBoth(0, 1), Load(1)],
            vec![Store(1, 1), Store(1, 0)],
            vec![Store(1, 0), AwaitBoth(0, 1)],
            vec![Store(0, 1)],
        ],
        // What is tried in place of something impossible was compared with the wrong branches.
        vec![
            vec![Store(0, 1)],
            vec![Store(1, 1), AwaitBoth(0, 1)],
            vec![Load(1), Store(0, 0)],
            vec![AwaitBoth(1, 0), Store(0, 1), Store(0, 1)],
        ],
        // A write of the same value does not end the wait.
        vec![vec![Load(0), AwaitBoth(0, 1)], vec![Store(0, 1)], vec![Store(1, 1), Store(1, 0)], vec![Store(0, 1)]],
    ] {
        let machine = Machine { threads };
        let found = explore(&machine, 1, 0);
        assert_eq!(found.traces, machine.all(), "{:?}", machine.threads);
        assert_eq!(found.twice, 0, "{:?}", machine.threads);
    }
}
