//! What would have forbidden a run: the offers of which one at least must be taken.
//!
//! A full fence forbids a run if it is passed while a store of its thread is pending that a later access of the thread overtakes (the barrier
//! of section 6 of *Counter-Example Guided Fence Insertion*): a load that reads memory before the store reaches it, or,
//! under PSO, another store that does. If nothing overtakes the pending stores, what the thread does from there on can as well
//! be done after they have reached memory, and the fence is in nobody's way. A store-store fence forbids a run if a
//! store before it is overtaken by a store after it.
//!
//! Conversely, a program with fences at other places only still has the run, or one that ends the same: so at least one of the
//! offers is in every set of fences that serves the purpose. Where threads hold the bus lock, postponing a step
//! may not be possible, and every fence that is passed with a store pending counts; a larger clause is never wrong.

use super::Offer;
use crate::parameterised::Instance;
use crate::robustness::is_overtaking_load;
use crate::witness::Computation;
use ravelin_program::{Change, FenceStrength, Instruction, Model, Program, Site, ThreadId, ThreadTransition};
use ravelin_semantics::Action;
use std::collections::HashMap;

/// Who asks for what: the program without any of the offers, and the offers.
pub(super) struct Clauses<'a> {
    program: &'a Program,
    model: Model,
    sites: &'a [Site],
    offers: &'a [Offer],
    /// The offers at the sites of an edge.
    at: HashMap<ThreadTransition, Vec<usize>>,
    holds_bus: bool,
}

/// A store of a thread in a run: when it was issued and when it reached memory, if it did.
struct StoreTimes {
    issued: usize,
    reached: usize,
}

/// What one thread did in a run.
#[derive(Default)]
struct Deeds {
    stores: Vec<StoreTimes>,
    /// When it loaded.
    loads: Vec<usize>,
    /// When it took which transition of the program. Transitions that were added to it are left out.
    steps: Vec<(usize, ThreadTransition)>,
}

/// Never, as a time.
const NEVER: usize = usize::MAX;

