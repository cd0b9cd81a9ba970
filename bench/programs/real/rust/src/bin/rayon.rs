//! rayon: sorts, maps and reduces on four threads. Argument: how often.

use rayon::prelude::*;

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("how often");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
    pool.install(|| {
        for round in 0..rounds {
            let mut values: Vec<u64> =
                (0..20_000_u64).into_par_iter().map(|value| (value + round).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            values.par_sort_unstable();
            assert!(values.par_windows(2).all(|pair| pair[0] <= pair[1]));
            let sum = values.par_iter().with_max_len(64).map(|value| value >> 32).sum::<u64>();
            let (left, right) = rayon::join(|| values.iter().max(), || values.iter().min());
            assert!(sum > 0 && left >= right);
        }
    });
}
