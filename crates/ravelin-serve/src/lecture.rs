//! Lectures: Markdown files of the folder, with programs to run between the prose. And the page about the language,
//! which is made in the same way.
//!
//! A fenced block in one of the languages is a program. Words behind the language say what is asked: `question=reach`,
//! `model=tso` or `model=all`, `name=sb.rav`; `file=sb.rav` takes the program from a file beside the lecture.

use crate::answer;
use crate::examples::Examples;
use crate::markdown::{self, Surroundings};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use ravelin_report::page;

/// The reference of the language; a link to the document of the project.
const LANGUAGE: &str = include_str!("../language.md");

/// The page about the language.
pub fn language() -> String {
    frame("The language of .rav files", &[], markdown::html(LANGUAGE, &mut Document), false)
}

/// The page of a lecture; none if there is no such file.
pub fn lecture(examples: &Examples, name: &str) -> Option<String> {
    let text = examples.lecture(name)?;
    let title = markdown::title(&text).unwrap_or(name).to_owned();
    let mut lecture = Lecture { examples, folder: name.rsplit_once('/').map_or("", |(folder, _)| folder), programs: 0 };
    let body = markdown::html(&text, &mut lecture);
    Some(frame(&title, &examples.lectures(), body, true))
}

fn frame(title: &str, lectures: &[(String, String)], body: Markup, with_programs: bool) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Ravelin" }
                link rel="icon" href="/icon.svg";
                link rel="stylesheet" href="/style.css";
                link rel="stylesheet" href="/prose.css";
                script src="/highlight.js" defer {}
                script src="/editor.js" defer {}
                script src="/check.js" defer {}
                script src="/prose.js" defer {}
            }
            body.prose {
                header {
                    p.brand { a href="/" { img src="/icon.svg" alt="" width="24" height="24"; "Ravelin" } }
                    nav aria-label="pages" {
                        a href="/" { "Playground" }
                        a href="/language" { "Language" }
                        @for (name, title) in lectures { a href=(address(name)) { (title) } }
                    }
                }
                main class=(if with_programs { "lecture" } else { "document" }) { (body) }
            }
        }
    };
    page.into_string()
}

/// The address of a lecture.
fn address(name: &str) -> String {
    format!("/lecture?name={}", encoded(name))
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Links that lead out are followed; what leads to other files of the project is text.
fn outside(target: &str) -> Option<String> {
    (target.starts_with("https://") || target.starts_with("http://") || target.starts_with('#'))
        .then(|| target.to_owned())
}

/// Coloured, where the language is known.
fn listing(words: &str, text: &str) -> Markup {
    let language = words.split_whitespace().next().unwrap_or_default();
    let language = page::language(&format!("x.{language}"));
    html! { div.listing tabindex="0" role="group" aria-label="listing" data-language=[language] { @for line in text.lines() { div.l { code { (line) } } } } }
}

struct Document;

impl Surroundings for Document {
    fn link(&mut self, target: &str) -> Option<String> {
        outside(target)
    }

    fn block(&mut self, words: &str, text: &str) -> Markup {
        listing(words, text)
    }
}

struct Lecture<'a> {
    examples: &'a Examples,
    /// Where its file is, as the names of programs have it.
    folder: &'a str,
    programs: usize,
}

impl Surroundings for Lecture<'_> {
    fn link(&mut self, target: &str) -> Option<String> {
        let name = self.beside(target);
        outside(target).or_else(|| self.examples.lecture(&name).map(|_| address(&name)))
    }

    fn block(&mut self, words: &str, text: &str) -> Markup {
        let mut words_of = words.split_whitespace();
        let first = words_of.next().unwrap_or_default();
        let Some(language) = answer::LANGUAGES.into_iter().find(|language| *language == first) else {
            return listing(words, text);
        };
        let settings: Vec<(&str, &str)> = words_of.filter_map(|word| word.split_once('=')).collect();
        let setting = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let text = match setting("file").map(|file| (file, self.examples.text(&self.beside(file)))) {
            None => text.to_owned(),
            Some((_, Some(text))) => text,
            Some((file, None)) => {
                return html! { p.missing { "There is no program " code { (file) } " beside this lecture." } };
            }
        };
        let question = setting("question").unwrap_or("robust");
        let model = setting("model").unwrap_or("tso");
        if let Err(why) = answer::is_offered(question, model) {
            return html! { p.missing { (why) ": " code { (words) } } };
        }
        self.programs += 1;
        let number = self.programs;
        let name = setting("name").or(setting("file")).map_or_else(|| format!("program {number}"), str::to_owned);
        html! {
            section.program data-language=(language) data-question=(question) data-model=(model) data-name=(name) aria-label=(name) {
                p.caption { b { (name) } }
                textarea spellcheck="false" aria-label=(format!("the program {name}")) { (PreEscaped("\n")) (text) }
            }
        }
    }
}

impl Lecture<'_> {
    /// The name of a file beside the lecture.
    fn beside(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }
}
