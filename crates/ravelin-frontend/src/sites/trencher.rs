//! Where a Trencher text can be changed. Threads are written as automata, so places are states and transitions instead of statements.
//!
//! A fence at a state is passed by whoever enters it: the state keeps its name, the fence leads on to a new state, and what left the
//! state leaves the new one. Where several transitions enter a state, a fence can also stand behind one of them, on the way to a new
//! state. What each change does is plain from the text, so nothing has to be tried.

use super::choose::LocationEntries;
use super::edit::{EditPiece, EditPlace, PiecePart, indentation, newline};
use super::{FenceWords, SiteDraft};
use crate::trencher::parser;
use crate::trencher::syntax::{InstructionText, ThreadText};
use ravelin_program::{Change, Instruction, LocId, Order, Program, ThreadId, ThreadTransition, TransitionId};
use std::collections::{HashMap, HashSet};

pub fn words() -> FenceWords {
    FenceWords::new("mfence", None)
}

/// The fences that can be put in, and those that can be taken away if `existing`.
pub fn drafts(text: &str, program: &Program, existing: bool) -> Vec<SiteDraft> {
    let (file, _) = parser::parse(text);
    let mut drafts = Vec::new();
    for (number, written) in file.threads.iter().enumerate() {
        let Some(thread) = program.threads.get(number) else { break };
        let mut order: Vec<usize> = (0..written.transitions.len()).collect();
        let by_name: HashMap<&str, LocId> = thread
            .locations
            .iter()
            .enumerate()
            .flat_map(|(number, location)| location.labels.iter().map(move |label| (label.as_str(), LocId(number))))
            .collect();
        // As lowering numbers them.
        order.sort_by_key(|&transition| by_name.get(written.transitions[transition].from.text).copied());
        let names = written.transitions.iter().flat_map(|transition| [transition.from.text, transition.to.text]);
        let names = names.chain(written.initial.iter().map(|state| state.text)).map(str::to_owned).collect();
        let mut outline = Automaton {
            text,
            written,
            order,
            id: ThreadId(number),
            entered: LocationEntries::of(thread),
            names,
            made: HashMap::new(),
            existing,
            thread,
            drafts: &mut drafts,
        };
        outline.states();
        if existing {
            outline.fences();
        }
    }
    drafts
}

struct Automaton<'a> {
    text: &'a str,
    written: &'a ThreadText<'a>,
    /// Which transition of the text each transition of the program is.
    order: Vec<usize>,
    id: ThreadId,
    thread: &'a ravelin_program::Thread,
    entered: LocationEntries,
    /// All states, those to be made included.
    names: HashSet<String>,
    /// How many names were made from each.
    made: HashMap<String, usize>,
    existing: bool,
    drafts: &'a mut Vec<SiteDraft>,
}

