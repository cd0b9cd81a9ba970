//! The values that registers and cells can hold, listed one by one where they are few.
//!
//! Pointers take few values, and far between: of an interval from one object to another most values never occur. So in a
//! program with addresses that are values (`mem[p]`) each register and cell has a list, as a fixpoint over all threads
//! that starts with the values at the beginning (Andersen's analysis of pointers, with numbers for addresses). A place
//! with more than [`MOST_VALUES`] has no list. Like the intervals, the result does not depend on the order of steps, so it
//! holds for every memory model. Threads that are alike get lists that are alike, because no step depends on the order in
//! which places are looked at.

use super::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Address, Admission, BinaryOp, Domain, Expr, Instruction, Program, RegId, RmwOp, Unnamed, Value};
use std::collections::BTreeMap;

/// Values that are listed of one place: two for each of eight threads.
const MOST_VALUES: usize = 16;

/// Combinations of values of registers that an expression is evaluated for.
const MOST_COMBINATIONS: usize = 256;

/// After so many rounds nothing is listed.
const MOST_ROUNDS: usize = 256;

/// In order; `None` if there may be more.
type Listed = Option<Vec<Value>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FewValues {
    /// By thread and register; empty without pointers.
    registers: Vec<Vec<Listed>>,
    /// The same cells as those with an interval.
    cells: BTreeMap<Value, Listed>,
    /// Of all other cells together.
    others: Listed,
}

impl FewValues {
    /// `ranges`: the intervals.
    pub(super) fn infer(program: &Program, ranges: &Ranges, watch: &Watch) -> Result<FewValues, Limit> {
        let accesses = program.threads.iter().flat_map(|thread| &thread.transitions);
        let mut addresses = accesses.flat_map(|transition| transition.instruction.accesses());
        if !addresses.any(|access| access.address.within.is_none() && access.address.constant().is_none()) {
            return Ok(FewValues::default());
        }
        let known = Ranges::initial(program);
        let initial = |address: &Value| match known.cells.get(address) {
            Some(interval) => listed(*interval),
            None => Some(vec![0]),
        };
        let mut few = FewValues {
            registers: known.registers.iter().map(|thread| thread.iter().copied().map(listed).collect()).collect(),
            cells: ranges.cells.keys().map(|address| (*address, initial(address))).collect(),
            others: listed(known.others),
        };
        let places = few.cells.len() + few.registers.iter().map(Vec::len).sum::<usize>();
        watch.hold(places * (size_of::<(Value, Listed)>() + MOST_VALUES * size_of::<Value>()))?;
        for _ in 0..MOST_ROUNDS {
            let mut analysis = Analysis { program, ranges, few: &mut few, changed: false };
            for (thread, code) in program.threads.iter().enumerate() {
                for transition in &code.transitions {
                    watch.steps(1 + ranges.width(program, thread, &transition.instruction) / 8)?;
                    analysis.apply(thread, &transition.instruction);
                }
            }
            if !analysis.changed {
                return Ok(few);
            }
        }
        Ok(FewValues::default())
    }

    /// Leaves out of intervals what is below and above all values, and keeps the lists with them.
    pub(super) fn narrow(self, ranges: &mut Ranges) {
        for (thread, registers) in ranges.registers.iter_mut().enumerate() {
            for (register, interval) in registers.iter_mut().enumerate() {
                narrow(interval, self.register(thread, RegId(register)));
            }
        }
        for (address, interval) in &mut ranges.cells {
            narrow(interval, self.cell(*address));
        }
        ranges.few = self;
    }

    pub fn register(&self, thread: usize, register: RegId) -> Option<&[Value]> {
        self.registers.get(thread)?[register.0].as_deref()
    }

    pub fn cell(&self, address: Value) -> Option<&[Value]> {
        self.cells.get(&address).unwrap_or(&self.others).as_deref()
    }

