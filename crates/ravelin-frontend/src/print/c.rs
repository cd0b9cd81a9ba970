//! Programs as C11 with pthreads, to be run under the sanitizer: the dynamic check then speaks of the same program as the
//! static one.
//!
//! One function a thread; registers are its variables. Memory that is only accessed atomically is `_Atomic`; memory that
//! is also accessed otherwise is plain, and its atomic accesses are `__atomic` builtins. Orders are kept. `wait`, `bcas`
//! and compare-exchanges use the markers of `ravelin.h`, because a stale value that does not let them pass is no event.
//! A wait for anything but one value has no marker and is a loop.
//!
//! A run of the C program is one run of the program, with these conventions. Where several transitions leave a location,
//! one is chosen at random among those that can be taken; a wait counts as one that can. A thread ends where nothing can
//! be taken (`assume`), where a value leaves its type or an index its array, where an assertion fails (which is
//! reported), and when it has jumped back as often as the second argument says. If threads wait for ever the program
//! ends after a while. Goals are comments. Signed overflow is left to C, and a read-modify-write is not checked against
//! the type of its cell.
//!
//! Where `__RAVELIN__` is defined the program is a model again: choices are free, loops have no bound, a thread that
//! cannot go on waits, and what leaves its type or array fails an assertion.

mod expression;
mod prelude;
mod step;

use super::names::Names;
use expression::TermWriter;
use ravelin_program::{
    Address, BinaryOp, Copies, Expr, InitialValue, Instruction, LocId, Order, Program, RmwOp, Thread, Transition,
    UnaryOp, Value, Variable,
};
use std::collections::BTreeSet;
use step::StepWriter;
use thiserror::Error;

/// The most cells of a flat memory.
const MOST_CELLS: i128 = 1 << 16;

#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float",
    "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool", "true", "false",
    "asm", "typeof", "main", "mem", "any", "divide", "modulo", "shift_left", "shift_right", "wrap", "ended", "rounds",
    "unsigned_divide", "unsigned_modulo", "shift_in_zeros", "not_and", "larger", "smaller", "unsigned_larger", "unsigned_smaller",
    "seeds", "end", "left_over", "seed", "first", "tried", "count", "arguments", "threads", "patience", "unused", "start",
    "exit", "abort", "read", "write", "index", "y0", "y1", "yn", "j0", "j1", "jn", "time", "signal", "wait", "fork",
    "pause", "link", "unlink", "close", "open", "free", "malloc", "remove", "rename", "rand", "random", "select", "send",
    "sleep", "stat", "sync", "truncate", "access", "alarm", "dup", "nice", "pipe", "div", "fprintf", "stderr", "stdin",
    "stdout", "linux", "unix", "environ", "system", "clock", "usleep", "swab", "getc", "putc", "puts", "gets", "perror",
    "test", "assert", "MEET", "LEAVE", "VERIFY", "OVER", "ROUND", "STOP", "FAULT", "FAIL", "HELPER", "exp", "log", "pow", "clone", "creat", "kill", "labs", "llabs", "abs", "atoi", "atol", "acct", "daemon",
];

/// Why a program cannot be written in C.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotInC {
    #[error(
        "thread `{0}` has any number of copies, and a C program needs a fixed number; take an instance of the program (--copies)"
    )]
    AnyCopies(String),
    #[error("`{0}` is one step that touches memory several times, which C cannot say")]
    SeveralAccesses(String),
    #[error(
        "memory would reach from address {lo} to {hi}, and the C program has an array of at most {MOST_CELLS} cells"
    )]
    WideMemory { lo: i128, hi: i128 },
    #[error("`{0}` has no function in C11 and no builtin of compilers; write it as a loop with a compare-exchange")]
    NoFunction(String),
    #[error(
        "`{0}` is one step on a variable that wraps and that other steps may leave outside its type, which C cannot say"
    )]
    WrapsWhenCounted(String),
}

/// C text for a program.
pub fn c(program: &Program) -> Result<String, NotInC> {
    let setting = CSetting::new(program)?;
    let mut text = String::new();
    header(program, &mut text);
    text.push_str(prelude::PRELUDE);
    declarations(&setting, &mut text);
    for index in 0..program.threads.len() {
        function(&setting, index, &mut text)?;
    }
    main_function(&setting, &mut text);
    Ok(text)
}

