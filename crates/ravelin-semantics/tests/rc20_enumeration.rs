//! What the enumeration lists, counts and refuses; data races; and faults.

use crate::rc20_shorthand;

use ravelin_program::{
    Address, Admission, BinaryOp, Copies, Domain, Escape, Expr, Fault, InitialValue, Instruction, LocId, Order,
    Program, ProgramBuilder, ThreadId, Variable, WaitCondition,
};
use ravelin_semantics::rc20::{
    Enumeration, EnumerationRefusal, GraphLimits, GraphRobustness, OrderReading, ThreadFailure, atomics_sc_consistent,
    enumerate, rc20_consistent, robust, sc_consistent,
};
use rc20_shorthand::{is_robust, program};

fn all(program: &Program) -> Enumeration {
    enumerate(program, OrderReading::Written, GraphLimits::default()).expect("small enough")
}

#[test]
fn every_graph_is_listed_once() {
    for (text, graphs, sc_graphs) in [
        ("W x 1 rlx; R a y rlx | W y 1 rlx; R b x rlx", 4, 3),
        ("W x 1 rlx; W y 1 rlx | R a y rlx; R b x rlx", 4, 3),
        ("W x 1 rlx | W x 2 rlx | W x 3 rlx", 6, 6),
        ("W x 1 rlx; W x 2 rlx | W x 3 rlx; W x 4 rlx", 6, 6),
        ("ADD a x 1 rlx | ADD b x 1 rlx | ADD c x 1 rlx", 6, 6),
        // The same values may come from different writes.
        ("W x 1 rlx | W x 1 rlx | R a x rlx", 6, 6),
        ("F sc | F sc", 1, 1),
    ] {
        let found = all(&program(text));
        assert_eq!(found.executions.len(), graphs, "{text}");
        let sc = found.executions.iter().filter(|execution| sc_consistent(&execution.graph)).count();
        assert_eq!(sc, sc_graphs, "{text}");
        for execution in &found.executions {
            assert!(execution.complete && rc20_consistent(&execution.graph, OrderReading::Written));
        }
    }
}

#[test]
fn eight_events_are_no_burden() {
    let found =
        all(&program("W x 1 rlx; R a y rlx | W y 1 rlx; R b x rlx | W x 2 rlx; R c y rlx | W y 2 rlx; R d x rlx"));
    assert!(found.executions.len() > 100 && found.states < 10_000, "{} states", found.states);
}

#[test]
fn races_on_non_atomics() {
    for (name, text, racy) in [
        ("two writes", "W x 1 na | W x 2 na", true),
        ("two reads", "R a x na | R b x na", false),
        ("one thread", "W x 1 na; R a x na", false),
        ("atomic against non-atomic", "W x 1 rlx | R a x na", true),
        ("atomics", "W x 1 rlx | R a x rlx", false),
        ("different cells", "W x 1 na | W y 1 na", false),
        ("MP with a wait", "W x 1 na; W y 1 rel | WAIT y 1 acq; R a x na", false),
        ("MP with a relaxed wait", "W x 1 na; W y 1 rel | WAIT y 1 rlx; R a x na", true),
        ("MP without a wait", "W x 1 na; W y 1 rel | R b y acq; R a x na", true),
        ("MP with fences", "W x 1 na; F rel; W y 1 rlx | WAIT y 1 rlx; F acq; R a x na", false),
        ("locks", "LOCK l; W x 1 na; UNLOCK l | LOCK l; W x 2 na; UNLOCK l", false),
        ("locked on one side only", "LOCK l; W x 1 na; UNLOCK l | W x 2 na", true),
    ] {
        assert_eq!(all(&program(text)).has_race(OrderReading::Written), racy, "{name}: {text}");
    }
    let relaxed_wait = all(&program("W x 1 na; W y 1 rlx | WAIT y 1 rlx; R a x na"));
    assert!(!relaxed_wait.has_race(OrderReading::ReleaseAcquire));
}

#[test]
fn non_atomics_do_not_count_for_robustness() {
    let text = "W x 1 na; R a y na | W y 1 na; R b x na";
    assert!(is_robust(text, OrderReading::Written) && all(&program(text)).has_race(OrderReading::Written));
    let weak = all(&program(text)).executions.into_iter().find(|execution| !sc_consistent(&execution.graph));
    assert!(atomics_sc_consistent(&weak.expect("SB has a weak graph").graph));
    // They still carry program order between the atomic ones.
    assert!(!is_robust("W x 1 rlx; W z 1 na; R a y rlx | W y 1 rlx; R b x rlx", OrderReading::Written));
}

