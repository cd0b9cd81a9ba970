//! Which variable a place means, and whether values fit into what they are written to.
//!
//! A pointer is a choice: one branch for each global variable it can mean, behind a guard.

use super::super::ast::{MemoraxPlace, Name, PlaceKind};
use super::process::ProcessLowering;
use super::range::{IntegerRange, range};
use super::show;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Address, Domain, Expr, RegId, Span, Value, VarId};

/// A variable that a place can mean.
#[derive(Clone, Debug)]
pub struct PlaceVariable {
    /// What has to hold for it to be meant; `None` if no other can be.
    pub guard: Option<Expr>,
    pub address: Address,
    pub variable: VarId,
}

impl ProcessLowering<'_, '_> {
    /// The variables that a place can mean; none if an error was reported.
    pub(super) fn targets(&mut self, place: &MemoraxPlace) -> Vec<PlaceVariable> {
        let found = match &place.kind {
            PlaceKind::Pointer(pointer) => {
                let Some(index) = self.value(pointer) else { return Vec::new() };
                return self.pointer(index, place.span);
            }
            PlaceKind::Global(name) => self.global(name),
            PlaceKind::Own(name) => self.local(name, Some(self.index)),
            PlaceKind::Other(name, number) => {
                // Processes count the others, so those that come after oneself are one further.
                let number = usize::try_from(*number).unwrap_or(usize::MAX);
                let other = if number < self.index { Some(number) } else { number.checked_add(1) };
                self.local(name, other)
            }
        };
        found.into_iter().map(|variable| self.target(variable, None)).collect()
    }

    fn target(&self, variable: VarId, guard: Option<Expr>) -> PlaceVariable {
        let base = self.shared.variables[variable.0].base;
        PlaceVariable { guard, address: Address { expr: Expr::Const(base), within: Some(variable) }, variable }
    }

    fn global(&mut self, name: &Name) -> Option<VarId> {
        let shared = self.shared;
        if let Some((_, variable)) = shared.globals.iter().find(|(known, _)| *known == name.text) {
            return Some(*variable);
        }
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no global variable `{}`", name.text));
        if shared.locals.iter().any(|locals| locals.contains_key(&name.text)) {
            diagnostic.message = format!("`{}` belongs to a process, and none is named", name.text);
            diagnostic.help =
                Some(format!("write `{0}[my]` for the process's own, `{0}[0]` for that of the first other", name.text));
        } else {
            diagnostic.help = did_you_mean(&name.text, shared.globals.iter().map(|(known, _)| known.as_str()));
        }
        self.diagnostics.push(diagnostic);
        None
    }

    fn local(&mut self, name: &Name, owner: Option<usize>) -> Option<VarId> {
        let shared = self.shared;
        let locals = owner.and_then(|owner| shared.locals.get(owner));
        if let Some(variable) = locals.and_then(|locals| locals.get(&name.text)) {
            return Some(*variable);
        }
        let me = self.index;
        let diagnostic = match (owner, locals) {
            (Some(owner), Some(locals)) => {
                let who = if owner == me { "this process".to_owned() } else { format!("P{owner}") };
                let message = format!("{who} has no variable `{}`", name.text);
                let mut diagnostic = Diagnostic::error(name.span, message);
                if owner != me {
                    let note = format!("P{me} names the other processes by 0, 1, … in their order, leaving itself out");
                    diagnostic = diagnostic.with_note(note);
                }
                diagnostic.help = match shared.globals.iter().any(|(known, _)| *known == name.text) {
                    true => Some(format!("the global variable is written `{}`", name.text)),
                    false => did_you_mean(&name.text, locals.keys().map(String::as_str)),
                };
                diagnostic
            }
            _ => {
                let others = shared.locals.len().saturating_sub(1);
                let message = match others {
                    0 => "there is no other process".to_owned(),
                    1 => format!("P{me} has one other process, which is number 0"),
                    others => format!("P{me} has {others} other processes, numbered 0 to {}", others - 1),
                };
                Diagnostic::error(name.span, message)
            }
        };
        self.diagnostics.push(diagnostic);
        None
    }

