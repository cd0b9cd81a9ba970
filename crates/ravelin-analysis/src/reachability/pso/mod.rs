//! Reachability under PSO, backwards: a decision procedure for finite domains without store-store fences.
//!
//! Each thread has one FIFO buffer for each cell. As section 9 of *Counter-Example Guided Fence Insertion under Weak Memory Models*
//! says, this is monotonic in the subword order on buffers with their newest stores, with no single buffer: more pending stores
//! to a cell can reach memory one right after the other, and nobody sees those in between. Constraints leave memory cells
//! open until a step needs them (`part` says what they ask of a buffer), `step` has the rules for what others can see, `silent` for
//! the rest.
//!
//! **Store-store fences** (release stores and fences, and unlocking, where a store may be pending before) are ignored, which only adds
//! runs. So a proof stands; otherwise the answer is the bounded engine's.
//!
//! A violated verdict comes with a run that the bounded engine finds, with larger and larger buffers. Stores that never reach
//! memory just stay pending, so the finite view's stranded local states are left out here.

mod part;
mod silent;
mod step;

use super::backward::{BackwardCounts, BackwardEnd, BackwardSearch, Semantics, VisibleStep};
use super::bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
use super::dual::goal::goal_cases;
use super::dual::part::Control;
use super::dual::step::OPEN;
use super::finite::{CellPair, EdgeEffect, Finite};
use super::sb::{Controls, Sb, conclude};
use crate::{AnalysisError, InternalError, Verdict};
use part::{PartId, PsoParts, Shape, pending_stores};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Instruction, Model, Program};
use std::time::Instant;
use step::PsoDraft;

/// What a predecessor takes beside its words until the search has taken it.
const FOUND_BYTES: usize = size_of::<(VisibleStep, PsoConfiguration)>() + 16;
/// The longest buffers that the bounded engine takes.
const MOST_BUFFERED: usize = 64;

/// Asks whether some goal can be violated, an assertion can fail or a fault can happen under PSO, with no bound on the buffers.
///
/// The question's model is taken to be PSO, and its bound on buffers and reductions do not matter.
pub fn pso(program: &Program, question: &ReachabilityQuestion) -> Result<Sb, AnalysisError> {
    let start = Instant::now();
    let watch = Watch::since(question.budget, "preparing the backward search", start);
    match search_backwards(program, question, watch, start) {
        Err(AnalysisError::Limit(limit)) => {
            let limit = Some(question.budget.limits.as_given(limit));
            Ok(conclude(program, Model::Pso, BackwardCounts::default(), start, (Verdict::Unknown, limit, None)))
        }
        answer => answer,
    }
}

