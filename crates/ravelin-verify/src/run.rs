//! What a run has to do, and what it did.

use ravelin_findings::events::RunEvent;
use ravelin_findings::steering::{MOST_CHOICES, SteeredEnd};
use std::fmt;
use std::str::FromStr;

/// One decision of a script: which thread makes the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    pub thread: u32,
    /// The wait in which it stands ends because its time is over.
    pub times_out: bool,
}

/// What a run has to do: the first choices, and the threads that are asleep after them. After the script a run continues
/// by itself, without threads that are asleep, until it ends or only these could run. A thread wakes up when another one
/// makes a step that conflicts with its next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub choices: Vec<Choice>,
    pub sleepers: Vec<u32>,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRun {
    /// In order; also those that are part of a round of a waiting loop (`flags::ROUND`).
    pub events: Vec<RunEvent>,
    /// What each thread that had not ended would have done next.
    pub pending: Vec<RunEvent>,
    /// How it ended, if not as the program ends by itself, or in a state in which no thread can run.
    pub end: Option<SteeredEnd>,
    /// The process ended with the last event although threads could still run: it exited or crashed, or an assertion
    /// failed. This distinguishes such runs from those in which all threads that are left wait.
    pub ended_early: bool,
}

/// A script as text, for reports: `steps:0x3,1x2,2t` is three steps of thread 0, two of thread 1, and one of thread 2 whose
/// wait times out.
impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        let groups = self.choices.chunk_by(|one, other| one == other && !one.times_out);
        for (index, group) in groups.enumerate() {
            let separator = if index == 0 { "" } else { "," };
            let Choice { thread, times_out } = group[0];
            match group.len() {
                _ if times_out => write!(f, "{separator}{thread}t")?,
                1 => write!(f, "{separator}{thread}")?,
                several => write!(f, "{separator}{thread}x{several}")?,
            }
        }
        Ok(())
    }
}

const PREFIX: &str = "steps:";

/// A text that is no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoScript(String);

impl fmt::Display for NoScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no list of steps; expected {PREFIX} and threads, such as {PREFIX}0x3,1,2t", self.0)
    }
}

impl std::error::Error for NoScript {}

impl FromStr for Script {
    type Err = NoScript;

    fn from_str(text: &str) -> Result<Script, NoScript> {
        let read = || {
            let words = text.strip_prefix(PREFIX)?;
            let mut script = Script::default();
            for word in words.split(',').filter(|_| !words.is_empty()) {
                let (word, times_out) = word.strip_suffix('t').map_or((word, false), |word| (word, true));
                let (thread, times) = word.split_once('x').unwrap_or((word, "1"));
                let times: usize = times.parse().ok().filter(|times| (1..=MOST_CHOICES).contains(times))?;
                let choice = Choice { thread: thread.parse().ok()?, times_out };
                script.choices.extend(std::iter::repeat_n(choice, times));
                if script.choices.len() > MOST_CHOICES {
                    return None;
                }
            }
            Some(script)
        };
        read().ok_or_else(|| NoScript(text.chars().take(60).collect()))
    }
}
