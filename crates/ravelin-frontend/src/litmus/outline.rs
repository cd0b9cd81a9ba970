//! The code of a test as it is written: where statements and cells stand, for those who change the text.

use super::c::{self, Expression, ExpressionKind, Operation, Statement};
use super::cursor::LitmusCursor;
use super::header::{self, Dialect};
use super::{condition, init, lexer};
use ravelin_program::Span;

pub(crate) enum LitmusOutline {
    C(CCode),
    X86(Vec<OutlineRow>),
}

/// The functions of a test in C.
#[derive(Default)]
pub(crate) struct CCode {
    pub statements: Vec<CStatement>,
    pub stores: Vec<StoreExchange>,
    pub ordered: Vec<OrderedCall>,
}

/// A statement, or the end of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CStatement {
    pub span: Span,
    pub role: StatementRole,
    /// How deep it is nested.
    pub depth: i32,
    pub fence: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum StatementRole {
    /// One of several in braces.
    Listed,
    /// Stands without braces under an `if` or a loop.
    Part,
    /// The closing brace; `last` is the start of the last statement before it.
    End { last: Option<u32> },
}

/// A store, and what an exchange in its place would be given.
pub(crate) struct StoreExchange {
    pub store: Span,
    pub place: Span,
    pub value: Span,
}

/// An atomic access.
pub(crate) struct OrderedCall {
    /// Where its step starts: it may be a whole statement.
    pub step: u32,
    pub span: Span,
    /// Where orders are written, if they are.
    pub orders: Vec<Span>,
    /// Behind the last argument that is no order.
    pub values: u32,
    /// Behind the name of the function.
    pub name: u32,
}

/// A row of the table of an x86 test.
#[derive(Debug)]
pub(crate) struct OutlineRow {
    pub cells: Vec<OutlineCell>,
    /// Its first token.
    pub start: usize,
    /// Behind its `;`.
    pub end: usize,
}

#[derive(Debug)]
pub(crate) struct OutlineCell {
    /// With the colons.
    pub labels: Option<Span>,
    pub code: Option<Span>,
    /// The `|` or `;` behind it.
    pub separator: usize,
}

/// `None` if the text is no test; of a test with errors, what could be made out.
pub(crate) fn outline(text: &str) -> Option<LitmusOutline> {
    let mut diagnostics = Vec::new();
    let header = header::read(text, &mut diagnostics)?;
    let tokens = lexer::tokens(text, header.body, header.dialect, &mut diagnostics);
    let mut cursor = LitmusCursor::new(text, tokens, &mut diagnostics);
    init::parse(&mut cursor)?;
    if header.dialect != Dialect::C {
        return Some(LitmusOutline::X86(rows(&mut cursor)));
    }
    let mut code = CCode::default();
    for function in c::parser::functions(&mut cursor) {
        stores(&function.body, &mut code.stores);
        ordered(&function.body, &mut code.ordered);
        code.statements.extend(function.written);
    }
    Some(LitmusOutline::C(code))
}

fn stores(statements: &[Statement], found: &mut Vec<StoreExchange>) {
    for statement in statements {
        match statement {
            Statement::Store { place, value, span } => {
                found.push(StoreExchange { store: *span, place: place.span, value: value.span });
            }
            Statement::Evaluate(expression) => {
                if let c::ExpressionKind::Call(call) = &expression.kind
                    && let (Operation::Store | Operation::Init, [place, value]) =
                        (call.operation, call.arguments.as_slice())
                {
                    found.push(StoreExchange { store: expression.span, place: place.span, value: value.span });
                }
            }
            Statement::If { then, otherwise, .. } => {
                stores(then, found);
                stores(otherwise, found);
            }
            Statement::While { body, .. } | Statement::Do { body, .. } => stores(body, found),
            _ => {}
        }
    }
}

fn ordered(statements: &[Statement], found: &mut Vec<OrderedCall>) {
    for statement in statements {
        match statement {
            Statement::Declare { name, value: Some(value) } | Statement::Assign { name, value } => {
                // What is loaded straight into a variable is one step with the assignment.
                let step = matches!(value.kind, ExpressionKind::Call(_)).then_some(name.span.start);
                ordered_in(value, step, found);
            }
            Statement::Store { place, value, .. } => {
                ordered_in(place, None, found);
                ordered_in(value, None, found);
            }
            Statement::If { condition, then, otherwise } => {
                ordered_in(condition, None, found);
                ordered(then, found);
                ordered(otherwise, found);
            }
            Statement::While { condition, body } | Statement::Do { body, condition } => {
                ordered_in(condition, None, found);
                ordered(body, found);
            }
            Statement::Evaluate(expression) => ordered_in(expression, None, found),
            Statement::Declare { value: None, .. } | Statement::Return(_) => {}
        }
    }
}

fn ordered_in(expression: &Expression, step: Option<u32>, found: &mut Vec<OrderedCall>) {
    match &expression.kind {
        ExpressionKind::Number(_) | ExpressionKind::Name(_) | ExpressionKind::AddressOf(_) => {}
        ExpressionKind::Deref(inner) | ExpressionKind::Not(inner) => ordered_in(inner, None, found),
        ExpressionKind::Index(left, right) | ExpressionKind::Binary(_, left, right) => {
            ordered_in(left, None, found);
            ordered_in(right, None, found);
        }
        ExpressionKind::Call(call) => {
            call.arguments.iter().for_each(|argument| ordered_in(argument, None, found));
            let span = expression.span;
            if let Some(last) = call.arguments.last()
                && !matches!(call.operation, Operation::Fence | Operation::Init)
            {
                let (orders, values, name) = (call.orders.clone(), last.span.end, call.name.end);
                found.push(OrderedCall { step: step.unwrap_or(span.start), span, orders, values, name });
            }
        }
    }
}

/// The rows below the names of the threads.
fn rows(cursor: &mut LitmusCursor<'_, '_>) -> Vec<OutlineRow> {
    let mut rows = Vec::new();
    let mut named = false;
    while !cursor.is_end() && !condition::starts(cursor) {
        let mut row = OutlineRow { cells: Vec::new(), start: cursor.token().span.start as usize, end: 0 };
        loop {
            let mut cell = OutlineCell { labels: None, code: None, separator: 0 };
            while cursor.is_name(0) && cursor.is_ahead(1, ":") {
                let span = cursor.bump().span.to(cursor.bump().span);
                cell.labels = Some(cell.labels.map_or(span, |labels: Span| labels.to(span)));
            }
            while !cursor.is_end() && !cursor.is("|") && !cursor.is(";") {
                let span = cursor.bump().span;
                cell.code = Some(cell.code.map_or(span, |code: Span| code.to(span)));
            }
            let separator = cursor.token().span;
            cell.separator = separator.start as usize;
            row.end = separator.end as usize;
            row.cells.push(cell);
            if !cursor.eat("|") {
                cursor.bump();
                break;
            }
        }
        if std::mem::replace(&mut named, true) {
            rows.push(row);
        }
    }
    rows
}
