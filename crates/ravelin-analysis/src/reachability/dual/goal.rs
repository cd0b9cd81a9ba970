//! The goals as constraints: which local states of which threads, and which cells, a violation needs.
//!
//! A condition is split into cases: for each thread it speaks of, the local states that look alike to it; for each cell, its
//! values. Cases are decided in the order in which the condition asks, and what it does not ask for stays open. A count of threads
//! (`2 of p@critical`) is compared by its bounds, so that it is decided by the first threads that are there, and n threads have as
//! many cases as pairs and not 2ⁿ. Assertions and faults are local states of their own, whatever the others do.
//!
//! Conditions about memory, and about final states, are judged where all store buffers are empty and nobody holds the bus lock.
//! In the load-buffer semantics every store has reached memory, so that is any state without a bus lock and without stranded
//! stores: with empty store buffers a TSO state and a state with the same control and memory are reachable or not together,
//! whatever is left in the load buffers.

use super::part::{Control, ThreadParts};
use super::step::{Known, OPEN, known};
use super::{DualConfiguration, LoadBuffers};
use crate::reachability::finite::{CellId, ControlPoint, Finite, LocalState, LocalStateId, NotFinite};
use ravelin_explore::Watch;
use ravelin_machine::Violation;
use ravelin_program::{Arithmetic, BinaryOp, Condition, Expr, Goal, LocId, Observable, RegId, ThreadId, Value};
use rustc_hash::FxHashMap;

/// The most cases that conditions may be split into.
const MOST_CASES: usize = 1 << 20;

/// A goal's case as other semantics need it: where each thread is, and what each cell is known to hold.
pub(in crate::reachability) struct GoalCase {
    pub controls: Vec<Control>,
    pub memory: Vec<Known>,
    /// Judged only where all store buffers are empty.
    pub settled: bool,
}

/// All goals' cases, and the threads whose sets of states they speak of.
pub(in crate::reachability) fn goal_cases<'a>(
    finite: &'a Finite,
    watch: &'a Watch<'a>,
) -> Result<(Vec<ThreadParts>, Vec<GoalCase>), NotFinite> {
    let mut semantics = LoadBuffers::new(finite, watch)?;
    let goals = semantics.goals()?;
    let threads = finite.threads.len();
    let case = |(violation, configuration): (Violation, DualConfiguration)| GoalCase {
        controls: (0..threads).map(|thread| semantics.control(&configuration, thread)).collect(),
        memory: configuration.0[threads..].to_vec(),
        settled: match violation {
            Violation::Goal(goal) => {
                let goal = &finite.program.goals[goal];
                goal.is_final() || goal.mentions_memory()
            }
            _ => false,
        },
    };
    let cases = goals.into_iter().map(case).collect();
    Ok((semantics.threads, cases))
}

/// A part of a condition that is decided at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConditionAtom {
    Thread(usize),
    Cell(CellId),
}

/// How a thread looks to a condition, and the local states that look so.
struct ThreadView {
    seen: Vec<(Observable, Value)>,
    members: Vec<LocalStateId>,
}

