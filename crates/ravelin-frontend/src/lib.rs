//! Text to [`ravelin_program::Program`], and back.

pub mod print;
pub mod rav;
