//! Items: constants, shared variables with their types and initial values, threads, goals.

use super::super::ast::{
    Base, Expr, ExprKind, File, Init, InitKind, Item, ItemKind, Range, Thread, ThreadCopies, Type, TypeKind,
};
use super::super::lexer::TokenKind;
use super::{ITEM_WORDS, Parse, Parser, Reported, STATEMENT_WORDS};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{GoalKind, Span};

/// The types that have a name.
pub const TYPE_NAMES: [&str; 9] = ["bool", "u8", "u16", "u32", "i8", "i16", "i32", "i64", "_"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        loop {
            while self.eat(";") {}
            if self.is_end() {
                break;
            }
            let leading = self.pending_comments();
            let (start, blank_before) = (self.at, self.token().blank_before);
            self.operators = 0;
            let kind = self.item().unwrap_or_else(|Reported| {
                self.skip_item(start);
                ItemKind::Error
            });
            self.broken = false;
            let comments = self.comments(leading, blank_before);
            file.items.push(Item { kind, span: self.span_from(start), comments });
        }
        file.end = self.pending_comments();
        file
    }

    /// Goes to where the next item can start.
    fn skip_item(&mut self, start: usize) {
        if self.at == start {
            if self.is("{") { self.skip_braces() } else { _ = self.bump() }
        }
        loop {
            match self.token().kind {
                TokenKind::End => return,
                TokenKind::Symbol(";" | "}") => {
                    self.bump();
                    return;
                }
                TokenKind::Symbol("{") => {
                    self.skip_braces();
                    return;
                }
                TokenKind::Word if ITEM_WORDS.contains(&self.quote(self.token().span)) => return,
                _ => _ = self.bump(),
            }
        }
    }

    fn item(&mut self) -> Parse<ItemKind> {
        let Some(word) = self.word() else {
            return Err(self.expected("an item such as `static x: bool;` or `thread p { … }`"));
        };
        match word {
            "const" => self.constant(),
            "max_value" => {
                self.bump();
                let value = self.expr()?;
                let escape = match self.word() {
                    Some("wrap" | "block" | "error") => Some(self.name("a way to leave the domain")?),
                    Some(_) if !self.token().starts_line => {
                        return Err(self.expected_word("`wrap`, `block`, `error` or `;`", ["wrap", "block", "error"]));
                    }
                    _ => None,
                };
                self.semicolon("the greatest value")?;
                Ok(ItemKind::MaxValue { value, escape })
            }
            "arithmetic" => {
                self.bump();
                let ty = self.ty()?;
                self.semicolon("the type")?;
                Ok(ItemKind::Arithmetic(ty))
            }
            "static" => self.variable(),
            "thread" => self.thread().map(ItemKind::Thread),
            "never" => self.goal(GoalKind::Never, false),
            "exists" => self.goal(GoalKind::Exists, false),
            "forall" => self.goal(GoalKind::Finally, true),
            "finally" if self.word_of(self.ahead(1)) == Some("never") => {
                self.bump();
                self.goal(GoalKind::NeverFinally, false)
            }
            "finally" => self.goal(GoalKind::Finally, false),
            _ if STATEMENT_WORDS.contains(&word) => {
                let diagnostic = Diagnostic::error(
                    self.token().span,
                    format!("`{word}` is a statement, and statements stand inside a thread"),
                );
                Err(self.report(diagnostic.with_help("write it between the braces of `thread p { … }`")))
            }
            _ => {
                let words = ITEM_WORDS.iter().copied().chain(["arithmetic"]);
                Err(self.expected_word("an item (`static`, `const`, `thread`, `never`, …)", words))
            }
        }
    }

    fn constant(&mut self) -> Parse<ItemKind> {
        self.bump();
        let name = self.name("a constant")?;
        let ty = if self.eat(":") { Some(self.name("a type")?) } else { None };
        let value = self.expect("=", "and the constant's value").and_then(|()| self.expr());
        let at = self.token().span;
        let value = self.or_broken(value, || Expr { kind: ExprKind::Error, span: at });
        self.semicolon("the constant")?;
        Ok(ItemKind::Const { name, ty, value })
    }

    fn variable(&mut self) -> Parse<ItemKind> {
        self.bump();
        if self.is_word("mut") {
            let diagnostic = Diagnostic::error(self.token().span, "shared variables are always mutable");
            self.report(diagnostic.with_help("leave out `mut`"));
            self.bump();
        }
        let name = self.name("a shared variable")?;
        let mut ty = None;
        if self.eat(":") {
            let at = self.token().span;
            let result = self.ty();
            ty = Some(self.or_broken(result, || Type { kind: TypeKind::Error, span: at }));
        }
        let mut init = None;
        if !self.broken && self.eat("=") {
            let at = self.token().span;
            let result = self.init();
            init = Some(self.or_broken(result, || Init { kind: InitKind::Error, span: at }));
        }
        self.semicolon("the declaration")?;
        Ok(ItemKind::Static { name, ty, init })
    }

    pub(super) fn ty(&mut self) -> Parse<Type> {
        let start = self.at;
        let kind = self.nested(|parser| parser.type_kind())?;
        Ok(Type { kind, span: self.span_from(start) })
    }

    fn type_kind(&mut self) -> Parse<TypeKind> {
        if self.eat("[") {
            let element = self.ty()?;
            self.expect(";", "and the number of cells")?;
            let len = self.expr()?;
            self.expect("]", "after the number of cells")?;
            return Ok(TypeKind::Array(Box::new(element), Box::new(len)));
        }
        let escape = match self.word() {
            Some(text @ ("wrapping" | "blocking")) => {
                let span = self.bump().span;
                Some(super::Name { text: text.to_owned(), span })
            }
            _ => None,
        };
        let ranges = |parser: &Self| parser.is_ahead(1, "..") || parser.is_ahead(1, "..=");
        let base = match self.word() {
            Some(word) if TYPE_NAMES.contains(&word) && !ranges(self) => {
                let span = self.bump().span;
                Base::Named(super::Name { text: word.to_owned(), span })
            }
            Some(word @ ("usize" | "isize" | "u64" | "u128" | "i128")) if !ranges(self) => {
                let diagnostic = Diagnostic::error(self.token().span, format!("there is no type `{word}`"))
                    .with_note("values are signed 64-bit integers");
                return Err(self.report(diagnostic.with_help("use `i64`, or the values that occur, such as `0..8`")));
            }
            _ => {
                let (start, before) = (self.at, self.diagnostics.len());
                let range = self.range("a type such as `bool`, `u8` or `0..4`");
                // A lone word was rather meant as the name of a type than as the start of a range.
                if range.is_err()
                    && self.at == start + 1
                    && let Some(word) = self.word_of(self.tokens[start])
                {
                    self.diagnostics.truncate(before);
                    let span = self.tokens[start].span;
                    let mut diagnostic = Diagnostic::error(span, format!("there is no type `{word}`")).with_note(
                        "types are bool, u8, u16, u32, i8, i16, i32, i64, ranges such as `0..4`, and arrays",
                    );
                    diagnostic.help = did_you_mean(word, TYPE_NAMES);
                    return Err(self.report(diagnostic));
                }
                Base::Range(Box::new(range?))
            }
        };
        Ok(TypeKind::Base { escape, base })
    }

    /// `lo..hi` or `lo..=hi`.
    pub(super) fn range(&mut self, what: &str) -> Parse<Range> {
        if self.is(";") || self.is("}") || self.is("]") || self.is("=") || self.is_end() {
            return Err(self.expected(what));
        }
        let lo = self.expr()?;
        let inclusive = self.is("..=");
        if !inclusive && !self.is("..") {
            return Err(self.expected("`..` or `..=` of a range"));
        }
        self.bump();
        let hi = self.expr()?;
        Ok(Range { lo, hi, inclusive })
    }

    fn init(&mut self) -> Parse<Init> {
        let start = self.at;
        let kind = self.nested(|parser| parser.init_kind())?;
        Ok(Init { kind, span: self.span_from(start) })
    }

    fn init_kind(&mut self) -> Parse<InitKind> {
        if self.is_word("any") && (self.is_ahead(1, ";") || self.is_ahead(1, ",") || self.is_ahead(1, "]")) {
            self.bump();
            return Ok(InitKind::Any);
        }
        if !self.eat("[") {
            return self.expr().map(InitKind::Value);
        }
        let mut list = Vec::new();
        while !self.is("]") {
            list.push(self.init()?);
            if list.len() == 1 && self.eat(";") {
                let count = self.expr()?;
                self.expect("]", "after the number of cells")?;
                let first = list.swap_remove(0);
                return Ok(InitKind::Repeat(Box::new(first), Box::new(count)));
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect("]", "after the initial values")?;
        Ok(InitKind::List(list))
    }

    fn thread(&mut self) -> Parse<Thread> {
        self.bump();
        let name = self.name("a thread")?;
        let copies = if self.is("[") {
            let header = self.thread_copies();
            header.unwrap_or_else(|Reported| {
                while !self.is_end() && !self.is("{") && !self.is(";") && !self.is("}") {
                    self.bump();
                }
                ThreadCopies::One
            })
        } else {
            ThreadCopies::One
        };
        let body = self.block("of the thread")?;
        Ok(Thread { name, copies, body })
    }

    fn thread_copies(&mut self) -> Parse<ThreadCopies> {
        self.bump();
        let copies = if self.eat("*") {
            ThreadCopies::Any
        } else if self.word_of(self.ahead(1)) == Some("in") {
            let name = self.name("the thread's index")?;
            self.bump();
            ThreadCopies::Indexed(name, self.range("a range of indices such as `0..2`")?)
        } else {
            ThreadCopies::Count(self.expr()?)
        };
        self.expect("]", "after the number of copies")?;
        Ok(copies)
    }

    fn goal(&mut self, kind: GoalKind, forall: bool) -> Parse<ItemKind> {
        self.bump();
        let condition = self.expr()?;
        self.semicolon("the condition")?;
        Ok(ItemKind::Goal { kind, forall, condition })
    }

    /// Used where a block was opened and the file ended.
    pub(super) fn unclosed(&mut self, open: Span) -> Reported {
        let diagnostic = Diagnostic::error(self.token().span, format!("expected `}}`, found {}", self.found()))
            .with_secondary(open, "this block is not closed");
        self.report(diagnostic)
    }
}
