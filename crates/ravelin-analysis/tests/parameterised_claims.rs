//! Any number of threads: programs with known answers, the smallest instance that shows a fault, certificates, and nets for other tools.

use ravelin_analysis::parameterised::certificate::{Claim, certify, check};
use ravelin_analysis::parameterised::{AnyNumber, petri_net_of_attacks, robust_by_nets};
use ravelin_analysis::reachability::{ReachEngine, ReachabilityQuestion, answer};
use ravelin_analysis::robustness::{RobustnessAnswer, RobustnessQuestion, robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_backward::nets::spec;
use ravelin_explore::Budget;
use ravelin_frontend::rav;
use ravelin_program::{Model, Program, Source};

fn parse(text: &str) -> Program {
    let parsed = rav::parse(Source::new("test".to_owned(), text.to_owned()));
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn robust(program: &Program) -> RobustnessAnswer {
    robustness(program, &RobustnessQuestion::new(Model::Tso)).expect("an answer")
}

fn instance(found: Option<Box<AnyNumber>>) -> String {
    let instance = found.expect("about any number").instance.expect("an instance");
    assert!(instance.smallest, "{}", instance.show());
    instance.show()
}

const HALVES: &str =
    "static x; static y; thread p[*] { choose { x.store(1); let r = y.load(); } or { y.store(1); let r = x.load(); } }";

#[test]
fn robustness_and_the_smallest_instance() {
    let claims = [
        // One copy alone is never at fault.
        ("static x; static y; thread p[*] { x.store(1); let r = y.load(); }", "robust"),
        (HALVES, "p × 2"),
        (
            "static x; static y; thread p[*] { x.store(1); let r = y.load(); } thread q { y.store(1); let r = x.load(); }",
            "p × 1",
        ),
        (
            "static x; static y; thread p[*] { x.store(1); let r = y.load(); } thread q[*] { y.store(1); let r = x.load(); }",
            "p × 1, q × 1",
        ),
        (
            "static x; static y; thread p[*] { x.store(1); fence(); let r = y.load(); } thread q[*] { y.store(1); fence(); let r = x.load(); }",
            "robust",
        ),
        (
            "static x; static y; static z; thread p[*] { choose { x.store(1); let r = y.load(); } or { y.store(1); let r = z.load(); } \
             or { z.store(1); let r = x.load(); } }",
            "p × 3",
        ),
        // The fault needs a token that only an update can make: three threads count to three first.
        (
            "static n: 0..=3; static x; static y; thread p[*] { wait(n == 3); x.store(1); let r = y.load(); } \
             thread q { wait(n == 3); y.store(1); let r = x.load(); } thread c[*] { let old = n.load(); assume(old < 3); \
             let got = n.compare_exchange(old, old + 1).is_ok(); }",
            "p × 1, c × 3",
        ),
        // Stores of a cell that only ever holds one value are accesses all the same.
        (
            "static x; static y; thread p[*] { choose { x.store(0); let r = y.load(); } or { y.store(0); let r = x.load(); } }",
            "p × 2",
        ),
    ];
    for (text, expected) in claims {
        let program = parse(text);
        let by_nets = robust_by_nets(&program, &RobustnessQuestion::new(Model::Tso)).expect("an answer");
        for found in [robust(&program), by_nets] {
            match found.verdict {
                Verdict::Holds => assert_eq!(expected, "robust", "{text}"),
                Verdict::Violated => assert_eq!(instance(found.any_number), expected, "{text}"),
                Verdict::Unknown => panic!("unknown: {text}"),
            }
        }
    }
}

#[test]
fn reachability_and_the_smallest_instance() {
    let lock = "static l; thread p[*] { loop { while l.swap(1) == 1 {} @in; l.store(0); } } never 2 of p@in;";
    let tickets = "static n: wrapping 0..3; static s: wrapping 0..3; thread p[*] { loop { let t = n.fetch_add(1); while s.load() != t {} @in; \
                   let v = s.load(); s.store(v + 1); } } never 2 of p@in;";
    let sb = "static x; static y; thread p[*] { x.store(1); if y.load() == 0 { @in; nop; } } \
              thread q[*] { y.store(1); if x.load() == 0 { @in; nop; } } never 1 of p@in && 1 of q@in;";
    let crowd = "static x; thread p[*] { @at; x.store(1); } never 5 of p@at;";
    let assertion = "static x; thread p[*] { x.store(1); } thread q { assert(x.load() == 0); }";
    let claims = [
        (lock, Model::Sc, "holds"),
        (lock, Model::Tso, "holds"),
        (tickets, Model::Sc, "p × 4"),
        (tickets, Model::Tso, "p × 4"),
        (sb, Model::Sc, "holds"),
        (sb, Model::Tso, "p × 1, q × 1"),
        (crowd, Model::Sc, "p × 5"),
        (crowd, Model::Tso, "p × 5"),
        (assertion, Model::Sc, "p × 1"),
    ];
    for (text, model, expected) in claims {
        let found = answer(&parse(text), &ReachabilityQuestion::new(model), ReachEngine::Auto).expect("an answer");
        match found.reachability.verdict {
            Verdict::Holds => assert_eq!(expected, "holds", "{model}: {text}"),
            Verdict::Violated => {
                assert_eq!(instance(found.any_number), expected, "{model}: {text}");
                assert!(found.reachability.witness.is_some());
            }
            Verdict::Unknown => panic!("unknown under {model}: {text}"),
        }
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let claims = [
        ("static x; thread p[*] { x.store(x.load() + 1); }", "line 1: `x` takes more than 4096 values"),
        ("static x; thread p[*] { @a; x.store(1); } never p@a == 1;", "a minimum number of copies"),
        ("static x; thread p[*] { x.store(1); } finally x == 1;", "final states"),
    ];
    for (text, expected) in claims {
        let program = parse(text);
        let refused = match answer(&program, &ReachabilityQuestion::new(Model::Sc), ReachEngine::Auto) {
            // A violation that a small instance shows is an answer.
            Ok(found) => {
                assert_eq!(found.reachability.verdict, Verdict::Violated, "{text}");
                continue;
            }
            Err(refused) => refused,
        };
        assert!(refused.is_refusal() && refused.to_string().contains(expected), "{refused}");
    }
    let program = parse(HALVES);
    let pso = robustness(&program, &RobustnessQuestion::new(Model::Pso)).expect_err("pso needs a number");
    assert!(matches!(&pso, AnalysisError::AnyNumberIsForTso(_)) && pso.to_string().contains("--copies"), "{pso}");
    let lazy =
        answer(&program, &ReachabilityQuestion::new(Model::Tso), ReachEngine::Lazy).expect_err("lazy needs a number");
    assert!(lazy.to_string().contains("--copies"), "{lazy}");
}

#[test]
fn proofs_can_be_carried_away() {
    let fenced = "static x; static y; thread p[*] { choose { x.store(1); fence(); let r = y.load(); } or { y.store(1); fence(); \
                  let r = x.load(); } }";
    let lock = "static l; thread p[*] { while l.swap(1) == 1 {} @in; l.store(0); } never 2 of p@in;";
    for (text, claim) in [(fenced, Claim::Robust), (lock, Claim::Unreachable)] {
        let program = parse(text);
        let certificate = certify(&program, claim, Budget::default()).expect("an answer").expect("a proof");
        let checked = check(&program, &certificate).expect("a proof");
        assert!(checked.claims > 0 && checked.constraints > 0, "{checked:?}");
        for (number, proof) in certificate.proofs.iter().enumerate() {
            for left_out in 0..proof.net.markings.len() {
                let mut broken = certificate.clone();
                broken.proofs[number].net.markings.remove(left_out);
                assert!(check(&program, &broken).is_err(), "{text}: without marking {left_out} of {number}");
            }
        }
        let mut none = certificate.clone();
        none.proofs.clear();
        assert!(check(&program, &none).is_err());
    }
    // What is not so has no proof.
    assert_eq!(certify(&parse(HALVES), Claim::Robust, Budget::default()).expect("an answer"), None);
    // A proof about one program proves nothing about another.
    let certificate = certify(&parse(fenced), Claim::Robust, Budget::default()).expect("an answer").expect("a proof");
    assert!(check(&parse(HALVES), &certificate).is_err());
}

#[test]
fn the_net_of_all_attacks_says_the_same() {
    let texts = [
        HALVES,
        "static x; static y; thread p[*] { x.store(1); fence(); let r = y.load(); } thread q[*] { y.store(1); fence(); let r = x.load(); }",
        "static x; static y; thread p[*] { x.store(1); let r = y.load(); } thread q[*] { y.store(1); let r = x.load(); }",
        "static x; static y; static l; thread p[*] { lock(l); x.store(1); let r = y.load(); unlock(l); } thread q[*] { lock(l); y.store(1); \
         let r = x.load(); unlock(l); }",
    ];
    for text in texts {
        let program = parse(text);
        let net = petri_net_of_attacks(&program, None).expect("a net");
        let read = spec::parse(&spec::print(&net)).expect("a net that can be read");
        let covered = ravelin_backward::nets::cover(&read, Budget::default()).verdict;
        let not_robust = robust(&program).verdict == Verdict::Violated;
        assert_eq!(matches!(covered, ravelin_backward::nets::CoverVerdict::Coverable(_)), not_robust, "{text}");
    }
}
