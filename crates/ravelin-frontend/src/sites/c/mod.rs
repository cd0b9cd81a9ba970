//! Where a C or C++ file can be changed. What its accesses are is known from the lifted program, whose transitions have places in the
//! text; how a change is written is known from the text ([`text`], [`access`]).
//!
//! A fence is a statement before or behind one that begins there, or stands before an access in an expression:
//! `(atomic_thread_fence(memory_order_seq_cst), atomic_load(&x))`. Orders change in calls that write them, and in calls that leave
//! seq_cst unsaid. What a macro hides, and what is written in another file, is no site.
//!
//! A statement with calls of other functions than atomic operations has no site: an access of the function may come first.

mod access;
mod operator;
mod regions;
mod text;

use super::choose::choose;
use super::edit::{EditPiece, EditPlace, PiecePart, at_end, before, wrap_after, wrap_before};
use super::matching::ProgramMatch;
use super::orders::OrderedAccess;
use super::{FenceWords, NoSites, RepairKind, SiteDraft, SiteRequest, Sites, can_change, name};
use crate::atomic_text::blanked;
use access::{AtomicCall, CallKind, is_operation};
use operator::AtomicOperator;
pub use operator::OperatorCall;
use ravelin_program::{
    Change, Instruction, LocId, Lowering, Order, OrderSlot, Program, Span, ThreadId, ThreadTransition,
};
use regions::{FencePassage, ProgramRegions};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use text::{CStatement, CText, StatementKind};

/// Words before parentheses that call no function, or one without accesses that others see.
const NO_CALLS: [&str; 19] = [
    "if",
    "switch",
    "while",
    "for",
    "return",
    "sizeof",
    "_Alignof",
    "alignof",
    "alignas",
    "_Alignas",
    "defined",
    "int",
    "long",
    "unsigned",
    "bool",
    "char",
    "assert",
    "static_assert",
    "_Static_assert",
];

/// The sites of a program that was lifted from a C text.
pub fn sites(program: &Program, request: &SiteRequest) -> Result<Sites, NoSites> {
    let text = CText::new(&blanked(&program.source.text));
    let finder = CFinder {
        source: &program.source.text,
        calls: AtomicCall::all(&text),
        regions: ProgramRegions::new(program),
        text,
        program,
    };
    let mut drafts = match request.repair {
        RepairKind::Fence | RepairKind::Strengthen => finder.insertions(request.existing),
        RepairKind::Rmw => finder.locks(),
    };
    let mut accesses = Vec::new();
    if request.repair == RepairKind::Strengthen || request.lower != Lowering::Nothing {
        drafts.extend(finder.orders(request.lower, &mut accesses));
    }
    if request.existing {
        drafts.extend(finder.removals());
    }
    let unsaid = finder.unsaid(request.lower, &drafts);
    let access_of = drafts.iter().map(|draft| draft.access).collect();
    let words = finder.words();
    let (sites, places) = name::sites(finder.source, drafts);
    let text = finder.source.to_owned();
    let program = program.clone();
    Ok(Sites { program, sites, places, access_of, accesses, unsaid, lower: request.lower, text, words, table: None })
}

struct CFinder<'a> {
    program: &'a Program,
    source: &'a str,
    text: CText,
    calls: Vec<AtomicCall>,
    regions: ProgramRegions<'a>,
}

