//! Operands, in both orders of writing: `$1`, `%eax`, `(x)`, `8(%rax,%rbx,4)`; `1`, `EAX`, `[x]`, `[EAX+EBX*4+8]`.

use super::super::cursor::{LitmusCursor, Name};
use super::super::header::Dialect;
use super::super::lexer::LitmusTokenKind;
use super::register;
use super::value::Width;
use crate::parsing::TokenParser;
use ravelin_program::{Span, Value};

#[derive(Clone, Debug)]
pub enum X86Operand {
    Number(Value, Span),
    /// `$x`: the address of a cell.
    AddressOf(Name),
    Register(X86Register),
    Memory(MemoryOperand),
    /// A bare name: where a jump goes, or in AT&T order the cell.
    Bare(Name),
}

#[derive(Clone, Copy, Debug)]
pub struct X86Register {
    pub number: usize,
    pub width: Width,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct MemoryOperand {
    pub symbol: Option<Name>,
    pub displacement: Value,
    pub base: Option<X86Register>,
    pub index: Option<(X86Register, Value)>,
    pub span: Span,
}

impl MemoryOperand {
    fn new(span: Span) -> MemoryOperand {
        MemoryOperand { symbol: None, displacement: 0, base: None, index: None, span }
    }

    /// A cell by its name alone.
    pub fn named(&self) -> Option<&Name> {
        let plain = self.displacement == 0 && self.base.is_none() && self.index.is_none();
        self.symbol.as_ref().filter(|_| plain)
    }
}

impl X86Operand {
    pub fn span(&self) -> Span {
        match self {
            X86Operand::Number(_, span) => *span,
            X86Operand::AddressOf(name) | X86Operand::Bare(name) => name.span,
            X86Operand::Register(register) => register.span,
            X86Operand::Memory(memory) => memory.span,
        }
    }

