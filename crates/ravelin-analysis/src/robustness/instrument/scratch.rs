//! Registers that translated steps need for themselves. A step sets those it used back to 0, so that they do not tell
//! states apart.

use ravelin_program::{Domain, RegId, Register, Span, Thread};

/// The registers of a thread, and those made for its steps, each with its role.
pub(super) struct Scratch {
    registers: Vec<Register>,
    made: Vec<(Role, RegId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What a read-modify-write or a wait has read.
    Found,
    /// The index of an array cell, or a spread address.
    Place,
    Level,
    /// A flag, or what `attacked…` holds.
    Flag,
}

impl Scratch {
    pub fn new(thread: &Thread) -> Scratch {
        Scratch { registers: thread.registers.clone(), made: Vec::new() }
    }

    /// The register that a step uses as its `nth` of a role.
    pub fn nth(&mut self, role: Role, nth: usize) -> RegId {
        if let Some((_, register)) = self.made.iter().filter(|(other, _)| *other == role).nth(nth) {
            return *register;
        }
        let base = match role {
            Role::Found => "found",
            Role::Place => "place",
            Role::Level => "level",
            Role::Flag => "flag",
        };
        let mut name = if nth == 0 { base.to_owned() } else { format!("{base}{}", nth + 1) };
        while self.registers.iter().any(|register| register.name == name) {
            name.push('_');
        }
        self.registers.push(Register { name, domain: Domain::FULL, initial: 0, hidden: true, span: Span::NOWHERE });
        let register = RegId(self.registers.len() - 1);
        self.made.push((role, register));
        register
    }

    /// The first register for what was read, if there is one yet.
    pub fn found(&self) -> Option<RegId> {
        self.made.iter().find(|(role, _)| *role == Role::Found).map(|(_, register)| *register)
    }

    pub fn into_registers(self) -> Vec<Register> {
        self.registers
    }
}
