//! On which machines a stale access of a run can happen.
//!
//! What comes before the access, and the access as it would be, are a graph of C11. It is compiled by the usual mappings,
//! and the axioms of x86 and ARMv8 say whether the machine has it (`ravelin_semantics::hardware`). Objects of the C library
//! are accesses to a location of their own: read-modify-writes that acquire where an object is locked or taken, and
//! release where it is unlocked or given; the unlock of a spin lock is a release store. Starts and ends of threads go
//! through the kernel, so a full fence is on both sides of them.
//!
//! Nothing is said about runs with accesses of libraries that are only seen in part, and about long ones: the axioms are
//! evaluated on Boolean matrices.

use ravelin_answer::Machines;
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_program::{Order, Span, ThreadId};
use ravelin_semantics::hardware::{SeqCstStore, Target, armv8, compile, x86};
use ravelin_semantics::rc20::{Graph, GraphEvent, Label, OrderReading};
use ravelin_verify::judge::{StaleAccess, StaleKind};
use std::collections::{BTreeMap, BTreeSet};

/// Larger graphs are not judged.
const MOST_EVENTS: usize = 400;

/// Whether each machine can do what the stale access does. `past` are the events that come before it, and itself, by their
/// number in the run. `None` if that is not known.
pub fn of(events: &[RunEvent], past: &[usize], stale: &StaleAccess) -> Option<Machines> {
    if past.len() > MOST_EVENTS || past.iter().any(|&index| events[index].is(flags::UNCHECKED)) {
        return None;
    }
    let mut drawing = Drawing::default();
    for &index in past {
        if index == stale.event {
            drawing.stale(index, &events[index], stale);
        } else {
            drawing.step(index, &events[index]);
        }
    }
    if drawing.events.len() > MOST_EVENTS {
        return None;
    }
    let (graph, locked) = drawing.graph();
    let compiled = |target| compile(&graph, OrderReading::Written, target, |event| locked.contains(&event));
    Some(Machines {
        x86: x86::allows(&compiled(Target::X86(SeqCstStore::Exchange))),
        armv8: armv8::allows(&compiled(Target::Armv8)),
    })
}

/// What events are about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Memory(u64, u32),
    Object(u64),
    /// The start of a thread.
    Started(u64),
    /// The end of a thread.
    Ended(u64),
}

/// What an event does.
#[derive(Clone, Copy)]
enum Deed {
    Read(Subject),
    /// The same by a compare-exchange, or another instruction that would have written.
    FailedUpdate(Subject),
    Write(Subject),
    Update(Subject),
    Fence,
}

struct DrawnEvent {
    thread: u32,
    deed: Deed,
    order: Order,
    /// The write that it reads; `None` for the initial one.
    source: Option<usize>,
}

/// A graph that grows in the order of the run.
#[derive(Default)]
struct Drawing {
    events: Vec<DrawnEvent>,
    /// By subject, its writes in modification order, without the initial one.
    writes: BTreeMap<Subject, Vec<usize>>,
    /// By their number in the run: what each access is here.
    accesses: BTreeMap<usize, usize>,
    /// Threads that were seen.
    begun: BTreeSet<u32>,
}

impl Drawing {
    fn step(&mut self, index: usize, event: &RunEvent) {
        self.begin(event.thread);
        let operation = &event.operation;
        let order = order(operation.order);
        let me = event.thread;
        let object = Subject::Object(operation.address);
        match operation.act {
            Act::Load | Act::Store | Act::Update => {
                let drawn = self.add(me, deed(event), order);
                self.accesses.insert(index, drawn);
            }
            Act::Local if operation.order == RecordedOrder::Plain => {}
            Act::Local | Act::Fence => {
                self.add(me, Deed::Fence, order);
            }
            Act::Start => self.through_kernel(me, Subject::Started(operation.address)),
            Act::End | Act::Join => self.through_kernel(me, Subject::Ended(operation.address)),
            Act::Exit => {}
            // The C library looks before it locks the bus.
            Act::LockFails => {
                self.add(me, Deed::Read(object), Order::Acquire);
            }
            _ if operation.order == RecordedOrder::Relaxed => {
                self.add(me, Deed::Read(object), Order::Acquire);
            }
            Act::Unlock if operation.order == RecordedOrder::Release => {
                self.add(me, Deed::Write(object), Order::Release);
            }
            Act::Lock | Act::LockShared | Act::Take => {
                self.add(me, Deed::Update(object), Order::Acquire);
            }
            Act::Unlock | Act::UnlockShared | Act::Give => {
                self.add(me, Deed::Update(object), Order::Release);
            }
            Act::Touch => {
                self.add(me, Deed::Update(object), Order::AcqRel);
            }
        }
    }

