//! Answers as JSON. The schema is described in docs/json.md; its version changes when a field changes its meaning.

use ravelin_analysis::states::{EndState, FinalStates};
use ravelin_analysis::witness::{
    Beginning, BufferEntry, CellValue, Narrated, RegisterValue, RunEdge, RunEvent, RunGraph, Source, ThreadBeginning,
    Witness, WitnessViolation,
};
use ravelin_explore::{Limit, Progress, Statistics};
use serde_json::{Map, Value, json};

pub const SCHEMA: &str = "ravelin/1";

/// A whole document: the answers of one invocation.
pub fn document(command: &str, answers: Vec<Value>) -> String {
    let document = json!({ "schema": SCHEMA, "command": command, "answers": answers });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// An answer that is an error: the input or the command line is wrong.
pub fn error(file: &str, message: &str) -> Value {
    json!({ "file": file, "verdict": "error", "message": message })
}

/// An answer that is none: the program has no meaning under a model that was not asked for by name.
pub fn not_applicable(file: &str, model: &str, message: &str) -> Value {
    json!({ "file": file, "model": model, "verdict": "not_applicable", "message": message })
}

/// An answer that is not known because somebody ended the program; `last` is how far the search had come when it last said so.
/// There is no model if the program was not even read.
pub fn interrupted(file: &str, model: Option<&str>, last: Option<&Progress>) -> Value {
    json!({
        "file": file,
        "model": model,
        "verdict": "unknown",
        "limit": limit(Limit::Stopped),
        "message": Limit::Stopped.to_string(),
        "statistics": last.map(|last| json!({
            "states": last.states,
            "transitions": last.transitions,
            "depth": last.depth,
            "frontier": last.frontier,
            "bytes": last.bytes,
            "seconds": last.elapsed.as_secs_f64(),
        })),
    })
}

pub fn final_states(file: &str, answer: &FinalStates) -> Value {
    json!({
        "file": file,
        "model": answer.model.name(),
        "complete": answer.limit.is_none() && !answer.cut_off,
        "buffer": answer.buffer,
        "cut_off": answer.cut_off,
        "limit": answer.limit.map(limit),
        "final": answer.finals.iter().map(end_state).collect::<Vec<_>>(),
        "stuck": answer.stuck.iter().map(end_state).collect::<Vec<_>>(),
        "statistics": statistics(&answer.statistics, None),
    })
}

/// A run without a question: `simulate`.
pub fn simulation(
    file: &str,
    model: &str,
    seed: u64,
    end: &str,
    beginning: &Beginning,
    steps: &[Narrated],
    troubles: &[String],
) -> Value {
    json!({
        "file": file,
        "model": model,
        "seed": seed,
        "end": end,
        "troubles": troubles,
        "initial": initial(beginning),
        "steps": steps.iter().map(step).collect::<Vec<_>>(),
    })
}

pub(crate) fn limit(limit: Limit) -> Value {
    match limit {
        Limit::States(states) => json!({ "kind": "states", "value": states }),
        Limit::Memory(bytes) => json!({ "kind": "memory", "value": bytes }),
        Limit::Time(time) => json!({ "kind": "time", "value": time.as_secs_f64() }),
        Limit::Stopped => json!({ "kind": "interrupted" }),
        Limit::Lost(lost) => json!({ "kind": "process_lost", "process": lost.process }),
    }
}

pub(crate) fn statistics(statistics: &Statistics, words: Option<usize>) -> Value {
    let mut map = Map::new();
    map.insert("states".to_owned(), json!(statistics.states));
    map.insert("transitions".to_owned(), json!(statistics.transitions));
    map.insert("depth".to_owned(), json!(statistics.depth));
    map.insert("frontier".to_owned(), json!(statistics.frontier));
    map.insert("bytes".to_owned(), json!(statistics.bytes));
    if let Some(words) = words {
        map.insert("state_bytes".to_owned(), json!(words * 8));
    }
    map.insert("seconds".to_owned(), json!(statistics.elapsed.as_secs_f64()));
    map.insert("workers".to_owned(), json!(statistics.workers));
    Value::Object(map)
}

pub(crate) fn witness(witness: &Witness) -> Value {
    json!({
        "violation": violation(&witness.violation),
        "shortest": witness.shortest,
        "initial": initial(&witness.beginning),
        "steps": witness.steps.iter().map(step).collect::<Vec<_>>(),
        "events": witness.graph.as_ref().map(events),
        "edges": witness.graph.as_ref().map(edges),
        "cycle": witness.graph.as_ref().map(|graph| graph.cycle.iter().map(edge).collect::<Vec<_>>()),
    })
}

/// What there is before the first step.
pub(crate) fn initial(beginning: &Beginning) -> Value {
    let thread =
        |thread: &ThreadBeginning| json!({ "thread": thread.thread, "registers": registers(&thread.registers) });
    json!({
        "threads": beginning.threads.iter().map(thread).collect::<Vec<_>>(),
        "memory": cells(&beginning.memory),
    })
}

pub(crate) fn events(graph: &RunGraph) -> Value {
    let event = |event: &RunEvent| {
        json!({
            "thread": event.thread,
            "line": event.position.map(|position| position.line),
            "column": event.position.map(|position| position.column),
            "text": event.text,
            "steps": event.steps,
        })
    };
    graph.events.iter().map(event).collect()
}

pub(crate) fn edges(graph: &RunGraph) -> Value {
    graph.edges.iter().map(edge).collect()
}

fn edge(edge: &RunEdge) -> Value {
    json!({ "from": edge.from, "to": edge.to, "kind": edge.edge.name(), "cell": edge.cell })
}

fn cells(cells: &[CellValue]) -> Value {
    cells.iter().map(|cell| json!({ "cell": cell.cell, "value": cell.value })).collect()
}

fn registers(registers: &[RegisterValue]) -> Value {
    registers.iter().map(|register| json!({ "register": register.register, "value": register.value })).collect()
}

pub(crate) fn violation(violation: &WitnessViolation) -> Value {
    let line = violation.position().map(|position| position.line);
    let column = violation.position().map(|position| position.column);
    match violation {
        WitnessViolation::Goal { number, text, .. } => {
            json!({ "kind": "goal", "goal": number, "text": text, "line": line, "column": column })
        }
        WitnessViolation::Assert { thread, text, .. } => {
            json!({ "kind": "assert", "thread": thread, "text": text, "line": line, "column": column })
        }
        WitnessViolation::Fault { thread, text, fault, .. } => {
            json!({
                "kind": "fault", "thread": thread, "text": text, "fault": fault, "line": line, "column": column
            })
        }
    }
}

pub(crate) fn step(step: &Narrated) -> Value {
    let buffer = |buffer: &Vec<BufferEntry>| {
        let entry = |entry: &BufferEntry| match entry {
            BufferEntry::Store(store) => json!({ "cell": store.cell, "value": store.value }),
            BufferEntry::Marker => json!("marker"),
        };
        buffer.iter().map(entry).collect::<Vec<_>>()
    };
    let place = |source: &Source| if *source == Source::Buffer { "buffer" } else { "memory" };
    let access = |(cell, source): &(CellValue, Source)| json!({ "cell": cell.cell, "value": cell.value, "place": place(source) });
    json!({
        "thread": step.thread,
        "line": step.position.map(|position| position.line),
        "column": step.position.map(|position| position.column),
        "kind": if step.flush { "flush" } else { "step" },
        "internal": step.internal,
        "text": step.text,
        "reads": step.reads.iter().map(access).collect::<Vec<_>>(),
        "writes": step.writes.iter().map(access).collect::<Vec<_>>(),
        "memory": cells(&step.memory),
        "registers": registers(&step.registers),
        "buffers": step.buffers.iter().map(buffer).collect::<Vec<_>>(),
    })
}

fn end_state(state: &EndState) -> Value {
    let named = |values: &[(String, i64)]| -> Value {
        values.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
    };
    let threads = state.threads.iter().map(|thread| {
        json!({
            "thread": thread.name,
            "location": thread.location,
            "at_end": thread.at_end,
            "registers": named(&thread.registers),
        })
    });
    json!({
        "threads": threads.collect::<Vec<_>>(),
        "memory": named(&state.memory),
        "beyond_sc": state.beyond_sc,
    })
}
