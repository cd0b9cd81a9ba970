//! One thread's share of a constraint: where it is, and what its load buffer must hold.
//!
//! A word lists, oldest first, the messages that the loads after this point will take from memory, and the own messages that
//! some of them will read. Parts are hash-consed for each thread, so that configurations are small, equal parts are one number,
//! and what depends on a part alone (its silent predecessors) is computed once.

use crate::reachability::finite::{CellId, CellPair, EdgeEffect, Finite, LocalStateId};
use ravelin_explore::{Limit, Watch};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A message, by number in the [`Alphabet`].
pub type Letter = u32;
/// A part of one thread, by number.
pub type PartId = u32;
/// A local state of a thread, or beyond these a set of them ([`ThreadParts::sets`]).
pub type Control = u32;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Cells as memory held them at one moment: what one load, or one locked block of loads, takes.
    Memory(Box<[CellPair]>),
    /// The thread's own newest store to the cell.
    Own(CellPair),
}

#[derive(Default)]
pub struct Alphabet {
    messages: Vec<Message>,
    numbers: FxHashMap<Message, Letter>,
}

impl Alphabet {
    pub fn letter(&mut self, message: Message) -> Letter {
        if let Some(letter) = self.numbers.get(&message) {
            return *letter;
        }
        let letter = self.messages.len() as Letter;
        self.messages.push(message.clone());
        self.numbers.insert(message, letter);
        letter
    }

    pub fn message(&self, letter: Letter) -> &Message {
        &self.messages[letter as usize]
    }

    /// The cells that a message is about.
    pub fn cells(&self, letter: Letter) -> impl Iterator<Item = CellId> {
        let pairs = match self.message(letter) {
            Message::Memory(pairs) => pairs,
            Message::Own(pair) => std::slice::from_ref(pair),
        };
        pairs.iter().map(|pair| pair.0)
    }

    /// A message from memory that tells the value of the cell.
    pub fn tells(&self, letter: Letter, cell: CellId) -> bool {
        match self.message(letter) {
            Message::Memory(pairs) => pairs.iter().any(|(of, _)| *of == cell),
            Message::Own(_) => false,
        }
    }
}

pub struct ThreadPart {
    pub control: Control,
    pub word: Box<[Letter]>,
    /// A set of 64 that contains each letter's place.
    pub mask: u64,
    /// What the silent steps before it need, once it was asked for.
    pub closure: Option<Rc<[PartId]>>,
}

/// Several local states, one of which the thread is in; nothing is known of its buffer.
pub struct LocalStateSet {
    pub members: Vec<LocalStateId>,
    contains: Vec<bool>,
    pub holds_bus: bool,
    silent_in: Vec<u32>,
    loud_in: Vec<u32>,
}

/// A thread's graph read backwards, and its parts.
pub struct ThreadParts {
    thread: usize,
    states: usize,
    parts: Vec<ThreadPart>,
    /// Keys are the control, then the word.
    numbers: FxHashMap<Box<[u32]>, PartId>,
    pub sets: Vec<LocalStateSet>,
    /// By local state, the edges that lead there.
    silent_in: Vec<Vec<u32>>,
    loud_in: Vec<Vec<u32>>,
    holds_bus: Vec<bool>,
    pub initial: LocalStateId,
    /// By local state, sorted: the own stores that may be the newest of their cell in its load buffer.
    own: Vec<Box<[CellPair]>>,
    scratch: Vec<u32>,
    /// What the parts take in memory, roughly.
    pub bytes: usize,
}

impl ThreadParts {
    pub fn new(finite: &Finite, thread: usize, watch: &Watch) -> Result<ThreadParts, Limit> {
        let graph = &finite.threads[thread];
        let states = graph.states.len();
        watch.hold(states * (2 * size_of::<Vec<u32>>() + size_of::<bool>()) + 8 * graph.edges.len())?;
        let mut silent_in = vec![Vec::new(); states];
        let mut loud_in = vec![Vec::new(); states];
        for (number, edge) in graph.edges.iter().enumerate() {
            let edges = if edge.effect.is_silent() { &mut silent_in } else { &mut loud_in };
            edges[edge.to as usize].push(number as u32);
        }
        Ok(ThreadParts {
            thread,
            states,
            parts: Vec::new(),
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            silent_in,
            loud_in,
            holds_bus: graph.states.iter().map(|state| state.holds_bus).collect(),
            initial: graph.initial,
            own: own_stores(finite, thread, watch)?,
            scratch: Vec::new(),
            bytes: 0,
        })
    }

    /// A control that stands for several local states, which agree on holding the bus lock.
    pub fn set(&mut self, members: Vec<LocalStateId>) -> Control {
        if let [single] = members[..] {
            return single;
        }
        if let Some(known) = self.sets.iter().position(|set| set.members == members) {
            return (self.states + known) as Control;
        }
        let mut contains = vec![false; self.states];
        for member in &members {
            contains[*member as usize] = true;
        }
        let into = |edges: &[Vec<u32>]| members.iter().flat_map(|member| edges[*member as usize].clone()).collect();
        self.sets.push(LocalStateSet {
            contains,
            holds_bus: members.iter().any(|member| self.holds_bus[*member as usize]),
            silent_in: into(&self.silent_in),
            loud_in: into(&self.loud_in),
            members,
        });
        (self.states + self.sets.len() - 1) as Control
    }

