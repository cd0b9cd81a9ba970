//! A table of instructions to threads: registers, addresses, flags and labels. What each instruction does is in
//! [`super::execute`].
//!
//! A comparison leaves its two sides in hidden registers, from which a conditional jump decides; the sign of a result is
//! left in a third. They are written only where a jump may look at them.

use super::super::assemble::{Assembly, Label};
use super::super::cells::NamedCells;
use super::super::cursor::{Name, listed};
use super::super::header::Dialect;
use super::super::init::{Init, InitValue};
use super::super::{Code, wrapping};
use super::facts::{self, ThreadFacts};
use super::instruction::{X86Instruction, X86Op};
use super::operand::{MemoryOperand, X86Operand, X86Register};
use super::register;
use super::table::TableColumn;
use super::value::{Width, and};
use crate::Diagnostic;
use ravelin_program::{
    Address, BinaryOp, Domain, Expr, Instruction as Step, Order, RegId, Register as ProgramRegister, Span, Thread,
    Value,
};
use std::collections::{BTreeMap, HashMap};

pub fn lower(
    columns: &[TableColumn],
    init: &Init,
    dialect: Dialect,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Code, NamedCells) {
    let bytes = computes_addresses(columns, init);
    let wide = init.wide
        || instructions(columns).any(|instruction| facts::width(instruction) == Width::Quad)
        || numbers(columns, init).any(|value| i32::try_from(value).is_err());
    let mut cells = NamedCells::new(init, bytes, diagnostics);
    let mut widths = HashMap::new();
    let mut threads = Vec::new();
    for column in columns {
        let lowering = ThreadLowering {
            assembly: Assembly::default(),
            cells: &mut cells,
            widths: &mut widths,
            diagnostics,
            dialect,
            wide,
            facts: ThreadFacts::of(column),
            flags_needed: false,
            ids: [None; register::COUNT],
            hidden: HashMap::new(),
            labels: BTreeMap::new(),
        };
        threads.push(lowering.run(column, init));
    }
    let numbers = columns.iter().map(|column| column.number).collect();
    (Code { threads, numbers, arithmetic: wrapping(wide) }, cells)
}

fn instructions(columns: &[TableColumn]) -> impl Iterator<Item = &X86Instruction> {
    columns.iter().flat_map(|column| &column.cells).filter_map(|cell| cell.instruction.as_ref())
}

/// Every constant of 32 bits or more in the test.
fn numbers<'a>(columns: &'a [TableColumn], init: &'a Init) -> impl Iterator<Item = Value> + 'a {
    let of_cells = init.cells.iter().flat_map(|cell| &cell.values);
    let given = of_cells.chain(init.registers.iter().map(|register| &register.value));
    let written = instructions(columns).filter(|instruction| facts::width(instruction) == Width::Quad);
    let written = written.flat_map(|instruction| &instruction.operands).filter_map(|operand| match operand {
        X86Operand::Number(value, _) => Some(*value),
        _ => None,
    });
    given
        .filter_map(|value| match value {
            InitValue::Number(number) => Some(*number),
            InitValue::AddressOf(..) => None,
        })
        .chain(written)
}

/// Addresses are values in this test, so they must count bytes.
fn computes_addresses(columns: &[TableColumn], init: &Init) -> bool {
    let given = |value: &InitValue| matches!(value, InitValue::AddressOf(..));
    init.cells.iter().flat_map(|cell| &cell.values).any(given)
        || init.registers.iter().any(|register| given(&register.value))
        || instructions(columns).any(|instruction| {
            instruction.op == X86Op::Lea
                || instruction.operands.iter().any(|operand| match operand {
                    X86Operand::AddressOf(_) => true,
                    X86Operand::Memory(memory) => memory.named().is_none(),
                    _ => false,
                })
        })
}

/// Where the first access to a cell stood, and how wide it was.
type Widths = HashMap<String, (Width, Span)>;

pub struct ThreadLowering<'a> {
    pub assembly: Assembly,
    cells: &'a mut NamedCells,
    widths: &'a mut Widths,
    pub diagnostics: &'a mut Vec<Diagnostic>,
    dialect: Dialect,
    /// Arithmetic has 64 bits.
    pub wide: bool,
    facts: ThreadFacts,
    /// A jump may look at the flags that the current instruction sets.
    pub flags_needed: bool,
    ids: [Option<RegId>; register::COUNT],
    hidden: HashMap<&'static str, RegId>,
    labels: BTreeMap<String, Label>,
}

