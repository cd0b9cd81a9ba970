//! `docs/results.md` and its pictures: put together in memory and written at the end, so that a run that is interrupted leaves
//! what was there.
//!
//! Each paper has a chapter between two comments, and can be measured again by itself.

use super::plot::Plot;
use crate::footer;
use anyhow::{Context, Result};
use std::path::Path;

/// What one paper gives.
pub struct Chapter {
    /// The number of the paper, as `--only` has it.
    pub paper: &'static str,
    /// Markdown, with its heading.
    pub text: String,
    /// File names in the folder of the pictures, without their extension.
    pub plots: Vec<(&'static str, Plot)>,
    /// Differences from the paper that no reason is known for.
    pub unexplained: Vec<String>,
}

/// The folder of the pictures, beside the document.
pub const PICTURES: &str = "results";
const FILE: &str = "results.md";

/// The line of Markdown that shows a picture.
pub fn picture(name: &str, says: &str) -> String {
    format!("![{says}]({PICTURES}/{name}.svg)\n\n")
}

/// The document of an earlier run, whose chapters may stay; empty if there is none, an error if it was edited.
pub fn earlier(folder: &Path) -> Result<String> {
    let file = folder.join(FILE);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    if !text.is_empty() {
        footer::author(&text)
            .with_context(|| format!("{}: chapters of it cannot be kept; run without --only", file.display()))?;
    }
    Ok(text)
}

/// Writes the chapters into a folder, and those of an earlier document that are not among them.
pub fn write(
    folder: &Path,
    introduction: &str,
    chapters: &[Chapter],
    papers: &[&'static str],
    earlier: &str,
    command: &str,
) -> Result<()> {
    let file = folder.join(FILE);
    let mut text = format!("{}\n\n", introduction.trim_end());
    for &paper in papers {
        let new = chapters.iter().find(|chapter| chapter.paper == paper).map(|chapter| chapter.text.as_str());
        if let Some(body) = new.or_else(|| chapter(earlier, paper)) {
            let (begin, end) = markers(paper);
            text += &format!("{begin}\n\n{}\n\n{end}\n\n", body.trim());
        }
    }
    let pictures = folder.join(PICTURES);
    std::fs::create_dir_all(&pictures).with_context(|| format!("cannot make {}", pictures.display()))?;
    for (name, plot) in chapters.iter().flat_map(|chapter| &chapter.plots) {
        replace(&pictures.join(format!("{name}.svg")), &plot.svg())?;
    }
    replace(&file, &footer::signed(&text, command))
}

/// The body of a chapter of a document that was written before.
pub fn chapter<'a>(document: &'a str, paper: &str) -> Option<&'a str> {
    let (begin, end) = markers(paper);
    let (_, rest) = document.split_once(&begin)?;
    Some(rest.split_once(&end)?.0)
}

fn markers(paper: &str) -> (String, String) {
    (format!("<!-- begin {paper} -->"), format!("<!-- end {paper} -->"))
}

/// Either the old file or the whole new one, whatever happens.
fn replace(path: &Path, text: &str) -> Result<()> {
    ravelin_output::replace(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::plot::Measure;
    use super::*;

    fn chapter_of(paper: &'static str, text: &str) -> Chapter {
        let plot = Plot { title: paper.to_owned(), across: "N", up: Measure::Seconds, curves: Vec::new() };
        Chapter { paper, text: text.to_owned(), plots: vec![(paper, plot)], unexplained: Vec::new() }
    }

    #[test]
    fn a_chapter_can_be_made_again_by_itself() {
        let folder = std::env::temp_dir().join(format!("ravelin-tables-document-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let papers = ["000", "002", "004"];
        let all = [chapter_of("000", "## One\n\nold\n"), chapter_of("004", "## Three\n")];
        assert_eq!(earlier(&folder).unwrap(), "");
        write(&folder, "# Title\n", &all, &papers, "", "tables").unwrap();
        let first = earlier(&folder).unwrap();
        assert!(first.starts_with(
            "# Title\n\n<!-- begin 000 -->\n\n## One\n\nold\n\n<!-- end 000 -->\n\n<!-- begin 004 -->\n\n## Three\n\n<!-- end 004 -->\n\n<!-- Written by `tables`; "
        ));
        let new = [chapter_of("000", "## One\n\nnew\n"), chapter_of("002", "## Two\n")];
        write(&folder, "# Title\n", &new, &papers, &first, "tables").unwrap();
        let second = earlier(&folder).unwrap();
        let order: Vec<usize> = ["new", "## Two", "## Three"].map(|words| second.find(words).unwrap()).to_vec();
        assert!(order.is_sorted() && !second.contains("old"), "{second}");
        let mut left: Vec<String> = std::fs::read_dir(folder.join(PICTURES))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["000.svg", "002.svg", "004.svg"]);
        std::fs::write(folder.join(FILE), second.replace("new", "newer")).unwrap();
        assert!(earlier(&folder).is_err_and(|error| error.to_string().contains("cannot be kept")));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_document_without_chapters_has_none() {
        assert_eq!(chapter("# Title\n", "000"), None);
        assert_eq!(chapter("<!-- begin 000 -->\n", "000"), None);
    }

    #[test]
    fn the_document_that_is_kept_is_whole() {
        let docs = crate::root().join("docs");
        let text = std::fs::read_to_string(docs.join(FILE)).expect("docs/results.md is there");
        for paper in super::super::PAPERS {
            assert!(chapter(&text, paper).is_some_and(|body| body.contains("| ")), "no chapter for paper {paper}");
        }
        assert!(!text.contains("Not explained") && !text.contains("--quick`):"));
        let links: Vec<&str> =
            text.split("](results/").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
        assert!(!links.is_empty());
        for link in links {
            let picture = std::fs::read_to_string(docs.join(PICTURES).join(link)).expect(link);
            roxmltree::Document::parse(&picture).expect(link);
        }
    }
}
