//! The shared memory: a flat map from addresses to values, with names for some of the addresses.

use crate::{Domain, Span, Value};

/// Index of a [`Variable`] in [`Memory::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// Named cells, and the properties of all others: they exist at every address, start at 0 and have the default domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In order of their addresses, which do not overlap.
    pub variables: Vec<Variable>,
    /// Domain of cells without a name.
    pub unnamed: Domain,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { variables: Vec::new(), unnamed: Domain::FULL }
    }
}

/// A named cell, or an array of cells at consecutive addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Address of the first cell.
    pub base: Value,
    /// `None` for a single cell, the number of cells for an array.
    pub len: Option<usize>,
    pub domain: Domain,
    /// One per cell.
    pub initial: Vec<InitialValue>,
    pub span: Span,
}

/// What a cell holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InitialValue {
    Value(Value),
    /// Any value of the cell's domain.
    Any,
}

impl Variable {
    /// A single cell, full domain, initially 0; the builder gives it an address.
    pub fn scalar(name: impl Into<String>) -> Variable {
        Variable {
            name: name.into(),
            base: 0,
            len: None,
            domain: Domain::FULL,
            initial: vec![InitialValue::Value(0)],
            span: Span::NOWHERE,
        }
    }

    pub fn array(name: impl Into<String>, len: usize) -> Variable {
        Variable { len: Some(len), initial: vec![InitialValue::Value(0); len], ..Variable::scalar(name) }
    }

    pub fn with_domain(self, domain: Domain) -> Variable {
        Variable { domain, ..self }
    }

    pub fn with_initial(self, initial: InitialValue) -> Variable {
        Variable { initial: vec![initial; self.cells()], ..self }
    }

    /// How many addresses it has.
    pub fn cells(&self) -> usize {
        self.len.unwrap_or(1)
    }

    pub fn contains(&self, address: Value) -> bool {
        address >= self.base && i128::from(address) < i128::from(self.base) + self.cells() as i128
    }
}

impl Memory {
    /// The variable that names an address.
    pub fn variable_at(&self, address: Value) -> Option<&Variable> {
        let after = self.variables.partition_point(|variable| variable.base <= address);
        let variable = &self.variables[after.checked_sub(1)?];
        variable.contains(address).then_some(variable)
    }

    pub fn domain_at(&self, address: Value) -> Domain {
        self.variable_at(address).map_or(self.unnamed, |variable| variable.domain)
    }

    pub fn initial_at(&self, address: Value) -> InitialValue {
        self.variable_at(address)
            .map_or(InitialValue::Value(0), |variable| variable.initial[(address - variable.base) as usize])
    }

    /// The name of an address for users: `x`, `flag[1]`, `mem[17]`.
    pub fn name_of(&self, address: Value) -> String {
        match self.variable_at(address) {
            Some(variable) if variable.len.is_some() => format!("{}[{}]", variable.name, address - variable.base),
            Some(variable) => variable.name.clone(),
            None => format!("mem[{address}]"),
        }
    }

    /// Every named address, in order.
    pub fn named_addresses(&self) -> impl Iterator<Item = Value> + '_ {
        self.variables.iter().flat_map(|variable| (0..variable.cells()).map(|cell| variable.base + cell as Value))
    }

    pub fn find(&self, name: &str) -> Option<(VarId, &Variable)> {
        let index = self.variables.iter().position(|variable| variable.name == name)?;
        Some((VarId(index), &self.variables[index]))
    }
}
