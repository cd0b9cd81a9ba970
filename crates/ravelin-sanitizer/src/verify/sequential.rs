//! What runs under sequential consistency do, to see what a run with a stale value does that none of them does.
//!
//! Of each run only hashes are kept, so that all runs of a verification can be.

use super::problem::{ProblemKey, problems_of};
use crate::watch::{RunOutput, SteeredRun};
use ravelin_answer::sanitizer::{OutputDifference, OutputStream, StaleOutcome, signal_words};
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::steering::{MOST_EVENTS, SteeredEnd};
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What runs under sequential consistency did.
#[derive(Debug, Default)]
pub struct SequentialRuns {
    problems: HashSet<ProblemKey>,
    /// Exit codes and signals.
    ends: HashSet<(u8, Option<i32>)>,
    outputs: HashSet<u64>,
    /// The same, whatever the order of lines.
    lines: HashSet<u64>,
    /// What the threads did that others can see.
    visible: HashSet<u64>,
    /// A loop was cut that is not known to wait.
    is_unrolled: bool,
}

/// What a run with a stale value did.
#[derive(Clone, Debug)]
pub struct StaleEffect {
    pub outcome: StaleOutcome,
    pub sentence: String,
    pub difference: Option<OutputDifference>,
}

impl StaleEffect {
    fn new(outcome: StaleOutcome, sentence: impl Into<String>) -> StaleEffect {
        StaleEffect { outcome, sentence: sentence.into(), difference: None }
    }

    /// [`comes_back`].
    pub fn comes_back() -> StaleEffect {
        let sentence = "the thread comes to a state in which it is without the stale value as well";
        StaleEffect::new(StaleOutcome::Rejoins, sentence)
    }
}

impl SequentialRuns {
    /// A run under sequential consistency did this.
    pub fn note(&mut self, run: &SteeredRun) {
        let ended = run.run.end.is_none();
        self.problems.extend(problems_of(&run.watched, ended));
        self.is_unrolled |= run.run.end == Some(SteeredEnd::Unrolled);
        if ended {
            self.ends.insert((run.watched.exit_code, run.watched.signal));
            self.note_output(&run.output);
            self.visible.insert(hash(&visible(&run.run.events)));
        }
    }

    fn note_output(&mut self, output: &RunOutput) {
        self.outputs.insert(hash(output));
        self.lines.insert(hash(&sorted(output)));
    }

    /// Whether a run wrote the same.
    pub fn has_output(&self, output: &RunOutput) -> bool {
        output.is_cut || self.outputs.contains(&hash(output))
    }

    /// Whether a run wrote the same lines in some order.
    pub fn has_lines(&self, output: &RunOutput) -> bool {
        self.lines.contains(&hash(&sorted(output)))
    }

    /// What a run with a stale value did that none of these runs did. What it wrote is shown beside what another run wrote;
    /// without one it does not count.
    pub fn effect(&self, weak: &SteeredRun, usual: Option<&RunOutput>) -> StaleEffect {
        let ended = weak.run.end.is_none();
        let mut new = problems_of(&weak.watched, ended);
        new.retain(|key| !self.problems.contains(key));
        let end = (weak.watched.exit_code, weak.watched.signal);
        let is_stuck = new.iter().any(|key| matches!(key, ProblemKey::Stuck(_)));
        let crashes = new.iter().any(|key| matches!(key, ProblemKey::Crash(..)));
        // Without a problem it was killed from outside.
        let is_killed = !self.ends.contains(&end) && !is_stuck && !new.is_empty();
        match weak.watched.signal.filter(|_| crashes || is_killed) {
            Some(libc::SIGABRT) => {
                return StaleEffect::new(StaleOutcome::Abort, "the program aborts, as if an assertion failed");
            }
            Some(signal) => {
                let sentence = format!("the program crashes by {}", signal_words(signal));
                return StaleEffect::new(StaleOutcome::Crash, sentence);
            }
            None => {}
        }
        if is_stuck {
            return StaleEffect::new(StaleOutcome::Standstill, "no thread can continue");
        }
        if weak.run.end == Some(SteeredEnd::Unrolled) && !self.is_unrolled {
            return StaleEffect::new(StaleOutcome::Standstill, "a thread goes round a loop without an end (--unroll)");
        }
        if ended && !self.ends.iter().any(|(code, _)| *code == end.0) {
            let sentence = format!("the program ends with exit code {}", end.0);
            return StaleEffect::new(StaleOutcome::ExitCode, sentence);
        }
        if let Some(usual) = usual.filter(|_| ended && !self.has_output(&weak.output)) {
            let difference = difference(&weak.output, usual);
            let sentence = format!("the program {}", difference.sentence());
            return StaleEffect { difference: Some(difference), ..StaleEffect::new(StaleOutcome::Output, sentence) };
        }
        if new.iter().any(ProblemKey::is_race) {
            return StaleEffect::new(StaleOutcome::DataRace, "there is a data race");
        }
        if ended && self.visible.contains(&hash(&visible(&weak.run.events))) {
            return StaleEffect::new(StaleOutcome::Rejoins, "the threads do the same as without the stale value");
        }
        let sentence = match weak.run.end {
            None => "the program goes on in another way and ends well".to_owned(),
            Some(SteeredEnd::Full) => format!("the program goes on for more than {MOST_EVENTS} steps"),
            Some(_) => "the program goes on in another way".to_owned(),
        };
        StaleEffect::new(StaleOutcome::NotDecided, sentence)
    }
}

