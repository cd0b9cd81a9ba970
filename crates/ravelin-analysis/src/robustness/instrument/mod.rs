//! The source-to-source translation of an attack (section 5 of *Checking and Enforcing Robustness against TSO*): an
//! ordinary program whose only goal, `never success`, is violated under SC exactly if the attack is feasible.
//!
//! | paper | here |
//! | --- | --- |
//! | `(a, d)`, the delayed store to a | `a_is_delayed` and `a_delayed`, for what the attacker may store |
//! | `(a, hb)`, the access level of a | `a_level`: 0 none, 1 loaded, 2 stored, for what a helper may store |
//! | `hb`, `suc`, `a_st` | `hb`, `success`, `attacked_index` or `attacked_address` where it is not known beforehand |
//! | Figure 5, (1) to (6): the attacker's code copy | `attacker.rs`; its locations are labelled `…_attack` |
//! | Figure 7, (7) to (13): the helpers' code copy | `helper.rs`; its locations are labelled `…_joined` |
//!
//! A translated step is one locked block, so the auxiliary accesses of the paper never interleave, and (13) is part of
//! the access that makes it true. What the paper leaves out:
//!
//! - Locked instructions and blocks, and all that happens between `bus_lock` and `bus_unlock`, are one action. For the
//!   last a helper *promises*, when it takes the lock, that some access of the block will join; until then it runs in a
//!   third copy (`…_promised`) and marks its accesses as its own. A promise that is not kept ends with the lock held,
//!   and `success` is looked at only while nobody holds it.
//! - Asserts become assumes. Where the program would fault because a value leaves its domain, an index its array, or a
//!   divisor is 0, the step cannot be taken; so a fault of the program is not mistaken for a success. Two kinds of
//!   faults remain: overflow of 64 bits, and `bus_unlock` by a thread that does not hold the lock.
//! - Memory is either named or spread; see `layout.rs`. What the translation adds is computed with 64 bits, whatever the
//!   program's own operators do.
//!
//! The translation is linear in the program, except for locked blocks of several loads, where each may read memory or a
//! delayed store.

mod arithmetic;
mod attacker;
mod escape;
mod helper;
mod layout;
mod scratch;
mod step;

use super::attack::{Attack, is_delayable, is_overtaking_load};
use super::name::attack_name;
use layout::CompanionLayout;
use ravelin_program::{
    Copies, Expr, Goal, GoalKind, HardwareProgram, Instruction, LocId, Location, Observable, Program, Span, Thread,
    ThreadId, Transition, Value,
};
use std::collections::HashMap;
use thiserror::Error;

/// Why there is no instrumented program.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CannotInstrument {
    #[error("the program has no such attack: an attack is a plain store and a load of one thread")]
    NoSuchAttack,
    #[error("thread `{0}` has any number of copies; take an instance of the program with a fixed number")]
    AnyCopies(String),
    #[error(
        "cells without a name have the type {lo}..={hi}, which cannot be kept; name the cells, or leave out the type"
    )]
    UnnamedDomain { lo: Value, hi: Value },
    #[error("address {0} leaves no room for auxiliary cells")]
    Address(Value),
    #[error("`{instruction}` loads so often that its ways to read delayed stores are too many (more than {limit})")]
    TooManyWays { instruction: String, limit: usize },
}

/// The program instrumented for one of its attacks.
///
/// Spans of the copies are those of the original instructions, and point into the same source.
///
/// ```
/// use ravelin_analysis::reachability::{ReachabilityQuestion, reach};
/// use ravelin_analysis::{Verdict, robustness};
/// use ravelin_program::{Expr, HardwareProgram, Order, ProgramBuilder, Variable};
///
/// // Store buffering: both attacks are feasible.
/// let mut program = ProgramBuilder::new("SB");
/// let cells = [program.variable(Variable::scalar("x")), program.variable(Variable::scalar("y"))];
/// for me in 0..2 {
///     let mut thread = program.thread(format!("t{me}"));
///     let r = thread.register("r");
///     thread.store(cells[me], Expr::Const(1), Order::Relaxed);
///     thread.load(r, cells[1 - me], Order::Relaxed);
///     thread.finish();
/// }
/// let program = HardwareProgram::new(&program.finish().expect("a valid program"));
/// for attack in robustness::attacks(&program) {
///     let instrumented = robustness::instrument(&program, attack).expect("nothing it refuses");
///     let answer = reach(&instrumented, &ReachabilityQuestion::new(ravelin_program::Model::Sc)).expect("an answer");
///     assert_eq!(answer.verdict, Verdict::Violated);
/// }
/// ```
pub fn instrument(program: &HardwareProgram, attack: Attack) -> Result<Program, CannotInstrument> {
    check(program, attack)?;
    let name = format!("{}, instrumented for the attack {}", program.name, attack_name(program, attack));
    let program = &escape::blocking(program);
    let layout = CompanionLayout::of(program, attack)?;
    let mut instrumented = Program {
        name: name.trim_start_matches(", ").to_owned(),
        memory: layout.memory().clone(),
        threads: Vec::new(),
        goals: Vec::new(),
        observation: None,
        source: program.source.clone(),
    };
    for (number, thread) in program.threads.iter().enumerate() {
        instrumented.threads.push(match attack.thread == ThreadId(number) {
            true => attacker::attacker(program, &layout, attack)?,
            false => helper::helper(&layout, thread, ThreadId(number)),
        });
    }
    let condition = Expr::Atom(Observable::Memory(layout.success()));
    instrumented.goals.push(Goal { kind: GoalKind::Never, condition, span: Span::NOWHERE });
    debug_assert_eq!(ravelin_program::validate(&instrumented), []);
    Ok(instrumented)
}

