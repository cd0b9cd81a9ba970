//! `locked { … }`: a straight line of simple statements that becomes one step.

use super::super::ast::{Block, Statement, StatementKind};
use super::thread::ThreadLowering;
use crate::Diagnostic;
use ravelin_program::{Instruction, Span};

impl ThreadLowering<'_, '_> {
    pub fn locked_block(&mut self, block: &Block, span: Span) {
        self.locked = Some(Vec::new());
        self.block(block);
        let body = self.locked.take().unwrap_or_default();
        let drains = body.iter().any(|part| matches!(part, Instruction::Store { .. }));
        self.emit(Instruction::Locked { body, drains }, span);
    }

    /// Whether a statement may stand in the locked block that is being built; reports one that may not.
    pub fn fits_locked(&mut self, statement: &Statement) -> bool {
        let fits = matches!(
            statement.kind,
            StatementKind::Let { .. }
                | StatementKind::Assign { .. }
                | StatementKind::CompoundAssign { .. }
                | StatementKind::Effect(_)
                | StatementKind::Assume(_)
                | StatementKind::Nop
                | StatementKind::Block(_)
                | StatementKind::Error
        );
        if !fits {
            self.not_in_locked(statement.span);
        }
        fits
    }

    pub fn not_in_locked(&mut self, span: Span) {
        self.report(
            Diagnostic::error(span, "this cannot stand in a locked block")
                .with_note("a locked block is one step: a straight line of loads, stores, assignments and `assume`"),
        );
    }
}
