//! Where a text can be changed to keep accesses in order, and the text with such changes.
//!
//! An *outline* of each language ([`rav`], [`rocker`], [`litmus_c`], [`litmus_x86`], [`memorax`]) lists the places at which its grammar
//! takes a fence. The places are tried: the text with all fences is read and compared with the program ([`matching`], [`search`]), which
//! tells the transitions that pass each fence. So what a site does in the program is never assumed; it is what the front end makes of
//! the text. [`choose`] makes sites of the places. Trencher's automata need no such detour ([`trencher`]). Stores that become exchanges and
//! accesses that get other orders ([`orders`]) are tried in the same way.
//!
//! For every choice of sites, reading [`Sites::text`] gives the program that [`ravelin_program::repaired`] makes, but for numbers of
//! locations, a fence before a thread's first step (where it does nothing), and steps that do nothing in place of fences taken away.
//!
//! ```
//! use ravelin_frontend::Language;
//! use ravelin_frontend::sites::{RepairKind, SiteRequest, sites};
//! use ravelin_program::{FenceStrength, Source};
//!
//! let source = Source::new("half.rav", "static x; static y;\nthread t {\n    x.store(1);\n    let r = y.load();\n}\n");
//! let found = sites(&source, Language::Rav, &SiteRequest::new(RepairKind::Fence)).unwrap();
//! let site = found.sites.iter().position(|site| site.name == "L4").unwrap();
//! let text = found.text(&[(site, FenceStrength::Full)]).unwrap();
//! assert!(text.contains("    x.store(1);\n    fence();\n    let r = y.load();\n"));
//! ```

mod c;
mod choose;
mod edit;
mod litmus_c;
mod litmus_x86;
mod matching;
mod memorax;
mod name;
mod orders;
mod rav;
mod rocker;
mod search;
mod trencher;

use crate::{Language, parse};
use edit::{EditPiece, EditPlace, FenceCell, OwnedPiece, write};
use litmus_x86::X86Table;
use matching::{ProgramMatch, ProgramMismatch, Rewriting, TextChanges, compare};
use orders::OrderedAccess;
use ravelin_program::{
    Change, Copies, FenceStrength, Instruction, Lowering, Order, OrderSlot, Program, Site, Source, Span, ThreadId,
    ThreadTransition, TransitionId,
};
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairKind {
    /// Fences are put in.
    Fence,
    /// Plain stores become locked exchanges.
    Rmw,
    /// Fences are put in, and atomic accesses get stronger orders.
    Strengthen,
}

impl RepairKind {
    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            RepairKind::Fence => "fence",
            RepairKind::Rmw => "rmw",
            RepairKind::Strengthen => "strengthen",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SiteRequest {
    pub repair: RepairKind,
    /// Fences that stand there are sites, too, and go if they are not chosen.
    pub existing: bool,
    /// Which orders that are written are sites, too, and become weaker if they are not chosen.
    pub lower: Lowering,
    /// How many threads stand for each `thread p[*]`.
    pub copies: Option<usize>,
}

impl SiteRequest {
    /// About what is not there yet.
    pub const fn new(repair: RepairKind) -> SiteRequest {
        SiteRequest { repair, existing: false, lower: Lowering::Nothing, copies: None }
    }
}

/// Why there are no sites.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoSites {
    #[error("the program has errors, the first of which is: {0}")]
    Wrong(String),
    #[error("{0}")]
    NotExpressible(&'static str),
}

/// Why a text cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoText {
    #[error("there is no site {0}")]
    NoSuchSite(usize),
    #[error("the site {0} is chosen twice")]
    Twice(String),
    #[error("the language has no such fence or order; use another one at {0}")]
    NotOffered(String),
}

/// A program, and where its text can be changed.
#[derive(Debug)]
pub struct Sites {
    pub program: Program,
    /// If a transition passes two of them, the one that it passes last comes first; else in the order of the text.
    pub sites: Vec<Site>,
    /// The change of each site in the text.
    places: Vec<EditPlace>,
    /// For a site that is about an order: the number of the access.
    access_of: Vec<Option<usize>>,
    accesses: Vec<OrderedAccess>,
    /// How many accesses could have weaker orders, and are written such that the text cannot say so.
    pub unsaid: usize,
    lower: Lowering,
    text: String,
    words: FenceWords,
    table: Option<X86Table>,
}

const COMPILED: &str = "LLVM IR is made by a compiler: changes belong into the source that it comes from";

