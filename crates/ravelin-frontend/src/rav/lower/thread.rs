//! One thread under construction: its registers, the names in scope, and where the next step goes.

use super::super::ast::{Block, Else, Function, Name, RavPlace, Statement, StatementKind, ThreadItem, Type};
use super::constant::{Scope, constant_function, twice};
use super::global::SharedVariables;
use super::kind::{Kind, notation};
use super::types::KnownType;
use super::{LoweringBudget, MAX_TRANSITIONS, after};
use crate::Diagnostic;
use crate::flow::{Flow, Raw};
use crate::suggest::did_you_mean;
use ravelin_program::{
    Arithmetic, Call, Domain, Escape, Instruction, LocId, Location, RegId, Register, Span, Transition, Value,
};
use std::collections::HashMap;
use std::sync::Arc;

/// A thread's parts, and what goals may name.
pub struct LoweredThread {
    pub registers: Vec<Register>,
    pub locations: Vec<Location>,
    pub transitions: Vec<Transition>,
    pub initial: LocId,
    pub calls: Vec<Call>,
    /// What is known of the values of each register.
    pub kinds: Vec<Option<Kind>>,
    pub labels: Labels,
    pub names: RegisterNames,
}

/// Where each label is; `None` for one that nothing leads to.
pub type Labels = Vec<(String, Option<LocId>)>;

/// For each name the first register declared with it, and how many there are.
pub type RegisterNames = HashMap<String, (RegId, usize)>;

pub struct ThreadLowering<'g, 'a> {
    pub globals: &'g mut SharedVariables<'a>,
    pub diagnostics: &'g mut Vec<Diagnostic>,
    pub(super) budget: &'g mut LoweringBudget,
    pub flow: Flow,
    pub here: Raw,
    pub end: Raw,
    pub registers: Vec<Register>,
    /// What is known of the values of each register.
    pub kinds: Vec<Option<Kind>>,
    /// Innermost last; a later name hides an earlier one.
    pub(super) scope: Vec<(String, Binding)>,
    names: RegisterNames,
    /// By how many are needed at once; several of different notations.
    hidden: Vec<Vec<RegId>>,
    /// How many hidden registers hold a value that is still needed.
    pub hidden_used: usize,
    /// How many of them hold a value that the caller of the function around here needs.
    pub hidden_floor: usize,
    /// The functions around here, innermost last.
    pub frames: Vec<Frame>,
    /// The registers of functions, which never run twice at once: by the function and where one is declared.
    pub(super) locals: HashMap<(String, u32, Domain), RegId>,
    pub calls: Vec<Call>,
    pub loops: Vec<Loop>,
    pub labels: HashMap<String, (Raw, Span)>,
    /// How the operators of the text compute here.
    pub arithmetic: Option<Arithmetic>,
    /// The instructions of the `locked` block that is being built.
    pub locked: Option<Vec<Instruction>>,
}

#[derive(Clone, Copy, Debug)]
pub enum Binding {
    Register {
        id: RegId,
        counter: bool,
    },
    /// The thread's index.
    Constant(Value),
    /// A parameter of a function that stands for a value of its caller.
    Parameter(ParameterValue),
    /// Declared, but by a declaration that is wrong.
    Unsure,
}

/// What a parameter stands for that is not assigned to.
#[derive(Clone, Copy, Debug)]
pub enum ParameterValue {
    Constant(Value, Option<Kind>),
    Register(RegId, Option<Kind>),
}

/// A function whose body stands in the code of its caller.
#[derive(Debug)]
pub struct Frame {
    pub function: Arc<Function>,
    /// Where control goes from its end.
    pub exit: Raw,
    /// Where its value goes, if it is wanted.
    pub value: Option<RegId>,
    /// The type of its value.
    pub result: Option<KnownType>,
}

/// Where `break` and `continue` go.
pub struct Loop {
    pub exit: Raw,
    pub again: Raw,
    pub has_break: bool,
}

