//! Where a litmus test in C can be changed: before every statement and at the end of every block. A statement that stands without
//! braces under an `if` or a loop gets braces. The orders of calls can be changed, written or not; other accesses are not atomic.

use super::edit::{EditPiece, EditPlace, at_end, before, next, wrap_after, wrap_before};
use super::orders::{OrderStyle, OrderedAccess};
use super::{FenceWords, TextOutline};
use crate::atomic_text::Spelling;
use crate::litmus::{CCode, OrderedCall, StatementRole, StoreExchange};
use ravelin_program::Span;

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
            outline.remove(at, vec![if part { EditPiece::instead(range, ";") } else { EditPiece::remove(range) }]);
        }
    }
    for StoreExchange { store, place, value } in &code.stores {
        let exchange =
            format!("atomic_exchange_explicit({}, {}, memory_order_seq_cst)", quote(text, *place), quote(text, *value));
        let range = store.start as usize..store.end as usize;
        outline.lock(range.start, vec![EditPiece::replace(range, &exchange)]);
    }
    for access in &code.ordered {
        let OrderedCall { step, span, ref orders, values, name } = *access;
        let range = |span: &Span| span.start as usize..span.end as usize;
        let ordered = OrderedAccess {
            at: span.start as usize,
            style: OrderStyle::Call {
                explicit: Some(name as usize),
                spelling: Spelling::C,
                prefix: "",
                one_is_enough: false,
            },
            written: orders.iter().map(range).collect(),
            end: values as usize,
            has_values: true,
        };
        outline.order(step as usize, ordered);
    }
    outline
}

fn quote(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize).unwrap_or("")
}
