//! Which runs to make: one for each trace.
//!
//! Optimal dynamic partial order reduction (Abdulla, Aronis, Jonsson, Sagonas, *Source sets: a foundation for optimal
//! dynamic partial order reduction*, JACM 2017). Each run is analysed after it was made: where two conflicting events
//! could have happened in the other order, and no run does that or will, a new one is planned.
//!
//! | in the paper | here |
//! | --- | --- |
//! | happens-before of `E`, adjacent conflicts | `trace` |
//! | reversible races `e ≾ e'`, `notdep(e, E)` | `races` |
//! | weak initials `WI(v)` | `step::relation` |
//! | sleep sets, the calls that are active | `tree` |
//! | `insert(v, wut(E'))` | [`Exploration::done`], by `insertion` |
//!
//! Where a sequence `v` is inserted, all that is asleep wakes up in `v`, so its run is neither redundant nor blocked. All
//! steps of `v` matter, also those that neither wake anything nor are needed by the last one: without them traces are
//! missed.
//!
//! Several tasks can be in flight. The wakeup tree of a node and what has been explored below it are one tree, so a
//! sequence that belongs below a branch is inserted there, explored or not. Runs of blocking operations can turn out
//! impossible: see `races` and `tree`.
//!
//! **Cost.** One clock per event, and for each race a pass over the run. Memory is proportional to the nodes on paths to
//! branches that are not finished.

mod bound;
mod estimate;
mod following;
mod halfway;
mod insertion;
mod races;
mod saved;
mod shorten;
mod step;
mod trace;
mod tree;
mod unreduced;
mod waiting;

pub use shorten::{changes, shorten};

use crate::{RecordedRun, Script};
use following::{Following, follow};
use insertion::Path;
use races::Races;
use ravelin_findings::steering::SteeredEnd;
use step::{PlannedStep, wake};
use trace::Trace;
use tree::{BranchState, NO_NODE, NodeId, Plan, Tree};
use waiting::Waiting;

/// Which runs are left out because others are equivalent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// None: all interleavings of events are run.
    Off,
    /// What sleep sets leave out. All threads are tried everywhere.
    Sleep,
    /// Source sets and sleep sets: threads are tried where a race is reversed. Some runs are redundant.
    Source,
    /// One run per trace.
    #[default]
    Optimal,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub reduction: Reduction,
    /// The most preemptions of a script; see `bound`, which then takes the place of the last two reductions.
    pub preemptions: Option<u32>,
}

/// A run to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: u64,
    pub script: Script,
}

/// What a run was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the only run of its trace.
    New,
    /// Another run has the same trace, or it was blocked because all threads that could run were asleep.
    Redundant,
    /// A thread waited where the script wanted it to run.
    Impossible,
    /// The event with this number is not the one that the same choices led to before: the program does not depend on the
    /// schedule only. The rest of the exploration says nothing.
    Diverged { at: usize },
    /// There is no such task.
    Unknown,
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExplorationProgress {
    /// All runs that were made.
    pub runs: u64,
    /// Runs among them whose trace another run has, or that were blocked.
    pub redundant: u64,
    /// Runs among them whose script could not be followed.
    pub impossible: u64,
    /// Events of the longest run.
    pub depth: usize,
    /// Nodes on paths that are not finished.
    pub nodes: usize,
    /// An estimate of [`ExplorationProgress::runs`] at the end.
    pub estimated_runs: f64,
}

/// The runs that are still to be made.
pub struct Exploration {
    options: Options,
    /// What all runs begin with.
    beginning: Script,
    tree: Tree,
    /// The first run, which has no script.
    first: First,
    next_task: u64,
    waiting: Waiting,
    trace: Trace,
    races: Races,
    statistics: ExplorationProgress,
    cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    ToDo,
    Claimed,
    Done,
}

impl Exploration {
    pub fn new(options: Options) -> Exploration {
        Exploration::after(Script::default(), options)
    }

