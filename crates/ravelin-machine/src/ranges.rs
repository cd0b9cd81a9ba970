//! Which values registers and cells can hold: intervals, as a fixpoint over all threads, independent of the order of
//! steps.
//!
//! Used to choose how many bits a value gets, and which cells a computed address can lead to. An interval that keeps
//! growing is widened to its declared domain, unless it grows only by steps that are taken once ([`sums`]). The result
//! is an over-approximation for every memory model, because a load gets any value that was ever stored.

mod components;
pub(crate) mod few;
mod flows;
mod once;
mod sums;

use few::FewValues;
pub(crate) use once::taken_once;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, InitialValue, Instruction, Observable, Program, RegId, RmwOp, UnaryOp,
    Unnamed, Value,
};
use std::collections::BTreeMap;

/// Rounds of the fixpoint before growing intervals are widened. Enough for the short chains of real programs (`x = y +
/// 1` through a few variables), and few enough not to be noticed.
const ROUNDS_BEFORE_WIDENING: usize = 12;

/// How often sums are looked for: where computed addresses lead is known better after the first time.
const ROUNDS_OF_SUMS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub lo: Value,
    pub hi: Value,
}

impl Interval {
    pub const FULL: Interval = Interval { lo: Value::MIN, hi: Value::MAX };

    pub fn point(value: Value) -> Interval {
        Interval { lo: value, hi: value }
    }

    /// The values of both.
    fn meet(self, other: Interval) -> Option<Interval> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    pub fn join(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    fn exact(lo: i128, hi: i128) -> Interval {
        match (Value::try_from(lo), Value::try_from(hi)) {
            (Ok(lo), Ok(hi)) => Interval { lo, hi },
            // Checked arithmetic faults outside; the caller handles wrapping.
            (lo, hi) => Interval { lo: lo.unwrap_or(Value::MIN), hi: hi.unwrap_or(Value::MAX) },
        }
    }
}

/// What is known of a program's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// By thread and register.
    pub registers: Vec<Vec<Interval>>,
    /// Cells that have a name or a constant access.
    pub cells: BTreeMap<Value, Interval>,
    /// All other cells together.
    pub others: Interval,
    /// The values themselves where they are few, in programs with pointers.
    pub few: FewValues,
}

impl Ranges {
    pub fn infer(program: &Program, watch: &Watch) -> Result<Ranges, Limit> {
        let mut ranges = Ranges::initial(program);
        // A cell's entry, twice: now and in the round before.
        watch.hold(ranges.cells.len() * 2 * size_of::<(Value, Interval)>())?;
        let mut widened = false;
        for round in 0.. {
            let before = ranges.clone();
            for (thread, code) in program.threads.iter().enumerate() {
                for transition in &code.transitions {
                    watch.steps(1 + ranges.width(program, thread, &transition.instruction) / 64)?;
                    ranges.apply(program, thread, &transition.instruction);
                }
            }
            if !ranges.widen_from(&before, program, round >= ROUNDS_BEFORE_WIDENING) {
                break;
            }
            widened |= round >= ROUNDS_BEFORE_WIDENING;
        }
        for _ in 0..if widened { ROUNDS_OF_SUMS } else { 0 } {
            let narrower = sums::with_sums(program, &ranges, watch)?;
            if ranges == narrower {
                break;
            }
            ranges = narrower;
        }
        FewValues::infer(program, &ranges, watch)?.narrow(&mut ranges);
        Ok(ranges)
    }

    /// How many cells an instruction may lead to.
    fn width(&self, program: &Program, thread: usize, instruction: &Instruction) -> usize {
        let accesses = instruction.accesses();
        let computed = accesses.iter().filter(|access| access.address.expr.constant().is_none());
        let width = computed.map(|access| {
            let Interval { lo, hi } = self.addresses(program, thread, access.address);
            usize::try_from(hi.abs_diff(lo)).map_or(self.cells.len(), |width| width.min(self.cells.len()))
        });
        width.sum()
    }

