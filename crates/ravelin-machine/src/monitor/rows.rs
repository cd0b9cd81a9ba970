//! Where the monitor's sets are after a packed SC state, and which of their bits can still matter.
//!
//! A set is a row of bits in one or more words. Parts of rows never cross words, so that a set is read and written with
//! a shift and a mask, and "x leaves every set" is one mask over all words.

use super::columns::Columns;
use super::effect::MonitorEffect;
use super::plan::MonitorPlan;
use crate::access::slots;
use crate::compile::Machine;
use crate::layout::{Field, Packer};
use crate::ranges::{Interval, Ranges};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Model, Value};

/// How many words are processed together.
const AT_ONCE: usize = 8;

/// A set of columns. One without room is always empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnSet<const N: usize> {
    /// 64 columns each except the last; without room after that.
    spots: [BitRange; N],
}

/// Some bits of one word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BitRange {
    pub word: u32,
    pub shift: u32,
    pub mask: u64,
}

impl BitRange {
    pub fn new(packer: &mut Packer, bits: usize) -> BitRange {
        let values = match bits {
            0 => return BitRange::default(),
            64.. => Interval::FULL,
            _ => Interval { lo: 0, hi: (1 << bits) - 1 },
        };
        BitRange::of(&packer.field(values))
    }

    pub fn of(field: &Field) -> BitRange {
        let Field { word, shift, mask, .. } = *field;
        BitRange { word, shift, mask }
    }

    #[inline]
    pub fn get(&self, state: &[u64]) -> u64 {
        (state[self.word as usize] >> self.shift) & self.mask
    }

    #[inline]
    pub fn set(&self, state: &mut [u64], bits: u64) {
        let word = &mut state[self.word as usize];
        *word = *word & !(self.mask << self.shift) | (bits & self.mask) << self.shift;
    }

    /// Adds these bits to a mask over the words from `first_word` on. Without bits there is no word.
    fn add_to(&self, first_word: usize, mask: &mut [u64]) {
        if self.mask != 0 {
            mask[self.word as usize - first_word] |= self.mask << self.shift;
        }
    }
}

impl<const N: usize> ColumnSet<N> {
    fn new(packer: &mut Packer, columns: usize) -> ColumnSet<N> {
        ColumnSet {
            spots: std::array::from_fn(|word| BitRange::new(packer, columns.saturating_sub(64 * word).min(64))),
        }
    }

    pub fn spots(&self) -> [BitRange; N] {
        self.spots
    }

    #[inline]
    pub fn get(&self, state: &[u64]) -> Columns<N> {
        let mut words = [0; N];
        for (word, spot) in words.iter_mut().zip(&self.spots) {
            if spot.mask == 0 {
                break;
            }
            *word = spot.get(state);
        }
        Columns::of_words(words)
    }

    #[inline]
    pub fn set(&self, state: &mut [u64], columns: Columns<N>) {
        for (spot, &word) in self.spots.iter().zip(columns.words()) {
            if spot.mask == 0 {
                break;
            }
            spot.set(state, word);
        }
    }

    #[inline]
    pub fn add(&self, state: &mut [u64], columns: Columns<N>) {
        self.set(state, self.get(state) | columns);
    }

    #[inline]
    pub fn contains(&self, state: &[u64], column: usize) -> bool {
        self.spots[column / 64].get(state) >> (column % 64) & 1 == 1
    }
}

/// What a view knows, and what seq_cst fences add to it: see `view.rs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewRows<const N: usize> {
    pub known: ColumnSet<N>,
    pub fenced: ColumnSet<N>,
}

/// What TSO and PSO need beside `cur`, which is `VR` there, and `msg`, which is `M`: see `buffers.rs`.
pub(crate) struct BufferRows<const N: usize> {
    /// `VW`, `U` and `PW`, by thread; the last without room under TSO.
    pub stores: Vec<ColumnSet<N>>,
    pub seen: Vec<ColumnSet<N>>,
    pub carried: Vec<ColumnSet<N>>,
    /// `L`, by cell.
    pub next: Vec<ColumnSet<N>>,
    /// By thread and cell: whether the latest write is a store of the thread itself. Without room for threads that do not
    /// both store to the cell and load it. An RMW is a fence: what its message carries, the thread knows.
    pub owns: Vec<Vec<BitRange>>,
}

