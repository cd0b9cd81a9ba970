//! Reachability under PSO, backwards: a decision procedure for finite domains.
//!
//! Each thread has one FIFO buffer for each cell. As section 9 of *Counter-Example Guided Fence Insertion under Weak Memory Models*
//! says, this is monotonic in the subword order on buffers with their newest stores, with no single buffer: more pending stores
//! to a cell can reach memory one right after the other, and nobody sees those in between. Constraints leave memory cells
//! open until a step needs them (`part` says what they ask of a buffer), `step` has the rules for what others can see, `silent` for
//! the rest.
//!
//! **Store-store fences** (release fences, and before release stores and unlocking; `order` finds those that matter) with markers in
//! the buffers are not monotonic: a pending store before a marker that no thread needs must reach memory before those after
//! it, and changes what others read. So there are no markers. A store-store fence waits until the thread's store buffers are empty, and
//! the loads after it may be of an earlier time, as in the load-buffer semantics of `dual`:
//!
//! - memory may send a message with what cells hold at that moment to the load buffer of any thread at any time, and an update
//!   leaves an own message in the buffer of its thread;
//! - a load of x reads the newest pending store to x; if there is none, the newest own message on x in the load buffer; if there is none
//!   either, the oldest message, which must be on x. The oldest message may be dropped at any time;
//! - a full fence or locked step needs empty load and store buffers, a store-store fence empty store buffers only.
//!
//! *Why this is PSO.* A run of PSO is the order of its loads from memory, updates and locked steps. Let each instruction of a
//! thread run as soon as its loads so far are done, the stores before its last store-store fence have reached memory, and its
//! last full fence is done. Then no load runs before the time at which it reads memory, no store runs after its own
//! update (that comes after all of these under PSO), and a load that comes before the update of the thread's newest store to the
//! cell finds it pending, or its own message. Conversely, put each load at the time at which its message was
//! sent, and one that reads an own store right after the load before it: loads stay in order, updates come after earlier loads
//! and keep the order of each cell and of store-store fences, and an own store that is read has not reached memory by then. Without a
//! bus lock all that is pending can reach memory in the end, so waiting for it forbids nothing. The same local states, and the same
//! states with empty store buffers, are reached.
//!
//! *Why it is monotonic.* The order is that of both semantics together: in store buffers subwords with the same newest store, in load
//! buffers subwords in which an own message is the newest one on its cell, and no own message on x is newer than a message from memory on
//! x. More pending stores to x reach memory right before one that is needed; their own messages are older than its own one, which
//! hides the same messages. More messages are dropped. Both are orders on words over finite alphabets with finitely many marked places, so
//! their product is a well-quasi-order.
//!
//! Without store-store fences all loads are done at once, load buffers stay empty, and the search is that without them.
//!
//! **The bus lock** can keep a store in its buffer for ever, and then its thread passes a store-store fence that waits here. In programs
//! with both, store-store fences are ignored, which only adds runs. So a proof stands; otherwise the answer is the bounded engine's.
//!
//! A violated verdict comes with a run that the bounded engine finds, with larger and larger buffers. Stores that never reach
//! memory just stay pending, so the finite view's stranded local states are left out here.

mod order;
mod part;
mod silent;
mod step;
mod update;

use super::backward::{BackwardAnswer, Conclusion, ask};
use super::bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
use super::control::Controls;
use super::dual::goal::goal_cases;
use super::dual::part::{Alphabet, Control, Message};
use super::dual::step::{OPEN, require};
use super::finite::Finite;
use crate::{AnalysisError, InternalError, Verdict};
use order::StoreOrder;
use part::{PartId, PsoParts, Shape};
use ravelin_backward::{BackwardCounts, BackwardSearch, FileId, MonotonicSystem};
use ravelin_explore::{Limit, Watch};
use ravelin_program::{Model, Program};
use std::time::Instant;
use step::PsoDraft;

/// What a predecessor takes beside its words until the search has taken it.
const FOUND_BYTES: usize = size_of::<PsoConfiguration>() + 16;
/// The longest buffers that the bounded engine takes.
const MOST_BUFFERED: usize = 64;

/// Asks whether some goal can be violated, an assertion can fail or a fault can happen under PSO, with no bound on the buffers.
///
/// The question's model is taken to be PSO, and its bound on buffers and reductions do not matter.
pub fn pso(program: &Program, question: &ReachabilityQuestion) -> Result<BackwardAnswer, AnalysisError> {
    ask(program, Model::Pso, question, |watch, counts| search_backwards(program, question, watch, counts))
}

