//! An exploration makes one run per trace.

use crate::simulated::{Simulator, deterministic};
use crate::traces::{All, Key, all, key};
use ravelin_findings::steering::SteeredEnd;
use ravelin_program::Program;
use ravelin_semantics::generate::{Config, Generator, InstructionKind, Random, shrink};
use ravelin_testing::seeds;
use ravelin_verify::exploration::{Options, Outcome, Reduction, Statistics, Task};
use ravelin_verify::{Exploration, Run};
use std::collections::BTreeSet;

/// What an exploration found.
#[derive(Debug, Default)]
struct Found {
    traces: BTreeSet<Key>,
    failures: BTreeSet<u32>,
    /// Traces that were found more than once.
    twice: usize,
    statistics: Statistics,
}

fn run(simulator: &Simulator, task: &Task) -> (Run, Option<u32>) {
    let simulation = simulator.simulate(&task.script);
    let run = Run { ended_early: simulation.failed.is_some() && simulation.run.end.is_none(), ..simulation.run };
    (run, simulation.failed)
}

/// Explores with up to `jobs` tasks in flight, which end in a random order.
fn explore(simulator: &Simulator, reduction: Reduction, jobs: usize, seed: u64) -> Found {
    let mut exploration = Exploration::new(Options { reduction, ..Options::default() });
    let mut found = Found::default();
    let mut random = Random::new(seed);
    let mut in_flight: Vec<(Task, Run, Option<u32>)> = Vec::new();
    loop {
        while in_flight.len() < jobs
            && let Some(task) = exploration.next()
        {
            let (run, failed) = run(simulator, &task);
            in_flight.push((task, run, failed));
        }
        if in_flight.is_empty() {
            break;
        }
        let (task, run, failed) = in_flight.swap_remove(random.below(in_flight.len()));
        let outcome = exploration.done(&task, &run);
        assert!(!matches!(outcome, Outcome::Diverged { .. } | Outcome::Unknown), "{outcome:?}");
        if outcome == Outcome::New && failed.is_none() {
            assert_ne!(run.end, Some(SteeredEnd::NotEnabled));
            found.twice += usize::from(!found.traces.insert(key(&run.events)));
        }
        found.failures.extend(failed);
    }
    assert!(exploration.is_finished());
    assert!(exploration.is_complete());
    found.statistics = exploration.statistics();
    assert_eq!(found.statistics.nodes, 0);
    found
}

fn threads(program: &Program) -> u32 {
    program.threads.len() as u32
}

/// Loop-free programs with these kinds of instructions besides loads, stores, updates and fences.
fn generator(kinds: &[InstructionKind]) -> Generator {
    let mut config = Config { threads: 2..=4, max_events: 10, non_atomic: false, goals: 0..=0, ..Config::c11() };
    config.domains = false;
    config.wrapping = false;
    use InstructionKind::{Assign, CompareExchange, Fence, Load, Rmw, Store};
    config.kinds.retain(|(kind, _)| {
        matches!(kind, Assign | CompareExchange | Fence | Load | Rmw | Store) || kinds.contains(kind)
    });
    Generator::new(config)
}

/// Whether an exploration finds exactly the traces of a program, each once.
fn is_optimal(program: &Program, jobs: usize) -> bool {
    let simulator = Simulator::new(program);
    let Some(All { traces, failures }) = all(&simulator, threads(program), 20_000) else { return true };
    let found = explore(&simulator, Reduction::Optimal, jobs, 1);
    if !failures.is_empty() {
        return found.failures == failures;
    }
    found.traces == traces && found.twice == 0
}

fn check(generator: &Generator, count: u64, jobs: usize) {
    for seed in seeds(count) {
        let program = deterministic(&generator.program(seed));
        if !is_optimal(&program, jobs) {
            let small = shrink(&program, &mut |program| !is_optimal(&deterministic(program), jobs));
            panic!("seed {seed}: {}", describe(&deterministic(&small), jobs));
        }
    }
}

fn describe(program: &Program, jobs: usize) -> String {
    let simulator = Simulator::new(program);
    let all = all(&simulator, threads(program), 20_000).expect("few traces");
    let found = explore(&simulator, Reduction::Optimal, jobs, 1);
    let missing = all.traces.difference(&found.traces).next();
    let (expected, made) = (all.traces.len(), found.traces.len());
    let mut text = String::new();
    for thread in &program.threads {
        let instructions = thread.transitions.iter().map(|transition| {
            let (from, to) = (transition.from.0, transition.to.0);
            format!("{from}→{to} {}", program.show_instruction(thread, &transition.instruction))
        });
        text += &format!("{}: {}\n", thread.name, instructions.collect::<Vec<_>>().join("; "));
    }
    format!(
        "{text}{made} of {expected} traces, {} twice, failures {:?} of {:?}\n{:?}\nmissing: {missing:?}",
        found.twice, found.failures, all.failures, found.statistics
    )
}

#[test]
fn loop_free_programs_have_one_run_per_trace() {
    check(&generator(&[]), 1000, 1);
}

#[test]
fn programs_that_wait_have_one_run_per_trace() {
    use InstructionKind::{BlockingCas, Lock, Wait};
    check(&generator(&[BlockingCas, Lock, Wait]), 1000, 1);
}

#[test]
fn failures_are_found() {
    check(&generator(&[InstructionKind::Assert]), 1000, 1);
}

#[test]
fn tasks_in_flight_find_the_same() {
    use InstructionKind::{BlockingCas, Lock, Wait};
    check(&generator(&[BlockingCas, Lock, Wait]), 1000, 3);
}
