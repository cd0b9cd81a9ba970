//! From a firing sequence back to the computation of an instance.
//!
//! A token in a place that is a set stands for as many copies as are needed. How many, is found from the end: copies that are needed
//! behind a step took it together, one right after the other, and one takes it in any case. So the sequence also tells an instance in
//! which the fault can be seen; it need not be a small one.

use super::actor::Actor;
use super::attack::{AttackNet, Move, Part};
use crate::reachability::finite::Finite;
use ravelin_machine::Snapshot;
use ravelin_machine::attack::{self as machine, AttackRun, AttackStep};
use ravelin_nets::TransitionId;
use ravelin_program::{ThreadId, TransitionId as Step, Value};
use ravelin_semantics::Action;
use std::collections::HashMap;

/// A run of an instance.
pub(super) struct InstanceRun {
    /// By thread of the program.
    pub copies: Vec<usize>,
    pub run: AttackRun,
    pub store: Step,
    pub load: Step,
    /// The attacker, in the instance.
    pub attacker: ThreadId,
}

/// Where copies are: in a mode (plain or joined), at a stop of an actor.
type Spot = (usize, bool, usize);

/// What a firing sequence of an attack's net does. `None` if it lacks a part of an attack.
pub(super) fn attack_run(finite: &Finite, attack: &AttackNet, sequence: &[TransitionId]) -> Option<InstanceRun> {
    let moves: Vec<Move> = sequence.iter().map(|transition| attack.moves[*transition as usize]).collect();
    let (together, starts) = multiplicities(attack, &moves);
    let threads = finite.program.threads.len();
    // How many copies each thread has, and which number the first of them has in the instance. The attacker is its template's first.
    let mut copies = vec![1; threads];
    for thread in (0..threads).filter(|thread| super::attack::is_template(finite, *thread)) {
        let of = |(actor, _): &(usize, usize)| *actor > 0 && attack.actors[*actor].thread == thread;
        copies[thread] = starts.iter().filter(|(at, _)| of(at)).map(|(_, count)| count).sum();
    }
    let attacker = attack.actors[0].thread;
    let is_copy = super::attack::is_template(finite, attacker);
    copies[attacker] += usize::from(is_copy);
    let first = |thread: usize| copies[..thread].iter().sum::<usize>();
    let mut teller = Teller { finite, attack, steps: Vec::new(), at: HashMap::new() };
    for (actor, who) in attack.actors.iter().enumerate() {
        let (own, template) = (first(who.thread), actor > 0 && super::attack::is_template(finite, who.thread));
        if !template {
            if let [(start, way)] = &who.quiet.starts[..] {
                teller.begin(actor, *start, way, ThreadId(own));
            }
            continue;
        }
        let mut next = own + usize::from(actor > 0 && who.thread == attacker);
        for (start, way) in &who.quiet.starts {
            for _ in 0..starts.get(&(actor, *start)).copied().unwrap_or(0) {
                teller.begin(actor, *start, way, ThreadId(next));
                next += 1;
            }
        }
    }
    let mut memory: Vec<(Value, Value)> = Vec::new();
    let (mut store, mut load) = (None, None);
    for (step, &count) in moves.iter().zip(&together) {
        match *step {
            Move::Holds((cell, value)) => {
                let cell = &finite.cells[cell as usize];
                memory.push((cell.address, cell.values[value as usize]));
            }
            Move::Begins { actor, start } => {
                let who = &attack.actors[actor];
                let (stop, way) = &who.quiet.starts[start];
                teller.begin(actor, *stop, way, ThreadId(first(who.thread)));
            }
            Move::Does { actor, deed, part } => {
                let edge = attack.actors[actor].quiet.deeds[deed].edge;
                let transition = finite.threads[attack.actors[actor].thread].edges[edge].transition;
                match part {
                    Part::Issue => store = Some(transition),
                    Part::Overtake => load = Some(transition),
                    _ => {}
                }
                for _ in 0..count {
                    teller.does(actor, deed, part)?;
                }
            }
        }
    }
    let start = Snapshot { locations: Vec::new(), registers: Vec::new(), memory };
    let attacker = ThreadId(first(attacker));
    Some(InstanceRun { run: AttackRun { start, steps: teller.steps }, copies, store: store?, load: load?, attacker })
}

