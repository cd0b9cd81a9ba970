//! The steps of a run as a code flow: a thread flow for each thread, with the order between them in `executionOrder`.

use super::place;
use serde_json::{Value, json};

/// The code flow of the steps of a witness. Steps that nobody wrote are left out; `None` if nothing remains.
pub(super) fn of_steps(file: &str, steps: &Value, message: &str) -> Option<Value> {
    let mut threads: Vec<(&str, Vec<Value>)> = Vec::new();
    let steps = steps.as_array().map(Vec::as_slice).unwrap_or_default();
    let visible = steps.iter().filter(|step| step["internal"] != json!(true));
    for (number, step) in visible.enumerate() {
        let thread = step["thread"].as_str().unwrap_or_default();
        let mut location = place(file, step["line"].as_u64(), step["column"].as_u64(), &told(thread, step));
        location["logicalLocations"] = json!([{ "name": thread, "kind": "thread" }]);
        let told = json!({ "location": location, "executionOrder": number + 1 });
        match threads.iter_mut().find(|(name, _)| *name == thread) {
            Some((_, locations)) => locations.push(told),
            None => threads.push((thread, vec![told])),
        }
    }
    let flows: Vec<Value> =
        threads.into_iter().map(|(thread, locations)| json!({ "id": thread, "locations": locations })).collect();
    (!flows.is_empty()).then(|| json!({ "message": { "text": message }, "threadFlows": flows }))
}

/// A step in a few words: who, the instruction, what was read and where a store went.
fn told(thread: &str, step: &Value) -> String {
    let text = step["text"].as_str().unwrap_or_default();
    if step["kind"] == json!("flush") {
        return format!("{thread}: {text}");
    }
    let mut parts = vec![format!("{thread}: `{text}`")];
    for (verb, accesses) in [("reads", &step["reads"]), ("writes", &step["writes"])] {
        for access in accesses.as_array().into_iter().flatten() {
            let place = match (verb, access["place"] == json!("buffer")) {
                ("reads", true) => " from its own store buffer",
                ("writes", true) => ", which waits in its store buffer",
                _ => "",
            };
            let cell = access["cell"].as_str().unwrap_or_default();
            parts.push(format!("{verb} {cell} = {}{place}", access["value"]));
        }
    }
    parts.join(", ")
}
