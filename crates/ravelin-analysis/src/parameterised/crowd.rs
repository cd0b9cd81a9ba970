//! Reachability under TSO with any number of threads: the load-buffer semantics, backwards (*A load-buffer semantics for total store
//! ordering*, LMCS 2018, section 6).
//!
//! A constraint lists some threads, each with where it is and a word that its buffer must hold (see `reachability/dual`), and some
//! cells. Threads that are not listed may be anywhere, and in any number: whoever of them writes what memory must hold comes onto the list
//! as the step is taken back. A thread of which there is one is listed at most once. Constraints are ordered by matching their threads,
//! each with one that needs as much, which is a well-quasi-order; so the search ends.
//!
//! Where copies get only by deeds that others can repeat, one of them stands for any number, as under SC: a second one does everything
//! right after the first, and gets the same messages.
//!
//! Messages at the newest end that tell what memory is known to hold are taken off at once: what is left covers the rest.
//!
//! **Pruning.** In this semantics stores and locked steps act on memory as under SC, and only loads read what was there before. So a net in
//! which loads read anything over-approximates it, and pairs of places of that net that are never marked together prune this search, too.

use super::actor::{Actor, is_local};
use super::goals::{GoalCase, WatchedStates, cases};
use super::memory::{Arcs, MemoryPlaces};
use super::quiet::Quiet;
use crate::reachability::dual::part::{Alphabet, Letter, Message, ThreadParts, is_subword};
use crate::reachability::finite::{CellId, CellPair, EdgeEffect, Finite, NotFinite};
use ravelin_backward::nets::{Net, Pairs, PlaceId};
use ravelin_backward::{FileId, MonotonicSystem};
use ravelin_explore::{Limit, Watch};
use ravelin_machine::Violation;
use ravelin_program::Copies;

/// What one thread must be like: its number, its stop, its word. In this order constraints are sorted.
type ListedThread = (u16, u32, Box<[Letter]>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CrowdConstraint {
    threads: Vec<ListedThread>,
    memory: Vec<Option<u16>>,
}

/// The file of constraints that ask for nothing.
const NOTHING: FileId = 0;

/// The semantics, for the search.
pub(super) struct Crowd<'a> {
    finite: &'a Finite,
    threads: Vec<CrowdMember>,
    alphabet: Alphabet,
    memory: MemoryPlaces,
    /// What can be the case at the same time; none if there was no time to find out.
    pairs: Option<Pairs>,
    watch: &'a Watch<'a>,
}

/// A thread, or a template.
struct CrowdMember {
    actor: Actor,
    any: bool,
    /// By stop, the deeds that lead there.
    into: Vec<Vec<usize>>,
    /// Deeds that write memory.
    writing: Vec<usize>,
    /// Knows which own stores may be pending where.
    parts: ThreadParts,
}

impl<'a> Crowd<'a> {
    /// The semantics, and the cases of the goals where the search begins.
    pub fn new(
        finite: &'a Finite,
        watch: &'a Watch<'a>,
    ) -> Result<(Crowd<'a>, Vec<(Violation, CrowdConstraint)>), NotFinite> {
        let cases = cases(finite, watch)?;
        let watched = WatchedStates::new(finite);
        let mut net = Net::default();
        let memory = MemoryPlaces::new(finite, &mut net);
        let mut member = |thread: usize| -> Result<CrowdMember, Limit> {
            let quiet = Quiet::new(&finite.threads[thread], is_local, &|state| watched.watches(thread, state), watch)?;
            let mut into = vec![Vec::new(); quiet.stops.len()];
            let mut writing: Vec<usize> = Vec::new();
            for (number, deed) in quiet.deeds.iter().enumerate() {
                if let Some(stop) = deed.to {
                    into[stop].push(number);
                }
                let same = |other: &usize| {
                    let other = &quiet.deeds[*other];
                    other.from == deed.from && other.effect == deed.effect
                };
                let writes = match &deed.effect {
                    EdgeEffect::Store(_) => true,
                    EdgeEffect::Atomic { writes, .. } => !writes.is_empty(),
                    _ => false,
                };
                if writes && !writing.iter().rev().take_while(|other| quiet.deeds[**other].from == deed.from).any(same)
                {
                    writing.push(number);
                }
            }
            let any = finite.program.threads[thread].copies == Copies::Any;
            let actor = Actor::new(finite, &mut net, thread, quiet, "", false, &mut |_| {});
            Ok(CrowdMember { actor, any, into, writing, parts: ThreadParts::new(finite, thread, watch)? })
        };
        let threads = (0..finite.threads.len()).map(&mut member).collect::<Result<Vec<CrowdMember>, Limit>>()?;
        for CrowdMember { actor, .. } in &threads {
            for (number, deed) in actor.quiet.deeds.iter().enumerate() {
                let mut arcs = Arcs::default();
                actor.go(number, &actor.places, &actor.places, &mut arcs);
                if !matches!(deed.effect, EdgeEffect::Load(_)) {
                    memory.act(&deed.effect, &mut arcs);
                }
                net.setting(arcs.takes, arcs.gives, arcs.sets);
            }
        }
        let pairs = Pairs::new(&net, &mut || watch.step().is_err());
        if let Some(limit) = watch.limit() {
            return Err(limit.into());
        }
        let crowd = Crowd { finite, threads, alphabet: Alphabet::default(), memory, pairs, watch };
        let starts = cases.into_iter().map(|(violation, case)| (violation, crowd.constraint(&case))).collect();
        Ok((crowd, starts))
    }

