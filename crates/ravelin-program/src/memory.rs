//! The shared memory: a flat map from addresses to values, with names for some of the addresses.

use crate::{Address, Domain, Expr, Fault, Notation, Span, Value};

/// Index of a [`Variable`] in [`Memory::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub usize);

/// Named cells, and what is at all other addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// In order of their addresses, which do not overlap.
    pub variables: Vec<Variable>,
    pub unnamed: Unnamed,
}

/// What is at addresses without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unnamed {
    /// A cell at every address, which starts at 0 and has this domain.
    Cells(Domain),
    /// Nothing: an access is a [`Fault::NoObject`].
    Nothing,
}

impl Unnamed {
    /// The domain of the cells, if there are any.
    pub fn domain(self) -> Option<Domain> {
        match self {
            Unnamed::Cells(domain) => Some(domain),
            Unnamed::Nothing => None,
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { variables: Vec::new(), unnamed: Unnamed::Cells(Domain::FULL) }
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
    /// How the values of its cells are written.
    pub notation: Notation,
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
            notation: Notation::Signed,
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

    /// The domain of a cell; a fault if there is none.
    pub fn domain_at(&self, address: Value) -> Result<Domain, Fault> {
        match (self.variable_at(address), self.unnamed) {
            (Some(variable), _) => Ok(variable.domain),
            (None, Unnamed::Cells(domain)) => Ok(domain),
            (None, Unnamed::Nothing) => Err(Fault::NoObject { address }),
        }
    }

    pub fn has_cell(&self, address: Value) -> bool {
        self.domain_at(address).is_ok()
    }

    /// Checks where an access goes. `value` is the value of `address.expr`.
    pub fn resolve(&self, address: &Address, value: Value) -> Result<Value, Fault> {
        match address.within.map(|variable| &self.variables[variable.0]) {
            Some(variable) if !variable.contains(value) => {
                Err(Fault::OutOfBounds { address: value, base: variable.base, len: variable.cells() as Value })
            }
            _ => self.domain_at(value).map(|_| value),
        }
    }

    /// The first and the last address of every run of named cells without a gap.
    pub fn named_runs(&self) -> Vec<(Value, Value)> {
        let mut runs: Vec<(Value, Value)> = Vec::new();
        for variable in &self.variables {
            let (base, last) = (variable.base, variable.base + (variable.cells() as Value - 1));
            match runs.last_mut() {
                Some((_, end)) if *end + 1 == base => *end = last,
                _ => runs.push((base, last)),
            }
        }
        runs
    }

    /// That there is a cell at an address; `None` if that is always so.
    pub fn cell_condition<A: Clone>(&self, address: &Expr<A>) -> Option<Expr<A>> {
        if self.unnamed != Unnamed::Nothing {
            return None;
        }
        let within = |(first, last): (Value, Value)| {
            let above = Expr::binary(crate::BinaryOp::Ge, address.clone(), Expr::Const(first));
            above.and(Expr::binary(crate::BinaryOp::Le, address.clone(), Expr::Const(last)))
        };
        Some(self.named_runs().into_iter().map(within).reduce(Expr::or).unwrap_or(Expr::Const(0)))
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

    /// How the values of a cell are written.
    pub fn notation_at(&self, address: Value) -> &Notation {
        self.variable_at(address).map_or(&Notation::Signed, |variable| &variable.notation)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RegId, VarId};

    fn at(base: Value, variable: Variable) -> Variable {
        Variable { base, ..variable }
    }

    #[test]
    fn nothing_is_a_fault_outside_of_objects_only() {
        let variables =
            vec![at(1, Variable::scalar("x")), at(2, Variable::array("a", 2)), at(9, Variable::scalar("y"))];
        let mut memory = Memory { variables, unnamed: Unnamed::Nothing };
        assert_eq!(memory.named_runs(), [(1, 3), (9, 9)]);
        let raw = |address: Value| Address::computed(Expr::Const(address));
        let found = |memory: &Memory, address: Value| memory.resolve(&raw(address), address);
        for address in [1, 2, 3, 9] {
            assert_eq!(found(&memory, address), Ok(address));
        }
        for address in [-1, 0, 4, 8, 10] {
            assert_eq!(found(&memory, address), Err(Fault::NoObject { address }));
        }
        let condition = memory.cell_condition(&Expr::Atom(RegId(0))).expect("not always");
        for address in -1..12 {
            assert_eq!(condition.eval(&mut |_| address), Ok(Value::from(memory.has_cell(address))));
        }
        // The array comes first.
        let indexed = Address { within: Some(VarId(1)), ..raw(9) };
        assert_eq!(memory.resolve(&indexed, 9), Err(Fault::OutOfBounds { address: 9, base: 2, len: 2 }));
        memory.unnamed = Unnamed::Cells(Domain::BOOL);
        assert_eq!((found(&memory, 4), memory.domain_at(4)), (Ok(4), Ok(Domain::BOOL)));
        assert_eq!(memory.cell_condition(&Expr::Atom(RegId(0))), None);
    }

    #[test]
    fn a_fault_says_what_kind_of_address_it_is() {
        let text = |address| Fault::NoObject { address }.to_string();
        assert_eq!(text(0), "the access is to address 0, which is null");
        assert_eq!(text(7), "the access is to address 7, outside of every object");
    }
}
