//! Calls of atomic operations in C and C++: which orders they have, written or not, and how others are written.

use super::text::CText;
use crate::atomic_text::{Spelling, WrittenOrder, before_success, callee, written_orders};
use crate::sites::orders::{OrderStyle, OrderedAccess};
use ravelin_program::{Instruction, Order, OrderSlot, default_failure};
use std::ops::Range;

/// A call of an atomic operation.
#[derive(Clone, Debug)]
pub struct AtomicCall {
    /// From the first character of what is called to the closing parenthesis.
    pub range: Range<usize>,
    /// The word before the parenthesis.
    pub name: Range<usize>,
    pub open: usize,
    pub kind: CallKind,
    written: Vec<WrittenOrder>,
    /// The end of the last value, and whether there is one.
    values: (usize, bool),
    /// Without orders it is seq_cst. The names of C get another end with orders.
    family: CallFamily,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    Load,
    Store,
    /// Reads and writes.
    Exchange,
    CompareExchange,
    Fence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallFamily {
    /// `atomic_load`
    Implicit,
    /// `atomic_load_explicit`, `__atomic_load_n`
    Explicit,
    /// `x.load`
    Member,
}

/// Whether a word is the name of an atomic operation, or of a fence.
pub fn is_operation(word: &str) -> bool {
    kind(word).is_some()
}

fn kind(word: &str) -> Option<CallKind> {
    let plain = ["__c11_atomic_", "__atomic_", "atomic_"].iter().find_map(|prefix| word.strip_prefix(prefix));
    let plain = plain.unwrap_or(word);
    let plain = plain.strip_suffix("_explicit").or(plain.strip_suffix("_n")).unwrap_or(plain);
    Some(match plain {
        "load" | "flag_test" | "test" => CallKind::Load,
        "store" | "flag_clear" | "clear" => CallKind::Store,
        "exchange" | "flag_test_and_set" | "test_and_set" => CallKind::Exchange,
        "compare_exchange" | "compare_exchange_weak" | "compare_exchange_strong" => CallKind::CompareExchange,
        "thread_fence" if plain != word => CallKind::Fence,
        _ if plain.starts_with("fetch_") || plain.ends_with("_fetch") => CallKind::Exchange,
        _ => return None,
    })
}

impl AtomicCall {
    /// All calls of a text.
    pub fn all(text: &CText) -> Vec<AtomicCall> {
        let calls = text.calls(0..text.code.len());
        calls.filter_map(|(name, open)| AtomicCall::new(text, name, open)).collect()
    }

    fn new(text: &CText, word: &str, open: usize) -> Option<AtomicCall> {
        let kind = kind(word)?;
        let code = &text.code;
        let close = text.close(open)?;
        let name_end = code[..open].trim_end().len();
        let name = name_end - word.len()..name_end;
        let before = code[..name.start].trim_end();
        let is_member = before.ends_with('.') || before.ends_with("->");
        let is_free = ["atomic_", "__atomic_", "__c11_atomic_"].iter().any(|prefix| word.starts_with(prefix));
        if is_member == is_free {
            return None;
        }
        let family = match is_member {
            true => CallFamily::Member,
            false if word.ends_with("_explicit") || word.starts_with("__") || kind == CallKind::Fence => {
                CallFamily::Explicit
            }
            false => CallFamily::Implicit,
        };
        let arguments = arguments(text, open, close);
        let order_of = |argument: &Range<usize>| -> Option<WrittenOrder> {
            let written = written_orders(code, argument.clone());
            let [order] = &written[..] else { return None };
            let alone = ["", "std::"].contains(&code[argument.start..order.range.start].trim());
            (alone && order.range.end == argument.end && order.spelling != Spelling::Rust).then(|| order.clone())
        };
        let orders = arguments.iter().rev().map_while(order_of).count();
        let values = &arguments[..arguments.len() - orders];
        let written: Vec<WrittenOrder> = arguments[values.len()..].iter().filter_map(order_of).collect();
        let expected = match (family, kind) {
            (CallFamily::Implicit, _) => 0..=0,
            (CallFamily::Member, CallKind::CompareExchange) => 0..=2,
            (CallFamily::Member, _) => 0..=1,
            (CallFamily::Explicit, CallKind::CompareExchange) => 2..=2,
            (CallFamily::Explicit, _) => 1..=1,
        };
        let others = before_success(word).is_some_and(|count| !is_member && values.len() != count)
            || written.windows(2).any(|pair| pair[0].spelling != pair[1].spelling);
        // An order that is not written as such, as by a macro, is taken for a value.
        let most = match kind {
            CallKind::CompareExchange => 2,
            CallKind::Load | CallKind::Fence => 0,
            _ if word.starts_with("test") || word == "clear" => 0,
            CallKind::Store | CallKind::Exchange => 1,
        };
        if is_member && values.len() > most {
            return None;
        }
        if !expected.contains(&written.len()) || (family == CallFamily::Explicit && others) {
            return None;
        }
        let end = values.last().map_or(open + 1, |value| value.end);
        let start = match is_member {
            true => callee(code, open),
            false => before.strip_suffix("std::").map_or(name.start, str::len),
        };
        let range = start..close + 1;
        Some(AtomicCall { range, name, open, kind, written, values: (end, !values.is_empty()), family })
    }

