//! All graphs of SC runs, each with one stale access: what decides about seq_cst accesses where there are few of them.
//!
//! A program is not robust exactly if some SC run and one access after it, which reads an older write or takes an earlier place in
//! modification order, have a graph that the model allows. A search over states merges runs with different graphs, and for RC11's psc
//! axiom the graph matters. So graphs are grown here, event by event under SC, and every graph is kept once: the orders of growing the same
//! graph lead to one. Every thread's next access is tried with every write and place, and the axioms judge. Races are looked for
//! likewise.
//!
//! A thread that has only local steps to take goes first and alone, unless they lead to a graph that is known already: then it may be in a loop
//! without accesses. Programs with loops have finitely many graphs only if the loops make no events, or few.
//!
//! Cost: the SC graphs of all prefixes, each with a few products of Boolean matrices per candidate. The squares of the sizes of all graphs
//! that are judged are counted as effort, so that graphs that grow without end are given up soon.

use super::question::has_accesses;
use ravelin_explore::{Budget, Limit, Watch};
use ravelin_machine::monitor::{MonitorFinding, MonitorFindingKind};
use ravelin_machine::{Run, UnpackedState};
use ravelin_program::{InitialValue, Instruction, Order, Program, ThreadId, TransitionId, Value};
use ravelin_semantics::Action;
use ravelin_semantics::rc20::{Graph, GraphThread, GrowingGraph, OrderReading};
use ravelin_semantics::rc20::{atomics_sc_consistent, races, rc20_consistent};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The most initial memories, and values of a havoc.
const MOST_VALUES: u64 = 100;

/// What all graphs say.
pub(super) struct GraphSearch {
    pub found: Option<MonitorFinding>,
    /// Every graph was judged.
    pub complete: bool,
    pub graphs: u64,
    pub limit: Option<Limit>,
}

/// Judges graphs until a violation is found or the budget is spent.
pub(super) fn judge_graphs(
    program: &Program,
    reading: OrderReading,
    races: bool,
    effort: u64,
    budget: Budget,
) -> GraphSearch {
    let watch = Watch::new(budget, "judging execution graphs");
    let mut nodes = Nodes::default();
    let mut judge = Judge { reading, races: races && has_accesses(program, Order::NonAtomic), effort, watch: &watch };
    let outcome = search(program, &mut judge, budget, &mut nodes);
    let graphs = nodes.nodes.len() as u64;
    match outcome {
        Ok(Some(found)) => GraphSearch { found: Some(found), complete: false, graphs, limit: None },
        Ok(None) => GraphSearch { found: None, complete: true, graphs, limit: None },
        Err(limit) => GraphSearch { found: None, complete: false, graphs, limit },
    }
}

/// A graph, the threads after it, and how it was reached first.
struct Node<'a> {
    grown: GrowingGraph<'a>,
    parent: Option<(usize, Action)>,
}

#[derive(Default)]
struct Nodes<'a> {
    nodes: Vec<Node<'a>>,
    /// By hash.
    known: HashMap<u64, Vec<usize>>,
}

impl<'a> Nodes<'a> {
    /// Adds a graph that is new.
    fn add(&mut self, grown: GrowingGraph<'a>, parent: Option<(usize, Action)>) -> bool {
        let mut hasher = DefaultHasher::new();
        (grown.graph(), grown.threads()).hash(&mut hasher);
        let same = self.known.entry(hasher.finish()).or_default();
        let is = |other: &GrowingGraph| (other.graph(), other.threads()) == (grown.graph(), grown.threads());
        if same.iter().any(|&node| is(&self.nodes[node].grown)) {
            return false;
        }
        same.push(self.nodes.len());
        self.nodes.push(Node { grown, parent });
        true
    }

    fn actions(&self, mut node: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some((parent, action)) = self.nodes[node].parent {
            actions.push(action);
            node = parent;
        }
        actions.reverse();
        actions
    }
}

/// `Err(None)` if there are too many values to choose from, or if it takes too much effort.
fn search<'a>(
    program: &'a Program,
    judge: &mut Judge,
    budget: Budget,
    nodes: &mut Nodes<'a>,
) -> Result<Option<MonitorFinding>, Option<Limit>> {
    let watch = judge.watch;
    let memories = initial_memories(program).filter(|_| has_few_choices(program)).ok_or(None)?;
    let mut memory_of = Vec::new();
    for (number, memory) in memories.iter().enumerate() {
        if nodes.add(GrowingGraph::new(program, memory), None) {
            memory_of.push(number);
        }
    }
    let mut next = 0;
    while next < nodes.nodes.len() {
        let node = next;
        next += 1;
        watch.step().map_err(Some)?;
        if let Some(limit) = budget.limits.check_states(nodes.nodes.len() as u64) {
            return Err(Some(limit));
        }
        let (local, others) = steps(program, nodes.nodes[node].grown.threads());
        if follow_local(&local, node, watch, nodes)? {
            continue;
        }
        if let Some((thread, transition, kind)) = judge.first(&others, &nodes.nodes[node].grown)? {
            let actions = nodes.actions(node);
            let mut first = node;
            while let Some((parent, _)) = nodes.nodes[first].parent {
                first = parent;
            }
            let run = Run { start: start(program, &memories[memory_of[first]]), actions };
            return Ok(Some(MonitorFinding { run, thread, transition, kind, irrelevant: Vec::new() }));
        }
        for action in local.into_iter().flatten().chain(actions_of(program, &others)) {
            follow(node, action, watch, nodes)?;
        }
    }
    Ok(None)
}

