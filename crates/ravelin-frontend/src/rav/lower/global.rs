//! What all threads share: constants, domains, and the layout of memory.

use super::super::ast::{File, Function, Init, InitKind, ItemKind, Name, RavPlace, Type, TypeKind};
use super::MentionedVariables;
use super::constant::{
    Computing, Constants, Scope, constant_function, constants, evaluate, evaluate_in, is_unsigned, twice,
};
use super::enums::EnumTypes;
use super::function::Functions;
use super::kind::{Kind, notation};
use super::types::KnownType;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Arithmetic, Domain, Escape, InitialValue, Memory, Span, Unnamed, Value, VarId, Variable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many cells all variables together may have.
pub(super) const MAX_CELLS: usize = 65_536;
/// How far gaps may lead.
pub(crate) const MAX_ADDRESS: Value = 1 << 61;

pub struct SharedVariables<'a> {
    pub constants: Constants<'a>,
    /// The constants that are unsigned numbers.
    pub unsigned: HashSet<&'a str>,
    pub enums: EnumTypes<'a>,
    pub functions: Functions<'a>,
    pub variables: Vec<Variable>,
    /// What is known of the values of each variable.
    pub kinds: Vec<Option<Kind>>,
    pub names: HashMap<&'a str, VarId>,
    /// Variables whose declaration is wrong: nothing more is to be said about them.
    pub unsure: HashSet<VarId>,
    /// The domain of everything without a type.
    pub default: Domain,
    /// How all operators in threads compute, if the file says so.
    pub arithmetic: Option<Arithmetic>,
    /// Nothing is at addresses without a name.
    strict: bool,
    pub(super) mentioned: MentionedVariables,
}

