//! Programs to text.

pub mod dot;
pub mod promela;
pub mod rav;
