//! Control characters of others never reach a terminal: not in file names, programs, documents, symbols or arguments, by no command.

use crate::running;

use running::{Scratch, code};
use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// Sets the title, clears the screen, hides what follows, goes back and changes the direction of writing.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[8m\u{9b}1A\u{8}\u{7f}\u{202e}\r";

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn ravelin(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ravelin"))
        .args(arguments)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Characters that do something to a terminal, colours aside if there are any.
fn hostile(bytes: &[u8], colors: bool) -> Option<char> {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if colors {
        for code in ["0", "1", "1;31", "1;32", "1;33", "2", "31", "32", "33", "36", "1;36", "4"] {
            text = text.replace(&format!("\u{1b}[{code}m"), "");
        }
    }
    text.chars().find(|&letter| (letter.is_control() && letter != '\n' && letter != '\t') || letter == '\u{202e}')
}

fn assert_harmless(arguments: &[&str], output: &Output, colors: bool) {
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(hostile(bytes, colors), None, "{arguments:?}, {stream}: {text:?}");
    }
}

/// Dekker's algorithm, with hostile comments wherever a change may be shown.
fn hostile_program() -> String {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/dekker.rav")).expect("an example");
    let lines = text.lines().map(|line| match line.starts_with("//") {
        true => line.to_owned(),
        false => format!("{line} // {}", HOSTILE.replace('\r', "")),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn no_command_sends_control_characters() {
    let scratch = Scratch::new("escapes");
    let program = scratch.write(&format!("a{HOSTILE}.rav"), &hostile_program());
    let wrong = scratch.write(&format!("b{HOSTILE}.rav"), &format!("thread p {{ {HOSTILE} = 1; }} \"{HOSTILE}"));
    let unknown = scratch.write(&format!("c{HOSTILE}.what"), HOSTILE);
    let empty = scratch.write(&format!("e{HOSTILE}.json"), "{}");
    let litmus = format!(
        "X86_64 SB{HOSTILE}\n\"{HOSTILE}\"\n{{}}\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ;\n movl (y),%eax | movl (x),%eax ;\nexists (0:rax=0 /\\ 1:rax=0)\n"
    );
    let litmus = scratch.write("hostile.litmus", &litmus);
    let schema = Value::String(HOSTILE.to_owned());
    let document = |text: &str| text.replace("HOSTILE", &schema.to_string());
    let schemas =
        scratch.write("schema.json", &document("{ \"schema\": HOSTILE, \"command\": \"check\", \"answers\": [] }"));
    let commands = scratch
        .write("command.json", &document("{ \"schema\": \"ravelin/2\", \"command\": HOSTILE, \"answers\": [] }"));
    let answers = scratch.write(
        "answers.json",
        &document("{ \"schema\": \"ravelin/2\", \"command\": \"check\", \"answers\": [{ \"kind\": \"none\", \"file\": HOSTILE, \"model\": null, \"verdict\": \"error\", \"message\": HOSTILE }] }"),
    );
    let fields = scratch.write(
        "fields.json",
        &document("{ \"schema\": \"ravelin/2\", \"command\": \"check\", \"answers\": [{ \"kind\": \"none\", \"file\": HOSTILE, \"model\": null, \"verdict\": HOSTILE, \"message\": \"\" }] }"),
    );
    let table = scratch.write(&format!("t{HOSTILE}.tsv"), &format!("{HOSTILE}\t{HOSTILE}\n"));
    let costs = scratch.write(&format!("k{HOSTILE}"), &format!("{HOSTILE} {HOSTILE}\n"));
    let missing = format!("/nowhere/{HOSTILE}");
    let option = format!("--{HOSTILE}");
    let net = scratch.write(&format!("n{HOSTILE}.spec"), &format!("vars\n {HOSTILE}\n"));
    let lines: Vec<Vec<&str>> = vec![
        vec!["check", &program],
        vec!["check", &program, "--format", "json"],
        vec!["check", &program, "--format", "sarif"],
        vec!["check", &program, "--attacks"],
        vec!["check", &program, "--svg", &missing],
        vec!["check", &program, "--html", &missing],
        vec!["check", "--expect", &program],
        vec!["check", "--expect", &wrong, &unknown],
        vec!["check", "--expect", &program, &table],
        vec!["check", &wrong],
        vec!["check", &wrong, "--format", "json"],
        vec!["check", &unknown],
        vec!["check", &missing],
        vec!["check", &missing, "--format", "json"],
        vec!["check", &option],
        vec!["check", &program, "--model", HOSTILE],
        vec![HOSTILE],
        vec!["help", HOSTILE],
        vec!["man", HOSTILE],
        vec!["completions", HOSTILE],
        vec!["reach", &program, "--model", "sc,tso"],
        vec!["fence", &program, "--diff"],
        vec!["fence", &program, "--explain"],
        vec!["fence", &program, "--places"],
        vec!["fence", &program, "--cost", &costs],
        vec!["fence", &program, "--cost", &missing],
        vec!["fence", &program, "--placement", &costs],
        vec!["fence", &program, "--write", &missing],
        vec!["states", &litmus, "--format", "herd"],
        vec!["states", &litmus],
        vec!["states", &program, "--max-states", "10"],
        vec!["simulate", &program, "--seed", "1"],
        vec!["simulate", &program, "--seed", "1", "--profile", &missing],
        vec!["convert", &wrong, "--to", "rav"],
        vec!["convert", &program, "--to", "rav", "-o", &missing],
        vec!["convert", &missing, "--to", "rav"],
        vec!["cover", &net],
        vec!["cover", &missing],
        vec!["certificate", &empty],
        vec!["certificate", &missing],
        vec!["explain", &schemas],
        vec!["explain", &commands],
        vec!["explain", &answers],
        vec!["explain", &fields],
        vec!["explain", &missing],
        vec!["diagnose", &wrong],
        vec!["diagnose", &missing],
        vec!["resume", &missing],
        vec!["cluster", "check", &missing, "--local", "2"],
        vec!["run", &missing],
        vec!["run", "--suppressions", &missing, "true"],
        vec!["findings", &missing],
        vec!["findings", &empty],
        vec!["replay", &missing],
        vec!["replay", &answers],
        vec!["serve", &missing],
        vec!["cc", "-c", &missing, "-o", &missing],
    ];
    for line in lines {
        let output = ravelin(&line);
        // The compiler speaks for itself.
        if line[0] != "cc" {
            assert_harmless(&line, &output, false);
        }
        let said = [output.stdout, output.stderr].concat();
        assert!(!said.is_empty(), "{line:?} says something");
    }
}

#[test]
fn colours_get_through_and_nothing_else() {
    let scratch = Scratch::new("escapes-colours");
    let program = scratch.write(&format!("a{HOSTILE}.rav"), &hostile_program());
    for line in [
        &["check", &program, "--color", "always"][..],
        &["fence", &program, "--diff", "--color", "always"],
        &["reach", &program, "--color", "always"],
    ] {
        let output = ravelin(line);
        assert!(output.stdout.contains(&0x1b), "{line:?} is painted");
        assert_harmless(line, &output, true);
    }
}

#[test]
fn a_document_says_the_same_as_before() {
    let scratch = Scratch::new("escapes-json");
    let program = scratch.write(&format!("a{HOSTILE}.rav"), &hostile_program());
    let output = ravelin(&["check", &program, "--model", "tso", "--format", "json"]);
    assert_eq!(code(&output), 1, "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["answers"][0]["file"], Value::String(program));
}

#[test]
fn converted_programs_quote_names_without_control_characters() {
    let scratch = Scratch::new("escapes-converted");
    let letters = HOSTILE.replace('\r', "");
    let text = format!(
        "thread t{letters}\ninitial a\ntransition a b write 1 0\ntransition b c read r 1\nend\nthread u\ninitial a\ntransition a b write 1 1\ntransition b c read r 0\nend\n"
    );
    let program = scratch.write(&format!("name{HOSTILE}.txt"), &text);
    for to in ["litmus", "c", "dot", "promela"] {
        let words = ["convert", &program, "--from", "trencher", "--to", to];
        let output = ravelin(&words);
        assert_eq!(code(&output), 0, "{output:?}");
        assert_harmless(&words, &output, false);
        let out = scratch.write("out", "");
        assert_eq!(code(&ravelin(&[&words[..], &["-o", &out]].concat())), 0);
        let written = std::fs::read(&out).expect("a file");
        assert_eq!(String::from_utf8_lossy(&written), String::from_utf8_lossy(&output.stdout), "{to}");
    }
}

#[test]
fn programs_are_not_changed() {
    let scratch = Scratch::new("escapes-programs");
    let text = format!("static x;\n// {HOSTILE}\nthread p {{ x.store(1); }}\nthread q {{ let r = x.load(); }}\n");
    let text = text.replace('\r', "");
    let program = scratch.write("a.rav", &text);
    let printed = ravelin(&["convert", &program, "--to", "rav"]);
    assert_eq!(code(&printed), 0, "{printed:?}");
    let comment = format!("// {}", HOSTILE.replace('\r', ""));
    assert!(String::from_utf8_lossy(&printed.stdout).contains(&comment), "{printed:?}");
    let out = scratch.write("out.rav", "");
    assert_eq!(code(&ravelin(&["convert", &program, "--to", "rav", "-o", &out])), 0);
    assert!(std::fs::read_to_string(&out).expect("a program").contains(&comment));
    let hostile = scratch.write("b.rav", &hostile_program());
    let fenced = scratch.write("fenced.rav", "");
    assert_eq!(code(&ravelin(&["fence", &hostile, "--model", "tso", "--write", &fenced])), 0);
    let kept = |text: &str| text.lines().filter(|line| line.contains('\u{1b}')).count();
    let fenced = std::fs::read_to_string(&fenced).expect("a program");
    assert_eq!(kept(&fenced), kept(&hostile_program()), "{fenced}");
}

#[test]
fn lines_of_other_systems_stay_as_they_are() {
    let scratch = Scratch::new("escapes-lines");
    let text =
        std::fs::read_to_string(format!("{ROOT}/examples/dekker.rav")).expect("an example").replace('\n', "\r\n");
    let program = scratch.write("dos.rav", &text);
    let output = ravelin(&["fence", &program, "--diff"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("\\u000d"), "{output:?}");
}
