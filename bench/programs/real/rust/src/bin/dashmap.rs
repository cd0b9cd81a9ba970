//! dashmap: four threads insert, look up and remove under keys that they share. Argument: operations per thread.

use dashmap::DashMap;

const THREADS: u64 = 4;
const KEYS: u64 = 512;

fn main() {
    let operations: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("operations per thread");
    let map: DashMap<u64, u64> = DashMap::new();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let map = &map;
            scope.spawn(move || {
                let mut seed = thread + 1;
                for _ in 0..operations {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let key = (seed >> 33) % KEYS;
                    match seed >> 61 {
                        0 => drop(map.remove(&key)),
                        1 | 2 => *map.entry(key).or_insert(0) += 1,
                        3 => drop(map.insert(key, seed)),
                        _ => assert!(map.get(&key).is_none_or(|value| *value != u64::MAX)),
                    }
                }
            });
        }
    });
    assert!(map.len() as u64 <= KEYS);
}
