//! What can be done about a violation of robustness, and what it costs: an access gets a stronger order, or a fence is put in.
//!
//! A stronger order is the cheapest: on hardware an acquire load or a release store is an instruction of its own or none at all. A
//! seq_cst fence is the dearest, and does all that another fence in its place would do. Acquire, release and acq_rel fences do what orders
//! of accesses do, for several accesses at once and for those that have no order to choose; they are offered if asked for.

use crate::fences::{CostBy, Offer, offers_of};
use ravelin_program::{
    Change, FenceStrength, Instruction, Model, Order, Program, Site, ThreadId, ThreadTransition, TransitionId,
    strengthened,
};

/// How much each kind of change weighs. All are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct C11Weights {
    /// An access with a stronger order: acquire, release or acq_rel.
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

/// The offers at some of the sites. Under release/acquire orders and weaker fences make no difference, so there are only seq_cst fences.
pub fn c11_offers(
    program: &Program,
    sites: &[Site],
    allowed: &[usize],
    by: &CostBy,
    weights: C11Weights,
    model: Model,
) -> Vec<Offer> {
    let orders_matter = model == Model::Rc20;
    let mut weighed = Vec::new();
    for &number in allowed {
        let site = &sites[number];
        match site.change {
            Change::Insert { .. } => {
                weighed.push((number, FenceStrength::Full, weights.seq_cst));
                if orders_matter && weights.weak_fences {
                    let weak = [FenceStrength::AcqRel, FenceStrength::StoreStore, FenceStrength::Acquire];
                    weighed.extend(weak.map(|strength| (number, strength, weights.weak_fence)));
                }
            }
            Change::Keep => {
                let full =
                    site.edges.iter().any(|edge| *instruction(program, edge) == Instruction::Fence(Order::SeqCst));
                match full {
                    true => weighed.push((number, FenceStrength::Full, weights.seq_cst)),
                    false if orders_matter => weighed.push((number, FenceStrength::Full, weights.weak_fence)),
                    false => {}
                }
            }
            Change::Strengthen if orders_matter => weighed.push((number, FenceStrength::Full, weights.order)),
            Change::Strengthen => {}
            // An exchange in place of a store is seq_cst, and what such an access means is a matter of reading.
            Change::Lock => {}
        }
    }
    offers_of(program, sites, by, weighed)
}

/// The accesses of a program that can have a stronger order, each a site of its own. What is written down in a text has other
/// sites, which its front end knows.
pub fn order_sites(program: &Program) -> Vec<Site> {
    let mut sites = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        for (id, transition) in thread.transitions.iter().enumerate() {
            if strengthened(&transition.instruction).is_some() {
                let edge = ThreadTransition { thread: ThreadId(number), transition: TransitionId(id) };
                let name = format!("{}:{id}", thread.name);
                let position = program.source.position(transition.span);
                sites.push(Site { name, change: Change::Strengthen, edges: vec![edge], position });
            }
        }
    }
    sites
}

fn instruction<'a>(program: &'a Program, edge: &ThreadTransition) -> &'a Instruction {
    &program.threads[edge.thread.0].transitions[edge.transition.0].instruction
}
