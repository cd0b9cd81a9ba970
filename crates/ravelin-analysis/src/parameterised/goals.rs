//! The goals of a program with any number of threads, as cases: which threads must be where, and what memory must hold.
//!
//! A case asks for at least so many copies at a place; more do no harm. So a condition must not turn false when copies are added:
//! `2 of p@critical` is a goal for any number of threads, `p@critical == 1` is not. Whether a condition is of this kind is not read off its
//! form but tried: it is evaluated for all numbers of copies up to one more than any it names. Conditions about final states need every
//! copy to be at its end, which is another kind of question, and are refused.

use crate::reachability::finite::{
    CellId, CellPair, ControlPoint, Finite, LocalFailure, LocalState, LocalStateId, NotFinite,
};
use ravelin_explore::Watch;
use ravelin_machine::Violation;
use ravelin_program::{Condition, Copies, Expr, Goal, LocId, Observable, RegId, ThreadId, Value};
use std::collections::HashSet;

/// The most cases that goals may be split into.
const MOST_CASES: usize = 1 << 16;
/// The most copies that a goal may ask for at one place.
const MOST_COPIES: Value = 64;

/// What a violation needs, at least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct GoalCase {
    /// Threads and their local states. A template may be there several times.
    pub threads: Vec<(usize, LocalStateId)>,
    pub memory: Vec<CellPair>,
}

/// Local states that a search must not pass over: goals speak of them.
pub(super) struct WatchedStates {
    /// By thread: all of its states.
    whole: Vec<bool>,
    locations: HashSet<(usize, LocId)>,
}

impl WatchedStates {
    pub fn new(finite: &Finite) -> WatchedStates {
        let mut watched = WatchedStates { whole: vec![false; finite.threads.len()], locations: HashSet::new() };
        for goal in &finite.program.goals {
            goal.condition.for_each_atom(&mut |atom| match *atom {
                Observable::At(thread, location) if is_template(finite, thread.0) => {
                    watched.locations.insert((thread.0, location));
                }
                Observable::At(thread, _) | Observable::Register(thread, _) => watched.whole[thread.0] = true,
                Observable::Memory(_) => {}
            });
        }
        watched
    }

    pub fn watches(&self, thread: usize, state: &LocalState) -> bool {
        match state.place {
            ControlPoint::Failed(_) => true,
            ControlPoint::At(location) => self.whole[thread] || self.locations.contains(&(thread, location)),
        }
    }
}

/// All cases of all goals, of assertions and of faults, with what is violated there.
pub(super) fn cases(finite: &Finite, watch: &Watch) -> Result<Vec<(Violation, GoalCase)>, NotFinite> {
    let mut found = Vec::new();
    for (number, goal) in finite.program.goals.iter().enumerate() {
        let mut splitting = GoalSplit::new(finite, goal, watch)?;
        splitting.split(0)?;
        found.extend(splitting.found.into_iter().map(|case| (Violation::Goal(number), case)));
    }
    for (thread, graph) in finite.threads.iter().enumerate() {
        for (number, state) in graph.states.iter().enumerate() {
            let ControlPoint::Failed(LocalFailure { transition, fault }) = state.place else { continue };
            let thread_id = ThreadId(thread);
            let violation = match fault {
                Some(fault) => Violation::Fault { thread: thread_id, transition, fault },
                None => Violation::Assert { thread: thread_id, transition },
            };
            found.push((violation, GoalCase { threads: vec![(thread, number as LocalStateId)], memory: Vec::new() }));
        }
    }
    Ok(found)
}

fn is_template(finite: &Finite, thread: usize) -> bool {
    finite.program.threads[thread].copies == Copies::Any
}

/// A part of a condition that is decided at once.
enum GoalAtom {
    /// A thread of which there is one, with the states that it can be in.
    Thread(usize),
    Cell(CellId),
}

/// A condition while it is split into cases.
struct GoalSplit<'a> {
    finite: &'a Finite,
    goal: &'a Goal,
    questions: Vec<GoalAtom>,
    /// Templates and locations whose copies are counted.
    counters: Vec<(usize, LocId)>,
    /// Counts from here on look the same to the condition.
    many: Value,
    case: GoalCase,
    seen: Vec<(Observable, Value)>,
    found: Vec<GoalCase>,
    watch: &'a Watch<'a>,
}

