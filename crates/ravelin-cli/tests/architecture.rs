//! ARCHITECTURE.md is true: its map is that of `cargo metadata`, and `unsafe` occurs only in the crates that it lists.
//! Names of types are nouns, and mean one thing in the workspace. Every unit test is in some test program.
//!
//! The map is the first block of text below `## The map`. A line that begins with the name of a crate opens its entry;
//! what follows an arrow in the lines below it are the crates that it links.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Crates, and which of them each links.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_map_shows_which_crate_links_which() {
    let members = members();
    let mut expected = Graph::new();
    for package in members.values() {
        let linked = package["dependencies"].as_array().expect("dependencies").iter();
        let linked = linked.filter(|dependency| dependency["kind"].is_null()).map(name);
        expected.insert(name(package), linked.filter(|linked| members.contains_key(linked)).collect());
    }
    let shown = shown(&document());
    let mut differences: Vec<String> = Vec::new();
    for crate_ in expected.keys().chain(shown.keys()).collect::<BTreeSet<_>>() {
        let (expected, shown) = (expected.get(crate_), shown.get(crate_));
        if expected != shown {
            differences.push(format!("{crate_} links {expected:?}, and the map says {shown:?}"));
        }
    }
    assert!(differences.is_empty(), "ARCHITECTURE.md, The map:\n{}", differences.join("\n"));
}

#[test]
fn crates_in_the_map_link_only_crates_below_them() {
    let document = document();
    let order: Vec<&str> = entries(&document).iter().map(|(name, _)| *name).collect();
    let place = |name: &str| order.iter().position(|other| *other == name);
    for (crate_, linked) in shown(&document) {
        for linked in linked {
            assert!(place(&crate_) < place(&linked), "{linked} stands above {crate_}, which links it");
        }
    }
}

#[test]
fn unsafe_code_is_where_the_invariants_list_it() {
    let document = document();
    let (_, claim) = document.split_once("\n- **`unsafe` only").expect("an invariant about `unsafe`");
    let claim = claim.split("\n- ").next().expect("the rest of the invariant");
    let listed: BTreeSet<&str> = claim
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .filter(|word| word.starts_with("ravelin-"))
        .collect();
    let members = members();
    let found = members.iter().filter(|(_, package)| {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        sources(&manifest.with_file_name("src")).iter().any(|file| has_unsafe(file))
    });
    let found: BTreeSet<&str> = found.map(|(name, _)| name.as_str()).collect();
    assert_eq!(found, listed, "crates with `unsafe` code, and those that ARCHITECTURE.md lists");
}

/// Two crates may share a name: an analysis finds an `AttackWitness`, and an answer prints it. The structs of the command
/// line are not looked at: each has the name of its command.
#[test]
fn no_name_stands_for_public_types_of_three_crates() {
    let mut crates: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let members = members();
    for (crate_, package) in members.iter().filter(|(crate_, _)| *crate_ != "ravelin-cli") {
        for (line, _) in code(package) {
            if let Some(name) = line.strip_prefix("pub ").and_then(type_name) {
                crates.entry(name.to_owned()).or_default().insert(crate_);
            }
        }
    }
    crates.retain(|_, crates| crates.len() > 2);
    assert!(crates.is_empty(), "public types with the same name: {crates:#?}");
}

#[test]
fn types_are_not_named_by_participles() {
    const PARTICIPLES: &str = "Asked Beyond Checked Chosen Compared Ended Explored Found Given Grown Judged Kept Known \
        Measured Ran Remembered Reported Searched Seen Settled Shown Stored Taken Told Written";
    let members = members();
    let named = members.values().flat_map(code).filter(|(line, _)| {
        let line = line.trim_start();
        let public = line.strip_prefix("pub").map(|rest| rest.split_once(' ').map_or("", |(_, rest)| rest));
        type_name(public.unwrap_or(line))
            .is_some_and(|name| PARTICIPLES.split(' ').any(|participle| participle == name))
    });
    let named: Vec<String> = named.map(|(line, file)| format!("{}: {}", file.display(), line.trim())).collect();
    assert!(named.is_empty(), "types with names that say nothing where they are used:\n{}", named.join("\n"));
}

