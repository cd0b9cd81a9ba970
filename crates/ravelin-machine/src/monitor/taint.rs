//! Observational robustness (Margalit and Lahav, *Verifying Observational Robustness against a C11-Style Memory Model*, POPL 2021):
//! which registers hold what a stale load may have read.
//!
//! A load that may be stale does no harm if nothing depends on its value. Such a load *taints* its register, and the monitor takes
//! it for a load that reads nothing: of the sets it changes only those about SC (`update.rs`). An assignment passes the taint on, any other
//! write of the register removes it. A tainted register in a branch, an address, an operand of an access, an assertion, or seen by a goal is a
//! *use*: then nothing is proved. Stores, RMWs, compare-exchanges and what waits are never irrelevant, nor are loads whose register may refuse
//! a value.
//!
//! The bits are words of their own between the packed SC state and the sets of the monitor. Registers that are dead have none.

use super::rows::BitRange;
use crate::compile::Machine;
use crate::layout::Packer;
use crate::liveness::LiveRegisters;
use crate::observe::GoalFootprint;
use crate::ranges::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Arithmetic, BinaryOp, Domain, Escape, Expr, Instruction, LocId, Order, RegId, ThreadId, TransitionId, UnaryOp,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Operands within these bounds can be added and subtracted without overflow.
const SMALL: Interval = Interval { lo: -(1 << 31), hi: 1 << 31 };

/// By thread.
pub(crate) struct Taints(Vec<ThreadTaints>);

struct ThreadTaints {
    /// By register: its bit, if it can be tainted.
    bits: Vec<Option<BitRange>>,
    live: LiveRegisters,
    /// By step.
    steps: Vec<TaintStep>,
    /// Registers that a `never` sees at any time, and those that a goal sees at the end.
    watched: Vec<bool>,
    observed: Vec<bool>,
    /// By location.
    ends: Vec<bool>,
}

struct TaintStep {
    /// A load that may be irrelevant.
    ignorable: bool,
    /// An assignment that passes the taint on and does nothing else.
    copies: bool,
    reads: Vec<usize>,
    writes: Vec<usize>,
    to: usize,
    /// It was irrelevant somewhere.
    was_ignored: AtomicBool,
}

