//! One process: its registers, and its statements as an automaton.
//!
//! A label names the control state before its statement, so a labelled statement has a state of its own, a `goto` that
//! has a label included. Only there does a `goto` cost a step.

use super::super::ast::{Expr as Tree, Name, Process, Statement, StatementKind, WriteStrength};
use super::flow::{MemoraxAutomaton, MemoraxFlow, Point};
use super::{SharedMemory, domain, starts_with_any_integer, unique};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{
    Copies, Expr, Instruction, LocId, Notation, Order, RegId, Register, Span, Thread, Value, WaitCondition,
};
use std::collections::HashMap;

/// Where each label of a process went; `None` if nothing leads there.
pub type Labels = HashMap<String, Option<LocId>>;

pub struct ProcessLowering<'a, 'd> {
    pub(super) shared: &'a SharedMemory,
    pub(super) index: usize,
    pub(super) registers: Vec<Register>,
    names: HashMap<String, RegId>,
    /// Takes what a locked block compares with a value.
    pub(super) hidden: Option<RegId>,
    flow: MemoraxFlow,
    labels: HashMap<&'a str, (Point, Span)>,
    budget: &'d mut usize,
    pub(super) diagnostics: &'d mut Vec<Diagnostic>,
}

/// Who else leaves the point that a statement is lowered from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartPoint {
    /// Nobody: it is the statement's entry.
    Own,
    /// The other branches of a choice.
    Shared,
}

impl<'a, 'd> ProcessLowering<'a, 'd> {
    pub fn new(
        shared: &'a SharedMemory,
        index: usize,
        budget: &'d mut usize,
        diagnostics: &'d mut Vec<Diagnostic>,
    ) -> ProcessLowering<'a, 'd> {
        ProcessLowering {
            shared,
            index,
            registers: Vec::new(),
            names: HashMap::new(),
            hidden: None,
            flow: MemoraxFlow::default(),
            labels: HashMap::new(),
            budget,
            diagnostics,
        }
    }

    pub fn run(mut self, process: &'a Process) -> (Thread, Labels) {
        unique(&process.registers, "registers", self.diagnostics);
        let (mut arbitrary, mut unlimited) = (Vec::new(), Vec::new());
        for declaration in &process.registers {
            let domain = domain(declaration, self.diagnostics);
            let register = RegId(self.registers.len());
            match declaration.initial {
                // No search could start with all of these. It need not, unless one of them is read.
                None if domain.is_full() => unlimited.push((register, declaration)),
                None => arbitrary.push((register, declaration.span)),
                Some(_) => {}
            }
            self.registers.push(Register {
                name: declaration.name.text.clone(),
                domain,
                initial: declaration.initial.unwrap_or(0.clamp(domain.lo, domain.hi)),
                hidden: false,
                notation: Notation::Signed,
                span: declaration.span,
            });
            self.names.entry(declaration.name.text.clone()).or_insert(register);
        }
        for statement in &process.text {
            self.find_labels(statement);
        }

        let entry = self.entry(&process.text);
        let mut initial = entry;
        for (reg, span) in arbitrary.into_iter().rev() {
            let before = self.flow.fresh();
            let domain = self.registers[reg.0].domain;
            self.emit(before, Instruction::Havoc { reg, lo: domain.lo, hi: domain.hi }, initial, span);
            initial = before;
        }
        let end = self.flow.fresh();
        self.sequence(&process.text, entry, end, StartPoint::Own);
        let end_span = process.text.last().map_or(process.span, |statement| statement.span);
        let flow = std::mem::take(&mut self.flow);
        let finished = flow.finish(initial, end, end_span);
        let labels = self.labels.iter().map(|(name, (point, _))| ((*name).to_owned(), finished.number(*point)));
        let labels = labels.collect();
        let MemoraxAutomaton { locations, transitions, initial, .. } = finished;
        let thread = Thread {
            name: format!("P{}", self.index),
            template: None,
            copies: Copies::One,
            registers: self.registers,
            locations,
            transitions,
            initial,
            calls: Vec::new(),
            span: process.used_at.unwrap_or(process.span),
        };
        if !unlimited.is_empty() {
            let read_first = read_first(&thread);
            let read = unlimited.into_iter().filter(|(register, _)| read_first[register.0]);
            self.diagnostics.extend(read.map(|(_, declaration)| starts_with_any_integer(declaration)));
        }
        (thread, labels)
    }