/// Takes the local steps of a thread, if all of them lead to new graphs. Returns whether it did.
fn follow_local(local: &[Vec<Action>], node: usize, watch: &Watch, nodes: &mut Nodes) -> Result<bool, Option<Limit>> {
    for actions in local {
        let mut taken = false;
        let mut all_new = true;
        for &action in actions {
            if let Some(new) = follow(node, action, watch, nodes)? {
                taken = true;
                all_new &= new;
            }
        }
        if taken && all_new {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Takes a step, if it can be taken; returns whether it leads to a new graph.
fn follow(node: usize, action: Action, watch: &Watch, nodes: &mut Nodes) -> Result<Option<bool>, Option<Limit>> {
    let mut grown = nodes.nodes[node].grown.clone();
    if grown.follow(action).is_err() {
        return Ok(None);
    }
    let events = grown.graph().len();
    let new = nodes.add(grown, Some((node, action)));
    if new {
        watch.hold(events * BYTES_PER_EVENT + BYTES_PER_GRAPH).map_err(Some)?;
    }
    watch.step().map_err(Some)?;
    Ok(Some(new))
}

/// What a graph and its events take, roughly.
const BYTES_PER_EVENT: usize = 128;
const BYTES_PER_GRAPH: usize = 512;

struct Judge<'w> {
    reading: OrderReading,
    races: bool,
    /// What is left of it.
    effort: u64,
    watch: &'w Watch<'w>,
}

impl Judge<'_> {
    /// The first next step of a thread that violates robustness, or races.
    fn first(
        &mut self,
        steps: &[(ThreadId, TransitionId)],
        grown: &GrowingGraph,
    ) -> Result<Option<(ThreadId, TransitionId, MonitorFindingKind)>, Option<Limit>> {
        let reading = self.reading;
        for &(thread, transition) in steps {
            for graph in grown.extensions(thread, transition) {
                self.watch.steps(1 + graph.len()).map_err(Some)?;
                self.effort = self.effort.checked_sub((graph.len() * graph.len()) as u64).ok_or(None)?;
                if !atomics_sc_consistent(&graph) && rc20_consistent(&graph, reading) {
                    return Ok(Some((thread, transition, MonitorFindingKind::Stale)));
                }
                if self.races && newest_races(&graph, thread, reading) && rc20_consistent(&graph, reading) {
                    return Ok(Some((thread, transition, MonitorFindingKind::Race)));
                }
            }
        }
        Ok(None)
    }
}

fn newest_races(graph: &Graph, thread: ThreadId, reading: OrderReading) -> bool {
    let Some(newest) = GrowingGraph::newest(graph, thread) else { return false };
    races(graph, reading).iter().any(|&(first, second)| first == newest || second == newest)
}

/// The local steps of each thread that has no others, and the steps of all other threads.
fn steps(program: &Program, threads: &[GraphThread]) -> (Vec<Vec<Action>>, Vec<(ThreadId, TransitionId)>) {
    let (mut local, mut others) = (Vec::new(), Vec::new());
    for (number, (code, state)) in program.threads.iter().zip(threads).enumerate() {
        let outgoing: Vec<(ThreadId, TransitionId)> =
            code.outgoing(state.location).map(|(transition, _)| (ThreadId(number), transition)).collect();
        let is_local =
            |&(_, transition): &(ThreadId, TransitionId)| code.transitions[transition.0].instruction.is_local();
        if outgoing.iter().all(is_local) {
            local.push(actions_of(program, &outgoing).collect());
        } else {
            others.extend(outgoing);
        }
    }
    (local, others)
}

/// A havoc is one step for every value, a compare-exchange that may fail spuriously two.
fn actions_of<'p>(program: &'p Program, steps: &'p [(ThreadId, TransitionId)]) -> impl Iterator<Item = Action> + 'p {
    steps.iter().flat_map(|&(thread, transition)| {
        let choices = match program.threads[thread.0].transitions[transition.0].instruction {
            Instruction::Havoc { lo, hi, .. } => lo..=hi,
            Instruction::CompareExchange { weak: true, .. } => 0..=1,
            _ => 0..=0,
        };
        choices.map(move |choice| Action::Step { thread, transition, choice })
    })
}

/// The values of the cells that may start with any; `None` if there are too many.
fn initial_memories(program: &Program) -> Option<Vec<Vec<(Value, Value)>>> {
    let mut memories = vec![Vec::new()];
    for address in program.memory.named_addresses() {
        let (InitialValue::Any, Ok(domain)) = (program.memory.initial_at(address), program.memory.domain_at(address))
        else {
            continue;
        };
        let count = domain.size()?.checked_mul(memories.len() as u64)?;
        if count > MOST_VALUES {
            return None;
        }
        memories = (memories.iter())
            .flat_map(|memory: &Vec<(Value, Value)>| {
                (domain.lo..=domain.hi).map(move |value| memory.iter().copied().chain([(address, value)]).collect())
            })
            .collect();
    }
    Some(memories)
}

fn has_few_choices(program: &Program) -> bool {
    let mut instructions = program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction);
    instructions.all(|instruction| match instruction {
        Instruction::Havoc { lo, hi, .. } => i128::from(*hi) - i128::from(*lo) < i128::from(MOST_VALUES),
        _ => true,
    })
}

fn start(program: &Program, memory: &[(Value, Value)]) -> UnpackedState {
    UnpackedState {
        locations: program.threads.iter().map(|thread| thread.initial).collect(),
        registers: (program.threads.iter())
            .map(|thread| thread.registers.iter().map(|register| register.initial).collect())
            .collect(),
        memory: memory.to_vec(),
    }
}
