//! Watched threads for the tests of this crate, without real concurrency, and the tests of threads themselves.

use super::*;
use crate::process;

/// Ends a thread, also if its test fails.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        end();
    }
}

/// Runs `work` in the calling thread, which is watched meanwhile: a thread that no other thread started, and that knows
/// nothing of the others.
pub fn watched<R>(work: impl FnOnce() -> R) -> R {
    assert!(process::reserve(), "there is address space for the shadow");
    let seed = {
        let mut table = TABLE.lock();
        let tid = table.fresh_tid().expect("a tid");
        let number = table.next_number;
        table.next_number += 1;
        table.slots[tid as usize].begin(1, number);
        table.people.push(stranger(number));
        Seed { released: ReleaseClocks::default(), number, tid, epoch: 1, starts: Arc::default(), stack_size: 0 }
    };
    begin(Box::new(seed));
    let _end = End;
    work()
}

/// Runs `work` in a thread that the calling one starts. It has ended afterwards, but was not joined: nothing orders
/// what it did and what the caller does next. Returns its number as well.
pub fn beside<R: Send>(work: impl FnOnce() -> R + Send) -> (R, u32) {
    let seed = starting(0x5eed).expect("a thread can be started");
    let number = number_of(&seed);
    let child = move || {
        begin(seed);
        let _end = End;
        work()
    };
    let result = std::thread::scope(|scope| scope.spawn(child).join());
    (result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), number)
}

fn stranger(number: u64) -> ThreadIdentity {
    ThreadIdentity {
        number,
        parent: number,
        name: Vec::new(),
        calls: Vec::new(),
        begins: None,
        ended: None,
        detached: false,
        described: false,
    }
}

/// The clocks of the calling thread, which is watched.
pub fn with_clocks<R>(work: impl FnOnce(&mut ThreadClocks) -> R) -> R {
    work(&mut this_thread::enter().expect("a watched thread").thread().clocks)
}

/// The tid and the epoch of the calling thread.
pub fn now() -> (Tid, Epoch) {
    with_clocks(|clocks| (clocks.tid, clocks.epoch))
}

/// The calling thread starts another thread, which does something, and then `theirs`. Returns whether the calling
/// thread knows of it after `mine`.
pub fn ordered(theirs: impl FnOnce() + Send, mine: impl FnOnce()) -> bool {
    let ((tid, epoch), _) = beside(|| {
        let moment = now();
        theirs();
        moment
    });
    mine();
    with_clocks(|clocks| clocks.happens_after(tid, epoch))
}

fn empty() -> ThreadTable {
    ThreadTable { slots: Vec::new(), free: VecDeque::new(), gone: VecDeque::new(), people: Vec::new(), next_number: 0 }
}

#[test]
fn a_child_knows_what_its_parent_did_before_and_not_what_it_does_after() {
    watched(|| {
        let (parent, before) = now();
        let (knows, _) = beside(|| {
            with_clocks(|clocks| (clocks.happens_after(parent, before), clocks.happens_after(parent, before + 1)))
        });
        assert_eq!(knows, (true, false));
    });
}

#[test]
fn whoever_joins_a_thread_knows_what_it_did() {
    watched(|| {
        let ((tid, epoch), number) = beside(now);
        assert!(!with_clocks(|clocks| clocks.happens_after(tid, epoch)));
        joined(number);
        assert!(with_clocks(|clocks| clocks.happens_after(tid, epoch)));
    });
}

#[test]
fn the_tid_of_a_joined_thread_is_used_again_with_later_epochs_and_another_number() {
    watched(|| {
        let ((tid, epoch), number) = beside(now);
        joined(number);
        let tids: Vec<_> = (0..20)
            .map(|_| {
                let (child, number) = beside(now);
                joined(number);
                (child, u64::from(number))
            })
            .collect();
        let Some(((_, later), next)) = tids.iter().find(|((child, _), _)| *child == tid) else {
            // Other tests join threads too, whose tids may be before this one in the queue. This thread does not know
            // them, so it looks at a few and takes a new one.
            assert!(TABLE.lock().free.iter().position(|(free, _)| *free == tid) >= Some(CANDIDATES));
            return;
        };
        assert!(*later > epoch && *next > u64::from(number));
        assert_eq!(number_of_tid(tid, epoch), u64::from(number));
        assert_eq!(number_of_tid(tid, *later), *next);
    });
}

