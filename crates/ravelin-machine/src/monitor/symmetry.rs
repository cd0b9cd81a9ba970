//! Stores states once that differ only by a permutation of identical threads.
//!
//! Threads are identical here if they run the same code on the same cells. The parts of a thread, its location, its
//! registers and its rows, are then exchanged as a whole; a state's representative has these in sorted order. The
//! monitor's rules identify threads by their rows only, so exchanging identical ones turns runs into runs. Marks of
//! races name threads in their columns; with marks nothing is exchanged.

use super::plan::MonitorPlan;
use super::rows::{BitRange, Rows};
use super::taint::Taints;
use crate::compile::Machine;
use ravelin_program::Thread;

#[derive(Default)]
pub(crate) struct MonitorSymmetry {
    groups: Vec<Vec<Vec<BitRange>>>,
}

impl MonitorSymmetry {
    pub fn find<const N: usize>(
        machine: &Machine,
        plan: &MonitorPlan,
        rows: &Rows<N>,
        taints: Option<&Taints>,
    ) -> MonitorSymmetry {
        let threads = &machine.program.threads;
        let mut symmetry = MonitorSymmetry::default();
        if !plan.marks.is_empty() {
            return symmetry;
        }
        let lows = |thread: usize| machine.layout.registers[thread].iter().map(|field| field.lo);
        let mut grouped = vec![false; threads.len()];
        for first in 0..threads.len() {
            if grouped[first] {
                continue;
            }
            let parts = parts(machine, rows, taints, first);
            let mut group = vec![parts.clone()];
            for second in first + 1..threads.len() {
                let theirs = self::parts(machine, rows, taints, second);
                let fits = theirs.len() == parts.len() && theirs.iter().zip(&parts).all(|(a, b)| a.mask == b.mask);
                let alike = taints.is_none_or(|taints| taints.are_alike(first, second));
                let fits = fits && alike && lows(first).eq(lows(second));
                if fits && are_identical(&threads[first], &threads[second]) {
                    grouped[second] = true;
                    group.push(theirs);
                }
            }
            if group.len() > 1 {
                symmetry.groups.push(group);
            }
        }
        symmetry
    }

    /// Puts the threads of each group in order.
    #[inline]
    pub fn canonicalise(&self, state: &mut [u64]) {
        for group in &self.groups {
            for end in 1..group.len() {
                let mut at = end;
                while at > 0 && is_less(&group[at], &group[at - 1], state) {
                    exchange(&group[at], &group[at - 1], state);
                    at -= 1;
                }
            }
        }
    }
}

/// Everything in a state that belongs to a thread.
fn parts<const N: usize>(machine: &Machine, rows: &Rows<N>, taints: Option<&Taints>, thread: usize) -> Vec<BitRange> {
    let layout = &machine.layout;
    let fields = std::iter::once(&layout.locations[thread]).chain(&layout.registers[thread]);
    let fields = fields.map(BitRange::of);
    let views = [Some(rows.cur[thread]), rows.acq[thread], Some(rows.rel[thread])];
    let of_views = views.into_iter().flatten().flat_map(|view| [view.known, view.fenced]);
    let of_buffers = rows.buffers.iter().flat_map(|buffers| buffers.of_thread(thread));
    let owns = rows.buffers.iter().flat_map(|buffers| buffers.owns[thread].iter().copied());
    let of_all = [rows.thread_sc[thread], rows.thread_chain[thread]].into_iter();
    let rows = of_all.chain(of_views).chain(of_buffers).flat_map(|row| row.spots()).chain(owns);
    let tainted = taints.into_iter().flat_map(|taints| taints.bits(thread));
    fields.chain(rows).chain(tainted).filter(|spot| spot.mask != 0).collect()
}

fn are_identical(one: &Thread, other: &Thread) -> bool {
    let registers = |thread: &Thread| -> Vec<_> { thread.registers.iter().map(|r| (r.domain, r.initial)).collect() };
    let same_step = |(one, other): (&ravelin_program::Transition, &ravelin_program::Transition)| {
        (one.from, one.to, &one.instruction) == (other.from, other.to, &other.instruction)
    };
    one.initial == other.initial
        && one.locations.len() == other.locations.len()
        && registers(one) == registers(other)
        && one.transitions.len() == other.transitions.len()
        && one.transitions.iter().zip(&other.transitions).all(same_step)
}

#[inline]
fn is_less(one: &[BitRange], other: &[BitRange], state: &[u64]) -> bool {
    for (one, other) in one.iter().zip(other) {
        let (a, b) = (one.get(state), other.get(state));
        if a != b {
            return a < b;
        }
    }
    false
}

#[inline]
fn exchange(one: &[BitRange], other: &[BitRange], state: &mut [u64]) {
    for (one, other) in one.iter().zip(other) {
        let (a, b) = (one.get(state), other.get(state));
        one.set(state, b);
        other.set(state, a);
    }
}