impl LoadBuffers<'_> {
    /// All goals: what is violated, and one of its minimal constraints. Silent steps are not taken yet.
    pub(super) fn goals(&mut self) -> Result<Vec<(Violation, DualConfiguration)>, NotFinite> {
        let mut found = Vec::new();
        for (number, goal) in self.finite.program.goals.iter().enumerate() {
            let mut cases = Vec::new();
            self.cases(goal, &mut cases)?;
            found.extend(cases.into_iter().map(|case| (Violation::Goal(number), case)));
        }
        self.failures(&mut found)?;
        Ok(found)
    }

    fn failures(&mut self, found: &mut Vec<(Violation, DualConfiguration)>) -> Result<(), NotFinite> {
        let finite = self.finite;
        for (thread, graph) in finite.threads.iter().enumerate() {
            for (number, state) in graph.states.iter().enumerate() {
                let ControlPoint::Failed(failure) = state.place else { continue };
                let (id, transition) = (ThreadId(thread), failure.transition);
                let violation = match failure.fault {
                    Some(fault) => Violation::Fault { thread: id, transition, fault },
                    None => Violation::Assert { thread: id, transition },
                };
                let mut threads = vec![None; finite.threads.len()];
                threads[thread] = Some(vec![number as LocalStateId]);
                let open = vec![OPEN; finite.cells.len()];
                found.extend(self.with_others(threads, open)?.into_iter().map(|case| (violation, case)));
            }
        }
        Ok(())
    }

    fn cases(&mut self, goal: &Goal, found: &mut Vec<DualConfiguration>) -> Result<(), NotFinite> {
        let finite = self.finite;
        let settled = goal.is_final() || goal.mentions_memory();
        let mut questions = Vec::new();
        goal.condition.for_each_atom(&mut |atom| {
            let question = match *atom {
                Observable::At(thread, _) | Observable::Register(thread, _) => ConditionAtom::Thread(thread.0),
                // The fixpoint makes a cell of every address that a goal speaks of.
                Observable::Memory(address) => ConditionAtom::Cell(finite.find_cell(address).unwrap_or(CellId::MAX)),
            };
            if !questions.contains(&question) {
                questions.push(question);
            }
        });
        let looks: Vec<Vec<ThreadView>> =
            (0..finite.threads.len()).map(|thread| self.looks(thread, goal, settled)).collect();
        let (watch, seen, found_cases) = (self.watch, Vec::new(), Vec::new());
        let mut case = ConditionSplit { goal, looks: &looks, questions: &questions, seen, found: found_cases, watch };
        case.split(finite, 0, &mut vec![None; finite.threads.len()], &mut vec![OPEN; finite.cells.len()])?;
        let cases = case.found;
        // Each is given back when the constraints of all are made.
        let bytes = cases.len() * case_bytes(finite);
        for (threads, memory) in cases {
            let threads = threads.iter().zip(&looks).map(|(look, looks)| look.map(|look| looks[look].members.clone()));
            let mut threads: Vec<Option<Vec<LocalStateId>>> = threads.collect();
            if settled {
                for (thread, members) in threads.iter_mut().enumerate().filter(|(_, members)| members.is_none()) {
                    let all: Vec<LocalStateId> = looks[thread].iter().flat_map(|look| look.members.clone()).collect();
                    if all.is_empty() {
                        break;
                    }
                    *members = Some(sorted(all));
                }
                if threads.iter().any(Option::is_none) {
                    continue;
                }
            }
            found.extend(self.with_others(threads, memory)?);
        }
        self.watch.release(bytes);
        Ok(())
    }

    /// The ways in which a thread can look to a goal's condition, where the goal is judged.
    fn looks(&self, thread: usize, goal: &Goal, settled: bool) -> Vec<ThreadView> {
        let graph = &self.finite.threads[thread];
        let code = &self.finite.program.threads[thread];
        let mut atoms: Vec<Observable> = Vec::new();
        goal.condition.for_each_atom(&mut |atom| {
            let of = match atom {
                Observable::At(of, _) | Observable::Register(of, _) => of.0,
                Observable::Memory(_) => usize::MAX,
            };
            if of == thread && !atoms.contains(atom) {
                atoms.push(atom.clone());
            }
        });
        let mut looks: Vec<ThreadView> = Vec::new();
        let mut numbers: FxHashMap<(Vec<Value>, bool), usize> = FxHashMap::default();
        for (number, state) in graph.states.iter().enumerate() {
            let ControlPoint::At(location) = state.place else { continue };
            if settled && (state.holds_bus || !state.stranded.is_empty()) || goal.is_final() && !code.is_end(location) {
                continue;
            }
            let values: Vec<Value> = atoms.iter().map(|atom| observe(state, location, atom)).collect();
            let look = *numbers.entry((values.clone(), state.holds_bus)).or_insert(looks.len());
            if look == looks.len() {
                looks.push(ThreadView { seen: atoms.iter().cloned().zip(values).collect(), members: Vec::new() });
            }
            looks[look].members.push(number as LocalStateId);
        }
        looks
    }

    /// A case with every thread in it: those it says nothing of may be anywhere. At most one thread holds the bus lock.
    fn with_others(
        &mut self,
        threads: Vec<Option<Vec<LocalStateId>>>,
        memory: Vec<u32>,
    ) -> Result<Vec<DualConfiguration>, NotFinite> {
        let mut rows: Vec<(Vec<u32>, bool)> = vec![(Vec::new(), false)];
        for (thread, members) in threads.into_iter().enumerate() {
            let states = &self.finite.threads[thread].states;
            let mut sets: Vec<Vec<LocalStateId>> = Vec::new();
            let members = members.unwrap_or_else(|| {
                (0..states.len() as LocalStateId)
                    .filter(|state| matches!(states[*state as usize].place, ControlPoint::At(_)))
                    .collect()
            });
            self.watch.steps(1 + members.len() / 16)?;
            for holds in [false, true] {
                let part = members.iter().copied().filter(|state| states[*state as usize].holds_bus == holds);
                let part: Vec<LocalStateId> = part.collect();
                if !part.is_empty() {
                    sets.push(part);
                }
            }
            let mut next = Vec::new();
            for set in sets {
                let holds = states[set[0] as usize].holds_bus;
                let (known, size) = (self.threads[thread].sets.len(), set.len());
                let control = self.threads[thread].set(set);
                if self.threads[thread].sets.len() > known {
                    self.watch.hold(states.len() + 16 * size)?;
                }
                let part = self.threads[thread].intern(control, &[]);
                for (row, held) in rows.iter().filter(|(_, held)| !(*held && holds)) {
                    let mut row = row.clone();
                    row.push(part);
                    next.push((row, *held || holds));
                }
            }
            rows = next;
        }
        let configuration = |(mut row, _): (Vec<u32>, bool)| {
            row.extend(&memory);
            DualConfiguration(row.into())
        };
        let found: Vec<DualConfiguration> = rows.into_iter().map(configuration).collect();
        self.watch.hold(found.iter().map(|case| size_of_val(&*case.0) + 48).sum())?;
        Ok(found)
    }
}