    /// The last event: it reads the source of the stale access, or is placed behind it, or both.
    fn stale(&mut self, index: usize, event: &RunEvent, stale: &StaleAccess) {
        self.begin(event.thread);
        let subject = Subject::Memory(event.operation.address, event.operation.size);
        let source = stale.source.and_then(|source| self.accesses.get(&source).copied());
        let is_exchange = event.is(flags::COMPARES) || event.operation.act == Act::Update;
        let deed = match stale.kind {
            StaleKind::Read if is_exchange => Deed::FailedUpdate(subject),
            StaleKind::Read => Deed::Read(subject),
            StaleKind::Write => Deed::Write(subject),
            StaleKind::Update => Deed::Update(subject),
        };
        let drawn = self.events.len();
        let order = order(event.operation.order);
        self.events.push(DrawnEvent { thread: event.thread, deed, order, source });
        self.accesses.insert(index, drawn);
        if stale.kind != StaleKind::Read {
            let writes = self.writes.entry(subject).or_default();
            let position = source.and_then(|source| writes.iter().position(|write| *write == source));
            writes.insert(position.map_or(0, |position| position + 1), drawn);
        }
    }

    /// The first event of a thread comes after its start.
    fn begin(&mut self, thread: u32) {
        let started = Subject::Started(thread.into());
        if self.begun.insert(thread) && self.writes.contains_key(&started) {
            self.through_kernel(thread, started);
        }
    }

    fn through_kernel(&mut self, thread: u32, subject: Subject) {
        self.add(thread, Deed::Fence, Order::SeqCst);
        self.add(thread, Deed::Update(subject), Order::AcqRel);
        self.add(thread, Deed::Fence, Order::SeqCst);
    }

    /// Adds an event that reads the latest write, and writes at the end of modification order.
    fn add(&mut self, thread: u32, deed: Deed, order: Order) -> usize {
        let drawn = self.events.len();
        let mut source = None;
        if let Deed::Read(subject) | Deed::FailedUpdate(subject) | Deed::Write(subject) | Deed::Update(subject) = deed {
            let writes = self.writes.entry(subject).or_default();
            source = writes.last().copied();
            if matches!(deed, Deed::Write(_) | Deed::Update(_)) {
                writes.push(drawn);
            }
        }
        self.events.push(DrawnEvent { thread, deed, order, source });
        drawn
    }

    /// The graph, in its own order of events, and its events that only read but are locked.
    fn graph(&self) -> (Graph, BTreeSet<usize>) {
        let address =
            |subject: &Subject| self.writes.keys().position(|other| other == subject).map_or(0, |at| at as i64);
        let initial = self.writes.len();
        let mut by_thread: Vec<usize> = (0..self.events.len()).collect();
        by_thread.sort_by_key(|&drawn| self.events[drawn].thread);
        let mut number = vec![0; self.events.len()];
        by_thread.iter().enumerate().for_each(|(at, &drawn)| number[drawn] = initial + at);

        let mut graph = Graph::default();
        let mut locked = BTreeSet::new();
        for (at, writes) in self.writes.values().enumerate() {
            let label = Label::Write { address: at as i64, value: 0, order: Order::NonAtomic };
            graph.events.push(GraphEvent { thread: None, label, transition: None, span: Span::NOWHERE });
            graph.sources.push(None);
            let written = writes.iter().map(|&drawn| number[drawn]);
            graph.writes.insert(at as i64, std::iter::once(at).chain(written).collect());
        }
        for &drawn in &by_thread {
            let DrawnEvent { thread, deed, order, source } = &self.events[drawn];
            let (order, value) = (*order, 0);
            let (label, subject) = match deed {
                Deed::Fence => (Label::Fence { order }, None),
                Deed::Read(subject) | Deed::FailedUpdate(subject) => {
                    (Label::Read { address: address(subject), value, order }, Some(subject))
                }
                Deed::Write(subject) => (Label::Write { address: address(subject), value, order }, None),
                Deed::Update(subject) => {
                    (Label::Rmw { address: address(subject), read: 0, written: 0, order }, Some(subject))
                }
            };
            if let Deed::FailedUpdate(_) = deed {
                locked.insert(number[drawn]);
            }
            let thread = Some(ThreadId(*thread as usize));
            graph.events.push(GraphEvent { thread, label, transition: None, span: Span::NOWHERE });
            let read = |subject: &Subject| source.map_or(address(subject) as usize, |write| number[write]);
            graph.sources.push(subject.map(read));
        }
        (graph, locked)
    }
}

