//! No text whatever makes the litmus front end fail. Thousands of damaged texts are derived from the corpus, the same ones
//! in every run; a failure prints the text that caused it.

use crate::litmus_files;
use ravelin_testing::Random;

use litmus_files::corpus;
use ravelin_frontend::{Diagnostic, litmus, print, render};
use ravelin_program::{Source, validate};

/// Parses and renders; a text without errors must give a valid program that can be printed.
fn exercise(text: &str) -> bool {
    let parsed = litmus::parse(Source::new("mutant.litmus", text));
    let failed = parsed.diagnostics.iter().any(Diagnostic::is_error);
    assert_eq!(parsed.program.is_none(), failed, "a program is given exactly if there is no error:\n{text}");
    for diagnostic in &parsed.diagnostics {
        assert!(diagnostic.span.end as usize <= text.len() && diagnostic.span.start <= diagnostic.span.end, "{text}");
        assert!(!diagnostic.message.is_empty());
    }
    render(&parsed.diagnostics, &parsed.source, false);
    if let Some(program) = &parsed.program {
        assert_eq!(validate(program), [], "{text}");
        print::rav(program);
    }
    parsed.program.is_some()
}

#[test]
fn no_mutation_of_the_corpus_makes_the_front_end_fail() {
    let seeds: Vec<String> = corpus().into_iter().map(|(_, text)| text).collect();
    let mut random = Random::new(0x11_7e57_0f11_7a15);
    let mut survivors = 0;
    for _ in 0..6000 {
        let mut text = seeds[random.below(seeds.len())].clone().into_bytes();
        for _ in 0..=random.below(3) {
            mutate(&mut text, &seeds, &mut random);
        }
        survivors += usize::from(exercise(&String::from_utf8_lossy(&text)));
    }
    assert!(survivors > 200, "only {survivors} mutants were programs; the mutations are too wild");
}

#[test]
fn every_beginning_of_every_test_is_read_or_refused() {
    for (_, text) in corpus() {
        for end in (0..text.len()).step_by(3).filter(|&end| text.is_char_boundary(end)) {
            exercise(&text[..end]);
        }
    }
}

#[test]
fn deep_long_and_large_texts_are_refused_or_read_but_never_fatal() {
    let many = |part: &str, count: usize| part.repeat(count);
    let c = |body: String| format!("C t\n{{}}\nP0 (int* x) {{ {body} }}\n");
    let condition = |condition: String| format!("X86_64 t\n{{}}\nP0 ;\nnop ;\nexists {condition}\n");
    let texts = [
        c(format!("int r = {}1{};", many("(", 5000), many(")", 5000))),
        c(format!("int r = {}1;", many("-", 5000))),
        c(format!("int r = {}x;", many("*", 5000))),
        c(format!("int r = 1{};", many(" + 1", 20_000))),
        c(format!("int r = {}1{};", many("(1 + 1 + 1 + 1 + ", 90), many(")", 90))),
        c(format!("int r = {}1;", many("(int) ", 5000))),
        c(format!("{}{}", many("{", 5000), many("}", 5000))),
        c(format!("{};", many("if (*x) ", 5000))),
        c(format!("{};", many("if (*x) ; else ", 5000))),
        c(many("while (*x) { *x = 1; } ", 2000)),
        c(format!("int r = 1{};", many(" && *x", 250))),
        c(format!("int r = *x{};", many("[1]", 5000))),
        format!("C {}\n{{}}\n", many("(*", 50_000)),
        format!("C t\n{{ {} }}\n", many("(*", 50_000)),
        format!("C t\n{{ {} }}\nP0 () {{}}\n", many("int t[4096];", 5000)),
        format!("C t\n{{ {} }}\nP0 () {{}}\n", (0..5000).map(|n| format!("int t{n}[4096];")).collect::<String>()),
        format!("X86_64 t\n{{ {} }}\nP0 ;\n", many("\u{1F600}", 50_000)),
        format!("X86_64 t\n{{}}\n{}P1 ;\n", many("P0 | ", 5000)),
        format!("X86_64 t\n{{}}\nP0 ;\n{}", many("incl (x) ;\n", 20_000)),
        format!("X86_64 t\n{{}}\nP0 ;\n{}", (0..5000).map(|n| format!("L{n}: jmp L{} ;\n", n + 1)).collect::<String>()),
        format!("X86_64 t\n{{}}\nP0 ;\n{}", (0..5000).map(|n| format!("L{n}: jmp M{n} ;\n")).collect::<String>()),
        format!("X86_64 t\n{{}}\nP0 ;\nmovl {}(%rax),%eax ;\n", many("8", 5000)),
        condition(format!("{}x=1{}", many("(", 5000), many(")", 5000))),
        condition(format!("{}x=1", many("~", 5000))),
        condition(format!("x=1{}", many(" /\\ x=1", 20_000))),
        condition(format!("x=1{}", many(" \\/ x=1", 20_000))),
        condition(format!("x=1{}", many(" => x=1", 5000))),
        many("\"", 50_000),
        many("\0", 50_000),
    ];
    for text in texts {
        exercise(&text);
    }
}

/// Breaks one thing: bytes, lines, or tokens from elsewhere.
fn mutate(text: &mut Vec<u8>, seeds: &[String], random: &mut Random) {
    const PIECES: [&str; 40] = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        "|",
        ",",
        ":",
        "=",
        "/\\",
        "\\/",
        "~",
        "(*",
        "*)",
        "$",
        "%",
        "*",
        "&",
        "lock ",
        "%al",
        "%rax",
        "%eax",
        "(%rax)",
        "movb",
        "movq",
        "cmpl",
        "jne L1",
        "atomic_load(x)",
        "-1",
        "0xffffffff",
        "9223372036854775808",
        "exists",
        "locations [",
        "filter",
        "P0",
        "int ",
        "x[1]",
        "é",
    ];
    let at = random.below(text.len() + 1);
    let end = (at + random.below(8)).min(text.len());
    match random.below(6) {
        0 => drop(text.drain(at..end)),
        1 => drop(text.splice(at..at, PIECES[random.below(PIECES.len())].bytes())),
        2 => drop(text.splice(at..end, PIECES[random.below(PIECES.len())].bytes())),
        3 if at < text.len() => text[at] = random.below(256) as u8,
        4 => {
            let copy = text[at..end].to_vec();
            let to = random.below(text.len() + 1);
            drop(text.splice(to..to, copy));
        }
        _ => {
            let lines: Vec<&str> = seeds[random.below(seeds.len())].lines().collect();
            let line = format!("\n{}\n", lines[random.below(lines.len().max(1))]);
            drop(text.splice(at..at, line.bytes()));
        }
    }
}
