//! States on disk, checkpoints and several processes at the same time: ended at random, also by processes that are gone, and resumed.

use crate::jumble;

use jumble::{Jumble, TestDirectory, Threads};
use ravelin_explore::{
    Budget, Checkpoints, End, Limit, Limits, LostProcess, Options, Peers, Space, Storage, Until, explore,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A process that is killed after some exchanges; the others notice in their next one.
struct Mortal<'a> {
    peers: &'a Threads,
    /// Exchanges that all processes make together until one of them dies; its number.
    life: u64,
    dies: usize,
    made: AtomicU64,
}

impl Peers for Mortal<'_> {
    fn processes(&self) -> usize {
        self.peers.processes()
    }

    fn number(&self) -> usize {
        self.peers.number()
    }

    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
        if self.made.fetch_add(1, Ordering::Relaxed) >= self.life {
            return Err(LostProcess { process: self.dies });
        }
        self.peers.exchange(outgoing)
    }
}

/// How a search is made.
#[derive(Clone, Copy, Debug)]
struct Way {
    processes: usize,
    workers: usize,
    /// Bytes of memory: states beyond go to disk.
    memory: Option<u64>,
    /// Exchanges until a process is killed.
    life: u64,
    states: Option<u64>,
    until: Until,
}

fn searched(system: &Jumble, way: Way, checkpoints: Option<&TestDirectory>, spill: &TestDirectory) -> Vec<Space<u64>> {
    std::thread::scope(|scope| {
        let process = |peers: Threads| {
            scope.spawn(move || {
                let checkpoints = checkpoints.map(|place| Checkpoints::new(place.path(), Duration::ZERO, 7));
                let dies = way.processes - 1;
                let peers = Mortal { peers: &peers, life: way.life, dies, made: AtomicU64::new(0) };
                let storage = Storage {
                    peers: Some(&peers),
                    spill: way.memory.map(|_| spill.path()),
                    checkpoints: checkpoints.as_ref(),
                    ..Storage::default()
                };
                let limits = Limits { states: way.states, memory: way.memory, ..Limits::default() };
                let budget = Budget { limits, workers: way.workers, storage, ..Budget::default() };
                explore(system, &Options { budget, until: way.until })
            })
        };
        let running: Vec<_> = Threads::new(way.processes).into_iter().map(process).collect();
        running.into_iter().map(|running| running.join().expect("it ends")).collect()
    })
}

/// What must not depend on the way.
type Essence = (End<u64>, [u64; 3], bool, Vec<(Vec<u64>, u32)>);

fn essence(space: &Space<u64>) -> Essence {
    let mut found: Vec<(Vec<u64>, u32)> =
        space.findings.iter().map(|finding| (space.state(finding.state).to_vec(), finding.kind)).collect();
    found.sort();
    let statistics = space.statistics;
    (space.end.clone(), [statistics.states, statistics.transitions, statistics.depth], space.cut_off, found)
}

fn forever(processes: usize, workers: usize, memory: Option<u64>, until: Until) -> Way {
    Way { processes, workers, memory, life: u64::MAX, states: None, until }
}

#[test]
fn processes_whose_memory_is_full_spill() {
    for seed in 0..16 {
        let goals = (0..8).map(|goal| goal * 1_117).collect();
        let system = Jumble { goals, ..Jumble::new(seed, [900, 9_000, 30_000][seed as usize % 3]) };
        for until in [Until::Exhausted, Until::FirstFinding] {
            let expected = explore(&system, &Options { until, ..Options::default() });
            for (processes, workers, memory) in [(1, 1, 0), (2, 1, 0), (3, 1, 1 << 18), (2, 2, 1 << 19)] {
                let spill = TestDirectory::new();
                for space in searched(&system, forever(processes, workers, Some(memory), until), None, &spill) {
                    assert_eq!(space.end, expected.end, "seed {seed}, {processes} processes, {memory} bytes");
                    if until == Until::Exhausted {
                        assert_eq!(essence(&space), essence(&expected), "seed {seed}, {processes} processes");
                    } else if let (Some(found), Some(wanted)) = (space.findings.first(), expected.findings.first()) {
                        let path = space.path(found.state);
                        assert_eq!(path.len(), expected.path(wanted.state).len());
                        assert_eq!(path.last().copied(), Some(space.state(found.state)));
                        assert!(path.windows(2).all(|pair| system.next(pair[0][0]).any(|next| next == pair[1][0])));
                    }
                }
                assert!(spill.files().is_empty());
            }
        }
    }
}

/// Each seed is killed again and again, each time after more exchanges, with other processes, workers and memory.
#[test]
fn killed_at_random_and_resumed_it_finds_what_it_would_have_found() {
    let mut killed = 0;
    for seed in 0..8 {
        let goals = (0..8).map(|goal| goal * 1_117).collect();
        let system = Jumble { goals, ..Jumble::new(seed, [5_000, 20_000][seed as usize % 2]) };
        let expected = essence(&explore(&system, &Options { until: Until::Exhausted, ..Options::default() }));
        let (checkpoints, spill) = (TestDirectory::new(), TestDirectory::new());
        let mut random = seed * 977 + 1;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut kills = 0;
        let spaces = loop {
            let processes = 2 + next(2) as usize;
            let workers = 1 + next(2) as usize;
            let memory = [None, Some(0), Some(1 << 17), Some(1 << 20)][next(4) as usize];
            let life = 5 + next(20 + kills * 20);
            let way = Way { life, ..forever(processes, workers, memory, Until::Exhausted) };
            let spaces = searched(&system, way, Some(&checkpoints), &spill);
            assert!(spill.files().is_empty());
            match spaces[0].end {
                End::Limit(Limit::Lost(_)) => kills += 1,
                _ => break spaces,
            }
        };
        killed += kills;
        for space in &spaces {
            assert_eq!(essence(space), expected, "seed {seed} after {kills} kills");
        }
    }
    assert!(killed >= 20, "{killed}");
}

#[test]
fn a_limit_of_states_ends_a_spilling_cluster_and_it_goes_on_from_there() {
    let system = Jumble::new(4, 30_000);
    let expected = essence(&explore(&system, &Options { until: Until::Exhausted, ..Options::default() }));
    let (checkpoints, spill) = (TestDirectory::new(), TestDirectory::new());
    for states in [2_000, 8_000, 15_000] {
        let way = Way { states: Some(states), ..forever(2, 1, Some(0), Until::Exhausted) };
        for space in searched(&system, way, Some(&checkpoints), &spill) {
            assert_eq!(space.end, End::Limit(Limit::States(states)));
        }
    }
    for space in searched(&system, forever(3, 1, Some(1 << 18), Until::Exhausted), Some(&checkpoints), &spill) {
        assert_eq!(essence(&space), expected);
    }
    assert_eq!(checkpoints.files().len(), 1, "{:?}", checkpoints.files());
}
