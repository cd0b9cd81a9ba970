//! A thread: a control-flow automaton with registers.

use crate::{Domain, Instruction, Notation, Span, Value};

/// Index of a [`Thread`] in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub usize);

/// Index of a [`Register`] in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub usize);

/// Index of a [`Location`] in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocId(pub usize);

/// Index of a [`Transition`] in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransitionId(pub usize);

/// Index of a [`Call`] in its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name for users: `writer`, `p[1]`.
    pub name: String,
    /// The declaration it is a copy of, and its index there: `("p", 1)` for `p[1]`.
    pub template: Option<(String, Value)>,
    pub copies: Copies,
    pub registers: Vec<Register>,
    pub locations: Vec<Location>,
    /// Sorted by `from`.
    pub transitions: Vec<Transition>,
    pub initial: LocId,
    /// The calls of functions whose bodies are parts of this code, each after the one it stands in.
    pub calls: Vec<Call>,
    pub span: Span,
}

/// A call of a function that a front end has put into the code of its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function.
    pub function: String,
    /// The call that it stands in.
    pub caller: Option<CallId>,
    /// Where it is called.
    pub span: Span,
}

/// How many threads run this code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    One,
    /// `thread p[*]`: any number, including none. Copies have no identity.
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    pub domain: Domain,
    pub initial: Value,
    /// Made by a front end to hold the result of a load inside an expression; not shown to users.
    pub hidden: bool,
    /// How its values are written.
    pub notation: Notation,
    pub span: Span,
}

/// A control location. A thread at a location without transitions is at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Its names in the source, which goals use.
    pub labels: Vec<String>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: LocId,
    pub to: LocId,
    pub instruction: Instruction,
    pub span: Span,
    /// The call that it is a part of.
    pub call: Option<CallId>,
}

impl Thread {
    /// The transitions out of a location, with their ids.
    pub fn outgoing(&self, location: LocId) -> impl Iterator<Item = (TransitionId, &Transition)> + '_ {
        let start = self.transitions.partition_point(|transition| transition.from < location);
        self.transitions[start..]
            .iter()
            .take_while(move |transition| transition.from == location)
            .enumerate()
            .map(move |(offset, transition)| (TransitionId(start + offset), transition))
    }

    /// The thread has nothing left to do here.
    pub fn is_end(&self, location: LocId) -> bool {
        self.outgoing(location).next().is_none()
    }

    pub fn find_label(&self, label: &str) -> Option<LocId> {
        self.locations.iter().position(|location| location.labels.iter().any(|name| name == label)).map(LocId)
    }

    pub fn find_register(&self, name: &str) -> Option<RegId> {
        self.registers.iter().position(|register| register.name == name).map(RegId)
    }

    /// The name of a location for users: its first label, or its number.
    pub fn location_name(&self, location: LocId) -> String {
        match self.locations[location.0].labels.first() {
            Some(label) => format!("@{label}"),
            None => format!("#{}", location.0),
        }
    }

    /// The calls that a transition is a part of, innermost first.
    pub fn calls_of(&self, transition: &Transition) -> impl Iterator<Item = &Call> + '_ {
        // A caller stands before what it calls, so this ends.
        let get = |call: Option<CallId>| call.and_then(|CallId(number)| self.calls.get(number));
        std::iter::successors(get(transition.call), move |call| get(call.caller))
    }

    /// Has no path back to a location.
    pub fn is_acyclic(&self) -> bool {
        let mut incoming = vec![0usize; self.locations.len()];
        for transition in &self.transitions {
            incoming[transition.to.0] += 1;
        }
        let mut ready: Vec<usize> = (0..incoming.len()).filter(|&location| incoming[location] == 0).collect();
        let mut removed = 0;
        while let Some(location) = ready.pop() {
            removed += 1;
            for (_, transition) in self.outgoing(LocId(location)) {
                incoming[transition.to.0] -= 1;
                if incoming[transition.to.0] == 0 {
                    ready.push(transition.to.0);
                }
            }
        }
        removed == self.locations.len()
    }
}
