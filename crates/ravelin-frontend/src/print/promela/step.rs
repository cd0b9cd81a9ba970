//! One transition as a single step of SPIN: what must be checked, and what changes.
//!
//! A step is executed on symbols. All its conditions and new values are Promela expressions over the state before it, so
//! that SPIN can tell beforehand whether the whole step is possible; a locked block is thereby all or nothing. The order
//! of obstacles is that of the reference semantics: the bus lock, then addresses and values from left to right, then
//! what memory says, then domains, the cell's before the registers'.

use super::expression::{Compiler, Obstacle, ObstacleCheck, PromelaTerm, TermRange};
use super::ranges::PromelaRanges;
use ravelin_program::{
    Address, Arithmetic, Domain, Escape, Expr, Instruction, Program, RegId, RmwOp, Unnamed, Value, WaitAtom,
    WaitCondition,
};
use std::collections::BTreeMap;

/// What a step is compiled against.
pub(super) struct PromelaSetting<'a> {
    pub program: &'a Program,
    pub ranges: &'a PromelaRanges,
    /// Names of registers, by thread.
    pub registers: &'a [Vec<String>],
    /// Names of single cells, by address.
    pub cells: &'a BTreeMap<Value, String>,
    /// The address in `mem[0]`.
    pub origin: i128,
    pub uses_bus: bool,
}

/// A step that SPIN takes at once.
pub(super) struct PromelaStep {
    pub checks: Vec<ObstacleCheck>,
    pub registers: BTreeMap<usize, PromelaTerm>,
    /// Addresses and values, in order.
    pub writes: Vec<(PromelaTerm, PromelaTerm)>,
    pub bus: Option<usize>,
    /// The step starts by choosing `pick` from these values.
    pub pick: Option<TermRange>,
    /// The addresses it may touch.
    pub touched: Vec<TermRange>,
}

/// The steps of a thread's instruction: one, or two for a compare-exchange that may succeed or fail.
pub(super) fn steps(setting: &PromelaSetting, thread: usize, instruction: &Instruction) -> Vec<PromelaStep> {
    let begin = || PromelaDraft::new(setting, thread);
    let Instruction::CompareExchange { address, expected, new, weak, old, ok, .. } = instruction else {
        let mut draft = begin();
        draft.execute(instruction);
        return vec![draft.finish()];
    };
    [true, false]
        .into_iter()
        .map(|succeeds| {
            let mut draft = begin();
            draft.bus_not_with_others();
            let address = draft.address(address);
            let expected = draft.eval(expected);
            let new = draft.eval(new);
            let found = draft.read(&address);
            if succeeds {
                draft.block(format!("({} != {})", found.text, expected.text));
                draft.write(&address, new);
            } else if !weak {
                draft.block(format!("({} == {})", found.text, expected.text));
            }
            draft.set_if_wanted(*old, found);
            draft.set_if_wanted(*ok, PromelaTerm::constant(i128::from(succeeds)));
            draft.finish()
        })
        .collect()
}

/// A register, after what the step itself wrote.
fn register_term(step: &PromelaStep, setting: &PromelaSetting, thread: usize, register: RegId) -> PromelaTerm {
    step.registers.get(&register.0).cloned().unwrap_or_else(|| {
        let range = setting.ranges.registers[thread][register.0];
        PromelaTerm::new(setting.registers[thread][register.0].clone(), range)
    })
}

/// A cell of memory as SPIN sees it.
pub(super) fn cell(cells: &BTreeMap<Value, String>, origin: i128, address: &PromelaTerm) -> String {
    match address.known() {
        Some(known) => match Value::try_from(known).ok().and_then(|known| cells.get(&known)) {
            Some(name) => name.clone(),
            None => format!("mem[{}]", known - origin),
        },
        None if origin == 0 => format!("mem[{}]", address.text),
        None => format!("mem[{} - {}]", address.text, PromelaTerm::constant(origin).text),
    }
}

struct PromelaDraft<'a> {
    setting: &'a PromelaSetting<'a>,
    thread: usize,
    compiler: Compiler,
    step: PromelaStep,
}

