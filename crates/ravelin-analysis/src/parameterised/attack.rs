//! An attack on robustness as a net (section 6 and appendix D of *Checking and Enforcing Robustness against TSO*).
//!
//! One thread is the attacker: a fixed one, or one copy of a template whose other copies are helpers like everybody. Figure 5 for it and
//! figure 7 for the helpers become transitions:
//!
//! - before the overtaking load everybody runs under SC (`Prefix`); a token `calm` is there as long as that is so;
//! - the attacker issues the store of the attack (`Issue`) and from then on delays its stores: each cell it stores to has a cell of its own
//!   for what is pending, which its loads see first; fences and locked steps are gone;
//! - its overtaking load (`Overtake`) reads memory, takes `calm` away, and marks what it read as loaded;
//! - a helper whose next step is happens-before-after what is marked joins (`Join`: Lemma 3), and marks what it accesses, as do its later
//!   steps (`Path`). Marks are tokens that are never taken away, so more of them do no harm.
//!
//! The target: a cell is marked to which the store of the attack goes. One net is about all attacks of one thread.

use super::actor::{Actor, is_local, is_private};
use super::memory::{Arcs, MemoryPlaces};
use super::quiet::Quiet;
use crate::reachability::finite::{CellId, CellPair, ControlPoint, EdgeEffect, Finite};
use ravelin_backward::nets::{InitialTokens, Marking, Net, PlaceId};
use ravelin_explore::{Limit, Watch};
use ravelin_program::TransitionId;
use rustc_hash::FxHashSet;

/// The attacks of one thread that are looked for.
pub(super) struct ThreadAttacks {
    pub thread: usize,
    /// Its stores and loads, as far as they are part of an attack that was not dismissed.
    pub stores: FxHashSet<TransitionId>,
    pub loads: FxHashSet<TransitionId>,
}

/// The net, and what its transitions mean.
pub(super) struct AttackNet {
    pub net: Net,
    /// The attacker first, then all other threads.
    pub actors: Vec<Actor>,
    /// By transition.
    pub moves: Vec<Move>,
}

/// What a transition of the net stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// A cell starts with a value.
    Holds(CellPair),
    /// A thread begins: by actor, the number of its start.
    Begins { actor: usize, start: usize },
    /// A deed of an actor.
    Does { actor: usize, deed: usize, part: AttackPhase },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttackPhase {
    Prefix,
    Issue,
    Delay,
    Overtake,
    Join,
    Path,
}

/// What the transitions of a deed take in memory, roughly.
const DEED_BYTES: usize = 1024;

/// Builds the net.
pub(super) fn attack_net(finite: &Finite, target: &ThreadAttacks, watch: &Watch) -> Result<AttackNet, Limit> {
    let mut net = Net::default();
    let memory = MemoryPlaces::new(finite, &mut net);
    let mut moves: Vec<Move> = memory.starts.iter().map(|pair| Move::Holds(*pair)).collect();
    let calm = net.place("calm", InitialTokens::Exactly(1));
    let marks = finite
        .cells
        .iter()
        .map(|cell| {
            let name = finite.program.memory.name_of(cell.address);
            let mut place = |what: &str| net.place(format!("{name}:{what}"), InitialTokens::Exactly(0));
            PathMark { accessed: place("accessed"), stored: place("stored"), attacked: place("attacked") }
        })
        .collect();
    let mut actors = Vec::new();
    let threads = 0..finite.threads.len();
    let others = threads.filter(|thread| *thread != target.thread || is_template(finite, *thread));
    for (actor, thread) in std::iter::once(target.thread).chain(others).enumerate() {
        let attacks = actor == 0;
        let local = if attacks { is_local } else { is_private };
        let quiet = Quiet::new(&finite.threads[thread], local, &|_| false, watch)?;
        // A deed is a transition of the net in several phases of an attack.
        watch.hold(quiet.deeds.len() * DEED_BYTES)?;
        let role = if attacks { "attacker:" } else { "" };
        let begins = &mut |start| moves.push(Move::Begins { actor, start });
        actors.push(Actor::new(finite, &mut net, thread, quiet, role, attacks, begins));
    }
    let mut builder = Builder { finite, memory, marks, calm, pending: Vec::new(), net, moves };
    builder.attacker(&actors[0], target);
    for (number, actor) in actors.iter().enumerate().skip(1) {
        builder.helper(number, actor);
    }
    let Builder { mut net, moves, marks, .. } = builder;
    net.targets = marks.iter().map(|mark| Marking::new([(mark.attacked, 1), (mark.accessed, 1)])).collect();
    Ok(AttackNet { net, actors, moves })
}

