//! Reading programs, and saying what is wrong with them.

use crate::arguments::Color;
use crate::terminal::paints;
use anyhow::{Context, bail};
use ravelin_frontend::{Language, Parsed, render};
use ravelin_output::complain;
use ravelin_program::{Program, Source};
use std::io::Read;
use std::path::Path;

/// Files larger than this are not programs that anybody wrote.
const LARGEST_FILE: u64 = 64 << 20;

/// Reads and parses a program, and tells its language. Diagnostics go to standard error; with an error among them there is no program.
pub fn read(path: &Path, from: Option<Language>, copies: Option<usize>) -> anyhow::Result<Option<(Program, Language)>> {
    Ok(read_or_errors(path, from, copies)?.ok())
}

/// The same, with what was understood if there are errors.
pub fn read_or_errors(
    path: &Path,
    from: Option<Language>,
    copies: Option<usize>,
) -> anyhow::Result<Result<(Program, Language), Parsed>> {
    let mut parsed = parse(path, from)?;
    let Some(program) = parsed.program.take() else { return Ok(Err(parsed)) };
    let program = match copies {
        Some(copies) if program.is_parameterised() => program.instance(copies),
        _ => program,
    };
    Ok(Ok((program, parsed.language)))
}

/// Reads and parses a file, and prints its diagnostics.
pub fn parse(path: &Path, from: Option<Language>) -> anyhow::Result<Parsed> {
    let parsed = parse_quietly(path, from)?;
    if !parsed.diagnostics.is_empty() {
        let color = paints(Color::Auto, ravelin_output::stderr());
        complain!("{}", render(&parsed.diagnostics, &parsed.source, color));
    }
    Ok(parsed)
}

/// Reads and parses a file.
pub fn parse_quietly(path: &Path, from: Option<Language>) -> anyhow::Result<Parsed> {
    let source = read_source(path)?;
    let Some(language) = from.or_else(|| tell(path, &source.text)) else {
        let known: Vec<String> = Language::ALL.iter().map(|language| format!(".{}", language.extension())).collect();
        bail!(
            "{}: cannot tell the language from the name or the text; known endings are {}, or say it with --from",
            path.display(),
            known.join(", ")
        );
    };
    Ok(ravelin_frontend::parse(source, language))
}

/// The language of a file: by its name, or else by what stands in it. `.txt` says little, so there the text decides.
fn tell(path: &Path, text: &str) -> Option<Language> {
    match Language::from_path(path) {
        Some(Language::Trencher) | None => Language::from_text(text).or_else(|| Language::from_path(path)),
        known => known,
    }
}

pub fn read_source(path: &Path) -> anyhow::Result<Source> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST_FILE + 1).read_to_end(&mut bytes).context("standard input")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).with_context(|| path.display().to_string())?;
    }
    if bytes.len() as u64 > LARGEST_FILE {
        bail!("{}: larger than {} MiB", path.display(), LARGEST_FILE >> 20);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bail!("{}: not UTF-8 text (at byte {})", path.display(), error.utf8_error().valid_up_to()),
    };
    Ok(Source::new(path.display().to_string(), text))
}
