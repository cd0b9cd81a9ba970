//! Statements and blocks.

use super::super::ast::{Block, Comments, Else, Expr, ExprKind, If, Name, Pattern, RavPlace, Statement, StatementKind};
use super::{ITEM_WORDS, Parse, Parser, STATEMENT_WORDS, SyntaxError, foreign, is_keyword, operator_named};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use crate::suggest::nearest;
use ravelin_program::BinaryOp;

const COMPOUND: [(&str, BinaryOp); 10] = [
    ("+=", BinaryOp::Add),
    ("-=", BinaryOp::Sub),
    ("*=", BinaryOp::Mul),
    ("/=", BinaryOp::Div),
    ("%=", BinaryOp::Rem),
    ("&=", BinaryOp::BitAnd),
    ("|=", BinaryOp::BitOr),
    ("^=", BinaryOp::BitXor),
    ("<<=", BinaryOp::Shl),
    (">>=", BinaryOp::Shr),
];

impl Parser<'_> {
    /// A block in braces. `what` says whose, for messages.
    pub(super) fn block(&mut self, what: &str) -> Parse<Block> {
        let start = self.cursor.at;
        let open = self.cursor.span();
        self.expect("{", &format!("and the statements {what}"))?;
        self.nested(|parser| {
            let mut block = Block::default();
            loop {
                while parser.cursor.eat(";") {}
                if parser.cursor.is("}") {
                    block.end = parser.pending_comments();
                    parser.cursor.bump();
                    break;
                }
                if parser.cursor.is_end() || parser.item_starts() {
                    let SyntaxError = parser.unclosed(open);
                    break;
                }
                block.statements.push(parser.statement());
            }
            block.span = parser.cursor.span_from(start);
            Ok(block)
        })
        .inspect_err(|SyntaxError| {
            // Nested too deeply: what is inside cannot be understood, what comes after can.
            self.cursor.at = start;
            self.cursor.skip_braces();
        })
        .or_else(|SyntaxError| Ok(Block { span: self.cursor.span_from(start), ..Block::default() }))
    }

    /// A line begins here with a word that only an item begins with.
    pub(super) fn item_starts(&self) -> bool {
        self.cursor.token().starts_line && self.cursor.word().is_some_and(|word| ITEM_WORDS.contains(&word))
    }

    pub(super) fn statement(&mut self) -> Statement {
        let leading = self.pending_comments();
        let (start, blank_before) = (self.cursor.at, self.cursor.token().blank_before);
        self.open.operators = 0;
        self.broken = false;
        let kind = self.statement_kind().unwrap_or_else(|SyntaxError| {
            self.skip_statement();
            if self.cursor.at == start {
                self.cursor.bump();
            }
            StatementKind::Error
        });
        self.broken = false;
        let comments: Comments = self.comments(leading, blank_before);
        Statement { kind, span: self.cursor.span_from(start), comments }
    }

    fn statement_kind(&mut self) -> Parse<StatementKind> {
        if self.cursor.eat("@") {
            let name = self.name("a label")?;
            self.semicolon("the label")?;
            return Ok(StatementKind::Label(name));
        }
        if self.cursor.is("{") {
            return self.block("").map(StatementKind::Block);
        }
        match self.cursor.word() {
            Some("let") => self.binding(),
            Some("if") => self.conditional().map(StatementKind::If),
            Some("while") => {
                self.cursor.bump();
                let (head, condition) = self.while_condition()?;
                let body = self.block("of the loop")?;
                Ok(StatementKind::While { head, condition, body })
            }
            Some("loop") => {
                self.cursor.bump();
                self.block("of the loop").map(StatementKind::Loop)
            }
            Some("for") => {
                self.cursor.bump();
                let name = self.name("the counter")?;
                self.expect_word("in", "and a range such as `0..3`")?;
                let range = self.range("a range such as `0..3`")?;
                let body = self.block("of the loop")?;
                Ok(StatementKind::For { name, range, body })
            }
            Some("choose") => {
                self.cursor.bump();
                let mut branches = vec![self.block("of the first choice")?];
                while self.cursor.eat_word("or") {
                    branches.push(self.block("of the next choice")?);
                }
                Ok(StatementKind::Choose(branches))
            }
            Some("locked") => {
                self.cursor.bump();
                self.block("of the locked step").map(StatementKind::Locked)
            }
            Some("break") => self.lone(StatementKind::Break),
            Some("continue") => self.lone(StatementKind::Continue),
            Some("return") if !self.cursor.is_ahead(1, ";") && !self.cursor.is_ahead(1, "}") => {
                if self.cursor.ahead(1).starts_line {
                    return self.lone(StatementKind::Return(None));
                }
                self.cursor.bump();
                let value = self.expr()?;
                self.semicolon("the value")?;
                Ok(StatementKind::Return(Some(value)))
            }
            Some("return") => self.lone(StatementKind::Return(None)),
            Some("match") => self.match_statement(),
            Some("nop") => self.lone(StatementKind::Nop),
            Some("bus_lock") => self.lone(StatementKind::BusLock),
            Some("bus_unlock") => self.lone(StatementKind::BusUnlock),
            Some("goto") => {
                self.cursor.bump();
                // The sign of labels is accepted where only a label can stand.
                self.cursor.eat("@");
                let label = self.name("a label")?;
                self.semicolon("the label")?;
                Ok(StatementKind::Goto(label))
            }
            Some("assume") => self.call(|parser| parser.expr(), StatementKind::Assume),
            Some("assert") => self.call(|parser| parser.expr(), StatementKind::Assert),
            Some("lock") => self.call(|parser| parser.place(), StatementKind::Lock),
            Some("unlock") => self.call(|parser| parser.place(), StatementKind::Unlock),
            Some("fence") => self.call(
                |parser| if parser.cursor.is(")") { Ok(None) } else { parser.order().map(Some) },
                StatementKind::Fence,
            ),
            Some("havoc") => {
                self.cursor.bump();
                let name = self.name("a register")?;
                self.expect_word("in", "and a range such as `0..3`")?;
                let range = self.range("a range such as `0..3`")?;
                self.semicolon("the range")?;
                Ok(StatementKind::Havoc { name, range })
            }
            Some(word) if ITEM_WORDS.contains(&word) => {
                let diagnostic = Diagnostic::error(
                    self.cursor.span(),
                    format!("`{word}` is an item, and items stand outside of threads"),
                );
                Err(self.report(diagnostic.with_help("locals are declared with `let`")))
            }
            _ => self.assignment_or_effect(),
        }
    }

    /// A condition, or `{ fence(); condition }`.
    fn while_condition(&mut self) -> Parse<(Vec<Statement>, Expr)> {
        let open = self.cursor.at;
        if !self.cursor.eat("{") {
            return Ok((Vec::new(), self.expr()?));
        }
        self.fences_and_condition().inspect_err(|SyntaxError| {
            // What is in the braces was not understood; what comes after can be.
            self.cursor.at = open;
            self.cursor.skip_braces();
        })
    }

    fn fences_and_condition(&mut self) -> Parse<(Vec<Statement>, Expr)> {
        let mut head = Vec::new();
        while self.cursor.word() == Some("fence") {
            let start = self.cursor.at;
            let kind = self.statement_kind()?;
            // Its comments belong to the loop.
            head.push(Statement { kind, span: self.cursor.span_from(start), comments: Comments::default() });
        }
        let condition = self.expr()?;
        self.expect("}", "after the condition; before it there may be fences only")?;
        Ok((head, condition))
    }

    /// A statement of one word.
    fn lone(&mut self, kind: StatementKind) -> Parse<StatementKind> {
        let word = self.cursor.bump();
        let after = format!("`{}`", self.cursor.quote(word.span));
        self.semicolon(&after)?;
        Ok(kind)
    }

    /// `word(…);`.
    fn call<T>(
        &mut self,
        argument: impl FnOnce(&mut Self) -> Parse<T>,
        make: impl FnOnce(T) -> StatementKind,
    ) -> Parse<StatementKind> {
        let word = self.cursor.bump();
        let name = self.cursor.quote(word.span);
        if self.cursor.is("!") && self.cursor.is_ahead(1, "(") {
            let span = word.span.to(self.cursor.bump().span);
            self.report(Diagnostic::error(span, "there are no macros").with_help(format!("write `{name}(…)`")));
        }
        self.expect("(", &format!("after `{name}`"))?;
        let argument = argument(self)?;
        self.expect(")", &format!("after the argument of `{name}`"))?;
        self.semicolon("`)`")?;
        Ok(make(argument))
    }

    fn binding(&mut self) -> Parse<StatementKind> {
        self.cursor.bump();
        let pattern = self.pattern()?;
        let at = self.cursor.span();
        let mut ty = None;
        if self.cursor.eat(":") {
            let result = self.ty();
            ty =
                Some(self.or_broken(result, || super::super::ast::Type {
                    kind: super::super::ast::TypeKind::Error,
                    span: at,
                }));
        }
        let mut value = None;
        if !self.broken && self.cursor.eat("=") {
            let result = self.expr();
            value = Some(self.or_broken(result, || Expr { kind: ExprKind::Error, span: at }));
        }
        self.semicolon("the declaration")?;
        Ok(StatementKind::Let { pattern, ty, value })
    }

    fn pattern(&mut self) -> Parse<Pattern> {
        if self.cursor.eat("(") {
            let old = self.name_or_blank()?;
            self.expect(",", "between the two names")?;
            let ok = self.name_or_blank()?;
            self.expect(")", "after the two names")?;
            return Ok(Pattern::Pair(old, ok));
        }
        let mutable = self.cursor.is_word("mut") && self.cursor.word_of(self.cursor.ahead(1)).is_some() && {
            self.cursor.bump();
            true
        };
        Ok(Pattern::Name { name: self.name("a register")?, mutable })
    }

    fn name_or_blank(&mut self) -> Parse<Name> {
        if self.cursor.is_word("_") {
            let span = self.cursor.bump().span;
            return Ok(Name { text: "_".to_owned(), span });
        }
        self.name("a register")
    }

    fn conditional(&mut self) -> Parse<If> {
        self.cursor.bump();
        let condition = self.expr()?;
        let then = self.block("of the condition")?;
        let otherwise = if !self.cursor.eat_word("else") {
            None
        } else if self.cursor.is_word("if") {
            Some(Box::new(Else::If(self.nested(|parser| parser.conditional())?)))
        } else {
            Some(Box::new(Else::Block(self.block("of `else`")?)))
        };
        Ok(If { condition, then, otherwise })
    }

    fn assignment_or_effect(&mut self) -> Parse<StatementKind> {
        if self.cursor.is("(") && self.cursor.word_of(self.cursor.ahead(1)).is_some() && self.cursor.is_ahead(2, ",") {
            let pattern = self.pattern()?;
            self.expect("=", "and a compare_exchange")?;
            let value = self.expr()?;
            self.semicolon("the assignment")?;
            return Ok(StatementKind::Assign { pattern, value });
        }
        self.misspelt_statement()?;
        let expr = self.expr()?;
        let compound = COMPOUND.into_iter().find(|(symbol, _)| self.cursor.is(symbol));
        if !self.cursor.is("=") && compound.is_none() {
            if self.cursor.token().kind == TokenKind::Word && !self.cursor.token().starts_line {
                return Err(self.expected("`;` or an operator"));
            }
            self.semicolon("the statement")?;
            return Ok(StatementKind::Effect(expr));
        }
        let Some(name) = self.register_name(&expr) else {
            return Err(self.not_a_register(&expr));
        };
        self.cursor.bump();
        let value = self.expr()?;
        self.semicolon("the assignment")?;
        Ok(match compound {
            Some((_, op)) => StatementKind::CompoundAssign { name, op, value },
            None => StatementKind::Assign { pattern: Pattern::Name { name, mutable: false }, value },
        })
    }

    /// A word that is followed by what only a keyword can be followed by.
    fn misspelt_statement(&mut self) -> Parse<()> {
        let Some(word) =
            self.cursor.word().filter(|word| !is_keyword(word) && *word != "checked" && operator_named(word).is_none())
        else {
            return Ok(());
        };
        if self.functions.contains(word) && self.cursor.is_ahead(1, "(") {
            return Ok(());
        }
        let next = self.cursor.ahead(1);
        let misplaced = match next.kind {
            TokenKind::Symbol("{" | "(") => true,
            TokenKind::Word => !next.starts_line && self.cursor.word_of(next) != Some("of"),
            _ => false,
        };
        if !misplaced {
            return Ok(());
        }
        let mut diagnostic = Diagnostic::error(self.cursor.span(), format!("there is no statement `{word}`"));
        diagnostic.help = foreign::statement(word)
            .map(str::to_owned)
            .or_else(|| nearest(word, STATEMENT_WORDS.iter().copied()).map(|found| format!("did you mean `{found}`?")))
            .or_else(|| {
                let code = self.cursor.is_ahead(1, "(");
                code.then(|| format!("a function is declared by `fn {word}(…) {{ … }}`"))
            });
        Err(self.report(diagnostic))
    }

    fn register_name(&self, expr: &Expr) -> Option<Name> {
        match &expr.kind {
            ExprKind::Place(RavPlace { name, index: None, .. }) => Some(name.clone()),
            _ => None,
        }
    }

    fn not_a_register(&mut self, target: &Expr) -> SyntaxError {
        let text = self.cursor.quote(target.span).to_owned();
        let mut diagnostic = Diagnostic::error(target.span, format!("`{text}` cannot be assigned to"));
        diagnostic.help = Some(match target.kind {
            ExprKind::Place(_) => format!("a store is written `{text}.store(…)`"),
            _ => "only registers are assigned to; they are declared with `let`".to_owned(),
        });
        self.report(diagnostic)
    }
}
