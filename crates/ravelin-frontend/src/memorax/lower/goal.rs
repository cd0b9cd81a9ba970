//! Forbidden tuples: each is a goal that all its processes are never at their labels together.

use super::super::ast::Tuple;
use super::process::Labels;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Condition, Expr, Goal, GoalKind, Observable, Thread, ThreadId};

/// The goals of a file. In one with syntax errors (`incomplete`) processes may be missing, so their number says nothing.
pub fn lower_tuples(
    tuples: &[Tuple],
    threads: &[Thread],
    labels: &[Labels],
    incomplete: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Goal> {
    let mut goals = Vec::new();
    // What a broken statement would have led to is unknown.
    let broken = diagnostics.iter().any(Diagnostic::is_error);
    for tuple in tuples {
        if tuple.entries.len() != threads.len() {
            if !incomplete {
                let count = |number: usize, one: &str, more: &str| match number {
                    1 => format!("1 {one}"),
                    number => format!("{number} {more}"),
                };
                let entries = count(tuple.entries.len(), "entry", "entries");
                let processes = count(threads.len(), "process", "processes");
                diagnostics.push(
                    Diagnostic::error(tuple.span, format!("this has {entries}, but there are {processes}")).with_note(
                        "a forbidden tuple holds a label or `*` for each process; `process(k)` counts k times",
                    ),
                );
            }
            continue;
        }
        let mut condition: Option<Condition> = None;
        for (index, entry) in tuple.entries.iter().enumerate() {
            let Some(label) = entry else { continue };
            let here = match labels[index].get(&label.text) {
                Some(Some(location)) => Expr::Atom(Observable::At(ThreadId(index), *location)),
                Some(None) => {
                    if !broken {
                        let message = format!("no way leads to the label `{}` of P{index}", label.text);
                        diagnostics.push(Diagnostic::warning(label.span, message));
                    }
                    Expr::Const(0)
                }
                None => {
                    let message = format!("P{index} has no label `{}`", label.text);
                    let mut diagnostic =
                        Diagnostic::error(label.span, message).with_secondary(threads[index].span, format!("P{index}"));
                    diagnostic.help = did_you_mean(&label.text, labels[index].keys().map(String::as_str));
                    diagnostics.push(diagnostic);
                    continue;
                }
            };
            condition = Some(match condition {
                Some(condition) => condition.and(here),
                None => here,
            });
        }
        let condition = condition.unwrap_or(Expr::Const(1));
        goals.push(Goal { kind: GoalKind::Never, condition, span: tuple.span });
    }
    goals
}