impl<'a> SharedVariables<'a> {
    pub fn collect(file: &'a File, diagnostics: &mut Vec<Diagnostic>) -> SharedVariables<'a> {
        let functions = Functions::collect(file, diagnostics);
        let (constants, enums) = constants(file, &functions, diagnostics);
        let unsigned = file.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Const { name, ty, .. } if is_unsigned(ty.as_ref()) => Some(name.text.as_str()),
            _ => None,
        });
        let mut globals = SharedVariables {
            constants,
            unsigned: unsigned.collect(),
            enums,
            functions,
            variables: Vec::new(),
            kinds: Vec::new(),
            names: HashMap::new(),
            unsure: HashSet::new(),
            default: Domain::FULL,
            arithmetic: None,
            strict: false,
            mentioned: MentionedVariables::default(),
        };
        globals.domains(file, diagnostics);
        globals.layout(file, diagnostics);
        globals.initial_values(file, diagnostics);
        globals
    }

    pub fn into_memory(self) -> Memory {
        let unnamed = if self.strict { Unnamed::Nothing } else { Unnamed::Cells(self.default) };
        Memory { variables: self.variables, unnamed }
    }

    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0]
    }

    fn domains(&mut self, file: &File, diagnostics: &mut Vec<Diagnostic>) {
        let (mut max_value, mut arithmetic, mut strict) = (None, None, None);
        for item in &file.items {
            match &item.kind {
                ItemKind::MaxValue { value, escape } => {
                    if let Some(earlier) = max_value.replace(item.span) {
                        diagnostics.push(repeated("max_value", item.span, earlier));
                    }
                    let mut scope = FileScope { globals: self, diagnostics, addresses: false };
                    let Some(hi) = evaluate(value, &mut scope) else { continue };
                    if hi < 0 {
                        diagnostics.push(
                            Diagnostic::error(value.span, format!("the greatest value is {hi}"))
                                .with_note("values go from 0 to it, so it must be at least 0"),
                        );
                        continue;
                    }
                    let escape = match escape.as_ref().map(|name| name.text.as_str()) {
                        Some("wrap") => Escape::Wrap,
                        Some("block") => Escape::Block,
                        _ => Escape::Error,
                    };
                    self.default = Domain::new(0, hi, escape);
                    if escape == Escape::Wrap && arithmetic.is_none() {
                        self.arithmetic = Some(Arithmetic::Wrapping(self.default));
                    }
                }
                ItemKind::StrictMemory => {
                    if let Some(earlier) = strict.replace(item.span) {
                        diagnostics.push(repeated("strict mem", item.span, earlier));
                    }
                    self.strict = true;
                }
                ItemKind::Arithmetic(ty) => {
                    if let Some(earlier) = arithmetic.replace(item.span) {
                        diagnostics.push(repeated("arithmetic", item.span, earlier));
                    }
                    if let Some(KnownType { domain, len: None, .. }) = self.ty(ty, diagnostics) {
                        self.arithmetic = Some(Arithmetic::Wrapping(Domain { escape: Escape::Wrap, ..domain }));
                    } else if matches!(ty.kind, TypeKind::Array(..)) {
                        diagnostics.push(Diagnostic::error(
                            ty.span,
                            "arithmetic is done in a type of integers, not of arrays",
                        ));
                    }
                }
                _ => {}
            }
        }
    }

    fn layout(&mut self, file: &'a File, diagnostics: &mut Vec<Diagnostic>) {
        let mut next: Value = 1;
        let mut cells = 0;
        for item in &file.items {
            if let ItemKind::Gap(addresses) = &item.kind {
                let mut scope = FileScope { globals: self, diagnostics, addresses: false };
                let Some(count) = evaluate(addresses, &mut scope) else { continue };
                let below = count < 0 && cells > 0;
                match next.checked_add(count).filter(|next| !below && (-MAX_ADDRESS..=MAX_ADDRESS).contains(next)) {
                    Some(moved) => next = moved,
                    None => diagnostics.push(gap_out_of_place(addresses.span, count, below)),
                }
                continue;
            }
            let ItemKind::Static { name, ty, .. } = &item.kind else { continue };
            if let Some(earlier) = self.names.get(name.text.as_str()) {
                let earlier = self.variable(*earlier).span;
                diagnostics.push(twice("variable", name, earlier));
                continue;
            }
            if self.constants.contains_key(name.text.as_str()) {
                let message = format!("`{}` is the name of a constant already", name.text);
                diagnostics.push(Diagnostic::error(name.span, message));
            }
            let id = VarId(self.variables.len());
            let known = match ty {
                None => Some(KnownType { domain: self.default, len: None, kind: None }),
                Some(ty) => self.ty(ty, diagnostics),
            };
            if known.is_none() {
                self.unsure.insert(id);
            }
            let KnownType { domain, mut len, kind } =
                known.unwrap_or(KnownType { domain: Domain::FULL, len: None, kind: None });
            cells += len.unwrap_or(1);
            if cells > MAX_CELLS {
                let message = format!("memory may have {MAX_CELLS} named cells, and `{}` is beyond that", name.text);
                diagnostics.push(Diagnostic::error(name.span, message));
                self.unsure.insert(id);
                cells -= len.take().unwrap_or(1);
            }
            self.names.insert(&name.text, id);
            let initial = vec![InitialValue::Value(0); len.unwrap_or(1)];
            self.variables.push(Variable {
                name: name.text.clone(),
                base: next,
                len,
                domain,
                initial,
                notation: notation(kind, &self.enums),
                span: name.span,
            });
            self.kinds.push(kind);
            next += len.unwrap_or(1) as Value;
        }
    }

    fn initial_values(&mut self, file: &File, diagnostics: &mut Vec<Diagnostic>) {
        let mut done = HashSet::new();
        for item in &file.items {
            let ItemKind::Static { name, init, .. } = &item.kind else { continue };
            let Some(&id) = self.names.get(name.text.as_str()) else { continue };
            if !done.insert(id) || self.unsure.contains(&id) {
                continue;
            }
            let (domain, len) = (self.variable(id).domain, self.variable(id).len);
            let cell = InitialCell { domain, kind: self.kinds[id.0] };
            match init {
                Some(init) => {
                    if let Some(initial) = self.initial(init, cell, len, diagnostics) {
                        self.variables[id.0].initial = initial;
                    }
                }
                None if !self.holds(cell, 0) => diagnostics.push(
                    Diagnostic::error(
                        name.span,
                        format!("`{}` starts with 0, which is not a value of its type", name.text),
                    )
                    .with_help(format!("give it a first value: `= {}`", self.first_value(cell))),
                ),
                None => {}
            }
        }
    }

    fn initial(
        &self,
        init: &Init,
        of: InitialCell,
        len: Option<usize>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Vec<InitialValue>> {
        let wrong_count = |found: i128, diagnostics: &mut Vec<Diagnostic>| {
            let message = format!("{found} initial values are given for {} cells", len.unwrap_or(1));
            diagnostics.push(Diagnostic::error(init.span, message));
        };
        match (&init.kind, len) {
            (InitKind::Error, _) => None,
            (InitKind::List(_) | InitKind::Repeat(..), None) => {
                diagnostics.push(
                    Diagnostic::error(init.span, "a list of initial values is given for a single cell")
                        .with_help("an array is declared by a type such as `[_; 3]`"),
                );
                None
            }
            (InitKind::List(list), Some(len)) => {
                let cells: Vec<Option<InitialValue>> =
                    list.iter().map(|cell| self.initial_cell(cell, of, diagnostics)).collect();
                if list.len() != len {
                    wrong_count(list.len() as i128, diagnostics);
                    return None;
                }
                cells.into_iter().collect()
            }
            (InitKind::Repeat(value, count), Some(len)) => {
                let cell = self.initial_cell(value, of, diagnostics);
                let mut scope = FileScope { globals: self, diagnostics, addresses: true };
                let count = evaluate(count, &mut scope)?;
                if i128::from(count) != len as i128 {
                    wrong_count(i128::from(count), diagnostics);
                }
                Some(vec![cell?; len])
            }
            (InitKind::Value(_) | InitKind::Any, _) => {
                Some(vec![self.initial_cell(init, of, diagnostics)?; len.unwrap_or(1)])
            }
        }
    }

    /// Whether a value is one of the type of a cell.
    fn holds(&self, cell: InitialCell, value: Value) -> bool {
        match cell.kind {
            Some(Kind::Enum(number)) => {
                let of = &self.enums.types[number];
                of.unsure || of.names.of(value).is_some()
            }
            _ => cell.domain.contains(value),
        }
    }

    /// A value that a cell can start with, as it is written.
    fn first_value(&self, cell: InitialCell) -> String {
        notation(cell.kind, &self.enums).constant(cell.domain.lo).unwrap_or_else(|| cell.domain.lo.to_string())
    }

    fn initial_cell(&self, init: &Init, of: InitialCell, diagnostics: &mut Vec<Diagnostic>) -> Option<InitialValue> {
        let domain = of.domain;
        let expr = match &init.kind {
            InitKind::Any => {
                if let Some(Kind::Enum(number)) = of.kind
                    && !self.enums.types[number].is_dense()
                {
                    let message =
                        format!("`any` value from {} to {} is meant, and some have no name", domain.lo, domain.hi);
                    diagnostics.push(Diagnostic::error(init.span, message));
                    return None;
                }
                return Some(InitialValue::Any);
            }
            InitKind::Value(expr) => expr,
            InitKind::Error => return None,
            InitKind::List(_) | InitKind::Repeat(..) => {
                diagnostics
                    .push(Diagnostic::error(init.span, "arrays have one dimension, so their cells are no lists"));
                return None;
            }
        };
        let how = if of.kind.is_some_and(Kind::is_unsigned) { Computing::UNSIGNED } else { Computing::SIGNED };
        let value = evaluate_in(expr, how, &mut FileScope { globals: self, diagnostics, addresses: true })?;
        if !self.holds(of, value) {
            if let Some(Kind::Enum(number)) = of.kind {
                let message = format!("the initial value {value} is none of `{}`", self.enums.types[number].names.ty);
                diagnostics.push(Diagnostic::error(init.span, message));
                return None;
            }
            let message = format!("the initial value {value} is outside the type, {}..={}", domain.lo, domain.hi);
            diagnostics.push(Diagnostic::error(init.span, message));
            return None;
        }
        Some(InitialValue::Value(value))
    }

    /// A shared variable has this name.
    pub fn declares(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// What is known of the values at a place.
    pub fn kind_at(&self, within: Option<VarId>) -> Option<Kind> {
        self.kinds[within?.0]
    }

    /// The variable, noted as mentioned.
    pub fn mention(&mut self, name: &str) -> Option<VarId> {
        let id = *self.names.get(name)?;
        self.mentioned.variables.insert(id);
        Some(id)
    }

    pub fn warn_unused(&self, diagnostics: &mut Vec<Diagnostic>) {
        if self.mentioned.addresses {
            return;
        }
        for (index, variable) in self.variables.iter().enumerate() {
            if !self.mentioned.variables.contains(&VarId(index)) {
                let message = format!("the variable `{}` is never used", variable.name);
                diagnostics.push(Diagnostic::warning(variable.span, message));
            }
        }
    }

    /// The constant address of a place; `index` is its index, if it has one. `None` if it has no address, which is
    /// reported unless the declaration was wrong.
    pub fn cell(
        &self,
        id: VarId,
        index: Option<Value>,
        span: Span,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Value> {
        if self.unsure.contains(&id) {
            return None;
        }
        let variable = self.variable(id);
        let name = &variable.name;
        let diagnostic = match (variable.len, index) {
            (None, None) => return Some(variable.base),
            (Some(len), Some(index)) if index >= 0 && i128::from(index) < len as i128 => {
                return Some(variable.base + index);
            }
            (Some(len), None) => {
                Diagnostic::error(span, format!("`{name}` is an array of {len} cells, and no cell is named"))
                    .with_help(format!("write `{name}[0]`"))
            }
            (None, Some(_)) => Diagnostic::error(span, format!("`{name}` is a single cell and has no index")),
            (Some(len), Some(index)) => Diagnostic::error(span, format!("the index {index} is outside of `{name}`"))
                .with_note(format!("`{name}` has the cells {name}[0] to {name}[{}]", len - 1)),
        };
        diagnostics.push(diagnostic);
        None
    }
}

fn gap_out_of_place(span: Span, count: Value, below: bool) -> Diagnostic {
    if below {
        return Diagnostic::error(span, format!("a gap of {count} addresses would go back to those of variables"))
            .with_note("only a gap before the first variable may be negative");
    }
    Diagnostic::error(span, format!("a gap of {count} addresses leads too far"))
        .with_note(format!("addresses go from {} to {MAX_ADDRESS}", -MAX_ADDRESS))
}

fn repeated(what: &str, span: Span, earlier: Span) -> Diagnostic {
    Diagnostic::error(span, format!("`{what}` is declared twice")).with_secondary(earlier, "the first declaration")
}

/// What a cell that gets its first value can hold.
#[derive(Clone, Copy)]
struct InitialCell {
    domain: Domain,
    kind: Option<Kind>,
}

/// Names outside of threads: constants, and addresses where memory has been laid out.
pub struct FileScope<'g, 'a, 'd> {
    pub globals: &'g SharedVariables<'a>,
    pub diagnostics: &'d mut Vec<Diagnostic>,
    pub addresses: bool,
}

impl Scope for FileScope<'_, '_, '_> {
    fn name(&mut self, name: &Name) -> Option<Value> {
        if let Some(value) = self.globals.constants.get(name.text.as_str()) {
            return *value;
        }
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no constant `{}`", name.text));
        diagnostic.help = did_you_mean(&name.text, self.globals.constants.keys().copied())
            .or_else(|| self.globals.enums.help_for(&name.text));
        if self.globals.names.contains_key(name.text.as_str()) {
            diagnostic.message = format!("`{}` is a shared variable, and a constant is needed here", name.text);
        }
        self.report(diagnostic);
        None
    }

    fn path(&mut self, ty: &Name, name: &Name) -> Option<Value> {
        match self.globals.enums.value(ty, name) {
            Ok((value, _)) => Some(value),
            Err(diagnostic) => {
                self.diagnostics.extend(diagnostic.map(|diagnostic| *diagnostic));
                None
            }
        }
    }

    fn function(&mut self, name: &Name) -> Option<Arc<Function>> {
        constant_function(name, &self.globals.functions, self.diagnostics)
    }

    fn address(&mut self, place: &RavPlace) -> Option<Value> {
        if !self.addresses {
            self.report(Diagnostic::error(
                place.span,
                "an address cannot stand here, because memory is not laid out yet",
            ));
            return None;
        }
        let index = match &place.index {
            Some(index) => Some(evaluate(index, self)?),
            None => None,
        };
        if place.is_mem() {
            return index;
        }
        let Some(&id) = self.globals.names.get(place.name.text.as_str()) else {
            let mut diagnostic =
                Diagnostic::error(place.name.span, format!("there is no shared variable `{}`", place.name.text));
            diagnostic.help = did_you_mean(&place.name.text, self.globals.names.keys().copied());
            self.report(diagnostic);
            return None;
        };
        self.globals.cell(id, index, place.span, self.diagnostics)
    }

    fn arithmetic(&mut self, ty: Option<&Type>) -> Option<Arithmetic> {
        self.globals.arithmetic_of(ty, self.diagnostics)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
