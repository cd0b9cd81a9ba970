//! `with-crossbeam PROGRAM SIZE`: one run of two threads that use crossbeam, for `ravelin verify`.

use crossbeam::channel::unbounded;
use crossbeam::deque::{Steal, Worker};
use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam::sync::{Parker, WaitGroup};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let program: fn(usize) = match words.next().as_deref() {
        Some("array-queue") => array_queue,
        Some("seg-queue") => seg_queue,
        Some("channel") => channel,
        Some("deque") => deque,
        Some("parker") => parker,
        Some("wait-group") => wait_group,
        _ => return ExitCode::from(2),
    };
    program(words.next().and_then(|size| size.parse().ok()).unwrap_or(1));
    ExitCode::SUCCESS
}

/// One thread pushes so many numbers, the other one pops as often.
fn array_queue(size: usize) {
    let queue = Arc::new(ArrayQueue::new(size));
    let pushed = queue.clone();
    let push = thread::spawn(move || (0..size).for_each(|number| pushed.push(number).expect("there is room")));
    in_order((0..size).filter_map(|_| queue.pop()));
    push.join().expect("it ends");
}

fn seg_queue(size: usize) {
    let queue = Arc::new(SegQueue::new());
    let pushed = queue.clone();
    let push = thread::spawn(move || (0..size).for_each(|number| pushed.push(number)));
    in_order((0..size).filter_map(|_| queue.pop()));
    push.join().expect("it ends");
}

/// One thread sends so many numbers, the other one waits for all of them.
fn channel(size: usize) {
    let (sender, receiver) = unbounded();
    let send = thread::spawn(move || (0..size).for_each(|number| sender.send(number).expect("a receiver")));
    in_order((0..size).map(|_| receiver.recv().expect("a number")));
    send.join().expect("it ends");
}

/// The owner pushes and pops so many numbers, another thread steals once. Each number is there once.
fn deque(size: usize) {
    let worker = Worker::new_lifo();
    (0..size).for_each(|number| worker.push(number));
    let stealer = worker.stealer();
    let steal = thread::spawn(move || match stealer.steal() {
        Steal::Success(number) => Some(number),
        Steal::Empty | Steal::Retry => None,
    });
    let mut found: Vec<usize> = std::iter::from_fn(|| worker.pop()).collect();
    found.extend(steal.join().expect("it ends"));
    found.sort_unstable();
    assert!(found.into_iter().eq(0..size));
}

/// One thread wakes the other one so often.
fn parker(size: usize) {
    let parker = Parker::new();
    let unparker = parker.unparker().clone();
    let wake = thread::spawn(move || (0..size).for_each(|_| unparker.unpark()));
    parker.park();
    wake.join().expect("it ends");
}

/// So many threads are waited for.
fn wait_group(size: usize) {
    let group = WaitGroup::new();
    for _ in 0..size {
        let group = group.clone();
        thread::spawn(move || drop(group));
    }
    group.wait();
}

fn in_order(numbers: impl Iterator<Item = usize>) {
    let numbers: Vec<usize> = numbers.collect();
    assert!(numbers.is_sorted());
}
