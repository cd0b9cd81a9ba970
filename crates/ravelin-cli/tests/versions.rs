//! Examples whose first lines say how they are built and what is found in them.

use std::path::{Path, PathBuf};

/// A version of an example, and what its first lines say about it.
pub struct Version {
    pub path: PathBuf,
    pub flags: Vec<String>,
    pub expected: String,
}

/// The versions in a folder of `examples`, from lines `//! expect WORD FLAGS: ANSWER`. Each file has at least one.
pub fn versions(folder: &str, word: &str) -> Vec<Version> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the examples");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let prefix = format!("//! expect {word}");
    let mut versions = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a text");
        let before = versions.len();
        for line in text.lines() {
            let expected = line.strip_prefix(&prefix).and_then(|line| line.split_once(": "));
            let Some((flags, expected)) = expected else { continue };
            let flags = flags.split_whitespace().map(str::to_owned).collect();
            versions.push(Version { path: path.clone(), flags, expected: expected.to_owned() });
        }
        assert!(versions.len() > before, "{} expects nothing", path.display());
    }
    versions
}