impl<'g, 'a> ThreadLowering<'g, 'a> {
    pub fn new(
        globals: &'g mut SharedVariables<'a>,
        diagnostics: &'g mut Vec<Diagnostic>,
        budget: &'g mut LoweringBudget,
        index: Option<(&str, Value)>,
    ) -> ThreadLowering<'g, 'a> {
        let mut flow = Flow::default();
        let (here, end) = (flow.fresh(), flow.fresh());
        ThreadLowering {
            arithmetic: globals.arithmetic,
            globals,
            diagnostics,
            budget,
            flow,
            here,
            end,
            registers: Vec::new(),
            kinds: Vec::new(),
            scope: index.iter().map(|&(name, value)| (name.to_owned(), Binding::Constant(value))).collect(),
            names: HashMap::new(),
            hidden: Vec::new(),
            hidden_used: 0,
            hidden_floor: 0,
            frames: Vec::new(),
            locals: HashMap::new(),
            calls: Vec::new(),
            loops: Vec::new(),
            labels: HashMap::new(),
            locked: None,
        }
    }

    pub fn run(mut self, thread: &ThreadItem) -> LoweredThread {
        self.collect_labels(&thread.body);
        let initial = self.here;
        self.block(&thread.body);
        let closing = after(thread.body.span);
        self.flow.jump(self.here, self.end, closing);
        let finished = self.flow.finish(initial, self.end, closing);
        LoweredThread {
            registers: self.registers,
            locations: finished.locations,
            transitions: finished.transitions,
            initial: finished.initial,
            calls: self.calls,
            kinds: self.kinds,
            labels: finished.labels,
            names: self.names,
        }
    }

    // Steps.

    /// Adds an instruction from here to a new location and goes there; in a locked block, adds it to the block.
    pub fn emit(&mut self, instruction: Instruction, span: Span) {
        if let Some(body) = &mut self.locked {
            if instruction.is_simple() {
                body.push(instruction);
            } else {
                self.not_in_locked(span);
            }
            return;
        }
        let to = self.flow.fresh();
        self.emit_to(instruction, to, span);
        self.here = to;
    }

    /// Adds an instruction from here to a given location and stays here.
    pub fn emit_to(&mut self, instruction: Instruction, to: Raw, span: Span) {
        if self.budget.transitions <= 1 {
            // Said once: the budget is then 0.
            if std::mem::take(&mut self.budget.transitions) == 1 {
                let message = format!("the program has more than {MAX_TRANSITIONS} steps");
                self.report(Diagnostic::error(span, message).with_help("use fewer copies of threads"));
            }
            return;
        }
        self.budget.transitions -= 1;
        self.flow.emit(self.here, instruction, to, span);
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

    /// Runs with a scope of its own.
    pub fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope.len();
        let result = run(self);
        self.scope.truncate(outer);
        result
    }

    /// A register that is not in scope before it is bound: a new one, or that of the function's earlier calls.
    pub fn register(&mut self, name: &Name, domain: Domain, kind: Option<Kind>) -> RegId {
        let Some(frame) = self.frames.last() else {
            return self.new_register(name.text.clone(), name.span, domain, kind);
        };
        let key = (frame.function.name.text.clone(), name.span.start, domain);
        if let Some(&known) = self.locals.get(&key) {
            // What is known of its value differs from call to call if that is not declared.
            if self.kinds[known.0] != kind {
                self.kinds[known.0] = kind;
                self.registers[known.0].notation = notation(kind, &self.globals.enums);
            }
            return known;
        }
        let id = self.new_register(format!("{}.{}", key.0, name.text), name.span, domain, kind);
        self.locals.insert(key, id);
        id
    }

    fn new_register(&mut self, name: String, span: Span, domain: Domain, kind: Option<Kind>) -> RegId {
        let id = RegId(self.registers.len());
        let (_, count) = self.names.entry(name.clone()).or_insert((id, 0));
        *count += 1;
        let name = if *count == 1 { name } else { format!("{name}'{count}") };
        // Where 0 is no value of the type, the register is given one before it can be read.
        let initial = 0.clamp(domain.lo, domain.hi);
        let notation = notation(kind, &self.globals.enums);
        self.registers.push(Register { name, domain, initial, hidden: false, notation, span });
        self.kinds.push(kind);
        id
    }

