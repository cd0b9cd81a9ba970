//! Several processes, here threads that exchange through memory, find what one finds.

use crate::jumble;

use jumble::{Jumble, Threads};
use ravelin_explore::{
    Budget, End, Limit, Limits, LostProcess, Options, Peers, Space, Storage, System, Until, explore,
};
use std::time::Duration;

fn together<S: System>(
    system: &S,
    processes: usize,
    options: &(dyn Fn(usize) -> Options<'static> + Sync),
) -> Vec<Space<S::Interrupt>> {
    std::thread::scope(|scope| {
        let explorers: Vec<_> = Threads::new(processes)
            .into_iter()
            .enumerate()
            .map(|(number, peers)| {
                scope.spawn(move || {
                    let beyond = Storage { peers: Some(&peers), ..Storage::default() };
                    let options = options(number);
                    explore(system, &Options { budget: Budget { storage: beyond, ..options.budget }, ..options })
                })
            })
            .collect();
        explorers.into_iter().map(|explorer| explorer.join().unwrap()).collect()
    })
}

#[test]
fn processes_find_together_what_one_finds_alone() {
    for seed in 0..40 {
        let size = [30, 700, 9_000, 60_000][seed as usize % 4];
        let goals = if seed % 3 == 0 { vec![size / 3 * 2, size / 5, size / 7] } else { Vec::new() };
        let system = Jumble { goals, ..Jumble::new(seed, size) };
        for until in [Until::FirstFinding, Until::Exhausted] {
            let alone = explore(&system, &Options { until, ..Options::default() });
            for (processes, workers) in [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2)] {
                let budget = Budget::unlimited().workers(workers);
                let spaces = together(&system, processes, &|_| Options { until, budget });
                for space in &spaces {
                    assert_eq!(space.end, alone.end, "seed {seed}, {processes} processes");
                    assert_eq!((space.statistics.depth, space.cut_off), (alone.statistics.depth, alone.cut_off));
                    let counted = |space: &Space<u64>| {
                        (space.statistics.states, space.statistics.transitions, space.statistics.frontier)
                    };
                    if alone.end == End::Exhausted {
                        assert_eq!(counted(space), counted(&alone));
                    }
                    assert_eq!(space.findings.is_empty(), alone.findings.is_empty());
                    assert_eq!(space.findings, spaces[0].findings);
                    if until == Until::Exhausted {
                        let states = |space: &Space<u64>| {
                            let mut states: Vec<(u64, u32)> =
                                space.findings.iter().map(|found| (space.state(found.state)[0], found.kind)).collect();
                            states.sort_unstable();
                            states
                        };
                        assert_eq!(states(space), states(&alone));
                    } else if let Some(found) = space.findings.first() {
                        let path = space.path(found.state);
                        assert_eq!(path.len(), alone.path(alone.findings[0].state).len(), "a shortest path");
                        assert_eq!(path.last().copied(), Some(space.state(found.state)));
                        assert_is_path(&system, &path);
                    }
                }
            }
        }
    }
}

/// What was found, where, and by which path.
fn found(space: &Space<u64>, with_paths: bool) -> Vec<(u32, u64, Vec<u64>)> {
    let path = |state| space.path(state).iter().map(|state| state[0]).collect();
    let each = |found: &ravelin_explore::StateFinding| {
        (found.kind, space.state(found.state)[0], if with_paths { path(found.state) } else { Vec::new() })
    };
    space.findings.iter().map(each).collect()
}