#[test]
fn a_tid_is_used_again_only_by_children_of_whoever_knows_the_old_thread() {
    let mut table = empty();
    let mut old = ThreadClocks::new(table.fresh_tid().expect("a tid"), 1);
    let mut parent = ThreadClocks::new(table.fresh_tid().expect("a tid"), 1);
    let left = old.release();
    table.slots[old.tid as usize].next_epoch = 40;
    table.free.push_back((old.tid, left.clone()));
    assert_eq!(table.tid_for(&parent), Some((2, 1)), "a new one");
    parent.acquire(&left);
    assert_eq!(table.tid_for(&parent), Some((old.tid, 40)));
    assert_eq!(table.tid_for(&parent), Some((3, 1)), "it is in use now");
}

#[test]
fn a_tid_with_few_epochs_left_is_not_used_again() {
    let mut table = empty();
    let parent = ThreadClocks::new(table.fresh_tid().expect("a tid"), 1);
    let old = table.fresh_tid().expect("a tid");
    table.free.push_back((old, ReleaseClocks::default()));
    table.slots[old as usize].next_epoch = LAST_EPOCH / 2;
    assert_eq!(table.tid_for(&parent), Some((2, 1)));
    table.slots[old as usize].next_epoch -= 1;
    assert_eq!(table.tid_for(&parent), Some((old, LAST_EPOCH / 2 - 1)));
}

#[test]
fn there_are_no_more_tids_than_clocks_can_hold() {
    let mut table = empty();
    assert!((0..MOST).all(|tid| table.fresh_tid() == Some(tid as Tid)));
    assert_eq!(table.fresh_tid(), None);
    assert_eq!(table.tid_for(&ThreadClocks::new(0, 1)), None);
}

#[test]
fn a_person_is_found_by_number_after_others_were_forgotten() {
    let mut table = empty();
    table.people = [0, 3, 4, 9].map(stranger).into();
    assert_eq!([3, 5, 9].map(|number| table.person(number).map(|person| person.number)), [Some(3), None, Some(9)]);
}

#[test]
fn threads_that_ended_long_ago_are_forgotten_but_for_those_that_still_matter() {
    let mut table = empty();
    table.people = (0..10_000).map(stranger).collect();
    table.next_number = 10_000;
    table.people[5].ended = Some((0, ReleaseClocks::default(), Arc::default()));
    let tid = table.fresh_tid().expect("a tid");
    table.slots[tid as usize].begin(1, 6);
    table.slots[tid as usize].running = true;
    table.forget_some();
    let kept: Vec<u64> = table.people.iter().map(|person| person.number).collect();
    assert_eq!(kept[..4], [0, 5, 6, 10_000 - 4096], "the first, one to be joined, one that runs, and the last ones");
    assert_eq!(kept.len(), 3 + 4096);
}

#[test]
fn the_past_of_a_tid_has_a_limit_and_begins_with_the_oldest_that_is_remembered() {
    let mut table = empty();
    let tid = table.fresh_tid().expect("a tid") as usize;
    for number in 1..=PAST as u64 + 5 {
        table.slots[tid].begin(number as Epoch * 10, number);
    }
    assert_eq!(table.slots[tid].past.len(), PAST);
    assert_eq!(table.slots[tid].past.front(), Some(&(60, 6)));
}

#[test]
fn a_tid_belonged_to_the_thread_that_had_it_at_that_epoch() {
    let tid = {
        let mut table = TABLE.lock();
        let tid = table.fresh_tid().expect("a tid");
        table.slots[tid as usize].begin(5, 1 << 50);
        table.slots[tid as usize].begin(10, 2 << 50);
        tid
    };
    let numbers = [1, 5, 9, 10, 11].map(|epoch| number_of_tid(tid, epoch) >> 50);
    assert_eq!(numbers, [1, 1, 1, 2, 2], "what is older than all that is remembered goes to the oldest");
}

#[test]
fn the_tid_of_a_thread_that_could_not_be_started_goes_to_the_next() {
    watched(|| {
        let seed = *starting(0).expect("a thread can be started");
        let (tid, number) = (seed.tid, seed.number);
        not_started(seed);
        let mut table = TABLE.lock();
        assert!(table.person(number).is_none());
        assert!(table.free.iter().any(|(free, _)| *free == tid) || table.slots[tid as usize].past.len() > 1);
    });
}

#[test]
fn a_thread_that_nobody_will_join_leaves_nothing_to_join() {
    watched(|| {
        let (_, number) = beside(|| ());
        assert!(TABLE.lock().person(u64::from(number)).is_some_and(|person| person.ended.is_some()));
        detached(number);
        assert!(TABLE.lock().person(u64::from(number)).is_some_and(|person| person.ended.is_none()));
    });
}

