//! Programs of any shape as `.rav`: how the text looks, and that it reads back as the same program.

use ravelin_frontend::print;
use ravelin_frontend::rav::parse;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Copies, Domain, Escape, Expr, Goal, GoalKind, InitialValue, Instruction, LocId,
    Location, Observable, Order, Program, ProgramBuilder, RegId, RmwOp, Source, Span, Thread, ThreadId, Transition,
    UnaryOp, Unnamed, Variable, WaitAtom, WaitCondition,
};

#[test]
fn a_text_in_the_printers_own_style_comes_back_as_it_was() {
    let texts = [
        "static x;\nstatic flag: [bool; 2] = [1, any];\n\nthread t {\n    let r: u8;\n    x.store(1, release);\n    r = \
         flag[r].load();\n    @done;\n}\n\nnever t@done && x == 1;\nfinally t.r == 0;\n",
        "static x;\n\nthread p[*] {\n    let r;\n    while r < 3 {\n        r = x.fetch_add(1, acq_rel);\n    }\n    \
         @critical;\n    x.store(0);\n}\n\nnever p@critical >= 2;\n",
        "max_value 3 wrap;\nstatic x;\nstatic y: i64;\n\nthread t {\n    let r;\n    let ok: i64;\n    loop {\n        \
         (r, ok) = x.compare_exchange_weak(0, r + 1, acquire);\n        if ok {\n            break;\n        }\n    }\n    \
         locked { r = x.load(); x.store(r + 1); }\n    r = mem[r].read();\n    y.write(r);\n}\n",
        "arithmetic wrapping i32;\nstatic l;\n\nthread t {\n    let r;\n    choose {\n        lock(l);\n        \
         unlock(l);\n    } or {\n        havoc r in 0..=3;\n        assume(r != 2);\n    }\n    r = wait(l == 1 || l == r + 1, \
         acquire);\n    l.bcas(0, 1);\n    fence(seq_cst);\n    bus_lock;\n    bus_unlock;\n    assert(-r <= 0);\n}\n",
    ];
    for text in texts {
        let printed = print::rav(&read(text));
        assert_eq!(printed, format!("// text\n{text}"));
        assert_same(&read(text), &read(&printed), &printed);
    }
}

#[test]
fn structure_is_recovered_where_it_is_easy_and_is_a_goto_elsewhere() {
    let mut builder = ProgramBuilder::new("");
    let mut thread = builder.thread("t");
    let r = thread.register("r");
    for _ in 0..3 {
        thread.fresh();
    }
    let [a, b, c, end] = [0, 1, 2, 3].map(LocId);
    // Two entries into the loop b, c: no structured text has that shape.
    thread.edge(a, assign(r, 1), b);
    thread.edge(a, assign(r, 2), c);
    thread.edge(b, assign(r, 3), c);
    thread.edge(c, assign(r, 4), b);
    thread.edge(c, assign(r, 5), end);
    thread.finish();
    let program = builder.finish().unwrap();
    let text = print::rav(&program);
    assert!(text.contains("goto "), "{text}");
    assert_same(&program, &read(&text), &text);
}

