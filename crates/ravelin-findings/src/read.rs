//! Decodes words to records.
//!
//! The file was written by a program that may have overwritten any of it, so everything is validated. Invalid data ends
//! the reading with an error that says where, and everything before it is kept.

use crate::header;
use crate::record::{
    AccessKind, AccessRecord, BlockedThread, CrashRecord, FindingRecord, MemoryKind, Module, OrderStep, OrderStepKind,
    Problem, Record, RecordedOrder, SiteRecord, Spinning, StaleRecord, Standstill, StandstillRecord, ThreadRecord,
    WaitsFor,
};
use crate::write::{FINDING, MODULE, SITE, STALE, STUCK, THREAD};

/// Everything in a findings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Number of the process that wrote it.
    pub process: u64,
    /// Whether the runtime saw the end of the program (false if it was killed).
    pub ended: bool,
    /// Threads that were started, including the first one.
    pub threads_started: u64,
    /// Findings for which there was no room.
    pub dropped: u64,
    /// An or of the constants in [`crate::notes`].
    pub notes: u64,
    /// Atomic accesses that were checked.
    pub accesses: u64,
    /// The largest number of atomic locations that were alive at once.
    pub locations: u64,
    /// Scheduling points; 0 without a schedule.
    pub points: u64,
    /// A hash that is the same in two runs of the same schedule.
    pub trail: u64,
    /// How the process crashed, if it did.
    pub crash: Option<CrashRecord>,
    /// Why the program could not continue, if so.
    pub stuck: Option<StandstillRecord>,
    /// The atomic accesses that the program made, if they were requested.
    pub sites: Vec<SiteRecord>,
    /// The accesses that took old values, in a weak run.
    pub stale: Vec<StaleRecord>,
    /// The findings, in the order in which they were made.
    pub findings: Vec<FindingRecord>,
    /// The loaded files.
    pub modules: Vec<Module>,
    /// The threads that appear.
    pub threads: Vec<ThreadRecord>,
    /// Where reading had to stop, if the file is damaged.
    pub damaged_at: Option<usize>,
}

/// The bytes are not a findings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableFindings;

impl std::fmt::Display for UnreadableFindings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this is not a file of findings, or one of another version of Ravelin")
    }
}

impl std::error::Error for UnreadableFindings {}

/// Reads a findings file.
pub fn read(bytes: &[u8]) -> Result<Findings, UnreadableFindings> {
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().expect("eight bytes"))).collect();
    if words.len() < header::WORDS || words[header::MAGIC_AT] != header::MAGIC {
        return Err(UnreadableFindings);
    }
    let mut findings = Findings {
        process: words[header::PROCESS],
        ended: words[header::ENDED] == 1,
        threads_started: words[header::THREADS],
        dropped: words[header::DROPPED],
        notes: words[header::NOTES],
        accesses: words[header::ACCESSES],
        locations: words[header::LOCATIONS],
        points: words[header::POINTS],
        trail: words[header::TRAIL],
        crash: crash(&words),
        ..Findings::default()
    };
    let used = usize::try_from(words[header::USED]).unwrap_or(usize::MAX).min(words.len());
    let mut at = header::WORDS;
    while at < used {
        let Some((record, next)) = record_at(&words[..used], at) else {
            findings.damaged_at = Some(at);
            break;
        };
        match record {
            Record::Finding(finding) => findings.findings.push(finding),
            Record::Module(module) => findings.modules.push(module),
            Record::Thread(thread) => findings.threads.push(thread),
            Record::Stuck(stuck) => findings.stuck = Some(stuck),
            Record::Site(site) => findings.sites.push(site),
            Record::Stale(stale) => findings.stale.push(stale),
        }
        at = next;
    }
    Ok(findings)
}

fn crash(words: &[u64]) -> Option<CrashRecord> {
    let stack = words.get(header::CRASH_STACK..header::WORDS)?;
    let frames = usize::try_from(words[header::CRASH_FRAMES]).unwrap_or(usize::MAX).min(stack.len());
    let signal = words[header::CRASH_SIGNAL];
    (signal != 0).then(|| CrashRecord {
        signal,
        thread: words[header::CRASH_THREAD],
        address: words[header::CRASH_ADDRESS],
        stack: stack[..frames].to_vec(),
    })
}

