//! What the sanitizer found, as text.

use super::{Style, counted, grouped};
use crate::Verdict;
use crate::sanitizer::{
    Crash, Failure, Finding, FirstRun, FixTrial, Frame, MemoryArea, Problem, SanitizerReport, StaleAccess, Standstill,
    Verification, WatchedAccess, WatchedLocation, WatchedProcess, WatchedThread, WeakFailure, signal_words,
};
use ravelin_program::Model;
use std::fmt::Write;

/// Stacks are cut after this many frames: deeper ones are the same for all findings of a program.
const DEEPEST: usize = 12;

/// The whole report.
pub(super) fn report(report: &SanitizerReport, style: Style) -> String {
    let mut text = String::new();
    for (index, found) in report.findings.iter().enumerate() {
        finding(&mut text, index + 1, found, report, style);
        text.push('\n');
    }
    for (index, found) in report.stuck.iter().enumerate() {
        standstill(&mut text, report.findings.len() + index + 1, found, report, style);
        text.push('\n');
    }
    for failure in report.weak_standstills() {
        weak_failure(&mut text, None, failure, report, style);
        text.push('\n');
    }
    for (index, failure) in report.weak_failures().enumerate() {
        let number = report.findings.len() + report.stuck.len() + index + 1;
        weak_failure(&mut text, Some(number), failure, report, style);
        text.push('\n');
    }
    for found in &report.crashes {
        crash(&mut text, found, report, style);
        text.push('\n');
    }
    match &report.verification {
        Some(verification) => verified(&mut text, report, verification, style),
        None => summary(&mut text, report, style),
    }
    text
}

/// Weak runs that ended badly, and the old values in one of them.
fn weak_failure(
    text: &mut String,
    number: Option<usize>,
    failure: &WeakFailure,
    report: &SanitizerReport,
    style: Style,
) {
    let often = match (&failure.first_run, report.runs.len()) {
        (Some(FirstRun { schedule: Some(schedule), .. }), 0 | 1) => format!(", with {schedule}"),
        (Some(FirstRun { schedule: Some(schedule), .. }), all) => {
            format!(", in {} of {} runs, here with {schedule}", grouped(failure.runs as u64), grouped(all as u64))
        }
        _ => String::new(),
    };
    let number = number.map(|number| format!("{number}. ")).unwrap_or_default();
    let _ = writeln!(text, "{number}{}{often}", style.paint("1;31", &failure.how));
    let _ = writeln!(text, "   {}", failure.explanation());
    for stale in &failure.stale {
        let StaleAccess { access, location, .. } = stale;
        let (what, size) = (style.paint("1", &access.words()), counted(access.size, "byte"));
        let (of, thread) = (location.words(), access.thread.words());
        let words = StaleAccess::words(access, &stale.value, &stale.newest);
        let _ = writeln!(text, "   {what} of {of}, {size}, in {thread} {words}{}", stale.times());
        stack(text, &access.stack);
        source(text, access);
        if let Some(newer) = &stale.newer {
            let at = newer.place().map(|place| format!(" at {place}")).unwrap_or_default();
            let _ = writeln!(text, "     the newest was that of the {} in {}{at}", newer.words(), newer.thread.words());
        }
    }
}