    fn constraint(&self, case: &GoalCase) -> CrowdConstraint {
        let mut memory = vec![None; self.finite.cells.len()];
        for &(cell, value) in &case.memory {
            // A cell with one value only is never mentioned elsewhere.
            if self.finite.cells[cell as usize].values.len() > 1 {
                memory[cell as usize] = Some(value);
            }
        }
        let listed = |(thread, state): &(usize, u32)| {
            let stop = self.threads[*thread].actor.quiet.stops.binary_search(state).ok();
            stop.map(|stop| (*thread as u16, stop as u32, Box::default()))
        };
        self.tidy(CrowdConstraint { threads: case.threads.iter().filter_map(listed).collect(), memory })
    }

    fn is_set(&self, (thread, stop, _): &ListedThread) -> bool {
        let member = &self.threads[*thread as usize];
        member.any && member.actor.quiet.repeatable[*stop as usize]
    }

    /// Takes off what memory is known to tell, and threads that others stand for.
    fn tidy(&self, mut constraint: CrowdConstraint) -> CrowdConstraint {
        let CrowdConstraint { threads, memory } = &mut constraint;
        for (_, _, word) in threads.iter_mut() {
            let told = |letter: &Letter| match self.alphabet.message(*letter) {
                Message::Memory(pairs) => pairs.iter().all(|(cell, value)| memory[*cell as usize] == Some(*value)),
                Message::Own(_) => false,
            };
            let left = word.iter().rposition(|letter| !told(letter)).map_or(0, |last| last + 1);
            if left < word.len() {
                *word = word[..left].into();
            }
        }
        threads.sort_unstable();
        let mut at = 0;
        while at < threads.len() {
            let small = &threads[at];
            let stands_for = |(number, large): (usize, &ListedThread)| {
                number != at
                    && (large.0, large.1) == (small.0, small.1)
                    && is_subword(&small.2, &large.2)
                    && (small.2 != large.2 || number < at)
            };
            if self.is_set(small) && threads.iter().enumerate().any(stands_for) {
                threads.remove(at);
            } else {
                at += 1;
            }
        }
        constraint
    }

    /// Adds a predecessor, unless it needs two of a thread of which there is one, or own messages that cannot be there.
    fn add(&self, constraint: CrowdConstraint, found: &mut Vec<((), CrowdConstraint)>) {
        let constraint = self.tidy(constraint);
        let one_of_one = |pair: &[ListedThread]| pair[0].0 != pair[1].0 || self.threads[pair[0].0 as usize].any;
        if constraint.threads.windows(2).all(one_of_one) && self.can_be(&constraint) {
            found.push(((), constraint));
        }
    }

