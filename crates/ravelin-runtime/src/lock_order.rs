//! Locks that threads lock in different orders: a deadlock that another schedule may have, reported without it.
//!
//! When a thread waits for a lock while it holds others, each of those has an *edge* to the new one, with the thread
//! and all locks that it held. A circle of edges may deadlock if its edges belong to different threads, no two of them
//! hold a common lock (a gate lock, by which only one of them gets that far), no two are ordered by
//! [`crate::start_order`], and each lock is wanted in a way that its holder excludes (two readers do not wait for each
//! other). This is the generalised Goodlock algorithm (Agarwal, Wang and Stoller 2005; Bensalem and Havelund 2005). A
//! lock that is only tried, or waited for with a time limit, has no edge to it: its thread does not wait for ever.
//!
//! A thread that holds no other lock does nothing here. An edge that the thread knows already costs a lookup in a small
//! cache of the thread; a new one is added under a global lock. Edges end with their locks, when these are destroyed or
//! their memory is freed. The end of a lock of Rust or C++ on a stack is not seen: it is another lock if its memory was
//! written since. Where writes are not watched, such locks of Rust have no edges.

use crate::held::{HeldLock, LockMode, call_record};
use crate::spin::Spin;
use crate::start_order::StartClock;
use crate::this_thread::WatchedThread;
use crate::{blocks, library, options, race, report, shadow, threads};
use ravelin_clocks::race::cell;
use ravelin_findings::{AccessRecord, OrderStep, OrderStepKind, Problem};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Edges between the same two locks that are kept.
const MOST_ALIKE: usize = 16;
/// All edges that are kept: a program that locks hand over hand has many.
const MOST: usize = 1 << 16;
/// The longest circle that is searched for.
const LONGEST: usize = 8;
/// How many edges are looked at for one new edge.
const PATIENCE: usize = 1 << 12;
/// Edges that a thread remembers as known.
const CACHED: usize = 64;

/// Changes when locks are forgotten: what threads remember as known may be wrong then.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// The edges that a thread has added or seen, by a hash.
pub struct KnownEdges([u64; CACHED]);

impl KnownEdges {
    pub const fn new() -> KnownEdges {
        KnownEdges([0; CACHED])
    }

    /// Whether an edge with this hash is known.
    fn has(&self, hash: u64) -> bool {
        self.0[Self::slot(hash)] == hash
    }

    fn learn(&mut self, hash: u64) {
        self.0[Self::slot(hash)] = hash;
    }

    fn slot(hash: u64) -> usize {
        (hash >> 32) as usize % CACHED
    }
}

/// A lock was waited for while another one was held.
struct LockEdge {
    /// The lock that was held, and the one that was wanted.
    held: (usize, LockMode),
    wanted: (usize, LockMode),
    thread: u64,
    /// When, in the order of starting and joining.
    when: Arc<StartClock>,
    segment: u32,
    /// All locks that were held.
    guards: Vec<(usize, LockMode)>,
    /// Where the two were locked.
    holding: AccessRecord,
    wanting: AccessRecord,
}

impl LockEdge {
    /// Whether a circle may contain both.
    fn may_meet(&self, other: &LockEdge) -> bool {
        let in_common = |&(lock, mode): &(usize, LockMode)| {
            other.guards.iter().any(|&(guard, other)| guard == lock && !mode.shares_with(other))
        };
        self.thread != other.thread
            && !self.guards.iter().any(in_common)
            && !other.when.is_after(self.thread, self.segment)
            && !self.when.is_after(other.thread, other.segment)
    }

    /// Whether this edge is in every circle, now and later, that the other one is in.
    fn replaces(&self, other: &LockEdge) -> bool {
        self.held == other.held
            && self.wanted == other.wanted
            && self.guards.iter().all(|guard| other.guards.contains(guard))
            && (self.thread == other.thread || self.when.is_after(other.thread, other.segment))
    }

    /// Whether the thread of `next` can hold what this one waits for.
    fn waits_for(&self, next: &LockEdge) -> bool {
        self.wanted.0 == next.held.0 && !self.wanted.1.shares_with(next.held.1)
    }
}

