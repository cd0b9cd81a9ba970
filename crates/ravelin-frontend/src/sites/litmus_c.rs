//! Where a litmus test in C can be changed: before every statement and at the end of every block. A statement that stands without
//! braces under an `if` or a loop gets braces. Orders can be changed where they are written: what has none is seq_cst or not atomic.

use super::edit::{EditPiece, EditPlace, at_end, before, next, wrap_after, wrap_before};
use super::{FenceWords, TextOutline};
use crate::litmus::{CCode, Operation, OrderedAccess, StatementRole, StoreExchange};
use ravelin_program::{Order, Span};

pub fn outline(text: &str, code: &CCode) -> TextOutline {
    let fence = |order: &str| format!("atomic_thread_fence(memory_order_{order});");
    let mut outline = TextOutline::new(FenceWords::with_orders(
        fence("seq_cst"),
        fence("release"),
        fence("acquire"),
        fence("acq_rel"),
    ));
    for statement in &code.statements {
        let range = statement.span.start as usize..statement.span.end as usize;
        let at = range.start;
        match statement.role {
            StatementRole::Listed => {
                let piece = before(text, at, "", statement.depth);
                outline.insertions.push(EditPlace { at, pieces: vec![piece], ..EditPlace::default() });
            }
            StatementRole::End { last } => {
                let piece = at_end(text, at, last.map(|last| last as usize));
                outline.insertions.push(EditPlace { at, pieces: vec![piece], ..EditPlace::default() });
            }
            StatementRole::Part => {
                let end = range.end;
                let pieces = wrap_before(range.clone(), "", statement.depth);
                outline.insertions.push(EditPlace { at, pieces, wraps: true, ..EditPlace::default() });
                let pieces = wrap_after(range.clone(), "", statement.depth);
                outline.insertions.push(EditPlace { at: next(text, end), pieces, wraps: true, ..EditPlace::default() });
            }
        }
        if statement.fence {
            // Something has to stand under an `if`.
            let part = matches!(statement.role, StatementRole::Part);
            let range = statement.span.start as usize..statement.span.end as usize;
            outline.remove(at, vec![if part { EditPiece::replace(range, ";") } else { EditPiece::remove(range) }]);
        }
    }
    for StoreExchange { store, place, value } in &code.stores {
        let exchange =
            format!("atomic_exchange_explicit({}, {}, memory_order_seq_cst)", quote(text, *place), quote(text, *value));
        let range = store.start as usize..store.end as usize;
        outline.lock(range.start, vec![EditPiece::replace(range, &exchange)]);
    }
    for access in &code.ordered {
        outline.strengthen(access.step as usize, access.span.start as usize, stronger(access));
    }
    outline
}

fn stronger(access: &OrderedAccess) -> Vec<EditPiece> {
    let first = match access.operation {
        Operation::Load => "acquire",
        Operation::Store => "release",
        _ => "acq_rel",
    };
    let is_strong = |order: Order| matches!(order, Order::AcqRel | Order::SeqCst);
    let mut pieces = Vec::new();
    for (&(span, order), (name, enough)) in
        access.orders.iter().zip([(first, is_strong as fn(Order) -> bool), ("acquire", Order::is_acquire)])
    {
        if !enough(order) {
            let range = span.start as usize..span.end as usize;
            pieces.push(EditPiece::replace(range, &format!("memory_order_{name}")));
        }
    }
    pieces
}

fn quote(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
