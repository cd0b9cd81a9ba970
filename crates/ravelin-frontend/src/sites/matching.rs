//! Which transitions pass a fence that was put into the text: found by comparing the program with the one that has all the fences.
//!
//! Both programs are walked together from the first location of each thread. Their transitions must agree one by one, and where the
//! changed program has a fence that the text did not have, it is stepped over; the transition that led there passes it. Nothing has
//! to be known about how a front end lowers its statements, and what is found is what a reader of the changed text will get.
//!
//! Fences on the way from one location to the next make a chain. A fence that stands between a choice and one of its branches is in no
//! chain: no set of transitions passes it and nothing else, so it is refused. The cost is linear in the programs and in what is found.

use ravelin_program::{
    Instruction, LocId, Order, Program, RmwOp, Span, Thread, ThreadId, ThreadTransition, Transition,
};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// How many fences all transitions together may pass.
const MAX_PASSED: usize = 4_000_000;

/// What each transition passes.
#[derive(Debug, Default)]
pub struct ProgramMatch {
    /// For each transition that passes fences, their places in order.
    pub chains: Vec<(ThreadTransition, Vec<usize>)>,
    /// The places that each thread passes before its first step.
    pub at_start: Vec<Vec<usize>>,
    /// The labels of a location of the original that stand before a fence.
    pub labels: HashMap<(usize, ThreadId, LocId), BTreeSet<String>>,
}

impl ProgramMatch {
    /// The places that are passed, in order.
    pub fn passed(&self) -> Vec<usize> {
        let chains = self.chains.iter().map(|(_, chain)| chain).chain(&self.at_start);
        let passed: BTreeSet<usize> = chains.flatten().copied().collect();
        passed.into_iter().collect()
    }
}

/// The programs do not agree.
#[derive(Debug, Default)]
pub struct ProgramMismatch {
    /// These places stand where no transition leads to.
    pub refused: Vec<usize>,
    /// One of these is to blame, if there are any.
    pub suspects: Vec<usize>,
}

/// What became of an access that was changed, by its number.
pub type Rewriting<'a> = dyn Fn(usize, &Instruction) -> Instruction + 'a;

/// How the changed program came about.
pub struct TextChanges<'a> {
    /// The place of a fence, by where it is written.
    pub owner: &'a dyn Fn(Span) -> Option<usize>,
    /// The accesses that were changed, by where they start in the original.
    pub accesses: &'a HashMap<u32, usize>,
    /// What each of them became. Without, they are stores that were turned into exchanges.
    pub rewritten: Option<&'a Rewriting<'a>>,
}

pub fn compare(
    original: &Program,
    changed: &Program,
    changes: &TextChanges<'_>,
) -> Result<ProgramMatch, ProgramMismatch> {
    let mut matched = ProgramMatch::default();
    let mut differ = ProgramMismatch::default();
    let mut agree = original.threads.len() == changed.threads.len();
    let mut passed = 0;
    for (index, (old, new)) in original.threads.iter().zip(&changed.threads).enumerate() {
        let mut walk = MatchWalk {
            thread: ThreadId(index),
            old,
            new,
            changes,
            pairs: vec![None; old.locations.len()],
            taken: vec![false; new.locations.len()],
            arrivals: HashMap::new(),
            queue: VecDeque::new(),
            matched: &mut matched,
            differ: &mut differ,
            passed: &mut passed,
            agree: true,
        };
        walk.run();
        agree &= walk.agree;
    }
    if agree { Ok(matched) } else { Err(differ) }
}

struct MatchWalk<'a, 'm> {
    thread: ThreadId,
    old: &'a Thread,
    new: &'a Thread,
    changes: &'a TextChanges<'a>,
    /// For each location of the original the one it corresponds to, behind all fences.
    pairs: Vec<Option<LocId>>,
    taken: Vec<bool>,
    /// The fences on the way on which a location was first reached.
    arrivals: HashMap<LocId, Vec<usize>>,
    queue: VecDeque<LocId>,
    matched: &'m mut ProgramMatch,
    differ: &'m mut ProgramMismatch,
    passed: &'m mut usize,
    agree: bool,
}

/// Fences that follow each other, what they lead to, and each label with the number of fences before it.
struct FenceChain<'a> {
    places: Vec<usize>,
    labels: Vec<(usize, &'a str)>,
    end: LocId,
}

