//! Reachability under TSO by the single-buffer semantics, backwards: a decision procedure for finite domains.
//!
//! The semantics is that of section 4.3 of *Counter-Example Guided Fence Insertion under Weak Memory Models*. All threads share
//! one buffer of memory snapshots, in the order in which stores reach memory. A store appends the last snapshot with one cell
//! changed, and who wrote it; each thread has a pointer to the snapshot that is memory to it, and an update moves it on. A load
//! sees the thread's own newest store beyond its pointer, else what its pointer points to; fences and locked steps need the
//! pointer at the end.
//!
//! **Constraints** are weaker than the paper's, so that one covers more: cells of a snapshot are open until a step needs them, so is
//! who wrote it, and a pointer may be anywhere up to where it has to be (`word`). The paper's condition that every last write goes to a
//! last write is kept for those that some load reads, or must not find. `step` has the rules for stores, fences and
//! atomic read-writes, `silent` for loads; updates are no steps of their own, as appendix B has it. A rough forward analysis of
//! each thread tells which of its stores may be pending where, so that no word asks for others.
//!
//! A violated verdict comes with a TSO run that the load-buffer engine ([`super::dual`]) makes and the reference semantics replays;
//! if that engine disagrees, there is no answer but an error.

mod silent;
mod step;
mod word;

use super::backward::{BackwardAnswer, Conclusion, VisibleStep, ask};
use super::bounded::{ReachabilityAnswer, ReachabilityQuestion};
use super::control::Controls;
use super::dual::dual;
use super::dual::goal::goal_cases;
use super::dual::step::OPEN;
use super::finite::{CellId, CellPair, Finite};
use crate::{AnalysisError, InternalError, Verdict};
use ravelin_backward::{BackwardCounts, BackwardSearch, FileId, MonotonicSystem};
use ravelin_explore::Watch;
use ravelin_program::{Model, Program};
use std::time::Instant;
use word::{ANYONE, Letter, MemorySnapshots, SbConfiguration, SbDraft};

/// What a predecessor takes beside its words until the search has taken it.
const FOUND_BYTES: usize = size_of::<(VisibleStep, SbConfiguration)>() + 32;

/// Asks whether some goal can be violated, an assertion can fail or a fault can happen under TSO, with no bound on the buffers.
///
/// The question's model is taken to be TSO, and its bound on buffers and reductions do not matter.
pub fn sb(program: &Program, question: &ReachabilityQuestion) -> Result<BackwardAnswer, AnalysisError> {
    ask(program, Model::Tso, question, |watch, counts| search_backwards(program, question, watch, counts))
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
    let controls = Controls::new(&finite, threads, watch)?;
    let snapshots = MemorySnapshots::default();
    let mut semantics = SingleBuffer { finite: &finite, controls, snapshots, held_snapshots: 0, watch };
    let mut goals = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let told = case.memory.iter().enumerate().filter(|(_, known)| **known != OPEN);
        let told: Vec<CellPair> = told.map(|(cell, known)| (cell as CellId, (*known - 1) as u16)).collect();
        let threads = finite.threads.len();
        let draft = SbDraft {
            controls: case.controls.clone(),
            pointers: vec![0; threads],
            word: vec![semantics.last_letter(&told)],
            marks: Vec::new(),
        };
        let mut before = vec![draft.finish()];
        for thread in 0..threads {
            let mut found = Vec::new();
            before.into_iter().for_each(|goal| semantics.silent_steps(goal, thread, &mut found));
            before = found;
            // Each thread's silent steps multiply what those before it left.
            semantics.watch.hold(before.iter().map(|goal| goal.bytes() + FOUND_BYTES).sum())?;
            semantics.watch.release(before.iter().map(|goal| goal.bytes() + FOUND_BYTES).sum());
        }
        semantics.watch.hold(before.iter().map(|goal| goal.bytes() + FOUND_BYTES).sum())?;
        goals.extend(before.into_iter().map(|goal| (number, goal)));
    }
    let mut search = BackwardSearch::new(semantics, watch);
    let end = search.run(goals);
    *counts = search.counts;
    drop(search);
    if let Ok(conclusion) = Conclusion::of(end) {
        return Ok(conclusion);
    }
    let budget = question.budget.child(start, counts.kept);
    let rest = ReachabilityQuestion { budget, ..*question };
    let ReachabilityAnswer { verdict, limit, witness, .. } = dual(program, &rest)?.reachability;
    if verdict == Verdict::Holds {
        let told = "the single-buffer engine finds a violation and the load-buffer engine proves that there is none";
        return Err(InternalError(told.to_owned()).into());
    }
    Ok(Conclusion { limit, witness, ..Conclusion::new(verdict) })
}

