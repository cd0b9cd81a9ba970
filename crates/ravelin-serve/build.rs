//! Embeds the example programs and lectures: a table of their names and texts, sorted by name.
//!
//! `programs` is a link to the examples of the project; `cargo package` replaces it by the files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// File name extensions of the supported languages.
const ENDINGS: [&str; 5] = ["rav", "litmus", "txt", "rmm", "tpl"];
/// Markdown files are lectures below this folder.
const LECTURES: &str = "lectures/";

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for (folder, prefix) in
        [("programs", ""), ("examples", "other languages/"), ("litmus", "litmus tests of herd and litmus7/")]
    {
        let root = here.join(folder);
        println!("cargo::rerun-if-changed={}", root.canonicalize().expect("examples").display());
        collect(&root, prefix, &mut files);
    }
    files.sort();
    let mut table = String::from("pub static BUILT_IN: &[(&str, &str)] = &[\n");
    for (name, path) in files {
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("a string takes all");
    }
    table.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to write"));
    std::fs::write(out.join("built_in.rs"), table).expect("the table is written");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).expect("examples") {
        let path = entry.expect("an example").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files);
        } else if ENDINGS.contains(&ending) || (ending == "md" && prefix == LECTURES) {
            files.push((format!("{prefix}{name}"), path));
        }
    }
}
