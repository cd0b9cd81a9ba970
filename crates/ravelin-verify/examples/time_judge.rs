//! How long the judge takes for a run of about 50 events: `cargo run --release -p ravelin-verify --example time_judge`.

use ravelin_findings::RecordedOrder::{self, AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
use ravelin_findings::events::{Act, RunEvent, RunOperation};
use ravelin_verify::judge::{JudgedModel, judge};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let message_passing = repeated(|round| {
        vec![
            event(0, Act::Store, Relaxed, 8, round),
            event(0, Act::Store, Release, 16, round),
            event(1, Act::Load, Acquire, 16, round),
            event(1, Act::Load, Relaxed, 8, round),
            event(1, Act::Store, Release, 24, round),
            event(0, Act::Load, Acquire, 24, round),
        ]
    });
    let counter = repeated(|round| (0..3).map(|thread| event(thread, Act::Update, AcqRel, 8, round)).collect());
    let locked = repeated(|round| {
        let acts =
            [(Act::Lock, Plain, 80), (Act::Load, Relaxed, 8), (Act::Store, Relaxed, 8), (Act::Unlock, Plain, 80)];
        acts.map(|(act, order, address)| event(round as u32 % 3, act, order, address, round)).to_vec()
    });
    let store_buffering = |store, load, fence: bool| {
        repeated(|round| {
            let mut events = Vec::new();
            for (thread, mine, other) in [(0, 8, 16), (1, 16, 8)] {
                events.push(event(thread, Act::Store, store, mine, round));
                events.extend(fence.then(|| event(thread, Act::Fence, SeqCst, 0, 0)));
                events.push(event(thread, Act::Load, load, other, if thread == 0 { round - 1 } else { round }));
            }
            events
        })
    };
    for (name, events) in [
        ("message passing", message_passing),
        ("a counter", counter),
        ("a lock", locked),
        ("store buffering with seq_cst accesses", store_buffering(SeqCst, SeqCst, false)),
        ("store buffering with seq_cst fences", store_buffering(Relaxed, Relaxed, true)),
        ("store buffering, relaxed", store_buffering(Relaxed, Relaxed, false)),
    ] {
        let rounds = 20_000;
        let start = Instant::now();
        let mut stale = 0;
        for _ in 0..rounds {
            stale = judge(black_box(&events), JudgedModel::Rc20, &|_: &RunEvent, _| false).stale.len();
        }
        let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds);
        println!("{name}: {} events, {stale} stale accesses, {time:.1} µs", events.len());
    }
}

/// Rounds with numbers from 1 until there are 50 events.
fn repeated(round: impl Fn(u64) -> Vec<RunEvent>) -> Vec<RunEvent> {
    let mut events = Vec::new();
    for number in 1.. {
        events.extend(round(number));
        if events.len() >= 48 {
            break;
        }
    }
    events
}

fn event(thread: u32, act: Act, order: RecordedOrder, address: u64, value: u64) -> RunEvent {
    let operation = RunOperation { act, order, address, size: 8 };
    RunEvent { thread, operation, flags: 0, read: value, written: value, pc: 1, state: 0 }
}