/// Finds every place where the text of a program can be changed. Files in C were compiled, so the program tells what they are.
pub fn sites_of(program: &Program, language: Language, request: &SiteRequest) -> Result<Sites, NoSites> {
    match language {
        Language::C => c::sites(program, request),
        Language::Llvm => Err(NoSites::NotExpressible(COMPILED)),
        _ => sites(&program.source, language, request),
    }
}

/// Finds every place where the text can be changed.
pub fn sites(source: &Source, language: Language, request: &SiteRequest) -> Result<Sites, NoSites> {
    let parsed = parse(source.clone(), language);
    let Some(program) = parsed.program else {
        let error = parsed.diagnostics.into_iter().find(|diagnostic| diagnostic.is_error());
        return Err(NoSites::Wrong(error.map(|error| error.message).unwrap_or_default()));
    };
    let (mut drafts, words, table, accesses) = match outline(&source.text, language, request.repair)? {
        None => (trencher::drafts(&source.text, &program, request.existing), trencher::words(), None, Vec::new()),
        Some(outline) => {
            let finder = Finder { source, language, program: &program, outline: &outline };
            let mut drafts = match request.repair {
                RepairKind::Fence => finder.insertions(request.existing),
                RepairKind::Rmw => finder.locks(),
                RepairKind::Strengthen => finder.insertions(request.existing),
            };
            if request.repair == RepairKind::Strengthen || request.lower != Lowering::Nothing {
                drafts.extend(finder.orders(request.lower));
            }
            if request.existing {
                drafts.extend(finder.removals());
            }
            let accesses = outline.orders.into_iter().map(|(_, access)| access).collect();
            (drafts, outline.words, outline.table, accesses)
        }
    };
    let instance =
        request.copies.filter(|_| program.is_parameterised()).map(|copies| (copies, program.instance(copies)));
    if let Some((copies, _)) = &instance {
        of_instance(&program, *copies, &mut drafts);
    }
    let access_of = drafts.iter().map(|draft| draft.access).collect();
    let (sites, places) = name::sites(&source.text, drafts);
    let program = instance.map_or(program, |(_, instance)| instance);
    let text = source.text.clone();
    Ok(Sites { program, sites, places, access_of, accesses, unsaid: 0, lower: request.lower, text, words, table })
}

impl Sites {
    /// The whole text with the chosen changes. Fences that stand there and were not chosen are taken away, and orders that are to be
    /// lowered are.
    pub fn text(&self, chosen: &[(usize, FenceStrength)]) -> Result<String, NoText> {
        let mut strengths: Vec<Option<FenceStrength>> = vec![None; self.sites.len()];
        for &(number, strength) in chosen {
            let site = self.sites.get(number).ok_or(NoText::NoSuchSite(number))?;
            if strengths[number].replace(strength).is_some() {
                return Err(NoText::Twice(site.name.clone()));
            }
            if !self.can_have(number, strength) {
                return Err(NoText::NotOffered(site.name.clone()));
            }
        }
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let mut weakened = Vec::new();
        for (number, (site, place)) in self.sites.iter().zip(&self.places).enumerate() {
            match (site.change, strengths[number]) {
                (Change::Keep, None) => removed.push(place),
                (Change::Keep, Some(strength)) => weakened.extend(self.weakened(site, place, strength)),
                (Change::Insert { .. } | Change::Lock, Some(_)) => added.push((number, place)),
                _ => {}
            }
        }
        let mut pieces = pieces(&self.text, self.table.as_ref(), &added, &removed);
        let changed = weakened.into_iter().chain(self.orders(&strengths));
        pieces.extend(changed.map(|piece| (piece, Vec::new())));
        let fence = |number: usize| {
            let strength = strengths.get(number).copied().flatten().unwrap_or(FenceStrength::Full);
            self.words.of(strength).unwrap_or(&self.words.full)
        };
        Ok(write(&self.text, pieces, fence).text)
    }

    /// Whether the change of a site can be written with this strength.
    pub fn can_have(&self, site: usize, strength: FenceStrength) -> bool {
        let Some(at) = self.sites.get(site) else { return false };
        let standing = self.instruction(at);
        match (at.change, standing) {
            (Change::Insert { .. }, _) => self.offers(strength),
            (Change::Keep, Some(Instruction::Fence(order))) => {
                !order.is_at_least(strength.order()) || *order == strength.order() || self.words.weak.is_some()
            }
            (Change::Order(slot), Some(access)) => {
                let strong = strength == FenceStrength::Full && slot == OrderSlot::Both;
                !strong && slot.levels(access).contains(&strength)
            }
            _ => true,
        }
    }

