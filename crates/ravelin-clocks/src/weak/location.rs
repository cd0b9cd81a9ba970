//! The messages of one atomic location in modification order, and what accesses do to them.
//!
//! An access is made in two steps, so that the caller knows what it will do before it changes anything:
//! [`WeakLocation::choose`] and [`WeakLocation::take`]. A candidate that would close a cycle of seq_cst fences is left out
//! of the choice.

use super::fences::{ClosesCycle, FenceOrder, FenceSet, SeqCstPlace};
use crate::clock::{Epoch, Tid};
use crate::history::SiteCode;
use crate::knowledge::PublishedClocks;
use crate::location::{CasKind, WriteSource};
use crate::messages::MessageAccess;
use crate::order::AtomicOrder;
use crate::thread::ThreadClocks;
use std::collections::VecDeque;

/// After this many accesses in a row that took an older message than the newest, a thread takes the newest: a loop that
/// waits for a value ends.
pub const PATIENCE: u32 = 16;

/// One atomic location.
#[derive(Clone, Debug)]
pub struct WeakLocation {
    /// In modification order; never empty.
    messages: VecDeque<WeakMessage>,
    /// How many older ones were forgotten.
    forgotten: usize,
    /// By thread: how many of its accesses in a row took an older message.
    stale: Vec<(Tid, u32)>,
}

#[derive(Clone, Debug, Default)]
struct WeakMessage {
    value: u64,
    /// The thread that wrote it, when, and where; `None` for the value at the beginning.
    written: Option<(Tid, Epoch, SiteCode)>,
    /// It was written by a read-modify-write of the message before it, so nothing can stand between them.
    joined: bool,
    /// What a reader learns.
    published: Option<PublishedClocks>,
    /// The threads that wrote or read it, each with the first time.
    seen: Vec<(Tid, Epoch)>,
    /// Fences that happen before writes up to this one, or before reads of older ones.
    fences: FenceSet,
    /// Fences that happen before a read of it.
    read_after: FenceSet,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub struct WeakAccess {
    pub act: WeakAct,
    /// The order; that of success for a compare-exchange.
    pub order: AtomicOrder,
    /// The order of a compare-exchange that fails.
    pub failure: AtomicOrder,
    pub site: SiteCode,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakAct {
    Load,
    Store,
    /// A read-modify-write that always writes.
    Update,
    CompareExchange {
        kind: CasKind,
        expected: u64,
    },
}

/// Which message an access takes, and what it does there.
#[derive(Clone, Copy, Debug)]
pub struct WeakChoice {
    position: usize,
    /// A compare-exchange that succeeds is an update, one that fails a load.
    pub does: MessageAccess,
    /// The order that counts.
    pub order: AtomicOrder,
    /// The value of the message.
    pub value: u64,
}

/// What an access has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakOutcome {
    /// The place in modification order of the message that it read, and of the one that it wrote. The value at the beginning
    /// is at 0.
    pub reads: Option<usize>,
    pub writes: Option<usize>,
    /// The newest write, if the access read or stands behind it: memory keeps that value.
    pub newer: Option<NewerWrite>,
    /// The write that it read, as in [`crate::LocationClocks::source`].
    pub source: Option<WriteSource>,
}

/// The newest write of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewerWrite {
    pub value: u64,
    /// The thread that wrote it, when, and where.
    pub written: Option<(Tid, Epoch, SiteCode)>,
}

impl WeakLocation {
    /// A location whose first value all threads know.
    pub fn new(value: u64) -> WeakLocation {
        let first = WeakMessage { value, ..WeakMessage::default() };
        WeakLocation { messages: VecDeque::from([first]), forgotten: 0, stale: Vec::new() }
    }

    /// The newest value.
    pub fn newest(&self) -> u64 {
        self.messages[self.last()].value
    }

    pub(crate) fn newest_published(&self) -> Option<&PublishedClocks> {
        self.messages[self.last()].published.as_ref()
    }

    /// How many messages are kept.
    pub fn kept(&self) -> usize {
        self.messages.len()
    }

    /// Memory has this value now, and nothing is known of the write. It takes the place of all others. What the newest one
    /// published stays.
    pub fn replace(&mut self, value: u64) {
        let last = self.last();
        self.drop_first(last);
        let message = &mut self.messages[0];
        (message.value, message.joined) = (value, false);
        message.seen.clear();
    }

    /// Forgets messages beyond the newest `most`, of which there is at least one. They can no longer be read.
    pub fn limit(&mut self, most: usize) {
        self.drop_first(self.messages.len().saturating_sub(most.max(1)));
    }