    /// All runs that begin with the choices of a script, in this order: one for each trace of what comes after them. One of
    /// these choices may be stale.
    pub fn after(beginning: Script, options: Options) -> Exploration {
        debug_assert!(beginning.sleepers.is_empty() && beginning.seed == 0);
        Exploration {
            options,
            beginning,
            tree: Tree::default(),
            first: First::ToDo,
            next_task: 0,
            waiting: Waiting::default(),
            trace: Trace::default(),
            races: Races::default(),
            statistics: ExplorationProgress::default(),
            cut: false,
        }
    }

    /// Claims a run to be made; `None` if there is none before another one is [done](Exploration::done).
    #[allow(clippy::should_implement_trait, reason = "a task may follow after None")]
    pub fn next(&mut self) -> Option<Task> {
        let id = self.next_task;
        if self.first == First::ToDo {
            self.first = First::Claimed;
            self.next_task += 1;
            self.tree.in_flight.insert(id, NO_NODE);
            return Some(Task { id, script: self.beginning.clone() });
        }
        let (node, branch) = self.tree.claim(id)?;
        self.next_task += 1;
        let steps = self.steps_of(node, branch);
        let depth = self.tree.node(node).depth as usize;
        let mut sleep = self.asleep(node, branch);
        steps[depth..].iter().for_each(|step| wake(&mut sleep, step));
        let choices = steps.iter().map(PlannedStep::choice).collect();
        let mut sleepers: Vec<u32> = sleep.iter().map(|sleeper| sleeper.thread).collect();
        sleepers.sort_unstable();
        sleepers.dedup();
        Some(Task { id, script: Script { choices, sleepers, stale: self.beginning.stale, seed: 0 } })
    }

    /// Takes what the run of a task did.
    pub fn done(&mut self, task: &Task, run: &RecordedRun) -> Outcome {
        if !self.tree.in_flight.contains_key(&task.id) {
            return Outcome::Unknown;
        }
        self.statistics.runs += 1;
        self.cut |= matches!(run.end, Some(SteeredEnd::Full | SteeredEnd::Unrolled));
        self.waiting.learn(run);
        let mut trace = std::mem::take(&mut self.trace);
        let standing = halfway::standing(run);
        trace.read(standing.as_ref().unwrap_or(run));
        self.statistics.depth = self.statistics.depth.max(trace.len());
        let outcome = self.take(task.id, &mut trace, run);
        self.trace = trace;
        match outcome {
            Outcome::Redundant => self.statistics.redundant += 1,
            Outcome::Impossible => self.statistics.impossible += 1,
            Outcome::Diverged { .. } => self.cut = true,
            Outcome::New | Outcome::Unknown => {}
        }
        outcome
    }

    /// Whether nothing is left to do and nothing is in flight.
    pub fn is_finished(&self) -> bool {
        self.first == First::Done && self.tree.root.is_none() && self.tree.in_flight.is_empty()
    }

    /// Whether every trace has a run when the exploration is finished. Not so if a run was cut off, a bound left
    /// something out, or the program did not follow a script.
    pub fn is_complete(&self) -> bool {
        !self.cut
    }

    pub fn statistics(&self) -> ExplorationProgress {
        let ExplorationProgress { runs, redundant, impossible, .. } = self.statistics;
        let below = estimate::runs_below_root(&self.tree) + (redundant + impossible) as f64;
        ExplorationProgress { nodes: self.tree.len(), estimated_runs: below.max(runs as f64), ..self.statistics }
    }

