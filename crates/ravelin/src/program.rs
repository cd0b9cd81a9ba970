//! Programs as given by the user: a text in one of the languages, parsed and validated.

use crate::clang;
use crate::error::Error;
use ravelin_analysis::deadlocks::DeadlockAnswer;
use ravelin_analysis::stops::StopsAnswer;
use ravelin_analysis::witness::Witness;
use ravelin_answer::{self as answer, OtherPlace};
use ravelin_explore::{Budget, Watch};
use ravelin_frontend::c::{self, LiftOptions};
use ravelin_frontend::{Diagnostic, Expectation, Language, ParseResult, Severity, render, trencher};
use ravelin_program::{Model, Position, Source, Span};
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// A parsed program.
#[derive(Debug)]
pub struct Program {
    pub(crate) program: ravelin_program::Program,
    pub(crate) language: Language,
    pub(crate) reading: ReadOptions,
    pub(crate) expectations: Vec<Expectation>,
    /// Warnings.
    diagnostics: Vec<Diagnostic>,
    /// Where threads can stop under SC, once that was searched for.
    pub(crate) stops: OnceLock<StopsAnswer>,
    /// A deadlock under SC, or that there is none, once that was settled.
    pub(crate) deadlocks: OnceLock<DeadlockAnswer>,
    /// Whether goals hold under SC, or a run that violates one, once that was settled.
    pub(crate) goals: OnceLock<(answer::Verdict, Option<Witness>)>,
}

/// How a text becomes a program.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The language, if the name and the text do not determine it.
    pub language: Option<Language>,
    /// Copies of each `thread p[*]`; without a number the program has any number of threads.
    pub copies: Option<usize>,
    /// Trencher's language: values are taken modulo this number.
    pub wrap: Option<i64>,
    /// C and LLVM IR: which functions run, and how much memory there is.
    pub lift: LiftOptions,
    /// C: flags of clang.
    pub cflags: Vec<String>,
    /// C: how long clang may run.
    pub time: Option<Duration>,
}

impl ReadOptions {
    /// Reads a text. The language is detected from its name, or else from the text.
    pub fn parse(&self, name: impl Into<String>, text: impl Into<String>) -> Result<Program, Error> {
        let source = Source::new(name.into(), text.into());
        let language = self.language_of(&source)?;
        let mut parsed = self.read(source, language)?;
        if let (Some(modulus), Some(program)) = (self.wrap, &mut parsed.program) {
            trencher::wrap(program, modulus);
        }
        let Some(program) = parsed.program.take() else { return Err(ParseError { parsed }.into()) };
        parsed.diagnostics.extend(self.without_effect(&program));
        let program = match self.copies {
            Some(copies) if program.is_parameterised() => program.instance(copies),
            _ => program,
        };
        Ok(Program {
            program,
            language,
            reading: ReadOptions { language: Some(language), ..self.clone() },
            expectations: parsed.expectations,
            diagnostics: parsed.diagnostics,
            stops: OnceLock::new(),
            deadlocks: OnceLock::new(),
            goals: OnceLock::new(),
        })
    }

    /// What was asked for and changes nothing.
    fn without_effect(&self, program: &ravelin_program::Program) -> Option<Diagnostic> {
        let said = match self.copies {
            _ if program.threads.is_empty() => "this program has no threads: there is nothing to find out".to_owned(),
            Some(copies) if !program.is_parameterised() => {
                format!("--copies {copies} changes nothing: this program has no `thread p[*]`")
            }
            _ => return None,
        };
        Some(Diagnostic::warning(Span::NOWHERE, said))
    }

    /// Programs in C are compiled first.
    fn read(&self, source: Source, language: Language) -> Result<ParseResult, Error> {
        let ir = match language {
            Language::C => clang::compile(&source.name, &source.text, &self.cflags, self.time)?,
            Language::Llvm => source.text.clone(),
            _ => return Ok(ravelin_frontend::parse(source, language)),
        };
        Ok(c::lift(source, language, &ir, &self.lift))
    }

