//! Operators of atomic types: `x = 1`, `x += 2`, `x++`, and `x` where its value is used. They are seq_cst; with another order they
//! are calls: `atomic_store_explicit(&x, 1, memory_order_release)`, or `x.store(1, std::memory_order_release)` in C++.
//!
//! Of an assignment only one that is a statement is found: its value would be another one. What is read is found with the members and
//! indices that belong to it.

use super::text::{CStatement, CText, StatementKind};
use crate::sites::edit::EditPiece;
use crate::sites::orders::{OrderStyle, OrderedAccess};
use ravelin_program::{Instruction, Order, OrderSlot, RmwOp};
use std::ops::Range;

/// How an operator becomes a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCall {
    /// What is put in or replaced, in the order of the text. The order of the access follows the last one.
    pieces: Vec<(Range<usize>, String)>,
    /// Where the order comes to stand, and what is replaced there.
    end: Range<usize>,
    /// The place of what is accessed, which says how calls are nested.
    depth: i32,
    prefix: &'static str,
}

/// An operator of an atomic type that accesses memory.
#[derive(Clone, Debug)]
pub struct AtomicOperator {
    pub at: usize,
    kind: OperatorKind,
    call: OperatorCall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperatorKind {
    Load,
    Store,
    Update(RmwOp),
}

const UPDATES: [(&str, RmwOp); 7] = [
    ("++", RmwOp::Add),
    ("--", RmwOp::Sub),
    ("+=", RmwOp::Add),
    ("-=", RmwOp::Sub),
    ("&=", RmwOp::And),
    ("|=", RmwOp::Or),
    ("^=", RmwOp::Xor),
];

impl AtomicOperator {
    /// The operator that begins here.
    pub fn at(text: &CText, at: usize) -> Option<AtomicOperator> {
        let rest = text.code.get(at..)?;
        let found = match UPDATES.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
            Some((symbol, op)) => AtomicOperator::update(text, at, symbol, *op),
            None if rest.starts_with('=') && !rest.starts_with("==") => {
                let statement = text.statement(at)?;
                let place = assigned(text, &statement, at)?;
                AtomicOperator::written(text, &statement, place, at..at + 1, OperatorKind::Store)
            }
            None => AtomicOperator::load(text, at),
        }?;
        Some(AtomicOperator { at, ..found })
    }

    fn update(text: &CText, at: usize, symbol: &str, op: RmwOp) -> Option<AtomicOperator> {
        let statement = text.statement(at)?;
        let symbol_end = at + symbol.len();
        let kind = OperatorKind::Update(op);
        if symbol.ends_with('=') {
            let place = assigned(text, &statement, at)?;
            return AtomicOperator::written(text, &statement, place, at..symbol_end, kind);
        }
        let end = statement_end(text, &statement)?;
        let (place, gone) = if at == statement.range.start {
            (trimmed(text, symbol_end..end), at..text.skip_blanks(symbol_end))
        } else if text.skip_blanks(symbol_end) == end {
            (assigned(text, &statement, at)?, at..symbol_end)
        } else {
            return None;
        };
        is_place(&text.code[place.clone()]).then_some(())?;
        let words = CallWords::new(text, kind, &place)?;
        let depth = depth(place.start);
        let mut pieces = vec![(place.start..place.start, words.open)];
        if gone.start < place.start {
            pieces[0].0.start = gone.start;
        }
        let last = place.end..place.end.max(gone.end);
        let call = OperatorCall { pieces, end: last, depth, prefix: words.prefix };
        let between = format!("{}1", words.between);
        Some(AtomicOperator { at, kind, call: call.with_value(&between) })
    }