impl<'a> Clauses<'a> {
    pub fn new(program: &'a Program, model: Model, sites: &'a [Site], offers: &'a [Offer]) -> Clauses<'a> {
        let mut at: HashMap<ThreadTransition, Vec<usize>> = HashMap::new();
        for (number, offer) in offers.iter().enumerate() {
            for &edge in &sites[offer.site].edges {
                at.entry(edge).or_default().push(number);
            }
        }
        let mut transitions = program.threads.iter().flat_map(|thread| &thread.transitions);
        let holds_bus = transitions.any(|transition| matches!(transition.instruction, Instruction::BusLock));
        Clauses { program, model, sites, offers, at, holds_bus }
    }

    /// The same for a run of an instance, if the program has any number of threads: an offer is then made to all copies.
    pub fn of_run_of(&self, instance: Option<&Instance>, run: &Computation) -> Vec<usize> {
        let Some(instance) = instance else { return self.of_run(run) };
        let first = |thread: ThreadId| instance.by_thread[..thread.0].iter().sum::<usize>();
        let copies = |edge: &ThreadTransition| {
            let first = first(edge.thread);
            let numbers = first..first + instance.by_thread[edge.thread.0];
            numbers.map(|thread| ThreadTransition { thread: ThreadId(thread), ..*edge }).collect::<Vec<_>>()
        };
        let of_copies = |site: &Site| Site { edges: site.edges.iter().flat_map(copies).collect(), ..site.clone() };
        let sites: Vec<Site> = self.sites.iter().map(of_copies).collect();
        let program = self.program.instance_of(&instance.by_thread);
        Clauses::new(&program, self.model, &sites, self.offers).of_run(run)
    }

    /// The offers that forbid a run of the program with some of the other offers taken.
    pub fn of_run(&self, run: &Computation) -> Vec<usize> {
        let mut clause = Vec::new();
        for thread in (0..self.program.threads.len()).map(ThreadId) {
            let deeds = self.deeds(thread, run);
            for (number, &(time, edge)) in deeds.steps.iter().enumerate() {
                let Some(offers) = self.at.get(&edge) else { continue };
                // A fence is passed when the thread has nothing else left to do before its next step.
                let next = deeds.steps.get(number + 1).map_or(NEVER, |(time, _)| *time);
                for &number in offers {
                    let strength = self.offers[number].strength;
                    let forbids = match self.sites[self.offers[number].site].change {
                        Change::Insert { .. } => self.forbids(&deeds, strength, next),
                        Change::Keep => self.forbids(&deeds, strength, time),
                        // The locked store waits for those before it, and the thread waits for it.
                        Change::Lock => {
                            self.forbids(&deeds, FenceStrength::Full, time)
                                || self.forbids(&deeds, FenceStrength::Full, next)
                        }
                        // A release store waits for the stores before it, and behind a seq_cst store is a fence. Of no other
                        // order do these models take notice.
                        Change::Order(_) => {
                            self.forbids(&deeds, FenceStrength::StoreStore, time)
                                || strength == FenceStrength::Full && self.forbids(&deeds, strength, next)
                        }
                    };
                    if forbids {
                        clause.push(number);
                    }
                }
            }
        }
        clause.sort_unstable();
        clause.dedup();
        clause
    }

    /// The offers that a thread passes between two of its actions in a run: full fences only.
    pub fn between(&self, actions: &[Action], from: usize, to: usize) -> Vec<usize> {
        let mut clause = Vec::new();
        let thread = actions[from].thread();
        let run = Computation { actions: actions.to_vec(), issued: vec![None; actions.len()], messages: None };
        for (time, edge) in self.deeds(thread, &run).steps {
            for &number in self.at.get(&edge).into_iter().flatten() {
                let is_full = self.offers[number].strength == FenceStrength::Full;
                let passed = match self.sites[self.offers[number].site].change {
                    Change::Insert { .. } | Change::Order(_) => (from..to).contains(&time) && is_full,
                    Change::Keep => (from + 1..to).contains(&time) && is_full,
                    Change::Lock => (from..to).contains(&time),
                };
                if passed {
                    clause.push(number);
                }
            }
        }
        clause.sort_unstable();
        clause.dedup();
        clause
    }

    /// A fence that the thread passes at that time, before its action of that time, is in the way of what it did.
    fn forbids(&self, deeds: &Deeds, strength: FenceStrength, time: usize) -> bool {
        let pending = |store: &&StoreTimes| store.issued < time && (store.reached > time || store.reached == NEVER);
        let overtaken_by_store =
            |store: &StoreTimes| deeds.stores.iter().any(|later| later.issued >= time && later.reached < store.reached);
        let overtaken_by_load =
            |store: &StoreTimes| deeds.loads.iter().any(|&load| load >= time && load < store.reached);
        let mut pending = deeds.stores.iter().filter(pending);
        match (strength, self.model) {
            (FenceStrength::StoreStore | FenceStrength::AcqRel, Model::Pso) => pending.any(overtaken_by_store),
            (FenceStrength::Acquire | FenceStrength::StoreStore | FenceStrength::AcqRel, _) => false,
            (FenceStrength::Full, _) if self.holds_bus => pending.next().is_some(),
            (FenceStrength::Full, _) => pending.any(|store| overtaken_by_load(store) || overtaken_by_store(store)),
        }
    }

    fn deeds(&self, thread: ThreadId, run: &Computation) -> Deeds {
        let code = &self.program.threads[thread.0];
        let mut deeds = Deeds::default();
        // By address, the stores that have not reached memory, oldest first.
        let mut pending: HashMap<ravelin_program::Value, Vec<usize>> = HashMap::new();
        for (time, (action, issued)) in run.actions.iter().zip(&run.issued).enumerate() {
            match *action {
                Action::Step { thread: of, transition, .. } if of == thread => {
                    if let Some(taken) = code.transitions.get(transition.0) {
                        deeds.steps.push((time, ThreadTransition { thread, transition }));
                        if is_overtaking_load(&taken.instruction) {
                            deeds.loads.push(time);
                        }
                    }
                    if let Some(address) = issued {
                        pending.entry(*address).or_default().push(deeds.stores.len());
                        deeds.stores.push(StoreTimes { issued: time, reached: NEVER });
                    }
                }
                Action::Flush { thread: of, address } if of == thread => {
                    if let Some(waiting) = pending.get_mut(&address).filter(|waiting| !waiting.is_empty()) {
                        deeds.stores[waiting.remove(0)].reached = time;
                    }
                }
                _ => {}
            }
        }
        deeds
    }
}
