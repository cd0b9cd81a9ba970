//! Where a `.rav` text can be changed: before every statement, at the end of every block and before the condition of a `while` loop, but
//! not in `locked { … }`. The orders of accesses can be changed wherever accesses stand.

use super::edit::{EditPiece, EditPlace, PiecePart, at_end, before};
use super::orders::{OrderStyle, OrderedAccess};
use super::{FenceWords, TextOutline};
use crate::rav::ast::{
    self, AccessCall, Block, Else, ExchangeResult, Expr, ExprKind, File, Function, ItemKind, Method, Name, Statement,
    StatementKind,
};
use crate::rav::for_each_block;
use ravelin_program::Span;
use std::ops::Range;

pub fn outline(text: &str, file: &File) -> TextOutline {
    let mut outline = TextOutline::new(FenceWords::with_orders(
        "fence();".to_owned(),
        "fence(release);".to_owned(),
        "fence(acquire);".to_owned(),
        "fence(acq_rel);".to_owned(),
    ));
    for item in &file.items {
        match &item.kind {
            ItemKind::Thread(thread) => block(text, &thread.body, &mut outline),
            // What is computed for constants takes no steps.
            ItemKind::Function(function) if !function.constant => self::function(text, function, &mut outline),
            _ => {}
        }
    }
    outline
}

fn function(text: &str, function: &Function, outline: &mut TextOutline) {
    let Some(value) = &function.value else { return block(text, &function.body, outline) };
    statements(text, &function.body, outline);
    let at = value.value.span.start as usize;
    outline.insertions.push(EditPlace { at, pieces: vec![before(text, at, "", 0)], ..EditPlace::default() });
    orders_in(&value.value, None, outline);
}

fn block(text: &str, block: &Block, outline: &mut TextOutline) {
    statements(text, block, outline);
    let close = (block.span.end as usize).saturating_sub(1);
    let last = block.statements.last().map(|statement| statement.span.start as usize);
    outline.insertions.push(EditPlace { at: close, pieces: vec![at_end(text, close, last)], ..EditPlace::default() });
}

fn statements(text: &str, block: &Block, outline: &mut TextOutline) {
    for statement in &block.statements {
        let at = statement.span.start as usize;
        outline.insertions.push(EditPlace { at, pieces: vec![before(text, at, "", 0)], ..EditPlace::default() });
        self::statement(text, statement, outline);
    }
}

fn statement(text: &str, statement: &Statement, outline: &mut TextOutline) {
    let at = statement.span.start as usize;
    orders(statement, outline);
    match &statement.kind {
        StatementKind::Locked(_) => {}
        StatementKind::Fence(_) => outline.remove(at, vec![EditPiece::remove(at..statement.span.end as usize)]),
        StatementKind::Unlock(place) => {
            let exchange = format!("{}.swap(0, seq_cst);", quote(text, place.span));
            outline.lock(at, vec![EditPiece::replace(at..statement.span.end as usize, &exchange)]);
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
                let open = EditPiece::new(start..start, 0, vec!["{ ".into(), PiecePart::Fence, " ".into()]);
                EditPlace {
                    at: start,
                    pieces: vec![open, EditPiece::replace(end..end, " }")],
                    wraps: true,
                    ..EditPlace::default()
                }
            } else {
                EditPlace {
                    at: start,
                    pieces: vec![EditPiece::new(start..start, 0, vec![PiecePart::Fence, " ".into()])],
                    ..EditPlace::default()
                }
            };
            outline.insertions.push(place);
            block(text, body, outline);
        }
        _ => for_each_block(statement, &mut |inner| block(text, inner, outline)),
    }
}

/// `x.store(e, release)` becomes `x.swap(e, seq_cst)`.
fn exchange(text: &str, access: &AccessCall, value: &Expr) -> Vec<EditPiece> {
    let name = access.place.span.end as usize..value.span.start as usize;
    let order = match access.orders.first() {
        Some(order) => EditPiece::replace(order.span.start as usize..order.span.end as usize, "seq_cst"),
        None => {
            let end = value.span.end as usize;
            EditPiece::replace(end..end, ", seq_cst")
        }
    };
    // What stands between the place and the value is `.store(`, perhaps with blanks and comments.
    let between = text.get(name.clone()).unwrap_or("");
    let method = access.method.name();
    let renamed = match between.rfind(method) {
        Some(at) => name.start + at..name.start + at + method.len(),
        None => return Vec::new(),
    };
    vec![EditPiece::replace(renamed, "swap"), order]
}

