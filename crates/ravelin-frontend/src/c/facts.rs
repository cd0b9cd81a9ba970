//! What is assumed about the whole program while its threads are specialised one after the other.
//!
//! The first attempt assumes as much as possible: objects belong to the thread that makes them, and no thread writes to what
//! it did not make. Each attempt adds what it found to be otherwise, and the program is specialised again until
//! nothing is added. Facts only grow, so this ends; the last attempt agrees with all of them.

use super::locks::{MutexKind, ScalarPlace};
use super::objects::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Objects in the memory of the model: several threads can access them, or their addresses are values there.
    shared: BTreeSet<ObjectId>,
    /// Objects whose addresses are values of the model: pointers that are not known may lead to them.
    escaped: BTreeSet<ObjectId>,
    /// Functions whose addresses are values of the model.
    functions: BTreeSet<usize>,
    /// Addresses that are values of the model.
    pointers: BTreeSet<(ObjectId, i64)>,
    /// Scalars that a thread of the model may write, by known pointers.
    written: BTreeSet<(ObjectId, u64)>,
    /// Sizes of accesses through pointers that are not known.
    read_anywhere: BTreeSet<u32>,
    written_anywhere: BTreeSet<u32>,
    /// Blocks of the heap that are freed by known pointers, and whether there are other calls of `free`.
    freed: BTreeSet<ObjectId>,
    freed_anywhere: bool,
    /// Blocks that a `malloc` may hand out again.
    reused: BTreeSet<ObjectId>,
    /// `main` is executed up to this step, and the rest of it is a thread of the model.
    stop: Option<u64>,
    /// Threads that `main` or another thread waits for together: each is counted in one cell when it ends.
    joined: BTreeSet<BTreeSet<usize>>,
    /// Mutexes that are more than plain ones.
    kinds: BTreeMap<ScalarPlace, MutexKind>,
    /// Which threads take which locks as readers.
    readers: BTreeSet<(ScalarPlace, usize)>,
    /// Threads that wait for condition variables, and whether one of these is signalled so that one thread goes on.
    waiters: BTreeSet<usize>,
    signals_one: bool,
    /// Threads that wait at barriers.
    at_barriers: BTreeSet<usize>,
    /// Threads whose results others wait for.
    results: BTreeSet<usize>,
    /// Threads that are not started in every run.
    not_started: BTreeSet<usize>,
    /// Threads for which nobody waits: they end with `main`.
    detached: BTreeSet<usize>,
    /// A thread of the model ends the whole program.
    exits: bool,
    /// How often the facts have grown.
    growth: u64,
}

impl Facts {
    /// A number that is larger whenever there are more facts.
    pub fn growth(&self) -> u64 {
        self.growth
    }

    /// Something was learnt that is kept elsewhere.
    pub fn grow(&mut self) {
        self.growth += 1;
    }

    fn note(&mut self, new: bool) {
        self.growth += u64::from(new);
    }

    pub fn share(&mut self, object: ObjectId) {
        let new = self.shared.insert(object);
        self.note(new);
    }

    /// The object's address becomes a value of the model.
    pub fn escape(&mut self, object: ObjectId) {
        let new = self.escaped.insert(object);
        self.note(new);
        self.share(object);
    }

    /// The address of this byte becomes a value of the model.
    pub fn point(&mut self, object: ObjectId, offset: i64) {
        let new = self.pointers.insert((object, offset));
        self.note(new);
    }

