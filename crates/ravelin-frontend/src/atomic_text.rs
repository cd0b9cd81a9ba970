//! Atomic accesses in texts of C, C++ and Rust, without a parser: how orders are written, and what is called.
//!
//! All offsets are bytes of the text. [`blanked`] has the same offsets, so what it finds is found in the text.

use ravelin_program::Order;
use std::ops::Range;

/// How an order is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `memory_order_relaxed`
    C,
    /// `memory_order::relaxed`
    Cpp,
    /// `__ATOMIC_RELAXED`
    Builtin,
    /// `Relaxed`
    Rust,
}

impl Spelling {
    pub const ALL: [Spelling; 4] = [Spelling::C, Spelling::Cpp, Spelling::Builtin, Spelling::Rust];

    /// The word for an order.
    pub fn word(self, order: Order) -> String {
        let name = order.name();
        match self {
            Spelling::C => format!("memory_order_{name}"),
            Spelling::Cpp => format!("memory_order::{name}"),
            Spelling::Builtin => format!("__ATOMIC_{}", name.to_ascii_uppercase()),
            Spelling::Rust => {
                let capitals = name.split('_').filter_map(|part| Some((part.chars().next()?, part.get(1..)?)));
                capitals.map(|(first, rest)| format!("{}{rest}", first.to_ascii_uppercase())).collect()
            }
        }
    }
}

/// An order in a text.
#[derive(Clone, Debug)]
pub struct WrittenOrder {
    pub range: Range<usize>,
    pub spelling: Spelling,
    pub order: Order,
}

/// The orders in a part of a text.
pub fn written_orders(code: &str, part: Range<usize>) -> Vec<WrittenOrder> {
    let mut found: Vec<WrittenOrder> = Vec::new();
    let Some(text) = code.get(part.clone()) else { return found };
    for spelling in Spelling::ALL {
        for order in Order::ATOMIC {
            let word = spelling.word(order);
            for (at, _) in text.match_indices(&word) {
                let (from, to) = (part.start + at, part.start + at + word.len());
                let is_whole = !code[..from].ends_with(is_word) && !code[to..].starts_with(is_word);
                if is_whole {
                    found.push(WrittenOrder { range: from..to, spelling, order });
                }
            }
        }
    }
    found.sort_by_key(|order| order.range.start);
    found
}

/// How many arguments of a compare-exchange come before its order of success; `None` if it is something else.
pub fn before_success(name: &str) -> Option<usize> {
    match name {
        "fetch_update" => Some(0),
        _ if !name.contains("compare_exchange") => None,
        _ if name.starts_with("__atomic") => Some(4),
        _ if name.starts_with("atomic") || name.starts_with("__c11") => Some(3),
        _ => Some(2),
    }
}

/// Where the expression before a parenthesis begins: `q->slots[i].next.load`.
pub fn callee(code: &str, open: usize) -> usize {
    let mut depth = 0usize;
    let mut from = open;
    for (at, c) in code[..open].char_indices().rev() {
        match c {
            // A cast, or the head of an `if`.
            ')' if depth == 0 && code[from..open].starts_with(is_word) => break,
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

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with what is in strings, characters and comments blanked, byte by byte. Ends of lines stay.
pub fn blanked(text: &str) -> String {
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
            '\'' => character(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => 0,
        };
        let (skipped, kept) = if length > 0 { (length, 0) } else { (0, c.len_utf8()) };
        code.extend(rest[..skipped].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        code.push_str(&rest[..kept]);
        rest = &rest[skipped + kept..];
    }
    code
}

/// The length of the character that a text begins with, `'x'` or `'\''`; 0 if it is none, as in a lifetime of Rust.
fn character(text: &str) -> usize {
    let mut inner = text[1..].chars();
    match inner.next() {
        Some('\\') => {
            let escape = inner.next().map_or(0, char::len_utf8);
            let end = text.get(2 + escape..).and_then(|rest| rest.find('\''));
            end.filter(|&end| end < 8).map_or(0, |end| 2 + escape + end + 1)
        }
        Some(c) if c != '\'' && inner.next() == Some('\'') => 2 + c.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_code_is_blanked() {
        for (text, code) in [
            ("a \"(\\\"\" b", "a       b"),
            ("a '(' '\\'' '\\x28' b", "a                 b"),
            ("f<'a>('a', x)", "f<'a>(   , x)"),
            ("a // (\nb /* (\n */ c", "a     \nb     \n    c"),
            ("\"ends", "     "),
            ("'é' '\\", "     '\\"),
        ] {
            assert_eq!(blanked(text), code, "{text}");
            assert_eq!(blanked(text).len(), text.len(), "{text}");
        }
    }

    #[test]
    fn orders_are_whole_words() {
        let code = "memory_order_acq_rel x_memory_order_relaxed memory_order::relaxed __ATOMIC_SEQ_CST AcqRel Relaxed2";
        let found = written_orders(code, 0..code.len());
        let found: Vec<_> = found.iter().map(|found| (found.spelling, found.order)).collect();
        assert_eq!(
            found,
            [
                (Spelling::C, Order::AcqRel),
                (Spelling::Cpp, Order::Relaxed),
                (Spelling::Builtin, Order::SeqCst),
                (Spelling::Rust, Order::AcqRel),
            ]
        );
    }
}
