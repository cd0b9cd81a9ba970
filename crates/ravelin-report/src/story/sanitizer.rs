//! Answers of `run`, `replay` and `findings`: what the sanitizer found.

use super::Story;
use super::facts::{Facts, fact};
use ravelin_answer::Verdict;
use ravelin_answer::sanitizer::{Failure, FixTrial, SanitizerReport, Verification, WatchedProcess, signal_words};
use ravelin_answer::text::{counted, grouped};

/// What was found in one or more runs of a program.
pub(super) fn report(report: &SanitizerReport) -> Story {
    let program = &report.program;
    let runs = match report.runs.len() as u64 {
        0 | 1 => "this run".to_owned(),
        runs => format!("{} runs", grouped(runs)),
    };
    let told = report.verification.as_ref().map(|verification| verified(report, verification));
    let (word, sentence) = told.unwrap_or_else(|| match report.verdict {
        Verdict::Holds => ("nothing found".to_owned(), format!("Nothing was found in {runs} of {program}.")),
        Verdict::Unknown if report.is_recorded() => {
            ("not watched".to_owned(), format!("Not everything was watched in {runs} of {program}."))
        }
        Verdict::Unknown => {
            ("not recorded".to_owned(), format!("What was found in {runs} of {program} could not be recorded."))
        }
        Verdict::Violated => {
            let word = counted(report.found() as u64, "finding");
            let sentence = format!("{word} in {runs} of {program}.");
            (word, sentence)
        }
    });
    let mut notes = Vec::new();
    if let Some(verification) = &report.verification {
        let failure = |failure: &Failure| format!("A run ended with {}, with {}.", failure.exit_code, failure.schedule);
        notes.extend(verification.failures.iter().map(failure));
        notes.extend(verification.limits.iter().cloned());
    }
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
    notes.extend(report.process_notes().into_iter().map(|(note, _)| note.to_owned()));
    notes.extend(report.crashes.iter().map(|crash| {
        let at = crash.stack.iter().find(|frame| !frame.system).map(|frame| format!(", in {}", frame.words()));
        let (signal, thread) = (signal_words(crash.signal), crash.thread.words());
        format!("The program was killed by {signal} in {thread}{}.", at.unwrap_or_default())
    }));
    let sum =
        |of: &dyn Fn(&WatchedProcess) -> u64| grouped(report.processes.iter().map(of).fold(0, u64::saturating_add));
    let mut statistics = Facts::new();
    fact(&mut statistics, "processes", grouped(report.processes.len() as u64));
    fact(&mut statistics, "threads", sum(&|process| process.threads));
    fact(&mut statistics, "accesses checked", sum(&|process| process.accesses));
    fact(&mut statistics, "locations", sum(&|process| process.locations));
    if report.processes.iter().any(|process| process.dropped > 0) {
        fact(&mut statistics, "findings dropped", sum(&|process| process.dropped));
    }
    Story {
        verdict: report.verdict.into(),
        word,
        sentence,
        notes,
        findings: Some(report.clone()),
        statistics,
        file: program.clone(),
        ..Story::default()
    }
}

/// What is known about all schedules.
fn verified(report: &SanitizerReport, verification: &Verification) -> (String, String) {
    let program = &report.program;
    let runs = format!("{} of {}", counted(verification.runs, "run"), counted(verification.threads, "thread"));
    match report.verdict {
        Verdict::Holds => ("verified".to_owned(), format!("Every schedule of {program} was run: {runs}.")),
        Verdict::Unknown => ("unknown".to_owned(), format!("Not every schedule of {program} is known after {runs}.")),
        Verdict::Violated => {
            let found = report.findings.len() + report.stuck.len() + report.crashes.len() + verification.failures.len();
            let word = counted(found as u64, "finding");
            (word.clone(), format!("{word} after {runs} of {program}."))
        }
    }
}

/// Suggestions that were tried.
pub(super) fn trial(trial: &FixTrial) -> Story {
    let FixTrial { program, fixes, gone, remaining, new, .. } = trial;
    let number = counted(fixes.len() as u64, "suggestion");
    let sentence = format!(
        "With {number}, {} of {program} are gone and {} remain.",
        counted(gone.len() as u64, "finding"),
        remaining.len()
    );
    let notes = [("Tried out", fixes), ("Gone", gone), ("Remains", remaining), ("New", new)];
    let notes = notes.into_iter().flat_map(|(what, list)| list.iter().map(move |one| format!("{what}: {one}")));
    let by_hand = trial.by_hand.iter().map(|fix| format!("To be changed by hand: {fix}"));
    let limits = trial.verification.iter().flat_map(|verification| verification.limits.iter().cloned());
    let notes = notes.chain(by_hand).chain(limits);
    Story {
        verdict: trial.verdict.into(),
        word: number,
        sentence,
        notes: notes.collect(),
        file: program.clone(),
        ..Story::default()
    }
}