#[test]
fn every_instruction_comes_back() {
    let mut builder = ProgramBuilder::new("all");
    let x = builder.variable(Variable::scalar("x").with_domain(Domain::new(-3, 9, Escape::Block)));
    let a = builder.variable(Variable::array("a", 3).with_initial(InitialValue::Any));
    let base = builder.base(a);
    let mut thread = builder.thread("t");
    let (r, s) = (thread.register("r"), thread.register_with("s", Domain::new(0, 7, Escape::Wrap)));
    let place = thread.address(x);
    let cell = Address { expr: Expr::binary(BinaryOp::Add, base.into(), r.into()), within: Some(a) };
    let raw = Address::computed(Expr::binary(BinaryOp::Mul, r.into(), (-2).into()));
    thread.push(Instruction::Nop);
    thread.push(Instruction::Assign { reg: r, value: Expr::binary(BinaryOp::Sub, 1.into(), r.into()).not() });
    thread.push(Instruction::Havoc { reg: r, lo: i64::MIN, hi: -1 });
    thread.push(Instruction::Assume(Expr::from(r).and(Expr::from(s).or(0.into()))));
    thread.push(Instruction::Assert(Expr::from(r).eq(Expr::from(s).eq(1.into()))));
    for order in [Order::NonAtomic, Order::Relaxed, Order::Acquire, Order::SeqCst] {
        thread.push(Instruction::Load { reg: r, address: cell.clone(), order });
    }
    for order in [Order::NonAtomic, Order::Relaxed, Order::Release, Order::SeqCst] {
        thread.push(Instruction::Store { address: raw.clone(), value: r.into(), order });
    }
    for (op, order) in RmwOp::ALL.into_iter().zip(Order::ATOMIC.into_iter().cycle()) {
        let old = (op != RmwOp::Xor).then_some(s);
        thread.push(Instruction::Rmw {
            arithmetic: ravelin_program::Arithmetic::Checked,
            op,
            address: place.clone(),
            operand: r.into(),
            order,
            old,
        });
    }
    for (success, failure) in
        [(Order::Relaxed, Order::Relaxed), (Order::Relaxed, Order::Acquire), (Order::AcqRel, Order::Relaxed)]
    {
        for (old, ok) in [(None, None), (Some(r), None), (None, Some(s)), (Some(r), Some(s))] {
            let (address, weak) = (cell.clone(), old.is_some());
            let (expected, new) = (r.into(), 2.into());
            thread.push(Instruction::CompareExchange { address, expected, new, success, failure, weak, old, ok });
        }
    }
    for order in [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst] {
        thread.push(Instruction::Fence(order));
    }
    for (order, old) in [(Order::Relaxed, None), (Order::Acquire, Some(r))] {
        let condition = WaitCondition::one_of([Expr::Const(1), Expr::from(r).and(s.into())]);
        thread.push(Instruction::Wait { address: place.clone(), condition, order, old });
        for op in BinaryOp::ALL {
            let left = Expr::binary(op, Expr::Atom(WaitAtom::Read), Expr::Atom(WaitAtom::Register(s)));
            let wrapped = Expr::binary_in(
                Arithmetic::Wrapping(Domain::new(0, 255, Escape::Wrap)),
                BinaryOp::Add,
                left.clone(),
                Expr::Const(-1),
            );
            for expr in [left.clone(), left.not(), wrapped] {
                let condition = WaitCondition::new(expr);
                thread.push(Instruction::Wait { address: cell.clone(), condition, order, old });
            }
        }
    }
    let (expected, new) = (0.into(), r.into());
    thread.push(Instruction::BlockingCas { address: cell.clone(), expected, new, order: Order::AcqRel });
    thread.push(Instruction::Lock(place.clone()));
    thread.push(Instruction::Unlock(place.clone()));
    thread.push(Instruction::BusLock);
    thread.push(Instruction::BusUnlock);
    let body = vec![
        Instruction::Load { reg: r, address: place.clone(), order: Order::Relaxed },
        Instruction::Assume(r.into()),
        Instruction::Store { address: cell, value: r.into(), order: Order::Relaxed },
        Instruction::Nop,
        assign(s, 3),
    ];
    thread.push(Instruction::Locked { body, drains: true });
    let body = vec![Instruction::Load { reg: r, address: place, order: Order::Relaxed }];
    thread.push(Instruction::Locked { body, drains: false });
    thread.finish();
    let program = builder.finish().unwrap();
    let text = print::rav(&program);
    assert_same(&program, &read(&text), &text);
}

