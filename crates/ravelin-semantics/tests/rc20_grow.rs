//! Graphs that follow a run.

use ravelin_program::{Expr, Order, ProgramBuilder, ThreadId, TransitionId, Variable};
use ravelin_semantics::Action;
use ravelin_semantics::rc20::{GrowingGraph, OrderReading, rc20_consistent, sc_consistent};

/// Store buffering: after p and q's store, q's load may read 0, which no SC run does.
#[test]
fn the_last_step_may_be_stale() {
    let mut builder = ProgramBuilder::new("sb");
    let cells = [builder.variable(Variable::scalar("x")), builder.variable(Variable::scalar("y"))];
    for me in 0..2 {
        let mut thread = builder.thread(format!("t{me}"));
        let r = thread.register("r");
        thread.store(cells[me], Expr::Const(1), Order::Release);
        thread.load(r, cells[1 - me], Order::Acquire);
        thread.finish();
    }
    let program = builder.finish().expect("a valid program");
    let step = |thread: usize, transition: usize| Action::Step {
        thread: ThreadId(thread),
        transition: TransitionId(transition),
        choice: 0,
    };
    let mut grown = GrowingGraph::new(&program, &[]);
    for action in [step(0, 0), step(0, 1), step(1, 0)] {
        grown.follow(action).expect("an SC run");
    }
    assert!(sc_consistent(grown.graph()));
    let ends = grown.extensions(ThreadId(1), TransitionId(1));
    let judged: Vec<_> =
        ends.iter().map(|graph| (rc20_consistent(graph, OrderReading::Written), sc_consistent(graph))).collect();
    assert_eq!(judged, [(true, true), (true, false)], "1 is read, or 0");
    assert!(grown.follow(step(0, 0)).is_err(), "it is over");
}
