//! Values of options by the names that the libraries give them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use ravelin::Model;
use std::ffi::OsStr;

/// Reads one of these by its name, in capitals or not.
pub fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    Named { all, name }
}

/// Reads a memory model, also by other names that people have for it.
pub fn model() -> impl TypedValueParser<Value = Model> {
    NamedModel(Named { all: &Model::ALL, name: Model::name })
}

/// A number of things of which there has to be one.
pub fn at_least_one(given: &str) -> Result<usize, String> {
    match given.parse() {
        Ok(0) => Err("at least 1 is needed".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

/// The values that were named, each once.
pub fn distinct<T: Copy + PartialEq>(named: &[T]) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for &value in named {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

#[derive(Debug)]
struct Named<T: 'static> {
    all: &'static [T],
    name: fn(T) -> &'static str,
}

impl<T> Clone for Named<T> {
    fn clone(&self) -> Named<T> {
        Named { all: self.all, name: self.name }
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, given: &OsStr) -> Result<T, Error> {
        let found = self.all.iter().copied().find(|&value| given.eq_ignore_ascii_case((self.name)(value)));
        // None of the names is accepted there: the message is clap's own, with the name that was probably meant.
        let refuse = || PossibleValuesParser::new(self.names()).parse_ref(command, option, given).err();
        found.ok_or_else(|| refuse().unwrap_or_else(|| Error::new(ErrorKind::InvalidValue).with_cmd(command)))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().map(PossibleValue::new)))
    }
}

impl<T: Copy> Named<T> {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let name = self.name;
        self.all.iter().map(move |&value| name(value))
    }
}

#[derive(Clone, Debug)]
struct NamedModel(Named<Model>);

impl TypedValueParser for NamedModel {
    type Value = Model;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, given: &OsStr) -> Result<Model, Error> {
        let known = given.to_string_lossy().parse();
        known.map_err(|error: ravelin::UnknownModel| command.clone().error(ErrorKind::InvalidValue, error))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}
