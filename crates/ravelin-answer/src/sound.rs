//! Checks that the parts of an answer are consistent: threads exist, edges are between events, events consist of steps.
//!
//! A document may come from anywhere. It is checked once, here, and views may follow every number.

use crate::sanitizer::{FirstRun, SanitizerReport};
use crate::{
    Answer, C11Race, C11Witness, Edge, EndRun, Event, InitialState, NeededFence, RunStep, Trouble, TroubleKind,
    Violation, WaitingThread,
};

impl Answer {
    /// Returns what is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(witness) = self.deadlocks().and_then(|deadlocks| deadlocks.witness.as_ref()) {
            trouble(&TroubleKind::Run(witness.clone()))?;
        }
        if let Some(witness) = self.impact().and_then(|impact| impact.witness.as_ref()) {
            trouble(&TroubleKind::Run(witness.clone()))?;
        }
        match self {
            Answer::Robustness(answer) => {
                answer.witness.as_ref().map_or(Ok(()), |found| trouble(&TroubleKind::Attack(found.clone())))
            }
            Answer::TriangularRaces(answer) => {
                answer.race.as_ref().map_or(Ok(()), |found| trouble(&TroubleKind::Race(found.clone())))
            }
            Answer::C11Robustness(answer) => {
                answer.witness.as_ref().map_or(Ok(()), |found| stale(found))?;
                answer.race.as_ref().map_or(Ok(()), |found| data_race(found))
            }
            Answer::Reachability(answer) => {
                answer.witness.as_ref().map_or(Ok(()), |found| trouble(&TroubleKind::Run(found.clone())))
            }
            Answer::Fences(answer) => {
                let needed = |needed: &NeededFence| needed.trouble.as_ref().map_or(Ok(()), of_trouble);
                answer.needed.iter().try_for_each(needed)?;
                answer.trouble.as_ref().map_or(Ok(()), |found| of_trouble(found))
            }
            Answer::Confirmation(answer) => answer.witness.as_ref().map_or(Ok(()), |found| end_run(found)),
            Answer::Simulation(answer) => run(&answer.initial, &answer.steps),
            Answer::Sanitizer(answer) => first_runs(answer),
            Answer::FixTrial(_)
            | Answer::FencePlaces(_)
            | Answer::FinalStates(_)
            | Answer::Coverability(_)
            | Answer::None(_)
            | Answer::Comparison(_)
            | Answer::Diagnostics(_) => Ok(()),
        }
    }
}

/// Findings are in runs that there are.
fn first_runs(report: &SanitizerReport) -> Result<(), String> {
    let findings = report.findings.iter().map(|finding| &finding.first_run);
    let failures = report.weak_failures().map(|failure| &failure.first_run);
    let first_runs = findings.chain(report.stuck.iter().map(|stuck| &stuck.first_run)).chain(failures).enumerate();
    for (number, FirstRun { run, .. }) in first_runs.filter_map(|(number, first)| Some((number, first.as_ref()?))) {
        if *run >= report.runs.len() {
            return Err(format!("finding {}: there is no run {run}", number + 1));
        }
    }
    Ok(())
}

fn of_trouble(found: &Trouble) -> Result<(), String> {
    trouble(&found.found)
}

fn trouble(found: &TroubleKind) -> Result<(), String> {
    match found {
        TroubleKind::Attack(witness) => {
            run(&witness.initial, &witness.steps)?;
            graph(&witness.steps, &witness.events, &witness.edges)?;
            event(&witness.events, witness.cycle.iter().map(|step| step.event))
        }
        TroubleKind::Race(race) => {
            run(&race.initial, &race.steps)?;
            let (events, edges) = (race.events.as_deref(), race.edges.as_deref());
            graph(&race.steps, events.unwrap_or_default(), edges.unwrap_or_default())
        }
        TroubleKind::Run(witness) => {
            run(&witness.initial, &witness.steps)?;
            if let Violation::Deadlock { threads } = &witness.violation {
                waiting(&witness.initial, threads)?;
            }
            let events = witness.events.as_deref().unwrap_or_default();
            graph(&witness.steps, events, witness.edges.as_deref().unwrap_or_default())?;
            edges(events, witness.cycle.as_deref().unwrap_or_default())
        }
        TroubleKind::Stale(witness) => stale(witness),
        TroubleKind::DataRace(race) => data_race(race),
    }
}

fn end_run(found: &EndRun) -> Result<(), String> {
    run(&found.initial, &found.steps)?;
    let events = found.events.as_deref().unwrap_or_default();
    graph(&found.steps, events, found.edges.as_deref().unwrap_or_default())?;
    edges(events, found.cycle.as_deref().unwrap_or_default())
}

fn stale(witness: &C11Witness) -> Result<(), String> {
    run(&witness.initial, &witness.steps)?;
    graph(&witness.steps, &witness.events, &witness.edges)?;
    edges(&witness.events, &witness.cycle)?;
    let remedy = witness.remedy.iter();
    let named =
        remedy.flat_map(|remedy| remedy.strengthen.iter().map(|one| one.event).chain(remedy.fence_before.clone()));
    event(&witness.events, [witness.access, witness.ignored].into_iter().chain(named))
}

fn data_race(race: &C11Race) -> Result<(), String> {
    run(&race.initial, &race.steps)?;
    graph(&race.steps, &race.events, &race.edges)?;
    event(&race.events, [race.first, race.second])
}

/// Threads that wait exist, and there is one.
fn waiting(initial: &InitialState, threads: &[WaitingThread]) -> Result<(), String> {
    let exists = |waiting: &WaitingThread| initial.threads.iter().any(|thread| thread.thread == waiting.thread);
    match threads.iter().find(|waiting| !exists(waiting)) {
        Some(waiting) => Err(format!("a deadlock: there is no thread `{}`", waiting.thread)),
        None if threads.is_empty() => Err("a deadlock: no thread waits".to_owned()),
        None => Ok(()),
    }
}

fn run(initial: &InitialState, steps: &[RunStep]) -> Result<(), String> {
    for (number, step) in steps.iter().enumerate() {
        let wrong = |what: &str| Err(format!("step {}: {what}", number + 1));
        if !initial.threads.iter().any(|thread| thread.thread == step.thread) {
            return wrong(&format!("there is no thread `{}`", step.thread));
        }
        if step.buffers.len() != initial.threads.len() {
            return wrong("it does not have a buffer for each thread");
        }
    }
    Ok(())
}

fn graph(steps: &[RunStep], events: &[Event], all: &[Edge]) -> Result<(), String> {
    if let Some(event) = events.iter().find(|event| event.steps.iter().any(|&step| step >= steps.len())) {
        return Err(format!("the event `{}` is made of steps that are none", event.text));
    }
    edges(events, all)
}

fn edges(events: &[Event], all: &[Edge]) -> Result<(), String> {
    match all.iter().find(|edge| edge.from.max(edge.to) >= events.len()) {
        Some(Edge { from, to, .. }) => {
            Err(format!("an edge leads from event {from} to event {to}, which are not both there"))
        }
        None => Ok(()),
    }
}

fn event(events: &[Event], named: impl IntoIterator<Item = usize>) -> Result<(), String> {
    match named.into_iter().find(|&event| event >= events.len()) {
        Some(event) => Err(format!("there is no event {event}")),
        None => Ok(()),
    }
}