    fn take(&mut self, task: u64, trace: &mut Trace, run: &RecordedRun) -> Outcome {
        if self.tree.in_flight.get(&task) == Some(&NO_NODE) {
            self.tree.in_flight.remove(&task);
            self.first = First::Done;
            let missed = (self.beginning.choices.iter().enumerate())
                .position(|(at, choice)| at >= trace.len() || trace.step(at).choice() != *choice);
            if let Some(at) = missed {
                return Outcome::Diverged { at };
            }
            self.extend(Path { trace, nodes: Vec::new(), end: 0 }, false);
            self.tree.collapse();
            return Outcome::New;
        }
        let Some((node, branch)) = self.tree.claimed(task) else { return Outcome::Unknown };
        let expected = self.steps_of(node, branch);
        let depth = self.tree.node(node).depth as usize;
        let (mut run, mut is_halfway) = (run, false);
        let stopped;
        match follow(&expected, trace, run) {
            Following::Yes => {}
            Following::Halfway(halfway) => {
                stopped = halfway;
                run = &stopped;
                is_halfway = true;
            }
            Following::Impossible(at) => {
                self.give_up(node, branch, at.saturating_sub(depth), run);
                return Outcome::Impossible;
            }
            Following::Diverged(at) => {
                self.tree.in_flight.remove(&task);
                let step = self.tree.node(node).branches[branch].step;
                self.tree.node_mut(node).branches[branch].state = BranchState::Done([step].into());
                self.tree.refresh(node);
                self.tree.collapse();
                return Outcome::Diverged { at };
            }
        }
        let steps: Vec<PlannedStep> = (depth..expected.len()).map(|at| trace.step(at)).collect();
        if self.belongs_left(node, branch, &steps) {
            self.tree.in_flight.remove(&task);
            self.move_left(node, branch, &steps);
            return Outcome::Redundant;
        }
        self.settle(node, branch, &steps);
        // What was added may have split the plan.
        let Some((node, branch)) = self.tree.claimed(task) else { return Outcome::Unknown };
        self.tree.in_flight.remove(&task);
        let steps = steps[self.tree.node(node).depth as usize - depth..].into();
        self.tree.node_mut(node).branches[branch].state = BranchState::Done(steps);
        let only_ending = self.asleep(node, branch).iter().all(|sleeper| sleeper.ends);
        let path = Path { trace, nodes: self.tree.path(node, branch), end: expected.len() };
        self.extend(path, is_halfway);
        self.tree.refresh(node);
        self.tree.collapse();
        match run.end {
            _ if is_halfway => Outcome::Impossible,
            // Without what ended the process.
            Some(SteeredEnd::Asleep) if only_ending => Outcome::New,
            Some(SteeredEnd::Asleep) => Outcome::Redundant,
            _ => Outcome::New,
        }
    }

    /// What is asleep at the beginning of a branch.
    fn asleep(&self, node: NodeId, branch: usize) -> Vec<PlannedStep> {
        match self.options.reduction {
            Reduction::Off => Vec::new(),
            _ if self.options.preemptions.is_some() => Vec::new(),
            _ => self.tree.asleep(node, branch),
        }
    }

    /// The steps from the root to a leaf.
    fn steps_of(&self, node: NodeId, branch: usize) -> Vec<PlannedStep> {
        let inner = self.steps_between(&self.tree.path(node, branch), 0);
        let plan = match &self.tree.node(node).branches[branch].state {
            BranchState::Claimed(_, plan) => &plan.steps[..],
            _ => &[],
        };
        inner.into_iter().chain(plan.iter().copied()).collect()
    }

    /// The steps from this depth to the last node of a path.
    fn steps_between(&self, path: &[(NodeId, usize)], depth: usize) -> Vec<PlannedStep> {
        let inner = path[..path.len() - 1].iter().skip(depth);
        inner.map(|&(node, branch)| self.tree.node(node).branches[branch].step).collect()
    }

    /// Whether something is asleep after these steps of a plan, so that its trace belongs to a branch to the left.
    fn belongs_left(&self, node: NodeId, branch: usize, steps: &[PlannedStep]) -> bool {
        if !self.is_optimal() {
            return false;
        }
        let mut sleep = self.tree.asleep(node, branch);
        let covered = steps.iter().any(|step| {
            let asleep = sleep.iter().any(|sleeper| sleeper.choice() == step.choice());
            wake(&mut sleep, step);
            asleep
        });
        covered || sleep.iter().any(|sleeper| !sleeper.ends)
    }

