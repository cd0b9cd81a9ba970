//! A report as an answer: plain data, in which runs are counted, suggestions are sentences, and nothing is left to find
//! out.

use super::stuck::{Blocked, Stuck};
use super::suggestion::{Segment, Strengthen, Suggestion};
use super::{Finding, Report, Run, Step, WeakEnd, WeakReport};
use crate::repair::{Fix, fixes_of};
use crate::runs::DEFAULT_VALUES;
use ravelin_answer::Verdict;
use ravelin_answer::sanitizer::{self as answer, CommandLine, FirstRun, ProgramRun, SanitizerReport, SuggestionKind};
use ravelin_program::Model;
use ravelin_schedule::{Schedule, Strategy};

impl Report {
    /// What the runs show.
    pub fn verdict(&self) -> Verdict {
        match (self.is_clean(), self.is_complete()) {
            (false, _) => Verdict::Violated,
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Unknown,
        }
    }

    /// The answer. The command is unknown if only findings files were read.
    pub fn answer(&self, command: Option<CommandLine>) -> SanitizerReport {
        // How the program ended by itself: the first run that failed, or else the first run.
        let ended = self.runs.iter().find(|run| run.exit_code != 0).or(self.runs.first());
        SanitizerReport {
            program: self.program.clone(),
            verdict: self.verdict(),
            exit_code: ended.map(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal),
            model: self.tso.then_some(Model::Tso),
            command,
            again: self.again(),
            verification: None,
            runs: self.runs.iter().map(watched_run).collect(),
            weak: self.weak.as_ref().map(|weak| self.weak_runs(weak)),
            fresh_processes: self.fresh_processes.map(|reason| reason.to_string()),
            findings: self.findings.iter().map(|found| self.finding(found)).collect(),
            stuck: self.stuck.iter().map(|found| self.standstill(found)).collect(),
            crashes: self.crashes.iter().map(|(crash, runs)| self.crash(crash, runs)).collect(),
            hidden: self.hidden,
            unused_suppressions: self.unused_suppressions.clone(),
            unrecorded: self.unrecorded,
            notes: self.notes.clone(),
            processes: self.processes.clone(),
        }
    }

    /// The command that repeats the first run with a finding.
    fn again(&self) -> Option<String> {
        let runs = self.findings.iter().map(|finding| &finding.runs).chain(self.stuck.iter().map(|found| &found.runs));
        let ended = self.weak.iter().flat_map(|weak| &weak.ends).map(|end| &end.shown).next();
        let first = ended.or_else(|| runs.filter_map(|runs| runs.first()).min())?;
        let schedule = self.runs.get(*first)?.schedule?;
        let words = std::iter::once(&self.program).chain(&self.arguments).map(|word| quoted(word));
        let model = if self.tso { " --model tso" } else { "" };
        Some(format!("ravelin run{model} {} {}", options(&schedule), words.collect::<Vec<_>>().join(" ")))
    }

    fn first_run(&self, runs: &[usize], point: u64) -> Option<FirstRun> {
        let &run = runs.first()?;
        Some(FirstRun { run, schedule: self.runs.get(run)?.schedule_text(), point })
    }

    fn finding(&self, found: &Finding) -> answer::Finding {
        answer::Finding {
            problem: found.problem,
            sentence: found.sentence(),
            count: found.count,
            runs: found.runs.len(),
            first_run: self.first_run(&found.runs, found.point),
            fixes: fixes_of(found).iter().map(Fix::to_string).collect(),
            spinning: found.spinning,
            access: found.access.clone(),
            other: found.other.clone(),
            forgotten: Some(found.forgotten).filter(|accesses| *accesses > 0),
            location: found.location.clone(),
            path: found.path.iter().map(path_step).collect(),
            suggestion: suggestion(found),
            machines: found.machines,
            consequence: found.consequence.clone(),
        }
    }

    fn crash(&self, found: &answer::Crash, runs: &[usize]) -> answer::Crash {
        answer::Crash { runs: runs.len(), first_run: self.first_run(runs, 0), ..found.clone() }
    }

