//! Symmetry reduction: stores states once that differ only by a permutation of identical threads.
//!
//! Exchanging two threads means to rename one into the other, and at the same time the cells that belong to them
//! (`flag[0]` and `flag[1]`). Two threads can be exchanged if that does not change the program and its goals. Such
//! threads form a group. A state's representative has the group's threads, each with its cells, in sorted order. A
//! constant *value* that distinguishes threads (`turn.store(me)`) makes them different.
//!
//! It is not used with a bus lock, nor where final states are requested, because there each one counts.

use crate::access::slots;
use crate::layout::{Field, Layout};
use crate::ranges::Ranges;
use crate::settings::{Purpose, Settings};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{BinaryOp, Condition, Expr, Instruction, Observable, Program, Thread, ThreadId, Value, is_total};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetry {
    groups: Vec<Vec<GroupMember>>,
}

/// A thread of a group: the fields that move with it.
#[derive(Clone, Debug)]
struct GroupMember {
    fields: Vec<Field>,
    len: Option<Field>,
    /// Slot and value of each buffer entry.
    entries: Vec<(Field, Field)>,
    /// Slots of its own cells; the k-th belongs to the k-th of every other member.
    owned: Vec<Value>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SymmetryScratch {
    keys: Vec<Vec<Value>>,
    order: Vec<usize>,
}

impl Symmetry {
    pub fn find(
        program: &Program,
        layout: &Layout,
        ranges: &Ranges,
        settings: Settings,
        watch: &Watch,
    ) -> Result<Symmetry, Limit> {
        let mut symmetry = Symmetry::default();
        if !settings.reductions.symmetry || settings.purpose == Purpose::Finals || layout.bus.is_some() {
            return Ok(symmetry);
        }
        // An exchange of two threads is compared with the code of all.
        let work = program.threads.iter().map(|thread| 1 + thread.transitions.len()).sum::<usize>();
        let mut grouped = vec![false; program.threads.len()];
        for first in 0..program.threads.len() {
            if grouped[first] {
                continue;
            }
            let mut group = Group { members: vec![first], owned: Vec::new() };
            for (second, taken) in grouped.iter().enumerate().skip(first + 1) {
                watch.step()?;
                if !taken && may_be_alike(program, first, second) {
                    watch.steps(work)?;
                }
                if !taken && let Some(exchange) = ThreadExchange::find(program, layout, ranges, first, second) {
                    group.add(second, exchange, layout);
                }
            }
            if group.members.len() > 1 && group.is_sound(program, layout, ranges) {
                for &member in &group.members {
                    grouped[member] = true;
                }
                symmetry.groups.push(group.compile(layout));
            }
        }
        Ok(symmetry)
    }

    /// Replaces a state by the representative of its orbit.
    #[inline]
    pub fn canonicalise(&self, state: &mut [u64], scratch: &mut SymmetryScratch) {
        for group in &self.groups {
            canonicalise(group, state, scratch);
        }
    }
}

fn canonicalise(group: &[GroupMember], state: &mut [u64], scratch: &mut SymmetryScratch) {
    scratch.keys.resize(scratch.keys.len().max(group.len()), Vec::new());
    scratch.order.clear();
    scratch.order.extend(0..group.len());
    for (member, key) in group.iter().zip(&mut scratch.keys) {
        key.clear();
        key.extend(member.fields.iter().map(|field| field.get(state)));
        let len = member.len.map_or(0, |len| len.get(state));
        key.push(len);
        for (slot, value) in &member.entries[..len as usize] {
            let slot = slot.get(state);
            // An own cell is named by its number among the own cells, which is the same for every member.
            let owned = member.owned.iter().position(|&owned| owned == slot);
            key.push(owned.map_or(slot, |number| -1 - number as Value));
            key.push(value.get(state));
        }
    }
    let keys = &scratch.keys;
    scratch.order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    for (place, &from) in scratch.order.iter().enumerate() {
        if place == from {
            continue;
        }
        let (member, key) = (&group[place], &scratch.keys[from]);
        let mut values = key.iter().copied();
        let mut next = || values.next().unwrap_or(0);
        for field in &member.fields {
            field.set(state, next());
        }
        let len = next();
        if let Some(field) = member.len {
            field.set(state, len);
        }
        for (index, (slot, value)) in member.entries.iter().enumerate() {
            if index as Value >= len {
                // The bits of unused entries are all 0 in every member.
                slot.set(state, slot.lo);
                value.set(state, value.lo);
                continue;
            }
            let name = next();
            slot.set(state, if name < 0 { member.owned[(-1 - name) as usize] } else { name });
            value.set(state, next());
        }
    }
}

/// Threads of another size are not compared at all.
fn may_be_alike(program: &Program, first: usize, second: usize) -> bool {
    program.threads[first].transitions.len() == program.threads[second].transitions.len()
}

/// Threads that can all be exchanged with the first.
struct Group {
    members: Vec<usize>,
    /// By member.
    owned: Vec<Vec<usize>>,
}

impl Group {
    fn add(&mut self, thread: usize, exchange: ThreadExchange, layout: &Layout) {
        let (mine, theirs): (Vec<usize>, Vec<usize>) = exchange.pairs.iter().copied().unzip();
        if self.owned.is_empty() {
            self.owned.push(mine.clone());
        }
        let first = self.members[0];
        let same_fields = |a: &Field, b: &Field| a.lo == b.lo && a.mask == b.mask;
        let alike = layout.registers[first].iter().zip(&layout.registers[thread]).all(|(a, b)| same_fields(a, b))
            && mine.iter().zip(&theirs).all(|(&a, &b)| same_fields(&layout.cells[a], &layout.cells[b]))
            && layout.buffers[first].entries.len() == layout.buffers[thread].entries.len();
        let apart = theirs.iter().all(|slot| self.owned.iter().all(|others| !others.contains(slot)));
        if alike && apart && self.owned[0] == mine {
            self.members.push(thread);
            self.owned.push(theirs);
        }
    }

