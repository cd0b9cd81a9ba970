//! From any program to one that has a `.rav` text: the same behaviour, with legal and unique names, addresses as the
//! parser gives them out and one end a thread.

use crate::print::names::Names;
use crate::rav::MAX_ADDRESS;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Condition, Copies, Domain, Expr, InitialValue, Instruction, LocId, Location,
    Notation, Observable, Program, RegId, Register, Span, Thread, ThreadId, Transition, Unnamed, Value, VarId,
    Variable,
};
use std::collections::BTreeSet;

/// Words that are not used as names: the keywords, and those that mean something in some places.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "_", "acq_rel", "acquire", "any", "arithmetic", "assert", "assume", "block", "blocking", "bool", "break",
    "bus_lock", "bus_unlock", "checked", "choose", "const", "continue", "else", "enum", "error", "exists", "false", "fence", "finally",
    "fn", "for", "forall", "goto", "havoc", "i16", "i32", "i64", "i8", "if", "in", "let", "lock", "locked", "loop",
    "match", "max_value", "mem", "mut", "never", "non_atomic", "nop", "of", "or", "relaxed", "release", "return", "seq_cst",
    "static", "thread", "true", "u16", "u32", "u64", "u8", "unlock", "usize", "wait", "while", "wrap", "wrapping",
];

/// The most cells of padding that are worth keeping a variable's name.
const MOST_PADDING: i128 = 4096;

pub(super) struct Legal {
    pub program: Program,
    /// What could not be kept, a sentence each.
    pub notes: Vec<String>,
}

pub(super) fn legal(program: &Program) -> Legal {
    let mut program = program.clone();
    let mut notes = Vec::new();
    program.memory.variables.iter_mut().for_each(|variable| signed(&mut variable.notation));
    let registers = program.threads.iter_mut().flat_map(|thread| &mut thread.registers);
    registers.for_each(|register| signed(&mut register.notation));
    lay_out(&mut program, &mut notes);
    program.threads.iter_mut().for_each(split_results);
    name(&mut program);
    for index in 0..program.threads.len() {
        one_end(&mut program, ThreadId(index));
    }
    label_goals(&mut program);
    Legal { program, notes }
}

/// Numbers are written with a sign: without, operators would be read as those of `u64`.
fn signed(notation: &mut Notation) {
    if *notation == Notation::Unsigned {
        *notation = Notation::Signed;
    }
}

/// Where each variable went, and by how much its addresses moved.
struct Moves {
    to: Vec<Option<VarId>>,
    old: Vec<Variable>,
    new: Vec<Variable>,
}

fn lay_out(program: &mut Program, notes: &mut Vec<String>) {
    let old = std::mem::take(&mut program.memory.variables);
    let mut moves = Moves { to: Vec::new(), old, new: Vec::new() };
    let mut next: Value = 1;
    // Where nothing is, there is nothing to fill a gap with, and an address is what it is.
    let strict = program.memory.unnamed == Unnamed::Nothing;
    let raw = strict || uses_raw_addresses(program, &moves.old);
    let unnamed = program.memory.unnamed.domain().unwrap_or(Domain::FULL);
    default_domain(program, raw, notes);
    for (index, variable) in moves.old.iter().enumerate() {
        let gap = i128::from(variable.base) - i128::from(next);
        let fits = match strict {
            true => (-i128::from(MAX_ADDRESS)..=i128::from(MAX_ADDRESS)).contains(&i128::from(variable.base)),
            false => (0..=MOST_PADDING).contains(&gap),
        };
        if raw && !fits {
            moves.to.push(None);
            let (name, base) = (&variable.name, variable.base);
            if strict {
                notes.push(format!("`{}` at address {base}, which no text reaches.", name.escape_debug()));
            } else if variable.domain != unnamed || variable.initial.iter().any(|&i| i != InitialValue::Value(0)) {
                notes.push(format!("the type and initial value of `{}` at address {base}.", name.escape_debug()));
            }
            continue;
        }
        if raw && strict {
            next = variable.base;
        } else if raw && gap > 0 {
            let padding = Variable::array(format!("gap{index}"), gap as usize).with_domain(unnamed);
            moves.new.push(Variable { base: next, ..padding });
            next = variable.base;
        }
        moves.to.push(Some(VarId(moves.new.len())));
        moves.new.push(Variable { base: next, ..variable.clone() });
        next = next.saturating_add(variable.cells() as Value);
    }
    for thread in &mut program.threads {
        let mut zero = None;
        for transition in &mut thread.transitions {
            for address in transition.instruction.addresses_mut() {
                moves.address(address, &mut || {
                    *zero.get_or_insert_with(|| {
                        thread.registers.push(register("zero", Domain::FULL));
                        RegId(thread.registers.len() - 1)
                    })
                });
            }
        }
    }
    for goal in &mut program.goals {
        goal.condition = goal.condition.map_atoms(&mut |atom| {
            Expr::Atom(match atom {
                Observable::Memory(address) => Observable::Memory(moves.constant(*address)),
                other => other.clone(),
            })
        });
    }
    program.memory.variables = moves.new;
}

