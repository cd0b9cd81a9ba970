//! Tables of expected answers: tab-separated, the first line names the columns.
//!
//! Three kinds of rows are understood, and other columns are ignored.
//!
//! With `test` (the name of a file without folder and extension): `states_sc` lists final states as herd shows them,
//! separated by ` | `. `extra_states_tso`, `extra_states_pso`, `extra_ra` and `extra_rc11` (for rc20) list what other models
//! add. `cond_sc`, `cond_tso`, `cond_pso`, `cond_ra` and `cond_rc11` are `Ok` or `No`. `trace_robust` is `yes` or `no` for tso, `ra_trace_robust` for ra, `rc11_trace_robust`
//! for rc20.
//!
//! With `file`, `command`, `model` and `answer`: the answer of a command about a file. With `file`, `question` and
//! `verdict`: Trencher's answer, for tso.

use crate::Error;
use ravelin_program::Model;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Expected answers for files: tab-separated, the first line names the columns (docs/expectations.md).
#[derive(Debug)]
pub struct ExpectationTable {
    columns: HashMap<String, usize>,
    /// By the name of a test or a file, without extension.
    rows: BTreeMap<String, Vec<Vec<String>>>,
}

impl ExpectationTable {
    /// Reads a table.
    pub fn read(path: &Path) -> Result<ExpectationTable, Error> {
        let wrong = |problem: String| Error::Question(format!("{}: {problem}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        ExpectationTable::parse(&text).map_err(wrong)
    }

    fn parse(text: &str) -> Result<ExpectationTable, String> {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or_default();
        let columns: HashMap<String, usize> =
            heading.split('\t').enumerate().map(|(number, name)| (name.trim().to_owned(), number)).collect();
        let Some(&key) = columns.get("test").or_else(|| columns.get("file")) else {
            return Err("the first line names no column `test` or `file`".to_owned());
        };
        let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let name = cells.get(key).map(String::as_str).unwrap_or_default();
            let name = name.strip_suffix(".litmus").unwrap_or(name).to_owned();
            rows.entry(name).or_default().push(cells);
        }
        Ok(ExpectationTable { columns, rows })
    }

    fn rows_of(&self, path: &Path) -> &[Vec<String>] {
        let name = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
        let stem = name(path.file_stem()).and_then(|stem| self.rows.get(&stem));
        let whole = || name(path.file_name()).and_then(|file| self.rows.get(&file));
        stem.or_else(whole).map_or(&[], Vec::as_slice)
    }

    fn cell<'a>(&self, row: &'a [String], column: &str) -> Option<&'a str> {
        row.get(*self.columns.get(column)?).map(String::as_str)
    }

    /// The final states expected under a model.
    pub(super) fn states(&self, path: &Path, model: Model) -> Option<BTreeSet<String>> {
        let row = self.rows_of(path).first()?;
        let mut states = split(self.cell(row, "states_sc")?);
        if model != Model::Sc {
            let name = herd_name(model);
            let extra = self.cell(row, &format!("extra_states_{name}"));
            states.extend(split(extra.or_else(|| self.cell(row, &format!("extra_{name}")))?));
        }
        Some(states)
    }

    /// `Ok` or `No` for the condition under a model.
    pub(super) fn condition(&self, path: &Path, model: Model) -> Option<String> {
        let row = self.rows_of(path).first()?;
        self.cell(row, &format!("cond_{}", herd_name(model))).map(str::to_owned)
    }

    /// The expected answers of a command.
    pub(super) fn answers(&self, path: &Path, command: &str, model: Model) -> Vec<String> {
        let rows = self.rows_of(path).iter();
        let is = |row: &[String], column: &str, value: &str| self.cell(row, column) == Some(value);
        let fits = |row: &&Vec<String>| is(row, "command", command) && is(row, "model", model.name());
        rows.filter(fits).filter_map(|row| self.cell(row, "answer")).map(str::to_owned).collect()
    }

    /// Whether a test is robust according to a column: `yes` or `no`.
    pub(super) fn robust(&self, path: &Path, column: &str) -> Option<&str> {
        self.cell(self.rows_of(path).first()?, column)
    }

    /// Trencher's questions about a file, and its verdicts.
    pub(super) fn questions(&self, path: &Path) -> impl Iterator<Item = (&str, &str)> {
        let rows = self.rows_of(path).iter();
        rows.filter_map(|row| Some((self.cell(row, "question")?, self.cell(row, "verdict")?)))
    }
}

/// What columns call a model: for herd, C11 is rc11.
fn herd_name(model: Model) -> &'static str {
    if model == Model::Rc20 { "rc11" } else { model.name() }
}

fn split(states: &str) -> BTreeSet<String> {
    states.split('|').map(|state| state.trim().to_owned()).filter(|state| !state.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_conditions_and_answers_are_found_by_name() {
        let text = "test\tother\tstates_sc\textra_states_tso\tcond_tso\nSB\t1\t0:a=1; | 0:a=2;\t0:a=0;\tOk\n";
        let table = ExpectationTable::parse(text).expect("a table");
        let path = Path::new("somewhere/SB.litmus");
        assert_eq!(table.states(path, Model::Sc).map(|states| states.len()), Some(2));
        assert_eq!(table.states(path, Model::Tso).map(|states| states.len()), Some(3));
        assert_eq!(table.states(path, Model::Pso), None);
        assert_eq!(table.condition(path, Model::Tso).as_deref(), Some("Ok"));
        assert_eq!(table.states(Path::new("MP.litmus"), Model::Sc), None);
        let answers =
            ExpectationTable::parse("file\tcommand\tmodel\tanswer\na.rmm\treach\ttso\tviolated\n").expect("a table");
        assert_eq!(answers.answers(Path::new("x/a.rmm"), "reach", Model::Tso), ["violated"]);
        let questions = ExpectationTable::parse("file\tquestion\tverdict\na.txt\ttrf\tnot TRF\n").expect("a table");
        assert_eq!(questions.questions(Path::new("x/a.txt")).collect::<Vec<_>>(), [("trf", "not TRF")]);
        assert!(ExpectationTable::parse("nothing\n1\n").is_err());
    }
}
