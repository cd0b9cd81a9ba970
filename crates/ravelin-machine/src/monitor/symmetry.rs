//! Stores states once that differ only by a permutation of identical threads.
//!
//! Threads are identical if exchanging them, with the cells that belong to them and the numbers that name them, leaves the
//! program as it is ([`crate::symmetry`]). The monitor's rules identify threads and cells by their rows and columns only,
//! so exchanging these as well turns runs into runs: the rows of the threads and of their cells, the columns of facts about
//! their cells and about their numbers, and the columns of marks of their accesses.
//!
//! A state's representative has the threads of a group in order of what does not name threads: their locations, what
//! their registers and cells hold, and what they know. A number is compared as "mine", "another's" or no number.
//! Where that does not decide, threads stay as they are; a state then has more than one representative.

use super::columns::Columns;
use super::plan::{Class, Fact, MonitorPlan};
use super::rows::{BitRange, ColumnSet, Rows};
use super::taint::Taints;
use crate::compile::Machine;
use crate::layout::Field;
use crate::ranges::Ranges;
use crate::symmetry::{Exchanges, NumberPlaces, RegisterWebs, ThreadExchange, exchanged};
use ravelin_explore::{Limit, Watch};
use ravelin_program::Value;
use std::sync::Arc;

pub(crate) struct MonitorSymmetry<const N: usize> {
    groups: Vec<MonitorGroup<N>>,
}

/// Threads that can be exchanged with one another.
struct MonitorGroup<const N: usize> {
    /// By member.
    keys: Vec<MemberKey>,
    /// Of each member and the next.
    exchanges: Vec<MemberExchange<N>>,
}

/// What members are compared by.
struct MemberKey {
    thread: usize,
    parts: Vec<KeyPart>,
    numbers: Vec<Value>,
}

enum KeyPart {
    Bits(BitRange),
    /// A place of the member.
    Number(NumberField),
    /// A common place, which may name the member.
    Name(NumberField),
}

/// A place that can hold numbers.
#[derive(Clone)]
struct NumberField {
    field: Field,
    /// If it is a register: where its thread is, and what it holds there.
    register: Option<(Field, Arc<[HeldValue]>)>,
}

/// What a register holds at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldValue {
    /// Nothing that will be read again.
    Nothing,
    Plain,
    Number,
}

/// By thread and register: what it holds at each location, if it may hold numbers.
type HeldValues = Vec<Vec<Option<Arc<[HeldValue]>>>>;

/// How two members are exchanged.
struct MemberExchange<const N: usize> {
    swaps: Vec<(BitRange, BitRange)>,
    numbers: Vec<(Value, Value)>,
    /// Places of the two, and those of all others.
    moved: Vec<(NumberField, NumberField)>,
    renamed: Vec<NumberField>,
    columns: ColumnSwaps<N>,
    sc_columns: ColumnSwaps<N>,
}

/// Exchanges of columns.
#[derive(Default)]
struct ColumnSwaps<const N: usize> {
    /// In one word: which, the lower columns of the pairs, and how far apart they are.
    within: Vec<(usize, u64, usize)>,
    across: Vec<(usize, usize)>,
}

impl<const N: usize> ColumnSwaps<N> {
    fn new(pairs: Vec<(usize, usize)>) -> ColumnSwaps<N> {
        let mut swaps = ColumnSwaps::default();
        for (low, high) in pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b))) {
            if low / 64 != high / 64 {
                swaps.across.push((low, high));
                continue;
            }
            let (word, bit) = (low / 64, 1 << (low % 64));
            match swaps.within.iter_mut().find(|(in_word, _, apart)| (*in_word, *apart) == (word, high - low)) {
                Some((_, lows, _)) => *lows |= bit,
                None => swaps.within.push((word, bit, high - low)),
            }
        }
        swaps
    }

    fn is_empty(&self) -> bool {
        self.within.is_empty() && self.across.is_empty()
    }

    /// All columns that are exchanged.
    fn moved(&self) -> Columns<N> {
        let mut words = [0; N];
        for &(word, lows, apart) in &self.within {
            words[word] |= lows | lows << apart;
        }
        let across = self.across.iter().flat_map(|&(low, high)| [low, high]).collect();
        Columns::of_words(words) | across
    }

    #[inline]
    fn apply(&self, row: &ColumnSet<N>, state: &mut [u64]) {
        let mut words = *row.get(state).words();
        for &(word, lows, apart) in &self.within {
            let differ = (words[word] >> apart ^ words[word]) & lows;
            words[word] ^= differ | differ << apart;
        }
        for &(low, high) in &self.across {
            let differ = (words[low / 64] >> (low % 64) ^ words[high / 64] >> (high % 64)) & 1;
            words[low / 64] ^= differ << (low % 64);
            words[high / 64] ^= differ << (high % 64);
        }
        row.set(state, Columns::of_words(words));
    }
}

