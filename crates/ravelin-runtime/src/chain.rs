//! How one access came after another in this run, through reads of what other threads wrote. If those reads
//! synchronised, the two accesses would be ordered.
//!
//! The search goes backwards from the later access. It goes from a thread, up to a moment, to the threads that it had
//! read from or synchronised with before that moment. It ends at the thread of the earlier access, at a write that came
//! after that access. C11 requires of each step of such a chain that the write releases and the read acquires, by their
//! orders or by fences. A read-modify-write that only continues a release sequence needs neither. The shortest chain is
//! taken.
//!
//! The search does not know what happened through objects that several threads share (semaphores, barriers), nor what
//! is too long ago. It may therefore miss a chain.

use crate::sources::ReadEvent;
use crate::this_thread::WatchedThread;
use crate::threads;
use ravelin_clocks::{AtomicOrder, Epoch, Tid};

/// The most moments of threads to look at, besides those that the later access knows by happens-before.
const MOST: usize = 256;

/// A step of a chain: `reader` read what another thread wrote.
#[derive(Clone, Copy)]
pub struct ChainStep {
    pub reader: Tid,
    pub reading: ReadEvent,
    pub lacks_release: bool,
    pub lacks_acquire: bool,
}

/// An access that is remembered.
#[derive(Clone, Copy)]
pub struct EarlierAccess {
    pub tid: Tid,
    /// Its epoch.
    pub epoch: Epoch,
    /// The epoch since which its thread had released nothing.
    pub since: Epoch,
}

/// What a thread did up to an epoch comes before the later access, if everything in between synchronises.
struct Node {
    tid: Tid,
    limit: Epoch,
    /// The node that was reached from here, and by which reading; `None` for where the search begins.
    next: Option<(usize, ReadEvent)>,
}

/// The links from an earlier access to one that `thread` makes at its epoch `now`, last link first, without locks and
/// the like. Empty if no links are known, or if they are not known to lack anything.
pub fn between(
    earlier: EarlierAccess,
    thread: &WatchedThread,
    now: Epoch,
    order_of: impl Fn(u64) -> AtomicOrder,
) -> Vec<ChainStep> {
    let Some((nodes, last)) = search(earlier, thread, now) else {
        return Vec::new();
    };
    let mut links = links(earlier, &nodes, last, order_of);
    links.retain(|link| link.reading.site != 0);
    if links.iter().any(|link| link.lacks_release || link.lacks_acquire) { links } else { Vec::new() }
}

