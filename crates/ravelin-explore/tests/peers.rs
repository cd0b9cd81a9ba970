//! Several processes, here threads that exchange through memory, find what one finds.

use crate::jumble;

use jumble::{Jumble, Threads};
use ravelin_explore::{
    Budget, End, Limit, Limits, LostProcess, Options, Peers, Space, StateId, Storage, System, Until, explore,
    explore_in_stages,
};
use std::time::Duration;

fn together<S: System>(
    system: &S,
    processes: usize,
    options: &(dyn Fn(usize) -> Options<'static> + Sync),
) -> Vec<Space<S::Interrupt>> {
    together_from(0, system, processes, options)
}

/// The same; one process explores so many states before the others take part.
fn together_from<S: System>(
    share_from: u64,
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
                    let beyond = Storage { peers: Some(&peers), share_from, ..Storage::default() };
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
            for (processes, workers, share_from) in
                [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 0), (2, 2, 0), (2, 1, 900), (3, 2, 100), (2, 1, 1 << 20)]
            {
                let budget = Budget::unlimited().workers(workers);
                let spaces = together_from(share_from, &system, processes, &|_| Options { until, budget });
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
                for (processes, workers, share_from) in
                    [(2, 1, 0), (3, 1, 0), (2, 2, 0), (3, 2, 0), (2, 1, 1_000), (3, 2, 20_000)]
                {
                    let budget = Budget::unlimited().workers(workers);
                    for space in together_from(share_from, &system, processes, &|_| Options { until, budget }) {
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

/// The states of all processes by their places up to `until`, as they are told to everybody.
fn gathered(space: &Space<u64>, peers: &dyn Peers, until: u64) -> Vec<(u64, StateId, u64)> {
    let here = space.here(0..until).flat_map(|(place, id, state)| [place, id.word(), state[0]]);
    let told = peers.tell(here.collect()).unwrap();
    let mut all: Vec<(u64, StateId, u64)> = told
        .iter()
        .flat_map(|words| words.chunks_exact(3).map(|word| (word[0], StateId::of_word(word[1]), word[2])))
        .collect();
    all.sort_unstable();
    all
}

/// All look at the same moments, and see together what one process sees alone.
#[test]
fn stages_of_several_processes_are_parts_of_the_exploration_of_one() {
    let narrow = (1..4).map(|seed| Jumble::new(seed, 3_000));
    let wide = (1..3).map(|seed| Jumble { wide: true, ..Jumble::new(seed, 30_000) });
    for system in narrow.chain(wide) {
        let whole = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
        let order: Vec<u64> = whole.ids().map(|id| whole.state(id)[0]).collect();
        for (processes, workers) in [(2, 1), (3, 1), (2, 2), (3, 2)] {
            let looks = std::thread::scope(|scope| {
                let explorers: Vec<_> = Threads::new(processes)
                    .into_iter()
                    .map(|peers| {
                        let (system, order, whole) = (&system, &order, &whole);
                        scope.spawn(move || {
                            let storage = Storage { peers: Some(&peers), ..Storage::default() };
                            let budget = Budget { storage, ..Budget::unlimited().workers(workers) };
                            let options = Options { budget, until: Until::Exhausted };
                            let (mut size, mut looks) = (1, 0);
                            let check = |space: &Space<u64>, size: u64| {
                                assert!(space.is_shared());
                                let seen = gathered(space, &peers, size);
                                assert_eq!(seen.len() as u64, size);
                                let agrees = |(place, seen): (usize, &(u64, StateId, u64))| {
                                    seen.0 == place as u64
                                        && seen.2 == order[place]
                                        && space.depth(place) == whole.depth(place)
                                };
                                assert!(seen.iter().enumerate().all(agrees), "seed {}", system.seed);
                                let tail = gathered(space, &peers, size).split_off(size as usize / 2);
                                let ids: Vec<StateId> = tail.iter().step_by(97).map(|(_, id, _)| *id).collect();
                                for (path, (place, ..)) in
                                    space.paths(&peers, &ids).unwrap().iter().zip(tail.iter().step_by(97))
                                {
                                    let id = whole.ids().nth(*place as usize).unwrap();
                                    assert_eq!(*path, whole.path(id), "seed {}, place {place}", system.seed);
                                }
                            };
                            let space = explore_in_stages(system, &options, size, &mut |space| {
                                assert!(space.statistics.states > size);
                                check(space, size);
                                looks += 1;
                                size = size * 3 + 1;
                                Some(size)
                            });
                            assert_eq!((&space.end, space.statistics.states), (&End::Exhausted, order.len() as u64));
                            check(&space, order.len() as u64);
                            looks
                        })
                    })
                    .collect();
                explorers.into_iter().map(|explorer| explorer.join().unwrap()).collect::<Vec<_>>()
            });
            assert!(looks[0] > 5 && looks.iter().all(|other| *other == looks[0]), "{looks:?}");
        }
    }
}
