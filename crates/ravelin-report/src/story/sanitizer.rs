//! Answers of `run`, `replay` and `findings`: the sanitizer's findings.

use super::facts::{Facts, fact};
use super::{Story, Verdict, Wrong};
use ravelin_answer::text::{counted, grouped};
use serde::Deserialize;
use serde_json::Value;

/// What was found in one or more runs of a program.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub findings: Vec<Finding>,
    /// Deadlocks, livelocks, and runs that made no progress.
    pub stuck: Vec<Stuck>,
}

/// Two accesses, and what may go wrong between them.
#[derive(Clone, Debug, Deserialize)]
pub struct Finding {
    /// `stale-read`, `stale-write`, `stale-update` or `data-race`.
    pub problem: String,
    pub sentence: String,
    pub count: u64,
    pub spinning: bool,
    /// The access that may miss the other one, or the later one of a race.
    pub access: SanitizerAccess,
    pub other: SanitizerAccess,
    pub location: Site,
    /// Why `other` comes before `access` under sequential consistency, last step first.
    pub path: Vec<PathStep>,
    pub suggestion: Suggestion,
    #[serde(default)]
    pub first_run: Option<FirstRun>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct SanitizerAccess {
    pub kind: String,
    pub order: String,
    pub size: u64,
    pub thread: SanitizerThread,
    /// Innermost first.
    pub stack: Vec<Frame>,
    /// The source line, if it could be read.
    pub source: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct SanitizerThread {
    pub number: u64,
    pub name: Option<String>,
    #[serde(default)]
    pub started: Vec<Frame>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Frame {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub code: String,
    pub inlined: bool,
    /// Missing in documents of earlier versions.
    #[serde(default)]
    pub near: bool,
}

/// A place in memory.
#[derive(Clone, Debug, Deserialize)]
pub struct Site {
    pub address: String,
    pub name: Option<String>,
    pub memory: MemoryView,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MemoryView {
    Global,
    Heap { offset: u64, size: u64, thread: SanitizerThread, allocated: Vec<Frame> },
    Stack { thread: SanitizerThread },
    Unknown,
}

/// A step of the order that sequential consistency forces.
#[derive(Clone, Debug, Deserialize)]
pub struct PathStep {
    /// `reads-from`, `overwrites`, `overwrites-read`.
    pub kind: String,
    pub location: Site,
    pub before: SanitizerAccess,
    pub after: SanitizerAccess,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Suggestion {
    pub kind: String,
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct FirstRun {
    pub run: u64,
    pub schedule: Option<String>,
}

/// Threads that wait for each other, repeat waiting loops, or made no progress.
#[derive(Clone, Debug, Deserialize)]
pub struct Stuck {
    pub problem: String,
    /// Its name; documents of earlier versions have only the problem.
    sentence: Option<String>,
    pub runs: u64,
    pub threads: Vec<Blocked>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Blocked {
    pub thread: SanitizerThread,
    pub sentence: String,
    pub stack: Vec<Frame>,
}

impl Stuck {
    /// A heading.
    pub fn words(&self) -> &str {
        self.sentence.as_ref().unwrap_or(&self.problem)
    }
}

impl SanitizerThread {
    /// `thread 2`, or `thread 2 (reader)`.
    pub fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("thread {} ({name})", self.number),
            None => format!("thread {}", self.number),
        }
    }
}

impl Frame {
    /// `consume at mp.c:14:9`, as much of it as is known.
    pub fn words(&self) -> String {
        let function = self.function.as_deref().unwrap_or(&self.code);
        match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                let column = self.column.map(|column| format!(":{column}")).unwrap_or_default();
                let at = if self.near { "near" } else { "at" };
                format!("{function} {at} {file}:{line}{column}")
            }
            _ => function.to_owned(),
        }
    }
}

impl Site {
    /// `` `data+4` ``, or what is known about the address.
    pub fn words(&self) -> String {
        match (&self.name, &self.memory) {
            (Some(name), _) => format!("`{name}`"),
            (None, MemoryView::Heap { offset, size, thread, .. }) => {
                format!("byte {offset} of {} that {} allocated", counted(*size, "byte"), thread.words())
            }
            (None, MemoryView::Stack { thread }) => format!("{} on the stack of {}", self.address, thread.words()),
            (None, _) => self.address.clone(),
        }
    }
}

/// `relaxed load, 4 bytes`.
pub fn describe_access(access: &SanitizerAccess) -> String {
    let kind = access.kind.replace('-', " ");
    let order = if access.order == "plain" { String::new() } else { format!("{} ", access.order) };
    format!("{order}{kind}, {}", counted(access.size, "byte"))
}

#[derive(Deserialize)]
struct RawReport {
    program: String,
    verdict: ravelin_answer::Verdict,
    runs: Vec<Value>,
    findings: Vec<Finding>,
    stuck: Vec<Stuck>,
    hidden: RawHidden,
    unused_suppressions: Vec<String>,
    /// Missing in earlier reports.
    #[serde(default)]
    unrecorded: u64,
    #[serde(default)]
    notes: Vec<String>,
    processes: Vec<RawProcess>,
}

#[derive(Deserialize)]
struct RawHidden {
    library: u64,
    spinning: u64,
    suppressed: u64,
}

#[derive(Deserialize)]
struct RawProcess {
    threads: u64,
    accesses: u64,
    locations: u64,
    dropped: u64,
    notes: Vec<String>,
}

/// The results of suggestions that were tried.
#[derive(Deserialize)]
struct RawTriedOut {
    program: String,
    verdict: ravelin_answer::Verdict,
    fixes: Vec<String>,
    gone: Vec<String>,
    remaining: Vec<String>,
    new: Vec<String>,
}

pub fn story(answer: &Value) -> Result<Story, Wrong> {
    if answer.get("findings").is_none() && answer.get("gone").is_some() {
        return Ok(tried_out(RawTriedOut::deserialize(answer)?));
    }
    let report = RawReport::deserialize(answer)?;
    let verdict = Verdict::from(report.verdict);
    let program = &report.program;
    let runs = match report.runs.len() as u64 {
        0 | 1 => "this run".to_owned(),
        runs => format!("{} runs", grouped(runs)),
    };
    let number = (report.findings.len() + report.stuck.len()) as u64;
    let (word, sentence) = match verdict {
        Verdict::Holds => ("nothing found".to_owned(), format!("Nothing was found in {runs} of {program}.")),
        Verdict::Unknown if report.unrecorded == 0 && report.processes.iter().all(|process| process.dropped == 0) => {
            ("not watched".to_owned(), format!("Not everything was watched in {runs} of {program}."))
        }
        Verdict::Unknown => {
            ("not recorded".to_owned(), format!("What was found in {runs} of {program} could not be recorded."))
        }
        _ => {
            let word = counted(number, "finding");
            let sentence = format!("{word} in {runs} of {program}.");
            (word, sentence)
        }
    };
    let mut notes = Vec::new();
    let hidden = [
        (report.hidden.library, "inside the standard library"),
        (report.hidden.spinning, "only let a waiting loop go round once more"),
        (report.hidden.suppressed, "suppressed"),
    ];
    let hidden: Vec<String> =
        hidden.iter().filter(|(number, _)| *number > 0).map(|(number, why)| format!("{number} {why}")).collect();
    if !hidden.is_empty() {
        notes.push(format!("Not shown: {}.", hidden.join(", ")));
    }
    notes.extend(report.unused_suppressions.iter().map(|line| format!("Nothing needed the suppression {line}.")));
    if report.unrecorded > 0 {
        notes.push(format!("Processes that could not record what they found: {}.", grouped(report.unrecorded)));
    }
    notes.extend(report.notes.iter().cloned());
    notes.extend(report.processes.iter().flat_map(|process| process.notes.clone()));
    let sum = |of: &dyn Fn(&RawProcess) -> u64| grouped(report.processes.iter().map(of).fold(0, u64::saturating_add));
    let mut statistics = Facts::new();
    fact(&mut statistics, "processes", grouped(report.processes.len() as u64));
    fact(&mut statistics, "threads", sum(&|process| process.threads));
    fact(&mut statistics, "accesses checked", sum(&|process| process.accesses));
    fact(&mut statistics, "locations", sum(&|process| process.locations));
    if report.processes.iter().any(|process| process.dropped > 0) {
        fact(&mut statistics, "findings dropped", sum(&|process| process.dropped));
    }
    Ok(Story {
        verdict,
        word,
        sentence,
        notes,
        findings: Some(Findings { findings: report.findings, stuck: report.stuck }),
        statistics,
        file: report.program,
        ..Story::default()
    })
}

fn tried_out(answer: RawTriedOut) -> Story {
    let RawTriedOut { program, fixes, gone, remaining, new, .. } = answer;
    let number = counted(fixes.len() as u64, "suggestion");
    let sentence = format!(
        "With {number}, {} of {program} are gone and {} remain.",
        counted(gone.len() as u64, "finding"),
        remaining.len()
    );
    let notes = [("Tried out", fixes), ("Gone", gone), ("Remains", remaining), ("New", new)];
    let notes = notes.into_iter().flat_map(|(what, list)| list.into_iter().map(move |one| format!("{what}: {one}")));
    Story {
        verdict: answer.verdict.into(),
        word: number,
        sentence,
        notes: notes.collect(),
        file: program,
        ..Story::default()
    }
}
