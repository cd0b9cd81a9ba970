//! Expressions, with C's precedence: from loosest to tightest `||`, `&&`, `|`, `^`, `&`, equality, comparison, sums, products.

use super::super::ast::{Expr, ExprKind};
use super::{Parse, Parser};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use ravelin_program::{BinaryOp, Span, UnaryOp};

/// The operators that stand between operands, with how tightly they bind.
const BINARY: &[(&str, u8, BinaryOp)] = &[
    ("||", 1, BinaryOp::Or),
    ("&&", 2, BinaryOp::And),
    ("|", 3, BinaryOp::BitOr),
    ("^", 4, BinaryOp::BitXor),
    ("&", 5, BinaryOp::BitAnd),
    ("==", 6, BinaryOp::Eq),
    ("!=", 6, BinaryOp::Ne),
    ("<=", 7, BinaryOp::Le),
    (">=", 7, BinaryOp::Ge),
    ("<", 7, BinaryOp::Lt),
    (">", 7, BinaryOp::Gt),
    ("+", 8, BinaryOp::Add),
    ("-", 8, BinaryOp::Sub),
    ("*", 9, BinaryOp::Mul),
    ("/", 9, BinaryOp::Div),
    ("%", 9, BinaryOp::Rem),
];

impl Parser<'_> {
    pub fn expression(&mut self) -> Parse<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    /// A condition in parentheses.
    pub fn condition(&mut self, after: &str) -> Parse<Expr> {
        self.expect("(", &format!("after `{after}`"))?;
        let condition = self.expression()?;
        self.expect(")", "after the condition")?;
        Ok(condition)
    }

    /// Operators that bind more tightly than `least`; all of them associate to the left.
    fn binary(&mut self, least: u8) -> Parse<Expr> {
        let mut left = self.unary()?;
        while let TokenKind::Symbol(symbol) = self.cursor.token().kind
            && let Some(&(_, precedence, op)) = BINARY.iter().find(|(written, ..)| *written == symbol)
            && precedence > least
        {
            self.operator()?;
            let right = self.binary(precedence)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    fn operator(&mut self) -> Parse<()> {
        self.count_operator()?;
        self.cursor.bump();
        Ok(())
    }

    fn unary(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let op = match self.cursor.token().kind {
            TokenKind::Symbol("-") => Some(UnaryOp::Neg),
            TokenKind::Symbol("!") => Some(UnaryOp::Not),
            TokenKind::Symbol("+") => None,
            _ => return self.operand(),
        };
        self.operator()?;
        let operand = self.nested(Self::unary)?;
        let Some(op) = op else { return Ok(operand) };
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span: self.cursor.span_from(start) })
    }

    fn operand(&mut self) -> Parse<Expr> {
        let span = self.cursor.span();
        match (self.cursor.token().kind, self.cursor.word()) {
            (TokenKind::Number(_), _) => {
                let number = self.number("a number")?;
                Ok(Expr { kind: ExprKind::Number(number.value), span })
            }
            (TokenKind::Symbol("("), _) => {
                let start = self.cursor.at;
                self.cursor.bump();
                let inner = self.expression()?;
                self.expect(")", "after the expression")?;
                Ok(Expr { span: self.cursor.span_from(start), ..inner })
            }
            (_, Some(word @ ("true" | "false"))) => {
                self.cursor.bump();
                Ok(Expr { kind: ExprKind::Truth(word == "true"), span })
            }
            (_, Some(word @ ("BCAS" | "CAS" | "FADD" | "exchange" | "wait"))) => Err(self.report(
                Diagnostic::error(span, format!("`{word}` cannot stand inside an expression"))
                    .with_help(format!("give its result to a local first: `r = {word}(…);`")),
            )),
            (_, Some(_)) => {
                let name = self.name("a value")?;
                if self.cursor.is(".") {
                    return Ok(self.access_inside(&name.text, span));
                }
                if self.cursor.is("[") {
                    self.cursor.skip_between("[", "]");
                    let whole = Span::new(span.start as usize, self.cursor.last_end());
                    self.report(Diagnostic::error(whole, "there are no arrays in TPL"));
                    return Ok(Expr { kind: ExprKind::Error, span: whole });
                }
                Ok(Expr { kind: ExprKind::Name(name.text), span })
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// `x.load()` where only registers may stand. It is skipped, so that the rest of the statement is still looked at.
    fn access_inside(&mut self, name: &str, start: Span) -> Expr {
        self.cursor.bump();
        if self.cursor.word().is_some() {
            self.cursor.bump();
        }
        if self.cursor.is("(") {
            self.cursor.skip_between("(", ")");
        }
        let span = Span::new(start.start as usize, self.cursor.last_end());
        self.report(
            Diagnostic::error(span, "memory is not accessed inside an expression")
                .with_help(format!("load it into a local first: `r = {name}.load();`")),
        );
        Expr { kind: ExprKind::Error, span }
    }
}
