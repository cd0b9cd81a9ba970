//! What is wrong with a text, and how that looks to people: the offending characters underlined with carets.
//!
//! Every front end reports through [`Diagnostic`]. A message is a sentence that says what was found; label, notes and help
//! say what would be accepted. Rendering accepts any span over any text: spans are clipped to the text and to whole
//! characters first, because a panic here would hide the very error that was to be shown.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use ravelin_program::{Source, Span, ValidationError};
use std::collections::HashSet;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    pub severity: Severity,
    pub message: String,
    /// The characters that are wrong.
    pub span: Span,
    /// What stands beside the carets.
    pub label: Option<String>,
    /// Other places that matter, such as an earlier declaration.
    pub secondary: Vec<(Span, String)>,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: None,
            secondary: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn with_label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    pub fn with_secondary(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.secondary.push((span, label.into()));
        self
    }

    pub fn with_note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl From<ValidationError> for Diagnostic {
    fn from(invalid: ValidationError) -> Diagnostic {
        Diagnostic::error(invalid.span, invalid.message)
    }
}

/// Sorts by place, and drops what was said before: copies of a thread and uses of a macro have the same errors. No more
/// than `most` are kept.
pub(crate) fn tidy(diagnostics: &mut Vec<Diagnostic>, most: usize) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span, diagnostic.message.clone())));
    let cut = diagnostics.len() > most;
    if cut {
        // Errors first, so that cutting the list cannot make a wrong file look right.
        diagnostics.sort_by_key(|diagnostic| (diagnostic.severity, diagnostic.span));
        diagnostics.truncate(most);
    }
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.severity));
    if let Some(last) = diagnostics.last_mut().filter(|_| cut) {
        last.notes.push(format!("only the first {most} findings are shown"));
    }
}

/// Bytes of text that are quoted for one diagnostic.
const MOST_QUOTED: usize = 1 << 16;

/// Shows diagnostics one after the other, each with the lines it speaks about.
pub fn render(diagnostics: &[Diagnostic], source: &Source, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&render_one(diagnostic, source, &renderer));
        text.push('\n');
    }
    text
}

fn render_one(diagnostic: &Diagnostic, source: &Source, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    // Only the lines between the first and the last place: the renderer reads all that it gets, and there are many diagnostics.
    let whole = source.text.as_str();
    let places = std::iter::once(diagnostic.span).chain(diagnostic.secondary.iter().map(|(span, _)| *span));
    let places: Vec<Range<usize>> = places.map(|span| clip(whole, span)).collect();
    let start = places.iter().map(|place| place.start).min().unwrap_or(0);
    let end = places.iter().map(|place| place.end).max().unwrap_or(0);
    // A place between two lines belongs to the one before.
    let (first, lines) = source.lines_around(start.saturating_sub(1), end + 1);
    let group = level.primary_title(diagnostic.message.as_str());
    let far: Vec<String> = match lines.len() > MOST_QUOTED {
        true => diagnostic.secondary.iter().filter_map(|(span, label)| told(source, *span, label)).collect(),
        false => Vec::new(),
    };
    // What is about the whole text, and not about its first place, has no line.
    let whole_text = diagnostic.span.is_nowhere() && diagnostic.label.is_none() && diagnostic.secondary.is_empty();
    let mut group = if lines.len() > MOST_QUOTED || whole_text {
        // What is this long, or this far apart, cannot be read side by side either.
        let mut origin = Origin::path(source.name.as_str());
        if let Some(position) = source.position(diagnostic.span) {
            origin = origin.line(position.line).char_column(position.column);
        }
        let label = diagnostic.label.iter().map(String::as_str);
        let notes = label.chain(far.iter().map(String::as_str)).map(|note| Level::NOTE.message(note));
        notes.fold(group.element(origin), |group, note| group.element(note))
    } else {
        let begin = lines.start;
        // The snippet needs at least one line to point at.
        let text = if lines.is_empty() { "\n" } else { &whole[lines] };
        let within = |place: &Range<usize>| {
            let clipped = |at: usize| (at - begin).min(text.len());
            clipped(place.start)..clipped(place.end)
        };
        let primary = AnnotationKind::Primary.span(within(&places[0])).label(diagnostic.label.as_deref());
        let mut snippet = Snippet::source(text).line_start(first).path(source.name.as_str()).annotation(primary);
        for (place, (_, label)) in places[1..].iter().zip(&diagnostic.secondary) {
            snippet = snippet.annotation(AnnotationKind::Context.span(within(place)).label(label.as_str()));
        }
        group.element(snippet)
    };
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// Another place in words.
fn told(source: &Source, span: Span, label: &str) -> Option<String> {
    source.position(span).map(|position| format!("{position}: {label}"))
}

/// The nearest range of whole characters inside the text.
fn clip(text: &str, span: Span) -> Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
