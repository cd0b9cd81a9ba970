//! What types say: which values there are, how many cells, and how the operators of such values compute.

use super::super::ast::{Base, Name, RangeExpr, Type, TypeKind};
use super::super::parser::TYPE_NAMES;
use super::constant::{Scope, evaluate};
use super::global::{FileScope, MAX_CELLS, SharedVariables};
use super::kind::Kind;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, Domain, Escape, Value};

/// What a type says.
#[derive(Clone, Copy, Debug)]
pub struct KnownType {
    pub domain: Domain,
    /// Of an array: the number of cells.
    pub len: Option<usize>,
    pub kind: Option<Kind>,
}

impl SharedVariables<'_> {
    /// What a type says; `None` if an error was reported.
    pub fn ty(&self, ty: &Type, diagnostics: &mut Vec<Diagnostic>) -> Option<KnownType> {
        match &ty.kind {
            TypeKind::Error => None,
            TypeKind::Array(element, len) => {
                let known = self.ty(element, diagnostics);
                if let Some(KnownType { len: Some(_), .. }) = known {
                    diagnostics.push(
                        Diagnostic::error(element.span, "arrays have one dimension")
                            .with_help("use `[_; N * M]` and the index `i * M + j`"),
                    );
                    return None;
                }
                let cells = evaluate(len, &mut FileScope { globals: self, diagnostics, addresses: false })?;
                match usize::try_from(cells) {
                    Ok(cells @ 1..=MAX_CELLS) => Some(KnownType { len: Some(cells), ..known? }),
                    _ => {
                        let message = format!("an array has from 1 to {MAX_CELLS} cells, not {cells}");
                        diagnostics.push(Diagnostic::error(len.span, message));
                        None
                    }
                }
            }
            TypeKind::Base { escape, base } => {
                let mut kind = None;
                let domain = match base {
                    Base::Named(name) if name.text == "_" => self.default,
                    Base::Named(name) => {
                        let (domain, found) = self.named_type(name, diagnostics)?;
                        // What is said of values outside of the type holds of what operators give as well.
                        kind = found.filter(|_| escape.is_none());
                        domain
                    }
                    Base::Range(range) => {
                        let (lo, hi) =
                            self.range(range, &mut FileScope { globals: self, diagnostics, addresses: false })?;
                        Domain::new(lo, hi, Escape::Error)
                    }
                };
                let escape = match escape.as_ref().map(|name| name.text.as_str()) {
                    Some("wrapping") => Escape::Wrap,
                    Some("blocking") => Escape::Block,
                    _ => domain.escape,
                };
                Some(KnownType { domain: Domain { escape, ..domain }, len: None, kind })
            }
        }
    }

    fn named_type(&self, name: &Name, diagnostics: &mut Vec<Diagnostic>) -> Option<(Domain, Option<Kind>)> {
        if name.text == "bool" {
            return Some((Domain::BOOL, None));
        }
        if let Some(kind) = Kind::named(&name.text) {
            let domain = match kind.arithmetic() {
                Some(Arithmetic::Wrapping(domain)) => domain,
                _ => Domain::FULL,
            };
            return Some((Domain { escape: Escape::Error, ..domain }, Some(kind)));
        }
        if let Some(number) = self.enums.find(&name.text) {
            let of = &self.enums.types[number];
            return (!of.unsure).then_some((of.domain, Some(Kind::Enum(number))));
        }
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no type `{}`", name.text)).with_note(
            "types are bool, u8, u16, u32, u64, i8, i16, i32, i64, ranges such as `0..4`, enums, and arrays",
        );
        diagnostic.help = did_you_mean(&name.text, TYPE_NAMES.into_iter().chain(self.enums.type_names()));
        diagnostics.push(diagnostic);
        None
    }

    /// The arithmetic of `checked(…)`, or of `wrapping(T, …)`; `None` if an error was reported.
    pub fn arithmetic_of(&self, ty: Option<&Type>, diagnostics: &mut Vec<Diagnostic>) -> Option<Arithmetic> {
        let Some(ty) = ty else { return Some(Arithmetic::Checked) };
        match self.ty(ty, diagnostics)? {
            KnownType { domain, len: None, .. } => {
                Some(Arithmetic::Wrapping(Domain { escape: Escape::Wrap, ..domain }))
            }
            KnownType { len: Some(_), .. } => {
                diagnostics.push(Diagnostic::error(ty.span, "arithmetic is done in a type of integers, not of arrays"));
                None
            }
        }
    }

    /// The least and the greatest value of a range that must not be empty.
    pub fn range(&self, range: &RangeExpr, scope: &mut dyn Scope) -> Option<(Value, Value)> {
        let (lo, hi) = (evaluate(&range.lo, scope), evaluate(&range.hi, scope));
        let (lo, hi) = (lo?, hi?);
        let last = if range.inclusive { Some(hi) } else { hi.checked_sub(1) };
        match last {
            Some(last) if lo <= last => Some((lo, last)),
            _ => {
                let dots = if range.inclusive { "..=" } else { ".." };
                let span = range.lo.span.to(range.hi.span);
                scope.report(Diagnostic::error(span, format!("there is no value in {lo}{dots}{hi}")));
                None
            }
        }
    }
}
