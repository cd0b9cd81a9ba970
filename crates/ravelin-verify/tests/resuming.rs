//! An exploration that is interrupted and resumed, and schedules that are shortened.

use crate::blocking::{access, explore, machine, section, semaphore, waiting};
use crate::machine::{Do, Machine, trace};
use ravelin_testing::Random;
use ravelin_testing::seeds;
use ravelin_verify::exploration::{Options, Outcome, changes, shorten};
use ravelin_verify::{Choice, Exploration};
use std::collections::BTreeSet;

const KINDS: [fn(&mut Random) -> Vec<Do>; 4] = [access, section, semaphore, waiting];

fn machines(count: u64) -> impl Iterator<Item = (u64, Machine)> {
    let small = |machine: &Machine| machine.threads.iter().map(Vec::len).sum::<usize>() <= 10;
    seeds(count).map(|seed| (seed, machine(seed, &KINDS))).filter(move |(_, machine)| small(machine))
}

#[test]
fn a_saved_exploration_continues_where_it_was() {
    for (seed, machine) in machines(300) {
        let expected = explore(&machine, 1, seed);
        let mut random = Random::new(seed);
        let mut exploration = Exploration::new(Options::default());
        let (mut traces, mut twice) = (BTreeSet::new(), 0);
        while !exploration.is_finished() {
            // Some runs in flight are lost.
            let tasks: Vec<_> = (0..random.within(1..=3)).map_while(|_| exploration.next()).collect();
            assert!(!tasks.is_empty(), "seed {seed}: nothing to do, and not finished");
            for task in tasks {
                let run = machine.run(&task.script);
                if !random.once_in(3) && exploration.done(&task, &run) == Outcome::New {
                    twice += usize::from(!traces.insert(trace(&run)));
                }
            }
            let saved = exploration.save();
            exploration = Exploration::restore(&saved).expect("what was saved");
            assert_eq!(exploration.save(), saved, "seed {seed}");
        }
        assert!(exploration.is_complete() && twice == 0, "seed {seed}: {twice} twice");
        assert_eq!(traces, expected.traces, "seed {seed}");
    }
}

#[test]
fn other_words_are_rejected_or_at_least_harmless() {
    let mut random = Random::new(1);
    let mut accepted = 0;
    for (_, machine) in machines(100) {
        let mut exploration = Exploration::new(Options::default());
        for _ in 0..random.below(6) {
            let Some(task) = exploration.next() else { break };
            exploration.done(&task, &machine.run(&task.script));
        }
        let saved = exploration.save();
        assert!(Exploration::restore(&saved[..random.below(saved.len())]).is_none_or(|rest| rest.save().len() < 12));
        for _ in 0..20 {
            let mut words = saved.clone();
            let at = random.below(words.len());
            words[at] = random.pick(&[0, 1, 2, 3, 7, u64::MAX, words[at] ^ 1, words[at] ^ 1 << 33, words[at] << 1]);
            let Some(mut exploration) = Exploration::restore(&words) else { continue };
            accepted += 1;
            // It makes runs of something, and ends.
            for _ in 0..1000 {
                let Some(task) = exploration.next() else { break };
                exploration.done(&task, &machine.run(&task.script));
            }
        }
    }
    assert!(accepted > 0);
}

#[test]
fn a_shorter_schedule_leads_to_the_same_trace() {
    let (mut before, mut after) = (0, 0);
    for (seed, machine) in machines(300) {
        let mut exploration = Exploration::new(Options::default());
        while let Some(task) = exploration.next() {
            let run = machine.run(&task.script);
            if exploration.done(&task, &run) != Outcome::New {
                continue;
            }
            let script = shorten(&run.events);
            assert_eq!(trace(&machine.run(&script)), trace(&run), "seed {seed}");
            let made: Vec<Choice> =
                run.events.iter().map(|event| Choice { thread: event.thread, times_out: false }).collect();
            before += changes(&made);
            after += changes(&script.choices);
            assert!(changes(&script.choices) <= changes(&made), "seed {seed}");
        }
    }
    assert!(after < before, "{before} changes of threads, then {after}");
}

#[test]
fn the_estimate_ends_at_the_number_of_runs() {
    for (seed, machine) in machines(50) {
        let mut exploration = Exploration::new(Options::default());
        while let Some(task) = exploration.next() {
            exploration.done(&task, &machine.run(&task.script));
            let statistics = exploration.statistics();
            assert!(statistics.estimated_runs >= statistics.runs as f64, "seed {seed}: {statistics:?}");
        }
        let statistics = exploration.statistics();
        assert_eq!(statistics.estimated_runs, statistics.runs as f64, "seed {seed}");
    }
}

#[test]
fn a_bound_on_preemptions_leaves_runs_out_and_says_so() {
    // Two threads that write the same cell three times each: 20 orders. Without preemptions one thread comes first.
    let machine = Machine { threads: vec![vec![Do::Store(0, 1); 3], vec![Do::Store(0, 2); 3]] };
    let mut before = 0;
    for (most, complete) in [(Some(0), false), (Some(1), false), (Some(2), false), (Some(6), true)] {
        let mut exploration = Exploration::new(Options { preemptions: most, ..Options::default() });
        let mut runs = 0;
        while let Some(task) = exploration.next() {
            exploration.done(&task, &machine.run(&task.script));
            runs += 1;
        }
        assert!(exploration.is_finished());
        assert_eq!(exploration.is_complete(), complete, "{most:?}: {runs} runs");
        assert!(runs >= before, "{most:?}: {runs} runs after {before}");
        before = runs;
    }
    assert!(before >= 20, "several runs of a trace, but one of each: {before}");
}

#[test]
fn a_program_that_does_something_else_is_noticed() {
    let [one, other] = [Do::Store(0, 1), Do::Store(1, 1)]
        .map(|first| Machine { threads: vec![vec![first, Do::Store(2, 1)], vec![Do::Store(2, 2)]] });
    let mut exploration = Exploration::new(Options::default());
    let first = exploration.next().expect("the first run");
    assert_eq!(exploration.done(&first, &one.run(&first.script)), Outcome::New);
    let second = exploration.next().expect("a race");
    assert_eq!(exploration.done(&second, &other.run(&second.script)), Outcome::Diverged { at: 0 });
    assert!(exploration.is_finished() && !exploration.is_complete());
    assert_eq!(exploration.done(&second, &other.run(&second.script)), Outcome::Unknown);
}
