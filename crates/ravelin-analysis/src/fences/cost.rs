//! What fences cost: by number, by the loops around them, or by a list.

use super::loops::LoopDepths;
use ravelin_covers::Cost;
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

/// The offers at some of the sites. `program` is the one that was read, before orders were lowered.
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
            Change::Keep => match standing(program, site) {
                FenceStrength::Full => {
                    weighed.push((number, FenceStrength::Full, weights.full));
                    weighed.extend(weights.store_store.map(|weight| (number, FenceStrength::StoreStore, weight)));
                }
                weak => weighed.push((number, weak, weights.store_store.unwrap_or(weights.full))),
            },
            Change::Lock => weighed.push((number, FenceStrength::Full, weights.full)),
            // Orders do nothing under TSO and PSO that a fence would not do, so none becomes stronger.
            Change::Order(_) => {
                for (strength, weight) in
                    [(FenceStrength::Full, Some(weights.full)), (FenceStrength::StoreStore, weights.store_store)]
                {
                    weighed
                        .extend(weight.filter(|_| is_written(program, site, strength)).map(|w| (number, strength, w)));
                }
            }
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
        // A stronger kind is worse, if it costs no more.
        let rank = match strength {
            FenceStrength::Acquire | FenceStrength::StoreStore => 0,
            FenceStrength::AcqRel => 1,
            FenceStrength::Full => 2,
        };
        let new = u64::from(!is_written(program, site, strength));
        let tie = looped.saturating_mul(16 * MOST_PATHS) + 8 * paths + 2 * rank + new;
        Offer { site: number, strength, cost: Cost { main: once.saturating_mul(weight.max(1)), tie } }
    };
    weighed.into_iter().map(offer).collect()
}

/// What a fence that stands there is worth: a store-store fence or better.
fn standing(program: &Program, site: &Site) -> FenceStrength {
    let strength = |edge: &ThreadTransition| match *instruction(program, edge) {
        Instruction::Fence(order) => FenceStrength::of(order),
        _ => None,
    };
    let strengths = site.edges.iter().filter_map(strength);
    strengths.fold(FenceStrength::StoreStore, FenceStrength::join)
}

/// The site needs no change of the text for that: a fence or an order as strong as that stands there.
pub fn is_written(program: &Program, site: &Site, strength: FenceStrength) -> bool {
    let is_as_strong = |order: Option<Order>| order.is_some_and(|order| order.is_at_least(strength.order()));
    site.edges.iter().any(|edge| match (site.change, instruction(program, edge)) {
        (Change::Keep, Instruction::Fence(order)) => is_as_strong(Some(*order)),
        (Change::Order(slot), access) => is_as_strong(slot.order(access)),
        _ => false,
    })
}

fn instruction<'a>(program: &'a Program, edge: &ThreadTransition) -> &'a Instruction {
    &program.threads[edge.thread.0].transitions[edge.transition.0].instruction
}

/// All ways to a full fence that may be kept pass the site, and nothing else does, or only seq_cst stores that may be kept lead to it: a full
/// fence here would be the same again.
fn repeats_a_fence(program: &Program, sites: &[Site], site: &Site) -> bool {
    let kept =
        |edge: ThreadTransition| sites.iter().any(|other| other.change == Change::Keep && other.edges.contains(&edge));
    let is_store = |other: &&Site| other.edges == site.edges && is_written(program, other, FenceStrength::Full);
    if sites.iter().filter(is_store).any(|other| matches!(other.change, Change::Order(_))) {
        return true;
    }
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