struct LockGraph {
    /// By the lock that was held.
    edges: BTreeMap<usize, Vec<LockEdge>>,
    count: usize,
    /// All locks that have edges, and when the memory of those on a stack was written.
    locks: BTreeMap<usize, u64>,
}

impl LockGraph {
    const fn new() -> LockGraph {
        LockGraph { edges: BTreeMap::new(), count: 0, locks: BTreeMap::new() }
    }
}

static GRAPH: Spin<LockGraph> = Spin::new(LockGraph::new());

/// Whether a lock can have edges. Those of another lock at its place are forgotten.
fn is_lock(lock: usize) -> bool {
    let written = written(lock);
    GRAPH.lock().is_lock(lock, written)
}

/// Whether the lock that has edges is still at its place.
fn is_known(lock: usize) -> bool {
    let written = written(lock);
    written.is_some() && GRAPH.lock().locks.get(&lock).copied() == written
}

/// When the memory of a lock was written last, if another lock may have been at its place before: the end of locks in
/// other memory than a stack is seen. `None` if that is not known.
fn written(lock: usize) -> Option<u64> {
    if blocks::containing(lock).is_some() || threads::stack_owner(lock).is_none() {
        return Some(0);
    }
    if !race::are_watched() {
        return (!library::is_there()).then_some(0);
    }
    cell::last_write(shadow::cell(lock), lock & 7)
}

/// The thread, which is inside and watched, holds locks and is about to wait for another one, by a call that returns to
/// `pc`.
#[cold]
pub fn waits(thread: &mut WatchedThread, lock: usize, mode: LockMode, pc: usize) {
    if !options::looks_for(Problem::LockOrderInversion) {
        return;
    }
    // A mutex that is given up while a condition is waited for is not held meanwhile.
    let others = || thread.held.all().filter(|held| held.address() != lock).map(|held| (held.address(), held.mode));
    let hash = hash(others(), (lock, mode), thread.starts.segment());
    let guards: Vec<(usize, LockMode)> = if thread.known_edges.has(hash) { return } else { others().collect() };
    thread.known_edges.learn(hash);
    let wanting = call_record(thread.number, mode.access_kind(), thread.stack_at(pc));
    let mut circles = Vec::new();
    if !is_lock(lock) {
        return;
    }
    for held in thread.held.all().filter(|held| held.address() != lock) {
        if !is_lock(held.address()) {
            continue;
        }
        let edge = LockEdge {
            held: (held.address(), held.mode),
            wanted: (lock, mode),
            thread: thread.number,
            when: thread.starts.clock(),
            segment: thread.starts.segment(),
            guards: guards.clone(),
            holding: HeldLock::access(held, thread.number),
            wanting: wanting.clone(),
        };
        circles.extend(GRAPH.lock().add(edge));
    }
    thread.starts.has_edges();
    // A lock in between may have ended meanwhile.
    circles.retain(|circle| circle.iter().all(|step| is_known(step.address as usize)));
    for circle in circles {
        let [first, second, ..] = &*circle else { continue };
        report::misuse(Problem::LockOrderInversion, lock, first.after.clone(), second.after.clone(), circle);
    }
}

/// In a forked child nothing of this is known: threads of the parent hold no locks here.
pub fn begin_again() {
    *GRAPH.lock() = LockGraph::new();
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// The lock at this address does not exist any more.
pub fn forget(lock: usize) {
    let mut graph = GRAPH.lock();
    // Readers leave what they know beside the lock.
    for lock in [lock, lock.wrapping_sub(1)] {
        if graph.locks.contains_key(&lock) {
            graph.forget(lock);
        }
    }
}

/// A hash of the locks that are held, the one that is wanted, and when.
fn hash(guards: impl Iterator<Item = (usize, LockMode)>, wanted: (usize, LockMode), segment: u32) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let words = guards.chain([wanted]).flat_map(|(lock, mode)| [lock as u64, mode as u64]);
    let rest = [u64::from(segment), u64::from(GENERATION.load(Ordering::Relaxed))];
    words.chain(rest).fold(0x243f_6a88_85a3_08d3, mix) | 1
}

