//! A report for tests: a stale read in message passing, and a race on the heap.

use ravelin_sanitizer::Frame;
use ravelin_sanitizer::report::{
    Access, AccessKind, Finding, Hidden, Location, Memory, OrderStepKind, Problem, Process, RecordedOrder, Report,
    Step, Strengthen, Suggestion, Thread,
};

pub fn report() -> Report {
    let process = Process {
        number: 42,
        ended: true,
        threads: 3,
        accesses: 100,
        locations: 2,
        dropped: 0,
        unwatched: false,
        notes: vec!["the program forked; the child was not watched".to_owned()],
    };
    Report {
        program: "./mp".to_owned(),
        arguments: Vec::new(),
        findings: vec![stale_read(), race()],
        stuck: Vec::new(),
        runs: Vec::new(),
        processes: vec![process],
        hidden: Hidden { library: 3, spinning: 1, suppressed: 0 },
        unused_suppressions: vec!["list:3: race:x".to_owned()],
        unrecorded: 0,
        notes: Vec::new(),
    }
}

fn stale_read() -> Finding {
    let reader = Thread { number: 2, name: Some("reader".to_owned()), parent: Some(0), stack: vec![frame("main", 30)] };
    let writer = Thread { number: 1, ..Thread::default() };
    let at = |thread: &Thread, kind, function, line| Access {
        kind,
        order: RecordedOrder::Relaxed,
        size: 4,
        thread: thread.clone(),
        stack: vec![frame(function, line)],
        source: None,
    };
    let mut access = at(&reader, AccessKind::Load, "consume", 14);
    access.stack[0].inlined = true;
    access.stack[0].column = Some(9);
    access.stack.push(frame("reader", 20));
    access.source = Some("    return atomic_load_explicit(&data[1], memory_order_relaxed);".to_owned());
    let step = Step {
        kind: OrderStepKind::ReadsFrom,
        location: Location { address: 0x4010, name: Some("flag".to_owned()), memory: Memory::Other },
        before: at(&writer, AccessKind::Store, "writer", 8),
        after: at(&reader, AccessKind::Load, "reader", 13),
        lacks_release: true,
        lacks_acquire: true,
    };
    let strengthen = |what, line: u32, order| Strengthen { what, place: format!("mp.c:{line}"), order };
    Finding {
        problem: Problem::StaleRead,
        count: 1200,
        spinning: false,
        access,
        other: at(&writer, AccessKind::Store, "writer", 7),
        location: Location { address: 0x4004, name: Some("data+4".to_owned()), memory: Memory::Other },
        path: vec![step],
        suggestion: Suggestion::ReleaseAcquire(vec![
            strengthen("store", 8, RecordedOrder::Release),
            strengthen("load", 13, RecordedOrder::Acquire),
        ]),
        runs: Vec::new(),
        point: 0,
    }
}

fn race() -> Finding {
    let main = Thread::default();
    let unnamed = Frame { code: "libqueue.so+0x1234".to_owned(), ..Frame::default() };
    let memory = Memory::Heap { offset: 8, size: 16, thread: main.clone(), stack: vec![frame("main", 28)] };
    let access = Access {
        kind: AccessKind::PlainWrite,
        order: RecordedOrder::Plain,
        size: 8,
        thread: main,
        stack: vec![unnamed],
        source: None,
    };
    let other = Access {
        kind: AccessKind::Update,
        order: RecordedOrder::SeqCst,
        size: 8,
        thread: Thread { number: 1, ..Thread::default() },
        stack: Vec::new(),
        source: None,
    };
    Finding {
        problem: Problem::Race,
        count: 1,
        spinning: false,
        access,
        other,
        location: Location { address: 0x5008, name: None, memory },
        path: Vec::new(),
        suggestion: Suggestion::MakeAtomic { plain: "libqueue.so+0x1234".to_owned() },
        runs: Vec::new(),
        point: 0,
    }
}

fn frame(function: &str, line: u32) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some("mp.c".to_owned()),
        line: Some(line),
        column: None,
        code: "mp+0x1000".to_owned(),
        inlined: false,
        near: false,
    }
}
