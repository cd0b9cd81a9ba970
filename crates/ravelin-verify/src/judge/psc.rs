//! RC11's order of seq_cst events, psc, in the graph of an SC run, and what it forbids to the next access.
//!
//! psc relates a to b if (\[E_sc\] ∪ \[F_sc\]; hb?); scb; (\[E_sc\] ∪ hb?; \[F_sc\]) does, with scb = po ∪ po≠; hb; po≠ ∪
//! hb|loc ∪ mo ∪ fr (≠: to another location), or if \[F_sc\]; (hb ∪ hb; eco; hb); \[F_sc\] does. All these relations are
//! contained in the order of the run. So the predecessors of an event are known when it happens, and each event keeps
//! the set of all events that reach it.
//!
//! A next access e of x that reads, or is placed behind, position i gets fr or mo edges to every write at a later
//! position, and those make new edges of psc: from the fences that happen before e, and from e itself if it is seq_cst.
//! Edges into e by rf, mo and fr come from events that already had edges to those writes. So only what reaches e through
//! its thread matters, that does not depend on i, and a cycle is closed exactly if i is less than a bound.
//!
//! Cost: quadratic in the seq_cst events, with skips over all that is already known to reach an event. It is paid only
//! when a bound is asked for.

use super::views::{Node, Views, contains};

/// Which seq_cst events reach which. It is brought up to date when a bound is asked for.
#[derive(Default)]
pub(super) struct SeqCstOrder {
    /// By seq_cst event: those that reach it.
    before: Vec<Bits>,
}

impl SeqCstOrder {
    /// The oldest position that the next access of a thread to a location may read or be placed behind; `None` if the
    /// time is over.
    pub fn bound(
        &mut self,
        views: &Views,
        thread: u32,
        location: usize,
        seq_cst: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let events = views.seq_cst();
        if events.is_empty() {
            return Some(0);
        }
        self.extend(views, is_over)?;
        let current = views.current(thread);
        let fences = self.reaching(events.len(), |number| {
            let node = views.node(events[number]);
            node.fence && contains(current, node)
        });
        // fences × {w, F' : w or a read of w happens before F'} for later writes w.
        let by_fences = |number: usize| {
            let node = views.node(events[number]);
            match node.fence {
                true => views.last(views.accesses(location), views.clock(events[number])),
                false => written(node, location),
            }
        };
        let bound = fences.iter().map(by_fences).max().unwrap_or(0);
        if !seq_cst {
            return Some(bound);
        }
        let elsewhere = views.of_thread(thread).iter().rev().copied();
        let elsewhere = elsewhere.clone().find(|&node| views.node(node).location() != Some(location));
        let reaching = self.reaching(events.len(), |number| {
            let node = views.node(events[number]);
            if node.fence {
                return contains(current, node);
            }
            node.thread == thread
                || (node.location() == Some(location) && contains(current, node))
                || elsewhere.is_some_and(|last| continues_elsewhere(views, node, views.clock(last)))
        });
        // e × {w, F' : w happens before F'} for later writes w.
        let by_access = |number: usize| {
            let node = views.node(events[number]);
            match node.fence {
                true => last_written(views, location, views.clock(events[number])),
                false => written(node, location),
            }
        };
        reaching.iter().map(by_access).max().unwrap_or(0).max(bound).into()
    }

    /// The events with an edge, of the first ones, and all that reach them.
    fn reaching(&self, count: usize, has_edge: impl Fn(usize) -> bool) -> Bits {
        let mut reaching = Bits::default();
        // The newest first: most of the others reach one of them.
        for number in (0..count).rev() {
            if !reaching.contains(number) && has_edge(number) {
                reaching.insert(number);
                reaching.join(&self.before[number]);
            }
        }
        reaching
    }

