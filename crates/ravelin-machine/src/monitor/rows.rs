//! Where the monitor's sets stand behind a packed SC state, and which bits of them can still matter.
//!
//! A set is a row of bits in one or two words. Rows never lie across words, so that a set is read and written with a shift and a
//! mask, and "x leaves every set" is one mask over all words.

use super::deed::Deed;
use super::plan::Plan;
use crate::access::slots;
use crate::compile::Machine;
use crate::layout::{Field, Packer};
use crate::ranges::{Interval, Ranges};
use ravelin_program::{LocId, Value};

/// Words that are looked at together.
const AT_ONCE: usize = 8;

/// A set of columns. One without room is always empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    low: Spot,
    high: Spot,
}

/// Some bits of one word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    pub word: u32,
    pub shift: u32,
    pub mask: u64,
}

impl Spot {
    fn new(packer: &mut Packer, bits: usize) -> Spot {
        let values = match bits {
            0 => return Spot::default(),
            64.. => Interval::FULL,
            _ => Interval { lo: 0, hi: (1 << bits) - 1 },
        };
        let Field { word, shift, mask, .. } = packer.field(values);
        Spot { word, shift, mask }
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
}

impl Row {
    fn new(packer: &mut Packer, columns: usize) -> Row {
        let low = Spot::new(packer, columns.min(64));
        Row { low, high: Spot::new(packer, columns.saturating_sub(64)) }
    }

    pub fn spots(&self) -> [Spot; 2] {
        [self.low, self.high]
    }

    #[inline]
    pub fn get(&self, state: &[u64]) -> u128 {
        let low = u128::from(self.low.get(state));
        if self.high.mask == 0 { low } else { low | u128::from(self.high.get(state)) << 64 }
    }

    #[inline]
    pub fn set(&self, state: &mut [u64], columns: u128) {
        self.low.set(state, columns as u64);
        if self.high.mask != 0 {
            self.high.set(state, (columns >> 64) as u64);
        }
    }

    #[inline]
    pub fn add(&self, state: &mut [u64], columns: u128) {
        self.set(state, self.get(state) | columns);
    }

    #[inline]
    pub fn contains(&self, state: &[u64], column: usize) -> bool {
        self.get(state) >> column & 1 == 1
    }
}

/// What a view knows, and what seq_cst fences add to it: see `view.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ViewRows {
    pub known: Row,
    pub fenced: Row,
}

/// The sets of the monitor, by thread or by tracked cell.
pub(crate) struct Rows {
    /// Words of the SC state, and of the whole.
    pub sc_words: usize,
    pub words: usize,
    /// `T_sc`, `W_sc`, `M_sc`.
    pub thread_sc: Vec<Row>,
    pub write_sc: Vec<Row>,
    pub access_sc: Vec<Row>,
    pub cur: Vec<ViewRows>,
    /// Only of threads in which it can differ from `cur` and is used.
    pub acq: Vec<Option<ViewRows>>,
    /// Without room where no release fence makes it differ from nothing known.
    pub rel: Vec<ViewRows>,
    pub msg: Vec<ViewRows>,
    /// `EM`, `EW`: what the fences before accesses of a cell, and before those its latest write comes after, knew.
    pub access_fenced: Vec<Row>,
    pub write_fenced: Vec<Row>,
    /// By cell with a fact about a different value: the last value that was overwritten.
    pub last_stale: Vec<Option<Field>>,
    /// By fact or mark: its bits in all words of the monitor.
    pub columns: Vec<Vec<u64>>,
    /// By cell: its bits in the `_sc` sets.
    pub sc_columns: Vec<Vec<u64>>,
    /// All rows that have columns of facts.
    view_rows: Vec<Row>,
    /// By fact or mark: what is kept while it is not settled, its cell's bits in the `_sc` sets too.
    open: Vec<Vec<u64>>,
    has_fences: bool,
    /// What the words are where everything is settled.
    settled: Vec<u64>,
    /// By thread and location.
    live: Vec<Vec<Live>>,
}

/// What one thread may still do. Masks are over the words of the monitor.
#[derive(Clone)]
struct Live {
    rows: Vec<u64>,
    /// Facts and marks that the thread may ask for.
    asked: u128,
    /// All but what only seq_cst fences look at, or really all.
    fenced: Vec<u64>,
}

