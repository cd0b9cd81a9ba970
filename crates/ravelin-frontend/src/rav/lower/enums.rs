//! Enums: names for integers. `A` is 0 unless its declaration says otherwise, and each other name is one more than the one
//! before.

use super::super::ast::{EnumItem, File, ItemKind, Name};
use super::super::parser::TYPE_NAMES;
use super::constant::twice;
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::{Domain, Escape, Span, Value, ValueNames};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The enums of a file.
#[derive(Debug, Default)]
pub struct EnumTypes<'a> {
    pub types: Vec<EnumType>,
    names: HashMap<&'a str, usize>,
}

#[derive(Debug)]
pub struct EnumType {
    pub names: Arc<ValueNames>,
    /// From its least value to its greatest.
    pub domain: Domain,
    /// Its declaration is wrong: nothing more is to be said about it.
    pub unsure: bool,
}

impl EnumType {
    /// Every value of its domain has a name.
    pub fn is_dense(&self) -> bool {
        self.domain.size() == u64::try_from(self.names.names.len()).ok()
    }
}

/// The declarations by name.
pub fn declared<'a>(file: &'a File, diagnostics: &mut Vec<Diagnostic>) -> HashMap<&'a str, &'a EnumItem> {
    let mut items: HashMap<&str, &EnumItem> = HashMap::new();
    for item in &file.items {
        let ItemKind::Enum(declared) = &item.kind else { continue };
        let name = &declared.name;
        if TYPE_NAMES.contains(&name.text.as_str()) {
            let message = format!("`{}` is the name of a type already", name.text);
            diagnostics.push(Diagnostic::error(name.span, message));
        } else if let Some(earlier) = items.get(name.text.as_str()) {
            diagnostics.push(twice("enum", name, earlier.name.span));
        } else {
            items.insert(&name.text, declared);
        }
    }
    items
}

impl<'a> EnumTypes<'a> {
    /// `value` gives that of a variant, by the numbers of the two; `None` if it has none, which has been reported.
    pub fn collect(
        file: &'a File,
        declared: &HashMap<&'a str, &'a EnumItem>,
        mut value: impl FnMut(&EnumItem, usize) -> Option<Value>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> EnumTypes<'a> {
        let mut enums = EnumTypes::default();
        for item in &file.items {
            let ItemKind::Enum(item) = &item.kind else { continue };
            if !declared.get(item.name.text.as_str()).is_some_and(|known| std::ptr::eq(*known, item)) {
                continue;
            }
            let mut values: Vec<Option<Value>> = Vec::new();
            for (number, variant) in item.variants.iter().enumerate() {
                let next = match values.last() {
                    None => Some(0),
                    Some(before) => before.and_then(|before| before.checked_add(1)),
                };
                let known = next.filter(|_| variant.value.is_none());
                values.push(known.or_else(|| value(item, number)));
            }
            enums.names.insert(&item.name.text, enums.types.len());
            enums.types.push(enum_type(item, &values, diagnostics));
        }
        enums
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub fn type_names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.names.keys().copied()
    }

    /// `Color::Red`: the value and the number of the enum; otherwise what is wrong, if it has not been said.
    pub fn value(&self, ty: &Name, name: &Name) -> Result<(Value, usize), Option<Box<Diagnostic>>> {
        let Some(number) = self.find(&ty.text) else { return Err(Some(Box::new(unknown(ty, self.type_names())))) };
        let of = &self.types[number];
        match of.names.names.iter().find(|(_, known)| *known == name.text) {
            Some((value, _)) => Ok((*value, number)),
            None if of.unsure => Err(None),
            None => {
                let known = of.names.names.iter().map(|(_, known)| known.as_str());
                Err(Some(Box::new(no_variant(ty, name, known))))
            }
        }
    }

    /// What to write for the name of a variant without its enum.
    pub fn help_for(&self, variant: &str) -> Option<String> {
        let has = |of: &&EnumType| of.names.names.iter().any(|(_, name)| name == variant);
        self.types.iter().find(has).map(|of| format!("write `{}::{variant}`", of.names.ty))
    }
}

pub fn unknown<'b>(ty: &Name, known: impl Iterator<Item = &'b str>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(ty.span, format!("there is no enum `{}`", ty.text));
    diagnostic.help = did_you_mean(&ty.text, known);
    diagnostic
}

pub fn no_variant<'b>(ty: &Name, name: &Name, known: impl Iterator<Item = &'b str>) -> Diagnostic {
    let message = format!("the enum `{}` has no value `{}`", ty.text, name.text);
    let mut diagnostic = Diagnostic::error(name.span, message);
    diagnostic.help = did_you_mean(&name.text, known);
    diagnostic
}

fn enum_type(item: &EnumItem, values: &[Option<Value>], diagnostics: &mut Vec<Diagnostic>) -> EnumType {
    let mut names: Vec<(Value, String)> = Vec::new();
    let (mut by_name, mut by_value): (HashMap<&str, Span>, HashMap<Value, &Name>) = (HashMap::new(), HashMap::new());
    let mut taken = HashSet::new();
    let mut unsure = false;
    if item.variants.is_empty() {
        let message = format!("the enum `{}` has no values", item.name.text);
        diagnostics.push(Diagnostic::error(item.name.span, message));
        unsure = true;
    }
    for (variant, value) in item.variants.iter().zip(values) {
        let name = &variant.name;
        if let Some(earlier) = by_name.insert(&name.text, name.span) {
            diagnostics.push(twice("value", name, earlier));
            unsure = true;
            continue;
        }
        let Some(value) = *value else {
            unsure = true;
            continue;
        };
        if !taken.insert(value) {
            let earlier = by_value[&value];
            let message = format!("`{}` is {value}, and `{}` is so already", name.text, earlier.text);
            diagnostics.push(Diagnostic::error(name.span, message).with_secondary(earlier.span, "the first one"));
            unsure = true;
            continue;
        }
        by_value.insert(value, name);
        names.push((value, name.text.clone()));
    }
    let lo = names.iter().map(|(value, _)| *value).min().unwrap_or(0);
    let hi = names.iter().map(|(value, _)| *value).max().unwrap_or(0);
    let names = Arc::new(ValueNames { ty: item.name.text.clone(), names });
    EnumType { names, domain: Domain::new(lo, hi, Escape::Error), unsure }
}
