//! The markings found so far, without those that cover others.
//!
//! Two questions are asked of each new marking. Is one that is there covered by it? Every marking is filed under one of its places, the
//! one with the shortest file, so only the files of the new marking's places need to be looked at. Which ones cover it? These have all
//! its places, so the shortest list of those that have one of them will do.

use crate::{Marking, NetTransitionId};

/// Index of a [`MarkingEntry`].
pub(crate) type EntryId = u32;

/// A marking that was kept, and where it came from.
pub(crate) struct MarkingEntry {
    pub marking: Marking,
    pub origin: MarkingOrigin,
    /// A later one is smaller.
    pub covers_another: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkingOrigin {
    Target,
    /// The transition leads from this marking into that one.
    Fires(NetTransitionId, EntryId),
}

pub(crate) struct Antichain {
    pub entries: Vec<MarkingEntry>,
    /// Those that cover no other.
    pub minimal: usize,
    pub bytes: usize,
    /// By place, those that are filed there.
    files: Vec<Vec<(u64, EntryId)>>,
    /// By place, those that have tokens there.
    having: Vec<Vec<EntryId>>,
    /// The empty marking is there: all markings cover it.
    has_empty: bool,
}

impl Antichain {
    pub fn new(places: usize) -> Antichain {
        Antichain {
            entries: Vec::new(),
            minimal: 0,
            bytes: places * 48,
            files: vec![Vec::new(); places],
            having: vec![Vec::new(); places],
            has_empty: false,
        }
    }

    /// Adds a marking unless it covers one that is there.
    pub fn insert(&mut self, marking: Marking, origin: MarkingOrigin) -> Option<EntryId> {
        if self.has_smaller(&marking) {
            return None;
        }
        let signature = marking.signature();
        self.drop_larger(&marking);
        let id = self.entries.len() as EntryId;
        match marking.places().min_by_key(|place| self.files[*place as usize].len()) {
            Some(place) => self.files[place as usize].push((signature, id)),
            None => self.has_empty = true,
        }
        for place in marking.places() {
            self.having[place as usize].push(id);
        }
        self.minimal += 1;
        self.bytes += size_of::<MarkingEntry>() + 16 + marking.bytes() + 4 * marking.iter().len();
        self.entries.push(MarkingEntry { marking, origin, covers_another: false });
        Some(id)
    }

    /// The least markings.
    pub fn minimal(&self) -> impl Iterator<Item = &Marking> {
        self.entries.iter().filter(|entry| !entry.covers_another).map(|entry| &entry.marking)
    }

    /// The marking covers one that is there.
    pub fn has_smaller(&self, marking: &Marking) -> bool {
        let signature = marking.signature();
        let smaller = |&(smaller, id): &(u64, EntryId)| {
            smaller & !signature == 0 && self.entries[id as usize].marking.is_covered_by(marking)
        };
        self.has_empty || marking.places().any(|place| self.files[place as usize].iter().any(smaller))
    }

    /// Those that cover the new marking are of no more use.
    fn drop_larger(&mut self, marking: &Marking) {
        let Antichain { files, having, entries, minimal, .. } = self;
        let Some(place) = marking.places().min_by_key(|place| having[*place as usize].len()) else {
            entries.iter_mut().for_each(|entry| entry.covers_another = true);
            *minimal = 0;
            return;
        };
        having[place as usize].retain(|&id| {
            let entry = &mut entries[id as usize];
            if !entry.covers_another && marking.is_covered_by(&entry.marking) {
                entry.covers_another = true;
                *minimal -= 1;
                for place in entry.marking.places() {
                    files[place as usize].retain(|(_, other)| *other != id);
                }
            }
            !entry.covers_another
        });
    }
}