impl<'a> MatchWalk<'a, '_> {
    fn run(&mut self) {
        let chain = self.chain(self.new.initial);
        self.matched.at_start.push(chain.as_ref().map(|chain| chain.places.clone()).unwrap_or_default());
        if let Some(chain) = chain {
            self.arrive(self.old.initial, chain);
        }
        while let Some(location) = self.queue.pop_front() {
            self.location(location);
        }
    }

    fn location(&mut self, location: LocId) {
        let Some(here) = self.pairs[location.0] else { return };
        let old: Vec<_> = self.old.outgoing(location).collect();
        let new: Vec<_> = self.new.outgoing(here).map(|(_, transition)| transition).collect();
        if old.len() != new.len() {
            return self.blame_arrival(location);
        }
        for ((id, before), after) in old.into_iter().zip(new) {
            if let Some(place) = self.inserted(after) {
                self.differ.refused.push(place);
                self.agree = false;
                self.behind_choice(before, after);
                continue;
            }
            if !self.agrees(before, after) {
                self.blame_arrival(location);
                continue;
            }
            let Some(chain) = self.chain(after.to) else { continue };
            self.record(ThreadTransition { thread: self.thread, transition: id }, before.to, &chain);
            self.arrive(before.to, chain);
        }
    }

    /// Goes on behind a fence that is refused, so that what follows is looked at in the same round.
    fn behind_choice(&mut self, before: &Transition, fence: &Transition) {
        let Some(chain) = self.chain(fence.to) else { return };
        let mut ways = self.new.outgoing(chain.end).map(|(_, transition)| transition);
        match (ways.next(), ways.next()) {
            (Some(after), None) if self.agrees(before, after) => {
                if let Some(chain) = self.chain(after.to) {
                    self.arrive(before.to, chain);
                }
            }
            _ if before.instruction == Instruction::Nop => self.arrive(before.to, chain),
            _ => {}
        }
    }

    /// Follows fences that were put in; `None` if they lead in a circle.
    fn chain(&mut self, from: LocId) -> Option<FenceChain<'a>> {
        let mut chain = FenceChain { places: Vec::new(), labels: Vec::new(), end: from };
        loop {
            let labels = &self.new.locations[chain.end.0].labels;
            chain.labels.extend(labels.iter().map(|label| (chain.places.len(), label.as_str())));
            let mut ways = self.new.outgoing(chain.end).map(|(_, transition)| transition);
            let (Some(only), None) = (ways.next(), ways.next()) else { return Some(chain) };
            let Some(place) = self.inserted(only) else { return Some(chain) };
            if chain.places.len() > self.new.locations.len() {
                self.agree = false;
                let places: HashSet<usize> = chain.places.into_iter().collect();
                self.differ.suspects.extend(places);
                return None;
            }
            chain.places.push(place);
            chain.end = only.to;
        }
    }

    fn record(&mut self, edge: ThreadTransition, to: LocId, chain: &FenceChain<'a>) {
        if chain.places.is_empty() {
            return;
        }
        *self.passed += chain.places.len();
        if *self.passed > MAX_PASSED {
            self.agree = false;
            return;
        }
        for (number, &place) in chain.places.iter().enumerate() {
            let before = chain.labels.iter().filter(|(fences, _)| *fences <= number);
            let mut before = before.map(|(_, label)| (*label).to_owned()).peekable();
            if before.peek().is_some() {
                self.matched.labels.entry((place, self.thread, to)).or_default().extend(before);
            }
        }
        self.matched.chains.push((edge, chain.places.clone()));
    }

    fn arrive(&mut self, old: LocId, chain: FenceChain<'a>) {
        match self.pairs[old.0] {
            None if !self.taken[chain.end.0] => {
                self.pairs[old.0] = Some(chain.end);
                self.taken[chain.end.0] = true;
                self.arrivals.insert(old, chain.places);
                self.queue.push_back(old);
            }
            Some(known) if known == chain.end => {}
            _ => {
                self.agree = false;
                self.differ.suspects.extend(chain.places);
            }
        }
    }

    fn blame_arrival(&mut self, location: LocId) {
        self.agree = false;
        self.differ.suspects.extend(self.arrivals.get(&location).into_iter().flatten());
    }

    fn inserted(&self, transition: &Transition) -> Option<usize> {
        let fence = matches!(transition.instruction, Instruction::Fence(_));
        fence.then(|| (self.changes.owner)(transition.span)).flatten()
    }

    fn agrees(&mut self, before: &Transition, after: &Transition) -> bool {
        let (old, new) = (&before.instruction, &after.instruction);
        let Some(&place) = self.changes.accesses.get(&before.span.start) else { return old == new };
        let agrees = match (self.changes.rewritten, old) {
            (Some(rewritten), _) => rewritten(place, old) == *new,
            (None, Instruction::Store { .. } | Instruction::Unlock(_)) => is_locked(old, new),
            (None, _) => return old == new,
        };
        if !agrees {
            self.differ.suspects.push(place);
        }
        agrees
    }
}

/// The second is the first as a locked exchange, in one of the ways in which languages write it.
fn is_locked(store: &Instruction, locked: &Instruction) -> bool {
    let (address, value) = match store {
        Instruction::Store { address, value, .. } => (address, value.clone()),
        Instruction::Unlock(address) => (address, 0.into()),
        _ => return false,
    };
    match locked {
        Instruction::Rmw { op: RmwOp::Exchange, address: to, operand, order: Order::SeqCst, old: None, .. } => {
            to == address && *operand == value
        }
        Instruction::Locked { body, drains: true } => match body.as_slice() {
            [Instruction::Store { address: to, value: written, .. }] => to == address && *written == value,
            _ => false,
        },
        _ => false,
    }
}