fn deed(event: &RunEvent) -> Deed {
    let subject = Subject::Memory(event.operation.address, event.operation.size);
    match event.operation.act {
        Act::Store => Deed::Write(subject),
        Act::Update => Deed::Update(subject),
        _ if event.is(flags::COMPARES) => Deed::FailedUpdate(subject),
        _ => Deed::Read(subject),
    }
}

fn order(recorded: RecordedOrder) -> Order {
    match recorded {
        RecordedOrder::Plain => Order::NonAtomic,
        RecordedOrder::Relaxed => Order::Relaxed,
        RecordedOrder::Acquire => Order::Acquire,
        RecordedOrder::Release => Order::Release,
        RecordedOrder::AcqRel => Order::AcqRel,
        RecordedOrder::SeqCst => Order::SeqCst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::stale::past;
    use RecordedOrder::{AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
    use ravelin_findings::events::RunOperation;
    use ravelin_verify::judge::{JudgedModel, judge};
    use std::collections::HashMap;

    /// A run under sequential consistency that grows.
    #[derive(Default)]
    struct Run {
        events: Vec<RunEvent>,
        memory: HashMap<u64, u64>,
    }

    impl Run {
        fn add(&mut self, thread: u32, act: Act, order: RecordedOrder, address: u64, flags: u16) {
            let value = self.memory.entry(address).or_default();
            let read = *value;
            let mut event = RunEvent {
                thread,
                operation: RunOperation { act, order, address, size: 4 },
                flags,
                read,
                written: read,
                pc: self.events.len() as u64,
                state: 0,
            };
            if matches!(act, Act::Store | Act::Update) {
                *value = self.events.len() as u64 + 1;
                event.written = *value;
            }
            if act == Act::Store {
                event.flags |= flags::OVERWRITES;
            }
            self.events.push(event);
        }

        fn judged(&self, model: JudgedModel) -> Vec<StaleAccess> {
            judge(&self.events, model, &|_: &RunEvent, _| false).stale
        }

        fn machines(&self, stale: &StaleAccess) -> Option<Machines> {
            let until = &self.events[..=stale.event];
            of(until, &past(until, stale.event), stale)
        }

        /// On which machines the last access can be stale.
        fn last(&self) -> Option<(bool, bool)> {
            let found = self.judged(JudgedModel::Rc20);
            let last = found.iter().find(|stale| stale.event + 1 == self.events.len())?;
            self.machines(last).map(|machines| (machines.x86, machines.armv8))
        }
    }

    const X: u64 = 16;
    const Y: u64 = 32;
    const OBJECT: u64 = 64;

    /// Events as thread, act, order, address.
    fn run(events: &[(u32, Act, RecordedOrder, u64)]) -> Run {
        let mut run = Run::default();
        events.iter().for_each(|&(thread, act, order, address)| run.add(thread, act, order, address, 0));
        run
    }

    #[test]
    fn known_shapes_happen_where_they_are_known_to() {
        use Act::{Fence, Load, Lock, Store, Unlock, Update};
        type Shape = (&'static str, &'static [(u32, Act, RecordedOrder, u64)], Option<(bool, bool)>);
        let shapes: [Shape; 10] = [
            (
                "SB",
                &[(0, Store, Relaxed, X), (0, Load, Relaxed, Y), (1, Store, Relaxed, Y), (1, Load, Relaxed, X)],
                Some((true, true)),
            ),
            (
                "SB, released and acquired: RCpc loads overtake",
                &[(0, Store, Release, X), (0, Load, Acquire, Y), (1, Store, Release, Y), (1, Load, Acquire, X)],
                Some((true, true)),
            ),
            (
                "SB with exchanges: the last one is not stale in C11's sense on x86",
                &[(0, Update, Relaxed, X), (0, Load, Relaxed, Y), (1, Update, Relaxed, Y), (1, Load, Relaxed, X)],
                Some((false, true)),
            ),
            (
                "MP",
                &[(0, Store, Relaxed, X), (0, Store, Relaxed, Y), (1, Load, Relaxed, Y), (1, Load, Relaxed, X)],
                Some((false, true)),
            ),
            (
                "MP, the store released",
                &[(0, Store, Relaxed, X), (0, Store, Release, Y), (1, Load, Relaxed, Y), (1, Load, Relaxed, X)],
                Some((false, true)),
            ),
            (
                "MP through a read-modify-write that only acquires",
                &[
                    (0, Store, Relaxed, X),
                    (0, Store, Release, Y),
                    (1, Update, Acquire, Y),
                    (2, Load, Relaxed, Y),
                    (2, Load, Relaxed, X),
                ],
                Some((false, true)),
            ),
            (
                "SB with a fence on one side",
                &[
                    (0, Store, Relaxed, X),
                    (0, Fence, SeqCst, 0),
                    (0, Load, Relaxed, Y),
                    (1, Store, Relaxed, Y),
                    (1, Load, Relaxed, X),
                ],
                Some((true, true)),
            ),
            (
                "R",
                &[(0, Store, Relaxed, X), (0, Store, Relaxed, Y), (1, Store, Relaxed, Y), (1, Load, Relaxed, X)],
                Some((true, true)),
            ),
            (
                "MP under a lock: nothing is stale",
                &[
                    (0, Lock, Plain, OBJECT),
                    (0, Store, Relaxed, X),
                    (0, Unlock, Plain, OBJECT),
                    (1, Lock, Plain, OBJECT),
                    (1, Load, Relaxed, X),
                ],
                None,
            ),
            (
                "2+2W, the last store placed before the first one",
                &[(0, Store, Relaxed, X), (0, Store, Relaxed, Y), (1, Store, Relaxed, Y), (1, Store, Relaxed, X)],
                Some((false, true)),
            ),
        ];
        for (name, events, expected) in shapes {
            assert_eq!(run(events).last(), expected, "{name}");
        }
    }

    #[test]
    fn nothing_is_said_about_accesses_that_are_seen_in_part_and_about_long_runs() {
        let mut run = run(&[(0, Act::Store, Relaxed, X), (0, Act::Store, Relaxed, Y), (1, Act::Load, Relaxed, Y)]);
        run.add(1, Act::Load, Relaxed, X, 0);
        let stale = run.judged(JudgedModel::Rc20)[0];
        assert!(run.machines(&stale).is_some());
        run.events[2].flags |= flags::UNCHECKED;
        assert_eq!(run.machines(&stale), None);
        let mut long = Run::default();
        (0..=MOST_EVENTS).for_each(|_| long.add(0, Act::Store, Relaxed, X, 0));
        long.add(0, Act::Store, Relaxed, Y, 0);
        long.add(1, Act::Load, Relaxed, Y, 0);
        long.add(1, Act::Load, Relaxed, X, 0);
        assert_eq!(long.last(), None);
    }

    /// The axioms of x86 on the graph, against the judge of runs with its clocks.
    #[test]
    fn x86_has_a_stale_access_exactly_if_the_judge_for_store_buffers_finds_it() {
        let mut random = ravelin_numbers::Random::new(7);
        let mut pick = |most: usize| random.below(most);
        let (mut on_x86, mut elsewhere) = (0, 0);
        for _ in 0..20_000 {
            let mut run = Run::default();
            for _ in 0..6 + pick(12) {
                let thread = pick(3) as u32;
                let address = [X, Y, 48][pick(3)];
                let orders = |acquires: RecordedOrder, drawn: usize| [Relaxed, Relaxed, acquires, SeqCst][drawn];
                match pick(13) {
                    0..=3 => run.add(thread, Act::Load, orders(Acquire, pick(4)), address, 0),
                    4..=7 => run.add(thread, Act::Store, orders(Release, pick(4)), address, 0),
                    8 => run.add(thread, Act::Update, orders(AcqRel, pick(4)), address, 0),
                    9 => run.add(thread, Act::Load, orders(Acquire, pick(4)), address, flags::COMPARES),
                    10 => run.add(thread, Act::Fence, [Acquire, Release, SeqCst][pick(3)], 0, 0),
                    // The unlock of a spin lock releases, and a signal for which no thread waits only looks.
                    _ => {
                        let (act, order) = [
                            (Act::Touch, Plain),
                            (Act::Lock, Plain),
                            (Act::Unlock, Plain),
                            (Act::Unlock, Release),
                            (Act::LockFails, Plain),
                            (Act::Give, Relaxed),
                        ][pick(6)];
                        run.add(thread, act, order, OBJECT, 0);
                    }
                }
            }
            let buffered = run.judged(JudgedModel::Tso);
            for stale in run.judged(JudgedModel::Rc20) {
                let machines = run.machines(&stale).expect("a short run");
                let is_same = |other: &StaleAccess| {
                    (other.event, other.source, other.kind) == (stale.event, stale.source, stale.kind)
                };
                let expected = buffered.iter().any(is_same);
                assert_eq!(machines.x86, expected, "{stale:?} in {:#?}", run.events);
                on_x86 += usize::from(expected);
                elsewhere += usize::from(!expected);
            }
        }
        assert!(on_x86 > 300 && elsewhere > 300, "{on_x86} on x86, {elsewhere} elsewhere");
    }
}
