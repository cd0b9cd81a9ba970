//! A program under SC as a net (appendix D of the paper): whether a goal can be reached with some number of threads is whether a marking
//! can be covered.

use super::actor::{Actor, is_private};
use super::attack::{AttackPhase, Move};
use super::goals::{GoalCase, WatchedStates, cases};
use super::memory::{Arcs, MemoryPlaces};
use super::quiet::Quiet;
use crate::reachability::finite::{Finite, NotFinite};
use ravelin_backward::nets::{Marking, Net};
use ravelin_explore::Watch;
use ravelin_machine::Violation;

/// The net, and what its transitions and targets mean.
pub(super) struct SystemNet {
    pub net: Net,
    pub actors: Vec<Actor>,
    pub moves: Vec<Move>,
    /// By target.
    pub cases: Vec<(Violation, GoalCase)>,
}

/// What a transition or a target takes in memory, roughly.
const NET_BYTES: usize = 256;

/// Builds the net.
pub(super) fn system_net(finite: &Finite, watch: &Watch) -> Result<SystemNet, NotFinite> {
    let cases = cases(finite, watch)?;
    let watched = WatchedStates::new(finite);
    let mut net = Net::default();
    let memory = MemoryPlaces::new(finite, &mut net);
    let mut moves: Vec<Move> = memory.starts.iter().map(|pair| Move::Holds(*pair)).collect();
    let mut actors = Vec::new();
    for (thread, graph) in finite.threads.iter().enumerate() {
        let quiet = Quiet::new(graph, is_private, &|state| watched.watches(thread, state), watch)?;
        let begins = &mut |start| moves.push(Move::Begins { actor: thread, start });
        actors.push(Actor::new(finite, &mut net, thread, quiet, "", false, begins));
    }
    for (number, actor) in actors.iter().enumerate() {
        for (deed, does) in actor.quiet.deeds.iter().enumerate() {
            watch.hold(NET_BYTES)?;
            let mut arcs = Arcs::default();
            actor.go(deed, &actor.places, &actor.places, &mut arcs);
            memory.act(&does.effect, &mut arcs);
            net.setting(arcs.takes, arcs.gives, arcs.sets);
            moves.push(Move::Does { actor: number, deed, part: AttackPhase::Prefix });
        }
    }
    for (_, case) in &cases {
        watch.hold(NET_BYTES)?;
        let held = case.memory.iter().filter_map(|pair| memory.place(*pair));
        let places = case.threads.iter().filter_map(|(thread, state)| {
            let actor = &actors[*thread];
            let stop = actor.quiet.stops.binary_search(state).ok();
            stop.map(|stop| actor.places[stop])
        });
        net.targets.push(Marking::new(held.chain(places).map(|place| (place, 1))));
    }
    Ok(SystemNet { net, actors, moves, cases })
}
