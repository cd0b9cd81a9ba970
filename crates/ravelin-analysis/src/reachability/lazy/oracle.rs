//! The oracle (section 4 of *Lazy TSO Reachability*): where could delaying a store lead outside SC?
//!
//! A program that is robust reaches the same states under SC and TSO. One that is not has attacks, and each attack found tells a path
//! of its thread from a store to a load that overtook it. The attacks are those of the extended program; the paths are given
//! back in terms of the original.
//!
//! First all attacks are searched within a budget, and the program is extended by every path found: then each computation that
//! reaches a goal comes nearer with every round. Its delays are finitely many; as long as it is not possible under SC it has a
//! feasible attack with one of them, and the path found for that attack leaves the known ones at the same place. If the budget
//! finds nothing, one attack is enough.

use super::delays::Delays;
use super::extend::{ExtendedProgram, OriginalEffect, Use, extend};
use crate::robustness::{
    Attack, ProgramFacts, attacks, count_tso_attacks, ends_attack, is_delayable, is_overtaking_load,
};
use crate::{AnalysisError, InternalError};
use ravelin_explore::{Limit, Options, Watch};
use ravelin_machine::attack::{AttackResult, AttackRun, Extent, FIRST_SHARE, WitnessPart, hunt};
use ravelin_program::{HardwareProgram, LocId, Model, Program, Thread, ThreadId, TransitionId};
use ravelin_semantics::Action;
use std::collections::HashSet;
use std::time::Instant;

/// States that the search for all attacks may visit in the first round; twice as many in each later one.
const FIRST_STATES: u64 = 20_000;

/// What is known of the original, and how far the oracle may look.
pub(super) struct Oracle<'a> {
    program: &'a HardwareProgram,
    /// Stores and loads between which an attack is not obviously infeasible.
    contested: HashSet<Attack>,
    /// What the search for all attacks may visit in the next round.
    states: u64,
}

/// A path that a thread of the original should be allowed to take while its first store is delayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub thread: ThreadId,
    pub transitions: Vec<TransitionId>,
}

pub(super) struct Advice {
    /// Empty: none was found.
    pub paths: Vec<Path>,
    /// What kept the oracle from looking everywhere. With no path and no limit, the extended program is robust.
    pub limit: Option<Limit>,
    pub states: u64,
}

