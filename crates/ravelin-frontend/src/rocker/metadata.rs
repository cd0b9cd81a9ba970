//! The answers that a file expects, written in the comments before its first declaration:
//!
//! ```text
//! // ROBUSTNESS egr: robust: ra. not: rlx.
//! ```
//!
//! `egr` asks for robustness of execution graphs, `wegr` for observational robustness. `ra` is release/acquire, `rlx` is
//! RC20. What a line implies is expected too: robust under rlx is robust under ra, and what is robust is also
//! observationally robust; both can be read backwards. A comment is never an error: a line that is not understood, or that
//! contradicts another, gives a warning.

use super::lexer::Comment;
use crate::{Diagnostic, Expectation};
use ravelin_program::Span;

/// The expectations of a file, written ones first, and what is doubtful about the lines.
pub fn expectations(comments: &[Comment<'_>]) -> (Vec<Expectation>, Vec<Diagnostic>) {
    let (mut claims, mut diagnostics) = (Vec::new(), Vec::new());
    for comment in comments {
        let body = comment.text.trim_start_matches('/').trim();
        let Some(body) = body.strip_prefix("ROBUSTNESS") else { continue };
        match line(body, comment.span) {
            Some(found) => {
                for claim in found {
                    add(claim, &mut claims, &mut diagnostics);
                }
            }
            None => {
                diagnostics
                    .push(Diagnostic::warning(comment.span, "this line does not say what is expected").with_note(
                    "it reads `// ROBUSTNESS egr: robust: ra,rlx. not: sc.`, with `wegr` for the observational kind",
                ))
            }
        }
    }
    // The list grows while it is walked, so that implications of implications are found.
    let mut next = 0;
    while let Some(&claim) = claims.get(next) {
        for implied in implications(claim) {
            add(implied, &mut claims, &mut diagnostics);
        }
        next += 1;
    }
    (claims.into_iter().map(expectation).collect(), diagnostics)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RockerClaim {
    observational: bool,
    model: RockerModel,
    robust: bool,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RockerModel {
    Sc,
    Ra,
    Rlx,
}

/// The claims of one line after its first word; `None` if it is not of the right form.
fn line(body: &str, span: Span) -> Option<Vec<RockerClaim>> {
    let (kind, rest) = body.split_once(':')?;
    let observational = match kind.trim() {
        "egr" => false,
        "wegr" => true,
        _ => return None,
    };
    let mut claims = Vec::new();
    for part in rest.split('.').map(str::trim).filter(|part| !part.is_empty()) {
        let (answer, models) = part.split_once(':')?;
        let robust = match answer.trim() {
            "robust" => true,
            "not" => false,
            _ => return None,
        };
        for model in models.split(',') {
            let model = match model.trim() {
                "sc" => RockerModel::Sc,
                "ra" => RockerModel::Ra,
                "rlx" => RockerModel::Rlx,
                _ => return None,
            };
            claims.push(RockerClaim { observational, model, robust, span });
        }
    }
    (!claims.is_empty()).then_some(claims)
}

fn add(claim: RockerClaim, claims: &mut Vec<RockerClaim>, diagnostics: &mut Vec<Diagnostic>) {
    let question = (claim.observational, claim.model);
    match claims.iter().find(|earlier| (earlier.observational, earlier.model) == question) {
        None => claims.push(claim),
        Some(earlier) if earlier.robust != claim.robust => diagnostics.push(
            Diagnostic::warning(claim.span, "the expected answers contradict each other")
                .with_secondary(earlier.span, "the opposite follows from this"),
        ),
        Some(_) => {}
    }
}

fn implications(claim: RockerClaim) -> Vec<RockerClaim> {
    let mut implied = Vec::new();
    match (claim.model, claim.robust) {
        (RockerModel::Rlx, true) => implied.push(RockerClaim { model: RockerModel::Ra, ..claim }),
        (RockerModel::Ra, false) => implied.push(RockerClaim { model: RockerModel::Rlx, ..claim }),
        _ => {}
    }
    if claim.robust != claim.observational {
        implied.push(RockerClaim { observational: !claim.observational, ..claim });
    }
    implied
}

fn expectation(claim: RockerClaim) -> Expectation {
    let model = match claim.model {
        RockerModel::Sc => "sc",
        RockerModel::Ra => "ra",
        RockerModel::Rlx => "rc20",
    };
    let observational = claim.observational.then(|| ("property".to_owned(), "observational".to_owned()));
    Expectation {
        command: "check".to_owned(),
        model: model.to_owned(),
        options: observational.into_iter().collect(),
        answer: if claim.robust { "robust" } else { "not robust" }.to_owned(),
        pending: false,
        span: claim.span,
    }
}