    /// An assignment of what follows the operator.
    fn written(
        text: &CText,
        statement: &CStatement,
        place: Range<usize>,
        operator: Range<usize>,
        kind: OperatorKind,
    ) -> Option<AtomicOperator> {
        let end = statement_end(text, statement)?;
        let value = trimmed(text, operator.end..end);
        if value.is_empty() || is_no_argument(text, value.clone()) {
            return None;
        }
        let words = CallWords::new(text, kind, &place)?;
        let pieces = vec![(place.start..place.start, words.open), (place.end..value.start, words.between.to_owned())];
        let call = OperatorCall { pieces, end: value.end..value.end, depth: depth(place.start), prefix: words.prefix };
        Some(AtomicOperator { at: operator.start, kind, call })
    }

    /// The value of an atomic variable is used here.
    fn load(text: &CText, at: usize) -> Option<AtomicOperator> {
        let stars = text.code.get(at..)?.bytes().take_while(|byte| *byte == b'*').count();
        let name = at + stars;
        let word = text.word(name);
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) || stars > 1 {
            return None;
        }
        let mut end = name + word.len();
        let mut next = text.skip_blanks(end);
        let mut last = word;
        loop {
            let rest = &text.code[next..];
            let member = rest.strip_prefix("->").or(rest.strip_prefix('.')).filter(|_| is_cxx(text));
            if rest.starts_with('[') && text.declares_atomic_array(last) {
                // An array of atomic variables, and not an atomic pointer.
                end = text.close(next)? + 1;
            } else if let Some(member) = member {
                // A pointer that is atomic has no members in C++.
                let start = text.skip_blanks(text.code.len() - member.len());
                last = text.word(start);
                end = start + last.len();
                if last.is_empty() {
                    return None;
                }
            } else {
                break;
            }
            next = text.skip_blanks(end);
        }
        for (symbol, op) in &UPDATES[..2] {
            if text.code[next..].starts_with(symbol) {
                return AtomicOperator::update(text, next, symbol, *op);
            }
        }
        if text.code[next..].starts_with('(') || stars == 1 && end != name + word.len() {
            return None;
        }
        let start = if stars == 1 { at } else { text.start_of_members(name)? };
        let place = start..end;
        let words = CallWords::new(text, OperatorKind::Load, &place)?;
        let pieces = vec![(start..start, words.open)];
        let call = OperatorCall { pieces, end: end..end, depth: depth(start), prefix: words.prefix };
        let call = if words.is_method { call.with_value(words.between) } else { call };
        Some(AtomicOperator { at, kind: OperatorKind::Load, call })
    }

    /// The access is this one: seq_cst, as operators are.
    pub fn agrees(&self, instruction: &Instruction) -> bool {
        let kind = match instruction {
            Instruction::Load { .. } => OperatorKind::Load,
            Instruction::Store { .. } => OperatorKind::Store,
            Instruction::Rmw { op, .. } => OperatorKind::Update(*op),
            _ => return false,
        };
        kind == self.kind && OrderSlot::Main.order(instruction) == Some(Order::SeqCst)
    }

    pub fn ordered(&self) -> OrderedAccess {
        OrderedAccess {
            at: self.at,
            style: OrderStyle::Operator(self.call.clone()),
            written: Vec::new(),
            end: self.call.end.start,
            has_values: true,
        }
    }
}

impl OperatorCall {
    /// A value, or what a method begins with, stands between the place and the order.
    fn with_value(mut self, between: &str) -> OperatorCall {
        let at = self.end.start..self.end.start;
        self.pieces.push((at, between.to_owned()));
        self
    }

    /// The call with an order.
    pub fn pieces(&self, order: Order) -> Vec<EditPiece> {
        let (first, rest) = self.pieces.split_at(1);
        let order_word = format!("{}memory_order_{}", self.prefix, order.name());
        // `x.load(`
        let at_end = self.end.start..self.end.start;
        let is_empty_call = rest.last().is_some_and(|(range, text)| *range == at_end && text.ends_with('('));
        let comma = if is_empty_call { "" } else { ", " };
        let opening = |(range, text): &(Range<usize>, String)| {
            EditPiece::new(range.clone(), self.depth.saturating_add(1), vec![text.clone().into()])
        };
        let mut pieces: Vec<EditPiece> = first.iter().map(opening).collect();
        let mut closing = String::new();
        for (range, text) in rest {
            if *range == at_end {
                closing.push_str(text);
            } else {
                pieces.push(EditPiece::replace(range.clone(), text));
            }
        }
        closing.push_str(&format!("{comma}{order_word})"));
        pieces.push(EditPiece::new(self.end.clone(), (-1i32).saturating_sub(self.depth), vec![closing.into()]));
        pieces
    }
}