    /// The orders of the instruction are those that are written.
    pub fn agrees(&self, instruction: &Instruction) -> bool {
        let kind = match instruction {
            Instruction::Load { .. } => CallKind::Load,
            Instruction::Store { .. } => CallKind::Store,
            Instruction::Rmw { .. } => CallKind::Exchange,
            Instruction::CompareExchange { .. } => CallKind::CompareExchange,
            Instruction::Fence(order) => {
                return self.kind == CallKind::Fence
                    && self.written.first().is_some_and(|written| written.order == *order);
            }
            _ => return false,
        };
        let main = self.written.first().map_or(Order::SeqCst, |written| written.order);
        let failure = self.written.get(1).map_or(default_failure(main), |written| written.order);
        kind == self.kind
            && OrderSlot::Main.order(instruction) == Some(main)
            && OrderSlot::Failure.order(instruction).is_none_or(|order| order == failure)
    }

    pub fn ordered(&self) -> OrderedAccess {
        let is_qualified = self.family == CallFamily::Member || self.range.start < self.name.start;
        let prefix = if is_qualified { "std::" } else { "" };
        let spelling = self.written.first().map_or(Spelling::C, |written| written.spelling);
        OrderedAccess {
            at: self.range.start,
            style: OrderStyle::Call {
                explicit: (self.family == CallFamily::Implicit).then_some(self.name.end),
                spelling,
                prefix,
                one_is_enough: self.family == CallFamily::Member,
            },
            written: self.written.iter().map(|written| written.range.clone()).collect(),
            end: self.values.0,
            has_values: self.values.1,
        }
    }

    /// Another operation with the order seq_cst: what is replaced.
    pub fn renamed(&self, code: &str, from: &str, to: &str) -> Option<Vec<(Range<usize>, String)>> {
        let name = &code[self.name.clone()];
        if !name.contains(from) || name.contains("flag") {
            return None;
        }
        let mut pieces = vec![(self.name.clone(), name.replacen(from, to, 1))];
        pieces.extend(self.written.iter().map(|written| (written.range.clone(), written.spelling.word(Order::SeqCst))));
        Some(pieces)
    }
}

/// The arguments of a call, without the blanks around them.
fn arguments(text: &CText, open: usize, close: usize) -> Vec<Range<usize>> {
    let code = &text.code;
    let (mut found, mut start, mut here) = (Vec::new(), open + 1, open + 1);
    let trimmed = |range: Range<usize>| {
        let inner = &code[range.clone()];
        let start = range.start + inner.len() - inner.trim_start().len();
        start..start.max(range.start + inner.trim_end().len())
    };
    while let Some(next) = code.get(here..close).and_then(|rest| rest.find([',', '(', '[', '{'])) {
        here += next;
        if code.as_bytes()[here] == b',' {
            found.push(trimmed(start..here));
            here += 1;
            start = here;
        } else {
            let Some(end) = text.close(here) else { break };
            here = end + 1;
        }
    }
    let last = trimmed(start..close);
    if !found.is_empty() || !last.is_empty() {
        found.push(last);
    }
    found
}
