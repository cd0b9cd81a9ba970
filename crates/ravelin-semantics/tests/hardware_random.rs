//! Graphs of random programs on x86 and ARMv8, against what is known otherwise: the store buffers of the operational
//! semantics, and that compiled programs do nothing that C11 forbids.

use ravelin_program::{Instruction, Model, Order, Program};
use ravelin_semantics::hardware::{MachineGraph, SeqCstStore, Target, armv8, compile, x86};
use ravelin_semantics::operational::Reference;
use ravelin_semantics::rc20::{
    Enumeration, FinalState, Graph, GraphEvent, GraphLimits, Label, OrderReading, enumerate, rc20_consistent,
};
use ravelin_testing::programs::{Config, Generator, InstructionKind};
use std::collections::{BTreeMap, BTreeSet};

const READING: OrderReading = OrderReading::Written;

fn compiled(program: &Program, graph: &Graph, target: Target) -> MachineGraph {
    compile(graph, READING, target, |event| is_exchange(program, &graph.events[event]))
}

fn is_exchange(program: &Program, event: &GraphEvent) -> bool {
    let instruction = |(thread, transition): (ravelin_program::ThreadId, ravelin_program::TransitionId)| {
        &program.threads[thread.0].transitions[transition.0].instruction
    };
    event
        .thread
        .zip(event.transition)
        .map(instruction)
        .is_some_and(|instruction| matches!(instruction, Instruction::CompareExchange { .. }))
}

fn on_x86(program: &Program, graph: &Graph) -> bool {
    let verdicts = [SeqCstStore::Exchange, SeqCstStore::Fenced]
        .map(|store| x86::allows(&compiled(program, graph, Target::X86(store))));
    assert_eq!(verdicts[0], verdicts[1], "{graph:#?}");
    verdicts[0]
}

/// Programs of at least two threads with few cells, so that many outcomes are weak.
fn config() -> Config {
    Config { threads: 2..=3, variables: 2..=2, arrays: false, ..Config::c11() }
}

fn few() -> GraphLimits {
    GraphLimits { executions: 2_000, states: 20_000, ..GraphLimits::default() }
}

