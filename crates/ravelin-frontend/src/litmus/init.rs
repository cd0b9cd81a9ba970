//! The initial state: `{ x=1; int *p=&x; 0:rax=y; int64_t t[2]={1,-1} }`. What is not listed starts at 0.

use super::condition::{FinalPlace, place};
use super::cursor::{LitmusCursor, Name};
use super::lexer::LitmusTokenKind;
use crate::parsing::TokenParser;
use ravelin_program::{Span, Value};

#[derive(Debug, Default)]
pub struct Init {
    pub cells: Vec<CellInit>,
    pub registers: Vec<RegisterInit>,
    /// A type of 64 bits that holds no address is named.
    pub wide: bool,
    /// How many cells are declared.
    count: usize,
}

#[derive(Debug)]
pub struct CellInit {
    pub name: Name,
    /// In bytes.
    pub size: Value,
    /// `None` for a single cell.
    pub len: Option<usize>,
    /// As many as are given.
    pub values: Vec<InitValue>,
}

#[derive(Debug)]
pub struct RegisterInit {
    pub thread: Value,
    pub name: Name,
    pub value: InitValue,
}

#[derive(Clone, Debug)]
pub enum InitValue {
    Number(Value),
    AddressOf(Name, Value),
}

const MAX_ARRAY: usize = 4096;
const MAX_CELLS: usize = 1 << 16;

/// Parses `{ … }`. `None` if there is no such thing here.
pub fn parse(cursor: &mut LitmusCursor<'_, '_>) -> Option<Init> {
    cursor.take("{", "at the start of the initial state")?;
    let mut init = Init::default();
    while !cursor.is("}") && !cursor.is_end() {
        if cursor.eat(";") {
            continue;
        }
        if item(cursor, &mut init).is_none() {
            skip_item(cursor);
        } else if !cursor.is(";") && !cursor.is("}") {
            cursor.expected("`;` or `}` after the initial value");
            skip_item(cursor);
        }
    }
    cursor.take("}", "at the end of the initial state")?;
    Some(init)
}

fn skip_item(cursor: &mut LitmusCursor<'_, '_>) {
    let mut depth = 0;
    while !cursor.is_end() {
        match () {
            () if cursor.is("{") => depth += 1,
            () if cursor.is("}") && depth == 0 => return,
            () if cursor.is("}") => depth -= 1,
            () if cursor.is(";") && depth == 0 => return,
            () => {}
        }
        cursor.bump();
    }
}

fn item(cursor: &mut LitmusCursor<'_, '_>, init: &mut Init) -> Option<()> {
    let declared = type_words(cursor);
    match place(cursor)? {
        FinalPlace::Register { thread, name, .. } => {
            let value = if cursor.eat("=") { value(cursor)? } else { InitValue::Number(0) };
            init.registers.push(RegisterInit { thread, name, value });
        }
        FinalPlace::Cell { name, index: Some((_, span)) } if declared.size.is_none() => {
            let message = format!("one cell of `{}` cannot be given a value of its own", name.text);
            let help = format!("declare the whole array: `int {}[2] = {{0, 1}}`", name.text);
            cursor.report(crate::Diagnostic::error(span, message).with_help(help));
            return None;
        }
        FinalPlace::Cell { name, index } => {
            let size = declared.size.unwrap_or(4);
            init.wide |= size == 8 && !declared.pointer;
            let len = match index {
                None => None,
                Some((len, span)) => match usize::try_from(len) {
                    Ok(len) if (1..=MAX_ARRAY).contains(&len) => Some(len),
                    _ => {
                        cursor.error(span, format!("an array has from 1 to {MAX_ARRAY} cells, not {len}"));
                        return None;
                    }
                },
            };
            init.count += len.unwrap_or(1);
            if init.count > MAX_CELLS {
                cursor.error(name.span, format!("a test has at most {MAX_CELLS} cells"));
                return None;
            }
            let values = if cursor.eat("=") { values(cursor, len.unwrap_or(1), name.span)? } else { Vec::new() };
            init.cells.push(CellInit { name, size, len, values });
        }
    }
    Some(())
}

struct DeclaredType {
    /// In bytes; `None` if no type is given.
    size: Option<Value>,
    pointer: bool,
}

/// The words and stars before the name of a cell.
fn type_words(cursor: &mut LitmusCursor<'_, '_>) -> DeclaredType {
    let mut declared = DeclaredType { size: None, pointer: false };
    loop {
        // The last word before anything that is no type is the name.
        let type_word = cursor.is_name(0)
            && (cursor.is_name(1)
                || cursor.is_ahead(1, "*")
                || (matches!(cursor.ahead(1).kind, LitmusTokenKind::Int(_)) && cursor.is_ahead(2, ":")));
        if type_word {
            let word = cursor.bump();
            let size = size_of(cursor.text_of(word));
            declared.size = Some(declared.size.unwrap_or(0).max(size));
        } else if cursor.is("*") && declared.size.is_some() {
            cursor.bump();
            declared.pointer = true;
            declared.size = Some(8);
        } else {
            break;
        }
    }
    declared.size = declared.size.map(|size| if size == 0 { 4 } else { size });
    declared
}

/// The size in bytes that a word of a C type asks for; 0 for qualifiers, which leave it open.
pub fn size_of(word: &str) -> Value {
    match word {
        "volatile" | "const" | "_Atomic" | "unsigned" | "signed" | "atomic_t" | "static" => 0,
        "char" | "int8_t" | "uint8_t" | "atomic_char" | "atomic_bool" | "bool" | "_Bool" => 1,
        "short" | "int16_t" | "uint16_t" | "atomic_short" => 2,
        "long" | "int64_t" | "uint64_t" | "atomic_long" | "atomic_ulong" | "atomic_llong" | "atomic_ullong"
        | "size_t" | "intptr_t" | "uintptr_t" => 8,
        _ => 4,
    }
}

fn values(cursor: &mut LitmusCursor<'_, '_>, cells: usize, name: Span) -> Option<Vec<InitValue>> {
    if !cursor.is("{") {
        return Some(vec![value(cursor)?]);
    }
    let open = cursor.bump().span;
    let mut values = Vec::new();
    while !cursor.is("}") {
        values.push(value(cursor)?);
        if !cursor.eat(",") {
            break;
        }
    }
    let close = cursor.take("}", "after the values of an array")?;
    if values.len() > cells {
        let message = format!("{} values are given for {cells} cells", values.len());
        cursor.report(crate::Diagnostic::error(open.to(close), message).with_secondary(name, "declared here"));
        return None;
    }
    Some(values)
}

fn value(cursor: &mut LitmusCursor<'_, '_>) -> Option<InitValue> {
    if cursor.is_name(0) && cursor.is_ahead(1, "(") {
        // ATOMIC_INIT(0) and the like.
        cursor.bump();
        cursor.bump();
        let (number, _) = cursor.integer("a number")?;
        cursor.take(")", "after the number")?;
        return Some(InitValue::Number(number));
    }
    if cursor.eat("&") || cursor.is_name(0) {
        let name = cursor.name("the name of a memory cell")?;
        let mut index = 0;
        if cursor.eat("[") {
            index = cursor.integer("an index")?.0;
            cursor.take("]", "after the index")?;
        }
        return Some(InitValue::AddressOf(name, index));
    }
    let (number, _) = cursor.integer("a number or the address of a cell")?;
    Some(InitValue::Number(number))
}
