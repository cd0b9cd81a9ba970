//! Programs as C litmus tests, for users of herd, litmus7 and diy.
//!
//! Threads become functions `P0`, `P1`, … over pointers to the cells they use, registers become their locals, and final
//! goals become the condition. The text has the same final states as the program as long as values fit an `int`. Types of
//! variables are not kept, and a litmus test has no word for a fault, so a program in which a value can leave its type, or
//! an `int`, is refused ([`types`]). Such tests have no jumps, no blocking instructions and no computed addresses; what needs one is
//! refused with a reason ([`Inexpressible`]). A `never` goal looks at states that a litmus test does not see; it is left
//! out, and a comment says so.
//!
//! Not every test is taken as it is by every tool: herd unrolls loops to a bound, and reads a compare-exchange only with
//! a pointer to the expected value, for which each one gets a cell `expected…` of its own.

mod code;
mod condition;
mod expression;
mod flow;
mod runs;
mod types;

use super::names::Names;
use code::Writer;
use ravelin_program::{
    Address, Arithmetic, Copies, Domain, Escape, Goal, GoalKind, InitialValue, Instruction, Observable, Order, Program,
    RegId, ThreadId, Unnamed, Value,
};
use std::collections::BTreeMap;
use thiserror::Error;

/// Words that a C litmus test cannot use as names.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "atomic_int", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "exists", "extern", "false", "filter", "float", "for", "forall", "goto", "if", "inline", "int", "locations", "long",
    "not", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true",
    "typedef", "union", "unsigned", "void", "volatile", "while", "with",
];

/// Why a program has no C litmus test.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Inexpressible {
    #[error(
        "thread `{0}` has any number of copies, and a litmus test has a fixed number; take an instance of the program"
    )]
    AnyCopies(String),
    #[error("`{what}` in thread `{thread}` has no counterpart in a C litmus test")]
    Instruction { thread: String, what: String },
    #[error("`{what}` in thread `{thread}` uses a computed address, and a litmus test names every cell")]
    ComputedAddress { thread: String, what: String },
    #[error("the operator `{operator}` in thread `{thread}` has no counterpart in a C litmus test")]
    Operator { thread: String, operator: &'static str },
    #[error("thread `{thread}` chooses between several ways at {location}, and a litmus test cannot choose")]
    Choice { thread: String, location: String },
    #[error(
        "the control flow of thread `{thread}` at {location} is no `if` or `while`, and a litmus test has no jumps; \
         give each loop a single exit"
    )]
    Unstructured { thread: String, location: String },
    #[error("thread `{0}` is too long once its branches are written out")]
    TooLong(String),
    #[error("`{0}` starts with any value of its type, and a litmus test gives each cell one")]
    AnyInitial(String),
    #[error("`{0}` wraps or blocks outside its type, and an `int` does not")]
    Escape(String),
    #[error(
        "{0} may leave its type, which is an error that ends a run; a litmus test has no types, so it would continue; declare a \
         type that holds all its values"
    )]
    LeavesType(String),
    #[error("{0} may hold a value that does not fit an `int`, and a litmus test computes with those")]
    LeavesInt(String),
    #[error("arithmetic wraps outside {lo}..={hi}, and that of C does not")]
    Arithmetic { lo: Value, hi: Value },
    #[error("the number {0} does not fit an `int`")]
    WideNumber(Value),
    #[error("the condition `{0}` does more than compare registers and cells with numbers")]
    Condition(String),
    #[error("a litmus test has one condition, and the goals of this program are of different kinds")]
    MixedGoals,
}

/// A C litmus test for a program.
pub fn litmus(program: &Program) -> Result<String, Inexpressible> {
    refuse(program)?;
    let mut identifiers = Identifiers::new(program);
    let mut functions = String::new();
    for index in 0..program.threads.len() {
        let statements = flow::statements(&program.threads[index])?;
        functions.push_str(&Writer::new(program, &mut identifiers, index).function(&statements)?);
        functions.push('\n');
    }
    if let Some(reason) = types::left(program) {
        return Err(reason);
    }
    let shown = observables(program);
    let mut text = header(program);
    text.push_str(&initial(program, &identifiers, &shown));
    text.push_str(&functions);
    let names: Vec<String> = shown.iter().filter_map(|atom| identifiers.observable(atom)).collect();
    if !names.is_empty() {
        text.push_str(&format!("locations [{};]\n", names.join("; ")));
    }
    if let Some(filter) = program.observation.as_ref().and_then(|observation| observation.filter.as_ref()) {
        text.push_str(&format!("filter ({})\n", condition::proposition(program, &identifiers, filter)?));
    }
    text.push_str(&verdict(program, &identifiers)?);
    Ok(text)
}