fn record_at(words: &[u64], at: usize) -> Option<(Record, usize)> {
    let tag = *words.get(at)?;
    let length = usize::try_from(*words.get(at + 1)?).ok()?;
    let next = (at + 2).checked_add(length)?;
    let mut cursor = Cursor { words: words.get(at + 2..next)? };
    let record = match tag {
        FINDING => Record::Finding(cursor.finding()?),
        MODULE => Record::Module(cursor.module()?),
        THREAD => Record::Thread(cursor.thread()?),
        STUCK => Record::Stuck(cursor.standstill()?),
        SITE => Record::Site(cursor.site()?),
        STALE => Record::Stale(cursor.stale()?),
        _ => return None,
    };
    Some((record, next))
}

struct Cursor<'a> {
    words: &'a [u64],
}

impl Cursor<'_> {
    fn word(&mut self) -> Option<u64> {
        let (&first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// A word that selects one of several possibilities.
    fn choice<T: Copy>(&mut self, among: &[T]) -> Option<T> {
        let word = usize::try_from(self.word()?).ok()?;
        among.get(word).copied()
    }

    fn list(&mut self) -> Option<Vec<u64>> {
        let length = usize::try_from(self.word()?).ok()?;
        let list = self.words.get(..length)?.to_vec();
        self.words = &self.words[length..];
        Some(list)
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.word()?).ok()?;
        let words = self.words.get(..length.div_ceil(8))?;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.truncate(length);
        self.words = &self.words[length.div_ceil(8)..];
        Some(bytes)
    }

    fn finding(&mut self) -> Option<FindingRecord> {
        Some(FindingRecord {
            count: self.word()?,
            spinning: self.choice(&[Spinning::No, Spinning::Harmless])?,
            problem: self.choice(&Problem::ALL)?,
            address: self.word()?,
            access: self.access()?,
            other: self.access()?,
            forgotten: self.word()?,
            place: self.place()?,
            path: {
                let steps = self.word()?;
                (0..steps).map(|_| self.step()).collect::<Option<_>>()?
            },
            point: self.word()?,
        })
    }

    fn kind(&mut self) -> Option<AccessKind> {
        self.choice(&AccessKind::ALL)
    }

    fn order(&mut self) -> Option<RecordedOrder> {
        self.choice(&RecordedOrder::ALL)
    }

    fn standstill(&mut self) -> Option<StandstillRecord> {
        let kind = self.choice(&[Standstill::Deadlock, Standstill::Livelock, Standstill::NoProgress])?;
        let seconds = self.word()?;
        let point = self.word()?;
        let threads = self.word()?;
        let threads = (0..threads).map(|_| self.blocked()).collect::<Option<_>>()?;
        Some(StandstillRecord { kind, seconds, point, threads })
    }

    fn blocked(&mut self) -> Option<BlockedThread> {
        Some(BlockedThread {
            thread: self.word()?,
            waits_for: self.choice(&WaitsFor::ALL)?,
            object: self.word()?,
            holder: self.word()?,
            stack: self.list()?,
        })
    }

    fn site(&mut self) -> Option<SiteRecord> {
        Some(SiteRecord { pc: self.word()?, kind: self.kind()?, order: self.order()? })
    }

    fn stale(&mut self) -> Option<StaleRecord> {
        Some(StaleRecord {
            count: self.word()?,
            value: self.word()?,
            newest: self.word()?,
            point: self.word()?,
            address: self.word()?,
            access: self.access()?,
            newer: self.access()?,
            place: self.place()?,
        })
    }

    fn access(&mut self) -> Option<AccessRecord> {
        Some(AccessRecord {
            thread: self.word()?,
            kind: self.kind()?,
            order: self.order()?,
            size: self.word()?,
            stack: self.list()?,
        })
    }

    fn place(&mut self) -> Option<MemoryKind> {
        match self.word()? {
            0 => Some(MemoryKind::Other),
            1 => Some(MemoryKind::Heap {
                start: self.word()?,
                size: self.word()?,
                thread: self.word()?,
                stack: self.list()?,
            }),
            2 => Some(MemoryKind::Stack { thread: self.word()? }),
            3 => Some(MemoryKind::Descriptor { thread: self.word()?, stack: self.list()? }),
            _ => None,
        }
    }

    fn step(&mut self) -> Option<OrderStep> {
        Some(OrderStep {
            kind: self.choice(&OrderStepKind::ALL)?,
            address: self.word()?,
            before: self.access()?,
            after: self.access()?,
            lacks_release: self.choice(&[false, true])?,
            lacks_acquire: self.choice(&[false, true])?,
        })
    }

    fn module(&mut self) -> Option<Module> {
        Some(Module { bias: self.word()?, start: self.word()?, end: self.word()?, path: self.bytes()? })
    }

    fn thread(&mut self) -> Option<ThreadRecord> {
        Some(ThreadRecord { number: self.word()?, parent: self.word()?, name: self.bytes()?, stack: self.list()? })
    }
}
