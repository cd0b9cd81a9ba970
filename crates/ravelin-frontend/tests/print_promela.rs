//! SPIN agrees with the verdicts that sequential consistency gives.
//!
//! Each row of the table is a program, built here, and whether SPIN must find a violation. The test runs the very command
//! that the printed text recommends.

use crate::spin;

use ravelin_frontend::print;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Condition, Copies, Domain, Escape, Expr, Goal, GoalKind, InitialValue, Instruction,
    Observable, Order, Program, ProgramBuilder, RmwOp, Span, ThreadId, Variable,
};

#[test]
fn spin_finds_exactly_the_violations_of_sequential_consistency() {
    if !spin::is_installed() {
        return;
    }
    let table: [(&str, Program, bool); 19] = [
        ("both threads of SB cannot read 0", store_buffering(0, 0), false),
        ("one thread of SB can read 0", store_buffering(0, 1), true),
        ("Peterson's algorithm excludes", peterson(true), false),
        ("Peterson's algorithm without the flag does not", peterson(false), true),
        ("fetch_add counts to 2", counter(true), false),
        ("a load and a store may lose a count", counter(false), true),
        ("an assertion that holds", one_thread(|t, _| assert_equal(t, 0)), false),
        ("an assertion that fails", one_thread(|t, _| assert_equal(t, 1)), true),
        ("a weak compare-exchange may fail spuriously", compare_exchange(true), true),
        ("a strong one may not", compare_exchange(false), false),
        ("an index outside its array is a fault", indexing(3), true),
        ("an index inside is none", indexing(2), false),
        ("a value outside its type is a fault", escaping(Escape::Error), true),
        ("or blocks", escaping(Escape::Block), false),
        ("or wraps, and the last location is reached", escaping(Escape::Wrap), true),
        ("unsigned operators, maxima and minima", calls(), false),
        ("a locked block runs as a whole or not at all", locked_block(), false),
        ("the bus lock keeps others out", bus_lock(true), false),
        ("without it they get in", bus_lock(false), true),
    ];
    for (claim, program, violated) in table {
        assert_eq!(spin::violates(&program), violated, "{claim}\n{}", print::promela(&program).unwrap());
    }
}

#[test]
fn what_spin_cannot_hold_is_refused_with_a_reason() {
    let wide = one_thread(|thread, _| {
        thread.push(Instruction::Assume(Expr::Const(5_000_000_000)));
    });
    assert_eq!(
        print::promela(&wide).unwrap_err().to_string(),
        "the number 5000000000 does not fit SPIN's 32-bit integers"
    );
    let wild = one_thread(|thread, _| {
        let r = thread.register("p");
        let here = thread.here();
        thread.edge(here, assign(r, Expr::binary(BinaryOp::Add, r.into(), 1.into())), here);
        thread.push(Instruction::Load { reg: r, address: Address::computed(r.into()), order: Order::Relaxed });
    });
    assert!(print::promela(&wild).unwrap_err().to_string().contains("needs a fixed array"));
    let mut copies = one_thread(|_, _| {});
    copies.threads[0].copies = Copies::Any;
    assert!(print::promela(&copies).unwrap_err().to_string().contains("any number of copies"));
    assert!(print::promela(&copies.instance(2)).is_ok());
}

#[test]
fn names_of_promela_and_strange_names_do_no_harm() {
    let mut builder = ProgramBuilder::new("a */ b\nc");
    let x = builder.variable(Variable::scalar("bit"));
    let mut thread = builder.thread("d");
    let r = thread.register("step");
    thread.load(r, x, Order::Relaxed);
    thread.label("*/ \"");
    thread.finish();
    let text = print::promela(&builder.finish().unwrap()).unwrap();
    assert!(text.contains("#define bit_2 mem[1]") && text.contains("int d_step_2 = 0;"), "{text}");
    assert_eq!(text.matches("/*").count(), text.matches("*/").count());
}

fn goal(kind: GoalKind, condition: Condition) -> Goal {
    Goal { kind, condition, span: Span::NOWHERE }
}

fn assign(reg: ravelin_program::RegId, value: Expr) -> Instruction {
    Instruction::Assign { reg, value }
}

fn one_thread(code: impl FnOnce(&mut ravelin_program::ThreadBuilder, ravelin_program::VarId)) -> Program {
    let mut builder = ProgramBuilder::new("one thread");
    let x = builder.variable(Variable::scalar("x"));
    let mut thread = builder.thread("t");
    code(&mut thread, x);
    thread.finish();
    builder.finish().expect("valid")
}