    /// Forgets messages that no thread can read. All threads know these epochs.
    pub fn forget(&mut self, known_to_all: &[Epoch]) {
        let knows = |&(tid, at): &(Tid, Epoch)| known_to_all.get(usize::from(tid)) >= Some(&at);
        let floor = self.messages.iter().rposition(|message| message.seen.iter().any(knows));
        self.drop_first(floor.unwrap_or(0));
    }

    /// Chooses the message for an access, which is then to be made ([`WeakLocation::take`]). `choose` gets the number of
    /// candidates, and returns one of them; number 0 is the newest.
    pub fn choose(
        &self,
        thread: &mut ThreadClocks,
        fences: &mut FenceOrder,
        access: WeakAccess,
        mut choose: impl FnMut(usize) -> usize,
    ) -> WeakChoice {
        if access.is_seq_cst() && fences.place() == SeqCstPlace::Before {
            fences.add(thread);
            thread.advance();
        }
        let mut candidates = Vec::new();
        for position in (self.oldest(thread, fences)..self.messages.len()).rev() {
            self.add_candidates(position, access, &mut candidates);
        }
        loop {
            // The newest message is always there, and closes no cycle.
            let several = candidates.len() > 1;
            let index = if several { choose(candidates.len()).min(candidates.len() - 1) } else { 0 };
            if self.order(thread, fences, candidates[index], false).is_ok() {
                return candidates[index];
            }
            candidates.remove(index);
        }
    }

    /// Makes the access that was chosen. If it writes, it writes `value`.
    pub fn take(
        &mut self,
        thread: &mut ThreadClocks,
        fences: &mut FenceOrder,
        access: WeakAccess,
        choice: WeakChoice,
        value: u64,
    ) -> WeakOutcome {
        let outcome = self.make(thread, fences, choice, access.site, value);
        thread.advance();
        if access.is_seq_cst() && fences.place() == SeqCstPlace::After {
            fences.add(thread);
            thread.advance();
        }
        outcome
    }

    /// What an access may do at a message.
    fn add_candidates(&self, position: usize, access: WeakAccess, candidates: &mut Vec<WeakChoice>) {
        let value = self.messages[position].value;
        let is_open = self.is_open(position);
        let mut add = |does, order| candidates.push(WeakChoice { position, does, order, value });
        match access.act {
            WeakAct::Load => add(MessageAccess::Load, access.order),
            WeakAct::Store if is_open => add(MessageAccess::Store, access.order),
            WeakAct::Update if is_open => add(MessageAccess::Update, access.order),
            WeakAct::Store | WeakAct::Update => {}
            WeakAct::CompareExchange { kind, expected } => {
                if value == expected && is_open {
                    add(MessageAccess::Update, access.order);
                }
                if value != expected || kind == CasKind::Weak {
                    add(MessageAccess::Load, access.failure);
                }
            }
        }
    }

    /// The oldest message that the thread may take now.
    fn oldest(&self, thread: &ThreadClocks, fences: &FenceOrder) -> usize {
        if self.stale.iter().any(|&(tid, times)| tid == thread.tid && times >= PATIENCE) {
            return self.last();
        }
        let known = |&(tid, at): &(Tid, Epoch)| {
            thread.happens_after(tid, at) || fences.base().get(usize::from(tid)) >= Some(&at)
        };
        self.messages.iter().rposition(|message| message.seen.iter().any(known)).unwrap_or(0)
    }

    /// Orders the fences before the access before those that know newer messages.
    fn order(
        &self,
        thread: &ThreadClocks,
        fences: &mut FenceOrder,
        choice: WeakChoice,
        commit: bool,
    ) -> Result<FenceSet, ClosesCycle> {
        let WeakChoice { position, does, order, .. } = choice;
        let published = self.messages[position].published.as_ref();
        let learns = published.filter(|_| does != MessageAccess::Store && order.acquires()).map(|published| {
            let mut epochs = published.hb.epochs().to_vec();
            if let Some((by, at)) = published.hb.moment() {
                let by = usize::from(by);
                epochs.resize(epochs.len().max(by + 1), 0);
                epochs[by] = epochs[by].max(at);
            }
            epochs
        });
        let earlier = fences.before(thread, learns.as_deref());
        if !earlier.is_empty() {
            let newer = self.messages.iter().skip(position + 1).flat_map(|message| message.seen.iter().copied());
            fences.order(&earlier, &newer.collect::<Vec<_>>(), commit)?;
        }
        Ok(earlier)
    }

