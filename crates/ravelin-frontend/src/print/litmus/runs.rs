//! A search through runs in which a load gives any value that was stored before: whether one of them leaves a type.
//!
//! Every memory model without values out of thin air has fewer runs than these. They tell more than the sets of `types.rs`, where a
//! `fetch_add` that is executed once adds again to what it has stored itself. They are many, so only programs with few are decided.

use super::types::{Misfit, is_wide, misfit, wraps};
use super::{Inexpressible, fixed};
use ravelin_program::{
    Address, Domain, Expr, InitialValue, Instruction, LocId, Program, RegId, Thread, Transition, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// After so many states there is no answer.
const MOST_STATES: usize = 50_000;
/// The same for values that the cells of one state have held: a loop that counts makes states that grow.
const MOST_VALUES: usize = 256;

pub(super) enum RunSearch {
    /// All runs were looked at.
    Nothing,
    Leaves(Inexpressible),
    TooMany,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct RunState {
    threads: Vec<(LocId, Vec<Value>)>,
    /// By address: all values that it has held.
    cells: BTreeMap<Value, BTreeSet<Value>>,
}

/// What leaves its type.
struct TypeEscape(Inexpressible);

pub(super) fn search(program: &Program) -> RunSearch {
    let start = |thread: &Thread| (thread.initial, thread.registers.iter().map(|register| register.initial).collect());
    let first = RunState { threads: program.threads.iter().map(start).collect(), cells: BTreeMap::new() };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        for (number, thread) in program.threads.iter().enumerate() {
            for (_, transition) in thread.outgoing(state.threads[number].0) {
                let mut step = RunTransition { program, thread, number, state: &state, transition, next: Vec::new() };
                if let Err(TypeEscape(reason)) = step.take() {
                    return RunSearch::Leaves(reason);
                }
                open.extend(step.next.into_iter().filter(|next| seen.insert(next.clone())));
                let values = |state: &RunState| state.cells.values().map(BTreeSet::len).sum::<usize>();
                if seen.len() > MOST_STATES || open.last().is_some_and(|last| values(last) > MOST_VALUES) {
                    return RunSearch::TooMany;
                }
            }
        }
    }
    RunSearch::Nothing
}

/// One transition of a thread from a state.
struct RunTransition<'a> {
    program: &'a Program,
    thread: &'a Thread,
    number: usize,
    state: &'a RunState,
    transition: &'a Transition,
    next: Vec<RunState>,
}

impl RunTransition<'_> {
    /// Makes the states that the transition leads to.
    fn take(&mut self) -> Result<(), TypeEscape> {
        match &self.transition.instruction {
            Instruction::Assign { reg, value } => {
                let Some(value) = self.eval(value)? else { return Ok(()) };
                self.add(&[(Some(*reg), value)], None)
            }
            Instruction::Assume(condition) | Instruction::Assert(condition) => match self.eval(condition)? {
                None | Some(0) => Ok(()),
                Some(_) => self.add(&[], None),
            },
            Instruction::Load { reg, address, .. } => {
                self.held(address).into_iter().try_for_each(|read| self.add(&[(Some(*reg), read)], None))
            }
            Instruction::Store { address, value, .. } => {
                let Some(value) = self.eval(value)? else { return Ok(()) };
                self.add(&[], Some((address, value)))
            }
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                let Some(operand) = self.eval(operand)? else { return Ok(()) };
                for read in self.held(address) {
                    if let Some(op) = op.binary() {
                        let pair = Expr::binary_in(*arithmetic, op, Expr::Const(read), Expr::Const(operand));
                        self.refuse_wrapping(&pair)?;
                    }
                    if let Ok(new) = op.apply(*arithmetic, read, operand) {
                        self.add(&[(*old, read)], Some((address, new)))?;
                    }
                }
                Ok(())
            }
            Instruction::CompareExchange { address, expected, new, old, ok, weak, .. } => {
                let (Some(expected), Some(new)) = (self.eval(expected)?, self.eval(new)?) else { return Ok(()) };
                for read in self.held(address) {
                    if read == expected {
                        self.add(&[(*old, read), (*ok, 1)], Some((address, new)))?;
                    }
                    if read != expected || *weak {
                        self.add(&[(*old, read), (*ok, 0)], None)?;
                    }
                }
                Ok(())
            }
            // What else a litmus test has counterparts for changes nothing.
            _ => self.add(&[], None),
        }
    }

    /// `None` if it goes wrong, and the thread ends.
    fn eval(&self, expr: &Expr) -> Result<Option<Value>, TypeEscape> {
        let registers = &self.state.threads[self.number].1;
        if is_wide(expr, &|register| registers[register.0]) {
            let what = self.program.show_instruction(self.thread, &self.transition.instruction);
            return Err(TypeEscape(Misfit::Int.of(format!("a part of `{what}` in thread `{}`", self.thread.name))));
        }
        self.refuse_wrapping(expr)?;
        Ok(expr.eval(&mut |register| registers[register.0]).ok())
    }

    /// Operators wrap in C only where an `int` does.
    fn refuse_wrapping(&self, expr: &Expr) -> Result<(), TypeEscape> {
        let registers = &self.state.threads[self.number].1;
        wraps(expr, &|register| registers[register.0]).map_or(Ok(()), |refusal| Err(TypeEscape(refusal)))
    }

    fn held(&self, address: &Address) -> BTreeSet<Value> {
        let Some(address) = fixed(self.program, address) else { return BTreeSet::new() };
        let mut held = self.state.cells.get(&address).cloned().unwrap_or_default();
        if let InitialValue::Value(value) = self.program.memory.initial_at(address) {
            held.insert(value);
        }
        held
    }

    fn add(
        &mut self,
        registers: &[(Option<RegId>, Value)],
        stored: Option<(&Address, Value)>,
    ) -> Result<(), TypeEscape> {
        let mut next = self.state.clone();
        next.threads[self.number].0 = self.transition.to;
        if let Some((address, value)) = stored
            && let Some(cell) = fixed(self.program, address)
            && let Ok(domain) = self.program.memory.domain_at(cell)
        {
            let memory = &self.program.memory;
            let value = admit(domain, value, || format!("`{}`", memory.name_of(cell)))?;
            next.cells.entry(cell).or_default().insert(value);
        }
        for &(register, value) in registers {
            let Some(register) = register else { continue };
            let declared = &self.thread.registers[register.0];
            let value =
                admit(declared.domain, value, || format!("`{}` of thread `{}`", declared.name, self.thread.name))?;
            next.threads[self.number].1[register.0] = value;
        }
        self.next.push(next);
        Ok(())
    }
}

fn admit(domain: Domain, value: Value, name: impl Fn() -> String) -> Result<Value, TypeEscape> {
    misfit(domain, value).map_err(|misfit| TypeEscape(misfit.of(name())))
}
