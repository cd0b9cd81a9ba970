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
    Address, Arithmetic, BinaryOp, Domain, Expr, InitialValue, Instruction, Memory, Program, RegId, Span, ThreadId,
    Unnamed, Value, VarId, Variable,
};
use std::collections::BTreeSet;

const STRIDE: Value = 8;
const SPREAD_HB: Value = 5;
const SPREAD_SUCCESS: Value = 6;
const SPREAD_ATTACKED: Value = 7;

pub(super) struct CompanionLayout {
    memory: Memory,
    /// The variables of the program, with a name for every constant address.
    originals: Vec<Variable>,
    /// The numbers in `originals` of the program's own variables.
    own: Vec<usize>,
    companions: Companions,
    hb: Value,
    success: Value,
    attacked: AttackedAddress,
    /// The helpers that can promise something, in the order of their marks.
    promising: Vec<ThreadId>,
    /// The domain of cells without a name where that must be seen to by the steps.
    unnamed: Option<Domain>,
    /// The memory of the original program, which says where there are cells.
    objects: Memory,
}

enum Companions {
    /// Of each of `originals`, the first address of each part that it has; and what the attacker may delay and helpers
    /// store.
    Named {
        parts: Vec<[Option<Value>; 4]>,
        delayed: StoreTargets,
        levelled: StoreTargets,
    },
    Spread,
}

impl Companions {
    fn none() -> Companions {
        Companions::Named { parts: Vec::new(), delayed: StoreTargets::default(), levelled: StoreTargets::default() }
    }
}

/// Where something may store, in numbers of `originals` and in addresses.
#[derive(Default)]
struct StoreTargets {
    variables: BTreeSet<usize>,
    cells: BTreeSet<Value>,
    /// At an index that is computed.
    anywhere_in: BTreeSet<usize>,
}

impl StoreTargets {
    fn has(&self, variable: usize, address: Value) -> bool {
        self.cells.contains(&address) || self.anywhere_in.contains(&variable)
    }
}

/// A cell and its companions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompanionKind {
    Cell = 0,
    IsDelayed = 1,
    Delayed = 2,
    Level = 3,
}

/// Where an access goes, fixed before its step changes registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolvedAddress {
    /// An address of the original program, known beforehand.
    Fixed(Value),
    /// A cell of one of the variables; the register holds the index.
    Index(usize, RegId),
    /// The register holds the address, spread.
    Anywhere(RegId),
}

/// An address of the original program as the layout sees it.
pub(super) struct GuardedAddress {
    /// Must hold, or the original would fault.
    pub guard: Option<Expr>,
    pub target: AddressTarget,
}

pub(super) enum AddressTarget {
    /// The access is never possible.
    Nowhere,
    Fixed(Value),
    Index(usize, Expr),
    Anywhere(Expr),
}

