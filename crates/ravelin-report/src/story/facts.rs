//! Statistics as names and values for a table.

use ravelin_answer::text::grouped;
use ravelin_answer::{FenceEffort, ReachEffort, RobustEffort, Statistics};

/// Names and values.
pub type Facts = Vec<(String, String)>;

/// What a search explored.
pub fn statistics(found: &Statistics) -> Facts {
    let mut facts = Facts::new();
    fact(&mut facts, "states", grouped(found.states));
    fact(&mut facts, "transitions", grouped(found.transitions));
    fact(&mut facts, "depth", grouped(found.depth));
    if found.frontier > 0 {
        fact(&mut facts, "states not expanded", grouped(found.frontier));
    }
    fact(&mut facts, "memory", bytes(found.bytes));
    fact(&mut facts, "time", seconds(found.seconds));
    if let Some(workers) = found.workers {
        fact(&mut facts, "workers", grouped(workers as u64));
    }
    facts
}

/// What the robustness check explored.
pub fn explored(found: &RobustEffort) -> Facts {
    let mut facts = Facts::new();
    fact(&mut facts, "states", grouped(found.states));
    if found.sc > 0 {
        fact(&mut facts, "under sc", grouped(found.sc));
        fact(&mut facts, "with stores delayed", grouped(found.delaying));
        fact(&mut facts, "of helpers", grouped(found.helping));
    }
    fact(&mut facts, "memory", bytes(found.bytes));
    fact(&mut facts, "time", seconds(found.seconds));
    facts
}

/// The effort of an engine of `reach`.
pub fn effort(found: &ReachEffort) -> Facts {
    let numbers: Vec<(&str, u64)> = match *found {
        ReachEffort::Constraints { generated, kept, minimal } => {
            vec![("constraints generated", generated), ("constraints kept", kept), ("constraints minimal", minimal)]
        }
        ReachEffort::Rounds { rounds, paths, sc_states, oracle_states } => vec![
            ("rounds", rounds as u64),
            ("paths", paths as u64),
            ("sc states", sc_states),
            ("oracle states", oracle_states),
        ],
    };
    numbers.into_iter().map(|(name, number)| (name.to_owned(), grouped(number))).collect()
}

/// The effort of a search for fences.
pub fn fence_effort(found: &FenceEffort) -> Facts {
    let mut facts = Facts::new();
    fact(&mut facts, "queries", grouped(found.queries as u64));
    fact(&mut facts, "clauses", grouped(found.clauses as u64));
    fact(&mut facts, "states", grouped(found.states));
    fact(&mut facts, "time", seconds(found.seconds));
    facts
}

pub fn fact(facts: &mut Facts, name: &str, value: impl Into<String>) {
    facts.push((name.to_owned(), value.into()));
}

pub fn seconds(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{} bytes", grouped(bytes)),
        10_240..10_485_760 => format!("{} KiB", grouped(bytes >> 10)),
        _ => format!("{} MiB", grouped(bytes >> 20)),
    }
}