    /// Sets what is known of a register's values, when its first one is.
    pub fn learn(&mut self, register: RegId, kind: Option<Kind>) {
        self.kinds[register.0] = kind;
        self.registers[register.0].notation = notation(kind, &self.globals.enums);
    }

    pub fn bind(&mut self, name: &Name, binding: Binding) {
        self.scope.push((name.text.clone(), binding));
    }

    /// A hidden register that can hold all values of `domain`; it is free again at the end of the statement.
    pub fn hidden(&mut self, domain: Domain, kind: Option<Kind>, span: Span) -> RegId {
        let number = self.hidden_used;
        self.hidden_used += 1;
        if self.hidden.len() <= number {
            self.hidden.resize(number + 1, Vec::new());
        }
        let notation = notation(kind, &self.globals.enums);
        let known = self.hidden[number].iter().find(|id| self.registers[id.0].notation == notation);
        let id = match known {
            Some(&id) => id,
            None => {
                let id = RegId(self.registers.len());
                let name = match self.hidden[number].len() {
                    0 => format!("${}", number + 1),
                    others => format!("${}'{}", number + 1, others + 1),
                };
                self.hidden[number].push(id);
                let domain = Domain { lo: 0, hi: 0, escape: Escape::Error };
                self.registers.push(Register { name, domain, initial: 0, hidden: true, notation, span });
                self.kinds.push(kind);
                id
            }
        };
        self.kinds[id.0] = kind;
        let register = &mut self.registers[id.0];
        register.domain.lo = register.domain.lo.min(domain.lo);
        register.domain.hi = register.domain.hi.max(domain.hi);
        id
    }

    pub fn lookup(&self, name: &str) -> Option<Binding> {
        self.scope.iter().rev().find(|(bound, _)| bound == name).map(|&(_, binding)| binding)
    }

    /// The register that an assignment names.
    pub fn target(&mut self, name: &Name) -> Option<RegId> {
        let text = &name.text;
        let diagnostic = match self.lookup(text) {
            Some(Binding::Register { id, counter: false }) => return Some(id),
            Some(Binding::Unsure) => return None,
            Some(Binding::Register { counter: true, .. }) => {
                Diagnostic::error(name.span, format!("the counter `{text}` of a `for` loop cannot be assigned to"))
                    .with_help("use `while` with a register of your own")
            }
            Some(Binding::Constant(_)) => {
                Diagnostic::error(name.span, format!("`{text}` is the thread's index and cannot be assigned to"))
            }
            Some(Binding::Parameter(_)) => {
                Diagnostic::error(name.span, format!("the parameter `{text}` cannot be assigned to"))
                    .with_help(format!("declare it as `mut {text}`"))
            }
            None if self.globals.mention(text).is_some() => {
                Diagnostic::error(name.span, format!("`{text}` is a shared variable and cannot be assigned to"))
                    .with_help(format!("a store is written `{text}.store(…)`"))
            }
            None if self.globals.constants.contains_key(text.as_str()) => {
                Diagnostic::error(name.span, format!("`{text}` is a constant and cannot be assigned to"))
            }
            None => {
                let mut diagnostic = Diagnostic::error(name.span, format!("there is no register `{text}`"));
                let registers = self.scope.iter().map(|(bound, _)| bound.as_str());
                diagnostic.help =
                    did_you_mean(text, registers).or_else(|| Some(format!("declare it with `let {text} = …;`")));
                diagnostic
            }
        };
        self.report(diagnostic);
        None
    }

    /// A name that means nothing where a value is needed.
    pub fn unknown(&mut self, name: &Name) {
        let text = &name.text;
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no register or constant `{text}`"));
        let bound = self.scope.iter().map(|(bound, _)| bound.as_str());
        let constants = self.globals.constants.keys().copied();
        let variables = self.globals.names.keys().copied();
        diagnostic.help =
            did_you_mean(text, bound.chain(constants).chain(variables)).or_else(|| self.globals.enums.help_for(text));
        self.report(diagnostic);
    }