    fn initial(program: &Program) -> Ranges {
        let mut cells = BTreeMap::new();
        for variable in &program.memory.variables {
            for (cell, initial) in variable.initial.iter().enumerate() {
                let interval = match initial {
                    InitialValue::Value(value) => Interval::point(*value),
                    InitialValue::Any => Interval { lo: variable.domain.lo, hi: variable.domain.hi },
                };
                cells.insert(variable.base + cell as Value, interval);
            }
        }
        for thread in &program.threads {
            for transition in &thread.transitions {
                for access in transition.instruction.accesses() {
                    if let Some(address) = access.address.expr.constant()
                        && program.memory.has_cell(address)
                    {
                        cells.entry(address).or_insert(Interval::point(0));
                    }
                }
            }
        }
        for goal in &program.goals {
            goal.condition.for_each_atom(&mut |atom| {
                if let Observable::Memory(address) = atom {
                    cells.entry(*address).or_insert(Interval::point(0));
                }
            });
        }
        let registers = program
            .threads
            .iter()
            .map(|thread| thread.registers.iter().map(|register| Interval::point(register.initial)).collect())
            .collect();
        Ranges { registers, cells, others: Interval::point(0), few: FewValues::default() }
    }

    /// Whether anything changed since `before`; with `widen`, intervals that grew are widened to their domain.
    fn widen_from(&mut self, before: &Ranges, program: &Program, widen: bool) -> bool {
        let mut changed = false;
        let mut visit = |now: &mut Interval, then: Interval, domain: Domain| {
            if *now != then {
                changed = true;
                if widen {
                    let lo = if now.lo < then.lo { domain.lo } else { now.lo };
                    let hi = if now.hi > then.hi { domain.hi } else { now.hi };
                    *now = Interval { lo, hi };
                }
            }
        };
        for (thread, registers) in self.registers.iter_mut().enumerate() {
            for (register, now) in registers.iter_mut().enumerate() {
                let domain = program.threads[thread].registers[register].domain;
                visit(now, before.registers[thread][register], domain);
            }
        }
        for (address, now) in &mut self.cells {
            if let Ok(domain) = program.memory.domain_at(*address) {
                visit(now, before.cells[address], domain);
            }
        }
        if let Unnamed::Cells(domain) = program.memory.unnamed {
            visit(&mut self.others, before.others, domain);
        }
        changed
    }

    fn apply(&mut self, program: &Program, thread: usize, instruction: &Instruction) {
        match instruction {
            Instruction::Assign { reg, value } => {
                let value = self.eval(thread, value);
                self.write_register(program, thread, *reg, value);
            }
            Instruction::Havoc { reg, lo, hi } => {
                self.write_register(program, thread, *reg, Interval { lo: *lo, hi: *hi });
            }
            Instruction::Load { reg, address, .. } => {
                let value = self.load(program, thread, address);
                self.write_register(program, thread, *reg, value);
            }
            Instruction::Store { address, value, .. } => {
                let value = self.eval(thread, value);
                self.store(program, thread, address, value);
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let read = self.load(program, thread, address);
                let operand = self.eval(thread, operand);
                let written = match op {
                    RmwOp::Exchange => operand,
                    _ => binary(*arithmetic, op.binary().unwrap_or(BinaryOp::Add), read, operand),
                };
                self.store(program, thread, address, written);
                self.write_old(program, thread, *old, read);
            }
            Instruction::CompareExchange { address, new, old, ok, .. } => {
                let read = self.load(program, thread, address);
                let new = self.eval(thread, new);
                self.store(program, thread, address, new);
                self.write_old(program, thread, *old, read);
                self.write_old(program, thread, *ok, Interval { lo: 0, hi: 1 });
            }
            Instruction::Wait { address, old, .. } => {
                let read = self.load(program, thread, address);
                self.write_old(program, thread, *old, read);
            }
            Instruction::BlockingCas { address, new, .. } => {
                let new = self.eval(thread, new);
                self.store(program, thread, address, new);
            }
            Instruction::Lock(address) => self.store(program, thread, address, Interval::point(1)),
            Instruction::Unlock(address) => self.store(program, thread, address, Interval::point(0)),
            Instruction::Locked { body, .. } => {
                for part in body {
                    self.apply(program, thread, part);
                }
            }
            Instruction::Nop
            | Instruction::Assume(_)
            | Instruction::Assert(_)
            | Instruction::Fence(_)
            | Instruction::BusLock
            | Instruction::BusUnlock => {}
        }
    }

    fn write_old(&mut self, program: &Program, thread: usize, reg: Option<RegId>, value: Interval) {
        if let Some(reg) = reg {
            self.write_register(program, thread, reg, value);
        }
    }