/// The type of cells without a name is `max_value`, which has only some types to give.
fn default_domain(program: &mut Program, raw: bool, notes: &mut Vec<String>) {
    let Unnamed::Cells(unnamed) = program.memory.unnamed else { return };
    if unnamed == Domain::FULL || unnamed.lo == 0 {
        return;
    }
    if raw {
        notes.push(format!("the type of cells without a name, {}..={}.", unnamed.lo, unnamed.hi));
    }
    program.memory.unnamed = Unnamed::Cells(Domain::FULL);
}

/// Some access or goal speaks of an address other than by a variable's name, so that addresses must stay what they are.
fn uses_raw_addresses(program: &Program, variables: &[Variable]) -> bool {
    let named = |address: &Address| match address.within {
        None => false,
        Some(variable) => {
            let variable = &variables[variable.0];
            variable.len.is_some() || address.constant().is_some_and(|constant| variable.contains(constant))
        }
    };
    let mut raw = program
        .threads
        .iter()
        .flat_map(|thread| &thread.transitions)
        .any(|transition| transition.instruction.accesses().iter().any(|access| !named(access.address)));
    for goal in &program.goals {
        goal.condition.for_each_atom(&mut |atom| {
            if let Observable::Memory(address) = atom {
                raw |= !variables.iter().any(|variable| variable.contains(*address));
            }
        });
    }
    raw
}

impl Moves {
    fn constant(&self, address: Value) -> Value {
        let variable = self.old.iter().position(|variable| variable.contains(address));
        match variable.and_then(|index| Some((index, self.to[index]?))) {
            Some((index, to)) => address - self.old[index].base + self.new[to.0].base,
            None => address,
        }
    }

    /// Brings an address to the new layout, in the shape the parser gives it. `zero` makes a register that is never
    /// written: an index known to be outside its array has to look computed, or the parser would refuse it.
    fn address(&self, address: &mut Address, zero: &mut impl FnMut() -> RegId) {
        let Some(variable) = address.within else { return };
        let old = &self.old[variable.0];
        let Some(to) = self.to[variable.0] else {
            address.within = None;
            return;
        };
        let new = &self.new[to.0];
        address.within = Some(to);
        let index = match &address.expr {
            Expr::Const(constant) if old.contains(*constant) => {
                address.expr = Expr::Const(constant - old.base + new.base);
                return;
            }
            _ if old.len.is_none() => {
                address.within = None;
                return;
            }
            Expr::Const(constant) => {
                let index = constant.checked_sub(old.base).unwrap_or(*constant);
                Expr::binary(BinaryOp::Add, Expr::Atom(zero()), Expr::Const(index))
            }
            Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, right) if **left == Expr::Const(old.base) => {
                match &**right {
                    Expr::Const(_) => Expr::binary(BinaryOp::Add, Expr::Atom(zero()), (**right).clone()),
                    index => index.clone(),
                }
            }
            other => Expr::binary(BinaryOp::Sub, other.clone(), Expr::Const(old.base)),
        };
        address.expr = Expr::binary(BinaryOp::Add, Expr::Const(new.base), index);
    }
}

/// A compare-exchange has two results, and `.rav` wants two registers for them. The first is overwritten where they are
/// one, but it has to fit the register's type, so a register of that type takes it.
fn split_results(thread: &mut Thread) {
    for transition in &mut thread.transitions {
        if let Instruction::CompareExchange { old: Some(old), ok: Some(ok), .. } = &mut transition.instruction
            && old == ok
        {
            *old = RegId(thread.registers.len());
            thread.registers.push(register("overwritten", thread.registers[ok.0].domain));
            // It starts like any register of that type, though with what does not matter.
            thread.registers[old.0].initial = thread.registers[ok.0].initial;
        }
    }
}

