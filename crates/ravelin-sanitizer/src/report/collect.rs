//! Turns findings files into a report: replaces addresses by names, merges findings with the same pair of places, and
//! removes unwanted ones.

use super::stuck::{Blocked, Stuck};
use super::weak;
use super::{Finding, Report, Run, Step, Suggestion};
use crate::suppression::Suppressions;
use crate::symbols::{Symbols, is_in_standard_library, is_library_header};
use ravelin_answer::sanitizer::{
    AccessKind, AccessOrder, CallerLine, Crash, Frame, HiddenFindings, MemoryArea, PathStepKind, Problem, ProblemGroup,
    StaleAccess, StandstillKind, WatchedAccess, WatchedLocation, WatchedProcess, WatchedThread, signal_name,
};
use ravelin_findings::{Findings, MemoryKind, Spinning, WaitsFor, notes};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The input of a report.
pub struct Gathered<'a> {
    /// The program, as it was called.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its file, if that is known: findings files may not name it.
    pub executable: Option<&'a Path>,
    /// What each process left.
    pub processes: Vec<Findings>,
    /// How many processes could not record what they found.
    pub unrecorded: u64,
    /// The run of each process; empty if only files were read.
    pub run_of: Vec<usize>,
    pub runs: Vec<Run>,
    /// Source files below this directory are shown relative to it.
    pub directory: Option<PathBuf>,
}

/// What the user wants to see.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub suppressions: Suppressions,
    /// Includes findings that only make a waiting loop repeat once more.
    pub spinning: bool,
    /// Includes findings inside the C++ standard library.
    pub library: bool,
}

/// Makes the report.
pub fn gather(gathered: Gathered, wanted: &Wanted) -> Report {
    let mut naming = Naming {
        symbols: Symbols::new(gathered.directory.clone()),
        executable: gathered.executable,
        directory: gathered.directory,
        sources: HashMap::new(),
    };
    let mut merged: Vec<Finding> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    let mut stuck: Vec<Stuck> = Vec::new();
    let mut crashes: Vec<(Crash, Vec<usize>)> = Vec::new();
    for (index, process) in gathered.processes.iter().enumerate() {
        let run = gathered.run_of.get(index).copied();
        if let Some(found) = &process.stuck {
            naming.stuck(process, found, run).merge_into(&mut stuck);
        }
        if let Some(found) = &process.crash {
            let crash = naming.crash(process, found);
            let same = |(known, _): &&mut (Crash, Vec<usize>)| {
                known.signal == crash.signal && known.stack.first() == crash.stack.first()
            };
            match crashes.iter_mut().find(same) {
                Some((_, runs)) => runs.extend(run),
                None => crashes.push((crash, run.into_iter().collect())),
            }
        }
        for found in &process.findings {
            let mut finding = naming.finding(process, found);
            finding.runs.extend(run);
            match known.get(&key(&finding)) {
                Some(&at) => {
                    merged[at].count = merged[at].count.saturating_add(finding.count);
                    merged[at].spinning &= finding.spinning;
                    keep_what_orders_both(&mut merged[at], &finding);
                    if finding.runs.last() != merged[at].runs.last() {
                        merged[at].runs.extend(run);
                    }
                }
                None => {
                    known.insert(key(&finding), merged.len());
                    merged.push(finding);
                }
            }
        }
    }
    merge_mirrored(&mut merged);
    let mut hidden = HiddenFindings::default();
    merged.retain(|finding| {
        let hides = if !wanted.library && is_in_library(finding) {
            &mut hidden.library
        } else if !wanted.spinning && finding.spinning {
            &mut hidden.spinning
        } else if wanted.suppressions.cover(finding) {
            &mut hidden.suppressed
        } else {
            return true;
        };
        *hides += 1;
        false
    });
    // Ties are ordered by the processes and by the findings in them.
    merged.sort_by_key(|finding| std::cmp::Reverse(finding.count));
    for finding in &mut merged {
        naming.add_sources(finding);
    }
    let weak = weak::report(&gathered.runs, &gathered.run_of, &gathered.processes, &mut naming);
    let tso = gathered.processes.iter().any(|process| process.notes & notes::STORE_BUFFERS != 0);
    let judged = "robustness was judged for x86 (TSO): other machines may do more";
    Report {
        weak,
        tso,
        program: gathered.program,
        arguments: gathered.arguments,
        findings: merged,
        stuck,
        crashes,
        runs: gathered.runs,
        processes: gathered.processes.iter().map(process).collect(),
        hidden,
        fresh_processes: None,
        unused_suppressions: wanted.suppressions.unused(),
        unrecorded: gathered.unrecorded,
        notes: tso.then(|| judged.to_owned()).into_iter().collect(),
    }
}

