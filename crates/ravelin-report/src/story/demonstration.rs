//! A witness: one sentence, the roles, the run, and the graph.

use super::graph::graph;
use super::run::run;
use super::{Graph, RunView};
use ravelin_answer::{
    AttackWitness, C11Race, C11Witness, Edge, EndRun, OvertakingAccess, RunWitness, SourcePlace, TriangularRace,
    Trouble, TroubleKind, Violation, WaitingThread, WitnessPart,
};
use ravelin_program::Model;

/// A demonstration that something is wrong.
#[derive(Clone, Debug, Default)]
pub struct Demonstration {
    /// What happens, in one sentence.
    pub sentence: String,
    /// What the run is: `computation under tso`, `run under sc up to the access`.
    pub run_title: String,
    pub roles: Vec<Role>,
    pub run: RunView,
    pub graph: Option<Graph>,
    /// The line of the violated goal, the failing assertion or the fault.
    pub violated_line: Option<usize>,
    /// The number of steps after which the decisive thing has just happened: the overtaking access of an attack, in
    /// other runs their end.
    pub decisive: usize,
}

/// The role of an instruction: the delayed store, the overtaking load, the racing store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub role: String,
    pub thread: Option<String>,
    pub line: Option<usize>,
    pub text: String,
}

impl Role {
    fn new(role: &str, thread: &str, place: &SourcePlace) -> Role {
        Role {
            role: role.to_owned(),
            thread: Some(thread.to_owned()),
            line: place.position.map(|at| at.line),
            text: place.text.clone(),
        }
    }
}

impl Role {
    fn of_waiting(waiting: &WaitingThread) -> Role {
        Role {
            role: "waits".to_owned(),
            thread: Some(waiting.thread.clone()),
            line: waiting.position.map(|at| at.line),
            text: waiting.text.clone(),
        }
    }
}

