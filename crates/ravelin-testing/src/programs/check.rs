//! What a test does with random programs: it asks what is wrong with each, and shows a small one of those that fail.

use super::{Generator, shrink};
use crate::seeds;
use ravelin_program::Program;

/// `wrong` must have nothing to say of any program; `show` prints those of which it has.
///
/// # Panics
///
/// At the first program of which it has something to say.
pub fn check_all(
    generator: &Generator,
    programs: u64,
    show: impl Fn(&Program) -> String,
    wrong: impl Fn(&Program) -> Option<String>,
) {
    for seed in seeds(programs) {
        check_one(seed, &generator.program(seed), &show, &wrong);
    }
}

/// The same of one program, which a seed determines.
///
/// # Panics
///
/// If `wrong` has something to say of it: with a smaller program of which it has, too.
pub fn check_one(
    seed: u64,
    program: &Program,
    show: impl Fn(&Program) -> String,
    wrong: impl Fn(&Program) -> Option<String>,
) {
    if let Some(what) = wrong(program) {
        let small = shrink(program, &mut |program| wrong(program).is_some());
        let what = wrong(&small).unwrap_or(what);
        panic!("seed {seed}: {what}\n{}", show(&small));
    }
}
