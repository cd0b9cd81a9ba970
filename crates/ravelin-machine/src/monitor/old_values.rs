//! Old values of cells that only grow are not distinguished.
//!
//! Take a counter whose value is compared and exchanged (`bcas(top, t, t + 1)`), and a thread that has read it some time
//! ago. Once the counter is larger, it does not matter which old value the thread holds: its compare-exchange waits for
//! ever. This reduction gives states that differ only in such values one representative.
//!
//! **Guesses.** What it needs is not known beforehand. It is guessed, and the search itself checks the guesses:
//!
//! - the value of a cell never decreases. Candidates are cells on which a thread may wait with a `bcas`, and which every
//!   write makes larger as far as its text says (`c.fetch_add(1)`, `bcas(c, e, e + 1)`); a value may still wrap around;
//! - for a cell c of these and another cell d, the value of d is never less than that of c by more than a number, the
//!   *lag* of d. It starts with what the initial values give.
//!
//! A step that contradicts a guess interrupts the search, which starts again without the guess, or with a greater lag
//! ([`Guesses::correct`]). A search that ends has checked its guesses on every step that it took.
//!
//! **Normal forms.** In a state in which c holds v:
//!
//! 1. A thread all of whose next steps are `bcas` on growing cells that expect less than these hold never moves again.
//!    All writes to such a cell are RMWs, so that nothing can be squeezed in and the monitor asks nothing: the step can
//!    not be stale either. The thread goes to a location of its own without steps, and its registers are forgotten. That
//!    location has no future, so that what only this thread would ask is forgotten, too (`rows.rs`).
//! 2. A register is *old* if, from its thread's location on and before it is overwritten, it is only used as what a `bcas`
//!    on c expects, and in comparisons with registers that are loaded from other cells d in between (`old_uses.rs`), and
//!    if its value is less than v minus the lag of each d. It gets the least value that it has room for.
//!
//! **Why this is right.** Relate two states that agree in everything, except for threads as in 1, which are at the `bcas` or
//! at the location without steps, and for registers whose values are both too small in the sense of 2: less than what c
//! holds, than what each d that is yet to be loaded holds and will hold, and than the registers that were loaded from such
//! a d already. Related states have the same steps, which lead to related states and find the same:
//!
//! - a thread as in 1 has no step, and finds nothing;
//! - no `bcas` on c that expects an old register passes, neither now nor later: c does not decrease. Nor does it find
//!   anything;
//! - a comparison of an old register with one that was loaded from d has the same result for both values, because both
//!   are less. For at the time of the load d held at least what c held minus the lag, and c has not decreased since the
//!   register was found to be old;
//! - every other step reads nothing in which the two differ. It leaves c and all d as the guesses say: these parts of the
//!   two states are equal, and in the search the step was checked.
//!
//! So this is a bisimulation. Every state of the program is related to one that was found, and a run through normal forms is
//! a run of the program, step by step (`read_back` in `search.rs`). Identical threads have the same normal forms, so this and
//! symmetry can be used together.
//!
//! **With partial order reduction** not every step is taken, nor checked. Take a shortest run from a state that was found to
//! something that the search reports, or to a write that makes a growing cell smaller. Until then no thread as in 1 moves,
//! so that it is right to see no future in it, and the run can be reordered to begin with a step that the search has taken
//! (`alone.rs`). Neither what is reported nor that a write decreases its cell depends on the order of independent steps. The
//! search has compared the step that it took with the guesses, and the states behind it are related again. In the end it
//! reports the same, or finds that the guess is wrong. That a cell lags too far behind needs to be seen only in states that
//! were found, because only there is a register taken to be old, or a cell loaded.
//!
//! What a goal sees of registers would have to be kept, so observational searches are not reduced. Programs without
//! candidates pay nothing.

use super::Monitor;
use super::old_uses::{growing_cells, old_registers};
use super::plan::MonitorPlan;
use crate::attack::AccessLog;
use crate::code::Code;
use crate::compile::{CellTarget, Machine, StepOp};
use crate::layout::Field;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{InitialValue, Location, Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A lag that was too small this often is given up.
const MOST_CORRECTIONS: u32 = 5;

/// What is taken to be so until a search finds otherwise. Cells are given by address, because slots change with the layout.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    growing: BTreeSet<Value>,
    /// By growing cell and other cell.
    lags: BTreeMap<(Value, Value), Lag>,
}

