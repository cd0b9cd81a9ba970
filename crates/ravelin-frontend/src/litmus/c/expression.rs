//! Expressions of C: its operators with its precedence, casts (which change nothing), and the atomic operations.

use super::super::cursor::{MAX_DEPTH, Name};
use super::super::lexer::LitmusTokenKind;
use super::parser::{Parser, is_type, type_of};
use super::{Call, Expression, ExpressionKind, Operation};
use crate::Diagnostic;
use crate::parsing::TokenParser;
use ravelin_program::{BinaryOp, Order, RmwOp, Span, default_failure};

/// How many operators one statement may have: `1 + 1 + …` nests to the left.
const MAX_OPERATORS: usize = 256;

pub fn expression(parser: &mut Parser<'_, '_, '_>, depth: usize) -> Option<Expression> {
    binary(parser, 1, depth)
}

/// The address of `array[index]`.
pub fn cell_of(array: Expression, index: Expression, span: Span) -> Expression {
    Expression { kind: ExpressionKind::Binary(BinaryOp::Add, Box::new(array), Box::new(index)), span }
}

/// Operators of at least this precedence, as C has it.
fn binary(parser: &mut Parser<'_, '_, '_>, least: u8, depth: usize) -> Option<Expression> {
    let mut left = unary(parser, depth)?;
    loop {
        let token = parser.cursor.token();
        let Some((op, precedence)) = operator(parser.cursor.text_of(token)) else { break };
        if precedence < least {
            break;
        }
        parser.operators += 1;
        if parser.operators > MAX_OPERATORS {
            parser.cursor.error(token.span, format!("a statement has at most {MAX_OPERATORS} operators"));
            return None;
        }
        parser.cursor.bump();
        let right = binary(parser, precedence + 1, depth)?;
        let span = left.span.to(right.span);
        left = Expression { kind: ExpressionKind::Binary(op, Box::new(left), Box::new(right)), span };
    }
    Some(left)
}

fn operator(text: &str) -> Option<(BinaryOp, u8)> {
    Some(match text {
        "||" => (BinaryOp::Or, 1),
        "&&" => (BinaryOp::And, 2),
        "|" => (BinaryOp::BitOr, 3),
        "^" => (BinaryOp::BitXor, 4),
        "&" => (BinaryOp::BitAnd, 5),
        "==" => (BinaryOp::Eq, 6),
        "!=" => (BinaryOp::Ne, 6),
        "<" => (BinaryOp::Lt, 7),
        "<=" => (BinaryOp::Le, 7),
        ">" => (BinaryOp::Gt, 7),
        ">=" => (BinaryOp::Ge, 7),
        "<<" => (BinaryOp::Shl, 8),
        ">>" => (BinaryOp::Shr, 8),
        "+" => (BinaryOp::Add, 9),
        "-" => (BinaryOp::Sub, 9),
        "*" => (BinaryOp::Mul, 10),
        "/" => (BinaryOp::Div, 10),
        "%" => (BinaryOp::Rem, 10),
        _ => return None,
    })
}

