//! Moves of threads, looked up instead of computed.
//!
//! What a thread does next depends on its location and on the few fields that its steps read there, and there are few
//! combinations of their values. When one occurs for the first time the steps are taken as they are compiled, fused ones
//! included, and what they change is noted: for each successor, which bits it keeps and which it sets. From then on a move is a
//! look into a table, and a successor costs two operations per word. LTSmin calls this caching of transitions (Blom, van de
//! Pol, Weber, *LTSmin: distributed and symbolic reachability*, CAV 2010).
//!
//! Which fields are read is known from the code. What a move changes is found by taking it from two states that differ in every
//! bit that is not read: bits that differ afterwards are kept, the others are set. A move that does not pass this comparison, that
//! reports something or that does not fit is never looked up. So is one that reads too many bits: it is taken step by step.
//!
//! A table belongs to one worker. It is made after some states, because small explorations are many and must stay cheap.

use crate::code::{Code, WaitCode};
use crate::compile::{CellTarget, Machine, StepOp};
use crate::expand::{ExpandScratch, MoveEffect};
use crate::layout::Field;
use crate::persistent;
use crate::step::StepOutcome;
use ravelin_program::Model;

/// States that are expanded before there is a table.
pub(crate) const BEFORE: u32 = 512;
/// Bits that the steps of a thread at a location may read.
const MOST_BITS: u32 = 12;
/// Places from which these bits are gathered.
const PARTS: usize = 4;
/// Entries of a table, of all rows.
const MOST_ENTRIES: usize = 1 << 18;
/// Words of all moves of a table.
const MOST_WORDS: usize = 1 << 19;
/// Successors of a move.
const MOST_SUCCESSORS: usize = 31;

/// An entry of a move that is not known yet.
const UNKNOWN: u32 = 0;
/// An entry of a move that is not looked up.
const STEP_BY_STEP: u32 = 1;

/// The moves that one worker knows.
pub(crate) struct MoveTable {
    /// By thread: its row of location 0, and its row for stores that reach memory.
    starts: Vec<(u32, u32)>,
    rows: Vec<MoveRow>,
    entries: Vec<u32>,
    /// Moves: a header, then for each successor and each word the bits to keep and the bits to set.
    moves: Vec<u64>,
}

/// The moves of a thread at a location.
#[derive(Clone)]
struct MoveRow {
    parts: [KeyPart; PARTS],
    /// Bits of the key, if moves from here are looked up.
    bits: Option<u32>,
    /// The first entry; there are none before they are needed.
    entries: Option<u32>,
    /// All moves may be independent of other threads.
    may_be_independent: bool,
}

/// Neighbouring fields that are read.
#[derive(Clone, Copy, Default)]
struct KeyPart {
    mask: u64,
    word: u32,
    shift: u8,
    /// Where these bits are in the key.
    at: u8,
}

impl MoveRow {
    #[inline]
    fn key(&self, state: &[u64]) -> usize {
        self.parts.iter().fold(0, |key, part| key | (state[part.word as usize] >> part.shift & part.mask) << part.at)
            as usize
    }

    /// The bits that are read.
    fn mask(&self, words: usize) -> Vec<u64> {
        let mut mask = vec![0; words];
        self.parts.iter().for_each(|part| mask[part.word as usize] |= part.mask << part.shift);
        mask
    }
}

/// What a thread does from a state.
#[derive(Clone, Copy)]
pub(crate) struct KnownMove {
    at: u32,
    pub successors: u32,
    /// By successor: it is stored as the step leaves it, without fused steps.
    pub direct: u32,
    /// A step back in the control flow was taken, or the change is visible to a goal.
    pub visible: bool,
}

impl KnownMove {
    fn header(self) -> u64 {
        u64::from(self.direct) << 32 | u64::from(self.visible) << 31 | u64::from(self.successors)
    }
}

