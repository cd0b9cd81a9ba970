//! Attacks that are infeasible for a reason that can be read off the program, without a search.
//!
//! Everything here over-approximates what threads can do: values are ignored, except those that a thread reads from its own delayed stores
//! (`alone.rs`); addresses are the intervals that inference found. So a dismissed attack is infeasible; one that is not dismissed may be infeasible all the same.

use super::alone::LoneWalks;
use super::attack::{Attack, ends_attack, is_delayable};
use ravelin_answer::InfeasibilityReason;
use ravelin_machine::attack::{AddressRange, Footprint, footprints};
use ravelin_program::{HardwareProgram, Instruction, LocId, Model, Program, Thread};
use std::collections::HashMap;

/// However many threads delay stores, one with as few delays as possible does not delay this store past this access: either it
/// cannot, or what is overtaken is nobody else's business, so the store could as well have come before it (Lemmas 5 and 7).
pub(super) fn makes_delay_pointless(reason: InfeasibilityReason) -> bool {
    !matches!(reason, InfeasibilityReason::StoreUncontested | InfeasibilityReason::NoWayBack)
}

/// What is known of a program without running it.
pub struct ProgramFacts<'a> {
    program: &'a Program,
    footprints: Vec<Vec<Footprint>>,
    /// By thread: which locations can be reached from which.
    reachable: Vec<Reachable>,
    /// The same without passing a fence or a locked instruction.
    unfenced: Vec<Reachable>,
    /// By thread and transition: another thread writes what it touches, accesses what it writes. Asked for once for each of many attacks.
    contests: Vec<Vec<Contest>>,
    /// What [`ProgramFacts::leads_back`] said.
    ways_back: HashMap<Way, bool>,
    alone: LoneWalks<'a>,
    model: Model,
}

#[derive(Clone, Copy, Default)]
struct Contest {
    /// Another thread can join after this access, as the one that overtakes.
    overtaking: bool,
    /// Another thread can come to what this store writes.
    store: bool,
}

/// Thread, cells of what overtakes, whether it is a store, cells of the store.
type Way = (usize, Vec<AddressRange>, bool, Vec<AddressRange>);

