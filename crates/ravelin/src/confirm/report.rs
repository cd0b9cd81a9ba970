//! What a report of `run` or `verify` has to confirm: the first finding that x86 allows and that a test can show.
//!
//! A finding names only the accesses of its cycle. A fence or a locked instruction between them may forbid the outcome on x86, so a
//! finding is tested only if the report says that x86 allows it: by `machines`, or because tso was the model of the run. What x86 forbids
//! is never tested.

use super::{Subject, TestPart, TestPlan, finding};
use crate::error::Error;
use ravelin_answer::SanitizerReport;
use ravelin_answer::sanitizer::{Finding, ProblemGroup};
use ravelin_explore::Budget;
use ravelin_program::Model;

const NOT_ABOUT_X86: &str = "the report does not name fences between the accesses of a finding, and does not say what x86 does; \
                             ask `run --model tso`, or `verify`";
const FORBIDDEN: &str = "The report says of each of its robustness violations that x86 cannot do it.";

/// What a finding has for a test.
enum Candidate {
    Subject(Subject),
    /// The report says that x86 cannot do it.
    Forbidden,
    /// It is no robustness violation.
    Unrelated(String),
    /// x86 may do it, and there is no test of it. This says why.
    Untested(String),
}

/// The first finding with a test. That x86 forbids everything is said only if the report says so of every robustness violation.
pub fn subject(report: &SanitizerReport, budget: Budget) -> Result<Subject, Error> {
    let mut is_forbidden = false;
    let (mut unrelated, mut untested) = (None, None);
    for finding in &report.findings {
        match candidate(report, finding, budget)? {
            Candidate::Subject(subject) => return Ok(subject),
            Candidate::Forbidden => is_forbidden = true,
            Candidate::Unrelated(why) => unrelated = unrelated.or(Some(why)),
            Candidate::Untested(why) => untested = untested.or(Some(why)),
        }
    }
    Ok(match (untested, is_forbidden, unrelated) {
        (Some(why), ..) => Subject::Nothing(why),
        (None, true, _) => Subject::Forbidden { source: "finding", sentence: FORBIDDEN.to_owned() },
        (None, false, Some(why)) => Subject::Nothing(why),
        (None, false, None) => Subject::Nothing("the report has no finding".to_owned()),
    })
}

fn candidate(report: &SanitizerReport, finding: &Finding, budget: Budget) -> Result<Candidate, Error> {
    if finding.problem.group() != ProblemGroup::Robustness {
        return Ok(Candidate::Unrelated(format!("`{}` is no robustness violation", finding.sentence)));
    }
    match finding.machines {
        Some(machines) if !machines.x86 => return Ok(Candidate::Forbidden),
        None if !is_about_tso(report) => return Ok(Candidate::Untested(NOT_ABOUT_X86.to_owned())),
        _ => {}
    }
    let (sentence, execution) = match finding::cycle(finding) {
        Ok(cycle) => cycle,
        Err(why) => return Ok(Candidate::Untested(why)),
    };
    match TestPlan::of(&execution, &[TestPart::Cycle], budget) {
        Ok(TestPlan::Forbidden) => Ok(Candidate::Untested(
            "x86 forbids the cycle of those accesses that the report names, and allows it in the program: others are part of it"
                .to_owned(),
        )),
        Ok(plan) => Ok(Candidate::Subject(Subject::Finding { sentence, plan })),
        Err(Error::Question(why)) => Ok(Candidate::Untested(why)),
        Err(error) => Err(error),
    }
}

/// Whether all of its robustness violations are ones of x86-TSO.
fn is_about_tso(report: &SanitizerReport) -> bool {
    let verified = report.verification.as_ref().and_then(|verification| verification.model);
    report.model.or(verified) == Some(Model::Tso)
}
