//! Reachability under TSO by the load-buffer semantics, backwards: a decision procedure for finite domains.
//!
//! The semantics is that of Abdulla, Atig, Bouajjani and Ngo, *A load-buffer semantics for total store ordering* (LMCS 2018).
//! A thread has a FIFO buffer of what its loads may see. A store writes memory at once and puts an own message into its
//! thread's buffer; memory may send a message with what a cell holds to any buffer at any time; a load takes the newest own
//! message on its cell if there is one, else the oldest message, which must be on its cell; the oldest message may be dropped at
//! any time; fences and locked steps need an empty buffer. So a thread runs late, at the time of its updates, where under TSO it
//! runs at the time of its loads; the same local states are reached.
//!
//! **Constraints.** Ours are weaker than the paper's, so that one covers more. A word lists what later loads need, oldest
//! first: messages from memory, and own messages, these only where some load reads them. A buffer satisfies a word if the word
//! embeds into it such that an own message goes to the newest own message on its cell, and no own message on x is newer than
//! where a memory message on x goes (it would hide it). Then:
//!
//! - dropping the oldest message keeps a constraint, so there are no steps for it;
//! - a word covers each word of which it is a subword, own messages or not;
//! - before a load of x from memory stands its message at the oldest end, and there is no own message on x in the word;
//! - before a load of x from an own message stands that message, anywhere before the first memory message on x;
//! - before a store to x by the thread itself the own message on x is gone from the newest end, or there was nothing on x at all;
//! - before a propagation the message is gone from the newest end, and memory holds it.
//!
//! Memory cells are open until a step needs them, and so are the local states of threads that a goal does not speak of.
//! `silent` fuses loads and local steps, `step` says when propagations happen, `goal` where the search begins, and `run` turns
//! what was found into a TSO run.

pub(super) mod goal;
pub(crate) mod part;
mod run;
mod silent;
pub(super) mod step;

use super::backward::{BackwardAnswer, Conclusion, VisibleStep, ask};
use super::bounded::{ReachabilityAnswer, ReachabilityQuestion, reach};
use super::control::ControlIndex;
use super::finite::{Finite, NotFinite};
use crate::witness::{Witness, replay};
use crate::{AnalysisError, InternalError, Verdict};
use part::{Alphabet, Message, PartId, ThreadParts};
use ravelin_backward::{BackwardCounts, BackwardSearch, ConstraintId, ConstraintOrigin, FileId, MonotonicSystem};
use ravelin_explore::{Limit, Watch};
use ravelin_machine::{Settings, Violation};
use ravelin_program::{Model, Program};
use std::time::Instant;
use step::{OPEN, require};

/// The longest buffers that the bounded engine takes.
const MOST_BUFFERED: usize = 64;
/// What a configuration takes beside its words until the search has taken it.
const START_BYTES: usize = size_of::<(VisibleStep, DualConfiguration)>() + 16;
/// The most configurations to begin with.
const MOST_STARTS: usize = 1 << 21;

/// Asks whether some goal can be violated, an assertion can fail or a fault can happen under TSO, with no bound on the buffers.
///
/// The question's model is taken to be TSO, and its bound on buffers and reductions do not matter.
pub fn dual(program: &Program, question: &ReachabilityQuestion) -> Result<BackwardAnswer, AnalysisError> {
    ask(program, Model::Tso, question, |watch, counts| search_backwards(program, question, watch, counts))
}

fn search_backwards(
    program: &Program,
    question: &ReachabilityQuestion,
    watch: &Watch,
    counts: &mut BackwardCounts,
) -> Result<Conclusion, AnalysisError> {
    let start = Instant::now();
    let unlimited = Watch::unlimited();
    let finite = Finite::new(program, watch)?;
    let mut semantics = LoadBuffers::new(&finite, watch)?;
    let goals = semantics.goals()?;
    let starts = semantics.starts(&goals)?;
    let mut search = BackwardSearch::new(semantics, watch);
    let end = search.run(starts);
    *counts = search.counts;
    let from = match Conclusion::of(end) {
        Ok(conclusion) => return Ok(conclusion),
        Err(from) => from,
    };
    // What was found is read back whatever the time.
    search.system.watch = &unlimited;
    let budget = question.budget.child(start, counts.kept);
    let rest = ReachabilityQuestion { budget, ..*question };
    let witness = Some(witness(program, &rest, &mut search, from, &goals)?);
    Ok(Conclusion { witness, ..Conclusion::new(Verdict::Violated) })
}

