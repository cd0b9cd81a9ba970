//! An automaton as `if` and `while`, without any jump.
//!
//! Branches meet where every way from them to what follows comes by; code behind a branch that ends the thread is written
//! once for each way to it. A loop leaves from one place only, where a condition is tested: what comes before the test
//! is written before the loop and again at the end of its body. A loop that never ends is `while (1)`. Other loops need a
//! `break`, which litmus tests do not have, and are refused.

use super::Inexpressible;
use ravelin_program::{Expr, Instruction, LocId, Thread, UnaryOp};
use std::collections::{HashMap, HashSet, VecDeque};

/// The most statements of one thread; branches that are written out several times could make it exponentially long.
const MOST_STATEMENTS: usize = 10_000;
/// The most locations of one thread; where branches meet is found by search.
const MOST_LOCATIONS: usize = 2_000;
/// Blocks nest at most this deep.
const DEEPEST: usize = 100;

#[derive(Clone, Debug)]
pub(super) enum LitmusStatement {
    Do(Instruction),
    If { condition: Expr, then: Vec<LitmusStatement>, otherwise: Vec<LitmusStatement> },
    While { condition: Expr, body: Vec<LitmusStatement> },
}

pub(super) fn statements(thread: &Thread) -> Result<Vec<LitmusStatement>, Inexpressible> {
    if thread.locations.len() > MOST_LOCATIONS {
        return Err(Inexpressible::TooLong(thread.name.clone()));
    }
    LitmusFlow { thread, heads: Vec::new(), written: 0 }.run(thread.initial, None)
}

struct LitmusFlow<'a> {
    thread: &'a Thread,
    /// Where the loops and branches around here start; control must not get back to them from inside.
    heads: Vec<LocId>,
    written: usize,
}