    fn write_register(&mut self, program: &Program, thread: usize, reg: RegId, value: Interval) {
        let domain = program.threads[thread].registers[reg.0].domain;
        let slot = &mut self.registers[thread][reg.0];
        *slot = slot.join(fit(value, domain, *slot));
    }

    pub fn load(&self, program: &Program, thread: usize, address: &Address) -> Interval {
        let addresses = self.addresses(program, thread, address);
        let mut value: Option<Interval> = None;
        let mut named = 0i128;
        for (_, cell) in self.cells.range(addresses.lo..=addresses.hi) {
            value = Some(value.map_or(*cell, |value| value.join(*cell)));
            named += 1;
        }
        let gaps = named < i128::from(addresses.hi) - i128::from(addresses.lo) + 1;
        if gaps && program.memory.unnamed != Unnamed::Nothing {
            value = Some(value.map_or(self.others, |value| value.join(self.others)));
        }
        value.unwrap_or(Interval::point(0))
    }

    fn store(&mut self, program: &Program, thread: usize, address: &Address, value: Interval) {
        let addresses = self.addresses(program, thread, address);
        let mut named = 0i128;
        for (address, cell) in self.cells.range_mut(addresses.lo..=addresses.hi) {
            if let Ok(domain) = program.memory.domain_at(*address) {
                *cell = cell.join(fit(value, domain, *cell));
            }
            named += 1;
        }
        let gaps = named < i128::from(addresses.hi) - i128::from(addresses.lo) + 1;
        if let Unnamed::Cells(domain) = program.memory.unnamed
            && gaps
        {
            self.others = self.others.join(fit(value, domain, self.others));
        }
    }

    /// The addresses an access can lead to.
    pub fn addresses(&self, program: &Program, thread: usize, address: &Address) -> Interval {
        let mut interval = self.eval(thread, &address.expr);
        if let Some(variable) = address.within {
            let variable = &program.memory.variables[variable.0];
            let last = variable.base + variable.cells() as Value - 1;
            // An address outside is a fault, so nothing outside is touched.
            interval =
                Interval { lo: interval.lo.clamp(variable.base, last), hi: interval.hi.clamp(variable.base, last) };
        } else if program.memory.unnamed == Unnamed::Nothing
            && let (Some(first), Some(end)) = (program.memory.variables.first(), program.memory.variables.last())
        {
            let (base, last) = (first.base, end.base + (end.cells() as Value - 1));
            interval = Interval { lo: interval.lo.clamp(base, last), hi: interval.hi.clamp(base, last) };
        }
        interval
    }

    pub fn eval(&self, thread: usize, expr: &Expr) -> Interval {
        interval_of(expr, &|register| self.registers[thread][register.0])
    }
}

/// The values of an expression whose atoms have these.
pub fn interval_of<A>(expr: &Expr<A>, atom: &impl Fn(&A) -> Interval) -> Interval {
    match expr {
        Expr::Const(value) => Interval::point(*value),
        Expr::Atom(of) => atom(of),
        Expr::Unary(UnaryOp::Not, _, _) => Interval { lo: 0, hi: 1 },
        Expr::Unary(UnaryOp::Neg, arithmetic, operand) => {
            let operand = interval_of(operand, atom);
            settle(*arithmetic, -i128::from(operand.hi), -i128::from(operand.lo))
        }
        Expr::Binary(op, arithmetic, left, right) => {
            binary(*arithmetic, *op, interval_of(left, atom), interval_of(right, atom))
        }
    }
}

/// The part of a value that a domain admits.
fn fit(value: Interval, domain: Domain, otherwise: Interval) -> Interval {
    use ravelin_program::Escape;
    if domain.contains(value.lo) && domain.contains(value.hi) {
        return value;
    }
    if domain.escape == Escape::Wrap {
        return Interval { lo: domain.lo, hi: domain.hi };
    }
    let (lo, hi) = (value.lo.max(domain.lo), value.hi.min(domain.hi));
    if lo <= hi { Interval { lo, hi } } else { otherwise }
}

fn settle(arithmetic: Arithmetic, lo: i128, hi: i128) -> Interval {
    match arithmetic {
        Arithmetic::Checked => Interval::exact(lo, hi),
        Arithmetic::Wrapping(domain) => {
            if lo >= i128::from(domain.lo) && hi <= i128::from(domain.hi) {
                Interval::exact(lo, hi)
            } else {
                Interval { lo: domain.lo, hi: domain.hi }
            }
        }
    }
}

