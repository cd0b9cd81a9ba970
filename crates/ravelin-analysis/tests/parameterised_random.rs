//! Any number of threads against instances: random small programs, some threads of which have any number of copies, decided by nets and
//! compared with explicit searches of instances with one to five copies.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use crate::any_number;

use any_number::MOST_COPIES;
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::certificate::{Claim, certify, check};
use ravelin_analysis::parameterised::{petri_net_of_attacks, robust_by_nets};
use ravelin_analysis::robustness::{RobustnessQuestion, robustness};
use ravelin_backward::nets::{cover, spec};
use ravelin_explore::Budget;
use ravelin_program::{Copies, Model, Program};
use ravelin_testing::programs::{Config, Generator, InstructionKind};

/// States of one instance.
const STATES: u64 = 100_000;
fn config(locks: bool) -> Config {
    const PLAIN: &[InstructionKind] = &[
        InstructionKind::Load,
        InstructionKind::Store,
        InstructionKind::Assign,
        InstructionKind::Assume,
        InstructionKind::Wait,
        InstructionKind::Fence,
        InstructionKind::Havoc,
    ];
    any_number::config(&[InstructionKind::BusLock, InstructionKind::Assert], (!locks).then_some(PLAIN))
}

/// A random program; which of its threads have any number of copies is told by the seed, too.
fn template(generator: &Generator, seed: u64) -> Program {
    let mut program = generator.program(seed);
    let several = program.threads.len() > 1;
    for (number, thread) in program.threads.iter_mut().enumerate() {
        if !several || (seed >> number) & 1 == 0 || seed.is_multiple_of(3) {
            thread.copies = Copies::Any;
        }
    }
    program
}

fn question(states: u64) -> RobustnessQuestion<'static> {
    RobustnessQuestion { budget: Budget::seconds(20).states(states), ..RobustnessQuestion::new(Model::Tso) }
}

#[derive(Default, Debug)]
struct Tally {
    robust: usize,
    not_robust: usize,
    refused: usize,
    open: usize,
    needs_three: usize,
}

fn compare(generator: &Generator, seed: u64, tally: &mut Tally) {
    let program = template(generator, seed);
    if !program.is_parameterised() {
        return;
    }
    let answer = match robust_by_nets(&program, &question(STATES)) {
        Ok(answer) => answer,
        Err(error) if error.is_refusal() => {
            tally.refused += 1;
            return;
        }
        Err(error) => panic!("seed {seed}: {error}"),
    };
    if seed.is_multiple_of(5) {
        elsewhere(seed, &program, answer.verdict);
    }
    let of_instance = |program: &Program| robustness(program, &question(STATES)).expect("an answer").verdict;
    match answer.verdict {
        Verdict::Holds => {
            tally.robust += 1;
            for copies in 1..=MOST_COPIES {
                let verdict = of_instance(&program.instance(copies));
                assert_ne!(verdict, Verdict::Violated, "seed {seed}: {copies} copies");
                if verdict == Verdict::Unknown {
                    break;
                }
            }
        }
        Verdict::Violated => {
            tally.not_robust += 1;
            let found = answer.any_number.expect("about any number");
            let instance = found.instance.expect("an instance");
            let total: usize = instance.copies.iter().map(|(_, copies)| copies).sum();
            tally.needs_three += usize::from(total >= 3);
            assert_eq!(of_instance(&instance.program), Verdict::Violated, "seed {seed}");
            assert!(instance.smallest, "seed {seed}");
            // None with one copy less is enough.
            for (less, (_, copies)) in instance.copies.iter().enumerate().filter(|(_, (_, copies))| *copies > 0) {
                let mut fewer: Vec<usize> = instance.copies.iter().map(|(_, copies)| *copies).collect();
                fewer[less] = copies - 1;
                let mut fewer = fewer.into_iter();
                let by_thread: Vec<usize> = program
                    .threads
                    .iter()
                    .map(|thread| if thread.copies == Copies::Any { fewer.next().unwrap_or(0) } else { 1 })
                    .collect();
                assert_eq!(of_instance(&program.instance_of(&by_thread)), Verdict::Holds, "seed {seed}: {by_thread:?}");
            }
        }
        Verdict::Unknown => tally.open += 1,
    }
}

/// The net as a text says the same, and a proof is one that the checker believes.
fn elsewhere(seed: u64, program: &Program, verdict: Verdict) {
    let net = petri_net_of_attacks(program, None).expect("a net");
    let read = spec::parse(&spec::print(&net)).expect("a net that can be read");
    let budget = Budget::seconds(20).states(STATES);
    let covered = cover(&read, budget).verdict;
    match verdict {
        Verdict::Holds => {
            assert!(!matches!(covered, ravelin_backward::nets::CoverVerdict::Coverable(_)), "seed {seed}: the text")
        }
        Verdict::Violated => {
            assert_ne!(covered, ravelin_backward::nets::CoverVerdict::Uncoverable, "seed {seed}: the text")
        }
        Verdict::Unknown => return,
    }
    match certify(program, Claim::Robust, budget).expect("an answer") {
        Some(certificate) => {
            assert_eq!(verdict, Verdict::Holds, "seed {seed}: a proof of what is not so");
            let checked = check(program, &certificate);
            assert!(checked.is_ok(), "seed {seed}: {checked:?}");
        }
        None => assert_eq!(verdict, Verdict::Violated, "seed {seed}: no proof"),
    }
}

fn soak(locks: bool) {
    let generator = Generator::new(config(locks));
    let mut tally = Tally::default();
    let seeds = ravelin_testing::seeds(500);
    let asked = (seeds.end - seeds.start) as usize;
    seeds.for_each(|seed| compare(&generator, seed, &mut tally));
    assert!(tally.open <= 1 + asked / 50, "{tally:?}");
    if asked >= 200 {
        assert!(tally.robust > asked / 20 && tally.not_robust > asked / 20 && tally.needs_three > 0, "{tally:?}");
    }
}

#[test]
fn loads_and_stores_only() {
    soak(false);
}

#[test]
fn with_updates_and_locks() {
    soak(true);
}
