//! A marking: how many tokens each place holds, or must hold at least.

/// Index of a place.
pub type PlaceId = u32;

/// The marked places in order, each with its number of tokens, which is never 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marking(Box<[(PlaceId, u32)]>);

impl Marking {
    /// Places may be named in any order and several times; their tokens add up.
    pub fn new(tokens: impl IntoIterator<Item = (PlaceId, u32)>) -> Marking {
        let mut sorted: Vec<(PlaceId, u32)> = tokens.into_iter().filter(|(_, count)| *count > 0).collect();
        sorted.sort_unstable();
        let mut merged: Vec<(PlaceId, u32)> = Vec::with_capacity(sorted.len());
        for (place, count) in sorted {
            match merged.last_mut() {
                Some((last, sum)) if *last == place => *sum = sum.saturating_add(count),
                _ => merged.push((place, count)),
            }
        }
        Marking(merged.into())
    }

    /// Already sorted, each place once, no zeros.
    pub(crate) fn from_sorted(tokens: Vec<(PlaceId, u32)>) -> Marking {
        debug_assert!(tokens.is_sorted_by(|a, b| a.0 < b.0) && tokens.iter().all(|(_, count)| *count > 0));
        Marking(tokens.into())
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PlaceId, u32)> + Clone + '_ {
        self.0.iter().copied()
    }

    pub fn places(&self) -> impl ExactSizeIterator<Item = PlaceId> + Clone + '_ {
        self.0.iter().map(|(place, _)| *place)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self, place: PlaceId) -> u32 {
        self.0.binary_search_by_key(&place, |(place, _)| *place).map_or(0, |at| self.0[at].1)
    }

    /// All tokens together.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Every place has at most as many tokens as in `other`.
    pub fn is_covered_by(&self, other: &Marking) -> bool {
        if self.0.len() > other.0.len() {
            return false;
        }
        let mut rest = other.0.iter();
        self.0
            .iter()
            .all(|(place, count)| rest.find(|(of, _)| of >= place).is_some_and(|(of, has)| of == place && has >= count))
    }

    /// A hashed set of the places. If one marking is covered by another, its signature is a subset of the other's.
    pub(crate) fn signature(&self) -> u128 {
        self.0.iter().fold(0, |signature, (place, _)| signature | 1 << (place.wrapping_mul(0x9E37_79B9) >> 25))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val::<[(PlaceId, u32)]>(&self.0)
    }
}