    /// Nothing is listed, because the program has no pointers.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty()
    }

    /// The addresses that an access can lead to, if they are listed and computed.
    pub fn addresses(&self, program: &Program, thread: usize, address: &Address) -> Listed {
        if self.is_empty() || address.constant().is_some() {
            return None;
        }
        let mut addresses = self.eval(thread, &address.expr)?;
        if let Some(variable) = address.within {
            // An address outside is a fault, so nothing outside is touched.
            let variable = &program.memory.variables[variable.0];
            addresses.retain(|&address| variable.contains(address));
        }
        Some(addresses)
    }

    fn eval(&self, thread: usize, expr: &Expr) -> Listed {
        if let Expr::Atom(register) = expr {
            return self.registers[thread][register.0].clone();
        }
        let mut registers = Vec::new();
        expr.for_each_atom(&mut |register| registers.push(*register));
        registers.sort();
        registers.dedup();
        let lists: Vec<&[Value]> =
            registers.iter().map(|&register| self.register(thread, register)).collect::<Option<_>>()?;
        let combinations = lists.iter().try_fold(1usize, |all, list| all.checked_mul(list.len()))?;
        if combinations > MOST_COMBINATIONS {
            return None;
        }
        let mut values = Vec::new();
        for number in 0..combinations {
            let mut rest = number;
            let chosen: Vec<Value> = (lists.iter())
                .map(|list| {
                    let value = list[rest % list.len()];
                    rest /= list.len();
                    value
                })
                .collect();
            // A fault gives no value.
            values.extend(expr.eval(&mut |register| registers.binary_search(register).map_or(0, |at| chosen[at])).ok());
        }
        Some(values)
    }
}

fn narrow(interval: &mut Interval, values: Option<&[Value]>) {
    if let Some((&lo, &hi)) = values.and_then(|values| values.first().zip(values.last()))
        && let Some(narrower) = interval.meet(Interval { lo, hi })
    {
        *interval = narrower;
    }
}

/// The values of an interval, if they are few.
fn listed(interval: Interval) -> Listed {
    (interval.lo.abs_diff(interval.hi) < MOST_VALUES as u64).then(|| (interval.lo..=interval.hi).collect())
}

struct Analysis<'a> {
    program: &'a Program,
    ranges: &'a Ranges,
    few: &'a mut FewValues,
    changed: bool,
}

