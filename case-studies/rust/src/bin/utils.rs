//! crossbeam-utils: a sharded lock, a wait group, a parker, and an atomic cell.

use crossbeam_utils::atomic::AtomicCell;
use crossbeam_utils::sync::{Parker, ShardedLock, WaitGroup};

fn main() {
    let lock = ShardedLock::new(vec![0; 4]);
    let cell = AtomicCell::new((0_u32, 0_u32));
    let group = WaitGroup::new();
    std::thread::scope(|scope| {
        for me in 0..3 {
            let (lock, cell, group) = (&lock, &cell, group.clone());
            scope.spawn(move || {
                for round in 0..200 {
                    if round % 8 == 0 {
                        lock.write().unwrap()[me] += 1;
                    } else {
                        assert_eq!(lock.read().unwrap().len(), 4);
                    }
                    cell.store((round, round));
                    let (a, b) = cell.load();
                    assert_eq!(a, b);
                }
                drop(group);
            });
        }
        group.wait();
    });
    for _ in 0..50 {
        let parker = Parker::new();
        let unparker = parker.unparker().clone();
        let thread = std::thread::spawn(move || unparker.unpark());
        parker.park();
        thread.join().unwrap();
    }
}
