//! Loops that only wait, rewritten to instructions that wait (section 4.3 of the paper).
//!
//! A thread that spins until it reads a value may read a stale one a few times more than under SC. Nothing depends on that, but every
//! such read is an event, so the program is not robust. As `wait`, `bcas` or a read-modify-write only the attempt that passes is an event.
//! Loops are found in a program's automata rather than in its text, so every language has them.
//!
//! **Attempts.** An attempt is a way through the loop from its header back to it. It *fails without a trace* if it only reads memory (a
//! compare-exchange that fails reads), passes fences, and changes registers that are not used at the header. The rewriting takes away
//! failed attempts and nothing else:
//!
//! - *No execution in which the loop ends is lost.* Take the events of failed attempts out of a graph that the model allows. They are
//!   reads and fences. All axioms forbid cycles of relations that only shrink when such events go, so the model allows what is left, and it is a
//!   graph of the new program with the same final state.
//! - *None is invented.* The loop may end with its first attempt, so a graph of the new program is one of the old program.
//! - *No deadlock is invented.* The new instructions wait side by side, from one location, so a thread waits only if every attempt
//!   would fail with the latest values.
//!
//! So if the new program is robust, then in every execution of the old one that the model allows only the failed attempts of these loops
//! differ from SC. That is also what a data race is asked for, so a loop is kept if its cell is accessed non-atomically anywhere: there
//! the failed attempt may be what races.
//!
//! **Stable loads.** A load of a cell that no other thread writes reads the same in every attempt, and is done once in front of them
//! (`while tail.load() == head.load() {}` of a ring's consumer, who alone writes `head`).
//!
//! **Compare-exchange behind loads.** `loop { old = x.load(); if x.compare_exchange(old, f(old)) ok { break } }`, also where the exchange that
//! fails reloads `old`, and test-and-test-and-set. The attempt that passes is a load and a read-modify-write, and becomes the
//! read-modify-write alone. Taking the load out is right as above. To put it back, let it read what the read-modify-write reads: it stands right
//! in front, so every edge that it has the read-modify-write has too, if its order is not stronger. Loads that acquire where
//! the exchange does not, seq_cst loads, and fences in between keep the loop as it is.
//!
//! **Rows.** `while a.load() == 1 || b.load() == 1 {}` has one way out, on which each load has its own condition: one `wait` after the other. A thread
//! that waits for the second would fail for ever as a loop too. `while a.load() == 1 && b.load() == 1 {}` ends if one of the
//! conditions fails: one `wait` for each, side by side. Here the attempt that passes loses the loads in front of the one that
//! ends it. So nothing is lost, but the new program may be *weaker*: it has executions in which the loads that are left out could not have
//! been inserted. Under SC it has not: the loop, run at the moment at which the `wait` passes, ends as well, at the same place. So that the weaker
//! program is robust still says what it says above, and that it is not says nothing; [`with_exact_waits`] leaves such loops.

mod attempt;
mod counterpart;
mod obstacle;
mod plan;
mod regions;
mod rewrite;
mod shared_use;

pub use counterpart::sites_with_waits;
pub use obstacle::SpinObstacle;

use crate::reachability::finite::liveness::live_with;
use attempt::{AttemptSearch, Attempts};
use plan::LoopPlan;
use ravelin_explore::{Limit, Watch};
use ravelin_machine::PossibleValues;
use ravelin_program::{Instruction, LocId, Observable, Position, Program, RegId, Thread, ThreadId, Transition};
use regions::{MOST_LOCATIONS, Region, components, regions};
use rewrite::LoopStarts;
use shared_use::SharedUse;

/// A loop of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinLoop {
    pub thread: ThreadId,
    /// Where its first step stands.
    pub position: Option<Position>,
    pub outcome: SpinOutcome,
}

/// What became of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpinOutcome {
    Rewritten(SpinRewrite),
    Kept(SpinObstacle),
}

