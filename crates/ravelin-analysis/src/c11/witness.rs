//! From what a search found to a witness: the SC run, replayed, and the graph that the access after it makes, judged by the axioms.
//!
//! Nothing that the search says is taken on trust. The run is replayed on the reference semantics and grown into a graph; the access
//! is tried with every write it could read and every place in modification order it could take, those closest to SC first; and what
//! becomes a witness is a graph that the model allows and SC does not. For a race it is the graph of the run and the access itself,
//! with no happens-before between the two accesses: one that SC has if there is one. What waits may race although it never passes
//! under SC; then the graph is one that the model allows.

use super::graph::{cycle_through, edges};
use super::{machines, sentence};
use crate::InternalError;
use crate::witness::{initial, narrate, start_of};
use ravelin_answer::{Edge, Event, InitialState, Machines, RunStep};
use ravelin_machine::Run;
use ravelin_machine::monitor::MonitorFinding;
use ravelin_program::{Program, ThreadId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::operational::Reference;
use ravelin_semantics::rc20::{
    Graph, GrowingGraph, Label, OrderReading, atomics_sc_consistent, races, rc20_consistent, sc_consistent,
};

/// A graph that the model allows and SC does not.
#[derive(Clone, Debug)]
pub struct C11Witness {
    /// The SC run that leads there.
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    pub actions: Vec<Action>,
    pub graph: Graph,
    /// The graph's events, told.
    pub events: Vec<Event>,
    /// The graph's edges.
    pub edges: Vec<Edge>,
    /// The stale access, as an event of the graph.
    pub access: usize,
    /// The write that it should have read, or come after: the first on the cycle.
    pub ignored: usize,
    /// A cycle of po, rf, mo and fr. The first edge leaves the access.
    pub cycle: Vec<Edge>,
    /// Where the graph can happen.
    pub machines: Machines,
    /// What happens, in one sentence.
    pub sentence: String,
}

/// Two accesses, one of them not atomic, that no synchronisation orders.
#[derive(Clone, Debug)]
pub struct C11Race {
    pub initial: InitialState,
    pub steps: Vec<RunStep>,
    pub actions: Vec<Action>,
    pub graph: Graph,
    pub events: Vec<Event>,
    pub edges: Vec<Edge>,
    /// The two, in the order of the run.
    pub first: usize,
    pub second: usize,
    pub sentence: String,
}

/// The witness that an access may be stale; `None` if the model allows no such graph of this run.
pub(super) fn stale(
    program: &Program,
    reading: OrderReading,
    found: &MonitorFinding,
) -> Result<Option<C11Witness>, InternalError> {
    let internal = |what: String| InternalError(format!("a violation of robustness does not hold: {what}"));
    let (grown, made_by) = grow(program, &found.run).map_err(internal)?;
    let violates = |graph: &Graph| !atomics_sc_consistent(graph) && rc20_consistent(graph, reading);
    let Some(graph) = grown.extensions(found.thread, found.transition).into_iter().find(violates) else {
        return Ok(None);
    };
    let (initial, steps) = replay(program, &found.run).map_err(internal)?;
    let parts = GrowingGraph::newest(&graph, found.thread)
        .and_then(|access| Some((access, cycle_through(&graph, access)?)))
        .and_then(|(access, cycle)| Some((access, cycle.first()?.to, cycle)));
    let (access, ignored, cycle) = parts.ok_or_else(|| internal("its graph has no cycle".to_owned()))?;
    let events = tell(program, &graph, &made_by);
    let sentence = sentence::of_stale(program, &graph, access, &cycle);
    let actions = found.run.actions.clone();
    let edges = edges(&graph);
    let machines = machines::of(program, &graph, reading);
    Ok(Some(C11Witness { initial, steps, actions, events, edges, access, ignored, cycle, machines, sentence, graph }))
}

/// The witness of a race; `None` if the model allows no such graph of this run.
pub(super) fn race(
    program: &Program,
    reading: OrderReading,
    found: &MonitorFinding,
) -> Result<Option<C11Race>, InternalError> {
    let internal = |what: String| InternalError(format!("a data race does not hold: {what}"));
    let (grown, made_by) = grow(program, &found.run).map_err(internal)?;
    let racing = |graph: &Graph| {
        let second = GrowingGraph::newest(graph, found.thread)?;
        let pairs = races(graph, reading);
        let pair = pairs.iter().find(|&&(a, b)| a == second || b == second)?;
        Some((if pair.0 == second { pair.1 } else { pair.0 }, second))
    };
    let mut graphs = grown.extensions(found.thread, found.transition);
    graphs.retain(|graph| rc20_consistent(graph, reading));
    graphs.sort_by_key(|graph| !sc_consistent(graph));
    let Some((graph, (first, second))) = graphs.into_iter().find_map(|graph| racing(&graph).map(|pair| (graph, pair)))
    else {
        return Ok(None);
    };
    let (initial, steps) = replay(program, &found.run).map_err(internal)?;
    let events = tell(program, &graph, &made_by);
    let sentence = sentence::of_race(program, &graph, first, second);
    let actions = found.run.actions.clone();
    Ok(Some(C11Race { initial, steps, actions, events, edges: edges(&graph), first, second, sentence, graph }))
}

pub(super) fn replay(program: &Program, run: &Run) -> Result<(InitialState, Vec<RunStep>), String> {
    let reference = Reference::as_written(program).map_err(|error| error.to_string())?;
    let start = start_of(&reference, &run.start)?;
    let mut state = start.clone();
    let mut steps = Vec::with_capacity(run.actions.len());
    for (number, &action) in run.actions.iter().enumerate() {
        let next = reference.apply(&state, action).map_err(|refusal| format!("step {}: {refusal}", number + 1))?;
        steps.push(narrate(&reference, &state, action, &next));
        state = next;
    }
    Ok((initial(&reference, &start, &steps), steps))
}

/// The graph of a run under SC, and for each thread the steps that made its events.
fn grow<'a>(program: &'a Program, run: &Run) -> Result<(GrowingGraph<'a>, Vec<Vec<usize>>), String> {
    let mut grown = GrowingGraph::new(program, &run.start.memory);
    let mut made_by = MadeBy::new(program);
    for (number, &action) in run.actions.iter().enumerate() {
        grown.follow(action).map_err(|error| format!("step {}: {error}", number + 1))?;
        made_by.note(action.thread(), number, grown.graph());
    }
    Ok((grown, made_by.0))
}