/// What is known about all schedules.
fn verified(text: &mut String, report: &SanitizerReport, verification: &Verification, style: Style) {
    let Verification { runs, redundant, threads, events, .. } = verification;
    let size = format!("{} of {}", counted(*runs, "run"), counted(*threads, "thread"));
    match report.verdict {
        Verdict::Violated => {
            let found = report.findings.len() + report.stuck.len() + report.crashes.len() + verification.failures.len();
            let found = found + report.hidden.rejoining;
            let found = style.paint("1;31", &format!("violated, {}", counted(found as u64, "finding")));
            let _ = writeln!(text, "{}: {found} after {size}", report.program);
        }
        Verdict::Holds => {
            let _ = writeln!(text, "{}: {}", report.program, style.paint("1;32", "verified"));
            let _ = writeln!(
                text,
                "  every schedule of this test was run ({size}, at most {} each)",
                counted(*events, "step")
            );
            text.push_str(match verification.ignores_races {
                false => "  no run fails or crashes, and there is no data race and no deadlock\n",
                true => "  no run fails or crashes, and there is no deadlock; data races were not looked for\n",
            });
            if verification.checks_robustness {
                text.push_str(match verification.model {
                    Some(Model::Tso) => "  it behaves on x86 (TSO) as under sequential consistency\n",
                    _ => "  it behaves under RC20 (C11 without load buffering) as under sequential consistency\n",
                });
            }
        }
        Verdict::Unknown => {
            let _ = writeln!(text, "{}: {} after {size}", report.program, style.paint("1;33", "unknown"));
            if let Some(estimated) = verification.estimated_runs {
                let percent = (runs * 100).checked_div(estimated).unwrap_or(0).min(99);
                let _ = writeln!(
                    text,
                    "  about {} needed by estimate, so {percent} % are explored",
                    counted(estimated, "run")
                );
            }
        }
    }
    for Failure { exit_code, schedule } in &verification.failures {
        let _ = writeln!(text, "  a run ended with {exit_code}, with {schedule}");
    }
    for limit in &verification.limits {
        let _ = writeln!(text, "  {limit}");
    }
    if *redundant > 0 {
        let _ = writeln!(text, "  {} showed nothing new", counted(*redundant, "run"));
    }
    remarks(text, report);
}

/// A run in which no thread could continue.
fn standstill(text: &mut String, number: usize, found: &Standstill, report: &SanitizerReport, style: Style) {
    let often = in_runs(report, found.runs, found.first_run.as_ref());
    let _ = writeln!(text, "{number}. {}{often}", style.paint("1;31", found.words()));
    for blocked in &found.threads {
        let _ = writeln!(text, "   {} {}", style.paint("1", &blocked.thread.words()), blocked.sentence);
        stack(text, from_program(&blocked.stack));
    }
}

/// In how many runs something was found, and with which schedule first; nothing for a single run without a schedule.
fn in_runs(report: &SanitizerReport, runs: usize, first: Option<&FirstRun>) -> String {
    let schedule = first.and_then(|first| first.schedule.as_ref());
    let many = report.runs.len() > 1;
    let of = format!(", in {} of {} runs", grouped(runs as u64), grouped(report.runs.len() as u64));
    match schedule {
        Some(schedule) if many => format!("{of}, first with {schedule}"),
        Some(schedule) => format!(", with {schedule}"),
        None if many => of,
        None => String::new(),
    }
}

