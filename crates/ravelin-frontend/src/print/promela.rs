//! Programs under sequential consistency as input of SPIN, the model checker of Promela.
//!
//! Each transition is one `d_step` of its thread's process, executable exactly where the instruction is enabled, so SPIN
//! sees the same steps as the reference semantics (after the x86 mapping, as there). Control locations, registers and
//! memory are global, because goals speak of them; after every step `judge` asserts that no goal is violated. A fault
//! sets `fault` and a failing assertion sets `failed`, and both are then asserted to be 0. So SPIN reports an assertion
//! violation exactly if ravelin finds the program violated, with one exception that the text itself explains: a value
//! beyond 32 bits violates `!too_wide`, which is no answer about the program.
//!
//! Memory is an array over all addresses that accesses may touch, found by a range analysis ([`ranges`]). What cannot be
//! written is refused with a reason: see [`Unsupported`].

mod expression;
mod ranges;
mod step;

use super::names::Names;
use expression::{Compiler, MOST, Obstacle, ObstacleCheck, PromelaTerm, TermRange};
use ranges::PromelaRanges;
use ravelin_program::{
    Copies, GoalKind, HardwareProgram, InitialValue, Instruction, LocId, Observable, Program, Thread, Value,
};
use std::collections::BTreeMap;
use step::{PromelaSetting, PromelaStep, cell, steps};
use thiserror::Error;

/// The most cells of memory written; each costs SPIN four bytes a state.
const MOST_CELLS: i128 = 1024;
/// The longest text of a step; only locked blocks with many computed addresses come near it.
const LONGEST_STEP: usize = 1 << 16;
/// SPIN runs at most 255 processes, and `init` is one of them.
const MOST_THREADS: usize = 254;

#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "active", "assert", "atomic", "bit", "bool", "break", "bus", "byte", "c_code", "c_decl", "c_expr", "c_state",
    "c_track", "chan", "d_step", "D_proctype", "do", "else", "empty", "enabled", "end", "eval", "failed", "false",
    "fault", "fi", "for", "full", "get_priority", "goto", "hidden", "if", "in", "init", "inline", "int", "judge",
    "len", "local", "ltl", "mem", "mtype", "nempty", "never", "nfull", "notrace", "np_", "od", "of", "pc_value",
    "pick", "pid", "printf", "printm", "priority", "proctype", "provided", "return", "run", "select", "set_priority",
    "short", "show", "skip", "STDIN", "timeout", "too_wide", "trace", "true", "typedef", "unless", "unsigned", "WRAP",
    "ENDED", "xr", "xs", "unix", "linux",
];

/// Why a program has no text for SPIN.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    #[error("thread `{0}` has any number of copies, and SPIN needs a fixed number; take an instance of the program")]
    AnyCopies(String),
    #[error("the program has {0} threads, and SPIN runs at most {MOST_THREADS}")]
    TooManyThreads(usize),
    #[error("the number {0} does not fit SPIN's 32-bit integers")]
    WideNumber(Value),
    #[error("`{0}` starts with any value of a type that does not fit SPIN's 32-bit integers; give it a smaller type")]
    WideInitial(String),
    #[error(
        "memory would reach from address {lo} to {hi}, and SPIN needs a fixed array of at most {MOST_CELLS} cells; give \
         registers that hold addresses a type, or index a declared array instead of `mem`"
    )]
    WideMemory { lo: i128, hi: i128 },
    #[error("the locked block `{0}` is too long to be written as one step of SPIN")]
    LongStep(String),
}

/// Promela text for a program under sequential consistency.
pub fn promela(program: &Program) -> Result<String, Unsupported> {
    refuse(program)?;
    let program = HardwareProgram::new(program);
    let names = Identifiers::new(&program);
    let ranges = PromelaRanges::of(&program, &names.registers);
    let (lo, hi) = memory_bounds(&program, &ranges)?;
    let mut writer = Writer { program: &program, names, ranges, origin: lo, text: String::new() };
    writer.header(hi - lo + 1);
    writer.declarations(hi - lo + 1);
    writer.judge();
    for index in 0..program.threads.len() {
        writer.process(index)?;
    }
    writer.init();
    Ok(writer.text)
}

