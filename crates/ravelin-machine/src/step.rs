//! One step on a packed state: the rules of the reference semantics, implemented for speed.
//!
//! Rule names are those of Lazy TSO Reachability, figure 2: LB and LM (loads), ST (issue), MEM (flush), F (fence).

use crate::compile::{CellTarget, CompiledStep, Machine, RegisterTarget, StepOp};
use crate::layout::Overflow;
use ravelin_program::{Admission, Domain, Fault, Model, Value};

/// The result of an attempt to take a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Taken,
    Disabled,
    /// Disabled only because the store buffer is full.
    CutOff,
    AssertFailed,
    Fault(Fault),
    Outgrown(Overflow),
}

/// Why a step was not taken, propagated by `?`.
pub(crate) type Attempt<T = ()> = Result<T, StepOutcome>;

/// Records which cells a step reads and writes. Under SC only: a buffered store is not logged.
pub(crate) trait Log {
    fn read(&mut self, slot: usize);
    fn write(&mut self, slot: usize);
}

impl Log for () {
    #[inline]
    fn read(&mut self, _: usize) {}
    #[inline]
    fn write(&mut self, _: usize) {}
}

impl From<Fault> for StepOutcome {
    fn from(fault: Fault) -> StepOutcome {
        StepOutcome::Fault(fault)
    }
}

impl Machine {
    /// The values of `choice` to try for a step.
    #[inline]
    pub(crate) fn choices(&self, op: &StepOp) -> std::ops::RangeInclusive<Value> {
        match op {
            StepOp::Havoc { lo, hi, .. } => *lo..=*hi,
            StepOp::CompareExchange { weak: true, .. } => 0..=1,
            _ => 0..=0,
        }
    }

    /// Takes a step of a thread in place. If it is not taken, the state is left inconsistent.
    #[inline]
    pub(crate) fn take(&self, thread: usize, step: &CompiledStep, choice: Value, state: &mut [u64]) -> StepOutcome {
        self.take_logged(thread, step, choice, state, &mut ())
    }

    /// The same, and logs which cells of memory were read and written.
    #[inline]
    pub(crate) fn take_logged(
        &self,
        thread: usize,
        step: &CompiledStep,
        choice: Value,
        state: &mut [u64],
        log: &mut impl Log,
    ) -> StepOutcome {
        match self.perform(thread, &step.op, choice, state, log) {
            Ok(()) => {
                self.arrive(thread, step, state);
                StepOutcome::Taken
            }
            Err(outcome) => outcome,
        }
    }

    /// Moves the thread to where its step leads.
    #[inline]
    pub(crate) fn arrive(&self, thread: usize, step: &CompiledStep, state: &mut [u64]) {
        self.layout.locations[thread].set(state, step.to);
        for &(word, keep) in &step.forget {
            state[word as usize] &= keep;
        }
    }