/// A library with `test = false` has no program for its unit tests: a file with some is compiled into the crate's test
/// program by `#[path]`, alone or with its folder.
#[test]
fn unit_tests_of_libraries_without_a_test_program_are_run_elsewhere() {
    let mut found = 0;
    for package in members().values() {
        let targets = package["targets"].as_array().expect("targets").iter();
        let others = ["test", "custom-build"];
        let mut of_sources = targets.filter(|target| others.iter().all(|other| target["kind"][0] != *other));
        if of_sources.any(|target| target["test"] == true) {
            continue;
        }
        let folder = Path::new(package["manifest_path"].as_str().expect("a path")).with_file_name("");
        let tests = folder.join("tests");
        let compiled: Vec<PathBuf> = if tests.is_dir() { sources(&tests) } else { Vec::new() }
            .iter()
            .flat_map(|file| paths(&std::fs::read_to_string(file).expect("a source")))
            .map(|path| folder.join(path))
            .collect();
        for file in sources(&folder.join("src")) {
            if std::fs::read_to_string(&file).expect("a source").lines().any(|line| line.trim() == "#[test]") {
                let is_compiled = |path: &PathBuf| match path.file_name() {
                    Some(name) if name == "mod.rs" => file.starts_with(path.with_file_name("")),
                    _ => file == *path,
                };
                assert!(compiled.iter().any(is_compiled), "nothing runs the unit tests of {}", file.display());
                found += 1;
            }
        }
    }
    assert!(found >= 9, "{found} files");
}

/// The files that lines `#[path = "../FILE"]` name.
fn paths(text: &str) -> Vec<String> {
    let inside = |line: &str| Some(line.trim().strip_prefix("#[path = \"../")?.strip_suffix("\"]")?.to_owned());
    text.lines().filter_map(inside).collect()
}

#[test]
fn definitions_of_types_are_found() {
    assert_eq!(type_name("struct Attack {"), Some("Attack"));
    assert_eq!(type_name("enum End<I> {"), Some("End"));
    assert_eq!(type_name("trait Peers: Sync {"), Some("Peers"));
    assert_eq!(type_name("type Letter = u32;"), Some("Letter"));
    assert_eq!(type_name("fn structure() {"), None);
    assert_eq!(type_name("/// struct Attack"), None);
}

#[test]
fn unsafe_code_is_told_from_the_word() {
    for code in ["let a = unsafe { b() };", "pub unsafe fn c() {", "#[unsafe(no_mangle)]", "unsafe impl Send for D {}"]
    {
        assert!(is_unsafe(code), "{code}");
    }
    for other in ["//! contains no `unsafe` code", "/// unsafe { }", "\"script-src 'unsafe-inline'\"", "not_unsafe(x)"]
    {
        assert!(!is_unsafe(other), "{other}");
    }
}

fn document() -> String {
    std::fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

/// The packages of the workspace, by name.
fn members() -> BTreeMap<String, Value> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(ROOT).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages.map(|package| (name(package), package.clone())).collect()
}

fn name(value: &Value) -> String {
    value["name"].as_str().expect("a name").to_owned()
}

/// The entries of the map: names, and the text up to the next name.
fn entries(document: &str) -> Vec<(&str, String)> {
    let map = document.split("\n## The map\n").nth(1).and_then(|section| section.split("```").nth(1));
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in map.expect("a block of text").lines().skip(1).filter(|line| !line.is_empty()) {
        if line.starts_with(' ') {
            let (_, text) = entries.last_mut().expect("a line with a name");
            text.push_str(line);
        } else {
            entries.push((line.split(' ').next().expect("a name"), String::new()));
        }
    }
    entries
}

/// The graph that the map shows.
fn shown(document: &str) -> Graph {
    let mut graph = Graph::new();
    for (name, text) in entries(document) {
        let linked = text.split_once('→').map_or("", |(_, linked)| linked).split(',');
        let linked = linked.map(str::trim).filter(|linked| !linked.is_empty());
        let full = |short| if short == "ravelin" { "ravelin".to_owned() } else { format!("ravelin-{short}") };
        let before = graph.insert(name.to_owned(), linked.map(full).collect());
        assert!(before.is_none(), "{name} is in the map twice");
    }
    graph
}

/// All Rust files in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The lines of a package's library or program, each with its file.
fn code(package: &Value) -> Vec<(String, PathBuf)> {
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    let mut lines = Vec::new();
    for file in sources(&manifest.with_file_name("src")) {
        let text = std::fs::read_to_string(&file).expect("a source");
        lines.extend(text.lines().map(|line| (line.to_owned(), file.clone())));
    }
    lines
}

/// The name of the type, trait or alias that a line defines.
fn type_name(line: &str) -> Option<&str> {
    let (keyword, rest) = line.split_once(' ')?;
    let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
    ["struct", "enum", "union", "trait", "type"].contains(&keyword).then_some(name)
}

fn has_unsafe(file: &Path) -> bool {
    std::fs::read_to_string(file).expect("a source").lines().any(is_unsafe)
}

/// Whether a line, formatted by rustfmt, begins a block, function, implementation or attribute that is `unsafe`.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("unsafe").any(|(place, word)| {
        let inside_a_name = code[..place].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let rest = &code[place + word.len()..];
        !inside_a_name && ["(", " {", " fn", " impl", " trait", " extern"].iter().any(|next| rest.starts_with(next))
    })
}