impl MoveTable {
    pub fn new(machine: &Machine) -> MoveTable {
        let mut starts = Vec::new();
        let mut rows = Vec::new();
        let independent = persistent::may_be_independent(machine);
        for (thread, independent) in independent.iter().enumerate() {
            let first = rows.len() as u32;
            for (location, &may_be_independent) in independent.iter().enumerate() {
                let fields = machine.fields_read(thread, location);
                // The issue of a buffered store is independent of more than the store itself.
                let may_be_independent = may_be_independent || machine.settings.model.is_buffered();
                rows.push(MoveRow { may_be_independent, ..MoveRow::new(fields.as_deref()) });
            }
            starts.push((first, rows.len() as u32));
            rows.push(MoveRow::new(Some(&machine.buffer_fields(thread))));
        }
        // The first entries have no moves, so their offsets are free for what is not a move.
        MoveTable { starts, rows, entries: Vec::new(), moves: vec![0; 2] }
    }

    #[inline]
    pub fn may_be_independent(&self, thread: usize, location: usize) -> bool {
        self.rows[self.starts[thread].0 as usize + location].may_be_independent
    }

    /// What a thread does at a location.
    #[inline]
    pub fn step(
        &mut self,
        machine: &Machine,
        thread: usize,
        location: usize,
        state: &[u64],
        scratch: &mut ExpandScratch,
    ) -> Option<KnownMove> {
        let row = self.starts[thread].0 as usize + location;
        self.look(row, state).unwrap_or_else(|| self.learn(machine, (thread, row), false, state, scratch))
    }

    /// What of a thread's pending stores can reach memory next. Its location must not be fusible.
    #[inline]
    pub fn flush(
        &mut self,
        machine: &Machine,
        thread: usize,
        state: &[u64],
        scratch: &mut ExpandScratch,
    ) -> Option<KnownMove> {
        let row = self.starts[thread].1 as usize;
        self.look(row, state).unwrap_or_else(|| self.learn(machine, (thread, row), true, state, scratch))
    }

    /// The outer `None`: it is not known yet. The inner: it is not looked up.
    #[inline]
    fn look(&self, row: usize, state: &[u64]) -> Option<Option<KnownMove>> {
        let row = &self.rows[row];
        let Some(entries) = row.entries else {
            return if row.bits.is_none() { Some(None) } else { None };
        };
        match self.entries[entries as usize + row.key(state)] {
            UNKNOWN => None,
            STEP_BY_STEP => Some(None),
            at => {
                let header = self.moves[at as usize];
                Some(Some(KnownMove {
                    at,
                    successors: header as u32 & 0xffff,
                    direct: (header >> 32) as u32,
                    visible: header >> 31 & 1 == 1,
                }))
            }
        }
    }

    /// A successor of a state.
    #[inline]
    pub fn successor<const W: usize>(&self, known: KnownMove, number: u32, state: &[u64; W]) -> [u64; W] {
        let from = known.at as usize + 1 + number as usize * 2 * W;
        let changes = &self.moves[from..from + 2 * W];
        std::array::from_fn(|word| state[word] & changes[2 * word] | changes[2 * word + 1])
    }

    #[cold]
    fn learn(
        &mut self,
        machine: &Machine,
        (thread, row): (usize, usize),
        flush: bool,
        state: &[u64],
        scratch: &mut ExpandScratch,
    ) -> Option<KnownMove> {
        let bits = self.rows[row].bits?;
        let entries = match self.rows[row].entries {
            Some(entries) => entries as usize,
            None if self.entries.len() + (1 << bits) > MOST_ENTRIES => {
                self.rows[row].bits = None;
                return None;
            }
            None => {
                let first = self.entries.len();
                self.entries.resize(first + (1 << bits), UNKNOWN);
                self.rows[row].entries = Some(first as u32);
                first
            }
        };
        let entry = entries + self.rows[row].key(state);
        self.entries[entry] = STEP_BY_STEP;
        let (effect, changes) = self.changes(machine, (thread, row), flush, state, scratch)?;
        if self.moves.len() + 1 + changes.len() > MOST_WORDS {
            return None;
        }
        let known = KnownMove { at: self.moves.len() as u32, ..effect };
        self.moves.push(known.header());
        self.moves.extend(changes);
        self.entries[entry] = known.at;
        Some(known)
    }

