//! Tree to program: copies of processes are made, names resolved, pointers and control flow spelt out.
//!
//! Lowering goes on after an error, so that all of them are reported; the program it then gives back is not to be used.
//! Threads are called P0, P1, … as Memorax counts processes. A process's own variable `x` is called `x[P0]`.

mod access;
mod flow;
mod goal;
mod locked;
mod process;
mod range;

use super::ast::{Declaration, File, Name};
use crate::Diagnostic;
use process::ProcessLowering;
use ravelin_program::{Domain, Escape, InitialValue, Memory, Program, Source, Unnamed, Value, VarId, Variable};
use std::collections::HashMap;
use std::path::Path;

/// How many copies one `process(k)` may make.
const MAX_COPIES: Value = 64;
const MAX_PROCESSES: usize = 1024;
/// How many transitions all threads together may have.
const MAX_TRANSITIONS: usize = 100_000;

/// Lowers a file. The program is meaningful only if no error is among the diagnostics.
pub fn lower(file: &File, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Program {
    // The process that each thread runs.
    let mut instances = Vec::new();
    for process in &file.processes {
        if !(1..=MAX_COPIES).contains(&process.copies) {
            let message = format!("this process would have {} copies", process.copies);
            let note = format!("`process(k)` makes from 1 to {MAX_COPIES} copies");
            diagnostics.push(Diagnostic::error(process.span, message).with_note(note));
        }
        for _ in 0..process.copies.clamp(1, MAX_COPIES) {
            if instances.len() < MAX_PROCESSES {
                instances.push(process);
            } else {
                let message = format!("a program may have {MAX_PROCESSES} processes, and this one has more");
                diagnostics.push(Diagnostic::error(process.span, message));
                break;
            }
        }
    }
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    if instances.is_empty() && !failed {
        let span = file.forbidden.last().map(|tuple| tuple.span).unwrap_or_default();
        diagnostics.push(Diagnostic::error(span, "there is no process").with_help("add one: `process text L: nop`"));
    }

    let mut shared = SharedMemory::default();
    unique(&file.globals, "global variables", diagnostics);
    for declaration in &file.globals {
        let variable = shared.declare(declaration, declaration.name.text.clone(), diagnostics);
        shared.globals.push((declaration.name.text.clone(), variable));
    }
    for (index, process) in instances.iter().enumerate() {
        unique(&process.locals, "variables", diagnostics);
        let mut locals = HashMap::new();
        for declaration in &process.locals {
            let name = format!("{}[P{index}]", declaration.name.text);
            let variable = shared.declare(declaration, name, diagnostics);
            locals.entry(declaration.name.text.clone()).or_insert(variable);
        }
        shared.locals.push(locals);
    }

    let mut threads = Vec::new();
    let mut labels = Vec::new();
    let mut budget = MAX_TRANSITIONS;
    for (index, process) in instances.iter().enumerate() {
        let first = diagnostics.len();
        let (thread, known) = ProcessLowering::new(&shared, index, &mut budget, diagnostics).run(process);
        threads.push(thread);
        labels.push(known);
        if let Some(used_at) = process.used_at {
            for diagnostic in &mut diagnostics[first..] {
                if diagnostic.span.start < used_at.start || diagnostic.span.end > used_at.end {
                    diagnostic.secondary.push((used_at, format!("P{index} comes from this use of the macro")));
                }
            }
        }
    }
    let incomplete = failed || threads.is_empty();
    let goals = goal::lower_tuples(&file.forbidden, &threads, &labels, incomplete, diagnostics);
    let name = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Program {
        name,
        memory: Memory { variables: shared.variables, unnamed: Unnamed::Cells(Domain::FULL) },
        threads,
        goals,
        observation: None,
        source: Source::default(),
    }
}

/// The shared memory, as processes see it.
#[derive(Debug, Default)]
struct SharedMemory {
    variables: Vec<Variable>,
    /// In order of declaration: a pointer is an index into this list.
    globals: Vec<(String, VarId)>,
    /// The own variables of each process.
    locals: Vec<HashMap<String, VarId>>,
}

impl SharedMemory {
    fn declare(&mut self, declaration: &Declaration, name: String, diagnostics: &mut Vec<Diagnostic>) -> VarId {
        let domain = domain(declaration, diagnostics);
        if declaration.initial.is_none() && declaration.domain.is_none() {
            diagnostics.push(starts_with_any_integer(declaration));
        }
        let initial = declaration.initial.map_or(InitialValue::Any, InitialValue::Value);
        let mut variable = Variable::scalar(name).with_domain(domain).with_initial(initial);
        // Addresses count from 1, as in `.rav`.
        variable.base = self.variables.len() as Value + 1;
        variable.span = declaration.span;
        self.variables.push(variable);
        VarId(self.variables.len() - 1)
    }
}

/// The domain of a declaration; checks that its initial value is there.
fn domain(declaration: &Declaration, diagnostics: &mut Vec<Diagnostic>) -> Domain {
    let name = &declaration.name.text;
    let domain = match declaration.domain {
        None => Domain::FULL,
        Some((lo, hi)) if lo > hi => {
            let message = format!("the domain [{lo}:{hi}] of `{name}` has no values");
            diagnostics.push(Diagnostic::error(declaration.span, message));
            return Domain::FULL;
        }
        Some((lo, hi)) => Domain::new(lo, hi, Escape::Block),
    };
    match declaration.initial {
        Some(value) if !domain.contains(value) => {
            let message = format!("`{name}` starts with {value}, which is not in its domain {}", show(domain));
            diagnostics.push(Diagnostic::error(declaration.span, message));
        }
        _ => {}
    }
    domain
}

/// For a variable, or for a register that is read before it is written.
fn starts_with_any_integer(declaration: &Declaration) -> Diagnostic {
    let name = &declaration.name.text;
    Diagnostic::error(declaration.span, format!("`{name}` would start with any of infinitely many integers"))
        .with_note("`*` stands for every value of the domain, and a domain that is not given is `Z`")
        .with_help(format!("give it a domain such as `{name} = * : [0:1]`, or an initial value"))
}

fn show(domain: Domain) -> String {
    match domain.is_full() {
        true => "Z".to_owned(),
        false => format!("[{}:{}]", domain.lo, domain.hi),
    }
}

fn unique(declarations: &[Declaration], what: &str, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&str, &Name> = HashMap::new();
    for Declaration { name, .. } in declarations {
        if let Some(earlier) = seen.insert(&name.text, name) {
            diagnostics.push(
                Diagnostic::error(name.span, format!("there are two {what} `{}`", name.text))
                    .with_secondary(earlier.span, "the first one"),
            );
        }
    }
}
