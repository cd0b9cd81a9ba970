//! The sanitizer's findings in a run: text for users, JSON for programs, SARIF for tools that show results in editors
//! and code reviews.

pub mod fixes;
pub mod json;
pub mod recorded;
pub mod sarif;
pub mod text;

#[cfg(test)]
mod sample;

use ravelin_sanitizer::report::{Access, Finding, Problem};
use ravelin_sanitizer::report::{Location, OrderStepKind, Step, problem_name};

/// The finding in one sentence, without its places.
fn sentence(finding: &Finding) -> String {
    let (access, other, location) = (finding.access.words(), finding.other.words(), finding.location.words());
    match finding.problem {
        Problem::Race => format!("data race on {location}: {access} and {other} are not ordered"),
        Problem::StaleRead => format!("{access} of {location} may miss the {other} and read a stale value"),
        Problem::StaleWrite => format!("{access} to {location} may be overtaken by the {other} before it"),
        Problem::StaleUpdate => format!("{access} of {location} may miss the {other} and update a stale value"),
    }
}

/// One step of a path in a sentence.
fn step_sentence(step: &Step) -> String {
    let after = told(&step.after, Some(&step.location));
    let before = told(&step.before, None);
    match step.kind {
        OrderStepKind::ReadsFrom => format!("the {after} read what the {before} wrote"),
        OrderStepKind::Overwrites => format!("the {after} overwrote what the {before} wrote"),
        OrderStepKind::OverwritesRead => format!("the {after} overwrote what the {before} had read"),
    }
}

/// `release store of `x` at x.c:8 in thread 1`.
fn told(access: &Access, location: Option<&Location>) -> String {
    let of = location.map(|location| format!(" of {}", location.words())).unwrap_or_default();
    let at = access.place().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("{}{of}{at} in {}", access.words(), access.thread.words())
}

/// The name of a problem for programs.
fn rule(problem: Problem) -> &'static str {
    problem_name(problem).1
}
