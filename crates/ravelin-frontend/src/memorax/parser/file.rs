//! Sections: what is forbidden, declarations, processes.

use super::super::ast::{Declaration, File, Name, Process, Tuple};
use super::{Parse, Parser, SyntaxError};
use crate::Diagnostic;
use crate::parsing::{TokenKind, TokenParser};

impl Parser<'_, '_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        if self.cursor.eat_word("forbidden") {
            self.forbidden(&mut file.forbidden);
        } else {
            let SyntaxError = self.expected("`forbidden` and the control states that must not be reached together");
        }
        if self.cursor.is_word("predicates") {
            self.predicates();
        }
        if self.cursor.eat_word("data") {
            self.declarations(&mut file.globals, TokenKind::Word);
        }
        let mut lost = false;
        while !self.cursor.is_end() {
            if self.cursor.is_word("process") {
                file.processes.push(self.process());
                lost = false;
            } else {
                if !lost {
                    let SyntaxError = self.expected("`process`");
                }
                lost = true;
                self.cursor.bump();
            }
        }
        file
    }

    fn forbidden(&mut self, tuples: &mut Vec<Tuple>) {
        loop {
            let start = self.cursor.at;
            let mut entries: Vec<Option<Name>> = Vec::new();
            loop {
                if self.cursor.eat("*") {
                    entries.push(None);
                } else if self.is_name() {
                    let token = self.cursor.bump();
                    entries.push(Some(Name { text: self.cursor.quote(token.span).to_owned(), span: token.span }));
                } else if self.cursor.token().kind == TokenKind::Missing {
                    self.cursor.bump();
                } else {
                    break;
                }
            }
            if entries.is_empty() {
                let SyntaxError = self.expected("a label or `*` for each process");
            }
            let span = self.span_from(start);
            tuples.push(Tuple { entries, span });
            if !self.cursor.eat(";") {
                break;
            }
        }
        if !self.cursor.is_end() && !self.is_section() {
            let SyntaxError = self.expected("a label, `*`, `;` or the next section");
            while !self.cursor.is_end() && !self.is_section() {
                self.cursor.bump();
            }
        }
    }

    /// Hints for predicate abstraction, which is not done here.
    fn predicates(&mut self) {
        let span = self.cursor.bump().span;
        while !self.cursor.is_end() && !self.cursor.is_word("data") && !self.cursor.is_word("process") {
            self.cursor.bump();
        }
        self.diagnostics.push(
            Diagnostic::warning(span, "the predicates are not used")
                .with_note("they help an abstraction of memory that is not done here; no answer depends on them"),
        );
    }

    /// Declarations of variables (`kind` is a word) or registers.
    fn declarations(&mut self, declarations: &mut Vec<Declaration>, kind: TokenKind) {
        let mut first = true;
        while !self.cursor.is_end() && !self.is_section() {
            match self.declaration(kind) {
                Ok(declaration) => declarations.push(declaration),
                Err(SyntaxError) => self.skip_declaration(),
            }
            if self.cursor.is(",") || self.cursor.is(";") {
                let token = self.cursor.token();
                self.report(
                    Diagnostic::error(token.span, "declarations follow each other without a sign between them")
                        .with_help(format!("leave out the `{}`", self.cursor.quote(token.span))),
                );
                self.cursor.bump();
            }
            first = false;
        }
        if first {
            let SyntaxError = self.expected("a declaration such as `x = 0 : [0:1]`");
        }
    }

    fn declaration(&mut self, kind: TokenKind) -> Parse<Declaration> {
        let start = self.cursor.at;
        let name = match kind {
            TokenKind::Register => self.register()?,
            _ if self.cursor.token().kind == TokenKind::Register => {
                let token = self.cursor.token();
                let diagnostic = Diagnostic::error(token.span, "a register is declared in the section `registers`");
                return Err(self.report(diagnostic.with_note("`data` declares shared variables, named without `$`")));
            }
            _ => self.name("the name of a variable")?,
        };
        self.expect("=", "and an initial value")?;
        let initial =
            if self.cursor.eat("*") { None } else { Some(self.integer("an initial value: a number or `*`")?) };
        let mut domain = None;
        if self.cursor.eat(":") && !self.cursor.eat_word("Z") {
            self.expect("[", "and a domain such as `[0:1]`, or `Z`")?;
            let lo = self.integer("the least value of the domain")?;
            self.expect(":", "between the least and the greatest value")?;
            let hi = self.integer("the greatest value of the domain")?;
            self.expect("]", "after the domain")?;
            domain = Some((lo, hi));
        }
        Ok(Declaration { name, initial, domain, span: self.span_from(start) })
    }

    fn skip_declaration(&mut self) {
        let start = self.cursor.at;
        while !self.cursor.is_end() && !self.is_section() && !self.cursor.is(";") && !self.cursor.is(",") {
            let named = matches!(self.cursor.token().kind, TokenKind::Word | TokenKind::Register);
            if self.cursor.at > start && named && self.cursor.is_ahead(1, "=") {
                return;
            }
            self.cursor.bump();
        }
    }

    fn process(&mut self) -> Process {
        let keyword = self.cursor.bump();
        let mut process = Process {
            copies: 1,
            locals: Vec::new(),
            registers: Vec::new(),
            text: Vec::new(),
            span: keyword.span,
            used_at: keyword.used_at,
        };
        if self.cursor.eat("(") {
            let copies = self.natural("the number of copies");
            if let Ok(copies) = copies
                && self.expect(")", "after the number of copies").is_ok()
            {
                process.copies = copies;
            } else {
                while !self.cursor.is_end() && !self.is_section() {
                    self.cursor.bump();
                }
            }
        }
        if self.cursor.eat_word("data") {
            self.declarations(&mut process.locals, TokenKind::Word);
        }
        if self.cursor.eat_word("registers") {
            self.declarations(&mut process.registers, TokenKind::Register);
        }
        if self.expect_word("text", "and the statements of the process").is_err() {
            while !self.cursor.is_end() && !self.cursor.is_word("text") && !self.cursor.is_word("process") {
                self.cursor.bump();
            }
            if !self.cursor.eat_word("text") {
                return process;
            }
        }
        loop {
            self.statements(&mut process.text);
            if self.cursor.is_end() || self.cursor.is_word("process") {
                return process;
            }
            let SyntaxError = self.expected("`;` and a statement, or `process`");
            loop {
                self.cursor.bump();
                self.skip_statement();
                if !self.cursor.is("}") && !self.cursor.is_word("or") {
                    break;
                }
            }
            if !self.cursor.eat(";") {
                return process;
            }
        }
    }
}