/// A TSO run to the goal, replayed. Where the search's own run cannot be put into TSO's order, which needs the bus lock, the bounded
/// engine looks for one with room for as many stores.
fn witness(
    program: &Program,
    question: &ReachabilityQuestion,
    search: &mut BackwardSearch<'_, LoadBuffers<'_>>,
    from: ConstraintId,
    goals: &[(Violation, DualConfiguration)],
) -> Result<Witness, AnalysisError> {
    let path = search.path(from);
    let Some(&ConstraintOrigin::Goal(goal)) = path.last().map(|last| &search.antichain.entries[*last as usize].origin)
    else {
        return Err(InternalError("a way that does not end in a goal".to_owned()).into());
    };
    let (violation, goal) = &goals[goal];
    let made = run::tso_run(search, from, goal, *violation, program).and_then(|(program, run)| {
        let settings = Settings { buffer: run.actions.len().max(1), ..Settings::new(Model::Tso) };
        replay(&program, settings, *violation, &run)
    });
    let error = match made {
        Ok(witness) => return Ok(witness),
        Err(error) => error,
    };
    let bounded = ReachabilityQuestion { model: Model::Tso, buffer: path.len().clamp(1, MOST_BUFFERED), ..*question };
    match reach(program, &bounded) {
        Ok(ReachabilityAnswer { witness: Some(witness), .. }) => Ok(witness),
        _ => Err(error.into()),
    }
}

/// A constraint: the part of each thread, then what each cell is known to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualConfiguration(Box<[u32]>);

/// The semantics of one program.
struct LoadBuffers<'a> {
    finite: &'a Finite,
    alphabet: Alphabet,
    threads: Vec<ThreadParts>,
    index: ControlIndex,
    watch: &'a Watch<'a>,
    /// What the watch knows that parts take.
    held_parts: usize,
}

