//! What each instruction is for the monitor: a read, a write, an update or a fence, with its effective strength.
//!
//! Strengths are those of the model: as written under RC20, release/acquire for every atomic access under RA. RC20 has
//! no seq_cst accesses. A seq_cst access is taken as the release/acquire access with a hidden seq_cst fence before or
//! after it, or without one ([`SeqCstReading`]), and then perhaps in chains of such accesses.
//!
//! Under TSO and PSO every access is an atomic one, locked instructions have a fence before them, and a fence orders
//! everything (`acquire` and `release`) or, under PSO, stores with stores (`release` alone), as a release store does.

use crate::settings::Reductions;
use ravelin_program::{Instruction, Model, Order, SeqCstReading};

/// The settings of a monitored search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct C11Settings {
    /// Not `sc`.
    pub model: Model,
    /// `after`, `before` or `rel-acq`: one reading per search.
    pub seq_cst: SeqCstReading,
    /// Respect the order of seq_cst accesses as far as it follows from chains of them (`update.rs`). With `rel-acq`, a
    /// search then allows less than release/acquire accesses do, and still all that RC11 allows.
    pub chains: bool,
    /// Observational robustness: a load that may be stale is no finding if its value is not used (`taint.rs`).
    pub observational: bool,
    /// Also search for data races on non-atomic accesses.
    pub races: bool,
    /// An observational search ignores the one by partial order.
    pub reductions: Reductions,
}

/// The effective strength of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AccessStrength {
    pub atomic: bool,
    pub acquire: bool,
    pub release: bool,
    /// There is a hidden seq_cst fence before the access, or after it.
    pub fence_before: bool,
    pub fence_after: bool,
    /// The access takes part in chains of seq_cst accesses.
    pub chained: bool,
}

/// What a transition does for the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MonitorEffect {
    Nothing,
    Fence {
        acquire: bool,
        release: bool,
        seq_cst: bool,
    },
    Read(AccessStrength),
    Write(AccessStrength),
    /// A read-modify-write that always writes.
    Update(AccessStrength),
    /// A compare-exchange: an update with the first mode or a read with the second.
    Compare(AccessStrength, AccessStrength),
}

impl MonitorEffect {
    /// Instructions without a meaning in C11 are refused earlier; here they do nothing.
    pub fn of(instruction: &Instruction, settings: C11Settings) -> MonitorEffect {
        let mode = |order| AccessStrength::of(order, settings);
        if settings.model.is_hardware() {
            return MonitorEffect::on_hardware(instruction, settings.model);
        }
        match instruction {
            Instruction::Fence(order) => MonitorEffect::Fence {
                acquire: order.is_acquire(),
                release: order.is_release(),
                seq_cst: *order == Order::SeqCst,
            },
            Instruction::Load { order, .. } | Instruction::Wait { order, .. } => MonitorEffect::Read(mode(*order)),
            Instruction::Store { order, .. } => MonitorEffect::Write(mode(*order)),
            Instruction::Unlock(_) => MonitorEffect::Write(mode(Order::Release)),
            Instruction::Rmw { order, .. } | Instruction::BlockingCas { order, .. } => {
                MonitorEffect::Update(mode(*order))
            }
            Instruction::Lock(_) => MonitorEffect::Update(mode(Order::Acquire)),
            Instruction::CompareExchange { success, failure, .. } => {
                MonitorEffect::Compare(mode(*success), mode(*failure))
            }
            _ => MonitorEffect::Nothing,
        }
    }

    fn on_hardware(instruction: &Instruction, model: Model) -> MonitorEffect {
        let orders_stores = |order: Order| order.is_release() && model == Model::Pso;
        let access = |release, fence_before| AccessStrength {
            atomic: true,
            acquire: false,
            release,
            fence_before,
            fence_after: false,
            chained: false,
        };
        match instruction {
            Instruction::Fence(Order::SeqCst) => MonitorEffect::Fence { acquire: true, release: true, seq_cst: false },
            Instruction::Fence(order) if orders_stores(*order) => {
                MonitorEffect::Fence { acquire: false, release: true, seq_cst: false }
            }
            Instruction::Load { .. } | Instruction::Wait { .. } => MonitorEffect::Read(access(false, false)),
            Instruction::Store { order, .. } => MonitorEffect::Write(access(orders_stores(*order), false)),
            Instruction::Unlock(_) => MonitorEffect::Write(access(orders_stores(Order::Release), false)),
            Instruction::Rmw { .. } | Instruction::BlockingCas { .. } | Instruction::Lock(_) => {
                MonitorEffect::Update(access(false, true))
            }
            Instruction::CompareExchange { .. } => MonitorEffect::Compare(access(false, true), access(false, true)),
            _ => MonitorEffect::Nothing,
        }
    }

    /// The accesses it can be: with their mode, whether they read, and whether they write.
    pub fn accesses(&self) -> impl Iterator<Item = (AccessStrength, bool, bool)> {
        let (first, second) = match *self {
            MonitorEffect::Nothing | MonitorEffect::Fence { .. } => (None, None),
            MonitorEffect::Read(mode) => (Some((mode, true, false)), None),
            MonitorEffect::Write(mode) => (Some((mode, false, true)), None),
            MonitorEffect::Update(mode) => (Some((mode, true, true)), None),
            MonitorEffect::Compare(success, failure) => (Some((success, true, true)), Some((failure, true, false))),
        };
        first.into_iter().chain(second)
    }

    /// Acts as a seq_cst fence, including hidden ones.
    pub fn fences_seq_cst(&self) -> bool {
        match self {
            MonitorEffect::Fence { seq_cst, .. } => *seq_cst,
            _ => self.accesses().any(|(mode, ..)| mode.has_hidden_fence()),
        }
    }

    /// It is, or may be, an access that takes part in chains of seq_cst accesses.
    pub fn is_chained(&self) -> bool {
        self.accesses().any(|(mode, ..)| mode.chained)
    }

    /// Acts as an acquire fence, including hidden ones.
    pub fn fences_acquire(&self) -> bool {
        matches!(self, MonitorEffect::Fence { acquire: true, .. }) || self.fences_seq_cst()
    }

    /// Acts as a release fence, including hidden ones.
    pub fn fences_release(&self) -> bool {
        matches!(self, MonitorEffect::Fence { release: true, .. }) || self.fences_seq_cst()
    }
}

impl AccessStrength {
    fn of(order: Order, settings: C11Settings) -> AccessStrength {
        let atomic = order != Order::NonAtomic;
        if settings.model == Model::Ra {
            return AccessStrength {
                atomic,
                acquire: atomic,
                release: atomic,
                fence_before: false,
                fence_after: false,
                chained: false,
            };
        }
        AccessStrength {
            atomic,
            acquire: order.is_acquire(),
            release: order.is_release(),
            fence_before: order == Order::SeqCst && settings.seq_cst == SeqCstReading::Before,
            fence_after: order == Order::SeqCst && settings.seq_cst == SeqCstReading::After,
            chained: order == Order::SeqCst && settings.chains,
        }
    }

    pub fn has_hidden_fence(&self) -> bool {
        self.fence_before || self.fence_after
    }
}
