//! The spilling search against the one in memory, on graphs that look random, with so little memory that everything goes to disk.

use super::Tuning;
use crate::any::AnySystem;
use crate::budget::Budget;
use crate::limits::Limit;
use crate::peers::{LostProcess, Peers};
use crate::search::{Options, Until, explore, explore_any};
use crate::space::{End, Space};
use crate::storage::Storage;
use crate::system::{Sink, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

/// A graph on numbers below `size`; states of `width` words.
struct Jumble {
    size: u64,
    seed: u64,
    width: usize,
    goals: Vec<u64>,
    refused: Option<u64>,
    /// Most edges lead to so many of the next numbers: few make many levels.
    reach: u64,
    /// By how much the number of edges is multiplied.
    fan: u64,
}

impl Jumble {
    fn new(seed: u64, size: u64) -> Jumble {
        let (width, reach) = (1 + seed as usize % 4, [5, 40, 3_000][seed as usize % 3]);
        Jumble { size, seed, width, goals: Vec::new(), refused: None, reach, fan: 1 }
    }

    fn packed(&self, number: u64) -> Vec<u64> {
        (0..self.width as u64).map(|word| number.wrapping_mul(word * 2 + 1)).collect()
    }

    fn next(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        (0..self.fan * (1 + number % 4)).map(move |edge| {
            let mixed = (number * 4 * self.fan + edge + self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            match mixed >> 60 {
                0 => (mixed >> 20) % self.size,
                1 => number - (mixed >> 40) % (number + 1),
                _ => (number + (mixed >> 40) % self.reach) % self.size,
            }
        })
    }
}

impl System for Jumble {
    type Scratch = ();
    type Interrupt = u64;

    fn width(&self) -> usize {
        self.width
    }

    fn scratch(&self) {}

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        for number in [0, self.size / 2, 0] {
            emit(&self.packed(number));
        }
    }

    fn expand(&self, state: &[u64], _: &mut (), sink: &mut Sink) -> Result<(), u64> {
        let number = state[0];
        if self.refused == Some(number) {
            return Err(number);
        }
        for (kind, _) in self.goals.iter().enumerate().filter(|(_, goal)| **goal == number) {
            sink.report(kind as u32 % 3);
        }
        if number == 77 {
            sink.cut_off();
        }
        self.next(number).for_each(|next| sink.push(&self.packed(next)));
        Ok(())
    }
}

/// A directory that is removed, and must be empty by then.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new() -> TestDirectory {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("spill-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a temporary directory");
        TestDirectory(path)
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0).is_ok_and(|mut entries| entries.next().is_none())
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(memory: u64, workers: usize, until: Until) -> Options<'static> {
    Options { budget: Budget::unlimited().memory(memory).workers(workers), until }
}

fn spilled(system: &Jumble, options: &Options, tuning: Tuning, place: &Path) -> Space<u64> {
    let storage = Storage { spill: Some(place), ..options.budget.storage };
    let options = Options { budget: Budget { storage, ..options.budget }, ..*options };
    explore_any(&AnySystem::new(system), &options, None, tuning)
}

/// The path consists of steps of the system.
fn is_path(system: &Jumble, path: &[&[u64]]) -> bool {
    let starts = [0, system.size / 2];
    starts.contains(&path[0][0]) && path.windows(2).all(|pair| system.next(pair[0][0]).any(|next| next == pair[1][0]))
}

#[test]
fn the_same_space_whatever_the_memory_and_the_number_of_workers() {
    let place = TestDirectory::new();
    for seed in 0..24 {
        let system = Jumble::new(seed, [50, 3_000, 10_000, 40_000][seed as usize / 3 % 4]);
        let expected = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
        for (memory, workers, tuning) in [
            (0, 1, Tuning::default()),
            (0, 3, Tuning::default()),
            (1 << 17, 2, Tuning::default()),
            // Hashes of 20 bits collide: the search starts again and compares at the end of each level.
            (1 << 14, 2, Tuning { unused_hash_bits: 44, ..Tuning::default() }),
        ] {
            // Comparing at every level takes long where there are many.
            if tuning.unused_hash_bits > 0 && system.reach < 40 && system.size > 3_000 {
                continue;
            }
            let space = spilled(&system, &options(memory, workers, Until::Exhausted), tuning, &place.0);
            assert_eq!(space.end, End::Exhausted);
            let (found, wanted) = (space.statistics, expected.statistics);
            assert_eq!(
                (found.states, found.transitions, found.depth, found.frontier),
                (wanted.states, wanted.transitions, wanted.depth, 0),
                "seed {seed}, {memory} bytes, {workers} workers"
            );
            assert_eq!(space.cut_off, expected.cut_off);
            assert!(place.is_empty());
        }
    }
}