    /// What a move changes, found by taking it from two states.
    fn changes(
        &self,
        machine: &Machine,
        (thread, row): (usize, usize),
        flush: bool,
        state: &[u64],
        scratch: &mut ExpandScratch,
    ) -> Option<(KnownMove, Vec<u64>)> {
        let words = state.len();
        let read = self.rows[row].mask(words);
        // A location that is not part of the key leads to no fused steps, and is kept.
        let location = machine.layout.locations[thread];
        let mut here = vec![0; words];
        here[location.word as usize] |= location.mask << location.shift;
        let opposite: Vec<u64> = (0..words).map(|word| state[word] ^ !(read[word] | here[word])).collect();
        let (effect, ends) = machine.moves_of(thread, flush, state, scratch)?;
        let (other_effect, other_ends) = machine.moves_of(thread, flush, &opposite, scratch)?;
        if ends.len() != other_ends.len()
            || (effect.successors, effect.direct, effect.visible)
                != (other_effect.successors, other_effect.direct, other_effect.visible)
        {
            return None;
        }
        let mut changes = Vec::with_capacity(2 * ends.len());
        for (at, (&end, &other)) in ends.iter().zip(&other_ends).enumerate() {
            let word = at % words;
            let mut keep = end ^ other;
            if flush {
                keep |= here[word];
            }
            if (end ^ state[word]) & keep != 0 || (other ^ opposite[word]) & keep != 0 {
                return None;
            }
            changes.extend([keep, end & !keep]);
        }
        // Fused steps that lead to one state are one successor. Whether they do must not depend on bits that are not read.
        let successors: Vec<&[u64]> = changes.chunks_exact(2 * words).collect();
        let may_be_one = |a: &[u64], b: &[u64]| {
            let mut pairs = a.chunks_exact(2).zip(b.chunks_exact(2));
            pairs.all(|(a, b)| (a[1] ^ b[1]) & !a[0] & !b[0] == 0)
        };
        for (number, a) in successors.iter().enumerate().filter(|(number, _)| effect.direct >> number & 1 == 0) {
            if successors.iter().enumerate().any(|(other, b)| other != number && may_be_one(a, b)) {
                return None;
            }
        }
        Some((effect, changes))
    }
}

impl MoveRow {
    /// `None`: too much is read.
    fn new(fields: Option<&[Field]>) -> MoveRow {
        let mut row =
            MoveRow { parts: [KeyPart::default(); PARTS], bits: None, entries: None, may_be_independent: false };
        let Some(fields) = fields else { return row };
        let mut fields: Vec<(u32, u32, u32)> =
            fields.iter().map(|field| (field.word, field.shift, field.bits())).filter(|(.., bits)| *bits > 0).collect();
        fields.sort_unstable();
        fields.dedup();
        let mut parts: Vec<(u32, u32, u32)> = Vec::new();
        for (word, shift, bits) in fields {
            match parts.last_mut() {
                Some(last) if last.0 == word && last.1 + last.2 == shift => last.2 += bits,
                _ => parts.push((word, shift, bits)),
            }
        }
        let all: u32 = parts.iter().map(|(.., bits)| bits).sum();
        if all > MOST_BITS || parts.len() > PARTS {
            return row;
        }
        row.bits = Some(all);
        let mut at = 0;
        for (part, (word, shift, bits)) in row.parts.iter_mut().zip(parts) {
            *part = KeyPart { mask: (1 << bits) - 1, word, shift: shift as u8, at };
            at += bits as u8;
        }
        row
    }
}

impl Machine {
    /// The fields that decide what a thread does at a location, but for the location itself; `None` if it is not worth knowing.
    fn fields_read(&self, thread: usize, location: usize) -> Option<Vec<Field>> {
        let code = &self.threads[thread];
        let mut fields = Vec::new();
        let mut seen = vec![location];
        let mut next = 0;
        while let Some(&from) = seen.get(next) {
            next += 1;
            for step in &code.steps[code.starts[from]..code.starts[from + 1]] {
                self.add_fields(thread, &step.op, &mut fields);
                let to = step.to as usize;
                if code.fusible[to] && !seen.contains(&to) {
                    seen.push(to);
                }
            }
            if fields.len() > 64 || seen.len() > 64 {
                return None;
            }
        }
        Some(fields)
    }

    /// The fields of a thread's store buffer.
    fn buffer_fields(&self, thread: usize) -> Vec<Field> {
        let buffer = &self.layout.buffers[thread];
        let entries = buffer.entries.iter().flat_map(|entry| [entry.slot, entry.value]);
        buffer.len.into_iter().chain(entries).collect()
    }

