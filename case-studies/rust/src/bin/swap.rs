//! arc-swap: readers load while a writer stores, and a compare-and-swap loop.

use arc_swap::ArcSwap;
use std::sync::Arc;

fn main() {
    let shared = ArcSwap::from_pointee((0_u64, 0_u64));
    std::thread::scope(|scope| {
        for me in 0..3 {
            let shared = &shared;
            scope.spawn(move || {
                for round in 0..300 {
                    let seen = shared.load();
                    assert_eq!(seen.0, seen.1);
                    if me == 0 {
                        shared.store(Arc::new((round, round)));
                    } else if round % 8 == 0 {
                        shared.rcu(|old| (old.0 + 1, old.1 + 1));
                    } else {
                        let full = shared.load_full();
                        assert_eq!(full.0, full.1);
                    }
                }
            });
        }
    });
}