/// Nodes, of which the last has been reached from the thread of the earlier access by the reading.
fn search(earlier: EarlierAccess, thread: &WatchedThread, now: Epoch) -> Option<(Vec<Node>, ReadEvent)> {
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
            |reading: &&ReadEvent| reading.source.writer == earlier.tid && reading.source.written_at >= earlier.epoch;
        // The first write after the access is most likely the one that was meant to announce it.
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
fn links(
    earlier: EarlierAccess,
    nodes: &[Node],
    last: ReadEvent,
    order_of: impl Fn(u64) -> AtomicOrder,
) -> Vec<ChainStep> {
    let mut links = Vec::new();
    let mut at = nodes.len() - 1;
    let mut reading = last;
    // What the write of the current link has to pass on: from which epoch, and whether it does so by continuing the
    // release sequence that its thread has read from.
    let mut needed = earlier.since;
    let mut goes_on = false;
    loop {
        let node = &nodes[at];
        // The same access reads and is read from.
        let passes_on = node.next.is_some() && reading.epoch == node.limit;
        let acquires = order_of(reading.site).acquires() || (1..=node.limit).contains(&reading.fence);
        let is_lock = reading.site == 0;
        links.push(ChainStep {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_thread;
    use crate::threads::tests::{beside, now, watched};
    use ravelin_clocks::{SiteCode, WriteSource};

    /// A thread that no test has, with the earlier access.
    const WRITER: Tid = 60_000;
    const EARLIER: EarlierAccess = EarlierAccess { tid: WRITER, epoch: 5, since: 4 };
    /// When the later access is made.
    const NOW: Epoch = 1_000;
    /// Places in the program, which determine the order of the access there.
    const RELAXED: SiteCode = 1;
    const ACQUIRE: SiteCode = 2;

    fn order_of(site: SiteCode) -> AtomicOrder {
        if site == ACQUIRE { AtomicOrder::Acquire } else { AtomicOrder::Relaxed }
    }

    fn thread<'a>() -> &'a mut WatchedThread {
        // SAFETY: the calling thread's own state, which lives as long as its test.
        unsafe { &mut *this_thread::me() }
    }

    /// The calling thread reads, at its epoch `at`, what another wrote at `written_at` after a release at `released`.
    fn reads(at: Epoch, site: SiteCode, from: Tid, written_at: Epoch, released: Epoch) {
        thread().sources.read(at, site, 0x100, WriteSource { writer: from, written_at, site: 9, released });
    }

    /// What the links of the chain to the later access of the calling thread lack, last link first.
    fn lacks() -> Vec<(bool, bool)> {
        let links = between(EARLIER, thread(), NOW, order_of);
        links.iter().map(|link| (link.lacks_release, link.lacks_acquire)).collect()
    }

    #[test]
    fn a_read_of_a_later_write_lacks_what_its_orders_lack() {
        for (site, released, expected) in [
            (RELAXED, 0, vec![(true, true)]),
            (ACQUIRE, 0, vec![(true, false)]),
            (RELAXED, 7, vec![(false, true)]),
            (RELAXED, 4, vec![(false, true)]),
            (RELAXED, 3, vec![(true, true)]),
            // Nothing is missing, so there is nothing to suggest.
            (ACQUIRE, 7, vec![]),
        ] {
            watched(|| {
                reads(10, site, WRITER, 7, released);
                assert_eq!(lacks(), expected, "order {site}, released at {released}");
            });
        }
    }

    #[test]
    fn a_fence_after_the_read_acquires() {
        for (order, expected) in
            [(AtomicOrder::Acquire, false), (AtomicOrder::SeqCst, false), (AtomicOrder::Release, true)]
        {
            watched(|| {
                reads(10, RELAXED, WRITER, 7, 0);
                thread().sources.fence(11, order);
                assert_eq!(lacks(), [(true, expected)], "{order:?}");
            });
        }
    }

    #[test]
    fn a_write_before_the_earlier_access_and_a_read_after_the_later_one_tell_nothing() {
        watched(|| {
            reads(10, RELAXED, WRITER, 4, 0);
            reads(NOW, RELAXED, WRITER, 7, 0);
            reads(12, RELAXED, WRITER + 1, 7, 0);
            assert_eq!(lacks(), []);
            reads(NOW - 1, RELAXED, WRITER, 5, 0);
            assert_eq!(lacks(), [(true, true)]);
        });
    }

    #[test]
    fn the_first_write_after_the_access_is_the_one_that_counts() {
        watched(|| {
            reads(10, RELAXED, WRITER, 9, 0);
            reads(11, RELAXED, WRITER, 7, 0);
            reads(12, RELAXED, WRITER, 8, 0);
            let links = between(EARLIER, thread(), NOW, order_of);
            assert_eq!(links.iter().map(|link| link.reading.epoch).collect::<Vec<_>>(), [11]);
        });
    }

    #[test]
    fn a_chain_goes_through_other_threads_and_tells_the_last_link_first() {
        watched(|| {
            let ((middle, _), _) = beside(|| {
                reads(15, RELAXED, WRITER, 7, 0);
                now()
            });
            let (me, _) = now();
            reads(10, ACQUIRE, middle, 20, 0);
            let links = between(EARLIER, thread(), NOW, order_of);
            let told: Vec<_> = links.iter().map(|link| (link.reader, link.lacks_release, link.lacks_acquire)).collect();
            assert_eq!(told, [(me, true, false), (middle, true, true)]);
        });
    }

    #[test]
    fn what_a_thread_read_after_it_wrote_is_no_part_of_a_chain() {
        watched(|| {
            let ((middle, _), _) = beside(|| {
                reads(15, RELAXED, WRITER, 7, 0);
                now()
            });
            reads(10, ACQUIRE, middle, 14, 0);
            assert_eq!(lacks(), []);
        });
    }

    #[test]
    fn a_write_that_releases_before_the_read_that_it_should_hand_on_lacks_a_release() {
        for (released, lacks_release) in [(14, true), (15, false), (20, false)] {
            watched(|| {
                let ((middle, _), _) = beside(|| {
                    reads(15, ACQUIRE, WRITER, 7, 0);
                    now()
                });
                reads(10, RELAXED, middle, 20, released);
                assert_eq!(lacks(), [(lacks_release, true), (true, false)], "released at {released}");
            });
        }
    }

    #[test]
    fn an_update_that_goes_on_with_a_release_sequence_needs_no_orders_itself() {
        watched(|| {
            let ((middle, _), _) = beside(|| {
                // The update reads and writes at the same time.
                reads(20, RELAXED, WRITER, 7, 7);
                now()
            });
            reads(10, RELAXED, middle, 20, 0);
            assert_eq!(lacks(), [(false, true), (false, false)]);
        });
    }

    #[test]
    fn locks_in_a_chain_are_not_told() {
        watched(|| {
            let ((middle, _), _) = beside(|| {
                reads(15, RELAXED, WRITER, 7, 0);
                now()
            });
            thread().sources.synchronised(10, (middle, 20));
            assert_eq!(lacks(), [(true, true)], "the read of the thread in the middle only");
        });
    }
}