    /// What stands at the first of a site's edges.
    fn instruction(&self, site: &Site) -> Option<&Instruction> {
        let edge = site.edges.first()?;
        Some(&self.program.threads.get(edge.thread.0)?.transitions.get(edge.transition.0)?.instruction)
    }

    /// What makes a fence that stands there a weaker one.
    fn weakened(&self, site: &Site, place: &EditPlace, strength: FenceStrength) -> Option<EditPiece> {
        let Some(Instruction::Fence(order)) = self.instruction(site) else { return None };
        let weaker = order.is_at_least(strength.order()) && *order != strength.order();
        let written = place.pieces.first().filter(|_| weaker)?;
        let is_statement = self.text.get(written.range.clone())?.ends_with(';');
        let words = self.words.of(strength)?;
        let end = if is_statement && !words.ends_with(';') { ";" } else { "" };
        Some(EditPiece::instead(written.range.clone(), &format!("{words}{end}")))
    }

    /// What gives every access the orders that are chosen for it.
    fn orders(&self, strengths: &[Option<FenceStrength>]) -> Vec<EditPiece> {
        let mut changed: BTreeMap<usize, (&Instruction, Instruction)> = BTreeMap::new();
        for (number, site) in self.sites.iter().enumerate() {
            let (Change::Order(slot), Some(access)) = (site.change, self.access_of[number]) else { continue };
            let Some(before) = self.instruction(site) else { continue };
            let (_, after) = changed.entry(access).or_insert_with(|| (before, before.clone()));
            change_order(after, slot, self.lower, strengths[number]);
        }
        let pieces = changed.iter().map(|(&access, (before, after))| self.accesses[access].pieces(before, after));
        pieces.flatten().collect()
    }

    /// Whether the language of the text has such a fence.
    pub fn offers(&self, strength: FenceStrength) -> bool {
        self.words.of(strength).is_some()
    }
}

/// How fences are written.
#[derive(Debug)]
struct FenceWords {
    full: String,
    store_store: Option<String>,
    /// Acquire and acq_rel fences: of languages with the orders of C11.
    weak: Option<[String; 2]>,
}

impl FenceWords {
    /// Of a language of hardware.
    fn new(full: &str, store_store: Option<&str>) -> FenceWords {
        FenceWords { full: full.to_owned(), store_store: store_store.map(str::to_owned), weak: None }
    }

    /// Of a language with fences of every order.
    fn with_orders(full: String, release: String, acquire: String, acq_rel: String) -> FenceWords {
        FenceWords { full, store_store: Some(release), weak: Some([acquire, acq_rel]) }
    }

    fn of(&self, strength: FenceStrength) -> Option<&str> {
        match strength {
            FenceStrength::Full => Some(&self.full),
            FenceStrength::StoreStore => self.store_store.as_deref(),
            FenceStrength::Acquire => self.weak.as_ref().map(|[acquire, _]| acquire.as_str()),
            FenceStrength::AcqRel => self.weak.as_ref().map(|[_, acq_rel]| acq_rel.as_str()),
        }
    }
}

/// Where a text could be changed, as far as its grammar tells.
struct TextOutline {
    words: FenceWords,
    insertions: Vec<EditPlace>,
    /// By where the statement starts, as transitions know it.
    removals: Vec<(usize, EditPlace)>,
    locks: Vec<(usize, EditPlace)>,
    /// By where the step that accesses memory starts.
    orders: Vec<(usize, OrderedAccess)>,
    table: Option<X86Table>,
}

impl TextOutline {
    fn new(words: FenceWords) -> TextOutline {
        let (insertions, removals, locks, orders) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        TextOutline { words, insertions, removals, locks, orders, table: None }
    }

    fn remove(&mut self, at: usize, pieces: Vec<EditPiece>) {
        self.removals.push((at, EditPlace { at, pieces, ..EditPlace::default() }));
    }

    fn lock(&mut self, at: usize, pieces: Vec<EditPiece>) {
        self.locks.push((at, EditPlace { at, pieces, ..EditPlace::default() }));
    }

    fn order(&mut self, start: usize, access: OrderedAccess) {
        self.orders.push((start, access));
    }
}

/// A site that may still have to be named.
struct SiteDraft {
    name: Option<String>,
    change: Change,
    edges: Vec<ThreadTransition>,
    place: EditPlace,
    /// For a change of an order: the number of the access in the outline.
    access: Option<usize>,
}