/// How the accesses of a variable are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccessForm {
    Atomic,
    Plain,
    Mixed,
}

/// Names and storage of everything in a program.
struct CSetting<'a> {
    program: &'a Program,
    variables: Vec<String>,
    storage: Vec<AccessForm>,
    threads: Vec<String>,
    registers: Vec<Vec<String>>,
    /// First address and number of cells, if memory is one array because addresses are computed.
    flat: Option<(Value, usize)>,
}

impl CSetting<'_> {
    fn new(program: &Program) -> Result<CSetting<'_>, NotInC> {
        let mut names = Names::avoiding(RESERVED);
        let variables: Vec<String> =
            program.memory.variables.iter().map(|variable| names.choose(&variable.name)).collect();
        let threads = program.threads.iter().map(|thread| names.choose(&thread.name)).collect();
        let register_names = |thread: &Thread| {
            let mut own = names.clone();
            thread.registers.iter().map(|register| own.choose(&register.name)).collect()
        };
        let registers = program.threads.iter().map(register_names).collect();
        for thread in &program.threads {
            if thread.copies == Copies::Any {
                return Err(NotInC::AnyCopies(thread.name.clone()));
            }
        }
        let flat = flat_memory(program)?;
        let storage = storage(program, flat.is_some());
        Ok(CSetting { program, variables, storage, threads, registers, flat })
    }

    fn storage_at(&self, address: &Address) -> AccessForm {
        match (self.flat, variable_of(self.program, address)) {
            (None, Some(variable)) => self.storage[variable],
            // One array holds everything, and its storage is that of all.
            _ => self.storage.iter().copied().reduce(join).unwrap_or(AccessForm::Atomic),
        }
    }
}

/// The variable an address is in, if that is known.
fn variable_of(program: &Program, address: &Address) -> Option<usize> {
    if let Some(variable) = address.within {
        return Some(variable.0);
    }
    let constant = address.constant()?;
    program.memory.variables.iter().position(|variable| variable.contains(constant))
}

fn flat_memory(program: &Program) -> Result<Option<(Value, usize)>, NotInC> {
    let accesses = || {
        let instructions =
            program.threads.iter().flat_map(|thread| &thread.transitions).map(|transition| &transition.instruction);
        instructions.flat_map(|instruction| instruction.accesses()).map(|access| access.address)
    };
    if accesses().all(|address| variable_of(program, address).is_some()) {
        return Ok(None);
    }
    let addresses: Vec<i128> =
        program.memory.named_addresses().chain(accesses().filter_map(Address::constant)).map(i128::from).collect();
    let lo = addresses.iter().copied().min().unwrap_or(0).min(0);
    // A little more than what has a name, because addresses that are computed may lead there.
    let hi = addresses.iter().copied().max().unwrap_or(0).max(63);
    if hi - lo >= MOST_CELLS {
        return Err(NotInC::WideMemory { lo, hi });
    }
    Ok(Some((lo as Value, (hi - lo + 1) as usize)))
}

fn join(one: AccessForm, other: AccessForm) -> AccessForm {
    if one == other { one } else { AccessForm::Mixed }
}

/// How each variable is accessed; all in the same way if memory is flat.
fn storage(program: &Program, flat: bool) -> Vec<AccessForm> {
    let mut found: Vec<Option<AccessForm>> = vec![None; program.memory.variables.len()];
    let mut anywhere = None;
    for instruction in program.threads.iter().flat_map(|thread| &thread.transitions).map(|t| &t.instruction) {
        let this = match instruction {
            Instruction::Load { order: Order::NonAtomic, .. } | Instruction::Store { order: Order::NonAtomic, .. } => {
                AccessForm::Plain
            }
            // C11 has no such function for `_Atomic`, but compilers have one for plain memory.
            Instruction::Rmw { op: RmwOp::Nand, .. } => AccessForm::Mixed,
            _ => AccessForm::Atomic,
        };
        for access in instruction.accesses() {
            let slot = match variable_of(program, access.address) {
                Some(variable) if !flat => &mut found[variable],
                _ => &mut anywhere,
            };
            *slot = Some(slot.map_or(this, |before| join(before, this)));
        }
    }
    found.into_iter().map(|slot| if flat { anywhere } else { slot }.unwrap_or(AccessForm::Atomic)).collect()
}