fn sorted(mut states: Vec<LocalStateId>) -> Vec<LocalStateId> {
    states.sort_unstable();
    states
}

fn observe(state: &LocalState, location: LocId, atom: &Observable) -> Value {
    match *atom {
        Observable::At(_, at) => Value::from(at == location),
        Observable::Register(_, RegId(register)) => state.registers[register],
        Observable::Memory(_) => 0,
    }
}

/// A condition while it is split into cases.
struct ConditionSplit<'a> {
    goal: &'a Goal,
    looks: &'a [Vec<ThreadView>],
    questions: &'a [ConditionAtom],
    seen: Vec<(Observable, Value)>,
    /// By thread the number of its look, and memory.
    found: Vec<(Vec<Option<usize>>, Vec<u32>)>,
    watch: &'a Watch<'a>,
}

/// What a case takes in memory, roughly.
fn case_bytes(finite: &Finite) -> usize {
    size_of::<(Vec<Option<usize>>, Vec<u32>)>() + 16 * finite.threads.len() + 4 * finite.cells.len() + 32
}

impl ConditionSplit<'_> {
    fn split(
        &mut self,
        finite: &Finite,
        asked: usize,
        threads: &mut Vec<Option<usize>>,
        memory: &mut Vec<u32>,
    ) -> Result<(), NotFinite> {
        // Evaluating the condition looks for each of its atoms among those that were seen.
        self.watch.steps(1 + self.seen.len() / 4)?;
        match partial(&self.goal.condition, &self.seen) {
            Partial::Value(value) if self.goal.is_violated_by(value) => {
                if self.found.len() == MOST_CASES {
                    return Err(NotFinite::Goals { limit: MOST_CASES });
                }
                self.watch.hold(case_bytes(finite))?;
                self.found.push((threads.clone(), memory.clone()));
                return Ok(());
            }
            Partial::Value(_) | Partial::None => return Ok(()),
            Partial::Open => {}
        }
        let Some(question) = self.questions.get(asked) else { return Ok(()) };
        let before = self.seen.len();
        match *question {
            ConditionAtom::Thread(thread) => {
                for look in 0..self.looks[thread].len() {
                    self.seen.extend(self.looks[thread][look].seen.iter().cloned());
                    threads[thread] = Some(look);
                    self.split(finite, asked + 1, threads, memory)?;
                    self.seen.truncate(before);
                }
                threads[thread] = None;
            }
            ConditionAtom::Cell(cell) => {
                let Some(of) = finite.cells.get(cell as usize) else { return Ok(()) };
                for (number, value) in of.values.iter().enumerate() {
                    self.seen.push((Observable::Memory(of.address), *value));
                    // A cell with one value only is never mentioned elsewhere.
                    memory[cell as usize] = if of.values.len() == 1 { OPEN } else { known(number as u16) };
                    self.split(finite, asked + 1, threads, memory)?;
                    self.seen.truncate(before);
                }
                memory[cell as usize] = OPEN;
            }
        }
        Ok(())
    }
}

