//! Findings as text for users.

use super::step_sentence;
use ravelin_answer::text::Style;
use ravelin_answer::text::{counted, grouped};
use ravelin_sanitizer::Frame;
use ravelin_sanitizer::report::{Access, Finding, Location, Memory, Problem, Report, Stuck, Thread, problem_name};
use ravelin_sanitizer::{Schedule, Strategy};
use std::fmt::Write;

/// Stacks are cut after this many frames: deeper ones are the same for all findings of a program.
const DEEPEST: usize = 12;

/// The whole report.
pub fn report(report: &Report, style: Style) -> String {
    let mut text = String::new();
    for (index, finding) in report.findings.iter().enumerate() {
        one(&mut text, index + 1, finding, report, style);
        text.push('\n');
    }
    for (index, found) in report.stuck.iter().enumerate() {
        stuck(&mut text, report.findings.len() + index + 1, found, report, style);
        text.push('\n');
    }
    summary(&mut text, report, style);
    text
}

/// A run in which no thread could continue.
fn stuck(text: &mut String, number: usize, found: &Stuck, report: &Report, style: Style) {
    let often = in_runs(report, &found.runs);
    let _ = writeln!(text, "{number}. {}{often}", style.paint("1;31", &found.words()));
    for blocked in &found.threads {
        let _ = writeln!(text, "   {} {}", style.paint("1", &blocked.thread.words()), blocked.words());
        stack(text, from_program(&blocked.stack));
    }
}

/// In how many runs something was found, and with which schedule first; nothing for a single run without a schedule.
fn in_runs(report: &Report, runs: &[usize]) -> String {
    let first = runs.first().and_then(|&first| report.runs.get(first));
    let schedule = first.and_then(|run| run.schedule);
    let many = report.runs.len() > 1;
    let of = format!(", in {} of {} runs", grouped(runs.len() as u64), grouped(report.runs.len() as u64));
    match schedule {
        Some(schedule) if many => format!("{of}, first with {schedule}"),
        Some(schedule) => format!(", with {schedule}"),
        None if many => of,
        None => String::new(),
    }
}

fn one(text: &mut String, number: usize, finding: &Finding, report: &Report, style: Style) {
    let heading = style.paint("1;31", problem_name(finding.problem).0);
    let times = if finding.count == 1 { "once".to_owned() } else { format!("{} times", grouped(finding.count)) };
    let _ = writeln!(text, "{number}. {heading}, seen {times}{}", in_runs(report, &finding.runs));
    let second = match finding.problem {
        Problem::Race => "is not ordered with the ",
        Problem::StaleRead | Problem::StaleUpdate => "may miss the ",
        Problem::StaleWrite => "may end up before the ",
    };
    access(text, "", &finding.access, Some(&finding.location), style);
    access(text, second, &finding.other, None, style);
    location(text, &finding.location);
    if !finding.path.is_empty() {
        text.push_str(match finding.problem {
            Problem::Race => "   in this run the one came after the other, last step first:\n",
            _ => "   under sequential consistency the one comes after the other, last step first:\n",
        });
        for step in &finding.path {
            let _ = writeln!(text, "     {}", step_sentence(step));
        }
    }
    if finding.spinning {
        text.push_str("   so far it only let a waiting loop go round once more\n");
    }
    threads(text, finding);
    let _ = writeln!(text, "   {}: {}", style.paint("1;32", "suggestion"), finding.advice());
}

fn access(text: &mut String, before: &str, access: &Access, location: Option<&Location>, style: Style) {
    let of = location.map(|location| format!(" of {}", location.words())).unwrap_or_default();
    let size = counted(access.size, "byte");
    let _ =
        writeln!(text, "   {before}{}{of}, {size}, in {}", style.paint("1", &access.words()), access.thread.words());
    stack(text, &access.stack);
    if let (Some(line), Some(source)) = (access.stack.first().and_then(|frame| frame.line), &access.source) {
        let _ = writeln!(text, "     {:>5} | {}", line, source.trim_start());
    }
}

