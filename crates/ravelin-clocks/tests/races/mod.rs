//! Data races on single bytes, against a judge that keeps every access and for every event the set of all events before
//! it.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many random sequences, and from where.

mod detector;
mod judge;
mod moment;
mod steps;

use crate::judged::traces::Random;
use detector::Detector;
use judge::Judge;
use ravelin_clocks::AtomicOrder;
use std::collections::BTreeSet;
use steps::{LENGTH, Memory, Step, generate};

/// Where the detector and its judge differ first; otherwise how many races there were.
///
/// A race that is reported must be one. The first race on each byte must be reported, by the access that makes it:
/// afterwards the new access stands in the place of the one it raced with.
fn compare(steps: &[Step]) -> Result<usize, String> {
    // After the first race on a byte, what is left in the lists may decide which of several races is reported.
    compare_with(Detector::that_always_looks(), steps)?;
    // The same holds for reads of other threads that stay when a read is renewed.
    compare_with(Detector::new(), steps)?;
    let races = compare_with(Detector::that_always_locks(), steps)?;
    let found = compare_with(Detector::that_never_renews(), steps)?;
    if races == found { Ok(races) } else { Err(format!("{races} races with the lock, {found} without")) }
}

fn compare_with(mut detector: Detector, steps: &[Step]) -> Result<usize, String> {
    let mut judge = Judge::new();
    let mut spoilt = [false; LENGTH];
    let mut races = 0;
    for (index, &step) in steps.iter().enumerate() {
        let Step::Access(memory) = step else {
            detector.synchronise(step);
            judge.synchronise(step);
            continue;
        };
        for piece in memory.pieces() {
            let real = judge.races(piece);
            let stamp = detector.stamp(piece.thread);
            let reported = detector.access(piece);
            let wrong = |what: &str| Err(format!("step {index}, {piece:?}: {what}; {reported:x?}, {real:?}"));
            if real.iter().any(|race| !spoilt[race.byte]) && reported.is_none() {
                return wrong("a race is not reported");
            }
            if let Some(reported) = &reported
                && !real.iter().any(|race| race.stamp == reported.stamp && reported.bytes.contains(&race.byte))
            {
                return wrong("what is reported is no race");
            }
            races += usize::from(reported.is_some());
            real.iter().for_each(|race| spoilt[race.byte] = true);
            judge.remember(index, piece, stamp);
            detector.keeps_each_once().map_err(|slots| format!("step {index}, {piece:?}: kept twice: {slots:x?}"))?;
        }
        if memory.atomic {
            detector.synchronise(step);
            judge.synchronise(step);
        }
    }
    Ok(races)
}

#[test]
fn the_first_race_on_each_byte_is_found_and_nothing_else() {
    let seeds = ravelin_testing::seeds(4_000);
    let count = seeds.end - seeds.start;
    let mut races = 0;
    for seed in seeds {
        let mut steps = generate(&mut Random::new(seed));
        if compare(&steps).is_err() {
            // Drops steps as long as the rest still fails.
            let mut at = 0;
            while at < steps.len() {
                let mut fewer = steps.clone();
                fewer.remove(at);
                if compare(&fewer).is_err() { steps = fewer } else { at += 1 }
            }
        }
        match compare(&steps) {
            Ok(found) => races += found,
            Err(difference) => panic!("seed {seed}: {difference}\n{steps:#?}"),
        }
    }
    println!("{count} sequences, {races} races");
    assert!(count < 100 || races as u64 > count / 4, "too few races to mean anything");
}

/// What a new access covers only in part must not pile up.
#[test]
fn bytes_that_threads_only_read_keep_one_slot_for_each_byte_and_thread() {
    let mut detector = Detector::new();
    let mut random = Random::new(1);
    let mut most = 0;
    for round in 0..3_000 {
        for thread in 0..3 {
            let at = random.below(8);
            let size = if round % 3 == 0 { 1 } else { random.pick(&[1, 2, 4]).min(8 - at) };
            detector.access(Memory { thread, at, size, write: false, atomic: false, order: AtomicOrder::Relaxed });
            detector.synchronise(Step::Release { thread, lock: thread });
        }
        most = most.max(detector.kept());
    }
    assert!(most <= 3 * 8, "{most} slots for eight bytes and three threads");
}

/// Room in the cell is given back when what had to leave it is superfluous.
#[test]
fn a_write_that_knows_all_readers_is_all_that_is_kept() {
    let mut detector = Detector::new();
    for thread in 1..6 {
        for at in 0..8 {
            detector.access(Memory { thread, at, size: 1, write: false, atomic: false, order: AtomicOrder::Relaxed });
            detector.synchronise(Step::Release { thread, lock: thread });
        }
        detector.synchronise(Step::Acquire { thread: 0, lock: thread });
    }
    assert_eq!(detector.kept(), 40);
    let write = Memory { thread: 0, at: 0, size: 8, write: true, atomic: false, order: AtomicOrder::Relaxed };
    assert_eq!(detector.access(write), None);
    assert_eq!(detector.kept(), 1);
    assert!(!detector.is_marked(), "the cell still sends accesses elsewhere");
}

/// Accesses that had to leave the cell are compared with atomic ones, too.
#[test]
fn an_atomic_access_races_with_what_had_to_leave_the_cell() {
    let readers = 1..8;
    for unknown in readers.clone() {
        let mut detector = Detector::new();
        for thread in readers.clone() {
            detector.access(Memory {
                thread,
                at: 0,
                size: 4,
                write: false,
                atomic: false,
                order: AtomicOrder::Relaxed,
            });
            detector.synchronise(Step::Release { thread, lock: thread });
            if thread != unknown {
                detector.synchronise(Step::Acquire { thread: 0, lock: thread });
            }
        }
        let write = Memory { thread: 0, at: 0, size: 4, write: true, atomic: true, order: AtomicOrder::Relaxed };
        assert_eq!(detector.access(write).map(|reported| reported.thread), Some(unknown));
    }
}

#[test]
fn sequences_have_everything() {
    let mut seen = BTreeSet::new();
    for step in (0..50).flat_map(|seed| generate(&mut Random::new(seed))) {
        seen.insert(match step {
            Step::Access(memory) if memory.atomic => format!("atomic {} {:?}", memory.write, memory.order),
            Step::Access(Memory { at, size, .. }) => format!("plain {size} {}", at % size != 0),
            other => format!("{other:?}").split_whitespace().next().unwrap_or_default().to_owned(),
        });
    }
    let kinds: Vec<&str> = seen.iter().map(String::as_str).collect();
    for wanted in ["Acquire", "Release", "Fence", "plain 1 false", "plain 2 true", "plain 4 true", "plain 8 true"] {
        assert!(kinds.contains(&wanted), "{wanted} is not in {kinds:?}");
    }
}
