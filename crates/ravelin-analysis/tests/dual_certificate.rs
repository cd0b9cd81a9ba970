//! Certificates: one is found for what the load-buffer engine proves, it checks, and a changed one does not.
//!
//! The certificate's search takes single steps and leaves nothing out, so it also judges the engine's reductions.

use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::certificate::{ReachabilityCertificate, ReachabilityFlaw, certify, check};
use ravelin_analysis::reachability::{ReachabilityQuestion, dual};
use ravelin_explore::Budget;
use ravelin_frontend::{Language, parse};
use ravelin_program::{Model, Program, Source};
use ravelin_testing::programs::{Config, Generator};

fn program(text: &str) -> Program {
    let parsed = parse(Source::new("claim.rav", text), Language::Rav);
    parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics))
}

const FENCED: &str = "static x: bool; static y: bool;
    thread a { x.store(1); fence(seq_cst); let r = y.load(); @end; }
    thread b { y.store(1); fence(seq_cst); let r = x.load(); @end; }
    never a@end && b@end && a.r == 0 && b.r == 0;";

fn certificate(program: &Program) -> ReachabilityCertificate {
    certify(program, &ReachabilityQuestion::new(Model::Tso)).expect("a finite program").expect("a proof")
}

#[test]
fn a_certificate_survives_being_written_down() {
    let program = program(FENCED);
    let text = serde_json::to_string(&certificate(&program)).expect("json");
    let read: ReachabilityCertificate = serde_json::from_str(&text).expect("the same");
    let checked = check(&program, &read).expect("a proof");
    assert_eq!(checked.constraints, read.constraints.len());
    assert!(checked.claims > 0 && checked.steps > 0);
}

#[test]
fn without_any_one_constraint_it_proves_nothing() {
    let program = program(FENCED);
    let whole = certificate(&program);
    for left_out in 0..whole.constraints.len() {
        let mut less = whole.clone();
        less.constraints.remove(left_out);
        let flaw = check(&program, &less).expect_err("a minimal constraint is needed");
        assert!(matches!(flaw, ReachabilityFlaw::GoalMissing(_) | ReachabilityFlaw::NotClosed(_)), "{flaw}");
    }
}

#[test]
fn it_does_not_prove_another_program() {
    let whole = certificate(&program(FENCED));
    let unfenced = program(&FENCED.replace("fence(seq_cst);", "fence(acquire);"));
    assert!(check(&unfenced, &whole).is_err());
    assert!(certify(&unfenced, &ReachabilityQuestion::new(Model::Tso)).expect("finite").is_none());
    let other = ReachabilityCertificate { format: "something else".to_owned(), ..whole };
    assert!(matches!(check(&program(FENCED), &other), Err(ReachabilityFlaw::Format)));
}

#[test]
fn every_proof_on_random_programs_has_a_certificate_that_checks() {
    let generator = Generator::new(Config::all());
    let question =
        ReachabilityQuestion { budget: Budget::unlimited().states(3_000), ..ReachabilityQuestion::new(Model::Tso) };
    let mut proofs = 0;
    for seed in 0..600 {
        let program = generator.program(seed);
        let Ok(answer) = dual(&program, &question) else { continue };
        let verdict = answer.reachability.verdict;
        let made = certify(&program, &question).expect("a finite program");
        match (verdict, &made) {
            (Verdict::Violated, Some(_)) => panic!("seed {seed}: violated, but there is a certificate"),
            (Verdict::Holds, Some(certificate)) => {
                proofs += 1;
                if let Err(flaw) = check(&program, certificate) {
                    panic!("seed {seed}: {flaw}\n{}", ravelin_frontend::print::rav(&program));
                }
            }
            // The single steps need more constraints than the limit allows.
            _ => {}
        }
    }
    assert!(proofs > 100, "only {proofs} proofs");
}
