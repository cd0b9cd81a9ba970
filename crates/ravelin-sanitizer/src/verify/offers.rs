//! What may be changed in a program, and what it costs.
//!
//! The costs are those of `ravelin fence` for C11: a stronger order is 1, both acquire and release 2, a seq_cst fence 4,
//! and a seq_cst store as much as a fence, because that is what processors make of it. Of changes that cost the same,
//! those are better that are executed less often.

use super::seen::{SeenAccess, SeenAccesses};
use crate::repair::{Fix, OrderChange};
use crate::symbols::Symbols;
use ravelin_covers::Cost;
use ravelin_findings::{Module, RecordedOrder};
use ravelin_verify::Changes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What an acquire or a release costs.
const ORDER: u64 = 1;
/// What a seq_cst fence costs.
const FENCE: u64 = 4;

/// All places of a program that may be changed, and all changes.
#[derive(Debug, Default)]
pub struct Offers {
    pub places: Vec<SourcePlace>,
    pub all: Vec<ChangeOffer>,
}

/// An atomic access in the source.
#[derive(Debug)]
pub struct SourcePlace {
    /// As it is shown: relative to the current directory if it is below that.
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
    /// It is the only one of its line.
    is_alone: bool,
    /// What the compiler made of it: a function may be inlined at several places.
    accesses: Vec<PlacedAccess>,
}

/// An access of the binary.
#[derive(Debug)]
struct PlacedAccess {
    pc: u64,
    /// Its file, as a hash of the path, and the offset in it.
    file: u64,
    offset: u64,
    seen: SeenAccess,
}

/// A change that may be taken.
#[derive(Clone, Copy, Debug)]
pub struct ChangeOffer {
    /// The number of its place.
    pub place: usize,
    pub change: OrderChange,
    pub cost: Cost,
}

impl Offers {
    /// The offers for accesses that were seen. Code of the system, and code without lines, is not changed.
    pub fn new(
        seen: &SeenAccesses,
        modules: &[Module],
        executable: Option<&Path>,
        directory: Option<PathBuf>,
    ) -> Offers {
        let mut symbols = Symbols::new(directory);
        let mut places: BTreeMap<(String, u32, Option<u32>, bool), Vec<PlacedAccess>> = BTreeMap::new();
        for (pc, seen) in seen.iter() {
            let Some(module) = modules.iter().find(|module| (module.start..module.end).contains(&pc)) else { continue };
            let stack = symbols.stack(modules, executable, &[pc]);
            let Some(frame) = stack.first().filter(|frame| !frame.system) else { continue };
            let (Some(file), Some(line)) = (&frame.file, frame.line) else { continue };
            let access = PlacedAccess {
                pc,
                file: ravelin_findings::hash(&module.path),
                offset: pc.wrapping_sub(module.bias),
                seen,
            };
            // Reads and writes apart: a line without columns may have both.
            places.entry((file.clone(), line, frame.column, seen.writes)).or_default().push(access);
        }
        let lines: Vec<(String, u32)> = places.keys().map(|(file, line, ..)| (file.clone(), *line)).collect();
        let is_alone =
            |file: &str, line: u32| lines.iter().filter(|other| (&*other.0, other.1) == (file, line)).count() == 1;
        let places: Vec<SourcePlace> = (places.into_iter())
            .map(|((file, line, column, _), accesses)| {
                let is_alone = is_alone(&file, line);
                SourcePlace { file, line, column, is_alone, accesses }
            })
            .collect();
        let all = places.iter().enumerate().flat_map(|(number, place)| place.offers(number)).collect();
        Offers { places, all }
    }

    pub fn costs(&self) -> Vec<Cost> {
        self.all.iter().map(|offer| offer.cost).collect()
    }

    /// By offer: of those with the same number at most one is taken.
    pub fn kinds(&self) -> Vec<usize> {
        let kind = |offer: &ChangeOffer| 2 * offer.place + usize::from(offer.change == OrderChange::Fence);
        self.all.iter().map(kind).collect()
    }

    /// The offers, cheapest first.
    pub fn by_cost(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.all.len()).collect();
        all.sort_by_key(|&offer| (self.all[offer].cost, offer));
        all
    }

    /// Some of the offers, for the judge.
    pub fn changes(&self, taken: &[usize]) -> Changes {
        let mut changes = Changes::default();
        for (access, change) in self.taken(taken) {
            changes.add(access.pc, change);
        }
        changes
    }

    /// Some of the offers, as words for the runtime.
    pub fn words(&self, taken: &[usize]) -> Vec<String> {
        let word = |(access, change): (&PlacedAccess, OrderChange)| {
            format!("fix={:x}:{:x}:{}", access.file, access.offset, change.name())
        };
        self.taken(taken).map(word).collect()
    }

    /// Some of the offers, as a user names them.
    pub fn fix(&self, offer: usize) -> Fix {
        let ChangeOffer { place, change, .. } = self.all[offer];
        Fix { place: self.places[place].name(), repair: change }
    }

    /// How many accesses of the source are not seq_cst.
    pub fn weaker_than_seq_cst(&self) -> usize {
        self.places.iter().filter(|place| place.order() != RecordedOrder::SeqCst).count()
    }

    fn taken<'a>(&'a self, taken: &'a [usize]) -> impl Iterator<Item = (&'a PlacedAccess, OrderChange)> + 'a {
        taken.iter().flat_map(|&offer| {
            let ChangeOffer { place, change, .. } = self.all[offer];
            self.places[place].accesses.iter().map(move |access| (access, change))
        })
    }
}

impl SourcePlace {
    fn name(&self) -> String {
        match self.column.filter(|_| !self.is_alone) {
            Some(column) => format!("{}:{}:{column}", self.file, self.line),
            None => format!("{}:{}", self.file, self.line),
        }
    }

    /// The weakest order that the accesses have.
    fn order(&self) -> RecordedOrder {
        let all = self.accesses.iter().map(|access| access.seen.order);
        all.min_by_key(|order| (order.acquires(), order.releases(), *order as u64)).unwrap_or(RecordedOrder::SeqCst)
    }

    fn offers(&self, number: usize) -> Vec<ChangeOffer> {
        let reads = self.accesses.iter().any(|access| access.seen.reads);
        let writes = self.accesses.iter().any(|access| access.seen.writes);
        let times: u64 = self.accesses.iter().map(|access| access.seen.times).sum();
        let order = self.order();
        let orders = match (reads, writes) {
            (true, true) => &[
                (OrderChange::Acquire, ORDER),
                (OrderChange::Release, ORDER),
                (OrderChange::AcqRel, 2 * ORDER),
                (OrderChange::SeqCst, 3 * ORDER),
            ][..],
            (true, false) => &[(OrderChange::Acquire, ORDER), (OrderChange::SeqCst, 2 * ORDER)],
            _ => &[(OrderChange::Release, ORDER), (OrderChange::SeqCst, FENCE)],
        };
        let is_stronger = |change: OrderChange| change.apply(order, (reads, writes)) != order;
        let orders = orders.iter().copied().filter(|(change, _)| is_stronger(*change));
        let weighed = orders.chain([(OrderChange::Fence, FENCE)]);
        weighed
            .enumerate()
            .map(|(rank, (change, main))| {
                let tie = times.saturating_mul(8).saturating_add(rank as u64);
                ChangeOffer { place: number, change, cost: Cost { main, tie } }
            })
            .collect()
    }
}