impl<const N: usize> BufferRows<N> {
    /// Those that hold the facts that are known, unlike `PW`.
    fn known(&self) -> impl Iterator<Item = ColumnSet<N>> {
        self.stores.iter().chain(&self.seen).chain(&self.next).copied()
    }

    fn all(&self) -> impl Iterator<Item = ColumnSet<N>> {
        self.known().chain(self.carried.iter().copied())
    }

    /// All sets of a thread.
    pub fn of_thread(&self, thread: usize) -> [ColumnSet<N>; 3] {
        [self.stores[thread], self.seen[thread], self.carried[thread]]
    }
}

/// The sets of the monitor, by thread or by tracked cell.
pub(crate) struct Rows<const N: usize> {
    /// Words before these sets, and of the whole state.
    pub first_word: usize,
    pub words: usize,
    /// `T_sc`, `W_sc`, `M_sc`.
    pub thread_sc: Vec<ColumnSet<N>>,
    pub write_sc: Vec<ColumnSet<N>>,
    pub access_sc: Vec<ColumnSet<N>>,
    pub cur: Vec<ViewRows<N>>,
    /// Only for threads in which it can differ from `cur` and is used.
    pub acq: Vec<Option<ViewRows<N>>>,
    /// Without room where no release fence makes it differ from no knowledge.
    pub rel: Vec<ViewRows<N>>,
    pub msg: Vec<ViewRows<N>>,
    /// `EM`, `EW`: what the fences before accesses of a cell knew, and those before the accesses that its latest write
    /// comes after.
    pub access_fenced: Vec<ColumnSet<N>>,
    pub write_fenced: Vec<ColumnSet<N>>,
    /// What the order of seq_cst accesses forbids the next such access of a thread to miss, and what it hands over to
    /// such reads and writes of a cell. Without room where nothing is chained.
    pub thread_chain: Vec<ColumnSet<N>>,
    pub write_chain: Vec<ColumnSet<N>>,
    pub access_chain: Vec<ColumnSet<N>>,
    pub has_chains: bool,
    /// For TSO and PSO.
    pub buffers: Option<BufferRows<N>>,
    /// By cell with a fact about a different value: the last value that was overwritten.
    pub last_stale: Vec<Option<Field>>,
    /// By fact or mark: its bits in all words of the monitor.
    pub columns: Vec<Vec<u64>>,
    /// By cell: its bits in the `_sc` sets.
    pub sc_columns: Vec<Vec<u64>>,
    /// All rows that have columns of facts.
    view_rows: Vec<ColumnSet<N>>,
    /// By fact or mark: what is kept while it is not settled, including its cell's bits in the `_sc` sets.
    open: Vec<Vec<u64>>,
    has_fences: bool,
    /// The words when everything is settled.
    settled: Vec<u64>,
    /// By cell: which thread made the latest write.
    pub owners: Vec<Vec<u64>>,
    /// The same of all cells. They belong to no column and are kept while anything is not settled. After that `M` holds
    /// nothing that matters: a fact that a write makes false leaves it.
    every_owner: Vec<u64>,
    /// By thread and location.
    live: Vec<Vec<LiveCells<N>>>,
}

/// What one thread may still do. Masks are over the words of the monitor.
#[derive(Clone)]
struct LiveCells<const N: usize> {
    rows: Vec<u64>,
    /// Facts and marks that the thread may ask for.
    asked: Columns<N>,
    /// Everything except what only seq_cst fences read, or everything.
    fenced: Vec<u64>,
}