/// What makes two findings the same: the problem and the two places. Which access of a race came first is random, and
/// `x++` races by its read and by its write. For races the lines and the variable therefore count.
pub(super) type Key = (&'static str, String, String, Option<String>);

pub(super) fn key(finding: &Finding) -> Key {
    // Which thread closes a circle of locks is random, too.
    let race = matches!(finding.problem, Problem::DataRace | Problem::LockOrderInversion | Problem::DescriptorRace);
    let place = |access: &WatchedAccess| match access.stack.first() {
        Some(frame) if race => frame.place(),
        Some(frame) => format!("{} {:?}", frame.place(), frame.column),
        // Without a stack, only the address can distinguish findings.
        None => finding.location.address.clone(),
    };
    let (mut first, mut second) = (place(&finding.access), place(&finding.other));
    if finding.problem == Problem::ErrnoChange {
        // A handler interrupts whatever there is.
        second.clear();
    }
    if race && second < first {
        std::mem::swap(&mut first, &mut second);
    }
    let name = finding.location.name.clone().filter(|_| race);
    (finding.problem.name(), first, second, name)
}

/// Each of the two reads of store buffering may be the stale one: which of them is found depends on the schedule. Both
/// are one cycle and one finding, the one that was found first.
fn merge_mirrored(findings: &mut Vec<Finding>) {
    let mut at: HashMap<Key, usize> = HashMap::new();
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings.drain(..) {
        let first = mirrored_key(&finding).and_then(|mirrored| at.get(&mirrored).copied());
        match first.map(|first| &mut kept[first]) {
            Some(first) if mirrored_key(first) == Some(key(&finding)) && first.spinning == finding.spinning => {
                first.count = first.count.saturating_add(finding.count);
                first.runs.extend(finding.runs);
                first.runs.sort_unstable();
                first.runs.dedup();
            }
            _ => {
                at.insert(key(&finding), kept.len());
                kept.push(finding);
            }
        }
    }
    *findings = kept;
}

/// The key of the finding in which the other read of a cycle is the stale one.
fn mirrored_key(finding: &Finding) -> Option<Key> {
    match &finding.path[..] {
        [step] if finding.problem == Problem::StaleRead && step.kind == PathStepKind::OverwritesRead => {
            let Step { before, after, location, .. } = step.clone();
            Some(key(&Finding { access: before, other: after, location, ..finding.clone() }))
        }
        _ => None,
    }
}

/// A robustness violation between two accesses of the C++ standard library, which is the library's concern.
fn is_in_library(finding: &Finding) -> bool {
    let inside = |access: &WatchedAccess| access.stack.first().is_some_and(is_in_standard_library);
    finding.problem.group() == ProblemGroup::Robustness && inside(&finding.access) && inside(&finding.other)
}

/// Orders of reads do not repair a race that also occurred without reads between the two accesses.
fn keep_what_orders_both(known: &mut Finding, again: &Finding) {
    let is_unordered = again.path.is_empty() && !again.other.stack.is_empty();
    if known.problem == Problem::DataRace && !known.path.is_empty() && is_unordered {
        known.path.clear();
        known.suggestion = again.suggestion.clone();
    }
}

fn process(findings: &Findings) -> WatchedProcess {
    let sentences = [
        (notes::CHILD_UNWATCHED, "the program forked; the child was not watched"),
        (notes::OUT_OF_THREADS, "too many threads were never joined; later ones were not watched"),
        (notes::OUT_OF_MEMORY, "no memory was left for the sanitizer; what came after was not watched"),
        (
            notes::NO_ADDRESS_SPACE,
            "there was no address space for the sanitizer (is it limited by `ulimit -v`?); nothing was watched",
        ),
        (
            notes::NOT_REPLAYABLE,
            "a thread waited in a call that the schedule does not know; this run may not come out the same again",
        ),
        (
            notes::BACKGROUND,
            "the program ended without waiting for a process that it had started; what that does later is not in this report",
        ),
        (notes::STACK_LOST, "some accesses were too long ago for their stacks to be known (--history remembers more)"),
    ];
    let mut said: Vec<String> = sentences
        .iter()
        .filter(|(bit, _)| findings.notes & bit != 0)
        .map(|(_, sentence)| (*sentence).to_owned())
        .collect();
    if findings.dropped > 0 {
        said.push(format!("there was no room for {} more findings", findings.dropped));
    }
    if let Some(at) = findings.damaged_at {
        said.push(format!("the file of findings is damaged at word {at}; what follows there is lost"));
    }
    WatchedProcess {
        process: findings.process,
        ended: findings.ended,
        threads: findings.threads_started,
        accesses: findings.accesses,
        locations: findings.locations,
        dropped: findings.dropped,
        unwatched: findings.notes & notes::UNWATCHED != 0,
        notes: said,
    }
}

/// Gives names to addresses.
pub(super) struct Naming<'a> {
    symbols: Symbols,
    executable: Option<&'a Path>,
    directory: Option<PathBuf>,
    /// The lines of source files; empty if a file cannot be read.
    sources: HashMap<String, Vec<String>>,
}