impl LockGraph {
    /// Adds an edge; the steps of a circle that it closes, if there is one.
    fn add(&mut self, edge: LockEdge) -> Option<Vec<OrderStep>> {
        let alike = self.edges.entry(edge.held.0).or_default();
        if alike.iter().any(|known| edge.replaces(known) && known.replaces(&edge)) {
            return None;
        }
        let before = alike.len();
        alike.retain(|known| !edge.replaces(known));
        self.count -= before - alike.len();
        let same_locks = alike.iter().filter(|known| known.wanted.0 == edge.wanted.0).count();
        let circle = self.circle(&edge);
        if same_locks < MOST_ALIKE && self.count < MOST {
            self.count += 1;
            self.edges.entry(edge.held.0).or_default().push(edge);
        }
        circle
    }

    /// Whether a lock can have edges. If its memory was written since it got edges, it is a new lock without any.
    fn is_lock(&mut self, lock: usize, written: Option<u64>) -> bool {
        if self.locks.get(&lock).is_some_and(|known| written != Some(*known)) {
            self.forget(lock);
        }
        if let Some(written) = written {
            self.locks.insert(lock, written);
        }
        written.is_some()
    }

    fn forget(&mut self, lock: usize) {
        GENERATION.fetch_add(1, Ordering::Relaxed);
        self.locks.remove(&lock);
        self.edges.remove(&lock);
        self.edges.retain(|_, edges| {
            edges.retain(|edge| edge.wanted.0 != lock);
            !edges.is_empty()
        });
        self.count = self.edges.values().map(Vec::len).sum();
    }

    /// The steps of a shortest circle that begins with a new edge.
    fn circle(&self, first: &LockEdge) -> Option<Vec<OrderStep>> {
        let mut patience = PATIENCE;
        (2..=LONGEST).find_map(|length| {
            let mut path = vec![first];
            let found = self.continues(&mut path, length, &mut patience);
            // After the first edge the one that waits for what its thread holds, and so on.
            path[1..].reverse();
            found.then(|| path.iter().map(|edge| step(edge)).collect())
        })
    }

    /// Searches for a way to continue a path of edges to a circle of this length.
    fn continues<'a>(&'a self, path: &mut Vec<&'a LockEdge>, length: usize, patience: &mut usize) -> bool {
        let (first, last) = (path[0], path[path.len() - 1]);
        for next in self.edges.get(&last.wanted.0).into_iter().flatten() {
            if *patience == 0 {
                return false;
            }
            *patience -= 1;
            if !last.waits_for(next) || !path.iter().all(|edge| edge.may_meet(next)) {
                continue;
            }
            path.push(next);
            let closes = path.len() == length && next.waits_for(first);
            if closes || (path.len() < length && self.continues(path, length, patience)) {
                return true;
            }
            path.pop();
        }
        false
    }
}