    fn language_of(&self, source: &Source) -> Result<Language, Error> {
        let path = Path::new(&source.name);
        // `.txt` is ambiguous, so the text decides.
        let by_name = match Language::from_path(path) {
            Some(Language::Trencher) | None => Language::from_text(&source.text).or_else(|| Language::from_path(path)),
            known => known,
        };
        let Some(language) = self.language.or(by_name) else {
            let known: Vec<String> =
                Language::ALL.iter().map(|language| format!(".{}", language.extension())).collect();
            return Err(Error::Question(format!(
                "{}: cannot detect the language from the name or the text; use one of the file extensions {}, or --from",
                source.name,
                known.join(", ")
            )));
        };
        if self.wrap.is_some() && language != Language::Trencher {
            return Err(Error::Question(format!(
                "{}: --wrap is for files of Trencher's language, and this is one of {}",
                source.name,
                language.name()
            )));
        }
        self.refuse_options(&source.name, language)?;
        Ok(language)
    }

    /// Options that say nothing about a program in this language.
    fn refuse_options(&self, name: &str, language: Language) -> Result<(), Error> {
        let LiftOptions { entry, init, heap, reuse } = &self.lift;
        let unused = LiftOptions::default();
        let lifted = [
            (!entry.is_empty(), "--entry"),
            (init.is_some(), "--init"),
            (*heap != unused.heap, "--heap"),
            (*reuse != unused.reuse, "--no-reuse"),
        ];
        let refused = |option: &str, of: &str| {
            let language = language.name();
            Err(Error::Question(format!("{name}: {option} is for {of}, and this is one of {language}")))
        };
        if !matches!(language, Language::C | Language::Llvm)
            && let Some((_, option)) = lifted.into_iter().find(|(given, _)| *given)
        {
            return refused(option, "files of C and LLVM IR");
        }
        if language != Language::C && !self.cflags.is_empty() {
            return refused("--cflags, -I or -D", "files of C");
        }
        if init.is_some() && entry.is_empty() {
            return Err(Error::Question(format!("{name}: --init runs before the functions of --entry; name these")));
        }
        Ok(())
    }
}

impl Program {
    /// Reads a text. The language is detected from the extension of its name: `.rav`, `.litmus`, `.txt` (Trencher),
    /// `.rmm` (Memorax), `.tpl` (Rocker), `.c`, `.cc`, `.cpp`, `.cxx`, `.ll` (LLVM IR); without one, from the text. C needs clang.
    ///
    /// ```
    /// let program = ravelin::Program::parse("half.rav", "static x; thread p { x.store(1); }")?;
    /// assert_eq!(program.name(), "half.rav");
    /// let error = ravelin::Program::parse("half.rav", "static x; thread").unwrap_err();
    /// assert!(error.to_string().contains("half.rav:1:"), "{error}");
    /// # Ok::<(), ravelin::Error>(())
    /// ```
    pub fn parse(name: impl Into<String>, text: impl Into<String>) -> Result<Program, Error> {
        ReadOptions::default().parse(name, text)
    }

    /// Reads a file.
    pub fn read(path: impl AsRef<Path>) -> Result<Program, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Error::Question(format!("{}: {error}", path.display())))?;
        Program::parse(path.display().to_string(), text)
    }

    /// The name under which it was read.
    pub fn name(&self) -> &str {
        &self.program.source.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.program.source.text
    }

    /// The language of the text.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether it has any number of threads.
    pub fn is_parameterised(&self) -> bool {
        self.program.is_parameterised()
    }

    /// The models that apply to programs in its language: x86, or C11 and the x86 it is compiled to.
    pub fn models(&self) -> Vec<Model> {
        let is_c = || self.text().trim_start().starts_with("C ");
        match self.language {
            // Models of C11 need a number of threads.
            _ if self.is_parameterised() => vec![Model::Tso],
            Language::Trencher | Language::Memorax => vec![Model::Tso],
            Language::Litmus if !is_c() => vec![Model::Tso],
            Language::Litmus | Language::Rav | Language::Rocker | Language::C | Language::Llvm => {
                vec![Model::Tso, Model::Rc20]
            }
        }
    }

    /// Warnings as text for a terminal; empty if there are none.
    pub fn warnings(&self, color: bool) -> String {
        if self.diagnostics.is_empty() {
            return String::new();
        }
        render(&self.diagnostics, &self.program.source, color)
    }

    /// Warnings as data.
    pub fn diagnostics(&self) -> Vec<answer::Diagnostic> {
        self.diagnostics.iter().map(|diagnostic| diagnostic_answer(diagnostic, &self.program.source)).collect()
    }

    /// Cells and registers to which loops add without bound, each with the place of a step that does: why a search may
    /// never end. What cannot be found out within the budget is left out.
    pub fn endless(&self, budget: Budget) -> Vec<(String, Option<Position>)> {
        let found = ravelin_machine::endless(&self.program, &Watch::new(budget, "looking for counters"));
        let place = |by: Span| self.program.source.position(by);
        found.unwrap_or_default().into_iter().map(|endless| (endless.name, place(endless.by))).collect()
    }

    /// The program itself, for direct use of the lower crates.
    pub fn inner(&self) -> &ravelin_program::Program {
        &self.program
    }
}

