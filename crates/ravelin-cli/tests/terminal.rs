//! What belongs to a terminal: completions, manual pages, colours and widths.

use crate::running;

use running::{Scratch, code, ravelin};
use std::process::{Command, Stdio};

/// What `ravelin` prints on a terminal.
fn in_terminal(columns: &str, variables: &[(&str, &str)], arguments: &str) -> Option<String> {
    Some(screen(columns, variables, &format!("{arguments} 2>/dev/null"))?.replace('\r', ""))
}

/// All that is sent to a terminal: the pseudo-terminal of `script`, where that is installed.
fn screen(columns: &str, variables: &[(&str, &str)], arguments: &str) -> Option<String> {
    if !ravelin_testing::has("script", "--version", "bsdutils") {
        return None;
    }
    let line = format!("stty cols {columns}; {} {arguments}", env!("CARGO_BIN_EXE_ravelin"));
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("script starts");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn colours_are_for_terminals() {
    let piped = ravelin(&["check", "examples/sb.rav"], "");
    assert!(!piped.stdout.contains(&0x1b));
    let forced = ravelin(&["check", "examples/sb.rav", "--color", "always"], "");
    assert!(forced.stdout.contains(&0x1b));
    let Some(painted) = in_terminal("200", &[], "check examples/sb.rav") else { return };
    assert!(painted.contains("\u{1b}[1;31mnot robust"), "{painted}");
    for variables in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let plain = in_terminal("200", &variables, "check examples/sb.rav").expect("it was there before");
        assert!(plain.contains("not robust") && !plain.contains('\u{1b}'), "{plain}");
    }
}

#[test]
fn a_long_search_shows_a_line_and_erases_it() {
    let scratch = Scratch::new("terminal-line");
    let text =
        "static x; static y; thread p[6] { loop { let a; havoc a in 0..200; x.store(a); y.store(y.load() + a); } }";
    let program = scratch.write("endless.rav", text);
    let question = format!("reach {program} --model sc --max-states 2000000");
    let Some(text) = screen("80", &[("NO_COLOR", "1")], &question) else { return };
    let (before, answer) = text.rsplit_once("\r\u{1b}[K").expect("a line that is erased");
    let shown = format!("\r\u{1b}[K\u{1b}[?7l{program} reach: ");
    assert!(before.starts_with(&shown) && before.contains(" states, ") && before.ends_with("\u{1b}[?7h"), "{text:?}");
    assert!(answer.contains("unknown") && !answer.contains('\u{1b}'), "{text:?}");
    let dumb = screen("80", &[("TERM", "dumb")], &question).expect("it was there before");
    assert!(dumb.contains("unknown") && !dumb.contains('\u{1b}'), "{dumb:?}");
}

#[test]
fn lines_fit_the_terminal_and_are_whole_in_a_pipe() {
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let piped = ravelin(&["check", "examples/peterson.rav"], "");
    let piped = String::from_utf8_lossy(&piped.stdout);
    assert!(widest(&piped) > 100, "{piped}");
    for columns in [60, 80, 100] {
        let Some(text) = in_terminal(&columns.to_string(), &[("NO_COLOR", "1")], "check examples/peterson.rav") else {
            return;
        };
        assert!(text.contains("happens-before cycle"), "{text}");
        assert!(widest(&text) <= columns, "{columns}:\n{text}");
        let words = |text: &str| text.split_whitespace().filter(|word| word.len() < 6).count();
        assert!(words(&text) + 40 > words(&piped), "nothing is lost: {text}");
    }
    let said = in_terminal("200", &[("NO_COLOR", "1"), ("COLUMNS", "70")], "check examples/peterson.rav");
    assert!(widest(&said.expect("it was there before")) <= 70);
}

/// All commands and flags, as `--help` tells them.
fn commands() -> Vec<(String, Vec<String>)> {
    let help = |arguments: &[&str]| {
        let output = ravelin(arguments, "");
        assert_eq!(code(&output), 0, "{arguments:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let whole = help(&["--help"]);
    let listed =
        whole.split("Commands:").nth(1).expect("commands").split("Options:").next().expect("options").to_owned();
    let names = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let mut commands = Vec::new();
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        // Not `NAME --help`, which `cc` hands on to the compiler.
        let flags = help(&["help", name]);
        let flags = flags.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line
                .strip_prefix("-")
                .filter(|line| !line.starts_with('-'))
                .map_or(line, |short| short.split_once(", ").map_or("", |(_, long)| long));
            line.strip_prefix("--").and_then(|flag| flag.split([' ', '[', '=']).next()).map(str::to_owned)
        });
        commands.push((name.to_owned(), flags.filter(|flag| !flag.is_empty()).collect()));
    }
    assert!(commands.len() > 12, "{commands:?}");
    commands
}

#[test]
fn completions_name_every_command_and_flag() {
    let scratch = Scratch::new("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = ravelin(&["completions", shell], "");
        assert_eq!(code(&output), 0);
        let script = String::from_utf8(output.stdout).expect("text");
        for (command, flags) in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
            for flag in flags {
                assert!(script.contains(&flag), "{shell}: {command} --{flag}");
            }
        }
        if shell == "bash" {
            let path = scratch.write("ravelin.bash", &script);
            if let Ok(status) = Command::new("bash").args(["-n", &path]).status() {
                assert!(status.success(), "bash does not like it");
            }
        }
    }
    assert_eq!(code(&ravelin(&["completions", "tcl"], "")), 2);
}

#[test]
fn manual_pages_name_every_flag_and_can_be_shown() {
    let folder = std::env::temp_dir().join(format!("ravelin-man-{}", std::process::id()));
    let output = ravelin(&["man", "--out", &folder.display().to_string()], "");
    assert_eq!(code(&output), 0, "{output:?}");
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a page");
    let whole = page("ravelin.1");
    for (command, flags) in commands() {
        assert!(whole.contains(&format!("ravelin\\-{}", command.replace('-', "\\-"))), "{command}");
        let text = page(&format!("ravelin-{command}.1"));
        for flag in flags {
            let flag = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(text.contains(&flag), "{command}: {flag}");
        }
        let path = folder.join(format!("ravelin-{command}.1"));
        if let Ok(shown) = Command::new("man").args(["-E", "utf8", "-P", "cat", "-l"]).arg(&path).output()
            && !String::from_utf8_lossy(&shown.stderr).contains("minimized")
        {
            assert!(shown.status.success() && shown.stderr.is_empty(), "{shown:?}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let one = ravelin(&["man", "check"], "");
    assert!(String::from_utf8_lossy(&one.stdout).contains("robust"));
    assert_eq!(code(&ravelin(&["man", "nothing"], "")), 2);
    assert_eq!(code(&ravelin(&["man", "--out", "/proc/nothing"], "")), 2);
}
