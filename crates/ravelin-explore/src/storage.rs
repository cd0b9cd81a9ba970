//! Where an exploration keeps its states besides the memory of this process.

use crate::checkpoint::Checkpoints;
use crate::peers::Peers;
use std::path::Path;

/// Nothing, unless it is given.
#[derive(Clone, Copy, Default)]
pub struct Storage<'a> {
    /// Other processes that make the same exploration, each with its part of the states.
    pub peers: Option<&'a dyn Peers>,
    /// With other processes: about so many states are explored by one process before the others take part. Not with files.
    pub share_from: u64,
    /// A directory for what does not fit into the memory limit, which then no longer ends the exploration.
    pub spill: Option<&'a Path>,
    /// Where what is explored is kept, so that an exploration that was ended can go on.
    pub checkpoints: Option<&'a Checkpoints>,
}