impl Demonstration {
    /// The relevant lines of the source, each once.
    pub fn lines(&self) -> Vec<usize> {
        let events = self.graph.iter().flat_map(|graph| &graph.events).filter_map(|event| event.line);
        let roles = self.roles.iter().filter_map(|role| role.line);
        let mut lines: Vec<usize> = self.run.lines().into_iter().chain(events).chain(roles).collect();
        lines.extend(self.violated_line);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// ` on line 7`, or nothing.
pub fn on_line(place: &SourcePlace) -> String {
    place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default()
}

/// `` violates `never …` (line 22) ``, with the program as its subject.
pub fn words(violation: &Violation) -> String {
    let line = violation.position().map(|at| format!(" (line {})", at.line)).unwrap_or_default();
    match violation {
        Violation::Goal { text, exists: true, .. } => format!("reaches `{text}`{line}"),
        Violation::Goal { text, .. } => format!("violates `{text}`{line}"),
        Violation::Deadlock { threads } => format!("deadlocks: {}", waiting(threads)),
        Violation::Assert { thread, text, .. } => format!("fails `{text}` in {thread}{line}"),
        Violation::Fault { thread, text, fault, .. } => format!("goes wrong at `{text}` in {thread}{line}: {fault}"),
    }
}

/// The threads of a deadlock, as a part of a sentence.
fn waiting(threads: &[WaitingThread]) -> String {
    threads.iter().map(WaitingThread::sentence).collect::<Vec<_>>().join("; ")
}

/// A witness of `reach`.
pub fn of_run(witness: &RunWitness) -> Demonstration {
    let RunWitness { violation, model, shortest, initial, steps, events, edges, cycle } = witness;
    let run = run(initial, steps, model.is_buffered());
    let graph = events.as_ref().zip(edges.as_ref());
    let graph = graph.map(|(events, edges)| graph_of(&run, events, edges, cycle.as_deref().unwrap_or_default()));
    let shortest = if *shortest { ", a shortest one" } else { "" };
    let roles = match violation {
        Violation::Deadlock { threads } => threads.iter().map(Role::of_waiting).collect(),
        _ => Vec::new(),
    };
    Demonstration {
        sentence: format!("This run {}.", words(violation)),
        run_title: format!("run under {model}{shortest}"),
        roles,
        decisive: run.steps.len(),
        run,
        graph,
        violated_line: violation.position().map(|at| at.line),
    }
}

fn graph_of(run: &RunView, events: &[ravelin_answer::Event], edges: &[Edge], cycle: &[Edge]) -> Graph {
    graph(run, events, edges, cycle, &[])
}

/// A witness of `check` under tso and pso.
pub fn of_attack(witness: &AttackWitness) -> Demonstration {
    let overtaking = match witness.overtaking {
        OvertakingAccess::Store => "overtaking store",
        OvertakingAccess::Load => "overtaking load",
    };
    let attacker = &witness.attacker;
    let mut roles =
        vec![Role::new("delayed store", attacker, &witness.store), Role::new(overtaking, attacker, &witness.load)];
    let (role, others) = match witness.together.is_empty() {
        true => ("helper", &witness.helpers),
        false => ("delaying thread", &witness.together),
    };
    roles.extend(others.iter().filter(|other| *other != attacker).map(|other| Role {
        role: role.to_owned(),
        thread: Some(other.clone()),
        line: None,
        text: String::new(),
    }));
    let run = run(&witness.initial, &witness.steps, true);
    let next = witness.cycle.iter().cycle().skip(1);
    let cycle = witness.cycle.iter().zip(next).map(|(step, next)| Edge {
        from: step.event,
        to: next.event,
        kind: step.edge,
        cell: step.cell.clone(),
    });
    let graph = graph_of(&run, &witness.events, &witness.edges, &cycle.collect::<Vec<_>>());
    let overtakes = run.steps.iter().position(|step| step.part == Some(WitnessPart::Load));
    Demonstration {
        sentence: witness.sentence.clone(),
        run_title: format!("computation under {}", witness.model),
        roles,
        decisive: overtakes.map_or(run.steps.len(), |step| step + 1),
        run,
        graph: Some(graph),
        violated_line: None,
    }
}

/// A run to a final state.
pub fn of_end_run(found: &EndRun, model: Model) -> Demonstration {
    let run = run(&found.initial, &found.steps, model.is_buffered());
    let parts = found.events.as_ref().zip(found.edges.as_ref());
    let graph = parts.map(|(events, edges)| graph_of(&run, events, edges, found.cycle.as_deref().unwrap_or_default()));
    Demonstration {
        run_title: format!("run under {model}"),
        decisive: run.steps.len(),
        run,
        graph,
        ..Demonstration::default()
    }
}

/// A triangular race.
pub fn of_race(race: &TriangularRace) -> Demonstration {
    let TriangularRace { thread, racing_thread, store, load, racing_store, stored, loaded, .. } = race;
    let sentence = format!(
        "{thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.",
        on_line(store),
        on_line(load),
        on_line(racing_store)
    );
    let roles = vec![
        Role::new("store", thread, store),
        Role::new("load", thread, load),
        Role::new("racing store", racing_thread, racing_store),
    ];
    let run = run(&race.initial, &race.steps, false);
    let graph = race.events.as_ref().zip(race.edges.as_ref());
    let graph = graph.map(|(events, edges)| graph_of(&run, events, edges, &[]));
    let decisive = run.steps.len();
    Demonstration { sentence, run_title: "run under sc".to_owned(), roles, run, graph, violated_line: None, decisive }
}

/// A stale access under ra or rc20: an execution graph, and the run that leads to it.
pub fn of_stale(witness: &C11Witness) -> Demonstration {
    let run = run(&witness.initial, &witness.steps, false);
    let named = [("stale access", witness.access), ("ignored", witness.ignored)];
    let marked = named.map(|(_, event)| event);
    let graph = graph(&run, &witness.events, &witness.edges, &witness.cycle, &marked);
    execution(&witness.sentence, "the access", &named, run, graph)
}

/// A data race.
pub fn of_data_race(race: &C11Race) -> Demonstration {
    let run = run(&race.initial, &race.steps, false);
    let named = [("first access", race.first), ("second access", race.second)];
    let marked = named.map(|(_, event)| event);
    let graph = graph(&run, &race.events, &race.edges, &[], &marked);
    execution(&race.sentence, "the second access", &named, run, graph)
}

fn execution(sentence: &str, until: &str, named: &[(&str, usize)], run: RunView, graph: Graph) -> Demonstration {
    let role = |(role, event): &(&str, usize)| {
        let event = &graph.events[*event];
        Role { role: (*role).to_owned(), thread: event.thread.clone(), line: event.line, text: event.text.clone() }
    };
    Demonstration {
        sentence: sentence.to_owned(),
        run_title: format!("run under sc up to {until}"),
        roles: named.iter().map(role).collect(),
        decisive: run.steps.len(),
        run,
        graph: Some(graph),
        violated_line: None,
    }
}

/// What no fence forbids, or what happens without one.
pub fn of_trouble(trouble: &Trouble) -> Demonstration {
    let mut demonstration = match &trouble.found {
        TroubleKind::Attack(found) => of_attack(found),
        TroubleKind::Race(found) => of_race(found),
        TroubleKind::Run(found) => of_run(found),
        TroubleKind::Stale(found) => of_stale(found),
        TroubleKind::DataRace(found) => of_data_race(found),
    };
    if let Some(instance) = &trouble.instance {
        demonstration.run_title.push_str(&format!(" with {}", instance.words()));
    }
    demonstration
}
