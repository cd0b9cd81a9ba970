//! What each thread knows while a run is followed: happens-before and SC order as vector clocks, and the graph of the
//! run as far as it has come.
//!
//! A *node* is an event of the graph: no round, not pending, and more than a step without effect. A clock has one number per thread: how many of that
//! thread's nodes it contains. `cur`, `acq` and `rel` are the views of RC20 (what happens before the next access, what an
//! acquire fence would add, what a release fence has published), `sc` is the past in po ∪ rf ∪ mo ∪ fr. In an SC run
//! every access reads or follows the latest write, so a location needs only the clock of its latest message. A relaxed
//! store by the same thread does not continue a release sequence.
//!
//! Accesses to a location are ranked: 2i for the write at position i in modification order, 2i + 1 for the reads of it.
//! Two accesses are ordered by eco exactly if their ranks are, and in an SC run ranks do not decrease.

use super::locations::Locations;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, RunOperation, flags};
use rustc_hash::FxHashMap;

/// The location of a node that is not an access.
const NO_LOCATION: u32 = u32::MAX;

pub(super) struct Views {
    /// The number of threads.
    width: usize,
    nodes: Vec<Node>,
    /// The clock of each node: what happens before it, and itself.
    clocks: Vec<u32>,
    /// By thread.
    threads: Vec<ThreadViews>,
    /// By location.
    memory: Vec<LocationViews>,
    /// Objects by address.
    objects: FxHashMap<u64, ObjectViews>,
    /// The seq_cst nodes.
    seq_cst: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Its index in the run.
    pub event: u32,
    pub thread: u32,
    /// How many nodes of its thread are before it.
    pub number: u32,
    /// Its location, if it is an access.
    location: u32,
    pub rank: u32,
    pub writes: bool,
    pub updates: bool,
    pub fence: bool,
}

struct ThreadViews {
    nodes: Vec<u32>,
    /// What happens before its first node.
    start: Vec<u32>,
    cur: Vec<u32>,
    acq: Vec<u32>,
    rel: Vec<u32>,
    sc: Vec<u32>,
    /// What a join learns.
    end: Option<(Vec<u32>, Vec<u32>)>,
}

struct LocationViews {
    /// What an acquire learns from the latest write.
    message: Vec<u32>,
    order: SeqOrder,
    accesses: Vec<u32>,
    /// Without the initial write: the message at position 1 is the first.
    messages: Vec<u32>,
    mixed: bool,
}

/// What the next access of a location is after, in SC.
struct SeqOrder {
    latest_write: Vec<u32>,
    all: Vec<u32>,
}

struct ObjectViews {
    /// What exclusive unlocks, gives and touches published.
    exclusive: Vec<u32>,
    /// What shared unlocks published.
    shared: Vec<u32>,
    order: SeqOrder,
}

impl Node {
    pub fn location(&self) -> Option<usize> {
        (self.location != NO_LOCATION).then_some(self.location as usize)
    }

    /// The position of the write that it is, or reads.
    pub fn position(&self) -> usize {
        self.rank as usize / 2
    }
}

impl Views {
    pub fn new(events: &[RunEvent], locations: &Locations) -> Views {
        let started = |event: &RunEvent| match event.operation.act {
            Act::Start => event.operation.address as u32 & 0xffff,
            _ => 0,
        };
        let width = events.iter().map(|event| event.thread.max(started(event)) as usize + 1).max().unwrap_or(0);
        let clock = || vec![0; width];
        let thread = |_| ThreadViews {
            nodes: Vec::new(),
            start: clock(),
            cur: clock(),
            acq: clock(),
            rel: clock(),
            sc: clock(),
            end: None,
        };
        let location = |location| LocationViews {
            message: clock(),
            order: SeqOrder::new(width),
            accesses: Vec::new(),
            messages: Vec::new(),
            mixed: locations.is_mixed(location),
        };
        Views {
            width,
            nodes: Vec::with_capacity(events.len()),
            clocks: Vec::with_capacity(events.len() * width),
            threads: (0..width).map(thread).collect(),
            memory: (0..locations.count()).map(location).collect(),
            objects: FxHashMap::default(),
            seq_cst: Vec::new(),
        }
    }

