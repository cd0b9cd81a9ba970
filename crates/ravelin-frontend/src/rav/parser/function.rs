//! Functions, their calls, and enums.

use super::super::ast::{
    Block, EnumItem, Expr, ExprKind, Function, FunctionCall, FunctionValue, IfExpr, ItemKind, Parameter, Variant,
};
use super::{Parse, Parser, SyntaxError};
use crate::Diagnostic;
use crate::parsing::{LineToken, NestedParser, TokenKind, TokenParser};
use ravelin_program::Span;
use std::collections::HashSet;
use std::sync::Arc;

/// The words that stand after `fn`: what is called like a statement that is misspelt may be one of them.
pub(super) fn declared<'a>(text: &'a str, tokens: &[LineToken]) -> HashSet<&'a str> {
    let word = |token: &LineToken| match token.kind {
        TokenKind::Word => text.get(token.span.start as usize..token.span.end as usize),
        _ => None,
    };
    tokens.windows(2).filter(|pair| word(&pair[0]) == Some("fn")).filter_map(|pair| word(&pair[1])).collect()
}

impl Parser<'_> {
    /// `enum Color { Red, Green = 5 }`.
    pub(super) fn enumeration(&mut self) -> Parse<ItemKind> {
        self.cursor.bump();
        let name = self.name("an enum")?;
        let open = self.cursor.span();
        self.expect("{", "and the names of the enum's values")?;
        let mut variants = Vec::new();
        while !self.cursor.is("}") {
            let variant = self.name("a value of the enum")?;
            self.no_fields(&variant.text)?;
            let value = if self.cursor.eat("=") { Some(self.expr()?) } else { None };
            variants.push(Variant { name: variant, value });
            if !self.cursor.eat(",") {
                break;
            }
        }
        if self.cursor.is_end() {
            return Err(self.unclosed(open));
        }
        self.expect("}", "or `,` and another name")?;
        Ok(ItemKind::Enum(EnumItem { name, variants }))
    }

    /// Refuses `Some(u8)` and `Move { x: u8 }`.
    fn no_fields(&mut self, variant: &str) -> Parse<()> {
        if !self.cursor.is("(") && !self.cursor.is("{") {
            return Ok(());
        }
        let message = format!("`{variant}` cannot hold values: those of an enum are names for integers");
        Err(self.report(
            Diagnostic::error(self.cursor.span(), message).with_help("keep what it would hold in a cell of its own"),
        ))
    }

    /// `fn f(a, mut b: u8) -> bool { … }`, with or without `const`.
    pub(super) fn function(&mut self) -> Parse<ItemKind> {
        let constant = self.cursor.eat_word("const");
        self.cursor.bump();
        let name = self.name("a function")?;
        if self.cursor.is("<") {
            let diagnostic = Diagnostic::error(self.cursor.span(), "functions have no type parameters");
            return Err(self.report(diagnostic.with_help("leave them out: parameters without a type take any value")));
        }
        self.expect("(", "and the parameters of the function")?;
        let mut parameters = Vec::new();
        while !self.cursor.is(")") {
            parameters.push(self.parameter()?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        let result = if self.cursor.eat("->") { Some(self.ty()?) } else { None };
        let (body, value) = match result {
            Some(_) => self.value_block()?,
            None => (self.block("of the function")?, None),
        };
        Ok(ItemKind::Function(Arc::new(Function { name, constant, parameters, result, body, value })))
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let mutable = self.cursor.is_word("mut") && self.cursor.word_of(self.cursor.ahead(1)).is_some() && {
            self.cursor.bump();
            true
        };
        if self.cursor.is("&") {
            let diagnostic = Diagnostic::error(self.cursor.span(), "parameters are values");
            return Err(
                self.report(diagnostic.with_help("pass the address, `f(&x)`, and access `mem[p]` in the function"))
            );
        }
        let name = self.name("a parameter")?;
        let ty = if self.cursor.eat(":") { Some(self.ty()?) } else { None };
        Ok(Parameter { name, mutable, ty })
    }

    /// The statements of a function, and the expression at its end.
    fn value_block(&mut self) -> Parse<(Block, Option<FunctionValue>)> {
        let start = self.cursor.at;
        let open = self.cursor.span();
        self.expect("{", "and the statements of the function")?;
        let mut value = None;
        let mut block = self.nested(|parser| {
            let mut block = Block::default();
            loop {
                while parser.cursor.eat(";") {}
                if parser.cursor.is("}") {
                    block.end = parser.pending_comments();
                    parser.cursor.bump();
                    return Ok(block);
                }
                if parser.cursor.is_end() || parser.item_starts() {
                    let SyntaxError = parser.unclosed(open);
                    return Ok(block);
                }
                value = parser.value_at_end();
                if value.is_none() {
                    block.statements.push(parser.statement());
                }
            }
        })?;
        block.span = self.cursor.span_from(start);
        Ok((block, value))
    }

    /// An expression before the `}` of a block. Where there is none, nothing is read.
    fn value_at_end(&mut self) -> Option<FunctionValue> {
        let (at, comment, open) = (self.cursor.at, self.next_comment, self.open);
        let before = self.diagnostics.len();
        let leading = self.pending_comments();
        let blank_before = self.cursor.token().blank_before;
        self.open.operators = 0;
        if let Ok(value) = self.expr()
            && self.cursor.is("}")
            && self.diagnostics.len() == before
        {
            let comments = self.comments(leading, blank_before);
            return Some(FunctionValue { value, comments });
        }
        self.diagnostics.truncate(before);
        (self.cursor.at, self.next_comment, self.open) = (at, comment, open);
        None
    }

    /// The rest of `f(a, b)`.
    pub(super) fn call_of(&mut self, name: super::Name) -> Parse<ExprKind> {
        self.count_operator()?;
        self.cursor.bump();
        let mut arguments = Vec::new();
        while !self.cursor.is(")") {
            arguments.push(self.expr()?);
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.expect(")", &format!("after the arguments of `{}`", name.text))?;
        Ok(ExprKind::Call(Box::new(FunctionCall { name, arguments })))
    }

    /// `if condition { value } else { value }`.
    pub(super) fn if_expr(&mut self) -> Parse<ExprKind> {
        self.count_operator()?;
        self.cursor.bump();
        let condition = self.expr()?;
        let then = self.branch_value()?;
        if !self.cursor.eat_word("else") {
            return Err(self.expected("`else`: an `if` that gives a value has one"));
        }
        let start = self.cursor.at;
        let otherwise = if self.cursor.is_word("if") {
            let kind = self.nested(|parser| parser.if_expr())?;
            Expr { kind, span: self.cursor.span_from(start) }
        } else {
            self.branch_value()?
        };
        Ok(ExprKind::If(Box::new(IfExpr { condition, then, otherwise })))
    }

    fn branch_value(&mut self) -> Parse<Expr> {
        self.expect("{", "and the value")?;
        let value = self.expr()?;
        self.expect("}", "after the value: in an `if` that gives one there are no statements")?;
        Ok(value)
    }

    /// Used where a block was opened and the file ended.
    pub(super) fn unclosed(&mut self, open: Span) -> SyntaxError {
        let diagnostic = Diagnostic::error(self.cursor.span(), format!("expected `}}`, found {}", self.found()))
            .with_secondary(open, "this block is not closed");
        self.report(diagnostic)
    }
}