fn unary(parser: &mut Parser<'_, '_, '_>, depth: usize) -> Option<Expression> {
    let start = parser.cursor.token().span;
    if depth > MAX_DEPTH {
        parser.cursor.error(start, format!("expressions nest at most {MAX_DEPTH} deep"));
        return None;
    }
    let number = |value| Expression { kind: ExpressionKind::Number(value), span: start };
    if parser.cursor.is("-") && matches!(parser.cursor.ahead(1).kind, LitmusTokenKind::Int(_)) {
        let (value, span) = parser.cursor.integer("a number")?;
        return Some(Expression { kind: ExpressionKind::Number(value), span });
    }
    if parser.cursor.eat("&") {
        let name = parser.cursor.name("the name of a local variable after `&`")?;
        let span = start.to(name.span);
        return Some(Expression { kind: ExpressionKind::AddressOf(name), span });
    }
    let sign = parser.cursor.text_of(parser.cursor.token());
    if ["!", "-", "+", "~", "*"].contains(&sign) {
        parser.cursor.bump();
        let operand = unary(parser, depth + 1)?;
        let span = start.to(operand.span);
        let operand = Box::new(operand);
        let kind = match sign {
            "!" => ExpressionKind::Not(operand),
            "-" => ExpressionKind::Binary(BinaryOp::Sub, Box::new(number(0)), operand),
            "~" => ExpressionKind::Binary(BinaryOp::BitXor, Box::new(number(-1)), operand),
            "*" => ExpressionKind::Deref(operand),
            _ => return Some(Expression { span, ..*operand }),
        };
        return Some(Expression { kind, span });
    }
    if parser.cursor.is("(") && is_type(parser.cursor.text_of(parser.cursor.ahead(1))) && parser.cursor.is_name(1) {
        parser.cursor.bump();
        type_of(parser.cursor, parser.wide);
        parser.cursor.take(")", "after the type of a cast")?;
        return unary(parser, depth + 1);
    }
    let mut value = primary(parser, depth)?;
    while parser.cursor.eat("[") {
        let index = expression(parser, depth + 1)?;
        let span = start.to(parser.cursor.take("]", "after the index")?);
        if matches!(value.kind, ExpressionKind::Index(..)) {
            parser.cursor.error(span, "arrays have one index");
            return None;
        }
        value = Expression { kind: ExpressionKind::Index(Box::new(value), Box::new(index)), span };
    }
    Some(value)
}

fn primary(parser: &mut Parser<'_, '_, '_>, depth: usize) -> Option<Expression> {
    let start = parser.cursor.token().span;
    if parser.cursor.eat("(") {
        let inner = expression(parser, depth + 1)?;
        let end = parser.cursor.take(")", "after the expression")?;
        return Some(Expression { span: start.to(end), ..inner });
    }
    if parser.cursor.is_name(0) {
        let name = parser.cursor.name("a name")?;
        if parser.cursor.is("(") {
            return call(parser, name, depth);
        }
        return Some(Expression { kind: ExpressionKind::Name(name.text), span: start });
    }
    let (value, span) = parser.cursor.integer("an expression")?;
    Some(Expression { kind: ExpressionKind::Number(value), span })
}

fn call(parser: &mut Parser<'_, '_, '_>, name: Name, depth: usize) -> Option<Expression> {
    let Some((operation, explicit)) = operation(&name.text) else {
        parser.cursor.report(unknown(&name));
        return None;
    };
    parser.cursor.bump();
    let mut arguments = Vec::new();
    while !parser.cursor.is(")") {
        arguments.push(expression(parser, depth + 1)?);
        if !parser.cursor.eat(",") {
            break;
        }
    }
    let span = name.span.to(parser.cursor.take(")", "after the arguments")?);
    let values = match operation {
        Operation::Load => 1,
        Operation::Store | Operation::Init | Operation::Rmw(_) => 2,
        Operation::CompareExchange { .. } => 3,
        Operation::Fence => 0,
    };
    let orders = match operation {
        Operation::CompareExchange { .. } if explicit => 2,
        _ => usize::from(explicit),
    };
    if arguments.len() != values + orders {
        let message = format!("`{}` takes {} arguments, not {}", name.text, values + orders, arguments.len());
        parser.cursor.error(span, message);
        return None;
    }
    let mut given = Vec::new();
    for argument in arguments.split_off(values) {
        given.push((order(parser, &argument)?, argument.span));
    }
    let written = given.first().map_or(Order::SeqCst, |(order, _)| *order);
    let failure = given.get(1).map_or(default_failure(written), |(order, _)| *order);
    if let Some(diagnostic) = misfit(operation, &given) {
        parser.cursor.report(diagnostic);
        return None;
    }
    let orders = given.iter().map(|(_, span)| *span).collect();
    let call = Call { operation, arguments, order: written, failure, orders, name: name.span };
    Some(Expression { kind: ExpressionKind::Call(Box::new(call)), span })
}

