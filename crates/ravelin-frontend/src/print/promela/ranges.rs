//! Which values registers and cells can hold, as intervals over all runs.
//!
//! A fixpoint over all steps, blind to control flow: good enough to see that most arithmetic fits 32 bits and which
//! addresses a computed access can touch. After some rounds what still grows is taken to its domain's bounds, or to
//! SPIN's, so it ends.

use super::expression::{MOST, TermRange};
use super::step::{PromelaSetting, PromelaStep, steps, variable_range};
use ravelin_program::{Domain, InitialValue, Program, Unnamed, Value};
use std::collections::BTreeMap;

/// Rounds before growing ranges are widened.
const PATIENCE: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PromelaRanges {
    /// By thread and register.
    pub registers: Vec<Vec<TermRange>>,
    /// By variable.
    variables: Vec<TermRange>,
    /// Of all cells without a name.
    elsewhere: TermRange,
    /// Every address some step may touch.
    pub touched: Vec<TermRange>,
}

impl PromelaRanges {
    /// The least ranges closed under the program's steps.
    pub fn of(program: &Program, names: &[Vec<String>]) -> PromelaRanges {
        let mut ranges = PromelaRanges::initial(program);
        let mut round = 0;
        loop {
            let mut next = ranges.clone();
            next.touched.clear();
            let cells = BTreeMap::new();
            let setting = PromelaSetting {
                program,
                ranges: &ranges,
                registers: names,
                cells: &cells,
                origin: 0,
                uses_bus: false,
            };
            for (index, thread) in program.threads.iter().enumerate() {
                for transition in &thread.transitions {
                    for step in steps(&setting, index, &transition.instruction) {
                        next.extend(program, index, step);
                    }
                }
            }
            if next == ranges {
                return ranges;
            }
            if round >= PATIENCE {
                next.widen(program, &ranges);
            }
            ranges = next;
            round += 1;
        }
    }

    fn initial(program: &Program) -> PromelaRanges {
        let initial = |domain: Domain, initial: &InitialValue| match initial {
            InitialValue::Value(value) => TermRange::exactly(*value),
            InitialValue::Any => TermRange::of(domain),
        };
        PromelaRanges {
            registers: program
                .threads
                .iter()
                .map(|thread| thread.registers.iter().map(|register| TermRange::exactly(register.initial)).collect())
                .collect(),
            variables: program
                .memory
                .variables
                .iter()
                .map(|variable| {
                    let cells = variable.initial.iter().map(|cell| initial(variable.domain, cell));
                    cells.reduce(TermRange::join).unwrap_or(TermRange::exactly(0))
                })
                .collect(),
            elsewhere: TermRange::exactly(0),
            touched: Vec::new(),
        }
    }

    /// What the cells at some addresses can hold.
    pub fn at(&self, program: &Program, addresses: TermRange) -> TermRange {
        let mut found: Option<TermRange> = None;
        for (variable, range) in self.variables.iter().enumerate() {
            let cells = variable_range(program, variable);
            if addresses.within(cells) {
                return *range;
            }
            if addresses.meets(cells) {
                found = Some(found.map_or(*range, |other| other.join(*range)));
            }
        }
        match (found, program.memory.unnamed) {
            (Some(found), Unnamed::Cells(_)) => found.join(self.elsewhere),
            (found, _) => found.unwrap_or(self.elsewhere),
        }
    }

    /// What a cell at a constant address can hold.
    pub fn at_address(&self, program: &Program, address: Value) -> TermRange {
        self.at(program, TermRange::exactly(address))
    }

    fn extend(&mut self, program: &Program, thread: usize, step: PromelaStep) {
        for (register, value) in step.registers {
            let range = &mut self.registers[thread][register];
            *range = range.join(value.range);
        }
        for (address, value) in step.writes {
            let mut named = false;
            for (variable, range) in self.variables.iter_mut().enumerate() {
                let cells = variable_range(program, variable);
                if address.range.meets(cells) {
                    *range = range.join(value.range);
                }
                named |= address.range.within(cells);
            }
            if !named && program.memory.unnamed != Unnamed::Nothing {
                self.elsewhere = self.elsewhere.join(value.range);
            }
        }
        self.touched.extend(step.touched);
    }

    fn widen(&mut self, program: &Program, before: &PromelaRanges) {
        for (index, thread) in program.threads.iter().enumerate() {
            for (number, register) in thread.registers.iter().enumerate() {
                let range = &mut self.registers[index][number];
                *range = widened(before.registers[index][number], *range, register.domain);
            }
        }
        for (index, variable) in program.memory.variables.iter().enumerate() {
            self.variables[index] = widened(before.variables[index], self.variables[index], variable.domain);
        }
        if let Unnamed::Cells(domain) = program.memory.unnamed {
            self.elsewhere = widened(before.elsewhere, self.elsewhere, domain);
        }
    }
}

fn widened(before: TermRange, now: TermRange, domain: Domain) -> TermRange {
    let lo = if now.lo < before.lo { i128::from(domain.lo).max(-MOST).min(now.lo) } else { now.lo };
    let hi = if now.hi > before.hi { i128::from(domain.hi).min(MOST).max(now.hi) } else { now.hi };
    TermRange { lo, hi }
}