impl ThreadLowering<'_> {
    fn run(mut self, column: &TableColumn, init: &Init) -> Thread {
        for given in init.registers.iter().filter(|given| given.thread == column.number) {
            self.initial(given.value.clone(), &given.name);
        }
        for cell in &column.cells {
            for label in &cell.labels {
                let fresh = self.assembly.fresh();
                if self.labels.insert(label.text.clone(), fresh).is_some() {
                    let message = format!("the label `{}` stands twice in this thread", label.text);
                    self.error(label.span, message);
                }
                self.assembly.name(fresh, &label.text);
            }
        }
        for (index, cell) in column.cells.iter().enumerate() {
            for label in &cell.labels {
                self.assembly.place(self.labels[&label.text]);
            }
            if let Some(instruction) = &cell.instruction {
                self.flags_needed = self.facts.flags_needed[index];
                // What is wrong has been reported.
                let _ = self.execute(instruction);
            }
        }
        let end = column.cells.last().map_or(column.name.span, |cell| cell.span);
        self.assembly.finish(format!("P{}", column.number), column.name.span, end)
    }

    fn initial(&mut self, value: InitValue, name: &Name) {
        let Some((number, _)) = register::find(&name.text, self.dialect) else {
            self.diagnostics.push(register::unknown(name, self.dialect));
            return;
        };
        let Some(value) = self.cells.initial(&value, self.diagnostics) else { return };
        if self.ids[number].is_some() {
            self.error(name.span, format!("`{}` is given an initial value twice", name.text));
        }
        let id = self.id(number, name.span);
        self.assembly.registers[id.0].initial = value;
        let fits = |bits: Width| (0..=bits.mask()).contains(&value);
        // A first value counts like a write that made it.
        let written = &mut self.facts.written[number];
        written.quad |= i32::try_from(value).is_err();
        written.plain |= !fits(Width::Byte);
    }

    // Registers.

    pub fn id(&mut self, number: usize, span: Span) -> RegId {
        if let Some(id) = self.ids[number] {
            return id;
        }
        let id = self.declare(register::name(number, self.dialect), false, span);
        self.ids[number] = Some(id);
        id
    }

    /// A register for what the machine keeps to itself.
    pub fn hidden(&mut self, name: &'static str, span: Span) -> RegId {
        if let Some(&id) = self.hidden.get(name) {
            return id;
        }
        let id = self.declare(name.to_owned(), true, span);
        self.hidden.insert(name, id);
        id
    }

    fn declare(&mut self, name: String, hidden: bool, span: Span) -> RegId {
        self.assembly.registers.push(ProgramRegister {
            name,
            domain: Domain::FULL,
            initial: 0,
            hidden,
            notation: ravelin_program::Notation::Signed,
            span,
        });
        RegId(self.assembly.registers.len() - 1)
    }

    /// The value of a register at a width, as it is kept.
    pub fn read(&mut self, register: &X86Register, width: Width) -> Option<Expr> {
        let id = self.id(register.number, register.span);
        let written = self.facts.written[register.number];
        let all = Expr::Atom(id);
        match width {
            Width::Byte | Width::Word if written.only(width) => Some(all),
            Width::Byte | Width::Word => Some(and(all, width.mask())),
            Width::Long if written.quad => Some(width.cut(all, self.wide)),
            Width::Long => Some(all),
            Width::Quad if written.long => {
                let name = register::name(register.number, self.dialect);
                self.diagnostics.push(
                    Diagnostic::error(register.span, format!("`%{name}` is read with 64 bits and written with 32"))
                        .with_note("a 32-bit write clears the upper half, and a value here is kept as a signed number")
                        .with_help("use one width for this register"),
                );
                None
            }
            Width::Quad => Some(all),
        }
    }

    /// A kept value can be put into the register as it is.
    pub fn is_direct(&self, number: usize, width: Width) -> bool {
        !width.is_narrow() || self.facts.written[number].only(width)
    }

    /// Writes a kept value. A write of 8 or 16 bits leaves the other bits as they are.
    pub fn write(&mut self, register: &X86Register, width: Width, value: Expr, span: Span) {
        let id = self.id(register.number, register.span);
        let value = if self.is_direct(register.number, width) {
            value
        } else {
            let rest = and(Expr::Atom(id), !width.mask());
            Expr::binary(BinaryOp::BitOr, rest, value)
        };
        self.step(Step::Assign { reg: id, value }, span);
    }

    // Memory.

    /// The address of a memory operand that is accessed with this width.
    pub fn address(&mut self, memory: &MemoryOperand, width: Width) -> Option<Address> {
        if let Some(name) = memory.named() {
            let (first, span) = *self.widths.entry(name.text.clone()).or_insert((width, memory.span));
            if first != width {
                let message =
                    format!("`{}` is accessed with {} bits and with {}", name.text, width.bits(), first.bits());
                self.diagnostics.push(
                    Diagnostic::error(memory.span, message)
                        .with_secondary(span, format!("{} bits here", first.bits()))
                        .with_help("accesses of different sizes to one cell are not modelled"),
                );
                return None;
            }
        }
        let address = self.location(memory);
        match address {
            Expr::Const(constant) => Some(self.cells.constant(constant)),
            _ => Some(Address::computed(address)),
        }
    }

    /// The address that a memory operand computes. Registers in it count with all their bits.
    pub fn location(&mut self, memory: &MemoryOperand) -> Expr {
        let symbol = memory.symbol.as_ref().map(|name| self.cells.cell(&name.text, name.span).address);
        let constant = symbol.unwrap_or(0).wrapping_add(memory.displacement);
        let mut sum = memory.base.map(|base| Expr::Atom(self.id(base.number, base.span)));
        if let Some((index, scale)) = memory.index {
            let index = Expr::Atom(self.id(index.number, index.span));
            let scaled = if scale == 1 { index } else { Expr::binary(BinaryOp::Mul, index, Expr::Const(scale)) };
            sum = Some(add(sum, scaled));
        }
        match sum {
            None => Expr::Const(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => Expr::binary(BinaryOp::Add, sum, Expr::Const(constant)),
        }
    }

    pub fn address_of(&mut self, name: &Name) -> Expr {
        Expr::Const(self.cells.cell(&name.text, name.span).address)
    }

    /// Loads into a hidden register.
    pub fn load(&mut self, address: Address, span: Span) -> RegId {
        let reg = self.hidden("$value", span);
        self.step(Step::Load { reg, address, order: Order::Relaxed }, span);
        reg
    }

    pub fn store(&mut self, address: Address, value: Expr, span: Span) {
        self.step(Step::Store { address, value, order: Order::Relaxed }, span);
    }

    // Flags.

    /// Keeps what a comparison of `left` with `right` found, and the `result` whose sign may be asked for. All are kept
    /// values of the width.
    pub fn set_flags(&mut self, width: Width, left: Expr, right: Expr, result: Expr, span: Span) {
        if !self.flags_needed {
            return;
        }
        // The sign first: it may be computed from the sides of the last comparison.
        if self.facts.signs {
            let reg = self.hidden("$sign", span);
            self.step(Step::Assign { reg, value: width.signed(result) }, span);
        }
        if self.facts.compares {
            let reg = self.hidden("$left", span);
            self.step(Step::Assign { reg, value: width.signed(left) }, span);
            let reg = self.hidden("$right", span);
            self.step(Step::Assign { reg, value: width.signed(right) }, span);
        }
    }

    // Steps.

    pub fn step(&mut self, instruction: Step, span: Span) {
        self.assembly.step(instruction, span);
    }

    pub fn label(&mut self, name: &Name) -> Option<Label> {
        if let Some(label) = self.labels.get(&name.text) {
            return Some(*label);
        }
        let known = listed(self.labels.keys().map(String::as_str));
        let mut diagnostic = Diagnostic::error(name.span, format!("there is no label `{}` in this thread", name.text));
        if !known.is_empty() {
            diagnostic = diagnostic.with_help(format!("there is {known}"));
        }
        self.diagnostics.push(diagnostic);
        None
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }
}

fn add(sum: Option<Expr>, term: Expr) -> Expr {
    match sum {
        Some(sum) => Expr::binary(BinaryOp::Add, sum, term),
        None => term,
    }
}
