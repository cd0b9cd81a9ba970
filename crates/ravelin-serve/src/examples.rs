//! Programs to choose from: the embedded examples, and those of a folder. From the folder only programs and lectures
//! below it are served: names with `..`, links that lead elsewhere and other files are not found.

use crate::answer::LANGUAGES;
use crate::child::LARGEST_PROGRAM;
use crate::markdown;
use ravelin_report::page;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

const MOST_FILES: usize = 2000;
const DEEPEST: usize = 8;
const MOST_LECTURES: usize = 100;

/// The prefix of names of the folder's files.
const FOLDER: &str = "folder/";
const EXAMPLES: &str = "examples/";
/// Embedded files are lectures only below it; in the folder every Markdown file is one.
const LECTURES: &str = "lectures/";

/// The programs.
pub struct Examples {
    /// Canonical.
    folder: Option<PathBuf>,
}

impl Examples {
    pub fn new(folder: Option<&Path>) -> std::io::Result<Examples> {
        let folder = folder.map(Path::canonicalize).transpose()?;
        if let Some(folder) = &folder {
            std::fs::read_dir(folder)?;
        }
        Ok(Examples { folder })
    }

    /// Their names, with the language and the first line's description of each.
    pub fn list(&self) -> Value {
        let mut programs: Vec<Value> = Vec::new();
        let is_program = |name: &str| language(Path::new(name)).is_some();
        programs.extend(self.names(&is_program).iter().map(|name| entry(FOLDER, name, "")));
        let built_in = BUILT_IN.iter().filter(|(name, _)| is_program(name));
        programs.extend(built_in.map(|(name, text)| entry(EXAMPLES, name, about(text))));
        json!(programs)
    }

    /// Names and titles of the lectures.
    pub fn lectures(&self) -> Vec<(String, String)> {
        let of_folder = self.names(&is_markdown).into_iter().map(|name| format!("{FOLDER}{name}"));
        let built_in = BUILT_IN.iter().filter(|(name, _)| is_lecture(name));
        let names = of_folder.chain(built_in.map(|(name, _)| format!("{EXAMPLES}{name}")));
        let titled = names.filter_map(|name| {
            let title = markdown::title(&self.lecture(&name)?).unwrap_or(&name).to_owned();
            Some((name, title))
        });
        titled.take(MOST_LECTURES).collect()
    }

    /// The text of one program.
    pub fn text(&self, name: &str) -> Option<String> {
        language(Path::new(name))?;
        match name.strip_prefix(EXAMPLES) {
            Some(name) => built_in(name),
            None => self.file(name),
        }
    }

    /// The text of one lecture.
    pub fn lecture(&self, name: &str) -> Option<String> {
        match name.strip_prefix(EXAMPLES) {
            Some(name) => built_in(name).filter(|_| is_lecture(name)),
            None => self.file(name).filter(|_| is_markdown(name)),
        }
    }

    /// The names of the folder's files that are wanted.
    fn names(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut names = Vec::new();
        if let Some(folder) = &self.folder {
            walk(folder, folder, 0, is_wanted, &mut names);
            names.sort();
        }
        names
    }

    /// The text of a file of the folder.
    fn file(&self, name: &str) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let name = Path::new(name.strip_prefix(FOLDER)?);
        if !name.components().all(|component| matches!(component, Component::Normal(_))) {
            return None;
        }
        let path = folder.join(name).canonicalize().ok().filter(|path| path.starts_with(folder))?;
        let metadata = path.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > LARGEST_PROGRAM as u64 {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }
}

/// The text of an embedded file.
fn built_in(name: &str) -> Option<String> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

fn is_lecture(name: &str) -> bool {
    name.starts_with(LECTURES) && is_markdown(name)
}

fn entry(root: &str, name: &str, about: &str) -> Value {
    json!({ "name": format!("{root}{name}"), "language": language(Path::new(name)), "about": about })
}

/// The language according to a file's extension.
pub fn language(name: &Path) -> Option<&'static str> {
    page::language(name.to_str()?).filter(|language| LANGUAGES.contains(language))
}

