//! Facts that are known at every access that asks for them: with and without them, random programs have the same verdicts, and every
//! violation under ra and rc20 has a graph.
//!
//! The programs take locks in each way that is recognised, and in ways that only look like it: they give back what they do not
//! have, store other values, count, or leave the lock by a branch. Some have a fence behind every store.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many programs, and from where.

use ravelin_analysis::c11::{C11Question, c11_robustness};
use ravelin_analysis::{AnalysisError, Verdict};
use ravelin_explore::{Budget, Options};
use ravelin_machine::Reductions;
use ravelin_machine::monitor::{C11Settings, MonitorError, monitor};
use ravelin_program::{Model, Program, SeqCstReading, Source};
use ravelin_testing::Random;
use ravelin_testing::{is_default_run, seeds};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

const MOST_STATES: u64 = 20_000;
const WITHOUT: Reductions = Reductions { known_facts: false, ..Reductions::ALL };
const ALONE: Reductions = Reductions { known_facts: true, ..Reductions::NONE };

struct LockProgram {
    random: Random,
    text: String,
    /// Every store has a fence behind it.
    fenced: bool,
    /// One in so many uses of the lock is none.
    mistakes: usize,
    depth: usize,
}

impl LockProgram {
    fn text(seed: u64) -> String {
        let mut random = Random::new(seed);
        let domain = random.pick(&["bool", "0..3", "wrapping 0..2", "wrapping 0..=0", "_"]);
        let holds_one = domain != "wrapping 0..=0";
        let initial = if holds_one && random.once_in(8) { " = 1" } else { "" };
        let data = random.pick(&["", ": 0..3"]);
        let mut text = format!("static l: {domain}{initial}; static a{data}; static b; static c: bool;\n");
        let threads = random.within(2..=3);
        let (fenced, mistakes) = (random.once_in(3), random.pick(&[4, 12, usize::MAX]));
        let mut program = LockProgram { random, text: String::new(), fenced, mistakes, depth: 0 };
        for thread in 0..threads {
            let _ = writeln!(program.text, "thread t{thread} {{ let mut r; let mut ok: bool;");
            let again = program.random.once_in(4);
            program.text.push_str(if again { "loop {\n" } else { "" });
            for _ in 0..program.random.within(1..=2) {
                program.critical();
            }
            program.text.push_str(if again { "}\n}\n" } else { "}\n" });
        }
        text.push_str(&program.text);
        text
    }

