//! How to change the program to remove a finding. This follows from the path that orders its accesses under sequential
//! consistency, or in this run.
//!
//! If every step of the path is a read from a write (message passing, however long the chain), release and acquire
//! along it enforce the order under C11, too. If a step is an overwriting (store buffering, two threads writing), only
//! the order of seq_cst fences does. Each thread needs one between the access by which the path enters it and the one
//! by which it leaves. These are suggestions: it is not known here whether there is a fence already.
//!
//! Under x86-TSO only a store that is delayed behind a later load is to be prevented: by a fence between them, or by a
//! store that is a locked instruction.
//!
//! The path of a race has reads from writes only, and takes fences and release sequences into account: it asks only for
//! what is missing. Without a path it is only known that the two accesses are not ordered.

use super::{Finding, PathStepKind, Problem, WatchedAccess};
use ravelin_answer::sanitizer::{AccessKind, AccessOrder};

/// What to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suggestion {
    /// A race between two non-atomic accesses, and nothing is known that connects them.
    Synchronise,
    /// A race in which one access is atomic; `plain` is the place of the other one.
    MakeAtomic { plain: String },
    /// A race with the freeing of the memory.
    FreeLater,
    /// Accesses along the path that need a stronger order.
    ReleaseAcquire(Vec<Strengthen>),
    /// A seq_cst fence in each of these segments, or seq_cst accesses at their ends.
    Fences(Vec<Segment>),
    /// Under x86-TSO: a store that reaches memory before a later load of its thread, in each of these segments.
    Drain(Vec<Segment>),
    /// An object of the C library has to be used in another way.
    UseCorrectly(&'static str),
    /// It is not known what orders the accesses.
    Unknown,
}

/// Make the access at `place` at least `order`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strengthen {
    /// `load`, `store`, `failure order of the compare-exchange`, ….
    pub what: &'static str,
    pub place: String,
    pub order: AccessOrder,
}

/// A part of a thread on the path: from one access to a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub thread: String,
    pub from: String,
    pub to: String,
}

impl Suggestion {
    /// For a finding whose other fields are complete.
    pub(super) fn new(
        problem: Problem,
        access: &WatchedAccess,
        other: &WatchedAccess,
        path: &[super::Step],
        tso: bool,
    ) -> Suggestion {
        if let Some(advice) = problem.advice() {
            return Suggestion::UseCorrectly(advice);
        }
        if problem == Problem::DataRace {
            return for_race(access, other, path);
        }
        if tso {
            return Suggestion::Drain(delays(access, other, path));
        }
        if path.is_empty() {
            return Suggestion::Unknown;
        }
        if path.iter().all(|step| step.kind == PathStepKind::ReadsFrom) {
            let stronger = stronger(path);
            if !stronger.is_empty() {
                return Suggestion::ReleaseAcquire(stronger);
            }
        }
        Suggestion::Fences(segments(access, other, path))
    }

    /// One or two sentences.
    pub fn words(&self) -> String {
        match self {
            Suggestion::Synchronise => "protect both accesses by the same lock, or make both atomic".to_owned(),
            Suggestion::MakeAtomic { plain } => format!(
                "the access at {plain} is not atomic although the other one is: make it atomic, or order the two by a lock or by release and acquire"
            ),
            Suggestion::FreeLater => {
                "the memory is freed while another thread may still use it: wait for that thread first, or hand the memory over with release and acquire".to_owned()
            }
            Suggestion::ReleaseAcquire(stronger) => {
                let each = |strengthen: &Strengthen| {
                    format!("the {} at {} {}", strengthen.what, strengthen.place, strengthen.order.name())
                };
                format!("make {}", listed(&stronger.iter().map(each).collect::<Vec<_>>()))
            }
            Suggestion::Fences(segments) if segments.is_empty() => "make all these accesses seq_cst".to_owned(),
            Suggestion::Fences(segments) => {
                let each = |segment: &Segment| {
                    format!("between {} and {} in {}", segment.from, segment.to, segment.thread)
                };
                let places = listed(&segments.iter().map(each).collect::<Vec<_>>());
                format!("put a seq_cst fence {places} where there is none, or make all these accesses seq_cst")
            }
            Suggestion::Drain(segments) if segments.is_empty() => {
                "put a seq_cst fence between the stores of these threads and their later loads, or make the stores seq_cst".to_owned()
            }
            Suggestion::Drain(segments) => {
                let each = |segment: &Segment| {
                    format!("between {} and {} in {}", segment.from, segment.to, segment.thread)
                };
                let places = listed(&segments.iter().map(each).collect::<Vec<_>>());
                format!(
                    "put a seq_cst fence {places} where there is none, or make the store there seq_cst or a read-modify-write"
                )
            }
            Suggestion::UseCorrectly(advice) => (*advice).to_owned(),
            Suggestion::Unknown => "what orders the two accesses is no longer known: the accesses by which their threads communicate in between need release and acquire, or seq_cst fences".to_owned(),
        }
    }
}

