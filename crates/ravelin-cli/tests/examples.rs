//! Every program in examples/ says in its header what is expected of it. Lines marked `pending` name analyses that are not
//! there yet; all others are checked here.

use ravelin_analysis::Verdict;
use ravelin_analysis::reachability::{self, Engine, Question};
use ravelin_analysis::robustness::{RobustnessQuestion, race_freedom, robustness};
use ravelin_analysis::states::states;
use ravelin_frontend::{Expectation, expectations, rav};
use ravelin_program::{Model, Program, Source};
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut folders = vec![root];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder of examples") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rav") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn parse(path: &Path) -> (Program, String) {
    let text = std::fs::read_to_string(path).expect("a readable example");
    let parsed = rav::parse(Source::new(path.display().to_string(), text.clone()));
    assert!(parsed.diagnostics.is_empty(), "{}: {:?}", path.display(), parsed.diagnostics);
    (parsed.program.expect("a program"), text)
}

/// About the models of C11, which `check --expect` is tested with.
fn is_c11(expectation: &Expectation) -> bool {
    matches!(expectation.model.as_str(), "ra" | "rc20")
}

/// What the tool answers, in the words of the header.
fn answer(program: &Program, expectation: &Expectation) -> String {
    let model = Model::HARDWARE.into_iter().find(|model| model.name() == expectation.model).expect("sc, tso or pso");
    if expectation.command == "check" {
        return check(program, model, expectation);
    }
    let mut question = Question { workers: 2, ..Question::new(model) };
    for (key, value) in &expectation.options {
        match key.as_str() {
            "buffer" => question.buffer = value.parse().expect("a number"),
            other => panic!("no option {other}"),
        }
    }
    match expectation.command.as_str() {
        "reach" => {
            let engine = if expectation.options.is_empty() { Engine::Auto } else { Engine::Bounded };
            let answer = reachability::answer(program, &question, engine).expect("an answer");
            answer.reachability.verdict.name().to_owned()
        }
        "states" => {
            let answer = states(program, &question).expect("an answer");
            let beyond = answer.finals.iter().filter(|state| state.beyond_sc == Some(true)).count();
            format!("{} final, {beyond} not sc", answer.finals.len())
        }
        other => panic!("no command {other}"),
    }
}

fn check(program: &Program, model: Model, expectation: &Expectation) -> String {
    let question = RobustnessQuestion { workers: 2, ..RobustnessQuestion::new(model) };
    let options: Vec<(&str, &str)> =
        expectation.options.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let (verdict, holds, violated) = match options.as_slice() {
        [] => (robustness(program, &question).expect("an answer").verdict, "robust", "not robust"),
        [("property", "trf")] => (race_freedom(program, &question).expect("an answer").verdict, "free", "race"),
        other => panic!("no options {other:?}"),
    };
    match verdict {
        Verdict::Holds => holds,
        Verdict::Violated => violated,
        Verdict::Unknown => "unknown",
    }
    .to_owned()
}

#[test]
fn every_example_does_what_its_header_says() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for path in examples() {
        let (program, text) = parse(&path);
        let (expectations, diagnostics) = expectations(&text);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", path.display());
        assert!(expectations.iter().any(|line| !line.pending), "{} expects nothing", path.display());
        // What is said about fences is compared where `fence --expect` is tested.
        for expectation in expectations.iter().filter(|line| !line.pending && line.command != "fence" && !is_c11(line))
        {
            let answer = answer(&program, expectation);
            checked += 1;
            if answer != expectation.answer {
                wrong.push(format!("{}: {expectation:?}, but the answer is {answer}", path.display()));
            }
        }
    }
    assert!(checked > 300, "only {checked} expectations were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_are_formatted() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("a readable example");
        let parsed = rav::parse(Source::new(path.display().to_string(), text.clone()));
        assert!(rav::format(&parsed.ast) == text, "{} is not formatted: ravelin convert --to rav", path.display());
    }
}
