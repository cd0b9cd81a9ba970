//! Declarations: `max_value`, `global`, `na`, `track` and `fn`.
//!
//! TPL wants them in this order. They are read in any order and as often as one likes, since nothing depends on it.

use super::super::ast::{Block, Declaration, File, Function, Name, Track};
use super::is_function;
use super::{ITEM_WORDS, Parse, Parser};
use crate::Diagnostic;
use crate::parsing::{StatementParser, TokenKind, TokenParser};
use ravelin_program::Span;

impl Parser<'_> {
    pub fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.cursor.is_end() {
            if self.item(&mut file).is_err() {
                self.skip_item();
            }
        }
        file
    }

    fn item(&mut self, file: &mut File) -> Parse<()> {
        let start = self.cursor.span();
        match self.cursor.word() {
            Some("max_value") => {
                self.cursor.bump();
                let number = self.number("the greatest value")?;
                if let Some(earlier) = file.max_value {
                    self.report(
                        Diagnostic::error(start, "the greatest value is declared twice")
                            .with_secondary(earlier.span, "declared here first"),
                    );
                } else {
                    file.max_value = Some(number);
                }
                self.end_statement("the declaration")
            }
            Some(word @ ("global" | "na")) => {
                self.cursor.bump();
                loop {
                    let name = self.name("the name of a variable")?;
                    let initial =
                        if self.cursor.eat("=") { Some(self.number("a number to start with")?) } else { None };
                    file.variables.push(Declaration { name, initial, atomic: word == "global" });
                    if !self.cursor.eat(",") {
                        return self.end_statement("the declaration");
                    }
                }
            }
            Some("track") => {
                self.cursor.bump();
                let name = self.name("the name of a variable")?;
                self.expect(":", "before the values that are tracked")?;
                let mut values = None;
                if !self.cursor.eat_word("all") {
                    let found = values.insert(Vec::new());
                    loop {
                        found.push(self.number("a number or `all`")?);
                        if !self.cursor.eat(",") {
                            break;
                        }
                    }
                }
                file.tracks.push(Track { name, values });
                self.end_statement("the declaration")
            }
            Some("fn") => {
                self.cursor.bump();
                let function = self.function()?;
                file.threads.push(function);
                Ok(())
            }
            _ if self.cursor.is("}") => Err(self.report(Diagnostic::error(start, "this `}` closes nothing"))),
            _ if self.cursor.is(";") => Err(self.report(Diagnostic::error(start, "this `;` ends nothing"))),
            _ => {
                let what = "a declaration (`max_value`, `global`, `na`, `track` or `fn`)";
                Err(self.expected_word(what, ITEM_WORDS.iter().copied()))
            }
        }
    }

    fn function(&mut self) -> Parse<Function> {
        let name = self.name("the name of a thread")?;
        let start = self.cursor.at;
        self.expect("{", "before the statements of the thread")?;
        let mut locals = Vec::new();
        while self.cursor.is_word("local") {
            if self.locals(&mut locals).is_err() {
                self.skip_statement();
            }
        }
        let statements = self.statements(self.cursor.nth(start).span);
        locals.append(&mut self.late_locals);
        Ok(Function { name, locals, body: Block { statements, span: self.cursor.span_from(start) } })
    }

    /// `local a, b;`.
    pub fn locals(&mut self, locals: &mut Vec<Name>) -> Parse<()> {
        self.cursor.bump();
        loop {
            locals.push(self.name("the name of a local")?);
            if self.cursor.is("=") {
                let help = format!("locals start at 0; assign to `{}` in a statement", locals[locals.len() - 1].text);
                let diagnostic = Diagnostic::error(self.cursor.span(), "a local is declared without a value");
                self.report(diagnostic.with_help(help));
                self.cursor.bump();
                self.expression()?;
            }
            if !self.cursor.eat(",") {
                return self.end_statement("the locals");
            }
        }
    }

    /// Statements up to the `}` that closes the block opened at `open`.
    pub fn statements(&mut self, open: Span) -> Vec<super::super::ast::Statement> {
        let mut statements = Vec::new();
        loop {
            if self.cursor.eat("}") {
                return statements;
            }
            if self.cursor.is_end()
                || is_function(&self.cursor)
                || (self.cursor.is_word("global") && self.cursor.token().starts_line)
            {
                self.report(
                    Diagnostic::error(open, "this `{` is never closed")
                        .with_secondary(self.cursor.span(), "a `}` is missing before this"),
                );
                return statements;
            }
            statements.push(self.statement());
        }
    }

    /// Goes to what starts like a declaration.
    fn skip_item(&mut self) {
        if self.cursor.is("{") {
            self.cursor.skip_braces();
        } else if !ITEM_WORDS.iter().any(|word| self.cursor.is_word(word)) || !self.cursor.token().starts_line {
            self.cursor.bump();
        }
        while !self.cursor.is_end() {
            let starts = self.cursor.token().starts_line && ITEM_WORDS.iter().any(|word| self.cursor.is_word(word));
            if starts || is_function(&self.cursor) {
                return;
            }
            match self.cursor.token().kind {
                TokenKind::Symbol("{") => return self.cursor.skip_braces(),
                TokenKind::Symbol(";") => {
                    self.cursor.bump();
                    return;
                }
                _ => _ = self.cursor.bump(),
            }
        }
    }
}
