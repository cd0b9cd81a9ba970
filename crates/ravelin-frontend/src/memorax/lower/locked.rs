//! `locked { … or … }`: each alternative is one step.
//!
//! A step is a straight line, so whatever leaves a choice inside (nested blocks, pointers) is multiplied out. The block acts
//! as a fence if any of its alternatives writes, as Memorax has it.

use super::super::ast::{Expr as Tree, MemoraxPlace, Statement, StatementKind};
use super::access::PlaceVariable;
use super::flow::Point;
use super::process::ProcessLowering;
use crate::Diagnostic;
use ravelin_program::{Domain, Expr, Instruction, Notation, Order, RegId, Register, Span};

/// How many straight lines one block may be multiplied out into.
const MAX_LINES: usize = 1024;

/// The straight lines of something with choices in it.
type StraightLines = Vec<Vec<Instruction>>;

impl ProcessLowering<'_, '_> {
    pub(super) fn locked_block(&mut self, alternatives: &[Vec<Statement>], from: Point, to: Point, span: Span) {
        let mut drains = false;
        let lines = self.alternatives(alternatives, span, &mut drains);
        for mut body in lines.unwrap_or_default() {
            if body.is_empty() {
                body.push(Instruction::Nop);
            }
            self.emit(from, Instruction::Locked { body, drains }, to, span);
        }
    }

    /// `None` if an error was reported.
    fn alternatives(
        &mut self,
        alternatives: &[Vec<Statement>],
        span: Span,
        drains: &mut bool,
    ) -> Option<StraightLines> {
        let mut all = Some(Vec::new());
        for statements in alternatives {
            let lines = self.line(statements, span, drains);
            all = all.zip(lines).map(|(mut all, lines)| {
                all.extend(lines);
                all
            });
        }
        self.few(all?, span)
    }

    fn line(&mut self, statements: &[Statement], span: Span, drains: &mut bool) -> Option<StraightLines> {
        let mut lines = Some(vec![Vec::new()]);
        for statement in statements {
            if let Some(label) = statement.labels.first() {
                self.diagnostics.push(
                    Diagnostic::error(label.span, "a label cannot stand in a locked block")
                        .with_note("a locked block is one step, so there is no control state inside"),
                );
            }
            let choices = self.part(statement, drains);
            let Some((before, choices)) = lines.zip(choices) else {
                lines = None;
                continue;
            };
            if before.len().saturating_mul(choices.len()) > MAX_LINES {
                return self.too_many(span);
            }
            let mut after = Vec::new();
            for line in &before {
                for choice in &choices {
                    after.push(line.iter().chain(choice).cloned().collect());
                }
            }
            lines = Some(after);
        }
        self.few(lines?, span)
    }

    fn few(&mut self, lines: StraightLines, span: Span) -> Option<StraightLines> {
        if lines.len() > MAX_LINES {
            return self.too_many(span);
        }
        Some(lines)
    }

    fn too_many(&mut self, span: Span) -> Option<StraightLines> {
        let message = format!("this locked block has more than {MAX_LINES} ways through it");
        self.diagnostics.push(Diagnostic::error(span, message));
        None
    }

    fn part(&mut self, statement: &Statement, drains: &mut bool) -> Option<StraightLines> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Nop => Some(vec![Vec::new()]),
            StatementKind::Assign(register, value) => {
                let value = self.value(value);
                let (reg, value) = (self.register(register)?, value?);
                self.check_assigned(reg, &value, span);
                Some(vec![vec![Instruction::Assign { reg, value }]])
            }
            StatementKind::Assume(condition) => Some(vec![vec![Instruction::Assume(self.value(condition)?)]]),
            StatementKind::Load(register, place) => {
                let reg = self.register(register);
                self.each_target(place, |lowering, target, line| {
                    let reg = reg?;
                    lowering.check_loaded(reg, target, span);
                    line.push(Instruction::Load { reg, address: target.address.clone(), order: Order::Relaxed });
                    Some(())
                })
            }
            StatementKind::Wait(place, value) => {
                let value = self.value(value);
                self.each_target(place, |lowering, target, line| lowering.compare(target, &value, span, line))
            }
            StatementKind::Write(_, place, value) => {
                *drains = true;
                self.store(place, value, span)
            }
            StatementKind::Cas(place, expected, new) => {
                *drains = true;
                let (expected, new) = (self.value(expected), self.value(new));
                self.each_target(place, |lowering, target, line| {
                    lowering.compare(target, &expected, span, line)?;
                    let value = new.clone()?;
                    lowering.check_written(target, &value, span);
                    line.push(Instruction::Store { address: target.address.clone(), value, order: Order::Relaxed });
                    Some(())
                })
            }
            StatementKind::LoadFence => Some(vec![Vec::new()]),
            // Inside the block nothing is pending once the buffer was empty at its start.
            StatementKind::Fence | StatementKind::StoreFence => {
                *drains = true;
                Some(vec![Vec::new()])
            }
            StatementKind::Block(body) => self.line(body, span, drains),
            StatementKind::Locked(alternatives) => self.alternatives(alternatives, span, drains),
            StatementKind::Error => None,
            StatementKind::Either(_) | StatementKind::Goto(_) | StatementKind::If(..) | StatementKind::While(..) => {
                let mut diagnostic = Diagnostic::error(span, "this cannot stand in a locked block").with_note(
                    "a locked block is one step: reads, writes, assignments, `assume`, `cas`, and locked blocks",
                );
                if let StatementKind::Either(_) | StatementKind::If(..) = statement.kind {
                    diagnostic.help = Some("a choice in it is written `locked { … or … }`".to_owned());
                }
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn store(&mut self, place: &MemoraxPlace, value: &Tree, span: Span) -> Option<StraightLines> {
        let value = self.value(value);
        self.each_target(place, |lowering, target, line| {
            let value = value.clone()?;
            lowering.check_written(target, &value, span);
            line.push(Instruction::Store { address: target.address.clone(), value, order: Order::Relaxed });
            Some(())
        })
    }

    /// A line for each variable that a place can mean, behind its guard.
    fn each_target(
        &mut self,
        place: &MemoraxPlace,
        mut build: impl FnMut(&mut Self, &PlaceVariable, &mut Vec<Instruction>) -> Option<()>,
    ) -> Option<StraightLines> {
        let targets = self.targets(place);
        let mut lines = Vec::new();
        for target in &targets {
            let mut line: Vec<Instruction> = target.guard.clone().map(Instruction::Assume).into_iter().collect();
            build(self, target, &mut line)?;
            lines.push(line);
        }
        (!lines.is_empty()).then_some(lines)
    }

    /// A read that goes on only if it finds the value. Inside a block that is a load and a guard.
    fn compare(
        &mut self,
        target: &PlaceVariable,
        value: &Option<Expr>,
        span: Span,
        line: &mut Vec<Instruction>,
    ) -> Option<()> {
        let value = value.clone()?;
        self.check_expected(target, &value, span);
        let reg = *self.hidden.get_or_insert_with(|| {
            self.registers.push(Register {
                name: "$1".to_owned(),
                domain: Domain::FULL,
                initial: 0,
                hidden: true,
                notation: Notation::Signed,
                span: Span::NOWHERE,
            });
            RegId(self.registers.len() - 1)
        });
        line.push(Instruction::Load { reg, address: target.address.clone(), order: Order::Relaxed });
        line.push(Instruction::Assume(Expr::Atom(reg).eq(value)));
        Some(())
    }
}
