//! How long an exploration takes per run, without the runs: `cargo run --release -p ravelin-verify --example
//! time_exploration`.

use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_verify::exploration::{Options, Outcome};
use ravelin_verify::{Exploration, RecordedRun, Script};
use std::time::{Duration, Instant};

/// What the threads do: an act on a cell each.
type Program = Vec<Vec<(Act, u64)>>;

fn main() {
    let mixed = |threads: usize, length: usize, cells: u64| -> Program {
        let thread = |number: usize| {
            let access = |at: usize| {
                let act = if (at + number).is_multiple_of(3) { Act::Store } else { Act::Load };
                (act, (at * (number + 3) / 2) as u64 % cells)
            };
            (0..length).map(access).collect()
        };
        (0..threads).map(thread).collect()
    };
    let counter = |threads: usize, length: usize| vec![vec![(Act::Update, 0); length]; threads];
    for (name, program, most) in [
        ("2 threads, 8 cells, 50 events", mixed(2, 25, 8), 20_000),
        ("3 threads, 4 cells, 48 events", mixed(3, 16, 4), 20_000),
        ("4 threads, 8 cells, 100 events", mixed(4, 25, 8), 20_000),
        ("a counter, 2 threads, 50 events", counter(2, 25), 20_000),
        ("4 threads, 64 cells, 2000 events", mixed(4, 500, 64), 200),
        ("2 threads, 512 cells, 10000 events", mixed(2, 5000, 512), 10),
    ] {
        let mut exploration = Exploration::new(Options::default());
        let mut time = Duration::ZERO;
        let mut runs = 0;
        let mut nodes = 0;
        while runs < most {
            let start = Instant::now();
            let Some(task) = exploration.next() else { break };
            time += start.elapsed();
            let run = run(&program, &task.script);
            let start = Instant::now();
            let outcome = exploration.done(&task, &run);
            time += start.elapsed();
            assert_eq!(outcome, Outcome::New);
            runs += 1;
            nodes = nodes.max(exploration.statistics().nodes);
        }
        let each = time / runs;
        println!("{name}: {each:?} per run, {runs} runs, at most {nodes} nodes");
    }
}

fn run(program: &Program, script: &Script) -> RecordedRun {
    let mut made = vec![0; program.len()];
    let mut run = RecordedRun::default();
    let mut make = |thread: usize| {
        let Some(&(act, cell)) = program[thread].get(made[thread]) else { return false };
        made[thread] += 1;
        let operation = RunOperation { act, order: RecordedOrder::SeqCst, address: cell * 8, size: 8 };
        let flags = if act == Act::Store { flags::OVERWRITES } else { 0 };
        run.events.push(RunEvent { thread: thread as u32, operation, flags, read: 0, written: 0, pc: 0, state: 0 });
        true
    };
    for choice in &script.choices {
        make(choice.thread as usize);
    }
    let last = script.choices.last().map_or(0, |choice| choice.thread as usize);
    for thread in (last..program.len()).chain(0..last) {
        while make(thread) {}
    }
    run
}