    pub fn set_of(&self, control: Control) -> Option<&LocalStateSet> {
        (control as usize).checked_sub(self.states).map(|set| &self.sets[set])
    }

    pub fn holds_bus(&self, control: Control) -> bool {
        self.set_of(control).map_or_else(|| self.holds_bus[control as usize], |set| set.holds_bus)
    }

    pub fn silent_in(&self, control: Control) -> &[u32] {
        self.set_of(control).map_or_else(|| self.silent_in[control as usize].as_slice(), |set| &set.silent_in)
    }

    pub fn loud_in(&self, control: Control) -> &[u32] {
        self.set_of(control).map_or_else(|| self.loud_in[control as usize].as_slice(), |set| &set.loud_in)
    }

    pub fn is_initial(&self, control: Control) -> bool {
        self.control_covers(control, self.initial)
    }

    /// The thread may stay here while others move: it has just done something that others see, or nothing yet.
    pub fn is_anchor(&self, control: Control) -> bool {
        self.set_of(control).is_some() || control == self.initial || !self.loud_in[control as usize].is_empty()
    }

    pub fn control_covers(&self, one: Control, other: Control) -> bool {
        one == other
            || self.set_of(one).is_some_and(|set| match self.set_of(other) {
                None => set.contains[other as usize],
                Some(subset) => subset.members.iter().all(|member| set.contains[*member as usize]),
            })
    }

    /// The pair may be the newest own store of its cell when the thread is in this state.
    pub fn may_own(&self, state: LocalStateId, pair: CellPair) -> bool {
        self.own[state as usize].binary_search(&pair).is_ok()
    }

    /// All such pairs of a state, sorted.
    pub fn own(&self, state: LocalStateId) -> &[CellPair] {
        &self.own[state as usize]
    }

    pub fn part(&self, part: PartId) -> &ThreadPart {
        &self.parts[part as usize]
    }

    pub fn set_closure(&mut self, part: PartId, closure: Rc<[PartId]>) {
        self.parts[part as usize].closure = Some(closure);
    }

    pub fn intern(&mut self, control: Control, word: &[Letter]) -> PartId {
        self.scratch.clear();
        self.scratch.push(control);
        self.scratch.extend(word);
        if let Some(part) = self.numbers.get(self.scratch.as_slice()) {
            return *part;
        }
        let part = self.parts.len() as PartId;
        let place = |letter: &Letter| {
            let mixed = (u64::from(*letter) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            1 << ((mixed + self.thread as u64 * 23) % 64)
        };
        let mask = word.iter().fold(0, |mask, letter| mask | place(letter));
        self.parts.push(ThreadPart { control, word: word.into(), mask, closure: None });
        self.numbers.insert(self.scratch.as_slice().into(), part);
        self.bytes += size_of::<ThreadPart>() + 64 + 8 * word.len();
        part
    }

    /// Every state of the thread and its buffer that satisfies `large` satisfies `small`.
    pub fn covers(&self, small: PartId, large: PartId) -> bool {
        if small == large {
            return true;
        }
        let (small, large) = (self.part(small), self.part(large));
        small.mask & !large.mask == 0
            && self.control_covers(small.control, large.control)
            && is_subword(&small.word, &large.word)
    }
}

pub fn is_subword<T: PartialEq>(small: &[T], large: &[T]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut rest = large.iter();
    small.iter().all(|letter| rest.any(|other| other == letter))
}

/// For each local state, which own stores may be the newest of their cell in the load buffer there.
fn own_stores(finite: &Finite, thread: usize, watch: &Watch) -> Result<Vec<Box<[CellPair]>>, Limit> {
    let graph = &finite.threads[thread];
    let mut out: Vec<Vec<u32>> = vec![Vec::new(); graph.states.len()];
    for (number, edge) in graph.edges.iter().enumerate() {
        out[edge.from as usize].push(number as u32);
    }
    let mut own: Vec<Vec<CellPair>> = vec![Vec::new(); graph.states.len()];
    let mut waiting: Vec<LocalStateId> = (0..graph.states.len() as LocalStateId).collect();
    while let Some(state) = waiting.pop() {
        for &edge in &out[state as usize] {
            let edge = &graph.edges[edge as usize];
            let before = &own[state as usize];
            watch.steps(1 + before.len() / 16)?;
            let after: Vec<CellPair> = match &edge.effect {
                EdgeEffect::Local => before.clone(),
                // What is read is what is there, if anything is.
                EdgeEffect::Load(reads) => {
                    let agrees = |own: &&CellPair| reads.iter().all(|read| read.0 != own.0 || read.1 == own.1);
                    before.iter().filter(agrees).copied().collect()
                }
                EdgeEffect::Store(pair) => {
                    before.iter().filter(|own| own.0 != pair.0).copied().chain(std::iter::once(*pair)).collect()
                }
                _ => Vec::new(),
            };
            let known = &mut own[edge.to as usize];
            let size = known.len();
            for pair in after {
                if let Err(place) = known.binary_search(&pair) {
                    known.insert(place, pair);
                }
            }
            if known.len() > size {
                watch.hold((known.len() - size) * 2 * size_of::<CellPair>())?;
                waiting.push(edge.to);
            }
        }
    }
    Ok(own.into_iter().map(Vec::into_boxed_slice).collect())
}