fn header(program: &Program, text: &mut String) {
    text.push_str(&format!("/* {}.\n *\n", comment(&program.name)));
    text.push_str(
        " *     ravelin cc -O2 -g FILE.c -o program && ravelin run ./program [SEED [ROUNDS [MILLISECONDS]]]\n *\n",
    );
    text.push_str(
        " * Choices are made from SEED; a thread ends when it has jumped back ROUNDS times, and the program\n",
    );
    text.push_str(
        " * MILLISECONDS after its start if threads still wait then. For `ravelin verify`, which runs every\n",
    );
    text.push_str(
        " * schedule, compile it with -DVERIFY: then threads neither meet at the start nor end if they wait,\n",
    );
    text.push_str(
        " * and the program ends when a thread has jumped back ROUNDS times and the others have ended or wait.\n",
    );
    text.push_str(
        " * Where __RAVELIN__ is defined choices are free and loops have no bound: the program is a model.\n",
    );
    for goal in &program.goals {
        text.push_str(&format!(" * Goal: {}\n", comment(&program.show_condition(&goal.condition))));
    }
    text.push_str(" */\n");
}

fn declarations(setting: &CSetting, text: &mut String) {
    let threads = setting.program.threads.len().max(1);
    text.push_str(&format!("static unsigned long long seeds[{threads}];\n\n"));
    let kind = |storage: AccessForm| if storage == AccessForm::Atomic { "_Atomic long long" } else { "long long" };
    let value = |initial: &InitialValue| match initial {
        InitialValue::Value(value) => expression::constant(*value),
        InitialValue::Any => "0".to_owned(),
    };
    if let Some((lo, cells)) = setting.flat {
        let storage = setting.storage.first().copied().unwrap_or(AccessForm::Atomic);
        text.push_str(&format!("static {} mem[{cells}]", kind(storage)));
        let named =
            setting.program.memory.variables.iter().flat_map(|variable| (variable.base..).zip(&variable.initial));
        let set: Vec<String> = named.map(|(at, initial)| format!("[{}] = {}", at - lo, value(initial))).collect();
        text.push_str(&if set.is_empty() { ";\n".to_owned() } else { format!(" = {{{}}};\n", set.join(", ")) });
    }
    for (index, variable) in setting.program.memory.variables.iter().enumerate() {
        let name = &setting.variables[index];
        match (setting.flat, variable.len) {
            (Some((lo, _)), None) => text.push_str(&format!("#define {name} mem[{}]\n", variable.base - lo)),
            (Some((lo, _)), Some(_)) => text.push_str(&format!("#define {name} (mem + {})\n", variable.base - lo)),
            (None, len) => {
                let size = len.map(|len| format!("[{}]", len.max(1))).unwrap_or_default();
                text.push_str(&format!("static {} {name}{size}", kind(setting.storage[index])));
                text.push_str(&initial(variable, &value));
                text.push_str(";\n");
            }
        }
    }
}

fn initial(variable: &Variable, value: &impl Fn(&InitialValue) -> String) -> String {
    let values: Vec<String> = variable.initial.iter().map(value).collect();
    if values.iter().all(|value| value == "0") {
        String::new()
    } else if variable.len.is_some() {
        format!(" = {{{}}}", values.join(", "))
    } else {
        format!(" = {}", values[0])
    }
}

/// A line of a function; labels are printed only if something jumps there.
enum Line {
    Label(LocId),
    Text(String),
}

/// The body of a function while it is written: locations in the order in which a depth-first walk finds them.
struct Body<'a> {
    setting: &'a CSetting<'a>,
    thread: &'a Thread,
    steps: StepWriter<'a>,
    lines: Vec<Line>,
    written: BTreeSet<LocId>,
    waiting: Vec<LocId>,
    /// Where something jumps to, and where it jumps back to.
    targets: BTreeSet<LocId>,
    back: BTreeSet<LocId>,
}