fn refuse(program: &Program) -> Result<(), Unsupported> {
    if program.threads.len() > MOST_THREADS {
        return Err(Unsupported::TooManyThreads(program.threads.len()));
    }
    let mut wide = None;
    let mut look = |value: Value| {
        if i128::from(value).abs() > MOST {
            wide.get_or_insert(value);
        }
    };
    for thread in &program.threads {
        if thread.copies == Copies::Any {
            return Err(Unsupported::AnyCopies(thread.name.clone()));
        }
        thread.registers.iter().for_each(|register| look(register.initial));
        for transition in &thread.transitions {
            if let Instruction::Havoc { lo, hi, .. } = transition.instruction {
                look(lo);
                look(hi);
            }
            transition.instruction.expressions().into_iter().for_each(|expr| for_each_constant(expr, &mut look));
            if let Instruction::Wait { condition, .. } = &transition.instruction {
                for_each_constant(&condition.expr, &mut look);
            }
        }
    }
    program.goals.iter().for_each(|goal| for_each_constant(&goal.condition, &mut look));
    for variable in &program.memory.variables {
        for initial in &variable.initial {
            match initial {
                InitialValue::Value(value) => look(*value),
                InitialValue::Any if !TermRange::of(variable.domain).within(TermRange::INT) => {
                    return Err(Unsupported::WideInitial(variable.name.clone()));
                }
                InitialValue::Any => {}
            }
        }
    }
    wide.map_or(Ok(()), |value| Err(Unsupported::WideNumber(value)))
}

fn for_each_constant<A>(expr: &ravelin_program::Expr<A>, look: &mut impl FnMut(Value)) {
    use ravelin_program::Expr;
    match expr {
        Expr::Const(value) => look(*value),
        Expr::Atom(_) => {}
        Expr::Unary(_, _, operand) => for_each_constant(operand, look),
        Expr::Binary(_, _, left, right) => {
            for_each_constant(left, look);
            for_each_constant(right, look);
        }
    }
}

/// The first and last address of the array. It starts at 0 where that is cheap, so that indices are addresses.
fn memory_bounds(program: &Program, ranges: &PromelaRanges) -> Result<(i128, i128), Unsupported> {
    let mut all: Vec<TermRange> = ranges.touched.clone();
    all.extend(program.memory.named_addresses().map(TermRange::exactly));
    for goal in &program.goals {
        goal.condition.for_each_atom(&mut |atom| {
            if let Observable::Memory(address) = atom {
                all.push(TermRange::exactly(*address));
            }
        });
    }
    let span = all.into_iter().reduce(TermRange::join).unwrap_or(TermRange::exactly(0));
    if span.hi - span.lo >= MOST_CELLS {
        return Err(Unsupported::WideMemory { lo: span.lo, hi: span.hi });
    }
    let lo = if (0..=8).contains(&span.lo) { 0 } else { span.lo };
    Ok((lo, span.hi))
}

struct Identifiers {
    threads: Vec<String>,
    /// Names of the variables that hold threads' locations.
    locations: Vec<String>,
    registers: Vec<Vec<String>>,
    cells: BTreeMap<Value, String>,
}

impl Identifiers {
    fn new(program: &Program) -> Identifiers {
        let mut names = Names::avoiding(RESERVED);
        let mut cells = BTreeMap::new();
        for variable in program.memory.variables.iter().filter(|variable| variable.len.is_none()) {
            cells.insert(variable.base, names.choose(&variable.name));
        }
        let threads: Vec<String> = program.threads.iter().map(|thread| names.choose(&thread.name)).collect();
        let locations = threads.iter().map(|thread| names.choose(&format!("pc_{thread}"))).collect();
        let registers = program
            .threads
            .iter()
            .zip(&threads)
            .map(|(thread, name)| {
                let register = |register: &ravelin_program::Register| {
                    let own = register.name.strip_prefix('$').map(|number| format!("tmp{number}"));
                    names.choose(&format!("{name}_{}", own.as_deref().unwrap_or(&register.name)))
                };
                thread.registers.iter().map(register).collect()
            })
            .collect();
        Identifiers { threads, locations, registers, cells }
    }
}