#[derive(Clone, Copy, Debug)]
struct Lag {
    by: Value,
    corrections: u32,
}

/// What a step has contradicted; cells are slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongGuess {
    Decreased { cell: usize },
    LagsBehind { cell: usize, other: usize, by: Value },
}

impl Guesses {
    /// The first guesses for a program. Threads that may wait for ever get a location for that, their last one.
    pub fn new(program: &mut Program, watch: &Watch) -> Result<Guesses, Limit> {
        let growing = growing_cells(program, watch)?;
        if !growing.is_empty() {
            program.threads.iter_mut().for_each(|thread| thread.locations.push(Location::default()));
        }
        Ok(Guesses { growing, lags: BTreeMap::new() })
    }

    pub fn correct(&mut self, wrong: WrongGuess, machine: &Machine) {
        let address = |slot: usize| machine.layout.addresses[slot];
        match wrong {
            WrongGuess::Decreased { cell } => {
                self.growing.remove(&address(cell));
            }
            WrongGuess::LagsBehind { cell, other, by } => {
                if let Some(lag) = self.lags.get_mut(&(address(cell), address(other))) {
                    *lag = Lag { by: by.max(lag.by.saturating_mul(2)), corrections: lag.corrections + 1 };
                }
            }
        }
    }

    /// By how much a cell may lag behind a growing one, if that is not given up.
    fn lag(&mut self, program: &Program, cell: Value, other: Value) -> Option<Value> {
        let first = || {
            let memory = &program.memory;
            let most = match memory.initial_at(cell) {
                InitialValue::Value(value) => value,
                InitialValue::Any => memory.domain_at(cell).map_or(Value::MAX, |domain| domain.hi),
            };
            let least = match memory.initial_at(other) {
                InitialValue::Value(value) => value,
                InitialValue::Any => memory.domain_at(other).map_or(Value::MIN, |domain| domain.lo),
            };
            Lag { by: most.saturating_sub(least).max(0), corrections: 0 }
        };
        let lag = self.lags.entry((cell, other)).or_insert_with(first);
        (lag.corrections <= MOST_CORRECTIONS).then_some(lag.by)
    }
}

/// The reduction for one machine, under guesses.
pub(super) struct OldValues {
    /// By slot.
    growing: Vec<bool>,
    lags: Vec<CellLag>,
    /// By thread and location.
    parts: Vec<Vec<OldParts>>,
    /// By thread: the location without steps, and what is kept of a state in which its registers are forgotten.
    waiting: Vec<(Value, Vec<(u32, u64)>)>,
}

/// `other` holds at least what `cell` holds minus `by`.
struct CellLag {
    cell: usize,
    other: usize,
    by: Value,
}

/// What may be old while a thread is at a location.
#[derive(Clone, Default)]
struct OldParts {
    /// If all of these expect less than the cells hold, the thread never moves again. Without any, it may.
    steps: Vec<(Field, Code)>,
    registers: Vec<OldRegister>,
}

#[derive(Clone, Copy)]
struct OldRegister {
    register: Field,
    cell: Field,
    lag: Value,
}

impl OldValues {
    /// `None` if no state has anything old.
    pub fn new(
        machine: &Machine,
        plan: &MonitorPlan,
        guesses: &mut Guesses,
        watch: &Watch,
    ) -> Result<Option<OldValues>, Limit> {
        let addresses = &machine.layout.addresses;
        let slots: Vec<usize> =
            (0..addresses.len()).filter(|&slot| guesses.growing.contains(&addresses[slot])).collect();
        if slots.is_empty() {
            return Ok(None);
        }
        let mut old = OldValues {
            growing: (0..addresses.len()).map(|slot| slots.contains(&slot)).collect(),
            lags: Vec::new(),
            parts: Vec::new(),
            waiting: (0..machine.threads.len()).map(|thread| waiting(machine, thread)).collect(),
        };
        for thread in 0..machine.threads.len() {
            let locations = 0..machine.program.threads[thread].locations.len();
            let mut parts: Vec<OldParts> = locations.map(|at| old.parts_at(machine, plan, thread, at)).collect();
            watch.hold(parts.len() * size_of::<OldParts>())?;
            for found in old_registers(machine, plan, thread, &slots, watch)? {
                let lag_of = |&other: &usize| {
                    if other == found.cell {
                        return Some(0);
                    }
                    guesses.lag(&machine.program, addresses[found.cell], addresses[other])
                };
                let Some(lags) = found.others.iter().map(lag_of).collect::<Option<Vec<Value>>>() else { continue };
                for (&other, &by) in found.others.iter().zip(&lags).filter(|(other, _)| **other != found.cell) {
                    if !old.lags.iter().any(|lag| (lag.cell, lag.other) == (found.cell, other)) {
                        old.lags.push(CellLag { cell: found.cell, other, by });
                    }
                }
                parts[found.location].registers.push(OldRegister {
                    register: machine.layout.registers[thread][found.register.0],
                    cell: machine.layout.cells[found.cell],
                    lag: lags.into_iter().max().unwrap_or(0),
                });
            }
            old.parts.push(parts);
        }
        let any = old.parts.iter().flatten().any(|parts| !parts.steps.is_empty() || !parts.registers.is_empty());
        Ok(any.then_some(old))
    }

