//! The rules beyond plain loads and stores: locked instructions, the bus lock, domains, faults, goals, replay.

use ravelin_program::{
    Address, BinaryOp, Copies, Domain, Escape, Expr, Fault, Goal, GoalKind, InitialValue, Instruction, LocId, Model,
    Observable, Order, Program, ProgramBuilder, RegId, RmwOp, Span, ThreadBuilder, ThreadId, TransitionId, Unnamed,
    Value, Variable, WaitAtom, WaitCondition,
};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Exploration, NotModelled, Reference, Refusal, State, TooMany};

const R: RegId = RegId(0);
const S: RegId = RegId(1);
/// The addresses of x and y.
const X: Value = 1;
const Y: Value = 2;

fn cell(address: Value) -> Address {
    Address::computed(Expr::Const(address))
}

fn store(address: Value, value: Value) -> Instruction {
    Instruction::Store { address: cell(address), value: Expr::Const(value), order: Order::Relaxed }
}

fn load(reg: RegId, address: Value) -> Instruction {
    Instruction::Load { reg, address: cell(address), order: Order::Relaxed }
}

fn add(reg: RegId, to: RegId) -> Instruction {
    Instruction::Assign { reg: to, value: Expr::binary(BinaryOp::Add, Expr::Atom(reg), Expr::Const(1)) }
}

fn compare_exchange(expected: Value, new: Value, weak: bool) -> Instruction {
    Instruction::CompareExchange {
        address: cell(X),
        expected: Expr::Const(expected),
        new: Expr::Const(new),
        success: Order::SeqCst,
        failure: Order::Relaxed,
        weak,
        old: Some(R),
        ok: Some(S),
    }
}

/// Straight-line threads, each with registers r and s, over x and y of these types.
fn program(x: Variable, y: Variable, threads: Vec<Vec<Instruction>>) -> Program {
    let mut builder = ProgramBuilder::new("test");
    builder.variable(x);
    builder.variable(y);
    for (index, code) in threads.into_iter().enumerate() {
        let mut thread: ThreadBuilder<'_> = builder.thread(format!("t{index}"));
        thread.register("r");
        thread.register("s");
        for instruction in code {
            thread.push(instruction);
        }
        thread.finish();
    }
    builder.finish().expect("a valid program")
}

fn plain(threads: Vec<Vec<Instruction>>) -> Program {
    program(Variable::scalar("x"), Variable::scalar("y"), threads)
}

fn explore(program: &Program, model: Model) -> Exploration {
    let explored =
        Reference::new(program, model, None).expect("modelled").explore(100_000).expect("few initial states");
    assert!(explored.complete);
    explored
}