fn finding(text: &mut String, number: usize, found: &Finding, report: &SanitizerReport, style: Style) {
    let heading = style.paint("1;31", found.problem.words());
    let times = if found.count == 1 { "once".to_owned() } else { format!("{} times", grouped(found.count)) };
    let often = in_runs(report, found.runs, found.first_run.as_ref());
    let _ = writeln!(text, "{number}. {heading}, seen {times}{often}");
    let location = Some(&found.location).filter(|_| has_location(found.problem));
    access(text, "", &found.access, location, style);
    if found.problem == Problem::LockOrderInversion {
        circle(text, found, style);
    } else if found.other.kind.is_of_memory() || !found.other.stack.is_empty() {
        access(text, found.problem.joint(), &found.other, None, style);
    }
    if let Some(accesses) = found.forgotten {
        let _ =
            writeln!(text, "     at least {} accesses of that thread ago; --history remembers more", grouped(accesses));
    }
    if let MemoryArea::Heap { thread, size, allocated, .. } = &found.location.memory {
        let _ = writeln!(text, "   the heap block of {} was allocated by {}", counted(*size, "byte"), thread.words());
        stack(text, from_program(allocated));
    }
    if let MemoryArea::Descriptor { number, thread, opened } = &found.location.memory
        && !opened.is_empty()
    {
        let _ = writeln!(text, "   file descriptor {number} was opened by {}", thread.words());
        stack(text, from_program(opened));
    }
    if !found.path.is_empty() && found.problem != Problem::LockOrderInversion {
        text.push_str(match found.problem {
            Problem::DataRace => "   in this run the one came after the other, last step first:\n",
            _ => "   under sequential consistency the one comes after the other, last step first:\n",
        });
        for step in &found.path {
            let _ = writeln!(text, "     {}", step.sentence());
        }
    }
    if found.spinning {
        text.push_str("   so far it only let a waiting loop go round once more\n");
    }
    threads(text, found);
    if let Some(machines) = found.machines {
        let _ = writeln!(text, "   {}", machines.sentence());
    }
    if let Some(consequence) = &found.consequence {
        let paint = if consequence.outcome.is_failure() { "1;31" } else { "1" };
        let _ = writeln!(text, "   {}: {}", style.paint(paint, "consequence"), consequence.sentence);
        if let Some(worst) = consequence.values.first() {
            let _ = writeln!(text, "     with {}", worst.schedule);
        }
    }
    let _ = writeln!(text, "   {}: {}", style.paint("1;32", "suggestion"), found.suggestion.text);
}

/// Whether the two places of such a finding are about a location.
fn has_location(problem: Problem) -> bool {
    !matches!(problem, Problem::ThreadLeak | Problem::ErrnoChange)
}

/// Locks in different orders: what each thread held when it locked the next one. The first lock is printed already.
fn circle(text: &mut String, found: &Finding, style: Style) {
    for (index, step) in found.path.iter().enumerate() {
        if index > 0 {
            // What this thread locked is what the thread before it held.
            let location = &found.path[index - 1].location;
            access(text, "but ", &step.after, Some(location), style);
        }
        let _ = writeln!(text, "   while it held {}, since the lock", style.paint("1", &step.location.words()));
        stack(text, &step.before.stack);
        source(text, &step.before);
    }
}

fn access(text: &mut String, before: &str, access: &WatchedAccess, location: Option<&WatchedLocation>, style: Style) {
    let of = location.map(|location| format!(" of {}", location.words())).unwrap_or_default();
    let size = if access.kind.is_of_memory() { format!(", {},", counted(access.size, "byte")) } else { String::new() };
    let _ = writeln!(text, "   {before}{}{of}{size} in {}", style.paint("1", &access.words()), access.thread.words());
    stack(text, &access.stack);
    source(text, access);
}

/// The line of an access.
fn source(text: &mut String, access: &WatchedAccess) {
    if let (Some(line), Some(source)) = (access.stack.first().and_then(|frame| frame.line), &access.source) {
        let _ = writeln!(text, "     {:>5} | {}", line, source.trim_start());
    }
    if let Some(caller) = &access.caller
        && let Some(Frame { file: Some(file), line: Some(line), .. }) = access.stack.get(caller.frame)
    {
        let _ = writeln!(text, "     called from {file}:\n     {line:>5} | {}", caller.source.trim_start());
    }
}

/// A stack without the libraries that start threads and call `main`: they are the same in every stack.
fn stack(text: &mut String, stack: &[Frame]) {
    let own = stack.iter().rposition(|frame| !frame.system).map_or(stack.len(), |last| last + 1);
    let stack = &stack[..own];
    for frame in stack.iter().take(DEEPEST) {
        let function = frame.function.as_deref().unwrap_or("?");
        let inlined = if frame.inlined { " (inlined)" } else { "" };
        let position = frame.position().unwrap_or_else(|| format!("at {}", frame.code));
        let _ = writeln!(text, "     in {function}{inlined} {position}");
    }
    if stack.len() > DEEPEST {
        let _ = writeln!(text, "     and {} more", counted((stack.len() - DEEPEST) as u64, "frame"));
    }
    if stack.is_empty() {
        text.push_str("     (where is no longer known)\n");
    }
}

