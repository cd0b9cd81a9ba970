//! How one access came after another in this run, by reads of what others wrote: what would order the two if those
//! reads synchronised.
//!
//! The search goes backwards from the later access: from a thread, up to a moment, to whoever it had read from or
//! synchronised with before that moment. It ends at the thread of the earlier access, at a write that came after that access.
//! What C11 asks of each step of such a chain is that the write releases and the read acquires, by their orders or by fences; a
//! read-modify-write that only continues a release sequence needs neither. The shortest chain is taken.
//!
//! It is not known what happened in between by means that several threads share (semaphores, barriers), nor what is too long
//! ago; then there may be a chain that is not found.

use crate::sources::Reading;
use crate::this_thread::Watched;
use crate::threads;
use ravelin_clocks::{Epoch, Order, Tid};

/// Moments of threads that are looked at, besides those that the later access knows by happens-before.
const MOST: usize = 256;

/// A step of a chain: `reader` read what another thread wrote.
#[derive(Clone, Copy)]
pub struct Link {
    pub reader: Tid,
    pub reading: Reading,
    pub lacks_release: bool,
    pub lacks_acquire: bool,
}

/// An access that is remembered.
#[derive(Clone, Copy)]
pub struct Earlier {
    pub tid: Tid,
    /// Its epoch.
    pub epoch: Epoch,
    /// The epoch since which its thread had handed out nothing.
    pub since: Epoch,
}

/// What a thread did up to an epoch comes before the later access, if everything in between synchronises.
struct Node {
    tid: Tid,
    limit: Epoch,
    /// The node that was reached from here, and by which reading; `None` for where the search begins.
    next: Option<(usize, Reading)>,
}

/// The links from an earlier access to one that `thread` makes at its epoch `now`, last link first, without locks and the
/// like. Empty if none are known, or if nothing is known to be missing in them.
pub fn between(earlier: Earlier, thread: &Watched, now: Epoch, order_of: impl Fn(u64) -> Order) -> Vec<Link> {
    let Some((nodes, last)) = search(earlier, thread, now) else {
        return Vec::new();
    };
    let mut links = links(earlier, &nodes, last, order_of);
    links.retain(|link| link.reading.site != 0);
    if links.iter().any(|link| link.lacks_release || link.lacks_acquire) { links } else { Vec::new() }
}

/// Nodes, of which the last has been reached from the thread of the earlier access by the reading.
fn search(earlier: Earlier, thread: &Watched, now: Epoch) -> Option<(Vec<Node>, Reading)> {
    let me = thread.clocks.tid;
    let mut nodes = vec![Node { tid: me, limit: now - 1, next: None }];
    let known = thread.clocks.cur.hb.epochs().iter().enumerate();
    let known = known.map(|(tid, &limit)| Node { tid: tid as Tid, limit, next: None });
    nodes.extend(known.filter(|node| node.limit > 0 && node.tid != me));
    let most = nodes.len() + MOST;
    let mut at = 0;
    while at < nodes.len() {
        let (tid, limit) = (nodes[at].tid, nodes[at].limit);
        let readings = if tid == me { thread.sources.all() } else { threads::sources_of(tid) };
        let readings = || readings.iter().filter(|reading| reading.epoch <= limit);
        let reaches =
            |reading: &&Reading| reading.source.writer == earlier.tid && reading.source.written_at >= earlier.epoch;
        // The first write after the access is most likely the one that was meant to tell of it.
        if let Some(&last) = readings().filter(reaches).min_by_key(|reading| reading.source.written_at) {
            nodes.truncate(at + 1);
            return Some((nodes, last));
        }
        for &reading in readings() {
            let (tid, limit) = (reading.source.writer, reading.source.written_at);
            let is_new = !nodes.iter().any(|node| node.tid == tid && node.limit >= limit);
            if is_new && nodes.len() < most {
                nodes.push(Node { tid, limit, next: Some((at, reading)) });
            }
        }
        at += 1;
    }
    None
}

/// The links of a chain that ends with the last of `nodes`, and what they lack.
fn links(earlier: Earlier, nodes: &[Node], last: Reading, order_of: impl Fn(u64) -> Order) -> Vec<Link> {
    let mut links = Vec::new();
    let mut at = nodes.len() - 1;
    let mut reading = last;
    // What the write of the current link has to hand on: from which epoch on, and whether it does so by going on with the
    // release sequence from which its thread has read.
    let mut needed = earlier.since;
    let mut goes_on = false;
    loop {
        let node = &nodes[at];
        // The same access reads and is read from.
        let passes_on = node.next.is_some() && reading.epoch == node.limit;
        let acquires = order_of(reading.site).acquires() || (1..=node.limit).contains(&reading.fence);
        let is_lock = reading.site == 0;
        links.push(Link {
            reader: node.tid,
            reading,
            lacks_release: !is_lock && !goes_on && reading.source.released < needed,
            lacks_acquire: !is_lock && !passes_on && !acquires,
        });
        (needed, goes_on) = (reading.epoch, passes_on);
        match node.next {
            Some((next, by)) => (at, reading) = (next, by),
            None => break,
        }
    }
    links.reverse();
    links
}
