//! Memory: which address each named cell has.
//!
//! Addresses count cells from 1 on in order of appearance. A test that computes addresses as x86 does counts bytes
//! instead: every variable starts at a multiple of 8, and the cells of an array are as far apart as its type is wide. Such
//! an array is several variables `t[0]`, `t[1]`, since cells of one variable have consecutive addresses.

use super::cursor::Name;
use super::init::{Init, InitValue};
use crate::Diagnostic;
use ravelin_program::{Address, Domain, Expr, InitialValue, Notation, Span, Value, VarId, Variable};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub struct NamedCell {
    /// Of the first cell.
    pub address: Value,
    /// From one cell of an array to the next.
    pub stride: Value,
    /// `None` for a single cell.
    pub len: Option<usize>,
    variable: VarId,
}

pub struct NamedCells {
    variables: Vec<Variable>,
    known: HashMap<String, NamedCell>,
    next: Value,
    bytes: bool,
}

impl NamedCells {
    pub fn new(init: &Init, bytes: bool, diagnostics: &mut Vec<Diagnostic>) -> NamedCells {
        let mut cells = NamedCells { variables: Vec::new(), known: HashMap::new(), next: 1, bytes };
        for cell in &init.cells {
            if cells.known.contains_key(&cell.name.text) {
                let message = format!("`{}` is given an initial value twice", cell.name.text);
                diagnostics.push(Diagnostic::error(cell.name.span, message));
                continue;
            }
            cells.declare(&cell.name.text, cell.name.span, cell.len, cell.size);
        }
        for cell in &init.cells {
            let declared = cells.cell(&cell.name.text, cell.name.span);
            for (index, value) in cell.values.iter().enumerate() {
                let Some(value) = cells.initial(value, diagnostics) else { continue };
                let address = declared.address + index as Value * declared.stride;
                if let Some(VarId(found)) = cells.variable_at(address) {
                    let variable = &mut cells.variables[found];
                    variable.initial[(address - variable.base) as usize] = InitialValue::Value(value);
                }
            }
        }
        cells
    }

    /// The cell or array of this name. A name not seen before is a new cell that holds 0.
    pub fn cell(&mut self, name: &str, span: Span) -> NamedCell {
        match self.known.get(name) {
            Some(cell) => *cell,
            None => self.declare(name, span, None, 4),
        }
    }

    /// The address of a cell, which must exist if it is one of an array.
    pub fn address_of(&mut self, name: &Name, index: Value, diagnostics: &mut Vec<Diagnostic>) -> Option<Value> {
        let cell = self.cell(&name.text, name.span);
        let cells = cell.len.unwrap_or(1);
        if usize::try_from(index).is_ok_and(|index| index < cells) {
            return Some(cell.address + index * cell.stride);
        }
        let message = match cell.len {
            Some(len) => format!("`{}` has {len} cells, and none has the index {index}", name.text),
            None => format!("`{}` is a single cell and has no index {index}", name.text),
        };
        diagnostics.push(Diagnostic::error(name.span, message));
        None
    }

    /// A constant address, within the variable that names it.
    pub fn constant(&self, address: Value) -> Address {
        Address { expr: Expr::Const(address), within: self.variable_at(address) }
    }

    /// A cell of an array by its index, within the array. Only where addresses count cells.
    pub fn indexed(&self, cell: NamedCell, index: Expr) -> Address {
        debug_assert!(!self.bytes);
        let expr = Expr::binary(ravelin_program::BinaryOp::Add, Expr::Const(cell.address), index);
        Address { expr, within: Some(cell.variable) }
    }

    pub fn initial(&mut self, value: &InitValue, diagnostics: &mut Vec<Diagnostic>) -> Option<Value> {
        match value {
            InitValue::Number(number) => Some(*number),
            InitValue::AddressOf(name, index) => self.address_of(name, *index, diagnostics),
        }
    }

    pub fn into_variables(self) -> Vec<Variable> {
        self.variables
    }

    fn variable_at(&self, address: Value) -> Option<VarId> {
        let index = self.variables.partition_point(|variable| variable.base <= address).checked_sub(1)?;
        self.variables[index].contains(address).then_some(VarId(index))
    }

    fn declare(&mut self, name: &str, span: Span, len: Option<usize>, size: Value) -> NamedCell {
        if self.bytes {
            self.next = (self.next + 7) / 8 * 8;
        }
        let stride = if self.bytes { size.max(1) } else { 1 };
        let cell = NamedCell { address: self.next, stride, len, variable: VarId(self.variables.len()) };
        let variable = |name: String, base: Value, len: Option<usize>| Variable {
            name,
            base,
            len,
            domain: Domain::FULL,
            initial: vec![InitialValue::Value(0); len.unwrap_or(1)],
            notation: Notation::Signed,
            span,
        };
        match len {
            Some(len) if self.bytes => {
                for index in 0..len {
                    let base = cell.address + index as Value * stride;
                    self.variables.push(variable(format!("{name}[{index}]"), base, None));
                }
            }
            _ => self.variables.push(variable(name.to_owned(), cell.address, len)),
        }
        // A single cell is never wider than the room to the next multiple of 8.
        self.next += len.unwrap_or(1) as Value * stride;
        self.known.insert(name.to_owned(), cell);
        cell
    }
}
