//! Extending a program so that SC emulates the delays it is allowed (P ⊕ σ, section 3 of *Lazy TSO Reachability*).
//!
//! A thread gets copies of its locations. In a copy, stores are *held back*: their addresses and values are in auxiliary
//! registers, loads look there first (`emulate`), and nobody else sees them. Every location of the original stays, with its
//! number, and means that nothing is held back.
//!
//! - A store that may be held back is never done plainly any more (the paper removes inst₁), so the oracle does not find the
//!   same delay again.
//! - [`AddedLocation::Holding`]: an instruction that is allowed with what is pending goes on to the next copy.
//! - Behind a load, and behind the first store held back, the oldest store may reach memory. This is a locked step, a fence at the same
//!   time, so it cannot be delayed in turn. Nowhere else is it needed: a flush can come earlier than
//!   local steps and later stores of its thread without changing the computation (Lemma 7).
//! - For the oracle only: before any other instruction, as many of the oldest stores as it takes become plain stores of the
//!   extended program ([`AddedLocation::Committed`]), and the oracle may find that they could be delayed further. Under SC these
//!   steps reach nothing new, because by the same lemma those stores could have reached memory earlier; so the search does without.
//!
//! Under TSO the extended program reaches the same settled states as the original (Lemma 1), *for any set of delays and with
//! loops*: the original's store buffer is what the extended one buffers, followed by what is held back. So if the extended
//! program is robust and does not reach a goal under SC, then the original does not reach it under TSO.

use super::delays::{DelayedStores, Delays};
use super::emulate::Auxiliary;
use crate::robustness::{ends_attack, is_delayable};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{
    Expr, Goal, GoalKind, Instruction, LocId, Location, Program, RegId, Thread, ThreadId, Transition, TransitionId,
};
use std::collections::HashMap;

/// With so few stores pending, those that become plain are stored from where they are; with more, the rest moves up, so that
/// copies for different numbers of them can be shared.
const STORED_IN_PLACE: usize = 6;
/// So many registers are moved by assignments, which cost no state of their own; more of them by one locked step, which costs no
/// locations.
const MOVED_ONE_BY_ONE: usize = 8;

/// An extended program, and what its transitions mean in the original.
pub(super) struct ExtendedProgram {
    pub program: Program,
    /// By thread and transition.
    pub origins: Vec<Vec<TransitionOrigin>>,
}

/// What a transition does in the original.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransitionOrigin {
    /// The transition that it belongs to; of a flush, the store that reaches memory.
    pub transition: TransitionId,
    pub effect: OriginalEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OriginalEffect {
    /// A part of an instruction that is not done yet, or bookkeeping.
    Nothing,
    /// The original takes the transition. A store is issued and held back.
    Takes,
    /// A store is issued, and under SC reaches memory at once.
    Stores,
    /// The oldest store that was held back is plain now, and under SC reaches memory at once.
    Flushes,
}

/// What an extension is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Looking for goals under SC.
    Search,
    /// Looking for attacks. Goals do not matter.
    Oracle,
}

/// Extends a lowered program. `delays` has one entry a thread.
pub(super) fn extend(
    program: &Program,
    delays: &[Delays],
    purpose: Use,
    watch: &Watch,
) -> Result<ExtendedProgram, Limit> {
    let takes_bus = |thread: &Thread| thread.transitions.iter().any(|t| t.instruction == Instruction::BusLock);
    let bus = program.threads.iter().any(takes_bus);
    let looks_at_memory = |goal: &Goal| goal.kind == GoalKind::Never && goal.mentions_memory();
    let flagged = purpose == Use::Search && program.goals.iter().any(looks_at_memory);
    let mut extended = Program { threads: Vec::new(), goals: Vec::new(), ..program.clone() };
    let (mut origins, mut homes, mut flags) = (Vec::new(), Vec::new(), Vec::new());
    for (thread, delays) in program.threads.iter().zip(delays) {
        let (woven, origin, home, flag) = Weave::new(program, thread, delays, bus, purpose, flagged).finish(watch)?;
        extended.threads.push(woven);
        origins.push(origin);
        homes.push(home);
        flags.push(flag);
    }
    if purpose == Use::Search {
        extended.goals = program.goals.iter().map(|goal| super::goals::lift(goal, &homes, &flags)).collect();
    }
    Ok(ExtendedProgram { program: extended, origins })
}