/// The words of a call, for C or C++.
struct CallWords {
    open: String,
    between: &'static str,
    prefix: &'static str,
    is_method: bool,
}

impl CallWords {
    fn new(text: &CText, kind: OperatorKind, place: &Range<usize>) -> Option<CallWords> {
        let (name, method) = match kind {
            OperatorKind::Load => ("load", ".load("),
            OperatorKind::Store => ("store", ".store("),
            OperatorKind::Update(RmwOp::Add) => ("fetch_add", ".fetch_add("),
            OperatorKind::Update(RmwOp::Sub) => ("fetch_sub", ".fetch_sub("),
            OperatorKind::Update(RmwOp::And) => ("fetch_and", ".fetch_and("),
            OperatorKind::Update(RmwOp::Or) => ("fetch_or", ".fetch_or("),
            OperatorKind::Update(RmwOp::Xor) => ("fetch_xor", ".fetch_xor("),
            OperatorKind::Update(_) => return None,
        };
        if is_cxx(text) {
            // `*p.load()` would be something else.
            let plain = !text.code[place.clone()].starts_with('*');
            return plain.then(|| CallWords { open: String::new(), between: method, prefix: "std::", is_method: true });
        }
        Some(CallWords { open: format!("atomic_{name}_explicit(&"), between: ", ", prefix: "", is_method: false })
    }
}

fn is_cxx(text: &CText) -> bool {
    text.code.contains("std::")
}

fn depth(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}

/// What a statement assigns to, if it does nothing else.
fn assigned(text: &CText, statement: &CStatement, operator: usize) -> Option<Range<usize>> {
    let place = trimmed(text, statement.range.start..operator);
    is_place(text.code.get(place.clone())?).then_some(place)
}

/// Where the semicolon of a statement is.
fn statement_end(text: &CText, statement: &CStatement) -> Option<usize> {
    let end = statement.range.end.checked_sub(1)?;
    (statement.kind == StatementKind::Simple && text.code.as_bytes().get(end) == Some(&b';')).then_some(end)
}

/// A variable, with members and indices.
fn is_place(place: &str) -> bool {
    let begins = place.trim_start_matches('*').starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '(');
    let operators = place.replace("->", ".");
    let mut depth = 0;
    let outside = operators.chars().filter(|c| {
        depth += i32::from("([".contains(*c));
        let counts = depth == 0;
        depth -= i32::from(")]".contains(*c));
        counts
    });
    let outside: String = outside.collect();
    let outside = outside.trim_start_matches('*');
    begins && !outside.is_empty() && outside.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

fn trimmed(text: &CText, range: Range<usize>) -> Range<usize> {
    let inner = text.code.get(range.clone()).unwrap_or("");
    let start = range.start + inner.len() - inner.trim_start().len();
    start..start.max(range.start + inner.trim_end().len())
}

/// A comma outside of brackets, or an assignment, whose value is atomic itself.
fn is_no_argument(text: &CText, value: Range<usize>) -> bool {
    let code = text.code.as_bytes();
    let assigns = |at: usize| code[at] == b'=' && code[at + 1] != b'=' && !b"=!<>".contains(&code[at - 1]);
    if value.clone().any(|at| at > 0 && at + 1 < code.len() && assigns(at)) {
        return true;
    }
    let mut here = value.start;
    while let Some(next) = text.code.get(here..value.end).and_then(|rest| rest.find([',', '(', '[', '{'])) {
        let at = here + next;
        if text.code.as_bytes()[at] == b',' {
            return true;
        }
        match text.close(at) {
            Some(close) => here = close + 1,
            None => return true,
        }
    }
    false
}
