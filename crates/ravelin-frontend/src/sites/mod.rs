//! Where a text can be changed to keep accesses in order, and the text with such changes.
//!
//! An *outline* of each language ([`rav`], [`rocker`], [`litmus_c`], [`litmus_x86`], [`memorax`]) lists the places at which its grammar
//! takes a fence. The places are tried: the text with all fences is read and compared with the program ([`matching`], [`search`]), which
//! tells the transitions that pass each fence. So what a site does in the program is never assumed; it is what the front end makes of
//! the text. [`choose`] makes sites of the places. Trencher's automata need no such detour ([`trencher`]). Stores that become exchanges and
//! accesses that get a stronger order are tried in the same way.
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
//! let found = sites(&source, Language::Rav, &SiteRequest { repair: RepairKind::Fence, existing: false, copies: None }).unwrap();
//! let site = found.sites.iter().position(|site| site.name == "L4").unwrap();
//! let text = found.text(&[(site, FenceStrength::Full)]).unwrap();
//! assert!(text.contains("    x.store(1);\n    fence();\n    let r = y.load();\n"));
//! ```

mod choose;
mod edit;
mod litmus_c;
mod litmus_x86;
mod matching;
mod memorax;
mod name;
mod rav;
mod rocker;
mod search;
mod trencher;

use crate::{Language, parse};
use edit::{EditPiece, EditPlace, FenceCell, OwnedPiece, write};
use litmus_x86::X86Table;
use matching::{ProgramMatch, ProgramMismatch, TextChanges, compare};
use ravelin_program::{
    Change, Copies, FenceStrength, Instruction, Order, Program, Site, Source, Span, ThreadId, ThreadTransition,
    TransitionId, strengthened,
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
    /// Fences are put in, and atomic accesses get stronger orders ([`ravelin_program::strengthened`]).
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
    /// How many threads stand for each `thread p[*]`.
    pub copies: Option<usize>,
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
    #[error("the language has no such fence; use a full one at {0}")]
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
    text: String,
    words: FenceWords,
    table: Option<X86Table>,
}

/// Finds every place where the text can be changed.
pub fn sites(source: &Source, language: Language, request: &SiteRequest) -> Result<Sites, NoSites> {
    let parsed = parse(source.clone(), language);
    let Some(program) = parsed.program else {
        let error = parsed.diagnostics.into_iter().find(|diagnostic| diagnostic.is_error());
        return Err(NoSites::Wrong(error.map(|error| error.message).unwrap_or_default()));
    };
    let (mut drafts, words, table) = match outline(&source.text, language, request.repair)? {
        None => (trencher::drafts(&source.text, &program, request.existing), trencher::words(), None),
        Some(outline) => {
            let finder = Finder { source, language, program: &program, outline: &outline };
            let mut drafts = match request.repair {
                RepairKind::Fence => finder.insertions(request.existing),
                RepairKind::Rmw => finder.locks(),
                RepairKind::Strengthen => {
                    let mut drafts = finder.insertions(request.existing);
                    drafts.extend(finder.strengthenings());
                    drafts
                }
            };
            if request.existing {
                drafts.extend(finder.removals());
            }
            (drafts, outline.words, outline.table)
        }
    };
    let instance =
        request.copies.filter(|_| program.is_parameterised()).map(|copies| (copies, program.instance(copies)));
    if let Some((copies, _)) = &instance {
        of_instance(&program, *copies, &mut drafts);
    }
    let (sites, places) = name::sites(&source.text, &program, drafts);
    let program = instance.map_or(program, |(_, instance)| instance);
    Ok(Sites { program, sites, places, text: source.text.clone(), words, table })
}

