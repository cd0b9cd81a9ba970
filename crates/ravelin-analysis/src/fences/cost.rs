//! What fences cost: by number, by the loops around them, or by a list.

use super::cover::Cost;
use super::loops::LoopDepths;
use super::placement::UnknownSite;
use ravelin_program::{Change, Program, Site, Strength};
use std::collections::BTreeMap;

/// Loops deeper than this cost no more.
const DEEPEST: u32 = 12;

/// What is to be minimised. Among sets of equal cost, the one that loops execute less often is better, and then the smaller one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CostBy {
    /// The number of fences.
    #[default]
    Size,
    /// Ten to the power of the loop depth each.
    Loops,
    /// By the name of the site; one that is not listed costs 1.
    Listed(BTreeMap<String, u64>),
}

/// A fence that may be taken: where, which, and what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Number of the site.
    pub site: usize,
    pub strength: Strength,
    pub cost: Cost,
}

/// How much a fence of each kind weighs. Both are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    pub full: u64,
    /// `None`: there are no store-store fences, or they are of no use.
    pub store_store: Option<u64>,
}

impl Weights {
    /// Under TSO there is only one useful kind of fence.
    pub const FULL_ONLY: Weights = Weights { full: 1, store_store: None };
}

/// The offers at some of the sites.
pub fn offers(
    program: &Program,
    sites: &[Site],
    allowed: &[usize],
    by: &CostBy,
    weights: Weights,
) -> Result<Vec<Offer>, UnknownSite> {
    if let CostBy::Listed(costs) = by {
        UnknownSite::among(costs.keys(), sites)?;
    }
    let depths = LoopDepths::of(program);
    let mut offers = Vec::new();
    for &number in allowed {
        let site = &sites[number];
        let threads = site.threads() as u64;
        let looped = threads.saturating_mul(10u64.pow(depths.deepest(&site.edges).min(DEEPEST)));
        let once = match by {
            CostBy::Size => threads,
            CostBy::Loops => looped,
            CostBy::Listed(costs) => costs.get(&site.name).copied().unwrap_or(1).max(1),
        };
        let tie = match by {
            CostBy::Size | CostBy::Listed(_) => looped,
            CostBy::Loops => threads,
        };
        let mut offer = |strength: Strength, weight: u64| {
            let cost = Cost { main: once.saturating_mul(weight.max(1)), tie };
            offers.push(Offer { site: number, strength, cost });
        };
        offer(Strength::Full, weights.full);
        if let (Some(weight), Change::Insert { .. }) = (weights.store_store, site.change) {
            offer(Strength::StoreStore, weight);
        }
    }
    Ok(offers)
}