    pub(crate) fn perform(
        &self,
        thread: usize,
        op: &StepOp,
        choice: Value,
        state: &mut [u64],
        log: &mut impl Log,
    ) -> Attempt {
        match op {
            StepOp::Nop => Ok(()),
            StepOp::Assign { target, value } => {
                let value = value.eval(state)?;
                self.write_register(target, value, state)
            }
            StepOp::Havoc { target, .. } => self.write_register(target, choice, state),
            StepOp::Assume(condition) => {
                if condition.eval(state)? == 0 {
                    Err(StepOutcome::Disabled)
                } else {
                    Ok(())
                }
            }
            StepOp::Assert(condition) => {
                if condition.eval(state)? == 0 {
                    Err(StepOutcome::AssertFailed)
                } else {
                    Ok(())
                }
            }
            StepOp::Load { target, place } => {
                self.needs_bus(thread, state)?;
                let slot = self.slot(place, state)?;
                log.read(slot);
                self.write_register(target, self.load(thread, slot, state), state)
            }
            StepOp::Store { place, value, marker } => self.store(thread, place, value, *marker, state, log),
            StepOp::Rmw { op, arithmetic, place, operand, old } => {
                self.needs_empty_buffer(thread, state)?;
                self.needs_bus(thread, state)?;
                let slot = self.slot(place, state)?;
                let operand = operand.eval(state)?;
                let read = self.layout.cells[slot].get(state);
                log.read(slot);
                log.write(slot);
                let written = crate::code::modify(*op, *arithmetic, read, operand)?;
                self.write_cell(slot, written, state)?;
                self.write_optional(old, read, state)
            }
            StepOp::CompareExchange { place, expected, new, old, ok, .. } => {
                self.needs_empty_buffer(thread, state)?;
                self.needs_bus(thread, state)?;
                let slot = self.slot(place, state)?;
                let expected = expected.eval(state)?;
                let new = new.eval(state)?;
                let read = self.layout.cells[slot].get(state);
                if choice == 1 && read != expected {
                    // The other choice covers the failure that has a reason.
                    return Err(StepOutcome::Disabled);
                }
                let succeeds = read == expected && choice == 0;
                log.read(slot);
                if succeeds {
                    log.write(slot);
                    self.write_cell(slot, new, state)?;
                }
                self.write_optional(old, read, state)?;
                self.write_optional(ok, Value::from(succeeds), state)
            }
            StepOp::Wait { place, condition, old } => {
                self.needs_bus(thread, state)?;
                let slot = self.slot(place, state)?;
                let read = self.load(thread, slot, state);
                log.read(slot);
                if !condition.holds(read, state)? {
                    return Err(StepOutcome::Disabled);
                }
                self.write_optional(old, read, state)
            }
            StepOp::BlockingCas { place, expected, new } => {
                self.needs_empty_buffer(thread, state)?;
                self.needs_bus(thread, state)?;
                let slot = self.slot(place, state)?;
                let expected = expected.eval(state)?;
                let new = new.eval(state)?;
                if self.layout.cells[slot].get(state) != expected {
                    return Err(StepOutcome::Disabled);
                }
                log.read(slot);
                log.write(slot);
                self.write_cell(slot, new, state)
            }
            StepOp::Drain => self.needs_empty_buffer(thread, state),
            StepOp::Marker => {
                self.push_marker(thread, state);
                Ok(())
            }
            StepOp::BusLock => {
                self.needs_empty_buffer(thread, state)?;
                match self.layout.bus {
                    Some(bus) if bus.get(state) == 0 => bus.set(state, thread as Value + 1),
                    _ => return Err(StepOutcome::Disabled),
                }
                Ok(())
            }
            StepOp::BusUnlock => match self.layout.bus {
                Some(bus) if bus.get(state) == thread as Value + 1 => {
                    self.needs_empty_buffer(thread, state)?;
                    bus.set(state, 0);
                    Ok(())
                }
                _ => Err(StepOutcome::Fault(Fault::BusNotHeld)),
            },
            StepOp::Locked { body, drains } => {
                if *drains {
                    self.needs_empty_buffer(thread, state)?;
                }
                self.needs_bus(thread, state)?;
                for part in body {
                    match part {
                        StepOp::Store { place, value, .. } => {
                            let slot = self.slot(place, state)?;
                            let value = value.eval(state)?;
                            log.write(slot);
                            self.write_cell(slot, value, state)?;
                        }
                        part => self.perform(thread, part, 0, state, log)?,
                    }
                }
                Ok(())
            }
        }
    }

    /// ST, or under SC a store that reaches memory at once.
    fn store(
        &self,
        thread: usize,
        place: &CellTarget,
        value: &crate::code::Code,
        marker: bool,
        state: &mut [u64],
        log: &mut impl Log,
    ) -> Attempt {
        if !self.settings.model.is_buffered() {
            self.needs_bus(thread, state)?;
            let slot = self.slot(place, state)?;
            log.write(slot);
            let value = value.eval(state)?;
            return self.write_cell(slot, value, state);
        }
        let slot = self.slot(place, state)?;
        let value = value.eval(state)?;
        let value = admit(self.cell_domains[slot], value)?;
        if !self.layout.cells[slot].holds(value) {
            return Err(StepOutcome::Outgrown(Overflow::Cell { slot }));
        }
        if self.pending(thread, state) >= self.settings.buffer {
            return Err(StepOutcome::CutOff);
        }
        if marker {
            self.push_marker(thread, state);
        }
        self.push_store(thread, slot, value, state);
        Ok(())
    }

