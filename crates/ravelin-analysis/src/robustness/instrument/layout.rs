//! Where the auxiliary cells of an instrumented program live.
//!
//! If every access names a variable or an array, the cells stay where they are and each variable `x` gets companions
//! `x_is_delayed`, `x_delayed` and `x_level` behind them (*named*). If some access computes its address (`mem[e]`),
//! every cell must find its companions by arithmetic: the cell at a moves to 8a, and they follow at 8a + 1, 8a + 2 and
//! 8a + 3; of what is left 5, 6 and 7 hold the flags (*spread*). Values that are addresses stay as they are; only
//! accesses multiply. An address beyond 2^60 then overflows.

use super::CannotInstrument;
use super::arithmetic::between;
use super::attacker::attack_copy;
use crate::robustness::Attack;
use ravelin_program::{
    Address, Arithmetic, BinaryOp, Domain, Expr, Initial, Instruction, Memory, Program, RegId, Span, ThreadId, Value,
    VarId, Variable,
};
use std::collections::BTreeSet;

const STRIDE: Value = 8;
const SPREAD_HB: Value = 5;
const SPREAD_SUCCESS: Value = 6;
const SPREAD_ATTACKED: Value = 7;

pub(super) struct Layout {
    memory: Memory,
    /// The variables of the program, with a name for every constant address.
    originals: Vec<Variable>,
    /// The numbers in `originals` of the program's own variables.
    own: Vec<usize>,
    companions: Companions,
    hb: Value,
    success: Value,
    attacked: Attacked,
    /// The helpers that can promise something, in the order of their marks.
    promising: Vec<ThreadId>,
    /// The domain of cells without a name where that must be seen to by the steps.
    unnamed: Option<Domain>,
}

enum Companions {
    /// Of each of `originals`, the first address of each part that it has; and what the attacker may delay and helpers
    /// store.
    Named {
        parts: Vec<[Option<Value>; 4]>,
        delayed: Stored,
        levelled: Stored,
    },
    Spread,
}

impl Companions {
    fn none() -> Companions {
        Companions::Named { parts: Vec::new(), delayed: Stored::default(), levelled: Stored::default() }
    }
}

/// Where something may store, in numbers of `originals` and in addresses.
#[derive(Default)]
struct Stored {
    variables: BTreeSet<usize>,
    cells: BTreeSet<Value>,
    /// At an index that is computed.
    anywhere_in: BTreeSet<usize>,
}

impl Stored {
    fn has(&self, variable: usize, address: Value) -> bool {
        self.cells.contains(&address) || self.anywhere_in.contains(&variable)
    }
}

/// A cell and its companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Cell = 0,
    IsDelayed = 1,
    Delayed = 2,
    Level = 3,
}

/// Where an access goes, fixed before its step changes registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An address of the original program, known beforehand.
    Fixed(Value),
    /// A cell of one of the variables; the register holds the index.
    Index(usize, RegId),
    /// The register holds the address, spread.
    Anywhere(RegId),
}

/// An address of the original program as the layout sees it.
pub(super) struct Located {
    /// Must hold, or the original would fault.
    pub guard: Option<Expr>,
    pub target: Target,
}

pub(super) enum Target {
    /// The access is never possible.
    Nowhere,
    Fixed(Value),
    Index(usize, Expr),
    Anywhere(Expr),
}

/// What is known of the attacked store's address.
enum Attacked {
    Fixed(Value),
    /// Its index in a variable is kept at an address.
    Index(usize, Value),
    /// Its spread address is kept at an address.
    Anywhere(Value),
}

/// Whether an access is one to the address of the attacked store.
pub(super) enum Hit {
    Never,
    Always,
    /// The register holds this value.
    Holds(RegId, Value),
    /// What is kept of the attacked store is this.
    Kept(Expr),
}

