//! Findings as JSON, as docs/json.md describes them.

use super::{rule, sentence};
use ravelin_sanitizer::Frame;
use ravelin_sanitizer::repair::{Fix, fixes_of};
use ravelin_sanitizer::report::{
    Access, AccessKind, Blocked, Finding, Location, Memory, OrderStepKind, Process, Report, Run, Segment, Step,
    Strengthen, Stuck, Suggestion, Thread, order_name,
};
use serde_json::{Value, json};

/// What was run, so that it can be repeated.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// The program and its arguments.
    pub command: Vec<String>,
    pub directory: String,
    pub executable: Option<String>,
    /// A hash of the contents of the executable.
    pub fingerprint: u64,
    /// Words for the runtime.
    pub options: Vec<String>,
    pub livelock: u64,
}

/// A whole document: the answers of one invocation.
pub fn document(command: &str, answers: Vec<Value>) -> String {
    let document = json!({ "schema": ravelin_answer::SCHEMA, "command": command, "answers": answers });
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// The answer of `run`; the command is unknown if only its findings files were read.
pub fn report(report: &Report, command: Option<&CommandLine>) -> Value {
    // How the program ended by itself: the first run that failed, or else the first run.
    let ended = report.runs.iter().find(|run| run.exit_code != 0).or(report.runs.first());
    json!({
        "program": report.program,
        "verdict": match (report.is_clean(), report.is_complete()) {
            (false, _) => "violated",
            (true, true) => "holds",
            (true, false) => "unknown",
        },
        "exit_code": ended.map(|ended| ended.exit_code),
        "signal": ended.and_then(|ended| ended.signal),
        "command": command.map(command_line),
        "runs": report.runs.iter().map(run).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(|found| finding(report, found)).collect::<Vec<_>>(),
        "stuck": report.stuck.iter().map(|found| stuck(report, found)).collect::<Vec<_>>(),
        "hidden": {
            "library": report.hidden.library,
            "spinning": report.hidden.spinning,
            "suppressed": report.hidden.suppressed,
        },
        "unused_suppressions": report.unused_suppressions,
        "unrecorded": report.unrecorded,
        "notes": report.notes,
        "processes": report.processes.iter().map(process).collect::<Vec<_>>(),
    })
}

fn command_line(command: &CommandLine) -> Value {
    json!({
        "words": command.command,
        "directory": command.directory,
        "executable": command.executable,
        "fingerprint": format!("{:016x}", command.fingerprint),
        "options": command.options,
        "livelock": command.livelock,
    })
}

fn run(run: &Run) -> Value {
    json!({
        "schedule": run.schedule.map(|schedule| schedule.to_string()),
        "exit_code": run.exit_code,
        "signal": run.signal,
        "points": run.points,
        "trail": format!("{:016x}", run.trail),
        "replayable": run.replayable,
    })
}

/// The run in which something was found first.
fn first_run(report: &Report, runs: &[usize], point: u64) -> Value {
    let first = runs.first().and_then(|&first| Some((first, report.runs.get(first)?)));
    first.map_or(Value::Null, |(number, run)| {
        json!({ "run": number, "schedule": run.schedule.map(|schedule| schedule.to_string()), "point": point })
    })
}

fn stuck(report: &Report, found: &Stuck) -> Value {
    let blocked = |blocked: &Blocked| {
        json!({
            "thread": thread(&blocked.thread),
            "sentence": blocked.words(),
            "object": blocked.object.as_ref().map(location),
            "other": blocked.other.as_ref().map(thread),
            "stack": blocked.stack.iter().map(frame).collect::<Vec<_>>(),
        })
    };
    json!({
        "problem": found.name(),
        "sentence": found.words(),
        "seconds": found.seconds,
        "runs": found.runs.len(),
        "first_run": first_run(report, &found.runs, found.point),
        "threads": found.threads.iter().map(blocked).collect::<Vec<_>>(),
    })
}

fn process(process: &Process) -> Value {
    json!({
        "process": process.number,
        "ended": process.ended,
        "threads": process.threads,
        "accesses": process.accesses,
        "locations": process.locations,
        "dropped": process.dropped,
        "notes": process.notes,
    })
}

fn finding(report: &Report, finding: &Finding) -> Value {
    json!({
        "runs": finding.runs.len(),
        "first_run": first_run(report, &finding.runs, finding.point),
        "fixes": fixes_of(finding).iter().map(Fix::to_string).collect::<Vec<_>>(),
        "problem": rule(finding.problem),
        "sentence": sentence(finding),
        "count": finding.count,
        "spinning": finding.spinning,
        "access": access(&finding.access),
        "other": access(&finding.other),
        "location": location(&finding.location),
        "path": finding.path.iter().map(step).collect::<Vec<_>>(),
        "suggestion": suggestion(finding),
    })
}

fn access(access: &Access) -> Value {
    json!({
        "kind": kind(access.kind),
        "order": order_name(access.order),
        "size": access.size,
        "thread": thread(&access.thread),
        "stack": access.stack.iter().map(frame).collect::<Vec<_>>(),
        "source": access.source,
    })
}

fn kind(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Load => "load",
        AccessKind::Store => "store",
        AccessKind::Update => "update",
        AccessKind::CompareExchange | AccessKind::FailedCompareExchange => "compare-exchange",
        AccessKind::Wait => "wait",
        AccessKind::BlockingCompareExchange => "blocking-compare-exchange",
        AccessKind::PlainRead => "plain-read",
        AccessKind::PlainWrite => "plain-write",
        AccessKind::Free => "free",
    }
}

