//! What fences cost: by number, by the loops around them, or by a list.

use super::cover::Cost;
use super::loops::LoopDepths;
use ravelin_program::{Change, FenceStrength, Instruction, Order, Program, Site, ThreadTransition, TransitionId};
use std::collections::BTreeMap;

/// Loops deeper than this cost no more, so that sums stay far below what a number can hold.
const DEEPEST: u32 = 9;
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
    pub strength: FenceStrength,
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
    let mut weighed = Vec::new();
    for &number in allowed {
        let site = &sites[number];
        match site.change {
            Change::Insert { .. } => {
                if !repeats_a_fence(program, sites, site) {
                    weighed.push((number, FenceStrength::Full, weights.full));
                }
                weighed.extend(weights.store_store.map(|weight| (number, FenceStrength::StoreStore, weight)));
            }
            Change::Keep if standing(program, site) == FenceStrength::StoreStore => {
                weighed.push((number, FenceStrength::StoreStore, weights.store_store.unwrap_or(weights.full)));
            }
            Change::Keep | Change::Lock => weighed.push((number, FenceStrength::Full, weights.full)),
            // Orders do nothing under TSO and PSO that a fence would not do.
            Change::Strengthen => {}
        }
    }
    offers_of(program, sites, by, weighed)
}

/// Offers for changes, each of which is given by a site, a kind of fence, and its weight.
pub(crate) fn offers_of(
    program: &Program,
    sites: &[Site],
    by: &CostBy,
    weighed: impl IntoIterator<Item = (usize, FenceStrength, u64)>,
) -> Vec<Offer> {
    let depths = LoopDepths::of(program);
    let offer = |(number, strength, weight): (usize, FenceStrength, u64)| {
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
        Offer { site: number, strength, cost: Cost { main: once.saturating_mul(weight.max(1)), tie } }
    };
    weighed.into_iter().map(offer).collect()
}

/// What a fence that stands there is worth.
fn standing(program: &Program, site: &Site) -> FenceStrength {
    let is_full = |edge: &ThreadTransition| {
        let transition = &program.threads[edge.thread.0].transitions[edge.transition.0];
        matches!(transition.instruction, Instruction::Fence(Order::SeqCst))
    };
    if site.edges.iter().any(is_full) { FenceStrength::Full } else { FenceStrength::StoreStore }
}

/// All ways to a full fence that may be kept pass the site, and nothing else does: a full fence here would be the same again.
fn repeats_a_fence(program: &Program, sites: &[Site], site: &Site) -> bool {
    let kept =
        |edge: ThreadTransition| sites.iter().any(|other| other.change == Change::Keep && other.edges.contains(&edge));
    site.edges.iter().all(|edge| {
        let thread = &program.threads[edge.thread.0];
        let to = thread.transitions[edge.transition.0].to;
        let mut next = thread.outgoing(to);
        let fence = next.next().is_some_and(|(transition, next)| {
            matches!(next.instruction, Instruction::Fence(Order::SeqCst))
                && kept(ThreadTransition { thread: edge.thread, transition })
        });
        let all_ways = (0..thread.transitions.len()).map(TransitionId).all(|transition| {
            thread.transitions[transition.0].to != to
                || site.edges.contains(&ThreadTransition { thread: edge.thread, transition })
        });
        fence && next.next().is_none() && all_ways
    })
}
