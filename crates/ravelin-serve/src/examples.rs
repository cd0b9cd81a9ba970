//! Programs to choose from: the embedded examples, and those of a folder. From the folder only programs below it are
//! served: names with `..`, links that lead elsewhere and other files are not found.

use crate::child::LARGEST_PROGRAM;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

const MOST_FILES: usize = 2000;
const DEEPEST: usize = 8;

/// The prefix of names of the folder's files.
const FOLDER: &str = "folder/";
const EXAMPLES: &str = "examples/";

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
        if let Some(folder) = &self.folder {
            let mut names = Vec::new();
            walk(folder, folder, 0, &mut names);
            names.sort();
            programs.extend(names.iter().map(|name| entry(FOLDER, name, "")));
        }
        programs.extend(BUILT_IN.iter().map(|(name, text)| entry(EXAMPLES, name, about(text))));
        json!(programs)
    }

    /// The text of one program.
    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(name) = name.strip_prefix(EXAMPLES) {
            return BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        }
        let folder = self.folder.as_ref()?;
        let name = Path::new(name.strip_prefix(FOLDER)?);
        language(name)?;
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

fn entry(root: &str, name: &str, about: &str) -> Value {
    json!({ "name": format!("{root}{name}"), "language": language(Path::new(name)), "about": about })
}

/// The language according to a file's extension.
pub fn language(name: &Path) -> Option<&'static str> {
    match name.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "rav" => Some("rav"),
        "litmus" => Some("litmus"),
        "txt" => Some("trencher"),
        "rmm" => Some("memorax"),
        "tpl" => Some("rocker"),
        _ => None,
    }
}

/// The first sentence of the comment at the top.
fn about(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let line = line.trim_start_matches(['/', '!', '#', '*', ' ']);
    let end = line.find([':', '.', ';', '(', ',']).unwrap_or(line.len());
    let title = line[..end].trim();
    if title.len() <= 60 { title } else { "" }
}

/// Names of programs below a folder. Links are not followed, because they may lead out of the folder.
fn walk(root: &Path, folder: &Path, depth: usize, names: &mut Vec<String>) {
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
            walk(root, &path, depth + 1, names);
        } else if kind.is_file() && language(&path).is_some() {
            names.extend(path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned));
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
        let listed = examples.list().to_string();
        assert!(listed.contains("deeper/a b.rav"));
        for hidden in ["secret", "link.rav", "key.pem", ".hidden"] {
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
            assert!(language(Path::new(name)).is_some() && text.len() < LARGEST_PROGRAM, "{name}");
        }
    }
}
