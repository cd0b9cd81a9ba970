//! Where a TPL text can be changed: before every statement and its labels, between a statement and its labels, and at the end of
//! every block.

use super::edit::{Piece, Place, at_end, before};
use super::{Outline, Words};
use crate::rocker::ast::{Block, File, StatementKind};

pub fn outline(text: &str, file: &File) -> Outline {
    let mut outline = Outline::new(Words::new("fence(seq_cst);", Some("fence(rel);")));
    for thread in &file.threads {
        block(text, &thread.body, &mut outline);
    }
    outline
}

fn block(text: &str, block: &Block, outline: &mut Outline) {
    let mut last = None;
    for statement in &block.statements {
        let at = statement.span.start as usize;
        let first = statement.labels.first().map_or(at, |label| label.span.start as usize);
        last = Some(first);
        for at in [Some(first), (at != first).then_some(at)].into_iter().flatten() {
            outline.insertions.push(Place { at, pieces: vec![before(text, at, "", 0)], ..Place::default() });
        }
        match &statement.kind {
            StatementKind::Fence(_) => {
                let range = at..statement.span.end as usize;
                // A label needs a statement to stand before.
                let labelled = !statement.labels.is_empty();
                outline.remove(at, vec![if labelled { Piece::replace(range, "skip;") } else { Piece::remove(range) }]);
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
    outline.insertions.push(Place { at: close, pieces: vec![at_end(text, close, last)], ..Place::default() });
}
