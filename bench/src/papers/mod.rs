//! What the papers report that Ravelin builds on: one file a paper, numbers only. A figure whose numbers are not printed is
//! not here, except for those points that the text of the paper names.

pub mod fence_insertion_2012;
pub mod lazy_tso_2015;
pub mod robustness_2013;
pub mod rsan_2025;
