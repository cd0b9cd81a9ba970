//! What each instruction does, in steps of the program.
//!
//! A `mov` that touches memory is a relaxed load or store. An instruction that reads and writes memory without `lock` is a
//! load and then a store, two steps; with `lock`, and `xchg` in any case, it is one step that needs an empty store buffer.
//! `mfence` is a seq_cst fence; `sfence` orders stores where they are not ordered anyway (PSO), and `lfence` does nothing
//! under the models of the tool.

use super::facts::{self, is_clearing};
use super::instruction::{Alu, Cond, Shift, UnaryChange, X86Instruction, X86Op};
use super::lower::ThreadLowering;
use super::operand::{MemoryOperand, X86Operand, X86Register};
use super::register::ACCUMULATOR;
use super::value::{Width, and, constant};
use crate::Diagnostic;
use ravelin_program::{Address, Arithmetic, BinaryOp, Expr, Instruction as Step, Order, RegId, RmwOp, Span, Value};

/// What an instruction changes.
enum WriteTarget {
    Register(X86Register),
    Memory(Address),
}

/// A new value as a function of the old one, and how the flags come about.
struct ValueEffect {
    op: BinaryOp,
    operand: Expr,
    /// The old value is the right side: only for `neg`.
    reversed: bool,
    sets_flags: bool,
}

