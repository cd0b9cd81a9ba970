//! Orders in the text of a call.

use super::{Replacement, SourceEdit, line_of};
use crate::repair::OrderChange;
use ravelin_findings::RecordedOrder;
use ravelin_frontend::atomic_text::{Spelling, before_success, blanked, callee, is_word, written_orders};
use ravelin_program::Order;

const ORDERS: [RecordedOrder; 5] = [
    RecordedOrder::Relaxed,
    RecordedOrder::Acquire,
    RecordedOrder::Release,
    RecordedOrder::AcqRel,
    RecordedOrder::SeqCst,
];

/// An order in a text.
struct WrittenOrder {
    from: usize,
    to: usize,
    /// Which argument of its call it is.
    argument: usize,
    spelling: Spelling,
    order: RecordedOrder,
}

/// A call with orders among its own arguments.
struct Call {
    /// From the first character of what is called to the closing parenthesis.
    from: usize,
    to: usize,
    /// What is called, without what it is called on.
    name: String,
    orders: Vec<WrittenOrder>,
}

/// What to replace for a stronger order at a place; `None` if the call or its order is not found.
pub fn replacements(text: &str, edit: &SourceEdit, change: OrderChange) -> Option<Vec<Replacement>> {
    let (line, end) = line_of(text, edit.line)?;
    let calls = calls(text, line, end);
    let at = edit.column.map(|column| line + column as usize - 1);
    let around = |call: &&Call| at.is_some_and(|at| (call.from..=call.to).contains(&at));
    // The innermost call around the column; without one, the only call of the line.
    let call = calls.iter().filter(around).min_by_key(|call| call.to - call.from);
    let call = call.or_else(|| calls.first().filter(|_| calls.len() == 1))?;
    let success = before_success(&call.name);
    if success.is_some_and(|success| call.orders.iter().all(|order| order.argument != success)) {
        // It is hidden, as by a macro; what is seen may be the order of failure.
        return None;
    }
    let mut made = Vec::new();
    for written in &call.orders {
        let kind = match success {
            Some(success) if written.argument > success => (true, false),
            Some(_) => (true, true),
            None => kind(&call.name),
        };
        let order = change.apply(written.order, kind);
        if order != written.order {
            let order = Order::ATOMIC[ORDERS.iter().position(|other| *other == order)?];
            made.push(Replacement { from: written.from, to: written.to, with: written.spelling.word(order) });
        }
    }
    (!made.is_empty()).then_some(made)
}

/// Whether what is called reads and writes.
fn kind(name: &str) -> (bool, bool) {
    match name {
        _ if name.contains("load") || name.contains("wait") || name == "test" => (true, false),
        _ if name.contains("store") || name.contains("clear") => (false, true),
        _ => (true, true),
    }
}

/// The calls with orders that begin on a line or hold it.
fn calls(text: &str, line: usize, end: usize) -> Vec<Call> {
    let code = blanked(text);
    let statement_end = code[end..].find([';', '{']).map_or(code.len(), |at| end + at);
    let mut calls: Vec<Call> = Vec::new();
    for mut written in orders(&code, line, statement_end) {
        let Some((open, close)) = parentheses(&code, written.from) else { continue };
        written.argument = commas(&code[open + 1..written.from]);
        if let Some(call) = calls.iter_mut().find(|call| call.to == close) {
            call.orders.push(written);
            continue;
        }
        let from = callee(&code, open);
        let name: String = code[from..open].trim_end().rsplit(|c: char| !is_word(c)).next().unwrap_or("").to_owned();
        if from < end {
            calls.push(Call { from, to: close, name, orders: vec![written] });
        }
    }
    calls
}

/// The orders in a part of a text.
fn orders(code: &str, from: usize, to: usize) -> Vec<WrittenOrder> {
    let recorded =
        |order: Order| ORDERS.iter().zip(Order::ATOMIC).find(|(_, other)| *other == order).map(|(order, _)| *order);
    let found = written_orders(code, from..to).into_iter().filter_map(|written| {
        let order = recorded(written.order)?;
        Some(WrittenOrder {
            from: written.range.start,
            to: written.range.end,
            argument: 0,
            spelling: written.spelling,
            order,
        })
    });
    found.collect()
}

/// The parentheses around a place.
fn parentheses(code: &str, at: usize) -> Option<(usize, usize)> {
    let mut depth = 0usize;
    let open = code[..at].char_indices().rev().find(|(_, c)| match c {
        ')' => {
            depth += 1;
            false
        }
        '(' if depth == 0 => true,
        '(' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    let mut depth = 0usize;
    let close = code[at..].char_indices().find(|(_, c)| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    })?;
    Some((open.0, at + close.0))
}

/// The commas of a text that are not in parentheses or brackets.
fn commas(text: &str) -> usize {
    let mut depth = 0i32;
    let mut commas = 0;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    commas
}