fn assert_equal(thread: &mut ravelin_program::ThreadBuilder, value: i64) {
    let r = thread.register("r");
    thread.push(Instruction::Assert(Expr::from(r).eq(value.into())));
}

/// Asserts what operators that are written as calls give on some values, which SPIN reads from a cell.
fn calls() -> Program {
    one_thread(|thread, x| {
        let (left, right) = (thread.register("left"), thread.register("right"));
        let calls = BinaryOp::ALL.into_iter().filter(|op| op.is_call());
        for op in calls {
            for (a, b) in
                [(6, 3), (3, 6), (0, 7), (-1, 3), (3, -1), (-6, -3), (-3, -6), (-5, 40), (5, 40), (-7, 0), (7, 1)]
            {
                // Other results do not fit, or are faults.
                let Ok(-1000..=100_000_000) = op.apply(Arithmetic::Checked, a, b) else { continue };
                if matches!(op, BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem) && a < 0 && b > 0 {
                    continue;
                }
                for (register, value) in [(left, a), (right, b)] {
                    thread.store(x, Expr::Const(value), Order::Relaxed);
                    thread.load(register, x, Order::Relaxed);
                }
                let result = op.apply(Arithmetic::Checked, a, b).expect("a value");
                let call = Expr::binary(op, left.into(), right.into());
                thread.push(Instruction::Assert(call.eq(Expr::Const(result))));
            }
        }
    })
}

fn store_buffering(first: i64, second: i64) -> Program {
    let mut builder = ProgramBuilder::new("SB");
    let cells = [builder.variable(Variable::scalar("x")), builder.variable(Variable::scalar("y"))];
    let mut condition = Expr::Const(1);
    for (me, wanted) in [first, second].into_iter().enumerate() {
        let mut thread = builder.thread(format!("t[{me}]"));
        let r = thread.register("r");
        thread.store(cells[me], 1.into(), Order::SeqCst);
        thread.load(r, cells[1 - me], Order::Relaxed);
        thread.finish();
        condition = condition.and(Expr::Atom(Observable::Register(ThreadId(me), r)).eq(wanted.into()));
    }
    builder.goal(goal(GoalKind::Exists, condition));
    builder.finish().expect("valid")
}

fn peterson(with_flag: bool) -> Program {
    let mut builder = ProgramBuilder::new("Peterson");
    let flag = builder.variable(Variable::array("flag", 2).with_domain(Domain::BOOL));
    let turn = builder.variable(Variable::scalar("turn").with_initial(InitialValue::Any).with_domain(Domain::BOOL));
    let base = builder.base(flag);
    let mut at = Vec::new();
    for me in 0..2 {
        let mut thread = builder.thread(format!("p[{me}]"));
        let (other, next) = (thread.register("other"), thread.register("turn"));
        let index = |cell: i64| Address { expr: Expr::Const(base + cell), within: Some(flag) };
        let start = thread.here();
        let raise =
            Instruction::Store { address: index(me), value: i64::from(with_flag).into(), order: Order::Relaxed };
        thread.push(raise);
        thread.store(turn, (1 - me).into(), Order::Relaxed);
        let spin = thread.here();
        thread.push(Instruction::Load { reg: other, address: index(1 - me), order: Order::Relaxed });
        thread.load(next, turn, Order::Relaxed);
        let busy = Expr::from(other).eq(1.into()).and(Expr::from(next).eq((1 - me).into()));
        thread.edge(thread.here(), Instruction::Assume(busy.clone()), spin);
        thread.push(Instruction::Assume(busy.not()));
        let critical = thread.label("critical");
        let leave = Instruction::Store { address: index(me), value: 0.into(), order: Order::Relaxed };
        thread.edge(critical, leave, start);
        at.push(Expr::Atom(Observable::At(thread.finish(), critical)));
    }
    let both = at.into_iter().reduce(Expr::and).expect("two");
    builder.goal(goal(GoalKind::Never, both));
    builder.finish().expect("valid")
}

fn counter(atomic: bool) -> Program {
    let mut builder = ProgramBuilder::new("counter");
    let x = builder.variable(Variable::scalar("x"));
    let address = Observable::Memory(builder.base(x));
    for name in ["a", "b"] {
        let mut thread = builder.thread(name);
        let r = thread.register("r");
        if atomic {
            let address = thread.address(x);
            let (op, order) = (RmwOp::Add, Order::Relaxed);
            thread.push(Instruction::Rmw {
                arithmetic: ravelin_program::Arithmetic::Checked,
                op,
                address,
                operand: 1.into(),
                order,
                old: Some(r),
            });
        } else {
            thread.load(r, x, Order::Relaxed);
            thread.store(x, Expr::binary(BinaryOp::Add, r.into(), 1.into()), Order::Relaxed);
        }
        thread.finish();
    }
    builder.goal(goal(GoalKind::Finally, Expr::Atom(address).eq(2.into())));
    builder.finish().expect("valid")
}