impl Layout {
    pub fn of(program: &Program, attack: Attack) -> Result<Layout, CannotInstrument> {
        let accesses: Vec<&Address> = program
            .threads
            .iter()
            .flat_map(|thread| &thread.transitions)
            .flat_map(|transition| transition.instruction.accesses())
            .map(|access| access.address)
            .collect();
        let computed = |address: &&&Address| address.expr.has_atoms();
        let (originals, own) = originals(program, &accesses)?;
        let spread = accesses.iter().filter(computed).any(|address| address.within.is_none());
        let mut layout = Layout {
            memory: Memory { variables: Vec::new(), unnamed: program.memory.unnamed },
            originals,
            own,
            companions: if spread { Companions::Spread } else { Companions::none() },
            hb: SPREAD_HB,
            success: SPREAD_SUCCESS,
            attacked: Attacked::Anywhere(SPREAD_ATTACKED),
            promising: promising(program, attack),
            unnamed: None,
        };
        let attacked = match &program.threads[attack.thread.0].transitions[attack.store.0].instruction {
            Instruction::Store { address, .. } | Instruction::Unlock(address) => address,
            _ => return Err(CannotInstrument::NoSuchAttack),
        };
        if spread {
            layout.spread(program, attacked)?;
        } else {
            layout.name(program, attack, attacked)?;
        }
        Ok(layout)
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn success(&self) -> Value {
        self.success
    }

    pub fn success_flag(&self) -> Address {
        self.at(self.success)
    }

    pub fn hb_flag(&self) -> Address {
        self.at(self.hb)
    }

    /// Where the attacked store's address is kept, if it is not known beforehand.
    pub fn attacked_cell(&self) -> Option<Address> {
        match self.attacked {
            Attacked::Fixed(_) => None,
            Attacked::Index(_, cell) | Attacked::Anywhere(cell) => Some(self.at(cell)),
        }
    }

    /// The number of a helper's own marks, if it can promise something.
    pub fn promise(&self, helper: ThreadId) -> Option<usize> {
        self.promising.iter().position(|&thread| thread == helper)
    }

    pub fn promises(&self) -> usize {
        self.promising.len()
    }

    /// Levels are 0 (no access), 1 (loaded), 2 (stored), and for the nth promise 3 + 2n (loaded) and 4 + 2n (stored).
    fn top_level(&self) -> Value {
        2 + 2 * self.promising.len() as Value
    }

    /// Reads an address of the original program.
    pub fn locate(&self, address: &Address) -> Located {
        let free = |target| Located { guard: None, target };
        let variable = address.within.map(|variable| self.own[variable.0]);
        if !address.expr.has_atoms() {
            let inside = |value: &Value| variable.is_none_or(|variable| self.originals[variable].contains(*value));
            let constant = address.expr.constant().filter(inside);
            return free(constant.map_or(Target::Nowhere, Target::Fixed));
        }
        let spread = || Target::Anywhere(Expr::binary(BinaryOp::Mul, Expr::Const(STRIDE), address.expr.clone()));
        let Some(number) = variable else { return free(spread()) };
        let variable = &self.originals[number];
        let (base, last) = (variable.base, variable.base + variable.cells() as Value - 1);
        if variable.len.is_none() {
            return Located { guard: Some(address.expr.clone().eq(Expr::Const(base))), target: Target::Fixed(base) };
        }
        let inside = between(address.expr.clone(), base, last);
        match (&self.companions, &address.expr) {
            (Companions::Spread, _) => Located { guard: Some(inside), target: spread() },
            // As front ends write it.
            (Companions::Named { .. }, Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, index))
                if **left == Expr::Const(base) =>
            {
                let guard = Some(between((**index).clone(), 0, last - base));
                Located { guard, target: Target::Index(number, (**index).clone()) }
            }
            (Companions::Named { .. }, expr) => {
                let index = Expr::binary(BinaryOp::Sub, expr.clone(), Expr::Const(base));
                Located { guard: Some(inside), target: Target::Index(number, index) }
            }
        }
    }

