//! Where measured programs come from: the examples, as they are or with another constant, and folders of files that
//! somebody may have.

use anyhow::{Context, Result};
use ravelin_frontend::Language;
use ravelin_program::{Program, Source};
use std::path::{Path, PathBuf};

/// A program in `.rav`; the error shows what is wrong with it.
pub fn parse(name: &str, text: String) -> Result<Program> {
    let parsed = ravelin_frontend::rav::parse(Source::new(name, text));
    let diagnostics = ravelin_frontend::render(&parsed.diagnostics, &parsed.source, false);
    parsed.program.with_context(|| format!("{name} does not parse:\n{diagnostics}"))
}

/// A file of the folder `examples`.
pub fn example(file: &str) -> Result<Program> {
    parse(file, text(&crate::root().join("examples").join(file))?)
}

/// The same with another value for one of its constants, which is how programs grow.
pub fn example_with(file: &str, constant: &str, value: usize) -> Result<Program> {
    let text = text(&crate::root().join("examples").join(file))?;
    let text = with_constant(&text, constant, value).with_context(|| format!("{file} has no `const {constant}`"))?;
    parse(file, text)
}

/// A file in a language that is known.
pub fn read(path: &Path, language: Language) -> Result<Program> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match language {
        Language::Rav => parse(&name, text(path)?),
        _ => ravelin_frontend::parse(Source::new(name.clone(), text(path)?), language)
            .program
            .with_context(|| format!("{name} has errors")),
    }
}

pub fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The files of a folder with an extension, by name.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    Ok(files)
}

/// Also those of the folders inside it.
pub fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files_below(&path, extension)?);
        } else if path.extension().is_some_and(|ends| ends == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()
    };
    let mut entries = read().with_context(|| format!("cannot read {}", folder.display()))?;
    entries.sort();
    Ok(entries)
}

fn with_constant(text: &str, constant: &str, value: usize) -> Option<String> {
    let declares = format!("const {constant} = ");
    let line = text.lines().find(|line| line.starts_with(&declares))?;
    Some(text.replace(line, &format!("{declares}{value};")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_replaced() {
        let text = "const N = 3;\nstatic x: 0..N;\n";
        assert_eq!(with_constant(text, "N", 7).as_deref(), Some("const N = 7;\nstatic x: 0..N;\n"));
        assert_eq!(with_constant(text, "M", 7), None);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = example("no-such-file.rav").unwrap_err().to_string();
        assert!(error.contains("no-such-file.rav"), "{error}");
        let error = example_with("sb.rav", "N", 3).unwrap_err().to_string();
        assert_eq!(error, "sb.rav has no `const N`");
    }
}