fn refuse(program: &Program) -> Result<(), Inexpressible> {
    let mut foreign = None;
    for transition in program.threads.iter().flat_map(|thread| &thread.transitions) {
        transition.instruction.for_each_arithmetic(&mut |arithmetic| match arithmetic {
            Arithmetic::Wrapping(domain) if !is_machine(domain) && !is_small(domain) => {
                foreign = foreign.or(Some(domain))
            }
            _ => {}
        });
    }
    if let Some(domain) = foreign {
        return Err(Inexpressible::Arithmetic { lo: domain.lo, hi: domain.hi });
    }
    let fits = |name: &str, domain: Domain| match domain.escape == Escape::Error || is_machine(domain) {
        true => Ok(()),
        false => Err(Inexpressible::Escape(name.to_owned())),
    };
    for variable in &program.memory.variables {
        fits(&variable.name, variable.domain)?;
        for initial in &variable.initial {
            match initial {
                InitialValue::Value(value) => int(*value)?,
                InitialValue::Any => return Err(Inexpressible::AnyInitial(variable.name.clone())),
            };
        }
    }
    if let Unnamed::Cells(domain) = program.memory.unnamed {
        fits("mem", domain)?;
    }
    for thread in &program.threads {
        if thread.copies == Copies::Any {
            return Err(Inexpressible::AnyCopies(thread.name.clone()));
        }
        for register in &thread.registers {
            fits(&register.name, register.domain)?;
            int(register.initial)?;
        }
    }
    Ok(())
}

/// The type of a machine integer.
/// The values of a type that an `int` holds. Its operators may stand in C where they do not wrap (see `types`).
fn is_small(domain: Domain) -> bool {
    [(0, 0xff), (0, 0xffff), (0, 0xffff_ffff), (-0x80, 0x7f), (-0x8000, 0x7fff)].contains(&(domain.lo, domain.hi))
}

fn is_machine(domain: Domain) -> bool {
    domain.is_full() || (domain.lo, domain.hi) == (i32::MIN.into(), i32::MAX.into())
}

fn int(value: Value) -> Result<Value, Inexpressible> {
    i32::try_from(value).map(|_| value).map_err(|_| Inexpressible::WideNumber(value))
}

/// What everything is called in the text.
struct Identifiers {
    /// By address: every cell that is named, accessed or asked about.
    cells: BTreeMap<Value, String>,
    /// For each cell that is accessed, whether no access is atomic.
    plain: BTreeMap<Value, bool>,
    locals: Vec<Vec<String>>,
    /// All names of cells and locals, for further cells.
    taken: Names,
}

impl Identifiers {
    fn new(program: &Program) -> Identifiers {
        let mut plain: BTreeMap<Value, bool> = BTreeMap::new();
        for transition in program.threads.iter().flat_map(|thread| &thread.transitions) {
            for access in transition.instruction.accesses() {
                if let Some(address) = fixed(program, access.address) {
                    *plain.entry(address).or_insert(true) &= is_plain(&transition.instruction);
                }
            }
        }
        let mut addresses: Vec<Value> = program.memory.named_addresses().chain(plain.keys().copied()).collect();
        let asked = program.goals.iter().map(|goal| &goal.condition);
        let filter = program.observation.iter().flat_map(|observation| &observation.filter);
        for condition in asked.chain(filter) {
            condition.for_each_atom(&mut |atom| {
                if let Observable::Memory(address) = atom {
                    addresses.push(*address);
                }
            });
        }
        let shown = program.observation.iter().flat_map(|observation| &observation.shown);
        addresses.extend(shown.filter_map(|(_, atom)| match atom {
            Observable::Memory(address) => Some(*address),
            _ => None,
        }));
        let mut taken = Names::avoiding(RESERVED);
        for index in 0..program.threads.len() {
            taken.choose(&format!("P{index}"));
        }
        let mut cells = BTreeMap::new();
        for address in addresses {
            cells.entry(address).or_insert_with(|| taken.choose(&program.memory.name_of(address)));
        }
        let for_locals = taken.clone();
        let mut locals = Vec::new();
        for thread in &program.threads {
            let mut own = for_locals.clone();
            let names: Vec<String> = thread.registers.iter().map(|register| own.choose(&register.name)).collect();
            names.iter().for_each(|name| _ = taken.choose(name));
            locals.push(names);
        }
        Identifiers { cells, plain, locals, taken }
    }

