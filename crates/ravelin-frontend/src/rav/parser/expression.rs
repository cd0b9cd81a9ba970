//! Expressions, with Rust's precedence, and the accesses to memory that stand in them.
//!
//! One grammar serves statements, constants and goals; what a place does not allow is told when names are resolved,
//! where more can be said about it.

use super::super::ast::{
    AccessCall, ExchangeResult, Expr, ExprKind, Method, Name, RavPlace, ThreadRef, Type, WaitCall,
};
use super::super::format::format_expr;
use super::super::lexer::too_large;
use super::{Parse, Parser, foreign, is_keyword};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use crate::suggest::did_you_mean;
use ravelin_program::{BinaryOp, Order, UnaryOp};

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        self.binary(0)
    }

    /// An expression of operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Parse<Expr> {
        self.nested(|parser| {
            let start = parser.cursor.at;
            let mut left = parser.unary()?;
            while let Some(op) = parser.operator().filter(|op| op.precedence() >= least) {
                if op.is_comparison()
                    && let ExprKind::Binary(earlier, ..) = &left.kind
                    && earlier.is_comparison()
                    && !earlier.is_call()
                {
                    let diagnostic = Diagnostic::error(parser.cursor.span(), "comparisons cannot be chained");
                    return Err(parser.report(diagnostic.with_help("compare twice and join with `&&`")));
                }
                parser.count_operator()?;
                parser.cursor.bump();
                let right = parser.binary(op.precedence() + 1)?;
                left = Expr {
                    kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                    span: parser.cursor.span_from(start),
                };
            }
            Ok(left)
        })
    }

    /// An expression that ends before a `|`.
    pub(super) fn tighter_than_or(&mut self) -> Parse<Expr> {
        self.binary(BinaryOp::BitXor.precedence())
    }

    fn operator(&self) -> Option<BinaryOp> {
        let TokenKind::Symbol(symbol) = self.cursor.token().kind else { return None };
        BinaryOp::ALL.into_iter().find(|op| op.symbol() == symbol)
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let op = match self.cursor.token().kind {
            TokenKind::Symbol("-") => UnaryOp::Neg,
            TokenKind::Symbol("!") => UnaryOp::Not,
            _ => return self.operand(),
        };
        self.cursor.bump();
        let operand = match self.cursor.token().kind {
            // The least value can be written only here: its absolute value is no value.
            TokenKind::Number(value) if op == UnaryOp::Neg => {
                let span = self.cursor.bump().span;
                if value > 1 << 63 {
                    self.report(too_large(span));
                    return Ok(Expr { kind: ExprKind::Error, span });
                }
                let text = self.cursor.quote(span).to_owned();
                Expr { kind: ExprKind::Integer { value, text }, span }
            }
            _ => self.nested(|parser| parser.unary())?,
        };
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span: self.cursor.span_from(start) })
    }

    /// An operand, possibly as the number in `2 of p@label`.
    fn operand(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let count = self.primary()?;
        if !(self.cursor.is_word("of") && self.cursor.word_of(self.cursor.ahead(1)).is_some()) {
            return Ok(count);
        }
        self.cursor.bump();
        let thread = self.name("a thread")?;
        self.expect("@", "and the label at which threads are counted")?;
        let label = self.name("a label")?;
        let kind = ExprKind::Count { count: Box::new(count), thread, label };
        Ok(Expr { kind, span: self.cursor.span_from(start) })
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let token = self.cursor.token();
        let kind = match token.kind {
            TokenKind::Number(value) => {
                self.cursor.bump();
                ExprKind::Integer { value, text: self.cursor.quote(token.span).to_owned() }
            }
            TokenKind::Symbol("(") => {
                self.cursor.bump();
                let inner = self.expr()?;
                self.expect(")", "to close the parenthesis")?;
                ExprKind::Paren(Box::new(inner))
            }
            TokenKind::Symbol("&") => {
                self.cursor.bump();
                ExprKind::AddressOf(self.place()?)
            }
            TokenKind::Word => match self.cursor.quote(token.span) {
                word @ ("true" | "false") => {
                    self.cursor.bump();
                    ExprKind::Bool(word == "true")
                }
                "wait" => self.wait()?,
                "if" => self.nested(|parser| parser.if_expr())?,
                "match" => self.nested(|parser| parser.match_expr())?,
                "checked" if self.cursor.is_ahead(1, "(") => {
                    self.cursor.bump();
                    self.cursor.bump();
                    self.in_arithmetic(None)?
                }
                "wrapping" => {
                    self.cursor.bump();
                    self.expect("(", "and the type in which to compute, as in `wrapping(u8, r + 1)`")?;
                    let ty = self.ty()?;
                    self.expect(",", "and what to compute in this type")?;
                    self.in_arithmetic(Some(ty))?
                }
                word if self.cursor.is_ahead(1, "(") && operator_named(word).is_some() => {
                    let op = operator_named(word).unwrap_or(BinaryOp::Max);
                    self.count_operator()?;
                    self.cursor.bump();
                    self.cursor.bump();
                    self.operator_call(op)?
                }
                word if is_keyword(word) && word != "mem" => return Err(self.expected("an expression")),
                _ => self.named()?,
            },
            _ => match self.step_operator() {
                Some(diagnostic) => return Err(self.report(diagnostic)),
                None => return Err(self.expected("an expression")),
            },
        };
        Ok(Expr { kind, span: self.cursor.span_from(start) })
    }

    /// The rest of `udiv(a, b)`.
    fn operator_call(&mut self, op: BinaryOp) -> Parse<ExprKind> {
        let left = self.expr()?;
        self.expect(",", &format!("and the second operand of `{}`", op.symbol()))?;
        let right = self.expr()?;
        self.expect(")", "after the operands")?;
        Ok(ExprKind::Binary(op, Box::new(left), Box::new(right)))
    }

    /// The rest of `checked(e)` or `wrapping(T, e)`.
    fn in_arithmetic(&mut self, ty: Option<Type>) -> Parse<ExprKind> {
        let inner = self.expr()?;
        self.expect(")", "after the expression")?;
        Ok(ExprKind::Arithmetic(ty, Box::new(inner)))
    }

    /// What starts with a name: a place, an access, a thread at a label, a thread's register.
    fn named(&mut self) -> Parse<ExprKind> {
        if self.cursor.is_ahead(1, "(") && !self.cursor.is_word("mem") {
            let name = self.name("a function")?;
            return self.call_of(name);
        }
        if self.cursor.is_ahead(1, "::") {
            let ty = self.name("an enum")?;
            return self.path(ty);
        }
        let place = self.place()?;
        let thread = |place: RavPlace| ThreadRef { name: place.name, index: place.index };
        if self.cursor.is(".") {
            if self.cursor.is_ahead(2, "(") || self.cursor.ahead(1).kind != TokenKind::Word {
                self.cursor.bump();
                return self.access(place);
            }
            self.cursor.bump();
            let register = self.name("a register")?;
            return Ok(ExprKind::Register(thread(place), register));
        }
        if self.cursor.eat("@") {
            let label = self.name("a label")?;
            return Ok(ExprKind::At(thread(place), label));
        }
        Ok(ExprKind::Place(place))
    }

    pub(super) fn place(&mut self) -> Parse<RavPlace> {
        let start = self.cursor.at;
        let name = if self.cursor.is_word("mem") {
            let span = self.cursor.bump().span;
            if !self.cursor.is("[") {
                return Err(self.expected("`[` and an address after `mem`"));
            }
            Name { text: "mem".to_owned(), span }
        } else {
            self.name("a variable")?
        };
        let mut index = None;
        if self.cursor.eat("[") {
            index = Some(Box::new(self.expr()?));
            self.expect("]", "after the index")?;
        }
        Ok(RavPlace { name, index, span: self.cursor.span_from(start) })
    }

    fn access(&mut self, place: RavPlace) -> Parse<ExprKind> {
        let start = self.cursor.at;
        let method = self.method()?;
        let name = method.name();
        self.expect("(", &format!("after `{name}`"))?;
        let (mut arguments, mut orders) = (Vec::new(), Vec::new());
        while !self.cursor.is(")") {
            let is_order = arguments.len() >= method.arguments()
                && self.cursor.word().is_some_and(|word| order_named(word).is_some())
                && (self.cursor.is_ahead(1, ",") || self.cursor.is_ahead(1, ")"));
            if is_order {
                orders.push(self.order()?);
            } else {
                arguments.push(self.expr()?);
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.expect(")", &format!("after the arguments of `{name}`"))?;
        let span = self.cursor.span_from(start);
        if let Some(diagnostic) = wrong_arguments(method, &arguments, &orders, span) {
            self.report(diagnostic);
            return Ok(ExprKind::Error);
        }
        let compares = matches!(method, Method::CompareExchange { .. });
        let mut outcome = None;
        if self.cursor.is(".") {
            let found = match self.cursor.word_of(self.cursor.ahead(1)) {
                Some("is_ok") => Some(ExchangeResult::IsOk),
                Some("is_err") => Some(ExchangeResult::IsErr),
                _ => None,
            };
            if !compares || found.is_none() {
                self.cursor.bump();
                let what = if compares { "`is_ok()` or `is_err()`" } else { "no further method: this is an integer" };
                return Err(self.expected_word(what, ["is_ok", "is_err"]));
            }
            self.cursor.bump();
            self.cursor.bump();
            self.expect("(", "of the method")?;
            self.expect(")", "of the method")?;
            outcome = found;
        }
        Ok(ExprKind::Access(Box::new(AccessCall { place, method, arguments, orders, outcome })))
    }

    fn method(&mut self) -> Parse<Method> {
        let found = self.cursor.word().and_then(|word| Method::ALL.into_iter().find(|method| method.name() == word));
        match found {
            Some(method) => {
                self.cursor.bump();
                Ok(method)
            }
            None => {
                let names = Method::ALL.map(Method::name);
                let mut diagnostic =
                    Diagnostic::error(self.cursor.span(), format!("expected a method, found {}", self.found()));
                if let Some(word) = self.cursor.word() {
                    diagnostic.message = format!("there is no method `{word}`");
                    diagnostic.help = foreign::method(word).map(str::to_owned).or_else(|| did_you_mean(word, names));
                }
                Err(self.report(diagnostic.with_note(format!("the methods are {}", names.join(", ")))))
            }
        }
    }

    pub(super) fn order(&mut self) -> Parse<Name> {
        match self.cursor.word() {
            Some(word) if order_named(word).is_some() => {
                let span = self.cursor.bump().span;
                Ok(Name { text: word.to_owned(), span })
            }
            Some(word) if self.cursor.is_ahead(1, "::") => {
                let name = Name { text: word.to_owned(), span: self.cursor.bump().span };
                let (path, span) = self.rest_of_path(&name);
                Err(self.no_path(&path, span))
            }
            Some(word) if foreign::order(word).is_some() => {
                let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("there is no order `{word}`"));
                diagnostic.help = foreign::order(word);
                Err(self.report(diagnostic))
            }
            _ => Err(self.expected_word(
                "an order (relaxed, acquire, release, acq_rel or seq_cst)",
                Order::ATOMIC.map(Order::name),
            )),
        }
    }

    fn wait(&mut self) -> Parse<ExprKind> {
        self.cursor.bump();
        self.expect("(", "after `wait`")?;
        let condition = self.expr()?;
        let order = if self.cursor.eat(",") { Some(self.order()?) } else { None };
        self.expect(")", "after the condition")?;
        Ok(ExprKind::Wait(Box::new(WaitCall { condition, order })))
    }
}