impl ThreadLowering<'_> {
    pub fn execute(&mut self, instruction: &X86Instruction) -> Option<()> {
        let span = instruction.span;
        let width = self.width(instruction)?;
        match (instruction.op, instruction.operands.as_slice()) {
            (X86Op::Nop, _) => {}
            (X86Op::Mfence, _) => self.step(Step::Fence(Order::SeqCst), span),
            (X86Op::Sfence, _) => self.step(Step::Fence(Order::Release), span),
            (X86Op::Lfence, _) => self.step(Step::Fence(Order::Acquire), span),
            (X86Op::Ret, _) => {
                let end = self.assembly.fresh();
                self.assembly.jump(end, span);
            }
            (X86Op::Jump(cond), [to]) => self.jump(cond, to, span)?,
            (X86Op::Mov, [from, to]) => self.mov(from, to, width, span)?,
            (X86Op::Lea, [from, to]) => self.lea(from, to, width, span)?,
            (X86Op::Xchg, [one, other]) => self.xchg(one, other, width, span)?,
            (X86Op::Alu(alu), [from, to]) => self.alu(instruction, alu, from, to, width)?,
            (X86Op::Change(change), [to]) => {
                let effect = changed(change, width);
                self.change(instruction, to, effect, width)?;
            }
            (X86Op::Shift(shift), [count, to]) => self.shift(shift, count, to, width, span)?,
            (X86Op::Cmp | X86Op::Test, [from, to]) => self.compare(instruction.op, from, to, width, span)?,
            (X86Op::Xadd, [from, to]) => self.xadd(instruction, from, to, width)?,
            (X86Op::Cmpxchg, [from, to]) => self.cmpxchg(instruction, from, to, width)?,
            // The parser has counted the operands.
            _ => {}
        }
        Some(())
    }

    /// The width, if suffix and registers agree on it.
    fn width(&mut self, instruction: &X86Instruction) -> Option<Width> {
        let width = facts::width(instruction);
        if matches!(instruction.op, X86Op::Nop | X86Op::Jump(_)) {
            return Some(width);
        }
        let shift = matches!(instruction.op, X86Op::Shift(_));
        let operands = if shift { &instruction.operands[1..] } else { &instruction.operands };
        for operand in operands {
            if let X86Operand::Register(register) = operand
                && register.width != width
            {
                let (wanted, has) = (width.bits(), register.width.bits());
                let message =
                    format!("this register has {has} bits, and `{}` works on {wanted}", instruction.mnemonic.text);
                self.error(register.span, message);
                return None;
            }
        }
        Some(width)
    }

    fn mov(&mut self, from: &X86Operand, to: &X86Operand, width: Width, span: Span) -> Option<()> {
        match (from.memory(), self.target(to, width)?) {
            (Some(_), WriteTarget::Memory(_)) => return self.two_cells(span),
            (Some(memory), WriteTarget::Register(register)) if self.is_direct(register.number, width) => {
                let address = self.address(&memory, width)?;
                let reg = self.id(register.number, register.span);
                self.step(Step::Load { reg, address, order: Order::Relaxed }, span);
            }
            (_, WriteTarget::Register(register)) => {
                let value = self.value(from, width, span)?;
                self.write(&register, width, value, span);
            }
            (None, WriteTarget::Memory(address)) => {
                let value = self.value(from, width, span)?;
                self.store(address, value, span);
            }
        }
        Some(())
    }

    fn lea(&mut self, from: &X86Operand, to: &X86Operand, width: Width, span: Span) -> Option<()> {
        let (Some(memory), X86Operand::Register(register)) = (from.memory(), to) else {
            self.error(span, "`lea` puts the address of a memory operand into a register");
            return None;
        };
        let address = self.location(&memory);
        self.write(register, width, address, span);
        Some(())
    }

    fn xchg(&mut self, one: &X86Operand, other: &X86Operand, width: Width, span: Span) -> Option<()> {
        let (register, with) = match (one, other) {
            (X86Operand::Register(register), with) | (with, X86Operand::Register(register)) => (*register, with),
            _ => {
                self.error(span, "one operand of `xchg` is a register");
                return None;
            }
        };
        let value = self.read(&register, width)?;
        match self.target(with, width)? {
            WriteTarget::Memory(address) => {
                let direct = self.is_direct(register.number, width);
                let old = if direct { self.id(register.number, register.span) } else { self.hidden("$value", span) };
                let op = RmwOp::Exchange;
                self.step(Step::rmw(op, Arithmetic::Checked, address, value, Order::SeqCst, Some(old)), span);
                if !direct {
                    self.write(&register, width, Expr::Atom(old), span);
                }
            }
            WriteTarget::Register(second) => {
                let kept = self.hidden("$value", span);
                self.step(Step::Assign { reg: kept, value }, span);
                let value = self.read(&second, width)?;
                self.write(&register, width, value, span);
                self.write(&second, width, Expr::Atom(kept), span);
            }
        }
        Some(())
    }

    fn alu(
        &mut self,
        instruction: &X86Instruction,
        alu: Alu,
        from: &X86Operand,
        to: &X86Operand,
        width: Width,
    ) -> Option<()> {
        let span = instruction.span;
        if let (true, X86Operand::Register(register)) = (is_clearing(instruction), to) {
            self.write(register, width, Expr::Const(0), span);
            self.set_flags(width, Expr::Const(0), Expr::Const(0), Expr::Const(0), span);
            return Some(());
        }
        if from.memory().is_some() && to.memory().is_some() {
            return self.two_cells(span);
        }
        let mut operand = self.value(from, width, span)?;
        if from.memory().is_some() {
            // The hidden register of loads is free for what comes.
            let kept = self.hidden("$operand", span);
            self.step(Step::Assign { reg: kept, value: operand }, span);
            operand = Expr::Atom(kept);
        }
        let op = match alu {
            Alu::Add => BinaryOp::Add,
            Alu::Sub => BinaryOp::Sub,
            Alu::And => BinaryOp::BitAnd,
            Alu::Or => BinaryOp::BitOr,
            Alu::Xor => BinaryOp::BitXor,
        };
        self.change(instruction, to, ValueEffect { op, operand, reversed: false, sets_flags: true }, width)
    }

    /// Changes a register or a cell: in one step if locked, else by a load and a store.
    fn change(
        &mut self,
        instruction: &X86Instruction,
        to: &X86Operand,
        effect: ValueEffect,
        width: Width,
    ) -> Option<()> {
        let span = instruction.span;
        match (self.target(to, width)?, instruction.lock) {
            (WriteTarget::Register(_), Some(lock)) => return self.lock_needs_memory(lock),
            (WriteTarget::Register(register), None) => {
                let old = self.read(&register, width)?;
                let new = effect.new_value(old.clone(), width, self.wide);
                self.flags_of(&effect, old, width, span);
                self.write(&register, width, new, span);
            }
            (WriteTarget::Memory(address), None) => {
                let old = Expr::Atom(self.load(address.clone(), span));
                let new = effect.new_value(old.clone(), width, self.wide);
                self.store(address, new, span);
                self.flags_of(&effect, old, width, span);
            }
            (WriteTarget::Memory(address), Some(_)) => {
                let wanted = (effect.sets_flags && self.flags_needed).then(|| self.hidden("$value", span));
                let old = self.locked(&effect, address, width, wanted, span);
                if let Some(old) = old {
                    self.flags_of(&effect, Expr::Atom(old), width, span);
                }
            }
        }
        Some(())
    }

    /// One locked step; `wanted` gets the old value. Gives back the register that has it, if any.
    fn locked(
        &mut self,
        effect: &ValueEffect,
        address: Address,
        width: Width,
        wanted: Option<RegId>,
        span: Span,
    ) -> Option<RegId> {
        // Bitwise operations on kept values give kept values; sums may have to be cut.
        let exact = !width.is_narrow() && (width == Width::Quad || !self.wide);
        let op = match effect.op {
            BinaryOp::Add if exact => Some(RmwOp::Add),
            BinaryOp::Sub if exact && !effect.reversed => Some(RmwOp::Sub),
            BinaryOp::BitAnd => Some(RmwOp::And),
            BinaryOp::BitOr => Some(RmwOp::Or),
            BinaryOp::BitXor => Some(RmwOp::Xor),
            _ => None,
        };
        if let Some(op) = op {
            let operand = effect.operand.clone();
            self.step(Step::rmw(op, Arithmetic::Checked, address, operand, Order::SeqCst, wanted), span);
            return wanted;
        }
        let reg = wanted.unwrap_or_else(|| self.hidden("$value", span));
        let value = effect.new_value(Expr::Atom(reg), width, self.wide);
        let body = vec![
            Step::Load { reg, address: address.clone(), order: Order::Relaxed },
            Step::Store { address, value, order: Order::Relaxed },
        ];
        self.step(Step::Locked { body, drains: true }, span);
        Some(reg)
    }

    /// Flags as after the subtraction that would have the same result: a sum a + b is a − (−b), and a result of logic is
    /// compared with 0.
    fn flags_of(&mut self, effect: &ValueEffect, old: Expr, width: Width, span: Span) {
        if !effect.sets_flags || !self.flags_needed {
            return;
        }
        let result = effect.new_value(old.clone(), width, self.wide);
        let (left, right) = match effect.op {
            BinaryOp::Sub if effect.reversed => (effect.operand.clone(), old),
            BinaryOp::Sub => (old, effect.operand.clone()),
            BinaryOp::Add => {
                let negative = Expr::binary(BinaryOp::Sub, Expr::Const(0), effect.operand.clone());
                (old, width.cut(negative, self.wide))
            }
            _ => (result.clone(), Expr::Const(0)),
        };
        self.set_flags(width, left, right, result, span);
    }

    fn shift(&mut self, shift: Shift, count: &X86Operand, to: &X86Operand, width: Width, span: Span) -> Option<()> {
        let X86Operand::Number(count, _) = count else {
            self.error(count.span(), "only shifts by a constant are read");
            return None;
        };
        let count = count & if width == Width::Quad { 63 } else { 31 };
        let target = self.target(to, width)?;
        let old = match &target {
            WriteTarget::Register(register) => self.read(register, width)?,
            WriteTarget::Memory(address) => Expr::Atom(self.load(address.clone(), span)),
        };
        let new = shifted(shift, old, count, width, self.wide);
        if count != 0 && matches!(target, WriteTarget::Register(_)) {
            self.set_flags(width, new.clone(), Expr::Const(0), new.clone(), span);
        }
        match target {
            WriteTarget::Register(register) => self.write(&register, width, new, span),
            WriteTarget::Memory(address) => {
                self.store(address, new.clone(), span);
                if count != 0 {
                    self.set_flags(width, new.clone(), Expr::Const(0), new, span);
                }
            }
        }
        Some(())
    }

    fn compare(&mut self, op: X86Op, from: &X86Operand, to: &X86Operand, width: Width, span: Span) -> Option<()> {
        if from.memory().is_some() && to.memory().is_some() {
            return self.two_cells(span);
        }
        let right = self.value(from, width, span)?;
        let left = self.value(to, width, span)?;
        if op == X86Op::Test {
            let both = Expr::binary(BinaryOp::BitAnd, left.clone(), right.clone());
            // `test %eax,%eax` is how a register is compared with 0.
            let both = if left == right { left } else { both };
            self.set_flags(width, both.clone(), Expr::Const(0), both, span);
        } else {
            let difference = Expr::binary(BinaryOp::Sub, left.clone(), right.clone());
            let difference = width.cut(difference, self.wide);
            self.set_flags(width, left, right, difference, span);
        }
        Some(())
    }

    fn xadd(&mut self, instruction: &X86Instruction, from: &X86Operand, to: &X86Operand, width: Width) -> Option<()> {
        let span = instruction.span;
        let X86Operand::Register(source) = from else {
            self.error(from.span(), "the first operand of `xadd` is a register");
            return None;
        };
        let operand = self.read(source, width)?;
        let effect = ValueEffect { op: BinaryOp::Add, operand, reversed: false, sets_flags: true };
        let old = self.hidden("$value", span);
        match (self.target(to, width)?, instruction.lock) {
            (WriteTarget::Register(_), Some(lock)) => return self.lock_needs_memory(lock),
            (WriteTarget::Register(target), None) => {
                let value = self.read(&target, width)?;
                self.step(Step::Assign { reg: old, value }, span);
                self.flags_of(&effect, Expr::Atom(old), width, span);
                let sum = self.hidden("$operand", span);
                let value = effect.new_value(Expr::Atom(old), width, self.wide);
                self.step(Step::Assign { reg: sum, value }, span);
                self.write(source, width, Expr::Atom(old), span);
                self.write(&target, width, Expr::Atom(sum), span);
                return Some(());
            }
            (WriteTarget::Memory(address), None) => {
                self.load(address.clone(), span);
                let new = effect.new_value(Expr::Atom(old), width, self.wide);
                self.store(address, new, span);
            }
            (WriteTarget::Memory(address), Some(_)) => {
                if self.is_direct(source.number, width) && !self.flags_needed {
                    let reg = self.id(source.number, source.span);
                    // A block reads its operand after it has written the old value, so that it needs another register.
                    let one_step = !width.is_narrow() && (width == Width::Quad || !self.wide);
                    if one_step {
                        self.locked(&effect, address, width, Some(reg), span);
                        return Some(());
                    }
                }
                self.locked(&effect, address, width, Some(old), span);
            }
        }
        self.flags_of(&effect, Expr::Atom(old), width, span);
        self.write(source, width, Expr::Atom(old), span);
        Some(())
    }

    /// Compares the accumulator with the target; if equal the target gets the source, else the accumulator the target.
    fn cmpxchg(
        &mut self,
        instruction: &X86Instruction,
        from: &X86Operand,
        to: &X86Operand,
        width: Width,
    ) -> Option<()> {
        let span = instruction.span;
        let X86Operand::Register(source) = from else {
            self.error(from.span(), "the first operand of `cmpxchg` is a register");
            return None;
        };
        let accumulator = X86Register { number: ACCUMULATOR, width, span };
        let new = self.read(source, width)?;
        let expected = self.read(&accumulator, width)?;
        let difference =
            |wide: bool, found: Expr| width.cut(Expr::binary(BinaryOp::Sub, expected.clone(), found), wide);
        match (self.target(to, width)?, instruction.lock) {
            (WriteTarget::Register(_), Some(lock)) => return self.lock_needs_memory(lock),
            (WriteTarget::Memory(address), Some(_)) => {
                let (success, failure) = (Order::SeqCst, Order::SeqCst);
                let direct = self.is_direct(ACCUMULATOR, width) && !self.flags_needed;
                let old = if direct { self.id(ACCUMULATOR, span) } else { self.hidden("$value", span) };
                let expected = expected.clone();
                let (old, ok, weak) = (Some(old), None, false);
                self.step(Step::CompareExchange { address, expected, new, success, failure, weak, old, ok }, span);
                if direct {
                    return Some(());
                }
            }
            (target, None) => {
                let (different, done) = (self.assembly.fresh(), self.assembly.fresh());
                let found = match &target {
                    WriteTarget::Memory(address) => Expr::Atom(self.load(address.clone(), span)),
                    WriteTarget::Register(register) => self.read(register, width)?,
                };
                let kept = self.hidden("$value", span);
                if found != Expr::Atom(kept) {
                    self.step(Step::Assign { reg: kept, value: found }, span);
                }
                let found = Expr::Atom(kept);
                self.set_flags(width, expected.clone(), found.clone(), difference(self.wide, found.clone()), span);
                let unequal = Expr::binary(BinaryOp::Ne, expected.clone(), found.clone());
                self.assembly.branch(unequal, different, span);
                match target {
                    WriteTarget::Memory(address) => self.store(address, new, span),
                    WriteTarget::Register(register) => self.write(&register, width, new, span),
                }
                self.assembly.jump(done, span);
                self.assembly.place(different);
                self.write(&accumulator, width, found, span);
                self.assembly.place(done);
                return Some(());
            }
        }
        let found = Expr::Atom(self.hidden("$value", span));
        self.set_flags(width, expected.clone(), found.clone(), difference(self.wide, found.clone()), span);
        self.write(&accumulator, width, found, span);
        Some(())
    }

    fn jump(&mut self, cond: Option<Cond>, to: &X86Operand, span: Span) -> Option<()> {
        let X86Operand::Bare(name) = to else {
            self.error(to.span(), "a jump goes to a label of its thread");
            return None;
        };
        let label = self.label(name)?;
        let Some(cond) = cond else {
            self.assembly.jump(label, span);
            return Some(());
        };
        let op = match cond {
            Cond::Eq => BinaryOp::Eq,
            Cond::Ne => BinaryOp::Ne,
            Cond::Lt | Cond::Sign => BinaryOp::Lt,
            Cond::Le => BinaryOp::Le,
            Cond::Gt => BinaryOp::Gt,
            Cond::Ge | Cond::NotSign => BinaryOp::Ge,
        };
        let condition = if matches!(cond, Cond::Sign | Cond::NotSign) {
            Expr::binary(op, Expr::Atom(self.hidden("$sign", span)), Expr::Const(0))
        } else {
            let left = self.hidden("$left", span);
            Expr::binary(op, Expr::Atom(left), Expr::Atom(self.hidden("$right", span)))
        };
        self.assembly.branch(condition, label, span);
        Some(())
    }

    /// The value of an operand, as it is kept; memory is loaded into a hidden register.
    fn value(&mut self, operand: &X86Operand, width: Width, span: Span) -> Option<Expr> {
        match operand {
            X86Operand::Number(value, _) => Some(Expr::Const(width.canonical(*value))),
            X86Operand::AddressOf(name) => Some(self.address_of(name)),
            X86Operand::Register(register) => self.read(register, width),
            X86Operand::Memory(_) | X86Operand::Bare(_) => {
                let memory: MemoryOperand = operand.memory()?;
                let address = self.address(&memory, width)?;
                Some(Expr::Atom(self.load(address, span)))
            }
        }
    }

    fn target(&mut self, operand: &X86Operand, width: Width) -> Option<WriteTarget> {
        match operand {
            X86Operand::Register(register) => Some(WriteTarget::Register(*register)),
            X86Operand::Memory(_) | X86Operand::Bare(_) => {
                self.address(&operand.memory()?, width).map(WriteTarget::Memory)
            }
            X86Operand::Number(_, span) => {
                self.error(*span, "a constant cannot be written to");
                None
            }
            X86Operand::AddressOf(name) => {
                let message = format!("the address of `{}` cannot be written to", name.text);
                self.diagnostics.push(
                    Diagnostic::error(name.span, message).with_help(format!("the cell is written `({})`", name.text)),
                );
                None
            }
        }
    }

    fn two_cells(&mut self, span: Span) -> Option<()> {
        self.error(span, "an instruction has at most one memory operand");
        None
    }

    fn lock_needs_memory(&mut self, lock: Span) -> Option<()> {
        self.error(lock, "`lock` needs a memory operand that is written to");
        None
    }
}

