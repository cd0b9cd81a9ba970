//! A thread as places of a net: a token for each copy, at where it stops.
//!
//! For a thread with any number of copies, tokens are counted. Where copies get only by deeds that others can repeat (loads and stores, no
//! RMW that changes memory), one token stands for any number of them: whoever needs a second one there lets it follow the first, step
//! by step, without anybody noticing. A deed then leaves the token where it was. So these places are sets instead of counters, and the
//! net remains an ordinary one (docs/parameterised.md has the argument).

use super::memory::Arcs;
use super::quiet::{Quiet, can_repeat};
use crate::reachability::finite::{ControlPoint, EdgeEffect, Finite, LocalState};
use ravelin_backward::nets::{InitialTokens, Net, PlaceId};
use ravelin_program::{Copies, Thread};

pub(super) struct Actor {
    pub thread: usize,
    pub quiet: Quiet,
    /// By stop.
    pub places: Vec<PlaceId>,
    /// By stop: one token stands for any number.
    pub is_set: Vec<bool>,
}

impl Actor {
    /// Adds the places of a thread. With `alone` it is one thread, whatever its declaration says. If the thread has a choice where to begin, the
    /// transitions for it are told to `begins`.
    pub fn new(
        finite: &Finite,
        net: &mut Net,
        thread: usize,
        quiet: Quiet,
        role: &str,
        alone: bool,
        begins: &mut dyn FnMut(usize),
    ) -> Actor {
        let code = &finite.program.threads[thread];
        let any = code.copies == Copies::Any && !alone;
        let starts = |stop: usize| quiet.starts.iter().any(|(start, _)| *start == stop);
        let decides = !any && quiet.starts.len() > 1;
        let initial = |stop: usize| match (any, starts(stop) && !decides) {
            (true, true) => InitialTokens::AtLeast(0),
            (false, true) => InitialTokens::Exactly(1),
            (_, false) => InitialTokens::Exactly(0),
        };
        let graph = &finite.threads[thread];
        let name = |state: &LocalState| format!("{role}{}", state_name(code, state));
        let places: Vec<PlaceId> = (0..quiet.stops.len())
            .map(|stop| net.place(name(&graph.states[quiet.stops[stop] as usize]), initial(stop)))
            .collect();
        if decides {
            let begin = net.place(format!("{role}{}:begin", code.name), InitialTokens::Exactly(1));
            for (number, (stop, _)) in quiet.starts.iter().enumerate() {
                net.transition([(begin, 1)], [(places[*stop], 1)]);
                begins(number);
            }
        }
        let is_set = quiet.repeatable.iter().map(|repeatable| any && *repeatable).collect();
        Actor { thread, quiet, places, is_set }
    }

    /// Places for the same stops in another mode, empty at first.
    pub fn mode(&self, finite: &Finite, net: &mut Net, role: &str) -> Vec<PlaceId> {
        let (code, graph) = (&finite.program.threads[self.thread], &finite.threads[self.thread]);
        let name = |stop: &u32| format!("{role}{}", state_name(code, &graph.states[*stop as usize]));
        self.quiet.stops.iter().map(|stop| net.place(name(stop), InitialTokens::Exactly(0))).collect()
    }

    /// Moves a token by a deed, from one mode to another.
    pub fn go(&self, deed: usize, from: &[PlaceId], to: &[PlaceId], arcs: &mut Arcs) {
        let deed = &self.quiet.deeds[deed];
        arcs.take(from[deed.from]);
        if self.is_set[deed.from] {
            arcs.give(from[deed.from]);
        }
        if let Some(stop) = deed.to {
            arcs.give(to[stop]);
        }
    }

    /// Several tokens may take this deed one after the other without anybody noticing.
    pub fn repeats(&self, deed: usize) -> bool {
        let deed = &self.quiet.deeds[deed];
        self.is_set[deed.from] && can_repeat(&deed.effect)
    }
}

/// `p#7(r=1)`: where a thread is, and its registers that are not 0.
fn state_name(code: &Thread, state: &LocalState) -> String {
    let place = match state.place {
        ControlPoint::At(location) => location.0.to_string(),
        ControlPoint::Failed(failure) => match failure.fault {
            Some(fault) => format!("{}!{fault}", failure.transition.0).replace(' ', "_"),
            None => format!("{}!", failure.transition.0),
        },
    };
    let registers = code.registers.iter().zip(&state.registers).enumerate().filter(|(_, (_, value))| **value != 0);
    // Names of registers may be equal; their numbers are not.
    let registers: Vec<String> = registers.map(|(number, (_, value))| format!("r{number}={value}")).collect();
    match registers.is_empty() {
        true => format!("{}#{place}", code.name),
        false => format!("{}#{place}({})", code.name, registers.join(",")),
    }
}

/// Steps that nobody notices, fences included: outside of an attack these do nothing.
pub(super) fn is_private(effect: &EdgeEffect) -> bool {
    matches!(effect, EdgeEffect::Local | EdgeEffect::Fence)
}

/// Steps that nobody notices, but that tell whether stores may be pending.
pub(super) fn is_local(effect: &EdgeEffect) -> bool {
    matches!(effect, EdgeEffect::Local)
}