impl Rows {
    pub fn new(machine: &Machine, plan: &Plan) -> Rows {
        let (threads, cells) = (machine.threads.len(), plan.cells.len());
        let mut packer = Packer::behind(machine.layout.words);
        let columns = plan.facts.len() + plan.marks.len();
        let deeds = || plan.deeds.iter().flatten();
        let fenced = if deeds().any(Deed::fences_seq_cst) { plan.facts.len() } else { 0 };
        let mut many =
            |count: usize, bits: usize| -> Vec<Row> { (0..count).map(|_| Row::new(&mut packer, bits)).collect() };
        let (thread_sc, write_sc, access_sc) =
            (many(threads, plan.sc_columns), many(cells, plan.sc_columns), many(cells, plan.sc_columns));
        let mut view = |bits: bool| ViewRows {
            known: many(1, if bits { columns } else { 0 })[0],
            fenced: many(1, if bits { fenced } else { 0 })[0],
        };
        let cur = (0..threads).map(|_| view(true)).collect();
        let acq = (plan.deeds.iter())
            .map(|deeds| {
                let relaxed =
                    deeds.iter().flat_map(Deed::accesses).any(|(m, reads, _)| reads && m.atomic && !m.acquire);
                // With pending knowledge, or marks that hidden fences leave alone, nothing changes: `acq` is `cur` then, too.
                (relaxed && deeds.iter().any(Deed::fences_acquire)).then(|| view(true))
            })
            .collect();
        let rel = (plan.deeds.iter())
            .map(|deeds| view(deeds.iter().any(is_relaxed_write) && deeds.iter().any(Deed::fences_release)))
            .collect();
        let msg = (0..cells).map(|_| view(true)).collect();
        let access_fenced = many(cells, fenced);
        let write_fenced = many(cells, fenced);
        let last_stale = (plan.cells.iter())
            .map(|cell| {
                let Field { lo, mask, .. } = machine.layout.cells[cell.slot];
                cell.different.map(|_| packer.field(Interval { lo, hi: lo.wrapping_add(mask as Value) }))
            })
            .collect();
        let mut rows = Rows {
            sc_words: machine.layout.words,
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
            last_stale,
            columns: Vec::new(),
            sc_columns: Vec::new(),
            view_rows: Vec::new(),
            open: Vec::new(),
            has_fences: fenced > 0,
            settled: Vec::new(),
            live: Vec::new(),
        };
        let of_views: Vec<Row> =
            rows.views().flat_map(|view| [view.known, view.fenced]).chain(rows.eco_rows()).collect();
        rows.columns = (0..columns).map(|column| rows.bits(of_views.iter(), 1 << column)).collect();
        for (cell, field) in rows.last_stale.iter().enumerate() {
            if let (Some((any, _)), Some(field)) = (plan.cells[cell].different, field) {
                rows.columns[any][field.word as usize - rows.sc_words] |= field.mask << field.shift;
            }
        }
        let of_sc: Vec<Row> = rows.sc_rows().collect();
        rows.sc_columns = (plan.cells.iter())
            .map(|cell| rows.bits(of_sc.iter(), cell.sc_column.map_or(0, |column| 1 << column)))
            .collect();
        let known: Vec<Row> = rows.views().map(|view| view.known).chain(of_sc).collect();
        rows.settled = rows.bits(known.iter(), u128::MAX);
        rows.view_rows = of_views;
        rows.open = rows.columns.clone();
        for (open, fact) in rows.open.iter_mut().zip(&plan.facts) {
            open.iter_mut().zip(&rows.sc_columns[fact.cell]).for_each(|(open, column)| *open |= column);
        }
        rows.live = live(machine, plan, &rows);
        rows
    }

    fn views(&self) -> impl Iterator<Item = &ViewRows> {
        self.cur.iter().chain(self.acq.iter().flatten()).chain(&self.rel).chain(&self.msg)
    }

    fn eco_rows(&self) -> impl Iterator<Item = Row> {
        self.access_fenced.iter().chain(&self.write_fenced).copied()
    }

    fn sc_rows(&self) -> impl Iterator<Item = Row> {
        self.thread_sc.iter().chain(&self.write_sc).chain(&self.access_sc).copied()
    }

