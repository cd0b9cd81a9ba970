//! crossbeam-queue: the bounded and the unbounded queue, several producers and consumers.

use crossbeam_queue::{ArrayQueue, SegQueue};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn main() {
    let (bounded, unbounded) = (ArrayQueue::new(16), SegQueue::new());
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for me in 0..2 {
            let (bounded, unbounded) = (&bounded, &unbounded);
            scope.spawn(move || {
                for item in 0..1000 {
                    let mut boxed = Box::new(me * 1000 + item);
                    if item % 2 == 0 {
                        unbounded.push(boxed);
                        continue;
                    }
                    while let Err(back) = bounded.push(boxed) {
                        boxed = back;
                        std::thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..2 {
            let (bounded, unbounded, taken) = (&bounded, &unbounded, &taken);
            scope.spawn(move || {
                while taken.load(Relaxed) < 2000 {
                    match bounded.pop().or_else(|| unbounded.pop()) {
                        Some(item) => {
                            assert!(*item < 2000);
                            taken.fetch_add(1, Relaxed);
                        }
                        None => std::thread::yield_now(),
                    }
                }
            });
        }
    });
}
