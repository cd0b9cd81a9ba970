//! Attacks that are infeasible for a reason that can be read off the program, without a search.
//!
//! Everything here over-approximates what threads can do: values are ignored, except those that a thread reads from its own delayed stores
//! (`alone.rs`); addresses are the intervals that inference found. So a dismissed attack is infeasible; one that is not dismissed may be infeasible all the same.

use super::alone::LoneWalks;
use super::attack::{Attack, ends_attack, is_delayable};
use ravelin_answer::InfeasibilityReason;
use ravelin_explore::{Limit, Watch};
use ravelin_machine::attack::{AddressRange, Footprint, footprints};
use ravelin_program::{HardwareProgram, Instruction, LocId, Model, Program, Thread};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// However many threads delay stores, one with as few delays as possible does not delay this store past this access: either it
/// cannot, or what is overtaken concerns no other thread, so the store could as well have come before it (Lemmas 5 and 7).
pub(super) fn makes_delay_pointless(reason: InfeasibilityReason) -> bool {
    !matches!(reason, InfeasibilityReason::StoreUncontested | InfeasibilityReason::NoWayBack)
}

/// What is known of a program without running it.
pub struct ProgramFacts<'a> {
    program: &'a Program,
    footprints: Vec<Vec<Footprint>>,
    /// What can be reached from the location asked for last: attacks are asked about store by store.
    ahead: Option<ReachableLocations>,
    /// By thread and transition: another thread writes what it touches, accesses what it writes. Asked for once for each of many attacks.
    contests: Vec<Vec<Contest>>,
    /// What [`ProgramFacts::leads_back`] said.
    ways_back: HashMap<Way, bool>,
    alone: LoneWalks<'a>,
    model: Model,
    watch: &'a Watch<'a>,
}

/// What a thread can reach from a location, itself included.
struct ReachableLocations {
    thread: usize,
    from: usize,
    /// By location.
    reachable: Vec<bool>,
    /// The same without passing a fence or a locked instruction.
    unfenced: Vec<bool>,
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
    pub fn new(program: &'a HardwareProgram, model: Model, watch: &'a Watch<'a>) -> Result<ProgramFacts<'a>, Limit> {
        let footprints = footprints(program, watch)?;
        let contests = contests(program, &footprints, watch)?;
        let (ahead, ways_back, alone) = (None, HashMap::new(), LoneWalks::new(program, model, watch));
        Ok(ProgramFacts { program, contests, footprints, ahead, ways_back, alone, model, watch })
    }

    /// Why an attack is infeasible, if that can be seen.
    pub fn dismiss(&mut self, attack: Attack) -> Result<Option<InfeasibilityReason>, Limit> {
        self.watch.step()?;
        let thread = attack.thread.0;
        let code = &self.program.threads[thread];
        let (store, load) = (&code.transitions[attack.store.0], &code.transitions[attack.load.0]);
        let (from, to) = (store.to.0, load.from.0);
        if !self.ahead.as_ref().is_some_and(|ahead| ahead.thread == thread && ahead.from == from) {
            self.watch.steps(2 * code.locations.len())?;
            let reachable = reachable_from(code, from, |_| true);
            let unfenced = reachable_from(code, from, |instruction| !ends_attack(instruction));
            self.ahead = Some(ReachableLocations { thread, from, reachable, unfenced });
        }
        let leads =
            |rows: fn(&ReachableLocations) -> &Vec<bool>| self.ahead.as_ref().is_some_and(|ahead| rows(ahead)[to]);
        if !leads(|ahead| &ahead.reachable) {
            return Ok(Some(InfeasibilityReason::NeverFollows));
        }
        if !leads(|ahead| &ahead.unfenced) {
            return Ok(Some(InfeasibilityReason::Fenced));
        }
        if self.model == Model::Pso && is_release_store(&load.instruction) {
            return Ok(Some(InfeasibilityReason::ReleaseWaits));
        }
        let stored = &self.footprints[thread][attack.store.0].writes;
        let overtaking = &self.footprints[thread][attack.load.0];
        let touched = if is_delayable(&load.instruction) { &overtaking.writes } else { &overtaking.reads };
        let single = |cells: &[AddressRange]| match cells {
            [only] => only.single(),
            _ => None,
        };
        if single(stored).is_some() && touched.iter().all(|cells| cells.single() == single(stored)) {
            return Ok(Some(InfeasibilityReason::OwnCell));
        }
        let overtakes_as_store = is_delayable(&load.instruction);
        if !self.contests[thread][attack.load.0].overtaking {
            return Ok(Some(InfeasibilityReason::LoadUncontested));
        }
        if !self.contests[thread][attack.store.0].store {
            return Ok(Some(InfeasibilityReason::StoreUncontested));
        }
        let way = (thread, touched.clone(), overtakes_as_store, stored.clone());
        let leads_back = match self.ways_back.get(&way) {
            Some(known) => *known,
            None => {
                let found = self.leads_back(thread, &way.1, overtakes_as_store, &way.3)?;
                self.ways_back.insert(way, found);
                found
            }
        };
        if !leads_back {
            return Ok(Some(InfeasibilityReason::NoWayBack));
        }
        let follows = self.alone.can_overtake(attack.thread, attack.store, attack.load)?;
        Ok((!follows).then_some(InfeasibilityReason::OwnValues))
    }

    /// Whether helpers could build a happens-before path from an access to cells `from` to an access of `target`, if values did not
    /// matter: Lemma 3 as a fixpoint over control locations.
    fn leads_back(
        &self,
        attacker: usize,
        from: &[AddressRange],
        from_store: bool,
        target: &[AddressRange],
    ) -> Result<bool, Limit> {
        let mut path = HelperPath::new(self.program, from, from_store);
        loop {
            let mut changed = false;
            for (number, thread) in self.program.threads.iter().enumerate().filter(|(number, _)| *number != attacker) {
                let takes_bus = |t: &ravelin_program::Transition| t.instruction == Instruction::BusLock;
                // A bus-locked block is one action, and what it did before counts too.
                let blocks = thread.transitions.iter().any(takes_bus);
                for (index, transition) in thread.transitions.iter().enumerate() {
                    self.watch.steps(1 + (path.loaded.len() + path.stored.len()) / 16)?;
                    if path.joined[number][index] || !path.is_met_by(&self.footprints[number][index]) {
                        continue;
                    }
                    changed = true;
                    let mut waiting = vec![transition.to.0];
                    let mut joining = vec![index];
                    if blocks {
                        joining.extend(0..thread.transitions.len());
                    }
                    while let Some(location) = waiting.pop() {
                        if std::mem::replace(&mut path.passed[number][location], true) {
                            continue;
                        }
                        self.watch.step()?;
                        for (later, then) in thread.outgoing(LocId(location)) {
                            joining.push(later.0);
                            waiting.push(then.to.0);
                        }
                    }
                    for later in joining {
                        let footprint = &self.footprints[number][later];
                        if path.joined[number][later] {
                            continue;
                        }
                        path.joined[number][later] = true;
                        if meet(&footprint.reads, target) || meet(&footprint.writes, target) {
                            return Ok(true);
                        }
                        path.add(footprint);
                    }
                }
            }
            if !changed {
                return Ok(false);
            }
        }
    }
}

/// The happens-before path that helpers could build so far.
struct HelperPath {
    /// Cells that were loaded, and stored to, without repetitions.
    loaded: Vec<AddressRange>,
    stored: Vec<AddressRange>,
    known: HashSet<(AddressRange, bool)>,
    /// By thread and transition: it is on the path.
    joined: Vec<Vec<bool>>,
    /// By thread and location: everything after it is.
    passed: Vec<Vec<bool>>,
}

impl HelperPath {
    fn new(program: &Program, from: &[AddressRange], from_store: bool) -> HelperPath {
        let threads = || program.threads.iter();
        let mut path = HelperPath {
            loaded: Vec::new(),
            stored: Vec::new(),
            known: HashSet::new(),
            joined: threads().map(|thread| vec![false; thread.transitions.len()]).collect(),
            passed: threads().map(|thread| vec![false; thread.locations.len()]).collect(),
        };
        from.iter().for_each(|cells| path.add_cells(*cells, from_store));
        path
    }