impl Analysis<'_> {
    fn apply(&mut self, thread: usize, instruction: &Instruction) {
        match instruction {
            Instruction::Assign { reg, value } => {
                let value = self.few.eval(thread, value);
                self.write_register(thread, *reg, &value);
            }
            Instruction::Havoc { reg, lo, hi } => {
                self.write_register(thread, *reg, &listed(Interval { lo: *lo, hi: *hi }));
            }
            Instruction::Load { reg, address, .. } => {
                let value = self.load(thread, address);
                self.write_register(thread, *reg, &value);
            }
            Instruction::Store { address, value, .. } => {
                let value = self.few.eval(thread, value);
                self.store(thread, address, &value);
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let read = self.load(thread, address);
                let operand = self.few.eval(thread, operand);
                let written = match op {
                    RmwOp::Exchange => operand,
                    _ => {
                        let op = op.binary().unwrap_or(BinaryOp::Add);
                        read.as_ref().zip(operand).map(|(read, operand)| {
                            let pairs = read.iter().flat_map(|&a| operand.iter().map(move |&b| (a, b)));
                            pairs.filter_map(|(a, b)| op.apply(*arithmetic, a, b).ok()).collect()
                        })
                    }
                };
                self.store(thread, address, &written);
                self.write_old(thread, *old, &read);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                let read = self.load(thread, address);
                let new = self.few.eval(thread, new);
                self.store(thread, address, &new);
                self.write_old(thread, *old, &read);
                self.write_old(thread, *ok, &Some(vec![0, 1]));
            }
            Instruction::Wait { address, old, .. } => {
                let read = self.load(thread, address);
                self.write_old(thread, *old, &read);
            }
            Instruction::BlockingCas { address, new, .. } => {
                let new = self.few.eval(thread, new);
                self.store(thread, address, &new);
            }
            Instruction::Lock(address) => self.store(thread, address, &Some(vec![1])),
            Instruction::Unlock(address) => self.store(thread, address, &Some(vec![0])),
            Instruction::Locked { body, .. } => body.iter().for_each(|part| self.apply(thread, part)),
            Instruction::Nop
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    fn write_old(&mut self, thread: usize, reg: Option<RegId>, value: &Listed) {
        if let Some(reg) = reg {
            self.write_register(thread, reg, value);
        }
    }

    fn write_register(&mut self, thread: usize, reg: RegId, value: &Listed) {
        let domain = self.program.threads[thread].registers[reg.0].domain;
        self.changed |= add(&mut self.few.registers[thread][reg.0], value, domain);
    }

    /// The addresses of the cells with an interval that an access may lead to, and whether it may lead to others.
    fn cells(&self, thread: usize, address: &Address) -> (Vec<Value>, bool) {
        let constant = address.expr.constant().map(|address| vec![address]);
        if let Some(addresses) = constant.or_else(|| self.few.addresses(self.program, thread, address)) {
            let (named, others): (Vec<_>, Vec<_>) =
                addresses.into_iter().partition(|address| self.few.cells.contains_key(address));
            return (named, !others.is_empty());
        }
        let Interval { lo, hi } = self.ranges.addresses(self.program, thread, address);
        let named: Vec<Value> = self.few.cells.range(lo..=hi).map(|(address, _)| *address).collect();
        let gaps = (named.len() as i128) < i128::from(hi) - i128::from(lo) + 1;
        (named, gaps)
    }

    fn load(&self, thread: usize, address: &Address) -> Listed {
        let (named, gaps) = self.cells(thread, address);
        let others = gaps && self.program.memory.unnamed != Unnamed::Nothing;
        let cells = named.iter().map(|address| &self.few.cells[address]);
        let mut values = Vec::new();
        for cell in cells.chain(others.then_some(&self.few.others)) {
            values.extend(cell.as_ref()?);
        }
        Some(values)
    }

    fn store(&mut self, thread: usize, address: &Address, value: &Listed) {
        let (named, gaps) = self.cells(thread, address);
        for address in named {
            if let (Ok(domain), Some(cell)) = (self.program.memory.domain_at(address), self.few.cells.get_mut(&address))
            {
                self.changed |= add(cell, value, domain);
            }
        }
        if let Unnamed::Cells(domain) = self.program.memory.unnamed
            && gaps
        {
            self.changed |= add(&mut self.few.others, value, domain);
        }
    }
}

/// Adds what a domain admits of a value, and returns whether that changed anything.
fn add(place: &mut Listed, value: &Listed, domain: Domain) -> bool {
    let Some(list) = place else { return false };
    let Some(value) = value else {
        *place = None;
        return true;
    };
    let before = list.len();
    for &value in value {
        if let Ok(Admission::Value(value)) = domain.admit(value)
            && let Err(at) = list.binary_search(&value)
        {
            list.insert(at, value);
        }
    }
    let grown = list.len() > before;
    if list.len() > MOST_VALUES {
        *place = None;
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_frontend::Language;
    use ravelin_program::Source;

    fn few(text: &str) -> (Program, FewValues) {
        let parsed = ravelin_frontend::parse(Source::new("t.rav", text), Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        let ranges = Ranges::infer(&program, &Watch::unlimited()).expect("no limit");
        let few = ranges.few;
        (program, few)
    }

    fn register(program: &Program, few: &FewValues, name: &str) -> Option<Vec<Value>> {
        let registers = &program.threads[0].registers;
        let at = registers.iter().position(|register| register.name == name).expect("a register");
        few.register(0, RegId(at)).map(<[Value]>::to_vec)
    }

    const POINTERS: &str = "strict mem; gap 15; static a; gap 7; static b; gap 7; static c; static top;
        thread t { let p; let q; let n; top.store(16); top.store(32);
            p = top.load(); mem[p].store(7); q = mem[p + 8].load(); n = n + 1; n = n + 1; }
        thread u { loop { b.fetch_add(1); } }";

    #[test]
    fn pointers_have_the_addresses_that_were_stored_and_lead_to_these() {
        let (program, few) = few(POINTERS);
        assert_eq!(register(&program, &few, "p"), Some(vec![0, 16, 32]));
        // Next to `a` is `b`, which a loop counts up; next to `c` and below `a` is nothing.
        assert_eq!(register(&program, &few, "q"), None);
        assert_eq!(few.cell(16), Some(&[0, 7][..]));
        assert_eq!(few.cell(32), Some(&[0, 7][..]));
        let store = program.threads[0].transitions.iter().map(|t| &t.instruction).find_map(|instruction| {
            instruction.accesses().into_iter().find(|access| access.address.constant().is_none())
        });
        let address = store.expect("a computed address").address.clone();
        assert_eq!(few.addresses(&program, 0, &address), Some(vec![0, 16, 32]));
    }

    #[test]
    fn nothing_is_listed_without_pointers() {
        let (_, few) = few("static a: [_; 3]; static x; thread t { let i; i = x.load(); a[i].store(1); }");
        assert!(few.is_empty());
    }
}