impl NumberField {
    #[inline]
    fn holds(&self, state: &[u64]) -> HeldValue {
        self.register.as_ref().map_or(HeldValue::Number, |(location, held)| held[location.get(state) as usize])
    }

    /// The value with numbers exchanged, unless it is one that will not be read again.
    #[inline]
    fn renamed(&self, numbers: &[(Value, Value)], state: &[u64]) -> Option<Value> {
        match self.holds(state) {
            HeldValue::Nothing => None,
            HeldValue::Plain => Some(self.field.get(state)),
            HeldValue::Number => Some(exchanged(numbers, self.field.get(state))),
        }
    }

    #[inline]
    fn set(&self, value: Option<Value>, state: &mut [u64]) {
        self.field.set(state, value.unwrap_or(self.field.lo));
    }
}

impl<const N: usize> MonitorSymmetry<N> {
    pub const NONE: MonitorSymmetry<N> = MonitorSymmetry { groups: Vec::new() };

    pub fn find(
        machine: &Machine,
        plan: &MonitorPlan,
        rows: &Rows<N>,
        taints: Option<&Taints>,
        watch: &Watch,
    ) -> Result<MonitorSymmetry<N>, Limit> {
        let threads = machine.program.threads.len();
        let mut symmetry = MonitorSymmetry::NONE;
        if threads < 2 {
            return Ok(symmetry);
        }
        let ranges = Ranges::infer(&machine.program, watch)?;
        let exchanges = Exchanges::new(&machine.program, &machine.layout, &ranges, true, watch)?;
        let mut grouped = vec![false; threads];
        for first in 0..threads {
            if grouped[first] {
                continue;
            }
            let mut members = Members::default();
            for (second, taken) in grouped.iter().enumerate().skip(first + 1) {
                let alike = taints.is_none_or(|taints| taints.are_alike(first, second));
                if !taken
                    && alike
                    && let Some(exchange) = exchanges.find(first, second)?
                {
                    members.add(first, second, exchange);
                }
            }
            if members.threads.len() < 2 {
                continue;
            }
            let held = held_values(machine, exchanges.webs(), &members.places, watch)?;
            let places = PlaceTable { machine, plan, rows, taints, held };
            if let Some(group) = places.group(&members) {
                members.threads.iter().for_each(|&member| grouped[member] = true);
                symmetry.groups.push(group);
            }
        }
        Ok(symmetry)
    }

    /// The threads that a thread can be exchanged with, and itself.
    pub fn alike(&self, thread: usize) -> Vec<usize> {
        let members = |group: &MonitorGroup<N>| group.keys.iter().map(|key| key.thread).collect::<Vec<_>>();
        self.groups.iter().map(members).find(|members| members.contains(&thread)).unwrap_or_else(|| vec![thread])
    }

    /// Puts the threads of each group in order.
    #[inline]
    pub fn canonicalise(&self, rows: &Rows<N>, state: &mut [u64]) {
        self.canonicalise_with(rows, state, |_, _| {});
    }

    /// The same; `exchanged` gets every two threads that are exchanged.
    #[inline]
    pub fn canonicalise_with(&self, rows: &Rows<N>, state: &mut [u64], mut exchanged: impl FnMut(usize, usize)) {
        for group in &self.groups {
            for end in 1..group.keys.len() {
                let mut at = end;
                while at > 0
                    && is_less(&group.keys[at], &group.keys[at - 1], state)
                    && group.exchanges[at - 1].apply(rows, state)
                {
                    exchanged(group.keys[at - 1].thread, group.keys[at].thread);
                    at -= 1;
                }
            }
        }
    }
}

