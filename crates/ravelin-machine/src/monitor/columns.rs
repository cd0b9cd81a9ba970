//! Sets of columns: facts and marks by number, in words of 64 bits.
//!
//! The number of words is chosen when a search starts ([`WIDTHS`]) and is part of the type. A program with few columns
//! therefore runs code compiled for few words, and does not pay for programs that need more.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// The number of words for each width. `monitor` in `search.rs` picks the first that is wide enough.
pub(crate) const WIDTHS: [usize; 3] = [2, 8, 32];

/// The most columns that a search can have.
pub(crate) const MOST_COLUMNS: usize = 64 * WIDTHS[WIDTHS.len() - 1];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns<const N: usize>([u64; N]);

impl<const N: usize> Columns<N> {
    pub const NONE: Columns<N> = Columns([0; N]);
    pub const EVERY: Columns<N> = Columns([u64::MAX; N]);

    #[inline]
    pub fn of_words(words: [u64; N]) -> Columns<N> {
        Columns(words)
    }

    #[inline]
    pub fn one(column: usize) -> Columns<N> {
        let mut words = [0; N];
        words[column / 64] = 1 << (column % 64);
        Columns(words)
    }

    /// Columns 0 to `count` - 1.
    pub fn first(count: usize) -> Columns<N> {
        (0..count).collect()
    }

    #[inline]
    pub fn words(&self) -> &[u64; N] {
        &self.0
    }

    #[inline]
    pub fn contains(&self, column: usize) -> bool {
        self.0[column / 64] >> (column % 64) & 1 == 1
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// In ascending order.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(usize)) {
        for (number, &word) in self.0.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                visit(number * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

impl<const N: usize> Default for Columns<N> {
    fn default() -> Columns<N> {
        Columns::NONE
    }
}

impl<const N: usize> FromIterator<usize> for Columns<N> {
    fn from_iter<I: IntoIterator<Item = usize>>(columns: I) -> Columns<N> {
        columns.into_iter().fold(Columns::NONE, |set, column| set | Columns::one(column))
    }
}

impl<const N: usize> BitOr for Columns<N> {
    type Output = Columns<N>;

    #[inline]
    fn bitor(self, other: Columns<N>) -> Columns<N> {
        Columns(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl<const N: usize> BitOrAssign for Columns<N> {
    #[inline]
    fn bitor_assign(&mut self, other: Columns<N>) {
        *self = *self | other;
    }
}

impl<const N: usize> BitAnd for Columns<N> {
    type Output = Columns<N>;

    #[inline]
    fn bitand(self, other: Columns<N>) -> Columns<N> {
        Columns(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

impl<const N: usize> Not for Columns<N> {
    type Output = Columns<N>;

    #[inline]
    fn not(self) -> Columns<N> {
        Columns(self.0.map(|word| !word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in_whatever_the_word() {
        let set: Columns<8> = [0, 63, 64, 127, 128, 300, 511].into_iter().collect();
        let mut found = Vec::new();
        set.for_each(|column| found.push(column));
        assert_eq!(found, [0, 63, 64, 127, 128, 300, 511]);
        assert!(set.contains(300) && !set.contains(301) && !set.is_empty());
        assert_eq!(!set & set, Columns::NONE);
        assert_eq!(!set | set, Columns::EVERY);
        assert_eq!(Columns::<8>::first(512), Columns::EVERY);
    }
}
