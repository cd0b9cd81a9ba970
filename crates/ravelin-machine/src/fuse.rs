//! Fuses local steps with the step before them.
//!
//! A location is fusible if every step out of it touches only what no other thread and no goal can see: registers and
//! cells that no other thread accesses. With a store buffer the issue of a store is also invisible, until it reaches
//! memory. A state in which some thread is at such a location is not stored; the thread continues at once. The steps
//! commute with all steps of other threads, so what others can see stays the same.
//!
//! These are not fused on purpose: a location that a `never` names; a step that writes a register a `never` reads; the
//! issue of a store if a `never` reads memory, because such a condition waits for empty buffers; RMWs, locked blocks
//! and fences that wait; a `havoc` over many values; private cells in programs with a bus lock, which can block a
//! thread from them for ever.

use crate::access::slots;
use crate::layout::Layout;
use crate::observe::GoalFootprint;
use crate::ranges::Ranges;
use crate::settings::{Purpose, Settings};
use ravelin_program::{Address, Instruction, LocId, Model, Order, Program};

/// A `havoc` over more values than this is not fused.
const MOST_CHOICES: i128 = 4;

/// By location of a thread: whether its steps are fused with those that lead there.
pub(crate) fn fusible_locations(
    program: &Program,
    thread: usize,
    settings: Settings,
    observed: &GoalFootprint,
    layout: &Layout,
    ranges: &Ranges,
    private: &[Option<usize>],
) -> Vec<bool> {
    let code = &program.threads[thread];
    if !settings.reductions.fuse {
        return vec![false; code.locations.len()];
    }
    // A triangular race begins with any store, also one that no other thread sees.
    let watched = settings.purpose == Purpose::Attacks(Model::Sc);
    let is_private = |address: &Address| {
        let reach = slots(program, thread, address, ranges, layout);
        layout.bus.is_none()
            && !watched
            && !reach.leads_elsewhere()
            && reach.iter().all(|slot| {
                let is_observed = observed.addresses.binary_search(&layout.addresses[slot]).is_ok();
                private[slot] == Some(thread) && !is_observed
            })
    };
    // Under PSO a release store orders the stores before and after it, wherever it goes.
    let orders = settings.purpose == Purpose::Attacks(Model::Pso);
    let is_unseen = |instruction: &Instruction| match instruction {
        Instruction::Store { order, .. } if orders && order.is_release() => false,
        Instruction::Unlock(_) if orders => false,
        Instruction::Load { address, .. } => is_private(address),
        Instruction::Store { address, .. } if !settings.model.is_buffered() => is_private(address),
        Instruction::Unlock(address) if !settings.model.is_buffered() => is_private(address),
        Instruction::Store { .. } | Instruction::Unlock(_) => !observed.memory(),
        // A fence ends an attack, so the states before and after it are distinguished.
        Instruction::Fence(order) => match settings.purpose {
            Purpose::Attacks(_) => false,
            // It changes what the thread knows.
            _ if settings.model.is_c11() => false,
            _ => settings.model == Model::Sc || *order != Order::SeqCst,
        },
        // Many values make many states. They are better stored one step at a time, where limits are checked.
        Instruction::Havoc { lo, hi, .. } => i128::from(*hi) - i128::from(*lo) < MOST_CHOICES,
        other => other.is_local(),
    };
    (0..code.locations.len())
        .map(|location| {
            let mut any = false;
            let all = code.outgoing(LocId(location)).all(|(_, transition)| {
                any = true;
                let watched = transition.instruction.written_registers();
                is_unseen(&transition.instruction)
                    && !watched.iter().any(|register| observed.watched[thread][register.0])
                    && (observed.arrival_is_harmless || !observed.locations[thread][transition.to.0])
            });
            any && all && !observed.locations[thread][location]
        })
        .collect()
}
