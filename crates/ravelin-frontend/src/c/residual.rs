//! A thread of the model under construction: its registers and its control flow.

use super::objects::ObjectId;
use super::value::domain;
use crate::flow::{Flow, Raw};
use crate::ir::module::{BlockId, LocalId};
use ravelin_program::{
    Address, Domain, Escape, Expr, Instruction, Notation, Order, RegId, Register, Span, WaitCondition,
};
use std::collections::HashMap;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RegisterKey {
    /// A part of the value of an instruction or a parameter, on a path of calls.
    Value { path: usize, local: LocalId, part: u32 },
    /// A scalar of an object that the thread has to itself.
    Scalar(ObjectId, u64),
    /// Keeps a value while others are assigned at the same time.
    Aside(RegId),
    /// What one step of an instruction that becomes several steps reads.
    Part { path: usize, block: BlockId, index: usize, number: u64 },
}

#[derive(Debug)]
pub(super) struct Residual {
    pub flow: Flow,
    pub registers: Vec<Register>,
    by_key: HashMap<RegisterKey, RegId>,
    /// Nothing leads on from here.
    pub end: Raw,
    pub start: Raw,
    /// The cells that are 1 once the program has ended for this thread. Threads that wait look at them, too.
    pub exited: Vec<Address>,
    emitted: usize,
}

impl Residual {
    pub fn new() -> Residual {
        let mut flow = Flow::default();
        let (start, end) = (flow.fresh(), flow.fresh());
        Residual { flow, registers: Vec::new(), by_key: HashMap::new(), end, start, exited: Vec::new(), emitted: 0 }
    }

    /// The register for this, with a name for users if it has one in the source.
    pub fn register(&mut self, key: RegisterKey, name: Option<&str>, domain: Domain) -> RegId {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let id = RegId(self.registers.len());
        let name = self.free_name(name.unwrap_or("r"));
        self.registers.push(Register {
            hidden: name.starts_with("r."),
            name,
            domain,
            initial: 0,
            notation: Notation::Signed,
            span: Span::NOWHERE,
        });
        self.by_key.insert(key, id);
        id
    }

    fn free_name(&self, wanted: &str) -> String {
        let taken = |name: &str| self.registers.iter().any(|register| register.name == name);
        if wanted != "r" && !taken(wanted) {
            return wanted.to_owned();
        }
        let mut number = self.registers.len();
        loop {
            let name = format!("{wanted}.{number}");
            if !taken(&name) {
                return name;
            }
            number += 1;
        }
    }

    /// How many bits the values of a register have.
    pub fn bits(&self, register: RegId) -> u32 {
        let Domain { lo, hi, .. } = self.registers[register.0].domain;
        (1..64).find(|bits| domain(*bits, Escape::Error) == Domain::new(lo, hi, Escape::Error)).unwrap_or(64)
    }

    /// Adds a step that leads to a new location, which is returned.
    pub fn emit(&mut self, from: Raw, instruction: Instruction, span: Span) -> Raw {
        let to = self.flow.fresh();
        self.emit_to(from, instruction, to, span);
        to
    }

    pub fn emit_to(&mut self, from: Raw, instruction: Instruction, to: Raw, span: Span) {
        self.emitted += 1;
        let waits =
            matches!(instruction, Instruction::Wait { .. } | Instruction::Lock(_) | Instruction::BlockingCas { .. });
        self.flow.emit(from, instruction, to, span);
        for address in self.exited.iter().filter(|_| waits).cloned() {
            let condition = WaitCondition::equals(Expr::Const(1));
            let wait = Instruction::Wait { address, condition, order: Order::Relaxed, old: None };
            self.flow.emit(from, wait, self.end, span);
        }
    }

    /// How many steps there are.
    pub fn emitted(&self) -> usize {
        self.emitted
    }

    /// Assigns to several registers at the same time.
    pub fn assign(&mut self, mut at: Raw, mut pending: Vec<(RegId, Expr)>, span: Span) -> Raw {
        pending.retain(|(register, value)| *value != Expr::Atom(*register));
        while !pending.is_empty() {
            let mentioned = |target: RegId, by: &[(RegId, Expr)]| {
                by.iter().any(|(register, value)| *register != target && mentions(value, target))
            };
            match (0..pending.len()).find(|&index| !mentioned(pending[index].0, &pending)) {
                Some(index) => {
                    let (reg, value) = pending.swap_remove(index);
                    at = self.emit(at, Instruction::Assign { reg, value }, span);
                }
                None => {
                    // Registers that are exchanged: one of them is put aside.
                    let target = pending[0].0;
                    let domain = self.registers[target.0].domain;
                    let aside = self.register(RegisterKey::Aside(target), None, domain);
                    at = self.emit(at, Instruction::Assign { reg: aside, value: Expr::Atom(target) }, span);
                    for (register, value) in &mut pending {
                        if *register != target {
                            *value =
                                value.map_atoms(&mut |atom| Expr::Atom(if *atom == target { aside } else { *atom }));
                        }
                    }
                }
            }
        }
        at
    }
}

pub(super) fn mentions(expr: &Expr, register: RegId) -> bool {
    let mut found = false;
    expr.for_each_atom(&mut |atom| found |= *atom == register);
    found
}

/// Chains of calls, numbered. The chain of a thread's first function is its own.
#[derive(Debug, Default)]
pub(super) struct Paths {
    numbers: HashMap<(usize, u32, usize, usize), usize>,
}

impl Paths {
    /// The chain that is longer by the call at an instruction of a function on `path`.
    pub fn call(&mut self, path: usize, block: u32, index: usize, function: usize) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry((path, block, index, function)).or_insert(next)
    }
}