    /// No two things are asked for that are never the case together.
    fn can_be(&self, constraint: &CrowdConstraint) -> bool {
        let Some(pairs) = &self.pairs else { return true };
        let place = |(thread, stop, _): &ListedThread| self.threads[*thread as usize].actor.places[*stop as usize];
        let known = constraint.memory.iter().enumerate();
        let known = known.filter_map(|(cell, value)| self.memory.place((cell as CellId, (*value)?)));
        let held: Vec<PlaceId> = known.collect();
        constraint.threads.iter().enumerate().all(|(number, listed)| {
            let here = place(listed);
            pairs.can_hold(here)
                && held.iter().all(|cell| pairs.can_meet(here, *cell))
                && constraint.threads[number + 1..].iter().all(|other| pairs.can_meet(here, place(other)))
        })
    }

    fn is_possible(&self, thread: usize, stop: usize, word: &[Letter]) -> bool {
        let member = &self.threads[thread];
        word.iter().all(|letter| match self.alphabet.message(*letter) {
            Message::Own(pair) => member.parts.may_own(member.actor.quiet.stops[stop], *pair),
            Message::Memory(_) => true,
        })
    }

    /// Memory sent the newest message of a listed thread.
    fn propagation(&self, of: &CrowdConstraint, at: usize, found: &mut Vec<((), CrowdConstraint)>) {
        let Some((newest, rest)) = of.threads[at].2.split_last() else { return };
        let Message::Memory(pairs) = self.alphabet.message(*newest) else { return };
        let mut before = of.clone();
        before.threads[at].2 = rest.into();
        if pairs.iter().all(|pair| holds(&mut before.memory, *pair)) {
            self.add(before, found);
        }
    }

    /// A listed thread did a deed.
    fn step(&mut self, of: &CrowdConstraint, at: usize, deed: usize, found: &mut Vec<((), CrowdConstraint)>) {
        let (thread, _, ref word) = of.threads[at];
        let thread = thread as usize;
        let deed = &self.threads[thread].actor.quiet.deeds[deed];
        let (from, effect) = (deed.from, deed.effect.clone());
        let mut before = of.clone();
        before.threads[at].1 = from as u32;
        match effect {
            EdgeEffect::Local => self.keep(before, at, found),
            EdgeEffect::Load(reads) => self.load(before, at, &reads, &mut Vec::new(), found),
            EdgeEffect::Fence if word.is_empty() => self.keep(before, at, found),
            EdgeEffect::Store(pair) if holds(&mut before.memory, pair) => {
                before.memory[pair.0 as usize] = None;
                let own = self.own(word, pair.0);
                if own.is_none() && !word.iter().any(|letter| self.alphabet.tells(*letter, pair.0)) {
                    self.keep(before, at, found);
                } else if own == Some((word.len() - 1, pair.1)) {
                    before.threads[at].2 = word[..word.len() - 1].into();
                    self.keep(before, at, found);
                }
            }
            EdgeEffect::Atomic { reads, writes } if word.is_empty() && atomic(&mut before.memory, &reads, &writes) => {
                self.keep(before, at, found);
            }
            _ => {}
        }
    }

    fn keep(&self, before: CrowdConstraint, at: usize, found: &mut Vec<((), CrowdConstraint)>) {
        let (thread, stop, word) = &before.threads[at];
        if self.is_possible(*thread as usize, *stop as usize, word) {
            self.add(before, found);
        }
    }

    /// A thread that is not listed wrote what memory must hold.
    fn newcomer(&self, of: &CrowdConstraint, thread: usize, deed: usize, found: &mut Vec<((), CrowdConstraint)>) {
        let deed = &self.threads[thread].actor.quiet.deeds[deed];
        let mut before = of.clone();
        match &deed.effect {
            EdgeEffect::Store(pair) if of.memory[pair.0 as usize] == Some(pair.1) => {
                before.memory[pair.0 as usize] = None
            }
            EdgeEffect::Atomic { reads, writes } => {
                let matters = writes.iter().any(|(cell, value)| of.memory[*cell as usize] == Some(*value));
                if !matters || !atomic(&mut before.memory, reads, writes) {
                    return;
                }
            }
            _ => return,
        }
        before.threads.push((thread as u16, deed.from as u32, Box::default()));
        self.add(before, found);
    }