impl ValueEffect {
    fn new_value(&self, old: Expr, width: Width, wide: bool) -> Expr {
        let (left, right) = if self.reversed { (self.operand.clone(), old) } else { (old, self.operand.clone()) };
        let result = Expr::binary(self.op, left, right);
        match self.op {
            // Kept values stay kept values.
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => result,
            _ => width.cut(result, wide),
        }
    }
}

fn changed(change: UnaryChange, width: Width) -> ValueEffect {
    let (op, operand) = match change {
        UnaryChange::Inc => (BinaryOp::Add, 1),
        UnaryChange::Dec => (BinaryOp::Sub, 1),
        UnaryChange::Neg => (BinaryOp::Sub, 0),
        UnaryChange::Not => (BinaryOp::BitXor, width.canonical(-1)),
    };
    let reversed = change == UnaryChange::Neg;
    ValueEffect { op, operand: Expr::Const(operand), reversed, sets_flags: change != UnaryChange::Not }
}

fn shifted(shift: Shift, old: Expr, count: Value, width: Width, wide: bool) -> Expr {
    if count == 0 {
        return old;
    }
    let by = |value: Expr, op: BinaryOp| match constant(&value) {
        Some(0) => Expr::Const(0),
        _ => Expr::binary(op, value, Expr::Const(count)),
    };
    match shift {
        Shift::Left => width.cut(by(old, BinaryOp::Shl), wide),
        Shift::Arithmetic => width.cut(by(width.signed(old), BinaryOp::Shr), wide),
        Shift::Right if width.is_narrow() => by(old, BinaryOp::Shr),
        // The bits that come in from the left are copies of the sign: they are taken away.
        Shift::Right => {
            let bits = Value::from(width.bits());
            let mask = if count >= bits { 0 } else { (1 << (bits - count)) - 1 };
            and(by(old, BinaryOp::Shr), mask)
        }
    }
}
