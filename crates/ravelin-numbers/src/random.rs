//! Numbers that look random and are determined by a seed (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).

use std::ops::RangeInclusive;

/// What is added for each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers that a seed determines.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The numbers of this stream after as many of them as lie between two states of another one.
    pub fn after(self, before: &Random, now: &Random) -> Random {
        Random(self.0.wrapping_add(now.0.wrapping_sub(before.0)))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        finished(self.0)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        // The bias of the remainder is far too small for any test to notice.
        if end == 0 { 0 } else { (self.number() % end as u64) as usize }
    }

    /// The same by the high half of a product, for large ends: all numbers are practically equally likely.
    pub fn share(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// A number of a range; its start if the range is empty.
    pub fn within(&mut self, range: RangeInclusive<usize>) -> usize {
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

/// The number in this place of the stream of seed 0: one that another number determines, and that looks unlike it.
pub const fn mixed(place: u64) -> u64 {
    finished(place.wrapping_mul(STEP))
}

const fn finished(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' program prints for the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let numbers = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.number(), random.number(), random.number()], numbers);
        let mut zero = Random::new(0);
        assert_eq!([mixed(1), mixed(2)], [zero.number(), zero.number()]);
    }

    #[test]
    fn a_stream_continues_where_another_one_is() {
        let (mut one, mut other) = (Random::new(1), Random::new(2));
        let before = one.clone();
        for _ in 0..5 {
            one.number();
            other.number();
        }
        assert_eq!(Random::new(2).after(&before, &one).number(), other.number());
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut random = Random::new(3);
        assert_eq!((random.below(0), random.share(0), random.weighted::<u8>(&[])), (0, 0, None));
        assert!(
            (0..1000).all(|_| random.below(3) < 3 && random.share(3) < 3 && (2..=4).contains(&random.within(2..=4)))
        );
        assert!((0..1000).all(|_| random.weighted(&[('a', 0), ('b', 2)]) == Some('b')));
    }
}
