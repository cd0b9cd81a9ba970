//! From places that transitions pass to sites: what cannot be said as a site is left out, what means the same is said once, and the
//! order is the one in which changes have to be made.
//!
//! A fence after a label has to be passed by every transition that enters the location, because the label then names the place before
//! it. A fence that stands between two labels of one location is neither before nor after them and is no site.
//!
//! If a transition passes two fences, the one that it passes last comes first in the list: [`ravelin_program::repaired`] puts each new
//! fence between the transition and what it leads to by then.

use super::edit::EditPlace;
use super::matching::ProgramMatch;
use ravelin_program::{Instruction, LocId, Order, Program, Thread, ThreadId, ThreadTransition};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// An insertion that is worth offering.
pub struct SiteInsertion {
    pub place: usize,
    pub edges: Vec<ThreadTransition>,
    pub after_label: bool,
}

/// `existing`: fences that stand there may be taken away.
pub fn choose(program: &Program, places: &[EditPlace], matched: &ProgramMatch, existing: bool) -> Vec<SiteInsertion> {
    let mut edges: BTreeMap<usize, Vec<ThreadTransition>> = BTreeMap::new();
    for (edge, chain) in &matched.chains {
        for &place in chain {
            edges.entry(place).or_default().push(*edge);
        }
    }
    let at_start: Vec<HashSet<usize>> = matched.at_start.iter().map(|chain| chain.iter().copied().collect()).collect();
    let threads: Vec<LocationEntries> = program.threads.iter().map(LocationEntries::of).collect();
    let facts = SiteFacts { program, threads, matched, at_start, existing };

    let mut best: HashMap<Vec<ThreadTransition>, (bool, bool, bool, usize, usize)> = HashMap::new();
    for (place, mut edges) in edges {
        edges.sort_unstable();
        edges.dedup();
        let Some(after_label) = facts.after_label(place, &edges) else { continue };
        if facts.is_useless(&edges) {
            continue;
        }
        let early = facts.at_start.iter().any(|start| start.contains(&place));
        let key = (after_label, early, places[place].wraps, places[place].at, place);
        best.entry(edges).and_modify(|known| *known = key.min(*known)).or_insert(key);
    }
    let chosen = best.into_iter().map(|(edges, (after_label, .., place))| SiteInsertion { place, edges, after_label });
    sorted(chosen.collect(), places, matched)
}

struct SiteFacts<'a> {
    program: &'a Program,
    threads: Vec<LocationEntries>,
    matched: &'a ProgramMatch,
    at_start: Vec<HashSet<usize>>,
    existing: bool,
}

/// About each location of a thread.
pub struct LocationEntries {
    /// How many transitions enter it.
    pub count: Vec<usize>,
    /// It can be reached with the bus lock held.
    pub held: Vec<bool>,
}

impl LocationEntries {
    pub fn of(thread: &Thread) -> LocationEntries {
        let mut entered =
            LocationEntries { count: vec![0; thread.locations.len()], held: vec![false; thread.locations.len()] };
        for transition in &thread.transitions {
            entered.count[transition.to.0] += 1;
        }
        let locks = thread.transitions.iter().filter(|transition| transition.instruction == Instruction::BusLock);
        let mut open: Vec<LocId> = locks.map(|transition| transition.to).collect();
        while let Some(location) = open.pop() {
            if !std::mem::replace(&mut entered.held[location.0], true) {
                let stays = |instruction: &Instruction| *instruction != Instruction::BusUnlock;
                let ways = thread.outgoing(location).filter(|(_, transition)| stays(&transition.instruction));
                open.extend(ways.map(|(_, transition)| transition.to));
            }
        }
        entered
    }
}

