//! A report for tests of views: a stale read in message passing, and a race on the heap.

use super::{
    AccessKind, AccessOrder, Finding, Frame, HiddenFindings, MemoryArea, PathStep, PathStepKind, Problem,
    SanitizerReport, Strengthening, Suggestion, SuggestionKind, WatchedAccess, WatchedLocation, WatchedProcess,
    WatchedThread,
};
use crate::Verdict;

/// The report.
pub fn report() -> SanitizerReport {
    let process = WatchedProcess {
        process: 42,
        ended: true,
        threads: 3,
        accesses: 100,
        locations: 2,
        dropped: 0,
        unwatched: false,
        notes: vec!["the program forked; the child was not watched".to_owned()],
    };
    SanitizerReport {
        model: None,
        program: "./mp".to_owned(),
        verdict: Verdict::Violated,
        exit_code: None,
        signal: None,
        command: None,
        again: None,
        findings: vec![stale_read(), race()],
        stuck: Vec::new(),
        verification: None,
        weak: None,
        runs: Vec::new(),
        processes: vec![process],
        crashes: Vec::new(),
        hidden: HiddenFindings { library: 3, spinning: 1, suppressed: 0, rejoining: 0 },
        fresh_processes: Some("the program has one thread".to_owned()),
        unused_suppressions: vec!["list:3: race:x".to_owned()],
        unrecorded: 0,
        notes: Vec::new(),
    }
}

fn stale_read() -> Finding {
    let reader =
        WatchedThread { number: 2, name: Some("reader".to_owned()), parent: Some(0), started: vec![frame("main", 30)] };
    let writer = WatchedThread { number: 1, ..WatchedThread::default() };
    let at = |thread: &WatchedThread, kind, function, line| WatchedAccess {
        kind,
        failed: false,
        order: AccessOrder::Relaxed,
        size: 4,
        thread: thread.clone(),
        stack: vec![frame(function, line)],
        source: None,
        caller: None,
    };
    let mut access = at(&reader, AccessKind::Load, "consume", 14);
    access.stack[0].inlined = true;
    access.stack[0].column = Some(9);
    access.stack.push(frame("reader", 20));
    access.source = Some("    return atomic_load_explicit(&data[1], memory_order_relaxed);".to_owned());
    let step = PathStep {
        kind: PathStepKind::ReadsFrom,
        location: WatchedLocation {
            address: "0x4010".to_owned(),
            name: Some("flag".to_owned()),
            memory: MemoryArea::Global,
        },
        before: at(&writer, AccessKind::Store, "writer", 8),
        after: at(&reader, AccessKind::Load, "reader", 13),
    };
    let strengthening = |access: &str, line: u32, order| {
        let (access, place) = (access.to_owned(), format!("mp.c:{line}"));
        Strengthening { access, place, order }
    };
    let other = at(&writer, AccessKind::Store, "writer", 7);
    let location =
        WatchedLocation { address: "0x4004".to_owned(), name: Some("data+4".to_owned()), memory: MemoryArea::Global };
    Finding {
        sentence: Problem::StaleRead.sentence(&access, &other, &location),
        problem: Problem::StaleRead,
        count: 1200,
        spinning: false,
        access,
        other,
        forgotten: None,
        location,
        path: vec![step],
        fixes: vec!["mp.c:8:release".to_owned(), "mp.c:13:acquire".to_owned()],
        suggestion: Suggestion {
            kind: SuggestionKind::ReleaseAcquire,
            text: "make the store at mp.c:8 release and the load at mp.c:13 acquire".to_owned(),
            accesses: Some(vec![
                strengthening("store", 8, AccessOrder::Release),
                strengthening("load", 13, AccessOrder::Acquire),
            ]),
            fences: None,
        },
        runs: 0,
        first_run: None,
        machines: None,
        consequence: None,
    }
}

fn race() -> Finding {
    let main = WatchedThread::default();
    let unnamed = Frame { code: "libqueue.so+0x1234".to_owned(), ..Frame::default() };
    let memory = MemoryArea::Heap { offset: 8, size: 16, thread: main.clone(), allocated: vec![frame("main", 28)] };
    let access = WatchedAccess {
        kind: AccessKind::PlainWrite,
        failed: false,
        order: AccessOrder::Plain,
        size: 8,
        thread: main,
        stack: vec![unnamed],
        source: None,
        caller: None,
    };
    let other = WatchedAccess {
        kind: AccessKind::Update,
        failed: false,
        order: AccessOrder::SeqCst,
        size: 8,
        thread: WatchedThread { number: 1, ..WatchedThread::default() },
        stack: Vec::new(),
        source: None,
        caller: None,
    };
    let location = WatchedLocation { address: "0x5008".to_owned(), name: None, memory };
    Finding {
        sentence: Problem::DataRace.sentence(&access, &other, &location),
        problem: Problem::DataRace,
        count: 1,
        spinning: false,
        access,
        other,
        forgotten: None,
        location,
        path: Vec::new(),
        fixes: Vec::new(),
        suggestion: Suggestion {
            kind: SuggestionKind::MakeAtomic,
            text: "the access at libqueue.so+0x1234 is not atomic although the other one is: make it atomic, or order the two by a lock or by release and acquire".to_owned(),
            accesses: None,
            fences: None,
        },
        runs: 0,
        first_run: None,
        machines: None,
        consequence: None,
    }
}

fn frame(function: &str, line: u32) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some("mp.c".to_owned()),
        line: Some(line),
        code: "mp+0x1000".to_owned(),
        ..Frame::default()
    }
}
