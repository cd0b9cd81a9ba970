//! What people call an attack: `THREAD:STORE:LOAD`, such as `t1:L3:L5`.
//!
//! A store or load is called by its line in the source (`L3`, or `3`) if it is the only one of its thread there, by
//! line and column (`L3.9`) if there are several, by a label of the location it starts from (`q1`, or `@q1`), or, where
//! the program was not written by anybody, by the number of its transition (`#4`).

use super::attack::{Attack, is_delayable, is_overtaking_load};
use ravelin_answer::SourcePlace;
use ravelin_program::{HardwareProgram, Instruction, Program, Thread, ThreadId, TransitionId};
use std::collections::HashMap;
use std::fmt;
use thiserror::Error;

/// The shortest name that [`find_attack`] understands. `program` is the lowered one.
pub fn attack_name(program: &HardwareProgram, attack: Attack) -> String {
    AttackNames::new(program).name(attack)
}

/// Names of many attacks of one program. Each of their accesses is looked up once.
pub struct AttackNames<'a> {
    program: &'a Program,
    accesses: HashMap<(ThreadId, TransitionId), (String, SourcePlace)>,
}

impl<'a> AttackNames<'a> {
    /// `program` is the lowered one.
    pub fn new(program: &'a HardwareProgram) -> AttackNames<'a> {
        AttackNames { program, accesses: HashMap::new() }
    }

    /// The shortest name that [`find_attack`] understands.
    pub fn name(&mut self, attack: Attack) -> String {
        let store = self.access(attack.thread, attack.store).0.clone();
        let load = self.access(attack.thread, attack.load).0.clone();
        format!("{}:{store}:{load}", self.program.threads[attack.thread.0].name)
    }

    /// Where an access stands, and what it does.
    pub fn place(&mut self, thread: ThreadId, access: TransitionId) -> &SourcePlace {
        &self.access(thread, access).1
    }

    fn access(&mut self, id: ThreadId, access: TransitionId) -> &(String, SourcePlace) {
        let program = self.program;
        self.accesses.entry((id, access)).or_insert_with(|| {
            let thread = &program.threads[id.0];
            let transition = &thread.transitions[access.0];
            // Under PSO what overtakes may be a store.
            let role = if is_delayable(&transition.instruction) { AttackRole::Store } else { AttackRole::Load };
            let position = program.source.position(transition.span);
            let place = SourcePlace { text: program.tell_transition(thread, transition), position };
            (access_name(program, thread, role, access), place)
        })
    }
}

/// The attack of that name. `program` is the lowered one.
pub fn find_attack(program: &HardwareProgram, text: &str) -> Result<Attack, UnknownAttack> {
    // From the right, since nobody keeps colons out of the names of threads.
    let mut parts = text.trim().rsplitn(3, ':').map(str::trim);
    let (Some(load), Some(store), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(UnknownAttack::Shape(text.to_owned()));
    };
    let Some(id) = program.find_thread(name) else {
        let threads = program.threads.iter().map(|thread| thread.name.clone()).collect();
        return Err(UnknownAttack::Thread { name: name.to_owned(), threads });
    };
    Ok(Attack {
        thread: id,
        store: find_access(program, id, AttackRole::Store, store)?,
        load: find_access(program, id, AttackRole::Load, load)
            .or_else(|unknown| find_access(program, id, AttackRole::Store, load).map_err(|_| unknown))?,
    })
}

/// Why a text does not name an attack, and what could have been meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownAttack {
    #[error("`{0}` is not the name of an attack; write THREAD:STORE:LOAD, such as `t1:L3:L5` with line numbers")]
    Shape(String),
    #[error("there is no thread `{name}`; there are {}", threads.join(", "))]
    Thread { name: String, threads: Vec<String> },
    #[error("thread `{thread}` has {found} {role} at `{text}`; {}", listed(*role, choices))]
    Access { thread: String, role: AttackRole, text: String, found: NameMatch, choices: Vec<AccessCandidate> },
}

/// The part that an access has in an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttackRole {
    Store,
    Load,
}

/// How many accesses a text could mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameMatch {
    None,
    Several,
}

/// An access that could have been meant: its name, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessCandidate {
    pub name: String,
    pub text: String,
}

impl fmt::Display for AttackRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AttackRole::Store => "store",
            AttackRole::Load => "load",
        })
    }
}

impl fmt::Display for NameMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameMatch::None => "no",
            NameMatch::Several => "more than one",
        })
    }
}