impl<const N: usize> Rows<N> {
    pub fn new(machine: &Machine, plan: &MonitorPlan, first_word: usize, watch: &Watch) -> Result<Rows<N>, Limit> {
        let (threads, cells) = (machine.threads.len(), plan.cells.len());
        let mut packer = Packer::behind(first_word);
        let columns = plan.columns();
        let effects = || plan.effects.iter().flatten();
        let hardware = plan.hardware.is_some();
        let fenced = if !hardware && effects().any(MonitorEffect::fences_seq_cst) { plan.facts.len() } else { 0 };
        let mut many = |count: usize, bits: usize| -> Vec<ColumnSet<N>> {
            (0..count).map(|_| ColumnSet::new(&mut packer, bits)).collect()
        };
        let (thread_sc, write_sc, access_sc) =
            (many(threads, plan.sc_columns), many(cells, plan.sc_columns), many(cells, plan.sc_columns));
        let mut view = |bits: bool| ViewRows {
            known: many(1, if bits { columns } else { 0 })[0],
            fenced: many(1, if bits { fenced } else { 0 })[0],
        };
        let cur = (0..threads).map(|_| view(true)).collect();
        let acq = (plan.effects.iter())
            .map(|effects| {
                let relaxed = effects
                    .iter()
                    .flat_map(MonitorEffect::accesses)
                    .any(|(m, reads, _)| reads && m.atomic && !m.acquire);
                // With pending knowledge, or marks that hidden fences do not change, nothing changes: `acq` equals
                // `cur` then, too.
                (!hardware && relaxed && effects.iter().any(MonitorEffect::fences_acquire)).then(|| view(true))
            })
            .collect();
        let rel = (plan.effects.iter())
            .map(|effects| {
                let releases =
                    effects.iter().any(is_relaxed_write) && effects.iter().any(MonitorEffect::fences_release);
                view(!hardware && releases)
            })
            .collect();
        let msg = (0..cells).map(|_| view(true)).collect();
        let access_fenced = many(cells, fenced);
        let write_fenced = many(cells, fenced);
        let has_chains = effects().any(MonitorEffect::is_chained);
        let chained = if has_chains { plan.facts.len() } else { 0 };
        let (thread_chain, write_chain, access_chain) =
            (many(threads, chained), many(cells, chained), many(cells, chained));
        let buffers = plan.hardware.map(|model| {
            let carried = if model == Model::Pso { columns } else { 0 };
            let mut many = |count: usize, bits: usize| -> Vec<ColumnSet<N>> {
                (0..count).map(|_| ColumnSet::new(&mut packer, bits)).collect()
            };
            let (stores, seen) = (many(threads, columns), many(threads, columns));
            let (carried, next) = (many(threads, carried), many(cells, columns));
            let owns = (0..threads)
                .map(|thread| {
                    let rereads = plan.cells.iter().map(|cell| cell.rereads[thread]);
                    rereads.map(|rereads| BitRange::new(&mut packer, usize::from(rereads))).collect()
                })
                .collect();
            BufferRows { stores, seen, carried, next, owns }
        });
        let last_stale = (plan.cells.iter())
            .map(|cell| {
                let Field { lo, mask, .. } = machine.layout.cells[cell.slot];
                cell.different.map(|_| packer.field(Interval { lo, hi: lo.wrapping_add(mask as Value) }))
            })
            .collect();
        let mut rows = Rows {
            first_word,
            words: packer.words(),
            thread_sc,
            write_sc,
            access_sc,
            cur,
            acq,
            rel,
            msg,
            access_fenced,
            write_fenced,
            thread_chain,
            write_chain,
            access_chain,
            has_chains,
            buffers,
            last_stale,
            columns: Vec::new(),
            sc_columns: Vec::new(),
            view_rows: Vec::new(),
            open: Vec::new(),
            has_fences: fenced > 0,
            settled: Vec::new(),
            owners: Vec::new(),
            every_owner: Vec::new(),
            live: Vec::new(),
        };
        let of_views: Vec<ColumnSet<N>> =
            (rows.views().flat_map(|view| [view.known, view.fenced]).chain(rows.eco_rows()).chain(rows.chain_rows()))
                .chain(rows.buffers.iter().flat_map(BufferRows::all))
                .collect();
        rows.columns = (0..columns).map(|column| rows.bits(of_views.iter(), Columns::one(column))).collect();
        for (cell, field) in rows.last_stale.iter().enumerate() {
            if let (Some((any, _)), Some(field)) = (plan.cells[cell].different, field) {
                add_field(field, rows.first_word, &mut rows.columns[any]);
            }
        }
        let of_sc: Vec<ColumnSet<N>> = rows.sc_rows().collect();
        rows.sc_columns = (plan.cells.iter())
            .map(|cell| rows.bits(of_sc.iter(), cell.sc_column.map_or(Columns::NONE, Columns::one)))
            .collect();
        let buffered = rows.buffers.iter().flat_map(BufferRows::known);
        let known: Vec<ColumnSet<N>> = rows.views().map(|view| view.known).chain(of_sc).chain(buffered).collect();
        rows.settled = rows.bits(known.iter(), Columns::EVERY);
        rows.owners = vec![vec![0; rows.words - rows.first_word]; cells];
        rows.every_owner = vec![0; rows.words - rows.first_word];
        for owns in rows.buffers.iter().flat_map(|buffers| &buffers.owns) {
            for (bit, owner) in owns.iter().zip(&mut rows.owners) {
                bit.add_to(rows.first_word, owner);
                bit.add_to(rows.first_word, &mut rows.every_owner);
            }
        }
        rows.view_rows = of_views;
        rows.open = rows.columns.clone();
        for (open, fact) in rows.open.iter_mut().zip(&plan.facts) {
            open.iter_mut().zip(&rows.sc_columns[fact.cell]).for_each(|(open, column)| *open |= column);
        }
        rows.live = live(machine, plan, &rows, watch)?;
        Ok(rows)
    }

