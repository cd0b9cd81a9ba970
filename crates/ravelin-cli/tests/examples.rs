//! Every program in examples/ says in its header what is expected of it. Lines marked `pending` name analyses that are not
//! there yet; all others are checked here.

use crate::running::examples;
use ravelin::{
    Budget, Command, ComparisonOptions, Model, Program, ReachEngine, Reductions, RobustnessEngine, SeqCstReading,
};
use ravelin_frontend::{expectations, rav};
use ravelin_program::Source;
use std::path::Path;

#[test]
fn every_example_does_what_its_header_says() {
    let reductions = Reductions::ALL;
    let commands = [
        Command::Check { engine: RobustnessEngine::default(), seq_cst: SeqCstReading::default(), races: true },
        Command::Reach { engine: ReachEngine::default(), buffer: 3, reductions },
        Command::States { buffer: 3, reductions },
    ];
    let mut problems = Vec::new();
    let mut compared = 0;
    for path in examples() {
        let program = Program::read(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(program.warnings(false), "", "{path}");
        let (expected, diagnostics) = expectations(program.text());
        assert!(diagnostics.is_empty(), "{path}: {diagnostics:?}");
        assert!(expected.iter().any(|line| !line.pending), "{path} expects nothing");
        // What is said about fences is compared where `fence --expect` is tested.
        for command in commands {
            let comparing =
                ComparisonOptions { command, models: &Model::ALL, tables: &[], budget: Budget::unlimited().workers(2) };
            let found = comparing.compare(Path::new(&path), &program);
            compared += found.comparisons.len();
            problems.extend(found.errors);
            let differing = found.comparisons.iter().filter(|comparison| !comparison.agrees);
            problems.extend(differing.map(|comparison| format!("{comparison:?}")));
        }
    }
    assert!(compared > 300, "only {compared} expectations were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn examples_are_formatted() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("a readable example");
        let parsed = rav::parse(Source::new(&path, text.clone()));
        assert!(rav::format(&parsed.ast) == text, "{path} is not formatted: ravelin convert --to rav");
    }
}
