//! Tree to program: names are resolved, copies of threads made, control flow spelt out.
//!
//! Lowering goes on after an error, so that all of them are reported; the program it then gives back is not to be used.
//! The order of work is that of need: constants, domains, the layout of memory, threads, goals.

mod call;
mod condition;
mod constant;
mod enums;
mod expression;
mod function;
mod global;
mod kind;
mod locked;
mod matching;
mod statement;
mod thread;
mod types;

pub(crate) use global::MAX_ADDRESS;

use super::ast::{File, ItemKind, ThreadCopies, ThreadItem};
use crate::Diagnostic;
use condition::KnownThread;
use constant::{Scope, evaluate, twice};
use global::SharedVariables;
use ravelin_program::{Copies, Goal, Program, Source, Span, Thread, ThreadId, Value};
use std::collections::{HashMap, HashSet};
use std::path::Path;
pub(crate) use thread::for_each_block;
use thread::{LoweredThread, ThreadLowering};

/// How many copies one declaration may make.
const MAX_COPIES: i128 = 64;
const MAX_THREADS: usize = 1024;
/// How many transitions all threads together may have.
const MAX_TRANSITIONS: usize = 100_000;
/// How many calls all threads together may make, with the statements in the functions.
const MAX_INLINED: usize = 200_000;

/// Lowers a file. The program is meaningful only if no error is among the diagnostics.
pub fn lower(file: &File, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut globals = SharedVariables::collect(file, diagnostics);
    let mut threads: Vec<Thread> = Vec::new();
    let mut known: HashMap<&str, KnownThread> = HashMap::new();
    let mut kinds = Vec::new();
    let mut budget = LoweringBudget { transitions: MAX_TRANSITIONS + 1, inlined: MAX_INLINED + 1 };
    for item in &file.items {
        let ItemKind::Thread(thread) = &item.kind else { continue };
        if let Some(earlier) = known.get(thread.name.text.as_str()) {
            diagnostics.push(twice("thread", &thread.name, earlier.span));
            continue;
        }
        let mut copies = Vec::new();
        for (index, named) in instances(thread, &globals, diagnostics) {
            if threads.len() >= MAX_THREADS {
                let message = format!("a program may have {MAX_THREADS} threads, and this one has more");
                diagnostics.push(Diagnostic::error(thread.name.span, message));
                break;
            }
            let lowering = ThreadLowering::new(&mut globals, diagnostics, &mut budget, named);
            let lowered = lowering.run(thread);
            kinds.push(lowered.kinds.clone());
            let (lowered, labels, names) = lowered.thread(thread, index);
            copies.push((index, ThreadId(threads.len()), labels, names));
            threads.push(lowered);
        }
        let any = thread.copies == ThreadCopies::Any;
        known.insert(&thread.name.text, KnownThread { span: thread.name.span, copies, any });
    }
    let mut goals = Vec::new();
    for item in &file.items {
        let ItemKind::Goal { kind, condition, .. } = &item.kind else { continue };
        let lowered = condition::lower_condition(condition, &mut globals, &known, &kinds, diagnostics);
        if let Some(condition) = lowered {
            goals.push(Goal { kind: *kind, condition, span: item.span });
        }
    }
    // What a broken line would have used is unknown.
    if !diagnostics.iter().any(Diagnostic::is_error) {
        globals.warn_unused(diagnostics);
        globals.functions.warn_unused(file, diagnostics);
    }
    let name = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Program { observation: None, name, memory: globals.into_memory(), threads, goals, source: Source::default() }
}

/// The index of a copy, if it has one, and the name under which the code sees it.
type CopyIndex<'a> = (Option<Value>, Option<(&'a str, Value)>);

/// The copies that a declaration makes.
fn instances<'a>(
    thread: &'a ThreadItem,
    globals: &SharedVariables<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<CopyIndex<'a>> {
    let mut scope = global::FileScope { globals, diagnostics, addresses: false };
    let (name, lo, end, span) = match &thread.copies {
        ThreadCopies::One | ThreadCopies::Any => return vec![(None, None)],
        ThreadCopies::Count(count) => {
            let Some(value) = evaluate(count, &mut scope) else { return vec![(None, None)] };
            (None, 0, i128::from(value), count.span)
        }
        ThreadCopies::Indexed(name, range) => {
            let span = range.lo.span.to(range.hi.span);
            let (lo, hi) = (evaluate(&range.lo, &mut scope), evaluate(&range.hi, &mut scope));
            let (Some(lo), Some(hi)) = (lo, hi) else { return vec![(None, Some((&name.text, 0)))] };
            (Some(name.text.as_str()), i128::from(lo), i128::from(hi) + i128::from(range.inclusive), span)
        }
    };
    let count = end - lo;
    if !(1..=MAX_COPIES).contains(&count) {
        scope.report(
            Diagnostic::error(span, format!("thread `{}` would have {} copies", thread.name.text, count.max(0)))
                .with_note(format!("a declaration makes from 1 to {MAX_COPIES} copies"))
                .with_help("`[*]` stands for any number of copies"),
        );
    }
    // Errors in the body are to be found even if the number of copies is wrong.
    let end = end.clamp(lo + 1, lo + MAX_COPIES);
    (lo..end)
        .filter_map(|index| Value::try_from(index).ok())
        .map(|index| (Some(index), name.map(|name| (name, index))))
        .collect()
}

impl LoweredThread {
    /// The finished thread of a declaration's copy, with the labels and registers that goals may name.
    fn thread(self, item: &ThreadItem, index: Option<Value>) -> (Thread, thread::Labels, thread::RegisterNames) {
        let base = &item.name.text;
        let thread = Thread {
            name: index.map_or_else(|| base.clone(), |index| format!("{base}[{index}]")),
            template: index.map(|index| (base.clone(), index)),
            copies: if item.copies == ThreadCopies::Any { Copies::Any } else { Copies::One },
            registers: self.registers,
            locations: self.locations,
            transitions: self.transitions,
            initial: self.initial,
            calls: self.calls,
            span: item.name.span,
        };
        (thread, self.labels, self.names)
    }
}

/// What may still be made of a file; 0 once that has been too much, and 1 before.
#[derive(Clone, Copy, Debug)]
struct LoweringBudget {
    transitions: usize,
    inlined: usize,
}

/// Which shared variables a file mentions.
#[derive(Debug, Default)]
struct MentionedVariables {
    variables: HashSet<ravelin_program::VarId>,
    /// Addresses are computed, so that any variable may be meant.
    addresses: bool,
}

/// The empty span at the end of another.
fn after(span: Span) -> Span {
    Span { start: span.end.saturating_sub(1).max(span.start), end: span.end }
}
