//! Many files, compared several at a time.

use super::{ComparisonOptions, FileComparison};
use crate::program::Program;
use ravelin_answer::text::TextTable as Columns;
use ravelin_answer::{Answer, Comparison, NoAnswer, Verdict};
use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Comparisons of many files, as they are made. What is known can be read at any time, by another thread.
#[derive(Debug, Default)]
pub struct Comparisons {
    done: Mutex<Vec<(usize, FileComparison)>>,
}

impl Comparisons {
    /// Compares files, several at a time, until the budget is stopped. `read` returns a program, or what is wrong with
    /// its file.
    pub fn run(
        &self,
        comparing: &ComparisonOptions,
        files: &[&Path],
        workers: usize,
        read: &(dyn Fn(&Path) -> Result<Program, String> + Sync),
    ) {
        let next = Mutex::new(files.iter().enumerate());
        let work = || {
            loop {
                let job = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, file)) = job else { break };
                let compared = match read(file) {
                    Ok(program) => comparing.compare(file, &program),
                    Err(error) => FileComparison { errors: vec![error], ..FileComparison::default() },
                };
                // An answer that was interrupted implies nothing about what was expected.
                if comparing.budget.is_stopped() {
                    break;
                }
                self.done.lock().unwrap_or_else(PoisonError::into_inner).push((number, compared));
            }
        };
        std::thread::scope(|scope| (0..workers.max(1)).for_each(|_| drop(scope.spawn(work))));
    }

    /// What is known so far about a number of files.
    pub fn summary(&self, files: usize) -> ComparisonSummary {
        let mut done = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        done.sort_by_key(|(number, _)| *number);
        let mut summary =
            ComparisonSummary { files: done.len(), missing: files - done.len(), ..ComparisonSummary::default() };
        for (_, compared) in done {
            summary.silent += usize::from(compared.comparisons.is_empty() && compared.errors.is_empty());
            summary.pending += compared.pending;
            summary.comparisons.extend(compared.comparisons);
            summary.errors.extend(compared.errors);
        }
        summary
    }
}

/// The comparisons of many files.
#[derive(Debug, Default)]
pub struct ComparisonSummary {
    /// How many files were compared.
    pub files: usize,
    /// How many were not, because the budget was stopped.
    pub missing: usize,
    /// How many have no expectations.
    pub silent: usize,
    /// Expectations about questions that are not supported yet.
    pub pending: usize,
    /// Every answer with the expected one, in the order of the files.
    pub comparisons: Vec<Comparison>,
    /// Files and questions without an answer.
    pub errors: Vec<String>,
}

impl ComparisonSummary {
    /// Whether all answers agree with the expected ones.
    pub fn verdict(&self) -> Verdict {
        match (self.differences().next(), self.missing) {
            (Some(_), _) => Verdict::Violated,
            (None, 0) => Verdict::Holds,
            (None, _) => Verdict::Unknown,
        }
    }

    /// As answers: the comparisons, then the errors.
    pub fn answers(self) -> Vec<Answer> {
        let errors = self.errors.into_iter().map(|error| Answer::None(NoAnswer::error("", error)));
        self.comparisons.into_iter().map(Answer::Comparison).chain(errors).collect()
    }

    /// For a terminal: the errors, the differences, and numbers.
    pub fn text(&self) -> String {
        let mut text: String = self.errors.iter().map(|error| format!("error: {error}\n")).collect();
        let mut columns = Columns::new(&[]);
        for Comparison { file, model, part, expected, found, .. } in self.differences() {
            let (expected, found) = (format!("expected {expected}"), format!("found {found}"));
            columns.row([file.clone(), model.name().to_owned(), part.clone(), expected, found]);
        }
        text.push_str(&columns.render("  "));
        let ComparisonSummary { files, silent, pending, .. } = self;
        let (all, differ) = (self.comparisons.len(), self.differences().count());
        let _ = writeln!(
            text,
            "{files} files, {all} answers: {} agree, {differ} differ; {silent} files without expectations, {pending} expectations pending, {} errors",
            all - differ,
            self.errors.len()
        );
        text
    }

    fn differences(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(|comparison| !comparison.agrees)
    }
}