    /// A load: each cell from an own message, the others from the oldest message.
    fn load(
        &mut self,
        before: CrowdConstraint,
        at: usize,
        reads: &[CellPair],
        from_memory: &mut Vec<CellPair>,
        found: &mut Vec<((), CrowdConstraint)>,
    ) {
        let (thread, stop, word) = &before.threads[at];
        let Some(((cell, value), rest)) = reads.split_first() else {
            let mut before = before;
            if !from_memory.is_empty() {
                let letter = self.alphabet.letter(Message::Memory(from_memory.as_slice().into()));
                if before.threads[at].2.first() != Some(&letter) {
                    before.threads[at].2 = insert(&before.threads[at].2, 0, letter);
                }
            }
            return self.keep(before, at, found);
        };
        if let Some((_, own)) = self.own(word, *cell) {
            if own == *value {
                self.load(before, at, rest, from_memory, found);
            }
            return;
        }
        let member = &self.threads[*thread as usize];
        if member.parts.may_own(member.actor.quiet.stops[*stop as usize], (*cell, *value)) {
            let tells = |letter: &Letter| self.alphabet.tells(*letter, *cell);
            let first = word.iter().position(tells).unwrap_or(word.len());
            let letter = self.alphabet.letter(Message::Own((*cell, *value)));
            for place in 0..=first {
                let mut with_own = before.clone();
                with_own.threads[at].2 = insert(&with_own.threads[at].2, place, letter);
                self.load(with_own, at, rest, from_memory, found);
            }
        }
        from_memory.push((*cell, *value));
        self.load(before, at, rest, from_memory, found);
        from_memory.pop();
    }

    /// Where the own message on a cell stands, and its value.
    fn own(&self, word: &[Letter], cell: CellId) -> Option<(usize, u16)> {
        word.iter().enumerate().find_map(|(place, letter)| match self.alphabet.message(*letter) {
            Message::Own((of, value)) if *of == cell => Some((place, *value)),
            _ => None,
        })
    }

    /// Each thread of one constraint can be matched with another one of the other that needs as much: a matching that grows along
    /// augmenting paths.
    fn matches(&self, small: &[ListedThread], large: &[ListedThread]) -> bool {
        let needs_less = |small: &ListedThread, large: &ListedThread| {
            (small.0, small.1) == (large.0, large.1) && is_subword(&small.2, &large.2)
        };
        // By thread of the larger constraint, the one of the smaller that it is matched with.
        let mut matched: Vec<Option<usize>> = vec![None; large.len()];
        small.iter().enumerate().all(|(number, listed)| {
            if self.is_set(listed) {
                return large.iter().any(|other| needs_less(listed, other));
            }
            let mut seen = vec![false; large.len()];
            augment(
                number,
                &|small_at, large_at| needs_less(&small[small_at], &large[large_at]),
                &mut matched,
                &mut seen,
            )
        })
    }
}

/// Finds a partner for a thread, if need be by finding others for those who have one.
fn augment(
    number: usize,
    fits: &dyn Fn(usize, usize) -> bool,
    matched: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for partner in 0..matched.len() {
        if seen[partner] || !fits(number, partner) {
            continue;
        }
        seen[partner] = true;
        if matched[partner].is_none_or(|other| augment(other, fits, matched, seen)) {
            matched[partner] = Some(number);
            return true;
        }
    }
    false
}

