//! Answers of `check` side by side: one line per file, one column per model.

use super::TextTable;
use crate::{Answer, Impact, Verdict};
use ravelin_program::Model;

/// The verdicts of several files under several models.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    answers: Vec<(String, Model, String)>,
}

impl Overview {
    /// Adds the verdict of an answer about a model.
    pub fn add(&mut self, answer: &Answer) {
        if let Some(model) = answer.model() {
            let deadlock = answer.deadlocks().is_some_and(|deadlocks| deadlocks.witness.is_some());
            let impact = answer.impact();
            let word = match deadlock {
                true => format!("{}, deadlock", word(answer)),
                false if impact.is_some_and(|impact| impact.witness.is_some()) => format!("{}, wrong", word(answer)),
                false if impact.is_some_and(Impact::is_harmless) => format!("{}, harmless", word(answer)),
                false => word(answer).to_owned(),
            };
            self.answers.push((answer.file().to_owned(), model, word));
        }
    }

    /// The table; empty if there is only one model.
    pub fn text(&self) -> String {
        let models = distinct(self.answers.iter().map(|(_, model, _)| *model));
        if models.len() < 2 {
            return String::new();
        }
        let mut table = TextTable::new(&[]);
        table.row([String::new()].into_iter().chain(models.iter().map(Model::to_string)));
        for file in distinct(self.answers.iter().map(|(file, ..)| file)) {
            let word = |model: &Model| {
                let found = self.answers.iter().find(|(of, under, _)| of == file && under == model);
                found.map_or(String::new(), |(.., word)| word.clone())
            };
            table.row([file.clone()].into_iter().chain(models.iter().map(word)));
        }
        table.render("")
    }
}

/// The verdict in a word or two.
fn word(answer: &Answer) -> &'static str {
    match (answer, answer.verdict()) {
        (Answer::None(_), None) => "does not apply",
        (Answer::C11Robustness(answer), _) if answer.race.is_some() => "data race",
        (Answer::Reachability(answer), _) => answer.word(),
        (Answer::Robustness(answer), _) => answer.robust().on_robustness(),
        (Answer::C11Robustness(answer), _) => answer.robust().on_robustness(),
        (_, None | Some(Verdict::Unknown)) => "unknown",
        (Answer::TriangularRaces(_), Some(Verdict::Holds)) => "free",
        (Answer::TriangularRaces(_), Some(Verdict::Violated)) => "race",
        (_, Some(Verdict::Holds)) => "holds",
        (_, Some(Verdict::Violated)) => "violated",
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}
