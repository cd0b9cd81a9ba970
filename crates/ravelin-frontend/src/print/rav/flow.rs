//! An automaton as statements: straight lines, `if`, `while`, `loop`, `choose`, and `goto` for the rest.
//!
//! The text is right whatever the shape of the automaton: a location is written once, and every other way to it is a
//! `goto` to its label. Structure only decides what needs no `goto`. Two assumptions `c` and `!c` out of one location are
//! an `if`, or a `while` if the first leads back; other branches are a `choose`. Branches meet at the location's immediate
//! post-dominator (Cooper, Harvey, Kennedy, *A simple, fast dominance algorithm*, 2001), and a location that a
//! depth-first search comes back to heads a loop. Costs about the square of the number of locations at worst.

use super::graph::{loop_heads, post_dominators};
use super::statement::{RavStatement, breaks, write};
use ravelin_program::{Arithmetic, Expr, Instruction, LocId, Program, Show, Thread, UnaryOp};
use std::collections::VecDeque;

/// Blocks nest at most this deep; what lies deeper is written after the rest and reached by `goto`.
const DEEPEST: usize = 40;

/// The statements of a thread, indented by one level. The program must be legal (see `legal`).
pub(super) fn statements(program: &Program, thread: &Thread, arithmetic: Arithmetic) -> String {
    let mut flow = RavFlow::new(program, thread, arithmetic);
    flow.queue.push_back(thread.initial);
    let mut all = Vec::new();
    while let Some(start) = flow.queue.pop_front() {
        if !flow.printed[start.0] && !thread.is_end(start) {
            all.extend(flow.run(start, None, 0));
        }
    }
    let end = (0..thread.locations.len()).map(LocId).find(|&location| {
        let known =
            flow.printed[location.0] || thread.transitions.iter().any(|t| flow.printed[t.from.0] && t.to == location);
        thread.is_end(location) && (known || location == thread.initial)
    });
    if let Some(end) = end
        && !thread.locations[end.0].labels.is_empty()
    {
        all.push(RavStatement::Label(end));
    }
    write(thread, all)
}

struct RavFlow<'a> {
    thread: &'a Thread,
    show: Show<'a>,
    printed: Vec<bool>,
    /// Will be printed by an enclosing block, after it.
    claimed: Vec<bool>,
    /// Head and exit of the loops around here, innermost last.
    loops: Vec<(LocId, Option<LocId>)>,
    queue: VecDeque<LocId>,
    heads: Vec<bool>,
    joins: Vec<Option<LocId>>,
    after: Vec<Vec<LocId>>,
    before: Vec<Vec<LocId>>,
}

impl<'a> RavFlow<'a> {
    fn new(program: &'a Program, thread: &'a Thread, arithmetic: Arithmetic) -> RavFlow<'a> {
        let count = thread.locations.len();
        let (mut after, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for transition in &thread.transitions {
            after[transition.from.0].push(transition.to);
            before[transition.to.0].push(transition.from);
        }
        RavFlow {
            thread,
            show: Show { memory: &program.memory, thread, aliases: &[], arithmetic: Some(arithmetic), values: None },
            printed: vec![false; count],
            claimed: vec![false; count],
            loops: Vec::new(),
            queue: VecDeque::new(),
            heads: loop_heads(thread),
            joins: post_dominators(thread),
            after,
            before,
        }
    }

    /// The statements from a location on. Control that gets to `follow` falls through their end; all other control ends in
    /// a jump.
    fn run(&mut self, start: LocId, follow: Option<LocId>, depth: usize) -> Vec<RavStatement> {
        let mut out = Vec::new();
        let mut at = start;
        loop {
            if Some(at) == follow {
                return out;
            }
            if let Some((head, exit)) = self.loops.last() {
                let jump = match at {
                    at if Some(at) == *exit => Some(RavStatement::Break),
                    at if at == *head => Some(RavStatement::Continue(at)),
                    _ => None,
                };
                if let Some(jump) = jump {
                    out.push(jump);
                    return out;
                }
            }
            if self.thread.is_end(at) {
                out.push(RavStatement::Return);
                return out;
            }
            if self.printed[at.0] || self.claimed[at.0] || depth > DEEPEST {
                self.queue.push_back(at);
                out.push(RavStatement::Goto(at));
                return out;
            }
            out.push(RavStatement::Label(at));
            let next = match self.loop_body(at, follow) {
                Some(inside) => self.run_loop(at, &inside, follow, depth, &mut out),
                None => self.step(at, follow, depth, &mut out),
            };
            match next {
                Some(next) => at = next,
                None => return out,
            }
        }
    }