impl<'a> GoalSplit<'a> {
    fn new(finite: &'a Finite, goal: &'a Goal, watch: &'a Watch<'a>) -> Result<GoalSplit<'a>, NotFinite> {
        let line = finite.program.source.position(goal.span).map(|position| position.line);
        if goal.is_final() {
            return Err(NotFinite::FinalGoal { line });
        }
        let mut splitting = GoalSplit {
            finite,
            goal,
            questions: Vec::new(),
            counters: Vec::new(),
            many: largest(&goal.condition).saturating_add(1),
            case: GoalCase::default(),
            seen: Vec::new(),
            found: Vec::new(),
            watch,
        };
        let (mut threads, mut cells) = (Vec::new(), Vec::new());
        goal.condition.for_each_atom(&mut |atom| match *atom {
            Observable::At(thread, location) if is_template(finite, thread.0) => {
                if !splitting.counters.contains(&(thread.0, location)) {
                    splitting.counters.push((thread.0, location));
                }
            }
            Observable::At(thread, _) | Observable::Register(thread, _) => threads.push(thread.0),
            // The finite view has a cell for every address that a goal speaks of.
            Observable::Memory(address) => cells.extend(finite.find_cell(address)),
        });
        threads.sort_unstable();
        threads.dedup();
        cells.sort_unstable();
        cells.dedup();
        splitting.questions.extend(threads.into_iter().map(GoalAtom::Thread));
        splitting.questions.extend(cells.into_iter().map(GoalAtom::Cell));
        if splitting.many > MOST_COPIES && !splitting.counters.is_empty() {
            return Err(NotFinite::GoalCounts { line });
        }
        Ok(splitting)
    }

    fn split(&mut self, asked: usize) -> Result<(), NotFinite> {
        let finite = self.finite;
        let before = self.seen.len();
        self.watch.step()?;
        match self.questions.get(asked) {
            None => self.count()?,
            Some(GoalAtom::Thread(thread)) => {
                let thread = *thread;
                for (number, state) in finite.threads[thread].states.iter().enumerate() {
                    let ControlPoint::At(location) = state.place else { continue };
                    self.look(thread, state, location);
                    self.case.threads.push((thread, number as LocalStateId));
                    self.split(asked + 1)?;
                    self.case.threads.pop();
                    self.seen.truncate(before);
                }
            }
            Some(GoalAtom::Cell(cell)) => {
                let cell = *cell;
                let of = &finite.cells[cell as usize];
                for (number, value) in of.values.iter().enumerate() {
                    self.seen.push((Observable::Memory(of.address), *value));
                    self.case.memory.push((cell, number as u16));
                    self.split(asked + 1)?;
                    self.case.memory.pop();
                    self.seen.truncate(before);
                }
            }
        }
        Ok(())
    }

    /// What the condition asks of a thread, in one of its states.
    fn look(&mut self, thread: usize, state: &LocalState, location: LocId) {
        let GoalSplit { goal, seen, .. } = self;
        goal.condition.for_each_atom(&mut |atom| match *atom {
            Observable::At(of, at) if of.0 == thread => seen.push((atom.clone(), Value::from(at == location))),
            Observable::Register(of, RegId(register)) if of.0 == thread => {
                seen.push((atom.clone(), state.registers[register]));
            }
            _ => {}
        });
    }

    /// Everything but the counts is decided: finds the least counts, and sees to it that more are no less.
    fn count(&mut self) -> Result<(), NotFinite> {
        let mut violating: Vec<Vec<Value>> = Vec::new();
        let mut counts = vec![0; self.counters.len()];
        loop {
            self.watch.steps(1 + self.seen.len() / 4)?;
            if self.is_violated(&counts) {
                violating.push(counts.clone());
            }
            let Some(next) = counts.iter().position(|count| *count < self.many) else { break };
            counts[..next].fill(0);
            counts[next] += 1;
        }
        let known: HashSet<&Vec<Value>> = violating.iter().collect();
        for counts in &violating {
            for at in (0..counts.len()).filter(|at| counts[*at] < self.many) {
                let mut more = counts.clone();
                more[at] += 1;
                if !known.contains(&more) {
                    let line = self.finite.program.source.position(self.goal.span).map(|position| position.line);
                    return Err(NotFinite::GoalCounts { line });
                }
            }
        }
        let covers = |small: &[Value], large: &[Value]| small.iter().zip(large).all(|(small, large)| small <= large);
        let minimal = |counts: &&Vec<Value>| !violating.iter().any(|other| other != *counts && covers(other, counts));
        for counts in violating.iter().filter(minimal) {
            self.watch.steps(1 + violating.len() / 4)?;
            self.place(0, counts)?;
        }
        Ok(())
    }

    fn is_violated(&self, counts: &[Value]) -> bool {
        let value = self.goal.condition.eval(&mut |atom| match atom {
            Observable::At(thread, location) if is_template(self.finite, thread.0) => {
                let counter = self.counters.iter().position(|counter| *counter == (thread.0, *location));
                counter.map_or(0, |counter| counts[counter])
            }
            atom => self.seen.iter().find(|(of, _)| of == atom).map_or(0, |(_, value)| *value),
        });
        // A condition without a value is not violated.
        value.is_ok_and(|value| self.goal.is_violated_by(value))
    }

    /// Puts so many copies at each counted location, in every combination of local states.
    fn place(&mut self, counter: usize, counts: &[Value]) -> Result<(), NotFinite> {
        let Some(&(thread, location)) = self.counters.get(counter) else {
            if self.found.len() == MOST_CASES {
                return Err(NotFinite::Goals { limit: MOST_CASES });
            }
            let bytes = size_of_val(&*self.case.threads) + size_of_val(&*self.case.memory);
            self.watch.hold(size_of::<(Violation, GoalCase)>() + bytes + 32)?;
            self.found.push(self.case.clone());
            return Ok(());
        };
        let states = self.finite.threads[thread].states.iter().enumerate();
        let here = states.filter(|(_, state)| state.place == ControlPoint::At(location));
        let here: Vec<LocalStateId> = here.map(|(number, _)| number as LocalStateId).collect();
        self.choose(counter, counts, &here, counts[counter])
    }

    fn choose(
        &mut self,
        counter: usize,
        counts: &[Value],
        from: &[LocalStateId],
        left: Value,
    ) -> Result<(), NotFinite> {
        if left == 0 {
            return self.place(counter + 1, counts);
        }
        let thread = self.counters[counter].0;
        for at in 0..from.len() {
            self.case.threads.push((thread, from[at]));
            self.choose(counter, counts, &from[at..], left - 1)?;
            self.case.threads.pop();
        }
        Ok(())
    }
}

/// The largest number that a condition names.
fn largest(condition: &Condition) -> Value {
    match condition {
        Expr::Const(value) => value.saturating_abs(),
        Expr::Atom(_) => 0,
        Expr::Unary(_, _, operand) => largest(operand),
        Expr::Binary(_, _, left, right) => largest(left).max(largest(right)),
    }
}
