//! Answers as text for a terminal.

mod c11;
mod confirm;
mod cover;
mod deadlocks;
mod fence;
mod herd;
mod impact;
mod numbers;
mod overview;
mod race;
mod reach;
mod robust;
mod run;
mod sanitizer;
mod states;
mod stops;
mod table;
mod threads;

pub use herd::herd;
pub use numbers::{counted, grouped};
pub use overview::Overview;
pub use robust::attacks;
pub use run::{effect, steps, violation};
pub use states::state_models;
pub use stops::stops;
pub use table::TextTable;

use crate::{Answer, Comparison, NoAnswer, NoVerdict, Simulation, Verdict};
use std::fmt::{self, Write};
use table::{shown_width, wrapped};

/// How to format text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Columns of the terminal; `None` if lines may have any length.
    pub width: Option<usize>,
}

impl Style {
    /// Text in a colour, by its ANSI code.
    pub fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Breaks lines that are wider than the terminal between words; continuation lines are aligned with the text of the
    /// first.
    pub fn fitted(self, text: String) -> String {
        let Some(width) = self.width else { return text };
        if text.lines().all(|line| shown_width(line) <= width) {
            return text;
        }
        let mut fitted = String::new();
        for line in text.lines() {
            let words = line.trim_start_matches(' ');
            let indent = &line[..line.len() - words.len()];
            let room = width.saturating_sub(indent.len()).max(20);
            for part in wrapped(words, room) {
                fitted.extend([indent, part.as_str(), "\n"]);
            }
        }
        fitted
    }

    /// A verdict in its colour.
    pub fn verdict(self, verdict: Verdict) -> String {
        self.word(verdict, verdict.name())
    }

    /// A custom word for a verdict, in its colour.
    pub fn word(self, verdict: Verdict, word: &str) -> String {
        let code = match verdict {
            Verdict::Holds => "1;32",
            Verdict::Violated => "1;31",
            Verdict::Unknown => "1;33",
        };
        self.paint(code, word)
    }
}

impl Answer {
    /// The answer for a terminal.
    pub fn text(&self, style: Style) -> String {
        let mut text = match self {
            Answer::Robustness(answer) => robust::robustness(answer, style),
            Answer::TriangularRaces(answer) => race::triangular_races(answer, style),
            Answer::C11Robustness(answer) => c11::robustness(answer, style),
            Answer::Reachability(answer) => reach::reachability(answer, style),
            Answer::Fences(answer) => fence::fences(answer, style),
            Answer::FencePlaces(answer) => fence::places(answer, style),
            Answer::FinalStates(answer) => states::final_states(answer, style),
            Answer::Simulation(answer) => simulation(answer, style),
            Answer::Confirmation(answer) => confirm::confirmation(answer, style),
            Answer::Coverability(answer) => cover::coverability(answer, style),
            Answer::None(answer) => none(answer, style),
            Answer::Sanitizer(answer) => sanitizer::report(answer, style),
            Answer::FixTrial(answer) => sanitizer::trial(answer),
            Answer::Comparison(answer) => comparison(answer),
            Answer::Diagnostics(answer) => {
                let line = |diagnostic: &crate::Diagnostic| {
                    let at = diagnostic.position.map(|at| format!(":{at}")).unwrap_or_default();
                    format!("{}{at}: {}\n", answer.file, diagnostic.message)
                };
                answer.diagnostics.iter().map(line).collect()
            }
        };
        if let Some((found, model, asked, on_property)) = self.judged() {
            text.push_str(&style.fitted(impact::impact(found, model, asked, on_property, style)));
        }
        if let Some(found) = self.deadlocks() {
            text.push_str(&style.fitted(deadlocks::deadlocks(found, self.model(), style)));
        }
        if let Some(found) = self.stops() {
            text.push_str(&style.fitted(stops::stops(found)));
        }
        text
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(Style::default()).trim_end())
    }
}

fn none(answer: &NoAnswer, style: Style) -> String {
    let file = &answer.file;
    let under = answer.model.map(|model| format!(" under {model}")).unwrap_or_default();
    let word = match answer.verdict {
        NoVerdict::Error => "error".to_owned(),
        NoVerdict::NotApplicable => "does not apply".to_owned(),
        NoVerdict::Unknown => style.verdict(Verdict::Unknown),
    };
    let mut text = format!("{file}{under}: {word}: {}\n", answer.message);
    if let Some(last) = &answer.statistics {
        let states = counted(last.states, "state");
        let _ = writeln!(text, "  {states} explored, depth {}, in {:.1} s.", last.depth, last.seconds);
    }
    text
}

fn simulation(answer: &Simulation, style: Style) -> String {
    let Simulation { file, model, seed, end, troubles, values, initial, steps: taken } = answer;
    let mut text = format!("{file} under {model}, seed {seed}:\n");
    text.push_str(&steps(&initial.threads, taken, model.is_buffered(), style));
    for trouble in troubles {
        let _ = writeln!(text, "  {trouble}");
    }
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let _ = writeln!(text, "  {end}: {}", values.join("  "));
    text
}

fn comparison(answer: &Comparison) -> String {
    let Comparison { file, model, part, expected, found, .. } = answer;
    format!("{file}  {model}  {part}  expected {expected}  found {found}\n")
}