struct Writer<'a> {
    program: &'a Program,
    names: Identifiers,
    ranges: PromelaRanges,
    origin: i128,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&format!("{:1$}{line}\n", "", 4 * depth));
    }

    fn header(&mut self, cells: i128) {
        let registers: usize = self.program.threads.iter().map(|thread| thread.registers.len()).sum();
        // SPIN's default of 1024 bytes a state is enough for most.
        let bytes = 4 * (cells as usize + registers) + 16 * self.program.threads.len() + 256;
        let vector = if bytes > 1024 { format!(" -DVECTORSZ={bytes}") } else { String::new() };
        self.line(0, &format!("/* {}: sequential consistency.", comment(&self.program.name)));
        self.line(0, " *");
        self.line(0, &format!(" *     spin -a FILE && gcc -O2 -DSAFETY{vector} -o pan pan.c && ./pan -m1000000"));
        self.line(0, " *");
        self.line(
            0,
            " * \"errors: 0\" means that no goal, assertion or fault can be reached, unless SPIN also says that the",
        );
        self.line(0, " * search depth (-m) was too small. An \"assertion violated\" shows one that can, except for");
        self.line(0, " * \"!(too_wide)\": then a value left SPIN's 32 bits, and nothing is known.");
        self.line(0, " */");
    }

    fn declarations(&mut self, cells: i128) {
        self.line(0, "#define WRAP(v, lo, size) ((lo) + ((((v) - (lo)) % (size)) + (size)) % (size))");
        self.line(0, "bool fault, failed, too_wide;");
        self.line(0, &format!("int mem[{cells}];"));
        for (address, name) in self.names.cells.clone() {
            let index = i128::from(address) - self.origin;
            self.line(0, &format!("#define {name} mem[{index}]"));
        }
        if self.uses_bus() {
            self.line(0, "byte bus; /* 0, or 1 more than the number of the thread that holds it */");
        }
        if self.uses_pick() {
            self.line(0, "int pick;");
        }
        for (index, thread) in self.program.threads.iter().enumerate() {
            let width = if thread.locations.len() <= 255 { "byte" } else { "int" };
            let pc = &self.names.locations[index];
            self.text.push_str(&format!("{width} {pc} = {};\n", thread.initial.0));
            for (register, name) in thread.registers.iter().zip(&self.names.registers[index]) {
                self.text.push_str(&format!("int {name} = {};\n", register.initial));
            }
        }
        let ended: Vec<String> = (0..self.program.threads.len()).map(|index| self.ended(index)).collect();
        let bus = if self.uses_bus() { " && bus == 0" } else { "" };
        let ended = if ended.is_empty() { "true".to_owned() } else { ended.join(" && ") };
        self.line(0, &format!("#define ENDED ({ended}{bus})"));
        let scratch = self.most_updates();
        if scratch > 0 {
            let names: Vec<String> = (0..scratch).map(|number| format!("s_{number}_")).collect();
            self.line(0, &format!("hidden int {};", names.join(", ")));
        }
    }

    fn ended(&self, index: usize) -> String {
        let thread = &self.program.threads[index];
        let pc = &self.names.locations[index];
        let ends: Vec<String> = (0..thread.locations.len())
            .filter(|&location| thread.is_end(LocId(location)))
            .map(|location| format!("{pc} == {location}"))
            .collect();
        if ends.is_empty() { "false".to_owned() } else { format!("({})", ends.join(" || ")) }
    }

    fn instructions(&self) -> impl Iterator<Item = (usize, &Instruction)> {
        let threads = self.program.threads.iter().enumerate();
        threads.flat_map(|(index, thread)| {
            thread.transitions.iter().map(move |transition| (index, &transition.instruction))
        })
    }

    fn uses_bus(&self) -> bool {
        self.instructions().any(|(_, instruction)| matches!(instruction, Instruction::BusLock | Instruction::BusUnlock))
    }

    fn uses_pick(&self) -> bool {
        self.instructions().any(|(_, instruction)| matches!(instruction, Instruction::Havoc { .. }))
    }

    /// Scratch variables that the largest step needs.
    fn most_updates(&self) -> usize {
        let setting = self.setting();
        self.instructions()
            .flat_map(|(thread, instruction)| steps(&setting, thread, instruction))
            .map(|step| step.registers.len() + 2 * step.writes.len())
            .max()
            .unwrap_or(0)
    }

    fn setting(&self) -> PromelaSetting<'_> {
        PromelaSetting {
            program: self.program,
            ranges: &self.ranges,
            registers: &self.names.registers,
            cells: &self.names.cells,
            origin: self.origin,
            uses_bus: self.uses_bus(),
        }
    }

    /// Goals are judged after every step; a condition without a value is not violated.
    fn judge(&mut self) {
        self.line(0, "");
        self.line(0, "inline judge() {");
        for goal in &self.program.goals {
            let kind = match goal.kind {
                GoalKind::Never => "never",
                GoalKind::Exists => "exists",
                GoalKind::NeverFinally => "finally never",
                GoalKind::Finally => "finally",
            };
            let shown = comment(&self.program.show_condition(&goal.condition));
            let mut compiler = Compiler::default();
            let value = compiler.term(&goal.condition, &mut |atom| self.observe(atom));
            let judged = match goal.kind {
                GoalKind::Never if goal.mentions_memory() && self.uses_bus() => "bus == 0 && ",
                GoalKind::Never => "",
                _ => "ENDED && ",
            };
            let violated = if goal.kind == GoalKind::Finally { "==" } else { "!=" };
            let mut lines = vec![format!("assert(!({judged}{} {violated} 0));", value.text)];
            lines = guarded(&compiler.checks, lines, "skip");
            self.line(1, &format!("/* {kind} {shown} */"));
            lines.iter().for_each(|line| self.line(1, line));
        }
        self.line(1, "skip");
        self.line(0, "}");
    }

    fn observe(&self, atom: &Observable) -> PromelaTerm {
        match *atom {
            Observable::At(thread, location) => {
                PromelaTerm::new(format!("({} == {})", self.names.locations[thread.0], location.0), TermRange::BOOL)
            }
            Observable::Register(thread, register) => PromelaTerm::new(
                self.names.registers[thread.0][register.0].clone(),
                self.ranges.registers[thread.0][register.0],
            ),
            Observable::Memory(address) => PromelaTerm::new(
                cell(&self.names.cells, self.origin, &PromelaTerm::constant(address)),
                self.ranges.at_address(self.program, address),
            ),
        }
    }

    fn process(&mut self, index: usize) -> Result<(), Unsupported> {
        let thread = &self.program.threads[index];
        self.line(0, "");
        self.line(0, &format!("proctype {}() {{", self.names.threads[index].clone()));
        if thread.transitions.is_empty() {
            self.line(1, "skip");
            self.line(0, "}");
            return Ok(());
        }
        self.line(0, "end:");
        self.line(1, "do");
        for transition in &thread.transitions {
            let shown = self.program.show_instruction(thread, &transition.instruction);
            let from = comment(&thread.location_name(transition.from));
            for step in steps(&self.setting(), index, &transition.instruction) {
                let lines = self.step(index, thread, transition.from, transition.to, &step);
                if lines.iter().map(String::len).sum::<usize>() > LONGEST_STEP {
                    return Err(Unsupported::LongStep(shown));
                }
                self.line(1, &format!("/* {from}: {} */", comment(&shown)));
                lines.iter().for_each(|line| self.line(1, line));
            }
        }
        self.line(1, "od");
        self.line(0, "}");
        Ok(())
    }

    fn step(&self, index: usize, thread: &Thread, from: LocId, to: LocId, step: &PromelaStep) -> Vec<String> {
        let pc = &self.names.locations[index];
        let enabled = enabled(&step.checks).map(|enabled| format!(" && {enabled}")).unwrap_or_default();
        let mut done = self.updates(index, step);
        if let Some(holder) = step.bus {
            done.push(format!("bus = {holder};"));
        }
        // Where a step leaves the location as it is, saying so would only cost.
        debug_assert!(to.0 < thread.locations.len());
        if from != to {
            done.push(format!("{pc} = {};", to.0));
        }
        if step.pick.is_some() {
            done.push("pick = 0;".to_owned());
        }
        done.push("judge()".to_owned());
        let kind = if step.pick.is_some() { "atomic" } else { "d_step" };
        let mut lines = vec![format!(":: {kind} {{"), format!("    ({pc} == {}{enabled}) ->", from.0)];
        if let Some(range) = step.pick {
            lines.push(format!("    pick = {}; do :: pick < {} -> pick = pick + 1 :: break od;", range.lo, range.hi));
        }
        lines.extend(guarded(&step.checks, done, "fault = 1; assert(!fault)").iter().map(|line| format!("    {line}")));
        lines.push("}".to_owned());
        lines
    }

    /// New values are those of the state before the step, so all are computed before any is written.
    fn updates(&self, index: usize, step: &PromelaStep) -> Vec<String> {
        let names = &self.names.registers[index];
        let (mut computed, mut written) = (Vec::new(), Vec::new());
        let single = step.registers.len() + step.writes.len() <= 1;
        let mut hold = |term: &PromelaTerm| {
            if single || term.known().is_some() {
                return term.text.clone();
            }
            let name = format!("s_{}_", computed.len());
            computed.push(format!("{name} = {};", term.text));
            name
        };
        for (register, value) in &step.registers {
            written.push(format!("{} = {};", names[*register], hold(value)));
        }
        for (address, value) in &step.writes {
            let address = PromelaTerm { text: hold(address), range: address.range };
            written.push(format!("{} = {};", cell(&self.names.cells, self.origin, &address), hold(value)));
        }
        computed.extend(written);
        computed
    }

    fn init(&mut self) {
        self.line(0, "");
        self.line(0, "init {");
        self.line(1, "atomic {");
        for address in self.program.memory.named_addresses() {
            let place = cell(&self.names.cells, self.origin, &PromelaTerm::constant(address));
            match self.program.memory.initial_at(address) {
                InitialValue::Value(0) => {}
                InitialValue::Value(value) => self.line(2, &format!("{place} = {value};")),
                InitialValue::Any => {
                    let Ok(domain) = self.program.memory.domain_at(address) else { continue };
                    let choose = format!("do :: {place} < {} -> {place} = {place} + 1 :: break od;", domain.hi);
                    self.line(2, &format!("{place} = {}; {choose}", domain.lo));
                }
            }
        }
        self.line(2, "judge();");
        for name in self.names.threads.clone() {
            self.line(2, &format!("run {name}();"));
        }
        self.line(2, "skip");
        self.line(1, "}");
        self.line(0, "}");
    }
}

