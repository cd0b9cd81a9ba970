//! A small source of pseudo-random numbers (splitmix64), so that a seed gives the same program on every machine.

/// A stream of numbers that a seed determines.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // The bias of the remainder is far too small for any test to notice.
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// A number of a range; its start if the range is empty.
    pub fn within(&mut self, range: std::ops::RangeInclusive<usize>) -> usize {
        range.start() + self.below((range.end() + 1).saturating_sub(*range.start()))
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items. There must be one.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        debug_assert!(!items.is_empty());
        items[self.below(items.len())].clone()
    }

    /// One of the items, in proportion to their weights, if they have any.
    pub fn weighted<T: Copy>(&mut self, items: &[(T, usize)]) -> Option<T> {
        let total = items.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(total);
        for &(item, weight) in items {
            if left < weight {
                return Some(item);
            }
            left -= weight;
        }
        None
    }
}