/// A loop that only waits, and what it has become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinRewrite {
    /// The instructions that it became: `wait(x == 1)`.
    pub became: String,
    /// They may allow more than the loop does, though not under SC.
    pub weaker: bool,
    /// The registers that its attempts write.
    pub registers: Vec<RegId>,
    /// The locations inside of it, which no thread is at any more.
    pub locations: Vec<LocId>,
}

impl SpinLoop {
    /// What it became, if it was rewritten.
    pub fn rewrite(&self) -> Option<&SpinRewrite> {
        match &self.outcome {
            SpinOutcome::Rewritten(rewrite) => Some(rewrite),
            SpinOutcome::Kept(_) => None,
        }
    }

    /// A goal of the program mentions what only exists inside of the loop: a failed attempt may then make a difference.
    pub fn is_seen_by_goals(&self, program: &Program) -> bool {
        let Some(rewrite) = self.rewrite() else { return false };
        let mut seen = false;
        for goal in &program.goals {
            goal.condition.for_each_atom(&mut |atom| {
                seen |= match atom {
                    Observable::At(thread, location) => *thread == self.thread && rewrite.locations.contains(location),
                    Observable::Register(thread, register) => {
                        *thread == self.thread && rewrite.registers.contains(register)
                    }
                    Observable::Memory(_) => false,
                };
            });
        }
        seen
    }
}

/// The program with every loop that only waits rewritten, and what was done with each of its loops.
///
/// If the new program is robust, every execution of the old one under the model differs from one under SC at most in failed attempts of the
/// rewritten loops. Locations and registers keep their numbers (some locations are never reached any more, and there may be
/// more registers), transitions do not.
pub fn with_waits(program: &Program, watch: &Watch) -> Result<(Program, Vec<SpinLoop>), Limit> {
    rewritten(program, true, watch)
}

/// The same without the loops that would become weaker: the new program has the final states of the old one under every model.
pub fn with_exact_waits(program: &Program, watch: &Watch) -> Result<(Program, Vec<SpinLoop>), Limit> {
    rewritten(program, false, watch)
}

fn rewritten(program: &Program, weaker: bool, watch: &Watch) -> Result<(Program, Vec<SpinLoop>), Limit> {
    let mut result = program.clone();
    let mut loops = Vec::new();
    if !program.threads.iter().any(|thread| !thread.is_acyclic()) {
        return Ok((result, loops));
    }
    let possible = PossibleValues::infer(program, watch)?;
    let shared = SharedUse::of(program);
    for number in 0..program.threads.len() {
        let mut search = LoopSearch { program, number, possible: &possible, shared: &shared, weaker, watch };
        while let Some(found) = search.rewrite_one(&mut result)? {
            loops.push(found);
        }
        search.kept(&result, &mut loops)?;
    }
    loops.sort_by_key(|found| (found.thread, found.position.map(|position| (position.line, position.column))));
    Ok((result, loops))
}

/// Looks for the loops of one thread.
struct LoopSearch<'a> {
    /// As it was.
    program: &'a Program,
    number: usize,
    possible: &'a PossibleValues<'a>,
    shared: &'a SharedUse<'a>,
    weaker: bool,
    watch: &'a Watch<'a>,
}