    /// The address of a part of a place; `None` if it has no such part because nothing would look at it.
    pub fn part(&self, place: Place, part: Part) -> Option<Address> {
        let offset = part as Value;
        match (&self.companions, place) {
            (Companions::Spread, Place::Fixed(address)) => Some(self.at(address * STRIDE + offset)),
            (Companions::Spread, Place::Anywhere(register)) => Some(Address::computed(match offset {
                0 => Expr::Atom(register),
                offset => Expr::binary(BinaryOp::Add, Expr::Atom(register), Expr::Const(offset)),
            })),
            (Companions::Named { parts, delayed, levelled }, Place::Fixed(address)) => {
                let variable = self.originals.iter().position(|variable| variable.contains(address))?;
                let looked_at = match part {
                    Part::Cell => true,
                    Part::IsDelayed | Part::Delayed => delayed.has(variable, address),
                    Part::Level => levelled.has(variable, address),
                };
                let base = parts[variable][part as usize].filter(|_| looked_at)?;
                Some(self.at(base + (address - self.originals[variable].base)))
            }
            (Companions::Named { parts, .. }, Place::Index(variable, register)) => {
                let base = parts[variable][part as usize]?;
                let expr = Expr::binary(BinaryOp::Add, Expr::Const(base), Expr::Atom(register));
                Some(Address { expr, within: self.at(base).within })
            }
            (Companions::Spread, Place::Index(..)) | (Companions::Named { .. }, Place::Anywhere(_)) => None,
        }
    }

    /// Whether an access to a place is one to the attacked store's address.
    pub fn hit(&self, place: Place) -> Hit {
        let always = |equal: bool| if equal { Hit::Always } else { Hit::Never };
        match (&self.attacked, place) {
            (Attacked::Fixed(attacked), Place::Fixed(address)) => always(*attacked == address),
            (Attacked::Fixed(attacked), Place::Index(variable, register)) => {
                let variable = &self.originals[variable];
                match variable.contains(*attacked) {
                    true => Hit::Holds(register, attacked - variable.base),
                    false => Hit::Never,
                }
            }
            (Attacked::Fixed(attacked), Place::Anywhere(register)) => Hit::Holds(register, attacked * STRIDE),
            (Attacked::Index(attacked, _), Place::Fixed(address)) => {
                let variable = &self.originals[*attacked];
                match variable.contains(address) {
                    true => Hit::Kept(Expr::Const(address - variable.base)),
                    false => Hit::Never,
                }
            }
            (Attacked::Index(attacked, _), Place::Index(variable, register)) => match *attacked == variable {
                true => Hit::Kept(Expr::Atom(register)),
                false => Hit::Never,
            },
            (Attacked::Anywhere(_), Place::Fixed(address)) => Hit::Kept(Expr::Const(address * STRIDE)),
            (Attacked::Anywhere(_), Place::Anywhere(register)) => Hit::Kept(Expr::Atom(register)),
            (Attacked::Index(..), Place::Anywhere(_)) | (Attacked::Anywhere(_), Place::Index(..)) => Hit::Never,
        }
    }

    /// The domain of cells without a name, if a step that stores must see to it.
    pub fn unnamed(&self) -> Option<Domain> {
        self.unnamed
    }

    /// Whether a spread address in a register is that of a named cell.
    pub fn is_named(&self, register: RegId) -> Expr {
        let ranges = self.originals.iter().map(|variable| {
            let last = variable.base + variable.cells() as Value - 1;
            between(Expr::Atom(register), variable.base * STRIDE, last * STRIDE)
        });
        ranges.reduce(Expr::or).unwrap_or(Expr::Const(0))
    }

    /// A constant address of the instrumented program.
    fn at(&self, address: Value) -> Address {
        let variable = self.memory.variables.iter().position(|variable| variable.contains(address));
        Address { expr: Expr::Const(address), within: variable.map(VarId) }
    }