/// A call of the standard library, from where the program made it: `std::thread` and `std::make_shared` have many
/// frames.
fn from_program(stack: &[Frame]) -> &[Frame] {
    let first = stack.iter().position(|frame| !frame.system).unwrap_or(0);
    &stack[first..]
}

/// Where the threads of the two accesses were started.
fn threads(text: &mut String, finding: &Finding) {
    let mut printed: Vec<&WatchedThread> = Vec::new();
    for thread in [&finding.access.thread, &finding.other.thread] {
        let parent = thread.parent.filter(|_| !thread.started.is_empty());
        if let Some(parent) = parent
            && !printed.contains(&thread)
        {
            let parent = WatchedThread { number: parent, ..WatchedThread::default() };
            let _ = writeln!(text, "   {} was started by {}", thread.words(), parent.words());
            stack(text, from_program(&thread.started));
            printed.push(thread);
        }
    }
}

fn summary(text: &mut String, report: &SanitizerReport, style: Style) {
    let found = match report.found() + report.hidden.rejoining {
        0 if !report.is_recorded() => style.paint("1;33", "what was found could not be recorded"),
        0 if report.verdict == Verdict::Unknown => style.paint("1;33", "not everything was watched"),
        0 => style.paint("1;32", "nothing found"),
        some => style.paint("1;31", &counted(some as u64, "finding")),
    };
    let _ = writeln!(text, "{}: {found}{}", report.program, watched(report));
    if let Some(again) = &report.again {
        let _ = writeln!(text, "  again: {again}");
    }
    match &report.weak {
        Some(weak) => {
            let times = if weak.stale == 1 { "once".to_owned() } else { format!("{} times", grouped(weak.stale)) };
            let runs = counted(weak.stale_runs as u64, "run");
            let _ = writeln!(text, "  accesses took old values {times}, in {runs}");
        }
        None => ends(text, report),
    }
    remarks(text, report);
}

/// What is not shown, and what limits the answer.
fn remarks(text: &mut String, report: &SanitizerReport) {
    let hidden = [
        (report.hidden.library, "in the standard library (--show-library)"),
        (report.hidden.spinning, "where a waiting loop only goes round once more (--spinning)"),
        (report.hidden.suppressed, "suppressed"),
        (report.hidden.rejoining, "whose stale values changed nothing in the runs that were tried (--all)"),
    ];
    for (number, why) in hidden.into_iter().filter(|(number, _)| *number > 0) {
        let _ = writeln!(text, "  not shown: {} {why}", grouped(number as u64));
    }
    for unused in &report.unused_suppressions {
        let _ = writeln!(text, "  note: this suppression was not needed: {unused}");
    }
    for note in report.notes.iter().cloned().chain(report.unrecorded_note()) {
        let _ = writeln!(text, "  note: {note}");
    }
    for (note, processes) in report.process_notes() {
        let _ = match processes[..] {
            [process] => writeln!(text, "  note: process {process}: {note}"),
            _ => writeln!(text, "  note: {note} (in {} processes)", grouped(processes.len() as u64)),
        };
    }
}

/// A run that a signal ended, and where.
fn crash(text: &mut String, found: &Crash, report: &SanitizerReport, style: Style) {
    let often = in_runs(report, found.runs, found.first_run.as_ref());
    let heading = format!("crash by {}", signal_words(found.signal));
    let address = found.address.as_ref().map(|address| format!(" at address {address}")).unwrap_or_default();
    let _ = writeln!(text, "{}{address} in {}{often}", style.paint("1;31", &heading), found.thread.words());
    stack(text, from_program(&found.stack));
    let line = from_program(&found.stack).first().and_then(|frame| frame.line);
    if let (Some(line), Some(source)) = (line, &found.source) {
        let _ = writeln!(text, "     {:>5} | {}", line, source.trim_start());
    }
}