/// By thread: the steps that made its events.
#[derive(Clone)]
pub(super) struct MadeBy(pub Vec<Vec<usize>>);

impl MadeBy {
    pub fn new(program: &Program) -> MadeBy {
        MadeBy(vec![Vec::new(); program.threads.len()])
    }

    /// A thread took a step, which may have made an event.
    pub fn note(&mut self, thread: ThreadId, step: usize, graph: &Graph) {
        // Events are sorted by thread, each thread's in program order.
        let until = |thread: usize| graph.events.partition_point(|event| event.thread < Some(ThreadId(thread)));
        self.0[thread.0].resize(until(thread.0 + 1) - until(thread.0), step);
    }
}

/// The events of a graph for people.
pub(super) fn tell(program: &Program, graph: &Graph, made_by: &[Vec<usize>]) -> Vec<Event> {
    let first = |thread: ThreadId| graph.events.partition_point(|event| event.thread < Some(thread));
    let cell = |address: Value| program.memory.name_of(address);
    let shown = |address: Value, value: Value| program.memory.notation_at(address).show(value);
    (graph.events.iter().enumerate())
        .map(|(number, event)| Event {
            steps: event
                .thread
                .and_then(|thread| made_by[thread.0].get(number - first(thread)).copied())
                .into_iter()
                .collect(),
            thread: event.thread.map(|thread| program.threads[thread.0].name.clone()),
            position: program.source.position(event.span),
            text: match event.label {
                Label::Write { address, value, .. } if event.is_initial() => {
                    format!("{} = {}", cell(address), shown(address, value))
                }
                Label::Write { address, value, order } => {
                    format!("W {} = {} ({})", cell(address), shown(address, value), order.name())
                }
                Label::Read { address, value, order } => {
                    format!("R {} = {} ({})", cell(address), shown(address, value), order.name())
                }
                Label::Rmw { address, read, written, order } => {
                    let (read, written) = (shown(address, read), shown(address, written));
                    format!("U {} {read} → {written} ({})", cell(address), order.name())
                }
                Label::Fence { order } => format!("F ({})", order.name()),
            },
        })
        .collect()
}