/// A text that is not a program.
#[derive(Debug)]
pub struct ParseError {
    parsed: ParseResult,
}

impl ParseError {
    /// Everything that is wrong, as text for a terminal.
    pub fn render(&self, color: bool) -> String {
        render(&self.parsed.diagnostics, &self.parsed.source, color)
    }

    /// Everything that is wrong, as data.
    pub fn diagnostics(&self) -> Vec<answer::Diagnostic> {
        self.parsed.diagnostics.iter().map(|diagnostic| diagnostic_answer(diagnostic, &self.parsed.source)).collect()
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.parsed.source.text
    }
}

impl fmt::Display for ParseError {
    /// The first error, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.parsed.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        let place = first.and_then(|first| self.parsed.source.position(first.span));
        let place = place.map(|place| format!(":{place}")).unwrap_or_default();
        let message = first.map_or("not a program", |first| first.message.as_str());
        write!(f, "{}{place}: {message}", self.parsed.source.name)
    }
}

impl std::error::Error for ParseError {}

/// What is wrong with a text, whether or not it is a program.
pub fn diagnostics(
    reading: &ReadOptions,
    name: impl Into<String>,
    text: impl Into<String>,
) -> Result<answer::Diagnostics, Error> {
    let source = Source::new(name.into(), text.into());
    let language = reading.language_of(&source)?;
    let parsed = reading.read(source, language)?;
    let diagnostics = parsed.diagnostics.iter().map(|diagnostic| diagnostic_answer(diagnostic, &parsed.source));
    Ok(answer::Diagnostics {
        diagnostics: diagnostics.collect(),
        language: language.name().to_owned(),
        file: parsed.source.name.clone(),
    })
}

fn diagnostic_answer(diagnostic: &Diagnostic, source: &Source) -> answer::Diagnostic {
    let (position, end) = range(diagnostic.span, source);
    let others = diagnostic.secondary.iter().map(|(span, label)| {
        let (position, end) = range(*span, source);
        OtherPlace {
            position,
            end_line: end.map(|at| at.line),
            end_column: end.map(|at| at.column),
            label: label.clone(),
        }
    });
    answer::Diagnostic {
        severity: match diagnostic.severity {
            Severity::Error => answer::Severity::Error,
            Severity::Warning => answer::Severity::Warning,
        },
        message: diagnostic.message.clone(),
        position,
        end_line: end.map(|at| at.line),
        end_column: end.map(|at| at.column),
        label: diagnostic.label.clone(),
        notes: diagnostic.notes.clone(),
        help: diagnostic.help.clone(),
        others: others.collect(),
    }
}

/// Where a span begins, and where it ends: the first character after it.
fn range(span: Span, source: &Source) -> (Option<Position>, Option<Position>) {
    let length = u32::try_from(source.text.len()).unwrap_or(u32::MAX);
    let at = |offset: u32| source.position(Span { start: offset.min(length), end: u32::MAX });
    (at(span.start), at(span.end.max(span.start)))
}
