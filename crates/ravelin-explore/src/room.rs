//! The states that may still be stored, counted state by state in the round that would pass the limit.
//!
//! A round knows how many records it has before it stores any. If all of them may be new without passing the limit nobody has to count.
//! Otherwise the shards share this counter and drop what comes after it is used up. That is sound because such a round is the last one:
//! more states are stored then than the limit permits, so the search ends there, and what was dropped is not missed.

use std::sync::atomic::{AtomicI64, Ordering};

pub(crate) struct Room(AtomicI64);

impl Room {
    /// For a round that sends `records`, with `stored` states of at most `most`. `None`: there is room for all.
    ///
    /// There is always room for one more state than permitted. It is what tells a space that is too large from one that is exhausted.
    pub fn of(most: u64, stored: u64, records: u64) -> Option<Room> {
        let left = most.saturating_sub(stored);
        (records > left).then(|| Room(AtomicI64::new(i64::try_from(left).unwrap_or(i64::MAX - 1) + 1)))
    }

    /// Whether another state may be stored. Each shard may store one that others have taken the room of.
    #[inline]
    pub fn is_left(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub fn take(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