/// A location that the original does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum AddedLocation {
    Holding {
        at: LocId,
        pending: DelayedStores,
        may_flush: bool,
    },
    /// On the way to a transition that is not allowed with all that was pending. The first `gone` slots are free again.
    Committed {
        pending: DelayedStores,
        gone: usize,
        transition: TransitionId,
    },
}

impl AddedLocation {
    fn pending(&self) -> &DelayedStores {
        match self {
            AddedLocation::Holding { pending, .. } | AddedLocation::Committed { pending, .. } => pending,
        }
    }
}

/// A thread, what its transitions mean, where its locations are in the original, and the register that says whether anything is held
/// back.
type WovenThread = (Thread, Vec<TransitionOrigin>, Vec<LocId>, Option<RegId>);

struct Weave<'a> {
    thread: &'a Thread,
    delays: &'a Delays,
    purpose: Use,
    auxiliary: Auxiliary<'a>,
    locations: Vec<Location>,
    /// By location: where the thread is in the original.
    home: Vec<LocId>,
    transitions: Vec<(Transition, TransitionOrigin)>,
    known: HashMap<AddedLocation, LocId>,
    waiting: Vec<(AddedLocation, LocId)>,
    /// Tells whether anything is held back; only if goals look at memory.
    flag: Option<RegId>,
}

/// Instructions one behind the other, with what each does.
pub(super) type InstructionChain = Vec<(Instruction, OriginalEffect)>;

