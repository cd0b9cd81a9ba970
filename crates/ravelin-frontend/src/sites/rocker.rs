//! Where a TPL text can be changed: before every statement and its labels, between a statement and its labels, and at the end of
//! every block. An access is a statement of its own; its orders come last in it.

use super::edit::{EditPiece, EditPlace, at_end, before};
use super::{FenceWords, TextOutline};
use crate::rocker::ast::{Block, Expr, File, Name, Operation, StatementKind};
use crate::rocker::words;

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
                let pieces = stronger(text, variable, operation, statement.span.end as usize);
                if let Some(pieces) = pieces {
                    outline.strengthen(at, at, pieces);
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

/// What has to be written for an access that ends before `end` to have stronger orders.
fn stronger(text: &str, variable: &Name, operation: &Operation, end: usize) -> Option<Vec<EditPiece>> {
    let (last, orders): (Option<&Expr>, &[&str]) = match operation {
        Operation::Load(_) => (None, &["acq"]),
        Operation::Store(value, _) => (Some(value), &["rel"]),
        Operation::Wait { values, .. } => (values.last(), &["acq"]),
        Operation::BlockingCas { new, .. } | Operation::CompareExchange { new, .. } => (Some(new), &["acq", "rel"]),
        Operation::Rmw { operand, .. } => (Some(operand), &["acq", "rel"]),
        Operation::Lock | Operation::Unlock => return None,
    };
    let from = last.map_or(variable.span.end, |value| value.span.end) as usize;
    // Behind the last value come the orders, if they are written, and the bracket that ends the access.
    let behind = words(text.get(from..end)?);
    let close = from + behind.iter().rev().find(|(word, _)| *word == ")")?.1;
    let written: Vec<usize> =
        behind.iter().filter(|(word, _)| ["rlx", "acq", "rel"].contains(word)).map(|(_, at)| from + at).collect();
    if written.len() == orders.len() {
        return Some(written.iter().zip(orders).map(|(&at, order)| EditPiece::replace(at..at + 3, order)).collect());
    }
    let separator = if last.is_some() { ", " } else { "" };
    Some(vec![EditPiece::replace(close..close, &format!("{separator}{}", orders.join(", ")))])
}
