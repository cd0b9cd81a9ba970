//! The steps of a run as a code flow: one thread flow per thread, with the order between them in `executionOrder`.

use super::place;
use ravelin_answer::{AccessStorage, RunStep};
use serde_json::{Value, json};

/// The code flow of the steps of a witness. Steps that are not in the source are omitted; `None` if nothing remains.
pub(super) fn of_steps(file: &str, steps: &[RunStep], message: &str) -> Option<Value> {
    let mut threads: Vec<(&str, Vec<Value>)> = Vec::new();
    for (number, step) in steps.iter().filter(|step| !step.internal).enumerate() {
        let mut location = place(file, step.position, &told(step));
        location["logicalLocations"] = json!([{ "name": step.thread, "kind": "thread" }]);
        let told = json!({ "location": location, "executionOrder": number + 1 });
        match threads.iter_mut().find(|(name, _)| *name == step.thread) {
            Some((_, locations)) => locations.push(told),
            None => threads.push((&step.thread, vec![told])),
        }
    }
    let flows: Vec<Value> =
        threads.into_iter().map(|(thread, locations)| json!({ "id": thread, "locations": locations })).collect();
    (!flows.is_empty()).then(|| json!({ "message": { "text": message }, "threadFlows": flows }))
}

/// A step in a few words: the thread, the instruction, what was read and where a store went.
fn told(step: &RunStep) -> String {
    let (thread, text) = (&step.thread, &step.text);
    if step.is_flush() {
        return format!("{thread}: {text}");
    }
    let mut parts = vec![format!("{thread}: `{text}`")];
    for read in &step.reads {
        let from = if read.place == AccessStorage::Buffer { " from its own store buffer" } else { "" };
        parts.push(format!("reads {} = {}{from}", read.cell, read.value));
    }
    for write in &step.writes {
        let to = if write.place == AccessStorage::Buffer { ", which waits in its store buffer" } else { "" };
        parts.push(format!("writes {} = {}{to}", write.cell, write.value));
    }
    parts.join(", ")
}
