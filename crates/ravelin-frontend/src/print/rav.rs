//! Programs as `.rav` text.
//!
//! The text parses back to a program that behaves the same. [`legal`] first makes a program that has a text (legal and
//! unique names, addresses as the parser gives them out, one end a thread), and [`flow`] then writes each automaton as
//! statements. What `.rav` has no words for:
//!
//! - Copies of one template are threads of their own: `p[1]` is printed as `thread p_1`.
//! - Addresses count from 1 in order of declaration. A program that uses raw addresses keeps its own: gaps are filled by
//!   `static gap…`, or left by `gap N;` where nothing is at addresses without a name (`strict mem;`), and a variable that cannot be reached this way loses its name and is written `mem[…]`. If it also
//!   had a type or an initial value, a comment in the text says that it is not kept.
//! - A register starts at 0, or at the value of its type closest to it. Another initial value is assigned in the thread's first steps, before its first location.
//!   Hidden registers become ordinary ones (`$1` is printed as `tmp1`).
//! - A thread has one end. Ends that no goal tells apart become one; of others a register `ended` remembers which one was
//!   reached. Copies of `thread p[*]` have no registers to ask, so they spin there instead.
//! - Cells without a name have a type only if it starts at 0 (`max_value`). Of another type, where such cells are used, a comment says that it is not kept.
//! - A locked block drains store buffers exactly if it stores. One that drains without storing gets a fence before it.
//! - An array has at least one cell, `wait` is always atomic, and bounds of a single cell are checked only where its address is constant.

mod flow;
mod graph;
mod legal;
mod statement;

use ravelin_program::{
    Arithmetic, BinaryOp, Copies, Domain, Escape, Expr, GoalKind, InitialValue, Notation, Program, Register, Unnamed,
    Value, ValueNames, Variable, show_domain, show_expr,
};

/// `.rav` text for any valid program.
pub fn rav(program: &Program) -> String {
    let legal::Legal { program, notes } = legal::legal(program);
    let mut text = String::new();
    for line in program.name.lines().filter(|line| !line.trim().is_empty()) {
        text.push_str(&format!("// {}\n", line.trim()));
    }
    for note in notes {
        text.push_str(&format!("// Not kept: {note}\n"));
    }
    let (domain, arithmetic) = defaults(&program, &mut text);
    let defaults = Defaults { domain, arithmetic, named: arithmetic != Arithmetic::Checked || !computes(&program) };
    for of in enums(&program) {
        let names = of.names.iter().map(|(value, name)| format!("{name} = {value}"));
        text.push_str(&format!("enum {} {{ {} }}\n", of.ty, names.collect::<Vec<_>>().join(", ")));
    }
    let mut next = 1;
    for variable in &program.memory.variables {
        if variable.base != next {
            text.push_str(&format!("gap {};\n", variable.base - next));
        }
        next = variable.base + variable.cells() as Value;
        text.push_str(&format!("{}\n", declaration(variable, defaults)));
    }
    for thread in &program.threads {
        let header = if thread.copies == Copies::Any { "[*]" } else { "" };
        separate(&mut text);
        text.push_str(&format!("thread {}{header} {{\n", thread.name));
        for register in &thread.registers {
            text.push_str(&format!("    {}\n", binding(register, defaults)));
        }
        text.push_str(&flow::statements(&program, thread, arithmetic));
        text.push_str("}\n");
    }
    if !program.goals.is_empty() {
        separate(&mut text);
    }
    for goal in &program.goals {
        let kind = match goal.kind {
            GoalKind::Never => "never",
            GoalKind::Exists => "exists",
            GoalKind::NeverFinally => "finally never",
            GoalKind::Finally => "finally",
        };
        text.push_str(&format!("{kind} {};\n", program.show_condition(&goal.condition)));
    }
    text
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push('\n');
    }
}

/// What holds where nothing is said.
#[derive(Clone, Copy)]
struct Defaults {
    domain: Domain,
    arithmetic: Arithmetic,
    /// Integer types are written by name. Not so where operators would be read as those of the type.
    named: bool,
}

/// Some operator computes with 64 bits.
fn computes(program: &Program) -> bool {
    program.threads.iter().flat_map(|thread| &thread.transitions).any(|transition| {
        let (mut operators, mut indices) = (0, 0);
        transition.instruction.for_each_arithmetic(&mut |arithmetic| {
            operators += usize::from(arithmetic == Arithmetic::Checked);
        });
        for access in transition.instruction.accesses() {
            // The address of the array, to which an index is added.
            let sum = matches!(&access.address.expr, Expr::Binary(BinaryOp::Add, Arithmetic::Checked, base, _)
                if access.address.within.is_some() && matches!(**base, Expr::Const(_)));
            indices += usize::from(sum);
        }
        operators > indices
    })
}

