//! Litmus tests whose answers for x86 and ARMv8 are known: the axioms must give these.
//!
//! Threads are separated by `|`, instructions by `;`. `W x 1` stores (`rel`: `stlr`), `R x 1` loads and finds the value
//! (`acq`: `ldar`, `pc`: `ldapr`), `U x 0 1` finds 0 and stores 1 in one instruction (`acq`, `rel`), `F full`, `F ld` and
//! `F st` are barriers. `addr`, `data` and `ctrl` are dependencies on the load before in the thread. After `=>` are final
//! values. Values of a variable differ, so what is read is determined; some order of the writes must be allowed.

use ravelin_program::{ThreadId, Value};
use ravelin_semantics::hardware::{Barrier, LoadKind, MachineEvent, MachineGraph, MachineOperation, armv8, x86};
use ravelin_semantics::rc20::Relation;
use std::collections::BTreeMap;

/// A graph without the order of its writes.
#[derive(Default)]
struct Litmus {
    events: Vec<MachineEvent>,
    /// What each access loads or stores.
    values: Vec<Value>,
    amo: Vec<(usize, usize)>,
    dependencies: Vec<(&'static str, usize, usize)>,
    finals: BTreeMap<Value, Value>,
}

fn address(name: &str) -> Value {
    Value::from(name.as_bytes()[0])
}

fn number(text: &str) -> Value {
    text.parse().expect("a number")
}

impl Litmus {
    fn parse(text: &str) -> Litmus {
        let (program, finals) = text.split_once("=>").unwrap_or((text, ""));
        let mut litmus = Litmus::default();
        let mut names: Vec<&str> =
            program.split([';', '|']).filter_map(|line| line.split_whitespace().nth(1)).collect();
        names.retain(|name| name.len() == 1);
        names.sort_unstable();
        names.dedup();
        for name in names {
            litmus.push(None, MachineOperation::Store { address: address(name), release: false }, 0, false);
        }
        for (index, body) in program.split('|').enumerate() {
            let thread = Some(ThreadId(index));
            let mut load = None;
            for line in body.split(';') {
                let words: Vec<&str> = line.split_whitespace().collect();
                let has = |word: &str| words.contains(&word);
                let kind = match () {
                    () if has("acq") => LoadKind::Acquire,
                    () if has("pc") => LoadKind::AcquirePc,
                    () => LoadKind::Plain,
                };
                let release = has("rel");
                let event = match words[..] {
                    ["F", kind] => {
                        let barrier = match kind {
                            "full" => Barrier::Full,
                            "ld" => Barrier::Load,
                            _ => Barrier::Store,
                        };
                        litmus.push(thread, MachineOperation::Barrier(barrier), 0, false)
                    }
                    ["W", x, value, ..] => {
                        let operation = MachineOperation::Store { address: address(x), release };
                        litmus.push(thread, operation, number(value), false)
                    }
                    ["R", x, value, ..] => {
                        let operation = MachineOperation::Load { address: address(x), kind };
                        litmus.push(thread, operation, number(value), false)
                    }
                    ["U", x, old, new, ..] => {
                        let operation = MachineOperation::Load { address: address(x), kind };
                        let read = litmus.push(thread, operation, number(old), true);
                        let operation = MachineOperation::Store { address: address(x), release };
                        let write = litmus.push(thread, operation, number(new), true);
                        litmus.amo.push((read, write));
                        read
                    }
                    _ => panic!("no such instruction: {line}"),
                };
                for name in ["addr", "data", "ctrl"] {
                    if has(name) {
                        litmus.dependencies.push((name, load.expect("a load before"), event));
                    }
                }
                if litmus.events[event].operation.is_load() {
                    load = Some(event);
                }
            }
        }
        litmus.finals = finals
            .split_whitespace()
            .map(|claim| claim.split_once('=').expect("name=value"))
            .map(|(name, value)| (address(name), number(value)))
            .collect();
        litmus
    }

    fn push(&mut self, thread: Option<ThreadId>, operation: MachineOperation, value: Value, locked: bool) -> usize {
        self.events.push(MachineEvent { thread, operation, locked });
        self.values.push(value);
        self.events.len() - 1
    }

    /// Whether some order of the writes is allowed.
    fn allowed(&self, allows: fn(&MachineGraph) -> bool) -> bool {
        let mut orders: BTreeMap<Value, Vec<Vec<usize>>> = BTreeMap::new();
        for (index, event) in self.events.iter().enumerate().filter(|(_, event)| event.operation.is_store()) {
            let at = event.operation.address().expect("a store");
            let shorter = orders.remove(&at).unwrap_or_else(|| vec![Vec::new()]);
            // The initial write is the first one.
            let longer = shorter.iter().flat_map(|order| {
                (usize::from(!order.is_empty())..=order.len()).map(|place| {
                    let mut order = order.clone();
                    order.insert(place, index);
                    order
                })
            });
            orders.insert(at, longer.collect());
        }
        let mut all = vec![Vec::new()];
        for (at, orders) in &orders {
            let last = |order: &&Vec<usize>| {
                let value = order.last().map(|&write| self.values[write]);
                self.finals.get(at).is_none_or(|wanted| value == Some(*wanted))
            };
            all = all
                .iter()
                .flat_map(|chosen: &Vec<Vec<usize>>| {
                    orders.iter().filter(last).map(|order| [&chosen[..], std::slice::from_ref(order)].concat())
                })
                .collect();
        }
        all.iter().any(|orders| allows(&self.graph(orders)))
    }