fn check(program: &Program, attack: Attack) -> Result<(), CannotInstrument> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(CannotInstrument::AnyCopies(thread.name.clone()));
    }
    let thread = program.threads.get(attack.thread.0).ok_or(CannotInstrument::NoSuchAttack)?;
    let is = |transition: ravelin_program::TransitionId, kind: fn(&Instruction) -> bool| {
        thread.transitions.get(transition.0).is_some_and(|transition| kind(&transition.instruction))
    };
    match is(attack.store, is_delayable) && is(attack.load, is_overtaking_load) {
        true => Ok(()),
        false => Err(CannotInstrument::NoSuchAttack),
    }
}

/// Which copy of a thread's code a location stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CodeCopy {
    Original,
    /// Of the attacker, after the attacked store.
    Attack,
    /// Of a helper inside a bus-lock block in which nothing has joined yet.
    Promised,
    /// Of a helper that has joined the happens-before path.
    Joined,
}

/// The instrumented thread while it is made. Locations of the original keep their numbers, and a twin comes into being
/// when something leads to it.
struct TwinThread<'a> {
    original: &'a Thread,
    locations: Vec<Location>,
    transitions: Vec<Transition>,
    twins: HashMap<(LocId, CodeCopy), LocId>,
    open: Vec<(LocId, CodeCopy)>,
}

impl<'a> TwinThread<'a> {
    fn new(original: &'a Thread) -> TwinThread<'a> {
        let mut twins = HashMap::new();
        twins.insert((original.initial, CodeCopy::Original), original.initial);
        TwinThread {
            original,
            locations: original.locations.clone(),
            transitions: Vec::new(),
            twins,
            open: vec![(original.initial, CodeCopy::Original)],
        }
    }

    /// A location of the original, in a copy, whose transitions are not translated yet.
    fn next(&mut self) -> Option<(LocId, CodeCopy)> {
        self.open.pop()
    }

    fn twin(&mut self, location: LocId, copy: CodeCopy) -> LocId {
        if let Some(&twin) = self.twins.get(&(location, copy)) {
            return twin;
        }
        self.open.push((location, copy));
        let suffix = match copy {
            CodeCopy::Original => return *self.twins.entry((location, copy)).or_insert(location),
            CodeCopy::Attack => "attack",
            CodeCopy::Promised => "promised",
            CodeCopy::Joined => "joined",
        };
        let original = &self.original.locations[location.0];
        let labels = original.labels.iter().map(|label| format!("{label}_{suffix}")).collect();
        let twin = self.fresh(labels, original.span);
        self.twins.insert((location, copy), twin);
        twin
    }

    fn fresh(&mut self, labels: Vec<String>, span: Span) -> LocId {
        let mut location = Location { labels: Vec::new(), span };
        let taken =
            |label: &str| self.locations.iter().flat_map(|location| &location.labels).any(|other| other == label);
        for mut label in labels {
            while taken(&label) {
                label.push('_');
            }
            location.labels.push(label);
        }
        self.locations.push(location);
        LocId(self.locations.len() - 1)
    }

    fn edge(&mut self, from: LocId, to: LocId, instruction: Instruction, span: Span) {
        self.transitions.push(Transition { from, to, instruction, span, call: None });
    }

    /// The thread, with the registers that its steps came to need. It is no longer a copy of its template.
    fn finish(mut self, registers: Vec<ravelin_program::Register>) -> Thread {
        self.transitions.sort_by_key(|transition| transition.from);
        Thread {
            template: None,
            registers,
            locations: self.locations,
            transitions: self.transitions,
            ..self.original.clone()
        }
    }
}
