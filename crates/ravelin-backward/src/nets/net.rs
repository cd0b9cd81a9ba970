//! Nets: places, transitions, where they start and what is asked.

use super::{Marking, PlaceId};
use std::collections::HashMap;

/// Index of a [`NetTransition`].
pub type NetTransitionId = u32;

/// A Petri net with its question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// Names of the places.
    pub places: Vec<String>,
    pub transitions: Vec<NetTransition>,
    /// By place.
    pub initial: Vec<InitialTokens>,
    /// Is one of these covered by a reachable marking?
    pub targets: Vec<Marking>,
    /// Sets of places that hold one token together, at the start and for ever.
    cells: Vec<Vec<PlaceId>>,
    /// By place, for those that belong to a cell.
    cell_of: HashMap<PlaceId, usize>,
}

/// Takes tokens, all at once, and then gives tokens. A place in both is only looked at, as far as they agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetTransition {
    pub takes: Marking,
    pub gives: Marking,
    /// Places of different cells to which the cell's token goes, wherever it is: as many transitions of an ordinary net as the cells have
    /// places, in one. So a step backwards need not say what a cell held before it was overwritten. None of these cells is among those
    /// that are taken from or given to.
    pub sets: Box<[PlaceId]>,
}

impl NetTransition {
    /// Tokens come to the place.
    pub fn adds_to(&self, place: PlaceId) -> bool {
        self.gives.count(place) > self.takes.count(place) || self.sets.contains(&place)
    }
}

/// How many tokens a place starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InitialTokens {
    Exactly(u32),
    /// Any number from this on.
    AtLeast(u32),
}

impl Default for InitialTokens {
    fn default() -> InitialTokens {
        InitialTokens::Exactly(0)
    }
}

impl InitialTokens {
    /// Some start has so many tokens.
    pub fn allows(self, count: u32) -> bool {
        match self {
            InitialTokens::Exactly(tokens) => count <= tokens,
            InitialTokens::AtLeast(_) => true,
        }
    }
}

impl Net {
    pub fn place(&mut self, name: impl Into<String>, initial: InitialTokens) -> PlaceId {
        self.places.push(name.into());
        self.initial.push(initial);
        self.places.len() as PlaceId - 1
    }

    pub fn transition(
        &mut self,
        takes: impl IntoIterator<Item = (PlaceId, u32)>,
        gives: impl IntoIterator<Item = (PlaceId, u32)>,
    ) -> NetTransitionId {
        self.setting(takes, gives, [])
    }

    /// A transition that sets cells.
    pub fn setting(
        &mut self,
        takes: impl IntoIterator<Item = (PlaceId, u32)>,
        gives: impl IntoIterator<Item = (PlaceId, u32)>,
        sets: impl IntoIterator<Item = PlaceId>,
    ) -> NetTransitionId {
        let sets = sets.into_iter().collect();
        self.transitions.push(NetTransition { takes: Marking::new(takes), gives: Marking::new(gives), sets });
        self.transitions.len() as NetTransitionId - 1
    }

    /// Declares that these places hold one token together. Transitions must keep it so.
    pub fn cell(&mut self, places: impl IntoIterator<Item = PlaceId>) {
        let places: Vec<PlaceId> = places.into_iter().collect();
        debug_assert_eq!(
            places.iter().filter(|place| self.initial[**place as usize] == InitialTokens::Exactly(1)).count(),
            1
        );
        self.cell_of.extend(places.iter().map(|place| (*place, self.cells.len())));
        self.cells.push(places);
    }

    /// The places of the cell that a place belongs to, itself included.
    pub fn cell_with(&self, place: PlaceId) -> &[PlaceId] {
        self.cell_of.get(&place).map_or(&[], |cell| &self.cells[*cell])
    }

    /// Puts another net beside this one, with a word before the names of its places. The targets are those of both.
    pub fn put_beside(&mut self, other: &Net, prefix: &str) {
        let first = self.places.len() as PlaceId;
        let moved = |marking: &Marking| Marking::new(marking.iter().map(|(place, count)| (place + first, count)));
        self.places.extend(other.places.iter().map(|name| format!("{prefix}{name}")));
        self.initial.extend(&other.initial);
        for cell in &other.cells {
            self.cell(cell.iter().map(|place| place + first));
        }
        self.transitions.extend(other.transitions.iter().map(|transition| NetTransition {
            takes: moved(&transition.takes),
            gives: moved(&transition.gives),
            sets: transition.sets.iter().map(|place| place + first).collect(),
        }));
        self.targets.extend(other.targets.iter().map(moved));
    }

    /// Some initial marking covers it.
    pub fn is_initial(&self, marking: &Marking) -> bool {
        marking.iter().all(|(place, count)| self.initial[place as usize].allows(count))
    }

    /// The least marking from which the transition leads to one that covers `marking`; none if it sets a cell to something else.
    ///
    /// A count that does not fit demands less than it should: then nothing is lost, and a firing sequence is replayed in any case.
    pub fn before(&self, transition: NetTransitionId, marking: &Marking) -> Option<Marking> {
        let NetTransition { takes, gives, sets } = &self.transitions[transition as usize];
        let overwrites = |&(place, count): &(PlaceId, u32)| {
            let same_cell =
                |set: &&PlaceId| self.cell_of.get(set).is_some_and(|cell| self.cell_of.get(&place) == Some(cell));
            sets.iter().find(same_cell).is_some_and(|set| *set != place || count > 1)
        };
        if !sets.is_empty() && marking.iter().any(|tokens| overwrites(&tokens)) {
            return None;
        }
        let mut tokens = Vec::with_capacity(takes.iter().len() + marking.iter().len());
        let (mut takes, mut wanted) = (takes.iter().peekable(), marking.iter().peekable());
        loop {
            let place = match (takes.peek(), wanted.peek()) {
                (Some((taken, _)), Some((want, _))) => *taken.min(want),
                (Some((place, _)), None) | (None, Some((place, _))) => *place,
                (None, None) => break,
            };
            let taken = takes.next_if(|(of, _)| *of == place).map_or(0, |(_, count)| count);
            let want = wanted.next_if(|(of, _)| *of == place).map_or(0, |(_, count)| count);
            let want = if sets.contains(&place) { 0 } else { want };
            let count = want.saturating_sub(gives.count(place)).saturating_add(taken);
            if count > 0 {
                tokens.push((place, count));
            }
        }
        Some(Marking::from_sorted(tokens))
    }

    /// A marking for people: `p, 2 q`.
    pub fn show(&self, marking: &Marking) -> String {
        let place = |(place, count): (PlaceId, u32)| match count {
            1 => self.places[place as usize].clone(),
            count => format!("{count} {}", self.places[place as usize]),
        };
        marking.iter().map(place).collect::<Vec<_>>().join(", ")
    }
}