/// Whether the thread that makes step `step`, which is stale in one run and not in the other, comes to an access with the same
/// registers and the same stack in both, and nothing happened in between that others can see. A retry loop does so.
pub fn comes_back(weak: &[RunEvent], strong: &[RunEvent], step: usize) -> bool {
    let Some(thread) = weak.get(step).map(|event| event.thread) else { return false };
    let arrivals = |events: &[RunEvent], from: usize| {
        let mut arrivals = Vec::new();
        for event in events.iter().skip(from).take_while(|event| event.thread == thread) {
            if event.state != 0 {
                arrivals.push((event.pc, event.state, event.operation.address));
            }
            if event.operation.act.is_visible() {
                break;
            }
        }
        arrivals
    };
    let usual = arrivals(strong, step);
    arrivals(weak, step + 1).iter().any(|arrival| usual.contains(arrival))
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

fn sorted(output: &RunOutput) -> [Vec<&[u8]>; 2] {
    output.streams.each_ref().map(|stream| {
        let mut lines: Vec<&[u8]> = stream.split_inclusive(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        lines
    })
}

/// The first line that differs.
fn difference(stale: &RunOutput, usual: &RunOutput) -> OutputDifference {
    let [out, _] = [0, 1].map(|stream| stale.streams[stream] != usual.streams[stream]);
    let (stream, number) = if out { (OutputStream::StandardOutput, 0) } else { (OutputStream::StandardError, 1) };
    let lines = |output: &RunOutput| -> Vec<Vec<u8>> {
        output.streams[number].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let (stale, usual) = (lines(stale), lines(usual));
    let same = stale.iter().zip(&usual).take_while(|(one, other)| one == other).count();
    let shown = |lines: &[Vec<u8>]| lines.get(same).map(|line| beginning(line));
    OutputDifference { stream, line: same as u64 + 1, stale: shown(&stale), usual: shown(&usual) }
}

/// The beginning of a line, without characters that would spoil a report.
fn beginning(line: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    let printable = |letter: char| if letter.is_control() { '�' } else { letter };
    let mut beginning: String = text.chars().take(LONGEST).map(printable).collect();
    if text.chars().count() > LONGEST {
        beginning.push('…');
    }
    beginning
}

/// What each thread does that others can see, in order: writes with their values, and operations on objects.
fn visible(events: &[RunEvent]) -> BTreeMap<u32, Vec<(Act, u64, u64)>> {
    let mut threads: BTreeMap<u32, Vec<(Act, u64, u64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| !event.is(flags::ROUND)) {
        let act = event.operation.act;
        if act.is_visible() {
            threads.entry(event.thread).or_default().push((act, event.operation.address, event.written));
        }
    }
    threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_findings::RecordedOrder;
    use ravelin_findings::events::RunOperation;

    fn event(thread: u32, act: Act, state: u64) -> RunEvent {
        let operation = RunOperation { act, order: RecordedOrder::Relaxed, address: 8, size: 4 };
        RunEvent { thread, operation, flags: 0, read: 0, written: 0, pc: state, state }
    }

    #[test]
    fn a_thread_comes_back_if_nothing_is_seen_before() {
        let of = |states: &[(u32, Act, u64)]| -> Vec<RunEvent> {
            states.iter().map(|&(thread, act, state)| event(thread, act, state)).collect()
        };
        let usual = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (0, Act::Update, 6), (0, Act::Load, 7)]);
        let retry = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (0, Act::Load, 9), (0, Act::Load, 5)]);
        let same = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (0, Act::Update, 6)]);
        let writes = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (0, Act::Store, 0), (0, Act::Load, 5)]);
        let later = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (0, Act::Load, 7)]);
        let other = of(&[(1, Act::Store, 0), (0, Act::Load, 5), (1, Act::Load, 5)]);
        let back = [&retry, &same, &writes, &later, &other].map(|weak| comes_back(weak, &usual, 1));
        assert_eq!(back, [true, true, false, false, false]);
    }

    #[test]
    fn the_first_line_that_differs_is_shown() {
        let output = |out: &str, error: &str| RunOutput { streams: [out.into(), error.into()], is_cut: false };
        let shown = |stale: RunOutput| difference(&stale, &output("one\ntwo\n", "")).sentence();
        assert_eq!(shown(output("one\nthree\n", "")), "writes `three` instead of `two`");
        assert_eq!(shown(output("one\n", "")), "does not write the line `two`");
        assert_eq!(shown(output("one\ntwo\n", "oh\u{7}\n")), "writes one more line to standard error: `oh\u{fffd}`");
        let long = "x".repeat(100);
        assert_eq!(shown(output(&long, "")), format!("writes `{}…` instead of `one`", "x".repeat(60)));
    }
}