/// A stack without the libraries that start threads and call `main`: they are the same in every stack.
fn stack(text: &mut String, stack: &[Frame]) {
    let own = stack.iter().rposition(|frame| !frame.is_system()).map_or(stack.len(), |last| last + 1);
    let stack = &stack[..own];
    for frame in stack.iter().take(DEEPEST) {
        let function = frame.function.as_deref().unwrap_or("?");
        let inlined = if frame.inlined { " (inlined)" } else { "" };
        let _ = match (&frame.file, frame.line) {
            (Some(file), Some(line)) => {
                let column = frame.column.map(|column| format!(":{column}")).unwrap_or_default();
                let at = if frame.near { "near" } else { "at" };
                writeln!(text, "     in {function}{inlined} {at} {file}:{line}{column}")
            }
            _ => writeln!(text, "     in {function}{inlined} at {}", frame.code),
        };
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
    let first = stack.iter().position(|frame| !frame.is_system()).unwrap_or(0);
    &stack[first..]
}

fn location(text: &mut String, location: &Location) {
    match &location.memory {
        Memory::Heap { thread, size, stack: frames, .. } => {
            let _ =
                writeln!(text, "   the heap block of {} was allocated by {}", counted(*size, "byte"), thread.words());
            stack(text, from_program(frames));
        }
        Memory::Other | Memory::Stack { .. } => {}
    }
}

/// Where the threads of the two accesses were started.
fn threads(text: &mut String, finding: &Finding) {
    let mut told: Vec<&Thread> = Vec::new();
    for thread in [&finding.access.thread, &finding.other.thread] {
        let started = thread.parent.filter(|_| !thread.stack.is_empty());
        if let Some(parent) = started
            && !told.contains(&thread)
        {
            let parent = Thread { number: parent, ..Thread::default() };
            let _ = writeln!(text, "   {} was started by {}", thread.words(), parent.words());
            stack(text, from_program(&thread.stack));
            told.push(thread);
        }
    }
}

fn summary(text: &mut String, report: &Report, style: Style) {
    let found = match report.findings.len() + report.stuck.len() {
        0 if !report.is_recorded() => style.paint("1;33", "what was found could not be recorded"),
        0 if !report.is_complete() => style.paint("1;33", "not everything was watched"),
        0 => style.paint("1;32", "nothing found"),
        some => style.paint("1;31", &counted(some as u64, "finding")),
    };
    let total = |of: fn(&ravelin_sanitizer::report::Process) -> u64| report.processes.iter().map(of).sum::<u64>();
    let mut watched = Vec::new();
    if report.runs.len() > 1 {
        watched.push(format!("{} runs", grouped(report.runs.len() as u64)));
    } else if report.processes.len() != 1 && (report.unrecorded == 0 || !report.processes.is_empty()) {
        watched.push(match report.processes.len() {
            0 => "nothing was watched".to_owned(),
            several => format!("{} processes", grouped(several as u64)),
        });
    }
    for (number, what) in [(total(|of| of.threads), "thread"), (total(|of| of.accesses), "atomic access")] {
        match (number, what) {
            (0, _) => {}
            (1, _) | (_, "thread") => watched.push(counted(number, what)),
            _ => watched.push(format!("{} atomic accesses", grouped(number))),
        }
    }
    let watched = if watched.is_empty() { String::new() } else { format!(" ({})", watched.join(", ")) };
    let _ = writeln!(text, "{}: {found}{watched}", report.program);
    schedules(text, report);
    let hidden = [
        (report.hidden.library, "in the standard library (--show-library)"),
        (report.hidden.spinning, "where a waiting loop only goes round once more (--spinning)"),
        (report.hidden.suppressed, "suppressed"),
    ];
    for (number, why) in hidden {
        if number > 0 {
            let _ = writeln!(text, "  not shown: {} {why}", grouped(number as u64));
        }
    }
    for unused in &report.unused_suppressions {
        let _ = writeln!(text, "  note: this suppression was not needed: {unused}");
    }
    for note in report.notes.iter().cloned().chain(unrecorded(report)) {
        let _ = writeln!(text, "  note: {note}");
    }
    let mut told: Vec<&str> = Vec::new();
    for process in &report.processes {
        for note in &process.notes {
            // The processes of many runs have mostly the same notes.
            if report.runs.len() > 1 && told.contains(&&**note) {
                continue;
            }
            told.push(note);
            let _ = writeln!(text, "  note: process {}: {note}", process.number);
        }
    }
}

/// The message about processes of which nothing is known.
pub fn unrecorded(report: &Report) -> Option<String> {
    match report.unrecorded {
        0 => None,
        1 => Some("one process could not record what it found, or ended before it began".to_owned()),
        several => Some(format!("{} processes could not record what they found", grouped(several))),
    }
}

/// The text about schedules: how to reproduce a finding, and runs that ended badly.
fn schedules(text: &mut String, report: &Report) {
    let runs = report.findings.iter().map(|finding| &finding.runs).chain(report.stuck.iter().map(|found| &found.runs));
    let first = runs.filter_map(|runs| runs.first()).min();
    if let Some(run) = first.and_then(|&first| report.runs.get(first))
        && let Some(schedule) = run.schedule
    {
        let _ = writeln!(text, "  again: ravelin run {} {}", options(&schedule), command(report));
    }
    let mut ended: Vec<(String, usize, Option<Schedule>)> = Vec::new();
    for run in report.runs.iter().filter(|_| report.runs.len() > 1) {
        let how = match (run.signal, run.exit_code) {
            (Some(signal), _) => format!("killed by signal {signal}"),
            (None, 0) => continue,
            // The runtime ends a program that it stops in this way.
            (None, 1) if !report.is_clean() => continue,
            (None, code) => format!("ended with {code}"),
        };
        match ended.iter_mut().find(|(known, ..)| *known == how) {
            Some((_, times, _)) => *times += 1,
            None => ended.push((how, 1, run.schedule)),
        }
    }
    for (how, times, schedule) in ended {
        let first = schedule.map(|schedule| format!(", first with {schedule}")).unwrap_or_default();
        let _ = writeln!(text, "  {} {how}{first}", counted(times as u64, "run"));
    }
}

/// The program and its arguments, as typed in a shell.
fn command(report: &Report) -> String {
    let plain = |word: &str| {
        let harmless = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:+%@".contains(letter);
        !word.is_empty() && word.chars().all(harmless)
    };
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) };
    std::iter::once(&report.program).chain(&report.arguments).map(quoted).collect::<Vec<_>>().join(" ")
}

/// The options of `ravelin run` for a schedule.
fn options(schedule: &Schedule) -> String {
    match schedule.strategy {
        Strategy::Random => format!("--schedule random --seed {}", schedule.seed),
        Strategy::Pct { depth, length } => {
            format!("--schedule pct --depth {depth} --length {length} --seed {}", schedule.seed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

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