#[test]
fn a_witness_is_consistent_and_not_sc() {
    let program = program("W x 1 rel; R a y acq; W x 2 rel | W y 1 rel; R b x acq; W y 2 rel");
    let verdict = robust(&program, OrderReading::Written, GraphLimits::default()).expect("small");
    let GraphRobustness::NotRobust(graph) = verdict else { panic!("example 3.1 is not robust") };
    assert!(rc20_consistent(&graph, OrderReading::Written) && !sc_consistent(&graph));
}

#[test]
fn assertions_and_assumptions() {
    let failing = all(&program("W x 1 rlx; W y 1 rlx | R a y rlx; ASSUME a 1; R b x rlx; ASSERT b 1"));
    assert_eq!(failing.failures(), [(ThreadId(1), ThreadFailure::Assertion)]);
    let holding = all(&program("W x 1 rlx; W y 1 rel | R a y acq; ASSUME a 1; R b x rlx; ASSERT b 1"));
    assert_eq!(holding.failures(), []);
    // Complete, or stopped at the assumption.
    assert_eq!(holding.executions.iter().map(|execution| execution.complete).filter(|&done| done).count(), 1);
    assert_eq!(holding.executions.len(), 2);
}

#[test]
fn branches_havoc_and_computed_addresses() {
    let mut builder = ProgramBuilder::new("p");
    let cells = builder.variable(Variable::array("cells", 2));
    let base = builder.base(cells);
    let mut thread = builder.thread("p");
    let (i, r) = (thread.register("i"), thread.register("r"));
    thread.push(Instruction::Havoc { reg: i, lo: 0, hi: 1 });
    let cell = Expr::binary(BinaryOp::Add, base.into(), i.into());
    let address = Address { expr: cell, within: Some(cells) };
    thread.push(Instruction::Store { address: address.clone(), value: 7.into(), order: Order::Relaxed });
    let (here, join) = (thread.here(), thread.fresh());
    thread.edge(here, Instruction::Load { reg: r, address, order: Order::Relaxed }, join);
    thread.edge(here, Instruction::Nop, join);
    thread.finish();
    let program = builder.finish().expect("valid");
    let states = all(&program).final_states(&program);
    let memories: Vec<Vec<i64>> = states.iter().map(|state| state.memory.values().copied().collect()).collect();
    assert_eq!(memories, [[7, 0], [7, 0], [0, 7], [0, 7]]);
    assert_eq!(states.iter().map(|state| state.registers[0][1]).collect::<Vec<_>>(), [0, 7, 0, 7]);
}

#[test]
fn an_unnamed_cell_shows_only_when_it_changed() {
    let mut builder = ProgramBuilder::new("p");
    let mut thread = builder.thread("p");
    let r = thread.register("r");
    thread.push(Instruction::Load { reg: r, address: Address::computed(40.into()), order: Order::Relaxed });
    let address = Address::computed(41.into());
    thread.push(Instruction::Store { address, value: 1.into(), order: Order::Relaxed });
    thread.finish();
    let program = builder.finish().expect("valid");
    let states = all(&program).final_states(&program);
    assert_eq!(states.first().expect("one").memory.clone().into_iter().collect::<Vec<_>>(), [(41, 1)]);
}

#[test]
fn faults_stop_the_thread_and_domains_may_block() {
    let with = |escape| {
        let mut builder = ProgramBuilder::new("p");
        let x = builder.variable(Variable::scalar("x").with_domain(Domain::new(0, 2, escape)));
        let mut thread = builder.thread("p");
        thread.store(x, 3.into(), Order::Relaxed);
        thread.finish();
        all(&builder.finish().expect("valid"))
    };
    let fault = Fault::OutOfDomain { value: 3, lo: 0, hi: 2 };
    assert_eq!(with(Escape::Error).failures(), [(ThreadId(0), ThreadFailure::Fault(fault))]);
    assert!(!with(Escape::Block).executions[0].complete && with(Escape::Block).failures().is_empty());
    assert!(with(Escape::Wrap).executions[0].complete);
    assert_eq!(Domain::new(0, 2, Escape::Wrap).admit(3), Ok(Admission::Value(0)));
}

