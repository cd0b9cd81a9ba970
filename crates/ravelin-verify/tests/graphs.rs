//! Stale accesses by the axioms: every alternative of every event, as an execution graph.

use crate::simulated::Simulator;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_program::{InitialValue, Order, Program, Span, ThreadId, TransitionId, Value};
use ravelin_semantics::hardware::{SeqCstStore, Target, compile, x86};
use ravelin_semantics::rc20::{Graph, GraphEvent, Label, OrderReading, rc20_consistent, sc_consistent};
use ravelin_verify::RecordedRun;
use ravelin_verify::judge::{JudgedModel, Knowledge, StaleAccess, StaleKind};
use std::collections::{BTreeMap, BTreeSet};

/// What the judge is told about a simulated program.
pub struct SimulatedKnowledge<'a> {
    pub simulator: &'a Simulator,
    pub program: &'a Program,
}

impl Knowledge for SimulatedKnowledge<'_> {
    fn goes_round(&self, event: &RunEvent, value: u64) -> bool {
        self.simulator.waits(event, value)
    }

    fn initial(&self, address: u64, _size: u32) -> Option<u64> {
        Some(initial(self.program, address / 8) as u64)
    }
}

/// Nothing waits, and memory is 0 at the beginning.
pub struct Plain;

impl Knowledge for Plain {
    fn goes_round(&self, _event: &RunEvent, _value: u64) -> bool {
        false
    }

    fn initial(&self, _address: u64, _size: u32) -> Option<u64> {
        Some(0)
    }
}

/// The events of a run, and those that are pending at its end.
pub fn with_pending(run: &RecordedRun) -> Vec<RunEvent> {
    run.events.iter().chain(&run.pending).copied().collect()
}

/// The stale accesses of a run, each decided by the axioms on its graph.
pub fn stale_by_axioms(events: &[RunEvent], model: JudgedModel, known: &impl Knowledge) -> Vec<StaleAccess> {
    let allows = |graph: &Graph| match model {
        JudgedModel::Rc20 => rc20_consistent(graph, OrderReading::Written),
        JudgedModel::Tso => on_x86(graph),
    };
    let initial = |event: &RunEvent| known.initial(event.operation.address, event.operation.size).unwrap_or(0);
    let mut graph = Graph::default();
    // The writes of each address.
    let mut messages: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    let mut stale = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let address = (event.operation.address / 8) as Value;
        let accesses = event.operation.act != Act::Fence;
        if accesses && !graph.writes.contains_key(&address) {
            graph.initialise(address, initial(event) as Value);
        }
        let messages = messages.entry(address).or_default();
        if matches!(event.operation.act, Act::Load | Act::Store | Act::Update) {
            for position in (0..messages.len()).rev() {
                let value = match position.checked_sub(1) {
                    Some(number) => events[messages[number]].written,
                    None => initial(event),
                };
                let Some((kind, label)) = alternative(known, event, value) else { continue };
                let mut extended = graph.clone();
                extend(&mut extended, event, label, position);
                if allows(&extended) && !sc_consistent(&extended) {
                    let source = position.checked_sub(1).map(|number| messages[number]);
                    let missed = messages[position];
                    stale.push(StaleAccess { event: index, missed, source, value: Some(value), kind });
                }
            }
        }
        if !event.is(flags::PENDING) {
            extend(&mut graph, event, label(event), messages.len());
            if label(event).writes() {
                messages.push(index);
            }
        }
    }
    stale
}

/// Whether x86 has the graph. Unlocking is a locked instruction there.
fn on_x86(graph: &Graph) -> bool {
    let target = Target::X86(SeqCstStore::Exchange);
    let is_locked = |event: usize| graph.events[event].transition == Some(LOCKED);
    let mut compiled = compile(graph, OrderReading::Written, target, is_locked);
    // Each event of the graph that is no fence has one that stores, or else one that loads.
    let accesses = graph.events.iter().filter(|event| !event.label.is_fence());
    let mut places = (0..compiled.events.len()).filter(|&place| compiled.events[place].operation.address().is_some());
    let mut locked = Vec::new();
    for access in accesses {
        let place = places.by_ref().take(1 + usize::from(access.label.is_rmw())).last();
        locked.extend(place.filter(|_| access.transition == Some(LOCKED)));
    }
    locked.into_iter().for_each(|place| compiled.events[place].locked = true);
    x86::allows(&compiled)
}

/// Marks events of locked instructions.
const LOCKED: TransitionId = TransitionId(1);