impl Sites {
    /// The whole text with the chosen changes. Fences that stand there and were not chosen are taken away.
    pub fn text(&self, chosen: &[(usize, FenceStrength)]) -> Result<String, NoText> {
        let mut strengths: Vec<Option<FenceStrength>> = vec![None; self.sites.len()];
        for &(number, strength) in chosen {
            let site = self.sites.get(number).ok_or(NoText::NoSuchSite(number))?;
            if strengths[number].replace(strength).is_some() {
                return Err(NoText::Twice(site.name.clone()));
            }
            if matches!(site.change, Change::Insert { .. }) && !self.offers(strength) {
                return Err(NoText::NotOffered(site.name.clone()));
            }
        }
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for (number, (site, place)) in self.sites.iter().zip(&self.places).enumerate() {
            match (site.change, strengths[number]) {
                (Change::Keep, None) => removed.push(place),
                (Change::Insert { .. } | Change::Lock | Change::Strengthen, Some(_)) => added.push((number, place)),
                _ => {}
            }
        }
        let pieces = pieces(&self.text, self.table.as_ref(), &added, &removed);
        let fence = |number: usize| {
            let strength = strengths.get(number).copied().flatten().unwrap_or(FenceStrength::Full);
            self.words.of(strength).unwrap_or(&self.words.full)
        };
        Ok(write(&self.text, pieces, fence).text)
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
    strengthenings: Vec<(usize, EditPlace)>,
    table: Option<X86Table>,
}

impl TextOutline {
    fn new(words: FenceWords) -> TextOutline {
        let (insertions, removals, locks, strengthenings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        TextOutline { words, insertions, removals, locks, strengthenings, table: None }
    }

    fn remove(&mut self, at: usize, pieces: Vec<EditPiece>) {
        self.removals.push((at, EditPlace { at, pieces, ..EditPlace::default() }));
    }

    fn lock(&mut self, at: usize, pieces: Vec<EditPiece>) {
        self.locks.push((at, EditPlace { at, pieces, ..EditPlace::default() }));
    }

    /// `start`: where the step that accesses memory starts; `at`: the access itself.
    fn strengthen(&mut self, start: usize, at: usize, pieces: Vec<EditPiece>) {
        self.strengthenings.push((start, EditPlace { at, pieces, ..EditPlace::default() }));
    }
}

/// A site that may still have to be named.
struct SiteDraft {
    name: Option<String>,
    change: Change,
    edges: Vec<ThreadTransition>,
    place: EditPlace,
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
            self.attempt(&chosen, &HashMap::new(), false)
        };
        let (good, mut matched) = search::search(places.len(), self.source.text.len(), attempt);
        // A fence that nothing leads to can still part a label from what it names, so it is left out and all looked at again.
        let passed = matched.passed();
        if passed.len() < good.len() {
            matched = attempt(&passed).unwrap_or_default();
        }
        // Where statements end with a semicolon of their own, one can take the place of another.
        let exchange = existing && self.language == Language::Rav;
        let chosen = choose::choose(self.program, places, &matched, existing, exchange);
        let draft = |site: choose::SiteInsertion| SiteDraft {
            name: None,
            change: Change::Insert { after_label: site.after_label },
            edges: site.edges,
            place: places[site.place].clone(),
        };
        chosen.into_iter().map(draft).collect()
    }

    fn locks(&self) -> Vec<SiteDraft> {
        let is_plain = |instruction: &Instruction| match instruction {
            Instruction::Store { order, .. } => *order != Order::SeqCst,
            Instruction::Unlock(_) => true,
            _ => false,
        };
        self.accesses(&self.outline.locks, Change::Lock, is_plain)
    }

    fn strengthenings(&self) -> Vec<SiteDraft> {
        let can_be_stronger = |instruction: &Instruction| strengthened(instruction).is_some();
        self.accesses(&self.outline.strengthenings, Change::Strengthen, can_be_stronger)
    }

    /// Accesses that are written differently, each by where its step starts.
    fn accesses(
        &self,
        known: &[(usize, EditPlace)],
        change: Change,
        wanted: impl Fn(&Instruction) -> bool,
    ) -> Vec<SiteDraft> {
        let mut steps = self.by_start(wanted);
        let accesses: Vec<(u32, Vec<ThreadTransition>, &EditPlace)> = known
            .iter()
            .filter_map(|(at, place)| {
                let start = Span::new(*at, *at).start;
                Some((start, steps.remove(&start)?, place))
            })
            .collect();
        let (good, _) = search::search(accesses.len(), self.source.text.len(), |numbers| {
            let chosen: Vec<(usize, &EditPlace)> = numbers.iter().map(|&number| (number, accesses[number].2)).collect();
            let starts = numbers.iter().map(|&number| (accesses[number].0, number)).collect();
            self.attempt(&chosen, &starts, change == Change::Strengthen)
        });
        let draft = |number: usize| {
            let (_, edges, place) = &accesses[number];
            SiteDraft { name: None, change, edges: edges.clone(), place: (*place).clone() }
        };
        good.into_iter().map(draft).collect()
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
            drafts.push(SiteDraft { name: None, change: Change::Keep, edges, place });
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
        stronger: bool,
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
        compare(self.program, &changed, &TextChanges { owner: &owner, accesses, stronger })
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
