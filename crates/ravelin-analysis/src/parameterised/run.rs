//! From a firing sequence back to the computation of an instance.
//!
//! A token in a place that is a set stands for as many copies as are needed. How many, is found from the end: copies that are needed
//! behind a step took it together, one right after the other, and one takes it in any case. So the sequence also tells an instance in
//! which the fault can be seen; it need not be a small one.

use super::actor::Actor;
use super::attack::{AttackNet, AttackPhase, Move};
use super::system::SystemNet;
use crate::reachability::finite::{ControlPoint, Finite};
use ravelin_backward::nets::NetTransitionId;
use ravelin_machine::attack::{self as machine, AttackRun, AttackStep};
use ravelin_machine::{Run, UnpackedState, Violation};
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
type CopyState = (usize, bool, usize);

/// What a firing sequence of an attack's net does. `None` if it lacks a part of an attack.
pub(super) fn attack_run(finite: &Finite, attack: &AttackNet, sequence: &[NetTransitionId]) -> Option<InstanceRun> {
    let moves: Vec<Move> = sequence.iter().map(|transition| attack.moves[*transition as usize]).collect();
    let told = tell(finite, &attack.actors, &moves, HashMap::new(), true)?;
    let part_of = |wanted: AttackPhase| {
        moves.iter().find_map(|step| match *step {
            Move::Does { actor, deed, part } if part == wanted => {
                let actor = &attack.actors[actor];
                Some(finite.threads[actor.thread].edges[actor.quiet.deeds[deed].edge].transition)
            }
            _ => None,
        })
    };
    let attacker = ThreadId(told.copies[..attack.actors[0].thread].iter().sum());
    let run = AttackRun { start: told.start, steps: told.steps };
    Some(InstanceRun {
        copies: told.copies,
        run,
        store: part_of(AttackPhase::Issue)?,
        load: part_of(AttackPhase::Overtake)?,
        attacker,
    })
}

/// What a firing sequence of a program's net does, and what it ends in: the instance, the run, and the violation there.
pub(super) fn system_run(
    finite: &Finite,
    system: &SystemNet,
    sequence: &[NetTransitionId],
    target: usize,
) -> Option<(Vec<usize>, Run, Violation)> {
    let moves: Vec<Move> = sequence.iter().map(|transition| system.moves[*transition as usize]).collect();
    let (violation, case) = system.cases.get(target)?;
    let mut needed: HashMap<CopyState, usize> = HashMap::new();
    for (thread, state) in &case.threads {
        let stop = system.actors[*thread].quiet.stops.iter().position(|stop| stop == state)?;
        *needed.entry((*thread, false, stop)).or_default() += 1;
    }
    let told = tell(finite, &system.actors, &moves, needed, false)?;
    // Which copy it is that fails.
    let failed = |thread: ThreadId, transition: Step| {
        let mut failed = told.failed.iter().rev();
        failed.find(|failed| (failed.0, failed.1) == (thread.0, transition)).map(|failed| failed.2)
    };
    let violation = match *violation {
        Violation::Goal(goal) => Violation::Goal(goal),
        Violation::Assert { thread, transition } => {
            Violation::Assert { thread: failed(thread, transition)?, transition }
        }
        Violation::Fault { thread, transition, fault } => {
            Violation::Fault { thread: failed(thread, transition)?, transition, fault }
        }
        Violation::Deadlock => Violation::Deadlock,
    };
    let actions = told.steps.iter().map(|step| step.action).collect();
    Some((told.copies, Run { start: told.start, actions }, violation))
}

/// A computation of an instance.
struct InstanceComputation {
    /// By thread of the program.
    copies: Vec<usize>,
    start: UnpackedState,
    steps: Vec<AttackStep>,
    /// Steps that were refused: the thread of the program, the transition, the thread of the instance.
    failed: Vec<(usize, Step, ThreadId)>,
}

