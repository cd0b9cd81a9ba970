//! The stale values that each access depends on.
//!
//! A `wait`, a `bcas` or a compare-exchange depends on the values that it may expect at its location. Intervals are too
//! coarse there: a thread that has just made sure that a counter is even expects no odd value, and facts about odd
//! values would only distinguish more states. The possible values of the expected register are therefore followed
//! through the thread's guards.

use super::passing::PassingValues;
use super::plan::Class;
use crate::ranges::{Interval, Ranges};
use crate::stops::may_fault;
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Address, Expr, Instruction, LocId, Order, Program, RegId, TransitionId, Value, WaitCondition};
use std::collections::{BTreeSet, HashMap};

/// Registers with more values than this are not followed, and expressions with more are not listed.
pub(super) const MOST_VALUES: i128 = 1024;

/// A question that an instruction asks about a cell.
pub(super) struct CellQuestion<'a> {
    pub address: &'a Address,
    /// It writes.
    pub squeezes: bool,
    /// Values that fit into a register.
    pub admitted: Class,
    pub values: StaleValues,
}

/// Of these, the stale ones that matter; without a list there are too many to list.
pub(super) enum StaleValues {
    All,
    /// For each of these by itself.
    Only(Option<Vec<Value>>),
    /// For each of these, all others.
    But(Option<Vec<Value>>),
    /// Those that let a wait pass which does not list them.
    Passing(Option<PassingValues>),
}

/// By location: the values of a register there; `None` if it has too many.
type ValuesByLocation = Option<Vec<BTreeSet<Value>>>;

/// The values that registers can hold, followed once per register: many accesses ask for the same one.
pub(super) struct FollowedRegisters<'a> {
    pub program: &'a Program,
    pub ranges: &'a Ranges,
    known: HashMap<(usize, RegId), ValuesByLocation>,
    pub watch: &'a Watch<'a>,
}

impl<'a> FollowedRegisters<'a> {
    pub fn new(program: &'a Program, ranges: &'a Ranges, watch: &'a Watch<'a>) -> FollowedRegisters<'a> {
        FollowedRegisters { program, ranges, known: HashMap::new(), watch }
    }

    pub fn at(&mut self, thread: usize, register: RegId, location: LocId) -> Result<Option<&BTreeSet<Value>>, Limit> {
        if !self.known.contains_key(&(thread, register)) {
            let values = follow(self.program, self.ranges, thread, register, self.watch)?;
            self.known.insert((thread, register), values);
        }
        Ok(self.known[&(thread, register)].as_ref().map(|values| &values[location.0]))
    }
}

pub(super) fn cell_questions<'a>(
    followed: &mut FollowedRegisters<'a>,
    thread: usize,
    transition: TransitionId,
) -> Result<Vec<CellQuestion<'a>>, Limit> {
    let (program, ranges) = (followed.program, followed.ranges);
    let code = &program.threads[thread];
    let step = &code.transitions[transition.0];
    let admitted = |register: &Option<RegId>| Class::admitted(register.map(|reg| code.registers[reg.0].domain));
    let mut expected = |address: &Address, expr: &Expr| expected(followed, thread, step.from, address, expr);
    let one = |address, squeezes, admitted, values| vec![CellQuestion { address, squeezes, admitted, values }];
    Ok(match &step.instruction {
        // Marks show whether it races, unless it is not possible under SC because its register does not admit the
        // current value.
        Instruction::Load { reg, order: Order::NonAtomic, .. } if admitted(&Some(*reg)) == Class::ANY => Vec::new(),
        Instruction::Store { order: Order::NonAtomic, .. } => Vec::new(),
        Instruction::Load { reg, address, .. } => one(address, false, admitted(&Some(*reg)), StaleValues::All),
        Instruction::Wait { address, condition, old, .. } => {
            let values = match listed_values(ranges, thread, condition) {
                Some(values) => {
                    let all = values.iter().map(|expr| expected(address, expr)).collect::<Result<Vec<_>, Limit>>()?;
                    let all: Option<Vec<Vec<Value>>> = all.into_iter().collect();
                    StaleValues::Only(all.map(|values| values.concat()))
                }
                None => {
                    let admitted = admitted(old);
                    let passing = PassingValues::of(followed, thread, step.from, address, condition, admitted)?;
                    StaleValues::Passing(passing)
                }
            };
            one(address, false, admitted(old), values)
        }
        Instruction::Store { address, .. } | Instruction::Unlock(address) => {
            one(address, true, Class::ANY, StaleValues::All)
        }
        Instruction::Rmw { address, old, .. } => one(address, true, admitted(old), StaleValues::All),
        Instruction::BlockingCas { address, expected: expr, .. } => {
            one(address, true, Class::ANY, StaleValues::Only(expected(address, expr)?))
        }
        Instruction::Lock(address) => one(address, true, Class::ANY, StaleValues::Only(Some(vec![0]))),
        Instruction::CompareExchange { address, expected: expr, old, ok, weak, success, failure, .. } => {
            let values = expected(address, expr)?;
            let pass = || CellQuestion {
                address,
                squeezes: true,
                admitted: admitted(old),
                values: StaleValues::Only(values.clone()),
            };
            let fail = |values| CellQuestion { address, squeezes: false, admitted: admitted(old), values };
            if *weak {
                // An access that could succeed with a stale value could as well fail with it, unless only failing has
                // the hidden fence, or the register for the outcome does not admit that it fails.
                let fenced = *failure == Order::SeqCst && *success != Order::SeqCst;
                let alone = fenced || !admitted(ok).contains(0);
                return Ok([fail(StaleValues::All)].into_iter().chain(alone.then(pass)).collect());
            }
            // A value that the cells cannot hold makes it always fail, like a load.
            let (wanted, cells) = (ranges.eval(thread, expr), ranges.load(program, thread, address));
            let foreign = wanted.lo < cells.lo || wanted.hi > cells.hi;
            let always = foreign.then(|| fail(StaleValues::All));
            [pass(), fail(StaleValues::But(values.clone()))].into_iter().chain(always).collect()
        }
        _ => Vec::new(),
    })
}

