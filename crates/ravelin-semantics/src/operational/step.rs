//! What one action does to a state.
//!
//! An instruction is tried in this order, and the first obstacle is the reason for its refusal: the bus lock, then the
//! need for an empty store buffer, then evaluation, and last the bound on pending stores. Evaluation takes addresses
//! before values, left to right, then the content of memory, then domains: the cell's before the registers'. A fault is
//! therefore reported only where the instruction could run, and a buffer counts as too short only for a store that
//! would have been issued.
//!
//! | rule | Table 1 (robustness), Fig. 2 (lazy) | here |
//! | --- | --- | --- |
//! | LB, LM | own newest pending store, else memory | [`State::visible`] |
//! | ST | a store is enqueued; under SC followed at once by MEM | `StateDraft::store` |
//! | MEM | the oldest pending store reaches memory | `flush` |
//! | F | a fence needs an empty buffer | `StateDraft::drained` |
//! | ARW | an atomic read-write needs an empty buffer and acts on memory | `StateDraft::write` |

use super::{Reference, Refusal, State};
use ravelin_program::{
    Address, Admission, Domain, Expr, Fault, Instruction, LocId, Model, Order, RegId, ThreadId, TransitionId, Value,
    WaitCondition,
};

/// A thread takes a transition.
pub(super) fn step(
    reference: &Reference,
    state: &State,
    thread: ThreadId,
    transition: TransitionId,
    choice: Value,
) -> Result<State, Refusal> {
    let code = reference.program.threads.get(thread.0).ok_or(Refusal::NoSuchThread(thread))?;
    let transition = code.transitions.get(transition.0).ok_or(Refusal::NoSuchTransition(transition))?;
    if state.threads[thread.0].location != transition.from {
        return Err(Refusal::NotThere);
    }
    let mut draft = StateDraft { reference, thread, state: state.clone() };
    draft.execute(&transition.instruction, choice)?;
    draft.finish(transition.to)
}

/// Rule MEM: a thread's oldest pending store to an address reaches memory.
pub(super) fn flush(reference: &Reference, state: &State, thread: ThreadId, address: Value) -> Result<State, Refusal> {
    if thread.0 >= state.threads.len() {
        return Err(Refusal::NoSuchThread(thread));
    }
    let mut draft = StateDraft { reference, thread, state: state.clone() };
    draft.bus_not_with_others()?;
    let buffer = &mut draft.state.threads[thread.0].buffer;
    let value = buffer.flush(reference.model, address).ok_or(Refusal::NothingToFlush { address })?;
    draft.write(address, value);
    Ok(draft.state)
}

/// The next state under construction. A refusal discards it, so parts of a step that were already done do no harm.
struct StateDraft<'a> {
    reference: &'a Reference,
    thread: ThreadId,
    state: State,
}

