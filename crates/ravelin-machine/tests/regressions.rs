//! Programs on which the machine was once wrong, shrunk. Each says what went wrong.

use ravelin_explore::{Options, Until};
use ravelin_frontend::rav;
use ravelin_machine::{Explored, Purpose, Reductions, Settings, Violation, run};
use ravelin_program::{Program, Source, ThreadId};
use ravelin_semantics::Model;

fn program(text: &str) -> Program {
    let parsed = rav::parse(Source::new("regression.rav", text));
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn explore(text: &str, model: Model, purpose: Purpose, reductions: Reductions) -> Explored {
    let until = if purpose == Purpose::Goals { Until::FirstFinding } else { Until::Exhausted };
    let settings = Settings { model, buffer: 3, purpose, reductions };
    run(&program(text), settings, &Options { until, ..Options::default() }).expect("a program that can be run")
}

/// A local step, then one that needs a cell the layout does not have: the stored initial state was the one before the
/// local step, the path was read back from the one after it.
#[test]
fn a_layout_outgrown_by_the_first_local_steps_is_made_anew() {
    let text = "thread t { let p = 7; nop; mem[p].store(0); } never 1;";
    for model in Model::ALL {
        let explored = explore(text, model, Purpose::Goals, Reductions::ALL);
        assert!(matches!(explored.violation(), Some(Ok((Violation::Goal(0), _)))), "{model}");
    }
}

/// A choice between a step that can be taken and a swap that waits for the thread's own buffer: the first alone was
/// taken for a persistent set, although the thread's own flush makes the second possible.
#[test]
fn a_step_that_waits_for_the_own_buffer_is_not_left_out() {
    let text = "static z; thread other { nop; } thread t { z.store(1); choose { nop; } or { z.swap(0); } }";
    for model in [Model::Tso, Model::Pso] {
        let reductions = Reductions { partial_order: true, ..Reductions::NONE };
        let explored = explore(text, model, Purpose::Finals, reductions);
        let mut ends: Vec<i64> = explored.ends().map(|(_, end)| end.memory[0].1).collect();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends, [0, 1], "{model}");
    }
}

/// The fault was reported of the thread that has the violation in the representative, not in the run.
#[test]
fn a_violation_under_symmetry_names_the_thread_of_the_run() {
    let text = "static x: bool; static y; thread p[2] { let r = x.read(); y.store(2); x.store(r + 2); }";
    let explored = explore(text, Model::Sc, Purpose::Goals, Reductions { symmetry: true, ..Reductions::NONE });
    let (violation, run) = explored.violation().expect("a violation").expect("a readable path");
    let Violation::Fault { thread, .. } = violation else { panic!("{violation:?}") };
    let steps_of = |thread: ThreadId| run.actions.iter().filter(|action| action.thread() == thread).count();
    assert_eq!(steps_of(thread), 2);
}

/// Unused entries of a store buffer are all bits 0, which is also the name of the first cell; with that cell among a
/// thread's own, a state's representative was not reachable.
#[test]
fn unused_buffer_entries_are_nobodys_own_cell() {
    let text = "static x: bool; static y: bool;
        thread t1 { x.store(1); let r = y.load(); assume(r == 0); @critical; }
        thread t2 { y.store(1); let r = x.load(); assume(r == 0); @critical; }
        never t1@critical && t2@critical;";
    for model in [Model::Tso, Model::Pso] {
        let explored = explore(text, model, Purpose::Goals, Reductions::ALL);
        assert!(matches!(explored.violation(), Some(Ok(_))), "{model}: {:?}", explored.violation());
    }
}

/// Values beyond 8, 16 and 32 bits, in a register, in a cell, in a buffer and at the start.
#[test]
fn values_grow_as_they_need() {
    let text = "static x = 5_000_000_000; static y;
        thread t {
            let r = 1;
            while r < 4_000_000_000_000_000_000 { y.store(r); r = r * 200; assume(r > 0); }
            @done;
        }
        never t@done && y == 12_800_000_000;";
    for model in Model::ALL {
        let explored = explore(text, model, Purpose::Goals, Reductions::ALL);
        assert!(explored.limit().is_none() && explored.violation().is_some(), "{model}");
    }
}
