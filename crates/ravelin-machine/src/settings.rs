//! What a machine is built for.

use ravelin_program::Model;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub model: Model,
    /// The most pending stores of one thread, under TSO and PSO.
    pub buffer: usize,
    pub purpose: Purpose,
    pub reductions: Reductions,
    /// With [`Purpose::Goals`]: states are also reported in which every thread that is not at its end waits.
    pub deadlocks: bool,
}

/// What has to be preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Whether a goal, an assertion or a fault can be reached.
    Goals,
    /// All final and all stuck states, with every register that users see.
    Finals,
    /// All SC states, and the steps from them with which an attack delays stores as this model allows. With SC: runs in
    /// which every store and load is watched. The program's goals do not matter.
    Attacks(Model),
    /// All SC states and everything that a C11 monitor reads. The program is taken as written, without the mapping to
    /// hardware.
    Monitor,
}

/// Ways to store fewer states without changing an answer, each with a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Local steps are taken together with the step before them.
    pub fuse: bool,
    /// Registers that will not be read again are forgotten.
    pub liveness: bool,
    /// Where one thread's next steps cannot conflict with any other thread's, only these are explored.
    pub partial_order: bool,
    /// States that differ by a permutation of identical threads are one.
    pub symmetry: bool,
    /// In monitored searches: old values of cells that only grow are one value.
    pub old_values: bool,
    /// In monitored searches: an access does not ask for what is known whenever it is made.
    pub known_facts: bool,
}

impl Reductions {
    pub const ALL: Reductions = Reductions {
        fuse: true,
        liveness: true,
        partial_order: true,
        symmetry: true,
        old_values: true,
        known_facts: true,
    };
    pub const NONE: Reductions = Reductions {
        fuse: false,
        liveness: false,
        partial_order: false,
        symmetry: false,
        old_values: false,
        known_facts: false,
    };
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions::ALL
    }
}

impl Settings {
    /// Reachability of goals under a model, with all reductions. Deadlocks are not looked for.
    pub fn new(model: Model) -> Settings {
        Settings { model, buffer: 3, purpose: Purpose::Goals, reductions: Reductions::ALL, deadlocks: false }
    }
}
