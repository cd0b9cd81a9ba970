//! Orders in the text of a call.

use super::{Replacement, SourceEdit, line_of};
use crate::repair::OrderChange;
use ravelin_findings::RecordedOrder;

/// How an order is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// `memory_order_relaxed`
    C,
    /// `memory_order::relaxed`
    Cpp,
    /// `__ATOMIC_RELAXED`
    Builtin,
    /// `Relaxed`
    Rust,
}

const SPELLINGS: [(Spelling, &str, [&str; 5]); 4] = [
    (Spelling::C, "memory_order_", SMALL),
    (Spelling::Cpp, "memory_order::", SMALL),
    (Spelling::Builtin, "__ATOMIC_", ["RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"]),
    (Spelling::Rust, "", ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"]),
];
const SMALL: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
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
            let (_, prefix, names) = SPELLINGS.iter().find(|(spelling, ..)| *spelling == written.spelling)?;
            let name = names[ORDERS.iter().position(|other| *other == order)?];
            made.push(Replacement { from: written.from, to: written.to, with: format!("{prefix}{name}") });
        }
    }
    (!made.is_empty()).then_some(made)
}

/// How many arguments of a compare-exchange come before its order of success; `None` if it is something else.
fn before_success(name: &str) -> Option<usize> {
    match name {
        "fetch_update" => Some(0),
        _ if !name.contains("compare_exchange") => None,
        _ if name.starts_with("__atomic") => Some(4),
        _ if name.starts_with("atomic") => Some(3),
        _ => Some(2),
    }
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
    let code = without_strings(text);
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
    let mut found: Vec<WrittenOrder> = Vec::new();
    for (spelling, prefix, names) in SPELLINGS {
        for (name, order) in names.iter().zip(ORDERS) {
            let word = format!("{prefix}{name}");
            for (at, _) in code[from..to].match_indices(&word) {
                let (from, to) = (from + at, from + at + word.len());
                let is_whole = !code[..from].ends_with(is_word) && !code[to..].starts_with(is_word);
                if is_whole {
                    found.push(WrittenOrder { from, to, argument: 0, spelling, order });
                }
            }
        }
    }
    found.sort_by_key(|order| order.from);
    found
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

/// Where the expression before a parenthesis begins: `q->slots[i].next.load`.
fn callee(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    let mut from = open;
    for (at, c) in code[..open].char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            c if is_word(c) || matches!(c, '.' | ':' | '>' | '-') => {}
            c if c.is_whitespace() && code[from..open].trim_start().starts_with(['.', '(']) => {}
            _ => break,
        }
        from = at;
    }
    from + code[from..open].len() - code[from..open].trim_start().len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with what is in strings and comments blanked, byte by byte.
fn without_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c: char| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            '\'' if rest.starts_with("'\"'") => 3,
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => 0,
        };
        let (blanked, kept) = if length > 0 { (length, 0) } else { (0, c.len_utf8()) };
        code.extend(rest[..blanked].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        code.push_str(&rest[..kept]);
        rest = &rest[blanked + kept..];
    }
    code
}