/// By move how often it is done in a row, and how many copies begin where.
fn multiplicities(attack: &AttackNet, moves: &[Move]) -> (Vec<usize>, HashMap<(usize, usize), usize>) {
    let mut needed: HashMap<Spot, usize> = HashMap::new();
    let mut together = vec![1; moves.len()];
    for (number, step) in moves.iter().enumerate().rev() {
        let Move::Does { actor, deed, part } = *step else { continue };
        let who: &Actor = &attack.actors[actor];
        let done = &who.quiet.deeds[deed];
        let behind = done.to.map(|stop| (actor, after(part), stop));
        let wanted = behind.and_then(|spot| needed.get(&spot).copied()).unwrap_or(0);
        let count = if who.repeats(deed) { wanted.max(1) } else { 1 };
        if let Some(spot) = behind {
            needed.insert(spot, wanted.saturating_sub(count));
        }
        *needed.entry((actor, before(part), done.from)).or_default() += count;
        together[number] = count;
    }
    let plain = needed.into_iter().filter(|((_, joined, _), count)| !joined && *count > 0);
    let starts = plain.map(|((actor, _, stop), count)| ((actor, stop), count)).collect();
    (together, starts)
}

/// Whether the thread was in its second mode (joined, or delaying) before a part.
fn before(part: Part) -> bool {
    matches!(part, Part::Delay | Part::Overtake | Part::Path)
}

fn after(part: Part) -> bool {
    part != Part::Prefix
}

struct Teller<'a> {
    finite: &'a Finite,
    attack: &'a AttackNet,
    steps: Vec<AttackStep>,
    at: HashMap<Spot, Vec<ThreadId>>,
}

impl Teller<'_> {
    /// A thread goes to the stop where it begins.
    fn begin(&mut self, actor: usize, stop: usize, way: &[usize], thread: ThreadId) {
        for &edge in way {
            self.act(actor, thread, edge, machine::Part::Prefix, false);
        }
        self.at.entry((actor, false, stop)).or_default().push(thread);
    }

    fn does(&mut self, actor: usize, deed: usize, part: Part) -> Option<()> {
        let attack = self.attack;
        let done = &attack.actors[actor].quiet.deeds[deed];
        let thread = self.at.get_mut(&(actor, before(part), done.from))?.pop()?;
        let (first, rest, delayed) = match part {
            Part::Prefix => (machine::Part::Prefix, machine::Part::Prefix, false),
            Part::Issue => (machine::Part::Store, machine::Part::Delaying, true),
            Part::Delay => (machine::Part::Delaying, machine::Part::Delaying, true),
            Part::Overtake => (machine::Part::Load, machine::Part::Load, false),
            Part::Join | Part::Path => (machine::Part::Path, machine::Part::Path, false),
        };
        self.act(actor, thread, done.edge, first, delayed);
        // After its load the attacker stands still.
        if part == Part::Overtake {
            return Some(());
        }
        for &edge in &done.then {
            self.act(actor, thread, edge, rest, false);
        }
        if let Some(stop) = done.to {
            self.at.entry((actor, after(part), stop)).or_default().push(thread);
        }
        Some(())
    }

    fn act(&mut self, actor: usize, thread: ThreadId, edge: usize, part: machine::Part, delayed: bool) {
        let edge = &self.finite.threads[self.attack.actors[actor].thread].edges[edge];
        let action = Action::Step { thread, transition: edge.transition, choice: edge.choice };
        self.steps.push(AttackStep { part, action, delayed });
    }
}
