//! How the orders of an access are written, and what has to be changed in the text for it to have other ones.
//!
//! Only what differs is touched: an order that stays is left as it is written, and one that is relaxed is taken out where the language
//! takes it for granted (`x.load(acquire)` becomes `x.load()` in `.rav`). In C a call without orders is seq_cst, and gets the name
//! with `_explicit` for another order.

use super::c::OperatorCall;
use super::edit::EditPiece;
use crate::atomic_text::Spelling;
use ravelin_program::{Instruction, Order, OrderSlot, default_failure};
use std::ops::Range;

/// An access, and where its orders stand or would stand.
#[derive(Clone, Debug)]
pub struct OrderedAccess {
    /// Where people are told that it is.
    pub at: usize,
    pub style: OrderStyle,
    /// Where each of its orders is written, that of success before that of failure, or that of the load before that of the store.
    pub written: Vec<Range<usize>>,
    /// Behind the last of its values, where the first order would follow.
    pub end: usize,
    /// There is a value before that.
    pub has_values: bool,
}

/// How a language writes orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderStyle {
    Rav,
    /// A call of C or C++.
    Call {
        /// Where a call without orders gets another name with them.
        explicit: Option<usize>,
        spelling: Spelling,
        /// What stands before an order that is added.
        prefix: &'static str,
        /// A compare-exchange can have one order, from which that of failure follows.
        one_is_enough: bool,
    },
    /// An operator of an atomic type, which is seq_cst, in C or C++.
    Operator(OperatorCall),
    /// Those of the load and of the store, each `rlx` or the strong one.
    Tpl,
}

impl OrderedAccess {
    /// The orders that can be chosen one by one.
    pub fn slots(&self) -> &'static [OrderSlot] {
        match self.style {
            OrderStyle::Rav | OrderStyle::Call { .. } => &[OrderSlot::Main, OrderSlot::Failure],
            OrderStyle::Operator(_) => &[OrderSlot::Main],
            OrderStyle::Tpl => &[OrderSlot::Both],
        }
    }

    /// The pieces with which the access becomes one with the orders of `after`. Both are the same instruction but for orders.
    pub fn pieces(&self, before: &Instruction, after: &Instruction) -> Vec<EditPiece> {
        if before == after {
            return Vec::new();
        }
        let order = |slot: OrderSlot| slot.order(after).unwrap_or(Order::Relaxed);
        let (main, failure) = (order(OrderSlot::Main), order(OrderSlot::Failure));
        let exchanges = matches!(after, Instruction::CompareExchange { .. });
        match &self.style {
            OrderStyle::Rav => {
                let wanted = match (exchanges, self.written.len()) {
                    (false, _) if main == Order::Relaxed => Vec::new(),
                    (false, _) => vec![main],
                    (true, _) if main == Order::Relaxed && failure == Order::Relaxed => Vec::new(),
                    (true, 0 | 1) if default_failure(main) == failure => vec![main],
                    (true, _) => vec![main, failure],
                };
                self.listed(&wanted.iter().map(|order| order.name().to_owned()).collect::<Vec<_>>())
            }
            OrderStyle::Operator(call) => call.pieces(main),
            &OrderStyle::Call { explicit, spelling, prefix, one_is_enough } => {
                let one = one_is_enough && self.written.len() <= 1 && default_failure(main) == failure;
                let wanted = if exchanges && !one { vec![main, failure] } else { vec![main] };
                let word = |(number, order): (usize, &Order)| {
                    let added = number >= self.written.len();
                    format!("{}{}", if added { prefix } else { "" }, spelling.word(*order))
                };
                let wanted: Vec<String> = wanted.iter().enumerate().map(word).collect();
                let mut pieces = self.listed(&wanted);
                if let Some(name) = explicit.filter(|_| self.written.is_empty()) {
                    pieces.push(EditPiece::replace(name..name, "_explicit"));
                }
                pieces
            }
            OrderStyle::Tpl => {
                let (load, store) = (
                    if main.is_acquire() { "acq" } else { "rlx" }.to_owned(),
                    if main.is_release() { "rel" } else { "rlx" }.to_owned(),
                );
                self.listed(&match after {
                    Instruction::Load { .. } | Instruction::Wait { .. } => vec![load],
                    Instruction::Store { .. } => vec![store],
                    _ => vec![load, store],
                })
            }
        }
    }

    /// The pieces that make the list of orders what is wanted.
    fn listed(&self, wanted: &[String]) -> Vec<EditPiece> {
        let both = self.written.iter().zip(wanted);
        let mut pieces: Vec<EditPiece> = both.map(|(range, order)| EditPiece::replace(range.clone(), order)).collect();
        if let Some(last) = self.written.last()
            && wanted.len() < self.written.len()
        {
            let kept = wanted.len().checked_sub(1).and_then(|kept| self.written.get(kept));
            // With the comma before it, if there is something before it.
            let from = match kept {
                Some(kept) => kept.end,
                None if self.has_values => self.end,
                None => self.written.first().map_or(last.start, |first| first.start),
            };
            pieces.push(EditPiece::replace(from..last.end, ""));
        }
        if let [_, ..] = wanted.get(self.written.len()..).unwrap_or_default() {
            let added = wanted[self.written.len()..].join(", ");
            let (at, follows) = match self.written.last() {
                Some(last) => (last.end, true),
                None => (self.end, self.has_values),
            };
            pieces.push(EditPiece::replace(at..at, &if follows { format!(", {added}") } else { added }));
        }
        pieces
    }
}
