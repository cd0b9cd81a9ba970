//! Where a TPL text can be changed: before every statement and its labels, between a statement and its labels, and at the end of
//! every block. An access is a statement of its own; its orders come last in it.

use super::edit::{EditPiece, EditPlace, at_end, before};
use super::orders::{OrderStyle, OrderedAccess};
use super::{FenceWords, TextOutline};
use crate::rocker::ast::{Block, Expr, File, Name, Operation, StatementKind};
use crate::rocker::words;
use std::ops::Range;

pub fn outline(text: &str, file: &File) -> TextOutline {
    let mut outline = TextOutline::new(FenceWords::with_orders(
        "fence(seq_cst);".to_owned(),
        "fence(rel);".to_owned(),
        "fence(acq);".to_owned(),
        "fence(acq_rel);".to_owned(),
    ));
    for thread in &file.threads {
        block(text, &thread.body, &mut outline);
    }
    outline
}

fn block(text: &str, block: &Block, outline: &mut TextOutline) {
    let mut last = None;
    for statement in &block.statements {
        let at = statement.span.start as usize;
        let first = statement.labels.first().map_or(at, |label| label.span.start as usize);
        last = Some(first);
        for at in [Some(first), (at != first).then_some(at)].into_iter().flatten() {
            outline.insertions.push(EditPlace { at, pieces: vec![before(text, at, "", 0)], ..EditPlace::default() });
        }
        match &statement.kind {
            StatementKind::Fence(_) => {
                let range = at..statement.span.end as usize;
                // A label needs a statement to stand before.
                let labelled = !statement.labels.is_empty();
                outline.remove(
                    at,
                    vec![if labelled { EditPiece::replace(range, "skip;") } else { EditPiece::remove(range) }],
                );
            }
            StatementKind::Access { variable, operation, .. } => {
                if let Some(ordered) = ordered(text, variable, operation, at..statement.span.end as usize) {
                    outline.order(at, ordered);
                }
            }
            StatementKind::If { then, otherwise, .. } => {
                self::block(text, then, outline);
                otherwise.iter().for_each(|otherwise| self::block(text, otherwise, outline));
            }
            StatementKind::While { body, .. } => self::block(text, body, outline),
            StatementKind::OneOf(blocks) => blocks.iter().for_each(|inner| self::block(text, inner, outline)),
            _ => {}
        }
    }
    let close = (block.span.end as usize).saturating_sub(1);
    outline.insertions.push(EditPlace { at: close, pieces: vec![at_end(text, close, last)], ..EditPlace::default() });
}

/// The orders of an access, which stands in that statement.
fn ordered(text: &str, variable: &Name, operation: &Operation, statement: Range<usize>) -> Option<OrderedAccess> {
    let last: Option<&Expr> = match operation {
        Operation::Load(_) => None,
        Operation::Store(value, _) => Some(value),
        Operation::Wait { values, .. } => values.last(),
        Operation::BlockingCas { new, .. } | Operation::CompareExchange { new, .. } => Some(new),
        Operation::Rmw { operand, .. } => Some(operand),
        Operation::Lock | Operation::Unlock => return None,
    };
    let from = last.map_or(variable.span.end, |value| value.span.end) as usize;
    // Behind the last value come the orders, if they are written, and the bracket that ends the access.
    let behind = words(text.get(from..statement.end)?);
    let close = from + behind.iter().rev().find(|(word, _)| *word == ")")?.1;
    let written = behind.iter().filter(|(word, _)| ["rlx", "acq", "rel"].contains(word));
    let written: Vec<Range<usize>> = written.map(|(_, at)| from + at..from + at + 3).collect();
    Some(OrderedAccess { at: statement.start, style: OrderStyle::Tpl, end: close, has_values: last.is_some(), written })
}