    pub fn pointers(&self) -> impl Iterator<Item = (ObjectId, i64)> + '_ {
        self.pointers.iter().copied()
    }

    pub fn point_to_function(&mut self, function: usize) {
        let new = self.functions.insert(function);
        self.note(new);
    }

    pub fn functions(&self) -> impl Iterator<Item = usize> + '_ {
        self.functions.iter().copied()
    }

    pub fn has_escaped(&self, object: ObjectId) -> bool {
        self.escaped.contains(&object)
    }

    pub fn is_shared(&self, object: ObjectId) -> bool {
        self.shared.contains(&object)
    }

    /// In the order in which they were made.
    pub fn shared(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.shared.iter().copied()
    }

    pub fn write(&mut self, object: ObjectId, offset: u64) {
        let new = self.written.insert((object, offset));
        self.note(new);
    }

    pub fn access_anywhere(&mut self, size: u32, writes: bool) {
        let new = if writes { self.written_anywhere.insert(size) } else { self.read_anywhere.insert(size) };
        self.note(new);
    }

    /// Whether a thread may write to a scalar of a shared object.
    pub fn may_write(&self, object: ObjectId, offset: u64, size: u32) -> bool {
        self.written.contains(&(object, offset))
            || self.written_anywhere.contains(&size) && self.escaped.contains(&object)
    }

    /// Whether scalars of this size are accessed through pointers that are not known.
    pub fn is_accessed_anywhere(&self, size: u32) -> bool {
        self.read_anywhere.contains(&size) || self.written_anywhere.contains(&size)
    }

    pub fn free(&mut self, block: ObjectId) {
        let new = self.freed.insert(block);
        self.note(new);
    }

    pub fn free_anywhere(&mut self) {
        let new = !std::mem::replace(&mut self.freed_anywhere, true);
        self.note(new);
    }

    pub fn is_freed(&self, block: ObjectId) -> bool {
        self.freed.contains(&block) || self.freed_anywhere && self.escaped.contains(&block)
    }

    pub fn reuse(&mut self, block: ObjectId) {
        let new = self.reused.insert(block);
        self.note(new);
    }

    pub fn is_reused(&self, block: ObjectId) -> bool {
        self.reused.contains(&block)
    }

    pub fn stop(&self) -> Option<u64> {
        self.stop
    }

    pub fn stop_at(&mut self, step: u64) {
        if self.stop.is_none_or(|known| step < known) {
            self.stop = Some(step);
            self.growth += 1;
        }
    }

    pub fn join(&mut self, threads: &BTreeSet<usize>) {
        let new = self.joined.insert(threads.clone());
        self.note(new);
    }

    /// Whether all that is known of this mutex agrees.
    pub fn learn_kind(&mut self, lock: ScalarPlace, kind: MutexKind) -> bool {
        let known = self.kinds.get(&lock).copied();
        if known.is_none() {
            self.kinds.insert(lock, kind);
        }
        self.note(known.is_none());
        known.is_none_or(|known| known == kind)
    }

    pub fn kind(&self, lock: ScalarPlace) -> Option<MutexKind> {
        self.kinds.get(&lock).copied()
    }

    pub fn has_kinds(&self) -> bool {
        !self.kinds.is_empty()
    }

    pub fn read_lock(&mut self, lock: ScalarPlace, thread: usize) {
        let new = self.readers.insert((lock, thread));
        self.note(new);
    }

    /// The threads that take a lock as readers.
    pub fn readers(&self, lock: ScalarPlace) -> Vec<usize> {
        self.readers.iter().filter(|(own, _)| *own == lock).map(|(_, thread)| *thread).collect()
    }

    pub fn wait_for_signal(&mut self, thread: usize) {
        let new = self.waiters.insert(thread);
        self.note(new);
    }

    pub fn signal_one(&mut self) {
        let new = !std::mem::replace(&mut self.signals_one, true);
        self.note(new);
    }

    /// The threads that wait for condition variables, if it matters which one a signal wakes.
    pub fn chosen_waiters(&self) -> Option<&BTreeSet<usize>> {
        (self.signals_one && self.waiters.len() > 1).then_some(&self.waiters)
    }

    pub fn wait_at_barrier(&mut self, thread: usize) {
        let new = self.at_barriers.insert(thread);
        self.note(new);
    }

    /// How many rounds of a barrier are told apart. A round cannot pass while a thread still waits for the one before, unless
    /// there are more threads than the barrier is for.
    pub fn rounds_of(&self, barrier_for: i64) -> i64 {
        if self.at_barriers.len() as i64 > barrier_for { 16 } else { 2 }
    }

    pub fn want_result(&mut self, thread: usize) {
        let new = self.results.insert(thread);
        self.note(new);
    }

    pub fn wants_result(&self, thread: usize) -> bool {
        self.results.contains(&thread)
    }

    pub fn may_not_start(&mut self, thread: usize) {
        let new = self.not_started.insert(thread);
        self.note(new);
    }

    pub fn always_starts(&self, thread: usize) -> bool {
        !self.not_started.contains(&thread)
    }

    pub fn detach(&mut self, thread: usize) {
        let new = self.detached.insert(thread);
        self.note(new);
    }

    pub fn is_detached(&self, thread: usize) -> bool {
        self.detached.contains(&thread)
    }

    pub fn some_are_detached(&self) -> bool {
        !self.detached.is_empty()
    }

    pub fn exit(&mut self) {
        let new = !std::mem::replace(&mut self.exits, true);
        self.note(new);
    }

    pub fn exits(&self) -> bool {
        self.exits
    }

    pub fn groups(&self) -> Vec<&BTreeSet<usize>> {
        self.joined.iter().collect()
    }
}

/// Which threads access which scalars, to find out whether what `main` does between their starts concerns them.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    /// Whether it is written, by object, offset and size.
    pub scalars: BTreeMap<(ObjectId, u64, u32), bool>,
    /// Accesses through pointers that are not known: to any object in the memory of the model.
    pub anywhere: bool,
}

impl Footprint {
    pub fn note(&mut self, object: ObjectId, offset: u64, size: u32, writes: bool) {
        *self.scalars.entry((object, offset, size)).or_insert(false) |= writes;
    }

    /// Whether an access to these bytes may conflict with one of these.
    pub fn conflicts(&self, object: ObjectId, offset: u64, size: u64, writes: bool) -> bool {
        self.scalars.iter().any(|((own, start, length), written)| {
            *own == object && (writes || *written) && *start < offset + size && offset < start + u64::from(*length)
        })
    }
}