    /// Adds the fields that a step reads.
    fn add_fields(&self, thread: usize, op: &StepOp, fields: &mut Vec<Field>) {
        let code = |code: &Code, fields: &mut Vec<Field>| code.each_field(&mut |field| fields.push(field));
        let address = |place: &CellTarget, fields: &mut Vec<Field>| {
            if let CellTarget::Computed { address, .. } = place {
                code(address, fields);
            }
        };
        let cell = |place: &CellTarget, fields: &mut Vec<Field>| {
            address(place, fields);
            match place {
                CellTarget::Slot(slot) => fields.push(self.layout.cells[*slot]),
                CellTarget::Computed { within: None, .. } => fields.extend(&self.layout.cells),
                CellTarget::Computed { within: Some((base, len)), .. } => {
                    let cells = self.layout.addresses.iter().zip(&self.layout.cells);
                    fields.extend(
                        cells.filter(|(at, _)| (*base..base.saturating_add(*len)).contains(at)).map(|(_, cell)| cell),
                    );
                }
            }
        };
        fields.extend(self.layout.bus);
        match op {
            StepOp::Nop | StepOp::Havoc { .. } | StepOp::BusLock | StepOp::BusUnlock => {}
            StepOp::Assign { value: read, .. } | StepOp::Assume(read) | StepOp::Assert(read) => code(read, fields),
            StepOp::Load { place, .. } => {
                cell(place, fields);
                fields.extend(self.buffer_fields(thread));
            }
            StepOp::Wait { place, condition, .. } => {
                cell(place, fields);
                condition.each_field(&mut |field| fields.push(field));
                fields.extend(self.buffer_fields(thread));
            }
            StepOp::Store { place, value, .. } => {
                address(place, fields);
                code(value, fields);
                if self.settings.model == Model::Pso {
                    fields.extend(self.buffer_fields(thread));
                }
            }
            StepOp::Rmw { place, operand, .. } => {
                cell(place, fields);
                code(operand, fields);
            }
            StepOp::CompareExchange { place, expected, new, .. } | StepOp::BlockingCas { place, expected, new } => {
                cell(place, fields);
                code(expected, fields);
                code(new, fields);
            }
            StepOp::Drain => {}
            StepOp::Marker => fields.extend(self.buffer_fields(thread)),
            StepOp::Locked { body, .. } => body.iter().for_each(|part| self.add_fields(thread, part, fields)),
        }
        // Most steps ask whether something is pending, or add to it.
        fields.extend(self.layout.buffers[thread].len);
    }

    /// All moves of a thread from a state, with the states that they lead to one after the other. `None`: something is reported, or
    /// does not fit.
    fn moves_of(
        &self,
        thread: usize,
        flush: bool,
        state: &[u64],
        scratch: &mut ExpandScratch,
    ) -> Option<(KnownMove, Vec<u64>)> {
        let mut moved = MoveEffect::default();
        let mut direct = 0;
        scratch.found.clear();
        if flush {
            self.flush_thread(thread, state, scratch, &mut moved).ok()?;
            direct = u32::MAX;
        } else {
            let code = &self.threads[thread];
            let location = self.layout.locations[thread].get(state) as usize;
            for step in &code.steps[code.starts[location]..code.starts[location + 1]] {
                for choice in self.choices(&step.op) {
                    let mut next = state.to_vec();
                    match self.take(thread, step, choice, &mut next) {
                        StepOutcome::Taken => {}
                        StepOutcome::Disabled => continue,
                        _ => return None,
                    }
                    let number = scratch.found.len() / state.len();
                    if number >= MOST_SUCCESSORS {
                        return None;
                    }
                    direct |= u32::from(!code.fusible[step.to as usize]) << number;
                    moved.visible |= step.back;
                    self.run_chain(thread, &next, scratch, &mut moved).ok()?;
                    if code.fusible[step.to as usize] && scratch.chain.is_full() {
                        return None;
                    }
                }
            }
        }
        let successors = scratch.found.len() / state.len();
        if successors > MOST_SUCCESSORS || moved.trouble {
            return None;
        }
        let known = KnownMove { at: 0, successors: successors as u32, direct, visible: moved.visible };
        Some((known, std::mem::take(&mut scratch.found)))
    }
}

