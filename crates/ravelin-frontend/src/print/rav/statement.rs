//! Statements of `.rav` as a tree, and their text.

use crate::print::names::Names;
use ravelin_program::{LocId, Thread};
use std::collections::HashSet;
use std::fmt::Write;

/// A statement of `.rav`. Jumps and labels still speak of locations.
pub(super) enum RavStatement {
    Line(String),
    Label(LocId),
    Goto(LocId),
    Break,
    /// To the head of the innermost loop.
    Continue(LocId),
    Return,
    If {
        condition: String,
        then: Vec<RavStatement>,
        otherwise: Vec<RavStatement>,
    },
    While {
        head: LocId,
        condition: String,
        body: Vec<RavStatement>,
    },
    Loop {
        head: LocId,
        body: Vec<RavStatement>,
    },
    Choose(Vec<Vec<RavStatement>>),
}

/// Writes a thread's statements, indented by one level, without jumps to where control goes anyway.
pub(super) fn write(thread: &Thread, mut all: Vec<RavStatement>) -> String {
    tidy(&mut all, NextLocation::End);
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
pub(super) fn breaks(statements: &[RavStatement]) -> bool {
    statements.iter().any(|statement| match statement {
        RavStatement::Break => true,
        RavStatement::If { then, otherwise, .. } => breaks(then) || breaks(otherwise),
        RavStatement::Choose(arms) => arms.iter().any(|arm| breaks(arm)),
        _ => false,
    })
}

/// What the text goes on with after a block.
#[derive(Clone, Copy, PartialEq)]
enum NextLocation {
    At(LocId),
    End,
    Other,
}

/// Drops jumps to where control goes anyway.
fn tidy(statements: &mut Vec<RavStatement>, after: NextLocation) {
    let mut next = after;
    let mut kept = Vec::new();
    while let Some(mut statement) = statements.pop() {
        match &mut statement {
            RavStatement::Goto(target) | RavStatement::Continue(target) if next == NextLocation::At(*target) => {
                continue;
            }
            RavStatement::Return if next == NextLocation::End => continue,
            RavStatement::If { then, otherwise, .. } => {
                tidy(then, next);
                tidy(otherwise, next);
            }
            RavStatement::Choose(arms) => arms.iter_mut().for_each(|arm| tidy(arm, next)),
            RavStatement::While { head, body, .. } | RavStatement::Loop { head, body } => {
                tidy(body, NextLocation::At(*head))
            }
            _ => {}
        }
        next = match &statement {
            // The thread's last label names its end.
            RavStatement::Label(_) if next == NextLocation::End && kept.is_empty() && after == NextLocation::End => {
                NextLocation::End
            }
            RavStatement::Label(location) => NextLocation::At(*location),
            _ => NextLocation::Other,
        };
        kept.push(statement);
    }
    kept.reverse();
    *statements = kept;
}

fn collect_targets(statements: &[RavStatement], targets: &mut HashSet<LocId>) {
    for statement in statements {
        match statement {
            RavStatement::Goto(target) => {
                targets.insert(*target);
            }
            RavStatement::If { then, otherwise, .. } => {
                collect_targets(then, targets);
                collect_targets(otherwise, targets);
            }
            RavStatement::While { body, .. } | RavStatement::Loop { body, .. } => collect_targets(body, targets),
            RavStatement::Choose(arms) => arms.iter().for_each(|arm| collect_targets(arm, targets)),
            RavStatement::Line(_)
            | RavStatement::Label(_)
            | RavStatement::Break
            | RavStatement::Continue(_)
            | RavStatement::Return => {}
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
    fn block(&mut self, statements: &[RavStatement], depth: usize) {
        for statement in statements {
            self.statement(statement, depth);
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", 4 * depth).expect("writing to a string");
    }

    /// A block behind its head, on one line if it is empty.
    fn braces(&mut self, depth: usize, head: &str, body: &[RavStatement]) {
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

    fn statement(&mut self, statement: &RavStatement, depth: usize) {
        match statement {
            RavStatement::Line(line) => self.line(depth, line),
            RavStatement::Label(location) => {
                for label in &self.thread.locations[location.0].labels {
                    self.line(depth, &format!("@{label};"));
                }
                if self.thread.locations[location.0].labels.is_empty() && self.targets.contains(location) {
                    let label = self.label(*location);
                    self.line(depth, &format!("@{label};"));
                }
            }
            RavStatement::Goto(target) => {
                let label = self.label(*target);
                self.line(depth, &format!("goto {label};"));
            }
            RavStatement::Break => self.line(depth, "break;"),
            RavStatement::Continue(_) => self.line(depth, "continue;"),
            RavStatement::Return => self.line(depth, "return;"),
            RavStatement::If { condition, then, otherwise } if otherwise.is_empty() => {
                self.braces(depth, &format!("if {condition}"), then);
            }
            RavStatement::If { condition, then, otherwise } => {
                self.line(depth, &format!("if {condition} {{"));
                self.block(then, depth + 1);
                self.line(depth, "} else {");
                self.block(otherwise, depth + 1);
                self.line(depth, "}");
            }
            RavStatement::While { condition, body, .. } => self.braces(depth, &format!("while {condition}"), body),
            RavStatement::Loop { body, .. } => self.braces(depth, "loop", body),
            RavStatement::Choose(arms) => {
                for (index, arm) in arms.iter().enumerate() {
                    self.line(depth, if index == 0 { "choose {" } else { "} or {" });
                    self.block(arm, depth + 1);
                }
                self.line(depth, "}");
            }
        }
    }
}