    /// Each member stores only to its own cells and to common ones. Its own cells are in the same order relative to the
    /// common ones as those of every member (PSO buffers are sorted by cell).
    fn is_sound(&self, program: &Program, layout: &Layout, ranges: &Ranges) -> bool {
        let owned_by_any: Vec<usize> = self.owned.iter().flatten().copied().collect();
        let common: Vec<usize> = (0..layout.cells.len()).filter(|slot| !owned_by_any.contains(slot)).collect();
        let rank = |slot: usize| common.iter().filter(|&&other| other < slot).count();
        self.members.iter().zip(&self.owned).all(|(&thread, owned)| {
            let sorted_alike = owned.iter().zip(&self.owned[0]).all(|(&a, &b)| rank(a) == rank(b))
                && owned.is_sorted() == self.owned[0].is_sorted()
                && (owned.len() < 2 || owned.is_sorted());
            let stores_own = program.threads[thread].transitions.iter().all(|transition| {
                transition.instruction.accesses().iter().filter(|access| access.writes).all(|access| {
                    let reach = slots(program, thread, access.address, ranges, layout);
                    owned_by_any.iter().all(|slot| owned.contains(slot) || !reach.contains(*slot))
                })
            });
            sorted_alike && stores_own
        })
    }

    fn compile(&self, layout: &Layout) -> Vec<GroupMember> {
        let member = |(&thread, owned): (&usize, &Vec<usize>)| {
            let mut fields = vec![layout.locations[thread]];
            fields.extend(&layout.registers[thread]);
            fields.extend(owned.iter().map(|&slot| layout.cells[slot]));
            let buffer = &layout.buffers[thread];
            GroupMember {
                fields,
                len: buffer.len,
                entries: buffer.entries.iter().map(|entry| (entry.slot, entry.value)).collect(),
                owned: owned.iter().map(|&slot| slot as Value).collect(),
            }
        };
        self.members.iter().zip(&self.owned).map(member).collect()
    }
}

/// How two threads are exchanged: pairs of cells (slots) that are exchanged with them.
struct ThreadExchange {
    pairs: Vec<(usize, usize)>,
}

impl ThreadExchange {
    fn find(
        program: &Program,
        layout: &Layout,
        ranges: &Ranges,
        first: usize,
        second: usize,
    ) -> Option<ThreadExchange> {
        let (a, b) = (&program.threads[first], &program.threads[second]);
        let mut renaming = Renaming::default();
        let same_shape = a.initial == b.initial
            && a.locations.len() == b.locations.len()
            && a.transitions.len() == b.transitions.len()
            && a.registers.len() == b.registers.len()
            && a.registers.iter().zip(&b.registers).all(|(a, b)| a.domain == b.domain && a.initial == b.initial);
        if !same_shape {
            return None;
        }
        for (a, b) in a.transitions.iter().zip(&b.transitions) {
            if (a.from, a.to) != (b.from, b.to) {
                return None;
            }
            renaming.learn(&a.instruction, &b.instruction)?;
        }
        let cells_alike = renaming.map.iter().all(|(&a, &b)| {
            program.memory.domain_at(a) == program.memory.domain_at(b)
                && program.memory.initial_at(a) == program.memory.initial_at(b)
        });
        let sound = cells_alike
            && renaming.fits(program, a, b)
            && renaming.fits(program, b, a)
            && (0..program.threads.len())
                .filter(|&other| other != first && other != second)
                .all(|other| renaming.fits(program, &program.threads[other], &program.threads[other]))
            && (0..program.threads.len()).all(|thread| renaming.spares_computed(program, layout, ranges, thread))
            && renaming.keeps_goals(program, first, second);
        if !sound {
            return None;
        }
        let pairs = renaming.pairs.iter().map(|&(a, b)| Some((layout.slot_of(a)?, layout.slot_of(b)?)));
        Some(ThreadExchange { pairs: pairs.collect::<Option<Vec<_>>>()? })
    }
}

/// An exchange of addresses: its own inverse.
#[derive(Default)]
struct Renaming {
    map: BTreeMap<Value, Value>,
    pairs: Vec<(Value, Value)>,
}

impl Renaming {
    fn of(&self, address: Value) -> Value {
        self.map.get(&address).copied().unwrap_or(address)
    }