/// Writes `strict mem`, `max_value` and `arithmetic`; gives the domain of whatever has no type, and how operators compute of which
/// nothing is said.
fn defaults(program: &Program, text: &mut String) -> (Domain, Arithmetic) {
    let unnamed = program.memory.unnamed.domain().unwrap_or(Domain::FULL);
    let mut arithmetic = Arithmetic::Checked;
    if program.memory.unnamed == Unnamed::Nothing {
        text.push_str("strict mem;\n");
    }
    if unnamed != Domain::FULL {
        let policy = match unnamed.escape {
            Escape::Error => "error",
            Escape::Wrap => "wrap",
            Escape::Block => "block",
        };
        text.push_str(&format!("max_value {} {policy};\n", unnamed.hi));
        if unnamed.escape == Escape::Wrap {
            arithmetic = Arithmetic::Wrapping(unnamed);
        }
    }
    if let Some(domain) = usual_wrapping(program)
        && arithmetic != Arithmetic::Wrapping(domain)
    {
        text.push_str(&format!("arithmetic {};\n", type_name(Domain { escape: Escape::Wrap, ..domain })));
        arithmetic = Arithmetic::Wrapping(domain);
    }
    (unnamed, arithmetic)
}

/// How most of the operators compute that wrap, if any do.
fn usual_wrapping(program: &Program) -> Option<Domain> {
    let mut count: Vec<(Domain, usize)> = Vec::new();
    for transition in program.threads.iter().flat_map(|thread| &thread.transitions) {
        transition.instruction.for_each_arithmetic(&mut |arithmetic| {
            let Arithmetic::Wrapping(domain) = arithmetic else { return };
            match count.iter_mut().find(|(known, _)| *known == domain) {
                Some((_, times)) => *times += 1,
                None => count.push((domain, 1)),
            }
        });
    }
    count.into_iter().rev().max_by_key(|(_, times)| *times).map(|(domain, _)| domain)
}

fn type_name(domain: Domain) -> String {
    show_domain(domain).unwrap_or_else(|| "i64".to_owned())
}

/// The enums whose names are used, in the order of their first use.
fn enums(program: &Program) -> Vec<&ValueNames> {
    let cells = program.memory.variables.iter().map(|variable| &variable.notation);
    let registers = program.threads.iter().flat_map(|thread| &thread.registers).map(|register| &register.notation);
    let mut found: Vec<&ValueNames> = Vec::new();
    for notation in cells.chain(registers) {
        if let Notation::Names(names) = notation
            && !found.contains(&&**names)
        {
            found.push(names);
        }
    }
    found
}

/// The type of a cell or a register; `None` for the default.
fn value_type(domain: Domain, notation: &Notation, defaults: Defaults) -> Option<String> {
    if let Notation::Names(names) = notation {
        let values = || names.names.iter().map(|(value, _)| *value);
        if (values().min(), values().max(), Escape::Error) == (Some(domain.lo), Some(domain.hi), domain.escape) {
            return Some(names.ty.clone());
        }
    }
    if domain == defaults.domain {
        return None;
    }
    match domain.escape {
        Escape::Error if domain != Domain::BOOL && !defaults.named => Some(format!("{}..={}", domain.lo, domain.hi)),
        _ => Some(type_name(domain)),
    }
}

fn declaration(variable: &Variable, defaults: Defaults) -> String {
    let domain = value_type(variable.domain, &variable.notation, defaults);
    let kind = match (variable.len, domain) {
        (None, None) => String::new(),
        (None, Some(domain)) => format!(": {domain}"),
        (Some(len), domain) => format!(": [{}; {len}]", domain.as_deref().unwrap_or("_")),
    };
    let cell = |initial: &InitialValue| match initial {
        InitialValue::Value(value) => value.to_string(),
        InitialValue::Any => "any".to_owned(),
    };
    let initial = match variable.initial.as_slice() {
        all if all.iter().all(|&initial| initial == InitialValue::Value(0)) => String::new(),
        [first, rest @ ..] if rest.iter().all(|initial| initial == first) => format!(" = {}", cell(first)),
        all => format!(" = [{}]", all.iter().map(cell).collect::<Vec<_>>().join(", ")),
    };
    format!("static {}{kind}{initial};", variable.name)
}

fn binding(register: &Register, defaults: Defaults) -> String {
    let kind =
        value_type(register.domain, &register.notation, defaults).map(|ty| format!(": {ty}")).unwrap_or_default();
    // Without a value a register starts at 0, and 0 must then be a value of its type.
    let initial = match register.initial {
        0 => String::new(),
        initial => {
            format!(
                " = {}",
                show_expr(&Expr::Const(initial), 0, Some(defaults.arithmetic), &mut |(): &()| String::new())
            )
        }
    };
    format!("let {}{kind}{initial};", register.name)
}