/// Variables and threads share a scope; a register must not hide a variable; labels have a scope of their own.
fn name(program: &mut Program) {
    let mut shared = Names::avoiding(RESERVED);
    for variable in &mut program.memory.variables {
        variable.name = shared.choose(&variable.name);
    }
    let for_registers = shared.clone();
    for thread in &mut program.threads {
        thread.name = shared.choose(&thread.name);
        let mut own = for_registers.clone();
        for register in &mut thread.registers {
            register.name = own.choose(&register.name);
            register.hidden = false;
        }
        let mut labels = Names::avoiding(RESERVED);
        for location in &mut thread.locations {
            let given: BTreeSet<String> = location.labels.iter().cloned().collect();
            location.labels.retain({
                let mut left = given;
                move |label| left.remove(label)
            });
            for label in &mut location.labels {
                *label = labels.choose(label);
            }
        }
    }
}

fn one_end(program: &mut Program, id: ThreadId) {
    let thread = &mut program.threads[id.0];
    let reachable = reachable(thread);
    let ends: Vec<LocId> =
        (0..thread.locations.len()).map(LocId).filter(|&l| reachable[l.0] && thread.is_end(l)).collect();
    let mut asked = BTreeSet::new();
    for goal in &program.goals {
        goal.condition.for_each_atom(&mut |atom| {
            if let Observable::At(thread, location) = atom
                && *thread == id
                && ends.contains(location)
            {
                asked.insert(*location);
            }
        });
    }
    if ends.len() < 2 {
        return;
    }
    // A single end takes the place of those that no goal asks about, and stands behind those that one does.
    let end = LocId(thread.locations.len());
    thread.locations.push(Location::default());
    let mut ended = None;
    for (number, &old) in ends.iter().enumerate() {
        if !asked.contains(&old) {
            let labels = std::mem::take(&mut thread.locations[old.0].labels);
            thread.locations[end.0].labels.extend(labels);
            thread.transitions.iter_mut().filter(|t| t.to == old).for_each(|transition| transition.to = end);
            if thread.initial == old {
                thread.initial = end;
            }
            continue;
        }
        let (to, instruction) = match thread.copies {
            Copies::Any => (old, Instruction::Nop),
            Copies::One => {
                let reg = *ended.get_or_insert_with(|| {
                    let mut names = Names::avoiding(RESERVED);
                    for variable in &program.memory.variables {
                        names.choose(&variable.name);
                    }
                    for register in &thread.registers {
                        names.choose(&register.name);
                    }
                    thread.registers.push(register(&names.choose("ended"), Domain::FULL));
                    RegId(thread.registers.len() - 1)
                });
                (end, Instruction::Assign { reg, value: Expr::Const(number as Value + 1) })
            }
        };
        thread.transitions.push(Transition { from: old, to, instruction, span: Span::NOWHERE, call: None });
    }
    thread.transitions.sort_by_key(|transition| transition.from);
    let Some(ended) = ended else { return };
    let number = |location: &LocId| ends.iter().position(|end| end == location);
    for goal in &mut program.goals {
        goal.condition = goal.condition.map_atoms(&mut |atom| -> Condition {
            let here = Expr::Atom(atom.clone());
            let Observable::At(thread, location) = atom else { return here };
            match number(location) {
                Some(number) if *thread == id => {
                    let which = Expr::Atom(Observable::Register(id, ended)).eq(Expr::Const(number as Value + 1));
                    here.or(Expr::Atom(Observable::At(id, end)).and(which))
                }
                _ => here,
            }
        });
    }
}

/// Goals speak of locations by label. A location that cannot be reached has none, since it is not printed.
fn label_goals(program: &mut Program) {
    for index in 0..program.threads.len() {
        let thread = &mut program.threads[index];
        let reachable = reachable(thread);
        let mut labels = Names::avoiding(RESERVED);
        for label in thread.locations.iter().flat_map(|location| &location.labels) {
            labels.choose(label);
        }
        for goal in &mut program.goals {
            goal.condition = goal.condition.map_atoms(&mut |atom| -> Condition {
                if let Observable::At(ThreadId(at), location) = atom
                    && *at == index
                {
                    if !reachable[location.0] {
                        return Expr::Const(0);
                    }
                    let names = &mut thread.locations[location.0].labels;
                    if names.is_empty() {
                        names.push(labels.choose(&format!("L{}", location.0)));
                    }
                }
                Expr::Atom(atom.clone())
            });
        }
    }
}

fn reachable(thread: &Thread) -> Vec<bool> {
    let mut reached = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(location) = open.pop() {
        if !std::mem::replace(&mut reached[location.0], true) {
            open.extend(thread.outgoing(location).map(|(_, transition)| transition.to));
        }
    }
    reached
}

fn register(name: &str, domain: Domain) -> Register {
    Register {
        name: name.to_owned(),
        domain,
        initial: 0,
        hidden: false,
        notation: Notation::Signed,
        span: Span::NOWHERE,
    }
}