#[inline]
fn is_less(one: &MemberKey, other: &MemberKey, state: &[u64]) -> bool {
    for (a, b) in one.parts.iter().zip(&other.parts) {
        let (a, b) = (a.get(&one.numbers, state), b.get(&other.numbers, state));
        if a != b {
            return a < b;
        }
    }
    false
}

impl KeyPart {
    /// Whether it is a number, and what is compared.
    #[inline]
    fn get(&self, numbers: &[Value], state: &[u64]) -> (u8, u64) {
        match self {
            KeyPart::Bits(bits) => (0, bits.get(state)),
            KeyPart::Number(place) => match (place.holds(state), place.field.get(state)) {
                (HeldValue::Nothing, _) => (0, 0),
                (HeldValue::Plain, value) => (0, value as u64),
                (HeldValue::Number, value) => match numbers.iter().position(|&number| number == value) {
                    Some(mine) => (1, mine as u64),
                    None => (2, 0),
                },
            },
            KeyPart::Name(place) => {
                let value = place.field.get(state);
                let mine = numbers.iter().position(|&number| number == value);
                (3, mine.map_or(0, |mine| 1 + mine as u64))
            }
        }
    }
}

impl<const N: usize> MemberExchange<N> {
    /// Exchanges the two, unless a place has no room for a number that it would get.
    fn apply(&self, rows: &Rows<N>, state: &mut [u64]) -> bool {
        let fits = |from: &NumberField, to: &NumberField| {
            from.renamed(&self.numbers, state).is_none_or(|value| to.field.holds(value))
        };
        let mut moved = self.moved.iter();
        if !moved.all(|(a, b)| fits(a, b) && fits(b, a)) || !self.renamed.iter().all(|place| fits(place, place)) {
            return false;
        }
        for (one, other) in &self.moved {
            let (a, b) = (one.renamed(&self.numbers, state), other.renamed(&self.numbers, state));
            one.set(b, state);
            other.set(a, state);
        }
        for place in &self.renamed {
            let value = place.renamed(&self.numbers, state);
            place.set(value, state);
        }
        for (one, other) in &self.swaps {
            let (a, b) = (one.get(state), other.get(state));
            one.set(state, b);
            other.set(state, a);
        }
        if !self.columns.is_empty() {
            rows.rows_of_facts().iter().for_each(|row| self.columns.apply(row, state));
        }
        if !self.sc_columns.is_empty() {
            rows.sc_rows().for_each(|row| self.sc_columns.apply(&row, state));
        }
        true
    }
}

/// Threads that can all be exchanged with the first, with what belongs to each.
#[derive(Default)]
struct Members {
    threads: Vec<usize>,
    /// The k-th cell (slot) and the k-th number of a member belong to the k-th of every other.
    owned: Vec<Vec<usize>>,
    numbers: Vec<Vec<Value>>,
    places: NumberPlaces,
}

impl Members {
    fn add(&mut self, first: usize, second: usize, exchange: ThreadExchange) {
        let (mine, theirs): (Vec<usize>, Vec<usize>) = exchange.pairs.into_iter().unzip();
        let (my_numbers, their_numbers): (Vec<Value>, Vec<Value>) = exchange.numbers.into_iter().unzip();
        if self.threads.is_empty() {
            *self = Members {
                threads: vec![first],
                owned: vec![mine.clone()],
                numbers: vec![my_numbers.clone()],
                places: exchange.places.clone(),
            };
        }
        let apart = theirs.iter().all(|slot| self.owned.iter().all(|owned| !owned.contains(slot)))
            && their_numbers.iter().all(|number| self.numbers.iter().all(|numbers| !numbers.contains(number)));
        if apart && self.owned[0] == mine && self.numbers[0] == my_numbers && self.places == exchange.places {
            self.threads.push(second);
            self.owned.push(theirs);
            self.numbers.push(their_numbers);
        }
    }
}

/// Where everything of a thread and of a cell is.
struct PlaceTable<'a, const N: usize> {
    machine: &'a Machine,
    plan: &'a MonitorPlan,
    rows: &'a Rows<N>,
    taints: Option<&'a Taints>,
    held: HeldValues,
}

