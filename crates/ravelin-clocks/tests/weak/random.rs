//! Generated programs: every run is consistent, and all that is consistent is reached.

use super::driver::{Bounds, all_runs, run};
use ravelin_clocks::weak::SeqCstPlace;
use ravelin_program::{Instruction, Order, Program};
use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, rc20_consistent};
use ravelin_testing::Random;
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use ravelin_testing::seeds;
use std::collections::{BTreeSet, HashSet};

/// Programs with at most so many runs are run completely.
const MOST_RUNS: usize = 20_000;

fn generator(events: usize) -> Generator {
    let mut config = Config {
        threads: 2..=4,
        instructions: 2..=5,
        max_events: events,
        arrays: false,
        domains: false,
        wrapping: false,
        non_atomic: false,
        goals: 0..=0,
        strict_memory: false,
        ..Config::c11()
    };
    let runs = |kind: &InstructionKind| {
        use InstructionKind::{Assign, CompareExchange, Fence, Load, Rmw, Store};
        matches!(kind, Assign | CompareExchange | Fence | Load | Rmw | Store)
    };
    config.kinds.retain(|(kind, _)| runs(kind));
    for (kind, weight) in &mut config.kinds {
        if *kind == InstructionKind::Fence {
            *weight = 8;
        }
    }
    Generator::new(config)
}

/// The same program with acquire and release instead of seq_cst at accesses: then RC20 is the model.
fn without_seq_cst_accesses(mut program: Program) -> Program {
    let weaker = |order: &mut Order, other: Order| {
        if *order == Order::SeqCst {
            *order = other;
        }
    };
    for step in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        match &mut step.instruction {
            Instruction::Load { order, .. } => weaker(order, Order::Acquire),
            Instruction::Store { order, .. } => weaker(order, Order::Release),
            Instruction::Rmw { order, .. } => weaker(order, Order::AcqRel),
            Instruction::CompareExchange { success, failure, .. } => {
                weaker(success, Order::AcqRel);
                weaker(failure, Order::Acquire);
            }
            _ => {}
        }
    }
    program
}

#[test]
fn all_runs_together_reach_what_the_axioms_allow_and_nothing_else() {
    let generator = generator(7);
    let (mut compared, mut graphs_seen) = (0, 0);
    for seed in seeds(400) {
        let program = without_seq_cst_accesses(generator.program(seed));
        let mut bounds = Bounds::NONE;
        bounds.forgets = seed % 2 == 0;
        let (mut graphs, mut reached) = (HashSet::new(), BTreeSet::new());
        let complete = all_runs(&program, SeqCstPlace::After, bounds, MOST_RUNS, |execution| {
            // A thread that faults ends there, and so does what the axioms say about the program.
            if execution.complete {
                reached.insert(execution.state(&program));
                graphs.insert(execution.graph);
            }
        });
        for graph in &graphs {
            assert!(rc20_consistent(graph, OrderReading::Written), "seed {seed}: {graph:#?}");
        }
        if !complete {
            continue;
        }
        let Ok(all) = enumerate(&program, OrderReading::Written, GraphLimits::default()) else { continue };
        assert_eq!(reached, all.final_states(&program), "seed {seed}");
        let complete = all.executions.into_iter().filter(|execution| execution.complete);
        let expected: HashSet<_> = complete.map(|execution| execution.graph).collect();
        assert_eq!(graphs.len(), expected.len(), "seed {seed}");
        compared += 1;
        graphs_seen += graphs.len();
    }
    if ravelin_testing::is_default_run() {
        assert!(compared > 200 && graphs_seen > 3_000, "only {compared} programs with {graphs_seen} graphs");
    }
}

#[test]
fn no_run_is_outside_rc11_with_seq_cst_accesses_and_with_little_memory() {
    let generator = generator(9);
    let mut weak = 0;
    for seed in seeds(600) {
        let program = generator.program(seed);
        let mut random = Random::new(seed);
        let place = if random.share(2) == 0 { SeqCstPlace::Before } else { SeqCstPlace::After };
        let small = [1, 2, 3, usize::MAX];
        let mut bound = || small[random.share(4) as usize];
        let bounds = Bounds { values: bound(), fences: bound(), forgets: seed % 3 == 0 };
        let mut graphs = HashSet::new();
        for _ in 0..100 {
            graphs.insert(run(&program, place, bounds, &mut |among| random.share(among as u64) as usize).graph);
        }
        for graph in &graphs {
            assert!(rc20_consistent(graph, OrderReading::Written), "seed {seed}, {place:?}, {bounds:?}: {graph:#?}");
            weak += usize::from(!ravelin_semantics::rc20::sc_consistent(graph));
        }
    }
    if ravelin_testing::is_default_run() {
        assert!(weak > 1_000, "only {weak} graphs that sequential consistency does not have");
    }
}
