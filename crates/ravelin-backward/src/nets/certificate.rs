//! Proofs that can be carried away: a set of markings that contains the targets, that no initial marking covers, and that is closed
//! under firing backwards.
//!
//! What covers a marking of the set is then never reached, and so no target is. The search prunes by pairs of places that are never
//! marked together; such a pair is a marking like any other, so a certificate lists the ones that are needed among the rest, and the
//! checker need not know that there are two kinds. Places are named, not numbered.

use super::{CoverAnswer, CoverVerdict, Marking, Net, PlaceId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the format.
pub const FORMAT: &str = "ravelin coverability certificate 1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetCertificate {
    pub format: String,
    /// Names of the places that markings speak of by number.
    pub places: Vec<String>,
    /// Each a list of places with numbers of tokens.
    pub markings: Vec<Vec<(u32, u32)>>,
}

/// What a check of a certificate went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CertificateSize {
    /// What is excluded: targets of a net, cases of a goal, or whole nets.
    pub claims: usize,
    /// The markings or constraints that contain all ways to it.
    pub constraints: usize,
    /// Steps backwards, each of which stays within the set.
    pub steps: usize,
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetFlaw {
    #[error("this is not a `{FORMAT}`")]
    Format,
    #[error("it names a place `{0}` that the net does not have")]
    UnknownPlace(String),
    #[error("marking {0} uses a place that it does not declare, or has no tokens")]
    Marking(usize),
    #[error("target {0} covers none of its markings")]
    TargetMissing(usize),
    #[error("an initial marking covers marking {0}")]
    Initial(usize),
    #[error("marking {marking} can be covered from outside, by transition {transition}")]
    NotClosed { marking: usize, transition: usize },
}

/// The certificate of an answer that says *uncoverable*.
pub fn certify(net: &Net, answer: &CoverAnswer) -> Option<NetCertificate> {
    let pairs = answer.pairs.as_ref().filter(|_| answer.verdict == CoverVerdict::Uncoverable)?;
    let mut set = Set::new(net);
    answer.minimal.iter().for_each(|marking| set.add(marking.clone()));
    // What was pruned needs a pair as its reason, and that pair its own reasons.
    let mut next = 0;
    let reason = |marking: &Marking| {
        let none = |place: PlaceId| !pairs.can_hold(place);
        if let Some(place) = marking.places().find(|place| none(*place)) {
            return Some(Marking::new([(place, 1)]));
        }
        let tokens: Vec<(PlaceId, u32)> = marking.iter().collect();
        for (at, &(place, count)) in tokens.iter().enumerate() {
            if count >= 2 && !pairs.can_meet(place, place) {
                return Some(Marking::new([(place, 2)]));
            }
            if let Some((other, _)) = tokens[at + 1..].iter().find(|(other, _)| !pairs.can_meet(place, *other)) {
                return Some(Marking::new([(place, 1), (*other, 1)]));
            }
        }
        None
    };
    for target in &net.targets {
        if !set.contains_below(target) {
            set.add(reason(target)?);
        }
    }
    while next < set.markings.len() {
        for (_, before) in set.predecessors(next) {
            if !set.contains_below(&before) {
                set.add(reason(&before)?);
            }
        }
        next += 1;
    }
    let mut places: Vec<PlaceId> = set.markings.iter().flat_map(Marking::places).collect();
    places.sort_unstable();
    places.dedup();
    let number = |place: PlaceId| places.binary_search(&place).map_or(0, |at| at as u32);
    let markings =
        set.markings.iter().map(|marking| marking.iter().map(|(place, count)| (number(place), count)).collect());
    Some(NetCertificate {
        format: FORMAT.to_owned(),
        markings: markings.collect(),
        places: places.iter().map(|place| net.places[*place as usize].clone()).collect(),
    })
}

/// Checks that a certificate proves that no target of the net can be covered.
pub fn check(net: &Net, certificate: &NetCertificate) -> Result<CertificateSize, NetFlaw> {
    if certificate.format != FORMAT {
        return Err(NetFlaw::Format);
    }
    let numbers: FxHashMap<&str, PlaceId> =
        net.places.iter().enumerate().map(|(number, name)| (name.as_str(), number as PlaceId)).collect();
    let mut places = Vec::new();
    for name in &certificate.places {
        places.push(*numbers.get(name.as_str()).ok_or_else(|| NetFlaw::UnknownPlace(name.clone()))?);
    }
    let mut set = Set::new(net);
    for (number, tokens) in certificate.markings.iter().enumerate() {
        let known = |&(place, count): &(u32, u32)| places.get(place as usize).map(|place| (*place, count));
        let tokens: Option<Vec<(PlaceId, u32)>> = tokens.iter().map(known).collect();
        let tokens =
            tokens.filter(|tokens| tokens.iter().all(|(_, count)| *count > 0)).ok_or(NetFlaw::Marking(number))?;
        set.add(Marking::new(tokens));
    }
    for (number, target) in net.targets.iter().enumerate() {
        if !set.contains_below(target) {
            return Err(NetFlaw::TargetMissing(number));
        }
    }
    let mut steps = 0;
    for number in 0..set.markings.len() {
        if net.is_initial(&set.markings[number]) {
            return Err(NetFlaw::Initial(number));
        }
        for (transition, before) in set.predecessors(number) {
            steps += 1;
            if !set.contains_below(&before) {
                return Err(NetFlaw::NotClosed { marking: number, transition });
            }
        }
    }
    Ok(CertificateSize { claims: net.targets.len(), constraints: set.markings.len(), steps })
}

/// Markings, with a way to find one that another covers.
struct Set<'a> {
    net: &'a Net,
    markings: Vec<Marking>,
    /// By place, the transitions that give tokens there.
    giving: Vec<Vec<usize>>,
    known: FxHashSet<Marking>,
    /// By place, the numbers of those that are filed there: each under the place where the fewest are.
    filed: Vec<Vec<usize>>,
    has_empty: bool,
}

impl<'a> Set<'a> {
    fn new(net: &'a Net) -> Set<'a> {
        let mut giving = vec![Vec::new(); net.places.len()];
        for (number, transition) in net.transitions.iter().enumerate() {
            for place in transition.gives.places().chain(transition.sets.iter().copied()) {
                giving[place as usize].push(number);
            }
        }
        let filed = vec![Vec::new(); net.places.len()];
        Set { net, markings: Vec::new(), giving, known: FxHashSet::default(), filed, has_empty: false }
    }

    fn add(&mut self, marking: Marking) {
        if self.known.insert(marking.clone()) {
            match marking.places().min_by_key(|place| self.filed[*place as usize].len()) {
                Some(place) => self.filed[place as usize].push(self.markings.len()),
                None => self.has_empty = true,
            }
            self.markings.push(marking);
        }
    }

    fn contains_below(&self, marking: &Marking) -> bool {
        let below = |number: &usize| self.markings[*number].is_covered_by(marking);
        self.known.contains(marking)
            || self.has_empty
            || marking.places().any(|place| self.filed[place as usize].iter().any(below))
    }

    /// One step back from a marking, by every transition that can matter: without its help in some place, what is left to be covered
    /// would cover the marking itself.
    fn predecessors(&self, number: usize) -> Vec<(usize, Marking)> {
        let marking = &self.markings[number];
        let mut transitions: Vec<usize> =
            marking.places().flat_map(|place| &self.giving[place as usize]).copied().collect();
        transitions.sort_unstable();
        transitions.dedup();
        let before = |transition: usize| Some((transition, self.net.before(transition as u32, marking)?));
        transitions.into_iter().filter_map(before).collect()
    }
}