impl<const N: usize> PlaceTable<'_, N> {
    fn group(&self, members: &Members) -> Option<MonitorGroup<N>> {
        let last = members.threads.len() - 1;
        let exchanges: Vec<MemberExchange<N>> =
            (0..last).map(|member| self.exchange(members, member)).collect::<Option<_>>()?;
        let moved = |swaps: fn(&MemberExchange<N>) -> &ColumnSwaps<N>| {
            exchanges.iter().fold(Columns::NONE, |all, exchange| all | swaps(exchange).moved())
        };
        let (columns, sc_columns) = (moved(|exchange| &exchange.columns), moved(|exchange| &exchange.sc_columns));
        let keys = (0..=last).map(|member| self.key(members, member, columns, sc_columns)).collect();
        Some(MonitorGroup { keys, exchanges })
    }

    /// The exchange of a member and the next.
    fn exchange(&self, members: &Members, member: usize) -> Option<MemberExchange<N>> {
        let (one, other) = (members.threads[member], members.threads[member + 1]);
        let slots: Vec<(usize, usize)> =
            members.owned[member].iter().copied().zip(members.owned[member + 1].iter().copied()).collect();
        let numbers: Vec<(Value, Value)> =
            members.numbers[member].iter().copied().zip(members.numbers[member + 1].iter().copied()).collect();
        let image = |slot: usize| exchanged(&slots, slot);
        let (mut swaps, mut moved, mut renamed) = (Vec::new(), Vec::new(), Vec::new());

        // The SC state.
        let layout = &self.machine.layout;
        swaps.push((BitRange::of(&layout.locations[one]), BitRange::of(&layout.locations[other])));
        for (register, (a, b)) in layout.registers[one].iter().zip(&layout.registers[other]).enumerate() {
            match (self.register(one, register), self.register(other, register)) {
                (None, None) => swaps.push(same_room(a, b)?),
                (Some(a), Some(b)) => moved.push((a, b)),
                _ => return None,
            }
        }
        for &(a, b) in &slots {
            if self.cell_holds(members, a) {
                moved.push((self.cell(a), self.cell(b)));
            } else {
                swaps.push(same_room(&layout.cells[a], &layout.cells[b])?);
            }
        }
        for thread in (0..self.held.len()).filter(|&thread| thread != one && thread != other) {
            renamed.extend((0..self.held[thread].len()).filter_map(|register| self.register(thread, register)));
        }
        let cells = (0..layout.cells.len()).filter(|&slot| self.cell_holds(members, slot) && image(slot) == slot);
        renamed.extend(cells.map(|slot| self.cell(slot)));

        // The rows.
        let (mine, theirs) = (self.of_thread(one), self.of_thread(other));
        if mine.len() != theirs.len() {
            return None;
        }
        swaps.extend(mine.into_iter().zip(theirs));
        let cell_of = |slot: usize| self.plan.cell_of[slot];
        let image_of = |cell: usize| cell_of(image(self.plan.cells[cell].slot));
        for &(a, b) in &slots {
            match (cell_of(a), cell_of(b)) {
                (None, None) => continue,
                (Some(a), Some(b)) => {
                    swaps.extend(self.of_cell(a).into_iter().zip(self.of_cell(b)));
                    match (&self.rows.last_stale[a], &self.rows.last_stale[b]) {
                        (None, None) => {}
                        (Some(a), Some(b)) => swaps.push(same_room(a, b)?),
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        if let Some(buffers) = &self.rows.buffers {
            for cell in 0..self.plan.cells.len() {
                let other_cell = image_of(cell)?;
                swaps.push((buffers.owns[one][cell], buffers.owns[other][other_cell]));
                let others = (0..buffers.owns.len()).filter(|&thread| thread != one && thread != other);
                swaps.extend(
                    others
                        .filter(|_| cell < other_cell)
                        .map(|thread| (buffers.owns[thread][cell], buffers.owns[thread][other_cell])),
                );
            }
        }
        if swaps.iter().any(|(a, b)| a.mask != b.mask) {
            return None;
        }
        swaps.retain(|(a, b)| a.mask != 0 && (a.word, a.shift) != (b.word, b.shift));

        // The columns.
        let mut columns = Vec::new();
        for (column, fact) in self.plan.facts.iter().enumerate() {
            let class = if self.cell_holds(members, self.plan.cells[fact.cell].slot) {
                self.renamed_class(fact, &numbers)?
            } else {
                fact.class
            };
            let wanted = Fact { cell: image_of(fact.cell)?, class, ..*fact };
            let other = self.plan.facts.iter().position(|fact| *fact == wanted)?;
            columns.extend((column < other).then_some((column, other)));
        }
        let first_mark = self.plan.facts.len();
        for (column, mark) in self.plan.marks.iter().enumerate() {
            let thread = exchanged(&[(one, other)], mark.thread);
            let other = self.plan.mark(image_of(mark.cell)?, thread, mark.atomic, mark.writes)?;
            columns.extend((first_mark + column < other).then_some((first_mark + column, other)));
        }
        let mut sc_columns = Vec::new();
        for (cell, of_cell) in self.plan.cells.iter().enumerate() {
            match (of_cell.sc_column, self.plan.cells[image_of(cell)?].sc_column) {
                (None, None) => {}
                (Some(a), Some(b)) => sc_columns.extend((a < b).then_some((a, b))),
                _ => return None,
            }
        }
        let (columns, sc_columns) = (ColumnSwaps::new(columns), ColumnSwaps::new(sc_columns));
        Some(MemberExchange { swaps, numbers, moved, renamed, columns, sc_columns })
    }

    /// The class of stale values of a cell with numbers, when two sorts of them are exchanged.
    fn renamed_class(&self, fact: &Fact, numbers: &[(Value, Value)]) -> Option<Class> {
        let renamed = |value: Value| exchanged(numbers, value);
        let Class { lo, hi, except } = fact.class;
        match fact.class {
            Class::DIFFERENT => None,
            class if numbers.iter().all(|&(a, b)| class.contains(a) == class.contains(b)) => Some(class),
            _ if lo == hi => Some(Class { except: except.map(renamed), ..Class::only(renamed(lo)) }),
            _ if (lo, hi) == (Class::ANY.lo, Class::ANY.hi) => {
                Some(Class { except: except.map(renamed), ..fact.class })
            }
            _ => None,
        }
    }

    /// A register, if it may hold numbers.
    fn register(&self, thread: usize, register: usize) -> Option<NumberField> {
        let layout = &self.machine.layout;
        let held = Arc::clone(self.held[thread][register].as_ref()?);
        let field = layout.registers[thread][register];
        Some(NumberField { field, register: Some((layout.locations[thread], held)) })
    }

    fn cell_holds(&self, members: &Members, slot: usize) -> bool {
        members.places.slots.get(slot).is_some_and(|held| *held)
    }

    fn cell(&self, slot: usize) -> NumberField {
        NumberField { field: self.machine.layout.cells[slot], register: None }
    }

    /// The rows of a thread, and its taints.
    fn of_thread(&self, thread: usize) -> Vec<BitRange> {
        let (facts, sc) = self.rows_of_thread(thread);
        let rows = facts.into_iter().chain(sc).flat_map(|row| row.spots());
        rows.chain(self.taints.into_iter().flat_map(|taints| taints.bits(thread))).collect()
    }

    /// The rows with columns of facts, and those with columns of cells.
    fn rows_of_thread(&self, thread: usize) -> (Vec<ColumnSet<N>>, Vec<ColumnSet<N>>) {
        let rows = self.rows;
        let views = [Some(rows.cur[thread]), rows.acq[thread], Some(rows.rel[thread])];
        let of_views = views.into_iter().flatten().flat_map(|view| [view.known, view.fenced]);
        let of_buffers = rows.buffers.iter().flat_map(|buffers| buffers.of_thread(thread));
        let facts = of_views.chain([rows.thread_chain[thread]]).chain(of_buffers).collect();
        (facts, vec![rows.thread_sc[thread]])
    }

    fn of_cell(&self, cell: usize) -> Vec<BitRange> {
        let (facts, sc) = self.rows_of_cell(cell);
        facts.into_iter().chain(sc).flat_map(|row| row.spots()).collect()
    }

    fn rows_of_cell(&self, cell: usize) -> (Vec<ColumnSet<N>>, Vec<ColumnSet<N>>) {
        let rows = self.rows;
        let chains = [rows.write_chain[cell], rows.access_chain[cell]];
        let views = [rows.msg[cell].known, rows.msg[cell].fenced, rows.access_fenced[cell], rows.write_fenced[cell]];
        let next = rows.buffers.iter().map(|buffers| buffers.next[cell]);
        let facts = chains.into_iter().chain(views).chain(next).collect();
        (facts, vec![rows.write_sc[cell], rows.access_sc[cell]])
    }

    /// What a member is compared by. Columns that are exchanged name members.
    fn key(&self, members: &Members, member: usize, columns: Columns<N>, sc_columns: Columns<N>) -> MemberKey {
        let thread = members.threads[member];
        let layout = &self.machine.layout;
        let mut parts = vec![KeyPart::Bits(BitRange::of(&layout.locations[thread]))];
        for (register, field) in layout.registers[thread].iter().enumerate() {
            let number = self.register(thread, register).map(KeyPart::Number);
            parts.push(number.unwrap_or_else(|| KeyPart::Bits(BitRange::of(field))));
        }
        for &slot in &members.owned[member] {
            parts.push(match self.cell_holds(members, slot) {
                true => KeyPart::Number(self.cell(slot)),
                false => KeyPart::Bits(BitRange::of(&layout.cells[slot])),
            });
        }
        let is_common = |slot: &usize| members.owned.iter().all(|owned| !owned.contains(slot));
        let common = (0..layout.cells.len()).filter(|&slot| self.cell_holds(members, slot)).filter(is_common);
        parts.extend(common.map(|slot| KeyPart::Name(self.cell(slot))));
        let mut compare = |row: &ColumnSet<N>, moved: Columns<N>| {
            for (spot, moved) in row.spots().into_iter().zip(moved.words()) {
                parts.push(KeyPart::Bits(BitRange { mask: spot.mask & !moved, ..spot }));
            }
        };
        let cells = members.owned[member].iter().filter_map(|&slot| self.plan.cell_of[slot]);
        let of_cells = cells.map(|cell| self.rows_of_cell(cell));
        for (facts, sc) in std::iter::once(self.rows_of_thread(thread)).chain(of_cells) {
            facts.iter().for_each(|row| compare(row, columns));
            sc.iter().for_each(|row| compare(row, sc_columns));
        }
        let cells = members.owned[member].iter().filter_map(|&slot| self.plan.cell_of[slot]);
        let own_facts = cells.flat_map(|cell| self.plan.cells[cell].facts.iter().copied());
        let marks = self.plan.marks.iter().enumerate().filter(|(_, mark)| mark.thread == thread);
        let own_marks = marks.map(|(mark, _)| self.plan.facts.len() + mark);
        for column in own_facts.chain(own_marks) {
            let spot = self.rows.cur[thread].known.spots()[column / 64];
            parts.push(KeyPart::Bits(BitRange { shift: spot.shift + (column % 64) as u32, mask: 1, ..spot }));
        }
        parts.retain(|part| !matches!(part, KeyPart::Bits(bits) if bits.mask == 0));
        MemberKey { thread, parts, numbers: members.numbers[member].clone() }
    }
}

/// Two fields with room for the same values.
fn same_room(a: &Field, b: &Field) -> Option<(BitRange, BitRange)> {
    ((a.lo, a.mask) == (b.lo, b.mask)).then(|| (BitRange::of(a), BitRange::of(b)))
}

/// By thread and register: by location, what it holds; `None` for registers that never hold a number.
fn held_values(
    machine: &Machine,
    webs: &[RegisterWebs],
    places: &NumberPlaces,
    watch: &Watch,
) -> Result<HeldValues, Limit> {
    let mut held = Vec::new();
    for (number, thread) in machine.program.threads.iter().enumerate() {
        watch.steps(thread.registers.len() * thread.locations.len() / 8)?;
        let at = |register: usize, location: usize| match webs.get(number)?.at(location, register) {
            None => Some(HeldValue::Nothing),
            Some(web) if places.has_web(number, web) => Some(HeldValue::Number),
            Some(_) => Some(HeldValue::Plain),
        };
        let of_register = |register: usize| {
            let held =
                (0..thread.locations.len()).map(|location| at(register, location)).collect::<Option<Arc<[_]>>>()?;
            held.contains(&HeldValue::Number).then_some(held)
        };
        held.push((0..thread.registers.len()).map(of_register).collect());
    }
    Ok(held)
}