/// The registers r and s of thread 0 in every final state.
fn outcomes(program: &Program, model: Model) -> Vec<[Value; 2]> {
    let mut found: Vec<[Value; 2]> = explore(program, model)
        .finals
        .iter()
        .map(|state| [state.threads[0].registers[0], state.threads[0].registers[1]])
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn step(thread: usize, transition: usize) -> Action {
    Action::Step { thread: ThreadId(thread), transition: TransitionId(transition), choice: 0 }
}

fn start(reference: &Reference) -> State {
    reference.initial_states().expect("few")[0].clone()
}

#[test]
fn increments_are_lost_without_atomicity_and_never_with_it() {
    let increment = Instruction::Store { address: cell(X), value: R.into(), order: Order::Relaxed };
    let racy = vec![load(R, X), add(R, R), increment];
    let rmw = Instruction::Rmw {
        arithmetic: ravelin_program::Arithmetic::Checked,
        op: RmwOp::Add,
        address: cell(X),
        operand: 1.into(),
        order: Order::Relaxed,
        old: None,
    };
    let between = |open, close| [vec![open], racy.clone(), vec![close]].concat();
    let cases = [
        ("racy", racy.clone(), true),
        ("rmw", vec![rmw], false),
        ("lock", between(Instruction::Lock(cell(Y)), Instruction::Unlock(cell(Y))), false),
        ("bus lock", between(Instruction::BusLock, Instruction::BusUnlock), false),
        ("locked block", vec![Instruction::Locked { body: racy.clone(), drains: true }], false),
    ];
    for (name, code, loses) in cases {
        for model in Model::HARDWARE {
            let explored = explore(&plain(vec![code.clone(), code.clone()]), model);
            assert!(explored.stuck.is_empty(), "{name} under {model}");
            assert_eq!(explored.finals.iter().any(|state| state.cell(X) == 1), loses, "{name} under {model}");
            assert!(explored.finals.iter().any(|state| state.cell(X) == 2), "{name} under {model}");
        }
    }
}

#[test]
fn an_unlock_is_buffered_but_comes_after_the_section_it_ends() {
    let code = vec![Instruction::Lock(cell(Y)), store(X, 1), Instruction::Unlock(cell(Y))];
    let reference = Reference::new(&plain(vec![code]), Model::Pso, None).expect("modelled");
    let mut state = start(&reference);
    for transition in 0..3 {
        state = reference.apply(&state, step(0, transition)).expect("enabled");
    }
    assert_eq!((state.cell(X), state.cell(Y)), (0, 1));
    let flush = |address| Action::Flush { thread: ThreadId(0), address };
    assert_eq!(reference.apply(&state, flush(Y)), Err(Refusal::NothingToFlush { address: Y }));
    state = reference.apply(&state, flush(X)).expect("x is oldest");
    state = reference.apply(&state, flush(Y)).expect("y is next");
    assert!(reference.is_final(&state));
}

#[test]
fn a_compare_exchange_succeeds_fails_or_fails_for_no_reason() {
    for model in Model::HARDWARE {
        assert_eq!(outcomes(&plain(vec![vec![compare_exchange(0, 5, false)]]), model), [[0, 1]]);
        assert_eq!(outcomes(&plain(vec![vec![compare_exchange(1, 5, false)]]), model), [[0, 0]]);
        assert_eq!(outcomes(&plain(vec![vec![compare_exchange(0, 5, true)]]), model), [[0, 0], [0, 1]]);
        assert_eq!(outcomes(&plain(vec![vec![compare_exchange(1, 5, true)]]), model), [[0, 0]]);
    }
    let mut same = compare_exchange(7, 5, false);
    if let Instruction::CompareExchange { old, ok, .. } = &mut same {
        (*old, *ok) = (Some(R), Some(R));
    }
    let x = Variable::scalar("x").with_initial(InitialValue::Value(7));
    let program = program(x, Variable::scalar("y"), vec![vec![same]]);
    assert_eq!(outcomes(&program, Model::Tso), [[1, 0]], "ok is written last");
}

#[test]
fn even_a_failing_compare_exchange_drains_the_buffer() {
    let half = |mine, other| vec![store(mine, 1), compare_exchange(9, 9, false), load(R, other)];
    let both_zero = |state: &State| state.threads.iter().all(|thread| thread.registers[0] == 0);
    let program = plain(vec![half(X, Y), half(Y, X)]);
    assert!(!explore(&program, Model::Pso).finals.iter().any(both_zero));
}

#[test]
fn waits_and_blocking_cas_wait() {
    let wait = |values: Vec<Value>| Instruction::Wait {
        address: cell(X),
        condition: WaitCondition::one_of(values.into_iter().map(Expr::Const)),
        order: Order::Relaxed,
        old: Some(R),
    };
    for model in Model::HARDWARE {
        let program = plain(vec![vec![wait(vec![2, 3])], vec![store(X, 1), store(X, 2), store(X, 3)]]);
        assert_eq!(outcomes(&program, model), [[2, 0], [3, 0]], "{model}");
        assert!(!explore(&plain(vec![vec![wait(vec![1])]]), model).stuck.is_empty());
        let odd = Expr::binary(BinaryOp::Rem, Expr::Atom(WaitAtom::Read), 2.into());
        let odd = Instruction::Wait {
            address: cell(X),
            condition: WaitCondition::new(odd),
            order: Order::Relaxed,
            old: Some(R),
        };
        let program = plain(vec![vec![odd], vec![store(X, 1), store(X, 2), store(X, 3)]]);
        assert_eq!(outcomes(&program, model), [[1, 0], [3, 0]], "{model}");
        // It sees its own pending store.
        assert_eq!(outcomes(&plain(vec![vec![store(X, 1), wait(vec![1])]]), model), [[1, 0]]);
        let bcas = |expected: Value, new: Value| Instruction::BlockingCas {
            address: cell(X),
            expected: expected.into(),
            new: new.into(),
            order: Order::SeqCst,
        };
        let explored = explore(&plain(vec![vec![bcas(1, 2)], vec![bcas(0, 1)]]), model);
        assert!(explored.stuck.is_empty() && explored.finals.iter().all(|state| state.cell(X) == 2));
    }
}

#[test]
fn while_the_bus_is_held_others_compute_and_issue_but_do_not_touch_memory() {
    let other = vec![add(R, R), Instruction::Fence(Order::SeqCst), store(X, 1), load(S, Y)];
    let reference = |model| {
        let program = plain(vec![vec![Instruction::BusLock, Instruction::BusUnlock], other.clone()]);
        Reference::new(&program, model, None).expect("modelled")
    };
    let refused = Err(Refusal::BusHeld { by: ThreadId(0) });
    for model in Model::HARDWARE {
        let reference = reference(model);
        let mut state = reference.apply(&start(&reference), step(0, 0)).expect("the bus is free");
        for transition in 0..2 {
            state = reference.apply(&state, step(1, transition)).expect("local");
        }
        match reference.apply(&state, step(1, 2)) {
            Ok(issued) if model.is_buffered() => {
                assert_eq!(reference.apply(&issued, Action::Flush { thread: ThreadId(1), address: X }), refused);
                assert_eq!(reference.apply(&issued, step(1, 3)), refused);
                let freed = reference.apply(&issued, step(0, 1)).expect("the holder frees it");
                assert!(reference.apply(&freed, step(1, 3)).is_ok());
            }
            outcome => assert!(model == Model::Sc && outcome == refused, "{model}: {outcome:?}"),
        }
    }
    let faulty = explore(&plain(vec![vec![Instruction::BusUnlock]]), Model::Tso);
    assert_eq!(faulty.faults, [(ThreadId(0), TransitionId(0), Fault::BusNotHeld)]);
    let twice = explore(&plain(vec![vec![Instruction::BusLock, Instruction::BusLock]]), Model::Tso);
    assert_eq!((twice.finals.len(), twice.stuck.len()), (0, 1));
}

#[test]
fn a_locked_block_happens_as_a_whole_or_not_at_all() {
    let body = vec![load(R, X), store(Y, 1), Instruction::Assume(Expr::Atom(R))];
    let mut stores = plain(vec![vec![Instruction::Locked { body: body.clone(), drains: true }]]);
    let alone = explore(&stores, Model::Tso);
    assert!(alone.finals.is_empty() && alone.stuck.iter().all(|state| state.cell(Y) == 0));
    // A store straight to memory would overtake the thread's own pending ones.
    stores.threads[0].transitions[0].instruction = Instruction::Locked { body, drains: false };
    assert_eq!(ravelin_program::validate(&stores).len(), 1);
    // Draining waits for the own store to reach memory; otherwise the block reads it early.
    for (drains, early) in [(true, false), (false, true)] {
        let block = Instruction::Locked { body: vec![load(R, X), Instruction::Assume(Expr::Atom(R))], drains };
        let mut found = false;
        let reference = Reference::new(&plain(vec![vec![store(X, 1), block]]), Model::Tso, None).unwrap();
        let read = |state: &State| state.threads[0].registers.contains(&1) && state.cell(X) == 0;
        reference.visit(100, &mut |state, _| found |= read(state)).unwrap();
        assert_eq!(found, early);
    }
}

#[test]
fn cells_that_start_with_any_value_give_several_initial_states() {
    let any = |domain| Variable::scalar("x").with_domain(domain).with_initial(InitialValue::Any);
    let start = |x| program(x, Variable::scalar("y"), vec![vec![load(R, X)]]);
    let small = start(any(Domain::new(-1, 1, Escape::Error)));
    assert_eq!(outcomes(&small, Model::Sc), [[-1, 0], [0, 0], [1, 0]]);
    let reference = Reference::new(&start(any(Domain::FULL)), Model::Sc, None).expect("modelled");
    assert_eq!(reference.initial_states(), Err(TooMany { limit: 65536 }));
}

#[test]
fn a_value_outside_its_domain_wraps_blocks_or_faults() {
    for (escape, finals, faults) in [(Escape::Wrap, 1, 0), (Escape::Block, 0, 0), (Escape::Error, 0, 1)] {
        let x = || Variable::scalar("x").with_domain(Domain::new(0, 1, escape));
        let rmw = Instruction::Rmw {
            arithmetic: ravelin_program::Arithmetic::Checked,
            op: RmwOp::Add,
            address: cell(X),
            operand: 2.into(),
            order: Order::SeqCst,
            old: None,
        };
        for instruction in [
            store(X, 2),
            rmw,
            compare_exchange(0, 2, false),
            Instruction::Locked { body: vec![store(X, 2)], drains: true },
        ] {
            let program = program(x(), Variable::scalar("y"), vec![vec![instruction]]);
            for model in Model::HARDWARE {
                let explored = explore(&program, model);
                assert_eq!((explored.finals.len(), explored.faults.len()), (finals, faults), "{escape:?} {model}");
                assert!(explored.finals.iter().all(|state| state.cell(X) == 0));
            }
        }
    }
    // A havoc skips what its register blocks.
    let mut builder = ProgramBuilder::new("havoc");
    let mut thread = builder.thread("t");
    let reg = thread.register_with("r", Domain::new(0, 1, Escape::Block));
    thread.push(Instruction::Havoc { reg, lo: 0, hi: 5 });
    thread.finish();
    assert_eq!(explore(&builder.finish().expect("valid"), Model::Sc).finals.len(), 2);
}

#[test]
fn faults_and_failed_assertions_have_no_successor_and_are_reported() {
    let divide = Expr::binary(BinaryOp::Div, Expr::Const(1), Expr::Atom(R));
    let program = plain(vec![vec![Instruction::Assign { reg: S, value: divide }]]);
    let explored = explore(&program, Model::Tso);
    assert_eq!(explored.faults, [(ThreadId(0), TransitionId(0), Fault::DivisionByZero)]);
    assert_eq!((explored.states, explored.stuck.len()), (1, 1));
    let explored = explore(&plain(vec![vec![Instruction::Assert(Expr::Atom(R))]]), Model::Tso);
    assert_eq!(explored.failed_asserts.into_iter().collect::<Vec<_>>(), [(ThreadId(0), TransitionId(0))]);

    let mut builder = ProgramBuilder::new("array");
    let array = builder.variable(Variable::array("a", 2));
    let mut thread = builder.thread("t");
    let r = thread.register("r");
    let expr = Expr::binary(BinaryOp::Add, Expr::Const(1), Expr::Const(2));
    thread.push(Instruction::Load { reg: r, address: Address { expr, within: Some(array) }, order: Order::Relaxed });
    thread.finish();
    let explored = explore(&builder.finish().expect("valid"), Model::Sc);
    assert_eq!(explored.faults[0].2, Fault::OutOfBounds { address: 3, base: 1, len: 2 });
}

#[test]
fn an_access_to_where_nothing_is_is_a_fault() {
    for address in [0, 1, 2, 3, 4] {
        let at = || Address::computed(Expr::Const(address));
        let instructions = [
            Instruction::Load { reg: RegId(0), address: at(), order: Order::Relaxed },
            Instruction::Store { address: at(), value: Expr::Const(0), order: Order::Relaxed },
            Instruction::exchange(at(), Expr::Const(0), Order::Relaxed),
            Instruction::Lock(at()),
            Instruction::Locked {
                body: vec![Instruction::Store { address: at(), value: Expr::Const(1), order: Order::Relaxed }],
                drains: true,
            },
        ];
        for instruction in instructions {
            let mut builder = ProgramBuilder::new("strict");
            builder.program.memory.unnamed = Unnamed::Nothing;
            builder.variable(Variable::scalar("x"));
            builder.gap(1);
            builder.variable(Variable::scalar("y"));
            let mut thread = builder.thread("t");
            thread.register("r");
            thread.push(instruction.clone());
            thread.finish();
            let program = builder.finish().expect("valid");
            for model in Model::HARDWARE {
                let found: Vec<Fault> = explore(&program, model).faults.iter().map(|fault| fault.2).collect();
                let expected = if [1, 3].contains(&address) { vec![] } else { vec![Fault::NoObject { address }] };
                assert_eq!(found, expected, "{instruction:?} under {model}");
            }
        }
    }
}

#[test]
fn a_bound_cuts_stores_off_and_says_so() {
    let program = plain(vec![vec![store(X, 1), store(Y, 1), store(X, 2)]]);
    for (bound, cut_off) in [(1, true), (2, true), (3, false)] {
        for model in [Model::Tso, Model::Pso] {
            let reference = Reference::new(&program, model, Some(bound)).expect("modelled");
            let explored = reference.explore(1000).expect("one initial state");
            assert_eq!(explored.cut_off, cut_off, "{model} {bound}");
            assert_eq!(explored.finals.len(), 1);
        }
    }
}

#[test]
fn unnamed_cells_leave_no_trace_when_they_hold_0() {
    let explored = explore(&plain(vec![vec![store(90, 1), store(90, 0)]]), Model::Tso);
    let [state] = &explored.finals.into_iter().collect::<Vec<_>>()[..] else { panic!("one final state") };
    assert_eq!(state.memory.keys().copied().collect::<Vec<_>>(), [X, Y]);
}

#[test]
fn goals_about_memory_are_judged_only_where_buffers_are_empty() {
    let mut program = plain(vec![vec![store(X, 1), Instruction::Nop]]);
    let at = |location| Expr::Atom(Observable::At(ThreadId(0), LocId(location)));
    let x_is = |value: Value| Expr::Atom(Observable::Memory(X)).eq(value.into());
    let goal = |kind, condition| Goal { kind, condition, span: Span::NOWHERE };
    program.goals = vec![
        goal(GoalKind::Never, at(2).and(x_is(0))),
        goal(GoalKind::Never, at(2)),
        goal(GoalKind::Never, x_is(1)),
        goal(GoalKind::Exists, x_is(1)),
        goal(GoalKind::NeverFinally, x_is(0)),
        goal(GoalKind::Finally, x_is(1)),
        goal(GoalKind::Finally, x_is(0)),
        goal(GoalKind::Never, Expr::binary(BinaryOp::Div, 1.into(), 0.into())),
    ];
    for model in Model::HARDWARE {
        let violated: Vec<usize> = explore(&program, model).violated_goals.into_iter().collect();
        assert_eq!(violated, [1, 2, 3, 6], "{model}");
    }
}

#[test]
fn replay_says_why_an_action_is_refused() {
    let program = plain(vec![vec![store(X, 1), Instruction::Fence(Order::SeqCst), Instruction::Assume(Expr::Atom(R))]]);
    let reference = Reference::new(&program, Model::Tso, Some(1)).expect("modelled");
    let state = start(&reference);
    assert_eq!(reference.apply(&state, step(7, 0)), Err(Refusal::NoSuchThread(ThreadId(7))));
    assert_eq!(reference.apply(&state, step(0, 7)), Err(Refusal::NoSuchTransition(TransitionId(7))));
    assert_eq!(reference.apply(&state, step(0, 1)), Err(Refusal::NotThere));
    let chosen = Action::Step { thread: ThreadId(0), transition: TransitionId(0), choice: 3 };
    assert_eq!(reference.apply(&state, chosen), Err(Refusal::NoSuchChoice(3)));
    let flush = Action::Flush { thread: ThreadId(0), address: X };
    assert_eq!(reference.apply(&state, flush), Err(Refusal::NothingToFlush { address: X }));
    let state = reference.apply(&state, step(0, 0)).expect("issued");
    assert_eq!(reference.apply(&state, step(0, 1)), Err(Refusal::BufferNotEmpty));
    let state = reference.apply(&state, flush).expect("flushed");
    let state = reference.apply(&state, step(0, 1)).expect("fenced");
    assert_eq!(reference.apply(&state, step(0, 2)), Err(Refusal::AssumeFails));
}

#[test]
fn programs_without_a_fixed_number_of_threads_or_choices_are_refused() {
    let mut program = plain(vec![vec![Instruction::Nop]]);
    program.threads[0].copies = Copies::Any;
    assert_eq!(Reference::new(&program, Model::Sc, None).err(), Some(NotModelled::AnyCopies("t0".to_owned())));
    let wide = plain(vec![vec![Instruction::Havoc { reg: R, lo: Value::MIN, hi: Value::MAX }]]);
    assert!(matches!(Reference::new(&wide, Model::Sc, None), Err(NotModelled::WideHavoc { .. })));
}