/// The values that a wait lists, if none of those behind the first can fault: whether it is evaluated depends on the value read.
pub(super) fn listed_values(ranges: &Ranges, thread: usize, condition: &WaitCondition) -> Option<Vec<Expr>> {
    let values = condition.values()?;
    let faults = |value: &Expr| may_fault(value, &|register: &RegId| ranges.registers[thread][register.0]);
    (!values.iter().skip(1).any(faults)).then_some(values)
}

/// The values of an expression at a location that the cells of an address can hold.
fn expected(
    followed: &mut FollowedRegisters,
    thread: usize,
    location: LocId,
    address: &Address,
    expr: &Expr,
) -> Result<Option<Vec<Value>>, Limit> {
    let (program, ranges) = (followed.program, followed.ranges);
    let cells = ranges.load(program, thread, address);
    let mut registers = BTreeSet::new();
    expr.for_each_atom(&mut |register| {
        registers.insert(*register);
    });
    let found = match registers.first() {
        Some(&register) if registers.len() == 1 => followed.at(thread, register, location)?.map(|values| {
            let results = values.iter().filter_map(|&value| expr.eval(&mut |_| value).ok());
            results.filter(|value| (cells.lo..=cells.hi).contains(value)).collect::<BTreeSet<Value>>()
        }),
        _ => None,
    };
    Ok(match found {
        Some(values) => Some(values.into_iter().collect()),
        None => {
            let wanted = ranges.eval(thread, expr);
            listed(Interval { lo: wanted.lo.max(cells.lo), hi: wanted.hi.min(cells.hi) })
        }
    })
}

fn listed(interval: Interval) -> Option<Vec<Value>> {
    let size = i128::from(interval.hi) - i128::from(interval.lo) + 1;
    (size <= MOST_VALUES).then(|| (interval.lo..=interval.hi).collect())
}

/// By location: the values that a register can hold there, according to the thread's own guards.
fn follow(
    program: &Program,
    ranges: &Ranges,
    thread: usize,
    register: RegId,
    watch: &Watch,
) -> Result<ValuesByLocation, Limit> {
    let code = &program.threads[thread];
    let Some(every) = listed(ranges.registers[thread][register.0]) else { return Ok(None) };
    let every: BTreeSet<Value> = every.into_iter().collect();
    let mut values = vec![BTreeSet::new(); code.locations.len()];
    values[code.initial.0].insert(code.registers[register.0].initial);
    loop {
        let mut changed = false;
        for transition in &code.transitions {
            let before = &values[transition.from.0];
            watch.steps(1 + before.len())?;
            if before.is_empty() {
                continue;
            }
            let after: BTreeSet<Value> = match &transition.instruction {
                instruction if instruction.written_registers().contains(&register) => every.clone(),
                Instruction::Assume(condition) if is_about(condition, register) => {
                    let holds = |value: &Value| {
                        let held = condition.eval(&mut |_| *value);
                        held.is_ok_and(|held| held != 0)
                    };
                    before.iter().copied().filter(holds).collect()
                }
                _ => before.clone(),
            };
            let known = &mut values[transition.to.0];
            let size = known.len();
            known.extend(after);
            watch.hold((known.len() - size) * 2 * size_of::<Value>())?;
            changed |= known.len() > size;
        }
        if !changed {
            return Ok(Some(values));
        }
    }
}

/// Mentions this register and no other.
fn is_about(condition: &Expr, register: RegId) -> bool {
    let mut only = true;
    condition.for_each_atom(&mut |atom| only &= *atom == register);
    only
}