impl<'a> Weave<'a> {
    fn new(
        program: &'a Program,
        thread: &'a Thread,
        delays: &'a Delays,
        bus: bool,
        purpose: Use,
        flagged: bool,
    ) -> Weave<'a> {
        let mut auxiliary = Auxiliary::new(program, thread, delays.slots(), bus);
        let flag = (flagged && !delays.is_empty()).then(|| auxiliary.flag());
        Weave {
            thread,
            delays,
            purpose,
            auxiliary,
            locations: thread.locations.clone(),
            home: (0..thread.locations.len()).map(LocId).collect(),
            transitions: Vec::new(),
            known: HashMap::new(),
            waiting: Vec::new(),
            flag,
        }
    }

    fn finish(mut self, watch: &Watch) -> Result<WovenThread, Limit> {
        for (id, transition) in self.thread.transitions.iter().enumerate() {
            watch.step()?;
            self.take_with_nothing(transition.from, TransitionId(id));
        }
        let mut counted = 0;
        while let Some((copy, location)) = self.waiting.pop() {
            watch.hold((self.transitions.len() - counted) * size_of::<(Transition, TransitionOrigin)>())?;
            counted = self.transitions.len();
            // Its name is kept twice, and its steps move what is pending.
            let pending = copy.pending().len();
            watch.steps(1 + pending)?;
            watch.hold(3 * pending * size_of::<TransitionId>() + size_of::<AddedLocation>() + 64)?;
            match copy {
                AddedLocation::Holding { at, pending, may_flush } => {
                    if may_flush {
                        self.flush(location, at, &pending);
                    }
                    for (id, _) in self.thread.outgoing(at) {
                        self.go_on(location, &pending, 0, id);
                    }
                }
                AddedLocation::Committed { pending, gone, transition } if pending.is_empty() => {
                    debug_assert_eq!(gone, 0);
                    self.take_with_nothing(location, transition);
                }
                AddedLocation::Committed { pending, gone, transition } => {
                    self.go_on(location, &pending, gone, transition)
                }
            }
        }
        let mut initial = self.thread.initial;
        if self.purpose == Use::Oracle {
            initial = self.number_along_the_flow();
        }
        self.transitions.sort_by_key(|(transition, _)| transition.from);
        let (transitions, origins) = self.transitions.into_iter().unzip();
        let registers = self.auxiliary.registers;
        let thread = Thread { registers, locations: self.locations, transitions, initial, ..self.thread.clone() };
        Ok((thread, origins, self.home, self.flag))
    }

    /// Gives locations numbers that grow along the control flow, where there are no loops: what looks ahead in a thread then needs to
    /// look once. Nobody names locations to the oracle. The new initial location.
    fn number_along_the_flow(&mut self) -> LocId {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.locations.len()];
        for (transition, _) in &self.transitions {
            next[transition.from.0].push(transition.to.0);
        }
        let mut finished: Vec<usize> = Vec::with_capacity(self.locations.len());
        let mut seen = vec![false; self.locations.len()];
        let starts = std::iter::once(self.thread.initial.0).chain(0..self.locations.len());
        // What is reached from the initial location finishes before what is not, so the others come first in the new order.
        for start in starts {
            let mut path = vec![(start, 0)];
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            while let Some((location, number)) = path.last_mut() {
                match next[*location].get(*number) {
                    Some(&to) => {
                        *number += 1;
                        if !std::mem::replace(&mut seen[to], true) {
                            path.push((to, 0));
                        }
                    }
                    None => {
                        finished.push(*location);
                        path.pop();
                    }
                }
            }
        }
        let last = self.locations.len() - 1;
        let mut renamed = vec![LocId(0); self.locations.len()];
        for (order, &location) in finished.iter().enumerate() {
            renamed[location] = LocId(last - order);
        }
        for (transition, _) in &mut self.transitions {
            transition.from = renamed[transition.from.0];
            transition.to = renamed[transition.to.0];
        }
        let mut locations = vec![Location::default(); self.locations.len()];
        for (location, to) in std::mem::take(&mut self.locations).into_iter().zip(&renamed) {
            locations[to.0] = location;
        }
        self.locations = locations;
        renamed[self.thread.initial.0]
    }

    /// A transition while nothing is held back.
    fn take_with_nothing(&mut self, from: LocId, id: TransitionId) {
        let transition = &self.thread.transitions[id.0];
        if is_delayable(&transition.instruction) && self.delays.allow(&[], id) {
            self.hold_back(from, &[], id);
            return;
        }
        let effect = if is_delayable(&transition.instruction) { OriginalEffect::Stores } else { OriginalEffect::Takes };
        self.chain(from, vec![(transition.instruction.clone(), effect)], transition.to, id);
    }

    /// A transition while stores are held back.
    fn go_on(&mut self, from: LocId, pending: &DelayedStores, gone: usize, id: TransitionId) {
        let instruction = &self.thread.transitions[id.0].instruction;
        if ends_attack(instruction) || !self.delays.allow(pending, id) {
            if self.purpose == Use::Oracle {
                self.let_go(from, pending, gone, id);
            }
        } else if gone > 0 {
            let to = self.committed(pending.clone(), 0, id);
            let moves = moving(self.auxiliary.moves(pending, gone));
            self.chain(from, moves, to, id);
        } else if is_delayable(instruction) {
            self.hold_back(from, pending, id);
        } else {
            let reads = !instruction.accesses().is_empty();
            let to = self.holding(self.thread.transitions[id.0].to, pending.clone(), reads);
            for chain in self.auxiliary.emulate(pending, instruction) {
                self.chain(from, chain, to, id);
            }
        }
    }

    /// A store joins those held back.
    fn hold_back(&mut self, from: LocId, pending: &[TransitionId], id: TransitionId) {
        let transition = &self.thread.transitions[id.0];
        let mut longer = pending.to_vec();
        longer.push(id);
        let to = self.holding(transition.to, longer, pending.is_empty());
        let raised = self.flag.filter(|_| pending.is_empty());
        for mut chain in self.auxiliary.hold_back(pending.len(), &transition.instruction) {
            if let Some(flag) = raised {
                chain.insert(0, (Instruction::Assign { reg: flag, value: Expr::Const(1) }, OriginalEffect::Nothing));
            }
            self.chain(from, chain, to, id);
        }
    }

    /// The oldest store held back becomes a plain one, on the way to a transition.
    fn let_go(&mut self, from: LocId, pending: &DelayedStores, gone: usize, id: TransitionId) {
        let oldest = pending[0];
        let store = self.auxiliary.store(oldest, gone);
        let rest = pending[1..].to_vec();
        let mut chain: InstructionChain = vec![(store, OriginalEffect::Flushes)];
        let mut gone = gone + 1;
        if rest.is_empty() {
            gone = 0;
        } else if gone + rest.len() > STORED_IN_PLACE {
            chain.extend(moving(self.auxiliary.moves(&rest, gone)));
            gone = 0;
        }
        let to = self.committed(rest, gone, id);
        let mut at = from;
        // Only the store itself belongs to the pending store; what follows is bookkeeping of the transition to come.
        let last = chain.len() - 1;
        for (number, step) in chain.into_iter().enumerate() {
            let next = if number == last { to } else { self.fresh(self.home[from.0]) };
            let of = if number == 0 { oldest } else { id };
            self.add(at, step, next, of);
            at = next;
        }
    }

    /// The oldest store reaches memory, and the thread stays where it is.
    fn flush(&mut self, from: LocId, at: LocId, pending: &DelayedStores) {
        let rest = pending[1..].to_vec();
        let mut body = vec![self.auxiliary.store(pending[0], 0)];
        body.extend(self.auxiliary.moves(&rest, 1));
        if rest.is_empty() {
            body.extend(self.flag.map(|flag| Instruction::Assign { reg: flag, value: Expr::Const(0) }));
        }
        let to = self.holding(at, rest, true);
        self.chain(from, vec![(Instruction::Locked { body, drains: true }, OriginalEffect::Flushes)], to, pending[0]);
    }

    fn chain(&mut self, from: LocId, chain: InstructionChain, to: LocId, of: TransitionId) {
        let mut at = from;
        let last = chain.len().saturating_sub(1);
        for (number, step) in chain.into_iter().enumerate() {
            let next = if number == last { to } else { self.fresh(self.home[from.0]) };
            self.add(at, step, next, of);
            at = next;
        }
    }

    fn add(&mut self, from: LocId, (instruction, effect): (Instruction, OriginalEffect), to: LocId, of: TransitionId) {
        let Transition { span, call, .. } = self.thread.transitions[of.0];
        self.transitions
            .push((Transition { from, to, instruction, span, call }, TransitionOrigin { transition: of, effect }));
    }

    fn fresh(&mut self, home: LocId) -> LocId {
        self.locations.push(Location { labels: Vec::new(), span: self.thread.locations[home.0].span });
        self.home.push(home);
        LocId(self.locations.len() - 1)
    }

    fn holding(&mut self, at: LocId, pending: DelayedStores, may_flush: bool) -> LocId {
        if pending.is_empty() { at } else { self.copy(AddedLocation::Holding { at, pending, may_flush }, at) }
    }

    fn committed(&mut self, pending: DelayedStores, gone: usize, transition: TransitionId) -> LocId {
        let home = self.thread.transitions[transition.0].from;
        self.copy(AddedLocation::Committed { pending, gone, transition }, home)
    }

    fn copy(&mut self, copy: AddedLocation, home: LocId) -> LocId {
        if let Some(&location) = self.known.get(&copy) {
            return location;
        }
        let location = self.fresh(home);
        self.known.insert(copy.clone(), location);
        self.waiting.push((copy, location));
        location
    }
}

/// Assignments that move what is held back to other slots.
fn moving(moves: Vec<Instruction>) -> InstructionChain {
    if moves.len() <= MOVED_ONE_BY_ONE {
        moves.into_iter().map(|assign| (assign, OriginalEffect::Nothing)).collect()
    } else {
        vec![(Instruction::Locked { body: moves, drains: false }, OriginalEffect::Nothing)]
    }
}

/// The threads that some delay was added to.
pub(super) fn extended_threads(delays: &[Delays]) -> impl Iterator<Item = ThreadId> + '_ {
    delays.iter().enumerate().filter(|(_, delays)| !delays.is_empty()).map(|(thread, _)| ThreadId(thread))
}