    /// Writes what leaves `at`, which is marked as printed; gives the location where the text goes on.
    fn step(&mut self, at: LocId, follow: Option<LocId>, depth: usize, out: &mut Vec<RavStatement>) -> Option<LocId> {
        self.printed[at.0] = true;
        let thread = self.thread;
        let outgoing: Vec<_> = thread.outgoing(at).map(|(_, transition)| transition).collect();
        if let [transition] = outgoing.as_slice() {
            self.instruction(&transition.instruction, out);
            return Some(transition.to);
        }
        let exit = self.loops.last().and_then(|(_, exit)| *exit);
        let taken = |join: LocId| self.printed[join.0] || self.claimed[join.0];
        let join = self.joins[at.0].filter(|&join| Some(join) != follow && Some(join) != exit && !taken(join));
        if let Some(join) = join {
            self.claimed[join.0] = true;
        }
        let inner = join.or(follow);
        let condition = branch_condition(thread, at);
        let mut arms = Vec::new();
        for transition in outgoing {
            let mut arm = Vec::new();
            if condition.is_none() {
                self.instruction(&transition.instruction, &mut arm);
            }
            arm.extend(self.run(transition.to, inner, depth + 1));
            arms.push(arm);
        }
        out.push(match condition {
            Some(condition) => {
                let otherwise = arms.pop().unwrap_or_default();
                let then = arms.pop().unwrap_or_default();
                RavStatement::If { condition: self.show.expr(condition), then, otherwise }
            }
            None => RavStatement::Choose(arms),
        });
        if let Some(join) = join {
            self.claimed[join.0] = false;
        }
        join
    }

    fn run_loop(
        &mut self,
        head: LocId,
        inside: &[bool],
        follow: Option<LocId>,
        depth: usize,
        out: &mut Vec<RavStatement>,
    ) -> Option<LocId> {
        let thread = self.thread;
        let targets: Vec<LocId> = thread.outgoing(head).map(|(_, transition)| transition.to).collect();
        if let (Some(condition), [body, exit]) = (branch_condition(thread, head), targets.as_slice())
            && inside[body.0]
            && !inside[exit.0]
        {
            self.printed[head.0] = true;
            let claims = self.claim(*exit, follow);
            self.loops.push((head, Some(*exit)));
            let body = self.run(*body, Some(head), depth + 1);
            self.loops.pop();
            self.unclaim(claims, *exit);
            out.push(RavStatement::While { head, condition: self.show.expr(condition), body });
            return Some(*exit);
        }
        let exit = (0..inside.len())
            .filter(|&location| inside[location])
            .flat_map(|location| thread.outgoing(LocId(location)).map(|(_, transition)| transition.to))
            .find(|to| !inside[to.0] && !thread.is_end(*to) && !self.printed[to.0]);
        let claims = exit.is_some_and(|exit| self.claim(exit, follow));
        self.loops.push((head, exit));
        let mut body = Vec::new();
        if let Some(next) = self.step(head, Some(head), depth + 1, &mut body) {
            body.extend(self.run(next, Some(head), depth + 1));
        }
        self.loops.pop();
        if let Some(exit) = exit {
            self.unclaim(claims, exit);
        }
        let leaves = breaks(&body);
        out.push(RavStatement::Loop { head, body });
        exit.filter(|_| leaves)
    }

    /// The locations on a way from a loop's head back to it that are still to be written here. An inner loop thus ends
    /// where it gets back to an outer one.
    fn loop_body(&self, head: LocId, follow: Option<LocId>) -> Option<Vec<bool>> {
        if !self.heads[head.0] {
            return None;
        }
        let count = self.thread.locations.len();
        let closed = |at: LocId| at != head && (self.printed[at.0] || self.claimed[at.0] || Some(at) == follow);
        let spread = |next: &[Vec<LocId>]| {
            let mut reached = vec![false; count];
            let mut open = next[head.0].clone();
            while let Some(location) = open.pop() {
                if !closed(location) && !std::mem::replace(&mut reached[location.0], true) {
                    open.extend(&next[location.0]);
                }
            }
            reached
        };
        let (forward, backward) = (spread(&self.after), spread(&self.before));
        let inside: Vec<bool> = (0..count).map(|location| forward[location] && backward[location]).collect();
        inside[head.0].then_some(inside)
    }

    /// Reserves a loop's exit for the text after the loop. An exit that somebody else writes stays theirs.
    fn claim(&mut self, exit: LocId, follow: Option<LocId>) -> bool {
        let free = Some(exit) != follow && !self.claimed[exit.0];
        self.claimed[exit.0] |= free;
        free
    }

    fn unclaim(&mut self, claimed: bool, exit: LocId) {
        if claimed {
            self.claimed[exit.0] = false;
            // It may be reached by a `goto` only, and then nobody else would write it.
            self.queue.push_back(exit);
        }
    }

    fn instruction(&self, instruction: &Instruction, out: &mut Vec<RavStatement>) {
        if let Instruction::Locked { body, drains: true } = instruction
            && !body.iter().any(|part| matches!(part, Instruction::Store { .. }))
        {
            out.push(RavStatement::Line("fence(seq_cst);".to_owned()));
        }
        let text = self.show.instruction(instruction);
        let semicolon = if matches!(instruction, Instruction::Locked { .. }) { "" } else { ";" };
        out.push(RavStatement::Line(format!("{text}{semicolon}")));
    }
}

/// The condition `c` of a location left by exactly `assume(c)` and `assume(!c)`, in this order. A constant one is no
/// condition to the parser.
fn branch_condition(thread: &Thread, at: LocId) -> Option<&Expr> {
    let mut outgoing = thread.outgoing(at).map(|(_, transition)| &transition.instruction);
    let (Some(Instruction::Assume(yes)), Some(Instruction::Assume(Expr::Unary(UnaryOp::Not, _, no))), None) =
        (outgoing.next(), outgoing.next(), outgoing.next())
    else {
        return None;
    };
    (*yes == **no && yes.has_atoms()).then_some(yes)
}