impl Code {
    /// Gives the fields that are read.
    fn each_field(&self, give: &mut impl FnMut(Field)) {
        match self {
            Code::Const(_) => {}
            Code::Field(field) | Code::FieldConst(_, field, _) | Code::ConstField(_, _, field) => give(*field),
            Code::FieldField(_, left, right) => {
                give(*left);
                give(*right);
            }
            Code::Stack { code, .. } => code.iter().filter_map(|op| op.field()).for_each(give),
        }
    }
}

impl WaitCode {
    fn each_field(&self, give: &mut impl FnMut(Field)) {
        match self {
            WaitCode::OneOf(values) => values.iter().for_each(|value| value.each_field(give)),
            WaitCode::Stack { code, .. } => code.iter().filter_map(|op| op.field()).for_each(give),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Growth, Overflow};
    use crate::settings::{Purpose, Reductions, Settings};
    use ravelin_explore::{Budget, End, Options, Sink, System, Until, Watch, explore};
    use ravelin_testing::programs::{Config, Generator};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A machine whose moves are looked up after so many states.
    struct After<'a>(&'a Machine, u32, &'a AtomicUsize);

    impl System for After<'_> {
        type Scratch = ExpandScratch;
        type Interrupt = Overflow;

        fn width(&self) -> usize {
            self.0.width()
        }

        fn scratch(&self) -> ExpandScratch {
            let mut scratch = self.0.scratch();
            scratch.before_moves = self.1;
            scratch
        }

        fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
            self.0.initial(emit);
        }

        fn expand(&self, state: &[u64], scratch: &mut ExpandScratch, sink: &mut Sink) -> Result<(), Overflow> {
            let expanded = self.0.expand(state, scratch, sink);
            let known = scratch.moves.as_ref().map_or(0, |moves| moves.moves.len());
            self.2.fetch_max(known, Ordering::Relaxed);
            expanded
        }
    }

    /// The same successors in the same order, the same reports and the same number of transitions.
    #[test]
    fn moves_that_are_looked_up_are_those_that_are_taken_step_by_step() {
        let none = Reductions::NONE;
        let reductions = [
            none,
            Reductions { fuse: true, liveness: true, ..none },
            Reductions { partial_order: true, ..none },
            Reductions::ALL,
        ];
        let configs = [Config::all(), Config::loop_free(), Config::counters()];
        let mut looked_up = 0;
        for seed in ravelin_testing::seeds(400) {
            let program = Generator::new(configs[seed as usize % 3].clone()).program(seed);
            for model in Model::HARDWARE {
                let reductions = reductions[(seed / 3) as usize % reductions.len()];
                let purpose = [Purpose::Goals, Purpose::Finals][seed as usize % 2];
                let buffer = [1, 3, 2][seed as usize % 3];
                let settings = Settings { model, buffer, purpose, reductions, deadlocks: seed % 5 == 0 };
                let watch = Watch::unlimited();
                let Ok(machine) = Machine::new(&program, settings, &Growth::default(), &watch) else { continue };
                if machine.fused_initial_states(&mut |_| {}).is_err() {
                    continue;
                }
                let known = AtomicUsize::new(0);
                let budget = Budget::unlimited().states(3_000);
                let found = |after| {
                    let options = Options { budget, until: Until::Exhausted };
                    let space = explore(&After(&machine, after, &known), &options);
                    let states: Vec<Vec<u64>> = space.ids().map(|id| space.state(id).to_vec()).collect();
                    let end = match space.end {
                        End::Interrupted(outgrown) => Some(outgrown),
                        _ => None,
                    };
                    (states, space.findings, space.statistics.transitions, space.cut_off, end)
                };
                let expected = found(u32::MAX);
                assert_eq!(known.load(Ordering::Relaxed), 0);
                assert!(found(1) == expected, "seed {seed} under {model}, {settings:?}");
                looked_up += usize::from(known.load(Ordering::Relaxed) > 100);
            }
        }
        assert!(looked_up > 10 || !ravelin_testing::is_default_run(), "{looked_up} programs have moves in a table");
    }
}
