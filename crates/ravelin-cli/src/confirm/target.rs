//! What is to be confirmed: the witness of a report, or of a program that is asked about, as tests.
//!
//! Making tests explores states, so all of this looks at the budget, and is done where a signal is answered in time.

use anyhow::{Context, bail};
use ravelin::answer::{EndRun, Verdict};
use ravelin::confirm::{CYCLE_ALONE, Subject, TestPlan};
use ravelin::{Answer, Budget, Document, Model, Program};

/// Which question gives the witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Auto,
    Reach,
    Check,
    States,
}

impl Question {
    pub const ALL: [Question; 4] = [Question::Auto, Question::Reach, Question::Check, Question::States];

    pub fn name(self) -> &'static str {
        match self {
            Question::Auto => "auto",
            Question::Reach => "reach",
            Question::Check => "check",
            Question::States => "states",
        }
    }
}

/// What an answer of a report is good for, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    WitnessOfX86,
    ForbiddenByX86,
    OtherWitness,
    OtherForbidden,
    Nothing,
}

impl Rank {
    fn of(answer: &Answer, subject: &Subject) -> Rank {
        let is_x86 = answer.model() == Some(Model::Tso) || matches!(answer, Answer::Sanitizer(_));
        match (subject, is_x86) {
            (Subject::Run { .. } | Subject::Finding { .. }, true) => Rank::WitnessOfX86,
            (Subject::Run { .. } | Subject::Finding { .. }, false) => Rank::OtherWitness,
            (Subject::Forbidden { .. }, true) => Rank::ForbiddenByX86,
            (Subject::Forbidden { .. }, false) => Rank::OtherForbidden,
            (Subject::Nothing(_), _) => Rank::Nothing,
        }
    }
}

/// An outcome and its tests, with remarks.
pub struct Target {
    /// What gave the witness.
    pub source: &'static str,
    /// The outcome, or why the model forbids it.
    pub sentence: String,
    pub notes: Vec<String>,
    pub plan: TestPlan,
    pub witness: Option<Box<EndRun>>,
}

impl Target {
    /// The first answer of a report with a test of the best kind that it has: a witness under tso, that x86 forbids what was asked,
    /// or what is known under another model.
    pub fn of_report(text: &str, budget: Budget) -> anyhow::Result<Target> {
        let document = Document::read(text)?;
        let mut subjects = Vec::new();
        for answer in &document.answers {
            let subject = Subject::of(answer, budget)?;
            subjects.push((Rank::of(answer, &subject), subject));
        }
        let best = subjects.iter().map(|(rank, _)| *rank).min().context("the report has no answers")?;
        let equals = subjects.into_iter().filter(|(rank, _)| *rank == best);
        let mut first = None;
        for (_, subject) in equals {
            match Target::of(subject, budget) {
                Ok(target) if target.has_tests() => return Ok(target),
                target => first = first.or(Some(target)),
            }
        }
        first.context("the report has no answers")?
    }

    /// Asks for a witness under tso.
    pub fn of_program(program: &Program, question: Question, budget: Budget) -> anyhow::Result<Target> {
        if !accesses_memory(program) {
            bail!("there is nothing to confirm: the program does nothing in memory");
        }
        let of = |answer: &Answer| Target::of(Subject::of(answer, budget)?, budget);
        let reach = || ravelin::reach(program).model(Model::Tso).budget(budget).run();
        let check = || ravelin::check(program).model(Model::Tso).budget(budget).run();
        match question {
            Question::Check => of(&check()?),
            Question::Reach => of(&reach()?),
            Question::States => of(&ravelin::states(program).model(Model::Tso).budget(budget).run()?),
            Question::Auto => {
                let reached = reach()?;
                if let Ok(target) = of(&reached)
                    && target.has_tests()
                {
                    return Ok(target);
                }
                let mut target = of(&check()?)?;
                if target.witness.is_some() {
                    target.notes.extend(why_check(&reached).map(str::to_owned));
                }
                Ok(target)
            }
        }
    }

    fn of(subject: Subject, budget: Budget) -> anyhow::Result<Target> {
        let notes = Vec::new();
        match subject {
            Subject::Nothing(why) => bail!("there is nothing to confirm: {why}"),
            Subject::Forbidden { source, sentence } => {
                Ok(Target { source, sentence, notes, plan: TestPlan::Forbidden, witness: None })
            }
            Subject::Finding { sentence, plan } => {
                let notes = vec![CYCLE_ALONE.to_owned()];
                Ok(Target { source: "finding", sentence, notes, plan, witness: None })
            }
            Subject::Run { source, sentence, run } => {
                let plan = TestPlan::of_run(&run, budget)?;
                let mut target = Target { source, sentence, notes, plan, witness: Some(run) };
                if !target.has_tests() {
                    let note = "The witness is not one of x86: x86-TSO forbids its outcome. Nothing was run.";
                    target.notes.push(note.to_owned());
                }
                Ok(target)
            }
        }
    }

    fn has_tests(&self) -> bool {
        matches!(self.plan, TestPlan::Tests(_))
    }
}

fn accesses_memory(program: &Program) -> bool {
    let transitions = program.inner().threads.iter().flat_map(|thread| &thread.transitions);
    transitions.into_iter().any(|transition| !transition.instruction.accesses().is_empty())
}

/// Why a witness of `check` is used after `reach` was asked, if that needs to be said.
fn why_check(reached: &Answer) -> Option<&'static str> {
    let has_goals = matches!(reached, Answer::Reachability(found) if found.goals > 0);
    match reached.verdict() {
        Some(Verdict::Holds) if has_goals => {
            Some("No goal is violated under tso. The witness is the first one of `check`.")
        }
        Some(Verdict::Violated) => {
            Some("No test of the run of `reach` differs from sc. The witness is the first one of `check`.")
        }
        _ => None,
    }
}
