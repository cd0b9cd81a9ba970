//! Statements.

use super::super::ast::{Block, Expr as Tree, Name, Operation, Statement, StatementKind};
use super::thread::ThreadLowering;
use crate::Diagnostic;
use ravelin_program::{Address, Arithmetic, BinaryOp, Expr, Instruction, RegId, Span, WaitCondition};

impl ThreadLowering<'_, '_> {
    pub fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        for label in &statement.labels {
            self.label(label, span);
        }
        match &statement.kind {
            StatementKind::Error => {}
            StatementKind::Skip => self.emit(Instruction::Nop, span),
            StatementKind::Goto(label) => {
                if let Some(target) = self.target(label) {
                    self.leave_to(target, span);
                }
            }
            StatementKind::IfGoto { condition, label } => {
                let next = self.flow.fresh();
                let target = self.target(label).unwrap_or(next);
                self.decide(condition, target, next);
                self.here = next;
            }
            StatementKind::If { condition, then, otherwise } => self.conditional(condition, then, otherwise.as_ref()),
            StatementKind::While { condition, body } => {
                let (head, inside, exit) = (self.here, self.flow.fresh(), self.flow.fresh());
                self.decide(condition, inside, exit);
                self.here = inside;
                self.block(body);
                self.flow.jump(self.here, head, condition.span);
                self.here = exit;
            }
            StatementKind::OneOf(blocks) => self.one_of(blocks, span),
            StatementKind::Assign { target, value } => {
                let (register, value) = (self.assigned(target), self.value(value));
                if let (Some(reg), Some(value)) = (register, value) {
                    self.emit(Instruction::Assign { reg, value }, span);
                }
            }
            StatementKind::Access { target, variable, operation } => {
                self.access(target.as_ref(), variable, operation, span);
            }
            StatementKind::Fence(order) => self.emit(Instruction::Fence(*order), span),
            StatementKind::Assert(condition) => {
                if let Some(value) = self.value(condition) {
                    self.emit(Instruction::Assert(value), span);
                }
            }
            // Unlike that of `.rav` this one does not block: where the condition fails, the thread is over.
            StatementKind::Assume(condition) => {
                let next = self.flow.fresh();
                self.decide(condition, next, self.end);
                self.here = next;
            }
            // It looks at the value, which matters for observational robustness, and does nothing else.
            StatementKind::Verify(local) => {
                if let Some(register) = self.local(local) {
                    let value = || Box::new(Expr::Atom(register));
                    let itself = Expr::Binary(BinaryOp::Eq, Arithmetic::Checked, value(), value());
                    self.emit(Instruction::Assume(itself), span);
                }
            }
        }
    }

    fn conditional(&mut self, condition: &Tree, then: &Block, otherwise: Option<&Block>) {
        let (yes, no, join) = (self.flow.fresh(), self.flow.fresh(), self.flow.fresh());
        self.decide(condition, yes, no);
        self.here = yes;
        self.block(then);
        self.flow.jump(self.here, join, condition.span);
        self.here = no;
        if let Some(block) = otherwise {
            self.block(block);
        }
        self.flow.jump(self.here, join, condition.span);
        self.here = join;
    }

    fn one_of(&mut self, blocks: &[Block], span: Span) {
        if let [only] = blocks {
            return self.block(only);
        }
        let (choice, join) = (self.here, self.flow.fresh());
        for block in blocks {
            let rank = self.flow.reserve();
            let start = self.flow.fresh();
            self.here = start;
            self.block(block);
            self.flow.jump(self.here, join, span);
            self.flow.branch(choice, start, rank, block.span);
        }
        self.here = join;
    }

    fn access(&mut self, target: Option<&Name>, variable: &Name, operation: &Operation, span: Span) {
        // All parts are looked at before giving up, so that all errors are found.
        let target = target.map(|name| self.assigned(name));
        let address = self.address(variable, operation);
        let instruction = self.instruction(target.flatten(), address, operation);
        if target != Some(None)
            && let Some(instruction) = instruction
        {
            self.emit(instruction, span);
        }
    }

    fn instruction(
        &mut self,
        old: Option<RegId>,
        address: Option<Address>,
        operation: &Operation,
    ) -> Option<Instruction> {
        match operation {
            Operation::Load(order) => Some(Instruction::Load { reg: old?, address: address?, order: *order }),
            Operation::Store(value, order) => {
                let value = self.value(value);
                Some(Instruction::Store { address: address?, value: value?, order: *order })
            }
            Operation::Wait { values, order } => {
                let values: Vec<Option<Expr>> = values.iter().map(|value| self.value(value)).collect();
                let values = values.into_iter().collect::<Option<Vec<Expr>>>()?;
                let condition = WaitCondition::one_of(values);
                Some(Instruction::Wait { address: address?, condition, order: *order, old })
            }
            Operation::BlockingCas { expected, new, order } => {
                let (expected, new) = (self.value(expected), self.value(new));
                let (expected, new) = (expected?, new?);
                Some(Instruction::BlockingCas { address: address?, expected, new, order: *order })
            }
            Operation::CompareExchange { expected, new, success, failure } => {
                let (expected, new) = (self.value(expected), self.value(new));
                Some(Instruction::CompareExchange {
                    address: address?,
                    expected: expected?,
                    new: new?,
                    success: *success,
                    failure: *failure,
                    weak: false,
                    old,
                    ok: None,
                })
            }
            Operation::Rmw { op, operand, order } => {
                let operand = self.value(operand);
                Some(Instruction::rmw(*op, self.globals.arithmetic(), address?, operand?, *order, old))
            }
            Operation::Lock => Some(Instruction::Lock(address?)),
            Operation::Unlock => Some(Instruction::Unlock(address?)),
        }
    }

    /// The cell of a variable, which must be of the class that the operation is for.
    fn address(&mut self, name: &Name, operation: &Operation) -> Option<Address> {
        let Some(&variable) = self.globals.names.get(name.text.as_str()) else {
            self.no_variable(name);
            return None;
        };
        if variable.atomic == operation.is_non_atomic() {
            let (word, text) = (operation.word(), &name.text);
            let message = if variable.atomic {
                format!("`{text}` is atomic and cannot be accessed by `{word}`")
            } else {
                format!("`{text}` is not atomic and cannot be accessed by `{word}`")
            };
            let class = if variable.atomic { "global" } else { "na" };
            let mut diagnostic = Diagnostic::error(name.span, message)
                .with_secondary(variable.span, format!("declared as `{class}` here"));
            diagnostic.help = match word {
                "naload" => Some("use `load`".to_owned()),
                "nastore" => Some("use `store`".to_owned()),
                "load" => Some("use `naload`".to_owned()),
                "store" => Some("use `nastore`".to_owned()),
                _ => Some("declare it as `global`".to_owned()),
            };
            self.report(diagnostic);
            return None;
        }
        Some(Address { expr: Expr::Const(variable.address), within: Some(variable.id) })
    }
}
