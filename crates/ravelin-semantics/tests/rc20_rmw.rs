//! Read-modify-writes and blocking instructions: atomicity, compare-exchange, and the barriers of the paper's section
//! 4.3.

use crate::rc20_shorthand;

use ravelin_semantics::rc20::{GraphLimits, OrderReading, enumerate, sc_consistent};
use rc20_shorthand::{allowed, is_robust, program};

#[test]
fn nothing_comes_between_an_rmw_and_what_it_reads() {
    for (program, outcome, expected) in [
        ("ADD a x 1 rlx | ADD b x 1 rlx", "a=0 b=0", false),
        ("ADD a x 1 rlx | ADD b x 1 rlx", "a=0 b=1 x=2", true),
        ("ADD a x 1 rlx | W x 5 rlx", "a=0 x=5", true),
        ("ADD a x 1 rlx | W x 5 rlx", "a=5 x=6", true),
        // The store cannot come before an RMW that reads 0.
        ("ADD a x 1 rlx | W x 5 rlx", "a=0 x=1", false),
        ("SWAP a x 1 rlx | SWAP b x 2 rlx", "a=2 b=1", false),
        ("CAS a x 0 1 rlx rlx | CAS b x 0 1 rlx rlx", "a=1 b=1", false),
        ("CAS a x 0 1 rlx rlx | CAS b x 0 1 rlx rlx", "a=0 b=0", false),
        ("CAS a x 0 1 rlx rlx | CAS b x 0 1 rlx rlx", "a=1 b=0", true),
        // A weak one may fail spuriously.
        ("WEAK a x 0 1 rlx rlx | WEAK b x 0 1 rlx rlx", "a=0 b=0 x=0", true),
        ("WEAK a x 0 1 rlx rlx", "a=1 x=1", true),
        ("LOCK l; R a x na; UNLOCK l; | LOCK l; W x 1 na; UNLOCK l", "a=1 l=0", true),
    ] {
        assert_eq!(allowed(program, outcome, OrderReading::Written), expected, "{program}: {outcome}");
    }
}

#[test]
fn a_failing_compare_exchange_is_a_load_with_its_own_order() {
    let mp = |failure: &str| format!("W x 1 rlx; W y 1 rel | CAS a y 0 5 acq_rel {failure}; R b x rlx");
    assert!(!allowed(&mp("acq"), "a=0 b=0", OrderReading::Written));
    assert!(allowed(&mp("rlx"), "a=0 b=0", OrderReading::Written));
}

#[test]
fn robustness_with_rmws() {
    for (name, program, robust) in [
        // Example 4.1: a load may read what the RMW has overwritten, but a store cannot be placed before the RMW.
        ("RMW and load", "ADD a x 1 acq_rel; R b y acq | W y 1 rel; R c x acq", false),
        ("RMW and store", "ADD a x 1 acq_rel; R b y acq | W y 1 rel; W x 2 rel", true),
        ("store and store", "W x 1 rel; R b y acq | W y 1 rel; W x 2 rel", false),
        ("SB of RMWs on the flags", "SWAP a x 1 acq_rel; R b y acq | SWAP c y 1 acq_rel; R d x acq", false),
        (
            "SB, one more location for fences",
            "W x 1 rel; ADD f z 1 acq_rel; R b y acq | W y 1 rel; ADD g z 1 acq_rel; R d x acq",
            true,
        ),
        ("locks", "LOCK l; R a x rlx; W x 1 rlx; UNLOCK l | LOCK l; R b x rlx; W x 2 rlx; UNLOCK l", true),
        // A strong CAS that fails has seen another value than 0; a weak one may fail on the 0 that the other has
        // replaced.
        ("strong CAS", "W x 1 rel; CAS a y 0 2 acq_rel acq | CAS b y 0 1 acq_rel acq; R c x acq", true),
        ("weak CAS", "W x 1 rel; WEAK a y 0 2 acq_rel acq | CAS b y 0 1 acq_rel acq; R c x acq", false),
    ] {
        assert_eq!(is_robust(program, OrderReading::Written), robust, "{name}: {program}");
    }
}

#[test]
fn waits_leave_no_trace_of_failed_attempts() {
    let barrier = |p: u8, q: u8| format!("W x 1 rel; WAIT y {p} acq | W y 1 rel; WAIT x {q} acq");
    assert!(is_robust(&barrier(1, 1), OrderReading::Written), "BARW(1,1)");
    assert!(is_robust(&barrier(0, 2), OrderReading::Written), "BARW(0,2)");
    assert!(!is_robust(&barrier(0, 0), OrderReading::Written), "BARW(0,0)");
    // BAR itself, with the first turn of each loop as a load.
    assert!(!is_robust(
        "W x 1 rel; R a y acq; WAIT y 1 acq | W y 1 rel; R b x acq; WAIT x 1 acq",
        OrderReading::Written
    ));
    assert!(!allowed(&barrier(0, 2), "x=1", OrderReading::Written));
}

#[test]
fn blocking_compare_exchange() {
    assert!(is_robust("BCAS x 0 1 acq_rel | BCAS x 1 2 acq_rel", OrderReading::Written));
    assert!(allowed("BCAS x 0 1 rlx | BCAS x 1 2 rlx", "x=2", OrderReading::Written));
    assert!(!allowed("BCAS x 0 1 rlx | BCAS x 1 2 rlx", "x=1", OrderReading::Written));
    // Whoever is late waits for ever.
    let program = program("BCAS x 0 1 rlx | BCAS x 0 2 rlx");
    let all = enumerate(&program, OrderReading::Written, GraphLimits::default()).expect("small");
    assert_eq!(all.executions.len(), 2);
    assert!(all.executions.iter().all(|execution| !execution.complete && execution.graph.len() == 2));
}

#[test]
fn blocked_executions_are_listed_apart() {
    let program = program("W x 1 rel; WAIT y 0 acq | W y 1 rel; WAIT x 0 acq");
    let all = enumerate(&program, OrderReading::Written, GraphLimits::default()).expect("small");
    // Either wait may pass or not, by reading the initial value or by never doing so again.
    assert_eq!(all.executions.len(), 4);
    let complete: Vec<_> = all.executions.iter().filter(|execution| execution.complete).collect();
    assert_eq!(complete.len(), 1);
    assert!(!sc_consistent(&complete[0].graph));
}