/// Whether a run is RC20-consistent in which one access reads an older write, or is placed behind it; all others read the
/// newest. `stale` is the index of that access, and `source` that of the write, or none for the initial value.
pub fn is_consistent_with(events: &[RunEvent], stale: usize, source: Option<usize>) -> bool {
    let mut graph = Graph::default();
    // The writes of each address, in modification order.
    let mut messages: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let address = (event.operation.address / 8) as Value;
        if event.operation.act != Act::Fence && !graph.writes.contains_key(&address) {
            graph.initialise(address, 0);
        }
        let messages = messages.entry(address).or_default();
        let position = match source {
            _ if index != stale => messages.len(),
            None => 0,
            Some(source) => 1 + messages.iter().position(|write| *write == source).expect("it was written before"),
        };
        extend(&mut graph, event, label(event), position);
        if label(event).writes() {
            messages.insert(position, index);
        }
    }
    rc20_consistent(&graph, OrderReading::Written)
}

/// A name for the trace of a run that is the same for all its linearisations, and names for its stale accesses.
pub fn trace(events: &[RunEvent], stale: &[StaleAccess]) -> (Vec<String>, BTreeSet<String>) {
    let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for event in events {
        let number = numbers.entry(event.thread).or_default();
        names.push(format!("{}.{number}", event.thread));
        *number += 1;
    }
    let mut trace = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let conflicts = |&other: &usize| {
            let [first, second] = [&events[other], event].map(|event| &event.operation);
            !event.is(flags::PENDING) && !events[other].is(flags::PENDING) && first.conflicts(second)
        };
        let after: Vec<&str> = (0..index).filter(conflicts).map(|other| &names[other][..]).collect();
        let after: BTreeSet<&str> = after.into_iter().collect();
        trace.push(format!("{} {:?} {} {} {after:?}", names[index], event.operation, event.read, event.written));
    }
    trace.sort();
    let name = |event: usize| &names[event];
    let stale = stale.iter().map(|stale| {
        let StaleAccess { event, missed, source, value, kind } = *stale;
        format!("{} {} {:?} {value:?} {kind:?}", name(event), name(missed), source.map(name))
    });
    (trace, stale.collect())
}

fn initial(program: &Program, address: u64) -> Value {
    match program.memory.initial_at(address as Value) {
        InitialValue::Value(value) => value,
        InitialValue::Any => 0,
    }
}

/// What an event does if it finds this value.
fn alternative(known: &impl Knowledge, event: &RunEvent, value: u64) -> Option<(StaleKind, Label)> {
    if event.operation.act != Act::Store && known.goes_round(event, value) {
        return None;
    }
    let address = (event.operation.address / 8) as Value;
    let (own, other) = (order(event.operation.order), event.other_order().map(order));
    let read = |order| (StaleKind::Read, Label::Read { address, value: value as Value, order });
    let update = |order| (StaleKind::Update, Label::Rmw { address, read: value as Value, written: 77, order });
    Some(match (event.operation.act, other) {
        (Act::Store, _) => (StaleKind::Write, label(event)),
        (Act::Load, None) => read(own),
        (Act::Load, Some(_)) if value != event.written => read(own),
        (Act::Load, Some(success)) => update(success),
        (_, Some(failure)) if value != event.read => read(failure),
        _ => update(own),
    })
}

/// Adds an event that reads the write at a position, and is placed behind it.
fn extend(graph: &mut Graph, event: &RunEvent, label: Label, position: usize) {
    let source = label.address().filter(|_| label.reads()).map(|address| graph.writes[&address][position]);
    let thread = Some(ThreadId(event.thread as usize));
    let locked = event.is(flags::COMPARES) || event.operation.act == Act::Unlock;
    let event = GraphEvent { thread, label, transition: locked.then_some(LOCKED), span: Span::NOWHERE };
    graph.extend(event, source, label.writes().then_some(position + 1));
}

fn label(event: &RunEvent) -> Label {
    let address = (event.operation.address / 8) as Value;
    let order = order(event.operation.order);
    let (read, written) = (event.read as Value, event.written as Value);
    match event.operation.act {
        Act::Load => Label::Read { address, value: read, order },
        Act::Store => Label::Write { address, value: written, order },
        Act::Update => Label::Rmw { address, read, written, order },
        Act::Lock => Label::Rmw { address, read: 0, written: 1, order: Order::Acquire },
        Act::Unlock => Label::Write { address, value: 0, order: Order::Release },
        Act::Fence => Label::Fence { order },
        other => panic!("no simulated run has {other:?}"),
    }
}

fn order(order: RecordedOrder) -> Order {
    match order {
        RecordedOrder::Plain => Order::NonAtomic,
        RecordedOrder::Relaxed => Order::Relaxed,
        RecordedOrder::Acquire => Order::Acquire,
        RecordedOrder::Release => Order::Release,
        RecordedOrder::AcqRel => Order::AcqRel,
        RecordedOrder::SeqCst => Order::SeqCst,
    }
}
