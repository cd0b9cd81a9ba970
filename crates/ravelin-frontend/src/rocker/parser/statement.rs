//! Statements.

use super::super::MAX_DIAGNOSTICS;
use super::super::ast::{Block, Name, Operation, Statement, StatementKind};
use super::{Parse, Parser, STATEMENT_WORDS};
use crate::Diagnostic;
use crate::parsing::{NestedParser, StatementParser, TokenParser};
use crate::suggest::did_you_mean;
use ravelin_program::{Order, RmwOp, Span};

const METHODS: &[&str] = &["load", "naload", "nastore", "store"];

impl Parser<'_> {
    /// One statement; one that is wrong is skipped.
    pub fn statement(&mut self) -> Statement {
        self.open.operators = 0;
        let mut labels = Vec::new();
        let start = self.cursor.at;
        let kind = self.labels(&mut labels).and_then(|()| {
            let start = self.cursor.at;
            self.kind().map(|kind| (kind, start))
        });
        let (kind, start) = kind.unwrap_or_else(|_| {
            // Skipping stops before a line that starts like a statement, which may be this very one.
            if self.cursor.at == start {
                self.cursor.bump();
            }
            self.skip_statement();
            (StatementKind::Error, start)
        });
        Statement { labels, kind, span: self.cursor.span_from(start) }
    }

    fn labels(&mut self, labels: &mut Vec<Name>) -> Parse<()> {
        while self.cursor.word().is_some() && self.cursor.is_ahead(1, ":") {
            labels.push(self.name("a label")?);
            self.cursor.bump();
            if self.cursor.is("}") {
                let span = labels[labels.len() - 1].span;
                self.report(
                    Diagnostic::error(span, "a label stands before a statement, and there is none")
                        .with_help("write `skip;` after it"),
                );
                return Err(super::SyntaxError);
            }
        }
        Ok(())
    }

    fn kind(&mut self) -> Parse<StatementKind> {
        let Some(word) = self.cursor.word() else { return Err(self.no_statement()) };
        if self.cursor.is_ahead(1, "=") {
            return self.assignment();
        }
        if self.cursor.is_ahead(1, ".") {
            let variable = self.name("a variable")?;
            let (operation, span) = self.method()?;
            if matches!(operation, Operation::Load(_)) {
                let help = format!("give it to a local: `r = {}.{}(…);`", variable.text, operation.word());
                self.report(Diagnostic::error(span, "the value that is loaded goes nowhere").with_help(help));
            }
            self.end_statement("the access")?;
            return Ok(StatementKind::Access { target: None, variable, operation });
        }
        match word {
            "if" => self.conditional(),
            "while" => {
                self.cursor.bump();
                let condition = self.condition("while")?;
                Ok(StatementKind::While { condition, body: self.block("after the condition")? })
            }
            "oneof" => self.one_of(),
            "goto" => {
                self.cursor.bump();
                let label = self.name("a label")?;
                self.end_statement("the jump")?;
                Ok(StatementKind::Goto(label))
            }
            "skip" => {
                self.cursor.bump();
                self.end_statement("`skip`")?;
                Ok(StatementKind::Skip)
            }
            "assert" | "assume" => {
                self.cursor.bump();
                let condition = self.condition(word)?;
                self.end_statement("the condition")?;
                let assert = word == "assert";
                Ok(if assert { StatementKind::Assert(condition) } else { StatementKind::Assume(condition) })
            }
            "verify" => {
                self.cursor.bump();
                self.expect("(", "after `verify`")?;
                let local = self.name("a local")?;
                self.expect(")", "after the local")?;
                self.end_statement("`verify`")?;
                Ok(StatementKind::Verify(local))
            }
            "fence" => {
                self.cursor.bump();
                let order = self.fence()?;
                self.end_statement("the fence")?;
                Ok(StatementKind::Fence(order))
            }
            "BCAS" | "CAS" | "FADD" | "exchange" | "wait" | "lock" | "unlock" => {
                let (variable, operation) = self.call()?;
                self.end_statement("the access")?;
                Ok(StatementKind::Access { target: None, variable, operation })
            }
            "local" => {
                self.report(
                    Diagnostic::error(self.cursor.span(), "locals are declared before the first statement")
                        .with_help("move this to the start of the `fn`"),
                );
                let mut locals = Vec::new();
                let result = self.locals(&mut locals);
                self.late_locals.append(&mut locals);
                result.map(|()| StatementKind::Error)
            }
            _ => Err(self.no_statement()),
        }
    }

    /// Nothing that starts a statement stands here.
    fn no_statement(&mut self) -> super::SyntaxError {
        let span = self.cursor.span();
        let Some(word) = self.cursor.word() else { return self.expected("a statement") };
        if self.cursor.is_ahead(1, "(") {
            let mut diagnostic = Diagnostic::error(span, format!("there is no statement `{word}`"));
            if self.diagnostics.len() < MAX_DIAGNOSTICS {
                diagnostic.help = did_you_mean(word, STATEMENT_WORDS.iter().copied());
            }
            return self.report(diagnostic);
        }
        self.expected_word("a statement", STATEMENT_WORDS.iter().copied())
    }

    /// `r = …;`.
    fn assignment(&mut self) -> Parse<StatementKind> {
        let target = self.name("a local")?;
        self.cursor.bump();
        let kind = match self.cursor.word() {
            Some("BCAS" | "lock" | "unlock") => {
                let span = self.cursor.span();
                self.call()?;
                self.report(Diagnostic::error(span, format!("`{}` has no value", self.cursor.quote(span))));
                StatementKind::Error
            }
            Some("CAS" | "FADD" | "exchange" | "wait") => {
                let (variable, operation) = self.call()?;
                StatementKind::Access { target: Some(target), variable, operation }
            }
            Some(_) if self.cursor.is_ahead(1, ".") => {
                let variable = self.name("a variable")?;
                let (operation, span) = self.method()?;
                if matches!(operation, Operation::Store(..)) {
                    self.report(Diagnostic::error(span, "a store has no value"));
                    return self.end_statement("the store").map(|()| StatementKind::Error);
                }
                StatementKind::Access { target: Some(target), variable, operation }
            }
            _ => StatementKind::Assign { target, value: self.expression()? },
        };
        if matches!(kind, StatementKind::Access { .. })
            && !self.cursor.is(";")
            && !self.cursor.token().starts_line
            && !self.cursor.is("}")
        {
            let diagnostic =
                Diagnostic::error(self.cursor.span(), format!("expected `;` after the access, found {}", self.found()));
            return Err(self.report(diagnostic.with_help("compute with the value in a statement of its own")));
        }
        self.end_statement("the assignment")?;
        Ok(kind)
    }

    /// `.load(…)` and its like; gives back the place of the method's name.
    fn method(&mut self) -> Parse<(Operation, Span)> {
        self.expect(".", "before the method")?;
        let span = self.cursor.span();
        let Some(method) = self.cursor.word().filter(|word| METHODS.contains(word)) else {
            let mut diagnostic = Diagnostic::error(span, format!("there is no access `{}`", self.cursor.quote(span)));
            diagnostic.help = match self.cursor.word() {
                Some(word) if STATEMENT_WORDS.contains(&word) => Some(format!("it is written `{word}(x, …)`")),
                Some(word) => did_you_mean(word, METHODS.iter().copied()),
                None => None,
            };
            return Err(self.report(diagnostic));
        };
        self.cursor.bump();
        self.expect("(", &format!("after `{method}`"))?;
        let operation = match method {
            "naload" => Operation::Load(Order::NonAtomic),
            "load" if self.cursor.is(")") => Operation::Load(Order::Relaxed),
            "load" => Operation::Load(self.load_order()?),
            "nastore" => Operation::Store(self.expression()?, Order::NonAtomic),
            _ => {
                let value = self.expression()?;
                Operation::Store(value, if self.cursor.eat(",") { self.store_order()? } else { Order::Relaxed })
            }
        };
        self.expect(")", "after the access")?;
        Ok((operation, span))
    }

    /// `CAS(x, …)` and its like.
    fn call(&mut self) -> Parse<(Name, Operation)> {
        let word = self.cursor.word().unwrap_or_default();
        self.cursor.bump();
        self.expect("(", &format!("after `{word}`"))?;
        let variable = self.name("a variable")?;
        let operation = match word {
            "lock" => Operation::Lock,
            "unlock" => Operation::Unlock,
            "wait" => self.wait()?,
            "FADD" | "exchange" => {
                self.expect(",", "before the operand")?;
                let operand = self.expression()?;
                let (load, store) = self.orders()?;
                let op = if word == "FADD" { RmwOp::Add } else { RmwOp::Exchange };
                Operation::Rmw { op, operand, order: both(load, store) }
            }
            _ => {
                self.expect(",", "before the value that is expected")?;
                let expected = self.expression()?;
                self.expect(",", "before the new value")?;
                let new = self.expression()?;
                let (load, store) = self.orders()?;
                let order = both(load, store);
                match word {
                    "BCAS" => Operation::BlockingCas { expected, new, order },
                    _ => Operation::CompareExchange { expected, new, success: order, failure: load },
                }
            }
        };
        self.expect(")", "after the access")?;
        Ok((variable, operation))
    }

    /// One value or more, and then perhaps an order.
    fn wait(&mut self) -> Parse<Operation> {
        self.expect(",", "before the value that is waited for")?;
        let mut values = vec![self.expression()?];
        let mut order = Order::Relaxed;
        while self.cursor.eat(",") {
            if matches!(self.cursor.word(), Some("rlx" | "acq" | "rel" | "acq_rel" | "seq_cst")) {
                order = self.load_order()?;
                break;
            }
            values.push(self.expression()?);
        }
        Ok(Operation::Wait { values, order })
    }

    /// `, load, store` at the end of a read-modify-write.
    fn orders(&mut self) -> Parse<(Order, Order)> {
        if !self.cursor.eat(",") {
            return Ok((Order::Relaxed, Order::Relaxed));
        }
        let load = self.load_order()?;
        self.expect(",", "and the order of the store after that of the load")?;
        Ok((load, self.store_order()?))
    }

    fn load_order(&mut self) -> Parse<Order> {
        self.order("the order of a load (`rlx` or `acq`)", &[("rlx", Order::Relaxed), ("acq", Order::Acquire)])
    }

    fn store_order(&mut self) -> Parse<Order> {
        self.order("the order of a store (`rlx` or `rel`)", &[("rlx", Order::Relaxed), ("rel", Order::Release)])
    }

    /// `fence`, `fence()` and `fence(order)`.
    fn fence(&mut self) -> Parse<Order> {
        if !self.cursor.eat("(") || self.cursor.eat(")") {
            return Ok(Order::SeqCst);
        }
        let order = self.order(
            "the order of a fence (`acq`, `rel`, `acq_rel`, `seq_cst` or `upd`)",
            &[
                ("acq", Order::Acquire),
                ("rel", Order::Release),
                ("acq_rel", Order::AcqRel),
                ("seq_cst", Order::SeqCst),
                ("upd", Order::SeqCst),
            ],
        )?;
        self.expect(")", "after the order")?;
        Ok(order)
    }

    fn order(&mut self, what: &str, known: &[(&'static str, Order)]) -> Parse<Order> {
        match self.cursor.word().and_then(|word| known.iter().find(|(name, _)| *name == word)) {
            Some(&(_, order)) => {
                self.cursor.bump();
                Ok(order)
            }
            None => Err(self.expected_word(what, known.iter().map(|&(name, _)| name))),
        }
    }

    fn conditional(&mut self) -> Parse<StatementKind> {
        self.cursor.bump();
        let condition = self.condition("if")?;
        if self.cursor.eat_word("goto") {
            let label = self.name("a label")?;
            self.end_statement("the jump")?;
            return Ok(StatementKind::IfGoto { condition, label });
        }
        let then = self.block("or `goto` after the condition")?;
        let mut otherwise = None;
        if self.cursor.eat_word("else") {
            otherwise = Some(if self.cursor.is_word("if") {
                self.report(
                    Diagnostic::error(self.cursor.span(), "`else` is followed by a block")
                        .with_help("write `else { if (…) { … } }`"),
                );
                let start = self.cursor.at;
                let kind = self.nested(Self::conditional)?;
                let span = self.cursor.span_from(start);
                Block { statements: vec![Statement { labels: Vec::new(), kind, span }], span }
            } else {
                self.block("after `else`")?
            });
        }
        Ok(StatementKind::If { condition, then, otherwise })
    }

    fn one_of(&mut self) -> Parse<StatementKind> {
        self.cursor.bump();
        self.expect("(", "after `oneof`")?;
        let mut blocks = vec![self.block("around the first choice")?];
        while self.cursor.is("{") {
            blocks.push(self.block("around a choice")?);
        }
        self.expect(")", "after the choices")?;
        self.end_statement("`oneof`")?;
        Ok(StatementKind::OneOf(blocks))
    }

    fn block(&mut self, why: &str) -> Parse<Block> {
        let start = self.cursor.at;
        self.expect("{", why)?;
        let open = self.cursor.nth(start).span;
        let statements = self.nested(|parser| Ok(parser.statements(open)));
        if statements.is_err() {
            // Too deep: nothing in it is looked at, and what follows it is.
            self.cursor.at = start;
            self.cursor.skip_braces();
        }
        let statements = statements.unwrap_or_default();
        Ok(Block { statements, span: self.cursor.span_from(start) })
    }
}

/// The order of a read-modify-write from those of its two halves.
fn both(load: Order, store: Order) -> Order {
    match (load.is_acquire(), store.is_release()) {
        (false, false) => Order::Relaxed,
        (true, false) => Order::Acquire,
        (false, true) => Order::Release,
        (true, true) => Order::AcqRel,
    }
}
