//! What a page has to show after each step, and the edges it has to draw, as the reference semantics says: found without JSON, stories
//! and pages, by replaying the actions themselves.

use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::reachability::{self, ReachEngine, ReachabilityQuestion};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_program::{Model, Program, Source, Value as Number};
use ravelin_semantics::Action;
use ravelin_semantics::operational::{PendingEntry, Reference, State};
use ravelin_semantics::rc20::Graph;
use ravelin_semantics::trace::Trace;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An edge: its kind and the numbers of its events.
pub type Edge = (String, u64, u64);

/// A run, and the program it is a run of.
pub struct Judged {
    reference: Reference,
    start: State,
    actions: Vec<Action>,
    /// Under ra and rc20: the graph, and the edges of its cycle.
    graph: Option<(Graph, BTreeSet<Edge>)>,
}

fn read(file: &str) -> Program {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the example is there");
    let language = ravelin_frontend::Language::from_path(path.as_ref()).expect("a known ending");
    ravelin_frontend::parse(Source::new(file, &text), language).program.expect("a program")
}

/// The run of a witness of `reach`.
pub fn reach(file: &str, model: Model) -> Judged {
    let program = read(file);
    let answer =
        reachability::answer(&program, &ReachabilityQuestion::new(model), ReachEngine::Auto).expect("an answer");
    let witness = answer.reachability.witness.expect("a witness");
    judged(&program, model, witness.computation.actions)
}

/// The run of a witness of `check`.
pub fn check(file: &str, model: Model) -> Judged {
    let program = read(file);
    let answer = robustness(&program, &RobustnessQuestion::new(model)).expect("an answer");
    let witness = answer.witness().expect("a witness");
    judged(&program, model, witness.computation.actions.clone())
}

/// The run of a triangular race.
pub fn triangular(file: &str) -> Judged {
    let program = read(file);
    let answer = race_freedom(&program, &RobustnessQuestion::new(Model::Tso)).expect("an answer");
    judged(&program, Model::Sc, answer.race.expect("a race").actions)
}

/// The run and the graph of a witness under ra or rc20.
pub fn stale(file: &str, model: Model) -> Judged {
    let program = read(file);
    let answer = c11_robustness(&program, &C11Question::new(model)).expect("an answer");
    let witness = answer.witness().expect("a witness");
    let cycle = witness.cycle.iter().map(|edge| named(edge.kind.name(), edge.from, edge.to)).collect();
    let reference = Reference::as_written(&program).expect("the program has a meaning");
    let start = reference.initial_states().expect("few of them").swap_remove(0);
    Judged { reference, start, actions: witness.actions.clone(), graph: Some((witness.graph.clone(), cycle)) }
}

fn judged(program: &Program, model: Model, actions: Vec<Action>) -> Judged {
    let reference = Reference::new(program, model, None).expect("the program has a meaning");
    let start = reference.initial_states().expect("few of them").swap_remove(0);
    Judged { reference, start, actions, graph: None }
}

fn named(kind: &str, from: usize, to: usize) -> Edge {
    (kind.to_owned(), from as u64, to as u64)
}

/// po and mo between neighbours, rf, and fr to the first write behind the source: straight from the definitions.
fn edges_of(graph: &Graph) -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    for (number, pair) in graph.events.windows(2).enumerate() {
        if pair[0].thread.is_some() && pair[0].thread == pair[1].thread {
            edges.insert(named("po", number, number + 1));
        }
    }
    for writes in graph.writes.values() {
        edges.extend(writes.windows(2).map(|pair| named("mo", pair[0], pair[1])));
        for (read, source) in graph.sources.iter().enumerate() {
            let Some(place) = writes.iter().position(|write| Some(*write) == *source) else { continue };
            edges.insert(named("rf", writes[place], read));
            edges.extend(
                writes[place + 1..].iter().find(|&&write| write != read).map(|&write| named("fr", read, write)),
            );
        }
    }
    edges
}

impl Judged {
    /// Memory, and for each thread that takes a step its buffer, newest first, and its registers: before the first step, and after
    /// each that somebody wrote.
    pub fn states(&self) -> Vec<Value> {
        let program = self.reference.program();
        let mut state = self.start.clone();
        let mut states = vec![self.shown(&state)];
        for &action in &self.actions {
            state = self.reference.apply(&state, action).expect("the run is possible");
            let written = match action {
                Action::Step { thread, transition, .. } => {
                    let thread = &program.threads[thread.0];
                    !program.is_internal(thread, &thread.transitions[transition.0])
                }
                Action::Flush { .. } => true,
            };
            if written {
                states.push(self.shown(&state));
            }
        }
        states
    }

    fn shown(&self, state: &State) -> Value {
        let program = self.reference.program();
        let name = |address: Number| program.memory.name_of(address);
        let mut shown = json!({ "memory": {}, "threads": {} });
        for (address, value) in &state.memory {
            shown["memory"][name(*address)] = json!(value.to_string());
        }
        for (number, (thread, local)) in program.threads.iter().zip(&state.threads).enumerate() {
            if !self.actions.iter().any(|action| action.thread().0 == number) {
                continue;
            }
            let entry = |entry: &PendingEntry| match *entry {
                PendingEntry::Store { address, value } => format!("{}={value}", name(address)),
                PendingEntry::Marker => "|".to_owned(),
            };
            let buffer: Vec<String> = local.buffer.entries().iter().rev().map(entry).collect();
            let mut registers = json!({});
            // Of a thread without a buffer and without registers there is nothing to show.
            if !self.reference.model().is_buffered() && thread.registers.iter().all(|register| register.hidden) {
                continue;
            }
            for (register, value) in thread.registers.iter().zip(&local.registers).filter(|(one, _)| !one.hidden) {
                registers[&register.name] = json!(value.to_string());
            }
            shown["threads"][&thread.name] = json!({ "buffer": buffer, "registers": registers });
        }
        shown
    }

    /// The generating edges of the trace, and those of its cycle; none where several cycles explain the run.
    pub fn edges(&self) -> (BTreeSet<Edge>, Option<BTreeSet<Edge>>) {
        if let Some((graph, cycle)) = &self.graph {
            return (edges_of(graph), Some(cycle.clone()));
        }
        // Stores that wait at the end of a run reach memory after it.
        let mut actions = self.actions.clone();
        let apply = |state: State, action: &Action| self.reference.apply(&state, *action).expect("the run is possible");
        let mut state = actions.iter().fold(self.start.clone(), apply);
        let flush = |state: &State| {
            let mut next = self.reference.steps(state).next.into_iter();
            next.find(|(action, _)| matches!(action, Action::Flush { .. }))
        };
        while let Some((action, next)) = flush(&state) {
            actions.push(action);
            state = next;
        }
        let trace = Trace::of(&self.reference, &self.start, &actions).expect("a trace");
        let all = trace.edges().iter().map(|arrow| named(arrow.edge.name(), arrow.from, arrow.to)).collect();
        let cycle = trace.cycle().unwrap_or_default();
        let next = cycle.iter().cycle().skip(1);
        let cycle =
            cycle.iter().zip(next).map(|(step, next)| named(step.edge.name(), step.event, next.event)).collect();
        (all, Some(cycle).filter(|_| actions.len() == self.actions.len()))
    }
}