#[test]
fn findings_are_the_nearest_ones_and_the_paths_lead_to_them() {
    let place = TestDirectory::new();
    for seed in 0..40 {
        let size = [500, 4_000][seed as usize % 2];
        let goals = (1..6).map(|goal| (goal * 7_919 + seed * 131) % size).collect();
        let system = Jumble { goals, ..Jumble::new(seed, size) };
        let expected = explore(&system, &Options::default());
        let hash_bits = Tuning { unused_hash_bits: [0, 48][seed as usize / 2 % 2], ..Tuning::default() };
        let space = spilled(&system, &options(0, 1 + seed as usize % 3, Until::FirstFinding), hash_bits, &place.0);
        assert_eq!(space.end, expected.end, "seed {seed}");
        assert_eq!(space.findings.is_empty(), expected.findings.is_empty());
        if let (Some(found), Some(wanted)) = (space.findings.first(), expected.findings.first()) {
            let path = space.path(found.state);
            assert_eq!(path.len(), expected.path(wanted.state).len(), "seed {seed}");
            assert_eq!(path.last().copied(), Some(space.state(found.state)));
            assert!(is_path(&system, &path), "seed {seed}");
        }
        let all = |space: &Space<u64>| {
            let mut all: Vec<(Vec<u64>, u32)> =
                space.findings.iter().map(|finding| (space.state(finding.state).to_vec(), finding.kind)).collect();
            all.sort();
            all
        };
        let every = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
        let space = spilled(&system, &options(0, 2, Until::Exhausted), hash_bits, &place.0);
        assert_eq!(all(&space), all(&every), "seed {seed}");
        assert!(place.is_empty());
    }
}

#[test]
fn it_stops_when_it_should() {
    let place = TestDirectory::new();
    let system = Jumble::new(4, 60_000);
    let ended = |options: Options| spilled(&system, &options, Tuning::default(), &place.0);
    let within = |budget| Options { budget, until: Until::Exhausted };
    let budget = Budget::unlimited().memory(0).workers(2);
    assert_eq!(ended(within(budget.states(20_000))).end, End::Limit(Limit::States(20_000)));
    let wide = Jumble { fan: 100, reach: 400_000, ..Jumble::new(4, 400_000) };
    for (most, workers) in [(100, 1), (100, 3), (20_000, 1), (20_000, 3)] {
        let options = within(budget.states(most).workers(workers));
        let space = spilled(&wide, &options, Tuning::default(), &place.0);
        assert_eq!(space.end, End::Limit(Limit::States(most)));
        let states = space.statistics.states;
        assert!(states > most && states <= most + 1_024 * workers as u64, "{states} of {most}, {workers} workers");
    }
    assert_eq!(ended(within(budget.time(Duration::ZERO))).end, End::Limit(Limit::Time(Duration::ZERO)));
    let stop = AtomicBool::new(false);
    let look = |progress: &crate::Progress| stop.store(progress.states > 5_000, Ordering::Relaxed);
    let space = ended(within(budget.stop(&stop).progress(&look)));
    assert_eq!(space.end, End::Limit(Limit::Stopped));
    assert!(space.statistics.states > 5_000);
    let reachable = explore(&system, &Options { until: Until::Exhausted, ..Options::default() });
    let late = reachable.states().nth(30_000).map(|state| state[0]);
    let refuses = Jumble { refused: late, ..Jumble::new(4, 60_000) };
    let space = spilled(&refuses, &options(0, 2, Until::Exhausted), Tuning::default(), &place.0);
    assert_eq!(Some(space.end), late.map(End::Interrupted));
    assert!(place.is_empty());
}

#[test]
fn a_full_disk_is_an_error_that_is_told_and_leaves_nothing_behind() {
    let place = TestDirectory::new();
    let system = Jumble::new(4, 60_000);
    let needs = {
        let space = spilled(&system, &options(0, 1, Until::Exhausted), Tuning::default(), &place.0);
        assert_eq!(space.end, End::Exhausted);
        space.statistics.states * 8
    };
    for room in [0, 1, needs / 4, needs / 2, needs] {
        for workers in [1, 2] {
            let full = Tuning { room: Some(room), ..Tuning::default() };
            let space = spilled(&system, &options(0, workers, Until::Exhausted), full, &place.0);
            assert!(matches!(&space.end, End::Failed(error) if error.is_full()), "{:?} with {room} bytes", space.end);
            assert!(place.is_empty());
        }
    }
}

#[test]
fn a_finding_is_not_lost_when_the_disk_is_full() {
    let place = TestDirectory::new();
    // All states of the last level are goals, found while there is no room for what follows.
    let reached = |room| {
        let system = Jumble { goals: vec![0], ..Jumble::new(4, 60_000) };
        spilled(&system, &options(0, 1, Until::FirstFinding), Tuning { room, ..Tuning::default() }, &place.0).end
    };
    assert_eq!(reached(None), End::Found);
    assert_eq!(reached(Some(100)), End::Found);
}

