//! Explorations that are ended, damaged, moved to other numbers of workers and processes, and go on.

use crate::jumble;

use jumble::{Jumble, TestDirectory, Threads};
use ravelin_explore::{Budget, Checkpoints, End, Limit, Limits, Options, Space, Storage, Until, explore};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// One exploration of a run that keeps checkpoints of every level.
fn kept(system: &Jumble, place: &Path, states: Option<u64>, workers: usize, until: Until) -> Space<u64> {
    let checkpoints = Checkpoints::new(place, Duration::ZERO, 42);
    let beyond = Storage { checkpoints: Some(&checkpoints), ..Storage::default() };
    let limits = Limits { states, ..Limits::default() };
    let budget = Budget { limits, workers, storage: beyond, ..Budget::default() };
    explore(system, &Options { budget, until })
}

fn plain(system: &Jumble, until: Until) -> Space<u64> {
    explore(system, &Options { until, ..Options::default() })
}

/// What must not depend on how often an exploration was ended.
type Essence = (End<u64>, [u64; 3], bool, Vec<(Vec<u64>, u32)>);

fn essence(space: &Space<u64>) -> Essence {
    let mut found: Vec<(Vec<u64>, u32)> =
        space.findings.iter().map(|finding| (space.state(finding.state).to_vec(), finding.kind)).collect();
    found.sort();
    let statistics = space.statistics;
    (space.end.clone(), [statistics.states, statistics.transitions, statistics.depth], space.cut_off, found)
}

#[test]
fn ended_again_and_again_with_changing_workers_it_finds_what_it_would_have_found() {
    for seed in 0..12 {
        let goals = (0..8).map(|goal| goal * 1_117).collect();
        let system = Jumble { goals, ..Jumble::new(seed, [900, 20_000][seed as usize % 2]) };
        let expected = essence(&plain(&system, Until::Exhausted));
        let place = TestDirectory::new();
        let mut limit = 50;
        let mut ended = 0;
        let space = loop {
            // Sometimes the same number of workers twice, so that files go on.
            let space = kept(&system, place.path(), Some(limit), [1, 1, 3, 2, 2][ended % 5], Until::Exhausted);
            match space.end {
                End::Limit(Limit::States(_)) => (limit, ended) = (limit * 3 / 2, ended + 1),
                _ => break space,
            }
        };
        assert!(ended > 3);
        assert_eq!(essence(&space), expected, "seed {seed}");
        // And once more: nothing is explored any longer.
        let before = system.expanded.load(Ordering::Relaxed);
        assert_eq!(essence(&kept(&system, place.path(), None, 2, Until::Exhausted)), expected);
        assert_eq!(system.expanded.load(Ordering::Relaxed), before);
        assert_eq!(place.files().len(), 1, "the parts are gone: {:?}", place.files());
    }
}

#[test]
fn little_is_explored_twice() {
    let system = Jumble::new(1, 20_000);
    let whole = plain(&system, Until::Exhausted).statistics.states;
    let place = TestDirectory::new();
    kept(&system, place.path(), Some(whole * 9 / 10), 1, Until::Exhausted);
    let before = system.expanded.load(Ordering::Relaxed);
    assert_eq!(kept(&system, place.path(), None, 1, Until::Exhausted).end, End::Exhausted);
    // The level in which it was ended, and what follows.
    assert!(system.expanded.load(Ordering::Relaxed) - before < whole * 3 / 4);
}

#[test]
fn findings_interrupts_and_paths_are_kept() {
    for seed in 0..10 {
        let mut system = Jumble { goals: vec![19_000, 19_001, 19_500], ..Jumble::new(seed, 20_000) };
        if seed % 2 == 0 {
            system.refused = Some(15_000 + seed);
        }
        let expected = plain(&system, Until::FirstFinding);
        let place = TestDirectory::new();
        kept(&system, place.path(), Some(3_000), 2, Until::FirstFinding);
        for workers in [3, 1] {
            let space = kept(&system, place.path(), None, workers, Until::FirstFinding);
            assert_eq!(space.end, expected.end, "seed {seed}");
            assert_eq!(space.findings.is_empty(), expected.findings.is_empty());
            if let (Some(found), Some(wanted)) = (space.findings.first(), expected.findings.first()) {
                let path = space.path(found.state);
                assert_eq!(path.len(), expected.path(wanted.state).len(), "seed {seed}");
                assert_eq!(path.last().copied(), Some(space.state(found.state)));
                assert!(path.windows(2).all(|pair| system.next(pair[0][0]).any(|next| next == pair[1][0])));
            }
        }
    }
}

