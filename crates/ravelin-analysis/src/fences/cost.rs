//! What fences cost: by number, by the loops around them, or by a list.

use super::cover::Cost;
use super::loops::LoopDepths;
use ravelin_program::{Change, Program, Site, Strength};
use std::collections::BTreeMap;

/// Loops deeper than this cost no more.
const DEEPEST: u32 = 12;
/// A place that more transitions lead to is no worse, as a tie goes.
const MOST_PATHS: u64 = 1 << 10;

/// What is to be minimised. Among sets of equal cost, the better one has its fences in fewer loops, then on fewer paths, then keeps
/// more of the fences that stand there.
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
pub fn offers(program: &Program, sites: &[Site], allowed: &[usize], by: &CostBy, weights: Weights) -> Vec<Offer> {
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
        let paths = (site.edges.len() as u64).min(MOST_PATHS);
        let tie = looped.saturating_mul(4 * MOST_PATHS) + 2 * paths + u64::from(site.change != Change::Keep);
        let mut offer = |strength: Strength, weight: u64| {
            let cost = Cost { main: once.saturating_mul(weight.max(1)), tie };
            offers.push(Offer { site: number, strength, cost });
        };
        offer(Strength::Full, weights.full);
        if let (Some(weight), Change::Insert { .. }) = (weights.store_store, site.change) {
            offer(Strength::StoreStore, weight);
        }
    }
    offers
}