    /// LB: the newest own store to the cell; LM: else memory.
    #[inline]
    fn load(&self, thread: usize, slot: usize, state: &[u64]) -> Value {
        let buffer = &self.layout.buffers[thread];
        if let Some(len) = buffer.len {
            for entry in buffer.entries[..len.get(state) as usize].iter().rev() {
                if entry.slot.get(state) == slot as Value {
                    return entry.value.get(state);
                }
            }
        }
        self.layout.cells[slot].get(state)
    }

    /// The slot of a place in this state.
    pub(crate) fn slot(&self, place: &CellTarget, state: &[u64]) -> Attempt<usize> {
        match place {
            CellTarget::Slot(slot) => Ok(*slot),
            CellTarget::Computed { address, within } => {
                let address = address.eval(state)?;
                if let Some((base, len)) = within
                    && !(*base..base + len).contains(&address)
                {
                    return Err(Fault::OutOfBounds { address, base: *base, len: *len }.into());
                }
                let slot = self.slot_by_address.get(&address);
                slot.copied().ok_or_else(|| match self.program.memory.domain_at(address) {
                    Ok(_) => StepOutcome::Outgrown(Overflow::Address(address)),
                    Err(fault) => fault.into(),
                })
            }
        }
    }

    pub(crate) fn write_cell(&self, slot: usize, value: Value, state: &mut [u64]) -> Attempt {
        let value = admit(self.cell_domains[slot], value)?;
        let field = self.layout.cells[slot];
        if !field.holds(value) {
            return Err(StepOutcome::Outgrown(Overflow::Cell { slot }));
        }
        field.set(state, value);
        Ok(())
    }

    #[inline]
    pub(crate) fn write_register(&self, target: &RegisterTarget, value: Value, state: &mut [u64]) -> Attempt {
        let value = admit(target.domain, value)?;
        if !target.field.holds(value) {
            return Err(StepOutcome::Outgrown(Overflow::Register { thread: target.thread, register: target.register }));
        }
        target.field.set(state, value);
        Ok(())
    }

    pub(crate) fn write_optional(&self, target: &Option<RegisterTarget>, value: Value, state: &mut [u64]) -> Attempt {
        target.as_ref().map_or(Ok(()), |target| self.write_register(target, value, state))
    }

    /// F: waits until the thread's buffer is empty.
    #[inline]
    fn needs_empty_buffer(&self, thread: usize, state: &[u64]) -> Attempt {
        if self.buffer_len(thread, state) == 0 { Ok(()) } else { Err(StepOutcome::Disabled) }
    }

    /// No other thread holds the bus lock.
    #[inline]
    pub(crate) fn needs_bus(&self, thread: usize, state: &[u64]) -> Attempt {
        match self.layout.bus {
            Some(bus) if bus.get(state) != 0 && bus.get(state) != thread as Value + 1 => Err(StepOutcome::Disabled),
            _ => Ok(()),
        }
    }

    /// Entries of a buffer, including markers.
    #[inline]
    pub(crate) fn buffer_len(&self, thread: usize, state: &[u64]) -> usize {
        self.layout.buffers[thread].len.map_or(0, |len| len.get(state) as usize)
    }

    /// No store is pending anywhere and the bus lock is free.
    pub(crate) fn is_quiet(&self, state: &[u64]) -> bool {
        self.layout.buffers.iter().all(|buffer| buffer.len.is_none_or(|len| len.get(state) == 0))
            && self.layout.bus.is_none_or(|bus| bus.get(state) == 0)
    }

    /// The slot number that represents a PSO marker.
    #[inline]
    pub(crate) fn marker(&self) -> Value {
        self.layout.cells.len() as Value
    }

    /// Stores of a thread that have not reached memory.
    fn pending(&self, thread: usize, state: &[u64]) -> usize {
        let len = self.buffer_len(thread, state);
        if self.settings.model != Model::Pso {
            return len;
        }
        let marker = self.marker();
        self.layout.buffers[thread].entries[..len].iter().filter(|entry| entry.slot.get(state) != marker).count()
    }