impl LoopSearch<'_> {
    /// Rewrites the first loop that can be.
    fn rewrite_one(&mut self, result: &mut Program) -> Result<Option<SpinLoop>, Limit> {
        let thread = result.threads[self.number].clone();
        for region in regions(&thread, self.watch)? {
            self.watch.steps(region.len())?;
            if let Ok((header, starts, plan, registers)) = self.try_region(&thread, &region)? {
                let position = first_position(self.program, &thread, &region);
                let weaker = plan.weaker;
                let became = rewrite::apply(result, self.number, &region, &starts, plan);
                let locations = region.iter().copied().filter(|location| *location != header).collect();
                let rewrite = SpinRewrite { became, weaker, registers, locations };
                let (thread, outcome) = (ThreadId(self.number), SpinOutcome::Rewritten(rewrite));
                return Ok(Some(SpinLoop { thread, position, outcome }));
            }
        }
        Ok(None)
    }

    /// A plan for a region, from whichever of its locations is a header, or why there is none.
    fn try_region(&self, thread: &Thread, region: &Region) -> Result<Result<LoopCandidate, SpinObstacle>, Limit> {
        let nothing_observed = vec![false; thread.registers.len()];
        let live = live_with(thread, &nothing_observed, self.watch)?;
        let mut obstacle = None;
        for header in headers(thread, region) {
            self.watch.step()?;
            match self.try_header(thread, region, header, &live) {
                Ok(found) => return Ok(Ok(found)),
                Err(found) => {
                    obstacle.get_or_insert(found);
                }
            }
        }
        Ok(Err(obstacle.unwrap_or(SpinObstacle::Endless)))
    }

    fn try_header(
        &self,
        thread: &Thread,
        region: &Region,
        header: LocId,
        live: &[Vec<bool>],
    ) -> Result<LoopCandidate, SpinObstacle> {
        let new_search = || AttemptSearch {
            program: self.program,
            number: self.number,
            thread,
            region,
            header,
            possible: self.possible,
            shared: self.shared,
            live,
            reads: Vec::new(),
            found: Attempts::default(),
        };
        let mut search = new_search();
        search.follow(None)?;
        let starts = match search.found.carried {
            None => starts(thread, region, header)?,
            Some(carried) => {
                let starts = loads_into(thread, region, header, carried, &search)?;
                search = new_search();
                search.follow(Some((starts.entries[0], carried)))?;
                starts
            }
        };
        if search.found.idle.is_empty() {
            return Err(SpinObstacle::Endless);
        }
        let observed = |register: RegId| {
            let mut found = false;
            for goal in &self.program.goals {
                goal.condition.for_each_atom(&mut |atom| {
                    found |= *atom == Observable::Register(ThreadId(self.number), register);
                });
            }
            found
        };
        let keeps = |location: LocId, register: RegId| live[location.0][register.0] || observed(register);
        let plan = plan::plan(&search, &keeps)?;
        if plan.weaker && !self.weaker {
            let all = search.found.exits.iter().flat_map(|way| &way.accesses);
            let mut cells: Vec<String> =
                all.map(|access| obstacle::cell_name(self.program, thread, &access.address)).collect();
            cells.sort();
            cells.dedup();
            return Err(SpinObstacle::Cells(cells));
        }
        let ways = search.found.idle.iter().chain(&search.found.exits);
        let mut registers: Vec<RegId> = ways.flat_map(|way| way.values.keys().copied()).collect();
        registers.sort();
        registers.dedup();
        Ok((header, starts, plan, registers))
    }

    /// The loops that are left, with the reason for each.
    fn kept(&self, result: &Program, loops: &mut Vec<SpinLoop>) -> Result<(), Limit> {
        let thread = &result.threads[self.number];
        let mut open: Vec<(Region, Vec<LocId>)> =
            components(thread, &|_| true, self.watch)?.into_iter().map(|region| (region, Vec::new())).collect();
        while let Some((region, mut without)) = open.pop() {
            self.watch.steps(region.len())?;
            let inside =
                |transition: &&Transition| region.contains(&transition.from) && region.contains(&transition.to);
            let effect = thread
                .transitions
                .iter()
                .filter(inside)
                .find_map(|transition| SpinObstacle::of_step(self.program, thread, &transition.instruction));
            let obstacle = match effect {
                Some(effect) => effect,
                None if region.len() > MOST_LOCATIONS => SpinObstacle::Large,
                None => match self.try_region(thread, &region)? {
                    Err(obstacle) => obstacle,
                    Ok(_) => SpinObstacle::Entered,
                },
            };
            let position = first_position(self.program, thread, &region);
            let outcome = SpinOutcome::Kept(obstacle);
            let found = SpinLoop { thread: ThreadId(self.number), position, outcome };
            if position.is_some() && !loops.contains(&found) {
                loops.push(found);
            }
            // The loops inside: what is still connected without the way back to the header.
            let Some(header) = headers(thread, &region).first().copied() else { continue };
            without.push(header);
            let inner = Thread {
                transitions: (thread.transitions.iter())
                    .filter(|t| region.contains(&t.from) && region.contains(&t.to) && !without.contains(&t.to))
                    .cloned()
                    .collect(),
                ..thread.clone()
            };
            let found = components(&inner, &|_| true, self.watch)?;
            open.extend(found.into_iter().map(|region| (region, without.clone())));
        }
        Ok(())
    }
}