/// The edge as a step of a circle.
fn step(edge: &LockEdge) -> OrderStep {
    OrderStep {
        kind: OrderStepKind::WhileHolding,
        address: edge.held.0 as u64,
        before: edge.holding.clone(),
        after: edge.wanting.clone(),
        lacks_release: false,
        lacks_acquire: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockMode::{Read, Write};
    use ravelin_findings::AccessKind;

    const EMPTY: LockGraph = LockGraph::new();

    /// A thread holds locks, the last of which is the edge's, and waits for another one.
    fn edge(thread: u64, guards: &[(usize, LockMode)], wanted: (usize, LockMode)) -> LockEdge {
        let call = |lock: usize| call_record(thread, AccessKind::Lock, vec![lock as u64]);
        let held = guards[guards.len() - 1];
        LockEdge {
            held,
            wanted,
            thread,
            when: Arc::default(),
            segment: 0,
            guards: guards.to_vec(),
            holding: call(held.0),
            wanting: call(wanted.0),
        }
    }

    /// Which edges close a circle, and the locks that are held round it.
    fn circles(edges: Vec<LockEdge>) -> Vec<Option<Vec<u64>>> {
        let mut graph = EMPTY;
        let locks = |steps: Vec<OrderStep>| steps.iter().map(|step| step.address).collect();
        edges.into_iter().map(|edge| graph.add(edge).map(locks)).collect()
    }

    #[test]
    fn two_threads_in_different_orders_are_a_circle() {
        let found = circles(vec![edge(1, &[(10, Write)], (20, Write)), edge(2, &[(20, Write)], (10, Write))]);
        assert_eq!(found, [None, Some(vec![20, 10])]);
    }

    #[test]
    fn each_step_of_a_long_circle_locks_what_the_one_before_holds() {
        let next = |thread: u64, from: usize, to: usize| edge(thread, &[(from, Write)], (to, Write));
        let found = circles(vec![next(1, 10, 20), next(2, 20, 30), next(4, 20, 40), next(3, 30, 10)]);
        assert_eq!(found[3], Some(vec![30, 20, 10]));
        assert!(found[..3].iter().all(Option::is_none));
    }

    #[test]
    fn one_thread_cannot_wait_for_itself() {
        let found = circles(vec![edge(1, &[(10, Write)], (20, Write)), edge(1, &[(20, Write)], (10, Write))]);
        assert_eq!(found, [None, None]);
    }

    #[test]
    fn a_gate_lock_lets_only_one_of_them_in_unless_both_read_it() {
        let found = |gate: LockMode| {
            circles(vec![
                edge(1, &[(5, gate), (10, Write)], (20, Write)),
                edge(2, &[(5, gate), (20, Write)], (10, Write)),
            ])
        };
        assert_eq!(found(Write), [None, None]);
        assert_eq!(found(Read), [None, Some(vec![20, 10])]);
    }

    #[test]
    fn readers_wait_only_for_writers() {
        for (held, wanted) in [(Read, Read), (Read, Write), (Write, Read), (Write, Write)] {
            let found = circles(vec![edge(1, &[(10, held)], (20, wanted)), edge(2, &[(20, held)], (10, wanted))]);
            assert_eq!(found[1].is_some(), (held, wanted) != (Read, Read), "{held:?} {wanted:?}");
        }
    }

    #[test]
    fn threads_that_never_run_together_are_no_circle() {
        let mut first = crate::start_order::StartTime::default();
        first.has_edges();
        let over = first.release(1);
        let later = LockEdge { when: over, ..edge(2, &[(20, Write)], (10, Write)) };
        assert_eq!(circles(vec![edge(1, &[(10, Write)], (20, Write)), later]), [None, None]);
        let after = LockEdge { segment: first.segment(), ..edge(1, &[(10, Write)], (20, Write)) };
        let later = LockEdge { when: first.clock(), ..edge(2, &[(20, Write)], (10, Write)) };
        assert_eq!(circles(vec![after, later])[1], Some(vec![20, 10]), "the rest of the first thread is not over");
    }

    #[test]
    fn a_lock_that_is_forgotten_has_no_edges() {
        let mut graph = EMPTY;
        graph.add(edge(1, &[(10, Write)], (20, Write)));
        graph.add(edge(1, &[(20, Write)], (30, Write)));
        graph.forget(20);
        assert_eq!(graph.count, 0);
        assert!(graph.add(edge(2, &[(20, Write)], (10, Write))).is_none());
    }

    #[test]
    fn a_lock_whose_memory_was_written_is_another_one() {
        let mut graph = EMPTY;
        assert!(graph.is_lock(10, Some(7)) && graph.is_lock(20, Some(0)));
        graph.add(edge(1, &[(10, Write)], (20, Write)));
        assert!(graph.is_lock(10, Some(7)));
        assert_eq!(graph.count, 1);
        assert!(graph.is_lock(10, Some(8)));
        assert_eq!(graph.count, 0);
        graph.add(edge(1, &[(10, Write)], (20, Write)));
        assert!(!graph.is_lock(10, None), "one of which nothing is known has no edges");
        assert_eq!(graph.count, 0);
    }

    #[test]
    fn an_edge_takes_the_place_of_those_it_makes_superfluous() {
        let mut graph = EMPTY;
        graph.add(edge(1, &[(5, Write), (10, Write)], (20, Write)));
        assert_eq!(graph.count, 1);
        graph.add(edge(1, &[(10, Write)], (20, Write)));
        assert_eq!(graph.count, 1, "the same thread with fewer locks");
        graph.add(edge(1, &[(10, Write)], (20, Write)));
        graph.add(edge(2, &[(10, Write)], (20, Write)));
        assert_eq!(graph.count, 2);
        for thread in 3..100 {
            graph.add(edge(thread, &[(10, Write)], (20, Write)));
        }
        assert_eq!(graph.count, MOST_ALIKE);
    }
}
