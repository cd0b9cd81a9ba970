//! Cheapest covers: given clauses, each a set of offers of which one must be taken, find the offers that satisfy all of them at the least
//! cost. It is the 0/1 program of equation 14 in *Checking and Enforcing Robustness against TSO*, after the eliminating sets have
//! been multiplied out: one variable an offer, one inequality a clause.
//!
//! Branch and bound in exact integers: the open clause with the fewest choices left is branched on, and what the open clauses must cost
//! at least is known from a feasible solution of the dual linear program, which is built greedily. Clauses come from paths of a few instructions
//! and most are about one thread, so the search is short; floating-point solvers would need a second, exact proof of
//! what they claim to be optimal, which is this search. Worst case exponential in the number of clauses.

mod clauses;

pub use clauses::clauses;

use std::ops::Add;

/// A cost: what is to be minimised first, and what decides among equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cost {
    pub main: u64,
    pub tie: u64,
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost { main: self.main.saturating_add(other.main), tie: self.tie.saturating_add(other.tie) }
    }
}

impl Cost {
    /// As one number, of which parts can be taken away.
    fn weight(self) -> u128 {
        u128::from(self.main) << 64 | u128::from(self.tie)
    }
}

/// The search was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancellation;

/// Nodes of a search between two looks at the clock.
const BETWEEN_LOOKS: u64 = 256;

/// Clauses over the offers `0..costs.len()`.
#[derive(Clone, Debug)]
pub struct Covers {
    costs: Vec<Cost>,
    clauses: Vec<Vec<usize>>,
    /// No cover that holds one of each of these groups is wanted any more.
    excluded: Vec<Vec<Vec<usize>>>,
    /// By offer: of those with the same number at most one is taken.
    kinds: Option<Vec<usize>>,
}

impl Covers {
    pub fn new(costs: Vec<Cost>) -> Covers {
        Covers { costs, clauses: Vec::new(), excluded: Vec::new(), kinds: None }
    }

    /// The same for offers that are kinds of a few things, by number of the thing: at most one kind of each is taken.
    pub fn with_kinds(costs: Vec<Cost>, kinds: Vec<usize>) -> Covers {
        Covers { kinds: Some(kinds), ..Covers::new(costs) }
    }

    /// One of these must be taken. Says whether that was new: a clause that holds another one asks for nothing.
    pub fn require(&mut self, mut clause: Vec<usize>) -> bool {
        clause.sort_unstable();
        clause.dedup();
        if self.clauses.iter().any(|other| is_subset(other, &clause)) {
            return false;
        }
        self.clauses.retain(|other| !is_subset(&clause, other));
        self.clauses.push(clause);
        true
    }

    /// Not one of each of these groups is to be taken.
    pub fn exclude(&mut self, groups: Vec<Vec<usize>>) {
        self.excluded.push(groups);
    }

    pub fn clauses(&self) -> usize {
        self.clauses.len()
    }

    /// A cheapest cover, sorted, if there is one at all. `give_up` is asked now and then; if it says so there is no answer.
    pub fn cheapest(&self, give_up: &dyn Fn() -> bool) -> Result<Option<Vec<usize>>, Cancellation> {
        let mut search = HittingSearch {
            covers: self,
            state: vec![HittingState::Free; self.costs.len()],
            chosen: Vec::new(),
            cost: Cost::default(),
            best: None,
            give_up,
            nodes: 0,
        };
        search.descend()?;
        Ok(search.best.map(|(_, mut cover)| {
            cover.sort_unstable();
            debug_assert!(self.clauses.iter().all(|clause| clause.iter().any(|offer| cover.contains(offer))));
            cover
        }))
    }

    pub fn cost(&self, cover: &[usize]) -> Cost {
        cover.iter().fold(Cost::default(), |sum, &offer| sum + self.costs[offer])
    }
}

/// Both sorted.
fn is_subset(small: &[usize], large: &[usize]) -> bool {
    let mut large = large.iter();
    small.iter().all(|wanted| large.any(|offer| offer == wanted))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HittingState {
    Free,
    Taken,
    /// Covers with it have been looked at.
    Refused,
}

struct HittingSearch<'a> {
    covers: &'a Covers,
    state: Vec<HittingState>,
    chosen: Vec<usize>,
    cost: Cost,
    best: Option<(Cost, Vec<usize>)>,
    give_up: &'a dyn Fn() -> bool,
    nodes: u64,
}

