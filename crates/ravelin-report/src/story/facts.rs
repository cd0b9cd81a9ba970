//! Statistics as names and values for a table.

use crate::numbers::grouped;
use serde::Deserialize;
use serde_json::Value;

/// Names and values.
pub type Facts = Vec<(String, String)>;

/// What a search explored.
#[derive(Deserialize)]
pub struct RawStatistics {
    states: u64,
    transitions: u64,
    depth: u64,
    frontier: u64,
    bytes: u64,
    seconds: f64,
    workers: u64,
}

impl RawStatistics {
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        fact(&mut facts, "states", grouped(self.states));
        fact(&mut facts, "transitions", grouped(self.transitions));
        fact(&mut facts, "depth", grouped(self.depth));
        if self.frontier > 0 {
            fact(&mut facts, "states not expanded", grouped(self.frontier));
        }
        fact(&mut facts, "memory", bytes(self.bytes));
        fact(&mut facts, "time", seconds(self.seconds));
        fact(&mut facts, "workers", grouped(self.workers));
        facts
    }
}

/// What the robustness check explored.
#[derive(Deserialize)]
pub struct RawExplored {
    states: u64,
    sc: u64,
    delaying: u64,
    helping: u64,
    bytes: u64,
    seconds: f64,
}

impl RawExplored {
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        fact(&mut facts, "states", grouped(self.states));
        if self.sc > 0 {
            fact(&mut facts, "under sc", grouped(self.sc));
            fact(&mut facts, "with stores delayed", grouped(self.delaying));
            fact(&mut facts, "of helpers", grouped(self.helping));
        }
        fact(&mut facts, "memory", bytes(self.bytes));
        fact(&mut facts, "time", seconds(self.seconds));
        facts
    }
}

/// Numbers of an object, called by their names.
pub fn numbers(object: &Value) -> Facts {
    let mut facts = Facts::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match value.as_u64() {
            Some(number) => fact(&mut facts, &name, grouped(number)),
            None => facts
                .extend(value.as_f64().filter(|_| name == "seconds").map(|time| ("time".to_owned(), seconds(time)))),
        }
    }
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