/// What is known about an address from the place of another address: blocks of the heap hold several locations.
fn neighbour(place: &MemoryKind, address: u64) -> &MemoryKind {
    match place {
        MemoryKind::Heap { start, size, .. } if (*start..start.saturating_add(*size)).contains(&address) => place,
        _ => &MemoryKind::Other,
    }
}

/// Longer files are not source files of a program.
const LARGEST_SOURCE: u64 = 64 << 20;

impl Naming<'_> {
    fn finding(&mut self, process: &Findings, found: &ravelin_findings::FindingRecord) -> Finding {
        let access = self.access(process, &found.access);
        let other = self.access(process, &found.other);
        let location = self.location(process, found.address, &found.place);
        let mut path = Vec::with_capacity(found.path.len());
        for step in &found.path {
            path.push(Step {
                kind: path_step_kind(step.kind),
                location: self.location(process, step.address, neighbour(&found.place, step.address)),
                before: self.access(process, &step.before),
                after: self.access(process, &step.after),
                lacks_release: step.lacks_release,
                lacks_acquire: step.lacks_acquire,
            });
        }
        let problem = problem(found.problem);
        Finding {
            problem,
            count: found.count,
            spinning: found.spinning == Spinning::Harmless,
            suggestion: Suggestion::new(problem, &access, &other, &path, process.notes & notes::STORE_BUFFERS != 0),
            access,
            other,
            forgotten: found.forgotten,
            location,
            path,
            runs: Vec::new(),
            point: found.point,
            machines: None,
            consequence: None,
        }
    }

    fn stuck(&mut self, process: &Findings, found: &ravelin_findings::StandstillRecord, run: Option<usize>) -> Stuck {
        let mut threads = Vec::with_capacity(found.threads.len());
        for blocked in &found.threads {
            let named = blocked.object != 0 && blocked.waits_for != WaitsFor::Thread;
            threads.push(Blocked {
                thread: self.thread(process, blocked.thread),
                waits_for: blocked.waits_for,
                object: named.then(|| self.location(process, blocked.object, &MemoryKind::Other)),
                other: match blocked.waits_for {
                    WaitsFor::Thread => Some(self.thread(process, blocked.object)),
                    _ => blocked.holder.checked_sub(1).map(|holder| self.thread(process, holder)),
                },
                stack: self.stack(process, &blocked.stack),
            });
        }
        let kind = standstill_kind(found.kind);
        Stuck { kind, seconds: found.seconds, point: found.point, threads, runs: run.into_iter().collect() }
    }

    /// An access that took an old value.
    pub(super) fn stale(&mut self, process: &Findings, found: &ravelin_findings::StaleRecord) -> StaleAccess {
        let mut access = self.access(process, &found.access);
        access.source = access.stack.first().and_then(|frame| self.source(frame));
        access.caller = self.caller(&access.stack);
        let location = self.location(process, found.address, &found.place);
        let newer = (!found.newer.stack.is_empty()).then(|| self.access(process, &found.newer));
        let (value, newest) = (shown(found.value, access.size), shown(found.newest, access.size));
        let words = StaleAccess::words(&access, &value, &newest);
        let sentence = format!("the {} {words}", access.phrase(Some(&location)));
        StaleAccess { sentence, count: found.count, value, newest, access, location, newer }
    }

    fn crash(&mut self, process: &Findings, found: &ravelin_findings::CrashRecord) -> Crash {
        let stack = self.stack(process, &found.stack);
        let signal = i32::try_from(found.signal).unwrap_or(0);
        Crash {
            signal,
            name: signal_name(signal).map(str::to_owned),
            // The others give the address of the instruction.
            address: [libc::SIGSEGV, libc::SIGBUS].contains(&signal).then(|| format!("{:#x}", found.address)),
            thread: self.thread(process, found.thread),
            source: stack.iter().find(|frame| !frame.system).and_then(|frame| self.source(frame)),
            stack,
            runs: 0,
            first_run: None,
        }
    }

    fn access(&mut self, process: &Findings, access: &ravelin_findings::AccessRecord) -> WatchedAccess {
        WatchedAccess {
            kind: access_kind(access.kind),
            failed: access.kind == ravelin_findings::AccessKind::FailedCompareExchange,
            order: access_order(access.order),
            size: access.size,
            thread: self.thread(process, access.thread),
            stack: self.stack(process, &access.stack),
            source: None,
            caller: None,
        }
    }

    fn location(&mut self, process: &Findings, address: u64, place: &MemoryKind) -> WatchedLocation {
        let (name, memory) = match place {
            MemoryKind::Other => match self.symbols.variable(&process.modules, self.executable, address) {
                Some(name) => (Some(name), MemoryArea::Global),
                None => (None, MemoryArea::Unknown),
            },
            MemoryKind::Heap { start, size, thread, stack } => {
                let thread = self.thread(process, *thread);
                let allocated = self.stack(process, stack);
                (None, MemoryArea::Heap { offset: address.saturating_sub(*start), size: *size, thread, allocated })
            }
            MemoryKind::Stack { thread } => (None, MemoryArea::Stack { thread: self.thread(process, *thread) }),
            MemoryKind::Descriptor { thread, stack } => {
                let thread = self.thread(process, *thread);
                (None, MemoryArea::Descriptor { number: address, thread, opened: self.stack(process, stack) })
            }
        };
        WatchedLocation { address: format!("{address:#x}"), name, memory }
    }

    fn thread(&mut self, process: &Findings, number: u64) -> WatchedThread {
        // A number may be reused; most likely the last thread with that number is meant.
        let Some(thread) = process.threads.iter().rev().find(|thread| thread.number == number) else {
            return WatchedThread { number, ..WatchedThread::default() };
        };
        let name = String::from_utf8_lossy(&thread.name).into_owned();
        WatchedThread {
            number,
            name: Some(name).filter(|name| !name.is_empty()),
            parent: (number != 0).then_some(thread.parent),
            started: self.stack(process, &thread.stack),
        }
    }

    fn stack(&mut self, process: &Findings, stack: &[u64]) -> Vec<Frame> {
        self.symbols.stack(&process.modules, self.executable, stack)
    }

    fn add_sources(&mut self, finding: &mut Finding) {
        let circle = finding.path.iter_mut().filter(|step| step.kind == PathStepKind::WhileHolding);
        let steps = circle.flat_map(|step| [&mut step.before, &mut step.after]);
        for access in [&mut finding.access, &mut finding.other].into_iter().chain(steps) {
            access.source = access.stack.first().and_then(|frame| self.source(frame));
            access.caller = self.caller(&access.stack);
        }
    }

    /// The line of the program that led to a line of a library's header.
    fn caller(&mut self, stack: &[Frame]) -> Option<CallerLine> {
        let is_header = |frame: &Frame| frame.file.as_deref().is_some_and(is_library_header);
        stack.first().filter(|frame| is_header(frame))?;
        let frame = stack.iter().position(|frame| frame.file.is_some() && !is_header(frame))?;
        Some(CallerLine { frame, source: self.source(&stack[frame])? })
    }

    fn source(&mut self, frame: &Frame) -> Option<String> {
        let (file, line) = (frame.file.as_ref()?, frame.line?);
        let directory = self.directory.as_deref().unwrap_or(Path::new(""));
        let lines = self.sources.entry(file.clone()).or_insert_with(|| lines(&directory.join(file)));
        let text = lines.get(line as usize - 1)?;
        Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
    }
}