    fn views(&self) -> impl Iterator<Item = &ViewRows<N>> {
        self.cur.iter().chain(self.acq.iter().flatten()).chain(&self.rel).chain(&self.msg)
    }

    fn eco_rows(&self) -> impl Iterator<Item = ColumnSet<N>> {
        self.access_fenced.iter().chain(&self.write_fenced).copied()
    }

    fn chain_rows(&self) -> impl Iterator<Item = ColumnSet<N>> {
        self.thread_chain.iter().chain(&self.write_chain).chain(&self.access_chain).copied()
    }

    pub fn sc_rows(&self) -> impl Iterator<Item = ColumnSet<N>> {
        self.thread_sc.iter().chain(&self.write_sc).chain(&self.access_sc).copied()
    }

    pub fn rows_of_facts(&self) -> &[ColumnSet<N>] {
        &self.view_rows
    }

    /// Some columns of some rows as a mask over the words of the monitor.
    fn bits<'a>(&self, rows: impl Iterator<Item = &'a ColumnSet<N>>, columns: Columns<N>) -> Vec<u64> {
        let mut state = vec![0; self.words];
        rows.for_each(|row| row.add(&mut state, columns));
        state[self.first_word..].to_vec()
    }

    /// Copies one column of all views to another.
    pub fn copy_column(&self, from: usize, to: usize, state: &mut [u64]) {
        for row in &self.view_rows {
            let columns = row.get(state);
            let others = columns & !Columns::one(to);
            row.set(state, if columns.contains(from) { others | Columns::one(to) } else { others });
        }
    }

    /// Clears columns: a mask over the words of the monitor.
    #[inline]
    pub fn clear(&self, state: &mut [u64], columns: &[u64]) {
        for (word, columns) in state[self.first_word..].iter_mut().zip(columns) {
            *word &= !columns;
        }
    }

    /// Forgets what no later access can read, so that states that differ only in irrelevant bits are equal.
    ///
    /// A fact is *settled* if every thread that may still ask for it knows it: it has no effect before a write makes it
    /// false for all but the writer. It is then taken to be known everywhere, and so is a cell in the `_sc` sets if all
    /// its facts are settled. Rows that no later step reads are emptied.
    #[inline]
    pub fn forget(&self, machine: &Machine, state: &mut [u64]) {
        let mut open = Columns::NONE;
        for (thread, (live, location)) in self.live.iter().zip(&machine.layout.locations).enumerate() {
            let mut known = self.cur[thread].known.get(state);
            if let Some(buffers) = &self.buffers {
                // What is ordered before the next load is ordered before the next store, too.
                known |= buffers.seen[thread].get(state);
            }
            open |= live[location.get(state) as usize].asked & !known;
        }
        // A few words at a time, so that the masks need no memory.
        for start in (self.first_word..self.words).step_by(AT_ONCE) {
            let words = start - self.first_word..(start - self.first_word + AT_ONCE).min(self.words - self.first_word);
            let (mut rows, mut columns) = ([0; AT_ONCE], [0; AT_ONCE]);
            let mut fenced = [if self.has_fences { 0 } else { u64::MAX }; AT_ONCE];
            for (live, location) in self.live.iter().zip(&machine.layout.locations) {
                let live = &live[location.get(state) as usize];
                add(&live.rows[words.clone()], &mut rows);
                if self.has_fences {
                    add(&live.fenced[words.clone()], &mut fenced);
                }
            }
            open.for_each(|column| add(&self.open[column][words.clone()], &mut columns));
            if self.buffers.is_some() && !open.is_empty() {
                add(&self.every_owner[words.clone()], &mut columns);
            }
            let settled = &self.settled[words];
            let masks = rows.iter().zip(&columns).zip(&fenced);
            for ((word, settled), ((rows, columns), fenced)) in state[start..].iter_mut().zip(settled).zip(masks) {
                *word = (*word & columns | settled & !columns) & rows & fenced;
            }
        }
    }
}

