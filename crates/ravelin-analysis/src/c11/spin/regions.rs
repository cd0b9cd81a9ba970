//! Where a thread may go round without an effect on memory: the regions in which a loop that only waits can lie.
//!
//! Steps that write memory, choose, or stop are left out of the thread's automaton. What remains strongly connected are the loops
//! whose failed attempts can be without a trace. An outer loop may share its first location with an inner one, so besides each
//! component the shortest cycle through each of its locations is a region of its own. Smaller regions come first: an inner loop that
//! has become an instruction that waits is a step of the loops around it.

use ravelin_explore::{Limit, Watch};
use ravelin_program::{Instruction, LocId, Thread};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Locations of a thread.
pub(super) type Region = BTreeSet<LocId>;

/// Regions with more locations are not looked at.
pub(super) const MOST_LOCATIONS: usize = 64;

/// An attempt may have such a step: it accesses registers, reads memory, fences, or is a compare-exchange, which reads if it fails.
pub(super) fn may_be_attempted(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Nop
            | Instruction::Assign { .. }
            | Instruction::Assume(_)
            | Instruction::Load { .. }
            | Instruction::Wait { .. }
            | Instruction::Fence(_)
            | Instruction::CompareExchange { .. }
    )
}

/// The regions, smaller ones first.
pub(super) fn regions(thread: &Thread, watch: &Watch) -> Result<Vec<Region>, Limit> {
    let mut found: Vec<Region> = Vec::new();
    for component in components(thread, &may_be_attempted, watch)? {
        watch.steps(component.len())?;
        if component.len() > MOST_LOCATIONS {
            continue;
        }
        for &location in &component {
            if let Some(cycle) = shortest_cycle(thread, &component, location)
                && !found.contains(&cycle)
            {
                found.push(cycle);
            }
        }
        if !found.contains(&component) {
            found.push(component);
        }
    }
    found.sort_by_key(Region::len);
    Ok(found)
}

/// The strongly connected components with a cycle, along the transitions whose instructions count.
pub(super) fn components(
    thread: &Thread,
    counts: &dyn Fn(&Instruction) -> bool,
    watch: &Watch,
) -> Result<Vec<Region>, Limit> {
    let size = thread.locations.len();
    watch.hold(size * 4 * size_of::<usize>())?;
    // Tarjan's algorithm with its own stack: threads may be long.
    let (mut index, mut low) = (vec![usize::MAX; size], vec![0; size]);
    let mut on_stack = vec![false; size];
    let (mut stack, mut next, mut found) = (Vec::new(), 0, Vec::new());
    let successors = |location: usize| -> Vec<usize> {
        let counted = thread.outgoing(LocId(location)).filter(|(_, transition)| counts(&transition.instruction));
        counted.map(|(_, transition)| transition.to.0).collect()
    };
    for root in 0..size {
        if index[root] != usize::MAX {
            continue;
        }
        let mut calls = vec![(root, successors(root), 0)];
        (index[root], low[root]) = (next, next);
        next += 1;
        stack.push(root);
        on_stack[root] = true;
        while let Some((location, ways, at)) = calls.last_mut() {
            watch.step()?;
            let location = *location;
            if let Some(&to) = ways.get(*at) {
                *at += 1;
                if index[to] == usize::MAX {
                    (index[to], low[to]) = (next, next);
                    next += 1;
                    stack.push(to);
                    on_stack[to] = true;
                    calls.push((to, successors(to), 0));
                } else if on_stack[to] {
                    low[location] = low[location].min(index[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((caller, ..)) = calls.last() {
                low[*caller] = low[*caller].min(low[location]);
            }
            if low[location] == index[location] {
                let mut component = Region::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.insert(LocId(member));
                    if member == location {
                        break;
                    }
                }
                if component.len() > 1 || successors(location).contains(&location) {
                    found.push(component);
                }
            }
        }
    }
    Ok(found)
}

/// The locations of a shortest cycle through one of them.
fn shortest_cycle(thread: &Thread, within: &Region, start: LocId) -> Option<Region> {
    let mut before = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    while let Some(location) = open.pop_front() {
        for (_, transition) in thread.outgoing(location) {
            if !may_be_attempted(&transition.instruction) || !within.contains(&transition.to) {
                continue;
            }
            if transition.to == start {
                let mut cycle = Region::from([start]);
                let mut at = location;
                while at != start {
                    cycle.insert(at);
                    at = *before.get(&at)?;
                }
                return Some(cycle);
            }
            if let Entry::Vacant(unseen) = before.entry(transition.to) {
                unseen.insert(location);
                open.push_back(transition.to);
            }
        }
    }
    None
}