#[test]
fn a_place_where_nothing_can_be_written_is_named() {
    let place = TestDirectory::new();
    let file = place.0.join("file");
    std::fs::write(&file, "not a directory").expect("a temporary file");
    let space = spilled(&Jumble::new(1, 100), &options(0, 1, Until::Exhausted), Tuning::default(), &file.join("x"));
    let End::Failed(error) = space.end else { panic!("{:?}", space.end) };
    assert!(error.to_string().starts_with("cannot make the directory `"), "{error}");
    assert!(error.path.starts_with(&file));
}

#[test]
fn what_else_is_in_the_directory_stays() {
    let place = TestDirectory::new();
    let mine = place.0.join("ravelin-mine");
    std::fs::create_dir(&mine).expect("a directory");
    std::fs::write(mine.join("levels-0"), "mine").expect("a file");
    let space = spilled(&Jumble::new(4, 5_000), &options(0, 2, Until::Exhausted), Tuning::default(), &place.0);
    assert_eq!(space.end, End::Exhausted);
    assert_eq!(std::fs::read(mine.join("levels-0")).expect("still there"), b"mine");
    assert_eq!(std::fs::read_dir(&place.0).expect("still there").count(), 1);
}

#[test]
fn a_panic_in_a_worker_ends_the_search_instead_of_hanging_it() {
    struct Panics(Jumble);
    impl System for Panics {
        type Scratch = ();
        type Interrupt = u64;
        fn width(&self) -> usize {
            self.0.width
        }
        fn scratch(&self) {}
        fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
            self.0.initial(emit);
        }
        fn expand(&self, state: &[u64], scratch: &mut (), sink: &mut Sink) -> Result<(), u64> {
            assert!(state[0] != 40_000, "on purpose");
            self.0.expand(state, scratch, sink)
        }
    }
    let place = TestDirectory::new();
    let caught = std::panic::catch_unwind(|| {
        let mut options = options(0, 2, Until::Exhausted);
        options.budget.storage.spill = Some(&place.0);
        explore(&Panics(Jumble::new(5, 60_000)), &options).statistics.states
    });
    assert!(caught.is_err());
    assert!(place.is_empty());
}

/// Processes of this one, for the test below.
struct Threads<'a> {
    number: usize,
    barrier: &'a Barrier,
    messages: &'a [Mutex<Vec<Vec<u64>>>],
}

impl Peers for Threads<'_> {
    fn processes(&self) -> usize {
        self.messages.len()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
        *self.messages[self.number].lock().expect("no panic") = outgoing;
        self.barrier.wait();
        let take = |sent: &Mutex<Vec<Vec<u64>>>| std::mem::take(&mut sent.lock().expect("no panic")[self.number]);
        let incoming = self.messages.iter().map(take).collect();
        self.barrier.wait();
        Ok(incoming)
    }
}

#[test]
fn what_ids_permit_in_memory_is_counted_by_process_and_does_not_limit_what_is_on_disk() {
    let place = TestDirectory::new();
    let system = Jumble::new(4, 3_000);
    let whole = explore(&system, &Options { until: Until::Exhausted, ..Options::default() }).statistics.states;
    let ends = |processes: usize, most: u64, spill: Option<&Path>| -> Vec<(End<u64>, u64)> {
        let (barrier, messages) =
            (Barrier::new(processes), (0..processes).map(|_| Mutex::default()).collect::<Vec<_>>());
        let (barrier, messages, system) = (&barrier, &messages[..], &system);
        let tuning = Tuning { most_in_memory: Some(most), ..Tuning::default() };
        std::thread::scope(|scope| {
            let process = |number| {
                scope.spawn(move || {
                    let peers = Threads { number, barrier, messages };
                    let storage = Storage { peers: Some(&peers), spill, ..Storage::default() };
                    let budget = Budget { storage, ..Budget::unlimited() };
                    let options = Options { budget, until: Until::Exhausted };
                    let space = explore_any(&AnySystem::new(system), &options, None, tuning);
                    (space.end, space.statistics.states)
                })
            };
            let running: Vec<_> = (0..processes).map(process).collect();
            running.into_iter().map(|running| running.join().expect("no panic")).collect()
        })
    };
    // Hashes do not share states out quite evenly.
    let (half, many) = (whole / 2 + whole / 10, whole / 3);
    assert!(matches!(ends(1, half, None)[..], [(End::Limit(Limit::States(_)), _)]));
    assert_eq!(ends(2, half, None), vec![(End::Exhausted, whole); 2]);
    assert!(matches!(ends(2, many, None)[0].0, End::Limit(Limit::States(_))));
    for processes in [1, 2] {
        assert_eq!(ends(processes, many, Some(&place.0)), vec![(End::Exhausted, whole); processes]);
    }
}