    /// The memory operand that this is: a bare name is a cell where no jump is meant.
    pub fn memory(&self) -> Option<MemoryOperand> {
        match self {
            X86Operand::Memory(memory) => Some(memory.clone()),
            X86Operand::Bare(name) => {
                Some(MemoryOperand { symbol: Some(name.clone()), ..MemoryOperand::new(name.span) })
            }
            _ => None,
        }
    }
}

pub fn parse(cursor: &mut LitmusCursor<'_, '_>, dialect: Dialect) -> Option<X86Operand> {
    let start = cursor.token().span;
    if cursor.eat("$") {
        if cursor.is_name(0) {
            return cursor.name("the name of a cell").map(X86Operand::AddressOf);
        }
        let (value, span) = cursor.integer("a number or the name of a cell after `$`")?;
        return Some(X86Operand::Number(value, start.to(span)));
    }
    match dialect {
        Dialect::X86 => intel(cursor),
        _ => att(cursor),
    }
}

fn att(cursor: &mut LitmusCursor<'_, '_>) -> Option<X86Operand> {
    let start = cursor.token().span;
    if cursor.is("%") {
        return att_register(cursor).map(X86Operand::Register);
    }
    let mut memory = MemoryOperand::new(start);
    if cursor.eat("[") {
        memory.symbol = Some(cursor.name("the name of a cell")?);
        memory.span = start.to(cursor.take("]", "after the name")?);
        return Some(X86Operand::Memory(memory));
    }
    if cursor.is_name(0) {
        let name = cursor.name("the name of a cell")?;
        if !cursor.is("(") && !cursor.is("+") && !cursor.is("-") {
            return Some(X86Operand::Bare(name));
        }
        memory.symbol = Some(name);
        if cursor.eat("+") || cursor.is("-") {
            memory.displacement = cursor.integer("a displacement")?.0;
        }
    } else if !cursor.is("(") {
        let what = "an operand: `$1`, `%eax`, `(x)` or `8(%rax)`";
        let (value, span) = cursor.integer(what)?;
        if !cursor.is("(") {
            let diagnostic = crate::Diagnostic::error(span, "a number alone is no operand")
                .with_help(format!("a constant is written `${value}`, a cell by its name: `(x)`"));
            cursor.report(diagnostic);
            return None;
        }
        memory.displacement = value;
    }
    if cursor.eat("(") {
        att_address(cursor, &mut memory)?;
    }
    memory.span = start.to(cursor.before());
    Some(X86Operand::Memory(memory))
}

/// `x)`, `%rip)`, `%rax)`, `%rax,%rbx,8)` or `,%rbx,8)`.
fn att_address(cursor: &mut LitmusCursor<'_, '_>, memory: &mut MemoryOperand) -> Option<()> {
    if cursor.is_name(0) && memory.symbol.is_none() {
        memory.symbol = Some(cursor.name("the name of a cell")?);
    } else if cursor.is("%") && cursor.text_of(cursor.ahead(1)).eq_ignore_ascii_case("rip") {
        // A cell's place relative to the code is still that cell.
        cursor.bump();
        cursor.bump();
    } else if cursor.is("%") {
        memory.base = Some(att_register(cursor)?);
    } else if !cursor.is(",") {
        cursor.expected("a register or the name of a cell");
        return None;
    }
    if cursor.eat(",") {
        let register = att_register(cursor)?;
        let scale = if cursor.eat(",") { scale(cursor)? } else { 1 };
        memory.index = Some((register, scale));
    }
    cursor.take(")", "after the address")?;
    Some(())
}

fn att_register(cursor: &mut LitmusCursor<'_, '_>) -> Option<X86Register> {
    let start = cursor.take("%", "and a register")?;
    let name = cursor.name("the name of a register after `%`")?;
    known_register(cursor, &name, Dialect::X86_64).map(|register| X86Register { span: start.to(name.span), ..register })
}

fn intel(cursor: &mut LitmusCursor<'_, '_>) -> Option<X86Operand> {
    if cursor.is("[") {
        return intel_address(cursor).map(X86Operand::Memory);
    }
    if cursor.is_name(0) {
        let name = cursor.name("a register")?;
        return Some(match register::find(&name.text, Dialect::X86) {
            Some((number, width)) => X86Operand::Register(X86Register { number, width, span: name.span }),
            None => X86Operand::Bare(name),
        });
    }
    let (value, span) = cursor.integer("an operand: `1`, `EAX`, `[x]` or `[EAX+4]`")?;
    Some(X86Operand::Number(value, span))
}

fn intel_address(cursor: &mut LitmusCursor<'_, '_>) -> Option<MemoryOperand> {
    let start = cursor.bump().span;
    let mut memory = MemoryOperand::new(start);
    loop {
        if cursor.is_name(0) {
            let name = cursor.name("a register or the name of a cell")?;
            match register::find(&name.text, Dialect::X86) {
                Some((number, width)) => {
                    let register = X86Register { number, width, span: name.span };
                    let scale = if cursor.eat("*") { scale(cursor)? } else { 1 };
                    match (&memory.base, &memory.index) {
                        (None, _) if scale == 1 => memory.base = Some(register),
                        (_, None) => memory.index = Some((register, scale)),
                        _ => {
                            cursor.error(name.span, "an address adds at most two registers");
                            return None;
                        }
                    }
                }
                None if memory.symbol.is_none() => memory.symbol = Some(name),
                None => {
                    cursor.error(name.span, "an address names at most one cell");
                    return None;
                }
            }
        } else {
            let (value, _) = cursor.integer("a register, the name of a cell or a number")?;
            memory.displacement = memory.displacement.wrapping_add(value);
        }
        if cursor.eat("]") {
            break;
        }
        if !cursor.eat("+") && !cursor.is("-") {
            cursor.expected("`+` or `]` in the address");
            return None;
        }
    }
    memory.span = start.to(cursor.before());
    Some(memory)
}

fn scale(cursor: &mut LitmusCursor<'_, '_>) -> Option<Value> {
    match cursor.token().kind {
        LitmusTokenKind::Int(scale @ (1 | 2 | 4 | 8)) => {
            cursor.bump();
            Some(scale as Value)
        }
        _ => {
            cursor.expected("a scale of 1, 2, 4 or 8");
            None
        }
    }
}

fn known_register(cursor: &mut LitmusCursor<'_, '_>, name: &Name, dialect: Dialect) -> Option<X86Register> {
    let found = register::find(&name.text, dialect);
    if found.is_none() {
        cursor.report(register::unknown(name, dialect));
    }
    found.map(|(number, width)| X86Register { number, width, span: name.span })
}