#[test]
fn names_that_rav_does_not_allow_are_changed_and_stay_apart() {
    let mut builder = ProgramBuilder::new("names\nof two lines");
    let x = builder.variable(Variable::scalar("while"));
    builder.variable(Variable::scalar("0:x"));
    for index in 0..2 {
        let mut thread = builder.thread(format!("p[{index}]"));
        thread.thread.template = Some(("p".to_owned(), index));
        let hidden = thread.register("$1");
        thread.thread.registers[hidden.0].hidden = true;
        let shadow = thread.register("while");
        thread.load(hidden, x, Order::Relaxed);
        thread.label("goto");
        thread.load(shadow, x, Order::Relaxed);
        thread.label("goto");
        thread.finish();
    }
    let text = print::rav(&builder.finish().unwrap());
    let expected = "// names\n// of two lines\nstatic while_2;\nstatic v0_x;\n\nthread p_0 {\n    let tmp1;\n    let \
                    while_3;\n    tmp1 = while_2.load();\n    @goto_2;\n    while_3 = while_2.load();\n    @goto_3;\n}\n";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(read(&text).threads.len(), 2);
}

#[test]
fn no_keyword_is_ever_a_name() {
    let words = "static const thread let loop while if else choose or goto break continue return locked never exists forall \
                 finally of in assume assert wait fence lock unlock bus_lock bus_unlock havoc nop mem true false any \
                 max_value wrapping blocking for arithmetic mut relaxed acquire release acq_rel seq_cst bool u8 i64 _";
    let mut builder = ProgramBuilder::new("");
    for word in words.split_whitespace() {
        builder.variable(Variable::scalar(word));
        let mut thread = builder.thread(word);
        thread.register(word);
        thread.label(word);
        thread.push(Instruction::Nop);
        thread.finish();
    }
    read(&print::rav(&builder.finish().unwrap()));
}

#[test]
fn addresses_stay_where_they_can_be_seen_and_move_where_they_cannot() {
    let program = |raw: bool| {
        let mut builder = ProgramBuilder::new("");
        let x = builder.variable(Variable::scalar("x").with_initial(InitialValue::Value(4)));
        builder.program.memory.variables[x.0].base = 5;
        let mut thread = builder.thread("t");
        let r = thread.register("r");
        thread.load(r, x, Order::Relaxed);
        if raw {
            thread.push(Instruction::Load { reg: r, address: Address::computed(r.into()), order: Order::Relaxed });
        }
        thread.finish();
        builder.goal(goal(GoalKind::Never, Expr::Atom(Observable::Memory(5))));
        builder.finish().unwrap()
    };
    let text = print::rav(&program(false));
    assert!(text.contains("static x = 4;") && text.contains("never x;") && !text.contains("gap"), "{text}");
    assert_eq!(read(&text).memory.find("x").unwrap().1.base, 1);
    let text = print::rav(&program(true));
    assert_eq!(read(&text).memory.find("x").unwrap().1.base, 5, "{text}");
    let mut low = program(true);
    low.memory.variables[0].base = 0;
    low.threads[0].transitions[0].instruction = Instruction::Load {
        reg: RegId(0),
        address: Address { expr: 0.into(), within: Some(ravelin_program::VarId(0)) },
        order: Order::Relaxed,
    };
    let text = print::rav(&low);
    assert!(
        text.contains("Not kept: the type and initial value of `x`") && text.contains("r = mem[0].load()"),
        "{text}"
    );
}

#[test]
fn ends_that_goals_tell_apart_stay_apart() {
    let two_ends = |copies: Copies, asked: bool| {
        let mut builder = ProgramBuilder::new("");
        let mut thread = builder.thread("t");
        thread.thread.copies = copies;
        let (good, bad) = (thread.fresh(), thread.fresh());
        thread.edge(thread.here(), Instruction::Nop, good);
        thread.edge(thread.here(), Instruction::Fence(Order::SeqCst), bad);
        thread.thread.locations[bad.0].labels.push("bad".to_owned());
        let thread = thread.finish();
        if asked {
            builder.goal(goal(GoalKind::Never, Expr::Atom(Observable::At(thread, bad))));
        }
        builder.finish().unwrap()
    };
    let text = print::rav(&two_ends(Copies::One, false));
    assert!(!text.contains("ended"), "{text}");
    read(&text);
    let text = print::rav(&two_ends(Copies::One, true));
    assert!(text.contains("never t@bad || t@L3 && t.ended == 2;"), "{text}");
    read(&text);
    let text = print::rav(&two_ends(Copies::Any, true));
    assert!(text.contains("never t@bad;"), "{text}");
    let back = read(&text);
    assert!(!back.threads[0].is_end(back.threads[0].find_label("bad").unwrap()));
}