#[inline]
fn add(masks: &[u64], to: &mut [u64; AT_ONCE]) {
    for (to, mask) in to.iter_mut().zip(masks) {
        *to |= mask;
    }
}

/// Adds the bits of a field to a mask over the words of the monitor.
fn add_field(field: &Field, first_word: usize, mask: &mut [u64]) {
    BitRange::of(field).add_to(first_word, mask);
}

fn is_relaxed_write(effect: &MonitorEffect) -> bool {
    effect.accesses().any(|(mode, _, writes)| writes && mode.atomic && !mode.release)
}

/// By thread and location: the rows that its own future needs, what it may ask for, and whether seq_cst fences follow.
///
/// Each step needs something by itself, and a location needs what its steps and the locations after them need: a
/// fixpoint against the control flow.
fn live<const N: usize>(
    machine: &Machine,
    plan: &MonitorPlan,
    rows: &Rows<N>,
    watch: &Watch,
) -> Result<Vec<Vec<LiveCells<N>>>, Limit> {
    let program = &machine.program;
    let ranges = Ranges::infer(program, watch)?;
    let every = Columns::EVERY;
    let unfenced: Vec<ColumnSet<N>> =
        rows.views().map(|view| view.known).chain(rows.sc_rows()).chain(rows.chain_rows()).collect();
    let unfenced: Vec<ColumnSet<N>> =
        unfenced.into_iter().chain(rows.buffers.iter().flat_map(BufferRows::all)).collect();
    let everything: Vec<ColumnSet<N>> =
        unfenced.iter().copied().chain(rows.views().map(|view| view.fenced)).chain(rows.eco_rows()).collect();
    let mut plain = rows.bits(unfenced.iter(), every);
    let mut all = rows.bits(everything.iter(), every);
    for mask in [&mut plain, &mut all] {
        rows.last_stale.iter().flatten().for_each(|field| add_field(field, rows.first_word, mask));
        mask.iter_mut().zip(&rows.every_owner).for_each(|(mask, owners)| *mask |= owners);
    }
    let mut live = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let needs = |transition: usize| {
            let effect = plan.effects[number][transition];
            let mut needed: Vec<ColumnSet<N>> = Vec::new();
            let mut asked = Columns::NONE;
            if effect.fences_acquire()
                && let Some(acq) = rows.acq[number]
            {
                needed.extend([acq.known, acq.fenced]);
            }
            let accesses = thread.transitions[transition].instruction.accesses();
            let reached = accesses.iter().flat_map(|access| {
                slots(program, number, access.address, &ranges, &machine.layout).iter().collect::<Vec<_>>()
            });
            let cells: Vec<usize> = reached.filter_map(|slot| plan.cell_of[slot]).collect();
            if !cells.is_empty() {
                asked |= plan.asked[number][transition].iter().copied().collect();
                needed.extend([rows.thread_sc[number], rows.cur[number].known, rows.cur[number].fenced]);
                if let Some(buffers) = &rows.buffers {
                    needed.extend(buffers.of_thread(number));
                    needed.extend(cells.iter().flat_map(|&cell| [buffers.next[cell], rows.msg[cell].known]));
                }
                for (mode, reads, writes) in effect.accesses() {
                    if writes && mode.atomic && !mode.release {
                        needed.extend([rows.rel[number].known, rows.rel[number].fenced]);
                    }
                    for &cell in &cells {
                        asked |= plan.conflicts(cell, number, mode.atomic, writes);
                        if reads && mode.atomic && (mode.acquire || writes || rows.acq[number].is_some()) {
                            needed.extend([rows.msg[cell].known, rows.msg[cell].fenced]);
                        }
                        if writes {
                            needed.extend([rows.access_sc[cell], rows.access_fenced[cell]]);
                        } else {
                            needed.extend([rows.write_sc[cell], rows.write_fenced[cell]]);
                        }
                        if mode.chained {
                            let found = if writes { rows.access_chain[cell] } else { rows.write_chain[cell] };
                            needed.extend([rows.thread_chain[number], found]);
                        }
                    }
                }
            }
            let mut mask = rows.bits(needed.iter(), every);
            for bit in rows.buffers.iter().flat_map(|buffers| cells.iter().map(|&cell| buffers.owns[number][cell])) {
                bit.add_to(rows.first_word, &mut mask);
            }
            (LiveNeeds { rows: mask, asked, fences: effect.fences_seq_cst() }, cells.len())
        };
        let words = rows.words - rows.first_word;
        watch.hold(thread.locations.len() * (size_of::<LiveNeeds<N>>() + size_of::<LiveCells<N>>() + 24 * words))?;
        let nothing = LiveNeeds { rows: vec![0; words], asked: Columns::NONE, fences: false };
        let mut needed = vec![nothing; thread.locations.len()];
        for (index, transition) in thread.transitions.iter().enumerate() {
            let (needs, cells) = needs(index);
            watch.steps(1 + cells + words / 8)?;
            needed[transition.from.0].add(&needs);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for transition in thread.transitions.iter().rev().filter(|transition| transition.from != transition.to) {
                watch.steps(1 + words / 8)?;
                let later = std::mem::take(&mut needed[transition.to.0]);
                changed |= needed[transition.from.0].add(&later);
                needed[transition.to.0] = later;
            }
        }
        let of_location = |LiveNeeds { rows: mut needed, asked, fences }: LiveNeeds<N>| {
            let fenced = if fences { all.clone() } else { plain.clone() };
            for (cell, field) in plan.cells.iter().zip(&rows.last_stale) {
                if let Some(field) = field.filter(|_| cell.facts.iter().any(|&fact| asked.contains(fact))) {
                    add_field(&field, rows.first_word, &mut needed);
                }
            }
            LiveCells { rows: needed, asked, fenced }
        };
        live.push(needed.into_iter().map(of_location).collect());
    }
    Ok(live)
}

/// What a location needs so far.
#[derive(Clone)]
struct LiveNeeds<const N: usize> {
    rows: Vec<u64>,
    asked: Columns<N>,
    fences: bool,
}

impl<const N: usize> Default for LiveNeeds<N> {
    fn default() -> LiveNeeds<N> {
        LiveNeeds { rows: Vec::new(), asked: Columns::NONE, fences: false }
    }
}

impl<const N: usize> LiveNeeds<N> {
    /// Adds what another needs, and returns whether that changed anything.
    fn add(&mut self, other: &LiveNeeds<N>) -> bool {
        let mut changed = other.fences && !self.fences;
        for (mine, theirs) in self.rows.iter_mut().zip(&other.rows) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        let asked = self.asked | other.asked;
        changed |= asked != self.asked;
        self.asked = asked;
        self.fences |= other.fences;
        changed
    }
}
