//! What was a program stays the same program: every example and every text of the corpus, as it is printed, has the hash
//! that it had when it was recorded in `rav_unchanged.txt`. A construct that is added to the language must not change what
//! older texts mean.
//!
//! `RAVELIN_RECORD=1` writes the file anew, for texts that were added or are meant to mean something else.

use ravelin_frontend::{print, rav};
use ravelin_program::Source;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The `.rav` files of a folder and its folders.
fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rav") {
            found.push(path);
        }
    }
}

/// FNV-1a.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn programs_mean_what_they_meant() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..").canonicalize().expect("the workspace");
    let mut found = Vec::new();
    for folder in ["examples", "crates/ravelin-frontend/tests/rav_corpus"] {
        texts(&root.join(folder), &mut found);
    }
    let mut lines = Vec::new();
    for path in found {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
        let program = rav::parse(Source::new("", text)).program;
        let printed = program.map(|program| print::rav(&program)).unwrap_or_default();
        lines.push((name, hash(&printed)));
    }
    lines.sort();
    let recorded = here.join("tests/rav_unchanged.txt");
    if env::var_os("RAVELIN_RECORD").is_some() {
        let mut text = String::new();
        lines.iter().for_each(|(name, hash)| writeln!(text, "{hash:016x} {name}").expect("a string"));
        fs::write(&recorded, text).expect("the record can be written");
        return;
    }
    let text = fs::read_to_string(&recorded).expect("the record");
    let known: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut wrong = Vec::new();
    for (name, hash) in &lines {
        match known.iter().find(|(_, known)| known == name) {
            Some((before, _)) if *before == format!("{hash:016x}") => {}
            Some(_) => wrong.push(format!("{name} means something else than before")),
            None => wrong.push(format!("{name} is not recorded")),
        }
    }
    assert!(wrong.is_empty(), "{}\nif this is meant, run the test with RAVELIN_RECORD=1", wrong.join("\n"));
    assert!(lines.len() > 150, "only {} texts", lines.len());
}
