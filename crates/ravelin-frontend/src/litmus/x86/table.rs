//! The code of an x86 test: rows that end in `;`, columns split by `|`, the first row naming the threads.

use super::super::condition;
use super::super::cursor::{LitmusCursor, Name};
use super::super::header::Dialect;
use super::instruction::{self, X86Instruction};
use crate::parsing::TokenParser;
use ravelin_program::{Span, Value};

#[derive(Debug)]
pub struct TableColumn {
    pub number: Value,
    pub name: Name,
    pub cells: Vec<TableCell>,
}

#[derive(Debug)]
pub struct TableCell {
    pub labels: Vec<Name>,
    pub instruction: Option<X86Instruction>,
    pub span: Span,
}

const MAX_THREADS: usize = 64;

pub fn parse(cursor: &mut LitmusCursor<'_, '_>, dialect: Dialect) -> Vec<TableColumn> {
    let mut columns = names(cursor);
    while !cursor.is_end() && !condition::starts(cursor) {
        row(cursor, dialect, &mut columns);
    }
    columns
}

/// The first row: `P0 | P1 ;`.
fn names(cursor: &mut LitmusCursor<'_, '_>) -> Vec<TableColumn> {
    let mut columns: Vec<TableColumn> = Vec::new();
    while let Some(name) = cursor.name("the name of a thread (`P0`)") {
        match name.text.strip_prefix('P').and_then(|digits| digits.parse().ok()) {
            Some(number) if columns.iter().any(|column| column.number == number) => {
                cursor.error(name.span, format!("there are two threads `{}`", name.text));
            }
            Some(_) if columns.len() >= MAX_THREADS => {
                cursor.error(name.span, format!("a test has at most {MAX_THREADS} threads"));
                break;
            }
            Some(number) => columns.push(TableColumn { number, name, cells: Vec::new() }),
            None => cursor.error(name.span, format!("threads are named P0, P1, …, not `{}`", name.text)),
        }
        if !cursor.eat("|") {
            break;
        }
    }
    if !cursor.eat(";") {
        cursor.expected("`|` or `;` after the name of a thread");
        skip(cursor, &[";"]);
        cursor.eat(";");
    }
    columns
}

fn row(cursor: &mut LitmusCursor<'_, '_>, dialect: Dialect, columns: &mut [TableColumn]) {
    let start = cursor.token().span;
    let mut count = 0;
    loop {
        let cell = cell(cursor, dialect);
        if let Some(column) = columns.get_mut(count) {
            column.cells.extend(cell);
        }
        count += 1;
        if !cursor.eat("|") {
            break;
        }
    }
    let span = start.to(cursor.before());
    if !cursor.eat(";") {
        cursor.expected("`|` or `;` after an instruction");
        return;
    }
    if count != columns.len() && !columns.is_empty() {
        cursor.error(span, format!("this row has {count} columns, and there are {} threads", columns.len()));
    }
}

fn cell(cursor: &mut LitmusCursor<'_, '_>, dialect: Dialect) -> Option<TableCell> {
    let start = cursor.token().span;
    let mut labels = Vec::new();
    while cursor.is_name(0) && cursor.is_ahead(1, ":") {
        labels.extend(cursor.name("a label"));
        cursor.bump();
    }
    let ends = |cursor: &LitmusCursor<'_, '_>| cursor.is("|") || cursor.is(";") || cursor.is_end();
    let mut instruction = None;
    if !ends(cursor) {
        instruction = instruction::parse(cursor, dialect);
        if instruction.is_some() && !ends(cursor) {
            cursor.expected("`|` or `;` after an instruction");
            instruction = None;
        }
        skip(cursor, &["|", ";"]);
    }
    let span = start.to(cursor.before());
    (!labels.is_empty() || instruction.is_some()).then_some(TableCell { labels, instruction, span })
}

/// Goes on to one of these signs.
fn skip(cursor: &mut LitmusCursor<'_, '_>, to: &[&str]) {
    while !cursor.is_end() && !to.iter().any(|sign| cursor.is(sign)) {
        cursor.bump();
    }
}