fn function(setting: &CSetting, index: usize, text: &mut String) -> Result<(), NotInC> {
    let thread = &setting.program.threads[index];
    let mut body = Body {
        setting,
        thread,
        steps: StepWriter { setting, thread: index },
        lines: Vec::new(),
        written: BTreeSet::new(),
        waiting: vec![thread.initial],
        targets: BTreeSet::new(),
        back: BTreeSet::new(),
    };
    while let Some(location) = body.waiting.pop() {
        if !body.written.contains(&location) {
            body.straight(location)?;
        }
    }
    text.push_str(&format!(
        "\n/* {} */\nstatic void *{}(void *unused) {{\n",
        comment(&thread.name),
        setting.threads[index]
    ));
    text.push_str(&format!("  unsigned long long *seed = &seeds[{index}];\n  long left_over = rounds;\n"));
    for (register, name) in thread.registers.iter().zip(&setting.registers[index]) {
        text.push_str(&format!("  long long {name} = {};\n", expression::constant(register.initial)));
    }
    let used: Vec<String> = setting.registers[index].iter().map(|name| format!("(void){name}")).collect();
    text.push_str(&format!(
        "  (void)seed, (void)left_over{}{};\n",
        if used.is_empty() { "" } else { ", " },
        used.join(", ")
    ));
    text.push_str("  MEET();\n");
    for line in &body.lines {
        match line {
            Line::Text(line) => text.push_str(&format!("  {line}\n")),
            Line::Label(location) if body.targets.contains(location) => {
                text.push_str(&format!("at_{}:;\n", location.0));
                if body.back.contains(location) {
                    text.push_str("  ROUND();\n");
                }
            }
            Line::Label(_) => {}
        }
    }
    text.push_str("end: __attribute__((unused));\n  LEAVE();\n  return unused;\n}\n");
    Ok(())
}

impl Body<'_> {
    /// A location and what follows it, until a jump.
    fn straight(&mut self, mut location: LocId) -> Result<(), NotInC> {
        loop {
            self.written.insert(location);
            self.lines.push(Line::Label(location));
            for label in &self.thread.locations[location.0].labels {
                self.lines.push(Line::Text(format!("/* @{} */", comment(label))));
            }
            let outgoing: Vec<&Transition> = self.thread.outgoing(location).map(|(_, transition)| transition).collect();
            let next = match outgoing[..] {
                [] => {
                    self.lines.push(Line::Text("goto end;".to_owned()));
                    return Ok(());
                }
                [only] => {
                    self.step(&only.instruction, "STOP();")?;
                    only.to
                }
                [yes, no] => {
                    let Some(condition) = branch(yes, no) else { return self.choice(&outgoing) };
                    let jump = self.jump(yes.to);
                    let condition = TermWriter::of(self.setting, self.steps.thread).expr(condition);
                    self.lines.push(Line::Text(format!("if ({condition}) {jump}")));
                    no.to
                }
                _ => return self.choice(&outgoing),
            };
            if self.written.contains(&next) {
                let jump = self.jump(next);
                self.lines.push(Line::Text(jump));
                return Ok(());
            }
            location = next;
        }
    }

    /// Tries the transitions in turn, from one chosen at random.
    fn choice(&mut self, outgoing: &[&Transition]) -> Result<(), NotInC> {
        let count = outgoing.len();
        let last = count - 1;
        self.lines.push(Line::Text(format!(
            "for (long long first = any(seed, 0, {last}), tried = 0; tried < {count}; tried++)"
        )));
        self.lines.push(Line::Text(format!("  switch ((first + tried) % {count}) {{")));
        for (number, transition) in outgoing.iter().enumerate() {
            self.lines.push(Line::Text(format!("  case {number}:")));
            self.step(&transition.instruction, "break;")?;
            let jump = self.jump(transition.to);
            self.lines.push(Line::Text(format!("    {jump}")));
        }
        self.lines.push(Line::Text("  }".to_owned()));
        self.lines.push(Line::Text("STOP();".to_owned()));
        self.lines.push(Line::Text("goto end;".to_owned()));
        Ok(())
    }

    fn step(&mut self, instruction: &Instruction, blocked: &str) -> Result<(), NotInC> {
        for line in self.steps.lines(instruction, blocked)? {
            self.lines.push(Line::Text(line));
        }
        Ok(())
    }

    fn jump(&mut self, to: LocId) -> String {
        self.targets.insert(to);
        if self.written.contains(&to) {
            self.back.insert(to);
        } else {
            self.waiting.push(to);
        }
        format!("goto at_{};", to.0)
    }
}