/// The header, where its steps start, what they are, and the registers that attempts write.
type LoopCandidate = (LocId, LoopStarts, LoopPlan, Vec<RegId>);

/// The locations of a region that may be its header: those that are entered first.
fn headers(thread: &Thread, region: &Region) -> Vec<LocId> {
    let entered = |location: &LocId| {
        *location == thread.initial
            || thread.transitions.iter().any(|other| other.to == *location && !region.contains(&other.from))
    };
    let (mut first, rest): (Vec<LocId>, Vec<LocId>) = region.iter().copied().partition(|location| entered(location));
    first.extend(rest);
    first
}

/// Every way into the loop leads to its header, or is a copy of the header's only step.
fn starts(thread: &Thread, region: &Region, header: LocId) -> Result<LoopStarts, SpinObstacle> {
    let mut only = thread.outgoing(header);
    let only = only.next().map(|(_, transition)| transition).filter(|_| only.next().is_none());
    let mut entries = Vec::new();
    for (id, transition) in thread.transitions.iter().enumerate() {
        if region.contains(&transition.from) || !region.contains(&transition.to) || transition.to == header {
            continue;
        }
        if only.is_none_or(|only| only.to != transition.to || only.instruction != transition.instruction) {
            return Err(SpinObstacle::Entered);
        }
        entries.push(id);
    }
    if region.contains(&thread.initial) && thread.initial != header {
        return Err(SpinObstacle::Entered);
    }
    Ok(LoopStarts { header: Some(header), entries })
}

/// Every way into the loop is a load, into the carried register, of the cell whose compare-exchange reloads it.
fn loads_into(
    thread: &Thread,
    region: &Region,
    header: LocId,
    carried: RegId,
    search: &AttemptSearch,
) -> Result<LoopStarts, SpinObstacle> {
    let register = || SpinObstacle::Register(thread.registers[carried.0].name.clone());
    let reloads = search.found.idle.iter().filter_map(|way| way.accesses.last());
    let exchanges: Vec<&Instruction> =
        reloads.map(|access| &thread.transitions[access.transition].instruction).collect();
    let mut entries: Vec<usize> = Vec::new();
    for (id, transition) in thread.transitions.iter().enumerate() {
        if region.contains(&transition.from) || !region.contains(&transition.to) {
            continue;
        }
        let Instruction::Load { reg, address, .. } = &transition.instruction else { return Err(register()) };
        let same = |exchange: &&Instruction| matches!(exchange, Instruction::CompareExchange { address: cell, .. } if cell == address);
        let alike =
            entries.first().is_none_or(|&first| thread.transitions[first].instruction == transition.instruction);
        if *reg != carried || transition.to != header || !exchanges.iter().all(same) || !alike {
            return Err(register());
        }
        entries.push(id);
    }
    if entries.is_empty() || region.contains(&thread.initial) {
        return Err(register());
    }
    Ok(LoopStarts { header: None, entries })
}

/// The first position of a step of a region.
fn first_position(program: &Program, thread: &Thread, region: &Region) -> Option<Position> {
    let inside = thread.transitions.iter().filter(|transition| region.contains(&transition.from));
    let positions = inside.filter_map(|transition| program.source.position(transition.span));
    positions.min_by_key(|position| (position.line, position.column))
}