/// The runtime's words for accesses and problems, as answers have them.
fn access_kind(kind: ravelin_findings::AccessKind) -> AccessKind {
    use ravelin_findings::AccessKind as Found;
    match kind {
        Found::Load => AccessKind::Load,
        Found::Store => AccessKind::Store,
        Found::Update => AccessKind::Update,
        Found::CompareExchange | Found::FailedCompareExchange => AccessKind::CompareExchange,
        Found::Wait => AccessKind::Wait,
        Found::BlockingCompareExchange => AccessKind::BlockingCompareExchange,
        Found::PlainRead => AccessKind::PlainRead,
        Found::PlainWrite => AccessKind::PlainWrite,
        Found::Free => AccessKind::Free,
        Found::Lock => AccessKind::Lock,
        Found::ReadLock => AccessKind::ReadLock,
        Found::Unlock => AccessKind::Unlock,
        Found::Destroy => AccessKind::Destroy,
        Found::ThreadStart => AccessKind::ThreadStart,
        Found::ThreadEnd => AccessKind::ThreadEnd,
        Found::SignalHandler => AccessKind::SignalHandler,
        Found::InterruptedCode => AccessKind::InterruptedCode,
        Found::DescriptorUse => AccessKind::DescriptorUse,
        Found::Close => AccessKind::Close,
    }
}