    fn extend(&mut self, views: &Views, is_over: &dyn Fn() -> bool) -> Option<()> {
        let events = views.seq_cst();
        while self.before.len() < events.len() {
            if is_over() {
                return None;
            }
            let number = self.before.len();
            let edge = match views.node(events[number]).fence {
                true => fence_edge,
                false => access_edge,
            };
            let before = self.reaching(number, |earlier| edge(views, events[earlier], events[number]));
            self.before.push(before);
        }
        Some(())
    }
}

/// Whether psc relates a seq_cst event to a later fence.
fn fence_edge(views: &Views, from: u32, to: u32) -> bool {
    let clock = views.clock(to);
    let node = views.node(from);
    let Some(location) = node.location() else {
        // hb, or hb; eco; hb by some location.
        return contains(clock, node)
            || (0..views.locations()).any(|location| {
                let accesses = views.accesses(location);
                let first = accesses.iter().find(|&&access| contains(views.clock(access), node));
                let last = accesses.iter().rev().map(|&access| views.node(access)).find(|last| contains(clock, last));
                first.zip(last).is_some_and(|(&first, last)| views.node(first).rank < last.rank)
            });
    };
    // po; hb?, which includes po≠; hb; po≠; hb?.
    if clock[node.thread as usize] > node.number + 1 {
        return true;
    }
    // hb|loc, mo or fr; hb?.
    let accesses = views.accesses(location).iter().rev().take_while(|&&access| access > from);
    let mut accesses = accesses.map(|&access| (access, views.node(access)));
    accesses.any(|(access, other)| contains(clock, other) && (other.writes || contains(views.clock(access), node)))
}

/// Whether psc relates a seq_cst event to a later seq_cst access.
fn access_edge(views: &Views, from: u32, to: u32) -> bool {
    let (first, second) = (views.node(from), views.node(to));
    let (clock, clock_before) = (views.clock(to), views.clock_before(to));
    let Some(location) = second.location() else { return false };
    if first.fence {
        // hb?; po, or hb; (hb|loc ∪ mo ∪ fr).
        let accesses = views.accesses(location).iter().rev().skip_while(|&&access| access >= to);
        let mut accesses = accesses.take_while(|&&access| access > from);
        return contains(clock_before, first)
            || accesses.any(|&access| {
                let between = second.writes || contains(clock, views.node(access));
                between && contains(views.clock(access), first)
            });
    }
    // po, hb|loc, mo or fr.
    if first.thread == second.thread
        || (first.location() == second.location() && (second.writes || contains(clock, first)))
    {
        return true;
    }
    let own = views.of_thread(second.thread)[..second.number as usize].iter().rev();
    let elsewhere = own.copied().find(|&node| views.node(node).location() != second.location());
    elsewhere.is_some_and(|last| continues_elsewhere(views, first, views.clock(last)))
}

/// Whether po≠; hb leads from an access to the end of a clock.
fn continues_elsewhere(views: &Views, from: &Node, clock: &[u32]) -> bool {
    let known = clock[from.thread as usize] as usize;
    let later = views.of_thread(from.thread).get(from.number as usize + 1..known).unwrap_or_default();
    later.iter().any(|&node| views.node(node).location() != from.location())
}

/// The position of a write to the location; 0 for other accesses.
fn written(node: &Node, location: usize) -> usize {
    if node.writes && node.location() == Some(location) { node.position() } else { 0 }
}

/// The newest position in the location of a write in a clock.
fn last_written(views: &Views, location: usize, clock: &[u32]) -> usize {
    let accesses = views.accesses(location).iter().rev().map(|&access| views.node(access));
    accesses.filter(|node| node.writes).find(|node| contains(clock, node)).map_or(0, |node| node.position())
}

/// A set of small numbers.
#[derive(Clone, Default)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn insert(&mut self, number: usize) {
        if self.words.len() <= number / 64 {
            self.words.resize(number / 64 + 1, 0);
        }
        self.words[number / 64] |= 1 << (number % 64);
    }

    fn join(&mut self, other: &Bits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        self.words.iter_mut().zip(&other.words).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(index * 64 + bit)
            })
        })
    }
}
