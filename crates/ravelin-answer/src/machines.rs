//! On which machines a graph can happen.

use serde::{Deserialize, Serialize};

/// Whether a graph is possible on each machine, if the program is compiled by the usual mappings of C11. That others are not
/// possible there is not said: this is about one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machines {
    /// x86, by the axioms of x86-TSO.
    pub x86: bool,
    /// ARMv8, without dependencies between instructions, which a compiler need not keep.
    pub armv8: bool,
}

impl Machines {
    pub fn sentence(self) -> &'static str {
        match (self.x86, self.armv8) {
            (true, true) => "x86 and ARMv8 can do this.",
            (true, false) => "x86 can do this, ARMv8 cannot.",
            (false, true) => "x86 cannot do this, ARMv8 can.",
            (false, false) => "Neither x86 nor ARMv8 does this; compilers and other machines may.",
        }
    }
}