#[test]
fn gaps_come_back_where_nothing_is() {
    let mut builder = ProgramBuilder::new("");
    builder.program.memory.unnamed = Unnamed::Nothing;
    builder.gap(3);
    let x = builder.variable(Variable::scalar("x"));
    builder.gap(1);
    builder.variable(Variable::array("a", 2));
    let mut thread = builder.thread("t");
    let r = thread.register("r");
    thread.load(r, x, Order::Relaxed);
    for expr in [r.into(), Expr::Const(0), Expr::Const(7)] {
        thread.push(Instruction::Load { reg: r, address: Address::computed(expr), order: Order::Relaxed });
    }
    thread.finish();
    let program = builder.finish().expect("valid");
    let text = print::rav(&program);
    assert!(text.starts_with("strict mem;\ngap 3;\nstatic x;\ngap 1;\nstatic a: [_; 2];\n"), "{text}");
    let back = read(&text);
    assert_eq!(back.memory.unnamed, Unnamed::Nothing);
    let places = |program: &Program| program.memory.named_addresses().collect::<Vec<_>>();
    assert_eq!(places(&back), [4, 6, 7]);
    assert!(print::rav(&back).ends_with(&text));
    assert!(back.same_as(&read(&print::rav(&back))));
}

#[test]
fn domains_and_arithmetic_come_back() {
    let mut builder = ProgramBuilder::new("");
    builder.program.memory.unnamed = Unnamed::Cells(Domain::new(0, 4, Escape::Block));
    let array = builder.variable(Variable::array("a", 3));
    let base = builder.base(array);
    let mut thread = builder.thread("t");
    thread.register_with("r", Domain::new(0, 4, Escape::Block));
    let r = thread.register("s");
    thread.push(Instruction::Load { reg: r, address: Address::computed(r.into()), order: Order::Relaxed });
    let [few, more] = [(-4, 3), (0, 7)].map(|(lo, hi)| Arithmetic::Wrapping(Domain::new(lo, hi, Escape::Wrap)));
    let sum = |arithmetic, left: Expr, right: i64| Expr::binary_in(arithmetic, BinaryOp::Add, left, right.into());
    for value in [
        sum(few, r.into(), 1),
        sum(Arithmetic::Checked, sum(few, r.into(), 2), 3),
        sum(more, sum(more, sum(Arithmetic::Checked, r.into(), 4), 5), 6),
        Expr::Const(-4),
        Expr::Const(-5),
        Expr::unary(UnaryOp::Neg, Expr::Const(5)),
        Expr::unary_in(few, UnaryOp::Neg, Expr::Const(5)),
        Expr::binary(BinaryOp::Lt, sum(few, r.into(), 7), sum(Arithmetic::Checked, r.into(), 8)),
    ] {
        thread.push(Instruction::Assign { reg: r, value });
    }
    for arithmetic in [few, more, Arithmetic::Checked] {
        let expr = Expr::binary(BinaryOp::Add, base.into(), sum(arithmetic, r.into(), 9));
        let address = Address { expr, within: Some(array) };
        for (op, old) in [(RmwOp::Add, None), (RmwOp::Sub, Some(r)), (RmwOp::Exchange, Some(r))] {
            let operand = sum(arithmetic, r.into(), 10);
            thread.push(Instruction::rmw(op, arithmetic, address.clone(), operand, Order::Relaxed, old));
        }
    }
    thread.finish();
    let program = builder.finish().unwrap();
    let text = print::rav(&program);
    assert!(text.starts_with("max_value 4 block;\narithmetic wrapping -4..=3;\n"), "{text}");
    assert!(text.contains("let r;\n    let s: i64;\n"), "{text}");
    for line in [
        "s = s + 1;",
        "s = checked(wrapping(-4..=3, s + 2) + 3);",
        "s = wrapping(0..=7, checked(s + 4) + 5 + 6);",
        "s = -4;",
        "s = checked(-5);",
        "s = checked(-(5));",
        "s = -(5);",
        "s = s + 7 < checked(s + 8);",
        "a[s + 9].fetch_add(s + 10);",
        "s = a[s + 9].swap(s + 10);",
        "wrapping(0..=7, a[s + 9].fetch_add(s + 10));",
        "s = checked(a[s + 9].fetch_sub(s + 10));",
        "s = a[checked(s + 9)].swap(checked(s + 10));",
    ] {
        assert!(text.contains(&format!("    {line}\n")), "{line}\n{text}");
    }
    assert_same(&program, &read(&text), &text);
}