impl LitmusFlow<'_> {
    /// The statements from a location up to `follow`, or to the end of the thread.
    fn run(&mut self, start: LocId, follow: Option<LocId>) -> Result<Vec<LitmusStatement>, Inexpressible> {
        let mut out = Vec::new();
        let mut at = start;
        loop {
            if Some(at) == follow {
                return Ok(out);
            }
            if self.thread.is_end(at) {
                // The text would go on with what follows.
                return if follow.is_some() { Err(self.unstructured(at)) } else { Ok(out) };
            }
            if self.heads.contains(&at) || self.heads.len() > DEEPEST {
                return Err(self.unstructured(at));
            }
            let next = if self.comes_back(at, follow) {
                self.write_loop(at, &mut out)?
            } else {
                self.step(at, follow, &mut out)?
            };
            match next {
                Some(next) => at = next,
                None => return Ok(out),
            }
        }
    }

    /// Writes what leaves a location; gives the location where the text goes on, if it does.
    fn step(
        &mut self,
        at: LocId,
        follow: Option<LocId>,
        out: &mut Vec<LitmusStatement>,
    ) -> Result<Option<LocId>, Inexpressible> {
        self.count()?;
        if let Some((instruction, to)) = self.single(at) {
            self.push(instruction, out);
            return Ok(Some(to));
        }
        let (condition, then, otherwise) = self.branch(at)?;
        let join = self.join(at, follow);
        self.heads.push(at);
        let inner = join.or(follow);
        let then = self.run(then, inner)?;
        let otherwise = self.run(otherwise, inner)?;
        self.heads.pop();
        out.push(match then.is_empty() && !otherwise.is_empty() {
            true => LitmusStatement::If { condition: opposite(condition), then: otherwise, otherwise: then },
            false => LitmusStatement::If { condition, then, otherwise },
        });
        Ok(inner)
    }

    fn write_loop(&mut self, head: LocId, out: &mut Vec<LitmusStatement>) -> Result<Option<LocId>, Inexpressible> {
        let mut test = Vec::new();
        let mut at = head;
        while let Some((instruction, to)) = self.single(at) {
            self.count()?;
            self.push(instruction, &mut test);
            at = to;
            if at == head {
                out.push(LitmusStatement::While { condition: Expr::Const(1), body: test });
                return Ok(None);
            }
            // An inner loop starts here, or the thread ends.
            if self.reaches_itself(at, head) || self.thread.is_end(at) {
                break;
            }
        }
        if !self.thread.is_end(at) && self.single(at).is_none() {
            let (condition, then, otherwise) = self.branch(at)?;
            let (condition, body, exit) = match (self.reaches(then, head), self.reaches(otherwise, head)) {
                (true, false) => (Some(condition), then, otherwise),
                (false, true) => (Some(opposite(condition)), otherwise, then),
                _ => (None, then, otherwise),
            };
            if let Some(condition) = condition {
                self.heads.push(at);
                let mut body = self.run(body, Some(head))?;
                self.heads.pop();
                body.extend(test.clone());
                out.append(&mut test);
                out.push(LitmusStatement::While { condition, body });
                return Ok(Some(exit));
            }
        }
        // No way out but the end of the thread, which `run` refuses here.
        let mut body = Vec::new();
        if let Some(next) = self.step(head, Some(head), &mut body)? {
            self.heads.push(head);
            body.extend(self.run(next, Some(head))?);
            self.heads.pop();
        }
        out.push(LitmusStatement::While { condition: Expr::Const(1), body });
        Ok(None)
    }

    /// The only transition out of a location.
    fn single(&self, at: LocId) -> Option<(Instruction, LocId)> {
        let mut outgoing = self.thread.outgoing(at).map(|(_, transition)| transition);
        match (outgoing.next(), outgoing.next()) {
            (Some(only), None) => Some((only.instruction.clone(), only.to)),
            _ => None,
        }
    }

    /// The condition of a location with two ways out, and where they lead.
    fn branch(&self, at: LocId) -> Result<(Expr, LocId, LocId), Inexpressible> {
        let outgoing: Vec<_> = self.thread.outgoing(at).map(|(_, transition)| transition).collect();
        if let [first, second] = outgoing.as_slice()
            && let (Instruction::Assume(yes), Instruction::Assume(no)) = (&first.instruction, &second.instruction)
        {
            if opposite(yes.clone()) == *no || yes.clone().not() == *no {
                return Ok((yes.clone(), first.to, second.to));
            }
            if no.clone().not() == *yes {
                return Ok((no.clone(), second.to, first.to));
            }
        }
        let location = self.thread.location_name(at);
        Err(Inexpressible::Choice { thread: self.thread.name.clone(), location })
    }

    fn count(&mut self) -> Result<(), Inexpressible> {
        self.written += 1;
        if self.written > MOST_STATEMENTS { Err(Inexpressible::TooLong(self.thread.name.clone())) } else { Ok(()) }
    }

    fn push(&self, instruction: Instruction, out: &mut Vec<LitmusStatement>) {
        match instruction {
            Instruction::Nop => {}
            Instruction::Assume(condition) if condition.constant().is_some_and(|v| v != 0) => {}
            other => out.push(LitmusStatement::Do(other)),
        }
    }

    fn unstructured(&self, at: LocId) -> Inexpressible {
        Inexpressible::Unstructured { thread: self.thread.name.clone(), location: self.thread.location_name(at) }
    }

    /// There is a way from a location back to it that passes neither what follows nor a loop around here.
    fn comes_back(&self, at: LocId, follow: Option<LocId>) -> bool {
        let closed = |location: LocId| location != at && (Some(location) == follow || self.heads.contains(&location));
        self.reach_from(at, &closed).contains(&at)
    }

    fn reaches_itself(&self, at: LocId, avoiding: LocId) -> bool {
        self.reach_from(at, &|location| location == avoiding).contains(&at)
    }

    fn reaches(&self, from: LocId, to: LocId) -> bool {
        from == to || self.reach_from(from, &|location| location != to && self.heads.contains(&location)).contains(&to)
    }

    /// All locations that at least one step leads to, without those that are closed and what lies behind them.
    fn reach_from(&self, from: LocId, closed: &dyn Fn(LocId) -> bool) -> HashSet<LocId> {
        let mut reached = HashSet::new();
        let mut open = vec![from];
        while let Some(location) = open.pop() {
            for (_, transition) in self.thread.outgoing(location) {
                if !closed(transition.to) && reached.insert(transition.to) {
                    open.push(transition.to);
                }
            }
        }
        reached
    }

    /// The first location that all ways from a branch to what follows, or to an end, come by.
    fn join(&self, at: LocId, follow: Option<LocId>) -> Option<LocId> {
        let is_exit = |location: LocId| Some(location) == follow || self.thread.is_end(location);
        let way = self.way(at, &is_exit)?;
        way.into_iter().find(|&candidate| {
            // No way around the candidate leads to an exit.
            let mut reached = HashSet::new();
            let mut open = vec![at];
            while let Some(location) = open.pop() {
                for to in self.thread.outgoing(location).map(|(_, transition)| transition.to) {
                    if to != candidate && is_exit(to) {
                        return false;
                    }
                    if to != candidate && reached.insert(to) {
                        open.push(to);
                    }
                }
            }
            true
        })
    }

    /// A shortest way from a location to an exit, without its start.
    fn way(&self, from: LocId, is_exit: &dyn Fn(LocId) -> bool) -> Option<Vec<LocId>> {
        let mut before: HashMap<LocId, LocId> = HashMap::new();
        let mut open = VecDeque::from([from]);
        while let Some(location) = open.pop_front() {
            for to in self.thread.outgoing(location).map(|(_, transition)| transition.to) {
                if is_exit(to) {
                    let mut way = vec![to];
                    let mut step = location;
                    while step != from {
                        way.push(step);
                        step = before[&step];
                    }
                    way.reverse();
                    return Some(way);
                }
                if to != from && !before.contains_key(&to) {
                    before.insert(to, location);
                    open.push_back(to);
                }
            }
        }
        None
    }
}

/// The condition that holds exactly where this one does not.
fn opposite(condition: Expr) -> Expr {
    match condition {
        Expr::Unary(UnaryOp::Not, _, inner) if is_truth(&inner) => *inner,
        other => other.opposite().unwrap_or_else(|| other.not()),
    }
}

fn is_truth(condition: &Expr) -> bool {
    matches!(condition, Expr::Binary(op, ..) if op.is_truth())
}
