//! Numbers that a seed determines, so that it means the same trace on every machine.

#[derive(Clone, Debug)]
pub struct Random(ravelin_schedule::Random);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(ravelin_schedule::Random::new(seed))
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.0.number() % end as u64) as usize
    }

    /// A number of a range that is not empty.
    pub fn within(&mut self, range: std::ops::RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() + 1 - range.start())
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items. There must be one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
