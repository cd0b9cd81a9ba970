//! Symmetry reduction: stores states once that differ only by a permutation of identical threads.
//!
//! Exchanging two threads means to rename one into the other, and at the same time the cells that belong to them
//! (`flag[0]` and `flag[1]`). Two threads can be exchanged if that does not change the program and its goals. Such
//! threads form a group. A state's representative has the group's threads, each with its cells, in sorted order. A
//! constant *value* that distinguishes threads (`turn.store(me)`) makes them different here; the monitored search exchanges
//! such values as well ([`crate::monitor`]).
//!
//! It is not used with a bus lock, nor where final states are requested, because there each one counts.

mod exchange;
mod numbers;

pub(crate) use exchange::{Exchanges, ThreadExchange, exchanged};
pub(crate) use numbers::{NumberPlaces, RegisterWebs};

use crate::access::slots;
use crate::layout::{Field, Layout};
use crate::ranges::Ranges;
use crate::settings::{Purpose, Settings};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Program, Value};

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
        let exchanges = Exchanges::new(program, layout, ranges, false, watch)?;
        let mut grouped = vec![false; program.threads.len()];
        for first in 0..program.threads.len() {
            if grouped[first] {
                continue;
            }
            let mut group = Group { members: vec![first], owned: Vec::new() };
            for (second, taken) in grouped.iter().enumerate().skip(first + 1) {
                if !taken && let Some(exchange) = exchanges.find(first, second)? {
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