#[test]
fn several_explorations_of_a_run_are_told_apart_by_their_order() {
    let systems = [Jumble::new(3, 5_000), Jumble::new(4, 9_000), Jumble::new(3, 7_000)];
    let place = TestDirectory::new();
    let run = |states| {
        let checkpoints = Checkpoints::new(place.path(), Duration::ZERO, 1);
        let beyond = Storage { checkpoints: Some(&checkpoints), ..Storage::default() };
        let limits = Limits { states, ..Limits::default() };
        let budget = Budget { limits, storage: beyond, ..Budget::default() };
        let options = Options { budget, until: Until::Exhausted };
        let mut all = Vec::new();
        for system in &systems {
            let space = explore(system, &options);
            all.push(essence(&space));
            if matches!(space.end, End::Limit(_)) {
                break;
            }
        }
        (all, checkpoints.is_unfinished())
    };
    assert!(run(Some(6_000)).1);
    let expected: Vec<_> = systems.iter().map(|system| essence(&plain(system, Until::Exhausted))).collect();
    assert_eq!(run(None), (expected.clone(), false));
    assert_eq!(run(None), (expected, false));
}

/// An exploration that was ended early: where, and the one file that is left of it.
fn one_part(system: &Jumble, workers: usize) -> (TestDirectory, PathBuf, Vec<u8>) {
    let place = TestDirectory::new();
    kept(system, place.path(), Some(600), workers, Until::Exhausted);
    let [file] = &place.files()[..] else { panic!("one part") };
    let whole = std::fs::read(file).expect("a part");
    (place, file.clone(), whole)
}

/// Cut at every kind of place, as when the process is killed while it writes.
#[test]
fn a_torn_end_is_cut_off() {
    let system = Jumble { goals: vec![40, 700], ..Jumble::new(2, 3_000) };
    let expected = essence(&plain(&system, Until::Exhausted));
    let (place, file, whole) = one_part(&system, 2);
    let places = (0..400).chain((400..whole.len()).step_by(67)).chain(whole.len() - 30..whole.len());
    for length in places {
        place.clear();
        std::fs::write(&file, &whole[..length]).expect("a file");
        let space = kept(&system, place.path(), None, 1 + length % 3, Until::Exhausted);
        assert_eq!(essence(&space), expected, "cut after {length} bytes");
    }
}

#[test]
fn what_is_damaged_is_refused_or_cut_off_and_never_believed() {
    let system = Jumble { goals: vec![40, 700], ..Jumble::new(2, 3_000) };
    let expected = essence(&plain(&system, Until::Exhausted));
    let (place, file, whole) = one_part(&system, 1);
    let mut refused = 0;
    for at in (0..200).chain((200..whole.len()).step_by(41)) {
        place.clear();
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&file, &damaged).expect("a file");
        let space = kept(&system, place.path(), None, 1, Until::Exhausted);
        if let End::Failed(error) = &space.end {
            assert!(error.to_string().contains("cannot read"), "{error}");
            refused += 1;
        } else {
            assert_eq!(essence(&space), expected, "bit of byte {at} changed");
        }
    }
    assert!(refused > 50, "{refused}");
    // The same for an outcome.
    place.clear();
    kept(&system, place.path(), None, 1, Until::Exhausted);
    let [file] = &place.files()[..] else { panic!("one outcome") };
    let whole = std::fs::read(file).expect("an outcome");
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(file, &damaged).expect("a file");
        let space = kept(&system, place.path(), None, 1, Until::Exhausted);
        assert!(matches!(space.end, End::Failed(_)), "bit of byte {at} changed");
        std::fs::write(file, &whole[..at]).expect("a file");
        let space = kept(&system, place.path(), None, 1, Until::Exhausted);
        assert!(matches!(space.end, End::Failed(_)), "cut after {at} bytes");
    }
}

