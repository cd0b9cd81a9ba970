//! An exploration with a bound on preemptions makes a run for each trace that has a schedule within the bound.

use crate::exploration::{generator, threads};
use crate::machine::{Do, Machine, trace};
use crate::simulated::{Simulator, deterministic};
use crate::traces::{Key, key, script};
use ravelin_findings::steering::SteeredEnd;
use ravelin_testing::Random;
use ravelin_testing::programs::InstructionKind;
use ravelin_testing::seeds;
use ravelin_verify::exploration::{Options, Outcome, Reduction};
use ravelin_verify::{Exploration, RecordedRun, Script};
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};

/// The traces of an exploration, and its number of runs.
fn explore(most: u32, run: impl Fn(&Script) -> RecordedRun, key: fn(&RecordedRun) -> Key) -> (BTreeSet<Key>, u64) {
    let mut exploration = Exploration::new(Options { preemptions: Some(most), reduction: Reduction::Optimal });
    let mut found = BTreeSet::new();
    while let Some(task) = exploration.next() {
        let run = run(&task.script);
        match exploration.done(&task, &run) {
            Outcome::New | Outcome::Redundant => drop(found.insert(key(&run))),
            Outcome::Impossible => {}
            outcome => panic!("{outcome:?}"),
        }
    }
    assert!(exploration.is_finished());
    (found, exploration.statistics().runs)
}

/// The traces of all schedules of a program with at most so many preemptions; `None` if there are too many, or one fails.
fn within(simulator: &Simulator, threads: u32, most: u32) -> Option<BTreeSet<Key>> {
    let mut all = BTreeSet::new();
    let mut seen = HashSet::new();
    let fails = Cell::new(false);
    let mut pending = vec![(Vec::new(), 0)];
    while let Some((prefix, preemptions)) = pending.pop() {
        let after = |thread: u32| {
            let mut next = prefix.clone();
            next.push(thread);
            let simulation = simulator.simulate(&script(&next));
            fails.set(fails.get() || simulation.failed.is_some());
            (simulation.run.end != Some(SteeredEnd::NotEnabled)).then_some((next, simulation.run))
        };
        let last = prefix.last().copied();
        let goes_on = last.is_some_and(|last| after(last).is_some());
        let mut is_maximal = true;
        for thread in 0..threads {
            let Some((next, run)) = after(thread) else { continue };
            is_maximal = false;
            let preemptions = preemptions + u32::from(goes_on && last != Some(thread));
            if preemptions <= most && seen.insert((key(&run.events[..next.len()]), thread, preemptions)) {
                pending.push((next, preemptions));
            }
        }
        if seen.len() > 4000 || fails.get() {
            return None;
        }
        if is_maximal {
            all.insert(key(&simulator.run(&script(&prefix)).events));
        }
    }
    Some(all)
}

#[test]
fn programs_have_a_run_for_each_trace_within_the_bound() {
    let (mut needed, mut made) = ([0; 3], [0; 3]);
    for kinds in [&[][..], &[InstructionKind::Lock]] {
        let generator = generator(kinds);
        for seed in seeds(150) {
            let program = deterministic(&generator.program(seed));
            let simulator = Simulator::new(&program);
            for most in 0..3 {
                let Some(expected) = within(&simulator, threads(&program), most) else { break };
                let (found, runs) = explore(most, |script| simulator.run(script), |run| key(&run.events));
                let missing = expected.difference(&found).next();
                assert_eq!(missing, None, "seed {seed}, {kinds:?}, at most {most} preemptions");
                needed[most as usize] += expected.len() as u64;
                made[most as usize] += runs;
            }
        }
    }
    println!("traces within 0, 1 and 2 preemptions: {needed:?}, runs: {made:?}");
}

/// Threads that wait for locks, semaphores and values.
#[test]
fn waiting_threads_have_a_run_for_each_trace_within_the_bound() {
    for seed in seeds(500) {
        let mut random = Random::new(seed);
        let thread = |random: &mut Random| {
            let mut actions = Vec::new();
            while actions.len() < 3 {
                let (cell, which) = (random.below(2) as u64, random.below(7));
                match which {
                    0 => actions.push(Do::Load(cell)),
                    1 | 2 => actions.push(Do::Store(cell, 1 + random.below(2) as u64)),
                    3 => actions.extend([Do::Lock(cell), Do::Store(cell, 2), Do::Unlock(cell)]),
                    4 => actions.push(Do::Await(cell)),
                    5 => actions.push(Do::Give(0)),
                    _ => actions.push(Do::Take(0)),
                }
            }
            actions
        };
        let machine = Machine { threads: (0..2 + random.below(2)).map(|_| thread(&mut random)).collect() };
        for most in 0..3 {
            let expected = machine.within(most);
            let (found, _) = explore(most, |script| machine.run(script), trace);
            let missing = expected.difference(&found).next();
            assert_eq!(missing, None, "seed {seed}, at most {most} preemptions: {:?}", machine.threads);
        }
    }
}

/// A lost update needs one preemption: the second thread runs between the load and the store of the first.
#[test]
fn one_preemption_is_enough_for_a_lost_update() {
    let increment = vec![Do::Load(0), Do::Store(0, 1)];
    let machine = Machine { threads: vec![increment.clone(), increment] };
    let loses = |most| {
        let (found, _) = explore(most, |script| machine.run(script), trace);
        found
            .iter()
            .any(|trace| trace.iter().filter(|(_, number, _, _, read, _)| *number == 0 && *read == 0).count() == 2)
    };
    assert!(!loses(0) && loses(1));
}
