//! One thread under construction: its locals, its labels, and where the next step goes.

use super::super::MAX_DIAGNOSTICS;
use super::super::ast::{Block, Function, Name, Statement, StatementKind};
use super::{Globals, twice};
use crate::Diagnostic;
use crate::flow::{Flow, Raw};
use crate::suggest::did_you_mean;
use ravelin_program::{Copies, Instruction, Notation, RegId, Register, Span, Thread};
use std::collections::HashMap;

pub struct ThreadLowering<'g, 'a> {
    pub(super) globals: &'g Globals<'a>,
    pub diagnostics: &'g mut Vec<Diagnostic>,
    pub flow: Flow,
    pub here: Raw,
    pub end: Raw,
    registers: Vec<Register>,
    pub locals: HashMap<&'a str, (RegId, Span)>,
    labels: HashMap<&'a str, (Raw, Span)>,
}

impl<'g, 'a> ThreadLowering<'g, 'a> {
    pub(super) fn new(
        globals: &'g Globals<'a>,
        function: &'a Function,
        diagnostics: &'g mut Vec<Diagnostic>,
    ) -> ThreadLowering<'g, 'a> {
        let mut flow = Flow::default();
        let (here, end) = (flow.fresh(), flow.fresh());
        let (locals, labels) = (HashMap::new(), HashMap::new());
        let mut lowering =
            ThreadLowering { globals, diagnostics, flow, here, end, registers: Vec::new(), locals, labels };
        for local in &function.locals {
            lowering.declare(local);
        }
        // Labels may be used before they are declared.
        lowering.collect_labels(&function.body);
        lowering
    }

    pub fn run(mut self, function: &Function) -> Thread {
        let initial = self.here;
        self.block(&function.body);
        let body = function.body.span;
        let closing = Span { start: body.end.saturating_sub(1).max(body.start), end: body.end };
        self.flow.jump(self.here, self.end, closing);
        let finished = self.flow.finish(initial, self.end, closing);
        for (name, _) in finished.labels.iter().filter(|(_, location)| location.is_none()) {
            if let Some(&(_, span)) = self.labels.get(name.as_str()) {
                let message = format!("nothing leads to the label `{name}`");
                self.diagnostics.push(Diagnostic::warning(span, message));
            }
        }
        Thread {
            name: function.name.text.clone(),
            template: None,
            copies: Copies::One,
            registers: self.registers,
            locations: finished.locations,
            transitions: finished.transitions,
            initial: finished.initial,
            calls: Vec::new(),
            span: function.name.span,
        }
    }

    // Steps.

    /// Adds an instruction from here to a new location and goes there.
    pub fn emit(&mut self, instruction: Instruction, span: Span) {
        let to = self.flow.fresh();
        self.flow.emit(self.here, instruction, to, span);
        self.here = to;
    }

    /// Leaves by a jump; what follows starts where nothing leads to.
    pub fn leave_to(&mut self, target: Raw, span: Span) {
        self.flow.jump(self.here, target, span);
        self.here = self.flow.fresh();
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    // Names.

    fn declare(&mut self, local: &'a Name) {
        if let Some(&(_, earlier)) = self.locals.get(local.text.as_str()) {
            return self.report(twice("local", local, earlier));
        }
        if let Some(variable) = self.globals.names.get(local.text.as_str()) {
            let message = format!("`{}` is already the name of a shared variable", local.text);
            let earlier = variable.span;
            self.report(
                Diagnostic::error(local.span, message).with_secondary(earlier, "the variable is declared here"),
            );
        }
        let id = RegId(self.registers.len());
        self.locals.insert(&local.text, (id, local.span));
        self.registers.push(Register {
            name: local.text.clone(),
            domain: self.globals.domain,
            initial: 0,
            hidden: false,
            notation: Notation::Signed,
            span: local.span,
        });
    }

    /// The register of a local.
    pub fn local(&mut self, name: &Name) -> Option<RegId> {
        let text = name.text.as_str();
        if let Some(&(register, _)) = self.locals.get(text) {
            return Some(register);
        }
        let diagnostic = match self.globals.names.get(text) {
            Some(_) => {
                Diagnostic::error(name.span, format!("`{text}` is a shared variable, and a local is needed here"))
            }
            None => {
                let mut diagnostic = Diagnostic::error(name.span, format!("there is no local `{text}`"));
                if self.diagnostics.len() < MAX_DIAGNOSTICS {
                    diagnostic.help = did_you_mean(text, self.locals.keys().copied())
                        .or_else(|| Some(format!("declare it with `local {text};` at the start of the `fn`")));
                }
                diagnostic
            }
        };
        self.report(diagnostic);
        None
    }

    /// The register of a local that something is assigned to.
    pub fn assigned(&mut self, name: &Name) -> Option<RegId> {
        let register = self.local(name);
        if let (Some(variable), None) = (self.globals.names.get(name.text.as_str()), register)
            && let Some(reported) = self.diagnostics.last_mut()
        {
            let store = if variable.atomic { "store" } else { "nastore" };
            reported.help = Some(format!("a store is written `{}.{store}(…);`", name.text));
        }
        register
    }

    // Labels.

    pub fn label(&mut self, name: &Name, span: Span) {
        // A second declaration of the same label has been reported.
        let Some(&(at, declared)) = self.labels.get(name.text.as_str()) else { return };
        if declared == name.span {
            self.flow.label(at, &name.text);
            self.flow.jump(self.here, at, span);
            self.here = at;
        }
    }

    pub fn target(&mut self, label: &Name) -> Option<Raw> {
        if let Some(&(at, _)) = self.labels.get(label.text.as_str()) {
            return Some(at);
        }
        let mut diagnostic =
            Diagnostic::error(label.span, format!("there is no label `{}` in this thread", label.text));
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            diagnostic.help = did_you_mean(&label.text, self.labels.keys().copied())
                .or_else(|| Some(format!("a label is declared by `{}:` before a statement", label.text)));
        }
        self.report(diagnostic);
        None
    }

    fn collect_labels(&mut self, block: &'a Block) {
        for statement in &block.statements {
            for name in &statement.labels {
                if let Some(&(_, earlier)) = self.labels.get(name.text.as_str()) {
                    self.report(twice("label", name, earlier));
                } else {
                    let at = self.flow.fresh();
                    self.labels.insert(&name.text, (at, name.span));
                }
            }
            for block in blocks(statement) {
                self.collect_labels(block);
            }
        }
    }
}

/// The blocks that stand directly in a statement.
fn blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::If { then, otherwise, .. } => std::iter::once(then).chain(otherwise).collect(),
        StatementKind::While { body, .. } => vec![body],
        StatementKind::OneOf(blocks) => blocks.iter().collect(),
        _ => Vec::new(),
    }
}
