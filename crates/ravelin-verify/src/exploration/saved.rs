//! The rest of an exploration as words, to be continued later.
//!
//! Tasks in flight are saved as to be done. What is known about waiting loops is not saved: it costs a few runs to learn
//! it again. Whatever is read is validated; nothing else than an exploration comes out of it.

use super::step::PlannedStep;
use super::tree::{Branch, BranchState, NO_NODE, Node, NodeId, Plan, Tree};
use super::waiting::Reading;
use super::{Exploration, First, Options, Reduction};
use ravelin_findings::RecordedOrder;
use ravelin_findings::events::{Act, RunOperation};

const MAGIC: u64 = u64::from_le_bytes(*b"RAVEXPL\x02");

/// More runs than anybody can make.
const MOST_RUNS: u64 = 1 << 48;

impl Exploration {
    /// The rest of the exploration.
    pub fn save(&self) -> Vec<u64> {
        let mut words = vec![MAGIC, self.options.reduction as u64];
        words.push(self.options.preemptions.map_or(0, |most| u64::from(most) + 1));
        words.push(u64::from(self.cut));
        words.push(u64::from(self.first == First::Done));
        let statistics = &self.statistics;
        words.extend([statistics.runs, statistics.redundant, statistics.impossible, statistics.depth as u64]);
        // Children follow their parents, so a reader knows the parent of every node.
        let mut order: Vec<NodeId> = self.tree.root.into_iter().collect();
        let mut at = 0;
        while let Some(&id) = order.get(at) {
            at += 1;
            let node = self.tree.node(id);
            steps(&mut words, &node.sleep);
            words.push(node.impossible.len() as u64);
            words.extend(&node.impossible);
            words.push(node.branches.len() as u64);
            for branch in &node.branches {
                step(&mut words, &branch.step);
                words.push(u64::from(branch.open));
                match &branch.state {
                    BranchState::ToDo(to_do) | BranchState::Claimed(_, to_do) => {
                        words.push(0);
                        plan(&mut words, to_do);
                        words.push(to_do.fallbacks.len() as u64);
                        for (depth, fallback) in &to_do.fallbacks {
                            words.push(u64::from(*depth));
                            plan(&mut words, fallback);
                        }
                    }
                    BranchState::Done(done) => {
                        words.push(1);
                        steps(&mut words, done);
                    }
                    BranchState::Inner(child) => {
                        words.push(2);
                        order.push(*child);
                    }
                    BranchState::Finished(runs) => words.extend([3, *runs]),
                }
            }
        }
        words
    }

    /// The exploration that was saved as these words; `None` if none was.
    pub fn restore(words: &[u64]) -> Option<Exploration> {
        let mut reader = Reader { words };
        let reductions = [Reduction::Off, Reduction::Sleep, Reduction::Source, Reduction::Optimal];
        if reader.word()? != MAGIC {
            return None;
        }
        let reduction = *reductions.get(reader.index()?)?;
        let preemptions = match reader.word()? {
            0 => None,
            most => Some(u32::try_from(most - 1).ok()?),
        };
        let mut exploration = Exploration::new(Options { reduction, preemptions });
        exploration.cut = reader.flag()?;
        exploration.first = if reader.flag()? { First::Done } else { First::ToDo };
        let statistics = &mut exploration.statistics;
        [statistics.runs, statistics.redundant, statistics.impossible] =
            [reader.runs()?, reader.runs()?, reader.runs()?];
        statistics.depth = reader.index()?;
        if !reader.words.is_empty() {
            exploration.tree = reader.tree()?;
        }
        reader.words.is_empty().then_some(exploration)
    }
}

fn step(words: &mut Vec<u64>, step: &PlannedStep) {
    let RunOperation { act, order, address, size } = step.operation;
    let flags = u64::from(step.times_out) | u64::from(step.exact) << 1 | u64::from(step.ends) << 2;
    words.push(u64::from(step.thread) | flags << 32 | (act as u64) << 40 | (order as u64) << 48);
    words.extend([address, u64::from(size)]);
}