#[test]
fn what_is_foreign_is_refused() {
    let system = Jumble::new(2, 3_000);
    let place = TestDirectory::new();
    kept(&system, place.path(), Some(600), 1, Until::Exhausted);
    let [file] = &place.files()[..] else { panic!("one part") };
    let failed = |space: Space<u64>| match space.end {
        End::Failed(error) => error.to_string(),
        end => panic!("{end:?}"),
    };
    let other = Jumble { width: 2, ..Jumble::new(2, 3_000) };
    for (system, until, run) in
        [(&system, Until::Exhausted, 43), (&system, Until::FirstFinding, 42), (&other, Until::Exhausted, 42)]
    {
        let checkpoints = Checkpoints::new(place.path(), Duration::ZERO, run);
        let beyond = Storage { checkpoints: Some(&checkpoints), ..Storage::default() };
        let budget = Budget { storage: beyond, ..Budget::default() };
        let message = failed(explore(system, &Options { budget, until }));
        assert!(message.contains("belongs to another run"), "{message}");
    }
    let mut newer = std::fs::read(file).expect("a part");
    newer[8] += 1;
    std::fs::write(file, &newer).expect("a file");
    let message = failed(kept(&system, place.path(), None, 1, Until::Exhausted));
    assert!(message.contains("version 3"), "{message}");
    std::fs::write(file, vec![b'x'; 10_000]).expect("a file");
    let message = failed(kept(&system, place.path(), None, 1, Until::Exhausted));
    assert!(message.contains("not a part of a checkpoint"), "{message}");
}

#[test]
fn a_directory_that_is_none_is_named() {
    let place = TestDirectory::new();
    let file = place.path().join("file");
    std::fs::write(&file, "").expect("a file");
    for path in [file, place.path().join("missing")] {
        let space = kept(&Jumble::new(2, 300), &path, None, 1, Until::Exhausted);
        assert!(matches!(&space.end, End::Failed(error) if error.path.starts_with(&path)), "{:?}", space.end);
    }
}

#[test]
fn processes_write_parts_and_any_number_of_them_goes_on() {
    for seed in 0..6 {
        let goals = (0..8).map(|goal| goal * 1_117).collect();
        let system = Jumble { goals, ..Jumble::new(seed, 9_000) };
        let until = if seed % 3 == 0 { Until::FirstFinding } else { Until::Exhausted };
        let expected = plain(&system, until);
        let place = TestDirectory::new();
        let together = |processes: usize, workers: usize, states| -> Vec<Space<u64>> {
            std::thread::scope(|scope| {
                let (system, place) = (&system, place.path());
                let process = |peers: Threads| {
                    scope.spawn(move || {
                        let checkpoints = Checkpoints::new(place, Duration::ZERO, 7);
                        let checkpoints = Some(&checkpoints);
                        let beyond = Storage { peers: Some(&peers), checkpoints, ..Storage::default() };
                        let limits = Limits { states, ..Limits::default() };
                        let budget = Budget { limits, workers, storage: beyond, ..Budget::default() };
                        explore(system, &Options { budget, until })
                    })
                };
                let running: Vec<_> = Threads::new(processes).into_iter().map(process).collect();
                running.into_iter().map(|running| running.join().expect("it ends")).collect()
            })
        };
        for (round, (processes, workers)) in [(2, 1), (2, 1), (3, 2), (1, 2), (4, 1)].into_iter().enumerate() {
            let states = Some(100 << round);
            for space in together(processes, workers, states) {
                assert!(matches!(space.end, End::Limit(Limit::States(_)) | End::Found), "{:?}", space.end);
            }
        }
        for space in [together(3, 1, None), together(2, 2, None)].into_iter().flatten() {
            assert_eq!(space.end, expected.end, "seed {seed}");
            if until == Until::Exhausted {
                assert_eq!(essence(&space), essence(&expected), "seed {seed}");
            } else {
                let length = |space: &Space<u64>| space.path(space.findings[0].state).len();
                assert_eq!(length(&space), length(&expected), "seed {seed}");
            }
        }
        assert_eq!(place.files().len(), 1, "{:?}", place.files());
    }
}
