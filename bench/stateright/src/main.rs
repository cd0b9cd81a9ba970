//! `stateright-spaces counters 6`, `stateright-spaces lamport 4`: the spaces of `cargo xtask bench explore`, searched breadth
//! first on one core by stateright. Prints the number of states.
//!
//! States are packed into integers as in the searches by hand, so that what is measured is the checker.

use stateright::{Checker, Model, Property};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (space, number) = (arguments.next().unwrap_or_default(), arguments.next().and_then(|n| n.parse().ok()));
    let states = match (space.as_str(), number) {
        ("counters", Some(number)) => states(Counters { number }),
        ("lamport", Some(threads)) => states(Lamport { threads: u64::from(threads) }),
        _ => {
            eprintln!("usage: stateright-spaces counters|lamport NUMBER");
            return ExitCode::from(2);
        }
    };
    println!("states {states}");
    ExitCode::SUCCESS
}

fn states<M>(model: M) -> usize
where
    M: Model<State = u64> + Send + Sync + 'static,
    M::Action: Send + Sync + Clone + PartialEq + std::fmt::Debug,
{
    model.checker().threads(1).spawn_bfs().join().unique_state_count()
}

struct Counters {
    number: u32,
}

impl Model for Counters {
    type State = u64;
    type Action = u32;

    fn init_states(&self) -> Vec<u64> {
        vec![0]
    }

    fn actions(&self, state: &u64, actions: &mut Vec<u32>) {
        actions.extend((0..self.number).filter(|counter| state >> (counter * 4) & 15 < 15));
    }

    fn next_state(&self, state: &u64, counter: u32) -> Option<u64> {
        Some(state + (1 << (counter * 4)))
    }

    /// Something to check, because without a property the search would end at once.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("below the bound", |model, state| state >> (model.number * 4) == 0)]
    }
}

struct Lamport {
    threads: u64,
}

const CRITICAL: u64 = 8;

fn shift(thread: u64) -> u64 {
    6 + thread * 7
}

fn set(state: u64, shift: u64, bits: u64, value: u64) -> u64 {
    state & !(((1 << bits) - 1) << shift) | value << shift
}

impl Model for Lamport {
    type State = u64;
    type Action = u64;

    fn init_states(&self) -> Vec<u64> {
        vec![0]
    }

    fn actions(&self, _: &u64, actions: &mut Vec<u64>) {
        actions.extend(0..self.threads);
    }

    fn next_state(&self, state: &u64, thread: u64) -> Option<u64> {
        let state = *state;
        let (x, y) = (state & 7, state >> 3 & 7);
        let me = thread + 1;
        let shift = shift(thread);
        let (pc, register) = (state >> shift & 15, state >> (shift + 4) & 7);
        let go = |state, to| Some(set(state, shift, 4, to));
        let load = |value, to| go(set(state, shift + 4, 3, value), to);
        match pc {
            0 => go(set(state, 0, 3, me), 1),
            1 => load(y, 2),
            2 => go(state, if register != 0 { 0 } else { 3 }),
            3 => go(set(state, 3, 3, me), 4),
            4 => load(x, 5),
            5 => go(state, if register == me { CRITICAL } else { 6 }),
            6 => load(y, 7),
            7 if register != me => go(state, 0),
            CRITICAL => go(set(state, 3, 3, 0), 9),
            _ => None,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("mutual exclusion", |model, state| {
            (0..model.threads).filter(|&thread| state >> shift(thread) & 15 == CRITICAL).count() < 2
        })]
    }
}
