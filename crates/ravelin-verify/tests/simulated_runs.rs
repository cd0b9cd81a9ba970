//! Simulated runs do what scripts say.

use crate::simulated::Simulator;
use ravelin_findings::events::{Act, flags};
use ravelin_findings::steering::SteeredEnd;
use ravelin_program::{Expr, Instruction, Order, Program, ProgramBuilder, Variable};
use ravelin_verify::{Choice, Script};

/// `x = 1; r = y ∥ y = 1; r = x`.
fn store_buffering() -> Program {
    let mut program = ProgramBuilder::new("sb");
    let cells = [program.variable(Variable::scalar("x")), program.variable(Variable::scalar("y"))];
    for me in 0..2 {
        let mut thread = program.thread(format!("t{me}"));
        let r = thread.register("r");
        thread.store(cells[me], Expr::Const(1), Order::Release);
        thread.load(r, cells[1 - me], Order::Acquire);
        thread.finish();
    }
    program.finish().expect("a valid program")
}

fn script(threads: &[u32], sleepers: &[u32]) -> Script {
    let choices = threads.iter().map(|&thread| Choice { thread, times_out: false }).collect();
    Script { choices, sleepers: sleepers.to_vec(), ..Script::default() }
}

fn schedule(run: &ravelin_verify::RecordedRun) -> Vec<u32> {
    run.events.iter().map(|event| event.thread).collect()
}

#[test]
fn the_thread_that_has_the_turn_keeps_it() {
    let simulator = Simulator::new(&store_buffering());
    for (choices, expected) in [(&[][..], [0, 0, 1, 1]), (&[1], [1, 1, 0, 0]), (&[0, 1], [0, 1, 1, 0])] {
        let run = simulator.run(&script(choices, &[]));
        assert_eq!(schedule(&run), expected);
        assert_eq!((run.end, run.pending), (None, Vec::new()));
    }
}

#[test]
fn events_have_values_and_places() {
    let run = Simulator::new(&store_buffering()).run(&script(&[0, 1], &[]));
    let [store, _, load, _] = run.events[..] else { panic!("four events") };
    assert_eq!((store.operation.act, store.written, store.pc), (Act::Store, 1, 0));
    assert_eq!((load.operation.act, load.read, load.pc), (Act::Load, 1, 1));
    assert_eq!((load.operation.address, load.operation.size), (store.operation.address, 8));
    assert!(load.state != 0 && load.state != store.state);
}

#[test]
fn a_choice_that_cannot_run_ends_the_run() {
    let run = Simulator::new(&store_buffering()).run(&script(&[0, 0, 0], &[]));
    assert_eq!((schedule(&run), run.end), (vec![0, 0], Some(SteeredEnd::NotEnabled)));
    assert_eq!(run.pending.len(), 1);
    assert!(run.pending[0].is(flags::PENDING) && run.pending[0].thread == 1);
}

#[test]
fn sleepers_are_woken_by_conflicts_only() {
    let simulator = Simulator::new(&store_buffering());
    // Thread 1 is about to write y, which thread 0 reads.
    assert_eq!(schedule(&simulator.run(&script(&[], &[1]))), [0, 0, 1, 1]);
    let run = simulator.run(&script(&[0, 0], &[1]));
    assert_eq!((schedule(&run), run.end), (vec![0, 0], Some(SteeredEnd::Asleep)));
}

#[test]
fn locks_block_and_a_deadlock_leaves_them_pending() {
    let mut program = ProgramBuilder::new("deadlock");
    let cells = [program.variable(Variable::scalar("l")), program.variable(Variable::scalar("m"))];
    for me in 0..2 {
        let mut thread = program.thread(format!("t{me}"));
        let [mine, other] = [me, 1 - me].map(|cell| thread.address(cells[cell]));
        thread.push(Instruction::Lock(mine.clone()));
        thread.push(Instruction::Lock(other.clone()));
        thread.push(Instruction::Unlock(other));
        thread.push(Instruction::Unlock(mine));
        thread.finish();
    }
    let simulator = Simulator::new(&program.finish().expect("a valid program"));
    assert_eq!(schedule(&simulator.run(&script(&[], &[]))), [0, 0, 0, 0, 1, 1, 1, 1]);
    let run = simulator.run(&script(&[0, 1], &[]));
    assert_eq!((schedule(&run), run.end), (vec![0, 1], None));
    assert!(run.pending.len() == 2 && run.pending.iter().all(|event| event.operation.act == Act::Lock));
    let run = simulator.run(&script(&[0, 1, 0], &[]));
    assert_eq!(run.end, Some(SteeredEnd::NotEnabled));
}
