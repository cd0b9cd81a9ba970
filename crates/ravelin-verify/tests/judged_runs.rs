//! The judge agrees with the axioms on random SC runs, which are longer than those of programs whose graphs can be
//! enumerated.

use crate::graphs::{Plain, is_consistent_with, stale_by_axioms, trace};
use ravelin_findings::RecordedOrder::{self, AcqRel, Acquire, Plain as Unordered, Relaxed, Release, SeqCst};
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use ravelin_testing::Random;
use ravelin_testing::seeds;
use ravelin_verify::judge::{JudgedModel, StaleAccess, StaleKind, judge};
use std::collections::BTreeMap;

/// Which runs to make.
struct Shape {
    threads: usize,
    cells: usize,
    events: usize,
    orders: &'static [RecordedOrder],
    /// One event in so many is a fence.
    fences: usize,
    locks: bool,
}

fn random_run(random: &mut Random, shape: &Shape) -> Vec<RunEvent> {
    let mut memory: BTreeMap<u64, u64> = BTreeMap::new();
    let mut holder: Option<u32> = None;
    let mut events = Vec::new();
    while events.len() < shape.events {
        let thread = random.below(shape.threads) as u32;
        let address = 8 * (1 + random.below(shape.cells) as u64);
        let new = 1 + random.below(2) as u64;
        let mut event =
            RunEvent { thread, operation: RunOperation::LOCAL, flags: 0, read: 0, written: 0, pc: 0, state: 0 };
        let pick = |random: &mut Random, fits: fn(RecordedOrder) -> bool| {
            let orders: Vec<RecordedOrder> = shape.orders.iter().copied().filter(|&order| fits(order)).collect();
            if orders.is_empty() { Relaxed } else { random.pick(&orders) }
        };
        let loads = |order| !matches!(order, Release | AcqRel);
        let found = memory.get(&address).copied().unwrap_or(0);
        let mut at = |act, order| event.operation = RunOperation { act, order, address, size: 8 };
        if shape.fences > 0 && random.once_in(shape.fences) {
            let order = pick(random, |order| order != Relaxed);
            let order = if order == Relaxed { SeqCst } else { order };
            event.operation = RunOperation { act: Act::Fence, order, address: 0, size: 0 };
        } else if shape.locks && random.once_in(4) {
            let act = match holder {
                None => Act::Lock,
                Some(other) if other == thread => Act::Unlock,
                Some(_) => continue,
            };
            holder = (act == Act::Lock).then_some(thread);
            event.operation = RunOperation { act, order: Unordered, address: 80, size: 8 };
        } else {
            match random.below(10) {
                0..4 => {
                    at(Act::Load, pick(random, loads));
                    event.read = found;
                }
                4..8 => {
                    at(Act::Store, pick(random, |order| !matches!(order, Acquire | AcqRel)));
                    event.written = new;
                }
                8 => {
                    at(Act::Update, pick(random, |_| true));
                    (event.read, event.written) = (found, new);
                }
                _ => {
                    let (expected, success, failure) =
                        (random.below(3) as u64, pick(random, |_| true), pick(random, loads));
                    event.read = found;
                    if expected == found {
                        at(Act::Update, success);
                        event.written = new;
                        event.flags = flags::COMPARES | flags::other_order(failure);
                    } else {
                        at(Act::Load, failure);
                        event.written = expected;
                        event.flags = flags::COMPARES | flags::other_order(success);
                    }
                }
            }
            if matches!(event.operation.act, Act::Store | Act::Update) {
                memory.insert(address, event.written);
            }
        }
        events.push(event);
    }
    events
}

/// Why the judge is wrong about a run, if it is.
fn difference(events: &[RunEvent]) -> Option<String> {
    [JudgedModel::Rc20, JudgedModel::Tso].into_iter().find_map(|model| {
        let found = judge(events, model, &Plain).stale;
        let expected = stale_by_axioms(events, model, &Plain);
        (found != expected).then(|| format!("{model:?}: found {found:#?}, expected {expected:#?}"))
    })
}

/// The run without events that are not needed for a difference. Values read may become wrong, which nothing looks at
/// but the alternatives of compare-exchanges, and those follow the same rules in both.
fn shrink(mut events: Vec<RunEvent>) -> Vec<RunEvent> {
    let mut index = 0;
    while index < events.len() {
        let mut fewer = events.clone();
        fewer.remove(index);
        let locked = events[index].operation.address == 80;
        if !locked && difference(&fewer).is_some() {
            events = fewer;
        } else {
            index += 1;
        }
    }
    events
}