/// The search, unless a limit is hit before it begins.
fn search_backwards(
    program: &Program,
    question: &ReachabilityQuestion,
    watch: Watch,
    start: Instant,
) -> Result<Sb, AnalysisError> {
    let finite = Finite::new(program, &watch)?;
    let (threads, cases, watch) = goal_cases(&finite, watch)?;
    let mut semantics = StoreBuffers {
        finite: &finite,
        controls: Controls::new(&finite, threads, &watch)?,
        parts: finite.threads.iter().map(|_| PsoParts::default()).collect(),
        pending: Vec::new(),
        watch,
    };
    for thread in 0..finite.threads.len() {
        let pending = pending_stores(&finite, thread, &semantics.watch)?;
        semantics.pending.push(pending);
    }
    let mut goals = Vec::new();
    for (number, case) in cases.into_iter().enumerate() {
        let shape = |control: Control| Shape { control, demands: Vec::new() };
        let draft = PsoDraft { shapes: case.controls.into_iter().map(shape).collect(), memory: case.memory };
        let mut drafts = Vec::new();
        if case.settled {
            semantics.settled_goal(draft, &mut drafts);
        } else {
            drafts.push(draft);
        }
        for draft in drafts {
            let Some(goal) = semantics.settle(draft) else { continue };
            semantics.watch.hold(semantics.bytes(&goal) + size_of::<(usize, PsoConfiguration)>())?;
            goals.push((number, goal));
        }
        if let Some(limit) = semantics.watch.limit() {
            return Err(limit.into());
        }
    }
    let is_exact = !semantics.has_store_store_fences();
    let mut search = BackwardSearch::new(semantics);
    let end = search.run(goals, question.budget.child(start, 0));
    let given = |limit: Limit| question.budget.limits.as_given(limit);
    let mut answer = conclude(
        program,
        Model::Pso,
        search.counts,
        start,
        match end {
            BackwardEnd::Unreachable => (Verdict::Holds, None, None),
            BackwardEnd::Limit(limit) => (Verdict::Unknown, Some(given(limit)), None),
            BackwardEnd::Reached(_) => (Verdict::Violated, None, None),
        },
    );
    if matches!(end, BackwardEnd::Reached(_)) {
        let budget = question.budget.child(start, search.counts.kept);
        drop(search);
        let found = look_for_run(program, &ReachabilityQuestion { budget, ..*question }, is_exact)?;
        if is_exact && found.verdict == Verdict::Holds {
            let told =
                "the backward search finds a violation under PSO and the bounded engine proves that there is none";
            return Err(InternalError(told.to_owned()).into());
        }
        let ReachabilityAnswer { verdict, buffer, cut_off, limit, witness, .. } = found;
        let limit = limit.map(given);
        let buffer = buffer.filter(|_| verdict == Verdict::Unknown);
        answer.reachability = ReachabilityAnswer { verdict, buffer, cut_off, limit, witness, ..answer.reachability };
        answer.reachability.statistics.elapsed = start.elapsed();
    }
    Ok(answer)
}

/// The bounded engine's answer, with buffers as large as it takes to find a run or to see that there is none. Where there need not be
/// one, buffers are not larger than the question's.
fn look_for_run(
    program: &Program,
    question: &ReachabilityQuestion,
    is_exact: bool,
) -> Result<ReachabilityAnswer, AnalysisError> {
    let start = Instant::now();
    let (mut buffer, mut states) = (1, 0);
    loop {
        let budget = question.budget.child(start, states);
        let found = reach(program, &ReachabilityQuestion { model: Model::Pso, buffer, budget, ..*question })?;
        states += found.statistics.states;
        let largest = if is_exact { MOST_BUFFERED } else { question.buffer };
        if found.verdict != Verdict::Unknown || found.limit.is_some() || buffer >= largest {
            return Ok(found);
        }
        buffer = (2 * buffer).min(largest);
    }
}

/// A constraint: the part of each thread, then what each cell is known to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PsoConfiguration(Box<[u32]>);

impl PsoConfiguration {
    fn part(&self, thread: usize) -> PartId {
        self.0[thread]
    }
}

/// The semantics of one program.
struct StoreBuffers<'a> {
    finite: &'a Finite,
    controls: Controls,
    parts: Vec<PsoParts>,
    /// By thread and local state, the stores that may be pending.
    pending: Vec<Vec<Vec<CellPair>>>,
    watch: Watch<'a>,
}