impl CFinder<'_> {
    /// How this file writes fences.
    fn words(&self) -> FenceWords {
        let builtin = !self.source.contains("stdatomic.h") && !self.source.contains("<atomic>");
        let fence = |order: Order| {
            let name = order.name();
            match builtin {
                true => format!("__atomic_thread_fence(__ATOMIC_{})", name.to_ascii_uppercase()),
                false if self.text.code.contains("std::") => {
                    format!("std::atomic_thread_fence(std::memory_order_{name})")
                }
                false => format!("atomic_thread_fence(memory_order_{name})"),
            }
        };
        FenceWords::with_orders(
            fence(Order::SeqCst),
            fence(Order::Release),
            fence(Order::Acquire),
            fence(Order::AcqRel),
        )
    }

    fn insertions(&self, existing: bool) -> Vec<SiteDraft> {
        let mut places: Vec<(EditPlace, FencePassage)> = Vec::new();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for at in self.regions.places() {
            let Some(statement) = self.text.statement(at) else { continue };
            if seen.insert(statement.range.start) {
                places.extend(self.around_statement(&statement));
            }
        }
        for call in self.calls.iter().filter(|call| call.kind != CallKind::Fence) {
            places.extend(self.before_call(call));
        }
        places.retain(|(_, passage)| !passage.edges.is_empty());
        self.chosen(&places, existing)
    }

    /// Fences before and behind a statement.
    fn around_statement(&self, statement: &CStatement) -> Vec<(EditPlace, FencePassage)> {
        let Range { start, end } = statement.range;
        let mut found = Vec::new();
        let code = &self.text.code[start..end];
        // Part of it is evaluated only sometimes.
        let is_straight = !["&&", "||", "?"].iter().any(|operator| code.contains(operator));
        if !self.calls_others(start..end) && is_straight {
            let depth = i32::try_from(start).unwrap_or(i32::MAX);
            let piece = |piece: EditPiece| with_semicolon(piece);
            if let Some(passage) = self.regions.before(start..end) {
                let place = match (statement.is_part, statement.kind) {
                    (false, _) => Some((vec![before(self.source, start, "", 0)], false)),
                    (true, StatementKind::Simple | StatementKind::Leaving) => {
                        Some((wrap_before(start..end, "", depth), true))
                    }
                    // Its end is not known.
                    (true, StatementKind::Choice) => None,
                };
                if let Some((pieces, wraps)) = place {
                    let pieces = pieces.into_iter().map(piece).collect();
                    found.push((EditPlace { at: start, pieces, cell: None, wraps }, passage));
                }
            }
            if statement.kind == StatementKind::Simple {
                let next = self.text.skip_blanks(end);
                let (pieces, wraps) = match (statement.is_part, self.text.code[next..].starts_with('}')) {
                    (true, _) => (wrap_after(start..end, "", depth), true),
                    (false, true) => (vec![at_end(self.source, next, Some(start))], false),
                    (false, false) => (vec![before(self.source, next, "", 0)], false),
                };
                let pieces = pieces.into_iter().map(piece).collect();
                found.push((EditPlace { at: next, pieces, cell: None, wraps }, self.regions.after(start..end)));
            }
        }
        found
    }

    /// A fence before an access in an expression.
    fn before_call(&self, call: &AtomicCall) -> Option<(EditPlace, FencePassage)> {
        if self.calls_others(call.open..call.range.end) || !self.is_covered(call) {
            return None;
        }
        let Range { start, end } = call.range;
        let depth = i32::try_from(start).unwrap_or(i32::MAX);
        let open = vec!["(".into(), PiecePart::Fence, ", ".into()];
        let pieces =
            vec![EditPiece::new(start..start, depth, open), EditPiece::new(end..end, -1 - depth, vec![")".into()])];
        // A statement of its own reads better.
        let place = EditPlace { at: start, pieces, cell: None, wraps: true };
        Some((place, self.regions.before(call.range.clone())?))
    }

    /// An access of the program is this call.
    fn is_covered(&self, call: &AtomicCall) -> bool {
        self.transitions(call).next().is_some()
    }

    /// The transitions that are the access of a call.
    fn transitions(&self, call: &AtomicCall) -> impl Iterator<Item = ThreadTransition> {
        let places = [call.range.start, call.name.start];
        let within = self.regions.within(call.range.start..call.name.end).iter();
        let exact = within.filter(move |(span, _)| places.contains(&(span.start as usize))).map(|(_, edge)| *edge);
        exact.filter(|edge| call.agrees(self.instruction(edge)))
    }

    /// Whether other functions are called in a part of the text.
    fn calls_others(&self, part: Range<usize>) -> bool {
        self.text.calls(part).any(|(word, _)| !NO_CALLS.contains(&word) && !is_operation(word))
    }

    /// The places that are worth offering.
    fn chosen(&self, places: &[(EditPlace, FencePassage)], existing: bool) -> Vec<SiteDraft> {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&number| places[number].0.at);
        let mut chains: BTreeMap<ThreadTransition, Vec<usize>> = BTreeMap::new();
        let mut at_start: Vec<Vec<usize>> = vec![Vec::new(); self.program.threads.len()];
        for number in order {
            let FencePassage { edges, at_start: starting } = &places[number].1;
            edges.iter().for_each(|edge| chains.entry(*edge).or_default().push(number));
            starting.iter().for_each(|thread| at_start[thread.0].push(number));
        }
        let labels = self.labels(places);
        let matched = ProgramMatch { chains: chains.into_iter().collect(), at_start, labels };
        let places: Vec<EditPlace> = places.iter().map(|(place, _)| place.clone()).collect();
        let draft = |site: super::choose::SiteInsertion| SiteDraft {
            name: None,
            change: Change::Insert { after_label: site.after_label },
            edges: site.edges,
            place: places[site.place].clone(),
            access: None,
        };
        choose(self.program, &places, &matched, existing).into_iter().map(draft).collect()
    }

    /// Where everything that enters a location passes the fence, the labels of the location stand before it.
    fn labels(&self, places: &[(EditPlace, FencePassage)]) -> HashMap<(usize, ThreadId, LocId), BTreeSet<String>> {
        let mut labels = HashMap::new();
        for (number, (_, passage)) in places.iter().enumerate() {
            for edge in &passage.edges {
                let thread = &self.program.threads[edge.thread.0];
                let to = thread.transitions[edge.transition.0].to;
                let of_location = &thread.locations[to.0].labels;
                if of_location.is_empty() {
                    continue;
                }
                let entering = self.regions.entering(edge.thread, to).iter();
                let mut entering = entering.map(|&transition| ThreadTransition { thread: edge.thread, transition });
                if entering.all(|other| passage.edges.binary_search(&other).is_ok()) {
                    labels.insert((number, edge.thread, to), of_location.iter().cloned().collect());
                }
            }
        }
        labels
    }

    fn instruction(&self, edge: &ThreadTransition) -> &Instruction {
        &self.program.threads[edge.thread.0].transitions[edge.transition.0].instruction
    }

    /// Calls whose orders can be others.
    fn orders(&self, lower: Lowering, accesses: &mut Vec<OrderedAccess>) -> Vec<SiteDraft> {
        let mut drafts = Vec::new();
        for call in &self.calls {
            let edges: Vec<ThreadTransition> = self.transitions(call).collect();
            let Some(first) = edges.first().map(|edge| self.instruction(edge)) else { continue };
            let slots = [OrderSlot::Main, OrderSlot::Failure];
            let slots: Vec<OrderSlot> = slots.into_iter().filter(|&slot| can_change(first, slot, lower)).collect();
            if slots.is_empty() {
                continue;
            }
            let place = EditPlace { at: call.range.start, ..EditPlace::default() };
            drafts.extend(slots.into_iter().map(|slot| SiteDraft {
                name: None,
                change: Change::Order(slot),
                edges: edges.clone(),
                place: place.clone(),
                access: Some(accesses.len()),
            }));
            accesses.push(call.ordered());
        }
        self.operators(lower, accesses, &mut drafts);
        drafts
    }

    /// Operators of atomic types, which can be calls with other orders.
    fn operators(&self, lower: Lowering, accesses: &mut Vec<OrderedAccess>, drafts: &mut Vec<SiteDraft>) {
        if !self.source.contains("stdatomic.h") && !self.source.contains("<atomic>") {
            return;
        }
        let mut starts: BTreeMap<usize, Vec<ThreadTransition>> = BTreeMap::new();
        for (span, edge) in self.regions.within(0..usize::MAX) {
            if OrderSlot::Main.order(self.instruction(edge)).is_some() {
                starts.entry(span.start as usize).or_default().push(*edge);
            }
        }
        for (at, edges) in starts {
            if is_operation(self.text.word(at)) {
                continue;
            }
            let Some(operator) = AtomicOperator::at(&self.text, at) else { continue };
            if !edges.iter().all(|edge| operator.agrees(self.instruction(edge)))
                || !can_change(self.instruction(&edges[0]), OrderSlot::Main, lower)
            {
                continue;
            }
            drafts.push(SiteDraft {
                name: None,
                change: Change::Order(OrderSlot::Main),
                edges,
                place: EditPlace { at, ..EditPlace::default() },
                access: Some(accesses.len()),
            });
            accesses.push(operator.ordered());
        }
    }

    /// Accesses that could be weaker, but are operators of atomic types or have orders that are hidden.
    fn unsaid(&self, lower: Lowering, drafts: &[SiteDraft]) -> usize {
        let orders = drafts.iter().filter(|draft| matches!(draft.change, Change::Order(_)));
        let known: BTreeSet<ThreadTransition> = orders.flat_map(|draft| draft.edges.iter().copied()).collect();
        let is_unsaid = |span: &Span, edge: &ThreadTransition| {
            let access = self.instruction(edge);
            let order = OrderSlot::Main.order(access);
            let weaker = lower.floor(OrderSlot::Main, access).is_some_and(|floor| Some(floor) != order);
            // Steps of threads that start and end are not the text's.
            let is_written = order == Some(Order::SeqCst) || is_operation(self.text.word(span.start as usize));
            weaker && is_written && !known.contains(edge)
        };
        let all = self.regions.within(0..usize::MAX).iter();
        let places: BTreeSet<u32> =
            all.filter(|(span, edge)| is_unsaid(span, edge)).map(|(span, _)| span.start).collect();
        places.len()
    }

    /// Stores that can be exchanges.
    fn locks(&self) -> Vec<SiteDraft> {
        let is_plain = |edge: &ThreadTransition| matches!(self.instruction(edge), Instruction::Store { order, .. } if *order != Order::SeqCst);
        let draft = |call: &AtomicCall| {
            let edges: Vec<ThreadTransition> = self.transitions(call).filter(is_plain).collect();
            let pieces = call.renamed(&self.text.code, "store", "exchange").filter(|_| !edges.is_empty())?;
            let pieces = pieces.into_iter().map(|(range, text)| EditPiece::replace(range, &text)).collect();
            let place = EditPlace { at: call.range.start, pieces, ..EditPlace::default() };
            Some(SiteDraft { name: None, change: Change::Lock, edges, place, access: None })
        };
        self.calls.iter().filter(|call| call.kind == CallKind::Store).filter_map(draft).collect()
    }

    /// Fences that stand there as statements.
    fn removals(&self) -> Vec<SiteDraft> {
        let draft = |call: &AtomicCall| {
            let edges: Vec<ThreadTransition> = self.transitions(call).collect();
            let statement = self.text.statement(call.range.start).filter(|_| !edges.is_empty())?;
            let Range { start, end } = statement.range;
            // Nothing but the fence.
            if start != call.range.start || end != self.text.skip_blanks(call.range.end) + 1 {
                return None;
            }
            let piece =
                if statement.is_part { EditPiece::instead(start..end, ";") } else { EditPiece::remove(start..end) };
            let place = EditPlace { at: start, pieces: vec![piece], ..EditPlace::default() };
            Some(SiteDraft { name: None, change: Change::Keep, edges, place, access: None })
        };
        self.calls.iter().filter(|call| call.kind == CallKind::Fence).filter_map(draft).collect()
    }
}

/// The fence of a piece as a statement.
fn with_semicolon(mut piece: EditPiece) -> EditPiece {
    if let Some(number) = piece.parts.iter().position(|part| matches!(part, PiecePart::Fence)) {
        piece.parts.insert(number + 1, ";".into());
    }
    piece
}