    fn parts_at(&self, machine: &Machine, plan: &MonitorPlan, thread: usize, location: usize) -> OldParts {
        let code = &machine.threads[thread];
        let step = |index: usize| match &code.steps[index].op {
            StepOp::BlockingCas { place: CellTarget::Slot(slot), expected, .. }
                if self.growing[*slot] && plan.asked[thread][index].is_empty() =>
            {
                Some((machine.layout.cells[*slot], expected.clone()))
            }
            _ => None,
        };
        let steps = (code.starts[location]..code.starts[location + 1]).map(step).collect::<Option<Vec<_>>>();
        OldParts { steps: steps.unwrap_or_default(), registers: Vec::new() }
    }

    /// Whether a step agrees with the guesses.
    #[inline]
    fn check(&self, machine: &Machine, accesses: &AccessLog, state: &[u64], next: &[u64]) -> Result<(), WrongGuess> {
        let cells = &machine.layout.cells;
        for (written, _) in accesses.iter().filter(|(_, writes)| *writes) {
            if self.growing[written] && cells[written].get(next) < cells[written].get(state) {
                return Err(WrongGuess::Decreased { cell: written });
            }
            for &CellLag { cell, other, by } in self.lags.iter().filter(|lag| [lag.cell, lag.other].contains(&written))
            {
                let behind = cells[cell].get(next).saturating_sub(cells[other].get(next));
                if behind > by {
                    return Err(WrongGuess::LagsBehind { cell, other, by: behind });
                }
            }
        }
        Ok(())
    }

    /// Gives a state its normal form.
    #[inline]
    fn forget(&self, machine: &Machine, state: &mut [u64]) {
        for (thread, location) in machine.layout.locations.iter().enumerate() {
            let parts = &self.parts[thread][location.get(state) as usize];
            let is_old =
                |(cell, expected): &(Field, Code)| expected.eval(state).is_ok_and(|value| value < cell.get(state));
            if !parts.steps.is_empty() && parts.steps.iter().all(is_old) {
                let (waiting, kept) = &self.waiting[thread];
                location.set(state, *waiting);
                kept.iter().for_each(|&(word, keep)| state[word as usize] &= keep);
                continue;
            }
            for OldRegister { register, cell, lag } in &parts.registers {
                if register.get(state) < cell.get(state).saturating_sub(*lag) {
                    register.set(state, register.lo);
                }
            }
        }
    }
}

/// The location for a thread that never moves again, and what is kept of the words with its registers.
fn waiting(machine: &Machine, thread: usize) -> (Value, Vec<(u32, u64)>) {
    let fields = machine.layout.registers[thread].iter().filter(|field| field.mask != 0);
    let kept = fields.map(|field| (field.word, !(field.mask << field.shift))).collect();
    (machine.program.threads[thread].locations.len() as Value - 1, kept)
}

impl<const N: usize> Monitor<'_, N> {
    /// Whether a step agrees with what was guessed.
    #[inline]
    pub(super) fn check_guesses(&self, accesses: &AccessLog, state: &[u64], next: &[u64]) -> Result<(), WrongGuess> {
        match &self.old_values {
            Some(old) => old.check(self.machine, accesses, state, next),
            None => Ok(()),
        }
    }

    /// Forgets what does not matter in a state that is to be stored.
    #[inline]
    pub(super) fn forget(&self, state: &mut [u64]) {
        if let Some(old) = &self.old_values {
            old.forget(self.machine, state);
        }
        self.rows.forget(self.machine, state);
    }
}