/// Replaces tokens by threads. `needed` says how many must be where in the end; with `attacks` the first actor is one thread of its own, and
/// the first copy of its template if it has one.
fn tell(
    finite: &Finite,
    actors: &[Actor],
    moves: &[Move],
    needed: HashMap<CopyState, usize>,
    attacks: bool,
) -> Option<InstanceComputation> {
    let (together, starts) = multiplicities(actors, moves, needed);
    let threads = finite.program.threads.len();
    let is_template = |thread: usize| super::attack::is_template(finite, thread);
    let is_crowd = |actor: usize| !(attacks && actor == 0) && is_template(actors[actor].thread);
    let mut copies = vec![1; threads];
    for thread in (0..threads).filter(|thread| is_template(*thread)) {
        let of = |actor: usize| is_crowd(actor) && actors[actor].thread == thread;
        copies[thread] = starts.iter().filter(|((actor, _), _)| of(*actor)).map(|(_, count)| count).sum();
        copies[thread] += usize::from(attacks && actors[0].thread == thread);
    }
    // The number in the instance of a thread's first copy.
    let first = |thread: usize| copies[..thread].iter().sum::<usize>();
    let mut teller = Teller { finite, actors, steps: Vec::new(), at: HashMap::new(), failed: Vec::new() };
    for (actor, who) in actors.iter().enumerate() {
        if !is_crowd(actor) {
            if let [(start, way)] = &who.quiet.starts[..] {
                teller.begin(actor, *start, way, ThreadId(first(who.thread)));
            }
            continue;
        }
        let mut next = first(who.thread) + usize::from(attacks && who.thread == actors[0].thread);
        for (start, way) in &who.quiet.starts {
            for _ in 0..starts.get(&(actor, *start)).copied().unwrap_or(0) {
                teller.begin(actor, *start, way, ThreadId(next));
                next += 1;
            }
        }
    }
    let mut memory: Vec<(Value, Value)> = Vec::new();
    for (step, &count) in moves.iter().zip(&together) {
        match *step {
            Move::Holds((cell, value)) => {
                let cell = &finite.cells[cell as usize];
                memory.push((cell.address, cell.values[value as usize]));
            }
            Move::Begins { actor, start } => {
                let (stop, way) = &actors[actor].quiet.starts[start];
                teller.begin(actor, *stop, way, ThreadId(first(actors[actor].thread)));
            }
            Move::Does { actor, deed, part } => {
                for _ in 0..count {
                    teller.does(actor, deed, part)?;
                }
            }
        }
    }
    let start = UnpackedState { locations: Vec::new(), registers: Vec::new(), memory };
    Some(InstanceComputation { copies, start, steps: teller.steps, failed: teller.failed })
}

/// By move how often it is done in a row, and how many copies begin where.
fn multiplicities(
    actors: &[Actor],
    moves: &[Move],
    mut needed: HashMap<CopyState, usize>,
) -> (Vec<usize>, HashMap<(usize, usize), usize>) {
    let mut together = vec![1; moves.len()];
    for (number, step) in moves.iter().enumerate().rev() {
        let Move::Does { actor, deed, part } = *step else { continue };
        let who = &actors[actor];
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
fn before(part: AttackPhase) -> bool {
    matches!(part, AttackPhase::Delay | AttackPhase::Overtake | AttackPhase::Path)
}

fn after(part: AttackPhase) -> bool {
    part != AttackPhase::Prefix
}

struct Teller<'a> {
    finite: &'a Finite,
    actors: &'a [Actor],
    steps: Vec<AttackStep>,
    at: HashMap<CopyState, Vec<ThreadId>>,
    failed: Vec<(usize, Step, ThreadId)>,
}

impl Teller<'_> {
    /// A thread goes to the stop where it begins.
    fn begin(&mut self, actor: usize, stop: usize, way: &[usize], thread: ThreadId) {
        for &edge in way {
            self.act(actor, thread, edge, machine::WitnessPart::Prefix, false);
        }
        self.at.entry((actor, false, stop)).or_default().push(thread);
    }

    fn does(&mut self, actor: usize, deed: usize, part: AttackPhase) -> Option<()> {
        let actors = self.actors;
        let done = &actors[actor].quiet.deeds[deed];
        let thread = self.at.get_mut(&(actor, before(part), done.from))?.pop()?;
        let (first, rest, delayed) = match part {
            AttackPhase::Prefix => (machine::WitnessPart::Prefix, machine::WitnessPart::Prefix, false),
            AttackPhase::Issue => (machine::WitnessPart::Store, machine::WitnessPart::Delaying, true),
            AttackPhase::Delay => (machine::WitnessPart::Delaying, machine::WitnessPart::Delaying, true),
            AttackPhase::Overtake => (machine::WitnessPart::Load, machine::WitnessPart::Load, false),
            AttackPhase::Join | AttackPhase::Path => (machine::WitnessPart::Path, machine::WitnessPart::Path, false),
        };
        self.act(actor, thread, done.edge, first, delayed);
        // After its load the attacker stands still.
        if part == AttackPhase::Overtake {
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

    fn act(&mut self, actor: usize, thread: ThreadId, edge: usize, part: machine::WitnessPart, delayed: bool) {
        let graph = &self.finite.threads[self.actors[actor].thread];
        let edge = &graph.edges[edge];
        if matches!(graph.states[edge.to as usize].place, ControlPoint::Failed(_)) {
            // The transition is refused: that is what the run shows, and no step of it.
            self.failed.push((self.actors[actor].thread, edge.transition, thread));
            return;
        }
        let action = Action::Step { thread, transition: edge.transition, choice: edge.choice };
        self.steps.push(AttackStep { part, action, delayed });
    }
}
