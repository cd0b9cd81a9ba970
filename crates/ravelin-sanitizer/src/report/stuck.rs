//! Runs in which no thread could continue: what each thread waits for.

use super::{StandstillKind, WatchedLocation};
use ravelin_answer::sanitizer::{Frame, WatchedThread};
use ravelin_findings::WaitsFor;

/// A deadlock, a livelock, or a run that made no progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Why no thread continued.
    pub kind: StandstillKind,
    /// For how many seconds nothing had happened; 0 for a deadlock or livelock.
    pub seconds: u64,
    /// The scheduling point at which it was noticed in the first run.
    pub point: u64,
    /// All threads that had not ended.
    pub threads: Vec<Blocked>,
    /// The runs in which it occurred, by number.
    pub runs: Vec<usize>,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    pub thread: WatchedThread,
    pub waits_for: WaitsFor,
    /// The lock or other object.
    pub object: Option<WatchedLocation>,
    /// The thread that holds the lock, or whose end is awaited, if that is known.
    pub other: Option<WatchedThread>,
    /// Innermost first.
    pub stack: Vec<Frame>,
}

impl Stuck {
    /// A heading.
    pub fn words(&self) -> String {
        match self.kind {
            StandstillKind::NoProgress => format!("the run made no progress for {} s", self.seconds),
            StandstillKind::Deadlock | StandstillKind::Livelock => self.kind.name().to_owned(),
        }
    }

    /// Adds it to a list unless the list has the same one, with threads at the same places.
    pub(super) fn merge_into(self, list: &mut Vec<Stuck>) {
        match list.iter_mut().find(|known| known.kind == self.kind && known.places() == self.places()) {
            Some(known) => known.runs.extend(self.runs),
            None => list.push(self),
        }
    }

    /// What each thread waits for and where, without its number.
    fn places(&self) -> Vec<(u32, Option<String>)> {
        let mut places: Vec<_> = self
            .threads
            .iter()
            .map(|blocked| (blocked.waits_for as u32, blocked.stack.first().map(Frame::place)))
            .collect();
        places.sort();
        places.dedup();
        places
    }
}

impl Blocked {
    /// What the thread does, in words: `waits for the mutex `m`, which thread 2 holds`.
    pub fn words(&self) -> String {
        let what = match self.waits_for {
            WaitsFor::Nothing => return "goes round in a loop".to_owned(),
            WaitsFor::Descriptor => return "waits for a file descriptor".to_owned(),
            WaitsFor::Time => return "sleeps".to_owned(),
            WaitsFor::Unknown => return "is in a call that the schedule does not know".to_owned(),
            WaitsFor::Turn => return "waits for its turn".to_owned(),
            WaitsFor::Point => return "runs without reaching a scheduling point".to_owned(),
            WaitsFor::Thread => {
                let other = self.other.as_ref().map_or_else(|| "a thread".to_owned(), WatchedThread::words);
                return format!("waits for the end of {other}");
            }
            WaitsFor::Mutex => "mutex",
            WaitsFor::ReadWriteLock => "read-write lock",
            WaitsFor::SpinLock => "spin lock",
            WaitsFor::Condition => "condition variable",
            WaitsFor::Barrier => "barrier",
            WaitsFor::Semaphore => "semaphore",
            WaitsFor::Initialisation => "end of an initialisation at",
            WaitsFor::Futex => "word",
        };
        let object = self.object.as_ref().map(|object| format!(" {}", object.words())).unwrap_or_default();
        let holder = match &self.other {
            Some(holder) if *holder == self.thread => ", which it holds itself".to_owned(),
            Some(holder) => format!(", which {} holds", holder.words()),
            None => String::new(),
        };
        format!("waits for the {what}{object}{holder}")
    }
}
