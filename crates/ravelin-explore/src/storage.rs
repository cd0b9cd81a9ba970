//! Where an exploration keeps its states besides the memory of this process.

use crate::checkpoint::Checkpoints;
use crate::peers::Peers;
use std::path::Path;

/// Nothing, unless it is given.
#[derive(Clone, Copy, Default)]
pub struct Storage<'a> {
    /// Other processes that make the same exploration, each with its part of the states.
    pub peers: Option<&'a dyn Peers>,
    /// A directory for what does not fit into the memory limit, which then no longer ends the exploration. Not for several processes.
    pub spill: Option<&'a Path>,
    /// Where what is explored is kept, so that an exploration that was ended can go on. Not for what is spilled.
    pub checkpoints: Option<&'a Checkpoints>,
}