#[test]
fn a_fault_needs_a_write_that_may_be_read() {
    // The register holds 0 and 1 only. Reading 2 is a fault, and 2 can be read only without synchronisation.
    let with = |order| {
        let mut builder = ProgramBuilder::new("p");
        let x = builder.variable(Variable::scalar("x").with_initial(InitialValue::Value(2)));
        let y = builder.variable(Variable::scalar("y"));
        let mut writer = builder.thread("writer");
        writer.store(x, 1.into(), Order::Relaxed);
        writer.store(y, 1.into(), order);
        writer.finish();
        let mut reader = builder.thread("reader");
        let r = reader.register_with("r", Domain::BOOL);
        let address = reader.address(y);
        reader.push(Instruction::Wait {
            address,
            condition: WaitCondition::equals(1.into()),
            order: Order::Acquire,
            old: None,
        });
        reader.load(r, x, Order::Relaxed);
        reader.finish();
        all(&builder.finish().expect("valid")).failures()
    };
    assert_eq!(with(Order::Release), []);
    assert_eq!(with(Order::Relaxed).len(), 1);
}

#[test]
fn any_initial_value_is_tried() {
    let mut builder = ProgramBuilder::new("p");
    let x = builder.variable(Variable::scalar("x").with_domain(Domain::BOOL).with_initial(InitialValue::Any));
    let mut thread = builder.thread("p");
    let r = thread.register("r");
    thread.load(r, x, Order::Relaxed);
    thread.finish();
    let program = builder.finish().expect("valid");
    let states = all(&program).final_states(&program);
    assert_eq!(states.iter().map(|state| state.registers[0][0]).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_cannot_be_enumerated_is_refused() {
    let refusal = |program: &Program, limits| enumerate(program, OrderReading::Written, limits).expect_err("refused");
    let build = |instruction: Instruction, change: &dyn Fn(&mut Program)| {
        let mut builder = ProgramBuilder::new("p");
        let mut thread = builder.thread("p");
        thread.register("r");
        thread.push(instruction);
        thread.finish();
        change(&mut builder.program);
        builder.finish().expect("valid")
    };
    let unchanged = &|_: &mut Program| ();

    let looping = build(Instruction::Nop, &|program| program.threads[0].transitions[0].to = LocId(0));
    assert!(matches!(refusal(&looping, GraphLimits::default()), EnumerationRefusal::Loop { .. }));
    let copies = build(Instruction::Nop, &|program| program.threads[0].copies = Copies::Any);
    assert!(matches!(refusal(&copies, GraphLimits::default()), EnumerationRefusal::AnyCopies { .. }));
    for bus in [Instruction::BusLock, Instruction::BusUnlock, Instruction::Locked { body: vec![], drains: false }] {
        assert!(matches!(
            refusal(&build(bus, unchanged), GraphLimits::default()),
            EnumerationRefusal::Unsupported { .. }
        ));
    }
    let havoc = |lo, hi| Instruction::Havoc { reg: ravelin_program::RegId(0), lo, hi };
    let wide = build(havoc(i64::MIN, i64::MAX), unchanged);
    assert!(matches!(refusal(&wide, GraphLimits::default()), EnumerationRefusal::TooManyValues { .. }));
    let three = build(havoc(0, 2), unchanged);
    let few = GraphLimits { executions: 2, ..GraphLimits::default() };
    assert_eq!(refusal(&three, few), EnumerationRefusal::TooManyExecutions(2));
    assert_eq!(refusal(&three, GraphLimits { states: 2, ..few }), EnumerationRefusal::TooManyStates(2));
    assert_eq!(
        enumerate(&three, OrderReading::Written, GraphLimits { executions: 3, states: 4, values: 3 })
            .map(|all| all.states),
        Ok(4)
    );

    let mut builder = ProgramBuilder::new("any");
    builder.variable(Variable::scalar("x").with_initial(InitialValue::Any));
    let program = builder.finish().expect("valid");
    assert!(matches!(refusal(&program, GraphLimits::default()), EnumerationRefusal::TooManyValues { .. }));
}