    /// Whether the next access of a thread may miss the latest write of a location, by happens-before and SC alone. This
    /// is a cheap test that nearly all accesses fail.
    pub fn may_be_stale(&self, thread: u32, location: usize) -> bool {
        let memory = &self.memory[location];
        // If the latest write is known, or only its own thread accesses the location, nothing can be missed.
        let Some(&last) = memory.accesses.last() else { return false };
        let last = self.nodes[last as usize];
        !memory.messages.is_empty() && !contains(&self.threads[thread as usize].cur, &last)
    }

    /// The positions in modification order that the next access of a thread may read or be placed behind, by coherence,
    /// and that are not SC.
    pub fn stale_positions(&self, thread: u32, location: usize) -> (usize, usize) {
        let thread = &self.threads[thread as usize];
        let memory = &self.memory[location];
        let newest = self.last(&memory.messages, &thread.sc);
        let oldest = if newest == 0 { 0 } else { self.last(&memory.accesses, &thread.cur) };
        (oldest, newest)
    }

    /// The node that is the message at a position, which is not that of the initial one.
    pub fn message(&self, location: usize, position: usize) -> u32 {
        self.memory[location].messages[position - 1]
    }

    /// Whether nothing has been written to the location.
    pub fn is_initial(&self, location: usize) -> bool {
        self.memory[location].messages.is_empty()
    }

    /// An access that read the initial value.
    pub fn reader_of_initial(&self, location: usize) -> Option<u32> {
        let first = *self.memory[location].accesses.first()?;
        let node = self.node(first);
        (!node.writes || node.updates).then_some(first)
    }

    /// The index in the run of a node.
    pub fn event(&self, node: u32) -> usize {
        self.node(node).event as usize
    }

    /// Whether a node is an RMW.
    pub fn updates(&self, node: u32) -> bool {
        self.node(node).updates
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub fn seq_cst(&self) -> &[u32] {
        &self.seq_cst
    }

    /// What a thread knows before its next event.
    pub fn current(&self, thread: u32) -> &[u32] {
        &self.threads[thread as usize].cur
    }

    /// What happens before a node, and the node.
    pub fn clock(&self, node: u32) -> &[u32] {
        &self.clocks[node as usize * self.width..][..self.width]
    }

    /// What happens before a node without what it acquires itself.
    pub fn clock_before(&self, node: u32) -> &[u32] {
        let Node { thread, number, .. } = *self.node(node);
        let thread = &self.threads[thread as usize];
        match number.checked_sub(1) {
            Some(previous) => self.clock(thread.nodes[previous as usize]),
            None => &thread.start,
        }
    }

    /// The nodes of a thread in program order.
    pub fn of_thread(&self, thread: u32) -> &[u32] {
        &self.threads[thread as usize].nodes
    }

    /// The accesses to a location in order.
    pub fn accesses(&self, location: usize) -> &[u32] {
        &self.memory[location].accesses
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.width
    }

    pub fn locations(&self) -> usize {
        self.memory.len()
    }

    /// The newest position of these nodes of one location that a clock contains; 0 if there is none.
    pub fn last(&self, nodes: &[u32], clock: &[u32]) -> usize {
        nodes
            .iter()
            .rev()
            .map(|&node| self.node(node))
            .find(|node| contains(clock, node))
            .map_or(0, |node| node.position())
    }

    /// Follows an event.
    pub fn step(&mut self, index: usize, event: &RunEvent, locations: &Locations) {
        let RunOperation { act, order, address, .. } = event.operation;
        if act == Act::Local && order == RecordedOrder::Plain {
            return;
        }
        let id = self.nodes.len() as u32;
        let location = locations.at(index);
        let me = event.thread as usize;
        let thread = &mut self.threads[me];
        if thread.nodes.is_empty() {
            thread.start.clone_from(&thread.cur);
        }
        let number = thread.nodes.len() as u32;
        thread.nodes.push(id);
        for clock in [&mut thread.cur, &mut thread.acq, &mut thread.sc] {
            clock[me] = number + 1;
        }
        let mut node = Node {
            event: index as u32,
            thread: event.thread,
            number,
            location: location.map_or(NO_LOCATION, |location| location as u32),
            rank: 0,
            writes: matches!(act, Act::Store | Act::Update),
            updates: act == Act::Update,
            fence: matches!(act, Act::Fence | Act::Local),
        };
        match act {
            Act::Load | Act::Store | Act::Update => {
                let location = &mut self.memory[node.location as usize];
                location.access(thread, id, &mut node, order, !event.is(flags::UNCHECKED));
            }
            Act::Fence | Act::Local => thread.fence(order),
            Act::Start => {
                let (cur, sc) = (thread.cur.clone(), thread.sc.clone());
                if let Some(child) = self.threads.get_mut(address as usize) {
                    child.learn(&cur);
                    join(&mut child.sc, &sc);
                }
            }
            Act::End => thread.end = Some((thread.cur.clone(), thread.sc.clone())),
            Act::Join => self.join_thread(me, address),
            Act::Exit => {}
            _ if event.is(flags::TIMED_OUT) => self.object(me, address, Act::LockFails),
            _ => self.object(me, address, act),
        }
        self.nodes.push(node);
        self.clocks.extend_from_slice(&self.threads[me].cur);
        if order == RecordedOrder::SeqCst && (location.is_some() || node.fence) && !event.is(flags::UNCHECKED) {
            self.seq_cst.push(id);
        }
    }

    fn join_thread(&mut self, me: usize, ended: u64) {
        let end = self.threads.get(ended as usize).and_then(|thread| thread.end.clone());
        if let Some((cur, sc)) = end {
            self.threads[me].learn(&cur);
            join(&mut self.threads[me].sc, &sc);
        }
    }

    /// An operation on an object. One that fails or times out learns nothing, but has its place in the order.
    fn object(&mut self, me: usize, address: u64, act: Act) {
        let thread = &mut self.threads[me];
        let width = self.width;
        let object = self.objects.entry(address).or_insert_with(|| ObjectViews {
            exclusive: vec![0; width],
            shared: vec![0; width],
            order: SeqOrder::new(width),
        });
        if matches!(act, Act::Lock | Act::LockShared | Act::Take | Act::Touch) {
            thread.learn(&object.exclusive);
        }
        if matches!(act, Act::Lock | Act::Touch) {
            thread.learn(&object.shared);
        }
        match act {
            Act::Unlock | Act::Give | Act::Touch => join(&mut object.exclusive, &thread.cur),
            Act::UnlockShared => join(&mut object.shared, &thread.cur),
            _ => {}
        }
        let only_reads = matches!(act, Act::LockShared | Act::UnlockShared | Act::LockFails);
        object.order.access(&mut thread.sc, !only_reads);
    }
}

impl ThreadViews {
    fn learn(&mut self, clock: &[u32]) {
        join(&mut self.cur, clock);
        join(&mut self.acq, clock);
    }