/// Findings come in the order of one worker, with its paths, whatever the number of processes and workers.
#[test]
fn findings_and_paths_are_those_of_one_process() {
    let narrow = (1..7).map(|seed| Jumble::new(seed, 3_000));
    let wide = (1..3).map(|seed| Jumble { wide: true, ..Jumble::new(seed, 200_000) });
    for mut system in narrow.chain(wide) {
        let whole = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
        let order: Vec<u64> = whole.ids().map(|id| whole.state(id)[0]).collect();
        // Some of the states in the middle, most of them in one level.
        let middle = |place: u64| order[order.len() / 2 + place as usize * order.len() / 200];
        for (goals, refused) in [
            ((0..40).map(middle).rev().collect(), None),
            (vec![order[order.len() / 2]], Some(order[order.len() / 2 + 1])),
            (vec![order[order.len() / 2 + 1]], Some(order[order.len() / 2])),
        ] {
            (system.goals, system.refused) = (goals, refused);
            for until in [Until::FirstFinding, Until::LevelOfFirstFinding, Until::Exhausted] {
                let alone = explore(&system, &Options { until, ..Options::default() });
                for (processes, workers) in [(2, 1), (3, 1), (2, 2), (3, 2)] {
                    let budget = Budget::unlimited().workers(workers);
                    for space in together(&system, processes, &|_| Options { until, budget }) {
                        let about = format!("seed {}, {processes} processes, {workers} workers", system.seed);
                        assert_eq!(space.end, alone.end, "{about}");
                        match (until, &alone.end) {
                            // Kept is the path to the first finding of each kind.
                            (Until::FirstFinding, End::Found) => {
                                assert_eq!(found(&space, true)[0], found(&alone, true)[0], "{about}");
                            }
                            (_, End::Interrupted(_)) => {}
                            _ => assert_eq!(found(&space, false), found(&alone, false), "{about}"),
                        }
                    }
                }
            }
        }
    }
}

fn assert_is_path(system: &Jumble, path: &[&[u64]]) {
    let mut starts = Vec::new();
    system.initial(&mut |state| starts.push(state.to_vec()));
    assert!(starts.iter().any(|start| start == path[0]));
    assert!(path.windows(2).all(|pair| system.next(pair[0][0]).any(|next| system.packed(next) == pair[1])));
}

#[test]
fn limits_and_interrupts_end_all_processes_alike() {
    let system = |refused| Jumble { refused, ..Jumble::new(5, 200_000) };
    let within = |budget: Budget<'static>| Options { budget, ..Options::default() };
    for space in together(&system(None), 3, &|_| within(Budget::unlimited().states(3_000))) {
        assert_eq!(space.end, End::Limit(Limit::States(3_000)));
        assert!(space.statistics.states > 3_000, "the sum over all processes");
    }
    // Machines have different memories; the least that one allows ends it for all.
    let memory = |number: usize| Limits { memory: [None, Some(600_000), Some(400_000)][number], ..Limits::default() };
    let limited = |limits: Limits| within(Budget { limits, ..Budget::default() });
    for space in together(&system(None), 3, &|number| limited(memory(number))) {
        assert_eq!(space.end, End::Limit(Limit::Memory(400_000)));
    }
    // The refused state belongs to one process; all end with what it says.
    let alone = explore(&system(None), &Options { until: Until::Exhausted, ..Options::default() });
    let refused = alone.states().nth(20_000).map(|state| state[0]);
    for processes in [2, 4] {
        for space in together(&system(refused), processes, &|_| Options::default()) {
            assert_eq!(space.end, End::Interrupted(refused.unwrap()));
        }
    }
    // One process is asked to stop, or has no time left.
    static STOP: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let stop = |number: usize| Budget { stop: (number == 1).then_some(&STOP), ..Budget::default() };
    let stopped = together(&system(None), 3, &|number| within(stop(number)));
    assert!(stopped.iter().all(|space| space.end == End::Limit(Limit::Stopped)));
    let time = |number: usize| Limits { time: (number == 1).then_some(Duration::ZERO), ..Limits::default() };
    for space in together(&system(None), 3, &|number| limited(time(number))) {
        assert_eq!(space.end, End::Limit(Limit::Time(Duration::ZERO)));
    }
}

#[test]
fn a_lost_process_is_said_and_not_waited_for() {
    struct Cut(std::sync::atomic::AtomicUsize);
    impl Peers for Cut {
        fn processes(&self) -> usize {
            2
        }
        fn number(&self) -> usize {
            0
        }
        fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
            let left = self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
            // Until it is gone, the other process sends back what it gets.
            if left == 0 { Err(LostProcess { process: 1 }) } else { Ok(outgoing) }
        }
    }
    let system = Jumble::new(8, 60_000);
    for workers in [1, 2] {
        for exchanges in 0..6 {
            let peers = Cut(exchanges.into());
            let beyond = Storage { peers: Some(&peers), ..Storage::default() };
            let budget = Budget { storage: beyond, workers, ..Budget::default() };
            assert_eq!(
                explore(&system, &Options { budget, ..Options::default() }).end,
                End::Limit(Limit::Lost(LostProcess { process: 1 }))
            );
        }
    }
}