    fn name(&mut self, program: &Program, attack: Attack, attacked: &Address) -> Result<(), CannotInstrument> {
        let (mut delayed, mut levelled) = (Stored::default(), Stored::default());
        let copied = attack_copy(&program.threads[attack.thread.0], attack);
        // The store alone: there is no way to the load, and nothing will be delayed.
        for transition in copied.iter().filter(|_| copied.len() > 1) {
            let instruction = &program.threads[attack.thread.0].transitions[transition.0].instruction;
            self.stored(instruction, &mut delayed);
        }
        for (_, thread) in program.threads.iter().enumerate().filter(|(number, _)| *number != attack.thread.0) {
            thread.transitions.iter().for_each(|transition| self.stored(&transition.instruction, &mut levelled));
        }
        let first = self.originals.last().map_or(1, |variable| variable.base + variable.cells() as Value).max(1);
        let mut room = Room { names: names(program, &self.originals), next: first, added: Vec::new() };
        let mut parts = Vec::new();
        for (number, variable) in self.originals.iter().enumerate() {
            let mut own = [Some(variable.base), None, None, None];
            if delayed.variables.contains(&number) {
                own[Part::IsDelayed as usize] = Some(room.companion(variable, "is_delayed", Domain::BOOL)?);
                own[Part::Delayed as usize] = Some(room.companion(variable, "delayed", variable.domain)?);
            }
            if levelled.variables.contains(&number) {
                let levels = Domain { hi: self.top_level(), ..Domain::BOOL };
                own[Part::Level as usize] = Some(room.companion(variable, "level", levels)?);
            }
            parts.push(own);
        }
        self.companions = Companions::Named { parts, delayed, levelled };
        self.hb = room.add("hb".to_owned(), Variable::scalar("").with_domain(Domain::BOOL))?;
        self.success = room.add("success".to_owned(), Variable::scalar("").with_domain(Domain::BOOL))?;
        self.attacked = match self.locate(attacked).target {
            Target::Fixed(address) => Attacked::Fixed(address),
            Target::Index(variable, _) => {
                let last = self.originals[variable].cells() as Value - 1;
                let index = Variable::scalar("").with_domain(Domain { hi: last, ..Domain::BOOL });
                Attacked::Index(variable, room.add("attacked_index".to_owned(), index)?)
            }
            // The store is never executed; any address will do.
            Target::Nowhere | Target::Anywhere(_) => Attacked::Fixed(self.hb),
        };
        self.memory.variables = [self.originals.clone(), room.added].concat();
        Ok(())
    }

    /// Notes what an instruction may store to.
    fn stored(&self, instruction: &Instruction, stored: &mut Stored) {
        for access in instruction.accesses().iter().filter(|access| access.writes) {
            match self.locate(access.address).target {
                Target::Fixed(address) => {
                    stored.cells.insert(address);
                    let inside = self.originals.iter().position(|variable| variable.contains(address));
                    stored.variables.extend(inside);
                }
                Target::Index(variable, _) => {
                    stored.anywhere_in.insert(variable);
                    stored.variables.insert(variable);
                }
                Target::Nowhere | Target::Anywhere(_) => {}
            }
        }
    }

    fn spread(&mut self, program: &Program, attacked: &Address) -> Result<(), CannotInstrument> {
        // Auxiliary cells of cells without a name have none either, and need more values than these may have.
        let unnamed = program.memory.unnamed;
        if !unnamed.is_full() {
            self.unnamed = Some(unnamed);
            self.memory.unnamed = Domain::FULL;
        }
        let mut names = names(program, &self.originals);
        let mut cells = Vec::new();
        let levels = Domain { hi: self.top_level(), ..Domain::BOOL };
        for variable in &self.originals {
            for cell in 0..variable.cells() {
                let address = variable.base + cell as Value;
                let base = address.checked_mul(STRIDE).filter(|base| base.checked_add(STRIDE).is_some());
                let base = base.ok_or(CannotInstrument::Address(address))?;
                let name = match variable.len {
                    None => variable.name.clone(),
                    Some(_) => names.choose(format!("{}_{cell}", variable.name)),
                };
                let single = |name: String, part: Part, domain: Domain, initial: Initial| Variable {
                    name,
                    base: base + part as Value,
                    len: None,
                    domain,
                    initial: vec![initial],
                    span: variable.span,
                };
                let [flag, delayed, level] =
                    ["is_delayed", "delayed", "level"].map(|part| names.choose(format!("{name}_{part}")));
                let zero = Initial::Value(0);
                cells.push(single(name, Part::Cell, variable.domain, variable.initial[cell]));
                cells.push(single(flag, Part::IsDelayed, Domain::BOOL, zero));
                cells.push(single(delayed, Part::Delayed, variable.domain, some_value(variable.domain)));
                cells.push(single(level, Part::Level, levels, zero));
            }
        }
        let flag = |name: &str, base, domain, names: &mut Names| Variable {
            base,
            ..Variable::scalar(names.choose(name.to_owned())).with_domain(domain)
        };
        cells.push(flag("hb", SPREAD_HB, Domain::BOOL, &mut names));
        cells.push(flag("success", SPREAD_SUCCESS, Domain::BOOL, &mut names));
        self.attacked = match self.locate(attacked).target {
            Target::Fixed(address) => Attacked::Fixed(address),
            _ => {
                cells.push(flag("attacked_address", SPREAD_ATTACKED, Domain::FULL, &mut names));
                Attacked::Anywhere(SPREAD_ATTACKED)
            }
        };
        cells.sort_by_key(|variable| variable.base);
        self.memory.variables = cells;
        Ok(())
    }
}

