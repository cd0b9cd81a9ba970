//! What x86-TSO forbids to the next access: a store may be delayed behind later loads of its thread, and nothing else.
//!
//! On x86 less is possible than in C11, so this is one more bound on what [`super::judge`] finds. ghb = ppo ∪ rfe ∪ mo ∪ fr must
//! be acyclic, where ppo is po without the pairs from a store to a later load that no fence separates, and locked
//! instructions are fences. An access that reads, or is placed behind, position i has fr or mo edges to every later write,
//! so i must not be less than the position of a write that is ghb-before the access.
//!
//! What is ghb-before a *write* is closed under po, so a clock that counts the known writes of each thread says all:
//! `loads` is what is ghb-before the next load of a thread, `stores` before its next store or locked instruction. Objects
//! are locked and unlocked by locked instructions, except spin locks, whose unlock is a plain store. What finds a lock
//! taken, an initialiser ended, or no thread to wake, is a plain load: the C library looks before it locks the bus.

use super::locations::Locations;
use super::views::join;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, flags};
use rustc_hash::FxHashMap;

type Clock = Vec<u32>;

pub(super) struct StoreBuffers {
    threads: Vec<BufferedThread>,
    memory: Vec<BufferedLocation>,
    /// By address.
    objects: FxHashMap<u64, BufferedObject>,
}

#[derive(Clone)]
struct BufferedThread {
    loads: Clock,
    stores: Clock,
    /// What a join learns.
    end: Clock,
}

#[derive(Clone)]
struct BufferedLocation {
    /// In modification order: the thread, and which of its writes it is, from 1.
    writes: Vec<(usize, u32)>,
    /// ghb-before the next write.
    before_next: Clock,
    /// ghb-before or equal to the latest write.
    latest: Clock,
}

/// A lock or the like.
#[derive(Default)]
struct BufferedObject {
    /// The thread that changed it last.
    writer: Option<usize>,
    /// ghb-before its next change.
    before_next: Clock,
    /// ghb-before or equal to its latest change.
    latest: Clock,
}

impl StoreBuffers {
    pub fn new(threads: usize, locations: usize) -> StoreBuffers {
        let clock = vec![0; threads];
        let thread = BufferedThread { loads: clock.clone(), stores: clock.clone(), end: clock.clone() };
        let location = BufferedLocation { writes: Vec::new(), before_next: clock.clone(), latest: clock };
        StoreBuffers {
            threads: vec![thread; threads],
            memory: vec![location; locations],
            objects: FxHashMap::default(),
        }
    }

    /// The oldest position that the next access may read or be placed behind.
    pub fn bound(&self, event: &RunEvent, location: usize) -> usize {
        let thread = &self.threads[event.thread as usize];
        let known = if is_locked(event) || event.operation.act == Act::Store { &thread.stores } else { &thread.loads };
        let writes = &self.memory[location].writes;
        writes.iter().rposition(|&(thread, number)| known[thread] >= number).map_or(0, |index| index + 1)
    }

    /// Follows an event.
    pub fn step(&mut self, index: usize, event: &RunEvent, locations: &Locations) {
        let me = event.thread as usize;
        let address = event.operation.address;
        let seq_cst = event.operation.order == RecordedOrder::SeqCst;
        match event.operation.act {
            Act::Local | Act::Fence => {
                if seq_cst {
                    self.fence(me);
                }
            }
            Act::Load | Act::Store | Act::Update => {
                if is_locked(event) {
                    self.fence(me);
                }
                let Some(location) = locations.at(index) else { return };
                match event.operation.act {
                    Act::Load => self.load(me, location),
                    _ => self.store(me, location, is_locked(event)),
                }
                if is_locked(event) || (event.operation.act == Act::Store && seq_cst) {
                    self.fence(me);
                }
            }
            Act::Start => {
                self.fence(me);
                let stores = self.threads[me].stores.clone();
                if let Some(child) = self.threads.get_mut(address as usize) {
                    child.learn(&stores);
                }
            }
            Act::End => {
                self.fence(me);
                self.threads[me].end = self.threads[me].stores.clone();
            }
            Act::Join => {
                let end = self.threads.get(address as usize).map(|thread| thread.end.clone());
                self.threads[me].learn(&end.unwrap_or_default());
                self.fence(me);
            }
            Act::Exit => {}
            Act::LockFails => self.look(me, address),
            _ if event.operation.order == RecordedOrder::Relaxed => self.look(me, address),
            // A spin lock.
            Act::Unlock if event.operation.order == RecordedOrder::Release => self.object(me, address),
            _ => {
                self.fence(me);
                self.object(me, address);
                self.fence(me);
            }
        }
    }

    fn load(&mut self, me: usize, location: usize) {
        let (thread, location) = (&mut self.threads[me], &mut self.memory[location]);
        if location.writes.last().is_some_and(|&(writer, _)| writer != me) {
            join(&mut thread.loads, &location.latest);
        }
        let BufferedThread { loads, stores, .. } = thread;
        join(stores, loads);
        join(&mut location.before_next, loads);
    }

    fn store(&mut self, me: usize, location: usize, updates: bool) {
        let (thread, location) = (&mut self.threads[me], &mut self.memory[location]);
        // Its own number is one more than that of the newest write of the thread that it knows: all of them are
        // ghb-before its next store.
        let number = thread.stores[me] + 1;
        join(&mut location.before_next, &thread.stores);
        location.before_next[me] = number;
        location.latest.clone_from(&location.before_next);
        location.writes.push((me, number));
        join(&mut thread.stores, &location.latest);
        if updates {
            join(&mut thread.loads, &location.latest);
        }
    }

    /// A plain load of an object.
    fn look(&mut self, me: usize, address: u64) {
        let BufferedThread { loads, stores, .. } = &mut self.threads[me];
        let object = self.objects.entry(address).or_default();
        if object.writer.is_some_and(|writer| writer != me) {
            join(loads, &object.latest);
        }
        join(stores, loads);
        object.before_next.resize(loads.len(), 0);
        join(&mut object.before_next, loads);
    }

    fn fence(&mut self, me: usize) {
        let thread = &mut self.threads[me];
        thread.loads.clone_from(&thread.stores);
    }

    /// A change of an object comes after all that was done to it before.
    fn object(&mut self, me: usize, address: u64) {
        let thread = &mut self.threads[me];
        let object = self.objects.entry(address).or_default();
        object.writer = Some(me);
        join(&mut thread.stores, &object.before_next);
        object.before_next.clone_from(&thread.stores);
        object.latest.clone_from(&thread.stores);
    }
}

impl BufferedThread {
    fn learn(&mut self, clock: &[u32]) {
        join(&mut self.loads, clock);
        join(&mut self.stores, clock);
    }
}

/// Whether it is a locked instruction on x86.
fn is_locked(event: &RunEvent) -> bool {
    event.operation.act == Act::Update || event.is(flags::COMPARES)
}