#[test]
fn a_thread_that_has_used_up_its_epochs_goes_on_under_another_tid() {
    watched(|| {
        let (tid, _) = now();
        let mut inside = this_thread::enter().expect("a watched thread");
        let thread = inside.thread();
        let number = thread.number;
        thread.clocks.epoch = LAST_EPOCH;
        thread.new_epoch();
        let (renamed, epoch) = (thread.clocks.tid, thread.clocks.epoch);
        assert_ne!(renamed, tid);
        assert_eq!((epoch, thread.stamp), (1, slot::stamp(renamed, 1)));
        assert!(thread.clocks.happens_after(tid, LAST_EPOCH - 1), "it knows what it did before");
        drop(inside);
        assert_eq!(number_of_tid(renamed, 1), number);
    });
}

#[test]
fn an_address_on_the_stack_of_a_thread_that_runs_belongs_to_it() {
    watched(|| {
        let here = 0;
        let address = &raw const here as usize;
        let thread = this_thread::me();
        // SAFETY: the calling thread's own state.
        let number = unsafe {
            (*thread).stack = (address - 100, address + 100);
            (*thread).number
        };
        assert_eq!(stack_owner(address), Some(number));
        assert_eq!(stack_owner(address + 100), None);
        assert_eq!(own_number(), number);
    });
}

#[test]
fn nothing_is_known_of_a_tid_that_nobody_has() {
    assert_eq!(number_of_tid(Tid::MAX, 1), 0);
    assert!(trace_of(Tid::MAX, |_| ()).is_none());
    assert!(sources_of(Tid::MAX).is_empty());
}

#[test]
fn a_stack_that_the_program_provides_is_taken_to_end_where_the_thread_began() {
    assert_eq!(stack_around(0x9000, 0x2000), (0x8000, 0x9000));
    let control: usize;
    // SAFETY: the first word of the control block is its own address.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) control, options(pure, readonly, nostack)) };
    let (low, high) = stack_around(control - 0x1000, 0x10_0000);
    assert_eq!(high - low, 0x10_0000);
    assert!((low..high).contains(&(control - 0x1000)));
}

/// What the threads of a table know. Each is the tid, the epoch and the number of the thread that it waits for.
fn common_of(threads: &[(Tid, ThreadClocks, Option<u64>)], people: Vec<ThreadIdentity>) -> CommonView {
    assert!(process::reserve(), "there is address space for the shadow");
    let mut table = ThreadTable {
        slots: Vec::new(),
        free: VecDeque::new(),
        gone: VecDeque::new(),
        people,
        next_number: threads.len() as u64,
    };
    let mut states = Vec::new();
    for (tid, clocks, joins) in threads {
        let mut own = ThreadClocks::new(*tid, clocks.epoch);
        own.cur = clocks.cur.clone();
        let mut state = WatchedThread::new(own, u64::from(*tid), None).expect("memory");
        state.joins = joins.map_or(0, |number| number + 1).into();
        table.slots.push(Slot { thread: &raw mut *state, running: true, next_epoch: 0, past: VecDeque::new() });
        states.push(state);
    }
    let mut common = CommonView::new();
    table.common(&mut common);
    for mut state in states {
        state.finish();
        state.trace.give_back();
    }
    common
}

#[test]
fn a_thread_that_waits_for_another_will_know_what_that_one_knows() {
    let people = || vec![stranger(0), stranger(1)];
    let clocks = |tid| ThreadClocks::new(tid, 5);
    let both = [(0, clocks(0), None), (1, clocks(1), None)];
    assert!(!common_of(&both, people()).covers(1, 4), "the first does not know the second");
    let waiting = [(0, clocks(0), Some(1)), (1, clocks(1), None)];
    assert!(common_of(&waiting, people()).covers(1, 4));
    let unknown = [(0, clocks(0), Some(7)), (1, clocks(1), None)];
    assert!(!common_of(&unknown, people()).covers(1, 4), "no thread is known to end");
}

#[test]
fn a_thread_that_waits_for_one_that_has_ended_will_know_what_that_one_knew() {
    let mut ended = stranger(1);
    ended.ended = Some((1, ThreadClocks::new(1, 3).release(), Arc::default()));
    let threads = [(0, ThreadClocks::new(0, 5), Some(1)), (2, ThreadClocks::new(2, 9), None)];
    let common = common_of(&threads, vec![stranger(0), ended, stranger(2)]);
    assert!(!common.covers(2, 8), "the ended one does not know the third");
    assert!(!common.covers(1, 3), "nor the third the ended one");
}

#[test]
fn a_thread_that_has_not_begun_counts() {
    let mut child = stranger(1);
    let mut parent = ThreadClocks::new(0, 5);
    child.begins = Some(parent.release());
    parent.advance();
    let common = common_of(&[(0, parent, None)], vec![stranger(0), child]);
    assert!(common.covers(0, 5) && !common.covers(0, 6));
}