    /// A name that means nothing where memory is accessed.
    pub fn unknown_variable(&mut self, name: &Name) {
        let text = &name.text;
        let diagnostic = match self.lookup(text) {
            Some(Binding::Unsure) => return,
            Some(_) => Diagnostic::error(name.span, format!("`{text}` is not a shared variable"))
                .with_help(format!("to use its value as an address, write `mem[{text}]`")),
            None => {
                let mut diagnostic = Diagnostic::error(name.span, format!("there is no shared variable `{text}`"));
                diagnostic.help = did_you_mean(text, self.globals.names.keys().copied());
                diagnostic
            }
        };
        self.report(diagnostic);
    }

    // Labels.

    /// Labels may be used before they are declared.
    pub(super) fn collect_labels(&mut self, block: &Block) {
        for statement in &block.statements {
            if let StatementKind::Label(name) = &statement.kind {
                if let Some((_, earlier)) = self.labels.get(&name.text) {
                    let diagnostic = twice("label", name, *earlier);
                    self.report(diagnostic);
                } else {
                    let at = self.flow.fresh();
                    self.labels.insert(name.text.clone(), (at, name.span));
                }
            }
            for_each_block(statement, &mut |block| self.collect_labels(block));
        }
    }
}

/// Visits the blocks that stand directly in a statement.
pub fn for_each_block(statement: &Statement, visit: &mut impl FnMut(&Block)) {
    match &statement.kind {
        StatementKind::If(first) => {
            let mut conditional = Some(first);
            while let Some(current) = conditional.take() {
                visit(&current.then);
                match current.otherwise.as_deref() {
                    Some(Else::Block(block)) => visit(block),
                    Some(Else::If(next)) => conditional = Some(next),
                    None => {}
                }
            }
        }
        StatementKind::While { body, .. }
        | StatementKind::Loop(body)
        | StatementKind::For { body, .. }
        | StatementKind::Locked(body)
        | StatementKind::Block(body) => visit(body),
        StatementKind::Choose(branches) => branches.iter().for_each(visit),
        StatementKind::Match(matched) => matched.arms.iter().for_each(|arm| visit(&arm.body)),
        _ => {}
    }
}

/// Constants inside a thread: its index is one of them, and registers hide them.
impl Scope for ThreadLowering<'_, '_> {
    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic> {
        self.globals.arithmetic_of(ty, self.diagnostics)
    }

    fn name(&mut self, name: &Name) -> Option<Value> {
        match self.lookup(&name.text) {
            Some(Binding::Constant(value) | Binding::Parameter(ParameterValue::Constant(value, _))) => {
                return Some(value);
            }
            Some(Binding::Unsure) => return None,
            Some(Binding::Register { .. } | Binding::Parameter(ParameterValue::Register(..))) => {
                let message = format!("`{}` is a register, and a constant is needed here", name.text);
                self.diagnostics.push(Diagnostic::error(name.span, message));
                return None;
            }
            None => {}
        }
        if let Some(value) = self.globals.constants.get(name.text.as_str()) {
            return *value;
        }
        if self.globals.mention(&name.text).is_some() {
            let message = format!("`{}` is a shared variable, and a constant is needed here", name.text);
            self.diagnostics.push(Diagnostic::error(name.span, message));
        } else {
            self.unknown(name);
        }
        None
    }

    fn path(&mut self, ty: &Name, name: &Name) -> Option<Value> {
        Some(self.enum_value(ty, name)?.0)
    }

    fn function(&mut self, name: &Name) -> Option<Arc<Function>> {
        constant_function(name, &self.globals.functions, self.diagnostics)
    }

    fn address(&mut self, place: &RavPlace) -> Option<Value> {
        self.address_of(place)?.constant().or_else(|| {
            self.diagnostics.push(Diagnostic::error(place.span, "a constant address is needed here"));
            None
        })
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