impl<'a> ProgramFacts<'a> {
    pub fn new(program: &'a HardwareProgram, model: Model) -> ProgramFacts<'a> {
        let closure = |passes: fn(&Instruction) -> bool| {
            program.threads.iter().map(|thread| Reachable::new(thread, passes)).collect::<Vec<_>>()
        };
        let footprints = footprints(program);
        ProgramFacts {
            program,
            contests: contests(program, &footprints),
            footprints,
            reachable: closure(|_| true),
            unfenced: closure(|instruction| !ends_attack(instruction)),
            ways_back: HashMap::new(),
            alone: LoneWalks::new(program, model),
            model,
        }
    }

    /// Why an attack is infeasible, if that can be seen.
    pub fn dismiss(&mut self, attack: Attack) -> Option<InfeasibilityReason> {
        let thread = attack.thread.0;
        let code = &self.program.threads[thread];
        let (store, load) = (&code.transitions[attack.store.0], &code.transitions[attack.load.0]);
        let (from, to) = (store.to.0, load.from.0);
        if !self.reachable[thread].leads(from, to) {
            return Some(InfeasibilityReason::NeverFollows);
        }
        if !self.unfenced[thread].leads(from, to) {
            return Some(InfeasibilityReason::Fenced);
        }
        if self.model == Model::Pso && is_release_store(&load.instruction) {
            return Some(InfeasibilityReason::ReleaseWaits);
        }
        let stored = &self.footprints[thread][attack.store.0].writes;
        let overtaking = &self.footprints[thread][attack.load.0];
        let touched = if is_delayable(&load.instruction) { &overtaking.writes } else { &overtaking.reads };
        let single = |cells: &[AddressRange]| match cells {
            [only] => only.single(),
            _ => None,
        };
        if single(stored).is_some() && touched.iter().all(|cells| cells.single() == single(stored)) {
            return Some(InfeasibilityReason::OwnCell);
        }
        let overtakes_as_store = is_delayable(&load.instruction);
        if !self.contests[thread][attack.load.0].overtaking {
            return Some(InfeasibilityReason::LoadUncontested);
        }
        if !self.contests[thread][attack.store.0].store {
            return Some(InfeasibilityReason::StoreUncontested);
        }
        let way = (thread, touched.clone(), overtakes_as_store, stored.clone());
        let leads_back = match self.ways_back.get(&way) {
            Some(known) => *known,
            None => {
                let found = self.leads_back(thread, &way.1, overtakes_as_store, &way.3);
                self.ways_back.insert(way, found);
                found
            }
        };
        if !leads_back {
            return Some(InfeasibilityReason::NoWayBack);
        }
        let follows = self.alone.can_overtake(attack.thread, attack.store, attack.load);
        (!follows).then_some(InfeasibilityReason::OwnValues)
    }

    /// Whether helpers could build a happens-before path from an access to cells `from` to an access of `target`, if values did not
    /// matter: Lemma 3 as a fixpoint over control locations.
    fn leads_back(&self, attacker: usize, from: &[AddressRange], from_store: bool, target: &[AddressRange]) -> bool {
        let (mut loaded, mut stored): (Vec<AddressRange>, Vec<AddressRange>) =
            if from_store { (Vec::new(), from.to_vec()) } else { (from.to_vec(), Vec::new()) };
        let threads = &self.program.threads;
        let mut joined: Vec<Vec<bool>> = threads.iter().map(|thread| vec![false; thread.transitions.len()]).collect();
        loop {
            let mut changed = false;
            for (number, thread) in threads.iter().enumerate().filter(|(number, _)| *number != attacker) {
                for (index, transition) in thread.transitions.iter().enumerate() {
                    let footprint = &self.footprints[number][index];
                    let joins = meet(&footprint.writes, &loaded)
                        || meet(&footprint.writes, &stored)
                        || meet(&footprint.reads, &stored);
                    if joined[number][index] || !joins {
                        continue;
                    }
                    let takes_bus = |t: &ravelin_program::Transition| t.instruction == Instruction::BusLock;
                    let blocks = thread.transitions.iter().any(takes_bus);
                    for (later, then) in thread.transitions.iter().enumerate() {
                        // A bus-locked block is one action, and what it did before counts too.
                        let follows = later == index || self.reachable[number].leads(transition.to.0, then.from.0);
                        if (follows || blocks) && !joined[number][later] {
                            joined[number][later] = true;
                            changed = true;
                            let footprint = &self.footprints[number][later];
                            if meet(&footprint.reads, target) || meet(&footprint.writes, target) {
                                return true;
                            }
                            loaded.extend(&footprint.reads);
                            stored.extend(&footprint.writes);
                        }
                    }
                }
            }
            if !changed {
                return false;
            }
        }
    }
}

/// For each access whether other threads come to its cells.
fn contests(program: &Program, footprints: &[Vec<Footprint>]) -> Vec<Vec<Contest>> {
    // Cells occur again and again; each is looked for once.
    let mut all: Vec<(usize, AddressRange, bool)> = Vec::new();
    for (thread, transitions) in footprints.iter().enumerate() {
        for footprint in transitions {
            all.extend(footprint.reads.iter().map(|cells| (thread, *cells, false)));
            all.extend(footprint.writes.iter().map(|cells| (thread, *cells, true)));
        }
    }
    all.sort_unstable();
    all.dedup();
    let meets = |thread: usize, cells: &[AddressRange], reads: bool| {
        all.iter().any(|(other, theirs, writes)| {
            *other != thread && (*writes || reads) && cells.iter().any(|cells| cells.meets(theirs))
        })
    };
    let mut known: HashMap<(usize, Vec<AddressRange>, bool), bool> = HashMap::new();
    let mut ask = |thread: usize, cells: &[AddressRange], reads: bool| {
        *known.entry((thread, cells.to_vec(), reads)).or_insert_with(|| meets(thread, cells, reads))
    };
    let mut of = |thread: usize, index: usize| {
        let footprint = &footprints[thread][index];
        let as_store = is_delayable(&program.threads[thread].transitions[index].instruction);
        let touched = if as_store { &footprint.writes } else { &footprint.reads };
        Contest { overtaking: ask(thread, touched, as_store), store: ask(thread, &footprint.writes, true) }
    };
    (0..footprints.len()).map(|thread| (0..footprints[thread].len()).map(|index| of(thread, index)).collect()).collect()
}

fn is_release_store(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Store { order, .. } => order.is_release(),
        Instruction::Unlock(_) => true,
        _ => false,
    }
}

fn meet(some: &[AddressRange], others: &[AddressRange]) -> bool {
    some.iter().any(|cells| others.iter().any(|other| cells.meets(other)))
}

/// Which locations of a thread follow which, themselves included, as a matrix of bits.
struct Reachable {
    words: usize,
    bits: Vec<u64>,
}

impl Reachable {
    /// Through transitions whose instruction passes.
    fn new(thread: &Thread, passes: fn(&Instruction) -> bool) -> Reachable {
        let locations = thread.locations.len();
        let words = locations.div_ceil(64);
        let mut bits = vec![0; words * locations];
        let mut waiting = Vec::new();
        for (start, row) in bits.chunks_exact_mut(words).enumerate() {
            let mut visit = |location: usize, waiting: &mut Vec<usize>| {
                if row[location / 64] >> (location % 64) & 1 == 0 {
                    row[location / 64] |= 1 << (location % 64);
                    waiting.push(location);
                }
            };
            visit(start, &mut waiting);
            while let Some(location) = waiting.pop() {
                for (_, transition) in thread.outgoing(LocId(location)) {
                    if passes(&transition.instruction) {
                        visit(transition.to.0, &mut waiting);
                    }
                }
            }
        }
        Reachable { words, bits }
    }

    fn leads(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.words + to / 64] >> (to % 64) & 1 == 1
    }
}
