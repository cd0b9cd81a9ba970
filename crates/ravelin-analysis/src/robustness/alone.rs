//! What a thread can come to on its own while one of its stores is delayed.
//!
//! From the delayed store on, later stores of the thread wait behind it: all of them under TSO, those to the same cell under PSO. A load
//! of a cell with a waiting store reads the newest one. So these loads have known values, whatever other threads do, and branches on them go one
//! way. All other loads may read anything. If no path leads from the store to an access in this way, or if the access then only
//! touches cells with a waiting store (W5), the attack of the two is infeasible.
//!
//! This over-approximates: registers before the store, computed addresses and other cells have any value. The walk from one store is cut after
//! some states, and so are all walks of a program together; past that every access is taken to be possible.

use super::attack::{ends_attack, is_delayable, is_overtaking_load};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Address, Admission, BinaryOp, Domain, Expr, Instruction, LocId, Model, Program, RegId, ThreadId, TransitionId,
    Value, WaitAtom,
};
use std::collections::{BTreeMap, HashMap, HashSet};

/// States of the walk from one store.
const MOST_STATES: usize = 1_000;
/// States of all walks of a program.
const MOST_STATES_IN_ALL: usize = 1 << 18;

/// The walks from the stores of a program, made when they are asked for.
pub(super) struct LoneWalks<'a> {
    program: &'a Program,
    model: Model,
    /// By store: which transitions of its thread can overtake it; `None` if that took too long.
    known: HashMap<(ThreadId, TransitionId), Option<Vec<bool>>>,
    left: usize,
    watch: &'a Watch<'a>,
}

/// Of registers and waiting stores, what is known. `None` is any value.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LoneState {
    location: LocId,
    registers: Vec<Option<Value>>,
    waiting: BTreeMap<Value, Option<Value>>,
}

/// The thread cannot take the step, or stops at it.
struct Impossible;

