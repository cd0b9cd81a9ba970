//! What an exploration has beyond the memory of one process.

use crate::peers::Peers;

/// Nothing, unless it is given.
#[derive(Clone, Copy, Default)]
pub struct Beyond<'a> {
    /// Other processes that make the same exploration, each with its part of the states.
    pub peers: Option<&'a dyn Peers>,
}