    fn find_labels(&mut self, statement: &'a Statement) {
        let mut point = None;
        for label in &statement.labels {
            if let Some((_, earlier)) = self.labels.get(label.text.as_str()) {
                self.diagnostics.push(
                    Diagnostic::error(label.span, format!("there are two labels `{}` in this process", label.text))
                        .with_secondary(*earlier, "the first one"),
                );
            }
            let point = *point.get_or_insert_with(|| self.flow.fresh());
            self.flow.label(point, &label.text);
            self.labels.insert(&label.text, (point, label.span));
        }
        match &statement.kind {
            StatementKind::Either(branches) => branches.iter().flatten().for_each(|inner| self.find_labels(inner)),
            StatementKind::Block(body) => body.iter().for_each(|inner| self.find_labels(inner)),
            StatementKind::If(_, then, otherwise) => {
                self.find_labels(then);
                if let Some(otherwise) = otherwise {
                    self.find_labels(otherwise);
                }
            }
            StatementKind::While(_, body) => self.find_labels(body),
            _ => {}
        }
    }

    /// The point from which statements that nobody else leaves are to be lowered.
    fn entry(&mut self, statements: &[Statement]) -> Point {
        match statements.first() {
            Some(first) => self.entry_of(first),
            None => self.flow.fresh(),
        }
    }

    fn entry_of(&mut self, statement: &Statement) -> Point {
        if let Some(point) = self.labelled(statement) {
            return point;
        }
        match &statement.kind {
            StatementKind::Block(body) => self.entry(body),
            StatementKind::Goto(label) => match self.labels.get(label.text.as_str()) {
                Some((point, _)) => *point,
                None => self.flow.fresh(),
            },
            _ => self.flow.fresh(),
        }
    }

    fn labelled(&self, statement: &Statement) -> Option<Point> {
        let label = statement.labels.first()?;
        self.labels.get(label.text.as_str()).map(|(point, _)| *point)
    }

    fn sequence(&mut self, statements: &[Statement], from: Point, to: Point, start: StartPoint) {
        let (mut from, mut start) = (from, start);
        for (index, statement) in statements.iter().enumerate() {
            let rest = &statements[index + 1..];
            let next = if rest.is_empty() { to } else { self.entry(rest) };
            self.statement(statement, from, next, start);
            (from, start) = (next, StartPoint::Own);
        }
    }