impl StateDraft<'_> {
    fn finish(mut self, location: LocId) -> Result<State, Refusal> {
        self.state.threads[self.thread.0].location = location;
        Ok(self.state)
    }

    fn execute(&mut self, instruction: &Instruction, choice: Value) -> Result<(), Refusal> {
        let leaves_open = match *instruction {
            Instruction::Havoc { lo, hi, .. } => (lo..=hi).contains(&choice),
            Instruction::CompareExchange { weak: true, .. } => (0..=1).contains(&choice),
            _ => choice == 0,
        };
        if !leaves_open {
            return Err(Refusal::NoSuchChoice(choice));
        }
        match instruction {
            Instruction::Nop => Ok(()),
            Instruction::Assign { reg, value } => {
                let value = self.eval(value)?;
                self.set(*reg, value)
            }
            Instruction::Havoc { reg, .. } => self.set(*reg, choice),
            Instruction::Assume(condition) => {
                if self.eval(condition)? == 0 {
                    Err(Refusal::AssumeFails)
                } else {
                    Ok(())
                }
            }
            Instruction::Assert(condition) => {
                if self.eval(condition)? == 0 {
                    Err(Refusal::AssertFails)
                } else {
                    Ok(())
                }
            }
            Instruction::Load { reg, address, .. } => {
                self.bus_not_with_others()?;
                let address = self.address(address)?;
                self.set(*reg, self.state.visible(self.thread, address))
            }
            Instruction::Store { address, value, order } => self.store(address, value, *order),
            Instruction::Unlock(address) => self.store(address, &Expr::Const(0), Order::Release),
            Instruction::Rmw { op, arithmetic, address, operand, old, .. } => {
                self.locked_access()?;
                let address = self.address(address)?;
                let operand = self.eval(operand)?;
                let found = self.state.cell(address);
                let new = op.apply(*arithmetic, found, operand)?;
                let new = self.admit(self.domain_at(address)?, new)?;
                self.write(address, new);
                self.set_if_wanted(*old, found)
            }
            Instruction::CompareExchange { address, expected, new, old, ok, .. } => {
                let (found, succeeds) = self.compare_exchange(address, expected, new, choice == 1)?;
                // If both are the same register, `ok` is written last.
                self.set_if_wanted(*old, found)?;
                self.set_if_wanted(*ok, Value::from(succeeds))
            }
            Instruction::BlockingCas { address, expected, new, .. } => self.blocking_cas(address, expected, new),
            Instruction::Lock(address) => self.blocking_cas(address, &Expr::Const(0), &Expr::Const(1)),
            Instruction::Wait { address, condition, old, .. } => {
                let found = self.wait(address, condition)?;
                self.set_if_wanted(*old, found)
            }
            Instruction::Fence(Order::SeqCst) => self.drained(),
            Instruction::Fence(order) => {
                if order.is_release() && self.reference.model == Model::Pso {
                    self.state.threads[self.thread.0].buffer.mark();
                }
                Ok(())
            }
            Instruction::BusLock => {
                self.locked_access()?;
                if self.state.bus.is_some() {
                    return Err(Refusal::BusHeldAlready);
                }
                self.state.bus = Some(self.thread);
                Ok(())
            }
            Instruction::BusUnlock => {
                if self.state.bus != Some(self.thread) {
                    return Err(Fault::BusNotHeld.into());
                }
                self.drained()?;
                self.state.bus = None;
                Ok(())
            }
            Instruction::Locked { body, drains } => {
                self.bus_not_with_others()?;
                if *drains {
                    self.drained()?;
                }
                body.iter().try_for_each(|part| self.locked_part(part))
            }
        }
    }

    /// A part of a locked block: it stores to memory directly. (With `drains` a load finds no pending store of its
    /// thread.)
    fn locked_part(&mut self, part: &Instruction) -> Result<(), Refusal> {
        match part {
            Instruction::Store { address, value, .. } => {
                let address = self.address(address)?;
                let value = self.eval(value)?;
                let value = self.admit(self.domain_at(address)?, value)?;
                self.write(address, value);
                Ok(())
            }
            _ => self.execute(part, 0),
        }
    }

    /// Rule ST. Under PSO a release store comes after all stores before it.
    fn store(&mut self, address: &Address, value: &Expr, order: Order) -> Result<(), Refusal> {
        let model = self.reference.model;
        if model == Model::Sc {
            self.bus_not_with_others()?;
        }
        let address = self.address(address)?;
        let value = self.eval(value)?;
        let value = self.admit(self.domain_at(address)?, value)?;
        if model == Model::Sc {
            self.write(address, value);
            return Ok(());
        }
        let buffer = &mut self.state.threads[self.thread.0].buffer;
        if let Some(bound) = self.reference.bound
            && buffer.pending() >= bound
        {
            return Err(Refusal::BufferFull { bound });
        }
        if model == Model::Pso && order.is_release() {
            buffer.mark();
        }
        buffer.issue(model, address, value);
        Ok(())
    }

    /// Returns what was in memory, and whether it was exchanged. A weak one may fail although it finds what it expects.
    fn compare_exchange(
        &mut self,
        address: &Address,
        expected: &Expr,
        new: &Expr,
        fails_for_no_reason: bool,
    ) -> Result<(Value, bool), Refusal> {
        self.locked_access()?;
        let address = self.address(address)?;
        let expected = self.eval(expected)?;
        let new = self.eval(new)?;
        let found = self.state.cell(address);
        if fails_for_no_reason && found != expected {
            return Err(Refusal::FailsForAReason { found });
        }
        let succeeds = found == expected && !fails_for_no_reason;
        if succeeds {
            let new = self.admit(self.domain_at(address)?, new)?;
            self.write(address, new);
        }
        Ok((found, succeeds))
    }

    /// Returns the value that was waited for.
    fn wait(&self, address: &Address, condition: &WaitCondition) -> Result<Value, Refusal> {
        self.bus_not_with_others()?;
        let address = self.address(address)?;
        let found = self.state.visible(self.thread, address);
        let registers = &self.state.threads[self.thread.0].registers;
        let passes = condition.holds(found, &mut |register| registers[register.0])?;
        if passes { Ok(found) } else { Err(Refusal::Waits { found }) }
    }

    fn blocking_cas(&mut self, address: &Address, expected: &Expr, new: &Expr) -> Result<(), Refusal> {
        self.locked_access()?;
        let address = self.address(address)?;
        let expected = self.eval(expected)?;
        let new = self.eval(new)?;
        let found = self.state.cell(address);
        if found != expected {
            return Err(Refusal::Waits { found });
        }
        let new = self.admit(self.domain_at(address)?, new)?;
        self.write(address, new);
        Ok(())
    }

    fn bus_not_with_others(&self) -> Result<(), Refusal> {
        match self.state.bus {
            Some(by) if by != self.thread => Err(Refusal::BusHeld { by }),
            _ => Ok(()),
        }
    }

    fn drained(&self) -> Result<(), Refusal> {
        let buffer = &self.state.threads[self.thread.0].buffer;
        if buffer.is_empty() { Ok(()) } else { Err(Refusal::BufferNotEmpty) }
    }

    /// What every locked instruction needs.
    fn locked_access(&self) -> Result<(), Refusal> {
        self.bus_not_with_others()?;
        self.drained()
    }

    fn eval(&self, expr: &Expr) -> Result<Value, Fault> {
        let registers = &self.state.threads[self.thread.0].registers;
        expr.eval(&mut |register| registers[register.0])
    }

    fn address(&self, address: &Address) -> Result<Value, Fault> {
        self.reference.program.memory.resolve(address, self.eval(&address.expr)?)
    }

    fn domain_at(&self, address: Value) -> Result<Domain, Fault> {
        self.reference.program.memory.domain_at(address)
    }

    fn admit(&self, domain: Domain, value: Value) -> Result<Value, Refusal> {
        match domain.admit(value)? {
            Admission::Value(value) => Ok(value),
            Admission::Blocked => Err(Refusal::Blocked { value }),
        }
    }

    fn set(&mut self, register: RegId, value: Value) -> Result<(), Refusal> {
        let domain = self.reference.program.threads[self.thread.0].registers[register.0].domain;
        let value = self.admit(domain, value)?;
        self.state.threads[self.thread.0].registers[register.0] = value;
        Ok(())
    }

    fn set_if_wanted(&mut self, register: Option<RegId>, value: Value) -> Result<(), Refusal> {
        register.map_or(Ok(()), |register| self.set(register, value))
    }

    /// Writes memory at once, and keeps its representation unique.
    fn write(&mut self, address: Value, value: Value) {
        let named = self.reference.program.memory.variable_at(address).is_some();
        if named || value != 0 {
            self.state.memory.insert(address, value);
        } else {
            self.state.memory.remove(&address);
        }
    }
}
