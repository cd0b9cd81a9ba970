//! What can be done about a violation of robustness, and what it costs: an access gets a stronger order, or a fence is put in.
//!
//! A stronger order is the cheapest: on hardware an acquire load or a release store is an instruction of its own or none at all. A
//! seq_cst fence is the dearest, and does all that another fence in its place would do. Acquire, release and acq_rel fences do what orders
//! of accesses do, for several accesses at once and for those that have no order to choose; they are offered if asked for.
//!
//! Seq_cst accesses are offered only where they are written. A seq_cst store costs as much as a fence: processors without an
//! instruction for it put one behind it or before it. Other seq_cst accesses cost one order more than the strongest below.

use crate::fences::{CostBy, Offer, offers_of};
use ravelin_program::{
    Change, FenceStrength, Instruction, Lowering, Model, Order, OrderSlot, Program, Site, ThreadId, ThreadTransition,
    TransitionId,
};

/// How much each kind of change weighs. All are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct C11Weights {
    /// An access with a stronger order: acquire or release. Both are twice as much.
    pub order: u64,
    /// A seq_cst fence.
    pub seq_cst: u64,
    /// An acquire, release or acq_rel fence.
    pub weak_fence: u64,
    /// Offer such fences, too. Those that stand there are weighed in any case, if they may go.
    pub weak_fences: bool,
}

impl Default for C11Weights {
    fn default() -> C11Weights {
        C11Weights { order: 1, seq_cst: 4, weak_fence: 2, weak_fences: false }
    }
}

impl C11Weights {
    fn fence(self, strength: FenceStrength) -> u64 {
        if strength == FenceStrength::Full { self.seq_cst } else { self.weak_fence }
    }

    fn order(self, access: &Instruction, slot: OrderSlot, strength: FenceStrength) -> u64 {
        let once = |number: u64| self.order.saturating_mul(number);
        match (strength, access) {
            (FenceStrength::Acquire | FenceStrength::StoreStore, _) => once(1),
            (FenceStrength::AcqRel, _) => once(2),
            (FenceStrength::Full, Instruction::Store { .. }) => once(2).max(self.seq_cst),
            (FenceStrength::Full, Instruction::Load { .. } | Instruction::Wait { .. }) => once(2),
            (FenceStrength::Full, _) if slot == OrderSlot::Failure => once(2),
            (FenceStrength::Full, _) => once(3),
        }
    }
}

/// The offers at some of the sites. `program` is the one that was read, before orders were lowered. Under release/acquire orders and weaker
/// fences make no difference, so there are only seq_cst fences.
pub fn c11_offers(
    program: &Program,
    sites: &[Site],
    allowed: &[usize],
    by: &CostBy,
    weights: C11Weights,
    model: Model,
    lower: Lowering,
) -> Vec<Offer> {
    let orders_matter = model == Model::Rc20;
    let all = [FenceStrength::Full, FenceStrength::AcqRel, FenceStrength::StoreStore, FenceStrength::Acquire];
    let mut weighed = Vec::new();
    for &number in allowed {
        let site = &sites[number];
        let Some(standing) = site.edges.first().map(|edge| instruction(program, edge)) else { continue };
        match (site.change, standing) {
            (Change::Insert { .. }, _) => {
                let offered = if weights.weak_fences && orders_matter { &all[..] } else { &all[..1] };
                weighed.extend(offered.iter().map(|&strength| (number, strength, weights.fence(strength))));
            }
            (Change::Keep, Instruction::Fence(order)) => {
                let matters = |strength: &FenceStrength| orders_matter || *strength == FenceStrength::Full;
                let weaker = all.into_iter().filter(|strength| order.is_at_least(strength.order())).filter(matters);
                weighed.extend(weaker.map(|strength| (number, strength, weights.fence(strength))));
            }
            (Change::Order(slot), access) if orders_matter => {
                let levels = levels(access, slot, lower);
                weighed.extend(levels.map(|strength| (number, strength, weights.order(access, slot, strength))));
            }
            // An exchange in place of a store is seq_cst, and orders are cheaper.
            (Change::Lock | Change::Keep | Change::Order(_), _) => {}
        }
    }
    offers_of(program, sites, by, weighed)
}

/// What an order may become: more than it is without a change, and seq_cst only if it is written.
fn levels(access: &Instruction, slot: OrderSlot, lower: Lowering) -> impl Iterator<Item = FenceStrength> {
    let written = slot.order(access).unwrap_or(Order::SeqCst);
    let least = lower.floor(slot, access).unwrap_or(written);
    let levels = slot.levels(access).iter().copied();
    levels.filter(move |level| {
        !least.is_at_least(level.order()) && (*level != FenceStrength::Full || written == Order::SeqCst)
    })
}

/// The orders of a program's accesses that can be chosen, each a site of its own. What is written down in a text has other
/// sites, which its front end knows.
pub fn order_sites(program: &Program, lower: Lowering) -> Vec<Site> {
    let mut sites = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        for (id, transition) in thread.transitions.iter().enumerate() {
            for (slot, suffix) in [(OrderSlot::Main, ""), (OrderSlot::Failure, ":failure")] {
                if levels(&transition.instruction, slot, lower).next().is_some() {
                    let edge = ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) };
                    let name = format!("{}:{id}{suffix}", thread.name);
                    let position = program.source.position(transition.span);
                    sites.push(Site { name, change: Change::Order(slot), edges: vec![edge], position });
                }
            }
        }
    }
    sites
}

fn instruction<'a>(program: &'a Program, edge: &ThreadTransition) -> &'a Instruction {
    &program.threads[edge.thread.0].transitions[edge.transition.0].instruction
}