/// ` (20 runs, 3 threads, 100 atomic accesses)`.
fn watched(report: &SanitizerReport) -> String {
    let mut watched = Vec::new();
    if report.runs.len() > 1 {
        watched.push(format!("{} runs", grouped(report.runs.len() as u64)));
    } else if report.processes.len() != 1 && (report.unrecorded == 0 || !report.processes.is_empty()) {
        watched.push(match report.processes.len() {
            0 => "nothing was watched".to_owned(),
            several => format!("{} processes", grouped(several as u64)),
        });
    }
    let total = |of: fn(&WatchedProcess) -> u64| report.processes.iter().map(of).fold(0, u64::saturating_add);
    let (threads, accesses) = (total(|process| process.threads), total(|process| process.accesses));
    watched.extend((threads > 0).then(|| counted(threads, "thread")));
    watched.extend(match accesses {
        0 => None,
        1 => Some("1 atomic access".to_owned()),
        _ => Some(format!("{} atomic accesses", grouped(accesses))),
    });
    if watched.is_empty() { String::new() } else { format!(" ({})", watched.join(", ")) }
}

/// Runs that ended badly.
fn ends(text: &mut String, report: &SanitizerReport) {
    let mut ended: Vec<(String, usize, Option<&String>)> = Vec::new();
    if let [run] = &*report.runs
        && let Some(signal) = run.signal
        && report.crashes.is_empty()
    {
        let _ = writeln!(text, "  killed by {}", signal_words(signal));
    }
    for run in report.runs.iter().filter(|_| report.runs.len() > 1) {
        let how = match (run.signal, run.exit_code) {
            (Some(signal), _) => format!("killed by {}", signal_words(signal)),
            (None, 0) => continue,
            // The runtime ends a program that it stops in this way.
            (None, 1) if !report.is_clean() => continue,
            (None, code) => format!("ended with {code}"),
        };
        match ended.iter_mut().find(|(known, ..)| *known == how) {
            Some((_, times, _)) => *times += 1,
            None => ended.push((how, 1, run.schedule.as_ref())),
        }
    }
    for (how, times, schedule) in ended {
        let first = schedule.map(|schedule| format!(", first with {schedule}")).unwrap_or_default();
        let _ = writeln!(text, "  {} {how}{first}", counted(times as u64, "run"));
    }
}

impl SanitizerReport {
    /// The message about processes of which nothing is known.
    pub fn unrecorded_note(&self) -> Option<String> {
        match self.unrecorded {
            0 => None,
            1 => Some("one process could not record what it found, or ended before it began".to_owned()),
            several => Some(format!("{} processes could not record what they found", grouped(several))),
        }
    }
}

/// Suggestions that were tried.
pub(super) fn trial(trial: &FixTrial) -> String {
    let FixTrial { fixes, gone, remaining, new, .. } = trial;
    let mut text = match &trial.verification {
        Some(_) => format!("{}: every schedule, with\n", trial.program),
        None => format!("{}: {} with\n", trial.program, counted(trial.runs, "run")),
    };
    for fix in fixes {
        let _ = writeln!(text, "  {fix}");
    }
    if fixes.is_empty() {
        text.push_str("  nothing changed\n");
    }
    for (what, findings) in [("gone", gone), ("remains", remaining), ("only with the change", new)] {
        for finding in findings {
            let _ = writeln!(text, "{what}: {finding}");
        }
    }
    let left = remaining.len() + new.len();
    if let Some(verification) = &trial.verification {
        proved(&mut text, trial, verification);
    }
    let _ = match left {
        0 if trial.verification.is_some() => Ok(()),
        0 if trial.verdict == Verdict::Unknown => {
            writeln!(text, "whether anything remains is unknown: not everything was watched and recorded")
        }
        0 if gone.is_empty() => writeln!(text, "nothing was found, with or without"),
        0 => writeln!(text, "nothing remains"),
        _ => writeln!(text, "{} remain{}", counted(left as u64, "finding"), if left == 1 { "s" } else { "" }),
    };
    if trial.all && !fixes.is_empty() {
        let accesses = |number: usize, what: &str| match number {
            1 => format!("1 {what}access"),
            _ => format!("{} {what}accesses", grouped(number as u64)),
        };
        // How many more changes would make all accesses seq_cst.
        let more = match trial.weaker_than_seq_cst.checked_sub(fixes.len()) {
            Some(more) if more > 0 => format!(", which would be {} % more", more * 100 / fixes.len()),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "{} and {} instead of making {} seq_cst{more}",
            counted(trial.fences as u64, "fence"),
            accesses(trial.strengthened, "stronger "),
            accesses(trial.weaker_than_seq_cst, ""),
        );
    }
    for fix in &trial.by_hand {
        let _ = writeln!(text, "to be changed by hand: {fix}");
    }
    if let Some(diff) = &trial.diff {
        text.push_str(diff);
    }
    text
}