    fn fence(&mut self, order: RecordedOrder) {
        if order.acquires() {
            self.cur.clone_from(&self.acq);
            join(&mut self.sc, &self.cur);
        }
        if order.releases() {
            self.rel.clone_from(&self.cur);
        }
    }
}

impl LocationViews {
    fn access(&mut self, thread: &mut ThreadViews, id: u32, node: &mut Node, order: RecordedOrder, checked: bool) {
        if !node.writes || node.updates {
            join(&mut thread.acq, &self.message);
            if order.acquires() {
                join(&mut thread.cur, &self.message);
            }
        }
        if node.writes {
            self.messages.push(id);
            // A release sequence continues through RMWs only. In mixed locations a part of the old message may remain.
            if !node.updates && !self.mixed {
                self.message.fill(0);
            }
            join(&mut self.message, if order.releases() { &thread.cur } else { &thread.rel });
        }
        node.rank = 2 * self.messages.len() as u32 + u32::from(!node.writes);
        if checked {
            self.order.access(&mut thread.sc, node.writes);
        } else {
            // What it read or overwrote is not known, so it is in the order only as far as it synchronises.
            join(&mut thread.sc, &thread.cur);
        }
        self.accesses.push(id);
    }
}

impl SeqOrder {
    fn new(width: usize) -> SeqOrder {
        SeqOrder { latest_write: vec![0; width], all: vec![0; width] }
    }

    /// A thread's access is after the latest write, and a write also after the reads of it.
    fn access(&mut self, sc: &mut [u32], writes: bool) {
        if writes {
            join(sc, &self.all);
            self.latest_write.copy_from_slice(sc);
            self.all.copy_from_slice(sc);
        } else {
            join(sc, &self.latest_write);
            join(&mut self.all, sc);
        }
    }
}

/// Whether a clock contains a node.
pub(super) fn contains(clock: &[u32], node: &Node) -> bool {
    clock[node.thread as usize] > node.number
}

/// Adds what another clock knows.
pub(super) fn join(into: &mut [u32], other: &[u32]) {
    into.iter_mut().zip(other).for_each(|(mine, theirs)| *mine = (*mine).max(*theirs));
}