/// The operator that is written `name(a, b)`.
pub fn operator_named(word: &str) -> Option<BinaryOp> {
    BinaryOp::ALL.into_iter().find(|op| op.is_call() && op.symbol() == word)
}

/// The order with this name.
pub fn order_named(word: &str) -> Option<Order> {
    Order::ATOMIC.into_iter().find(|order| order.name() == word)
}

fn wrong_arguments(
    method: Method,
    arguments: &[Expr],
    orders: &[Name],
    span: ravelin_program::Span,
) -> Option<Diagnostic> {
    let name = method.name();
    if arguments.len() > method.arguments() && orders.len() < method.orders() {
        // Most likely an order that is misspelt.
        let extra = &arguments[method.arguments()];
        if let ExprKind::Place(RavPlace { name: word, index: None, .. }) = &extra.kind {
            let mut diagnostic = Diagnostic::error(extra.span, format!("there is no order `{}`", word.text))
                .with_note("the orders are relaxed, acquire, release, acq_rel and seq_cst");
            diagnostic.help =
                foreign::order(&word.text).or_else(|| did_you_mean(&word.text, Order::ATOMIC.map(Order::name)));
            return Some(diagnostic);
        }
    }
    let plural = |count: usize, word: &str| match count {
        0 => format!("no {word}"),
        1 => format!("one {word}"),
        _ => format!("two {word}s"),
    };
    if arguments.len() != method.arguments() {
        let shown: Vec<String> = arguments.iter().map(format_expr).collect();
        return Some(
            Diagnostic::error(
                span,
                format!("`{name}` takes {}, not {}", plural(method.arguments(), "value"), shown.len()),
            )
            .with_label(format!("given ({})", shown.join(", "))),
        );
    }
    if orders.len() > method.orders() {
        let message = format!("`{name}` takes {}, not {}", plural(method.orders(), "order"), orders.len());
        let mut diagnostic = Diagnostic::error(span, message);
        if method.orders() == 0 {
            diagnostic.help =
                Some("non-atomic accesses have no order; use `load` or `store` for atomic ones".to_owned());
        }
        return Some(diagnostic);
    }
    None
}