/// The program's variables together with a name for each constant address that has none, in order of their addresses,
/// and the numbers there of the program's own.
fn originals(program: &Program, accesses: &[&Address]) -> Result<(Vec<Variable>, Vec<usize>), CannotInstrument> {
    let unnamed = program.memory.unnamed;
    let mut nameless = BTreeSet::new();
    for address in accesses.iter().filter(|address| address.within.is_none()) {
        let constant = address.expr.constant();
        nameless.extend(constant.filter(|address| program.memory.variable_at(*address).is_none()));
    }
    let mut originals = program.memory.variables.clone();
    let mut names = names(program, &originals);
    for base in nameless {
        // An unnamed cell starts at 0 whatever its domain; a variable must not.
        if !unnamed.contains(0) {
            return Err(CannotInstrument::UnnamedDomain { lo: unnamed.lo, hi: unnamed.hi });
        }
        if base.checked_mul(STRIDE).is_none_or(|spread| spread.checked_add(STRIDE).is_none()) {
            return Err(CannotInstrument::Address(base));
        }
        let sign = if base < 0 { "minus_" } else { "" };
        let name = names.choose(format!("mem_{sign}{}", base.unsigned_abs()));
        originals.push(Variable { base, ..Variable::scalar(name).with_domain(unnamed) });
    }
    originals.sort_by_key(|variable| variable.base);
    let own = program
        .memory
        .variables
        .iter()
        .map(|variable| originals.iter().position(|other| other.base == variable.base).unwrap_or_default());
    let own = own.collect();
    Ok((originals, own))
}

/// The helpers that take the bus lock.
fn promising(program: &Program, attack: Attack) -> Vec<ThreadId> {
    let takes = |thread: &ravelin_program::Thread| {
        thread.transitions.iter().any(|transition| transition.instruction == Instruction::BusLock)
    };
    let helpers = (0..program.threads.len()).map(ThreadId).filter(|&thread| thread != attack.thread);
    helpers.filter(|thread| takes(&program.threads[thread.0])).collect()
}

/// A value that a cell can start with when nobody will look at it.
fn some_value(domain: Domain) -> Initial {
    Initial::Value(if domain.contains(0) { 0 } else { domain.lo })
}

struct Names(BTreeSet<String>);

fn names(program: &Program, originals: &[Variable]) -> Names {
    let threads = program.threads.iter().map(|thread| thread.name.clone());
    Names(originals.iter().map(|variable| variable.name.clone()).chain(threads).collect())
}

impl Names {
    fn choose(&mut self, mut name: String) -> String {
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Room for companions behind the program's own cells.
struct Room {
    names: Names,
    next: Value,
    added: Vec<Variable>,
}

impl Room {
    fn companion(&mut self, of: &Variable, part: &str, domain: Domain) -> Result<Value, CannotInstrument> {
        let name = format!("{}_{part}", of.name);
        let initial = vec![some_value(domain); of.cells()];
        self.add(name, Variable { domain, initial, span: Span::NOWHERE, ..of.clone() })
    }

    fn add(&mut self, name: String, variable: Variable) -> Result<Value, CannotInstrument> {
        let base = self.next;
        let end = Value::try_from(variable.cells()).ok().and_then(|cells| base.checked_add(cells));
        self.next = end.ok_or(CannotInstrument::Address(base))?;
        self.added.push(Variable { name: self.names.choose(name), base, ..variable });
        Ok(base)
    }
}
