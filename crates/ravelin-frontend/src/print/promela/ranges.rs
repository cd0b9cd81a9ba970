//! Which values registers and cells can hold, as intervals over all runs.
//!
//! A fixpoint over all steps, blind to control flow: good enough to see that most arithmetic fits 32 bits and which
//! addresses a computed access can touch. After some rounds what still grows is taken to its domain's bounds, or to
//! SPIN's, so it ends.

use super::expression::{MOST, Range};
use super::step::{Setting, Step, steps, variable_range};
use ravelin_program::{Domain, InitialValue, Program, Value};
use std::collections::BTreeMap;

/// Rounds before growing ranges are widened.
const PATIENCE: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranges {
    /// By thread and register.
    pub registers: Vec<Vec<Range>>,
    /// By variable.
    variables: Vec<Range>,
    /// Of all cells without a name.
    elsewhere: Range,
    /// Every address some step may touch.
    pub touched: Vec<Range>,
}

impl Ranges {
    /// The least ranges closed under the program's steps.
    pub fn of(program: &Program, names: &[Vec<String>]) -> Ranges {
        let mut ranges = Ranges::initial(program);
        let mut round = 0;
        loop {
            let mut next = ranges.clone();
            next.touched.clear();
            let cells = BTreeMap::new();
            let setting =
                Setting { program, ranges: &ranges, registers: names, cells: &cells, origin: 0, uses_bus: false };
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

    fn initial(program: &Program) -> Ranges {
        let initial = |domain: Domain, initial: &InitialValue| match initial {
            InitialValue::Value(value) => Range::exactly(*value),
            InitialValue::Any => Range::of(domain),
        };
        Ranges {
            registers: program
                .threads
                .iter()
                .map(|thread| thread.registers.iter().map(|register| Range::exactly(register.initial)).collect())
                .collect(),
            variables: program
                .memory
                .variables
                .iter()
                .map(|variable| {
                    let cells = variable.initial.iter().map(|cell| initial(variable.domain, cell));
                    cells.reduce(Range::join).unwrap_or(Range::exactly(0))
                })
                .collect(),
            elsewhere: Range::exactly(0),
            touched: Vec::new(),
        }
    }

    /// What the cells at some addresses can hold.
    pub fn at(&self, program: &Program, addresses: Range) -> Range {
        let mut found: Option<Range> = None;
        for (variable, range) in self.variables.iter().enumerate() {
            let cells = variable_range(program, variable);
            if addresses.within(cells) {
                return *range;
            }
            if addresses.meets(cells) {
                found = Some(found.map_or(*range, |other| other.join(*range)));
            }
        }
        found.map_or(self.elsewhere, |found| found.join(self.elsewhere))
    }

    /// What a cell at a constant address can hold.
    pub fn at_address(&self, program: &Program, address: Value) -> Range {
        self.at(program, Range::exactly(address))
    }

    fn extend(&mut self, program: &Program, thread: usize, step: Step) {
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
            if !named {
                self.elsewhere = self.elsewhere.join(value.range);
            }
        }
        self.touched.extend(step.touched);
    }

    fn widen(&mut self, program: &Program, before: &Ranges) {
        for (index, thread) in program.threads.iter().enumerate() {
            for (number, register) in thread.registers.iter().enumerate() {
                let range = &mut self.registers[index][number];
                *range = widened(before.registers[index][number], *range, register.domain);
            }
        }
        for (index, variable) in program.memory.variables.iter().enumerate() {
            self.variables[index] = widened(before.variables[index], self.variables[index], variable.domain);
        }
        self.elsewhere = widened(before.elsewhere, self.elsewhere, program.memory.unnamed);
    }
}

fn widened(before: Range, now: Range, domain: Domain) -> Range {
    let lo = if now.lo < before.lo { i128::from(domain.lo).max(-MOST).min(now.lo) } else { now.lo };
    let hi = if now.hi > before.hi { i128::from(domain.hi).min(MOST).max(now.hi) } else { now.hi };
    Range { lo, hi }
}
