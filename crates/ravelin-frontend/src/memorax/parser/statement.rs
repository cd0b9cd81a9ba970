//! Statements. A `;` stands between two statements, not after one.

use super::super::ast::{MemoraxPlace, PlaceKind, Statement, StatementKind, WriteStrength};
use super::{Parse, Parser, SyntaxError};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use crate::suggest::did_you_mean;

/// Words that begin a statement.
const STATEMENT_WORDS: [&str; 15] = [
    "assume", "cas", "either", "fence", "goto", "if", "llfence", "locked", "nop", "read", "slocked", "ssfence",
    "syncrd", "syncwr", "while",
];

impl Parser<'_, '_> {
    /// Statements up to something that cannot go on the list.
    pub(super) fn statements(&mut self, statements: &mut Vec<Statement>) {
        loop {
            statements.push(self.statement());
            let semicolon = self.cursor.token();
            if self.cursor.eat(";") {
                if self.ends_statements() {
                    self.diagnostics.push(
                        Diagnostic::error(semicolon.span, "no statement follows this `;`")
                            .with_note("`;` stands between two statements, not after one")
                            .with_help("leave it out"),
                    );
                    return;
                }
            } else if self.starts_statement() {
                let SyntaxError = self.expected("`;` between two statements");
            } else {
                return;
            }
        }
    }

    fn ends_statements(&self) -> bool {
        self.cursor.is_end() || self.cursor.is("}") || self.cursor.is_word("or") || self.is_section()
    }

    fn starts_statement(&self) -> bool {
        let by_word = self.cursor.word().is_some_and(|word| word == "write" || STATEMENT_WORDS.contains(&word));
        by_word
            || (self.is_name() && self.cursor.is_ahead(1, ":"))
            || (self.cursor.token().kind == TokenKind::Register && self.cursor.is_ahead(1, ":="))
    }

    fn statement(&mut self) -> Statement {
        let mut labels = Vec::new();
        while self.is_name() && self.cursor.is_ahead(1, ":") {
            labels.extend(self.name("a label").ok());
            self.cursor.bump();
        }
        let start = self.cursor.at;
        self.open.operators = 0;
        let kind = self.nested(|parser| parser.statement_kind()).unwrap_or_else(|SyntaxError| {
            self.skip_statement();
            StatementKind::Error
        });
        Statement { labels, kind, span: self.span_from(start) }
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        if self.cursor.is("{") {
            return self.block().map(StatementKind::Block);
        }
        if self.cursor.token().kind == TokenKind::Register {
            let register = self.register()?;
            self.expect(":=", "and the value that the register takes")?;
            return Ok(StatementKind::Assign(register, self.expr()?));
        }
        let Some(word) = self.cursor.word() else {
            return Err(self.expected("a statement"));
        };
        match word {
            "nop" => self.lone(StatementKind::Nop),
            "fence" => self.lone(StatementKind::Fence),
            "ssfence" => self.lone(StatementKind::StoreFence),
            "llfence" => self.lone(StatementKind::LoadFence),
            "assume" => {
                self.cursor.bump();
                self.expect(":", "after `assume`")?;
                self.condition().map(StatementKind::Assume)
            }
            // `syncrd` reads what is in memory, which is what a read sees where there are no caches to be out of date.
            "read" | "syncrd" => {
                self.cursor.bump();
                self.expect(":", if word == "read" { "after `read`" } else { "after `syncrd`" })?;
                if self.cursor.token().kind == TokenKind::Register {
                    let register = self.register()?;
                    self.expect(":=", "and the variable that is read")?;
                    return Ok(StatementKind::Load(register, self.place()?));
                }
                let place = self.place()?;
                self.expect("=", "and the value that is waited for")?;
                Ok(StatementKind::Wait(place, self.expr()?))
            }
            "write" => self.write(WriteStrength::Plain),
            "syncwr" => {
                self.cursor.bump();
                self.expect(":", "after `syncwr`")?;
                self.write_statement(WriteStrength::Shared)
            }
            "slocked" => {
                self.cursor.bump();
                self.write(WriteStrength::StoreOrdered)
            }
            "locked" => {
                self.cursor.bump();
                match self.cursor.is("{") {
                    true => self.alternatives().map(StatementKind::Locked),
                    false if self.cursor.is_word("write") => self.write(WriteStrength::Locked),
                    false => Err(self.expected("`write` or `{` after `locked`")),
                }
            }
            "either" => {
                self.cursor.bump();
                self.alternatives().map(StatementKind::Either)
            }
            "cas" => {
                self.cursor.bump();
                self.expect("(", "after `cas`")?;
                let place = self.place()?;
                self.expect(",", "and the value that is waited for")?;
                let old = self.expr()?;
                self.expect(",", "and the value that is written")?;
                let new = self.expr()?;
                self.expect(")", "after the arguments of `cas`")?;
                Ok(StatementKind::Cas(place, old, new))
            }
            "goto" => {
                self.cursor.bump();
                self.name("a label").map(StatementKind::Goto)
            }
            "if" => {
                self.cursor.bump();
                let condition = self.condition()?;
                self.expect_word("then", "after the condition")?;
                let then = Box::new(self.statement());
                let otherwise = self.cursor.eat_word("else").then(|| Box::new(self.statement()));
                Ok(StatementKind::If(condition, then, otherwise))
            }
            "while" => {
                self.cursor.bump();
                let condition = self.condition()?;
                self.expect_word("do", "after the condition")?;
                Ok(StatementKind::While(condition, Box::new(self.statement())))
            }
            _ => Err(self.not_a_statement(word)),
        }
    }