    fn weak_runs(&self, weak: &WeakReport) -> answer::WeakRuns {
        let failure = |end: &WeakEnd| answer::WeakFailure {
            how: end.how.clone(),
            standstill: end.standstill,
            runs: end.runs,
            first_run: self.first_run(&[end.shown], 0),
            stale: end.stale.clone(),
        };
        let WeakReport { stale, stale_runs, ends } = weak;
        answer::WeakRuns { stale: *stale, stale_runs: *stale_runs, failures: ends.iter().map(failure).collect() }
    }

    fn standstill(&self, found: &Stuck) -> answer::Standstill {
        answer::Standstill {
            problem: found.kind,
            sentence: Some(found.words()),
            seconds: found.seconds,
            runs: found.runs.len(),
            first_run: self.first_run(&found.runs, found.point),
            threads: found.threads.iter().map(blocked_thread).collect(),
        }
    }
}

impl Finding {
    fn sentence(&self) -> String {
        self.problem.sentence(&self.access, &self.other, &self.location)
    }

    /// The problem in a sentence, with its places.
    pub(crate) fn sentence_with_places(&self) -> String {
        let at = |place: Option<String>| place.unwrap_or_else(|| "an unknown place".to_owned());
        format!("{} ({} and {})", self.sentence(), at(self.access.place()), at(self.other.place()))
    }
}

fn watched_run(run: &Run) -> ProgramRun {
    let Run { exit_code, signal, points, trail, replayable, .. } = *run;
    ProgramRun { schedule: run.schedule_text(), exit_code, signal, points, trail, replayable }
}

fn blocked_thread(blocked: &Blocked) -> answer::BlockedThread {
    answer::BlockedThread {
        thread: blocked.thread.clone(),
        sentence: blocked.words(),
        object: blocked.object.clone(),
        other: blocked.other.clone(),
        stack: blocked.stack.clone(),
    }
}

fn path_step(step: &Step) -> answer::PathStep {
    let Step { kind, location, before, after, .. } = step.clone();
    answer::PathStep { kind, location, before, after }
}

fn suggestion(finding: &Finding) -> answer::Suggestion {
    let strengthening = |Strengthen { what, place, order }: &Strengthen| answer::Strengthening {
        access: (*what).to_owned(),
        place: place.clone(),
        order: *order,
    };
    let segment = |Segment { thread, from, to }: &Segment| answer::Segment {
        thread: thread.clone(),
        from: from.clone(),
        to: to.clone(),
    };
    let (kind, accesses, fences) = match &finding.suggestion {
        Suggestion::Synchronise => (SuggestionKind::Synchronise, None, None),
        Suggestion::MakeAtomic { .. } => (SuggestionKind::MakeAtomic, None, None),
        Suggestion::FreeLater => (SuggestionKind::FreeLater, None, None),
        Suggestion::UseCorrectly(_) => (SuggestionKind::UseCorrectly, None, None),
        Suggestion::ReleaseAcquire(stronger) => {
            (SuggestionKind::ReleaseAcquire, Some(stronger.iter().map(strengthening).collect()), None)
        }
        Suggestion::Fences(segments) | Suggestion::Drain(segments) => {
            (SuggestionKind::SeqCstFences, None, Some(segments.iter().map(segment).collect()))
        }
        Suggestion::Unknown => (SuggestionKind::Unknown, None, None),
    };
    answer::Suggestion { kind, text: finding.advice(), accesses, fences }
}

/// A word as typed in a shell.
fn quoted(word: &str) -> String {
    let harmless = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:+%@".contains(letter);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The options of `ravelin run` for a schedule.
fn options(schedule: &Schedule) -> String {
    match schedule.strategy {
        Strategy::Random => format!("--schedule random --seed {}", schedule.seed),
        Strategy::Pct { depth, length } => {
            format!("--schedule pct --depth {depth} --length {length} --seed {}", schedule.seed)
        }
        Strategy::Weak { values: DEFAULT_VALUES } => format!("--schedule weak --seed {}", schedule.seed),
        Strategy::Weak { values } => format!("--schedule weak --values {values} --seed {}", schedule.seed),
        Strategy::Steered => String::new(),
    }
}
