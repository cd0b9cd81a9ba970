//! Where fences may go: the sites of an automaton, and the constraints on them (section 6 of *Counter-Example Guided Fence Insertion*).

use super::cost::is_written;
use super::loops::LoopDepths;
use crate::robustness::{is_delayable, is_overtaking_load};
use ravelin_program::{
    Change, FenceStrength, Instruction, LocId, Order, Program, Site, Thread, ThreadId, ThreadTransition, TransitionId,
};
use std::collections::BTreeSet;
use thiserror::Error;

/// Which of the sites may be used. Fences and orders that stand there already may be kept in any case; that an access may have a stronger
/// order is for a list, or for [`Placement::Written`], to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    #[default]
    Anywhere,
    /// Directly after plain stores.
    AfterStores,
    /// Directly before loads.
    BeforeLoads,
    /// Where no loop comes along.
    OutsideLoops,
    /// Where a fence or an order stands, and no stronger than that.
    Written,
    /// The sites of these names.
    Listed(BTreeSet<String>),
}

/// A name in a list that no site has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no place `{name}` for a fence; there are {}", there_are.join(", "))]
pub struct UnknownSite {
    pub name: String,
    pub there_are: Vec<String>,
}

impl UnknownSite {
    /// Complains about the first of the names that neither a site nor one of the others has.
    pub fn among<'a>(
        names: impl IntoIterator<Item = &'a String>,
        sites: &[Site],
        others: &[Site],
    ) -> Result<(), UnknownSite> {
        let known = |name: &str| sites.iter().chain(others).any(|site| site.name == name);
        match names.into_iter().find(|name| !known(name)) {
            Some(name) => {
                let there_are = sites.iter().map(|site| site.name.clone()).collect();
                Err(UnknownSite { name: name.clone(), there_are })
            }
            None => Ok(()),
        }
    }
}

impl Placement {
    /// The numbers of the sites that may be used.
    pub fn allowed(&self, program: &Program, sites: &[Site]) -> Result<Vec<usize>, UnknownSite> {
        if let Placement::Listed(names) = self {
            UnknownSite::among(names, sites, &[])?;
        }
        let depths = LoopDepths::of(program);
        let allows = |site: &Site| site.change == Change::Keep || self.allows(program, &depths, site);
        Ok((0..sites.len()).filter(|&number| allows(&sites[number])).collect())
    }

    /// Whether a site that may be used may be of this kind. What is written may be kept in any case.
    pub fn allows_offer(&self, program: &Program, site: &Site, strength: FenceStrength) -> bool {
        match self {
            Placement::Written => is_written(program, site, strength),
            Placement::Listed(names) => names.contains(&site.name) || is_written(program, site, strength),
            _ => true,
        }
    }

    fn allows(&self, program: &Program, depths: &LoopDepths, site: &Site) -> bool {
        let transition = |edge: &ThreadTransition| &program.threads[edge.thread.0].transitions[edge.transition.0];
        match self {
            _ if matches!(site.change, Change::Order(_)) => true,
            Placement::Listed(names) => names.contains(&site.name),
            Placement::Written => false,
            Placement::Anywhere => true,
            Placement::AfterStores => site.edges.iter().all(|edge| is_plain_store(&transition(edge).instruction)),
            Placement::BeforeLoads => site.edges.iter().all(|edge| {
                let thread = &program.threads[edge.thread.0];
                let mut next = thread.outgoing(transition(edge).to);
                next.any(|(_, next)| is_overtaking_load(&next.instruction))
            }),
            Placement::OutsideLoops => depths.deepest(&site.edges) == 0,
        }
    }
}

/// A seq_cst store has its fence already.
fn is_plain_store(instruction: &Instruction) -> bool {
    is_delayable(instruction) && !matches!(instruction, Instruction::Store { order: Order::SeqCst, .. })
}

/// The sites of a program that is given as automata: every location that is entered somewhere, and, where several transitions enter
/// it, each of these alone. What is written down in a text has other sites, which its front end knows.
pub fn automaton_sites(program: &Program) -> Vec<Site> {
    let mut sites = Vec::new();
    for (number, thread) in program.threads.iter().enumerate() {
        let locked = inside_bus_lock(thread);
        for location in (0..thread.locations.len()).map(LocId).filter(|location| !locked[location.0]) {
            let entering: Vec<ThreadTransition> = (0..thread.transitions.len())
                .map(TransitionId)
                .filter(|transition| thread.transitions[transition.0].to == location)
                .map(|transition| ThreadTransition { thread: ThreadId(number), transition })
                .collect();
            let site = |name: String, edges: Vec<ThreadTransition>| Site {
                name: format!("{}:{name}", thread.name),
                change: Change::Insert { after_label: false },
                edges,
                position: None,
            };
            let name = thread.location_name(location);
            if entering.len() > 1 {
                sites.extend(entering.iter().map(|edge| site(format!("{}>{name}", edge.transition.0), vec![*edge])));
            }
            if !entering.is_empty() {
                sites.push(site(name, entering));
            }
        }
    }
    sites
}

/// The same sites, one for each thread. Copies of a thread that is written once can then differ.
pub fn apart(program: &Program, sites: &[Site]) -> Vec<Site> {
    let mut all = Vec::new();
    for site in sites {
        let mut threads: Vec<ThreadId> = site.edges.iter().map(|edge| edge.thread).collect();
        threads.dedup();
        let several = threads.len() > 1;
        all.extend(threads.into_iter().map(|thread| Site {
            name: if several { format!("{}:{}", program.threads[thread.0].name, site.name) } else { site.name.clone() },
            edges: site.edges.iter().copied().filter(|edge| edge.thread == thread).collect(),
            ..site.clone()
        }));
    }
    all
}

/// By location: a thread may hold the bus lock there. A fence inside what is executed as one step has no meaning.
fn inside_bus_lock(thread: &Thread) -> Vec<bool> {
    let mut inside = vec![false; thread.locations.len()];
    let is_lock = |instruction: &Instruction| matches!(instruction, Instruction::BusLock);
    let locks = thread.transitions.iter().filter(|transition| is_lock(&transition.instruction));
    let mut waiting: Vec<LocId> = locks.map(|transition| transition.to).collect();
    while let Some(location) = waiting.pop() {
        if !std::mem::replace(&mut inside[location.0], true) {
            let outgoing = thread.outgoing(location).map(|(_, transition)| transition);
            let stays = outgoing.filter(|transition| !matches!(transition.instruction, Instruction::BusUnlock));
            waiting.extend(stays.map(|transition| transition.to));
        }
    }
    inside
}