fn goal(kind: GoalKind, condition: Expr<Observable>) -> Goal {
    Goal { kind, condition, span: Span::NOWHERE }
}

fn assign(reg: RegId, value: i64) -> Instruction {
    Instruction::Assign { reg, value: value.into() }
}

fn read(text: &str) -> Program {
    let parsed = parse(Source::new("text", text));
    parsed.program.unwrap_or_else(|| panic!("{:#?}\n{text}", parsed.diagnostics))
}

/// Equal but for the numbers of locations and for labels that only jumps needed.
fn assert_same(left: &Program, right: &Program, text: &str) {
    assert_eq!(canonical(left), canonical(right), "{text}");
}

fn canonical(program: &Program) -> Program {
    let mut program = program.without_source();
    let mut numbers = Vec::new();
    for thread in &mut program.threads {
        numbers.push(renumber(thread));
    }
    for goal in &mut program.goals {
        goal.condition = goal.condition.map_atoms(&mut |atom| {
            Expr::Atom(match atom {
                Observable::At(ThreadId(thread), location) => {
                    Observable::At(ThreadId(*thread), numbers[*thread][location.0].expect("reachable"))
                }
                other => other.clone(),
            })
        });
    }
    program
}

/// Numbers locations in breadth-first order.
fn renumber(thread: &mut Thread) -> Vec<Option<LocId>> {
    let mut numbers = vec![None; thread.locations.len()];
    let mut order = vec![thread.initial];
    numbers[thread.initial.0] = Some(LocId(0));
    let mut next = 0;
    while let Some(&location) = order.get(next) {
        next += 1;
        let targets: Vec<LocId> = thread.outgoing(location).map(|(_, transition)| transition.to).collect();
        for to in targets {
            if numbers[to.0].is_none() {
                numbers[to.0] = Some(LocId(order.len()));
                order.push(to);
            }
        }
    }
    let is_generated = |label: &String| label.strip_prefix('L').is_some_and(|rest| rest.parse::<usize>().is_ok());
    let locations = order.iter().map(|location| {
        let labels = thread.locations[location.0].labels.iter().filter(|label| !is_generated(label)).cloned().collect();
        Location { labels, span: Span::NOWHERE }
    });
    let locations: Vec<Location> = locations.collect();
    let mut transitions: Vec<Transition> = std::mem::take(&mut thread.transitions)
        .into_iter()
        .filter_map(|transition| {
            Some(Transition { from: numbers[transition.from.0]?, to: numbers[transition.to.0]?, ..transition })
        })
        .collect();
    transitions.sort_by_key(|transition| transition.from);
    thread.locations = locations;
    thread.transitions = transitions;
    thread.initial = LocId(0);
    numbers
}
