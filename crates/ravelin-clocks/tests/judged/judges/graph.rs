//! The execution graph of a trace, with its relations by their definitions.
//!
//! Three relations are kept, each as the set of all that is before an event. All their edges go forward in the trace, so
//! the set of a new event is the union of those of the events that its own edges come from.
//!
//! - `happens`: (po ∪ sw)⁺, C11's happens-before.
//! - `views`: the same with the seq_cst fences as acq_rel RMWs of one hidden location, and with the seq_cst fences that
//!   are hidden behind seq_cst accesses as fences at all.
//! - `sc`: (po ∪ rf ∪ mo ∪ fr)⁺.
//!
//! Threads and locks add edges to all three.

use super::{Judgement, Write, judge};
use crate::judged::traces::{Act, Ask, Does, Event, LOCATIONS, LOCKS, SEMAPHORES, SyncOperation, THREADS};
use ravelin_clocks::AtomicOrder;

/// A set of events.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
    fn add(&mut self, event: usize) {
        if self.0.len() <= event / 64 {
            self.0.resize(event / 64 + 1, 0);
        }
        self.0[event / 64] |= 1 << (event % 64);
    }

    fn has(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|word| word >> (event % 64) & 1 == 1)
    }

    fn unite(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    thread: usize,
    label: Label,
    happens: Set,
    views: Set,
    sc: Set,
}

#[derive(Clone, Copy, Debug)]
enum Label {
    Read {
        x: usize,
        order: AtomicOrder,
        from: usize,
    },
    Write {
        x: usize,
        order: AtomicOrder,
        number: usize,
    },
    Update {
        x: usize,
        order: AtomicOrder,
        number: usize,
    },
    Fence {
        order: AtomicOrder,
    },
    HiddenFence,
    /// Of threads and locks.
    Other,
}

impl Label {
    fn location(self) -> Option<usize> {
        match self {
            Label::Read { x, .. } | Label::Write { x, .. } | Label::Update { x, .. } => Some(x),
            _ => None,
        }
    }

    /// The number of the write that is read.
    fn reads(self) -> Option<usize> {
        match self {
            Label::Read { from, .. } => Some(from),
            Label::Update { number, .. } => Some(number - 1),
            _ => None,
        }
    }

    fn writes(self) -> Option<usize> {
        match self {
            Label::Write { number, .. } | Label::Update { number, .. } => Some(number),
            _ => None,
        }
    }
}

pub struct Graph {
    nodes: Vec<Node>,
    /// The last event of each thread.
    last: Vec<Option<usize>>,
    writes: Vec<Vec<Write>>,
    /// The event of each write; none for the initial ones.
    written_by: Vec<Vec<Option<usize>>>,
    unlocks: Vec<Vec<usize>>,
    posts: Vec<Vec<usize>>,
    ends: Vec<Option<usize>>,
}