fn steps(words: &mut Vec<u64>, steps: &[PlannedStep]) {
    words.push(steps.len() as u64);
    steps.iter().for_each(|next| step(words, next));
}

fn plan(words: &mut Vec<u64>, plan: &Plan) {
    steps(words, &plan.steps);
    let flags = u64::from(plan.certain) | u64::from(plan.reading.is_some()) << 1;
    words.extend([flags, u64::from(plan.origin.0), u64::from(plan.origin.1)]);
    if let Some(Reading { state, address, value }) = plan.reading {
        words.extend([state, address, value]);
    }
}

struct Reader<'a> {
    words: &'a [u64],
}

impl Reader<'_> {
    fn word(&mut self) -> Option<u64> {
        let (word, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*word)
    }

    fn index(&mut self) -> Option<usize> {
        usize::try_from(self.word()?).ok()
    }

    /// A number of runs, which can be added to others.
    fn runs(&mut self) -> Option<u64> {
        self.word().filter(|&runs| runs <= MOST_RUNS)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.word()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number of things that follow, each of at least one word.
    fn count(&mut self) -> Option<usize> {
        self.index().filter(|&count| count <= self.words.len())
    }

    fn step(&mut self) -> Option<PlannedStep> {
        let word = self.word()?;
        let act = *Act::ALL.get((word >> 40 & 0xff) as usize)?;
        let order = RecordedOrder::of(word >> 48)?;
        let operation = RunOperation { act, order, address: self.word()?, size: u32::try_from(self.word()?).ok()? };
        let [times_out, exact, ends] = [32, 33, 34].map(|bit| word >> bit & 1 == 1);
        (word >> 35 & 0x1f == 0).then_some(PlannedStep { thread: word as u32, times_out, exact, ends, operation })
    }

    fn steps(&mut self) -> Option<Vec<PlannedStep>> {
        (0..self.count()?).map(|_| self.step()).collect()
    }

    fn plan(&mut self) -> Option<Plan> {
        let steps = self.steps().filter(|steps| !steps.is_empty())?;
        let flags = self.word().filter(|flags| *flags < 4)?;
        let origin = (u32::try_from(self.word()?).ok()?, u32::try_from(self.word()?).ok()?);
        let reading = if flags & 2 == 0 {
            None
        } else {
            Some(Reading { state: self.word()?, address: self.word()?, value: self.word()? })
        };
        Some(Plan { steps, certain: flags & 1 != 0, reading, origin, fallbacks: Vec::new() })
    }

    fn plan_with_fallbacks(&mut self) -> Option<Plan> {
        let mut plan = self.plan()?;
        for _ in 0..self.count()? {
            let depth = u32::try_from(self.word()?).ok()?;
            plan.fallbacks.push((depth, self.plan()?));
        }
        Some(plan)
    }

    fn tree(&mut self) -> Option<Tree> {
        let mut tree = Tree::default();
        // Where the nodes that follow belong.
        let mut parents = std::collections::VecDeque::from([(NO_NODE, 0)]);
        while let Some((parent, number)) = parents.pop_front() {
            let sleep = self.steps()?;
            let impossible: Option<Vec<u64>> = (0..self.count()?).map(|_| self.word()).collect();
            let count = self.count()?;
            let id = tree.add(parent, number, Vec::new());
            let mut branches = Vec::new();
            for number in 0..count {
                let step = self.step()?;
                let open = self.flag()?;
                let state = match self.word()? {
                    0 => BranchState::ToDo(Box::new(self.plan_with_fallbacks()?)),
                    1 => BranchState::Done(self.steps()?.into()),
                    2 => {
                        parents.push_back((id, number));
                        BranchState::Finished(0)
                    }
                    3 => BranchState::Finished(self.runs()?),
                    _ => return None,
                };
                // Only what is to be done can be open.
                if open && !matches!(state, BranchState::ToDo(_)) {
                    return None;
                }
                branches.push(Branch { step, open, state });
            }
            let node = tree.node_mut(id);
            *node = Node { sleep, impossible: impossible?, branches, ..std::mem::take(node) };
        }
        tree.refresh_all();
        Some(tree)
    }
}