    fn lone(&mut self, kind: StatementKind) -> Parse<StatementKind> {
        self.cursor.bump();
        Ok(kind)
    }

    fn write(&mut self, strength: WriteStrength) -> Parse<StatementKind> {
        self.expect_word("write", "here")?;
        self.expect(":", "after `write`")?;
        self.write_statement(strength)
    }

    fn write_statement(&mut self, strength: WriteStrength) -> Parse<StatementKind> {
        let place = self.place()?;
        self.expect(":=", "and the value that is written")?;
        Ok(StatementKind::Write(strength, place, self.expr()?))
    }

    fn block(&mut self) -> Parse<Vec<Statement>> {
        let open = self.cursor.bump();
        let mut statements = Vec::new();
        self.statements(&mut statements);
        self.close(open.span)?;
        Ok(statements)
    }

    /// `{ … or … }`.
    fn alternatives(&mut self) -> Parse<Vec<Vec<Statement>>> {
        let open = self.cursor.token();
        self.expect("{", "and the alternatives")?;
        let mut alternatives = Vec::new();
        loop {
            let mut statements = Vec::new();
            self.statements(&mut statements);
            alternatives.push(statements);
            if !self.cursor.eat_word("or") {
                break;
            }
        }
        self.close(open.span)?;
        Ok(alternatives)
    }

    fn close(&mut self, open: ravelin_program::Span) -> Parse<()> {
        if self.cursor.eat("}") {
            return Ok(());
        }
        if self.cursor.is_end() || self.cursor.is_word("process") {
            let diagnostic = Diagnostic::error(open, "this `{` is never closed");
            self.diagnostics.push(diagnostic);
            return Err(SyntaxError);
        }
        let SyntaxError = self.expected("`;`, `or` or `}`");
        // What follows may still be understood once the block has been left.
        while !self.cursor.is("}") && !self.cursor.is_end() && !self.cursor.is_word("process") {
            self.cursor.bump();
            self.skip_statement();
        }
        self.cursor.eat("}");
        Err(SyntaxError)
    }

    fn place(&mut self) -> Parse<MemoraxPlace> {
        let start = self.cursor.at;
        if self.cursor.eat("[") {
            let pointer = self.expr()?;
            self.expect("]", "after the pointer")?;
            return Ok(MemoraxPlace { kind: PlaceKind::Pointer(pointer), span: self.span_from(start) });
        }
        let name = self.name("a variable such as `x`, `x[my]` or `x[0]`, or a pointer such as `[$r]`")?;
        let kind = if !self.cursor.eat("[") {
            PlaceKind::Global(name)
        } else if self.cursor.eat_word("my") {
            self.expect("]", "after `my`")?;
            PlaceKind::Own(name)
        } else {
            let other = self.natural("`my` or the number of another process")?;
            self.expect("]", "after the number of the process")?;
            PlaceKind::Other(name, other)
        };
        Ok(MemoraxPlace { kind, span: self.span_from(start) })
    }

    fn not_a_statement(&mut self, word: &str) -> SyntaxError {
        if matches!(word, "or" | "else" | "then" | "do") || super::SECTIONS.contains(&word) {
            return self.expected("a statement");
        }
        let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("there is no statement `{word}`"));
        diagnostic.help = did_you_mean(word, STATEMENT_WORDS.into_iter().chain(["write"]));
        if diagnostic.help.is_none() && self.cursor.is_ahead(1, ":=") {
            diagnostic.help = Some(format!("a write to a shared variable is `write: {word} := …`"));
        }
        self.report(diagnostic)
    }
}