/// A condition of which not everything is seen.
enum Partial {
    Value(Value),
    /// It has no value (it divides by zero, say).
    None,
    Open,
}

fn partial(condition: &Condition, seen: &[(Observable, Value)]) -> Partial {
    match condition {
        Expr::Const(value) => Partial::Value(*value),
        Expr::Atom(atom) => {
            seen.iter().find(|(of, _)| of == atom).map_or(Partial::Open, |(_, value)| Partial::Value(*value))
        }
        Expr::Unary(op, arithmetic, operand) => match partial(operand, seen) {
            Partial::Value(value) => op.apply(*arithmetic, value).map_or(Partial::None, Partial::Value),
            other => other,
        },
        Expr::Binary(op, arithmetic, left, right) => match (op, partial(left, seen)) {
            (BinaryOp::And, Partial::Value(0)) => Partial::Value(0),
            (BinaryOp::Or, Partial::Value(value)) if value != 0 => Partial::Value(1),
            (op, Partial::Open) if op.is_comparison() => compared(*op, bounds(left, seen), bounds(right, seen)),
            (_, Partial::Value(left)) => match partial(right, seen) {
                Partial::Value(right) => op.apply(*arithmetic, left, right).map_or(Partial::None, Partial::Value),
                other => other,
            },
            (_, other) => other,
        },
    }
}

/// The least and the greatest value of a count of threads of which not all are seen; `None` if it is something else.
fn bounds(condition: &Condition, seen: &[(Observable, Value)]) -> Option<(Value, Value)> {
    match condition {
        Expr::Const(value) => Some((*value, *value)),
        Expr::Atom(atom @ Observable::At(..)) => {
            let known = seen.iter().find(|(of, _)| of == atom);
            Some(known.map_or((0, 1), |(_, value)| (*value, *value)))
        }
        Expr::Binary(BinaryOp::Add, Arithmetic::Checked, left, right) => {
            let ((low, high), (least, most)) = (bounds(left, seen)?, bounds(right, seen)?);
            Some((low.checked_add(least)?, high.checked_add(most)?))
        }
        _ => None,
    }
}

/// A comparison that holds, or does not, whatever the values between the bounds are.
fn compared(op: BinaryOp, left: Option<(Value, Value)>, right: Option<(Value, Value)>) -> Partial {
    let (Some((low, high)), Some((least, most))) = (left, right) else { return Partial::Open };
    let decided = match op {
        BinaryOp::Ge => (low >= most).then_some(1).or((high < least).then_some(0)),
        BinaryOp::Gt => (low > most).then_some(1).or((high <= least).then_some(0)),
        BinaryOp::Le => (high <= least).then_some(1).or((low > most).then_some(0)),
        BinaryOp::Lt => (high < least).then_some(1).or((low >= most).then_some(0)),
        BinaryOp::Eq => (high < least || low > most).then_some(0),
        BinaryOp::Ne => (high < least || low > most).then_some(1),
        _ => None,
    };
    decided.map_or(Partial::Open, Partial::Value)
}
