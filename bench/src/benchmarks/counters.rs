//! A product of counters, each counted up by its own thread in one atomic step: nothing but states.
//!
//! With six counters of 16 values the space has 16⁶ = 16 777 216 states and 6 · 15 · 16⁵ transitions.

use super::handwritten::HandwrittenModel;

#[derive(Clone, Copy)]
pub struct Counters {
    pub number: u32,
}

const BITS: u32 = 4;
const LAST: u64 = 15;

impl Counters {
    pub fn name(&self) -> String {
        format!("{} counters of 16", self.number)
    }

    /// The model in `.rav`. A counter blocks at its last value.
    pub fn text(&self) -> String {
        let number = self.number;
        format!(
            "static counter: [blocking 0..={LAST}; {number}];\n\n\
             thread p[me in 0..{number}] {{\n    loop {{\n        counter[me].fetch_add(1);\n    }}\n}}\n"
        )
    }

    #[cfg(test)]
    pub fn states(&self) -> u64 {
        (LAST + 1).pow(self.number)
    }
}

impl HandwrittenModel for Counters {
    fn initial(&self) -> u64 {
        0
    }

    fn successors(&self, state: u64, emit: &mut impl FnMut(u64)) {
        for counter in 0..self.number {
            if state >> (counter * BITS) & LAST < LAST {
                emit(state + (1 << (counter * BITS)));
            }
        }
    }

    fn is_bad(&self, _: u64) -> bool {
        false
    }
}