impl HittingSearch<'_> {
    fn descend(&mut self) -> Result<(), Cancellation> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(BETWEEN_LOOKS) && (self.give_up)() {
            return Err(Cancellation);
        }
        let covers = self.covers;
        let taken = |offer: &usize| self.state[*offer] == HittingState::Taken;
        if covers.excluded.iter().any(|groups| groups.iter().all(|group| group.iter().any(taken))) {
            return Ok(());
        }
        let open: Vec<&Vec<usize>> = covers.clauses.iter().filter(|clause| !clause.iter().any(taken)).collect();
        if let Some((best, _)) = &self.best
            && self.cost.weight().saturating_add(self.at_least(&open)) >= best.weight()
        {
            return Ok(());
        }
        let free = |clause: &[usize]| clause.iter().filter(|offer| self.state[**offer] == HittingState::Free).count();
        let Some(tightest) = open.iter().min_by_key(|clause| free(clause)) else {
            // Cheaper than the best, or it would have been cut off above.
            self.best = Some((self.cost, self.chosen.clone()));
            return Ok(());
        };
        let mut choices: Vec<usize> =
            tightest.iter().copied().filter(|offer| self.state[*offer] == HittingState::Free).collect();
        choices.sort_by_key(|&offer| (covers.costs[offer], offer));
        let before = self.cost;
        for &offer in &choices {
            let of_kind = |kinds: &Vec<usize>| self.chosen.iter().any(|&other| kinds[other] == kinds[offer]);
            if covers.kinds.as_ref().is_some_and(of_kind) {
                continue;
            }
            self.state[offer] = HittingState::Taken;
            self.chosen.push(offer);
            self.cost = before + covers.costs[offer];
            self.descend()?;
            self.chosen.pop();
            self.state[offer] = HittingState::Refused;
        }
        self.cost = before;
        for &offer in &choices {
            self.state[offer] = HittingState::Free;
        }
        Ok(())
    }

    /// What the open clauses cost at least: each is given as much as its cheapest choice has left, and its choices have that much less.
    fn at_least(&self, open: &[&Vec<usize>]) -> u128 {
        let mut left: Vec<u128> = self.covers.costs.iter().map(|cost| cost.weight()).collect();
        let mut sum = 0u128;
        for clause in open {
            let free = || clause.iter().copied().filter(|offer| self.state[*offer] == HittingState::Free);
            // A clause without a choice costs more than anything; the branch ends when it is met.
            let Some(share) = free().map(|offer| left[offer]).min() else { continue };
            sum = sum.saturating_add(share);
            for offer in free() {
                left[offer] -= share;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_numbers::Random;

    fn covers(costs: &[u64], clauses: &[&[usize]]) -> Covers {
        let mut covers = Covers::new(costs.iter().map(|&main| Cost { main, tie: 0 }).collect());
        for clause in clauses {
            covers.require(clause.to_vec());
        }
        covers
    }

    #[test]
    fn the_cheapest_cover_is_found() {
        type Case = (&'static [u64], &'static [&'static [usize]], Option<&'static [usize]>);
        let cases: [Case; 7] = [
            (&[], &[], Some(&[])),
            (&[1, 1], &[], Some(&[])),
            (&[1, 1], &[&[0], &[1]], Some(&[0, 1])),
            (&[2, 2, 3], &[&[0, 2], &[1, 2]], Some(&[2])),
            (&[1, 1, 3], &[&[0, 2], &[1, 2]], Some(&[0, 1])),
            (&[1, 1, 1], &[&[0, 1], &[1, 2], &[0, 2]], Some(&[0, 1])),
            (&[1], &[&[0], &[]], None),
        ];
        for (costs, clauses, expected) in cases {
            assert_eq!(
                covers(costs, clauses).cheapest(&|| false).expect("an answer").as_deref(),
                expected,
                "{costs:?} {clauses:?}"
            );
        }
    }

    #[test]
    fn ties_are_broken_by_the_second_cost() {
        let mut covers = Covers::new(vec![Cost { main: 1, tie: 10 }, Cost { main: 1, tie: 1 }]);
        covers.require(vec![0, 1]);
        assert_eq!(covers.cheapest(&|| false).expect("an answer"), Some(vec![1]));
    }

    #[test]
    fn excluding_covers_lists_the_minimal_ones_by_cost() {
        let mut covers = covers(&[1, 1, 1, 5], &[&[0, 1], &[2, 3]]);
        let mut found = Vec::new();
        while let Some(cover) = covers.cheapest(&|| false).expect("an answer") {
            covers.exclude(cover.iter().map(|&offer| vec![offer]).collect());
            found.push(cover);
        }
        assert_eq!(found, [vec![0, 2], vec![1, 2], vec![0, 3], vec![1, 3]]);
    }

    #[test]
    fn a_clause_that_asks_for_nothing_new_is_dropped() {
        let mut covers = covers(&[1, 1, 1], &[&[0, 1]]);
        assert!(!covers.require(vec![0, 1, 2]));
        assert!(covers.require(vec![1]));
        assert_eq!(covers.clauses(), 1);
    }

    /// Against all subsets, on pseudo-random clauses.
    #[test]
    fn no_subset_is_cheaper() {
        let mut random = Random::new(1);
        let mut draw = |below: usize| random.below(below) as u64;
        for _ in 0..500 {
            let offers = 1 + draw(9) as usize;
            let costs: Vec<Cost> = (0..offers).map(|_| Cost { main: 1 + draw(4), tie: draw(3) }).collect();
            let kinds: Vec<usize> =
                (0..offers).map(|offer| if draw(2) == 0 { offer } else { draw(3) as usize }).collect();
            let mut covers = Covers::with_kinds(costs.clone(), kinds.clone());
            let clauses: Vec<Vec<usize>> = (0..draw(8))
                .map(|_| (0..offers).filter(|_| draw(3) == 0).collect::<Vec<usize>>())
                .filter(|clause| !clause.is_empty())
                .collect();
            for clause in &clauses {
                covers.require(clause.clone());
            }
            for _ in 0..draw(3) {
                let mut group = || (0..offers).filter(|_| draw(3) == 0).collect::<Vec<usize>>();
                covers.exclude(vec![group(), group()]);
            }
            let subset = |bits: u32| (0..offers).filter(|offer| bits >> offer & 1 == 1).collect::<Vec<usize>>();
            let is_cover = |set: &Vec<usize>| {
                clauses.iter().all(|clause| clause.iter().any(|offer| set.contains(offer)))
                    && !covers
                        .excluded
                        .iter()
                        .any(|groups| groups.iter().all(|group| group.iter().any(|offer| set.contains(offer))))
                    && !set.iter().any(|one| set.iter().any(|other| one < other && kinds[*one] == kinds[*other]))
            };
            let best = (0..1u32 << offers).map(subset).filter(is_cover).map(|set| covers.cost(&set)).min();
            assert_eq!(
                covers.cheapest(&|| false).expect("an answer").map(|cover| covers.cost(&cover)),
                best,
                "{clauses:?} {costs:?}"
            );
        }
    }
}