/// The outline of a text that can be repaired this way; `None` for Trencher's automata.
fn outline(text: &str, language: Language, repair: RepairKind) -> Result<Option<TextOutline>, NoSites> {
    let refuse = |reason| match repair {
        RepairKind::Fence | RepairKind::Strengthen => Ok(()),
        RepairKind::Rmw => Err(NoSites::NotExpressible(reason)),
    };
    let without_orders = |reason| match repair {
        RepairKind::Fence | RepairKind::Rmw => Ok(()),
        RepairKind::Strengthen => Err(NoSites::NotExpressible(reason)),
    };
    Ok(Some(match language {
        Language::Rav => rav::outline(text, &crate::rav::parse(Source::new("", text)).ast),
        Language::Memorax => {
            without_orders("accesses in Memorax's language have no orders that could be made stronger; use fences")?;
            memorax::outline(text)
        }
        Language::Rocker => {
            refuse("TPL has no exchange of order seq_cst, so stores cannot be locked; use fences")?;
            rocker::outline(text, &crate::rocker::tree(text))
        }
        Language::Trencher => {
            refuse("Trencher has no exchange in one step, so stores cannot be locked; use fences")?;
            without_orders("accesses in Trencher's language have no orders that could be made stronger; use fences")?;
            return Ok(None);
        }
        Language::C => return Err(NoSites::NotExpressible("a C file has to be compiled for its places to be known")),
        Language::Llvm => return Err(NoSites::NotExpressible(COMPILED)),
        Language::Litmus => match crate::litmus::outline(text) {
            Some(crate::litmus::LitmusOutline::C(code)) => litmus_c::outline(text, &code),
            Some(crate::litmus::LitmusOutline::X86(rows)) => {
                refuse("`xchg` needs a register that is free, so stores of an x86 test are not locked; use fences")?;
                without_orders("instructions of x86 have no orders that could be made stronger; use fences")?;
                litmus_x86::outline(text, rows)
            }
            None => TextOutline::new(FenceWords::new("", None)),
        },
    }))
}

/// Finds out what the places of an outline do.
struct Finder<'a> {
    source: &'a Source,
    language: Language,
    program: &'a Program,
    outline: &'a TextOutline,
}