impl<'a> LoneWalks<'a> {
    pub fn new(program: &'a Program, model: Model, watch: &'a Watch<'a>) -> LoneWalks<'a> {
        LoneWalks { program, model, known: HashMap::new(), left: MOST_STATES_IN_ALL, watch }
    }

    /// Whether the access can come while the store is delayed, as far as is known.
    pub fn can_overtake(&mut self, thread: ThreadId, store: TransitionId, access: TransitionId) -> Result<bool, Limit> {
        if !self.known.contains_key(&(thread, store)) {
            let found = self.walk(thread, store)?;
            self.known.insert((thread, store), found);
        }
        Ok(self.known[&(thread, store)].as_ref().is_none_or(|possible| possible[access.0]))
    }

    fn walk(&mut self, thread: ThreadId, store: TransitionId) -> Result<Option<Vec<bool>>, Limit> {
        let code = &self.program.threads[thread.0];
        let mut possible = vec![false; code.transitions.len()];
        let start = LoneState {
            location: code.transitions[store.0].from,
            registers: vec![None; code.registers.len()],
            waiting: BTreeMap::new(),
        };
        // The store itself always waits; under PSO no other cell is followed.
        let Ok(first) = self.step(thread, &start, store, true) else { return Ok(Some(possible)) };
        let mut seen = HashSet::from([first.clone()]);
        let mut open = vec![first];
        while let Some(state) = open.pop() {
            if seen.len() > MOST_STATES || self.left == 0 {
                return Ok(None);
            }
            self.left -= 1;
            self.watch.steps(16)?;
            for (id, transition) in code.outgoing(state.location) {
                possible[id.0] |= self.overtakes(&state, &transition.instruction);
                if let Ok(next) = self.step(thread, &state, id, self.model != Model::Pso)
                    && seen.insert(next.clone())
                {
                    open.push(next);
                }
            }
        }
        Ok(Some(possible))
    }

    /// Whether an instruction can overtake the delayed store in this state: it accesses a cell without a waiting store.
    fn overtakes(&self, state: &LoneState, instruction: &Instruction) -> bool {
        let address = match instruction {
            Instruction::Load { address, .. } | Instruction::Wait { address, .. } => address,
            Instruction::Store { address, .. } | Instruction::Unlock(address) => address,
            _ => return is_overtaking_load(instruction),
        };
        if is_delayable(instruction) && self.model != Model::Pso {
            return false;
        }
        match self.address(state, address) {
            Ok(Some(address)) => !state.waiting.contains_key(&address),
            Ok(None) => true,
            Err(Impossible) => false,
        }
    }

    /// One step of the thread. `follows`: a store to a cell without a waiting store is waiting from then on.
    fn step(
        &self,
        thread: ThreadId,
        state: &LoneState,
        id: TransitionId,
        follows: bool,
    ) -> Result<LoneState, Impossible> {
        let code = &self.program.threads[thread.0];
        let transition = &code.transitions[id.0];
        let mut next = LoneState { location: transition.to, ..state.clone() };
        let set = |next: &mut LoneState, register: RegId, value: Option<Value>| -> Result<(), Impossible> {
            next.registers[register.0] = admitted(code.registers[register.0].domain, value)?;
            Ok(())
        };
        match &transition.instruction {
            instruction if ends_attack(instruction) => return Err(Impossible),
            Instruction::Nop | Instruction::Fence(_) => {}
            Instruction::Assign { reg, value } => set(&mut next, *reg, evaluate(value, &state.registers)?)?,
            Instruction::Havoc { reg, lo, hi } => set(&mut next, *reg, Some(*lo).filter(|lo| lo == hi))?,
            Instruction::Assume(condition) | Instruction::Assert(condition) => {
                if evaluate(condition, &state.registers)? == Some(0) {
                    return Err(Impossible);
                }
            }
            Instruction::Load { reg, address, .. } => {
                let value = self.read(state, address)?;
                set(&mut next, *reg, value)?;
            }
            Instruction::Wait { address, condition, old, .. } => {
                let value = self.read(state, address)?;
                let held = evaluate_with(&condition.expr, &|atom| match atom {
                    WaitAtom::Read => value,
                    WaitAtom::Register(register) => state.registers[register.0],
                });
                if held? == Some(0) {
                    return Err(Impossible);
                }
                if let Some(old) = old {
                    set(&mut next, *old, value)?;
                }
            }
            Instruction::Store { address, value, .. } => {
                let value = evaluate(value, &state.registers)?;
                self.store(&mut next, address, value, follows)?;
            }
            Instruction::Unlock(address) => self.store(&mut next, address, Some(0), follows)?,
            // A block that only reads: what it leaves in registers is not followed.
            _ => next.registers.fill(None),
        }
        Ok(next)
    }

    fn store(
        &self,
        state: &mut LoneState,
        address: &Address,
        value: Option<Value>,
        follows: bool,
    ) -> Result<(), Impossible> {
        match self.address(state, address)? {
            Some(address) => {
                let domain = self.program.memory.domain_at(address).map_err(|_| Impossible)?;
                let value = admitted(domain, value)?;
                if follows || state.waiting.contains_key(&address) {
                    state.waiting.insert(address, value);
                }
            }
            None => state.waiting.values_mut().for_each(|value| *value = None),
        }
        Ok(())
    }

    fn read(&self, state: &LoneState, address: &Address) -> Result<Option<Value>, Impossible> {
        let address = self.address(state, address)?;
        Ok(address.and_then(|address| state.waiting.get(&address).copied().flatten()))
    }

    fn address(&self, state: &LoneState, address: &Address) -> Result<Option<Value>, Impossible> {
        let value = evaluate(&address.expr, &state.registers)?;
        value.map(|value| self.program.memory.resolve(address, value).map_err(|_| Impossible)).transpose()
    }
}

fn admitted(domain: Domain, value: Option<Value>) -> Result<Option<Value>, Impossible> {
    let Some(value) = value else { return Ok(None) };
    match domain.admit(value) {
        Ok(Admission::Value(value)) => Ok(Some(value)),
        Ok(Admission::Blocked) | Err(_) => Err(Impossible),
    }
}

/// The value, if what is known determines it. A fault stops the thread.
fn evaluate(expr: &Expr, registers: &[Option<Value>]) -> Result<Option<Value>, Impossible> {
    evaluate_with(expr, &|register| registers[register.0])
}

fn evaluate_with<A>(expr: &Expr<A>, known: &impl Fn(&A) -> Option<Value>) -> Result<Option<Value>, Impossible> {
    Ok(match expr {
        Expr::Const(value) => Some(*value),
        Expr::Atom(atom) => known(atom),
        Expr::Unary(op, arithmetic, operand) => match evaluate_with(operand, known)? {
            Some(operand) => Some(op.apply(*arithmetic, operand).map_err(|_| Impossible)?),
            None => None,
        },
        Expr::Binary(op, arithmetic, left, right) => {
            let left = evaluate_with(left, known)?;
            match (op, left) {
                (BinaryOp::And, Some(0)) => return Ok(Some(0)),
                (BinaryOp::Or, Some(left)) if left != 0 => return Ok(Some(1)),
                // The right side may not be evaluated at all, so its fault is not certain.
                (BinaryOp::And | BinaryOp::Or, None) => return Ok(None),
                _ => {}
            }
            match (left, evaluate_with(right, known)?) {
                (Some(left), Some(right)) => Some(op.apply(*arithmetic, left, right).map_err(|_| Impossible)?),
                _ => None,
            }
        }
    })
}
