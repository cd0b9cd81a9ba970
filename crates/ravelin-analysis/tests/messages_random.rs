//! The machine with messages on random loop-free programs: its final and stuck states, failed assertions and faults are those of the
//! enumeration of all execution graphs, and every run it gives is a consistent graph that ends as it says.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::random_programs::{check_one, without_seq_cst_accesses};
use ravelin_explore::{Budget, Options, Until};
use ravelin_machine::messages::{ExploredMessages, MessageRun, MessageSettings, explore_messages};
use ravelin_machine::{Purpose, Reductions, UnpackedState, Violation};
use ravelin_program::{LocId, Model, Program, SeqCstReading, ThreadId, Value};
use ravelin_semantics::rc20::{
    Enumeration, Execution, GraphLimits, GrowingGraph, OrderReading, ThreadFailure, enumerate, rc20_consistent,
};
use ravelin_testing::programs::{Config, Generator};
use ravelin_testing::seeds;
use std::collections::BTreeSet;

pub const LIMITS: GraphLimits = GraphLimits { executions: 20_000, states: 20_000, values: 100 };

/// What is compared of a state: locations, registers that users see, named cells.
type Shown = (Vec<LocId>, Vec<Vec<Value>>, Vec<Value>);

fn shown(program: &Program, locations: Vec<LocId>, registers: &[&[Value]], cell: impl Fn(Value) -> Value) -> Shown {
    let registers = program.threads.iter().zip(registers).map(|(thread, values)| {
        let visible = thread.registers.iter().zip(*values).filter(|(register, _)| !register.hidden);
        visible.map(|(_, value)| *value).collect()
    });
    (locations, registers.collect(), program.memory.named_addresses().map(cell).collect())
}

fn of_execution(program: &Program, execution: &Execution) -> Shown {
    let state = execution.state(program);
    let registers: Vec<&[Value]> = execution.threads.iter().map(|thread| &thread.registers[..]).collect();
    let locations = execution.threads.iter().map(|thread| thread.location).collect();
    shown(program, locations, &registers, |address| state.memory.get(&address).copied().unwrap_or(0))
}

fn of_machine(program: &Program, state: &UnpackedState) -> Shown {
    let registers: Vec<&[Value]> = state.registers.iter().map(|registers| &registers[..]).collect();
    let cell = |address: Value| {
        let found = state.memory.iter().find(|(known, _)| *known == address);
        found.map_or_else(|| initial(program, address), |(_, value)| *value)
    };
    shown(program, state.locations.clone(), &registers, cell)
}

pub fn initial(program: &Program, address: Value) -> Value {
    match program.memory.initial_at(address) {
        ravelin_program::InitialValue::Value(value) => value,
        ravelin_program::InitialValue::Any => 0,
    }
}

/// Follows a run as a graph.
pub fn replayed<'p>(program: &'p Program, run: &MessageRun, reading: OrderReading) -> Result<GrowingGraph<'p>, String> {
    let mut grown = GrowingGraph::new(program, &run.start.memory);
    for step in &run.steps {
        let place = |place: Option<(Value, usize)>| place.map(|(_, place)| place);
        grown
            .follow_at(step.action, place(step.reads), place(step.writes))
            .map_err(|error| format!("{error} in {run:?}"))?;
    }
    if !rc20_consistent(grown.graph(), reading) {
        return Err(format!("a run is not consistent under {reading:?}: {run:?}"));
    }
    Ok(grown)
}

pub fn explored(
    program: &Program,
    settings: MessageSettings,
    until: Until,
) -> Result<Option<ExploredMessages>, String> {
    let explored = explore_messages(program, settings, &Options { budget: Budget::default(), until });
    let explored = explored.map_err(|error| error.to_string())?;
    Ok((explored.limit().is_none() && !explored.cut_off()).then_some(explored))
}

