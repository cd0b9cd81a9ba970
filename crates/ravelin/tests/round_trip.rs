//! Every answer about every example is the same after it was written as JSON and read back.

use ravelin::answer::text::Style;
use ravelin::answer::{FencePurpose, Property};
use ravelin::{Answer, Budget, Document, Model, Program, Sets};
use ravelin_testing::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            match entry.extension() {
                _ if entry.is_dir() => folders.push(entry),
                Some(ending) if ending == "rav" => files.push(entry),
                _ => {}
            }
        }
    }
    files.sort();
    assert!(files.len() > 90, "{} examples", files.len());
    files
}

/// All that can be asked, within a moment each.
fn answers(program: &Program) -> Vec<Answer> {
    let budget = Budget::unlimited().states(500);
    let mut answers = Vec::new();
    for model in Model::WEAK {
        answers.extend(ravelin::check(program).model(model).all_attacks(true).budget(budget).run());
        let fence = ravelin::fence(program).model(model).budget(budget).explain(true);
        answers.extend(fence.run());
    }
    answers.extend(ravelin::check(program).property(Property::Trf).budget(budget).run());
    let safety = ravelin::fence(program).purpose(FencePurpose::Safety).sets(Sets::AllMinimal);
    answers.extend(safety.budget(budget).run());
    answers.extend(ravelin::fence(program).places());
    for model in Model::HARDWARE {
        answers.extend(ravelin::reach(program).model(model).budget(budget).run());
        answers.extend(ravelin::states(program).model(model).budget(budget).run());
        answers.extend(ravelin::simulate(program).model(model).seed(1).steps(50).run());
    }
    answers
}

#[test]
fn answers_are_read_back_as_they_were_written() {
    let mut kinds = BTreeMap::new();
    for path in examples() {
        let program = Program::read(&path).expect("a program");
        let document = Document::new("check", answers(&program));
        let text = document.text();
        let read = Document::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // A time may lose its last digit.
        assert_eq!(read.text(), Document::read(&read.text()).expect("it is one").text(), "{}", path.display());
        for (before, after) in document.answers.iter().zip(&read.answers) {
            assert_eq!(before.to_string(), after.to_string(), "{}", path.display());
            assert_eq!((before.verdict(), before.file()), (after.verdict(), after.file()));
            *kinds.entry(kind(before)).or_insert(0) += 1;
        }
    }
    for kind in ["robustness", "triangular races", "c11", "reachability", "fences", "places", "states", "simulation"] {
        assert!(kinds.get(kind).is_some_and(|number| *number > 50), "{kind}: {kinds:?}");
    }
}

/// A word for the kind of an answer.
fn kind(answer: &Answer) -> &'static str {
    match answer {
        Answer::Robustness(_) => "robustness",
        Answer::TriangularRaces(_) => "triangular races",
        Answer::C11Robustness(_) => "c11",
        Answer::Reachability(_) => "reachability",
        Answer::Fences(_) => "fences",
        Answer::FencePlaces(_) => "places",
        Answer::FinalStates(_) => "states",
        Answer::Simulation(_) => "simulation",
        _ => "other",
    }
}

/// A document may come from anywhere: numbers that lead nowhere are errors, not panics.
#[test]
fn documents_whose_parts_do_not_fit_are_refused() {
    let text = "static x; static y;
        thread p { x.store(1); let a = y.load(); }
        thread q { y.store(1); let b = x.load(); }";
    let program = Program::parse("sb.rav", text).expect("a program");
    let mut refused = 0;
    for model in [Model::Tso, Model::Rc20] {
        let answer = ravelin::check(&program).model(model).run().expect("an answer");
        let document = Document::new("check", vec![answer]).text();
        for field in ["\"from\": ", "\"to\": ", "\"event\": ", "\"access\": ", "\"ignored\": "] {
            let Some((before, after)) = document.split_once(field) else { continue };
            let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let spoilt = format!("{before}{field}999{rest}");
            let error = Document::read(&spoilt).expect_err("it leads nowhere").to_string();
            assert!(error.starts_with("answer 1: "), "{error}");
            refused += 1;
        }
        let spoilt = document.replace("\"thread\": \"p\"", "\"thread\": \"nobody\"");
        assert!(Document::read(&spoilt).is_ok(), "all threads have another name");
        let spoilt = document.replacen(
            "\"thread\": \"p\",\n            \"kind\"",
            "\"thread\": \"x\",\n            \"kind\"",
            1,
        );
        assert!(spoilt == document || Document::read(&spoilt).is_err());
    }
    assert!(refused >= 5, "{refused}");
}

/// Nor does any other damage make a view panic: a document that is read can be printed.
#[test]
fn damaged_documents_are_refused_or_printed() {
    let mut random = Random::new(1);
    let mut draw = |below: usize| random.below(below);
    let (mut read, mut refused) = (0, 0);
    for name in ["sb.rav", "mp.rav", "dekker-fenced.rav", "any-number/sb-two.rav"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let program = Program::read(&path).expect("a program");
        for answer in answers(&program) {
            let text = Document::new("check", vec![answer]).text();
            let words: Vec<&str> = text.split_inclusive([' ', ',', '\n']).collect();
            for _ in 0..40 {
                let mut damaged: Vec<&str> = words.clone();
                let at = draw(damaged.len());
                match draw(5) {
                    0 => damaged[at] = "7,",
                    1 => damaged[at] = "null,",
                    2 => damaged[at] = "\"violated\",",
                    3 => drop(damaged.remove(at)),
                    _ => damaged[at] = words[draw(words.len())],
                }
                match Document::read(&damaged.concat()) {
                    Ok(document) => {
                        let style = Style { color: true, width: Some(60) };
                        let printed: usize = document.answers.iter().map(|answer| answer.text(style).len()).sum();
                        assert!(printed > 0);
                        read += 1;
                    }
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(read > 100 && refused > 500, "{read} read, {refused} refused");
}
