//! What every front end must guarantee. Analyses rely on it and do not check again.

use crate::{Copies, Instruction, Observable, Order, Program, Span, Thread};
use thiserror::Error;

/// One thing wrong with a program, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ValidationError {
    pub message: String,
    pub span: Span,
}

/// Everything wrong with a program; empty for a valid one.
pub fn validate(program: &Program) -> Vec<ValidationError> {
    let mut check = Validator { errors: Vec::new() };
    check.memory(program);
    for (index, thread) in program.threads.iter().enumerate() {
        if program.threads[..index].iter().any(|earlier| earlier.name == thread.name) {
            check.error(thread.span, format!("there are two threads named `{}`", thread.name));
        }
        check.thread(program, thread);
    }
    for goal in &program.goals {
        goal.condition.for_each_atom(&mut |atom| check.observable(program, atom, goal.span));
    }
    check.errors
}

struct Validator {
    errors: Vec<ValidationError>,
}

impl Validator {
    fn error(&mut self, span: Span, message: String) {
        self.errors.push(ValidationError { message, span });
    }

    fn memory(&mut self, program: &Program) {
        let variables = &program.memory.variables;
        for (index, variable) in variables.iter().enumerate() {
            if variable.cells() == 0 {
                self.error(variable.span, format!("`{}` has no cells", variable.name));
            }
            if i64::try_from(variable.cells()).ok().and_then(|cells| variable.base.checked_add(cells)).is_none() {
                self.error(variable.span, format!("`{}` lies outside the address space", variable.name));
            }
            if variable.domain.lo > variable.domain.hi {
                self.error(variable.span, format!("the type of `{}` has no values", variable.name));
            }
            if variable.initial.len() != variable.cells() {
                self.error(
                    variable.span,
                    format!(
                        "`{}` has {} cells but {} initial values",
                        variable.name,
                        variable.cells(),
                        variable.initial.len()
                    ),
                );
            }
            for initial in &variable.initial {
                if let crate::InitialValue::Value(value) = initial
                    && !variable.domain.contains(*value)
                {
                    self.error(
                        variable.span,
                        format!("`{}` starts with {value}, which is not a value of its type", variable.name),
                    );
                }
            }
            if index > 0 {
                let before = &variables[index - 1];
                if i128::from(variable.base) < i128::from(before.base) + before.cells() as i128 {
                    self.error(variable.span, format!("`{}` and `{}` share addresses", before.name, variable.name));
                }
            }
        }
    }

    fn thread(&mut self, program: &Program, thread: &Thread) {
        if thread.initial.0 >= thread.locations.len() {
            self.error(thread.span, format!("thread `{}` starts at a location it does not have", thread.name));
        }
        for register in &thread.registers {
            if !register.domain.contains(register.initial) {
                self.error(
                    register.span,
                    format!("`{}` starts with {}, which is not a value of its type", register.name, register.initial),
                );
            }
        }
        if !thread.transitions.is_sorted_by_key(|transition| transition.from) {
            self.error(thread.span, format!("the transitions of thread `{}` are not sorted", thread.name));
        }
        for transition in &thread.transitions {
            if transition.from.0 >= thread.locations.len() || transition.to.0 >= thread.locations.len() {
                self.error(transition.span, format!("a transition of thread `{}` leads nowhere", thread.name));
            }
            self.instruction(program, thread, &transition.instruction, transition.span);
        }
    }

    fn instruction(&mut self, program: &Program, thread: &Thread, instruction: &Instruction, span: Span) {
        let registers = instruction.read_registers().into_iter().chain(instruction.written_registers());
        for register in registers {
            if register.0 >= thread.registers.len() {
                self.error(span, format!("thread `{}` has no register number {}", thread.name, register.0));
            }
        }
        for access in instruction.accesses() {
            if access.address.within.is_some_and(|variable| variable.0 >= program.memory.variables.len()) {
                self.error(span, "an address lies in a variable that does not exist".to_owned());
            }
        }
        match instruction {
            Instruction::Load { order, .. } | Instruction::Wait { order, .. } if !order.fits_load() => {
                self.error(span, format!("a load cannot be `{}`; use relaxed, acquire or seq_cst", order.name()));
            }
            Instruction::Store { order, .. } if !order.fits_store() => {
                self.error(span, format!("a store cannot be `{}`; use relaxed, release or seq_cst", order.name()));
            }
            Instruction::Fence(order) if !order.fits_fence() => {
                self.error(
                    span,
                    format!("a fence cannot be `{}`; use acquire, release, acq_rel or seq_cst", order.name()),
                );
            }
            Instruction::Rmw { order: Order::NonAtomic, .. }
            | Instruction::BlockingCas { order: Order::NonAtomic, .. } => {
                self.error(span, "a read-modify-write is always atomic".to_owned());
            }
            Instruction::CompareExchange { success, failure, .. } => {
                if *success == Order::NonAtomic || *failure == Order::NonAtomic {
                    self.error(span, "a compare-exchange is always atomic".to_owned());
                }
                if !failure.fits_load() {
                    self.error(
                        span,
                        format!("a failing compare-exchange is a load and cannot be `{}`", failure.name()),
                    );
                }
            }
            Instruction::Wait { condition, .. } if !condition.mentions_read() => {
                self.error(span, "a wait needs a condition on the value that it reads".to_owned());
            }
            Instruction::Havoc { lo, hi, .. } if lo > hi => {
                self.error(span, format!("there is no value in {lo}..={hi}"));
            }
            Instruction::Locked { body, drains } => {
                // A store directly to memory would overtake the thread's own pending ones.
                if !drains && body.iter().any(|part| matches!(part, Instruction::Store { .. })) {
                    self.error(span, "a locked block that stores waits for an empty store buffer".to_owned());
                }
                for part in body {
                    if !part.is_simple() {
                        self.error(
                            span,
                            "a locked block holds only loads, stores, assignments and assumptions".to_owned(),
                        );
                    }
                    self.instruction(program, thread, part, span);
                }
            }
            _ => {}
        }
    }

    fn observable(&mut self, program: &Program, atom: &Observable, span: Span) {
        match atom {
            Observable::At(thread, location) => {
                let known = program.threads.get(thread.0).is_some_and(|thread| location.0 < thread.locations.len());
                if !known {
                    self.error(span, "a condition names a location that does not exist".to_owned());
                }
            }
            Observable::Register(thread, register) => match program.threads.get(thread.0) {
                Some(thread) if thread.copies == Copies::Any => {
                    self.error(
                        span,
                        format!(
                            "copies of `{}` have no identity, so a condition cannot name their registers",
                            thread.name
                        ),
                    );
                }
                Some(thread) if register.0 < thread.registers.len() => {}
                _ => self.error(span, "a condition names a register that does not exist".to_owned()),
            },
            Observable::Memory(address) if !program.memory.has_cell(*address) => {
                self.error(span, format!("a condition names the cell at address {address}, and there is none"));
            }
            Observable::Memory(_) => {}
        }
    }
}