impl<'a> LoadBuffers<'a> {
    fn new(finite: &'a Finite, watch: &'a Watch<'a>) -> Result<LoadBuffers<'a>, Limit> {
        let threads = (0..finite.threads.len()).map(|thread| ThreadParts::new(finite, thread, watch));
        let threads = threads.collect::<Result<Vec<_>, _>>()?;
        let (alphabet, index) = (Alphabet::default(), ControlIndex::default());
        Ok(LoadBuffers { finite, alphabet, threads, index, watch, held_parts: 0 })
    }

    /// Whether a limit was hit, which is remembered: what is computed now is not all.
    fn must_stop(&mut self) -> bool {
        let parts = self.threads.iter().map(|thread| thread.bytes).sum::<usize>();
        let grown = parts - std::mem::replace(&mut self.held_parts, parts);
        self.watch.hold(grown).is_err()
    }

    /// Where the search begins: the goals, each with its number, before the silent steps that lead into them.
    fn starts(
        &mut self,
        goals: &[(Violation, DualConfiguration)],
    ) -> Result<Vec<(usize, DualConfiguration)>, NotFinite> {
        let mut starts = Vec::new();
        for (number, (_, goal)) in goals.iter().enumerate() {
            let before = self.before_silent_steps(goal)?.filter(|before| starts.len() + before.len() <= MOST_STARTS);
            let before = before.ok_or(NotFinite::Goals { limit: MOST_STARTS })?;
            self.watch.hold(before.iter().map(|start| self.bytes(start) + START_BYTES).sum())?;
            starts.extend(before.into_iter().map(|configuration| (number, configuration)));
        }
        // The search counts from now on those that it keeps.
        self.watch.release(starts.iter().map(|(_, start)| self.bytes(start) + START_BYTES).sum());
        Ok(starts)
    }

    fn part_of(&self, of: &DualConfiguration, thread: usize) -> PartId {
        of.0[thread]
    }

    fn word(&self, of: &DualConfiguration, thread: usize) -> &[part::Letter] {
        &self.threads[thread].part(of.0[thread]).word
    }

    fn control(&self, of: &DualConfiguration, thread: usize) -> part::Control {
        self.threads[thread].part(of.0[thread]).control
    }

    fn holds_bus(&self, of: &DualConfiguration, thread: usize) -> bool {
        self.finite.has_bus && self.threads[thread].holds_bus(self.control(of, thread))
    }

    /// The configurations from which silent steps of any threads lead into a goal; `None` if there are too many.
    fn before_silent_steps(&mut self, goal: &DualConfiguration) -> Result<Option<Vec<DualConfiguration>>, Limit> {
        let threads = self.threads.len();
        let memory = &goal.0[threads..];
        let holder = (0..threads).find(|thread| self.holds_bus(goal, *thread));
        let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
        for thread in 0..threads {
            let may_take = holder.is_none_or(|holder| holder == thread);
            let mut parts = self.closure(thread, goal.0[thread]).to_vec();
            for part in &mut parts {
                let left = self.threads[thread].part(*part).word.len();
                *part = self.shorten(thread, *part, left, may_take, memory);
            }
            parts.sort_unstable();
            parts.dedup();
            if self.must_stop()
                && let Some(limit) = self.watch.limit()
            {
                return Err(limit);
            }
            if rows.len() * parts.len() > MOST_STARTS {
                return Ok(None);
            }
            let bytes = rows.len() * parts.len() * (size_of::<Vec<u32>>() + 4 * (thread + 1) + 16);
            self.watch.hold(bytes)?;
            let longer = |row: &Vec<u32>| {
                let row = row.clone();
                parts.iter().map(move |part| [row.as_slice(), &[*part]].concat()).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(longer).collect();
            self.watch.release(bytes);
        }
        Ok(Some(rows.into_iter().map(|row| DualConfiguration([row.as_slice(), memory].concat().into())).collect()))
    }
}

impl MonotonicSystem for LoadBuffers<'_> {
    type Constraint = DualConfiguration;
    type Step = VisibleStep;

    fn predecessors(&mut self, of: &DualConfiguration, found: &mut Vec<(VisibleStep, DualConfiguration)>) {
        for thread in 0..self.threads.len() {
            let control = self.control(of, thread);
            for index in 0..self.threads[thread].loud_in(control).len() {
                if self.watch.step().is_err() {
                    return;
                }
                let edge = self.threads[thread].loud_in(control)[index];
                self.step_back(of, thread, edge, &mut |_, step, configuration| found.push((step, configuration)));
            }
        }
        // The search counts from now on those that it keeps.
        self.watch.release(found.iter().map(|(_, configuration)| self.bytes(configuration) + START_BYTES).sum());
        self.must_stop();
    }

    fn is_initial(&self, configuration: &DualConfiguration) -> bool {
        self.initial_memory(configuration).is_some()
    }

    fn covers(&self, small: &DualConfiguration, large: &DualConfiguration) -> bool {
        let threads = self.threads.len();
        let (small_parts, small_memory) = small.0.split_at(threads);
        let (large_parts, large_memory) = large.0.split_at(threads);
        small_memory.iter().zip(large_memory).all(|(one, other)| *one == OPEN || one == other)
            && (0..threads).all(|thread| self.threads[thread].covers(small_parts[thread], large_parts[thread]))
    }

    fn signature(&self, configuration: &DualConfiguration) -> u128 {
        let (parts, memory) = configuration.0.split_at(self.threads.len());
        let words = parts.iter().zip(&self.threads).fold(0, |mask, (part, thread)| mask | thread.part(*part).mask);
        let known = memory.iter().enumerate().filter(|(_, value)| **value != OPEN);
        let cells = known.fold(0u64, |mask, (cell, value)| mask | 1 << ((cell as u64 * 11 + u64::from(*value)) % 64));
        u128::from(words) << 64 | u128::from(cells)
    }

    fn files(&mut self, configuration: &DualConfiguration, files: &mut Vec<FileId>) {
        let LoadBuffers { threads, index, .. } = self;
        let control = |thread: usize| threads[thread].part(configuration.0[thread]).control;
        files.push(index.file(threads.as_slice(), threads.len(), control));
    }

    fn in_smaller_files(&self, configuration: &DualConfiguration, covers: impl FnMut(FileId) -> bool) -> bool {
        self.index.in_smaller_files(self.threads.as_slice(), |thread| self.control(configuration, thread), covers)
    }

    fn bytes(&self, configuration: &DualConfiguration) -> usize {
        size_of_val(&*configuration.0)
    }
}

impl LoadBuffers<'_> {
    /// What memory holds at the start of a run from a configuration, if it can start there.
    fn initial_memory(&self, configuration: &DualConfiguration) -> Option<Vec<u32>> {
        let threads = self.threads.len();
        let mut memory = configuration.0[threads..].to_vec();
        for thread in 0..threads {
            if !self.threads[thread].is_initial(self.control(configuration, thread)) {
                return None;
            }
            for letter in self.word(configuration, thread) {
                let Message::Memory(pairs) = self.alphabet.message(*letter) else { return None };
                if !pairs.iter().all(|pair| require(&mut memory, *pair)) {
                    return None;
                }
            }
        }
        let starts = |(cell, value): (usize, &u32)| *value as usize <= self.finite.cells[cell].initial;
        memory.iter().enumerate().all(starts).then_some(memory)
    }
}
