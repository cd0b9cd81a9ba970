//! Numbers that look random and are determined by a seed (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).

/// A source of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The numbers of this source after as many of them as lie between two states of another one.
    pub fn after(self, before: &Random, now: &Random) -> Random {
        Random(self.0.wrapping_add(now.0.wrapping_sub(before.0)))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which is not 0; all numbers are practically equally likely.
    pub fn below(&mut self, end: u64) -> u64 {
        debug_assert!(end > 0);
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }
}
