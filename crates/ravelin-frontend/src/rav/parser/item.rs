//! Items: constants, shared variables with their types and initial values, threads, goals.

use super::super::ast::{
    Base, Expr, ExprKind, File, Init, InitKind, Item, ItemKind, RangeExpr, ThreadCopies, ThreadItem, Type, TypeKind,
};
use super::{ITEM_WORDS, Parse, Parser, STATEMENT_WORDS, SyntaxError, foreign, is_keyword};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use ravelin_program::GoalKind;

/// The types that have a name.
pub const TYPE_NAMES: [&str; 10] = ["bool", "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "_"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        loop {
            while self.cursor.eat(";") {}
            if self.cursor.is_end() {
                break;
            }
            let leading = self.pending_comments();
            let (start, blank_before) = (self.cursor.at, self.cursor.token().blank_before);
            self.open.operators = 0;
            let kind = self.item().unwrap_or_else(|SyntaxError| {
                self.skip_item(start);
                ItemKind::Error
            });
            self.broken = false;
            let comments = self.comments(leading, blank_before);
            file.items.push(Item { kind, span: self.cursor.span_from(start), comments });
        }
        file.end = self.pending_comments();
        file
    }

    /// Goes to where the next item can start.
    fn skip_item(&mut self, start: usize) {
        if self.cursor.at == start {
            if self.cursor.is("{") { self.cursor.skip_braces() } else { _ = self.cursor.bump() }
        }
        loop {
            match self.cursor.token().kind {
                TokenKind::End => return,
                TokenKind::Symbol(";" | "}") => {
                    self.cursor.bump();
                    return;
                }
                TokenKind::Symbol("{") => {
                    self.cursor.skip_braces();
                    return;
                }
                TokenKind::Word if ITEM_WORDS.contains(&self.cursor.quote(self.cursor.span())) => return,
                _ => _ = self.cursor.bump(),
            }
        }
    }

    fn item(&mut self) -> Parse<ItemKind> {
        let Some(word) = self.cursor.word() else {
            return Err(self.expected("an item such as `static x: bool;` or `thread p { … }`"));
        };
        match word {
            "const" if self.cursor.word_of(self.cursor.ahead(1)) == Some("fn") => self.function(),
            "const" => self.constant(),
            "enum" => self.enumeration(),
            "fn" => self.function(),
            "max_value" => {
                self.cursor.bump();
                let value = self.expr()?;
                let escape = match self.cursor.word() {
                    Some("wrap" | "block" | "error") => Some(self.name("a way to leave the domain")?),
                    Some(_) if !self.cursor.token().starts_line => {
                        return Err(self.expected_word("`wrap`, `block`, `error` or `;`", ["wrap", "block", "error"]));
                    }
                    _ => None,
                };
                self.semicolon("the greatest value")?;
                Ok(ItemKind::MaxValue { value, escape })
            }
            "arithmetic" => {
                self.cursor.bump();
                let ty = self.ty()?;
                self.semicolon("the type")?;
                Ok(ItemKind::Arithmetic(ty))
            }
            "strict" => {
                self.cursor.bump();
                if !self.cursor.is_word("mem") {
                    return Err(self.expected_word("`mem` after `strict`", ["mem"]));
                }
                self.cursor.bump();
                self.semicolon("`strict mem`")?;
                Ok(ItemKind::StrictMemory)
            }
            "gap" => {
                self.cursor.bump();
                let addresses = self.expr()?;
                self.semicolon("the number of addresses")?;
                Ok(ItemKind::Gap(addresses))
            }
            "static" => self.variable(),
            "thread" => self.thread().map(ItemKind::Thread),
            "never" => self.goal(GoalKind::Never, false),
            "exists" => self.goal(GoalKind::Exists, false),
            "forall" => self.goal(GoalKind::Finally, true),
            "finally" if self.cursor.word_of(self.cursor.ahead(1)) == Some("never") => {
                self.cursor.bump();
                self.goal(GoalKind::NeverFinally, false)
            }
            "finally" => self.goal(GoalKind::Finally, false),
            _ if STATEMENT_WORDS.contains(&word) => {
                let diagnostic = Diagnostic::error(
                    self.cursor.span(),
                    format!("`{word}` is a statement, and statements stand inside a thread"),
                );
                Err(self.report(diagnostic.with_help("write it between the braces of `thread p { … }`")))
            }
            _ => {
                let what = "an item (`static`, `const`, `thread`, `never`, …)";
                if let Some(help) = foreign::item(word) {
                    let message = format!("expected {what}, found `{word}`");
                    return Err(self.report(Diagnostic::error(self.cursor.span(), message).with_help(help)));
                }
                let words = ITEM_WORDS.iter().copied().chain(["arithmetic", "gap", "strict"]);
                Err(self.expected_word(what, words))
            }
        }
    }

    fn constant(&mut self) -> Parse<ItemKind> {
        self.cursor.bump();
        let name = self.name("a constant")?;
        let ty = if self.cursor.eat(":") { Some(self.name("a type")?) } else { None };
        let value = self.expect("=", "and the constant's value").and_then(|()| self.expr());
        let at = self.cursor.span();
        let value = self.or_broken(value, || Expr { kind: ExprKind::Error, span: at });
        self.semicolon("the constant")?;
        Ok(ItemKind::Const { name, ty, value })
    }

    fn variable(&mut self) -> Parse<ItemKind> {
        self.cursor.bump();
        if self.cursor.is_word("mut") {
            let diagnostic = Diagnostic::error(self.cursor.span(), "shared variables are always mutable");
            self.report(diagnostic.with_help("leave out `mut`"));
            self.cursor.bump();
        }
        let name = self.name("a shared variable")?;
        let mut ty = None;
        if self.cursor.eat(":") {
            let at = self.cursor.span();
            let result = self.ty();
            ty = Some(self.or_broken(result, || Type { kind: TypeKind::Error, span: at }));
        }
        let mut init = None;
        if !self.broken && self.cursor.eat("=") {
            let at = self.cursor.span();
            let result = self.init();
            init = Some(self.or_broken(result, || Init { kind: InitKind::Error, span: at }));
        }
        self.semicolon("the declaration")?;
        Ok(ItemKind::Static { name, ty, init })
    }

    pub(super) fn ty(&mut self) -> Parse<Type> {
        let start = self.cursor.at;
        let kind = self.nested(|parser| parser.type_kind())?;
        Ok(Type { kind, span: self.cursor.span_from(start) })
    }

    fn type_kind(&mut self) -> Parse<TypeKind> {
        if self.cursor.eat("[") {
            let element = self.ty()?;
            self.expect(";", "and the number of cells")?;
            let len = self.expr()?;
            self.expect("]", "after the number of cells")?;
            return Ok(TypeKind::Array(Box::new(element), Box::new(len)));
        }
        let escape = match self.cursor.word() {
            Some(text @ ("wrapping" | "blocking")) => {
                let span = self.cursor.bump().span;
                Some(super::Name { text: text.to_owned(), span })
            }
            _ => None,
        };
        let ranges = |parser: &Self| parser.cursor.is_ahead(1, "..") || parser.cursor.is_ahead(1, "..=");
        let base = match self.cursor.word() {
            Some(word) if TYPE_NAMES.contains(&word) && !ranges(self) => {
                let span = self.cursor.bump().span;
                Base::Named(super::Name { text: word.to_owned(), span })
            }
            Some(word @ ("usize" | "isize" | "u128" | "i128")) if !ranges(self) => {
                let diagnostic = Diagnostic::error(self.cursor.span(), format!("there is no type `{word}`"))
                    .with_note("values have 64 bits");
                return Err(
                    self.report(diagnostic.with_help("use `i64`, `u64`, or the values that occur, such as `0..8`"))
                );
            }
            Some(word) if !ranges(self) && foreign::type_named(word).is_some() => {
                let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("there is no type `{word}`"));
                diagnostic.help = foreign::type_named(word).map(str::to_owned);
                return Err(self.report(diagnostic));
            }
            // A lone word is the name of a type and not the start of a range.
            Some(word) if !is_keyword(word) && self.ends_type(1) => {
                let span = self.cursor.bump().span;
                Base::Named(super::Name { text: word.to_owned(), span })
            }
            _ => Base::Range(Box::new(self.range("a type such as `bool`, `u8` or `0..4`")?)),
        };
        Ok(TypeKind::Base { escape, base })
    }

    /// What stands so many tokens ahead cannot go on with a range.
    fn ends_type(&self, ahead: usize) -> bool {
        let next = self.cursor.ahead(ahead);
        match next.kind {
            TokenKind::Symbol(symbol) => [";", "=", ",", "]", ")", "{", "}"].contains(&symbol),
            TokenKind::Number(_) => false,
            _ => true,
        }
    }

    /// `lo..hi` or `lo..=hi`.
    pub(super) fn range(&mut self, what: &str) -> Parse<RangeExpr> {
        if self.cursor.is(";")
            || self.cursor.is("}")
            || self.cursor.is("]")
            || self.cursor.is("=")
            || self.cursor.is_end()
        {
            return Err(self.expected(what));
        }
        let lo = self.expr()?;
        let inclusive = self.cursor.is("..=");
        if !inclusive && !self.cursor.is("..") {
            return Err(self.expected("`..` or `..=` of a range"));
        }
        self.cursor.bump();
        let hi = self.expr()?;
        Ok(RangeExpr { lo, hi, inclusive })
    }

    fn init(&mut self) -> Parse<Init> {
        let start = self.cursor.at;
        let kind = self.nested(|parser| parser.init_kind())?;
        Ok(Init { kind, span: self.cursor.span_from(start) })
    }

    fn init_kind(&mut self) -> Parse<InitKind> {
        if self.cursor.is_word("any")
            && (self.cursor.is_ahead(1, ";") || self.cursor.is_ahead(1, ",") || self.cursor.is_ahead(1, "]"))
        {
            self.cursor.bump();
            return Ok(InitKind::Any);
        }
        if !self.cursor.eat("[") {
            return self.expr().map(InitKind::Value);
        }
        let mut list = Vec::new();
        while !self.cursor.is("]") {
            list.push(self.init()?);
            if list.len() == 1 && self.cursor.eat(";") {
                let count = self.expr()?;
                self.expect("]", "after the number of cells")?;
                let first = list.swap_remove(0);
                return Ok(InitKind::Repeat(Box::new(first), Box::new(count)));
            }
            if !self.cursor.eat(",") {
                break;
            }
        }
        self.expect("]", "after the initial values")?;
        Ok(InitKind::List(list))
    }

    fn thread(&mut self) -> Parse<ThreadItem> {
        self.cursor.bump();
        let name = self.name("a thread")?;
        let copies = if self.cursor.is("[") {
            let header = self.thread_copies();
            header.unwrap_or_else(|SyntaxError| {
                while !self.cursor.is_end() && !self.cursor.is("{") && !self.cursor.is(";") && !self.cursor.is("}") {
                    self.cursor.bump();
                }
                ThreadCopies::One
            })
        } else {
            ThreadCopies::One
        };
        let body = self.block("of the thread")?;
        Ok(ThreadItem { name, copies, body })
    }

    fn thread_copies(&mut self) -> Parse<ThreadCopies> {
        self.cursor.bump();
        let copies = if self.cursor.eat("*") {
            ThreadCopies::Any
        } else if self.cursor.word_of(self.cursor.ahead(1)) == Some("in") {
            let name = self.name("the thread's index")?;
            self.cursor.bump();
            ThreadCopies::Indexed(name, self.range("a range of indices such as `0..2`")?)
        } else {
            ThreadCopies::Count(self.expr()?)
        };
        self.expect("]", "after the number of copies")?;
        Ok(copies)
    }

    fn goal(&mut self, kind: GoalKind, forall: bool) -> Parse<ItemKind> {
        self.cursor.bump();
        let condition = self.expr()?;
        self.semicolon("the condition")?;
        Ok(ItemKind::Goal { kind, forall, condition })
    }
}
