//! What is written is read back, and what is not a findings file, or a damaged one, is never believed.

use ravelin_findings::{
    AccessKind, AccessRecord, BlockedThread, COUNT_WORD, FindingRecord, MemoryKind, Module, OrderStep, OrderStepKind,
    Problem, Record, RecordedOrder, SPINNING_WORD, SiteRecord, Spinning, StaleRecord, Standstill, StandstillRecord,
    ThreadRecord, WaitsFor, encode, header, read,
};

/// A generator of numbers (xorshift) that gives the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }

    fn list(&mut self) -> Vec<u64> {
        let length = self.below(6);
        (0..length).map(|_| self.next()).collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.below(20);
        (0..length).map(|_| self.next() as u8).collect()
    }

    fn access(&mut self) -> AccessRecord {
        use RecordedOrder::*;
        AccessRecord {
            thread: self.next(),
            kind: self.one_of(&AccessKind::ALL),
            order: self.one_of(&[Plain, Relaxed, Acquire, Release, AcqRel, SeqCst]),
            size: self.next(),
            stack: self.list(),
        }
    }

    fn record(&mut self) -> Record {
        match self.below(6) {
            0 => Record::Finding(FindingRecord {
                count: self.next(),
                spinning: self.one_of(&[Spinning::No, Spinning::Harmless]),
                problem: self.one_of(&Problem::ALL),
                address: self.next(),
                access: self.access(),
                other: self.access(),
                forgotten: self.next(),
                place: self.place(),
                path: {
                    let steps = self.below(4);
                    (0..steps).map(|_| self.step()).collect()
                },
                point: self.next(),
            }),
            1 => Record::Module(Module { bias: self.next(), start: self.next(), end: self.next(), path: self.bytes() }),
            2 => Record::Stuck(StandstillRecord {
                kind: self.one_of(&[Standstill::Deadlock, Standstill::Livelock, Standstill::NoProgress]),
                seconds: self.next(),
                point: self.next(),
                threads: {
                    let threads = self.below(4);
                    (0..threads).map(|_| self.blocked()).collect()
                },
            }),
            3 => {
                let access = self.access();
                Record::Site(SiteRecord { pc: self.next(), kind: access.kind, order: access.order })
            }
            4 => Record::Stale(StaleRecord {
                count: self.next(),
                value: self.next(),
                newest: self.next(),
                point: self.next(),
                address: self.next(),
                access: self.access(),
                newer: self.access(),
                place: self.place(),
            }),
            _ => Record::Thread(ThreadRecord {
                number: self.next(),
                parent: self.next(),
                name: self.bytes(),
                stack: self.list(),
            }),
        }
    }

    fn place(&mut self) -> MemoryKind {
        match self.below(4) {
            0 => MemoryKind::Other,
            1 => MemoryKind::Stack { thread: self.next() },
            2 => MemoryKind::Descriptor { thread: self.next(), stack: self.list() },
            _ => MemoryKind::Heap { start: self.next(), size: self.next(), thread: self.next(), stack: self.list() },
        }
    }

    fn blocked(&mut self) -> BlockedThread {
        BlockedThread {
            thread: self.next(),
            waits_for: self.one_of(&[WaitsFor::Nothing, WaitsFor::Mutex, WaitsFor::Thread, WaitsFor::Unknown]),
            object: self.next(),
            holder: self.next(),
            stack: self.list(),
        }
    }

    fn step(&mut self) -> OrderStep {
        OrderStep {
            kind: self.one_of(&OrderStepKind::ALL),
            address: self.next(),
            before: self.access(),
            after: self.access(),
            lacks_release: self.one_of(&[false, true]),
            lacks_acquire: self.one_of(&[false, true]),
        }
    }
}