    fn pointer(&mut self, index: Expr, span: Span) -> Vec<PlaceVariable> {
        let count = self.shared.globals.len();
        let possible = range(&index, &self.registers);
        let valid = IntegerRange { lo: Some(0), hi: Some(count as i128 - 1) };
        if possible.is_apart_from(valid) || count == 0 {
            let message = match count {
                0 => "a pointer means a global variable, and there is none".to_owned(),
                _ => format!("a pointer means a global variable by its number, and {} is none", possible.show()),
            };
            let mut diagnostic = Diagnostic::error(span, message);
            if let Some((last, _)) = self.shared.globals.last() {
                let first = &self.shared.globals[0].0;
                diagnostic = diagnostic.with_note(format!("`{first}` is 0, and `{last}` is {}", count - 1));
            }
            self.diagnostics.push(diagnostic);
            return Vec::new();
        }
        if !possible.within(valid) {
            self.diagnostics.push(
                Diagnostic::warning(span, "this pointer can mean no variable, and the step then blocks")
                    .with_label(format!("can be {}", possible.show()))
                    .with_note(format!("there are {count} global variables, numbered from 0; {CUTS}")),
            );
        }
        let bound = |value: Option<i128>, otherwise: usize| {
            value.map_or(otherwise, |value| value.clamp(0, count as i128 - 1) as usize)
        };
        let (first, last) = (bound(possible.lo, 0), bound(possible.hi, count - 1));
        let is_known = matches!(index, Expr::Const(_));
        (first..=last)
            .map(|number| {
                let guard = (!is_known).then(|| index.clone().eq(Expr::Const(number as Value)));
                self.target(self.shared.globals[number].1, guard)
            })
            .collect()
    }

    pub(super) fn check_written(&mut self, target: &PlaceVariable, value: &Expr, span: Span) {
        let variable = &self.shared.variables[target.variable.0];
        let values = range(value, &self.registers);
        self.check(values, variable.domain, &variable.name, span);
    }

    pub(super) fn check_assigned(&mut self, register: RegId, value: &Expr, span: Span) {
        let values = range(value, &self.registers);
        let (domain, name) = self.described(register);
        self.check(values, domain, &name, span);
    }

    pub(super) fn check_loaded(&mut self, register: RegId, target: &PlaceVariable, span: Span) {
        let values = IntegerRange::of(self.shared.variables[target.variable.0].domain);
        let (domain, name) = self.described(register);
        self.check(values, domain, &name, span);
    }

    /// That a variable can hold what is waited for.
    pub(super) fn check_expected(&mut self, target: &PlaceVariable, value: &Expr, span: Span) {
        let variable = &self.shared.variables[target.variable.0];
        let values = range(value, &self.registers);
        // Of a pointer's targets some may never hold the value without that being strange.
        if target.guard.is_none() && values.is_apart_from(IntegerRange::of(variable.domain)) {
            let (name, shown) = (&variable.name, values.show());
            let message = format!("`{name}` never holds {shown}: its domain is {}", show(variable.domain));
            self.diagnostics.push(Diagnostic::warning(span, message).with_label("this step is never taken"));
        }
    }

    fn described(&self, register: RegId) -> (Domain, String) {
        let found = &self.registers[register.0];
        (found.domain, format!("${}", found.name))
    }

    fn check(&mut self, values: IntegerRange, domain: Domain, name: &str, span: Span) {
        if values.within(IntegerRange::of(domain)) {
            return;
        }
        let (shown, domain_shown) = (values.show(), show(domain));
        let diagnostic = match values.is_apart_from(IntegerRange::of(domain)) {
            true => Diagnostic::warning(span, format!("`{name}` cannot hold {shown}, so this step always blocks")),
            false => Diagnostic::warning(span, format!("this step blocks where the value does not fit into `{name}`"))
                .with_label(format!("the value can be {shown}")),
        };
        self.diagnostics.push(diagnostic.with_note(format!("the domain of `{name}` is {domain_shown}; {CUTS}")));
    }
}

/// Why blocking is worth a warning.
const CUTS: &str =
    "a step that blocks is no error, so the runs that would have gone on from there are left out silently";