    /// The name of what a condition can speak of; a location has none.
    fn observable(&self, atom: &Observable) -> Option<String> {
        match atom {
            Observable::At(..) => None,
            Observable::Register(thread, register) => {
                Some(format!("{}:{}", thread.0, self.locals[thread.0][register.0]))
            }
            Observable::Memory(address) => self.cells.get(address).cloned(),
        }
    }
}

/// The cell that an address names, if it is always the same one.
fn fixed(program: &Program, address: &Address) -> Option<Value> {
    let cell = address.expr.constant()?;
    program.memory.resolve(address, cell).ok()
}

fn is_plain(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Load { order: Order::NonAtomic, .. } | Instruction::Store { order: Order::NonAtomic, .. }
    )
}

/// What final states are told by: what the program asks for, or else all named cells and registers.
fn observables(program: &Program) -> Vec<Observable> {
    if let Some(observation) = &program.observation {
        return observation.shown.iter().map(|(_, atom)| atom.clone()).collect();
    }
    let mut shown: Vec<Observable> = program.memory.named_addresses().map(Observable::Memory).collect();
    for (index, thread) in program.threads.iter().enumerate() {
        let visible = thread.registers.iter().enumerate().filter(|(_, register)| !register.hidden);
        shown.extend(visible.map(|(number, _)| Observable::Register(ThreadId(index), RegId(number))));
    }
    shown
}

/// The first line, and a line that says which thread is which.
fn header(program: &Program) -> String {
    let file = program.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.split_once(".rav").map_or(file, |(stem, _)| stem);
    let name: String =
        stem.chars().map(|c| if c.is_ascii_graphic() && !"\"{}()".contains(c) { c } else { '-' }).collect();
    let name = if name.is_empty() { "test" } else { name.as_str() };
    let mut text = format!("C {name}\n");
    let who: Vec<String> = program
        .threads
        .iter()
        .enumerate()
        .filter(|(index, thread)| thread.name != format!("P{index}"))
        .map(|(index, thread)| format!("P{index} is {}", thread.name.replace(['"', '{', '}', '\n', '\r'], "-")))
        .collect();
    if !who.is_empty() {
        text.push_str(&format!("\"{}\"\n", who.join(", ")));
    }
    text
}

/// Cells start at 0 unless listed. One that no thread uses is listed too, so that it exists.
fn initial(program: &Program, identifiers: &Identifiers, shown: &[Observable]) -> String {
    let mut items = Vec::new();
    for (address, name) in &identifiers.cells {
        let value = match program.memory.initial_at(*address) {
            InitialValue::Value(value) => value,
            InitialValue::Any => 0,
        };
        let used = identifiers.plain.contains_key(address) || !shown.contains(&Observable::Memory(*address));
        if value != 0 || !used {
            items.push(format!("{name} = {value};"));
        }
    }
    if items.is_empty() { "{}\n\n".to_owned() } else { format!("{{ {} }}\n\n", items.join(" ")) }
}

/// The final condition. Several goals of one kind are one condition.
fn verdict(program: &Program, identifiers: &Identifiers) -> Result<String, Inexpressible> {
    let mut text = String::new();
    for goal in program.goals.iter().filter(|goal| !goal.is_final()) {
        let condition = program.show_condition(&goal.condition).replace("*)", "* )").replace("(*", "( *");
        text.push_str(&format!("(* Not kept: never {condition} *)\n"));
    }
    let finals: Vec<&Goal> = program.goals.iter().filter(|goal| goal.is_final()).collect();
    let Some(first) = finals.first() else { return Ok(text + "exists (true)\n") };
    if finals.iter().any(|goal| goal.kind != first.kind) {
        return Err(Inexpressible::MixedGoals);
    }
    let (word, connective) = match first.kind {
        GoalKind::Finally => ("forall", " /\\ "),
        GoalKind::NeverFinally => ("~exists", " \\/ "),
        GoalKind::Exists | GoalKind::Never => ("exists", " \\/ "),
    };
    let mut parts = Vec::new();
    for goal in &finals {
        parts.push(condition::proposition(program, identifiers, &goal.condition)?);
    }
    let all = match parts.as_slice() {
        [only] => only.clone(),
        several => several.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(connective),
    };
    Ok(text + &format!("{word} ({all})\n"))
}
