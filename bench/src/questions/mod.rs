//! Questions to the libraries, asked and timed: one file a question. The benchmarks and the tables of the papers ask the
//! same ones.

pub mod c11;
pub mod fences;
pub mod reach;
pub mod robustness;