/// Programs without failures, which end the thread in a graph and the run under TSO.
fn programs(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (Program, Enumeration)> {
    let generator = Generator::new(Config { domains: false, ..config() });
    seeds.filter_map(move |seed| {
        let program = generator.program(seed);
        let all = enumerate(&program, READING, few()).ok()?;
        all.failures().is_empty().then_some((program, all))
    })
}

/// On x86 a graph is possible exactly if store buffers lead to its final state.
#[test]
fn x86_has_the_outcomes_of_store_buffers() {
    let (mut compared, mut weak) = (0, 0);
    for (program, all) in programs(0..3_000) {
        let Ok(reference) = Reference::new(&program, Model::Tso, None) else { continue };
        let Ok(explored) = reference.explore(50_000) else { continue };
        if !explored.complete || !explored.faults.is_empty() {
            continue;
        }
        let initial = all.executions.first().map(|execution| execution.state(&program).memory).unwrap_or_default();
        let named = |memory: &BTreeMap<i64, i64>| -> BTreeMap<i64, i64> {
            memory.iter().filter(|(address, _)| initial.contains_key(address)).map(|(&a, &v)| (a, v)).collect()
        };
        let state =
            |registers: Vec<Vec<i64>>, memory: &BTreeMap<i64, i64>| FinalState { registers, memory: named(memory) };
        let operational: BTreeSet<FinalState> = explored
            .finals
            .iter()
            .map(|found| state(found.threads.iter().map(|thread| thread.registers.clone()).collect(), &found.memory))
            .collect();
        let (mut axiomatic, mut all_graphs) = (BTreeSet::new(), BTreeSet::new());
        for execution in all.executions.iter().filter(|execution| execution.complete) {
            let found = execution.state(&program);
            let found = state(found.registers, &found.memory);
            if on_x86(&program, &execution.graph) {
                axiomatic.insert(found.clone());
            }
            all_graphs.insert(found);
        }
        assert_eq!(axiomatic, operational, "{program:#?}");
        compared += 1;
        weak += usize::from(all_graphs.len() > axiomatic.len());
    }
    assert!(compared > 700 && weak > 100, "{compared} compared, {weak} with outcomes that x86 does not have");
}

/// The same program with every order relaxed. Fences stay, but do nothing.
fn relaxed(program: &Program) -> Program {
    let mut program = program.clone();
    for transition in program.threads.iter_mut().flat_map(|thread| &mut thread.transitions) {
        match &mut transition.instruction {
            Instruction::Load { order, .. }
            | Instruction::Store { order, .. }
            | Instruction::Rmw { order, .. }
            | Instruction::Wait { order, .. }
            | Instruction::BlockingCas { order, .. }
            | Instruction::Fence(order) => *order = Order::Relaxed,
            Instruction::CompareExchange { success, failure, .. } => {
                (*success, *failure) = (Order::Relaxed, Order::Relaxed);
            }
            _ => {}
        }
    }
    program
}

/// The graph with the orders of the program.
fn with_orders(program: &Program, graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for event in &mut graph.events {
        let Some((thread, transition)) = event.thread.zip(event.transition) else { continue };
        let written = match &program.threads[thread.0].transitions[transition.0].instruction {
            Instruction::Load { order, .. }
            | Instruction::Store { order, .. }
            | Instruction::Rmw { order, .. }
            | Instruction::Wait { order, .. }
            | Instruction::BlockingCas { order, .. }
            | Instruction::Fence(order) => *order,
            Instruction::CompareExchange { success, failure, .. } => {
                if event.label.writes() {
                    *success
                } else {
                    *failure
                }
            }
            _ => continue,
        };
        match &mut event.label {
            Label::Read { order, .. }
            | Label::Write { order, .. }
            | Label::Rmw { order, .. }
            | Label::Fence { order } => *order = written,
        }
    }
    graph
}

/// Every graph that C11 forbids because of orders is forbidden by the machines, too.
#[test]
fn compiled_programs_do_nothing_that_c11_forbids() {
    let kinds = |weights: &[(InstructionKind, usize)]| Config { kinds: weights.to_vec(), branches: false, ..config() };
    let accesses = [(InstructionKind::Load, 4), (InstructionKind::Store, 4), (InstructionKind::Rmw, 1)];
    let fences = [(InstructionKind::Load, 4), (InstructionKind::Store, 4), (InstructionKind::Fence, 3)];
    let seq_cst = Config { orders: vec![Order::SeqCst], non_atomic: false, ..kinds(&accesses) };
    let synchronised = Config { orders: vec![Order::AcqRel, Order::Acquire, Order::Release], ..kinds(&accesses) };
    let generators = [config(), seq_cst, synchronised, kinds(&fences)].map(Generator::new);
    let (mut forbidden, mut only_on_arm, mut nowhere) = (0, 0, 0);
    for seed in 0..4_000 {
        let program = generators[seed as usize % generators.len()].program(seed);
        let Ok(all) = enumerate(&relaxed(&program), READING, few()) else { continue };
        for execution in &all.executions {
            let graph = with_orders(&program, &execution.graph);
            let x86 = on_x86(&program, &graph);
            let armv8 = armv8::allows(&compiled(&program, &graph, Target::Armv8));
            if !rc20_consistent(&graph, READING) {
                forbidden += 1;
                assert!(!x86 && !armv8, "x86: {x86}, ARMv8: {armv8}: {graph:#?}");
            } else {
                only_on_arm += usize::from(armv8 && !x86);
                nowhere += usize::from(!armv8 && !x86);
            }
        }
    }
    let numbers = format!("{forbidden} forbidden, {only_on_arm} on ARMv8 only, {nowhere} on neither");
    assert!(forbidden > 80 && only_on_arm > 1_000 && nowhere > 100, "{numbers}");
}