    fn statement(&mut self, statement: &Statement, from: Point, to: Point, start: StartPoint) {
        let span = statement.span;
        let mut from = from;
        let mut start = start;
        if start == StartPoint::Shared {
            // A loop comes back to its head, and a label is jumped to: neither may lead to the other branches.
            let own = match (&statement.kind, self.labelled(statement)) {
                (_, Some(point)) => Some(point),
                (StatementKind::While(..), None) => Some(self.flow.fresh()),
                _ => None,
            };
            if let Some(own) = own {
                self.emit(from, Instruction::Nop, own, span);
                (from, start) = (own, StartPoint::Own);
            }
        }
        match &statement.kind {
            StatementKind::Block(body) => {
                // A block with a label has the label's point, which is not the entry of what stands in it.
                let start = if statement.labels.is_empty() { start } else { StartPoint::Shared };
                self.sequence(body, from, to, start);
            }
            StatementKind::Either(branches) => {
                for branch in branches {
                    self.sequence(branch, from, to, StartPoint::Shared);
                }
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition_span = condition.span;
                let condition = self.value(condition);
                let yes = self.entry_of(then);
                self.guard(from, condition.clone(), yes, condition_span);
                self.statement(then, yes, to, StartPoint::Own);
                let no = otherwise.as_ref().map_or(to, |otherwise| self.entry_of(otherwise));
                self.guard(from, condition.map(opposite), no, condition_span);
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise, no, to, StartPoint::Own);
                }
            }
            StatementKind::While(condition, body) => {
                let condition_span = condition.span;
                let condition = self.value(condition);
                let inside = self.entry_of(body);
                self.guard(from, condition.clone(), inside, condition_span);
                self.statement(body, inside, from, StartPoint::Own);
                self.guard(from, condition.map(opposite), to, condition_span);
            }
            StatementKind::Goto(label) => match self.labels.get(label.text.as_str()) {
                Some(&(target, _)) => {
                    if start == StartPoint::Shared || !statement.labels.is_empty() {
                        self.emit(from, Instruction::Nop, target, span);
                    }
                }
                None => {
                    let mut diagnostic =
                        Diagnostic::error(label.span, format!("there is no label `{}` in this process", label.text));
                    diagnostic.help = did_you_mean(&label.text, self.labels.keys().copied());
                    self.diagnostics.push(diagnostic);
                }
            },
            StatementKind::Locked(alternatives) => self.locked_block(alternatives, from, to, span),
            StatementKind::Assume(condition) => {
                if let Some(condition) = self.value(condition) {
                    let instruction = match condition {
                        Expr::Const(value) if value != 0 => Instruction::Nop,
                        condition => Instruction::Assume(condition),
                    };
                    self.emit(from, instruction, to, span);
                }
            }
            _ => self.instruction(statement, from, to),
        }
    }

    /// A statement that is one step, or one step for each variable that its pointer can mean.
    fn instruction(&mut self, statement: &Statement, from: Point, to: Point) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Nop => self.emit(from, Instruction::Nop, to, span),
            StatementKind::Fence => self.emit(from, Instruction::Fence(Order::SeqCst), to, span),
            StatementKind::StoreFence => self.emit(from, Instruction::Fence(Order::Release), to, span),
            StatementKind::LoadFence => self.emit(from, Instruction::Fence(Order::Acquire), to, span),
            StatementKind::Assign(register, value) => {
                let value = self.value(value);
                if let (Some(reg), Some(value)) = (self.register(register), value) {
                    self.check_assigned(reg, &value, span);
                    self.emit(from, Instruction::Assign { reg, value }, to, span);
                }
            }
            StatementKind::Load(register, place) => {
                let reg = self.register(register);
                for target in self.targets(place) {
                    let Some(reg) = reg else { return };
                    self.check_loaded(reg, &target, span);
                    let from = self.guarded(from, target.guard, place.span);
                    let load = Instruction::Load { reg, address: target.address, order: Order::Relaxed };
                    self.emit(from, load, to, span);
                }
            }
            StatementKind::Wait(place, value) => {
                let value = self.value(value);
                for target in self.targets(place) {
                    let Some(value) = value.clone() else { return };
                    self.check_expected(&target, &value, span);
                    let from = self.guarded(from, target.guard, place.span);
                    let (address, order) = (target.address, Order::Relaxed);
                    self.emit(
                        from,
                        Instruction::Wait { address, condition: WaitCondition::equals(value), order, old: None },
                        to,
                        span,
                    );
                }
            }
            StatementKind::Write(strength, place, value) => {
                let value = self.value(value);
                if *strength == WriteStrength::StoreOrdered {
                    self.warn_store_ordered(span);
                }
                if *strength == WriteStrength::Shared {
                    self.warn_shared(span);
                }
                for target in self.targets(place) {
                    let Some(value) = value.clone() else { return };
                    self.check_written(&target, &value, span);
                    let from = self.guarded(from, target.guard, place.span);
                    let order = if *strength == WriteStrength::StoreOrdered { Order::Release } else { Order::Relaxed };
                    let store = Instruction::Store { address: target.address, value, order };
                    let instruction = match strength {
                        WriteStrength::Locked | WriteStrength::Shared => {
                            Instruction::Locked { body: vec![store], drains: true }
                        }
                        WriteStrength::Plain | WriteStrength::StoreOrdered => store,
                    };
                    self.emit(from, instruction, to, span);
                }
            }
            StatementKind::Cas(place, expected, new) => {
                let (expected, new) = (self.value(expected), self.value(new));
                for target in self.targets(place) {
                    let (Some(expected), Some(new)) = (expected.clone(), new.clone()) else { return };
                    self.check_expected(&target, &expected, span);
                    self.check_written(&target, &new, span);
                    let from = self.guarded(from, target.guard, place.span);
                    let (address, order) = (target.address, Order::SeqCst);
                    self.emit(from, Instruction::BlockingCas { address, expected, new, order }, to, span);
                }
            }
            _ => {}
        }
    }

    /// The point behind a guard, or the same point if there is none.
    fn guarded(&mut self, from: Point, guard: Option<Expr>, span: Span) -> Point {
        let Some(guard) = guard else { return from };
        let behind = self.flow.fresh();
        self.emit(from, Instruction::Assume(guard), behind, span);
        behind
    }

    /// A branch on a condition. One that is known leaves no dead branch.
    fn guard(&mut self, from: Point, condition: Option<Expr>, to: Point, span: Span) {
        match condition {
            None | Some(Expr::Const(0)) => {}
            Some(Expr::Const(_)) => self.emit(from, Instruction::Nop, to, span),
            Some(condition) => self.emit(from, Instruction::Assume(condition), to, span),
        }
    }

    pub(super) fn emit(&mut self, from: Point, instruction: Instruction, to: Point, span: Span) {
        match *self.budget {
            0 => {
                let message = format!("the processes have more than {} steps", super::MAX_TRANSITIONS);
                // Said once: the message and the place are the same for all that follow.
                if self.diagnostics.iter().all(|diagnostic| diagnostic.message != message) {
                    self.diagnostics.push(Diagnostic::error(span, message));
                }
            }
            _ => {
                *self.budget -= 1;
                self.flow.emit(from, instruction, to, span);
            }
        }
    }

    pub(super) fn register(&mut self, name: &Name) -> Option<RegId> {
        if let Some(register) = self.names.get(&name.text) {
            return Some(*register);
        }
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no register `${}`", name.text));
        diagnostic.help =
            did_you_mean(&name.text, self.names.keys().map(String::as_str)).map(|help| help.replacen('`', "`$", 1));
        if self.names.is_empty() {
            diagnostic.help = Some(format!("declare it before `text`: `registers ${} = 0 : [0:1]`", name.text));
        }
        self.diagnostics.push(diagnostic);
        None
    }

    /// An expression over this process's registers; `None` if an error was reported.
    pub(super) fn value(&mut self, expr: &Tree) -> Option<Expr> {
        let mut complete = true;
        let value = expr.tree.map_atoms(&mut |name| match self.register(name) {
            Some(register) => Expr::Atom(register),
            None => {
                complete = false;
                Expr::Const(0 as Value)
            }
        });
        complete.then_some(value)
    }

    pub(super) fn warn_store_ordered(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::warning(span, "`slocked write` is read as a write that reaches memory after all earlier ones")
                .with_note("it may wait in the store buffer, so under TSO it is a plain write")
                .with_help("`locked write` waits until the write has reached memory"),
        );
    }

    fn warn_shared(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::warning(
                span,
                "`syncwr` is read as `locked write`, which is in memory before the process continues",
            )
            .with_note("so all earlier writes of the process are, too; under PSO this is more than VIPS-M promises")
            .with_help("a store of x86, which may wait in the store buffer, is `write`"),
        );
    }
}

/// The registers whose first value some path may use.
fn read_first(thread: &Thread) -> Vec<bool> {
    let mut needed = vec![vec![false; thread.registers.len()]; thread.locations.len()];
    loop {
        let mut changed = false;
        for transition in thread.transitions.iter().rev() {
            let mut before = needed[transition.to.0].clone();
            need(&transition.instruction, &mut before);
            for (known, new) in needed[transition.from.0].iter_mut().zip(before) {
                changed |= new && !*known;
                *known |= new;
            }
        }
        if !changed {
            return needed.swap_remove(thread.initial.0);
        }
    }
}

/// From what is needed after an instruction to what is needed before it.
fn need(instruction: &Instruction, needed: &mut [bool]) {
    if let Instruction::Locked { body, .. } = instruction {
        return body.iter().rev().for_each(|part| need(part, needed));
    }
    instruction.written_registers().into_iter().for_each(|register| needed[register.0] = false);
    instruction.read_registers().into_iter().for_each(|register| needed[register.0] = true);
}

fn opposite(condition: Expr) -> Expr {
    match condition {
        Expr::Const(value) => Expr::Const(Value::from(value == 0)),
        condition => condition.not(),
    }
}