impl SiteFacts<'_> {
    /// The locations that the edges lead to, and how many edges lead to each.
    fn targets(&self, edges: &[ThreadTransition]) -> BTreeMap<(ThreadId, LocId), usize> {
        let mut targets = BTreeMap::new();
        for edge in edges {
            let to = self.program.threads[edge.thread.0].transitions[edge.transition.0].to;
            *targets.entry((edge.thread, to)).or_insert(0) += 1;
        }
        targets
    }

    /// Whether labels stand before the fence; `None` if what is there cannot be said as a site.
    fn after_label(&self, place: usize, edges: &[ThreadTransition]) -> Option<bool> {
        let targets = self.targets(edges);
        let before = |&(thread, to): &(ThreadId, LocId)| self.matched.labels.get(&(place, thread, to));
        let after_label = targets.keys().any(|target| before(target).is_some());
        for (target, &count) in &targets {
            let &(ThreadId(thread), to) = target;
            let entered = &self.threads[thread];
            if entered.held[to.0] {
                return None;
            }
            if !after_label {
                continue;
            }
            let of_thread = &self.program.threads[thread];
            let starts_here = of_thread.initial == to;
            if starts_here && !self.at_start[thread].contains(&place) {
                return None;
            }
            let labels: BTreeSet<&str> = of_thread.locations[to.0].labels.iter().map(String::as_str).collect();
            let agrees = match before(target) {
                None => labels.is_empty(),
                Some(before) => before.iter().map(String::as_str).eq(labels) && count == entered.count[to.0],
            };
            if !agrees {
                return None;
            }
        }
        Some(after_label)
    }

    /// A full fence stands directly before or after it anyway.
    fn is_useless(&self, edges: &[ThreadTransition]) -> bool {
        let is_fence = |instruction: &Instruction| *instruction == Instruction::Fence(Order::SeqCst);
        let thread = |id: ThreadId| &self.program.threads[id.0];
        let follows =
            edges.iter().all(|edge| is_fence(&thread(edge.thread).transitions[edge.transition.0].instruction));
        let precedes = || {
            self.targets(edges).iter().all(|(&(id, to), &count)| {
                let mut ways = thread(id).outgoing(to);
                let fence = ways.next().is_some_and(|(_, transition)| is_fence(&transition.instruction));
                fence && ways.next().is_none() && (!self.existing || count == self.threads[id.0].count[to.0])
            })
        };
        follows || precedes()
    }
}

/// In the order of the text, but each behind those that its transitions pass after it. Copies of a thread for which a constant
/// decides the way may pass two places in different orders; then one of them is left out.
fn sorted(mut chosen: Vec<SiteInsertion>, places: &[EditPlace], matched: &ProgramMatch) -> Vec<SiteInsertion> {
    chosen.sort_by_key(|site| (places[site.place].at, site.place));
    let number: HashMap<usize, usize> = chosen.iter().enumerate().map(|(number, site)| (site.place, number)).collect();
    let mut later: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); chosen.len()];
    for (_, chain) in &matched.chains {
        let sites: Vec<usize> = chain.iter().filter_map(|place| number.get(place).copied()).collect();
        for pair in sites.windows(2) {
            later[pair[0]].insert(pair[1]);
        }
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; chosen.len()];
    let mut left_out = vec![false; chosen.len()];
    let mut order = Vec::new();
    for root in 0..chosen.len() {
        let mut stack = vec![(root, false)];
        while let Some((site, left)) = stack.pop() {
            if left {
                marks[site] = Mark::Done;
                order.push(site);
                continue;
            }
            if marks[site] != Mark::New {
                continue;
            }
            marks[site] = Mark::Open;
            stack.push((site, true));
            for &next in later[site].iter().rev() {
                match marks[next] {
                    Mark::New => stack.push((next, false)),
                    Mark::Open => left_out[site] = true,
                    Mark::Done => {}
                }
            }
        }
    }
    let mut sites: Vec<Option<SiteInsertion>> = chosen.into_iter().map(Some).collect();
    order.into_iter().filter(|&site| !left_out[site]).filter_map(|site| sites[site].take()).collect()
}