pub(super) fn is_template(finite: &Finite, thread: usize) -> bool {
    finite.program.threads[thread].copies == ravelin_program::Copies::Any
}

/// What is known of the happens-before path at a cell.
struct PathMark {
    /// It was loaded or stored on the path.
    accessed: PlaceId,
    stored: PlaceId,
    /// The store of the attack goes here.
    attacked: PlaceId,
}

struct Builder<'a> {
    finite: &'a Finite,
    memory: MemoryPlaces,
    marks: Vec<PathMark>,
    /// The attacked load was not yet done.
    calm: PlaceId,
    /// By cell: nothing is pending, and by value, it is. Empty for cells that the attacker does not store to.
    pending: Vec<Vec<PlaceId>>,
    net: Net,
    moves: Vec<Move>,
}

impl Builder<'_> {
    fn attacker(&mut self, actor: &Actor, target: &ThreadAttacks) {
        self.pending = self.pending(actor);
        let (plain, delaying) = (&actor.places, actor.mode(self.finite, &mut self.net, "delaying:"));
        for (number, deed) in actor.quiet.deeds.iter().enumerate() {
            if self.fails(actor, number) {
                continue;
            }
            let does = |part| Move::Does { actor: 0, deed: number, part };
            let transition = self.finite.threads[actor.thread].edges[deed.edge].transition;
            let mut arcs = Arcs::default();
            actor.go(number, plain, plain, arcs.look(self.calm));
            self.memory.act(&deed.effect, &mut arcs);
            self.add(arcs, does(AttackPhase::Prefix));
            match &deed.effect {
                EdgeEffect::Store(pair) => {
                    if target.stores.contains(&transition) {
                        let mut arcs = Arcs::default();
                        actor.go(number, plain, &delaying, arcs.look(self.calm));
                        arcs.give(self.marks[pair.0 as usize].attacked).sets.extend(self.pending_place(*pair));
                        self.add(arcs, does(AttackPhase::Issue));
                    }
                    let mut arcs = Arcs::default();
                    actor.go(number, &delaying, &delaying, arcs.look(self.calm));
                    arcs.sets.extend(self.pending_place(*pair));
                    self.add(arcs, does(AttackPhase::Delay));
                }
                EdgeEffect::Load(reads) => {
                    // Each cell is read from what is pending or, if nothing is, from memory.
                    for (mut arcs, from_memory) in self.loads(reads) {
                        let mut overtakes = arcs.clone();
                        actor.go(number, &delaying, &delaying, arcs.look(self.calm));
                        self.add(arcs, does(AttackPhase::Delay));
                        // W5: what overtakes has not read early.
                        if from_memory.is_empty() || !target.loads.contains(&transition) {
                            continue;
                        }
                        overtakes.take(self.calm).take(delaying[deed.from]);
                        for cell in from_memory {
                            overtakes.give(self.marks[cell as usize].accessed);
                        }
                        self.add(overtakes, does(AttackPhase::Overtake));
                    }
                }
                // Equation 6: what needs an empty buffer is gone.
                _ => {}
            }
        }
    }

    fn helper(&mut self, number: usize, actor: &Actor) {
        let (plain, joined) = (&actor.places, actor.mode(self.finite, &mut self.net, "joined:"));
        for (deed, does) in actor.quiet.deeds.iter().enumerate() {
            if self.fails(actor, deed) {
                continue;
            }
            let part = |part| Move::Does { actor: number, deed, part };
            let mut arcs = Arcs::default();
            actor.go(deed, plain, plain, arcs.look(self.calm));
            self.memory.act(&does.effect, &mut arcs);
            self.add(arcs, part(AttackPhase::Prefix));
            let (reads, writes) = accesses(&does.effect);
            // Lemma 3 (ii) and (iii): it reads what was stored on the path, or writes what was accessed there.
            let mut reasons: Vec<PlaceId> = writes.iter().map(|cell| self.marks[*cell as usize].accessed).collect();
            let unwritten = reads.iter().filter(|cell| !writes.contains(cell));
            reasons.extend(unwritten.map(|cell| self.marks[*cell as usize].stored));
            for reason in reasons {
                let mut arcs = Arcs::default();
                actor.go(deed, plain, &joined, arcs.look(reason));
                self.on_path(&does.effect, &reads, &writes, arcs, part(AttackPhase::Join));
            }
            // Lemma 3 (i).
            let mut arcs = Arcs::default();
            actor.go(deed, &joined, &joined, &mut arcs);
            self.on_path(&does.effect, &reads, &writes, arcs, part(AttackPhase::Path));
        }
    }

    /// A step on the path marks what it accesses.
    fn on_path(&mut self, effect: &EdgeEffect, reads: &[CellId], writes: &[CellId], mut arcs: Arcs, done: Move) {
        self.memory.act(effect, &mut arcs);
        for cell in reads.iter().filter(|cell| !writes.contains(cell)) {
            arcs.give(self.marks[*cell as usize].accessed);
        }
        for cell in writes {
            arcs.give(self.marks[*cell as usize].accessed).give(self.marks[*cell as usize].stored);
        }
        self.add(arcs, done);
    }

    /// The ways to read some cells while stores are pending: what is needed, and which cells are read from memory.
    fn loads(&self, reads: &[CellPair]) -> Vec<(Arcs, Vec<CellId>)> {
        let mut ways = vec![(Arcs::default(), Vec::new())];
        for &(cell, value) in reads {
            let mut longer = Vec::new();
            for (arcs, from_memory) in ways {
                if let Some(own) = self.pending_place((cell, value)) {
                    let mut arcs = arcs.clone();
                    arcs.look(own);
                    longer.push((arcs, from_memory.clone()));
                }
                let (mut arcs, mut from_memory) = (arcs, from_memory);
                if let Some(nothing) = self.pending[cell as usize].first() {
                    arcs.look(*nothing);
                }
                self.memory.read((cell, value), &mut arcs);
                from_memory.push(cell);
                longer.push((arcs, from_memory));
            }
            ways = longer;
        }
        ways
    }

    /// The cells for what the attacker delays: one for each that it may store to.
    fn pending(&mut self, actor: &Actor) -> Vec<Vec<PlaceId>> {
        let stored: FxHashSet<CellId> = actor
            .quiet
            .deeds
            .iter()
            .filter_map(|deed| if let EdgeEffect::Store((cell, _)) = deed.effect { Some(cell) } else { None })
            .collect();
        let mut pending = vec![Vec::new(); self.finite.cells.len()];
        for (number, cell) in self.finite.cells.iter().enumerate() {
            if !stored.contains(&(number as CellId)) {
                continue;
            }
            let name = self.finite.program.memory.name_of(cell.address);
            let mut places = vec![self.net.place(format!("{name}:none_pending"), InitialTokens::Exactly(1))];
            let values = cell.values.iter();
            places.extend(
                values.map(|value| self.net.place(format!("{name}:{value}_pending"), InitialTokens::Exactly(0))),
            );
            self.net.cell(places.iter().copied());
            pending[number] = places;
        }
        pending
    }

    fn pending_place(&self, (cell, value): CellPair) -> Option<PlaceId> {
        self.pending[cell as usize].get(value as usize + 1).copied()
    }

    /// Faults and failing assertions are no steps.
    fn fails(&self, actor: &Actor, deed: usize) -> bool {
        let graph = &self.finite.threads[actor.thread];
        let edge = &graph.edges[actor.quiet.deeds[deed].edge];
        matches!(graph.states[edge.to as usize].place, ControlPoint::Failed(_))
    }

    fn add(&mut self, arcs: Arcs, done: Move) {
        self.net.setting(arcs.takes, arcs.gives, arcs.sets);
        self.moves.push(done);
    }
}

/// The cells that a step reads, and those that it writes.
fn accesses(effect: &EdgeEffect) -> (Vec<CellId>, Vec<CellId>) {
    let cells = |pairs: &[CellPair]| pairs.iter().map(|pair| pair.0).collect();
    match effect {
        EdgeEffect::Load(reads) => (cells(reads), Vec::new()),
        EdgeEffect::Store(pair) => (Vec::new(), vec![pair.0]),
        EdgeEffect::Atomic { reads, writes } => (cells(reads), cells(writes)),
        EdgeEffect::Local | EdgeEffect::Fence | EdgeEffect::BusLock | EdgeEffect::BusUnlock => (Vec::new(), Vec::new()),
    }
}