impl Finder<'_> {
    fn insertions(&self, existing: bool) -> Vec<SiteDraft> {
        let places = &self.outline.insertions;
        let attempt = |numbers: &[usize]| {
            let chosen: Vec<(usize, &EditPlace)> = numbers.iter().map(|&number| (number, &places[number])).collect();
            self.attempt(&chosen, &HashMap::new(), None)
        };
        let (good, mut matched) = search::search(places.len(), self.source.text.len(), attempt);
        // A fence that nothing leads to can still part a label from what it names, so it is left out and all looked at again.
        let passed = matched.passed();
        if passed.len() < good.len() {
            matched = attempt(&passed).unwrap_or_default();
        }
        let chosen = choose::choose(self.program, places, &matched, existing);
        let draft = |site: choose::SiteInsertion| SiteDraft {
            name: None,
            change: Change::Insert { after_label: site.after_label },
            edges: site.edges,
            place: places[site.place].clone(),
            access: None,
        };
        chosen.into_iter().map(draft).collect()
    }

    fn locks(&self) -> Vec<SiteDraft> {
        let is_plain = |instruction: &Instruction| match instruction {
            Instruction::Store { order, .. } => *order != Order::SeqCst,
            Instruction::Unlock(_) => true,
            _ => false,
        };
        let mut steps = self.by_start(is_plain);
        let stores: Vec<(u32, Vec<ThreadTransition>, &EditPlace)> = (self.outline.locks.iter())
            .filter_map(|(at, place)| {
                let start = Span::new(*at, *at).start;
                Some((start, steps.remove(&start)?, place))
            })
            .collect();
        let (good, _) = search::search(stores.len(), self.source.text.len(), |numbers| {
            let chosen: Vec<(usize, &EditPlace)> = numbers.iter().map(|&number| (number, stores[number].2)).collect();
            let starts = numbers.iter().map(|&number| (stores[number].0, number)).collect();
            self.attempt(&chosen, &starts, None)
        });
        let draft = |number: usize| {
            let (_, edges, place) = &stores[number];
            SiteDraft { name: None, change: Change::Lock, edges: edges.clone(), place: (*place).clone(), access: None }
        };
        good.into_iter().map(draft).collect()
    }

    /// Accesses whose orders can be others, each by where its step starts. Every level is tried, at all of them at once.
    fn orders(&self, lower: Lowering) -> Vec<SiteDraft> {
        let slots = |access: usize, instruction: &Instruction| -> Vec<OrderSlot> {
            let slots = self.outline.orders[access].1.slots().iter().copied();
            slots.filter(|&slot| can_change(instruction, slot, lower)).collect()
        };
        let mut steps = self.by_start(|instruction| !OrderSlot::Main.levels(instruction).is_empty());
        let accesses: Vec<(u32, Vec<ThreadTransition>, usize)> = (self.outline.orders.iter().enumerate())
            .filter_map(|(number, (at, _))| {
                let start = Span::new(*at, *at).start;
                Some((start, steps.remove(&start)?, number))
            })
            .filter(|(_, edges, access)| edges.iter().any(|edge| !slots(*access, self.instruction(edge)).is_empty()))
            .collect();
        let weak = [FenceStrength::Acquire, FenceStrength::StoreStore, FenceStrength::AcqRel].map(Some);
        let lowered = (lower != Lowering::Nothing).then_some(None);
        let levels: Vec<Option<FenceStrength>> = lowered.into_iter().chain(weak).collect();
        let (good, _) = search::search(accesses.len(), self.source.text.len(), |numbers| {
            let mut matched = ProgramMatch::default();
            let starts: HashMap<u32, usize> = numbers.iter().map(|&number| (accesses[number].0, number)).collect();
            for &level in &levels {
                let changed = |access: usize, before: &Instruction| {
                    let mut after = before.clone();
                    slots(access, before).iter().for_each(|&slot| change_order(&mut after, slot, lower, level));
                    after
                };
                let place = |&number: &usize| {
                    let (_, edges, access) = &accesses[number];
                    let before = self.instruction(&edges[0]);
                    let pieces = self.outline.orders[*access].1.pieces(before, &changed(*access, before));
                    (number, EditPlace { pieces, ..EditPlace::default() })
                };
                let places: Vec<(usize, EditPlace)> = numbers.iter().map(place).collect();
                let chosen: Vec<(usize, &EditPlace)> = places.iter().map(|(number, place)| (*number, place)).collect();
                let rewritten = |number: usize, before: &Instruction| changed(accesses[number].2, before);
                matched = self.attempt(&chosen, &starts, Some(&rewritten))?;
            }
            Ok(matched)
        });
        let mut drafts = Vec::new();
        for (_, edges, access) in good.into_iter().map(|number| &accesses[number]) {
            let place = EditPlace { at: self.outline.orders[*access].1.at, ..EditPlace::default() };
            drafts.extend(slots(*access, self.instruction(&edges[0])).into_iter().map(|slot| SiteDraft {
                name: None,
                change: Change::Order(slot),
                edges: edges.clone(),
                place: place.clone(),
                access: Some(*access),
            }));
        }
        drafts
    }

    fn instruction(&self, edge: &ThreadTransition) -> &Instruction {
        &self.program.threads[edge.thread.0].transitions[edge.transition.0].instruction
    }

    fn removals(&self) -> Vec<SiteDraft> {
        let fences = self.by_start(|instruction| matches!(instruction, Instruction::Fence(_)));
        let known: HashMap<usize, &EditPlace> = self.outline.removals.iter().map(|(at, place)| (*at, place)).collect();
        let mut drafts = Vec::new();
        for (start, edges) in fences {
            let place = match known.get(&(start as usize)) {
                Some(&place) => place.clone(),
                None if self.language == Language::Memorax => self.named_by_macro(start as usize),
                None => continue,
            };
            drafts.push(SiteDraft { name: None, change: Change::Keep, edges, place, access: None });
        }
        let places: Vec<&EditPlace> = drafts.iter().map(|draft| &draft.place).collect();
        let pieces = pieces(&self.source.text, self.outline.table.as_ref(), &[], &places);
        let text = write(&self.source.text, pieces, |_| "").text;
        if parse(Source::new("", text), self.language).program.is_none() {
            drafts.clear();
        }
        drafts
    }

    /// A fence that a macro was given: something has to stay in its place.
    fn named_by_macro(&self, at: usize) -> EditPlace {
        let rest = self.source.text.get(at..).unwrap_or("");
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        EditPlace { at, pieces: vec![EditPiece::replace(at..at + length, "nop")], ..EditPlace::default() }
    }

    /// The transitions with such an instruction, by where they are written.
    fn by_start(&self, wanted: impl Fn(&Instruction) -> bool) -> BTreeMap<u32, Vec<ThreadTransition>> {
        let mut found: BTreeMap<u32, Vec<ThreadTransition>> = BTreeMap::new();
        for (thread, of) in self.program.threads.iter().enumerate() {
            for (number, transition) in of.transitions.iter().enumerate() {
                if wanted(&transition.instruction) && !transition.span.is_nowhere() {
                    let edge = ThreadTransition { thread: ThreadId(thread), transition: TransitionId(number) };
                    found.entry(transition.span.start).or_default().push(edge);
                }
            }
        }
        found
    }

    /// Makes changes and sees what became of the program.
    fn attempt(
        &self,
        places: &[(usize, &EditPlace)],
        accesses: &HashMap<u32, usize>,
        rewritten: Option<&Rewriting<'_>>,
    ) -> Result<ProgramMatch, ProgramMismatch> {
        let pieces = pieces(&self.source.text, self.outline.table.as_ref(), places, &[]);
        let written = write(&self.source.text, pieces, |_| &self.outline.words.full);
        let parsed = parse(Source::new(self.source.name.clone(), written.text), self.language);
        let changed = parsed.program.ok_or_else(ProgramMismatch::default)?;
        let owner = |span: Span| {
            let start = span.start as usize;
            let after = written.fences.partition_point(|(range, _)| range.start <= start);
            let (range, owner) = written.fences.get(after.checked_sub(1)?)?;
            range.contains(&start).then_some(*owner)
        };
        compare(self.program, &changed, &TextChanges { owner: &owner, accesses, rewritten })
    }
}