fn compare_exchange(weak: bool) -> Program {
    one_thread(|thread, x| {
        let ok = thread.register("ok");
        let address = thread.address(x);
        let (success, failure) = (Order::AcqRel, Order::Acquire);
        let (expected, new) = (0.into(), 1.into());
        let exchange =
            Instruction::CompareExchange { address, expected, new, success, failure, weak, old: None, ok: Some(ok) };
        thread.push(exchange);
        thread.push(Instruction::Assert(ok.into()));
    })
}

fn indexing(len: i64) -> Program {
    let mut builder = ProgramBuilder::new("indexing");
    let array = builder.variable(Variable::array("a", 3));
    let base = builder.base(array);
    let mut thread = builder.thread("t");
    let i = thread.register("i");
    thread.push(Instruction::Havoc { reg: i, lo: 0, hi: len });
    let expr = Expr::binary(BinaryOp::Add, base.into(), i.into());
    let address = Address { expr, within: Some(array) };
    thread.push(Instruction::Store { address, value: 7.into(), order: Order::NonAtomic });
    thread.finish();
    builder.finish().expect("valid")
}

/// Counts to 3 in a type that ends at 2; reaching the end is the violation.
fn escaping(escape: Escape) -> Program {
    let mut builder = ProgramBuilder::new("escaping");
    let arithmetic = Arithmetic::Wrapping(Domain::new(-8, 7, Escape::Wrap));
    let mut thread = builder.thread("t");
    let r = thread.register_with("r", Domain::new(0, 2, escape));
    for _ in 0..3 {
        thread.push(assign(r, Expr::binary_in(arithmetic, BinaryOp::Add, r.into(), 1.into())));
    }
    let end = thread.label("end");
    let thread = thread.finish();
    let back = Expr::Atom(Observable::Register(thread, r)).eq(0.into());
    builder.goal(goal(GoalKind::Never, Expr::Atom(Observable::At(thread, end)).and(back)));
    builder.finish().expect("valid")
}

/// The block swaps x and y through registers, if x is 1 in the end; nobody sees it half done.
fn locked_block() -> Program {
    let mut builder = ProgramBuilder::new("locked");
    let x = builder.variable(Variable::scalar("x"));
    let y = builder.variable(Variable::scalar("y").with_initial(InitialValue::Value(1)));
    let (at_x, at_y) = (Observable::Memory(builder.base(x)), Observable::Memory(builder.base(y)));
    for name in ["a", "b"] {
        let mut thread = builder.thread(name);
        let (r, s) = (thread.register("r"), thread.register("s"));
        let (to_x, to_y) = (thread.address(x), thread.address(y));
        let order = Order::Relaxed;
        let body = vec![
            Instruction::Load { reg: r, address: to_x.clone(), order },
            Instruction::Load { reg: s, address: to_y.clone(), order },
            Instruction::Store { address: to_x.clone(), value: s.into(), order },
            Instruction::Store { address: to_y, value: r.into(), order },
            Instruction::Load { reg: r, address: to_x, order },
            Instruction::Assume(Expr::from(r).eq(1.into())),
        ];
        thread.push(Instruction::Locked { body, drains: true });
        thread.push(Instruction::Assert(Expr::from(r).eq(1.into()).and(Expr::from(s).eq(1.into()))));
        thread.finish();
    }
    let equal = Expr::Atom(at_x).eq(Expr::Atom(at_y));
    builder.goal(goal(GoalKind::Never, equal));
    builder.finish().expect("valid")
}

fn bus_lock(held: bool) -> Program {
    let mut builder = ProgramBuilder::new("bus");
    let x = builder.variable(Variable::scalar("x"));
    for name in ["a", "b"] {
        let mut thread = builder.thread(name);
        let r = thread.register("r");
        if held {
            thread.push(Instruction::BusLock);
        }
        thread.store(x, i64::from(name == "a").into(), Order::Relaxed);
        thread.load(r, x, Order::Relaxed);
        if held {
            thread.push(Instruction::BusUnlock);
        }
        thread.push(Instruction::Assert(Expr::from(r).eq(i64::from(name == "a").into())));
        thread.finish();
    }
    builder.finish().expect("valid")
}