    fn push_marker(&self, thread: usize, state: &mut [u64]) {
        let buffer = &self.layout.buffers[thread];
        let Some(len_field) = buffer.len else { return };
        let len = len_field.get(state) as usize;
        let marker = self.marker();
        // A marker before all entries orders nothing, and two adjacent ones are one.
        if len > 0 && buffer.entries[len - 1].slot.get(state) != marker {
            buffer.entries[len].slot.set(state, marker);
            len_field.set(state, len as Value + 1);
        }
    }

    fn push_store(&self, thread: usize, slot: usize, value: Value, state: &mut [u64]) {
        let buffer = &self.layout.buffers[thread];
        let Some(len_field) = buffer.len else { return };
        let len = len_field.get(state) as usize;
        let mut at = len;
        if self.settings.model == Model::Pso {
            // Different cells are not ordered between two markers: kept sorted, so that equal buffers look equal.
            let marker = self.marker();
            while at > 0 {
                let before = buffer.entries[at - 1];
                let before_slot = before.slot.get(state);
                if before_slot == marker || before_slot <= slot as Value {
                    break;
                }
                let before_value = before.value.get(state);
                buffer.entries[at].slot.set(state, before_slot);
                buffer.entries[at].value.set(state, before_value);
                at -= 1;
            }
        }
        buffer.entries[at].slot.set(state, slot as Value);
        buffer.entries[at].value.set(state, value);
        len_field.set(state, len as Value + 1);
    }

    /// Whether an entry may reach memory next: the oldest (TSO), or the oldest of its cell before any marker (PSO).
    pub(crate) fn may_flush(&self, thread: usize, entry: usize, state: &[u64]) -> bool {
        let entries = &self.layout.buffers[thread].entries;
        match self.settings.model {
            // Under ra and rc20 the states are those of sc, with a monitor beside them.
            Model::Sc | Model::Ra | Model::Rc20 => false,
            Model::Tso => entry == 0,
            Model::Pso => {
                let slot = entries[entry].slot.get(state);
                slot != self.marker()
                    && entries[..entry].iter().all(|older| {
                        let older = older.slot.get(state);
                        older != slot && older != self.marker()
                    })
            }
        }
    }

    /// MEM: a pending store reaches memory. Its value was admitted when it was issued.
    pub(crate) fn flush(&self, thread: usize, entry: usize, state: &mut [u64]) {
        let buffer = &self.layout.buffers[thread];
        let slot = buffer.entries[entry].slot.get(state) as usize;
        let value = buffer.entries[entry].value.get(state);
        self.layout.cells[slot].set(state, value);
        self.remove_entry(thread, entry, state);
        if self.settings.model == Model::Pso && self.buffer_len(thread, state) > 0 {
            let marker = self.marker();
            // If all entries before a marker are gone, the marker is removed. Two cannot have become neighbours
            // elsewhere, because only entries before the first marker leave.
            if buffer.entries[0].slot.get(state) == marker {
                self.remove_entry(thread, 0, state);
            }
        }
    }

    fn remove_entry(&self, thread: usize, entry: usize, state: &mut [u64]) {
        let buffer = &self.layout.buffers[thread];
        let Some(len_field) = buffer.len else { return };
        let len = len_field.get(state) as usize;
        for index in entry + 1..len {
            let (slot, value) = (buffer.entries[index].slot.get(state), buffer.entries[index].value.get(state));
            buffer.entries[index - 1].slot.set(state, slot);
            buffer.entries[index - 1].value.set(state, value);
        }
        let last = buffer.entries[len - 1];
        last.slot.set(state, last.slot.lo);
        last.value.set(state, last.value.lo);
        len_field.set(state, len as Value - 1);
    }
}

pub(crate) fn admit(domain: Domain, value: Value) -> Attempt<Value> {
    match domain.admit(value)? {
        Admission::Value(value) => Ok(value),
        Admission::Blocked => Err(StepOutcome::Disabled),
    }
}
