//! Registers that translated steps need for themselves. A step sets those it used back to 0, so that they do not tell
//! states apart.

use ravelin_program::{Domain, Notation, RegId, Register, Span, Thread};

/// The registers of a thread, and those made for its steps, each with its role.
pub(super) struct ScratchRegisters {
    registers: Vec<Register>,
    made: Vec<(RegisterRole, RegId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterRole {
    /// What a read-modify-write or a wait has read.
    Found,
    /// The index of an array cell, or a spread address.
    Place,
    Level,
    /// A flag, or what `attacked…` holds.
    Flag,
}

impl ScratchRegisters {
    pub fn new(thread: &Thread) -> ScratchRegisters {
        ScratchRegisters { registers: thread.registers.clone(), made: Vec::new() }
    }

    /// The register that a step uses as its `nth` of a role.
    pub fn nth(&mut self, role: RegisterRole, nth: usize) -> RegId {
        if let Some((_, register)) = self.made.iter().filter(|(other, _)| *other == role).nth(nth) {
            return *register;
        }
        let base = match role {
            RegisterRole::Found => "found",
            RegisterRole::Place => "place",
            RegisterRole::Level => "level",
            RegisterRole::Flag => "flag",
        };
        let mut name = if nth == 0 { base.to_owned() } else { format!("{base}{}", nth + 1) };
        while self.registers.iter().any(|register| register.name == name) {
            name.push('_');
        }
        self.registers.push(Register {
            name,
            domain: Domain::FULL,
            initial: 0,
            hidden: true,
            notation: Notation::Signed,
            span: Span::NOWHERE,
        });
        let register = RegId(self.registers.len() - 1);
        self.made.push((role, register));
        register
    }

    /// The first register for what was read, if there is one yet.
    pub fn found(&self) -> Option<RegId> {
        self.made.iter().find(|(role, _)| *role == RegisterRole::Found).map(|(_, register)| *register)
    }

    pub fn into_registers(self) -> Vec<Register> {
        self.registers
    }
}