/// The semantics of one program.
struct SingleBuffer<'a> {
    finite: &'a Finite,
    controls: Controls,
    snapshots: MemorySnapshots,
    /// What the watch knows that snapshots take.
    held_snapshots: usize,
    watch: &'a Watch<'a>,
}

impl SingleBuffer<'_> {
    fn last_letter(&mut self, told: &[CellPair]) -> Letter {
        self.snapshots.letter(ANYONE, told)
    }

    /// Whose load a message is for matters only where there is a bus lock.
    fn reader(&self, thread: usize) -> u16 {
        if self.finite.has_bus { thread as u16 } else { ANYONE }
    }
}

impl MonotonicSystem for SingleBuffer<'_> {
    type Constraint = SbConfiguration;
    type Step = VisibleStep;

    fn predecessors(&mut self, of: &SbConfiguration, found: &mut Vec<(VisibleStep, SbConfiguration)>) {
        let threads = self.controls.threads.len();
        for thread in 0..threads {
            let control = of.controls(threads)[thread];
            for index in 0..self.controls.threads[thread].loud_in(control).len() {
                if self.watch.step().is_err() {
                    return;
                }
                let edge = self.controls.threads[thread].loud_in(control)[index];
                self.step_back(of, thread, edge, found);
            }
        }
        // The search counts from now on those that it keeps.
        self.watch.release(found.iter().map(|(_, configuration)| configuration.bytes() + FOUND_BYTES).sum());
        let snapshots = self.snapshots.bytes();
        let grown = snapshots - std::mem::replace(&mut self.held_snapshots, snapshots);
        // A limit is kept, and the search asks for it.
        let _ = self.watch.hold(grown);
    }

    /// Everything is said of the one message that is there, and nobody has stored anything.
    fn is_initial(&self, configuration: &SbConfiguration) -> bool {
        let threads = self.controls.threads.len();
        let mut controls = self.controls.threads.iter().zip(configuration.controls(threads));
        let starts = |(cell, value): &CellPair| usize::from(*value) < self.finite.cells[*cell as usize].initial;
        controls.all(|(thread, control)| thread.is_initial(*control))
            && configuration.marks.iter().all(|mark| !mark.own)
            && self.told(configuration.word(threads)).is_some_and(|told| told.iter().all(starts))
    }

    fn covers(&self, small: &SbConfiguration, large: &SbConfiguration) -> bool {
        word::covers(&self.controls, &self.snapshots, small, large)
    }

    fn signature(&self, configuration: &SbConfiguration) -> u128 {
        let word = configuration.word(self.controls.threads.len());
        let told = word.iter().fold(0, |mask, letter| mask | self.snapshots.mask(*letter));
        let own = configuration.marks.iter().filter(|mark| mark.own);
        own.fold(told, |mask, mark| mask | 1 << (96 + (u32::from(mark.thread) * 7 + u32::from(mark.cell)) % 32))
    }

    fn files(&mut self, configuration: &SbConfiguration, files: &mut Vec<FileId>) {
        let threads = self.controls.threads.len();
        files.push(self.controls.file(configuration.controls(threads)));
    }

    fn in_smaller_files(&self, configuration: &SbConfiguration, covers: impl FnMut(FileId) -> bool) -> bool {
        self.controls.in_smaller_files(configuration.controls(self.controls.threads.len()), covers)
    }

    fn bytes(&self, configuration: &SbConfiguration) -> usize {
        configuration.bytes()
    }
}
