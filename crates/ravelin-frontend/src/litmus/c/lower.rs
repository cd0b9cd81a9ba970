//! Functions to threads: local variables become registers, `if` and `while` become branches.
//!
//! A condition that loads on the right of `&&` or `||` is evaluated as C does, only as far as needed.

use super::super::assemble::{Assembly, Label, negate};
use super::super::cells::NamedCells;
use super::super::cursor::listed;
use super::super::init::{Init, InitValue};
use super::super::{Code, wrapping};
use super::evaluate::has_effects;
use super::{Expression, ExpressionKind, Function, Statement};
use crate::Diagnostic;
use ravelin_program::{BinaryOp, Domain, Expr, Instruction, Notation, Order, RegId, Register, Span, Thread, Value};
use std::collections::BTreeMap;

pub fn lower(functions: &[Function], init: &Init, diagnostics: &mut Vec<Diagnostic>) -> (Code, NamedCells) {
    let mut cells = NamedCells::new(init, false, diagnostics);
    let given = init.cells.iter().flat_map(|cell| &cell.values).any(|value| match value {
        InitValue::Number(number) => i32::try_from(*number).is_err(),
        InitValue::AddressOf(..) => false,
    });
    let mut wide = init.wide || given || functions.iter().any(|function| function.wide);
    // Cells have the order of the first function's parameters.
    for parameter in functions.iter().flat_map(|function| &function.parameters) {
        cells.cell(&parameter.text, parameter.span);
    }
    let mut threads = Vec::new();
    for function in functions {
        let lowering = ThreadLowering {
            assembly: Assembly::default(),
            cells: &mut cells,
            diagnostics,
            function,
            locals: BTreeMap::new(),
            hidden: Vec::new(),
            hidden_used: 0,
            wide: false,
        };
        let (thread, large) = lowering.run(init);
        wide |= large;
        threads.push(thread);
    }
    let numbers = functions.iter().map(|function| function.number).collect();
    (Code { threads, numbers, arithmetic: wrapping(wide) }, cells)
}

pub struct ThreadLowering<'a> {
    pub assembly: Assembly,
    pub cells: &'a mut NamedCells,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    function: &'a Function,
    locals: BTreeMap<String, RegId>,
    hidden: Vec<RegId>,
    /// How many of them the current statement has used.
    hidden_used: usize,
    /// A constant needs 64 bits.
    pub wide: bool,
}