/// What is known of the attacked store's address.
enum AttackedAddress {
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

impl CompanionLayout {
    pub fn of(program: &Program, attack: Attack) -> Result<CompanionLayout, CannotInstrument> {
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
        let mut layout = CompanionLayout {
            memory: Memory {
                variables: Vec::new(),
                unnamed: Unnamed::Cells(program.memory.unnamed.domain().unwrap_or(Domain::FULL)),
            },
            objects: program.memory.clone(),
            originals,
            own,
            companions: if spread { Companions::Spread } else { Companions::none() },
            hb: SPREAD_HB,
            success: SPREAD_SUCCESS,
            attacked: AttackedAddress::Anywhere(SPREAD_ATTACKED),
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
            AttackedAddress::Fixed(_) => None,
            AttackedAddress::Index(_, cell) | AttackedAddress::Anywhere(cell) => Some(self.at(cell)),
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
    pub fn locate(&self, address: &Address) -> GuardedAddress {
        let free = |target| GuardedAddress { guard: None, target };
        let variable = address.within.map(|variable| self.own[variable.0]);
        if !address.expr.has_atoms() {
            let inside = |value: &Value| match variable {
                Some(variable) => self.originals[variable].contains(*value),
                None => self.objects.has_cell(*value),
            };
            let constant = address.expr.constant().filter(inside);
            return free(constant.map_or(AddressTarget::Nowhere, AddressTarget::Fixed));
        }
        let spread = || AddressTarget::Anywhere(Expr::binary(BinaryOp::Mul, Expr::Const(STRIDE), address.expr.clone()));
        let Some(number) = variable else {
            return GuardedAddress { guard: self.objects.cell_condition(&address.expr), target: spread() };
        };
        let variable = &self.originals[number];
        let (base, last) = (variable.base, variable.base + variable.cells() as Value - 1);
        if variable.len.is_none() {
            return GuardedAddress {
                guard: Some(address.expr.clone().eq(Expr::Const(base))),
                target: AddressTarget::Fixed(base),
            };
        }
        let inside = between(address.expr.clone(), base, last);
        match (&self.companions, &address.expr) {
            (Companions::Spread, _) => GuardedAddress { guard: Some(inside), target: spread() },
            // As front ends write it.
            (Companions::Named { .. }, Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, index))
                if **left == Expr::Const(base) =>
            {
                let guard = Some(between((**index).clone(), 0, last - base));
                GuardedAddress { guard, target: AddressTarget::Index(number, (**index).clone()) }
            }
            (Companions::Named { .. }, expr) => {
                let index = Expr::binary(BinaryOp::Sub, expr.clone(), Expr::Const(base));
                GuardedAddress { guard: Some(inside), target: AddressTarget::Index(number, index) }
            }
        }
    }

    /// The address of a part of a place; `None` if it has no such part because nothing would look at it.
    pub fn part(&self, place: ResolvedAddress, part: CompanionKind) -> Option<Address> {
        let offset = part as Value;
        match (&self.companions, place) {
            (Companions::Spread, ResolvedAddress::Fixed(address)) => Some(self.at(address * STRIDE + offset)),
            (Companions::Spread, ResolvedAddress::Anywhere(register)) => Some(Address::computed(match offset {
                0 => Expr::Atom(register),
                offset => Expr::binary(BinaryOp::Add, Expr::Atom(register), Expr::Const(offset)),
            })),
            (Companions::Named { parts, delayed, levelled }, ResolvedAddress::Fixed(address)) => {
                let variable = self.originals.iter().position(|variable| variable.contains(address))?;
                let looked_at = match part {
                    CompanionKind::Cell => true,
                    CompanionKind::IsDelayed | CompanionKind::Delayed => delayed.has(variable, address),
                    CompanionKind::Level => levelled.has(variable, address),
                };
                let base = parts[variable][part as usize].filter(|_| looked_at)?;
                Some(self.at(base + (address - self.originals[variable].base)))
            }
            (Companions::Named { parts, .. }, ResolvedAddress::Index(variable, register)) => {
                let base = parts[variable][part as usize]?;
                let expr = Expr::binary(BinaryOp::Add, Expr::Const(base), Expr::Atom(register));
                Some(Address { expr, within: self.at(base).within })
            }
            (Companions::Spread, ResolvedAddress::Index(..))
            | (Companions::Named { .. }, ResolvedAddress::Anywhere(_)) => None,
        }
    }

    /// Whether an access to a place is one to the attacked store's address.
    pub fn hit(&self, place: ResolvedAddress) -> Hit {
        let always = |equal: bool| if equal { Hit::Always } else { Hit::Never };
        match (&self.attacked, place) {
            (AttackedAddress::Fixed(attacked), ResolvedAddress::Fixed(address)) => always(*attacked == address),
            (AttackedAddress::Fixed(attacked), ResolvedAddress::Index(variable, register)) => {
                let variable = &self.originals[variable];
                match variable.contains(*attacked) {
                    true => Hit::Holds(register, attacked - variable.base),
                    false => Hit::Never,
                }
            }
            (AttackedAddress::Fixed(attacked), ResolvedAddress::Anywhere(register)) => {
                Hit::Holds(register, attacked * STRIDE)
            }
            (AttackedAddress::Index(attacked, _), ResolvedAddress::Fixed(address)) => {
                let variable = &self.originals[*attacked];
                match variable.contains(address) {
                    true => Hit::Kept(Expr::Const(address - variable.base)),
                    false => Hit::Never,
                }
            }
            (AttackedAddress::Index(attacked, _), ResolvedAddress::Index(variable, register)) => {
                match *attacked == variable {
                    true => Hit::Kept(Expr::Atom(register)),
                    false => Hit::Never,
                }
            }
            (AttackedAddress::Anywhere(_), ResolvedAddress::Fixed(address)) => Hit::Kept(Expr::Const(address * STRIDE)),
            (AttackedAddress::Anywhere(_), ResolvedAddress::Anywhere(register)) => Hit::Kept(Expr::Atom(register)),
            (AttackedAddress::Index(..), ResolvedAddress::Anywhere(_))
            | (AttackedAddress::Anywhere(_), ResolvedAddress::Index(..)) => Hit::Never,
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
        let (mut delayed, mut levelled) = (StoreTargets::default(), StoreTargets::default());
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
        let mut room = CompanionRoom { names: names(program, &self.originals), next: first, added: Vec::new() };
        let mut parts = Vec::new();
        for (number, variable) in self.originals.iter().enumerate() {
            let mut own = [Some(variable.base), None, None, None];
            if delayed.variables.contains(&number) {
                own[CompanionKind::IsDelayed as usize] = Some(room.companion(variable, "is_delayed", Domain::BOOL)?);
                own[CompanionKind::Delayed as usize] = Some(room.companion(variable, "delayed", variable.domain)?);
            }
            if levelled.variables.contains(&number) {
                let levels = Domain { hi: self.top_level(), ..Domain::BOOL };
                own[CompanionKind::Level as usize] = Some(room.companion(variable, "level", levels)?);
            }
            parts.push(own);
        }
        self.companions = Companions::Named { parts, delayed, levelled };
        self.hb = room.add("hb".to_owned(), Variable::scalar("").with_domain(Domain::BOOL))?;
        self.success = room.add("success".to_owned(), Variable::scalar("").with_domain(Domain::BOOL))?;
        self.attacked = match self.locate(attacked).target {
            AddressTarget::Fixed(address) => AttackedAddress::Fixed(address),
            AddressTarget::Index(variable, _) => {
                let last = self.originals[variable].cells() as Value - 1;
                let index = Variable::scalar("").with_domain(Domain { hi: last, ..Domain::BOOL });
                AttackedAddress::Index(variable, room.add("attacked_index".to_owned(), index)?)
            }
            // The store is never executed; any address will do.
            AddressTarget::Nowhere | AddressTarget::Anywhere(_) => AttackedAddress::Fixed(self.hb),
        };
        self.memory.variables = [self.originals.clone(), room.added].concat();
        Ok(())
    }

    /// Notes what an instruction may store to.
    fn stored(&self, instruction: &Instruction, stored: &mut StoreTargets) {
        for access in instruction.accesses().iter().filter(|access| access.writes) {
            match self.locate(access.address).target {
                AddressTarget::Fixed(address) => {
                    stored.cells.insert(address);
                    let inside = self.originals.iter().position(|variable| variable.contains(address));
                    stored.variables.extend(inside);
                }
                AddressTarget::Index(variable, _) => {
                    stored.anywhere_in.insert(variable);
                    stored.variables.insert(variable);
                }
                AddressTarget::Nowhere | AddressTarget::Anywhere(_) => {}
            }
        }
    }

    fn spread(&mut self, program: &Program, attacked: &Address) -> Result<(), CannotInstrument> {
        // Auxiliary cells of cells without a name have none either, and need more values than these may have.
        if let Unnamed::Cells(unnamed) = program.memory.unnamed
            && !unnamed.is_full()
        {
            self.unnamed = Some(unnamed);
            self.memory.unnamed = Unnamed::Cells(Domain::FULL);
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
                let single = |name: String, part: CompanionKind, domain: Domain, initial: InitialValue| Variable {
                    name,
                    base: base + part as Value,
                    len: None,
                    domain,
                    initial: vec![initial],
                    notation: variable.notation.clone(),
                    span: variable.span,
                };
                let [flag, delayed, level] =
                    ["is_delayed", "delayed", "level"].map(|part| names.choose(format!("{name}_{part}")));
                let zero = InitialValue::Value(0);
                cells.push(single(name, CompanionKind::Cell, variable.domain, variable.initial[cell]));
                cells.push(single(flag, CompanionKind::IsDelayed, Domain::BOOL, zero));
                cells.push(single(delayed, CompanionKind::Delayed, variable.domain, some_value(variable.domain)));
                cells.push(single(level, CompanionKind::Level, levels, zero));
            }
        }
        let flag = |name: &str, base, domain, names: &mut CompanionNames| Variable {
            base,
            ..Variable::scalar(names.choose(name.to_owned())).with_domain(domain)
        };
        cells.push(flag("hb", SPREAD_HB, Domain::BOOL, &mut names));
        cells.push(flag("success", SPREAD_SUCCESS, Domain::BOOL, &mut names));
        self.attacked = match self.locate(attacked).target {
            AddressTarget::Fixed(address) => AttackedAddress::Fixed(address),
            _ => {
                cells.push(flag("attacked_address", SPREAD_ATTACKED, Domain::FULL, &mut names));
                AttackedAddress::Anywhere(SPREAD_ATTACKED)
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
    let unnamed = program.memory.unnamed.domain();
    let mut nameless = BTreeSet::new();
    for address in accesses.iter().filter(|address| address.within.is_none()) {
        let constant = address.expr.constant();
        nameless.extend(constant.filter(|address| program.memory.variable_at(*address).is_none()));
    }
    let mut originals = program.memory.variables.clone();
    let mut names = names(program, &originals);
    let nameless = nameless.into_iter().filter_map(|base| Some((base, unnamed?)));
    for (base, unnamed) in nameless {
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
fn some_value(domain: Domain) -> InitialValue {
    InitialValue::Value(if domain.contains(0) { 0 } else { domain.lo })
}

struct CompanionNames(BTreeSet<String>);

fn names(program: &Program, originals: &[Variable]) -> CompanionNames {
    let threads = program.threads.iter().map(|thread| thread.name.clone());
    CompanionNames(originals.iter().map(|variable| variable.name.clone()).chain(threads).collect())
}

impl CompanionNames {
    fn choose(&mut self, mut name: String) -> String {
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// Room for companions behind the program's own cells.
struct CompanionRoom {
    names: CompanionNames,
    next: Value,
    added: Vec<Variable>,
}

impl CompanionRoom {
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