/// The first sentence of the comment at the top.
fn about(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let line = line.trim_start_matches(['/', '!', '#', '*', ' ']);
    let end = line.find([':', '.', ';', '(', ',']).unwrap_or(line.len());
    let title = line[..end].trim();
    if title.len() <= 60 { title } else { "" }
}

/// Names of files below a folder. Links are not followed, because they may lead out of the folder.
fn walk(root: &Path, folder: &Path, depth: usize, is_wanted: &dyn Fn(&str) -> bool, names: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if names.len() >= MOST_FILES {
            return;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if entry.file_name().to_str().is_none_or(|name| name.starts_with('.')) {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            walk(root, &path, depth + 1, is_wanted, names);
        } else if kind.is_file() {
            let name = path.strip_prefix(root).ok().and_then(Path::to_str);
            names.extend(name.filter(|name| is_wanted(name)).map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_is_found() {
        let root = std::env::temp_dir().join(format!("ravelin-serve-examples-{}", std::process::id()));
        let inside = root.join("inside");
        std::fs::create_dir_all(inside.join("deeper")).expect("folders");
        std::fs::write(root.join("secret.rav"), "secret").expect("a file");
        std::fs::write(inside.join("deeper/a b.rav"), "fine").expect("a file");
        std::fs::write(inside.join("key.pem"), "secret").expect("a file");
        std::fs::write(root.join("secret.md"), "# secret").expect("a file");
        std::fs::write(inside.join("deeper/first.md"), "# The first\n\ntext").expect("a file");
        std::os::unix::fs::symlink(root.join("secret.md"), inside.join("link.md")).expect("a link");
        std::fs::write(inside.join(".hidden.rav"), "hidden").expect("a file");
        std::os::unix::fs::symlink(root.join("secret.rav"), inside.join("link.rav")).expect("a link");
        std::os::unix::fs::symlink(&root, inside.join("up")).expect("a link");
        let examples = Examples::new(Some(&inside)).expect("a folder");
        assert_eq!(examples.text("folder/deeper/a b.rav").as_deref(), Some("fine"));
        for name in [
            "folder/../secret.rav",
            "folder/deeper/../../secret.rav",
            "folder//etc/passwd.rav",
            "folder/link.rav",
            "folder/up/secret.rav",
            "folder/key.pem",
            "folder/deeper",
            "folder/",
            "secret.rav",
            "../secret.rav",
            "folder/deeper/a b.rav\0",
        ] {
            assert_eq!(examples.text(name), None, "{name}");
        }
        let first = ("folder/deeper/first.md".to_owned(), "The first".to_owned());
        assert!(examples.lectures().contains(&first));
        assert!(examples.lecture("folder/deeper/first.md").is_some_and(|text| text.ends_with("text")));
        assert_eq!(examples.text("folder/deeper/first.md"), None, "no program");
        for name in ["folder/../secret.md", "folder/link.md", "folder/deeper/a b.rav", "folder/key.pem", "secret.md"] {
            assert_eq!(examples.lecture(name), None, "{name}");
        }
        let listed = format!("{} {:?}", examples.list(), examples.lectures());
        assert!(listed.contains("deeper/a b.rav"));
        for hidden in ["secret", "link.rav", "link.md", "key.pem", ".hidden"] {
            assert!(!listed.contains(hidden), "{hidden}");
        }
        let _ = std::fs::remove_dir_all(&root);
    }

    #[test]
    fn examples_are_carried_inside() {
        let examples = Examples::new(None).expect("no folder is needed");
        assert!(examples.text("examples/sb.rav").is_some_and(|text| text.contains("thread left")));
        assert!(BUILT_IN.len() > 100);
        for (name, text) in BUILT_IN {
            assert!(language(Path::new(name)).is_some() || is_lecture(name), "{name}");
            assert!(text.len() < LARGEST_PROGRAM, "{name}");
        }
        assert!(!examples.lectures().is_empty());
    }
}