/// Where a step with these checks is executable: no check blocks before another obstacle ends the search. `None` where
/// it always is.
fn enabled(checks: &[ObstacleCheck]) -> Option<String> {
    checks.iter().rev().fold(None, |rest: Option<String>, check| match (check.obstacle, rest) {
        (Obstacle::Blocked, None) => Some(format!("!{}", check.when)),
        (Obstacle::Blocked, Some(rest)) => Some(format!("(!{} && {rest})", check.when)),
        (_, None) => None,
        (_, Some(rest)) => Some(format!("({} || {rest})", check.when)),
    })
}

/// Statements that are reached only past all checks that do not block.
fn guarded(checks: &[ObstacleCheck], done: Vec<String>, on_fault: &str) -> Vec<String> {
    checks.iter().rev().fold(done, |inner, check| {
        let instead = match check.obstacle {
            Obstacle::Blocked => return inner,
            Obstacle::Fault => on_fault,
            Obstacle::Failure => "failed = 1; assert(!failed)",
            Obstacle::TooWide => "too_wide = 1; assert(!too_wide)",
        };
        let mut lines = vec![format!("if :: {} -> {instead}", check.when), ":: else ->".to_owned()];
        lines.extend(inner.into_iter().map(|line| format!("    {line}")));
        lines.push("fi;".to_owned());
        lines
    })
}

/// Text that can stand in a comment on one line.
fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace("*/", "* /")
        .replace("/*", "/ *")
}
