//! `--max-states` holds for an answer as a whole, however many searches it takes.

use crate::running;

use running::{Scratch, ravelin};
use serde_json::Value;

/// By how much a limit may be passed: 64 states, and what comes of one state, for each of two workers.
const OVERRUN: u64 = 500;

/// Many attacks, most of them feasible, and more states than any of the limits for every engine.
const PROGRAM: &str = "static x: 0..=7; static y: 0..=7; static z: 0..=7; static w: 0..=7;
    thread a { loop { x.store(x.load() + 1 & 7); let r = y.load(); z.store(r); let s = w.load(); x.store(s); } }
    thread b { loop { y.store(y.load() + 1 & 7); let r = z.load(); w.store(r); let s = x.load(); y.store(s); } }
    thread c { loop { z.store(z.load() + 1 & 7); let r = w.load(); x.store(r); let s = y.load(); z.store(s); } }
    never x == 7 && y == 0 && z == 3 && w == 6;";

/// States with up to 48 successors each.
const WIDE: &str = "static x: [0..8; 6]; static y: [0..8; 6];
    thread p[me in 0..6] { let r; let s; for i in 0..3 {
        havoc r in 0..8; x[me].store(r); r = y[me].load(); s = x[(me + 1) % 6].load(); y[(me + 2) % 6].store((r + s) % 8); } }
    finally never p[0].r == 99;";

fn states(answer: &Value) -> u64 {
    let places = ["statistics", "explored", "effort"];
    places.iter().filter_map(|place| answer[place]["states"].as_u64()).max().unwrap_or_else(|| panic!("{answer:#}"))
}

#[test]
fn no_command_explores_many_more_states_than_permitted() {
    let scratch = Scratch::new("state-limits");
    let program = scratch.write("program.rav", PROGRAM);
    let any = "examples/any-number/sb-two-fenced.rav";
    let wide = scratch.write("wide.rav", WIDE);
    let questions: [&[&str]; 29] = [
        &["check", &program, "--model", "tso"],
        &["check", &program, "--model", "tso", "--attacks"],
        &["check", &program, "--model", "tso", "--engine", "single", "--attacks"],
        &["check", &program, "--model", "tso", "--engine", "attacks", "--attacks"],
        &["check", &program, "--model", "pso", "--engine", "single", "--attacks"],
        &["check", &program, "--model", "tso", "--property", "trf"],
        &["check", &program, "--model", "ra"],
        &["check", &program, "--model", "rc20"],
        &["check", "examples/robustness-c11/lamport.rav", "--model", "tso", "--engine", "single", "--attacks"],
        &["check", any, "--model", "tso"],
        &["reach", &program, "--model", "tso"],
        &["reach", &program, "--model", "pso"],
        &["reach", &program, "--model", "tso", "--engine", "bounded"],
        &["reach", &program, "--model", "tso", "--engine", "lazy"],
        &["reach", &program, "--model", "tso", "--engine", "dual"],
        &["reach", any, "--model", "tso"],
        &["states", &program, "--model", "tso"],
        &["fence", &program, "--model", "tso"],
        &["fence", &program, "--model", "rc20"],
        &["check", &wide, "--model", "tso"],
        &["check", &wide, "--model", "tso", "--engine", "single", "--attacks"],
        &["check", &wide, "--model", "tso", "--engine", "attacks", "--attacks"],
        &["check", &wide, "--model", "pso", "--attacks"],
        &["check", &wide, "--model", "tso", "--property", "trf"],
        &["check", &wide, "--model", "rc20"],
        &["reach", &wide, "--model", "tso", "--engine", "bounded"],
        &["reach", &wide, "--model", "tso", "--engine", "lazy"],
        &["states", &wide, "--model", "tso"],
        &["fence", &wide, "--model", "tso"],
    ];
    for question in questions {
        for limit in [100, 3_000, 20_000] {
            for workers in ["1", "2"] {
                let most = limit.to_string();
                let words = [question, &["--max-states", &most, "--workers", workers, "--format", "json"]].concat();
                let output = ravelin(&words, "");
                let document: Value = serde_json::from_slice(&output.stdout)
                    .unwrap_or_else(|_| panic!("{words:?}: {}", String::from_utf8_lossy(&output.stderr)));
                for answer in document["answers"].as_array().expect("answers") {
                    let states = states(answer);
                    assert!(states <= limit + OVERRUN, "{words:?}: {states} states");
                }
            }
        }
    }
}

/// Twelve tokens that eleven cannot cover: every way to have twelve on eight places leads there.
#[test]
fn a_net_is_not_searched_beyond_the_limit() {
    let places: Vec<String> = (0..8).map(|place| format!("p{place}")).collect();
    let rule = |place: usize| format!("p{place} >= 1 -> p{place}' = p{place} - 1, p{0}' = p{0} + 1;\n", place - 1);
    let rules: String = (1..8).map(rule).collect();
    let start: Vec<String> = (0..8).map(|place| format!("p{place} = {}", if place == 7 { 11 } else { 0 })).collect();
    let net = format!("vars\n{}\nrules\n{rules}\ninit\n{}\ntarget\np0 >= 12\n", places.join(" "), start.join(", "));
    let scratch = Scratch::new("state-limits-net");
    let file = scratch.write("net.spec", &net);
    for limit in [100, 3_000] {
        let output = ravelin(&["cover", &file, "--format", "json", "--max-states", &limit.to_string()], "");
        let document: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let answer = &document["answers"][0];
        let kept = answer["markings_kept"].as_u64().unwrap_or_else(|| panic!("{answer:#}"));
        assert!(kept <= limit + OVERRUN, "{kept} markings of {limit}");
        assert_eq!(answer["verdict"], "unknown", "{answer:#}");
    }
}
