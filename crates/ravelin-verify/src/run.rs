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
    /// The access of one choice is stale.
    pub stale: Option<StaleChoice>,
    /// After the script, threads are drawn with this seed; 0 if each keeps the turn as long as it can run.
    pub seed: u64,
}

/// What a stale access reads, or is placed behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaleChoice {
    /// The number of the choice whose access it is.
    pub step: usize,
    pub value: u64,
    /// The number of the choice that wrote it; `None` for the initial value.
    pub source: Option<usize>,
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
/// wait times out. With `;stale:5@3` the last step reads the value 5 that step 3 wrote, counted from 0; without `@` it is
/// the initial value; with `;stale:9=5@3` step 9 does so. With `;seed:7` the threads after these steps are drawn.
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
        if let Some(StaleChoice { step, value, source }) = self.stale {
            f.write_str(STALE)?;
            if step + 1 != self.choices.len() {
                write!(f, "{step}=")?;
            }
            write!(f, "{value}")?;
            if let Some(source) = source {
                write!(f, "@{source}")?;
            }
        }
        if self.seed != 0 {
            write!(f, "{SEED}{}", self.seed)?;
        }
        Ok(())
    }
}

const PREFIX: &str = "steps:";
const STALE: &str = ";stale:";
const SEED: &str = ";seed:";

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
            let (words, seed) = words.split_once(SEED).unwrap_or((words, "0"));
            script.seed = seed.parse().ok()?;
            let (words, stale) = words.split_once(STALE).map_or((words, None), |(words, stale)| (words, Some(stale)));
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
            if let Some(stale) = stale {
                let last = script.choices.len().checked_sub(1)?;
                let (step, stale) =
                    stale.split_once('=').map_or((Some(last), stale), |(step, stale)| (step.parse().ok(), stale));
                let (value, source) =
                    stale.split_once('@').map_or((stale, None), |(value, source)| (value, Some(source)));
                let step = step.filter(|step| *step <= last)?;
                let source = source.map(|source| source.parse().ok().filter(|source| *source < step));
                let source = source.map_or(Some(None), |source| source.map(Some))?;
                script.stale = Some(StaleChoice { step, value: value.parse().ok()?, source });
            }
            Some(script)
        };
        read().ok_or_else(|| NoScript(text.chars().take(60).collect()))
    }
}