fn thread(thread: &Thread) -> Value {
    json!({
        "number": thread.number,
        "name": thread.name,
        "parent": thread.parent,
        "started": thread.stack.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn frame(frame: &Frame) -> Value {
    json!({
        "function": frame.function,
        "file": frame.file,
        "line": frame.line,
        "column": frame.column,
        "code": frame.code,
        "inlined": frame.inlined,
        "near": frame.near,
    })
}

fn location(location: &Location) -> Value {
    let memory = match &location.memory {
        Memory::Other if location.name.is_some() => json!({ "kind": "global" }),
        Memory::Other => json!({ "kind": "unknown" }),
        Memory::Stack { thread: of } => json!({ "kind": "stack", "thread": thread(of) }),
        Memory::Heap { offset, size, thread: by, stack } => json!({
            "kind": "heap",
            "offset": offset,
            "size": size,
            "thread": thread(by),
            "allocated": stack.iter().map(frame).collect::<Vec<_>>(),
        }),
    };
    json!({ "address": format!("{:#x}", location.address), "name": location.name, "memory": memory })
}

fn step(step: &Step) -> Value {
    let kind = match step.kind {
        OrderStepKind::ReadsFrom => "reads-from",
        OrderStepKind::Overwrites => "overwrites",
        OrderStepKind::OverwritesRead => "overwrites-read",
    };
    json!({
        "kind": kind,
        "location": location(&step.location),
        "before": access(&step.before),
        "after": access(&step.after),
    })
}

fn suggestion(finding: &Finding) -> Value {
    let strengthen = |strengthen: &Strengthen| json!({ "access": strengthen.what, "place": strengthen.place, "order": order_name(strengthen.order) });
    let segment = |segment: &Segment| json!({ "thread": segment.thread, "from": segment.from, "to": segment.to });
    let (kind, accesses, fences) = match &finding.suggestion {
        Suggestion::Synchronise => ("synchronise", None, None),
        Suggestion::MakeAtomic { .. } => ("make-atomic", None, None),
        Suggestion::FreeLater => ("free-later", None, None),
        Suggestion::ReleaseAcquire(stronger) => {
            ("release-acquire", Some(stronger.iter().map(strengthen).collect::<Vec<_>>()), None)
        }
        Suggestion::Fences(segments) => {
            ("seq-cst-fences", None, Some(segments.iter().map(segment).collect::<Vec<_>>()))
        }
        Suggestion::Unknown => ("unknown", None, None),
    };
    json!({ "kind": kind, "text": finding.advice(), "accesses": accesses, "fences": fences })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn fields_are_what_the_documentation_says() {
        let mut sample = sample::report();
        sample.runs = vec![Run { exit_code: 3, ..Run::default() }];
        let answer = report(&sample, None);
        assert_eq!(answer["verdict"], "violated");
        assert_eq!(answer["exit_code"], 3);
        let first = &answer["findings"][0];
        assert_eq!(first["problem"], "stale-read");
        assert_eq!(first["fixes"][0], "mp.c:8:release");
        assert_eq!(first["access"]["stack"][0]["line"], 14);
        assert_eq!(first["location"]["memory"]["kind"], "global");
        assert_eq!(first["path"][0]["kind"], "reads-from");
        assert_eq!(first["suggestion"]["accesses"][1]["order"], "acquire");
        assert_eq!(answer["findings"][1]["location"]["memory"]["allocated"][0]["function"], "main");
    }
}
