//! What a thread does with each register, and where the result of a comparison is still needed: found before lowering.

use super::instruction::{Cond, X86Instruction, X86Op};
use super::operand::X86Operand;
use super::register::{ACCUMULATOR, COUNT};
use super::table::TableColumn;
use super::value::Width;

/// How a thread writes one register.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegisterWrites {
    pub byte: bool,
    pub word: bool,
    /// With 32 bits that may be a negative number; then the upper half depends on who wrote last.
    pub long: bool,
    pub quad: bool,
    /// With 32 bits of a constant that is not negative: the same number in 64 bits.
    pub plain: bool,
}

impl RegisterWrites {
    /// Every write has this width, which is less than 32 bits, so that the upper bits keep their first value.
    pub fn only(&self, width: Width) -> bool {
        !self.long
            && !self.quad
            && !self.plain
            && self.byte == (width == Width::Byte)
            && self.word == (width == Width::Word)
    }
}

pub struct ThreadFacts {
    pub written: [RegisterWrites; COUNT],
    /// By cell of the column: a jump may ask for the flags that this instruction sets.
    pub flags_needed: Vec<bool>,
    /// Jumps ask how two numbers compare.
    pub compares: bool,
    /// Jumps ask for the sign of a result.
    pub signs: bool,
}

impl ThreadFacts {
    pub fn of(column: &TableColumn) -> ThreadFacts {
        let mut facts = ThreadFacts {
            written: [RegisterWrites::default(); COUNT],
            flags_needed: vec![false; column.cells.len()],
            compares: false,
            signs: false,
        };
        for instruction in column.cells.iter().filter_map(|cell| cell.instruction.as_ref()) {
            for (register, width, plain) in writes(instruction) {
                let written = &mut facts.written[register];
                match width {
                    Width::Byte => written.byte = true,
                    Width::Word => written.word = true,
                    Width::Long if plain => written.plain = true,
                    Width::Long => written.long = true,
                    Width::Quad => written.quad = true,
                }
            }
            if let X86Op::Jump(Some(cond)) = instruction.op {
                let sign = matches!(cond, Cond::Sign | Cond::NotSign);
                facts.signs |= sign;
                facts.compares |= !sign;
            }
        }
        facts.find_needed(column);
        facts
    }

    /// Backwards through the code. Behind an unconditional jump anything may follow.
    fn find_needed(&mut self, column: &TableColumn) {
        let any = self.compares || self.signs;
        let mut needed = false;
        for (index, cell) in column.cells.iter().enumerate().rev() {
            match cell.instruction.as_ref().map(|instruction| instruction.op) {
                Some(X86Op::Jump(Some(_))) => needed = true,
                Some(X86Op::Jump(None)) => needed = any,
                Some(X86Op::Ret) => needed = false,
                Some(op) if op.sets_flags() => self.flags_needed[index] = std::mem::take(&mut needed),
                _ => {}
            }
        }
    }
}

/// The width of an instruction: that of its suffix, else of its registers, else 32 bits.
pub fn width(instruction: &X86Instruction) -> Width {
    let register = instruction.operands.iter().rev().find_map(|operand| match operand {
        X86Operand::Register(register) => Some(register.width),
        _ => None,
    });
    instruction.suffix.or(register).unwrap_or(Width::Long)
}

/// The registers that an instruction writes, how wide, and whether what it writes is a constant that is not negative.
fn writes(instruction: &X86Instruction) -> Vec<(usize, Width, bool)> {
    let width = width(instruction);
    let target = |operand: &X86Operand, plain: bool| match operand {
        X86Operand::Register(register) => Some((register.number, width, plain)),
        _ => None,
    };
    let operands = instruction.operands.as_slice();
    match (instruction.op, operands) {
        (X86Op::Mov, [X86Operand::Number(value, _), to]) => {
            target(to, width.canonical(*value) >= 0).into_iter().collect()
        }
        (X86Op::Mov, [X86Operand::AddressOf(_), to]) => target(to, true).into_iter().collect(),
        (X86Op::Alu(_), [_, to]) => target(to, is_clearing(instruction)).into_iter().collect(),
        (X86Op::Mov | X86Op::Lea | X86Op::Shift(_), [_, to]) | (X86Op::Change(_), [to]) => {
            target(to, false).into_iter().collect()
        }
        (X86Op::Xchg | X86Op::Xadd, [one, other]) => {
            [target(one, false), target(other, false)].into_iter().flatten().collect()
        }
        (X86Op::Cmpxchg, [_, to]) => std::iter::once((ACCUMULATOR, width, false)).chain(target(to, false)).collect(),
        _ => Vec::new(),
    }
}

/// `xor %eax,%eax` and `sub %eax,%eax`, the usual ways to write 0.
pub fn is_clearing(instruction: &X86Instruction) -> bool {
    use super::instruction::Alu;
    match (instruction.op, instruction.operands.as_slice()) {
        (X86Op::Alu(Alu::Xor | Alu::Sub), [X86Operand::Register(one), X86Operand::Register(other)]) => {
            one.number == other.number && one.width == other.width
        }
        _ => false,
    }
}