impl ThreadLowering<'_> {
    fn run(mut self, init: &Init) -> (Thread, bool) {
        for given in init.registers.iter().filter(|given| given.thread == self.function.number) {
            let Some(value) = self.cells.initial(&given.value, self.diagnostics) else { continue };
            let register = self.declare(&given.name.text, given.name.span);
            self.assembly.registers[register.0].initial = value;
        }
        let function = self.function;
        self.statements(&function.body);
        let name = format!("P{}", function.number);
        (self.assembly.finish(name, function.name.span, function.end), self.wide)
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.hidden_used = 0;
            // What is wrong has been reported.
            let _ = self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Declare { name, value } => {
                let register = self.declare(&name.text, name.span);
                if let Some(value) = value {
                    self.value_into(register, value, name.span.to(value.span))?;
                }
            }
            Statement::Assign { name, value } => {
                if self.is_parameter(&name.text) && !self.locals.contains_key(&name.text) {
                    let message = format!("`{}` is the address of a cell and cannot be assigned to", name.text);
                    let help = format!("a plain store is written `*{} = …;`", name.text);
                    self.diagnostics.push(Diagnostic::error(name.span, message).with_help(help));
                    return None;
                }
                if !self.locals.contains_key(&name.text) {
                    let message = format!("`{}` is assigned to without a declaration", name.text);
                    let help = format!("declare it: `int {};`", name.text);
                    self.diagnostics.push(Diagnostic::warning(name.span, message).with_help(help));
                }
                let register = self.declare(&name.text, name.span);
                self.value_into(register, value, name.span.to(value.span))?;
            }
            Statement::Store { place, value, span } => {
                let address = self.place(place)?;
                let value = self.value(value)?;
                self.assembly.step(Instruction::Store { address, value, order: Order::NonAtomic }, *span);
            }
            Statement::Evaluate(expression) => self.effects(expression)?,
            Statement::Return(span) => {
                let end = self.assembly.fresh();
                self.assembly.jump(end, *span);
            }
            Statement::If { condition, then, otherwise } => {
                let (no, done) = (self.assembly.fresh(), self.assembly.fresh());
                let known = self.branch_if(condition, false, no);
                self.statements(then);
                if !otherwise.is_empty() {
                    self.assembly.jump(done, condition.span);
                }
                self.assembly.place(no);
                self.statements(otherwise);
                self.assembly.place(done);
                known?;
            }
            Statement::While { condition, body } => {
                let (again, done) = (self.assembly.fresh(), self.assembly.fresh());
                self.assembly.place(again);
                let known = self.branch_if(condition, false, done);
                self.statements(body);
                self.assembly.jump(again, condition.span);
                self.assembly.place(done);
                known?;
            }
            Statement::Do { body, condition } => {
                let again = self.assembly.fresh();
                self.assembly.place(again);
                self.statements(body);
                self.hidden_used = 0;
                self.branch_if(condition, true, again)?;
            }
        }
        Some(())
    }

    /// Goes to the label if the condition holds, or if it does not.
    pub fn branch_if(&mut self, condition: &Expression, holds: bool, label: Label) -> Option<()> {
        match &condition.kind {
            ExpressionKind::Not(inner) => self.branch_if(inner, !holds, label),
            ExpressionKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) if has_effects(right) => {
                if holds == (*op == BinaryOp::Or) {
                    // Either operand is enough.
                    self.branch_if(left, holds, label)?;
                    self.branch_if(right, holds, label)
                } else {
                    let past = self.assembly.fresh();
                    self.branch_if(left, !holds, past)?;
                    self.branch_if(right, holds, label)?;
                    self.assembly.place(past);
                    Some(())
                }
            }
            _ => {
                let value = self.value(condition)?;
                let value = if holds { value } else { negate(value) };
                self.assembly.branch(value, label, condition.span);
                Some(())
            }
        }
    }

    // Names.

    /// The register of a local variable; a second declaration of a name means the same register.
    fn declare(&mut self, name: &str, span: Span) -> RegId {
        if let Some(&register) = self.locals.get(name) {
            return register;
        }
        let register = self.register(name.to_owned(), false, span);
        self.locals.insert(name.to_owned(), register);
        register
    }

    pub fn local(&self, name: &str) -> Option<RegId> {
        self.locals.get(name).copied()
    }

    /// Names the address of a cell.
    pub fn is_parameter(&self, name: &str) -> bool {
        self.function.parameters.iter().any(|parameter| parameter.text == name)
    }

    /// A hidden register for the rest of the statement.
    pub fn fresh(&mut self, span: Span) -> RegId {
        if self.hidden_used == self.hidden.len() {
            let register = self.register(format!("${}", self.hidden.len() + 1), true, span);
            self.hidden.push(register);
        }
        self.hidden_used += 1;
        self.hidden[self.hidden_used - 1]
    }

    fn register(&mut self, name: String, hidden: bool, span: Span) -> RegId {
        self.assembly.registers.push(Register {
            name,
            domain: Domain::FULL,
            initial: 0,
            hidden,
            notation: Notation::Signed,
            span,
        });
        RegId(self.assembly.registers.len() - 1)
    }

    pub fn unknown(&mut self, name: &str, span: Span) {
        let mut diagnostic = Diagnostic::error(span, format!("there is no local variable or parameter `{name}`"));
        let parameters = self.function.parameters.iter().map(|parameter| parameter.text.as_str());
        let known = listed(parameters.chain(self.locals.keys().map(String::as_str)));
        if !known.is_empty() {
            diagnostic = diagnostic.with_help(format!("there is {known}"));
        }
        self.diagnostics.push(diagnostic);
    }

    pub fn constant(&mut self, value: Value) -> Expr {
        self.wide |= i32::try_from(value).is_err();
        Expr::Const(value)
    }
}
