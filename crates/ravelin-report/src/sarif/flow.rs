//! The steps of a run as a code flow: one thread flow per thread, with the order between them in `executionOrder`.

use super::format::{CodeFlow, LogicalLocation, SarifLocation, ThreadFlow, ThreadFlowLocation};
use super::place;
use ravelin_answer::{AccessStorage, RunStep};

/// The code flow of the steps of a witness. Steps that are not in the source are omitted; `None` if nothing remains.
pub(super) fn of_steps(file: &str, steps: &[RunStep], message: &str) -> Option<CodeFlow> {
    let mut thread_flows: Vec<ThreadFlow> = Vec::new();
    for (number, step) in steps.iter().filter(|step| !step.internal).enumerate() {
        let thread = LogicalLocation { name: Some(step.thread.clone()), fully_qualified_name: None, kind: "thread" };
        let location = SarifLocation { logical_locations: vec![thread], ..place(file, step.position, words(step)) };
        let location = ThreadFlowLocation { location, nesting_level: None, execution_order: Some(number + 1) };
        match thread_flows.iter_mut().find(|flow| flow.id == step.thread) {
            Some(flow) => flow.locations.push(location),
            None => thread_flows.push(ThreadFlow { id: step.thread.clone(), locations: vec![location] }),
        }
    }
    (!thread_flows.is_empty()).then(|| CodeFlow { message: message.into(), thread_flows })
}

/// A step in a few words: the thread, the instruction, what was read and where a store went.
fn words(step: &RunStep) -> String {
    let (thread, text) = (&step.thread, &step.text);
    if step.is_flush() {
        return format!("{thread}: {text}");
    }
    let mut parts = vec![format!("{thread}: `{text}`")];
    for read in &step.reads {
        let from = if read.place == AccessStorage::Buffer { " from its own store buffer" } else { "" };
        parts.push(format!("reads {} = {}{from}", read.cell, read.shown()));
    }
    for write in &step.writes {
        let to = if write.place == AccessStorage::Buffer { ", which waits in its store buffer" } else { "" };
        parts.push(format!("writes {} = {}{to}", write.cell, write.shown()));
    }
    parts.join(", ")
}
