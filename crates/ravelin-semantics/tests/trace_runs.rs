//! What a trace tells about a run: events, sources, memory order, edges.

use crate::trace_shorthand;

use ravelin_program::{Address, BinaryOp, Expr, Instruction, Model, ThreadId, TransitionId};
use ravelin_semantics::Action;
use ravelin_semantics::operational::Refusal;
use ravelin_semantics::trace::{CycleStep, NoTrace, Trace, TraceEdge, ValueSource};
use trace_shorthand::*;

/// Value and source of the first read of an event.
fn read(trace: &Trace, event: usize) -> (i64, ValueSource) {
    let read = trace.events[event].accesses.iter().find_map(|access| access.read).expect("it reads");
    (read.value, read.source)
}

/// The edges of some kinds: `0 fr(1) 2`.
fn edges(trace: &Trace, kinds: &[TraceEdge]) -> Vec<String> {
    let wanted = trace.edges().into_iter().filter(|arrow| kinds.contains(&arrow.edge));
    wanted
        .map(|arrow| match arrow.address {
            Some(address) => format!("{} {}({address}) {}", arrow.from, arrow.edge, arrow.to),
            None => format!("{} {} {}", arrow.from, arrow.edge, arrow.to),
        })
        .collect()
}

#[test]
fn an_early_load_has_the_pending_store_as_its_source() {
    let program = program(&[vec![store(X, 1), load(A, X), store(X, 2), load(B, X)], vec![store(X, 9), load(A, X)]]);
    let reference = reference(&program, Model::Tso);
    let mut run: Vec<Action> = (0..4).map(|transition| step(0, transition)).collect();
    run.extend([step(1, 0), flush(1, X), step(1, 1)]);
    let early = trace(&reference, &run);
    assert!(!early.is_computation() && early.pending == 2);
    assert_eq!((read(&early, 1), read(&early, 3)), ((1, ValueSource::Event(0)), (2, ValueSource::Event(2))));
    assert_eq!(read(&early, 5), (9, ValueSource::Event(4)));
    assert_eq!(early.memory_order[&X], [4]);
    // Nothing has overwritten what the early loads read: it is not even in memory.
    assert_eq!(edges(&early, &[TraceEdge::Rf, TraceEdge::Co, TraceEdge::Fr]), ["0 rf(1) 1", "2 rf(1) 3", "4 rf(1) 5"]);
    run.extend([flush(0, X), flush(0, X)]);
    let whole = trace(&reference, &run);
    assert!(whole.is_computation());
    assert_eq!(whole.memory_order[&X], [4, 0, 2]);
    assert_eq!(edges(&whole, &[TraceEdge::Co, TraceEdge::Fr]), ["0 co(1) 2", "1 fr(1) 2", "4 co(1) 0", "5 fr(1) 0"]);
    assert_eq!(edges(&whole, &[TraceEdge::Po]), ["0 po 1", "1 po 2", "2 po 3", "4 po 5"]);
    assert_eq!(whole.cycle(), None);
}

#[test]
fn an_event_knows_its_actions() {
    let program = program(&[vec![store(X, 1), Instruction::Nop, load(A, Y)]]);
    let reference = reference(&program, Model::Tso);
    let trace = trace(&reference, &[step(0, 0), step(0, 1), step(0, 2), flush(0, X)]);
    let taken: Vec<_> =
        trace.events.iter().map(|event| (event.thread, event.steps[0].transition, event.steps[0].at)).collect();
    assert_eq!(taken, [(ThreadId(0), TransitionId(0), 0), (ThreadId(0), TransitionId(2), 2)]);
    let write = trace.events[0].accesses[0].write.expect("a store");
    assert_eq!((write.value, write.reached), (1, Some(3)));
    assert_eq!(read(&trace, 1), (0, ValueSource::Initial));
}

#[test]
fn under_sc_a_store_reaches_memory_in_its_own_step() {
    let program = program(&[vec![store(X, 1)]]);
    let trace = trace(&reference(&program, Model::Sc), &[step(0, 0)]);
    assert!(trace.is_computation());
    assert_eq!(trace.events[0].accesses[0].write.expect("a store").reached, Some(0));
}