impl Graph {
    /// Only the first thread has begun; its beginning is event 0.
    pub fn new() -> Graph {
        let mut graph = Graph {
            nodes: Vec::new(),
            last: vec![None; THREADS],
            writes: vec![vec![Write { value: 0, update: false }]; LOCATIONS],
            written_by: vec![vec![None]; LOCATIONS],
            unlocks: vec![Vec::new(); LOCKS],
            posts: vec![Vec::new(); SEMAPHORES],
            ends: vec![None; THREADS],
        };
        graph.add(0, Label::Other, &[]);
        graph
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn check(&self, thread: usize, x: usize, ask: Ask) -> Option<Judgement> {
        let last = self.last[thread]?;
        let newest = |before: &Set, number: &dyn Fn(Label) -> Option<usize>| {
            let known = |&(index, node): &(usize, &Node)| {
                node.label.location() == Some(x) && (index == last || before.has(index))
            };
            self.nodes.iter().enumerate().filter(known).filter_map(|(_, node)| number(node.label)).max().unwrap_or(0)
        };
        // By coherence also what was read before is known.
        let known = newest(&self.nodes[last].views, &|label| label.writes().or(label.reads()));
        let forced = newest(&self.nodes[last].sc, &|label| label.writes());
        judge(&self.writes[x], known, forced, ask)
    }

    /// Whether an event happens before what the thread does next.
    pub fn happens_before(&self, event: usize, thread: usize) -> bool {
        self.last[thread].is_some_and(|last| last == event || self.nodes[last].happens.has(event))
    }

    pub fn perform(&mut self, event: Event) {
        let Event { thread, act } = event;
        match act {
            Act::Access { x, does, .. } => self.access(thread, x, does),
            Act::Synchronise(SyncOperation::Fence { order }) => {
                self.add(thread, Label::Fence { order }, &[]);
            }
            Act::Synchronise(SyncOperation::Spawn { child }) => {
                let spawn = self.add(thread, Label::Other, &[]);
                self.add(child, Label::Other, &[spawn]);
            }
            Act::Synchronise(SyncOperation::End) => self.ends[thread] = Some(self.add(thread, Label::Other, &[])),
            Act::Synchronise(SyncOperation::Join { child }) => {
                let ends: Vec<usize> = self.ends[child].into_iter().collect();
                self.add(thread, Label::Other, &ends);
            }
            Act::Synchronise(SyncOperation::Unlock { lock }) => {
                let unlock = self.add(thread, Label::Other, &[]);
                self.unlocks[lock].push(unlock);
            }
            Act::Synchronise(SyncOperation::Lock { lock }) => {
                self.add(thread, Label::Other, &self.unlocks[lock].clone());
            }
            Act::Synchronise(SyncOperation::Post { semaphore }) => {
                let post = self.add(thread, Label::Other, &[]);
                self.posts[semaphore].push(post);
            }
            Act::Synchronise(SyncOperation::Take { semaphore, .. }) => {
                self.add(thread, Label::Other, &self.posts[semaphore].clone());
            }
            Act::Synchronise(SyncOperation::Rename) => {}
        }
    }

    fn access(&mut self, thread: usize, x: usize, does: Does) {
        let Some(order) = does.order() else { return };
        let newest = self.writes[x].len() - 1;
        let label = match does {
            Does::Write(..) => Label::Write { x, order, number: newest + 1 },
            Does::Update(..) => Label::Update { x, order, number: newest + 1 },
            Does::Read(_) | Does::Nothing => Label::Read { x, order, from: newest },
        };
        let node = self.add(thread, label, &[]);
        if let Some(value) = does.writes() {
            self.writes[x].push(Write { value, update: matches!(does, Does::Update(..)) });
            self.written_by[x].push(Some(node));
        }
        if order == AtomicOrder::SeqCst {
            self.add(thread, Label::HiddenFence, &[]);
        }
    }

    /// Adds an event behind the last one of its thread and behind those that threads and locks put before it.
    fn add(&mut self, thread: usize, label: Label, synchronises: &[usize]) -> usize {
        let mut always = synchronises.to_vec();
        always.extend(self.last[thread]);
        let happens = self.past(&always, &self.synchronises(thread, label, false), |node| &node.happens);
        let views = self.past(&always, &self.synchronises(thread, label, true), |node| &node.views);
        let sc = self.past(&always, &self.communicates(label), |node| &node.sc);
        self.nodes.push(Node { thread, label, happens, views, sc });
        let index = self.nodes.len() - 1;
        self.last[thread] = Some(index);
        index
    }

    /// The events that edges come from, and all before them.
    fn past(&self, some: &[usize], others: &[usize], of: impl Fn(&Node) -> &Set) -> Set {
        let mut set = Set::default();
        for &event in some.iter().chain(others) {
            set.add(event);
            set.unite(of(&self.nodes[event]));
        }
        set
    }

    /// Where the sw edges to a new event come from.
    fn synchronises(&self, thread: usize, label: Label, hidden: bool) -> Vec<usize> {
        let acquires = match label {
            Label::Fence { order } => order.acquires(),
            Label::HiddenFence => hidden,
            Label::Read { order, .. } | Label::Update { order, .. } if order.acquires() => {
                return self.released(label, hidden);
            }
            _ => false,
        };
        let mut sources = Vec::new();
        if acquires {
            // An acquire fence: whatever was read before it by its thread.
            for node in self.nodes.iter().filter(|node| node.thread == thread) {
                sources.extend(self.released(node.label, hidden));
            }
        }
        let fence = |label| matches!(label, Label::Fence { order: AtomicOrder::SeqCst } | Label::HiddenFence);
        if hidden && fence(label) {
            // Each is an acq_rel RMW of the hidden location and reads from the last one.
            sources.extend(self.nodes.iter().rposition(|node| fence(node.label)));
        }
        sources
    }

    /// The release writes and release fences whose release sequence a read reads from.
    fn released(&self, read: Label, hidden: bool) -> Vec<usize> {
        let mut sources = Vec::new();
        let mut read = read;
        while let (Some(x), Some(from)) = (read.location(), read.reads())
            && let Some(write) = self.written_by[x][from]
        {
            let label = self.nodes[write].label;
            if let Label::Write { order, .. } | Label::Update { order, .. } = label
                && order.releases()
            {
                sources.push(write);
            }
            let releases = |node: &Node| match node.label {
                Label::Fence { order } => order.releases(),
                Label::HiddenFence => hidden,
                _ => false,
            };
            let writer = self.nodes[write].thread;
            let before = self.nodes[..write].iter().enumerate();
            sources.extend(before.filter(|(_, node)| node.thread == writer && releases(node)).map(|(index, _)| index));
            // A plain write reads nothing, so it begins the sequence.
            read = label;
        }
        sources
    }

    /// Where the rf, mo and fr edges to a new event come from.
    fn communicates(&self, label: Label) -> Vec<usize> {
        let Some(x) = label.location() else { return Vec::new() };
        let mut sources = Vec::new();
        if let Some(from) = label.reads() {
            sources.extend(self.written_by[x][from]);
        }
        if label.writes().is_some() {
            // It is the last in mo, so every write is before it and every read has read something older.
            let accesses = self.nodes.iter().enumerate().filter(|(_, node)| node.label.location() == Some(x));
            sources.extend(accesses.map(|(index, _)| index));
        }
        sources
    }
}
