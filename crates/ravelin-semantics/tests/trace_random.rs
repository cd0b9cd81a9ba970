//! Random programs: traces tell the truth about runs, SC has no cycles, and robust programs end as they do under SC.

use crate::trace_shorthand;

use ravelin_program::{Instruction, Model, Program};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::trace::{Arrow, EnumerationLimit, Trace, TraceEdge, ValueSource, find_violation};
use ravelin_testing::Random;
use ravelin_testing::programs::{Config, Generator};
use std::collections::BTreeSet;
use trace_shorthand::reference;

const LIMIT: usize = 30_000;

fn takes_bus(program: &Program) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions);
    instructions.any(|transition| transition.instruction == Instruction::BusLock)
}

/// Some run to its end, with its states; the first state is the one it starts from.
fn walk(reference: &Reference, seed: u64) -> (Vec<Action>, Vec<State>) {
    let mut random = Random::new(seed);
    let mut states = vec![reference.initial_states().expect("few").remove(0)];
    let mut run = Vec::new();
    loop {
        let mut next = reference.steps(&states[run.len()]).next;
        if next.is_empty() {
            return (run, states);
        }
        let (action, state) = next.swap_remove(random.below(next.len()));
        run.push(action);
        states.push(state);
    }
}

/// Values that were read are those that their sources wrote, and memory holds what came last.
fn check_values(trace: &Trace, start: &State, end: &State) {
    for (index, event) in trace.events.iter().enumerate() {
        for (position, access) in event.accesses.iter().enumerate() {
            let Some(read) = access.read else { continue };
            let written = match read.source {
                ValueSource::Initial => start.cell(access.address),
                ValueSource::Event(source) => {
                    // A block reads what it wrote last before.
                    let until = if source == index { position } else { trace.events[source].accesses.len() };
                    let mut writes = trace.events[source].accesses[..until].iter().rev();
                    let same = writes.find(|other| other.address == access.address && other.write.is_some());
                    same.and_then(|access| access.write).expect("a source writes the address").value
                }
            };
            assert_eq!(read.value, written);
        }
    }
    for (&address, stores) in &trace.memory_order {
        let newest = &trace.events[*stores.last().expect("not empty")];
        let mut writes = newest.accesses.iter().rev().filter(|access| access.address == address);
        let value = writes.find_map(|access| access.write.filter(|write| write.reached.is_some()));
        assert_eq!(value.map(|write| write.value), Some(end.cell(address)));
    }
    let pending: usize = end.threads.iter().map(|thread| thread.buffer.pending()).sum();
    assert_eq!(trace.pending, pending);
}

/// The steps lead from one to the next, by edges or by several of one kind (fr goes on with co).
fn check_cycle(trace: &Trace) {
    let arrows = trace.edges();
    let cycle = trace.cycle().expect("a cycle");
    for (index, step) in cycle.iter().enumerate() {
        let goal = cycle[(index + 1) % cycle.len()].event;
        let goes_on = |arrow: &&Arrow, edge| arrow.edge == edge && arrow.address == step.address;
        let continuing = if step.edge == TraceEdge::Fr { TraceEdge::Co } else { step.edge };
        let mut reached: BTreeSet<usize> =
            arrows.iter().filter(|arrow| arrow.from == step.event && goes_on(arrow, step.edge)).map(|a| a.to).collect();
        for _ in 0..trace.events.len() {
            let more = arrows
                .iter()
                .filter(|a| reached.contains(&a.from) && step.edge != TraceEdge::Rf && goes_on(a, continuing));
            let more: Vec<usize> = more.map(|arrow| arrow.to).collect();
            reached.extend(more);
        }
        // An RMW overwrites what it reads itself; what overwrites the RMW comes after the same load by co.
        let by_itself = step.edge == TraceEdge::Fr
            && arrows.iter().any(|a| a.from == step.event && a.to == goal && a.edge == TraceEdge::Co);
        assert!(reached.contains(&goal) || by_itself, "{step:?} does not lead to {goal}");
    }
    let events: BTreeSet<usize> = cycle.iter().map(|step| step.event).collect();
    assert_eq!(events.len(), cycle.len(), "a shortest cycle visits an event once");
}