#[test]
fn pso_flushes_go_by_address() {
    let program = program(&[vec![store(X, 1), store(Y, 1), store(X, 2)], vec![load(A, Y), load(B, X)]]);
    let reference = reference(&program, Model::Pso);
    let mut run = vec![step(0, 0), step(0, 1), step(0, 2), flush(0, Y), step(1, 0), step(1, 1)];
    run.extend([flush(0, X), flush(0, X)]);
    let trace = trace(&reference, &run);
    assert_eq!((&trace.memory_order[&X][..], &trace.memory_order[&Y][..]), (&[0, 2][..], &[1][..]));
    assert_eq!(
        trace.cycle().expect("x = 1 was overtaken"),
        [(0, TraceEdge::Po, None), (1, TraceEdge::Rf, Some(Y)), (3, TraceEdge::Po, None), (4, TraceEdge::Fr, Some(X))]
            .map(|(event, edge, address)| CycleStep { event, edge, address })
    );
}

#[test]
fn a_compare_exchange_that_fails_only_reads() {
    let fails_for_no_reason = Action::Step { thread: ThreadId(0), transition: TransitionId(0), choice: 1 };
    for (weak, expected, action, writes) in [
        (false, 0, step(0, 0), true),
        (false, 1, step(0, 0), false),
        (true, 0, step(0, 0), true),
        (true, 0, fails_for_no_reason, false),
    ] {
        let program = program(&[vec![compare_exchange(X, expected, 5, weak)]]);
        let trace = trace(&reference(&program, Model::Tso), &[action]);
        assert_eq!(read(&trace, 0), (0, ValueSource::Initial));
        assert_eq!(trace.events[0].accesses[0].write.map(|write| write.value), writes.then_some(5));
        assert_eq!(trace.memory_order.contains_key(&X), writes);
        assert!(trace.edges().is_empty());
    }
}

#[test]
fn addresses_in_a_locked_block_may_depend_on_its_loads() {
    // x holds the address of y: a = x; mem[a] = a + 1; b = y.
    let pointed = Address::computed(Expr::Atom(A));
    let value = Expr::binary(BinaryOp::Add, Expr::Atom(A), Expr::Const(1));
    let write = Instruction::Store { address: pointed, value, order: ravelin_program::Order::Relaxed };
    let program = program(&[vec![store(X, Y), locked(&[load(A, X), write, load(B, Y)])]]);
    let trace = trace(&reference(&program, Model::Tso), &[step(0, 0), flush(0, X), step(0, 1)]);
    let block = &trace.events[1];
    let addresses: Vec<_> = block.accesses.iter().map(|access| access.address).collect();
    assert_eq!(addresses, [X, Y, Y]);
    assert_eq!(block.accesses[0].read.map(|read| (read.value, read.source)), Some((Y, ValueSource::Event(0))));
    assert_eq!(block.accesses[1].write.map(|write| write.value), Some(Y + 1));
    assert_eq!(block.accesses[2].read.map(|read| (read.value, read.source)), Some((Y + 1, ValueSource::Event(1))));
    assert_eq!(edges(&trace, &TraceEdge::ALL), ["0 po 1", "0 rf(1) 1"]);
}

#[test]
fn everything_under_one_bus_lock_is_one_event() {
    let code = [bus(&[store(X, 1), load(A, X), swap(Z, 1)]), bus(&[load(B, Y)]), vec![load(A, Y)]].concat();
    let reference = reference(&program(&[code]), Model::Tso);
    let mut run = vec![step(0, 0), step(0, 1), step(0, 2)];
    let open = trace(&reference, &run);
    assert_eq!((open.events.len(), open.events[0].accesses.len(), open.pending), (1, 2, 1));
    run.extend([flush(0, X), step(0, 3), step(0, 4), step(0, 5), step(0, 6), step(0, 7), step(0, 8)]);
    let whole = trace(&reference, &run);
    let steps: Vec<Vec<usize>> =
        whole.events.iter().map(|event| event.steps.iter().map(|taken| taken.transition.0).collect()).collect();
    assert_eq!(steps, [vec![1, 2, 3], vec![6], vec![8]]);
    assert_eq!(read(&whole, 0), (1, ValueSource::Event(0)));
    assert_eq!(edges(&whole, &TraceEdge::ALL), ["0 po 1", "1 po 2"]);
}

#[test]
fn what_is_no_run_has_no_trace() {
    let program = program(&[vec![store(X, 1), fence()]]);
    let reference = reference(&program, Model::Tso);
    let begin = start(&reference);
    assert_eq!(
        Trace::of(&reference, &begin, &[step(0, 0), step(0, 1)]),
        Err(NoTrace::NotARun { at: 1, refusal: Refusal::BufferNotEmpty })
    );
    let issued = reference.apply(&begin, step(0, 0)).expect("issued");
    assert_eq!(Trace::of(&reference, &issued, &[flush(0, X)]), Err(NoTrace::PendingAtStart));
}