    fn order(&mut self, of: &[&'static str]) -> &'static str {
        self.random.pick(of)
    }

    fn store(&mut self, cell: &str, value: &str) {
        let order = self.order(&["relaxed", "release", "release"]);
        let fence = if self.fenced { " fence(seq_cst);" } else { "" };
        let _ = writeln!(self.text, "{cell}.store({value}, {order});{fence}");
    }

    /// Takes the lock, does something, and gives it back.
    fn critical(&mut self) {
        if self.random.once_in(12) {
            return self.access();
        }
        let order = self.order(&["acquire", "acq_rel", "relaxed"]);
        let taken = self.random.pick(&["1", "1", "2"]);
        let value = if self.random.once_in(12) { "0" } else { taken };
        let mut closing = 0;
        match self.random.below(6) {
            0 => self.text.push_str("lock(l);\n"),
            1 => writeln!(self.text, "l.bcas(0, {value}, {order});").unwrap_or_default(),
            2 => writeln!(self.text, "while l.swap({value}, {order}) != 0 {{}}").unwrap_or_default(),
            3 => writeln!(self.text, "while l.swap({value}, {order}) == 1 {{ wait(l == 0, relaxed); }}")
                .unwrap_or_default(),
            4 => {
                let _ = writeln!(self.text, "(_, ok) = l.compare_exchange(0, {value}, {order});\nif ok == 1 {{");
                closing = 1;
            }
            _ => {
                let _ = writeln!(self.text, "r = l.compare_exchange(0, {value}, {order});\nif r == 0 {{");
                closing = 1;
            }
        }
        for _ in 0..self.random.below(3) {
            self.access();
        }
        if self.random.once_in(self.mistakes) {
            match self.random.below(4) {
                0 => self.store("l", "1"),
                1 => self.text.push_str("l.fetch_add(1, acq_rel);\n"),
                2 => self.store("l", "0"),
                _ => {}
            }
        }
        self.depth += 1;
        if self.depth < 3 && self.random.once_in(8) {
            self.critical();
        }
        if !self.random.once_in(self.mistakes) {
            match self.random.once_in(3) {
                true => self.text.push_str(if self.fenced { "unlock(l); fence(seq_cst);\n" } else { "unlock(l);\n" }),
                false => self.store("l", "0"),
            }
        }
        for _ in 0..closing {
            self.text.push_str("}\n");
        }
    }

    fn access(&mut self) {
        let cell = self.random.pick(&["a", "a", "b", "l"]);
        match self.random.below(7) {
            5 => self.text.push_str("c.write(1);\n"),
            6 => self.text.push_str("r = c.read();\n"),
            0 | 1 if cell != "l" => {
                let value = self.random.pick(&["1", "2"]);
                self.store(cell, value);
            }
            2 if cell != "l" => {
                let order = self.order(&["relaxed", "acq_rel"]);
                let _ = writeln!(self.text, "r = {cell}.swap(1, {order});");
            }
            3 => self.text.push_str("fence(seq_cst);\n"),
            _ => {
                let order = self.order(&["relaxed", "acquire"]);
                let _ = writeln!(self.text, "r = {cell}.load({order});");
            }
        }
    }
}

/// The verdict and the number of states; `None` if there are too many of them.
fn ask(program: &Program, model: Model, reductions: Reductions) -> Result<Option<(Verdict, u64)>, String> {
    let budget = Budget::unlimited().states(MOST_STATES);
    if model.is_c11() {
        let question = C11Question { reductions, budget, ..C11Question::new(model) };
        return match c11_robustness(program, &question) {
            Ok(answer) if answer.verdict == Verdict::Unknown => Ok(None),
            Ok(answer) => Ok(Some((answer.verdict, answer.statistics.states))),
            Err(AnalysisError::NotC11(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
    }
    let seq_cst = SeqCstReading::RelAcq;
    let settings = C11Settings { model, seq_cst, chains: false, observational: false, races: false, reductions };
    match monitor(program, settings, &Options { budget, ..Options::default() }) {
        Ok(search) if search.limit.is_some() => Ok(None),
        Ok(search) => {
            let verdict = if search.found.is_some() { Verdict::Violated } else { Verdict::Holds };
            Ok(Some((verdict, search.statistics.states)))
        }
        Err(MonitorError::Refused(_)) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether there are fewer states with the reduction.
fn compare(program: &Program, model: Model) -> Result<bool, String> {
    let ask = |reductions| {
        let asked = catch_unwind(AssertUnwindSafe(|| ask(program, model, reductions)));
        asked.unwrap_or_else(|_| Err("a panic".to_owned()))
    };
    let Some((expected, states)) = ask(WITHOUT)? else { return Ok(false) };
    let mut fewer = false;
    for reductions in [Reductions::ALL, ALONE, Reductions::NONE] {
        let Some((said, with)) = ask(reductions)? else { continue };
        fewer |= reductions == Reductions::ALL && with < states;
        if said != expected {
            return Err(format!("{said:?} with {reductions:?}, without: {expected:?}"));
        }
    }
    Ok(fewer)
}

#[test]
fn what_is_always_known_need_not_be_asked() {
    let (mut fewer, mut violated) = (0, 0);
    for seed in seeds(1_000) {
        let text = LockProgram::text(seed);
        let parsed = ravelin_frontend::parse(Source::new("locks.rav", text.clone()), ravelin_frontend::Language::Rav);
        let program = parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics));
        for model in Model::WEAK {
            match compare(&program, model) {
                Ok(is_fewer) => fewer += u64::from(is_fewer),
                Err(what) => panic!("seed {seed} under {model}: {what}\n{text}"),
            }
        }
        violated += u64::from(matches!(ask(&program, Model::Rc20, Reductions::ALL), Ok(Some((Verdict::Violated, _)))));
    }
    assert!(fewer > 300 || !is_default_run(), "only {fewer} searches have fewer states");
    assert!((100..900).contains(&violated) || !is_default_run(), "{violated} programs are violated");
}