/// What is known about all schedules of a program with fixes.
fn proved(text: &mut String, trial: &FixTrial, verification: &Verification) {
    let size = format!("{} of {}", counted(verification.runs, "run"), counted(verification.threads, "thread"));
    let tried = counted(trial.runs, "run");
    let _ = match (trial.verdict, trial.remaining.is_empty()) {
        (Verdict::Holds, _) if trial.fixes.is_empty() => writeln!(text, "verified without a change ({size})"),
        (Verdict::Holds, _) => writeln!(text, "verified, and no cheaper changes are enough ({size}; {tried} in all)"),
        (Verdict::Violated, false) => writeln!(text, "no order or fence removes what remains ({size}; {tried} in all)"),
        _ => writeln!(text, "unknown ({size}; {tried} in all)"),
    };
    for limit in &verification.limits {
        let _ = writeln!(text, "  {limit}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitizer::sample;

    #[test]
    fn a_report_tells_both_accesses_the_path_and_what_to_do() {
        let shown = report(&sample::report(), Style::default());
        let expected = "\
1. may read a stale value, seen 1,200 times
   relaxed load of `data+4`, 4 bytes, in thread 2 \"reader\"
     in consume (inlined) at mp.c:14:9
     in reader at mp.c:20
        14 | return atomic_load_explicit(&data[1], memory_order_relaxed);
   may miss the relaxed store, 4 bytes, in thread 1
     in writer at mp.c:7
   under sequential consistency the one comes after the other, last step first:
     the relaxed load of `flag` at mp.c:13 in thread 2 \"reader\" read what the relaxed store at mp.c:8 in thread 1 wrote
   thread 2 \"reader\" was started by the main thread
     in main at mp.c:30
   suggestion: make the store at mp.c:8 release and the load at mp.c:13 acquire

2. data race, seen once
   non-atomic write of byte 8 of a heap block of 16 bytes, 8 bytes, in the main thread
     in ? at libqueue.so+0x1234
   is not ordered with the seq_cst read-modify-write, 8 bytes, in thread 1
     (where is no longer known)
   the heap block of 16 bytes was allocated by the main thread
     in main at mp.c:28
   suggestion: the access at libqueue.so+0x1234 is not atomic although the other one is: make it atomic, or order the two by a lock or by release and acquire

./mp: 2 findings (3 threads, 100 atomic accesses)
  not shown: 3 in the standard library (--show-library)
  not shown: 1 where a waiting loop only goes round once more (--spinning)
  note: this suppression was not needed: list:3: race:x
  note: process 42: the program forked; the child was not watched
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn colours_only_add_escapes() {
        let painted = report(&sample::report(), Style { color: true, width: None });
        assert!(painted.contains("\x1b[1;31mdata race\x1b[0m"));
        let mut plain = painted;
        for code in ["\x1b[1;31m", "\x1b[1;32m", "\x1b[1m", "\x1b[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, report(&sample::report(), Style::default()));
    }
}
