//! The locations of a run: the ranges of memory that its atomic accesses touch.
//!
//! Ranges that overlap are one location. If they are not all equal it is mixed.
//!
//! Accesses that are not checked (`flags::UNCHECKED`) belong to the location that has their address, whatever its size.
//! Nothing is judged there, because not all of its writes and values are known.

use ravelin_findings::events::{Act, RunEvent, flags};
use rustc_hash::FxHashMap;

pub(super) struct Locations {
    /// Of each event.
    of: Vec<u32>,
    /// By location.
    mixed: Vec<bool>,
    /// By location: some of its accesses are not checked.
    unchecked: Vec<bool>,
}

const NONE: u32 = u32::MAX;

impl Locations {
    pub fn of(events: &[RunEvent]) -> Locations {
        let mut numbers: FxHashMap<(u64, u32), u32> = FxHashMap::default();
        let mut ranges: Vec<(u64, u32)> = Vec::new();
        let number = |event: &RunEvent| {
            if !is_access(event) || event.is(flags::UNCHECKED) {
                return NONE;
            }
            let range = (event.operation.address, event.operation.size);
            *numbers.entry(range).or_insert_with(|| {
                ranges.push(range);
                ranges.len() as u32 - 1
            })
        };
        let mut of: Vec<u32> = events.iter().map(number).collect();
        let merged = merge(&ranges);
        let mut mixed = vec![false; ranges.len()];
        for (range, &into) in merged.iter().enumerate() {
            if into as usize != range {
                mixed[into as usize] = true;
            }
        }
        if mixed.contains(&true) {
            of.iter_mut().filter(|number| **number != NONE).for_each(|number| *number = merged[*number as usize]);
        }
        let mut locations = Locations { of, unchecked: vec![false; mixed.len()], mixed };
        locations.place_unchecked(events);
        locations
    }

    /// Finds the locations of accesses that are not checked, by their addresses.
    fn place_unchecked(&mut self, events: &[RunEvent]) {
        let is_unchecked = |event: &RunEvent| is_access(event) && event.is(flags::UNCHECKED);
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        for index in (0..events.len()).filter(|&index| is_unchecked(&events[index])) {
            let address = events[index].operation.address;
            if let Some(&place) = places.get(&address) {
                self.of[index] = place;
                continue;
            }
            let contains = |event: &RunEvent| {
                let first = event.operation.address;
                let end = first.saturating_add(u64::from(event.operation.size));
                is_access(event) && !is_unchecked(event) && (first..end).contains(&address)
            };
            let place = match events.iter().position(contains) {
                Some(checked) => self.of[checked],
                None => {
                    self.mixed.push(false);
                    self.unchecked.push(true);
                    self.mixed.len() as u32 - 1
                }
            };
            self.unchecked[place as usize] = true;
            self.of[index] = place;
            places.insert(address, place);
        }
    }

    /// The location of an event, if it is an access.
    pub fn at(&self, event: usize) -> Option<usize> {
        let location = self.of[event];
        (location != NONE).then_some(location as usize)
    }

    pub fn count(&self) -> usize {
        self.mixed.len()
    }

    pub fn is_mixed(&self, location: usize) -> bool {
        self.mixed[location]
    }

    /// Whether all accesses of the location are known, so that they can be judged.
    pub fn is_judged(&self, location: usize) -> bool {
        !self.mixed[location] && !self.unchecked[location]
    }

    pub fn mixed_sizes(&self) -> bool {
        self.mixed.contains(&true)
    }
}

fn is_access(event: &RunEvent) -> bool {
    matches!(event.operation.act, Act::Load | Act::Store | Act::Update)
}

/// For each range, a range that stands for all that it overlaps with, directly or through others.
fn merge(ranges: &[(u64, u32)]) -> Vec<u32> {
    let mut merged: Vec<u32> = (0..ranges.len() as u32).collect();
    let mut sorted: Vec<u32> = merged.clone();
    sorted.sort_unstable_by_key(|&range| ranges[range as usize]);
    let mut group: Option<(u32, u64)> = None;
    for range in sorted {
        let (start, size) = ranges[range as usize];
        let end = start.saturating_add(u64::from(size));
        group = match group {
            Some((first, reaches)) if start < reaches => {
                merged[range as usize] = first;
                Some((first, reaches.max(end)))
            }
            _ => Some((range, end)),
        };
    }
    merged
}