impl Automaton<'_> {
    fn states(&mut self) {
        let mut entering: Vec<Vec<TransitionId>> = vec![Vec::new(); self.thread.locations.len()];
        for (number, transition) in self.thread.transitions.iter().enumerate() {
            entering[transition.to.0].push(TransitionId(number));
        }
        for (number, entering) in entering.into_iter().enumerate() {
            let state = LocId(number);
            let useless = |fence: &Instruction| *fence == Instruction::Fence(Order::SeqCst);
            let instruction = |id: &TransitionId| &self.thread.transitions[id.0].instruction;
            let follows = entering.iter().all(|id| useless(instruction(id)));
            let mut ways = self.thread.outgoing(state).map(|(_, transition)| &transition.instruction);
            let precedes = ways.next().is_some_and(useless) && ways.next().is_none();
            if self.entered.held[number] || follows || (precedes && !self.existing) {
                continue;
            }
            if !precedes {
                self.at_state(state, &entering);
            }
            if entering.len() > 1 {
                let mut seen: HashMap<LocId, usize> = HashMap::new();
                for id in entering {
                    let from = self.thread.transitions[id.0].from;
                    let count = seen.entry(from).or_insert(0);
                    *count += 1;
                    let count = *count;
                    if !useless(&self.thread.transitions[id.0].instruction) {
                        self.behind(id, count);
                    }
                }
            }
        }
    }

    /// A fence at a state. It stands before the first transition that leaves it, or behind the last that enters it.
    fn at_state(&mut self, state: LocId, entering: &[TransitionId]) {
        let name = self.name(state);
        let fresh = self.fresh(&name);
        let leaving: Vec<usize> = self.thread.outgoing(state).map(|(id, _)| self.order[id.0]).collect();
        let mut pieces: Vec<EditPiece> = leaving
            .iter()
            .map(|&transition| self.written.transitions[transition].from.span)
            .map(|from| EditPiece::replace(from.start as usize..from.end as usize, &fresh))
            .collect();
        let fence = format!("transition {name} {fresh} ");
        let at = match leaving.iter().min() {
            Some(&first) => {
                let at = self.written.transitions[first].span.start as usize;
                let after = match indentation(self.text, at) {
                    Some(indentation) => format!("{}{indentation}", newline(self.text)),
                    None => " ".to_owned(),
                };
                pieces.push(EditPiece::new(at..at, 0, vec![fence.into(), PiecePart::Fence, after.into()]));
                at
            }
            None => {
                let last = entering.iter().map(|id| self.order[id.0]).max().unwrap_or(0);
                pieces.push(self.line_behind(last, fence, 1));
                self.written.transitions[last].to.span.start as usize
            }
        };
        let edges = entering.iter().map(|&transition| ThreadTransition { thread: self.id, transition }).collect();
        let change = Change::Insert { after_label: true };
        self.draft(name, change, edges, EditPlace { at, pieces, ..EditPlace::default() });
    }

    /// A fence behind one transition.
    fn behind(&mut self, id: TransitionId, count: usize) {
        let transition = &self.thread.transitions[id.0];
        let (from, to) = (self.name(transition.from), self.name(transition.to));
        let fresh = self.fresh(&to);
        let number = self.order[id.0];
        let target = self.written.transitions[number].to.span;
        let pieces = vec![
            EditPiece::replace(target.start as usize..target.end as usize, &fresh),
            self.line_behind(number, format!("transition {fresh} {to} "), 0),
        ];
        let name = if count > 1 { format!("{from}->{to}#{count}") } else { format!("{from}->{to}") };
        let edges = vec![ThreadTransition { thread: self.id, transition: id }];
        let place =
            EditPlace { at: self.written.transitions[number].span.start as usize, pieces, ..EditPlace::default() };
        self.draft(name, Change::Insert { after_label: false }, edges, place);
    }

    fn fences(&mut self) {
        for (number, transition) in self.thread.transitions.iter().enumerate() {
            let written = &self.written.transitions[self.order[number]];
            if !matches!(written.instruction, InstructionText::Mfence) {
                continue;
            }
            let end = written.span.end as usize;
            let pieces = vec![EditPiece::replace(end - "mfence".len()..end, "noop")];
            let name = format!("{}->{}:mfence", self.name(transition.from), self.name(transition.to));
            let edges = vec![ThreadTransition { thread: self.id, transition: TransitionId(number) }];
            let place = EditPlace { at: written.span.start as usize, pieces, ..EditPlace::default() };
            self.draft(name, Change::Keep, edges, place);
        }
    }

    /// A transition on a line of its own, if the one before it has one.
    fn line_behind(&self, transition: usize, fence: String, order: i32) -> EditPiece {
        let span = self.written.transitions[transition].span;
        let end = span.end as usize;
        let line = match indentation(self.text, span.start as usize) {
            Some(indentation) => format!("{}{indentation}{fence}", newline(self.text)),
            None => format!(" {fence}"),
        };
        EditPiece::new(end..end, order, vec![line.into(), PiecePart::Fence])
    }

    fn draft(&mut self, name: String, change: Change, mut edges: Vec<ThreadTransition>, place: EditPlace) {
        edges.sort_unstable();
        let name = Some(format!("{}:{name}", self.thread.name));
        self.drafts.push(SiteDraft { name, change, edges, place, access: None });
    }

    fn name(&self, state: LocId) -> String {
        self.thread.locations[state.0].labels.first().cloned().unwrap_or_default()
    }

    /// A state that is not there yet.
    fn fresh(&mut self, state: &str) -> String {
        let made = self.made.entry(state.to_owned()).or_insert(0);
        loop {
            *made += 1;
            let name = if *made == 1 { format!("{state}_fence") } else { format!("{state}_fence{made}") };
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }
}
