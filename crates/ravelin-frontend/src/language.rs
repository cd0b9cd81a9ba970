//! The languages that can be read, and how to tell them apart.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Ravelin's own; see `docs/language.md`.
    Rav,
    /// Litmus tests of herd and diy: X86_64, X86 and C.
    Litmus,
    /// Thread automata of Trencher.
    Trencher,
    /// Processes of Memorax.
    Memorax,
    /// TPL, the language of Rocker.
    Rocker,
    /// C and C++; a compiler makes LLVM IR of it.
    C,
    /// LLVM IR as text.
    Llvm,
}

impl Language {
    pub const ALL: [Language; 7] = [
        Language::Rav,
        Language::Litmus,
        Language::Trencher,
        Language::Memorax,
        Language::Rocker,
        Language::C,
        Language::Llvm,
    ];

    /// Told by the extension of a file's name.
    pub fn from_path(path: &Path) -> Option<Language> {
        let extension = path.extension()?.to_str()?;
        let is_one = |language: &Language| {
            let others = if *language == Language::C { &["cc", "cpp", "cxx"][..] } else { &[] };
            let mut known = std::iter::once(language.extension()).chain(others.iter().copied());
            known.any(|known| known.eq_ignore_ascii_case(extension))
        };
        Language::ALL.into_iter().find(is_one)
    }

    /// Told by what stands in a text: the first word that is not in a comment, and words that only one language has.
    pub fn from_text(text: &str) -> Option<Language> {
        let first = first_words(text);
        let words: Vec<&str> = first.split_whitespace().take(4).collect();
        match words.as_slice() {
            ["forbidden" | "macro", ..] => Some(Language::Memorax),
            ["X86_64" | "X86" | "C", ..] => Some(Language::Litmus),
            ["max_value", ..] if text.contains("global ") => Some(Language::Rocker),
            ["global", ..] => Some(Language::Rocker),
            ["thread", _, "initial" | "transition" | "end", ..] | ["memory_size", ..] => Some(Language::Trencher),
            ["strict", "mem" | "mem;", ..] => Some(Language::Rav),
            ["static" | "const" | "thread" | "never" | "arithmetic" | "max_value", ..] => Some(Language::Rav),
            _ => None,
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Language::Rav => "rav",
            Language::Litmus => "litmus",
            Language::Trencher => "txt",
            Language::Memorax => "rmm",
            Language::Rocker => "tpl",
            Language::C => "c",
            Language::Llvm => "ll",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Rav => "rav",
            Language::Litmus => "litmus",
            Language::Trencher => "trencher",
            Language::Memorax => "memorax",
            Language::Rocker => "rocker",
            Language::C => "c",
            Language::Llvm => "llvm",
        }
    }
}

/// The start of a text without the comments of any of the languages.
fn first_words(text: &str) -> String {
    let mut rest = text.trim_start();
    loop {
        let skipped = if rest.starts_with("//") || rest.starts_with("# ") || rest.starts_with("#\n") {
            rest.split_once('\n').map_or("", |(_, after)| after)
        } else if rest.starts_with("/*") {
            rest.split_once("*/").map_or("", |(_, after)| after)
        } else if rest.starts_with("(*") {
            rest.split_once("*)").map_or("", |(_, after)| after)
        } else {
            return rest.chars().take(400).collect();
        };
        rest = skipped.trim_start();
    }
}
