//! crossbeam: items pass through a bounded channel, a queue with epoch-based reclamation, and work-stealing deques.
//! Argument: how many items.

use crossbeam::channel::bounded;
use crossbeam::deque::{Steal, Worker};
use crossbeam::queue::SegQueue;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() {
    let items: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("how many items");
    let all = items * (items + 1) / 2;
    assert_eq!(through_channel(items), all);
    assert_eq!(through_queue(items), all);
    assert_eq!(through_deque(items), all);
}

fn through_channel(items: u64) -> u64 {
    let (sender, receiver) = bounded(64);
    let sum = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for part in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (1 + part..=items).step_by(2).for_each(|item| sender.send(item).expect("a receiver")));
        }
        drop(sender);
        for _ in 0..2 {
            let (receiver, sum) = (receiver.clone(), &sum);
            scope.spawn(move || sum.fetch_add(receiver.iter().sum::<u64>(), Ordering::Relaxed));
        }
    });
    sum.into_inner()
}

fn through_queue(items: u64) -> u64 {
    let (queue, sum, left) = (SegQueue::new(), AtomicU64::new(0), AtomicU64::new(items));
    std::thread::scope(|scope| {
        let (queue, sum, left) = (&queue, &sum, &left);
        for part in 0..2 {
            scope.spawn(move || (1 + part..=items).step_by(2).for_each(|item| queue.push(item)));
            scope.spawn(move || {
                let mut own = 0;
                while left.load(Ordering::Acquire) > 0 {
                    match queue.pop() {
                        Some(item) => {
                            own += item;
                            left.fetch_sub(1, Ordering::AcqRel);
                        }
                        None => std::thread::yield_now(),
                    }
                }
                sum.fetch_add(own, Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

fn through_deque(items: u64) -> u64 {
    let (worker, sum, left) = (Worker::new_lifo(), AtomicU64::new(0), AtomicU64::new(items));
    let stealers: Vec<_> = (0..3).map(|_| worker.stealer()).collect();
    std::thread::scope(|scope| {
        let (sum, left) = (&sum, &left);
        for stealer in stealers {
            scope.spawn(move || {
                while left.load(Ordering::Acquire) > 0 {
                    match stealer.steal() {
                        Steal::Success(item) => {
                            sum.fetch_add(item, Ordering::Relaxed);
                            left.fetch_sub(1, Ordering::AcqRel);
                        }
                        Steal::Empty => std::thread::yield_now(),
                        Steal::Retry => {}
                    }
                }
            });
        }
        for item in 1..=items {
            worker.push(item);
            if item % 2 == 0
                && let Some(item) = worker.pop()
            {
                sum.fetch_add(item, Ordering::Relaxed);
                left.fetch_sub(1, Ordering::AcqRel);
            }
        }
        while let Some(item) = worker.pop() {
            sum.fetch_add(item, Ordering::Relaxed);
            left.fetch_sub(1, Ordering::AcqRel);
        }
    });
    sum.into_inner()
}
