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
//! their memory is freed.

use crate::held::{HeldLock, LockMode, call_record};
use crate::spin::Spin;
use crate::start_order::StartClock;
use crate::this_thread::WatchedThread;
use crate::{options, report};
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

    /// Whether the hash is known; it is from now on.
    fn learns(&mut self, hash: u64) -> bool {
        let slot = &mut self.0[hash as usize % CACHED];
        std::mem::replace(slot, hash) == hash
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
}

static GRAPH: Spin<LockGraph> = Spin::new(LockGraph { edges: BTreeMap::new(), count: 0 });

/// The thread, which is inside and watched, holds locks and is about to wait for another one, by a call that returns to
/// `pc`.
#[cold]
pub fn waits(thread: &mut WatchedThread, lock: usize, mode: LockMode, pc: usize) {
    if !options::looks_for(Problem::LockOrderInversion) {
        return;
    }
    // A mutex that is given up while a condition is waited for is not held meanwhile.
    let others = || thread.held.all().filter(|held| held.address() != lock);
    let guards: Vec<(usize, LockMode)> = others().map(|held| (held.address(), held.mode)).collect();
    let hash = hash(&guards, lock, mode, thread.starts.segment());
    if thread.known_edges.learns(hash) {
        return;
    }
    let wanting = call_record(thread.number, mode.access_kind(), thread.stack_at(pc));
    let mut circles = Vec::new();
    for held in thread.held.all().filter(|held| held.address() != lock) {
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
    for circle in circles {
        let [first, second, ..] = &*circle else { continue };
        report::misuse(Problem::LockOrderInversion, lock, first.after.clone(), second.after.clone(), circle);
    }
}

/// The lock at this address does not exist any more.
pub fn forget(lock: usize) {
    let mut graph = GRAPH.lock();
    if graph.count == 0 {
        return;
    }
    let before = graph.count;
    graph.forget(lock);
    if graph.count != before {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }
}

fn hash(guards: &[(usize, LockMode)], lock: usize, mode: LockMode, segment: u32) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let words = guards.iter().flat_map(|&(guard, mode)| [guard as u64, mode as u64]);
    let rest = [lock as u64, mode as u64, u64::from(segment), u64::from(GENERATION.load(Ordering::Relaxed))];
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

    fn forget(&mut self, lock: usize) {
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
