//! Mnemonics: which instructions are known, and what may stand with them.

use super::super::cursor::{Cursor, Name};
use super::super::header::Dialect;
use super::operand::{self, Operand};
use super::value::Width;
use crate::Diagnostic;
use ravelin_program::Span;

/// Operands stand source first, whichever way they were written.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub op: Op,
    pub mnemonic: Name,
    /// By the suffix of the mnemonic.
    pub suffix: Option<Width>,
    pub lock: Option<Span>,
    pub operands: Vec<Operand>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Mov,
    Xchg,
    Lea,
    /// Two operands: the second one changes.
    Alu(Alu),
    Shift(Shift),
    /// One operand.
    Change(Change),
    Cmp,
    Test,
    Xadd,
    Cmpxchg,
    Mfence,
    Sfence,
    Lfence,
    Nop,
    Jump(Option<Cond>),
    Ret,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Left,
    Right,
    Arithmetic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Inc,
    Dec,
    Neg,
    Not,
}

/// What a conditional jump asks of the last comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Sign,
    NotSign,
}

impl Op {
    /// A comparison with which a later jump may be decided.
    pub fn sets_flags(self) -> bool {
        match self {
            Op::Change(change) => change != Change::Not,
            Op::Alu(_) | Op::Shift(_) | Op::Cmp | Op::Test | Op::Xadd | Op::Cmpxchg => true,
            _ => false,
        }
    }

    /// How many operands it takes; `None` for `nop`, which takes any.
    fn arity(self) -> Option<usize> {
        match self {
            Op::Nop => None,
            Op::Mfence | Op::Sfence | Op::Lfence | Op::Ret => Some(0),
            Op::Change(_) | Op::Jump(_) => Some(1),
            _ => Some(2),
        }
    }

    fn takes_lock(self) -> bool {
        matches!(self, Op::Alu(_) | Op::Change(_) | Op::Xadd | Op::Cmpxchg | Op::Xchg)
    }
}

const KNOWN: &str = "mov xchg add sub and or xor inc dec neg not shl shr sar cmp test xadd cmpxchg lea mfence sfence \
                     lfence nop endbr64 ret, jmp je jne jl jle jg jge js jns, and `lock` before those that change memory";

pub fn parse(cursor: &mut Cursor<'_, '_>, dialect: Dialect) -> Option<Instruction> {
    let mut mnemonic = cursor.word("an instruction")?;
    let mut lock = None;
    if mnemonic.text.eq_ignore_ascii_case("lock") {
        lock = Some(mnemonic.span);
        mnemonic = cursor.word("an instruction after `lock`")?;
    }
    let start = lock.unwrap_or(mnemonic.span);
    let Some((op, suffix)) = lookup(&mnemonic.text.to_ascii_lowercase()) else {
        cursor.report(unknown(&mnemonic));
        return None;
    };
    let mut operands = Vec::new();
    if !cursor.at("|") && !cursor.at(";") && !cursor.at_end() {
        operands.push(operand::parse(cursor, dialect)?);
        while cursor.eat(",") {
            operands.push(operand::parse(cursor, dialect)?);
        }
    }
    let span = start.to(cursor.before());
    if let Some(arity) = op.arity()
        && operands.len() != arity
    {
        let count = ["no operand", "one operand", "two operands"][arity];
        let message = format!("`{}` takes {count}, not {}", mnemonic.text, operands.len());
        cursor.error(span, message);
        return None;
    }
    if let Some(lock) = lock
        && !op.takes_lock()
    {
        cursor.report(
            Diagnostic::error(lock, format!("`{}` cannot be locked", mnemonic.text))
                .with_help("add sub and or xor inc dec neg not xadd cmpxchg and xchg can"),
        );
        return None;
    }
    if dialect == Dialect::X86 && !matches!(op, Op::Jump(_)) {
        operands.reverse();
        if let Some(Operand::Bare(name)) = operands.iter().find(|operand| matches!(operand, Operand::Bare(_))) {
            let message = format!("there is no register `{}`", name.text);
            cursor.report(
                Diagnostic::error(name.span, message).with_help(format!("a memory cell is written `[{}]`", name.text)),
            );
            return None;
        }
    }
    Some(Instruction { op, mnemonic, suffix, lock, operands, span })
}

/// A mnemonic, perhaps with the suffix of a width.
fn lookup(mnemonic: &str) -> Option<(Op, Option<Width>)> {
    if let Some(op) = exact(mnemonic) {
        return Some((op, None));
    }
    let (stem, suffix) = mnemonic.split_at_checked(mnemonic.len().checked_sub(1)?)?;
    let width = match suffix {
        "b" => Width::Byte,
        "w" => Width::Word,
        "l" => Width::Long,
        "q" => Width::Quad,
        _ => return None,
    };
    let op = exact(stem)?;
    (op == Op::Nop || op.arity() == Some(2) || matches!(op, Op::Change(_))).then_some((op, Some(width)))
}

fn exact(mnemonic: &str) -> Option<Op> {
    Some(match mnemonic {
        "mov" | "movabs" => Op::Mov,
        "xchg" => Op::Xchg,
        "lea" => Op::Lea,
        "add" => Op::Alu(Alu::Add),
        "sub" => Op::Alu(Alu::Sub),
        "and" => Op::Alu(Alu::And),
        "or" => Op::Alu(Alu::Or),
        "xor" => Op::Alu(Alu::Xor),
        "shl" | "sal" => Op::Shift(Shift::Left),
        "shr" => Op::Shift(Shift::Right),
        "sar" => Op::Shift(Shift::Arithmetic),
        "inc" => Op::Change(Change::Inc),
        "dec" => Op::Change(Change::Dec),
        "neg" => Op::Change(Change::Neg),
        "not" => Op::Change(Change::Not),
        "cmp" => Op::Cmp,
        "test" => Op::Test,
        "xadd" => Op::Xadd,
        "cmpxchg" => Op::Cmpxchg,
        "mfence" => Op::Mfence,
        "sfence" => Op::Sfence,
        "lfence" => Op::Lfence,
        "nop" | "endbr64" | "endbr32" | "pause" => Op::Nop,
        "ret" | "retq" => Op::Ret,
        "jmp" => Op::Jump(None),
        "je" | "jz" => Op::Jump(Some(Cond::Eq)),
        "jne" | "jnz" => Op::Jump(Some(Cond::Ne)),
        "jl" | "jlt" | "jnge" => Op::Jump(Some(Cond::Lt)),
        "jle" | "jng" => Op::Jump(Some(Cond::Le)),
        "jg" | "jgt" | "jnle" => Op::Jump(Some(Cond::Gt)),
        "jge" | "jnl" => Op::Jump(Some(Cond::Ge)),
        "js" => Op::Jump(Some(Cond::Sign)),
        "jns" => Op::Jump(Some(Cond::NotSign)),
        _ => return None,
    })
}

fn unknown(mnemonic: &Name) -> Diagnostic {
    let text = mnemonic.text.to_ascii_lowercase();
    let reason = if text.starts_with("clflush") || text.starts_with("clwb") {
        ": persistent memory is not modelled"
    } else if text.starts_with("movnt") {
        ": non-temporal accesses are not modelled"
    } else if text.starts_with("set") || text.starts_with("cmov") {
        ": use a comparison and a jump"
    } else {
        ""
    };
    Diagnostic::error(mnemonic.span, format!("the instruction `{}` is not supported{reason}", mnemonic.text))
        .with_help(format!("these are: {KNOWN}"))
}