impl MonotonicSystem for Crowd<'_> {
    type Constraint = CrowdConstraint;
    type Step = ();

    fn predecessors(&mut self, of: &CrowdConstraint, found: &mut Vec<((), CrowdConstraint)>) {
        for at in 0..of.threads.len() {
            // Of equal threads one is enough.
            if at > 0 && of.threads[at] == of.threads[at - 1] {
                continue;
            }
            self.propagation(of, at, found);
            let (thread, stop, _) = &of.threads[at];
            for number in 0..self.threads[*thread as usize].into[*stop as usize].len() {
                if self.watch.step().is_err() {
                    return;
                }
                let deed = self.threads[*thread as usize].into[*stop as usize][number];
                self.step(of, at, deed, found);
            }
        }
        for thread in 0..self.threads.len() {
            for &deed in &self.threads[thread].writing {
                if self.watch.step().is_err() {
                    return;
                }
                self.newcomer(of, thread, deed, found);
            }
        }
    }

    fn is_initial(&self, constraint: &CrowdConstraint) -> bool {
        let starts = |(thread, stop, word): &ListedThread| {
            let mut starts = self.threads[*thread as usize].actor.quiet.starts.iter();
            word.is_empty() && starts.any(|(start, _)| *start == *stop as usize)
        };
        let holds = |(value, cell): (&Option<u16>, &crate::reachability::finite::FiniteCell)| {
            value.is_none_or(|value| usize::from(value) < cell.initial)
        };
        constraint.threads.iter().all(starts) && constraint.memory.iter().zip(&self.finite.cells).all(holds)
    }

    fn covers(&self, small: &CrowdConstraint, large: &CrowdConstraint) -> bool {
        small.memory.iter().zip(&large.memory).all(|(small, large)| small.is_none() || small == large)
            && self.matches(&small.threads, &large.threads)
    }

    fn signature(&self, constraint: &CrowdConstraint) -> u128 {
        let known = constraint.memory.iter().enumerate();
        let known = known.filter_map(|(cell, value)| value.map(|value| (cell * 11 + usize::from(value)) % 32));
        // Where threads are counted, the second one in a place is another member of the set, and so on.
        let mut alike = 0;
        let threads = constraint.threads.iter().enumerate().flat_map(|(at, listed)| {
            let (thread, stop, word) = listed;
            let again = at > 0 && (constraint.threads[at - 1].0, constraint.threads[at - 1].1) == (*thread, *stop);
            alike = if again && !self.is_set(listed) { alike + 1 } else { 0 };
            let place = 32 + (*thread as usize * 7 + *stop as usize + alike * 13) % 64;
            let letters = word.iter().map(|letter| 96 + (*letter as usize * 5 + *thread as usize) % 32);
            std::iter::once(place).chain(letters)
        });
        known.chain(threads).fold(0, |signature, place| signature | 1 << place)
    }

    /// A constraint is filed under one thing that it asks for, so whatever it covers asks for it, too.
    fn files(&mut self, constraint: &CrowdConstraint, files: &mut Vec<FileId>) {
        files.extend(wants(constraint));
        files.dedup();
        if files.is_empty() {
            files.push(NOTHING);
        }
    }

    fn in_smaller_files(&self, constraint: &CrowdConstraint, covers: impl FnMut(FileId) -> bool) -> bool {
        wants(constraint).chain([NOTHING]).any(covers)
    }

    fn bytes(&self, constraint: &CrowdConstraint) -> usize {
        let words: usize = constraint.threads.iter().map(|(_, _, word)| 32 + 4 * word.len()).sum();
        words + 4 * constraint.memory.len()
    }
}

/// What a constraint asks for: threads at stops, cells with values. Threads with very many stops, and cells with very many values, share some, which is slower and not
/// wrong.
fn wants(constraint: &CrowdConstraint) -> impl Iterator<Item = FileId> + '_ {
    let threads = constraint.threads.iter();
    let threads = threads.map(|(thread, stop, _)| 1 << 31 | (u32::from(*thread) & 0x7FF) << 20 | stop & 0xF_FFFF);
    let known = constraint.memory.iter().enumerate();
    let known = known.filter_map(|(cell, value)| value.map(|value| 1 << 30 | (cell as u32) << 16 | u32::from(value)));
    threads.chain(known).map(u64::from)
}

fn insert(word: &[Letter], place: usize, letter: Letter) -> Box<[Letter]> {
    let mut longer = word.to_vec();
    longer.insert(place, letter);
    longer.into()
}

/// The cell holds the value; if nothing was known of it, now it is.
fn holds(memory: &mut [Option<u16>], (cell, value): CellPair) -> bool {
    *memory[cell as usize].get_or_insert(value) == value
}

/// What memory must hold before a locked step, if it can have been taken.
fn atomic(memory: &mut [Option<u16>], reads: &[CellPair], writes: &[CellPair]) -> bool {
    let unwritten = |read: &&CellPair| writes.iter().all(|write| write.0 != read.0);
    if !writes.iter().chain(reads.iter().filter(unwritten)).all(|pair| holds(memory, *pair)) {
        return false;
    }
    writes.iter().for_each(|(cell, _)| memory[*cell as usize] = None);
    reads.iter().for_each(|(cell, value)| memory[*cell as usize] = Some(*value));
    true
}