impl Taints {
    pub fn new(
        machine: &Machine,
        observed: &GoalFootprint,
        packer: &mut Packer,
        watch: &Watch,
    ) -> Result<Taints, Limit> {
        let program = &machine.program;
        let ranges = Ranges::infer(program, watch)?;
        let mut threads = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            let domain = |register: &RegId| thread.registers[register.0].domain;
            let mut steps = Vec::new();
            for transition in &thread.transitions {
                watch.hold(size_of::<TaintStep>())?;
                let instruction = &transition.instruction;
                let (ignorable, copies) = match instruction {
                    Instruction::Load { reg, address, order } if *order != Order::NonAtomic => {
                        (admits(domain(reg), ranges.load(program, number, address)), false)
                    }
                    Instruction::Assign { reg, value } => {
                        let fits = admits(domain(reg), ranges.eval(number, value));
                        (false, fits && is_total(value, number, &ranges))
                    }
                    _ => (false, false),
                };
                steps.push(TaintStep {
                    ignorable,
                    copies,
                    reads: instruction.read_registers().iter().map(|register| register.0).collect(),
                    writes: instruction.written_registers().iter().map(|register| register.0).collect(),
                    to: transition.to.0,
                    was_ignored: AtomicBool::new(false),
                });
            }
            let can_be: Vec<usize> = steps
                .iter()
                .filter(|step| step.ignorable || step.copies)
                .flat_map(|step| step.writes.clone())
                .collect();
            let mut bit = |register: usize| can_be.contains(&register).then(|| BitRange::new(packer, 1));
            threads.push(ThreadTaints {
                bits: (0..thread.registers.len()).map(&mut bit).collect(),
                live: LiveRegisters::new(thread, number, observed, watch)?,
                steps,
                watched: observed.watched[number].clone(),
                observed: observed.registers[number].clone(),
                ends: (0..thread.locations.len()).map(|location| thread.is_end(LocId(location))).collect(),
            });
        }
        Ok(Taints(threads))
    }

    /// The bits of a thread.
    pub fn bits(&self, thread: usize) -> impl Iterator<Item = BitRange> + '_ {
        self.0[thread].bits.iter().flatten().copied()
    }

    /// Goals see the same registers of two threads, which run the same code.
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.0[one], &self.0[other]);
        one.watched == other.watched && one.observed == other.observed
    }

    /// A step that may be stale is a load whose value need not matter.
    pub fn may_ignore(&self, thread: usize, step: usize) -> bool {
        self.0[thread].steps[step].ignorable
    }

    /// A step uses a tainted register.
    pub fn is_used(&self, thread: usize, step: usize, state: &[u64]) -> bool {
        let TaintStep { copies, reads, .. } = &self.0[thread].steps[step];
        !copies && self.any(thread, reads, state)
    }

    /// Changes the taints of `next`, which a step from `state` has led to. Returns whether a goal may see a tainted register there.
    pub fn update(&self, thread: usize, step: usize, ignored: bool, state: &[u64], next: &mut [u64]) -> bool {
        let of_thread = &self.0[thread];
        let taken = &of_thread.steps[step];
        if ignored {
            taken.was_ignored.store(true, Ordering::Relaxed);
        }
        let taint = ignored || taken.copies && self.any(thread, &taken.reads, state);
        for &register in &taken.writes {
            if let Some(bit) = of_thread.bits[register] {
                bit.set(next, u64::from(taint));
            }
        }
        let live = of_thread.live.at(taken.to);
        let mut seen = false;
        for (register, bit) in of_thread.bits.iter().enumerate() {
            let Some(bit) = bit else { continue };
            if live[register / 64] >> (register % 64) & 1 == 0 {
                bit.set(next, 0);
            }
            let shows = of_thread.watched[register] || of_thread.observed[register] && of_thread.ends[taken.to];
            seen |= shows && bit.get(next) == 1;
        }
        seen
    }

    /// The loads that were irrelevant somewhere.
    pub fn ignored(&self) -> Vec<(ThreadId, TransitionId)> {
        let mut ignored = Vec::new();
        for (thread, taints) in self.0.iter().enumerate() {
            let steps = taints.steps.iter().enumerate().filter(|(_, step)| step.was_ignored.load(Ordering::Relaxed));
            ignored.extend(steps.map(|(step, _)| (ThreadId(thread), TransitionId(step))));
        }
        ignored
    }

    fn any(&self, thread: usize, registers: &[usize], state: &[u64]) -> bool {
        let bits = &self.0[thread].bits;
        registers.iter().any(|&register| bits[register].is_some_and(|bit| bit.get(state) == 1))
    }
}

/// A register takes every one of these values; what wraps does.
fn admits(domain: Domain, values: Interval) -> bool {
    domain.is_full() || domain.escape == Escape::Wrap || domain.lo <= values.lo && values.hi <= domain.hi
}

/// An expression has a value whatever its registers hold.
fn is_total(expr: &Expr, thread: usize, ranges: &Ranges) -> bool {
    let total = |expr: &Expr| is_total(expr, thread, ranges);
    let is_small = |expr: &Expr| {
        let values = ranges.eval(thread, expr);
        SMALL.lo <= values.lo && values.hi <= SMALL.hi
    };
    match expr {
        Expr::Const(_) | Expr::Atom(_) => true,
        Expr::Unary(UnaryOp::Not, _, operand) => total(operand),
        Expr::Unary(UnaryOp::Neg, _, operand) => total(operand) && is_small(operand),
        Expr::Binary(op, arithmetic, left, right) => {
            let fits = op.is_truth() || op.selects();
            let sums = matches!(op, BinaryOp::Add | BinaryOp::Sub);
            let is_exact = *arithmetic != Arithmetic::Checked || is_small(left) && is_small(right);
            total(left) && total(right) && (fits || sums && is_exact)
        }
    }
}