    fn graph(&self, orders: &[Vec<usize>]) -> MachineGraph {
        let (events, size) = (self.events.clone(), self.events.len());
        let relation = |pairs: &[(usize, usize)]| {
            let mut relation = Relation::empty(size);
            pairs.iter().for_each(|&(a, b)| relation.insert(a, b));
            relation
        };
        let po = Relation::of(size, |a, b| {
            let (one, other) = (events[a].thread, events[b].thread);
            other.is_some() && (one.is_none() || one == other && a < b)
        });
        let rf = Relation::of(size, |a, b| {
            let (one, other) = (events[a].operation, events[b].operation);
            let same = one.address() == other.address() && self.values[a] == self.values[b];
            one.is_store() && other.is_load() && same
        });
        let mut co = Relation::empty(size);
        for order in orders {
            for (place, &earlier) in order.iter().enumerate() {
                order[place + 1..].iter().for_each(|&later| co.insert(earlier, later));
            }
        }
        let named = |name: &str| {
            let pairs = self.dependencies.iter().filter(|dependency| dependency.0 == name);
            let direct = relation(&pairs.map(|&(_, from, to)| (from, to)).collect::<Vec<_>>());
            // Everything behind a branch depends on it.
            if name == "ctrl" { direct.then(&po.optional()) } else { direct }
        };
        let (address_dependency, data_dependency, control_dependency) = (named("addr"), named("data"), named("ctrl"));
        let amo = relation(&self.amo);
        MachineGraph { events, po, rf, co, amo, address_dependency, data_dependency, control_dependency }
    }
}

/// Name, test, whether x86 allows it, whether ARMv8 does.
type Row = (&'static str, &'static str, bool, bool);

fn check(rows: &[Row]) {
    for &(name, text, on_x86, on_armv8) in rows {
        let litmus = Litmus::parse(text);
        assert_eq!(litmus.allowed(x86::allows), on_x86, "{name} on x86: {text}");
        assert_eq!(litmus.allowed(armv8::allows), on_armv8, "{name} on ARMv8: {text}");
    }
}

#[test]
fn without_fences() {
    check(&[
        ("SB", "W x 1; R y 0 | W y 1; R x 0", true, true),
        ("MP", "W x 1; W y 1 | R y 1; R x 0", false, true),
        ("LB", "R x 1; W y 1 | R y 1; W x 1", false, true),
        ("S", "W x 2; W y 1 | R y 1; W x 1 => x=2", false, true),
        ("R", "W x 1; W y 1 | W y 2; R x 0 => y=2", true, true),
        ("2+2W", "W x 1; W y 2 | W y 1; W x 2 => x=1 y=1", false, true),
        ("WRC", "W x 1 | R x 1; W y 1 | R y 1; R x 0", false, true),
        ("IRIW", "W x 1 | W y 1 | R x 1; R y 0 | R y 1; R x 0", false, true),
        ("ISA2", "W x 1; W y 1 | R y 1; W z 1 | R z 1; R x 0", false, true),
        ("RWC", "W x 1 | R x 1; R y 0 | W y 1; R x 0", true, true),
        ("n6", "W x 1; R x 1; R y 0 | W y 1; W x 2 => x=1", true, true),
        // Reading one's own store early: the two threads see the stores in different orders.
        ("n5", "W x 1; R x 2 | W x 2; R x 1", false, false),
        ("SB with own reads", "W x 1; R x 1; R y 0 | W y 1; R y 1; R x 0", true, true),
    ]);
}

#[test]
fn each_address_is_sequentially_consistent() {
    check(&[
        ("CoRR", "W x 1 | R x 1; R x 0", false, false),
        ("CoWW", "W x 1; W x 2 => x=1", false, false),
        ("CoRW", "R x 1; W x 1", false, false),
        ("CoWR", "W x 1; R x 0", false, false),
        ("CoRW2", "W x 1 | R x 1; W x 2 => x=1", false, false),
    ]);
}

#[test]
fn with_full_barriers() {
    check(&[
        ("SB", "W x 1; F full; R y 0 | W y 1; F full; R x 0", false, false),
        ("SB, one barrier", "W x 1; F full; R y 0 | W y 1; R x 0", true, true),
        ("MP", "W x 1; F full; W y 1 | R y 1; F full; R x 0", false, false),
        ("LB", "R x 1; F full; W y 1 | R y 1; F full; W x 1", false, false),
        ("S", "W x 2; F full; W y 1 | R y 1; F full; W x 1 => x=2", false, false),
        ("R", "W x 1; F full; W y 1 | W y 2; F full; R x 0 => y=2", false, false),
        ("R, one barrier", "W x 1; F full; W y 1 | W y 2; R x 0 => y=2", true, true),
        ("2+2W", "W x 1; F full; W y 2 | W y 1; F full; W x 2 => x=1 y=1", false, false),
        ("WRC", "W x 1 | R x 1; F full; W y 1 | R y 1; F full; R x 0", false, false),
        ("IRIW", "W x 1 | W y 1 | R x 1; F full; R y 0 | R y 1; F full; R x 0", false, false),
        ("ISA2", "W x 1; F full; W y 1 | R y 1; F full; W z 1 | R z 1; F full; R x 0", false, false),
    ]);
}

#[test]
fn with_barriers_for_loads_and_for_stores() {
    check(&[
        ("MP", "W x 1; F st; W y 1 | R y 1; F ld; R x 0", false, false),
        ("MP, load barriers only", "W x 1; F ld; W y 1 | R y 1; F ld; R x 0", false, true),
        ("MP, store barriers only", "W x 1; F st; W y 1 | R y 1; F st; R x 0", false, true),
        ("LB", "R x 1; F ld; W y 1 | R y 1; F ld; W x 1", false, false),
        ("2+2W", "W x 1; F st; W y 2 | W y 1; F st; W x 2 => x=1 y=1", false, false),
        ("SB", "W x 1; F ld; R y 0 | W y 1; F st; R x 0", true, true),
        ("IRIW", "W x 1 | W y 1 | R x 1; F ld; R y 0 | R y 1; F ld; R x 0", false, false),
    ]);
}

#[test]
fn with_dependencies() {
    check(&[
        ("MP, address", "W x 1; F full; W y 1 | R y 1; R x 0 addr", false, false),
        ("MP, control", "W x 1; F full; W y 1 | R y 1; R x 0 ctrl", false, true),
        ("MP, writer not ordered", "W x 1; W y 1 | R y 1; R x 0 addr", false, true),
        ("LB, data", "R x 1; W y 1 data | R y 1; W x 1 data", false, false),
        ("LB, control", "R x 1; W y 1 ctrl | R y 1; W x 1 ctrl", false, false),
        ("LB, address", "R x 1; W y 1 addr | R y 1; W x 1 addr", false, false),
        ("LB, one dependency", "R x 1; W y 1 data | R y 1; W x 1", false, true),
        ("S, data", "W x 2; F full; W y 1 | R y 1; W x 1 data => x=2", false, false),
        ("WRC", "W x 1 | R x 1; W y 1 data | R y 1; R x 0 addr", false, false),
        ("IRIW", "W x 1 | W y 1 | R x 1; R y 0 addr | R y 1; R x 0 addr", false, false),
        ("ISA2", "W x 1; F full; W y 1 | R y 1; W z 1 data | R z 1; R x 0 addr", false, false),
    ]);
}

#[test]
fn with_loads_that_acquire_and_stores_that_release() {
    check(&[
        ("MP", "W x 1; W y 1 rel | R y 1 acq; R x 0", false, false),
        ("MP, ldapr", "W x 1; W y 1 rel | R y 1 pc; R x 0", false, false),
        ("SB", "W x 1 rel; R y 0 acq | W y 1 rel; R x 0 acq", true, false),
        ("SB, ldapr", "W x 1 rel; R y 0 pc | W y 1 rel; R x 0 pc", true, true),
        ("LB", "R x 1 acq; W y 1 | R y 1 acq; W x 1", false, false),
        ("LB, releases", "R x 1; W y 1 rel | R y 1; W x 1 rel", false, false),
        ("2+2W", "W x 1; W y 2 rel | W y 1; W x 2 rel => x=1 y=1", false, false),
        ("IRIW", "W x 1 rel | W y 1 rel | R x 1 acq; R y 0 acq | R y 1 acq; R x 0 acq", false, false),
        ("R", "W x 1; W y 1 rel | W y 2 rel; R x 0 acq => y=2", true, false),
        ("R, plain load", "W x 1; W y 1 rel | W y 2 rel; R x 0 => y=2", true, true),
        ("WRC", "W x 1 | R x 1 acq; W y 1 rel | R y 1 acq; R x 0", false, false),
    ]);
}

#[test]
fn with_atomic_instructions() {
    check(&[
        ("SB", "U x 0 1; R y 0 | U y 0 1; R x 0", false, true),
        ("SB, acq and rel", "U x 0 1 acq rel; R y 0 | U y 0 1 acq rel; R x 0", false, true),
        ("SB, acq and rel, ldar", "U x 0 1 acq rel; R y 0 acq | U y 0 1 acq rel; R x 0 acq", false, false),
        ("SB, between", "W x 1; U z 0 1 acq rel; R y 0 | W y 1; U w 0 1 acq rel; R x 0", false, false),
        ("SB, between, plain", "W x 1; U z 0 1; R y 0 | W y 1; U w 0 1; R x 0", false, true),
        ("MP", "W x 1; U y 0 1 rel | U y 1 2 acq; R x 0", false, false),
        ("MP, plain", "W x 1; U y 0 1 | U y 1 2; R x 0", false, true),
        ("two from the same", "U x 0 1 | U x 0 2", false, false),
        ("a store between", "U x 0 1 | W x 2; R x 2 => x=1", false, false),
    ]);
}