#[test]
fn traces_tell_the_truth_and_sc_has_no_cycles() {
    let generator = Generator::new(Config::all());
    for seed in 0..1_000 {
        let program = generator.program(seed);
        for model in Model::HARDWARE {
            let reference = Reference::new(&program, model, Some(5)).expect("modelled");
            if !program.is_acyclic() {
                continue;
            }
            let (run, states) = walk(&reference, seed);
            let trace = Trace::of(&reference, &states[0], &run).expect("a run");
            check_values(&trace, &states[0], states.last().expect("a state"));
            match trace.cycle() {
                Some(_) if model.is_buffered() => check_cycle(&trace),
                cycle => assert_eq!(cycle, None, "seed {seed}"),
            }
        }
    }
}

#[test]
fn robust_programs_end_as_they_do_under_sc() {
    let generator = Generator::new(Config::loop_free());
    let mut verdicts = [0; 3];
    for seed in 0..300 {
        let program = generator.program(seed);
        let sc = reference(&program, Model::Sc).explore(LIMIT).expect("few");
        for model in [Model::Tso, Model::Pso] {
            let reference = reference(&program, model);
            match find_violation(&reference, LIMIT) {
                Ok(Some(violation)) => {
                    let trace = Trace::of(&reference, &violation.start, &violation.run).expect("a run");
                    assert!(trace.is_computation(), "seed {seed} under {model}");
                    check_cycle(&trace);
                    verdicts[1] += 1;
                }
                Ok(None) => {
                    verdicts[0] += 1;
                    let weak = reference.explore(LIMIT).expect("few");
                    if !weak.complete || !sc.complete {
                        continue;
                    }
                    assert_eq!(weak.finals, sc.finals, "seed {seed} under {model}");
                    let empty = |state: &&State| state.threads.iter().all(|thread| thread.buffer.is_empty());
                    let stuck: BTreeSet<State> = weak.stuck.iter().filter(empty).cloned().collect();
                    // While another thread holds the bus lock for ever, a store can be issued, but not under SC.
                    if takes_bus(&program) {
                        assert!(stuck.is_subset(&sc.stuck), "seed {seed} under {model}");
                    } else {
                        assert_eq!(stuck, sc.stuck, "seed {seed} under {model}");
                    }
                }
                Err(EnumerationLimit::TooManyConfigurations { .. }) => verdicts[2] += 1,
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }
    }
    assert!(verdicts[0] > 100 && verdicts[1] > 50 && verdicts[2] < 20, "robust, not, too large: {verdicts:?}");
}

/// Follows every run, without remembering any. `None` when there are too many.
fn some_computation_is_cyclic(
    reference: &Reference,
    start: &State,
    run: &mut Vec<Action>,
    state: &State,
    budget: &mut usize,
) -> Option<bool> {
    *budget = budget.checked_sub(1)?;
    let trace = Trace::of(reference, start, run).expect("a run");
    if trace.is_computation() && trace.cycle().is_some() {
        return Some(true);
    }
    for (action, next) in reference.steps(state).next {
        run.push(action);
        let found = some_computation_is_cyclic(reference, start, run, &next, budget);
        run.pop();
        if found != Some(false) {
            return found;
        }
    }
    Some(false)
}

#[test]
fn the_search_agrees_with_looking_at_every_run() {
    let generator = Generator::new(Config { threads: 2..=3, total_instructions: 6, ..Config::loop_free() });
    let mut verdicts = [0; 2];
    for seed in 0..400 {
        let program = generator.program(seed);
        for model in Model::HARDWARE {
            let reference = reference(&program, model);
            let mut budget = 3_000;
            let mut cyclic = Some(false);
            for start in reference.initial_states().expect("few") {
                if cyclic == Some(false) {
                    cyclic = some_computation_is_cyclic(&reference, &start, &mut Vec::new(), &start, &mut budget);
                }
            }
            let Some(cyclic) = cyclic else { continue };
            let found = find_violation(&reference, LIMIT).expect("small");
            assert_eq!(found.is_some(), cyclic, "seed {seed} under {model}");
            verdicts[usize::from(cyclic)] += 1;
        }
    }
    assert!(verdicts[0] > 100 && verdicts[1] > 20, "robust, not: {verdicts:?}");
}