pub(crate) fn binary(arithmetic: Arithmetic, op: BinaryOp, left: Interval, right: Interval) -> Interval {
    let (a, b) = (i128::from(left.lo), i128::from(left.hi));
    let (c, d) = (i128::from(right.lo), i128::from(right.hi));
    let corners = |f: fn(i128, i128) -> i128| {
        let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
        let lo = all.iter().copied().min().unwrap_or(0);
        let hi = all.iter().copied().max().unwrap_or(0);
        settle(arithmetic, lo, hi)
    };
    match op {
        BinaryOp::Add => settle(arithmetic, a + c, b + d),
        BinaryOp::Sub => settle(arithmetic, a - d, b - c),
        BinaryOp::Mul => corners(|x, y| x * y),
        BinaryOp::Div if c > 0 => corners(|x, y| x / y),
        BinaryOp::Rem if c > 0 => {
            let largest = d - 1;
            settle(arithmetic, if a < 0 { -largest } else { 0 }, if b > 0 { largest.min(b) } else { 0 })
        }
        BinaryOp::BitAnd if a >= 0 && c >= 0 => settle(arithmetic, 0, b.min(d)),
        BinaryOp::BitAnd if a >= 0 || c >= 0 => settle(arithmetic, 0, if a >= 0 { b } else { d }),
        BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 => {
            let bits = 128 - b.max(d).leading_zeros();
            settle(arithmetic, 0, (1i128 << bits) - 1)
        }
        BinaryOp::Shr | BinaryOp::LogicalShr if a >= 0 && c >= 0 => settle(arithmetic, 0, b),
        // Division by 0 gives nothing.
        BinaryOp::UnsignedDiv if a >= 0 && c >= 0 => settle(arithmetic, a / d.max(1), b / c.max(1)),
        BinaryOp::UnsignedRem if a >= 0 && c >= 0 => settle(arithmetic, 0, b.min(d.max(1) - 1)),
        BinaryOp::Nand if a >= 0 && c >= 0 => settle(arithmetic, !b.min(d), -1),
        BinaryOp::Max => Interval { lo: left.lo.max(right.lo), hi: left.hi.max(right.hi) },
        BinaryOp::Min => Interval { lo: left.lo.min(right.lo), hi: left.hi.min(right.hi) },
        BinaryOp::UnsignedMax if a >= 0 && c >= 0 => self::binary(arithmetic, BinaryOp::Max, left, right),
        BinaryOp::UnsignedMin if a >= 0 && c >= 0 => self::binary(arithmetic, BinaryOp::Min, left, right),
        BinaryOp::UnsignedMax | BinaryOp::UnsignedMin => left.join(right),
        _ if op.is_truth() => Interval { lo: 0, hi: 1 },
        _ => match arithmetic {
            Arithmetic::Checked => Interval::FULL,
            Arithmetic::Wrapping(domain) => Interval { lo: domain.lo, hi: domain.hi },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ravelin_program::{Admission, Escape, Model, Order, ProgramBuilder, VarId, Variable};
    use ravelin_semantics::operational::{PendingEntry, Reference, State};
    use ravelin_testing::programs::{Config, Generator};
    use ravelin_testing::{Random, is_default_run, seeds};

    impl Interval {
        fn contains(self, value: Value) -> bool {
            (self.lo..=self.hi).contains(&value)
        }
    }

    /// Numbers of which intervals are made.
    struct Draw(Random);

    impl Draw {
        fn below(&mut self, end: u64) -> u64 {
            self.0.number() % end
        }

        fn pick<T: Copy>(&mut self, items: &[T]) -> T {
            self.0.pick(items)
        }

        /// Usually small, and often at the ends of 64 bits.
        fn value(&mut self) -> Value {
            match self.below(8) {
                0..4 => self.below(17) as Value - 8,
                4 => Value::MIN.wrapping_add(self.below(3) as Value),
                5 => Value::MAX - self.below(3) as Value,
                6 => {
                    let power = 1 << self.below(62);
                    self.pick(&[power, -power, power - 1, 1 - power])
                }
                _ => self.0.number() as Value,
            }
        }

        fn interval(&mut self) -> Interval {
            let (one, other) = (self.value(), self.value());
            match self.below(8) {
                0 => Interval::point(one),
                1 => Interval::FULL,
                _ => Interval { lo: one.min(other), hi: one.max(other) },
            }
        }

        /// A value of the interval: one of its ends, one near 0, or any.
        fn within(&mut self, interval: Interval) -> Value {
            let small = self.below(5) as Value - 2;
            match self.below(5) {
                0 => interval.lo,
                1 => interval.hi,
                2 => small.clamp(interval.lo, interval.hi),
                _ => {
                    let count = u128::from(interval.lo.abs_diff(interval.hi)) + 1;
                    (i128::from(interval.lo) + (u128::from(self.0.number()) % count) as i128) as Value
                }
            }
        }

        fn domain(&mut self) -> Domain {
            let escape = self.pick(&[Escape::Error, Escape::Wrap, Escape::Block]);
            match self.below(4) {
                0 => Domain::new(0, 255, escape),
                1 => Domain::new(Value::from(i32::MIN), Value::from(i32::MAX), escape),
                _ => {
                    let Interval { lo, hi } = self.interval();
                    Domain::new(lo, hi, escape)
                }
            }
        }

        fn arithmetic(&mut self) -> Arithmetic {
            if self.below(2) == 0 { Arithmetic::Checked } else { Arithmetic::Wrapping(self.domain()) }
        }

        /// An expression over this many registers.
        fn expr(&mut self, registers: usize, depth: usize) -> Expr {
            match self.below(if depth == 0 { 3 } else { 8 }) {
                0 => Expr::Const(self.value()),
                1 | 2 => Expr::Atom(RegId(self.below(registers as u64) as usize)),
                3 => {
                    let op = self.pick(&[UnaryOp::Neg, UnaryOp::Not]);
                    Expr::unary_in(self.arithmetic(), op, self.expr(registers, depth - 1))
                }
                _ => {
                    let op = self.pick(&BinaryOp::ALL);
                    let (left, right) = (self.expr(registers, depth - 1), self.expr(registers, depth - 1));
                    Expr::binary_in(self.arithmetic(), op, left, right)
                }
            }
        }
    }

    fn of_registers(registers: Vec<Interval>) -> Ranges {
        Ranges {
            registers: vec![registers],
            cells: BTreeMap::new(),
            others: Interval::point(0),
            few: FewValues::default(),
        }
    }

    fn interval(lo: Value, hi: Value) -> Interval {
        Interval { lo, hi }
    }

    #[test]
    fn the_interval_of_an_operator_holds_every_result_of_values_of_its_operands() {
        let mut results = 0;
        for seed in seeds(4_000) {
            let mut random = Draw(Random::new(seed));
            for op in BinaryOp::ALL {
                let (arithmetic, left, right) = (random.arithmetic(), random.interval(), random.interval());
                let computed = binary(arithmetic, op, left, right);
                for _ in 0..8 {
                    let (a, b) = (random.within(left), random.within(right));
                    if let Ok(result) = op.apply(arithmetic, a, b) {
                        results += 1;
                        assert!(
                            computed.contains(result),
                            "seed {seed}: {a} {} {b} is {result} in {arithmetic:?}, and {left:?} with {right:?} \
                             gives {computed:?}",
                            op.symbol()
                        );
                    }
                }
            }
        }
        assert!(!is_default_run() || results > 300_000, "only {results} results: most operands fault");
    }

    #[test]
    fn the_interval_of_an_expression_holds_its_value_for_all_values_of_registers() {
        let mut results = 0;
        for seed in seeds(20_000) {
            let mut random = Draw(Random::new(seed));
            let registers: Vec<Interval> = (0..3).map(|_| random.interval()).collect();
            let expr = random.expr(registers.len(), 3);
            let ranges = of_registers(registers.clone());
            let computed = ranges.eval(0, &expr);
            for _ in 0..8 {
                let values: Vec<Value> = registers.iter().map(|register| random.within(*register)).collect();
                if let Ok(result) = expr.eval(&mut |register| values[register.0]) {
                    results += 1;
                    assert!(
                        computed.contains(result),
                        "seed {seed}: {expr:?} is {result} for {values:?}, and {registers:?} give {computed:?}"
                    );
                }
            }
        }
        assert!(!is_default_run() || results > 80_000, "only {results} results: most expressions fault");
    }

    #[test]
    fn what_an_operator_gives_is_no_more_than_its_results() {
        use BinaryOp::*;
        let (small, signed) = (interval(2, 5), interval(-3, 4));
        for (op, left, right, expected) in [
            (Add, small, signed, interval(-1, 9)),
            (Sub, small, signed, interval(-2, 8)),
            (Mul, small, signed, interval(-15, 20)),
            (Div, interval(-9, 20), small, interval(-4, 10)),
            (Rem, small, interval(1, 4), interval(0, 3)),
            (Rem, interval(0, 2), interval(1, 9), interval(0, 2)),
            (Rem, interval(-9, -1), interval(1, 4), interval(-3, 0)),
            (BitAnd, interval(0, 12), interval(0, 6), interval(0, 6)),
            (BitAnd, signed, interval(0, 6), interval(0, 6)),
            (BitAnd, interval(1, 9), signed, interval(0, 9)),
            (BitOr, interval(0, 4), interval(0, 2), interval(0, 7)),
            (BitXor, interval(0, 8), interval(0, 3), interval(0, 15)),
            (Shr, interval(0, 40), interval(0, 3), interval(0, 40)),
            (Shl, small, small, Interval::FULL),
            (Lt, small, signed, interval(0, 1)),
            (UnsignedLt, small, signed, interval(0, 1)),
            (UnsignedDiv, interval(9, 20), interval(0, 4), interval(2, 20)),
            (UnsignedDiv, small, signed, Interval::FULL),
            (UnsignedRem, interval(0, 20), interval(0, 4), interval(0, 3)),
            (UnsignedRem, interval(0, 2), interval(1, 9), interval(0, 2)),
            (LogicalShr, interval(0, 40), interval(0, 3), interval(0, 40)),
            (LogicalShr, signed, interval(0, 3), Interval::FULL),
            (Nand, interval(0, 12), interval(0, 6), interval(-7, -1)),
            (Max, small, signed, interval(2, 5)),
            (Min, small, signed, interval(-3, 4)),
            (UnsignedMax, small, interval(0, 9), interval(2, 9)),
            (UnsignedMin, small, interval(0, 9), interval(0, 5)),
            (UnsignedMax, small, signed, interval(-3, 5)),
            (Add, interval(Value::MAX - 1, Value::MAX), interval(0, 1), interval(Value::MAX - 1, Value::MAX)),
            (Sub, interval(Value::MIN, 0), interval(0, 1), interval(Value::MIN, 0)),
        ] {
            let computed = binary(Arithmetic::Checked, op, left, right);
            assert_eq!(computed, expected, "{left:?} {} {right:?}", op.symbol());
        }
    }

    #[test]
    fn wrapping_arithmetic_gives_its_whole_domain_only_if_a_result_may_wrap() {
        let byte = Arithmetic::Wrapping(Domain::new(0, 255, Escape::Wrap));
        assert_eq!(binary(byte, BinaryOp::Add, interval(0, 100), interval(0, 155)), interval(0, 255));
        assert_eq!(binary(byte, BinaryOp::Add, interval(3, 100), interval(4, 100)), interval(7, 200));
        assert_eq!(binary(byte, BinaryOp::Add, interval(3, 100), interval(4, 156)), interval(0, 255));
        assert_eq!(binary(byte, BinaryOp::Sub, interval(3, 100), interval(0, 4)), interval(0, 255));
        let negated = Expr::unary_in(byte, UnaryOp::Neg, Expr::Atom(RegId(0)));
        assert_eq!(of_registers(vec![interval(0, 0)]).eval(0, &negated), interval(0, 0));
        assert_eq!(of_registers(vec![interval(0, 1)]).eval(0, &negated), interval(0, 255));
    }

    #[test]
    fn the_negation_of_the_least_value_is_a_fault_and_not_a_result() {
        let negated = Expr::unary(UnaryOp::Neg, Expr::Atom(RegId(0)));
        let ranges = of_registers(vec![interval(Value::MIN, 5)]);
        assert_eq!(ranges.eval(0, &negated), interval(-5, Value::MAX));
    }

    #[test]
    fn what_fits_a_domain_holds_every_value_that_the_domain_admits() {
        let mut admitted = 0;
        for seed in seeds(20_000) {
            let mut random = Draw(Random::new(seed));
            let (domain, value, otherwise) = (random.domain(), random.interval(), random.interval());
            let fitted = fit(value, domain, otherwise);
            for _ in 0..8 {
                let offered = random.within(value);
                if let Ok(Admission::Value(arrived)) = domain.admit(offered) {
                    admitted += 1;
                    assert!(
                        fitted.contains(arrived),
                        "seed {seed}: {offered} arrives as {arrived} in {domain:?}, and {value:?} gives {fitted:?}"
                    );
                }
            }
        }
        assert!(!is_default_run() || admitted > 40_000, "only {admitted} values were admitted");
    }

    #[test]
    fn a_domain_that_blocks_or_faults_cuts_an_interval_and_one_that_wraps_fills() {
        let otherwise = Interval::point(1);
        for (escape, value, expected) in [
            (Escape::Error, interval(2, 9), interval(2, 3)),
            (Escape::Block, interval(-9, 2), interval(0, 2)),
            (Escape::Block, interval(-9, 9), interval(0, 3)),
            (Escape::Wrap, interval(2, 9), interval(0, 3)),
            (Escape::Wrap, interval(1, 3), interval(1, 3)),
            // No value is admitted, so the old value stays.
            (Escape::Error, interval(7, 9), otherwise),
            (Escape::Block, interval(-2, -1), otherwise),
        ] {
            let domain = Domain::new(0, 3, escape);
            assert_eq!(fit(value, domain, otherwise), expected, "{value:?} in {domain:?}");
        }
    }

    /// An array of three cells, which begins at its base, and a variable after it.
    fn with_array() -> (Program, VarId, Value) {
        let mut program = ProgramBuilder::new("array");
        let array = program.variable(Variable::array("a", 3));
        program.variable(Variable::scalar("x"));
        let base = program.base(array);
        (program.finish().expect("a valid program"), array, base)
    }

    #[test]
    fn an_index_leads_to_the_cells_of_its_array_only() {
        let (program, array, base) = with_array();
        let at = Expr::binary(BinaryOp::Add, Expr::Const(base), Expr::Atom(RegId(0)));
        for (index, expected) in [
            (interval(0, 2), interval(base, base + 2)),
            (interval(1, 1), interval(base + 1, base + 1)),
            (interval(-5, 1), interval(base, base + 1)),
            (interval(2, 90), interval(base + 2, base + 2)),
            (Interval::FULL, interval(base, base + 2)),
        ] {
            let ranges = of_registers(vec![index]);
            let within = Address { expr: at.clone(), within: Some(array) };
            assert_eq!(ranges.addresses(&program, 0, &within), expected, "{index:?}");
        }
    }

    #[test]
    fn a_computed_address_leads_wherever_its_value_does() {
        let (program, _, _) = with_array();
        let address = Address::computed(Expr::Atom(RegId(0)));
        for anywhere in [Interval::point(3), interval(-7, 900), Interval::FULL] {
            assert_eq!(of_registers(vec![anywhere]).addresses(&program, 0, &address), anywhere);
        }
    }

    #[test]
    fn a_load_joins_all_cells_it_may_lead_to_and_others_only_if_there_are_such() {
        let (program, _, _) = with_array();
        let mut ranges = of_registers(vec![interval(10, 11)]);
        ranges.cells = BTreeMap::from([(10, interval(1, 2)), (11, interval(5, 6)), (12, interval(90, 91))]);
        ranges.others = interval(-4, -3);
        let address = Address::computed(Expr::Atom(RegId(0)));
        assert_eq!(ranges.load(&program, 0, &address), interval(1, 6));
        ranges.registers[0][0] = interval(9, 10);
        assert_eq!(ranges.load(&program, 0, &address), interval(-4, 2));
        ranges.registers[0][0] = interval(20, 30);
        assert_eq!(ranges.load(&program, 0, &address), interval(-4, -3));
        ranges.registers[0][0] = Interval::FULL;
        assert_eq!(ranges.load(&program, 0, &address), interval(-4, 91));
    }

    #[test]
    fn a_chain_of_assignments_is_followed_exactly() {
        let mut program = ProgramBuilder::new("chain");
        let [x, y] = ["x", "y"].map(|name| program.variable(Variable::scalar(name)));
        let [x_at, y_at] = [x, y].map(|variable| program.base(variable));
        let mut thread = program.thread("t");
        let r = thread.register("r");
        thread.push(Instruction::Havoc { reg: r, lo: 2, hi: 4 });
        thread.store(x, Expr::binary(BinaryOp::Mul, r.into(), 10.into()), Order::Relaxed);
        thread.finish();
        let mut thread = program.thread("u");
        let s = thread.register("s");
        thread.load(s, x, Order::Relaxed);
        thread.store(y, Expr::binary(BinaryOp::Add, s.into(), 1.into()), Order::Relaxed);
        thread.finish();
        let ranges = Ranges::infer(&program.finish().expect("a valid program"), &Watch::unlimited()).expect("no limit");
        assert_eq!(ranges.registers, [[interval(0, 4)], [interval(0, 40)]]);
        assert_eq!((ranges.cells[&x_at], ranges.cells[&y_at]), (interval(0, 40), interval(0, 41)));
        assert_eq!(ranges.others, Interval::point(0));
    }

    #[test]
    fn a_counter_that_grows_for_ever_gets_its_domain_and_keeps_the_end_that_stands_still() {
        let mut program = ProgramBuilder::new("counter");
        let mut thread = program.thread("t");
        let bounded = thread.register_with("n", Domain::new(-3, 1_000, Escape::Wrap));
        let unbounded = thread.register("m");
        let start = thread.here();
        let middle = thread.fresh();
        let up = Expr::binary(BinaryOp::Add, bounded.into(), 1.into());
        thread.edge(start, Instruction::Assign { reg: bounded, value: up }, middle);
        let down = Expr::binary(BinaryOp::Sub, unbounded.into(), 1.into());
        thread.edge(middle, Instruction::Assign { reg: unbounded, value: down }, start);
        thread.finish();
        let ranges = Ranges::infer(&program.finish().expect("a valid program"), &Watch::unlimited()).expect("no limit");
        // Beyond 1000 the counter wraps to -3.
        assert_eq!(ranges.registers[0][bounded.0], interval(-3, 1_000));
        assert_eq!(ranges.registers[0][unbounded.0], interval(Value::MIN, 0));
    }

    /// Checks that every value of the state is in the ranges; if not, returns which one is not.
    fn outside(ranges: &Ranges, state: &State) -> Option<String> {
        let is_listed = |list: Option<&[Value]>, value: Value| list.is_none_or(|list| list.contains(&value));
        let may_hold = |address: &Value, value: Value| {
            let range = ranges.cells.get(address).copied().unwrap_or(ranges.others);
            range.contains(value) && (ranges.few.is_empty() || is_listed(ranges.few.cell(*address), value))
        };
        for (index, thread) in state.threads.iter().enumerate() {
            for (register, value) in thread.registers.iter().enumerate() {
                let list = ranges.few.register(index, RegId(register));
                if !ranges.registers[index][register].contains(*value) || !is_listed(list, *value) {
                    return Some(format!("register {register} of thread {index} is {value}"));
                }
            }
            for entry in thread.buffer.entries() {
                if let PendingEntry::Store { address, value } = entry
                    && !may_hold(address, *value)
                {
                    return Some(format!("{value} is about to be stored at {address}"));
                }
            }
        }
        let wrong = state.memory.iter().find(|(address, value)| !may_hold(address, **value));
        wrong.map(|(address, value)| format!("the cell at {address} is {value}"))
    }

    #[test]
    fn every_value_of_every_run_of_a_program_lies_in_its_range() {
        let generators = [Config::all(), Config::counters()].map(Generator::new);
        let (mut states, mut bounded, mut pointers) = (0, 0, 0);
        for (seed, generator) in seeds(400).flat_map(|seed| generators.iter().map(move |generator| (seed, generator))) {
            let program = generator.program(seed);
            for model in [Model::Sc, Model::Tso, Model::Pso] {
                let reference = Reference::new(&program, model, Some(2)).expect("a program that is modelled");
                let ranges = Ranges::infer(reference.program(), &Watch::unlimited()).expect("no limit");
                let all = ranges.registers.iter().flatten().chain(ranges.cells.values());
                bounded += all.filter(|range| **range != Interval::FULL).count();
                pointers += usize::from(!ranges.few.is_empty());
                let visited = reference.visit(400, &mut |state, _| {
                    states += 1;
                    if let Some(what) = outside(&ranges, state) {
                        panic!("seed {seed} under {model}: {what}, outside of {ranges:?}");
                    }
                });
                assert!(visited.is_ok(), "seed {seed} has too many initial states");
            }
        }
        assert!(!is_default_run() || (states > 100_000 && bounded > 4_000), "{states} states, {bounded} ranges");
        assert!(!is_default_run() || pointers > 200, "{pointers} programs with pointers");
    }
}