impl PromelaDraft<'_> {
    fn new<'a>(setting: &'a PromelaSetting<'a>, thread: usize) -> PromelaDraft<'a> {
        let step = PromelaStep {
            checks: Vec::new(),
            registers: BTreeMap::new(),
            writes: Vec::new(),
            bus: None,
            pick: None,
            touched: Vec::new(),
        };
        PromelaDraft { setting, thread, compiler: Compiler::default(), step }
    }

    fn finish(mut self) -> PromelaStep {
        self.step.checks = self.compiler.checks;
        self.step
    }

    fn execute(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Nop | Instruction::Fence(_) => {}
            // Split in two by `steps`; not simple, so not inside a locked block either.
            Instruction::CompareExchange { .. } => {}
            Instruction::Assign { reg, value } => {
                let value = self.eval(value);
                self.set(*reg, value);
            }
            Instruction::Havoc { reg, lo, hi } => self.havoc(*reg, *lo, *hi),
            Instruction::Assume(condition) => {
                let condition = self.eval(condition);
                self.block(format!("({} == 0)", condition.text));
            }
            Instruction::Assert(condition) => {
                let condition = self.eval(condition);
                self.compiler.check(Obstacle::Failure, format!("({} == 0)", condition.text));
            }
            Instruction::Load { reg, address, .. } => {
                self.bus_not_with_others();
                let address = self.address(address);
                let found = self.read(&address);
                self.set(*reg, found);
            }
            Instruction::Store { address, value, .. } => self.store(address, value),
            Instruction::Unlock(address) => self.store(address, &Expr::Const(0)),
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                self.rmw(*op, *arithmetic, address, operand, *old);
            }
            Instruction::BlockingCas { address, expected, new, .. } => self.blocking_cas(address, expected, new),
            Instruction::Lock(address) => self.blocking_cas(address, &Expr::Const(0), &Expr::Const(1)),
            Instruction::Wait { address, condition, old, .. } => {
                self.bus_not_with_others();
                let address = self.address(address);
                let found = self.read(&address);
                let held = self.holds(condition, &found);
                self.block(format!("({} == 0)", held.text));
                self.set_if_wanted(*old, found);
            }
            Instruction::BusLock => {
                self.block("(bus != 0)".to_owned());
                self.step.bus = Some(self.thread + 1);
            }
            Instruction::BusUnlock => {
                self.compiler.check(Obstacle::Fault, format!("(bus != {})", self.thread + 1));
                self.step.bus = Some(0);
            }
            Instruction::Locked { body, .. } => {
                self.bus_not_with_others();
                // One level deep, since simple instructions do not nest.
                body.iter().for_each(|part| self.execute(part));
            }
        }
    }

    fn store(&mut self, address: &Address, value: &Expr) {
        self.bus_not_with_others();
        let address = self.address(address);
        let value = self.eval(value);
        self.write(&address, value);
    }

    fn rmw(&mut self, op: RmwOp, arithmetic: Arithmetic, address: &Address, operand: &Expr, old: Option<RegId>) {
        self.bus_not_with_others();
        let address = self.address(address);
        let operand = self.eval(operand);
        let found = self.read(&address);
        let new = match op.binary() {
            Some(op) => self.compiler.binary(op, arithmetic, &found, &operand),
            None => operand,
        };
        self.write(&address, new);
        self.set_if_wanted(old, found);
    }

    fn blocking_cas(&mut self, address: &Address, expected: &Expr, new: &Expr) {
        self.bus_not_with_others();
        let address = self.address(address);
        let expected = self.eval(expected);
        let new = self.eval(new);
        let found = self.read(&address);
        self.block(format!("({} != {})", found.text, expected.text));
        self.write(&address, new);
    }

    /// A blocking domain leaves only its own values to choose from; after the choice it is too late to block.
    fn havoc(&mut self, reg: RegId, lo: Value, hi: Value) {
        let domain = self.setting.program.threads[self.thread].registers[reg.0].domain;
        let mut range = TermRange { lo: lo.into(), hi: hi.into() };
        if domain.escape == Escape::Block {
            if !range.meets(TermRange::of(domain)) {
                self.block("true".to_owned());
            }
            range = range.clip(TermRange::of(domain));
        }
        self.step.pick = Some(range);
        self.set(reg, PromelaTerm::new("pick".to_owned(), range));
    }

    fn block(&mut self, when: String) {
        self.compiler.check(Obstacle::Blocked, when);
    }

    fn bus_not_with_others(&mut self) {
        if self.setting.uses_bus {
            self.block(format!("(bus != 0 && bus != {})", self.thread + 1));
        }
    }

    fn eval(&mut self, expr: &Expr) -> PromelaTerm {
        let (step, setting, thread) = (&self.step, self.setting, self.thread);
        self.compiler.term(expr, &mut |register: &RegId| register_term(step, setting, thread, *register))
    }

    /// The condition of a wait that found this value.
    fn holds(&mut self, condition: &WaitCondition, found: &PromelaTerm) -> PromelaTerm {
        let (step, setting, thread) = (&self.step, self.setting, self.thread);
        self.compiler.term(&condition.expr, &mut |atom| match atom {
            WaitAtom::Read => found.clone(),
            WaitAtom::Register(register) => register_term(step, setting, thread, *register),
        })
    }

    fn address(&mut self, address: &Address) -> PromelaTerm {
        let mut term = self.eval(&address.expr);
        if let Some(variable) = address.within {
            let cells = variable_range(self.setting.program, variable.0);
            if let Some(outside) = term.outside(cells) {
                self.compiler.check(Obstacle::Fault, outside);
            }
            term = PromelaTerm::new(term.text.clone(), term.range.clip(cells));
        } else if self.setting.program.memory.unnamed == Unnamed::Nothing {
            let runs = self.setting.program.memory.named_runs();
            let range = |&(first, last): &(Value, Value)| TermRange { lo: first.into(), hi: last.into() };
            let outside: Option<Vec<String>> = runs.iter().map(|run| term.outside(range(run))).collect();
            // Without any the address is in one of the runs.
            if let Some(outside) = outside {
                let everywhere = if outside.is_empty() { "true".to_owned() } else { outside.join(" && ") };
                self.compiler.check(Obstacle::Fault, format!("({everywhere})"));
            }
            let all = runs.iter().map(range).reduce(TermRange::join).unwrap_or(TermRange::exactly(0));
            term = PromelaTerm::new(term.text.clone(), term.range.clip(all));
        }
        self.step.touched.push(term.range);
        term
    }

    /// The value of a cell, after what the step itself wrote.
    fn read(&self, address: &PromelaTerm) -> PromelaTerm {
        let range = self.setting.ranges.at(self.setting.program, address.range);
        let mut found = PromelaTerm::new(cell(self.setting.cells, self.setting.origin, address), range);
        for (to, value) in &self.step.writes {
            if !to.range.meets(address.range) {
                continue;
            }
            found = match (to.known(), address.known()) {
                (Some(_), Some(_)) => value.clone(),
                _ => PromelaTerm::new(
                    format!("({} == {} -> {} : {})", address.text, to.text, value.text, found.text),
                    value.range.join(found.range),
                ),
            };
        }
        found
    }

    fn write(&mut self, address: &PromelaTerm, value: PromelaTerm) {
        let value = self.admit_cell(address, value);
        self.step.writes.push((address.clone(), value));
    }

    fn set_if_wanted(&mut self, register: Option<RegId>, value: PromelaTerm) {
        if let Some(register) = register {
            self.set(register, value);
        }
    }

    fn set(&mut self, register: RegId, value: PromelaTerm) {
        let domain = self.setting.program.threads[self.thread].registers[register.0].domain;
        let value = admit(&mut self.compiler, domain, value);
        self.step.registers.insert(register.0, value);
    }

    /// Offers a value to the domain of a cell, which may depend on where a computed address leads.
    fn admit_cell(&mut self, address: &PromelaTerm, value: PromelaTerm) -> PromelaTerm {
        let program = self.setting.program;
        let places: Vec<(TermRange, Domain)> = (0..program.memory.variables.len())
            .map(|variable| (variable_range(program, variable), program.memory.variables[variable].domain))
            .filter(|(cells, _)| cells.meets(address.range))
            .collect();
        if let Some((_, domain)) = places.iter().find(|(cells, _)| address.range.within(*cells)) {
            return admit(&mut self.compiler, *domain, value);
        }
        // Where nothing is, the step has failed already.
        let elsewhere = program.memory.unnamed.domain().unwrap_or(Domain { escape: Escape::Block, ..Domain::FULL });
        if places.iter().all(|(_, domain)| *domain == elsewhere) {
            return admit(&mut self.compiler, elsewhere, value);
        }
        let within = |cells: TermRange| format!("({0} >= {1} && {0} <= {2})", address.text, cells.lo, cells.hi);
        let none: Vec<String> = places.iter().map(|(cells, _)| format!("!{}", within(*cells))).collect();
        let mut admitted = self
            .compiler
            .only_if(&format!("({})", none.join(" && ")), |compiler| admit(compiler, elsewhere, value.clone()));
        for (cells, domain) in places {
            let here = within(cells);
            let inside = self.compiler.only_if(&here, |compiler| admit(compiler, domain, value.clone()));
            if inside.text != admitted.text {
                admitted = PromelaTerm::new(
                    format!("({here} -> {} : {})", inside.text, admitted.text),
                    inside.range.join(admitted.range),
                );
            }
        }
        admitted
    }
}

/// Offers a value to a domain.
fn admit(compiler: &mut Compiler, domain: Domain, value: PromelaTerm) -> PromelaTerm {
    let range = TermRange::of(domain);
    let obstacle = match domain.escape {
        Escape::Wrap => return compiler.wrap(value, domain),
        Escape::Error => Obstacle::Fault,
        Escape::Block => Obstacle::Blocked,
    };
    match value.outside(range) {
        None => value,
        Some(outside) => {
            compiler.check(obstacle, outside);
            PromelaTerm::new(value.text.clone(), value.range.clip(range))
        }
    }
}

/// The addresses of a variable.
pub(super) fn variable_range(program: &Program, variable: usize) -> TermRange {
    let variable = &program.memory.variables[variable];
    let base = i128::from(variable.base);
    TermRange { lo: base, hi: base + variable.cells() as i128 - 1 }
}
