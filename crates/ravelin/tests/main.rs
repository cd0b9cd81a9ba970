//! The library as others use it: answers that are written and read back, and a package outside of the workspace.

mod outside;
mod round_trip;
