//! Programs on which the machine was once wrong, shrunk. Each says what went wrong.

use ravelin_explore::{Budget, Options, Until};
use ravelin_frontend::rav;
use ravelin_machine::{ExploredProgram, Purpose, Reductions, Settings, Violation, run};
use ravelin_program::{Model, Program, Source, ThreadId};
use ravelin_semantics::operational::Reference;

fn program(text: &str) -> Program {
    let parsed = rav::parse(Source::new("regression.rav", text));
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn explore(text: &str, model: Model, purpose: Purpose, reductions: Reductions) -> ExploredProgram {
    let until = if purpose == Purpose::Goals { Until::FirstFinding } else { Until::Exhausted };
    let settings = Settings { model, buffer: 3, purpose, reductions, deadlocks: false };
    run(&program(text), settings, &Options { until, ..Options::default() }).expect("a program that can be run")
}

/// A local step, then one that needs a cell the layout does not have: the stored initial state was the one before the
/// local step, the path was read back from the one after it.
#[test]
fn a_layout_outgrown_by_the_first_local_steps_is_made_anew() {
    let text = "thread t { let p = 7; nop; mem[p].store(0); } never 1;";
    for model in Model::HARDWARE {
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
        let mut ends: Vec<i64> = explored.ends().map(|end| end.state.memory[0].1).collect();
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
    for model in Model::HARDWARE {
        let explored = explore(text, model, Purpose::Goals, Reductions::ALL);
        assert!(explored.limit().is_none() && explored.violation().is_some(), "{model}");
    }
}

/// Conditions were computed with the program's wrapping arithmetic by the judge and exactly by the machine.
#[test]
fn conditions_are_computed_exactly() {
    let text = "max_value 3 wrap; static x = 0; thread p { let r = 0; r = 2; x.store(r); } never p.r + 2 == 4;";
    let explored = explore(text, Model::Sc, Purpose::Goals, Reductions::ALL);
    assert!(explored.violation().is_some());
    let judged = Reference::new(&program(text), Model::Sc, None).unwrap().explore(1000).unwrap();
    assert!(!judged.violated_goals.is_empty());
}

/// A condition whose right side may have no value is not the same with its sides exchanged.
#[test]
fn threads_are_not_exchanged_under_a_condition_that_may_have_no_value() {
    let text = "static m = 0; thread p[2] { let r = 0; lock(m); r = 1; }
        never 1 / p[0].r == 1 || 1 / p[1].r == 1;";
    assert!(explore(text, Model::Sc, Purpose::Goals, Reductions::ALL).violation().is_some());
}

/// An arrival can bring a part of a condition into play that has no value.
#[test]
fn an_arrival_is_not_fused_under_a_condition_that_may_have_no_value() {
    let text = "static x; thread t { nop; @one; wait(x == 7); } thread u { let s = 0; fence(); s = 1; fence(); s = 0; }
        never (t@one && 1 / x == 1) || u.s == 1;";
    assert!(explore(text, Model::Sc, Purpose::Goals, Reductions::ALL).violation().is_some());
    let huge = "static x; thread t { nop; @one; wait(x == 7); } never t@one + 9_223_372_036_854_775_807 >= 1;";
    assert!(explore(huge, Model::Sc, Purpose::Goals, Reductions::ALL).violation().is_some());
}

/// Local choices in a row: walked as paths they were more than anybody could wait for.
#[test]
fn local_choices_do_not_multiply() {
    let choices = "choose { r = r * 2; } or { r = r * 2 + 1; } ".repeat(12);
    let text = format!("static x; thread p {{ let r = 1; {choices} x.store(r); }}");
    let explored = explore(&text, Model::Sc, Purpose::Finals, Reductions::ALL);
    assert_eq!(explored.ends().count(), 1 << 12);
    let walk =
        "static x; thread p { let r = 0; while r < 1000 { choose { r = r + 1; } or { r = r + 2; } } x.store(r); }";
    let explored = explore(walk, Model::Sc, Purpose::Finals, Reductions::ALL);
    assert_eq!(explored.ends().count(), 2);
}

/// Addresses are met one after the other; the layout has to foresee them, in both directions and at any distance.
#[test]
fn walks_through_memory_do_not_start_again_at_each_step() {
    for (from, step) in [(0, 1), (0, -1), (7, 5000), (100_000, -333)] {
        let text = format!(
            "thread p {{ let a = {from}; let n = 0; while n < 500 {{ mem[a].store(1); a = a + {step}; n = n + 1; }} }}"
        );
        let explored = explore(&text, Model::Sc, Purpose::Finals, Reductions::ALL);
        assert_eq!(explored.ends().count(), 1);
    }
}

/// Identical threads whose values outgrow the first layout are still identical.
#[test]
fn growing_keeps_threads_exchangeable() {
    let text = "static x; thread p[4] { let r = x.fetch_add(301); let s = x.fetch_add(r); x.fetch_add(s); }";
    let states = |reductions| explore(text, Model::Sc, Purpose::Goals, reductions).statistics().states;
    let symmetric = states(Reductions { symmetry: true, ..Reductions::NONE });
    assert!(symmetric * 5 < states(Reductions::NONE), "{symmetric} states");
}

/// Levels large enough that several workers share them.
#[test]
fn any_number_of_workers_finds_the_same() {
    let text = "static c: [blocking 0..8; 5]; thread t[me in 0..5] { loop { c[me].fetch_add(1); } } never c[4] == 7 && c[0] == 7;";
    let seen = |workers: usize, until| {
        let settings = Settings { buffer: 3, reductions: Reductions::NONE, ..Settings::new(Model::Sc) };
        let explored =
            run(&program(text), settings, &Options { budget: Budget::unlimited().workers(workers), until }).unwrap();
        let steps = explored.violation().map(|found| found.expect("a readable path").1.actions.len());
        (explored.statistics().states, explored.statistics().transitions, explored.statistics().depth, steps)
    };
    for workers in [1, 2, 3, 8] {
        let (states, transitions, depth, _) = seen(workers, Until::Exhausted);
        assert_eq!((states, transitions, depth), (8u64.pow(5), 5 * 7 * 8u64.pow(4), 35), "{workers} workers");
        assert_eq!(seen(workers, Until::FirstFinding).3, Some(14), "{workers} workers");
    }
}