    fn make(
        &mut self,
        thread: &mut ThreadClocks,
        fences: &mut FenceOrder,
        choice: WeakChoice,
        site: SiteCode,
        value: u64,
    ) -> WeakOutcome {
        let WeakChoice { position, does, order, .. } = choice;
        let last = self.last();
        let newest = &self.messages[last];
        let newer = (position < last).then_some(NewerWrite { value: newest.value, written: newest.written });
        self.count_stale(thread.tid, newer.is_some());
        let earlier = self.order(thread, fences, choice, true).unwrap_or_default();
        for message in self.messages.iter_mut().skip(position + 1) {
            message.fences.join(&earlier);
        }
        let mut outcome = WeakOutcome { reads: None, writes: None, newer, source: None };
        if does != MessageAccess::Store {
            outcome.reads = Some(self.forgotten + position);
            outcome.source = self.source(thread, position);
            self.learn(thread, position, order);
        }
        if does == MessageAccess::Load {
            let message = &mut self.messages[position];
            if !message.seen.iter().any(|(tid, _)| *tid == thread.tid) {
                message.seen.push((thread.tid, thread.epoch));
                thread.sightings += 1;
            }
            message.read_after.join(&earlier);
        } else {
            self.write(thread, choice, value, site, &earlier);
            outcome.writes = Some(self.forgotten + position + 1);
        }
        let touched = position + usize::from(does != MessageAccess::Load);
        fences.pend(thread, &self.messages[touched].fences);
        outcome
    }

    fn learn(&self, thread: &mut ThreadClocks, position: usize, order: AtomicOrder) {
        if let Some(published) = &self.messages[position].published
            && thread.learn_message(published, order)
        {
            thread.changed = thread.epoch;
        }
    }

    /// A new message right behind the chosen one.
    fn write(&mut self, thread: &mut ThreadClocks, choice: WeakChoice, value: u64, site: SiteCode, earlier: &FenceSet) {
        let WeakChoice { position, does, order, .. } = choice;
        let previous = &self.messages[position];
        let joined = does == MessageAccess::Update;
        let mut published = if order.releases() {
            let mut own = None;
            thread.hands_out();
            thread.publish(&mut own);
            own
        } else {
            thread.rel_copied = true;
            thread.rel.clone()
        };
        if joined && let Some(read) = &previous.published {
            match &mut published {
                Some(own) => own.join(read),
                None => published = Some(read.clone()),
            }
        }
        let mut fences = previous.fences.clone();
        fences.join(&previous.read_after);
        fences.join(earlier);
        let message = WeakMessage {
            value,
            written: Some((thread.tid, thread.epoch, site)),
            joined,
            published,
            seen: vec![(thread.tid, thread.epoch)],
            fences,
            read_after: FenceSet::default(),
        };
        self.messages.insert(position + 1, message);
        thread.sightings += 1;
        thread.changed = thread.epoch;
    }

    fn source(&self, thread: &ThreadClocks, position: usize) -> Option<WriteSource> {
        let message = &self.messages[position];
        let (writer, written_at, site) = message.written?;
        if thread.happens_after(writer, written_at) {
            return None;
        }
        let released = message.published.as_ref().map_or(0, |published| published.hb.get(writer));
        Some(WriteSource { writer, written_at, site, released })
    }

    fn count_stale(&mut self, tid: Tid, is_stale: bool) {
        match self.stale.iter().position(|(thread, _)| *thread == tid) {
            Some(index) if is_stale => self.stale[index].1 += 1,
            Some(index) => {
                self.stale.swap_remove(index);
            }
            None if is_stale => self.stale.push((tid, 1)),
            None => {}
        }
    }

    fn last(&self) -> usize {
        self.messages.len() - 1
    }

    /// A write may stand right behind the message.
    fn is_open(&self, position: usize) -> bool {
        self.messages.get(position + 1).is_none_or(|next| !next.joined)
    }

    fn drop_first(&mut self, count: usize) {
        self.messages.drain(..count);
        self.forgotten += count;
        if count > 0 {
            // Nothing can be put before the oldest one.
            self.messages[0].joined = false;
        }
    }
}

impl WeakAccess {
    fn is_seq_cst(&self) -> bool {
        let fails = matches!(self.act, WeakAct::CompareExchange { .. }) && self.failure == AtomicOrder::SeqCst;
        self.order == AtomicOrder::SeqCst || fails
    }
}

impl ThreadClocks {
    /// A fence of a weak run.
    pub fn weak_fence(&mut self, order: AtomicOrder, fences: &mut FenceOrder) {
        if order == AtomicOrder::SeqCst {
            self.acquire_fence();
            fences.add(self);
        }
        self.synchronising_fence(order);
    }
}