/// There is something to choose for an order: it may be weaker than it is written, or stronger than that and still weaker than seq_cst.
fn can_change(access: &Instruction, slot: OrderSlot, lower: Lowering) -> bool {
    let Some(written) = slot.order(access) else { return false };
    let weak = slot.levels(access).iter().filter(|&&level| level != FenceStrength::Full);
    match lower {
        Lowering::Nothing => weak.into_iter().any(|level| !written.is_at_least(level.order())),
        _ => lower.floor(slot, access).is_some(),
    }
}

/// Gives an access the order that a choice means for it.
fn change_order(access: &mut Instruction, slot: OrderSlot, lower: Lowering, level: Option<FenceStrength>) {
    if let Some(floor) = lower.floor(slot, access) {
        slot.set(access, floor);
    }
    if let Some(level) = level.filter(|level| slot.levels(access).contains(level)) {
        slot.raise(access, level.order());
    }
}

fn pieces(
    text: &str,
    table: Option<&X86Table>,
    added: &[(usize, &EditPlace)],
    removed: &[&EditPlace],
) -> Vec<OwnedPiece> {
    let mut pieces: Vec<OwnedPiece> = Vec::new();
    for (number, place) in added {
        pieces.extend(place.pieces.iter().map(|piece| (piece.clone(), vec![*number])));
    }
    for place in removed {
        pieces.extend(place.pieces.iter().map(|piece| (piece.clone(), Vec::new())));
    }
    if let Some(table) = table {
        let cells: Vec<(usize, &FenceCell)> =
            added.iter().filter_map(|(number, place)| Some((*number, place.cell.as_ref()?))).collect();
        pieces.extend(table.added(text, &cells));
        let cells: Vec<&FenceCell> = removed.iter().filter_map(|place| place.cell.as_ref()).collect();
        pieces.extend(table.removed(text, &cells));
    }
    pieces
}

/// Edges of a program with `thread p[*]` become edges of all its copies.
fn of_instance(program: &Program, copies: usize, drafts: &mut Vec<SiteDraft>) {
    let mut first = Vec::new();
    let mut next = 0;
    for thread in &program.threads {
        let count = if thread.copies == Copies::Any { copies } else { 1 };
        first.push(next..next + count);
        next += count;
    }
    for draft in drafts.iter_mut() {
        let of_copies = |edge: &ThreadTransition| {
            let transition = edge.transition;
            first[edge.thread.0].clone().map(move |thread| ThreadTransition { thread: ThreadId(thread), transition })
        };
        draft.edges = draft.edges.iter().flat_map(of_copies).collect();
        draft.edges.sort_unstable();
    }
    drafts.retain(|draft| !draft.edges.is_empty());
}