/// The condition of the first, if the second is taken exactly where the first is not.
fn branch<'a>(yes: &'a Transition, no: &Transition) -> Option<&'a Expr> {
    let (Instruction::Assume(yes), Instruction::Assume(no)) = (&yes.instruction, &no.instruction) else { return None };
    let negates = |a: &Expr, b: &Expr| match (a, b) {
        (Expr::Unary(UnaryOp::Not, _, inner), other) => **inner == *other,
        (Expr::Binary(op, _, a, b), Expr::Binary(other, _, c, d)) => {
            BinaryOp::opposite(*op) == Some(*other) && a == c && b == d
        }
        _ => false,
    };
    (negates(yes, no) || negates(no, yes)).then_some(yes)
}

/// Starts all threads and waits for them.
fn main_of_model(setting: &CSetting, text: &mut String) {
    text.push_str("\n#ifdef __RAVELIN__\nint main(void) {\n");
    any_initial(setting, "0", text);
    let count = setting.threads.len();
    if count > 0 {
        text.push_str(&format!("  pthread_t threads[{count}];\n"));
    }
    for (index, thread) in setting.threads.iter().enumerate() {
        text.push_str(&format!("  pthread_create(&threads[{index}], 0, {thread}, 0);\n"));
    }
    for index in 0..count {
        text.push_str(&format!("  pthread_join(threads[{index}], 0);\n"));
    }
    text.push_str("  return 0;\n}\n#else\n");
}

/// Cells that start with any value of their type.
fn any_initial(setting: &CSetting, seed: &str, text: &mut String) {
    for (index, variable) in setting.program.memory.variables.iter().enumerate() {
        for (cell, _) in variable.initial.iter().enumerate().filter(|(_, initial)| **initial == InitialValue::Any) {
            let name = &setting.variables[index];
            let place = if variable.len.is_some() { format!("{name}[{cell}]") } else { name.clone() };
            let (lo, hi) = (expression::constant(variable.domain.lo), expression::constant(variable.domain.hi));
            text.push_str(&format!("  {place} = any({seed}, {lo}, {hi});\n"));
        }
    }
}

fn main_function(setting: &CSetting, text: &mut String) {
    main_of_model(setting, text);
    let count = setting.threads.len();
    text.push_str("int main(int count, char **arguments) {\n");
    text.push_str("  unsigned long long seed = count > 1 ? strtoull(arguments[1], 0, 10) : 1;\n");
    text.push_str("  if (count > 2) rounds = atol(arguments[2]);\n");
    text.push_str("  long patience = count > 3 ? atol(arguments[3]) : 1000;\n");
    any_initial(setting, "&seed", text);
    if count > 0 {
        text.push_str(&format!("  static void *(*const functions[])(void *) = {{{}}};\n", setting.threads.join(", ")));
        text.push_str(&format!("  pthread_t threads[{count}];\n"));
        text.push_str(&format!("  for (int i = 0; i < {count}; i++) seeds[i] = seed * 1000003 + (unsigned)i;\n"));
        text.push_str(&format!("#ifndef VERIFY\n  pthread_barrier_init(&start, 0, {count});\n#endif\n"));
        text.push_str(&format!(
            "  for (int i = 0; i < {count}; i++) pthread_create(&threads[i], 0, functions[i], 0);\n"
        ));
        text.push_str("#ifdef VERIFY\n  (void)patience;\n");
        text.push_str("  /* The last thread ends the program. */\n");
        text.push_str(&format!("  for (int i = 0; i < {count}; i++) pthread_detach(threads[i]);\n"));
        text.push_str("  pthread_exit(0);\n#else\n");
        text.push_str("  /* A thread may wait for ever; then the program ends under it. */\n");
        text.push_str("  for (long waited = 0; waited < patience * 10; waited++) {\n");
        text.push_str(&format!("    if (atomic_load_explicit(&ended, memory_order_relaxed) == {count}) break;\n"));
        text.push_str("    usleep(100);\n  }\n");
        text.push_str(&format!("  if (atomic_load_explicit(&ended, memory_order_relaxed) != {count}) exit(0);\n"));
        text.push_str(&format!("  for (int i = 0; i < {count}; i++) pthread_join(threads[i], 0);\n"));
        text.push_str("#endif\n");
    } else {
        text.push_str("  (void)seed, (void)patience;\n");
    }
    text.push_str("  return 0;\n}\n#endif\n");
}

/// Text that can stand in a comment on one line.
fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace("*/", "* /").replace("/*", "/ *")
}