/// An atomic operation by its name, and whether its orders are written.
fn operation(name: &str) -> Option<(Operation, bool)> {
    let rest = name.strip_prefix("atomic_")?;
    if rest == "thread_fence" {
        return Some((Operation::Fence, true));
    }
    let (stem, explicit) = match rest.strip_suffix("_explicit") {
        Some(stem) => (stem, true),
        None => (rest, false),
    };
    let operation = match stem {
        "load" => Operation::Load,
        "store" => Operation::Store,
        "init" if !explicit => Operation::Init,
        "exchange" => Operation::Rmw(RmwOp::Exchange),
        "fetch_add" => Operation::Rmw(RmwOp::Add),
        "fetch_sub" => Operation::Rmw(RmwOp::Sub),
        "fetch_and" => Operation::Rmw(RmwOp::And),
        "fetch_or" => Operation::Rmw(RmwOp::Or),
        "fetch_xor" => Operation::Rmw(RmwOp::Xor),
        "compare_exchange_strong" => Operation::CompareExchange { weak: false },
        "compare_exchange_weak" => Operation::CompareExchange { weak: true },
        _ => return None,
    };
    Some((operation, explicit))
}

fn unknown(name: &Name) -> Diagnostic {
    let kernel = ["READ_ONCE", "WRITE_ONCE", "smp_", "rcu_", "spin_", "xchg", "cmpxchg", "atomic_read", "atomic_set"];
    let linux = kernel.iter().any(|prefix| name.text.starts_with(prefix));
    let message = if linux {
        format!("`{}` belongs to the Linux kernel, whose tests are not supported", name.text)
    } else {
        format!("there is no operation `{}`", name.text)
    };
    Diagnostic::error(name.span, message).with_help(
        "there are atomic_load, atomic_store, atomic_exchange, atomic_fetch_add, _sub, _and, _or, _xor and \
         atomic_compare_exchange_strong and _weak, all also with `_explicit`, atomic_init and atomic_thread_fence",
    )
}

fn order(parser: &mut Parser<'_, '_, '_>, argument: &Expression) -> Option<Order> {
    let name = match &argument.kind {
        ExpressionKind::Name(name) => name.as_str(),
        _ => "",
    };
    let order = match name.strip_prefix("memory_order_") {
        Some("relaxed") => Order::Relaxed,
        Some("acquire") => Order::Acquire,
        Some("release") => Order::Release,
        Some("acq_rel") => Order::AcqRel,
        Some("seq_cst") => Order::SeqCst,
        Some("consume") => {
            parser.cursor.report(
                Diagnostic::warning(argument.span, "memory_order_consume is read as memory_order_acquire")
                    .with_note("compilers do the same, because dependencies do not survive them"),
            );
            Order::Acquire
        }
        _ => {
            parser.cursor.report(
                Diagnostic::error(argument.span, "expected a memory order")
                    .with_help("memory_order_relaxed, _acquire, _release, _acq_rel, _seq_cst or _consume"),
            );
            return None;
        }
    };
    Some(order)
}

/// Orders that an operation cannot have.
fn misfit(operation: Operation, given: &[(Order, Span)]) -> Option<Diagnostic> {
    let (what, (order, span), allowed) = match (operation, given) {
        (Operation::Load, [one]) if !one.0.fits_load() => ("a load", one, "relaxed, acquire or seq_cst"),
        (Operation::Store, [one]) if !one.0.fits_store() => ("a store", one, "relaxed, release or seq_cst"),
        (Operation::CompareExchange { .. }, [_, failure]) if !failure.0.fits_load() => {
            ("a failing compare-exchange", failure, "relaxed, acquire or seq_cst")
        }
        _ => return None,
    };
    let message = format!("{what} cannot be `memory_order_{}`", order.name());
    Some(Diagnostic::error(*span, message).with_help(format!("use {allowed}")))
}
