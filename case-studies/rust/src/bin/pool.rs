//! rayon: parallel iterators, join, scopes, sorting, in a pool of four threads.

use rayon::prelude::*;

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    pool.install(|| {
        assert_eq!(fibonacci(13), 233);
        let mut numbers: Vec<u64> = (0..5000).map(|number| number * 7919 % 5000).collect();
        assert_eq!(numbers.par_iter().sum::<u64>(), 12_497_500);
        numbers.par_sort_unstable();
        assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]));
        let squares: Vec<u64> = numbers.par_iter().map(|number| number * number).collect();
        assert_eq!(squares.len(), 5000);
        let mut sums = vec![0; 8];
        rayon::scope(|scope| {
            for (index, sum) in sums.iter_mut().enumerate() {
                scope.spawn(move |_| *sum = (0..=index).sum());
            }
        });
        assert_eq!(sums[7], 28);
    });
    drop(pool);
}
