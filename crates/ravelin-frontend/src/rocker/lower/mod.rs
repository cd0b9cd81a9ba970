//! Tree to program: names are resolved, control flow is spelt out.
//!
//! Lowering goes on after an error, so that all of them are reported; the program it then gives back is not to be used.

mod expression;
mod statement;
mod thread;

use super::MAX_DIAGNOSTICS;
use super::ast::{File, Name, Number};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{
    Arithmetic, Domain, Escape, InitialValue, Memory, Program, Source, Span, Thread, Unnamed, Value, VarId, Variable,
};
use std::collections::HashMap;
use std::path::Path;
use thread::ThreadLowering;

/// The greatest value where a file declares none: Rocker computes modulo 255 then.
const DEFAULT_MAX: Value = 254;
/// Values are bytes.
const GREATEST_MAX: Value = 255;
const MAX_THREADS: usize = 1024;

/// Lowers a file. The program is meaningful only if no error is among the diagnostics.
pub fn lower(file: &File, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let domain = domain(file, diagnostics);
    let mut globals = Globals { domain, names: HashMap::new() };
    let variables = globals.declare(file, diagnostics);
    globals.check_tracks(file, diagnostics);
    let mut threads: Vec<Thread> = Vec::new();
    let mut known: HashMap<&str, Span> = HashMap::new();
    for function in &file.threads {
        let name = &function.name;
        if let Some(&earlier) = known.get(name.text.as_str()) {
            diagnostics.push(twice("thread", name, earlier));
            continue;
        }
        if threads.len() == MAX_THREADS {
            let message = format!("a program may have {MAX_THREADS} threads, and this one has more");
            diagnostics.push(Diagnostic::error(name.span, message));
            break;
        }
        known.insert(&name.text, name.span);
        threads.push(ThreadLowering::new(&globals, function, diagnostics).run(function));
    }
    let name = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Program { name, memory: Memory { variables, unnamed: Unnamed::Cells(domain) }, threads, ..Program::default() }
}

/// What all threads share.
struct Globals<'a> {
    domain: Domain,
    names: HashMap<&'a str, Global>,
}

#[derive(Clone, Copy)]
struct Global {
    id: VarId,
    address: Value,
    atomic: bool,
    span: Span,
}

impl<'a> Globals<'a> {
    fn arithmetic(&self) -> Arithmetic {
        Arithmetic::Wrapping(self.domain)
    }

    fn declare(&mut self, file: &'a File, diagnostics: &mut Vec<Diagnostic>) -> Vec<Variable> {
        let mut variables = Vec::new();
        for declaration in &file.variables {
            let name = &declaration.name;
            if let Some(earlier) = self.names.get(name.text.as_str()) {
                let mut diagnostic = twice("variable", name, earlier.span);
                if earlier.atomic != declaration.atomic {
                    diagnostic = diagnostic.with_note("a variable is either `global`, which is atomic, or `na`");
                }
                diagnostics.push(diagnostic);
                continue;
            }
            let initial = match declaration.initial {
                Some(number) if !self.domain.contains(number.value) => {
                    diagnostics.push(Diagnostic::error(number.span, self.too_great(number)));
                    0
                }
                initial => initial.map_or(0, |number| number.value),
            };
            let id = VarId(variables.len());
            // Addresses count from 1, so that 0 can stand for "no address".
            let address = variables.len() as Value + 1;
            self.names.insert(&name.text, Global { id, address, atomic: declaration.atomic, span: name.span });
            let variable = Variable::scalar(&name.text).with_domain(self.domain);
            variables.push(Variable {
                base: address,
                span: name.span,
                ..variable.with_initial(InitialValue::Value(initial))
            });
        }
        variables
    }

    /// A number in an expression is as it is written: only what operators compute, and what is kept, is taken modulo. But
    /// one that nothing can ever hold is hardly meant so.
    fn doubt(&self, number: Number, diagnostics: &mut Vec<Diagnostic>) {
        if !self.domain.contains(number.value) {
            diagnostics.push(
                Diagnostic::warning(number.span, self.too_great(number))
                    .with_note("no local and no variable ever holds it"),
            );
        }
    }

    fn too_great(&self, number: Number) -> String {
        format!("{} is greater than the greatest value, which is {}", number.value, self.domain.hi)
    }

    /// Nothing is done with them yet, but a misspelt name is found now.
    fn check_tracks(&self, file: &File, diagnostics: &mut Vec<Diagnostic>) {
        for track in &file.tracks {
            match self.names.get(track.name.text.as_str()) {
                Some(variable) if variable.atomic => {}
                Some(variable) => diagnostics.push(
                    Diagnostic::error(track.name.span, format!("`{}` is not atomic", track.name.text))
                        .with_secondary(variable.span, "declared as `na` here")
                        .with_note("values are tracked for `wait`, `CAS` and `BCAS`, which need a `global` variable"),
                ),
                None => diagnostics.push(self.unknown(&track.name, diagnostics.len())),
            }
            for &value in track.values.iter().flatten() {
                self.doubt(value, diagnostics);
            }
        }
    }

    /// A name that is no variable. After very many errors nobody reads what may have been meant.
    fn unknown(&self, name: &Name, errors: usize) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no variable `{}`", name.text));
        if errors < MAX_DIAGNOSTICS {
            diagnostic.help = did_you_mean(&name.text, self.names.keys().copied())
                .or_else(|| Some(format!("declare it with `global {};`", name.text)));
        }
        diagnostic
    }
}

fn domain(file: &File, diagnostics: &mut Vec<Diagnostic>) -> Domain {
    let max = match file.max_value {
        None => DEFAULT_MAX,
        Some(Number { value, .. }) if (1..=GREATEST_MAX).contains(&value) => value,
        Some(Number { value, span }) => {
            diagnostics.push(
                Diagnostic::error(span, format!("the greatest value cannot be {value}"))
                    .with_note(format!("values are bytes, and there must be 0 and 1: write 1 to {GREATEST_MAX}")),
            );
            // So that no number in the file seems too large because of this.
            GREATEST_MAX
        }
    };
    Domain::new(0, max, Escape::Wrap)
}

/// Something was declared before.
fn twice(what: &str, name: &Name, earlier: Span) -> Diagnostic {
    Diagnostic::error(name.span, format!("there are two {what}s named `{}`", name.text))
        .with_secondary(earlier, "the first one is declared here")
}