impl AttackRole {
    fn has(self, instruction: &Instruction) -> bool {
        match self {
            AttackRole::Store => is_delayable(instruction),
            AttackRole::Load => is_overtaking_load(instruction),
        }
    }
}

fn listed(role: AttackRole, choices: &[AccessCandidate]) -> String {
    let lines: Vec<String> = choices.iter().map(|choice| format!("\n  {}  {}", choice.name, choice.text)).collect();
    match role {
        _ if lines.is_empty() => format!("it has no {role} that could be part of an attack"),
        AttackRole::Store => format!("its stores are{}", lines.concat()),
        AttackRole::Load => format!("its loads are{}", lines.concat()),
    }
}

/// A place in the source, with a column if one is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Line {
    line: usize,
    column: Option<usize>,
}

impl Line {
    /// `L3`, `3`, `L3.9` or `3.9`.
    fn parse(text: &str) -> Option<Line> {
        let text = text.strip_prefix(['L', 'l']).unwrap_or(text);
        let (line, column) = match text.split_once('.') {
            Some((line, column)) => (line, Some(column.parse().ok()?)),
            None => (text, None),
        };
        Some(Line { line: line.parse().ok()?, column })
    }
}

fn candidates(thread: &Thread, role: AttackRole) -> impl Iterator<Item = TransitionId> + '_ {
    (0..thread.transitions.len()).map(TransitionId).filter(move |id| role.has(&thread.transitions[id.0].instruction))
}

fn at_line(program: &Program, thread: &Thread, role: AttackRole, wanted: Line) -> Vec<TransitionId> {
    let stands_there = |id: &TransitionId| {
        let position = program.source.position(thread.transitions[id.0].span);
        position
            .is_some_and(|found| found.line == wanted.line && wanted.column.is_none_or(|column| found.column == column))
    };
    candidates(thread, role).filter(stands_there).collect()
}

fn at_label(thread: &Thread, role: AttackRole, label: &str) -> Vec<TransitionId> {
    let starts_there = |id: &TransitionId| {
        let from = thread.transitions[id.0].from;
        thread.locations[from.0].labels.iter().any(|name| name == label)
    };
    candidates(thread, role).filter(starts_there).collect()
}

fn access_name(program: &Program, thread: &Thread, role: AttackRole, id: TransitionId) -> String {
    let transition = &thread.transitions[id.0];
    if let Some(position) = program.source.position(transition.span) {
        let line = Line { line: position.line, column: None };
        if at_line(program, thread, role, line) == [id] {
            return format!("L{}", position.line);
        }
        let column = Line { column: Some(position.column), ..line };
        if at_line(program, thread, role, column) == [id] {
            return format!("L{}.{}", position.line, position.column);
        }
    }
    for label in &thread.locations[transition.from.0].labels {
        if at_label(thread, role, label) == [id] && !label.contains(':') {
            let plain = Line::parse(label).is_none() && !label.starts_with(['@', '#']) && label.trim() == label;
            return if plain { label.clone() } else { format!("@{label}") };
        }
    }
    format!("#{}", id.0)
}

fn find_access(program: &Program, id: ThreadId, role: AttackRole, text: &str) -> Result<TransitionId, UnknownAttack> {
    let thread = &program.threads[id.0];
    let found = if let Some(number) = text.strip_prefix('#') {
        let number = number.parse().ok().map(TransitionId);
        candidates(thread, role).filter(|id| Some(*id) == number).collect()
    } else if let Some(label) = text.strip_prefix('@') {
        at_label(thread, role, label)
    } else {
        let by_line = Line::parse(text).map(|line| at_line(program, thread, role, line)).unwrap_or_default();
        if by_line.is_empty() { at_label(thread, role, text) } else { by_line }
    };
    match found.as_slice() {
        [only] => Ok(*only),
        several => {
            let choice = |id: TransitionId| AccessCandidate {
                name: access_name(program, thread, role, id),
                text: program.tell_transition(thread, &thread.transitions[id.0]),
            };
            let choices = match several {
                [] => candidates(thread, role).map(choice).collect(),
                several => several.iter().copied().map(choice).collect(),
            };
            let found = if several.is_empty() { NameMatch::None } else { NameMatch::Several };
            Err(UnknownAttack::Access { thread: thread.name.clone(), role, text: text.to_owned(), found, choices })
        }
    }
}