/// Compares the ends. `exact` is whether the machine must find all.
fn compare_ends(
    program: &Program,
    settings: MessageSettings,
    reading: OrderReading,
    all: &Enumeration,
    exact: bool,
) -> Result<(), String> {
    let Some(explored) = explored(program, settings, Until::Exhausted)? else {
        return Err("it is cut off".to_owned());
    };
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for end in explored.ends() {
        let run = explored.run_to(&end).map_err(|error| error.to_string())?;
        let grown = replayed(program, &run, reading)?;
        let registers: Vec<&[Value]> = grown.threads().iter().map(|thread| &thread.registers[..]).collect();
        let locations = grown.threads().iter().map(|thread| thread.location).collect();
        let cell = |address| grown.graph().latest(address).unwrap_or_else(|| initial(program, address));
        let said = of_machine(program, &end.state);
        let replayed = shown(program, locations, &registers, cell);
        if said != replayed {
            return Err(format!("a run ends with {replayed:?}, not {said:?}"));
        }
        found[usize::from(end.is_final)].insert(said);
    }
    let [stuck, finals] = found;
    let expected = |which: &dyn Fn(&Execution) -> bool| -> BTreeSet<Shown> {
        all.executions.iter().filter(|execution| which(execution)).map(|e| of_execution(program, e)).collect()
    };
    let complete = expected(&|execution| execution.complete);
    let failed = |execution: &Execution| execution.threads.iter().any(|thread| thread.failure.is_some());
    let blocked = expected(&|execution| !execution.complete && !failed(execution));
    let not_complete = expected(&|execution| !execution.complete);
    if exact && finals != complete || !finals.is_subset(&complete) {
        let missing: Vec<_> = complete.difference(&finals).collect();
        let wrong: Vec<_> = finals.difference(&complete).collect();
        return Err(format!("{reading:?} {settings:?}: final states are missing {missing:?}, are wrong {wrong:?}"));
    }
    if exact && !blocked.is_subset(&stuck) || !stuck.is_subset(&not_complete) {
        let missing: Vec<_> = blocked.difference(&stuck).collect();
        let wrong: Vec<_> = stuck.difference(&not_complete).collect();
        return Err(format!("{reading:?} {settings:?}: stuck states are missing {missing:?}, are wrong {wrong:?}"));
    }
    Ok(())
}

/// Compares assertions and faults.
fn compare_failures(
    program: &Program,
    settings: MessageSettings,
    reading: OrderReading,
    all: &Enumeration,
    exact: bool,
) -> Result<(), String> {
    let mut program = program.clone();
    program.goals.clear();
    let settings = MessageSettings { purpose: Purpose::Goals, ..settings };
    let Some(explored) = explored(&program, settings, Until::Exhausted)? else {
        return Err("it is cut off".to_owned());
    };
    let mut found = BTreeSet::new();
    for violation in explored.violations() {
        let (violation, run) = violation.map_err(|error| error.to_string())?;
        replayed(&program, &run, reading)?;
        match violation {
            Violation::Goal(goal) => return Err(format!("goal {goal}, and there is none")),
            Violation::Assert { thread, .. } => found.insert((thread, ThreadFailure::Assertion.to_string())),
            Violation::Fault { thread, fault, .. } => found.insert((thread, ThreadFailure::Fault(fault).to_string())),
            Violation::Deadlock => return Err("a deadlock, and none was asked for".to_owned()),
        };
    }
    // A step may fault in several ways, of which one is reported.
    let expected: BTreeSet<(ThreadId, String)> =
        all.failures().into_iter().map(|(thread, failure)| (thread, failure.to_string())).collect();
    let threads = |failures: &BTreeSet<(ThreadId, String)>| -> BTreeSet<ThreadId> {
        failures.iter().map(|(thread, _)| *thread).collect()
    };
    if !found.is_subset(&expected) || exact && threads(&found) != threads(&expected) {
        return Err(format!("{reading:?}: failures {found:?}, but by enumeration {expected:?}"));
    }
    Ok(())
}

fn compare_reading(
    program: &Program,
    model: Model,
    seq_cst: SeqCstReading,
    reading: OrderReading,
    exact: bool,
) -> Result<(), String> {
    let Ok(all) = enumerate(program, reading, LIMITS) else { return Ok(()) };
    for reductions in [Reductions::NONE, Reductions::ALL] {
        let settings =
            MessageSettings { model, seq_cst, messages: 20, purpose: Purpose::Finals, reductions, deadlocks: false };
        compare_ends(program, settings, reading, &all, exact)?;
        compare_failures(program, settings, reading, &all, exact)?;
    }
    Ok(())
}

