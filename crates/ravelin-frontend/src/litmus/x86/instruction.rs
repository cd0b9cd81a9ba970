//! Mnemonics: which instructions are known, and what may stand with them.

use super::super::cursor::{LitmusCursor, Name};
use super::super::header::Dialect;
use super::operand::{self, X86Operand};
use super::value::Width;
use crate::Diagnostic;
use crate::parsing::TokenParser;
use ravelin_program::Span;

/// Operands stand source first, whichever way they were written.
#[derive(Clone, Debug)]
pub struct X86Instruction {
    pub op: X86Op,
    pub mnemonic: Name,
    /// By the suffix of the mnemonic.
    pub suffix: Option<Width>,
    pub lock: Option<Span>,
    pub operands: Vec<X86Operand>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X86Op {
    Mov,
    Xchg,
    Lea,
    /// Two operands: the second one changes.
    Alu(Alu),
    Shift(Shift),
    /// One operand.
    Change(UnaryChange),
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
pub enum UnaryChange {
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

impl X86Op {
    /// A comparison with which a later jump may be decided.
    pub fn sets_flags(self) -> bool {
        match self {
            X86Op::Change(change) => change != UnaryChange::Not,
            X86Op::Alu(_) | X86Op::Shift(_) | X86Op::Cmp | X86Op::Test | X86Op::Xadd | X86Op::Cmpxchg => true,
            _ => false,
        }
    }

    /// How many operands it takes; `None` for `nop`, which takes any.
    fn arity(self) -> Option<usize> {
        match self {
            X86Op::Nop => None,
            X86Op::Mfence | X86Op::Sfence | X86Op::Lfence | X86Op::Ret => Some(0),
            X86Op::Change(_) | X86Op::Jump(_) => Some(1),
            _ => Some(2),
        }
    }

    fn takes_lock(self) -> bool {
        matches!(self, X86Op::Alu(_) | X86Op::Change(_) | X86Op::Xadd | X86Op::Cmpxchg | X86Op::Xchg)
    }
}

const KNOWN: &str = "mov xchg add sub and or xor inc dec neg not shl shr sar cmp test xadd cmpxchg lea mfence sfence \
                     lfence nop endbr64 ret, jmp je jne jl jle jg jge js jns, and `lock` before those that change memory";

pub fn parse(cursor: &mut LitmusCursor<'_, '_>, dialect: Dialect) -> Option<X86Instruction> {
    let mut mnemonic = cursor.name("an instruction")?;
    let mut lock = None;
    if mnemonic.text.eq_ignore_ascii_case("lock") {
        lock = Some(mnemonic.span);
        mnemonic = cursor.name("an instruction after `lock`")?;
    }
    let start = lock.unwrap_or(mnemonic.span);
    let Some((op, suffix)) = lookup(&mnemonic.text.to_ascii_lowercase()) else {
        cursor.report(unknown(&mnemonic));
        return None;
    };
    let mut operands = Vec::new();
    if !cursor.is("|") && !cursor.is(";") && !cursor.is_end() {
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
    if dialect == Dialect::X86 && !matches!(op, X86Op::Jump(_)) {
        operands.reverse();
        if let Some(X86Operand::Bare(name)) = operands.iter().find(|operand| matches!(operand, X86Operand::Bare(_))) {
            let message = format!("there is no register `{}`", name.text);
            cursor.report(
                Diagnostic::error(name.span, message).with_help(format!("a memory cell is written `[{}]`", name.text)),
            );
            return None;
        }
    }
    Some(X86Instruction { op, mnemonic, suffix, lock, operands, span })
}

/// A mnemonic, perhaps with the suffix of a width.
fn lookup(mnemonic: &str) -> Option<(X86Op, Option<Width>)> {
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
    (op == X86Op::Nop || op.arity() == Some(2) || matches!(op, X86Op::Change(_))).then_some((op, Some(width)))
}

fn exact(mnemonic: &str) -> Option<X86Op> {
    Some(match mnemonic {
        "mov" | "movabs" => X86Op::Mov,
        "xchg" => X86Op::Xchg,
        "lea" => X86Op::Lea,
        "add" => X86Op::Alu(Alu::Add),
        "sub" => X86Op::Alu(Alu::Sub),
        "and" => X86Op::Alu(Alu::And),
        "or" => X86Op::Alu(Alu::Or),
        "xor" => X86Op::Alu(Alu::Xor),
        "shl" | "sal" => X86Op::Shift(Shift::Left),
        "shr" => X86Op::Shift(Shift::Right),
        "sar" => X86Op::Shift(Shift::Arithmetic),
        "inc" => X86Op::Change(UnaryChange::Inc),
        "dec" => X86Op::Change(UnaryChange::Dec),
        "neg" => X86Op::Change(UnaryChange::Neg),
        "not" => X86Op::Change(UnaryChange::Not),
        "cmp" => X86Op::Cmp,
        "test" => X86Op::Test,
        "xadd" => X86Op::Xadd,
        "cmpxchg" => X86Op::Cmpxchg,
        "mfence" => X86Op::Mfence,
        "sfence" => X86Op::Sfence,
        "lfence" => X86Op::Lfence,
        "nop" | "endbr64" | "endbr32" | "pause" => X86Op::Nop,
        "ret" | "retq" => X86Op::Ret,
        "jmp" => X86Op::Jump(None),
        "je" | "jz" => X86Op::Jump(Some(Cond::Eq)),
        "jne" | "jnz" => X86Op::Jump(Some(Cond::Ne)),
        "jl" | "jlt" | "jnge" => X86Op::Jump(Some(Cond::Lt)),
        "jle" | "jng" => X86Op::Jump(Some(Cond::Le)),
        "jg" | "jgt" | "jnle" => X86Op::Jump(Some(Cond::Gt)),
        "jge" | "jnl" => X86Op::Jump(Some(Cond::Ge)),
        "js" => X86Op::Jump(Some(Cond::Sign)),
        "jns" => X86Op::Jump(Some(Cond::NotSign)),
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
