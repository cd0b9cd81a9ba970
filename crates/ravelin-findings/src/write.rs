//! Encodes records as words.

use crate::record::{
    AccessRecord, FindingRecord, MemoryKind, Module, OrderStep, Record, SiteRecord, StaleRecord, StandstillRecord,
    ThreadRecord,
};

/// Index of a finding's count, from the record's first word (its tag).
pub const COUNT_WORD: usize = 2;
/// Index of what is known about spinning, from the record's first word.
pub const SPINNING_WORD: usize = 3;

/// Indices of a stale access's count, value, newest value and scheduling point, from the record's first word.
pub const STALE_WORDS: [usize; 4] = [2, 3, 4, 5];

pub(crate) const FINDING: u64 = 1;
pub(crate) const MODULE: u64 = 2;
pub(crate) const THREAD: u64 = 3;
pub(crate) const STUCK: u64 = 4;
pub(crate) const SITE: u64 = 5;
pub(crate) const STALE: u64 = 6;

/// The words of a record, including tag and length.
pub fn encode(record: &Record) -> Vec<u64> {
    let mut words = vec![0, 0];
    words[0] = match record {
        Record::Finding(finding) => put_finding(&mut words, finding),
        Record::Module(module) => put_module(&mut words, module),
        Record::Thread(thread) => put_thread(&mut words, thread),
        Record::Stuck(stuck) => put_stuck(&mut words, stuck),
        Record::Site(site) => put_site(&mut words, site),
        Record::Stale(stale) => put_stale(&mut words, stale),
    };
    words[1] = words.len() as u64 - 2;
    words
}

fn put_finding(words: &mut Vec<u64>, finding: &FindingRecord) -> u64 {
    words.extend([finding.count, finding.spinning as u64, finding.problem as u64, finding.address]);
    put_access(words, &finding.access);
    put_access(words, &finding.other);
    words.push(finding.forgotten);
    put_memory(words, &finding.place);
    words.push(finding.path.len() as u64);
    for OrderStep { kind, address, before, after, lacks_release, lacks_acquire } in &finding.path {
        words.extend([*kind as u64, *address]);
        put_access(words, before);
        put_access(words, after);
        words.extend([u64::from(*lacks_release), u64::from(*lacks_acquire)]);
    }
    words.push(finding.point);
    FINDING
}

fn put_module(words: &mut Vec<u64>, module: &Module) -> u64 {
    words.extend([module.bias, module.start, module.end]);
    put_bytes(words, &module.path);
    MODULE
}

fn put_thread(words: &mut Vec<u64>, thread: &ThreadRecord) -> u64 {
    words.extend([thread.number, thread.parent]);
    put_bytes(words, &thread.name);
    put_list(words, &thread.stack);
    THREAD
}

fn put_stuck(words: &mut Vec<u64>, stuck: &StandstillRecord) -> u64 {
    words.extend([stuck.kind as u64, stuck.seconds, stuck.point, stuck.threads.len() as u64]);
    for blocked in &stuck.threads {
        words.extend([blocked.thread, blocked.waits_for as u64, blocked.object, blocked.holder]);
        put_list(words, &blocked.stack);
    }
    STUCK
}

fn put_site(words: &mut Vec<u64>, site: &SiteRecord) -> u64 {
    words.extend([site.pc, site.kind as u64, site.order as u64]);
    SITE
}

fn put_stale(words: &mut Vec<u64>, stale: &StaleRecord) -> u64 {
    words.extend([stale.count, stale.value, stale.newest, stale.point, stale.address]);
    put_access(words, &stale.access);
    put_access(words, &stale.newer);
    put_memory(words, &stale.place);
    STALE
}

fn put_memory(words: &mut Vec<u64>, place: &MemoryKind) {
    match place {
        MemoryKind::Other => words.push(0),
        MemoryKind::Heap { start, size, thread, stack } => {
            words.extend([1, *start, *size, *thread]);
            put_list(words, stack);
        }
        MemoryKind::Stack { thread } => words.extend([2, *thread]),
        MemoryKind::Descriptor { thread, stack } => {
            words.extend([3, *thread]);
            put_list(words, stack);
        }
    }
}

fn put_access(words: &mut Vec<u64>, access: &AccessRecord) {
    words.extend([access.thread, access.kind as u64, access.order as u64, access.size]);
    put_list(words, &access.stack);
}

fn put_list(words: &mut Vec<u64>, list: &[u64]) {
    words.push(list.len() as u64);
    words.extend(list);
}

fn put_bytes(words: &mut Vec<u64>, bytes: &[u8]) {
    words.push(bytes.len() as u64);
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    }));
}