    fn add(&mut self, footprint: &Footprint) {
        footprint.reads.iter().for_each(|cells| self.add_cells(*cells, false));
        footprint.writes.iter().for_each(|cells| self.add_cells(*cells, true));
    }

    fn add_cells(&mut self, cells: AddressRange, stored: bool) {
        if self.known.insert((cells, stored)) {
            if stored { self.stored.push(cells) } else { self.loaded.push(cells) }
        }
    }

    fn is_met_by(&self, footprint: &Footprint) -> bool {
        meet(&footprint.writes, &self.loaded)
            || meet(&footprint.writes, &self.stored)
            || meet(&footprint.reads, &self.stored)
    }
}

/// For each access whether other threads come to its cells.
fn contests(program: &Program, footprints: &[Vec<Footprint>], watch: &Watch) -> Result<Vec<Vec<Contest>>, Limit> {
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
    let mut ask = |thread: usize, cells: &[AddressRange], reads: bool| -> Result<bool, Limit> {
        Ok(match known.entry((thread, cells.to_vec(), reads)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                watch.steps(1 + all.len() / 16)?;
                *new.insert(meets(thread, cells, reads))
            }
        })
    };
    let mut of = |thread: usize, index: usize| -> Result<Contest, Limit> {
        watch.step()?;
        let footprint = &footprints[thread][index];
        let as_store = is_delayable(&program.threads[thread].transitions[index].instruction);
        let touched = if as_store { &footprint.writes } else { &footprint.reads };
        Ok(Contest { overtaking: ask(thread, touched, as_store)?, store: ask(thread, &footprint.writes, true)? })
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

/// The locations that follow one of a thread, itself included, through transitions whose instruction passes.
fn reachable_from(thread: &Thread, from: usize, passes: fn(&Instruction) -> bool) -> Vec<bool> {
    let mut seen = vec![false; thread.locations.len()];
    let mut waiting = vec![from];
    seen[from] = true;
    while let Some(location) = waiting.pop() {
        for (_, transition) in thread.outgoing(LocId(location)) {
            if passes(&transition.instruction) && !std::mem::replace(&mut seen[transition.to.0], true) {
                waiting.push(transition.to.0);
            }
        }
    }
    seen
}