impl StoreBuffers<'_> {
    fn controls_of(&self, configuration: &PsoConfiguration) -> Vec<Control> {
        (0..self.parts.len()).map(|thread| self.parts[thread].get(configuration.part(thread)).shape.control).collect()
    }

    /// The edges that lead into a local state, or into a member of a set of them.
    fn edges_into(&self, thread: usize, control: Control) -> Vec<u32> {
        let (threads, graph) = (&self.controls.threads[thread], &self.finite.threads[thread]);
        let edges = threads.silent_in(control).iter().chain(threads.loud_in(control)).copied();
        let is_stranded = |state: u32| !graph.states[state as usize].stranded.is_empty();
        edges
            .filter(|edge| {
                let edge = &graph.edges[*edge as usize];
                !is_stranded(edge.from) && !is_stranded(edge.to)
            })
            .collect()
    }

    /// Some step orders a pending store before later ones.
    fn has_store_store_fences(&self) -> bool {
        let mut threads = self.finite.threads.iter().zip(&self.pending).zip(&self.finite.program.threads);
        threads.any(|((graph, pending), code)| {
            graph.edges.iter().any(|edge| {
                let orders = match &code.transitions[edge.transition.0].instruction {
                    Instruction::Store { order, .. } | Instruction::Fence(order) => order.is_release(),
                    Instruction::Unlock(_) => true,
                    _ => false,
                };
                let is_fence = edge.effect == EdgeEffect::Fence;
                orders && !is_fence && !pending[edge.from as usize].is_empty()
            })
        })
    }
}

impl Semantics for StoreBuffers<'_> {
    type Configuration = PsoConfiguration;
    type Step = VisibleStep;

    fn predecessors(&mut self, of: &PsoConfiguration, found: &mut Vec<(VisibleStep, PsoConfiguration)>) {
        for thread in 0..self.parts.len() {
            self.steps_back(of, thread, found);
        }
        // The search counts from now on those that it keeps.
        let found = found.iter().map(|(_, configuration)| self.bytes(configuration) + FOUND_BYTES);
        self.watch.release(found.sum());
    }

    fn is_initial(&self, configuration: &PsoConfiguration) -> bool {
        let threads = self.parts.len();
        let memory = &configuration.0[threads..];
        let starts = |(cell, value): (usize, &u32)| *value as usize <= self.finite.cells[cell].initial;
        (0..threads).all(|thread| self.parts[thread].get(configuration.part(thread)).starts)
            && memory.iter().enumerate().all(starts)
    }

    fn covers(&self, small: &PsoConfiguration, large: &PsoConfiguration) -> bool {
        let threads = self.parts.len();
        let mut memory = small.0[threads..].iter().zip(&large.0[threads..]);
        memory.all(|(one, other)| *one == OPEN || one == other)
            && (0..threads).all(|thread| {
                let (one, other) = (small.part(thread), large.part(thread));
                let control = |part| self.parts[thread].get(part).shape.control;
                self.controls.threads[thread].control_covers(control(one), control(other))
                    && self.parts[thread].demands_cover(one, other)
            })
    }

    fn signature(&self, configuration: &PsoConfiguration) -> u128 {
        let (parts, memory) = configuration.0.split_at(self.parts.len());
        let words = parts.iter().zip(&self.parts).fold(0u64, |mask, (part, parts)| mask | parts.get(*part).mask);
        let known = memory.iter().enumerate().filter(|(_, value)| **value != OPEN);
        let cells = known.fold(0u64, |mask, (cell, value)| mask | 1 << ((cell as u64 * 11 + u64::from(*value)) % 64));
        u128::from(words) << 64 | u128::from(cells)
    }

    fn key(&self, configuration: &PsoConfiguration) -> u64 {
        self.controls.key(self.controls_of(configuration).into_iter())
    }

    fn shape(&mut self, configuration: &PsoConfiguration) -> u32 {
        let controls = self.controls_of(configuration);
        self.controls.shape(&controls)
    }

    fn key_in_shape(&self, configuration: &PsoConfiguration, shape: u32) -> Option<u64> {
        self.controls.key_in_shape(&self.controls_of(configuration), shape)
    }

    fn bytes(&self, configuration: &PsoConfiguration) -> usize {
        size_of_val(&*configuration.0)
    }

    fn shared_bytes(&self) -> usize {
        self.watch.bytes() as usize
    }

    fn set_kept_bytes(&mut self, bytes: usize) {
        self.watch.set_beside(bytes);
    }

    fn exhausted(&self) -> Option<Limit> {
        self.watch.limit()
    }
}
