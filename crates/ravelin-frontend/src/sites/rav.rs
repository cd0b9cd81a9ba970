//! Where a `.rav` text can be changed: before every statement, at the end of every block and before the condition of a `while` loop, but
//! not in `locked { … }`.

use super::edit::{Part, Piece, Place, at_end, before};
use super::{Outline, Words};
use crate::rav::ast::{Access, Block, Expr, ExprKind, File, ItemKind, Method, Statement, StatementKind};
use crate::rav::for_each_block;
use ravelin_program::Span;

pub fn outline(text: &str, file: &File) -> Outline {
    let mut outline = Outline::new(Words::new("fence();", Some("fence(release);")));
    for item in &file.items {
        if let ItemKind::Thread(thread) = &item.kind {
            block(text, &thread.body, &mut outline);
        }
    }
    outline
}

fn block(text: &str, block: &Block, outline: &mut Outline) {
    for statement in &block.statements {
        let at = statement.span.start as usize;
        outline.insertions.push(Place { at, pieces: vec![before(text, at, "", 0)], ..Place::default() });
        self::statement(text, statement, outline);
    }
    let close = (block.span.end as usize).saturating_sub(1);
    let last = block.statements.last().map(|statement| statement.span.start as usize);
    outline.insertions.push(Place { at: close, pieces: vec![at_end(text, close, last)], ..Place::default() });
}

fn statement(text: &str, statement: &Statement, outline: &mut Outline) {
    let at = statement.span.start as usize;
    match &statement.kind {
        StatementKind::Locked(_) => {}
        StatementKind::Fence(_) => outline.remove(at, vec![Piece::remove(at..statement.span.end as usize)]),
        StatementKind::Unlock(place) => {
            let exchange = format!("{}.swap(0, seq_cst);", quote(text, place.span));
            outline.lock(at, vec![Piece::replace(at..statement.span.end as usize, &exchange)]);
        }
        StatementKind::Effect(expr) => {
            if let ExprKind::Access(access) = &expr.bare().kind
                && let (Method::Store | Method::Write, [value]) = (access.method, access.arguments.as_slice())
            {
                outline.lock(at, exchange(text, access, value));
            }
        }
        StatementKind::While { head, condition, body } => {
            for fence in head {
                self::statement(text, fence, outline);
            }
            let (start, end) = (condition.span.start as usize, condition.span.end as usize);
            // One fence for all ways to the condition; the braces are there already if there is a fence.
            let place = if head.is_empty() {
                let open = Piece::new(start..start, 0, vec!["{ ".into(), Part::Fence, " ".into()]);
                Place { at: start, pieces: vec![open, Piece::replace(end..end, " }")], wraps: true, ..Place::default() }
            } else {
                Place {
                    at: start,
                    pieces: vec![Piece::new(start..start, 0, vec![Part::Fence, " ".into()])],
                    ..Place::default()
                }
            };
            outline.insertions.push(place);
            block(text, body, outline);
        }
        _ => for_each_block(statement, &mut |inner| block(text, inner, outline)),
    }
}

/// `x.store(e, release)` becomes `x.swap(e, seq_cst)`.
fn exchange(text: &str, access: &Access, value: &Expr) -> Vec<Piece> {
    let name = access.place.span.end as usize..value.span.start as usize;
    let order = match access.orders.first() {
        Some(order) => Piece::replace(order.span.start as usize..order.span.end as usize, "seq_cst"),
        None => {
            let end = value.span.end as usize;
            Piece::replace(end..end, ", seq_cst")
        }
    };
    // What stands between the place and the value is `.store(`, perhaps with blanks and comments.
    let between = text.get(name.clone()).unwrap_or("");
    let method = access.method.name();
    let renamed = match between.rfind(method) {
        Some(at) => name.start + at..name.start + at + method.len(),
        None => return Vec::new(),
    };
    vec![Piece::replace(renamed, "swap"), order]
}

fn quote(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
