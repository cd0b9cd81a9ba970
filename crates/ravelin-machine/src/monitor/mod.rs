//! Robustness against release/acquire, RC20, TSO and PSO: the SC state space with a monitor of finite size beside it (*Dynamic
//! Robustness Verification against Weak Memory*, PLDI 2025, sections 2.3 and 4).
//!
//! A program is not robust exactly if some SC run leads to a state of the following kind: a thread is about to access a
//! cell whose latest write is SC-before the thread but not known to it (theorem 2.2). The monitor keeps which thread
//! knows what, as sets after the packed state:
//!
//! - [`effect`]: what an instruction is for the monitor, under each model;
//! - [`plan`], [`questions`], [`known_facts`]: which cells and which facts about them are kept;
//! - [`columns`], [`rows`]: sets of them, where they are, and which of them can still matter;
//! - [`view`], [`update`]: how they change, [`buffers`]: how they do under TSO and PSO;
//! - [`check`]: when a state is a violation, and when there is a race;
//! - [`taint`]: loads whose stale values do not matter, for observational robustness;
//! - [`search`], [`symmetry`], [`alone`], [`old_values`]: the whole as a system to explore, and fewer states of it.
//!
//! **Reductions.** Steps within a thread are fused with the step before them. They change neither what others see nor
//! any set except the thread's own. Others' steps only remove elements from these sets, from all of them alike. The two
//! orders therefore lead to the same state. Fences are such steps, and so are accesses to a cell that no other thread
//! touches. Dead registers are forgotten, and so is every bit that no later access can read ([`rows`]). Identical
//! threads are not distinguished. Whether a write is the *latest* one at an access depends on the order of the accesses to
//! one cell (example 3.1 of the paper), and on no other: orders of steps on different cells are reduced ([`alone`]). Old
//! values of cells that only grow are not distinguished ([`old_values`]).

mod alone;
mod buffers;
mod check;
mod columns;
mod effect;
mod known_facts;
mod old_uses;
mod old_values;
mod passing;
mod plan;
mod questions;
mod refusal;
mod rows;
mod search;
mod symmetry;
mod taint;
mod update;
mod view;

pub use effect::C11Settings;
pub(crate) use effect::{AccessStrength, MonitorEffect};
pub use refusal::{MonitorRefusal, refuse_hardware};
pub use search::{MonitorError, MonitorFinding, MonitorFindingKind, MonitorSearch, monitor, monitor_for};

use crate::compile::Machine;
use crate::layout::Packer;
use crate::observe::GoalFootprint;
use alone::StepAlone;
use columns::Columns;
use old_values::OldValues;
use plan::{Class, MonitorPlan};
use ravelin_explore::{Limit, Watch};
use rows::Rows;
use symmetry::MonitorSymmetry;
use taint::Taints;

/// By thread, cell, atomicity and whether it writes.
type ByAccess<T> = Vec<Vec<[[T; 2]; 2]>>;

/// A machine with a monitor, whose sets have `N` words.
pub(crate) struct Monitor<'a, const N: usize> {
    machine: &'a Machine,
    plan: MonitorPlan,
    rows: Rows<N>,
    /// Whether to search for data races.
    races: bool,
    /// The columns of all facts, and by cell those of its own.
    facts: Columns<N>,
    own: Vec<Columns<N>>,
    /// By cell, and whether the write is an RMW: what it clears whatever value it overwrites, as a mask.
    lost: Vec<[Vec<u64>; 2]>,
    /// By cell: facts that depend on the value overwritten.
    by_value: Vec<Vec<usize>>,
    /// The column of an access's own mark, and the marks that it conflicts with.
    marks: ByAccess<Option<usize>>,
    conflicts: ByAccess<Columns<N>>,
    symmetry: MonitorSymmetry<N>,
    /// By thread and location; empty without partial order reduction.
    alone: Vec<Vec<StepAlone>>,
    /// Where a program may have old values of cells that only grow.
    old_values: Option<OldValues>,
    /// For observational robustness.
    taints: Option<Taints>,
}

/// What a monitor is made of, whatever the number of words.
struct MonitorParts<'a> {
    plan: MonitorPlan,
    settings: C11Settings,
    goals: &'a GoalFootprint,
    old_values: Option<OldValues>,
}

impl<'a, const N: usize> Monitor<'a, N> {
    fn new(machine: &'a Machine, parts: MonitorParts, watch: &Watch) -> Result<Monitor<'a, N>, Limit> {
        let MonitorParts { plan, settings, goals, old_values } = parts;
        let mut packer = Packer::behind(machine.layout.words);
        let taints = match settings.observational {
            true => Some(Taints::new(machine, goals, &mut packer, watch)?),
            false => None,
        };
        let rows = Rows::new(machine, &plan, packer.words(), watch)?;
        let always = |fact: usize| plan.facts[fact].class == Class::ANY;
        let lost = (plan.cells.iter().zip(&rows.sc_columns).zip(&rows.owners))
            .map(|((cell, sc_column), owners)| {
                [false, true].map(|update| {
                    let mut lost: Vec<u64> =
                        sc_column.iter().zip(owners).map(|(column, owner)| column | owner).collect();
                    for &fact in &cell.facts {
                        if always(fact) && !(update && plan.facts[fact].squeezes) {
                            lost.iter_mut().zip(&rows.columns[fact]).for_each(|(word, column)| *word |= column);
                        }
                    }
                    lost
                })
            })
            .collect();
        let by_value = (plan.cells.iter())
            .map(|cell| cell.facts.iter().copied().filter(|&fact| !always(fact)).collect())
            .collect();
        let marks = by_access(machine, &plan, |thread, cell, atomic, writes| plan.mark(cell, thread, atomic, writes));
        let conflicts =
            by_access(machine, &plan, |thread, cell, atomic, writes| plan.conflicts(cell, thread, atomic, writes));
        let symmetry = if settings.reductions.symmetry {
            MonitorSymmetry::find(machine, &plan, &rows, taints.as_ref(), watch)?
        } else {
            MonitorSymmetry::NONE
        };
        let facts = Columns::first(plan.facts.len());
        let own = plan.cells.iter().map(|cell| cell.facts.iter().copied().collect()).collect();
        let races = settings.races;
        // What a goal may see of stale values depends on all threads.
        let reduced = settings.reductions.partial_order && !settings.observational && machine.threads.len() > 1;
        let alone = if reduced { StepAlone::of_all(machine, &plan) } else { Vec::new() };
        Ok(Monitor {
            machine,
            plan,
            rows,
            races,
            facts,
            own,
            lost,
            by_value,
            marks,
            conflicts,
            symmetry,
            alone,
            old_values,
            taints,
        })
    }
}

fn by_access<T>(machine: &Machine, plan: &MonitorPlan, of: impl Fn(usize, usize, bool, bool) -> T) -> ByAccess<T> {
    let of = &of;
    let threads = 0..machine.threads.len();
    threads
        .map(|thread| {
            let cells = 0..plan.cells.len();
            cells
                .map(|cell| [false, true].map(|atomic| [false, true].map(|writes| of(thread, cell, atomic, writes))))
                .collect()
        })
        .collect()
}
