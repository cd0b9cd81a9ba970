//! The loop: solve, check, learn.
//!
//! Every clause is in force for every set of changes that serves the purpose, so a cheapest cover of the clauses costs no more than
//! the best set. If the program with that cover is right, the cover is a best set. If not, what is still wrong gives clauses that the
//! cover misses, since it did not forbid it; there are finitely many. To list all minimal sets, those that were found are excluded together with what
//! contains them, and the loop goes on: the cheapest cover left is minimal again, since a smaller one would have been cheaper.
//!
//! A fence or an order can be of several kinds, each an offer of its own. At most one kind is taken at a site, and a stronger kind costs
//! more, if only as a tie. So a set is minimal if no change can be left out or be of a weaker kind.
//!
//! Who judges a set, and how clauses are learned, is left to others: `synthesis.rs` for TSO and PSO, `c11/repair.rs` for C11.

use super::cost::Offer;
use super::synthesis::{FenceSet, Sets};
use crate::AnalysisError;
use ravelin_covers::{Cancellation, Covers};
use ravelin_explore::Limit;

/// Sets that are listed at most.
const MOST_SETS: usize = 1_000;

/// What was found out about a set.
pub(crate) enum SetVerdict<E> {
    /// It serves the purpose. What does all that it does is not wanted any more.
    Right,
    /// One of each of these must be taken, and none of them is in the set.
    Wrong(Vec<Vec<usize>>),
    /// Another set serves the purpose and costs as much. Only if one set is wanted.
    Instead(FenceSet),
    /// There is nothing more to look for.
    End(E),
}

/// Who finds out about a set. The clauses that it covers are known to it.
type Judge<'a, E> = dyn FnMut(&FenceSet, &Covers) -> Result<SetVerdict<E>, AnalysisError> + 'a;

/// How the loop ended.
pub(crate) enum ListingEnd<E> {
    /// The empty set does.
    NotNeeded,
    /// All that were wanted are listed.
    Found,
    /// A limit was met. No other set costs less than this one, which is the last that was found or was to be judged next.
    Late(Option<Limit>, FenceSet),
    Other(E),
}

pub(crate) struct Listing<E> {
    pub end: ListingEnd<E>,
    /// By cost.
    pub sets: Vec<FenceSet>,
    /// There are more.
    pub truncated: bool,
    pub clauses: usize,
}

/// Lists the sets of offers that are wanted, cheapest first.
pub(crate) fn list<E>(
    offers: &[Offer],
    wanted: Sets,
    late: &dyn Fn() -> Option<Limit>,
    judge: &mut Judge<E>,
) -> Result<Listing<E>, AnalysisError> {
    let costs = offers.iter().map(|offer| offer.cost).collect();
    let mut covers = Covers::with_kinds(costs, offers.iter().map(|offer| offer.site).collect());
    let mut sets: Vec<FenceSet> = Vec::new();
    let mut truncated = false;
    let end = loop {
        let cover = match covers.cheapest(&|| late().is_some()) {
            Ok(Some(cover)) => cover,
            Ok(None) => break ListingEnd::Found,
            Err(Cancellation) => break ListingEnd::Late(late(), sets.last().cloned().unwrap_or_default()),
        };
        let set = FenceSet { cost: covers.cost(&cover), offers: cover };
        let dearer = sets.first().is_some_and(|cheapest| set.cost.main > cheapest.cost.main);
        if dearer && wanted == Sets::AllCheapest {
            break ListingEnd::Found;
        }
        if sets.len() == MOST_SETS {
            truncated = true;
            break ListingEnd::Found;
        }
        if let Some(limit) = late() {
            break ListingEnd::Late(Some(limit), set);
        }
        match judge(&set, &covers)? {
            SetVerdict::Right if set.offers.is_empty() => break ListingEnd::NotNeeded,
            SetVerdict::Right => {
                covers.exclude(set.offers.iter().map(|&offer| as_strong(offer, offers)).collect());
                sets.push(set);
                if wanted == Sets::Cheapest {
                    break ListingEnd::Found;
                }
            }
            SetVerdict::Wrong(clauses) => {
                for clause in clauses {
                    debug_assert!(!clause.iter().any(|offer| set.offers.contains(offer)));
                    covers.require(clause);
                }
            }
            SetVerdict::Instead(other) => {
                debug_assert!(wanted == Sets::Cheapest && other.cost == set.cost);
                sets.push(other);
                break ListingEnd::Found;
            }
            SetVerdict::End(end) => break ListingEnd::Other(end),
        }
    };
    Ok(Listing { end, sets, truncated, clauses: covers.clauses() })
}

/// The offer, and those that do all that it does.
fn as_strong(offer: usize, offers: &[Offer]) -> Vec<usize> {
    let Offer { site, strength, .. } = offers[offer];
    let is_as_strong = |other: &Offer| other.site == site && other.strength.is_at_least(strength);
    (0..offers.len()).filter(|&other| is_as_strong(&offers[other])).collect()
}