    /// Extends the renaming so that it maps the constant addresses of one instruction to those of the other.
    fn learn(&mut self, a: &Instruction, b: &Instruction) -> Option<()> {
        let (accesses_a, accesses_b) = (a.accesses(), b.accesses());
        if accesses_a.len() != accesses_b.len() {
            return None;
        }
        for (a, b) in accesses_a.iter().zip(&accesses_b) {
            if let (Some(a), Some(b)) = (a.address.constant(), b.address.constant())
                && a != b
                && self.of(a) != b
            {
                if self.map.contains_key(&a) || self.map.contains_key(&b) {
                    return None;
                }
                self.map.insert(a, b);
                self.map.insert(b, a);
                self.pairs.push((a, b));
            }
        }
        Some(())
    }

    /// Renaming the addresses of one thread gives the other.
    fn fits(&self, program: &Program, a: &Thread, b: &Thread) -> bool {
        a.transitions.iter().zip(&b.transitions).all(|(a, b)| {
            let mut renamed = without_bounds(program, &a.instruction);
            for address in renamed.addresses_mut() {
                if let Expr::Const(constant) = address.expr {
                    address.expr = Expr::Const(self.of(constant));
                }
            }
            renamed == without_bounds(program, &b.instruction)
        })
    }

    /// No computed address of a thread leads to a renamed cell.
    fn spares_computed(&self, program: &Program, layout: &Layout, ranges: &Ranges, thread: usize) -> bool {
        program.threads[thread].transitions.iter().flat_map(|transition| transition.instruction.accesses()).all(
            |access| {
                access.address.constant().is_some() || {
                    let reach = slots(program, thread, access.address, ranges, layout);
                    self.map.keys().all(|&address| layout.slot_of(address).is_none_or(|slot| !reach.contains(slot)))
                }
            },
        )
    }

    /// The goals, with the two threads and the cells exchanged, are the same goals.
    fn keeps_goals(&self, program: &Program, first: usize, second: usize) -> bool {
        let swap = |thread: &ThreadId| match thread.0 {
            thread if thread == first => ThreadId(second),
            thread if thread == second => ThreadId(first),
            thread => ThreadId(thread),
        };
        let mut before = Vec::new();
        let mut after = Vec::new();
        for goal in &program.goals {
            let exchanged = goal.condition.map_atoms(&mut |atom| {
                Expr::Atom(match atom {
                    Observable::At(thread, location) => Observable::At(swap(thread), *location),
                    Observable::Register(thread, register) => Observable::Register(swap(thread), *register),
                    Observable::Memory(address) => Observable::Memory(self.of(*address)),
                })
            });
            before.push(format!("{:?} {}", goal.kind, normal(&goal.condition)));
            after.push(format!("{:?} {}", goal.kind, normal(&exchanged)));
        }
        before.sort();
        after.sort();
        before == after
    }
}

/// An instruction without the arrays that are known to contain its constant addresses.
fn without_bounds(program: &Program, instruction: &Instruction) -> Instruction {
    let mut plain = instruction.clone();
    for address in plain.addresses_mut() {
        if let (Some(constant), Some(variable)) = (address.constant(), address.within)
            && program.memory.variables[variable.0].contains(constant)
        {
            address.within = None;
        }
    }
    plain
}

/// A condition as text in which the order of operands of commutative operators does not show, if it has a value in
/// every state. Otherwise the order matters, because the right operand may not be evaluated.
fn normal(condition: &Condition) -> String {
    if is_total(condition) { sorted(condition) } else { format!("{condition:?}") }
}

fn sorted(condition: &Condition) -> String {
    match condition {
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Mul), ..) => {
            let mut operands = Vec::new();
            flatten(condition, *op, &mut operands);
            operands.sort();
            format!("({})", operands.join(op.symbol()))
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
            let mut operands = [sorted(left), sorted(right)];
            operands.sort();
            format!("({})", operands.join(op.symbol()))
        }
        Expr::Binary(op, _, left, right) => format!("({}{}{})", sorted(left), op.symbol(), sorted(right)),
        Expr::Unary(op, _, operand) => format!("{}{}", op.symbol(), sorted(operand)),
        leaf => format!("{leaf:?}"),
    }
}

fn flatten(condition: &Condition, op: BinaryOp, operands: &mut Vec<String>) {
    match condition {
        Expr::Binary(inner, _, left, right) if *inner == op => {
            flatten(left, op, operands);
            flatten(right, op, operands);
        }
        other => operands.push(sorted(other)),
    }
}
