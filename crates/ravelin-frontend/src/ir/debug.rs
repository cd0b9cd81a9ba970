//! Debug information: which line an instruction comes from, and what things are called in the source.

/// The metadata of a module that concerns places and names.
#[derive(Clone, Debug, Default)]
pub struct DebugInfo {}

/// A place in a source file. Lines and columns count from 1; column 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace<'a> {
    /// The path as the compiler was given it, joined with its directory if it is relative.
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
}

impl DebugInfo {
    /// The place of a `!DILocation`.
    pub fn place(&self, _location: u32) -> Option<SourcePlace<'_>> {
        None
    }

    /// The name of a global variable, from the node at its `!dbg`.
    pub fn global_name(&self, _node: u32) -> Option<&str> {
        None
    }
}
