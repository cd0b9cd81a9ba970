//! crossbeam-deque: one owner pushes and pops at one end, thieves steal at the other; and an injector for all.

use crossbeam_deque::{Injector, Steal, Worker};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn main() {
    for fifo in [false, true] {
        let worker = if fifo { Worker::new_fifo() } else { Worker::new_lifo() };
        let (taken, items) = (AtomicUsize::new(0), 2000);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let (stealer, taken) = (worker.stealer(), &taken);
                scope.spawn(move || {
                    while taken.load(Relaxed) < items {
                        match stealer.steal() {
                            Steal::Success(item) => drop::<Box<usize>>(item),
                            Steal::Empty | Steal::Retry => {
                                std::thread::yield_now();
                                continue;
                            }
                        }
                        taken.fetch_add(1, Relaxed);
                    }
                });
            }
            for item in 0..items {
                worker.push(Box::new(item));
                if item % 3 == 0 && worker.pop().is_some() {
                    taken.fetch_add(1, Relaxed);
                }
                if item % 64 == 0 {
                    std::thread::yield_now();
                }
            }
            while worker.pop().is_some() {
                taken.fetch_add(1, Relaxed);
            }
        });
    }
    let injector = Injector::new();
    let stolen = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for me in 0..2 {
            let injector = &injector;
            scope.spawn(move || (0..500).for_each(|item| injector.push(Box::new(me * 500 + item))));
        }
        for _ in 0..2 {
            let (injector, stolen) = (&injector, &stolen);
            scope.spawn(move || {
                let own = Worker::new_fifo();
                while stolen.load(Relaxed) < 1000 {
                    if let Steal::Success(_) = injector.steal_batch_and_pop(&own) {
                        stolen.fetch_add(1, Relaxed);
                        while own.pop().is_some() {
                            stolen.fetch_add(1, Relaxed);
                        }
                    }
                    std::thread::yield_now();
                }
            });
        }
    });
}