fn search_backwards(
    program: &Program,
    question: &ReachabilityQuestion,
    watch: &Watch,
    counts: &mut BackwardCounts,
) -> Result<Conclusion, AnalysisError> {
    let start = Instant::now();
    let finite = Finite::new(program, watch)?;
    let (threads, cases) = goal_cases(&finite, watch)?;
    let order = |ordered: bool| {
        let threads = (0..finite.threads.len()).map(|thread| StoreOrder::new(&finite, thread, ordered, watch));
        threads.collect::<Result<Vec<_>, Limit>>()
    };
    let mut orders = order(true)?;
    // With the bus lock a store may never reach memory, and a store-store fence must not wait for it.
    let is_exact = !finite.has_bus || !orders.iter().any(StoreOrder::has_fences);
    if !is_exact {
        orders = order(false)?;
    }
    let mut semantics = StoreBuffers {
        finite: &finite,
        controls: Controls::new(&finite, threads, watch)?,
        parts: finite.threads.iter().map(|_| PsoParts::default()).collect(),
        alphabet: Alphabet::default(),
        order: orders,
        watch,
    };
    let mut goals = Vec::new();
    for (number, case) in cases.into_iter().enumerate() {
        let shape = |control: Control| Shape { control, demands: Vec::new(), word: Vec::new() };
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
        if let Some(limit) = watch.limit() {
            return Err(limit.into());
        }
    }
    let mut search = BackwardSearch::new(semantics, watch);
    let end = search.run(goals);
    *counts = search.counts;
    drop(search);
    if let Ok(conclusion) = Conclusion::of(end) {
        return Ok(conclusion);
    }
    let budget = question.budget.child(start, counts.kept);
    let found = look_for_run(program, &ReachabilityQuestion { budget, ..*question }, is_exact)?;
    if is_exact && found.verdict == Verdict::Holds {
        let told = "the backward search finds a violation under PSO and the bounded engine proves that there is none";
        return Err(InternalError(told.to_owned()).into());
    }
    let ReachabilityAnswer { verdict, buffer, cut_off, limit, witness, .. } = found;
    let buffer = buffer.filter(|_| verdict == Verdict::Unknown);
    Ok(Conclusion { verdict, limit, witness, buffer, cut_off })
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
    /// The messages of load buffers.
    alphabet: Alphabet,
    /// By thread, what may be pending where, and what is ordered.
    order: Vec<StoreOrder>,
    watch: &'a Watch<'a>,
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
}

impl MonotonicSystem for StoreBuffers<'_> {
    type Constraint = PsoConfiguration;
    /// No run is made from the steps.
    type Step = ();

    fn predecessors(&mut self, of: &PsoConfiguration, found: &mut Vec<((), PsoConfiguration)>) {
        let mut before = Vec::new();
        for thread in 0..self.parts.len() {
            self.steps_back(of, thread, &mut before);
        }
        self.updates_back(of, &mut before);
        // The search counts from now on those that it keeps.
        self.watch.release(before.iter().map(|configuration| self.bytes(configuration) + FOUND_BYTES).sum());
        found.extend(before.into_iter().map(|configuration| ((), configuration)));
    }

    fn is_initial(&self, configuration: &PsoConfiguration) -> bool {
        let threads = self.parts.len();
        let mut memory = configuration.0[threads..].to_vec();
        // What the load buffers need is what memory holds at first.
        let mut starts = |thread: usize| {
            let part = self.parts[thread].get(configuration.part(thread));
            part.starts
                && part.shape.word.iter().all(|letter| match self.alphabet.message(*letter) {
                    Message::Memory(pairs) => pairs.iter().all(|pair| require(&mut memory, *pair)),
                    Message::Own(_) => false,
                })
        };
        (0..threads).all(&mut starts)
            && memory.iter().zip(&self.finite.cells).all(|(value, cell)| *value as usize <= cell.initial)
    }

    fn covers(&self, small: &PsoConfiguration, large: &PsoConfiguration) -> bool {
        let threads = self.parts.len();
        let mut memory = small.0[threads..].iter().zip(&large.0[threads..]);
        memory.all(|(one, other)| *one == OPEN || one == other)
            && (0..threads).all(|thread| {
                let (one, other) = (small.part(thread), large.part(thread));
                let control = |part| self.parts[thread].get(part).shape.control;
                self.controls.threads[thread].control_covers(control(one), control(other))
                    && self.parts[thread].buffers_cover(one, other)
            })
    }

    fn signature(&self, configuration: &PsoConfiguration) -> u128 {
        let (parts, memory) = configuration.0.split_at(self.parts.len());
        let words = parts.iter().zip(&self.parts).fold(0u64, |mask, (part, parts)| mask | parts.get(*part).mask);
        let known = memory.iter().enumerate().filter(|(_, value)| **value != OPEN);
        let cells = known.fold(0u64, |mask, (cell, value)| mask | 1 << ((cell as u64 * 11 + u64::from(*value)) % 64));
        u128::from(words) << 64 | u128::from(cells)
    }

    fn files(&mut self, configuration: &PsoConfiguration, files: &mut Vec<FileId>) {
        let controls = self.controls_of(configuration);
        files.push(self.controls.file(&controls));
    }

    fn in_smaller_files(&self, configuration: &PsoConfiguration, covers: impl FnMut(FileId) -> bool) -> bool {
        self.controls.in_smaller_files(&self.controls_of(configuration), covers)
    }

    fn bytes(&self, configuration: &PsoConfiguration) -> usize {
        size_of_val(&*configuration.0)
    }
}
