//! Sets of fences that leave no attack that could be feasible, as far as the program's text shows. Finding one runs no search.
//!
//! An attack that is not dismissed (`robustness/dismiss.rs`) has a path from its store to its access without a fence. A fence on every such path
//! dismisses it (NR1 in Table 2 of *Checking and Enforcing Robustness against TSO*). So each path is a clause, as a run is (`clause.rs`), but one
//! that a best set need not satisfy. If the cheapest cover of both kinds of clauses costs as much as the cheapest cover of the clauses from
//! runs, it is a best set, and its program is robust without a search. If it costs more, this file has nothing to say.
//!
//! Paths are added only as long as a cover leaves them open, so few of the exponentially many are looked at.

use super::cost::Offer;
use super::synthesis::FenceSet;
use crate::robustness::{ProgramFacts, attacks_against, ends_attack};
use ravelin_covers::{Cost, Covers};
use ravelin_explore::Watch;
use ravelin_program::{
    Change, FenceStrength, HardwareProgram, LocId, Model, Program, Site, Thread, ThreadId, ThreadTransition,
    TransitionId, repaired,
};
use std::collections::HashMap;

/// Rounds of covering and looking for open paths.
const MOST_ROUNDS: usize = 200;
/// Attacks of programs that are looked at. Beyond that the text alone takes long.
const MOST_ATTACKS: usize = 20_000;

pub(super) struct PossibleAttacks<'a> {
    program: &'a Program,
    model: Model,
    sites: &'a [Site],
    offers: &'a [Offer],
    /// The offers that end an attack which passes the edge: a fence after it, the fence that it is, or the locked or seq_cst store that it
    /// becomes.
    at: HashMap<ThreadTransition, Vec<usize>>,
}

impl<'a> PossibleAttacks<'a> {
    pub fn new(program: &'a Program, model: Model, sites: &'a [Site], offers: &'a [Offer]) -> PossibleAttacks<'a> {
        let mut at: HashMap<ThreadTransition, Vec<usize>> = HashMap::new();
        for (number, offer) in offers.iter().enumerate() {
            let site = &sites[offer.site];
            let edges = site.edges.iter().filter(|_| match site.change {
                Change::Insert { .. } | Change::Keep | Change::Order(_) => offer.strength == FenceStrength::Full,
                Change::Lock => true,
            });
            edges.for_each(|&edge| at.entry(edge).or_default().push(number));
        }
        PossibleAttacks { program, model, sites, offers, at }
    }

    /// A cover that costs no more than `cost` and leaves no attack that could be feasible, if it is found quickly.
    pub fn cheapest_without(&self, covers: &Covers, cost: Cost, watch: &Watch) -> Option<FenceSet> {
        if self.program.is_parameterised() {
            return None;
        }
        let mut covers = covers.clone();
        for _ in 0..MOST_ROUNDS {
            let offers = covers.cheapest(&|| watch.steps(1 << 10).is_err()).ok()??;
            let set = FenceSet { cost: covers.cost(&offers), offers };
            if set.cost > cost {
                return None;
            }
            let open = self.open_paths(&set, watch)?;
            if open.is_empty() {
                return Some(set);
            }
            for path in open {
                if path.is_empty() {
                    return None;
                }
                covers.require(path);
            }
        }
        None
    }

    /// For each store and access that could attack despite the set, the offers on a shortest path between them. `None` if there are too many,
    /// or a limit was reached.
    fn open_paths(&self, set: &FenceSet, watch: &Watch) -> Option<Vec<Vec<usize>>> {
        let fenced = HardwareProgram::new(&repaired(self.program, self.sites, &set.choices(self.offers)));
        let attacks = attacks_against(self.model, &fenced);
        if attacks.len() > MOST_ATTACKS {
            return None;
        }
        let mut facts = ProgramFacts::new(&fenced, self.model, watch).ok()?;
        let mut open = Vec::new();
        // Attacks come by store.
        let mut from: Option<(ThreadId, TransitionId, Vec<Option<TransitionId>>)> = None;
        for attack in attacks {
            if facts.dismiss(attack).ok()?.is_some() {
                continue;
            }
            let thread = &fenced.threads[attack.thread.0];
            let start = thread.transitions[attack.store.0].to;
            let known = from.take().filter(|(thread, store, _)| (*thread, *store) == (attack.thread, attack.store));
            let (_, _, entered_by) =
                from.insert(known.unwrap_or_else(|| (attack.thread, attack.store, unfenced_from(thread, start))));
            let mut path = vec![attack.store];
            let mut location = thread.transitions[attack.load.0].from;
            while location != start {
                let step = entered_by[location.0]?;
                path.push(step);
                location = thread.transitions[step.0].from;
            }
            let on_path =
                |transition: TransitionId| self.at.get(&ThreadTransition { thread: attack.thread, transition });
            open.push(path.into_iter().filter_map(on_path).flatten().copied().collect());
        }
        Some(open)
    }
}

/// For each location the transition by which a shortest path without a fence enters it.
fn unfenced_from(thread: &Thread, start: LocId) -> Vec<Option<TransitionId>> {
    let mut entered_by: Vec<Option<TransitionId>> = vec![None; thread.locations.len()];
    let mut waiting = std::collections::VecDeque::from([start]);
    while let Some(location) = waiting.pop_front() {
        for (id, transition) in thread.outgoing(location) {
            let to = transition.to;
            if to != start && entered_by[to.0].is_none() && !ends_attack(&transition.instruction) {
                entered_by[to.0] = Some(id);
                waiting.push_back(to);
            }
        }
    }
    entered_by
}