impl Finding {
    /// Whether it is the same finding as another, perhaps of another run: the same problem at the same places.
    pub fn is_same(&self, other: &Finding) -> bool {
        super::collect::key(self) == super::collect::key(other)
    }

    /// The suggestion in words.
    pub fn advice(&self) -> String {
        let words = self.suggestion.words();
        match self.suggestion {
            Suggestion::ReleaseAcquire(_) if self.problem == Problem::DataRace => format!(
                "{words}, which orders the two accesses as in this run; if they can also meet in another way, protect both by the same lock"
            ),
            _ => words,
        }
    }
}

fn for_race(access: &WatchedAccess, other: &WatchedAccess, path: &[super::Step]) -> Suggestion {
    let stronger = stronger(path);
    if !stronger.is_empty() {
        return Suggestion::ReleaseAcquire(stronger);
    }
    if access.kind == AccessKind::Free || other.kind == AccessKind::Free {
        return Suggestion::FreeLater;
    }
    match (access.is_atomic(), other.is_atomic()) {
        (true, false) => Suggestion::MakeAtomic { plain: place(other) },
        (false, true) => Suggestion::MakeAtomic { plain: place(access) },
        _ => Suggestion::Synchronise,
    }
}

/// What the accesses of a path of reads need to synchronise, each place once, in the order of time.
fn stronger(path: &[super::Step]) -> Vec<Strengthen> {
    let mut stronger: Vec<Strengthen> = Vec::new();
    let mut add = |access: &WatchedAccess, order: AccessOrder| {
        let (what, place) = (noun(access), place(access));
        match stronger.iter_mut().find(|known| known.what == what && known.place == place) {
            Some(known) if known.order != order => known.order = AccessOrder::AcqRel,
            Some(_) => {}
            None => stronger.push(Strengthen { what, place, order }),
        }
    };
    // The path has the last step first.
    for step in path.iter().rev() {
        if step.lacks_release {
            let acquires = matches!(step.before.order, AccessOrder::Acquire | AccessOrder::AcqRel);
            add(&step.before, if acquires { AccessOrder::AcqRel } else { AccessOrder::Release });
        }
        if step.lacks_acquire {
            let releases = matches!(step.after.order, AccessOrder::Release | AccessOrder::AcqRel);
            add(&step.after, if releases { AccessOrder::AcqRel } else { AccessOrder::Acquire });
        }
    }
    stronger
}

/// The parts of threads through which the path runs, in the order of time. An access by which it both enters and leaves
/// a thread needs no fence.
fn segments(access: &WatchedAccess, other: &WatchedAccess, path: &[super::Step]) -> Vec<Segment> {
    segments_where(access, other, path, |from, to| {
        from.place() != to.place() || (from.kind, from.failed) != (to.kind, to.failed)
    })
}

/// Those in which a store buffer can delay something: from a store to a load.
fn delays(access: &WatchedAccess, other: &WatchedAccess, path: &[super::Step]) -> Vec<Segment> {
    if path.is_empty() {
        return Vec::new();
    }
    segments_where(access, other, path, |from, to| from.kind == AccessKind::Store && is_load(to))
}