/// What is wrong, if anything.
fn disagreement(program: &Program) -> Option<String> {
    use OrderReading::{ReleaseAcquire, SeqCstAsReleaseAcquire, Written};
    let all = || {
        let weakened = without_seq_cst_accesses(program.clone());
        compare_reading(&weakened, Model::Rc20, SeqCstReading::RelAcq, Written, true)?;
        compare_reading(program, Model::Ra, SeqCstReading::RelAcq, ReleaseAcquire, true)?;
        compare_reading(program, Model::Rc20, SeqCstReading::RelAcq, SeqCstAsReleaseAcquire, true)?;
        compare_reading(program, Model::Rc20, SeqCstReading::After, Written, false)?;
        compare_reading(program, Model::Rc20, SeqCstReading::Before, Written, false)
    };
    match std::panic::catch_unwind(all) {
        Ok(Ok(())) => None,
        Ok(Err(what)) => Some(what),
        Err(_) => Some("a panic".to_owned()),
    }
}

fn compare(config: Config, programs: std::ops::Range<u64>) {
    let generator = Generator::new(config);
    for seed in programs {
        check_one(seed, &generator.program(seed), disagreement);
    }
}

#[test]
fn states_are_those_of_all_graphs() {
    compare(Config::c11(), seeds(400));
}

/// Atomic accesses and fences alone, more of them.
#[test]
fn states_are_those_of_all_graphs_of_more_events() {
    let config = Config { max_events: 8, non_atomic: false, arrays: false, domains: false, ..Config::c11() };
    compare(config, seeds(400));
}

/// Cells that start with any value, and computed addresses.
#[test]
fn states_are_those_of_all_graphs_of_open_memories() {
    let config = Config { any_initial: true, max_events: 6, ..Config::c11() };
    compare(config, seeds(400));
}

/// Two threads and two cells, with many fences between relaxed reads and writes: what is read is acquired later, after writes
/// that need not respect it.
#[test]
fn states_are_those_of_all_graphs_with_acquire_fences() {
    use ravelin_program::Order;
    use ravelin_testing::programs::InstructionKind::{BlockingCas, Fence, Load, Rmw, Store};
    let config = Config {
        threads: 2..=3,
        variables: 2..=2,
        max_events: 8,
        non_atomic: false,
        arrays: false,
        domains: false,
        branches: false,
        orders: vec![Order::Relaxed, Order::Relaxed, Order::Release, Order::Acquire, Order::AcqRel],
        kinds: vec![(Load, 8), (Store, 8), (Fence, 6), (Rmw, 2), (BlockingCas, 1)],
        ..Config::c11()
    };
    compare(config, seeds(300));
}

/// Many seq_cst fences: the only orders are relaxed ones and the fences.
#[test]
fn seq_cst_fences_are_those_of_psc() {
    use ravelin_program::Order;
    use ravelin_testing::programs::InstructionKind::{CompareExchange, Fence, Load, Rmw, Store};
    let config = Config {
        threads: 2..=4,
        max_events: 9,
        non_atomic: false,
        arrays: false,
        domains: false,
        branches: false,
        orders: vec![Order::Relaxed, Order::SeqCst, Order::SeqCst],
        kinds: vec![(Load, 8), (Store, 8), (Fence, 8), (Rmw, 1), (CompareExchange, 1)],
        ..Config::c11()
    };
    let generator = Generator::new(config);
    for seed in seeds(400) {
        let program = without_seq_cst_accesses(generator.program(seed));
        check_one(seed, &program, |program| {
            let written = OrderReading::Written;
            let compared = || compare_reading(program, Model::Rc20, SeqCstReading::RelAcq, written, true).err();
            std::panic::catch_unwind(compared).unwrap_or(Some("a panic".to_owned()))
        });
    }
}

/// A relaxed read of a release store gives `acq` a write of `x` that the thread's own write is put before. A fence then has to acquire it.
#[test]
fn a_write_before_what_is_yet_to_be_acquired() {
    for own in ["x.bcas(0, 1);", "x.store(1);", "x.fetch_add(1);"] {
        for fence in ["fence();", "fence(acquire);"] {
            let text = format!(
                "static x; static y;\nthread p {{ x.store(2); y.store(1, release); }}\n\
                 thread q {{ let a = y.load(); {own} {fence} let b = x.load(); }}"
            );
            let source = ravelin_program::Source::new("acquire.rav", text.clone());
            let parsed = ravelin_frontend::parse(source, ravelin_frontend::Language::Rav);
            assert_eq!(disagreement(&parsed.program.expect("a program")), None, "{text}");
        }
    }
}