    /// A plan is certain now, and has made these steps; if there are none, its branch is removed. If it was open, what is
    /// to its right waited for that and is inserted again.
    fn settle(&mut self, node: NodeId, branch: usize, steps: &[PlannedStep]) {
        let optimal = self.is_optimal();
        let branches = &mut self.tree.node_mut(node).branches;
        let was_open = std::mem::take(&mut branches[branch].open);
        let right = if was_open && optimal { branches.split_off(branch + 1) } else { Vec::new() };
        match steps.first() {
            Some(&step) => {
                branches[branch].step = step;
                if let BranchState::Claimed(_, plan) = &mut branches[branch].state {
                    plan.steps = steps.to_vec();
                }
            }
            None => {
                branches.remove(branch);
            }
        }
        for right in right {
            if let BranchState::ToDo(plan) = right.state {
                self.insert(node, branch, *plan);
            }
        }
    }

    /// Removes a branch whose last step conflicts with less than was assumed: its trace belongs to a branch to the left.
    /// What it should lead to is inserted there.
    fn move_left(&mut self, node: NodeId, branch: usize, steps: &[PlannedStep]) {
        let path = self.tree.path(node, branch);
        let finished = BranchState::Finished(0);
        let state = std::mem::replace(&mut self.tree.node_mut(node).branches[branch].state, finished);
        let BranchState::Claimed(_, plan) = state else { return };
        let (depth, own) = plan.origin;
        let inner = self.steps_between(&path, depth as usize);
        let steps: Vec<PlannedStep> = inner.into_iter().chain(steps.iter().copied()).collect();
        self.settle(node, branch, &[]);
        if let Some(&(origin, _)) = path.get(depth as usize)
            && !self.is_covered(origin, own as usize, steps.iter().copied())
        {
            let plan = Plan { steps, certain: true, fallbacks: Vec::new(), ..*plan };
            self.insert(origin, own as usize + 1, plan);
        }
        self.tree.refresh(node);
        self.tree.collapse();
    }

    /// Removes a branch whose run was impossible, and tries something else in its place. `at`: the number of the step of
    /// its plan that did not happen.
    fn give_up(&mut self, node: NodeId, branch: usize, at: usize, run: &RecordedRun) {
        let mut path = self.tree.path(node, branch);
        let step = self.tree.node(node).branches[branch].step;
        let nothing = BranchState::Done([step].into());
        let state = std::mem::replace(&mut self.tree.node_mut(node).branches[branch].state, nothing);
        let BranchState::Claimed(task, plan) = state else { return };
        self.tree.in_flight.remove(&task);
        // Only a plan that is not certain was kept apart from the branches to its right.
        self.cut |= plan.certain;
        let plan = *plan;
        let last = plan.steps.len() - 1;
        // Where the plan was inserted first, the run that led to it took another branch than the plan.
        let (depth, own) = plan.origin;
        let steps = self.steps_between(&path, depth as usize);
        if let Some(origin) = path.get_mut(depth as usize) {
            origin.1 = own as usize;
        }
        self.tree.node_mut(node).impossible.push(insertion::fingerprint(&plan.steps));
        let mut instead = plan.fallbacks.clone();
        if at < last && plan.steps[at].thread != plan.steps[last].thread {
            // A part of a round that cannot be finished there: without it.
            let thread = plan.steps[at].thread;
            let (done, rest) = plan.steps.split_at(at);
            let rest = rest.iter().filter(|step| step.thread != thread);
            let steps = steps.into_iter().chain(done.iter().chain(rest).copied()).collect();
            instead = vec![(depth, Plan { steps, ..plan })];
        } else if let Some(reading) = plan.reading.filter(|_| run.end == Some(SteeredEnd::NotEnabled)) {
            self.waiting.learn_failure(reading);
        }
        self.settle(node, branch, &[]);
        self.insert_first(&path, instead);
        self.tree.refresh(node);
        self.tree.collapse();
    }
}