fn segments_where(
    access: &WatchedAccess,
    other: &WatchedAccess,
    path: &[super::Step],
    is_wanted: impl Fn(&WatchedAccess, &WatchedAccess) -> bool,
) -> Vec<Segment> {
    let mut ends = vec![other];
    for step in path.iter().rev() {
        ends.extend([&step.before, &step.after]);
    }
    ends.push(access);
    let mut segments: Vec<Segment> = Vec::new();
    for pair in ends.chunks_exact(2).filter(|pair| is_wanted(pair[0], pair[1])) {
        let segment = Segment { thread: pair[0].thread.words(), from: place(pair[0]), to: place(pair[1]) };
        if !segments.contains(&segment) {
            segments.push(segment);
        }
    }
    segments
}

fn is_load(access: &WatchedAccess) -> bool {
    matches!(access.kind, AccessKind::Load | AccessKind::Wait)
}

fn place(access: &WatchedAccess) -> String {
    access.place().unwrap_or_else(|| "an unknown place".to_owned())
}

fn noun(access: &WatchedAccess) -> &'static str {
    match access.kind {
        AccessKind::Load | AccessKind::PlainRead => "load",
        AccessKind::Store | AccessKind::PlainWrite => "store",
        AccessKind::Update => "read-modify-write",
        AccessKind::CompareExchange if access.failed => "failure order of the compare-exchange",
        AccessKind::CompareExchange | AccessKind::BlockingCompareExchange => "compare-exchange",
        AccessKind::Wait => "wait",
        AccessKind::Free => "release of the memory",
        // No path that orders accesses has such a step.
        _ => "call",
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Step, WatchedLocation};
    use super::*;
    use AccessKind::{CompareExchange, Free, Load, PlainRead, PlainWrite, Store, Update};
    use ravelin_answer::sanitizer::{Frame, MemoryArea, WatchedThread};

    /// An access of a thread in a line of `x.c`.
    fn at(thread: u64, line: u32, kind: AccessKind, order: AccessOrder) -> WatchedAccess {
        let frame = Frame { file: Some("x.c".to_owned()), line: Some(line), ..Frame::default() };
        let thread = WatchedThread { number: thread, ..WatchedThread::default() };
        WatchedAccess { kind, failed: false, order, size: 4, thread, stack: vec![frame], source: None, caller: None }
    }

    /// A step without fences.
    fn step(kind: PathStepKind, before: WatchedAccess, after: WatchedAccess) -> Step {
        let location = WatchedLocation { address: "0x8".to_owned(), name: None, memory: MemoryArea::Unknown };
        let lacks_release = !matches!(before.order, AccessOrder::Release | AccessOrder::AcqRel | AccessOrder::SeqCst);
        let lacks_acquire = !matches!(after.order, AccessOrder::Acquire | AccessOrder::AcqRel | AccessOrder::SeqCst);
        Step { kind, location, before, after, lacks_release, lacks_acquire }
    }

    /// The advice for a stale read of what thread 1 wrote in line 1 by thread 2 in line 4.
    fn stale(path: &[Step]) -> String {
        let (access, other) = (at(2, 4, Load, AccessOrder::Relaxed), at(1, 1, Store, AccessOrder::Relaxed));
        Suggestion::new(Problem::StaleRead, &access, &other, path, false).words()
    }

    #[test]
    fn message_passing_needs_release_and_acquire_where_they_lack() {
        let message =
            |write, read| stale(&[step(PathStepKind::ReadsFrom, at(1, 2, Store, write), at(2, 3, Load, read))]);
        assert_eq!(
            message(AccessOrder::Relaxed, AccessOrder::Relaxed),
            "make the store at x.c:2 release and the load at x.c:3 acquire"
        );
        assert_eq!(message(AccessOrder::Release, AccessOrder::Relaxed), "make the load at x.c:3 acquire");
        assert_eq!(message(AccessOrder::Relaxed, AccessOrder::SeqCst), "make the store at x.c:2 release");
        assert!(message(AccessOrder::Release, AccessOrder::Acquire).starts_with("put a seq_cst fence"));
    }

    #[test]
    fn a_longer_chain_is_told_in_the_order_of_time() {
        let path = [
            step(PathStepKind::ReadsFrom, at(3, 12, Store, AccessOrder::Relaxed), at(2, 3, Load, AccessOrder::Acquire)),
            step(
                PathStepKind::ReadsFrom,
                at(1, 2, Update, AccessOrder::Acquire),
                at(3, 11, CompareExchange, AccessOrder::Release),
            ),
        ];
        assert_eq!(
            stale(&path),
            "make the read-modify-write at x.c:2 acq_rel, the compare-exchange at x.c:11 acq_rel and the store at x.c:12 release"
        );
    }

    #[test]
    fn store_buffering_needs_fences_in_both_threads() {
        let path = [step(
            PathStepKind::OverwritesRead,
            at(1, 2, Load, AccessOrder::Acquire),
            at(2, 3, Store, AccessOrder::Release),
        )];
        assert_eq!(
            stale(&path),
            "put a seq_cst fence between x.c:1 and x.c:2 in thread 1 and between x.c:3 and x.c:4 in thread 2 where there is none, or make all these accesses seq_cst"
        );
    }

    #[test]
    fn an_update_by_which_the_path_enters_and_leaves_needs_no_fence() {
        let update = || at(3, 9, Update, AccessOrder::Relaxed);
        let path = [
            step(PathStepKind::Overwrites, update(), at(2, 3, Store, AccessOrder::Relaxed)),
            step(PathStepKind::Overwrites, at(1, 2, Store, AccessOrder::Relaxed), update()),
        ];
        let advice = stale(&path);
        assert!(!advice.contains("thread 3") && advice.contains("thread 1") && advice.contains("thread 2"), "{advice}");
    }

    #[test]
    fn races_are_told_by_what_is_atomic() {
        let race = |a, b| Suggestion::new(Problem::DataRace, &a, &b, &[], false);
        let plain = || at(1, 1, PlainWrite, AccessOrder::Plain);
        assert_eq!(race(plain(), at(2, 2, PlainRead, AccessOrder::Plain)), Suggestion::Synchronise);
        assert_eq!(
            race(plain(), at(2, 2, Load, AccessOrder::Acquire)),
            Suggestion::MakeAtomic { plain: "x.c:1".to_owned() }
        );
        assert_eq!(
            race(at(2, 2, Store, AccessOrder::SeqCst), plain()),
            Suggestion::MakeAtomic { plain: "x.c:1".to_owned() }
        );
        assert_eq!(race(at(2, 2, Free, AccessOrder::Plain), plain()), Suggestion::FreeLater);
    }

    #[test]
    fn a_race_over_reads_asks_for_what_they_lack() {
        let race = |path: &[Step]| {
            Suggestion::new(
                Problem::DataRace,
                &at(2, 9, PlainRead, AccessOrder::Plain),
                &at(1, 1, PlainWrite, AccessOrder::Plain),
                path,
                false,
            )
        };
        let message = |write, read| step(PathStepKind::ReadsFrom, at(1, 2, Store, write), at(2, 8, Load, read));
        let words = |path: &[Step]| race(path).words();
        assert_eq!(
            words(&[message(AccessOrder::Relaxed, AccessOrder::Relaxed)]),
            "make the store at x.c:2 release and the load at x.c:8 acquire"
        );
        assert_eq!(words(&[message(AccessOrder::Release, AccessOrder::Relaxed)]), "make the load at x.c:8 acquire");
        let failed = WatchedAccess { failed: true, ..at(2, 8, CompareExchange, AccessOrder::Relaxed) };
        assert_eq!(
            words(&[step(PathStepKind::ReadsFrom, at(1, 2, Store, AccessOrder::Release), failed)]),
            "make the failure order of the compare-exchange at x.c:8 acquire"
        );
        let fenced = Step { lacks_release: false, ..message(AccessOrder::Relaxed, AccessOrder::Relaxed) };
        assert_eq!(words(&[fenced]), "make the load at x.c:8 acquire");
        let count = |before: u64, after: u64| {
            let update = |thread| at(thread, 5, Update, AccessOrder::Relaxed);
            step(PathStepKind::ReadsFrom, update(before), update(after))
        };
        assert_eq!(words(&[count(1, 2)]), "make the read-modify-write at x.c:5 acq_rel");
        assert_eq!(race(&[]), Suggestion::Synchronise);
    }

    #[test]
    fn without_a_path_nothing_definite_is_said() {
        assert!(stale(&[]).contains("no longer known"));
    }
}