impl<'a> Oracle<'a> {
    pub fn new(program: &'a HardwareProgram, watch: &Watch) -> Result<Oracle<'a>, Limit> {
        let mut facts = ProgramFacts::new(program, Model::Tso, watch)?;
        // Listed only if there is room for the list.
        watch.hold(count_tso_attacks(program).saturating_mul(size_of::<Attack>()))?;
        let mut contested = HashSet::new();
        for attack in attacks(program) {
            if facts.dismiss(attack)?.is_none() {
                contested.insert(attack);
                watch.hold(2 * size_of::<Attack>())?;
            }
        }
        Ok(Oracle { program, contested, states: FIRST_STATES })
    }

    /// Asks about the program with these delays.
    pub fn ask(&mut self, delays: &[Delays], options: &Options) -> Result<Advice, AnalysisError> {
        let start = Instant::now();
        let watch = Watch::new(options.budget, "extending the program");
        let extended = &extend(self.program, delays, Use::Oracle, &watch)?;
        let attacks = self.attacks(extended);
        let mut advice = Advice { paths: Vec::new(), limit: None, states: 0 };
        if attacks.is_empty() {
            return Ok(advice);
        }
        let all = options.budget.at_most(self.states);
        self.states *= 2;
        self.search(extended, &attacks, Extent::All, &Options { budget: all, ..*options }, &mut advice)?;
        let only_ours = options.budget.limits.states != all.limits.states;
        let more = matches!(advice.limit, Some(Limit::States(_))) && only_ours;
        if advice.paths.is_empty() && more {
            let budget = options.budget.child(start, advice.states);
            self.search(extended, &attacks, Extent::First, &Options { budget, ..*options }, &mut advice)?;
        }
        Ok(advice)
    }

    fn search(
        &self,
        extended: &ExtendedProgram,
        attacks: &[Attack],
        extent: Extent,
        options: &Options,
        advice: &mut Advice,
    ) -> Result<(), AnalysisError> {
        let budget = options.budget.in_memory();
        let found = hunt(&extended.program, Model::Tso, attacks, extent, budget, FIRST_SHARE)?;
        advice.limit = found.limit;
        advice.states +=
            found.statistics.sc_states + found.statistics.delaying_states + found.statistics.helping_states;
        for (attack, result) in attacks.iter().zip(&found.results) {
            if let AttackResult::Feasible(run) = result {
                for path in self.paths(extended, *attack, run)? {
                    if !advice.paths.contains(&path) {
                        advice.paths.push(path);
                    }
                }
            }
        }
        Ok(())
    }

    /// The attacks on the extended program that may be feasible.
    fn attacks(&self, extended: &ExtendedProgram) -> Vec<Attack> {
        let mut attacks = Vec::new();
        for (number, thread) in extended.program.threads.iter().enumerate() {
            let origins = &extended.origins[number];
            let those = |is: &dyn Fn(usize) -> bool| (0..origins.len()).filter(|&id| is(id)).collect::<Vec<_>>();
            let plain = |id: usize| {
                matches!(origins[id].effect, OriginalEffect::Stores | OriginalEffect::Flushes)
                    && is_delayable(&thread.transitions[id].instruction)
            };
            let loads = those(&|id| {
                origins[id].effect == OriginalEffect::Takes && is_overtaking_load(&thread.transitions[id].instruction)
            });
            for store in those(&plain) {
                let contested = |load: usize| {
                    let (store, load) = (origins[store].transition, origins[load].transition);
                    self.contested.contains(&Attack { thread: ThreadId(number), store, load })
                };
                let loads: Vec<usize> = loads.iter().copied().filter(|&load| contested(load)).collect();
                if loads.is_empty() {
                    continue;
                }
                let ahead = unfenced(thread, thread.transitions[store].to);
                let loads = loads.into_iter().filter(|&load| ahead[thread.transitions[load].from.0]);
                attacks.extend(loads.map(|load| Attack {
                    thread: ThreadId(number),
                    store: TransitionId(store),
                    load: TransitionId(load),
                }));
            }
        }
        attacks
    }

    /// What the attacker did from the issue of the delayed store to the load. If that store is part of a loop, also the path from the
    /// first store that no fence kept it from delaying: otherwise a goal that needs many rounds of the loop to be pending would take
    /// as many rounds here.
    fn paths(&self, extended: &ExtendedProgram, attack: Attack, run: &AttackRun) -> Result<Vec<Path>, AnalysisError> {
        let internal = |what: &str| AnalysisError::from(InternalError(format!("an attack cannot be read: {what}")));
        let thread = &self.program.threads[attack.thread.0];
        let origins = &extended.origins[attack.thread.0];
        let mut taken: Vec<TransitionId> = Vec::new();
        // Where in `taken` the stores that are held back were issued.
        let mut held = std::collections::VecDeque::new();
        let (mut delayed, mut drained) = (None, 0);
        for step in &run.steps {
            let Action::Step { thread: by, transition, .. } = step.action else { continue };
            if by != attack.thread || step.part == WitnessPart::Path {
                continue;
            }
            let origin = origins[transition.0];
            let instruction = &thread.transitions[origin.transition.0].instruction;
            let issued = match origin.effect {
                OriginalEffect::Nothing => continue,
                OriginalEffect::Flushes => held.pop_front(),
                OriginalEffect::Takes | OriginalEffect::Stores => {
                    if ends_attack(instruction) {
                        drained = taken.len() + 1;
                    }
                    taken.push(origin.transition);
                    let issued = taken.len() - 1;
                    if origin.effect == OriginalEffect::Takes && is_delayable(instruction) {
                        held.push_back(issued);
                    }
                    Some(issued)
                }
            };
            if step.part == WitnessPart::Store {
                delayed = Some(issued.ok_or_else(|| internal("it delays a store that was not issued"))?);
            }
        }
        let from = delayed.ok_or_else(|| internal("it delays nothing"))?;
        let path = |from: usize| Path { thread: attack.thread, transitions: taken[from..].to_vec() };
        let mut paths = vec![path(from)];
        let earliest = (drained..from).find(|&at| is_delayable(&thread.transitions[taken[at].0].instruction));
        if let Some(earliest) = earliest
            && in_cycle(thread, taken[from])
        {
            paths.push(path(earliest));
        }
        Ok(paths)
    }
}

/// Allows what the oracle advises. Says how many steps this adds.
pub(super) fn follow(program: &Program, delays: &mut [Delays], paths: &[Path], watch: &Watch) -> Result<usize, Limit> {
    let mut added = 0;
    for path in paths {
        added += delays[path.thread.0].extend(&program.threads[path.thread.0], &path.transitions, watch)?;
    }
    Ok(added)
}

/// By location: can be reached without a fence or a locked instruction.
fn unfenced(thread: &Thread, from: LocId) -> Vec<bool> {
    let mut seen = vec![false; thread.locations.len()];
    let mut waiting = vec![from];
    seen[from.0] = true;
    while let Some(location) = waiting.pop() {
        for (_, transition) in thread.outgoing(location) {
            if !ends_attack(&transition.instruction) && !seen[transition.to.0] {
                seen[transition.to.0] = true;
                waiting.push(transition.to);
            }
        }
    }
    seen
}

/// The transition can be taken again, with no fence in between.
fn in_cycle(thread: &Thread, id: TransitionId) -> bool {
    let transition = &thread.transitions[id.0];
    unfenced(thread, transition.to)[transition.from.0]
}