fn access_order(order: ravelin_findings::RecordedOrder) -> AccessOrder {
    use ravelin_findings::RecordedOrder;
    match order {
        RecordedOrder::Plain => AccessOrder::Plain,
        RecordedOrder::Relaxed => AccessOrder::Relaxed,
        RecordedOrder::Acquire => AccessOrder::Acquire,
        RecordedOrder::Release => AccessOrder::Release,
        RecordedOrder::AcqRel => AccessOrder::AcqRel,
        RecordedOrder::SeqCst => AccessOrder::SeqCst,
    }
}

fn problem(problem: ravelin_findings::Problem) -> Problem {
    use ravelin_findings::Problem as Found;
    match problem {
        Found::Race => Problem::DataRace,
        Found::StaleRead => Problem::StaleRead,
        Found::StaleWrite => Problem::StaleWrite,
        Found::StaleUpdate => Problem::StaleUpdate,
        Found::LockOrderInversion => Problem::LockOrderInversion,
        Found::UnlockByAnother => Problem::UnlockByAnother,
        Found::UnlockOfUnlocked => Problem::UnlockOfUnlocked,
        Found::DestroyOfLocked => Problem::DestroyOfLocked,
        Found::DoubleLock => Problem::DoubleLock,
        Found::UseOfDestroyed => Problem::UseOfDestroyed,
        Found::DoubleFree => Problem::DoubleFree,
        Found::ThreadLeak => Problem::ThreadLeak,
        Found::ErrnoChange => Problem::ErrnoChange,
        Found::DescriptorRace => Problem::DescriptorRace,
    }
}

/// The words that make the runtime ignore kinds of findings.
pub fn ignoring(ignored: &[Problem]) -> Vec<String> {
    let number = |found: &ravelin_findings::Problem| format!("ignore={}", *found as u64);
    let is_ignored = |found: &&ravelin_findings::Problem| ignored.contains(&problem(**found));
    ravelin_findings::Problem::ALL.iter().filter(is_ignored).map(number).collect()
}