/// A file with these records.
fn file(records: &[Record]) -> Vec<u64> {
    let mut words = vec![0; header::WORDS];
    words[header::MAGIC_AT] = header::MAGIC;
    words[header::PROCESS] = 7;
    words[header::ENDED] = 1;
    words[header::THREADS] = 3;
    words.extend(records.iter().flat_map(encode));
    words[header::USED] = words.len() as u64;
    words
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// All records but those of which there is one.
fn listed(found: &ravelin_findings::Findings) -> usize {
    found.findings.len() + found.modules.len() + found.threads.len() + found.sites.len() + found.stale.len()
}

#[test]
fn what_is_written_is_read_back() {
    let mut numbers = Numbers(1);
    for _ in 0..500 {
        let length = numbers.below(8);
        let records: Vec<Record> = (0..length).map(|_| numbers.record()).collect();
        let found = read(&bytes(&file(&records))).expect("a findings file");
        assert_eq!((found.process, found.ended, found.threads_started, found.damaged_at), (7, true, 3, None));
        let kept = |record: &Record| match record {
            Record::Finding(finding) => found.findings.contains(finding),
            Record::Module(module) => found.modules.contains(module),
            Record::Thread(thread) => found.threads.contains(thread),
            Record::Site(site) => found.sites.contains(site),
            Record::Stale(stale) => found.stale.contains(stale),
            // A program ends once; should there be several, the last one counts.
            Record::Stuck(_) => found.stuck.is_some(),
        };
        assert!(records.iter().all(kept));
        let last = records.iter().rev().find_map(|record| match record {
            Record::Stuck(stuck) => Some(stuck),
            _ => None,
        });
        assert_eq!(found.stuck.as_ref(), last);
        let others = records.iter().filter(|record| !matches!(record, Record::Stuck(_))).count();
        assert_eq!(listed(&found), others);
    }
}

#[test]
fn a_crash_is_in_the_header() {
    let mut words = file(&[]);
    assert_eq!(read(&bytes(&words)).expect("a findings file").crash, None);
    words[header::CRASH_SIGNAL] = 11;
    words[header::CRASH_THREAD] = 2;
    words[header::CRASH_ADDRESS] = 8;
    words[header::CRASH_FRAMES] = 2;
    words[header::CRASH_STACK] = 0x1234;
    words[header::CRASH_STACK + 1] = 0x5678;
    let crash = read(&bytes(&words)).expect("a findings file").crash.expect("a crash");
    assert_eq!((crash.signal, crash.thread, crash.address), (11, 2, 8));
    assert_eq!(crash.stack, [0x1234, 0x5678]);
    words[header::CRASH_FRAMES] = u64::MAX;
    let crash = read(&bytes(&words)).expect("a findings file").crash.expect("a crash");
    assert_eq!(crash.stack.len(), header::WORDS - header::CRASH_STACK);
}

#[test]
fn counts_change_in_place() {
    let mut numbers = Numbers(2);
    let finding = std::iter::repeat_with(|| numbers.record()).find(|record| matches!(record, Record::Finding(_)));
    let mut words = file(&[finding.expect("there is one")]);
    words[header::WORDS + COUNT_WORD] = 1_000;
    words[header::WORDS + SPINNING_WORD] = Spinning::Harmless as u64;
    let found = read(&bytes(&words)).expect("a findings file");
    assert_eq!((found.findings[0].count, found.findings[0].spinning), (1_000, Spinning::Harmless));
}

#[test]
fn a_file_that_is_still_written_shows_whole_records_only() {
    let mut numbers = Numbers(3);
    let records = [numbers.record(), numbers.record()];
    let mut words = file(&records);
    words[header::USED] -= encode(&records[1]).len() as u64;
    let found = read(&bytes(&words)).expect("a findings file");
    assert_eq!(listed(&found) + usize::from(found.stuck.is_some()), 1);
    assert_eq!(found.damaged_at, None);
}

#[test]
fn everything_before_the_damage_is_kept() {
    let mut numbers = Numbers(4);
    let records: Vec<Record> = (0..3).map(|_| numbers.record()).collect();
    let mut words = file(&records);
    let third = words.len() - encode(&records[2]).len();
    words[third] = 99;
    let found = read(&bytes(&words)).expect("a findings file");
    assert_eq!(found.damaged_at, Some(third));
    assert_eq!(listed(&found) + usize::from(found.stuck.is_some()), 2);
}

/// Lengths in a damaged file may say anything. Reading allocates no more than the file holds, or this ends in a crash.
#[test]
fn damage_never_panics() {
    let mut numbers = Numbers(5);
    let telling = [0, 1, 2, 3, 8, u64::MAX, u64::MAX - 1, 1 << 63, 1 << 32, i64::MAX as u64];
    for _ in 0..200 {
        let records: Vec<Record> = (0..5).map(|_| numbers.record()).collect();
        let whole = file(&records);
        for _ in 0..50 {
            let mut damaged = whole.clone();
            for _ in 0..=numbers.below(4) {
                let at = numbers.below(damaged.len());
                damaged[at] = if numbers.below(2) == 0 { numbers.one_of(&telling) } else { numbers.next() };
            }
            let mut bytes = bytes(&damaged);
            for _ in 0..numbers.below(3) {
                let at = numbers.below(bytes.len());
                bytes[at] = numbers.next() as u8;
            }
            bytes.truncate(bytes.len() - numbers.below(bytes.len() / 2) * numbers.below(2));
            if let Ok(found) = read(&bytes) {
                assert!(found.findings.len() + found.modules.len() + found.threads.len() <= bytes.len() / 16);
            }
        }
    }
}

#[test]
fn other_files_are_refused() {
    let mut numbers = Numbers(6);
    assert!(read(b"").is_err());
    assert!(read(b"RAVELIN\x08").is_err());
    for _ in 0..2_000 {
        let length = numbers.below(1_000);
        let noise: Vec<u8> = (0..length).map(|_| numbers.next() as u8).collect();
        assert!(read(&noise).is_err());
    }
}
