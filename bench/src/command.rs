//! The command that was given, as a document may show it: without paths of this machine, and so that it can be typed
//! again.

use crate::Arguments;
use clap::{Arg, Command, CommandFactory, ValueHint};
use std::ffi::OsString;

/// The sentence at the beginning of every document that this program writes.
pub fn made_by() -> String {
    format!("Made by `{}`.", command())
}

/// `cargo xtask bench rc20 --rocker FOLDER`, from the arguments of this process.
pub fn command() -> String {
    command_text(&Arguments::command(), words().map(|word| word.to_string_lossy().into_owned()))
}

/// The arguments of this process, but not whether the answer is to be written.
pub fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(1).filter(|word| word != "--write")
}

fn command_text(grammar: &Command, words: impl Iterator<Item = String>) -> String {
    let mut grammar = grammar;
    let mut shown = "cargo xtask".to_owned();
    // What stands for the next word, after an option whose value is a path.
    let mut placeholder = None;
    for word in words {
        shown.push(' ');
        if let Some(name) = placeholder.take() {
            shown += name;
            continue;
        }
        grammar = grammar.find_subcommand(&word).unwrap_or(grammar);
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        match path_of(grammar, option) {
            Some(name) if option.len() < word.len() => shown += &format!("{option}={name}"),
            found => {
                placeholder = found;
                shown += &quoted(&word);
            }
        }
    }
    shown
}

/// What an option calls its value, if that is a path.
fn path_of<'a>(grammar: &'a Command, option: &str) -> Option<&'a str> {
    let long = option.strip_prefix("--")?;
    let named = |argument: &&Arg| argument.get_long() == Some(long);
    let argument = grammar.get_arguments().find(named)?;
    // PathBuf has this hint by itself.
    (argument.get_value_hint() == ValueHint::AnyPath).then_some(())?;
    Some(argument.get_value_names()?.first()?.as_str())
}

fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("'{word}'") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_hidden_and_the_rest_is_shown() {
        for (words, expected) in [
            (&["bench", "rc20", "--rocker", "/home/me/rocker"][..], "cargo xtask bench rc20 --rocker FOLDER"),
            (
                &["bench", "fences", "--trencher=../files", "--repetitions", "7"],
                "cargo xtask bench fences --trencher=FOLDER --repetitions 7",
            ),
            (&["bench", "runtime", "--only", "MPMC queue"], "cargo xtask bench runtime --only 'MPMC queue'"),
            (&["bench", "schedules", "--ravelin", "x"], "cargo xtask bench schedules --ravelin PROGRAM"),
            (&["tables", "--only", "003", "--out", "/tmp/x"], "cargo xtask tables --only 003 --out FOLDER"),
        ] {
            let words = words.iter().map(|&word| word.to_owned());
            assert_eq!(command_text(&Arguments::command(), words), expected);
        }
    }

    #[test]
    fn every_path_has_a_name_in_the_help() {
        fn check(grammar: &Command) {
            for argument in grammar.get_arguments().filter(|argument| argument.get_value_hint() == ValueHint::AnyPath) {
                let name = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
                assert!(matches!(name, Some("FOLDER" | "PROGRAM")), "--{}: {name:?}", argument.get_id());
            }
            grammar.get_subcommands().for_each(check);
        }
        check(&Arguments::command());
    }
}
