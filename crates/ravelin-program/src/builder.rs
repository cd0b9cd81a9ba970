//! Builds programs without a source text, for front ends, generators and tests.

use crate::{
    Address, Copies, Domain, Expr, Goal, Instruction, LocId, Location, Notation, Order, Program, RegId, Register, Span,
    Thread, ThreadId, Transition, ValidationError, Value, VarId, Variable, validate,
};

/// Collects the parts of a program; [`ProgramBuilder::finish`] validates it.
#[derive(Debug)]
pub struct ProgramBuilder {
    pub program: Program,
    next_address: Value,
}

impl ProgramBuilder {
    /// Variables get addresses from 1 on, so that 0 can mean "no address".
    pub fn new(name: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder { program: Program { name: name.into(), ..Program::default() }, next_address: 1 }
    }

    /// Adds a variable at the next free addresses.
    pub fn variable(&mut self, variable: Variable) -> VarId {
        let base = self.next_address;
        self.next_address += variable.cells() as Value;
        self.program.memory.variables.push(Variable { base, ..variable });
        VarId(self.program.memory.variables.len() - 1)
    }

    /// Leaves addresses out before the next variable.
    pub fn gap(&mut self, addresses: u32) {
        self.next_address += Value::from(addresses);
    }

    /// The address of a variable's first cell.
    pub fn base(&self, variable: VarId) -> Value {
        self.program.memory.variables[variable.0].base
    }

    /// Starts a thread; it is added by [`ThreadBuilder::finish`].
    pub fn thread(&mut self, name: impl Into<String>) -> ThreadBuilder<'_> {
        ThreadBuilder {
            thread: Thread {
                name: name.into(),
                template: None,
                copies: Copies::One,
                registers: Vec::new(),
                locations: vec![Location::default()],
                transitions: Vec::new(),
                initial: LocId(0),
                calls: Vec::new(),
                span: Span::NOWHERE,
            },
            here: LocId(0),
            program: self,
        }
    }

    pub fn goal(&mut self, goal: Goal) {
        self.program.goals.push(goal);
    }

    pub fn finish(self) -> Result<Program, Vec<ValidationError>> {
        let errors = validate(&self.program);
        if errors.is_empty() { Ok(self.program) } else { Err(errors) }
    }
}

/// Builds one thread. Instructions are added in sequence from the current location; `branch` and `goto` make other
/// shapes.
#[derive(Debug)]
pub struct ThreadBuilder<'a> {
    pub thread: Thread,
    here: LocId,
    program: &'a mut ProgramBuilder,
}

impl ThreadBuilder<'_> {
    pub fn register(&mut self, name: impl Into<String>) -> RegId {
        self.register_with(name, Domain::FULL)
    }

    pub fn register_with(&mut self, name: impl Into<String>, domain: Domain) -> RegId {
        self.thread.registers.push(Register {
            name: name.into(),
            domain,
            initial: 0,
            hidden: false,
            notation: Notation::Signed,
            span: Span::NOWHERE,
        });
        RegId(self.thread.registers.len() - 1)
    }

    /// Where the next instruction will start.
    pub fn here(&self) -> LocId {
        self.here
    }

    /// Continues from another location.
    pub fn resume(&mut self, location: LocId) {
        self.here = location;
    }

    /// A new location without incoming transitions.
    pub fn fresh(&mut self) -> LocId {
        self.thread.locations.push(Location::default());
        LocId(self.thread.locations.len() - 1)
    }

    /// Names the current location.
    pub fn label(&mut self, name: impl Into<String>) -> LocId {
        self.thread.locations[self.here.0].labels.push(name.into());
        self.here
    }

    /// Adds an instruction from the current location to a new one, which becomes the current location.
    pub fn push(&mut self, instruction: Instruction) -> LocId {
        let to = self.fresh();
        self.edge(self.here, instruction, to);
        self.here = to;
        to
    }

    /// Adds a transition between two locations.
    pub fn edge(&mut self, from: LocId, instruction: Instruction, to: LocId) {
        self.thread.transitions.push(Transition { from, to, instruction, span: Span::NOWHERE, call: None });
    }

    /// The address of a scalar, or of an array's first cell.
    pub fn address(&self, variable: VarId) -> Address {
        Address { expr: Expr::Const(self.program.base(variable)), within: Some(variable) }
    }

    pub fn load(&mut self, reg: RegId, variable: VarId, order: Order) {
        let address = self.address(variable);
        self.push(Instruction::Load { reg, address, order });
    }

    pub fn store(&mut self, variable: VarId, value: Expr, order: Order) {
        let address = self.address(variable);
        self.push(Instruction::Store { address, value, order });
    }

    pub fn fence(&mut self, order: Order) {
        self.push(Instruction::Fence(order));
    }

    /// Adds the thread to the program.
    pub fn finish(mut self) -> ThreadId {
        self.thread.transitions.sort_by_key(|transition| transition.from);
        self.program.program.threads.push(self.thread);
        ThreadId(self.program.program.threads.len() - 1)
    }
}
