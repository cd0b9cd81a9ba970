//! A witness: what happens in a sentence, who plays which role, the run, and the graph.

use super::graph::{RawEdge, RawEvent, graph};
use super::raw::{RawInstance, RawPlace};
use super::run::{RawInitial, RawStep, run};
use super::{Graph, Run, Wrong};
use serde::Deserialize;
use serde_json::Value;

/// What shows that something is wrong.
#[derive(Clone, Debug, Default)]
pub struct Telling {
    /// What happens, in one sentence.
    pub sentence: String,
    /// What the run is: `computation under tso`, `run under sc up to the access`.
    pub run_title: String,
    pub roles: Vec<Role>,
    pub run: Run,
    pub graph: Option<Graph>,
    /// Where the violated goal, the failing assertion or the fault stands.
    pub violated_line: Option<u32>,
}

/// Who plays which part: the delayed store, the overtaking load, the racing store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub role: String,
    pub thread: Option<String>,
    pub line: Option<u32>,
    pub text: String,
}

impl Telling {
    /// The lines of the source that take part, each once.
    pub fn lines(&self) -> Vec<u32> {
        let events = self.graph.iter().flat_map(|graph| &graph.events).filter_map(|event| event.line);
        let roles = self.roles.iter().filter_map(|role| role.line);
        let mut lines: Vec<u32> = self.run.lines().into_iter().chain(events).chain(roles).collect();
        lines.extend(self.violated_line);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// A witness of `reach`.
#[derive(Deserialize)]
pub struct RawWitness {
    pub violation: RawViolation,
    shortest: bool,
    initial: RawInitial,
    steps: Vec<RawStep>,
    events: Option<Vec<RawEvent>>,
    edges: Option<Vec<RawEdge>>,
    cycle: Option<Vec<RawEdge>>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RawViolation {
    Goal { text: String, line: Option<u32> },
    Assert { thread: String, text: String, line: Option<u32> },
    Fault { thread: String, text: String, fault: String, line: Option<u32> },
}

impl RawViolation {
    fn line(&self) -> Option<u32> {
        match self {
            RawViolation::Goal { line, .. } | RawViolation::Assert { line, .. } | RawViolation::Fault { line, .. } => {
                *line
            }
        }
    }

    /// `` violates `never …` (line 22) ``, with the program as its subject.
    pub fn words(&self) -> String {
        let line = self.line().map(|line| format!(" (line {line})")).unwrap_or_default();
        match self {
            RawViolation::Goal { text, .. } => format!("violates `{text}`{line}"),
            RawViolation::Assert { thread, text, .. } => format!("fails `{text}` in {thread}{line}"),
            RawViolation::Fault { thread, text, fault, .. } => {
                format!("goes wrong at `{text}` in {thread}{line}: {fault}")
            }
        }
    }
}

impl RawWitness {
    pub fn told(self, model: &str) -> Result<Telling, Wrong> {
        let violated_line = self.violation.line();
        let words = self.violation.words();
        let run = run(self.initial, self.steps, is_buffered(model))?;
        let graph = match (self.events, self.edges) {
            (Some(events), Some(edges)) => Some(graph(&run, events, edges, self.cycle.unwrap_or_default(), &[])?),
            _ => None,
        };
        let shortest = if self.shortest { ", a shortest one" } else { "" };
        Ok(Telling {
            sentence: format!("This run {words}."),
            run_title: format!("run under {model}{shortest}"),
            run,
            graph,
            violated_line,
            ..Telling::default()
        })
    }
}

/// A witness of `check` under tso and pso.
#[derive(Deserialize)]
pub struct RawAttackWitness {
    pub attack: String,
    attacker: String,
    helpers: Vec<String>,
    pub store: RawPlace,
    pub load: RawPlace,
    sentence: String,
    initial: RawInitial,
    steps: Vec<RawStep>,
    events: Vec<RawEvent>,
    edges: Vec<RawEdge>,
    cycle: Vec<RawCycleEvent>,
}

/// An event of a cycle, with the edge to the next one.
#[derive(Deserialize)]
struct RawCycleEvent {
    event: usize,
    edge: super::EdgeKind,
    cell: Option<String>,
}

impl RawAttackWitness {
    /// What overtakes is a store: only under pso.
    pub fn by_store(&self) -> bool {
        self.steps.iter().find(|step| step.is_part("ld")).is_some_and(|step| !step.loads())
    }

    pub fn told(self, model: &str) -> Result<Telling, Wrong> {
        let overtaking = if self.by_store() { "overtaking store" } else { "overtaking load" };
        let role = |role: &str, place: &RawPlace| Role {
            role: role.to_owned(),
            thread: Some(self.attacker.clone()),
            line: place.line,
            text: place.text.clone(),
        };
        let mut roles = vec![role("delayed store", &self.store), role(overtaking, &self.load)];
        roles.extend(self.helpers.iter().map(|helper| Role {
            role: "helper".to_owned(),
            thread: Some(helper.clone()),
            line: None,
            text: String::new(),
        }));
        let run = run(self.initial, self.steps, true)?;
        let next: Vec<usize> =
            self.cycle.iter().cycle().skip(1).take(self.cycle.len()).map(|step| step.event).collect();
        let cycle = self.cycle.into_iter().zip(next);
        let cycle = cycle.map(|(step, to)| RawEdge { from: step.event, to, kind: step.edge, cell: step.cell });
        let graph = graph(&run, self.events, self.edges, cycle.collect(), &[])?;
        Ok(Telling {
            sentence: self.sentence,
            run_title: format!("computation under {model}"),
            roles,
            run,
            graph: Some(graph),
            violated_line: None,
        })
    }
}

/// A triangular race.
#[derive(Deserialize)]
pub struct RawRace {
    thread: String,
    racing_thread: String,
    store: RawPlace,
    load: RawPlace,
    racing_store: RawPlace,
    stored: String,
    loaded: String,
    initial: RawInitial,
    steps: Vec<RawStep>,
    events: Option<Vec<RawEvent>>,
    edges: Option<Vec<RawEdge>>,
}

impl RawRace {
    pub fn told(self) -> Result<Telling, Wrong> {
        let RawRace { thread, racing_thread, store, load, racing_store, stored, loaded, .. } = &self;
        let sentence = format!(
            "{thread} stores to `{stored}`{} and then, with no fence between, reads `{loaded}`{}, to which {racing_thread} stores{}.",
            store.on_line(),
            load.on_line(),
            racing_store.on_line()
        );
        let role = |role: &str, thread: &str, place: &RawPlace| Role {
            role: role.to_owned(),
            thread: Some(thread.to_owned()),
            line: place.line,
            text: place.text.clone(),
        };
        let roles = vec![
            role("store", thread, store),
            role("load", thread, load),
            role("racing store", racing_thread, racing_store),
        ];
        let run = run(self.initial, self.steps, false)?;
        let graph = match (self.events, self.edges) {
            (Some(events), Some(edges)) => Some(graph(&run, events, edges, Vec::new(), &[])?),
            _ => None,
        };
        Ok(Telling { sentence, run_title: "run under sc".to_owned(), roles, run, graph, violated_line: None })
    }
}

/// A stale access under ra or rc20, or a data race: an execution graph, and the run that leads to it.
#[derive(Deserialize)]
pub struct RawExecution {
    sentence: String,
    access: Option<usize>,
    ignored: Option<usize>,
    first: Option<usize>,
    second: Option<usize>,
    initial: RawInitial,
    steps: Vec<RawStep>,
    pub events: Vec<RawEvent>,
    edges: Vec<RawEdge>,
    cycle: Option<Vec<RawEdge>>,
    pub remedy: Option<RawRemedy>,
}

#[derive(Deserialize)]
pub struct RawRemedy {
    pub strengthen: Vec<RawStrengthen>,
    pub fence_before: Vec<usize>,
}

#[derive(Deserialize)]
pub struct RawStrengthen {
    pub event: usize,
    pub order: String,
}

impl RawExecution {
    pub fn told(self) -> Result<Telling, Wrong> {
        let named = [
            ("stale access", self.access),
            ("ignored", self.ignored),
            ("first access", self.first),
            ("second access", self.second),
        ];
        let marked: Vec<usize> = named.iter().filter_map(|(_, event)| *event).collect();
        let race = self.first.is_some();
        let run = run(self.initial, self.steps, false)?;
        let graph = graph(&run, self.events, self.edges, self.cycle.unwrap_or_default(), &marked)?;
        let mut roles = Vec::new();
        for (role, event) in named.iter().filter_map(|(role, event)| Some((role, &graph.events[(*event)?]))) {
            let (thread, line, text) = (event.thread.clone(), event.line, event.text.clone());
            roles.push(Role { role: (*role).to_owned(), thread, line, text });
        }
        let until = if race { "the second access" } else { "the access" };
        let run_title = format!("run under sc up to {until}");
        Ok(Telling { sentence: self.sentence, run_title, roles, run, graph: Some(graph), violated_line: None })
    }
}

/// What no fence forbids, or what happens without one.
#[derive(Deserialize)]
pub struct RawTrouble {
    attack: Option<Value>,
    race: Option<Value>,
    run: Option<Value>,
    stale: Option<Value>,
    data_race: Option<Value>,
    instance: Option<RawInstance>,
}

impl RawTrouble {
    pub fn told(mut self, model: &str) -> Result<Telling, Wrong> {
        let instance = self.instance.take().map(|instance| format!(" with {}", instance.words()));
        let mut telling = self.told_alone(model)?;
        telling.run_title.push_str(&instance.unwrap_or_default());
        Ok(telling)
    }

    fn told_alone(self, model: &str) -> Result<Telling, Wrong> {
        match self {
            RawTrouble { attack: Some(found), .. } => RawAttackWitness::deserialize(found)?.told(model),
            RawTrouble { race: Some(found), .. } => RawRace::deserialize(found)?.told(),
            RawTrouble { run: Some(found), .. } => RawWitness::deserialize(found)?.told(model),
            RawTrouble { stale: Some(found), .. } | RawTrouble { data_race: Some(found), .. } => {
                RawExecution::deserialize(found)?.told()
            }
            _ => Err(Wrong("a trouble is none of attack, race, run, stale and data_race".to_owned())),
        }
    }
}

fn is_buffered(model: &str) -> bool {
    matches!(model, "tso" | "pso")
}
