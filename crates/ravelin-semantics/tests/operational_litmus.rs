//! The classic litmus tests, each with what is known of it under SC, TSO and PSO.

use crate::litmus;
use ravelin_program::Model;

use litmus::{Op, Shape, fence, load, shape, store, store_as};
use ravelin_program::Order::{Acquire, Relaxed, Release, SeqCst};

/// Expectations in the order SC, TSO, PSO: whether the outcome can be observed.
fn check(name: &str, expected: [bool; 3], shape: &Shape) {
    for (model, expected) in Model::HARDWARE.into_iter().zip(expected) {
        assert_eq!(shape.allows(model), expected, "{name} under {model}");
    }
}

const ALLOWED_BY_BUFFERS: [bool; 3] = [false, true, true];
const ALLOWED_BY_PSO: [bool; 3] = [false, false, true];
const FORBIDDEN: [bool; 3] = [false, false, false];

fn sb(middle: &[Op], order: ravelin_program::Order) -> Shape {
    let half = |mine, other| [vec![store_as(mine, 1, order)], middle.to_vec(), vec![load(other)]].concat();
    shape(vec![half("x", "y"), half("y", "x")]).reads(0, &[0]).reads(1, &[0])
}

#[test]
fn store_buffering() {
    check("SB", ALLOWED_BY_BUFFERS, &sb(&[], Relaxed));
    check("SB with release stores", ALLOWED_BY_BUFFERS, &sb(&[], Release));
    check("SB with acq_rel fences", ALLOWED_BY_BUFFERS, &sb(&[fence(ravelin_program::Order::AcqRel)], Relaxed));
    check("SB with seq_cst fences", FORBIDDEN, &sb(&[fence(SeqCst)], Relaxed));
    check("SB with seq_cst stores", FORBIDDEN, &sb(&[], SeqCst));
    check("SB with an RMW of a third variable between", FORBIDDEN, &sb(&[Op::Swap("z", 1)], Relaxed));
}

fn mp(between: &[Op], flag: ravelin_program::Order) -> Shape {
    let writer = [vec![store("x", 1)], between.to_vec(), vec![store_as("y", 1, flag)]].concat();
    shape(vec![writer, vec![load("y"), load("x")]]).reads(1, &[1, 0])
}

#[test]
fn message_passing() {
    check("MP", ALLOWED_BY_PSO, &mp(&[], Relaxed));
    check("MP with a release store", FORBIDDEN, &mp(&[], Release));
    check("MP with a seq_cst store", FORBIDDEN, &mp(&[], SeqCst));
    check("MP with a release fence", FORBIDDEN, &mp(&[fence(Release)], Relaxed));
    check("MP with an acquire fence in the writer", ALLOWED_BY_PSO, &mp(&[fence(Acquire)], Relaxed));
    check("MP with a seq_cst fence", FORBIDDEN, &mp(&[fence(SeqCst)], Relaxed));
}

#[test]
fn loads_are_not_reordered() {
    let lb = shape(vec![vec![load("x"), store("y", 1)], vec![load("y"), store("x", 1)]]);
    check("LB", FORBIDDEN, &lb.reads(0, &[1]).reads(1, &[1]));
    let iriw =
        shape(vec![vec![store("x", 1)], vec![store("y", 1)], vec![load("x"), load("y")], vec![load("y"), load("x")]]);
    check("IRIW", FORBIDDEN, &iriw.reads(2, &[1, 0]).reads(3, &[1, 0]));
    let corr = shape(vec![vec![store("x", 1)], vec![load("x"), load("x")]]);
    check("CoRR", FORBIDDEN, &corr.reads(1, &[1, 0]));
    let wrc = shape(vec![vec![store("x", 1)], vec![load("x"), store("y", 1)], vec![load("y"), load("x")]]);
    check("WRC", FORBIDDEN, &wrc.reads(1, &[1]).reads(2, &[1, 0]));
}

#[test]
fn two_stores_and_their_order_in_memory() {
    let r = shape(vec![vec![store("x", 1), store("y", 1)], vec![store("y", 2), load("x")]]);
    check("R", ALLOWED_BY_BUFFERS, &r.reads(1, &[0]).ends("y", 2));
    let s = shape(vec![vec![store("x", 2), store("y", 1)], vec![load("y"), store("x", 1)]]);
    check("S", ALLOWED_BY_PSO, &s.reads(1, &[1]).ends("x", 2));
    let w22 = || shape(vec![vec![store("x", 1), store("y", 2)], vec![store("y", 1), store("x", 2)]]);
    check("2+2W", ALLOWED_BY_PSO, &w22().ends("x", 1).ends("y", 1));
    check("2+2W, the fair outcome", [true; 3], &w22().ends("x", 2).ends("y", 2));
    let coww = shape(vec![vec![store("x", 1), store("x", 2)]]);
    check("CoWW", FORBIDDEN, &coww.ends("x", 1));
}

#[test]
fn a_thread_reads_its_own_stores_early() {
    let half = |mine, other| vec![store(mine, 1), load(mine), load(other)];
    let sb = shape(vec![half("x", "y"), half("y", "x")]);
    check("SB with own reads", ALLOWED_BY_BUFFERS, &sb.reads(0, &[1, 0]).reads(1, &[1, 0]));
    let own = shape(vec![vec![store("x", 1), store("x", 2), load("x")]]);
    check("the newest own store is read", FORBIDDEN, &own.reads(0, &[1]));
}

#[test]
fn a_release_store_under_pso_comes_after_all_before_it_and_not_before_what_follows() {
    let shape = || {
        shape(vec![
            vec![store("x", 1), store_as("y", 1, Release), store("z", 1)],
            vec![load("z"), load("y"), load("x")],
        ])
    };
    check("z overtakes y", ALLOWED_BY_PSO, &shape().reads(1, &[1, 0, 1]));
    check("y overtakes x", FORBIDDEN, &shape().reads(1, &[0, 1, 0]));
    // The marker in front of the release store holds back later stores as well.
    check("z overtakes x", FORBIDDEN, &shape().reads(1, &[1, 0, 0]));
}
