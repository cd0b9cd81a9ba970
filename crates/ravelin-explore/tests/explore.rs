//! The engine on a system whose state space is known: a product of counters.

use ravelin_explore::{Budget, End, Limit, Options, Sink, System, Until, explore};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// `count` counters, each from 0 to `top`, counted up one at a time.
struct Counters {
    count: u32,
    top: u64,
    goal: Option<u64>,
}

const BITS: u32 = 8;

impl System for Counters {
    type Scratch = ();
    type Interrupt = u64;

    fn width(&self) -> usize {
        1
    }

    fn scratch(&self) {}

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        emit(&[0]);
    }

    fn expand(&self, state: &[u64], _: &mut (), sink: &mut Sink) -> Result<(), u64> {
        if Some(state[0]) == self.goal {
            sink.report(7);
        }
        for counter in 0..self.count {
            let value = state[0] >> (counter * BITS) & 0xff;
            if value == 255 {
                return Err(state[0]);
            }
            if value < self.top {
                sink.push(&[state[0] + (1 << (counter * BITS))]);
            }
        }
        Ok(())
    }
}

fn counters(count: u32, top: u64) -> Counters {
    Counters { count, top, goal: None }
}

fn within(budget: Budget<'_>) -> Options<'_> {
    Options { budget, ..Options::default() }
}

#[test]
fn every_number_of_workers_finds_every_state_once() {
    for workers in [1, 2, 3, 8] {
        let space = explore(&counters(3, 40), &within(Budget::unlimited().workers(workers)));
        assert_eq!(space.end, End::Exhausted);
        assert_eq!(space.statistics.states, 41 * 41 * 41);
        assert_eq!(space.statistics.transitions, 3 * 40 * 41 * 41);
        assert_eq!(space.statistics.depth, 120);
        assert_eq!(space.statistics.frontier, 0);
        let distinct: BTreeSet<u64> = space.states().map(|state| state[0]).collect();
        assert_eq!(distinct.len() as u64, space.statistics.states);
    }
}

#[test]
fn paths_are_shortest_and_connected() {
    for workers in [1, 2, 5] {
        let system = Counters { count: 3, top: 30, goal: Some(30 | 29 << 8 | 3 << 16) };
        let space = explore(&system, &within(Budget::unlimited().workers(workers)));
        assert_eq!(space.end, End::Found);
        assert_eq!(space.findings[0].kind, 7);
        let path = space.path(space.findings[0].state);
        assert_eq!(path.len(), 30 + 29 + 3 + 1);
        assert_eq!(path[0], [0]);
        for pair in path.windows(2) {
            let step = pair[1][0] - pair[0][0];
            assert!([1, 1 << 8, 1 << 16].contains(&step), "not a step: {step}");
        }
    }
}

#[test]
fn limits_end_in_order() {
    let ended = |budget: Budget| explore(&counters(4, 200), &within(budget)).end;
    for workers in [1, 2] {
        let budget = Budget::unlimited().workers(workers);
        assert_eq!(ended(budget.states(50_000)), End::Limit(Limit::States(50_000)));
        assert_eq!(ended(budget.memory(8 << 20)), End::Limit(Limit::Memory(8 << 20)));
        assert_eq!(ended(budget.time(Duration::ZERO)), End::Limit(Limit::Time(Duration::ZERO)));
    }
}

#[test]
fn a_space_of_exactly_the_permitted_size_is_exhausted() {
    for workers in [1, 2] {
        let budget = Budget::unlimited().workers(workers);
        let space = explore(&counters(2, 10), &within(budget.states(121)));
        assert_eq!((space.end, space.statistics.states), (End::Exhausted, 121));
        let space = explore(&counters(2, 10), &within(budget.states(120)));
        assert_eq!((space.end, space.statistics.states), (End::Limit(Limit::States(120)), 121));
    }
}

/// All states of the first level are there already; what is behind them is not.
#[test]
fn a_limit_below_the_number_of_initial_states_is_reached() {
    struct Pairs;
    impl System for Pairs {
        type Scratch = ();
        type Interrupt = ();
        fn width(&self) -> usize {
            1
        }
        fn scratch(&self) {}
        fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
            (0..12).for_each(|state| emit(&[state]));
        }
        fn expand(&self, state: &[u64], _: &mut (), sink: &mut Sink) -> Result<(), ()> {
            sink.push(&[state[0] | 16]);
            Ok(())
        }
    }
    for workers in [1, 2, 3] {
        let ended = |states| explore(&Pairs, &within(Budget::unlimited().workers(workers).states(states))).end;
        for most in [1, 10, 12, 23] {
            assert_eq!(ended(most), End::Limit(Limit::States(most)));
        }
        assert_eq!(ended(24), End::Exhausted);
    }
}

#[test]
fn it_can_be_stopped_and_interrupted() {
    let stop = AtomicBool::new(true);
    let space = explore(&counters(4, 100), &within(Budget::unlimited().stop(&stop)));
    assert_eq!(space.end, End::Limit(Limit::Stopped));
    for workers in [1, 2] {
        let space = explore(&counters(2, 300), &within(Budget::unlimited().workers(workers)));
        assert!(matches!(space.end, End::Interrupted(state) if state & 0xff == 255 || state >> 8 == 255));
    }
}

#[test]
fn all_findings_are_kept_if_asked_for() {
    let system = Counters { goal: Some(5), ..counters(2, 9) };
    let space = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
    assert_eq!((space.end.clone(), space.findings.len()), (End::Exhausted, 1));
    assert_eq!(space.state(space.findings[0].state), [5]);
}

#[test]
fn a_panic_in_a_worker_ends_the_exploration_instead_of_hanging_it() {
    struct Panics(Counters);
    impl System for Panics {
        type Scratch = ();
        type Interrupt = u64;
        fn width(&self) -> usize {
            1
        }
        fn scratch(&self) {}
        fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
            emit(&[0]);
        }
        fn expand(&self, state: &[u64], scratch: &mut (), sink: &mut Sink) -> Result<(), u64> {
            assert!(state[0] != 20 | 20 << 8 | 20 << 16, "in the widest level");
            self.0.expand(state, scratch, sink)
        }
    }
    let caught = std::panic::catch_unwind(|| {
        explore(&Panics(counters(3, 40)), &within(Budget::unlimited().workers(2))).statistics.states
    });
    assert!(caught.is_err());
}