/// The orders of the accesses that a statement makes before its blocks.
fn orders(statement: &Statement, outline: &mut TextOutline) {
    let start = statement.span.start as usize;
    match &statement.kind {
        // The step of an access that is all of a statement starts where the statement does.
        StatementKind::Effect(expr)
        | StatementKind::Let { value: Some(expr), .. }
        | StatementKind::Assign { value: expr, .. }
        | StatementKind::Return(Some(expr)) => {
            let whole = expr.computed();
            let detour =
                matches!(&whole.kind, ExprKind::Access(access) if access.outcome == Some(ExchangeResult::IsErr));
            let is_effect = matches!(statement.kind, StatementKind::Effect(_));
            orders_in(whole, (is_effect || !detour).then_some(start), outline);
        }
        StatementKind::CompoundAssign { value, .. } => orders_in(value, None, outline),
        StatementKind::Assume(condition) | StatementKind::Assert(condition) => orders_in(condition, None, outline),
        StatementKind::While { condition, .. } => orders_in(condition, None, outline),
        StatementKind::Match(matched) => orders_in(&matched.value, None, outline),
        StatementKind::If(first) => {
            let mut conditional = Some(first);
            while let Some(current) = conditional.take() {
                orders_in(&current.condition, None, outline);
                if let Some(Else::If(next)) = current.otherwise.as_deref() {
                    conditional = Some(next);
                }
            }
        }
        StatementKind::Lock(place) | StatementKind::Unlock(place) => orders_in_index(place, outline),
        _ => {}
    }
}

/// `step`: where the step of the expression starts, if that is not the expression itself.
fn orders_in(expr: &Expr, step: Option<usize>, outline: &mut TextOutline) {
    let (start, end) = (expr.span.start as usize, expr.span.end as usize);
    match &expr.kind {
        ExprKind::Access(access) => {
            orders_in_index(&access.place, outline);
            access.arguments.iter().for_each(|argument| orders_in(argument, None, outline));
            if matches!(access.method, Method::Read | Method::Write) {
                return;
            }
            let last = access.arguments.last().map(|argument| argument.span.end as usize);
            let ordered = OrderedAccess {
                at: start,
                style: OrderStyle::Rav,
                written: access.orders.iter().map(range).collect(),
                end: last.unwrap_or(end.saturating_sub(1)),
                has_values: last.is_some(),
            };
            outline.order(step.unwrap_or(start), ordered);
        }
        ExprKind::Wait(wait) => {
            orders_in(&wait.condition, None, outline);
            let ordered = OrderedAccess {
                at: start,
                style: OrderStyle::Rav,
                written: wait.order.iter().map(range).collect(),
                end: wait.condition.span.end as usize,
                has_values: true,
            };
            outline.order(step.unwrap_or(start), ordered);
        }
        ExprKind::Unary(_, operand) => orders_in(operand, None, outline),
        ExprKind::Paren(inner) | ExprKind::Arithmetic(_, inner) => orders_in(inner, step, outline),
        ExprKind::Binary(_, left, right) => {
            orders_in(left, None, outline);
            orders_in(right, None, outline);
        }
        ExprKind::AddressOf(place) | ExprKind::Place(place) => orders_in_index(place, outline),
        ExprKind::Call(call) => call.arguments.iter().for_each(|argument| orders_in(argument, None, outline)),
        ExprKind::If(branches) => {
            for part in [&branches.condition, &branches.then, &branches.otherwise] {
                orders_in(part, None, outline);
            }
        }
        ExprKind::Match(matched) => {
            orders_in(&matched.value, None, outline);
            matched.arms.iter().for_each(|arm| orders_in(&arm.body, None, outline));
        }
        _ => {}
    }
}

fn orders_in_index(place: &ast::RavPlace, outline: &mut TextOutline) {
    if let Some(index) = &place.index {
        orders_in(index, None, outline);
    }
}

fn range(written: &Name) -> Range<usize> {
    written.span.start as usize..written.span.end as usize
}

fn quote(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