fn agrees(shape: &Shape, default: u64) {
    let (mut runs, mut stale_runs, mut stale) = (0, 0, 0);
    for seed in seeds(default) {
        let mut random = Random::new(seed);
        let events = random_run(&mut random, shape);
        if difference(&events).is_some() {
            let small = shrink(events);
            panic!("seed {seed}: {:?}\n{small:#?}", difference(&small));
        }
        let found = judge(&events, JudgedModel::Rc20, &Plain);
        runs += 1;
        stale_runs += usize::from(!found.stale.is_empty());
        stale += found.stale.len();
        found.stale.iter().for_each(|stale| goes_on(&events, stale));
        linearise_otherwise(&mut random, events);
    }
    println!("{runs} runs, {stale_runs} with stale accesses, {stale} in all");
    assert!(stale > 0);
}

/// A run in which one access is stale may go on under sequential consistency: `verify --consequences` shows such runs. A
/// program would do something else after the stale access, and what it does is random here.
fn goes_on(events: &[RunEvent], stale: &StaleAccess) {
    let mut weak = events.to_vec();
    let event = &mut weak[stale.event];
    if event.is(flags::COMPARES) {
        let order = event.operation.order;
        let other = event.other_order().unwrap_or(order);
        let fails = stale.kind == StaleKind::Read;
        let did_fail = event.operation.act == Act::Load;
        event.operation.order = if fails == did_fail { order } else { other };
        event.operation.act = if fails { Act::Load } else { Act::Update };
    }
    event.read = stale.value.unwrap_or(0);
    assert!(is_consistent_with(&weak, stale.event, stale.source), "{stale:?} {weak:#?}");
}

/// Events without conflict that are next to each other may change places.
fn linearise_otherwise(random: &mut Random, events: Vec<RunEvent>) {
    let expected = trace(&events, &judge(&events, JudgedModel::Rc20, &Plain).stale);
    let mut swapped = events;
    for _ in 0..3 * swapped.len() {
        let first = random.below(swapped.len() - 1);
        let [one, other] = [first, first + 1].map(|index| &swapped[index]);
        if one.thread != other.thread && !one.operation.conflicts(&other.operation) {
            swapped.swap(first, first + 1);
        }
    }
    assert_eq!(trace(&swapped, &judge(&swapped, JudgedModel::Rc20, &Plain).stale), expected, "{swapped:#?}");
}

const ALL: &[RecordedOrder] = &[Relaxed, Relaxed, Acquire, Release, AcqRel, SeqCst];

#[test]
fn with_all_orders() {
    agrees(&Shape { threads: 3, cells: 3, events: 12, orders: ALL, fences: 5, locks: true }, 400);
}

#[test]
fn with_relaxed_accesses_and_seq_cst_fences() {
    agrees(&Shape { threads: 4, cells: 3, events: 13, orders: &[Relaxed], fences: 3, locks: false }, 400);
}

/// Few threads and cells, so that the cycles that need many of the events are not too rare.
#[test]
fn with_seq_cst_accesses_and_fences_on_two_cells() {
    let orders = &[Relaxed, SeqCst, SeqCst];
    agrees(&Shape { threads: 3, cells: 2, events: 8, orders, fences: 4, locks: false }, 400);
}

#[test]
fn with_seq_cst_fences_on_two_cells() {
    agrees(&Shape { threads: 3, cells: 2, events: 9, orders: &[Relaxed], fences: 3, locks: false }, 400);
}

#[test]
fn with_seq_cst_accesses_among_relaxed_ones() {
    agrees(&Shape { threads: 4, cells: 2, events: 10, orders: &[Relaxed, SeqCst], fences: 12, locks: false }, 400);
}

#[test]
fn with_seq_cst_accesses_among_acquire_and_release() {
    let orders = &[Acquire, Release, SeqCst, SeqCst, SeqCst];
    agrees(&Shape { threads: 3, cells: 2, events: 11, orders, fences: 0, locks: false }, 400);
}

/// That an access leads to another through other locations (po≠; hb; po≠) needs three of them.
#[test]
fn with_seq_cst_accesses_of_three_cells() {
    let orders = &[Acquire, Release, SeqCst, SeqCst];
    agrees(&Shape { threads: 3, cells: 3, events: 13, orders, fences: 0, locks: false }, 400);
}

#[test]
fn with_release_and_acquire_fences() {
    let orders = &[Relaxed, Acquire, Release, AcqRel];
    agrees(&Shape { threads: 3, cells: 3, events: 13, orders, fences: 4, locks: true }, 400);
}
