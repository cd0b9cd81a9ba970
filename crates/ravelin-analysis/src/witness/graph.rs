//! The happens-before graph of a run for people: its events, the edges between them, and a cycle if there is one.

use ravelin_answer::{Edge, EdgeKind, Event};
use ravelin_program::{Program, ThreadId};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{Reference, State};
use ravelin_semantics::trace::{self, Trace};
use std::collections::VecDeque;

/// Longer runs get no graph: nobody could read it, and finding a cycle costs more than the square of the events.
const MOST_ACTIONS: usize = 400;

/// Events in the order in which they began, and generating edges between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunGraph {
    pub events: Vec<Event>,
    pub edges: Vec<Edge>,
    /// The edges of a shortest cycle, in order; none if some SC run has the same events and edges.
    pub cycle: Vec<Edge>,
}

impl RunGraph {
    /// The graph of a run, unless it is too long for one. Stores that wait at its end reach memory after it: which reads
    /// missed them is what explains such a run.
    pub fn of(reference: &Reference, start: &State, actions: &[Action]) -> Option<RunGraph> {
        if actions.len() > MOST_ACTIONS {
            return None;
        }
        let computation = completed(reference, start, actions)?;
        let trace = Trace::of(reference, start, &computation).ok()?;
        // The order of the stores that were added explains nothing.
        let of_reads = (computation.len() > actions.len()).then(|| cycle_of_reads(&trace)).flatten();
        let cycle = of_reads.or_else(|| trace.cycle()).unwrap_or_default();
        let mut graph = RunGraph::of_trace(reference.program(), &trace, &cycle);
        for event in &mut graph.events {
            event.steps.retain(|step| *step < actions.len());
        }
        Some(graph)
    }

    /// A trace and a cycle of it, told. `program` is the one that the trace speaks of.
    pub(crate) fn of_trace(program: &Program, trace: &Trace, cycle: &[trace::CycleStep]) -> RunGraph {
        let cell = |address: Option<_>| address.map(|address| program.memory.name_of(address));
        let edges = trace.edges().into_iter().map(|arrow| Edge {
            from: arrow.from,
            to: arrow.to,
            kind: kind(arrow.edge),
            cell: cell(arrow.address),
        });
        let next = cycle.iter().cycle().skip(1);
        let cycle = cycle.iter().zip(next).map(|(step, next)| Edge {
            from: step.event,
            to: next.event,
            kind: kind(step.edge),
            cell: cell(step.address),
        });
        RunGraph {
            events: trace.events.iter().map(|event| told(program, event)).collect(),
            edges: edges.collect(),
            cycle: cycle.collect(),
        }
    }
}

/// A shortest cycle of program order and of what reads got and missed, if there is one; it begins with program order.
fn cycle_of_reads(trace: &Trace) -> Option<Vec<trace::CycleStep>> {
    let of_reads =
        trace.edges().into_iter().filter(|arrow| matches!(arrow.edge, trace::TraceEdge::Rf | trace::TraceEdge::Fr));
    let later = |events: &[usize], place: usize| events[place + 1..].to_vec();
    let in_order = trace.program_order.iter().flat_map(|events| {
        let from = events.iter().enumerate();
        from.flat_map(move |(place, &from)| later(events, place).into_iter().map(move |to| (from, to)))
    });
    let in_order = in_order.map(|(from, to)| trace::Arrow { from, edge: trace::TraceEdge::Po, address: None, to });
    let mut outgoing: Vec<Vec<trace::Arrow>> = vec![Vec::new(); trace.events.len()];
    in_order.chain(of_reads).for_each(|arrow| outgoing[arrow.from].push(arrow));
    let cycles = (0..trace.events.len()).filter_map(|start| shortest_way_back(&outgoing, start));
    let mut cycle = cycles.min_by_key(Vec::len)?;
    let first = cycle.iter().position(|arrow| arrow.edge == trace::TraceEdge::Po)?;
    cycle.rotate_left(first);
    let step = |arrow: &trace::Arrow| trace::CycleStep { event: arrow.from, edge: arrow.edge, address: arrow.address };
    Some(cycle.iter().map(step).collect())
}

/// A shortest way from an event back to it.
fn shortest_way_back(outgoing: &[Vec<trace::Arrow>], start: usize) -> Option<Vec<trace::Arrow>> {
    let mut ways: VecDeque<Vec<trace::Arrow>> = outgoing[start].iter().map(|&arrow| vec![arrow]).collect();
    let mut seen = vec![false; outgoing.len()];
    while let Some(way) = ways.pop_front() {
        let at = way.last()?.to;
        if at == start {
            return Some(way);
        }
        if !std::mem::replace(&mut seen[at], true) {
            ways.extend(outgoing[at].iter().map(|&arrow| [&way[..], &[arrow]].concat()));
        }
    }
    None
}

/// A run, and then every flush that is possible, thread by thread.
fn completed(reference: &Reference, start: &State, actions: &[Action]) -> Option<Vec<Action>> {
    let mut actions = actions.to_vec();
    let apply = |state: State, action: &Action| reference.apply(&state, *action).ok();
    let mut state = actions.iter().try_fold(start.clone(), apply)?;
    for (number, thread) in state.threads.clone().iter().enumerate() {
        for _ in 0..thread.buffer.pending() {
            let buffer = &state.threads[number].buffer;
            let Some(address) = buffer.flushable(reference.model()).into_iter().next() else { break };
            let flush = Action::Flush { thread: ThreadId(number), address };
            // While a thread holds the bus, the stores of others wait.
            let Ok(next) = reference.apply(&state, flush) else { break };
            actions.push(flush);
            state = next;
        }
    }
    Some(actions)
}

fn told(program: &Program, event: &trace::TraceEvent) -> Event {
    let thread = &program.threads[event.thread.0];
    let first = event.steps.first().map(|first| thread.transitions[first.transition.0].span);
    let mut steps: Vec<usize> = event.steps.iter().map(|step| step.at).collect();
    steps.extend(event.accesses.iter().filter_map(|access| access.write?.reached));
    steps.sort_unstable();
    steps.dedup();
    let accesses = event.accesses.iter().map(|access| {
        let cell = program.memory.name_of(access.address);
        let shown = |value| program.memory.notation_at(access.address).show(value);
        match (access.read, access.write) {
            (Some(read), Some(write)) => format!("U {cell} {} → {}", shown(read.value), shown(write.value)),
            (Some(read), None) => format!("R {cell} = {}", shown(read.value)),
            (None, Some(write)) => format!("W {cell} = {}", shown(write.value)),
            (None, None) => cell,
        }
    });
    Event {
        thread: Some(thread.name.clone()),
        position: first.and_then(|span| program.source.position(span)),
        text: accesses.collect::<Vec<_>>().join(", "),
        steps,
    }
}

/// What the judge calls an edge.
pub(crate) fn kind(edge: trace::TraceEdge) -> EdgeKind {
    match edge {
        trace::TraceEdge::Po => EdgeKind::Po,
        trace::TraceEdge::Rf => EdgeKind::Rf,
        trace::TraceEdge::Co => EdgeKind::Co,
        trace::TraceEdge::Fr => EdgeKind::Fr,
    }
}