fn path_step_kind(kind: ravelin_findings::OrderStepKind) -> PathStepKind {
    use ravelin_findings::OrderStepKind;
    match kind {
        OrderStepKind::ReadsFrom => PathStepKind::ReadsFrom,
        OrderStepKind::Overwrites => PathStepKind::Overwrites,
        OrderStepKind::OverwritesRead => PathStepKind::OverwritesRead,
        OrderStepKind::WhileHolding => PathStepKind::WhileHolding,
    }
}

pub(super) fn standstill_kind(kind: ravelin_findings::Standstill) -> StandstillKind {
    use ravelin_findings::Standstill;
    match kind {
        Standstill::Deadlock => StandstillKind::Deadlock,
        Standstill::Livelock => StandstillKind::Livelock,
        Standstill::NoProgress => StandstillKind::NoProgress,
    }
}

/// A value of so many bytes, with its sign if it is small below zero, as -1 often is.
fn shown(value: u64, size: u64) -> String {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    let signed = (value << unused) as i64 >> unused;
    if (-1_000..0).contains(&signed) { signed.to_string() } else { value.to_string() }
}

/// The lines of a source file; none if it is not an ordinary file.
fn lines(path: &Path) -> Vec<String> {
    let ordinary = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LARGEST_SOURCE);
    let bytes = if ordinary { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_findings::OrderStepKind;

    /// An access in a function at a line.
    fn access(function: &str, line: u32) -> WatchedAccess {
        let frame = Frame {
            function: Some(function.to_owned()),
            file: Some("x.cpp".to_owned()),
            line: Some(line),
            ..Frame::default()
        };
        let thread = WatchedThread::default();
        let (kind, order) = (AccessKind::Load, AccessOrder::Relaxed);
        WatchedAccess { kind, failed: false, order, size: 4, thread, stack: vec![frame], source: None, caller: None }
    }

    fn finding(problem: Problem, access: WatchedAccess, other: WatchedAccess) -> Finding {
        let location = WatchedLocation { address: "0x1000".to_owned(), name: None, memory: MemoryArea::Unknown };
        let suggestion = Suggestion::Unknown;
        Finding {
            problem,
            count: 1,
            spinning: false,
            access,
            other,
            forgotten: 0,
            location,
            path: Vec::new(),
            suggestion,
            runs: Vec::new(),
            point: 0,
            machines: None,
            consequence: None,
        }
    }

    #[test]
    fn only_robustness_inside_the_standard_library_is_its_own_business() {
        let inside = || access("std::__shared_count<2>::~__shared_count", 3);
        let outside = || access("Queue::push", 4);
        assert!(is_in_library(&finding(Problem::StaleRead, inside(), inside())));
        assert!(!is_in_library(&finding(Problem::StaleRead, inside(), outside())));
        assert!(!is_in_library(&finding(Problem::DataRace, inside(), inside())));
    }

    #[test]
    fn a_race_is_the_same_whoever_comes_first() {
        let of = |problem, first, second| key(&finding(problem, access("f", first), access("g", second)));
        assert_eq!(of(Problem::DataRace, 1, 2), of(Problem::DataRace, 2, 1));
        assert_ne!(of(Problem::StaleRead, 1, 2), of(Problem::StaleRead, 2, 1));
        assert_ne!(of(Problem::StaleRead, 1, 2), of(Problem::StaleUpdate, 1, 2));
    }

    #[test]
    fn the_two_reads_of_a_cycle_are_one_finding() {
        // Lines 1 and 2 of one thread write x and read y, lines 3 and 4 of the other write y and read x.
        let stale = |read: u32, missed: u32, kind: PathStepKind, before: u32, after: u32, run: usize| {
            let location = WatchedLocation { address: "0x8".to_owned(), name: None, memory: MemoryArea::Unknown };
            let (before, after) = (access("f", before), access("g", after));
            Finding {
                path: vec![Step { kind, location, before, after, lacks_release: true, lacks_acquire: true }],
                runs: vec![run],
                ..finding(Problem::StaleRead, access("f", read), access("g", missed))
            }
        };
        let overwrites = PathStepKind::OverwritesRead;
        let merged = |mut findings: Vec<Finding>| {
            merge_mirrored(&mut findings);
            findings.into_iter().map(|finding| (key(&finding).1, finding.count, finding.runs)).collect::<Vec<_>>()
        };
        let left = stale(4, 1, overwrites, 2, 3, 7);
        let right = stale(2, 3, overwrites, 4, 1, 5);
        let (first, second) = (key(&left).1, key(&right).1);
        assert_eq!(merged(vec![left.clone(), right.clone()]), [(first.clone(), 2, vec![5, 7])]);
        assert_eq!(merged(vec![right.clone(), left.clone()]), [(second, 2, vec![5, 7])]);
        // Another cycle, or another reason.
        assert_eq!(merged(vec![left.clone(), stale(2, 3, overwrites, 4, 9, 5)]).len(), 2);
        assert_eq!(merged(vec![left.clone(), stale(2, 3, PathStepKind::ReadsFrom, 4, 1, 5)]).len(), 2);
        assert_eq!(merged(vec![left, Finding { spinning: true, ..right }]).len(), 2, "only one of them is harmless");
    }

    #[test]
    fn orders_do_not_repair_a_race_that_also_came_about_without_reads() {
        let chained = || {
            let location = WatchedLocation { address: "0x8".to_owned(), name: None, memory: MemoryArea::Unknown };
            let (before, after) = (access("f", 2), access("g", 3));
            let (kind, lacks_release, lacks_acquire) = (PathStepKind::ReadsFrom, true, true);
            Finding {
                path: vec![Step { kind, location, before, after, lacks_release, lacks_acquire }],
                suggestion: Suggestion::ReleaseAcquire(Vec::new()),
                ..finding(Problem::DataRace, access("g", 4), access("f", 1))
            }
        };
        let alone = || Finding {
            suggestion: Suggestion::Synchronise,
            ..finding(Problem::DataRace, access("g", 4), access("f", 1))
        };
        let merged = |mut first: Finding, second: Finding| {
            keep_what_orders_both(&mut first, &second);
            first.suggestion
        };
        assert_eq!(merged(chained(), alone()), Suggestion::Synchronise);
        assert_eq!(merged(alone(), chained()), Suggestion::Synchronise);
        assert_eq!(merged(chained(), chained()), Suggestion::ReleaseAcquire(Vec::new()));
        let mut forgotten = alone();
        forgotten.other.stack.clear();
        assert_eq!(merged(chained(), forgotten), Suggestion::ReleaseAcquire(Vec::new()), "nothing is known of it");
    }

    #[test]
    fn locations_of_the_same_block_are_known_by_it() {
        let found = |address| ravelin_findings::AccessRecord {
            thread: 1,
            kind: ravelin_findings::AccessKind::Store,
            order: ravelin_findings::RecordedOrder::Relaxed,
            size: 4,
            stack: vec![address],
        };
        let step = |address| ravelin_findings::OrderStep {
            kind: OrderStepKind::ReadsFrom,
            address,
            before: found(1),
            after: found(2),
            lacks_release: true,
            lacks_acquire: true,
        };
        let finding = ravelin_findings::FindingRecord {
            count: 1,
            spinning: Spinning::No,
            problem: ravelin_findings::Problem::StaleRead,
            address: 0x108,
            access: found(3),
            other: found(4),
            forgotten: 0,
            place: MemoryKind::Heap { start: 0x100, size: 16, thread: 0, stack: Vec::new() },
            path: vec![step(0x104), step(0x110)],
            point: 0,
        };
        let processes = vec![Findings { findings: vec![finding], ..Findings::default() }];
        let gathered = Gathered {
            program: String::new(),
            arguments: Vec::new(),
            executable: None,
            processes,
            unrecorded: 0,
            run_of: Vec::new(),
            runs: Vec::new(),
            directory: None,
        };
        let report = gather(gathered, &Wanted::default());
        let words: Vec<String> = report.findings[0].path.iter().map(|step| step.location.words()).collect();
        assert_eq!(words, ["byte 4 of a heap block of 16 bytes", "0x110"]);
    }
}
