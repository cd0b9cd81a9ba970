//! Statements of `.rav` as a tree, and their text.

use crate::print::names::Names;
use ravelin_program::{LocId, Thread};
use std::collections::HashSet;
use std::fmt::Write;

/// A statement of `.rav`. Jumps and labels still speak of locations.
pub(super) enum Statement {
    Line(String),
    Label(LocId),
    Goto(LocId),
    Break,
    /// To the head of the innermost loop.
    Continue(LocId),
    Return,
    If {
        condition: String,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    While {
        head: LocId,
        condition: String,
        body: Vec<Statement>,
    },
    Loop {
        head: LocId,
        body: Vec<Statement>,
    },
    Choose(Vec<Vec<Statement>>),
}

/// Writes a thread's statements, indented by one level, without jumps to where control goes anyway.
pub(super) fn write(thread: &Thread, mut all: Vec<Statement>) -> String {
    tidy(&mut all, Next::End);
    let mut targets = HashSet::new();
    collect_targets(&all, &mut targets);
    let mut names = Names::default();
    for label in thread.locations.iter().flat_map(|location| &location.labels) {
        names.choose(label);
    }
    let generated = vec![None; thread.locations.len()];
    let mut writer = Writer { thread, targets, names, generated, text: String::new() };
    writer.block(&all, 1);
    writer.text
}

/// Leaves the loop whose body this is by a `break`.
pub(super) fn breaks(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        Statement::Choose(arms) => arms.iter().any(|arm| breaks(arm)),
        _ => false,
    })
}

/// What the text goes on with after a block.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    At(LocId),
    End,
    Other,
}

/// Drops jumps to where control goes anyway.
fn tidy(statements: &mut Vec<Statement>, after: Next) {
    let mut next = after;
    let mut kept = Vec::new();
    while let Some(mut statement) = statements.pop() {
        match &mut statement {
            Statement::Goto(target) | Statement::Continue(target) if next == Next::At(*target) => continue,
            Statement::Return if next == Next::End => continue,
            Statement::If { then, otherwise, .. } => {
                tidy(then, next);
                tidy(otherwise, next);
            }
            Statement::Choose(arms) => arms.iter_mut().for_each(|arm| tidy(arm, next)),
            Statement::While { head, body, .. } | Statement::Loop { head, body } => tidy(body, Next::At(*head)),
            _ => {}
        }
        next = match &statement {
            // The thread's last label names its end.
            Statement::Label(_) if next == Next::End && kept.is_empty() && after == Next::End => Next::End,
            Statement::Label(location) => Next::At(*location),
            _ => Next::Other,
        };
        kept.push(statement);
    }
    kept.reverse();
    *statements = kept;
}

fn collect_targets(statements: &[Statement], targets: &mut HashSet<LocId>) {
    for statement in statements {
        match statement {
            Statement::Goto(target) => {
                targets.insert(*target);
            }
            Statement::If { then, otherwise, .. } => {
                collect_targets(then, targets);
                collect_targets(otherwise, targets);
            }
            Statement::While { body, .. } | Statement::Loop { body, .. } => collect_targets(body, targets),
            Statement::Choose(arms) => arms.iter().for_each(|arm| collect_targets(arm, targets)),
            Statement::Line(_)
            | Statement::Label(_)
            | Statement::Break
            | Statement::Continue(_)
            | Statement::Return => {}
        }
    }
}

struct Writer<'a> {
    thread: &'a Thread,
    targets: HashSet<LocId>,
    names: Names,
    /// Labels of locations that have none but are jumped to.
    generated: Vec<Option<String>>,
    text: String,
}

impl Writer<'_> {
    fn block(&mut self, statements: &[Statement], depth: usize) {
        for statement in statements {
            self.statement(statement, depth);
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", 4 * depth).expect("writing to a string");
    }

    /// A block behind its head, on one line if it is empty.
    fn braces(&mut self, depth: usize, head: &str, body: &[Statement]) {
        if body.is_empty() {
            return self.line(depth, &format!("{head} {{}}"));
        }
        self.line(depth, &format!("{head} {{"));
        self.block(body, depth + 1);
        self.line(depth, "}");
    }

    fn label(&mut self, location: LocId) -> String {
        if let Some(label) = self.thread.locations[location.0].labels.first() {
            return label.clone();
        }
        let names = &mut self.names;
        self.generated[location.0].get_or_insert_with(|| names.choose(&format!("L{}", location.0))).clone()
    }

    fn statement(&mut self, statement: &Statement, depth: usize) {
        match statement {
            Statement::Line(line) => self.line(depth, line),
            Statement::Label(location) => {
                for label in &self.thread.locations[location.0].labels {
                    self.line(depth, &format!("@{label};"));
                }
                if self.thread.locations[location.0].labels.is_empty() && self.targets.contains(location) {
                    let label = self.label(*location);
                    self.line(depth, &format!("@{label};"));
                }
            }
            Statement::Goto(target) => {
                let label = self.label(*target);
                self.line(depth, &format!("goto {label};"));
            }
            Statement::Break => self.line(depth, "break;"),
            Statement::Continue(_) => self.line(depth, "continue;"),
            Statement::Return => self.line(depth, "return;"),
            Statement::If { condition, then, otherwise } if otherwise.is_empty() => {
                self.braces(depth, &format!("if {condition}"), then);
            }
            Statement::If { condition, then, otherwise } => {
                self.line(depth, &format!("if {condition} {{"));
                self.block(then, depth + 1);
                self.line(depth, "} else {");
                self.block(otherwise, depth + 1);
                self.line(depth, "}");
            }
            Statement::While { condition, body, .. } => self.braces(depth, &format!("while {condition}"), body),
            Statement::Loop { body, .. } => self.braces(depth, "loop", body),
            Statement::Choose(arms) => {
                for (index, arm) in arms.iter().enumerate() {
                    self.line(depth, if index == 0 { "choose {" } else { "} or {" });
                    self.block(arm, depth + 1);
                }
                self.line(depth, "}");
            }
        }
    }
}