    /// Some columns of some rows as a mask over the words of the monitor.
    fn bits<'a>(&self, rows: impl Iterator<Item = &'a Row>, columns: u128) -> Vec<u64> {
        let mut state = vec![0; self.words];
        rows.for_each(|row| row.add(&mut state, columns));
        state[self.sc_words..].to_vec()
    }

    /// One column of all views becomes what another is.
    pub fn copy_column(&self, from: usize, to: usize, state: &mut [u64]) {
        for row in &self.view_rows {
            let columns = row.get(state);
            row.set(state, columns & !(1 << to) | (columns >> from & 1) << to);
        }
    }

    /// Clears columns: a mask over the words of the monitor.
    #[inline]
    pub fn clear(&self, state: &mut [u64], columns: &[u64]) {
        for (word, columns) in state[self.sc_words..].iter_mut().zip(columns) {
            *word &= !columns;
        }
    }

    /// Forgets what no access to come can look at, so that states are equal that differ in nothing that matters.
    ///
    /// A fact that every thread knows that may still ask for it is *settled*: nothing can come of it before a write makes it false
    /// for all but the writer. It is then taken to be known everywhere, and so is a cell in the `_sc` sets if all its facts are
    /// settled. Rows that no step to come reads are emptied.
    #[inline]
    pub fn forget(&self, machine: &Machine, state: &mut [u64]) {
        let mut open = 0;
        for ((live, location), cur) in self.live.iter().zip(&machine.layout.locations).zip(&self.cur) {
            open |= live[location.get(state) as usize].asked & !cur.known.get(state);
        }
        // A few words at a time, so that the masks need no memory.
        for start in (self.sc_words..self.words).step_by(AT_ONCE) {
            let words = start - self.sc_words..(start - self.sc_words + AT_ONCE).min(self.words - self.sc_words);
            let (mut rows, mut columns) = ([0; AT_ONCE], [0; AT_ONCE]);
            let mut fenced = [if self.has_fences { 0 } else { u64::MAX }; AT_ONCE];
            for (live, location) in self.live.iter().zip(&machine.layout.locations) {
                let live = &live[location.get(state) as usize];
                add(&live.rows[words.clone()], &mut rows);
                if self.has_fences {
                    add(&live.fenced[words.clone()], &mut fenced);
                }
            }
            let mut left = open;
            while left != 0 {
                add(&self.open[left.trailing_zeros() as usize][words.clone()], &mut columns);
                left &= left - 1;
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

fn is_relaxed_write(deed: &Deed) -> bool {
    deed.accesses().any(|(mode, _, writes)| writes && mode.atomic && !mode.release)
}

/// By thread and location: the rows that its own future needs, what it may ask for, and whether seq_cst fences are to come.
fn live(machine: &Machine, plan: &Plan, rows: &Rows) -> Vec<Vec<Live>> {
    let program = &machine.program;
    let ranges = Ranges::infer(program);
    let every = u128::MAX;
    let unfenced: Vec<Row> = rows.views().map(|view| view.known).chain(rows.sc_rows()).collect();
    let everything: Vec<Row> =
        unfenced.iter().copied().chain(rows.views().map(|view| view.fenced)).chain(rows.eco_rows()).collect();
    let mut plain = rows.bits(unfenced.iter(), every);
    let mut all = rows.bits(everything.iter(), every);
    for field in rows.last_stale.iter().flatten() {
        let word = field.word as usize - rows.sc_words;
        plain[word] |= field.mask << field.shift;
        all[word] |= field.mask << field.shift;
    }
    (program.threads.iter().enumerate())
        .map(|(number, thread)| {
            let cells_of = |transition: usize| -> Vec<usize> {
                let accesses = thread.transitions[transition].instruction.accesses();
                let reached = accesses.iter().flat_map(|access| {
                    slots(program, number, access.address, &ranges, &machine.layout).iter().collect::<Vec<_>>()
                });
                reached.filter_map(|slot| plan.cell_of[slot]).collect()
            };
            let cells: Vec<Vec<usize>> = (0..thread.transitions.len()).map(cells_of).collect();
            let reachable = reachable(thread);
            (0..thread.locations.len())
                .map(|location| {
                    let mut needed: Vec<Row> = Vec::new();
                    let mut asked = 0u128;
                    let mut fences = false;
                    for transition in (0..thread.transitions.len()).filter(|&t| reachable[location][t]) {
                        let deed = plan.deeds[number][transition];
                        fences |= deed.fences_seq_cst();
                        if deed.fences_acquire()
                            && let Some(acq) = rows.acq[number]
                        {
                            needed.extend([acq.known, acq.fenced]);
                        }
                        if cells[transition].is_empty() {
                            continue;
                        }
                        asked |= plan.asked[number][transition].iter().fold(0, |asked, fact| asked | 1 << fact);
                        needed.extend([rows.thread_sc[number], rows.cur[number].known, rows.cur[number].fenced]);
                        for (mode, reads, writes) in deed.accesses() {
                            if writes && mode.atomic && !mode.release {
                                needed.extend([rows.rel[number].known, rows.rel[number].fenced]);
                            }
                            for &cell in &cells[transition] {
                                asked |= plan.conflicts(cell, number, mode.atomic, writes);
                                if reads && mode.atomic && (mode.acquire || writes || rows.acq[number].is_some()) {
                                    needed.extend([rows.msg[cell].known, rows.msg[cell].fenced]);
                                }
                                if writes {
                                    needed.extend([rows.access_sc[cell], rows.access_fenced[cell]]);
                                } else {
                                    needed.extend([rows.write_sc[cell], rows.write_fenced[cell]]);
                                }
                            }
                        }
                    }
                    let fenced = if fences { all.clone() } else { plain.clone() };
                    let mut needed = rows.bits(needed.iter(), every);
                    for (cell, field) in plan.cells.iter().zip(&rows.last_stale) {
                        if let Some(field) = field.filter(|_| cell.own & asked != 0) {
                            needed[field.word as usize - rows.sc_words] |= field.mask << field.shift;
                        }
                    }
                    Live { rows: needed, asked, fenced }
                })
                .collect()
        })
        .collect()
}

/// By location: the transitions that can still be taken.
fn reachable(thread: &ravelin_program::Thread) -> Vec<Vec<bool>> {
    let mut reachable = vec![vec![false; thread.transitions.len()]; thread.locations.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for location in (0..thread.locations.len()).rev() {
            for (id, transition) in thread.outgoing(LocId(location)) {
                let mut further = std::mem::take(&mut reachable[location]);
                changed |= !std::mem::replace(&mut further[id.0], true);
                if transition.to.0 != location {
                    for (mine, theirs) in further.iter_mut().zip(&reachable[transition.to.0]) {
                        changed |= *theirs && !*mine;
                        *mine |= theirs;
                    }
                }
                reachable[location] = further;
            }
        }
    }
    reachable
}
