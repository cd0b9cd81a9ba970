//! Named programs: which are robust against which model, and the cycle that shows that they are not.

use crate::trace_shorthand;

use ravelin_program::{Instruction, Model, Order};
use ravelin_semantics::trace::Trace;
use trace_shorthand::*;

/// The cycles under TSO and PSO; none where the program is robust. It is always robust under SC.
fn check(name: &str, threads: &[Vec<Instruction>], tso: Option<&str>, pso: Option<&str>) {
    let program = program(threads);
    for (model, expected) in [(Model::Sc, None), (Model::Tso, tso), (Model::Pso, pso)] {
        let reference = reference(&program, model);
        let cycle = violation(&program, model).map(|violation| {
            let trace = Trace::of(&reference, &violation.start, &violation.run).expect("a run");
            assert!(trace.is_computation(), "{name} under {model}");
            kinds(&trace).expect("a cycle")
        });
        assert_eq!(cycle.as_deref(), expected, "{name} under {model}");
    }
}

const SB: Option<&str> = Some("po fr po fr");

#[test]
fn store_buffering_is_robust_only_with_something_that_drains() {
    let half = |mine, other, middle: &[Instruction]| [&[store(mine, 1)], middle, &[load(A, other)]].concat();
    let sb = |middle: &[Instruction]| [half(X, Y, middle), half(Y, X, middle)];
    check("SB", &sb(&[]), SB, SB);
    check("SB, one fence", &[half(X, Y, &[fence()]), half(Y, X, &[])], SB, SB);
    check("SB with weak fences", &sb(&[Instruction::Fence(Order::AcqRel)]), SB, SB);
    check("SB with fences", &sb(&[fence()]), None, None);
    check("SB with an RMW between", &sb(&[swap(Z, 1)]), None, None);
    check("SB with a failing CAS between", &sb(&[compare_exchange(Z, 7, 8, false)]), None, None);
    check("SB with RMWs for stores", &[vec![swap(X, 1), load(A, Y)], vec![swap(Y, 1), load(A, X)]], None, None);
    check(
        "SB with locked blocks for stores",
        &[vec![locked(&[store(X, 1)]), load(A, Y)], vec![locked(&[store(Y, 1)]), load(A, X)]],
        None,
        None,
    );
    let under_bus = |mine, other| [bus(&[store(mine, 1)]), vec![load(A, other)]].concat();
    check("SB with stores under the bus lock", &[under_bus(X, Y), under_bus(Y, X)], None, None);
    let whole = |mine, other| bus(&[store(mine, 1), load(A, other)]);
    check("SB under the bus lock", &[whole(X, Y), whole(Y, X)], None, None);
}

#[test]
fn loads_and_stores_in_classic_shapes() {
    let mp = [vec![store(X, 1), store(Y, 1)], vec![load(A, Y), load(B, X)]];
    check("MP", &mp, None, Some("po rf po fr"));
    let release = |address| Instruction::Store { address: cell(address), value: 1.into(), order: Order::Release };
    check("MP with release", &[vec![store(X, 1), release(Y)], mp[1].clone()], None, None);
    let s = [vec![store(X, 2), store(Y, 1)], vec![load(A, Y), store(X, 1)]];
    check("S", &s, None, Some("po rf po co"));
    let w22 = [vec![store(X, 1), store(Y, 2)], vec![store(Y, 1), store(X, 2)]];
    check("2+2W", &w22, None, Some("po co po co"));
    let r = [vec![store(X, 1), store(Y, 1)], vec![store(Y, 2), load(A, X)]];
    check("R", &r, Some("po co po fr"), Some("po co po fr"));
    let lb = [vec![load(A, X), store(Y, 1)], vec![load(A, Y), store(X, 1)]];
    check("LB", &lb, None, None);
    let wrc = [vec![store(X, 1)], vec![load(A, X), store(Y, 1)], vec![load(A, Y), load(B, X)]];
    check("WRC", &wrc, None, None);
    let iriw = [vec![store(X, 1)], vec![store(Y, 1)], vec![load(A, X), load(B, Y)], vec![load(A, Y), load(B, X)]];
    check("IRIW", &iriw, None, None);
    let coherence = [vec![store(X, 1), store(X, 2), load(A, X)], vec![load(A, X), load(B, X), store(X, 3)]];
    check("one variable", &coherence, None, None);
}

#[test]
fn early_reads_do_not_hide_a_cycle() {
    let n6 = [vec![store(X, 1), load(A, X), load(B, Y)], vec![store(Y, 2), store(X, 2)]];
    // Under PSO message passing comes first: x = 2 overtakes y = 2.
    check("n6", &n6, Some("po fr po co"), Some("po rf po fr"));
    let half = |mine, other| vec![store(mine, 1), load(A, mine), load(B, other)];
    check("SB with own reads", &[half(X, Y), half(Y, X)], SB, SB);
    check("own reads alone", &[vec![store(X, 1), load(A, X)], vec![store(X, 2), load(A, X)]], None, None);
}

#[test]
fn what_runs_atomically_is_one_event() {
    let t1 = vec![store(X, 1), load(A, Y)];
    let body = [load(A, Y), store(Y, 1)];
    check("bus lock, then a load", &[t1.clone(), [bus(&body), vec![load(B, X)]].concat()], SB, SB);
    check("locked block, then a load", &[t1.clone(), vec![locked(&body), load(B, X)]], SB, SB);
    check("RMW, then a load", &[t1, vec![swap(Y, 1), load(B, X)]], SB, SB);
    // The load comes before the store in the block, and still the cycle goes through both.
    let t1 = vec![store(Z, 1), load(A, Y)];
    let body = [load(A, Z), store(Y, 1)];
    let through = Some("po fr fr");
    check("through a bus lock", &[t1.clone(), bus(&body)], through, through);
    check("through a locked block", &[t1.clone(), vec![locked(&body)]], through, through);
    check("the same, not atomic", &[t1, body.to_vec()], None, None);
    // Two stores in one block are not seen apart.
    let reader = vec![load(A, Y), load(B, X)];
    check("MP from a locked block", &[vec![locked(&[store(X, 1), store(Y, 1)])], reader.clone()], None, None);
    check("MP from under the bus lock", &[bus(&[store(X, 1), store(Y, 1)]), reader], None, None);
}

#[test]
fn a_run_that_cannot_end_with_empty_buffers_is_no_violation() {
    // Thread 2 keeps the bus lock, so whoever delays a store past it never flushes. The cycle of SB needs the store
    // to be flushed after the load of x, which comes after the bus lock.
    let t1 = vec![store(X, 1), load(A, Y)];
    let t2 = |end: &[Instruction]| [&[Instruction::BusLock, store(Y, 1), load(B, X)], end].concat();
    let through = Some("po fr fr");
    check("with an end", &[t1.clone(), t2(&[Instruction::BusUnlock])], through, through);
    check("without", &[t1, t2(&[])], None, None);
}

#[test]
fn a_named_lock_keeps_its_section_robust() {
    let section =
        |mine, other| vec![Instruction::Lock(cell(Z)), store(mine, 1), load(A, other), Instruction::Unlock(cell(Z))];
    check("SB under a lock", &[section(X, Y), section(Y, X)], None, None);
}
