//! Threads as written to a program: states become locations labelled with their names, and every name that is read or
//! set becomes a register of its thread.

use super::numeral::Numeral;
use super::syntax::{FileText, InstructionText, MemorySize, Term, ThreadText};
use super::word::Word;
use crate::Diagnostic;
use ravelin_program::{
    Address, Copies, Domain, Escape, Expr, Instruction, LocId, Location, Memory, Notation, Order, Program, RegId,
    Register, Source, Thread, Transition, UnaryOp, VarId, Variable,
};
use std::collections::{HashMap, HashSet};

/// What a register or a cell holds if the file says how large memory is.
const BYTE: Domain = Domain { lo: 0, hi: 255, escape: Escape::Wrap };

/// The program that the threads make. It means nothing if an error is reported.
pub fn lower(file: &FileText<'_>, diagnostics: &mut Vec<Diagnostic>) -> Program {
    let mut first: HashMap<&str, Word<'_>> = HashMap::new();
    for thread in &file.threads {
        if let Some(earlier) = first.get(thread.name.text) {
            let message = format!("there are two threads named `{}`", thread.name.text);
            diagnostics
                .push(Diagnostic::error(thread.name.span, message).with_secondary(earlier.span, "the first one"));
        } else {
            first.insert(thread.name.text, thread.name);
        }
    }
    Program {
        name: String::new(),
        memory: Memory { variables: file.memory_size.map(cells).into_iter().collect(), ..Memory::default() },
        threads: file.threads.iter().map(|thread| lower_thread(thread, file.memory_size, diagnostics)).collect(),
        goals: Vec::new(),
        observation: None,
        source: Source::default(),
    }
}

/// The memory of a file that says how large it is. An access elsewhere is a fault.
fn cells(size: MemorySize) -> Variable {
    let mut cells = Variable::array("mem", size.cells).with_domain(BYTE);
    cells.base = 0;
    cells.span = size.span;
    cells
}

fn lower_thread<'a>(text: &ThreadText<'a>, size: Option<MemorySize>, diagnostics: &mut Vec<Diagnostic>) -> Thread {
    let set = text.transitions.iter().filter_map(|transition| target(&transition.instruction)).map(|word| word.text);
    let mut lowering = Lowering {
        complete: text.complete,
        size,
        set: set.collect(),
        locations: Vec::new(),
        states: HashMap::new(),
        registers: Vec::new(),
        names: HashMap::new(),
        diagnostics,
    };
    let initial = lowering.initial(text);
    let mut transitions = Vec::new();
    for transition in &text.transitions {
        let (from, to) = (lowering.state(transition.from), lowering.state(transition.to));
        let instruction = lowering.instruction(&transition.instruction);
        transitions.push(Transition { from, to, instruction, span: transition.span, call: None });
    }
    transitions.sort_by_key(|transition| transition.from);
    let thread = Thread {
        name: text.name.text.to_owned(),
        template: None,
        copies: Copies::One,
        registers: lowering.registers,
        locations: lowering.locations,
        transitions,
        initial,
        calls: Vec::new(),
        span: text.name.span,
    };
    if text.complete {
        warn_of_unreachable(&thread, diagnostics);
    }
    thread
}

struct Lowering<'a, 'd> {
    complete: bool,
    size: Option<MemorySize>,
    /// The names that some instruction of the thread sets.
    set: HashSet<&'a str>,
    locations: Vec<Location>,
    states: HashMap<&'a str, LocId>,
    registers: Vec<Register>,
    names: HashMap<&'a str, RegId>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Lowering<'a, '_> {
    fn initial(&mut self, text: &ThreadText<'a>) -> LocId {
        let Some((last, overruled)) = text.initial.split_last() else {
            let message = format!("thread `{}` has no initial state", text.name.text);
            let error = Diagnostic::error(text.name.span, message);
            let example = text.transitions.first().map_or("STATE", |transition| transition.from.text);
            self.diagnostics.push(error.with_help(format!("write `initial {example}` after the name")));
            return LocId(0);
        };
        for state in overruled.iter().filter(|_| self.complete) {
            let message = format!("thread `{}` has several initial states, and only the last counts", text.name.text);
            self.diagnostics.push(Diagnostic::warning(state.span, message).with_secondary(last.span, "the last one"));
        }
        self.state(*last)
    }

    /// The location of a state, which comes into being when it is named.
    fn state(&mut self, word: Word<'a>) -> LocId {
        *self.states.entry(word.text).or_insert_with(|| {
            self.locations.push(Location { labels: vec![word.text.to_owned()], span: word.span });
            LocId(self.locations.len() - 1)
        })
    }

    fn register(&mut self, word: Word<'a>) -> RegId {
        *self.names.entry(word.text).or_insert_with(|| {
            let name = word.text.to_owned();
            let domain = if self.size.is_some() { BYTE } else { Domain::FULL };
            self.registers.push(Register {
                name,
                domain,
                initial: 0,
                hidden: false,
                notation: Notation::Signed,
                span: word.span,
            });
            RegId(self.registers.len() - 1)
        })
    }

    fn instruction(&mut self, text: &InstructionText<'a>) -> Instruction {
        match text {
            InstructionText::Read { register, address } => {
                // The address is looked at first: it is evaluated before the register is set.
                let address = self.address(address);
                Instruction::Load { reg: self.target(*register), address, order: Order::Relaxed }
            }
            InstructionText::Write { value, address } => {
                let value = self.term(value);
                Instruction::Store { address: self.address(address), value, order: Order::Relaxed }
            }
            InstructionText::Local { register, value } => {
                let value = self.term(value);
                Instruction::Assign { reg: self.target(*register), value }
            }
            InstructionText::Check(condition) => Instruction::Assume(self.term(condition)),
            InstructionText::Mfence => Instruction::Fence(Order::SeqCst),
            InstructionText::Noop => Instruction::Nop,
            InstructionText::Lock => Instruction::BusLock,
            InstructionText::Unlock => Instruction::BusUnlock,
        }
    }

    fn address(&mut self, term: &Term<'a>) -> Address {
        let expr = self.term(term);
        Address { expr, within: self.size.map(|_| VarId(0)) }
    }

    fn target(&mut self, word: Word<'a>) -> RegId {
        if matches!(Numeral::of(word.text), Numeral::Number(_) | Numeral::TooLarge)
            && !self.names.contains_key(word.text)
        {
            let message = format!("the register named `{}` can be set but never read", word.text);
            self.diagnostics
                .push(Diagnostic::warning(word.span, message).with_note("in an expression this is a number"));
        }
        self.register(word)
    }

    fn term(&mut self, term: &Term<'a>) -> Expr {
        match term {
            Term::Number(value) => Expr::Const(*value),
            Term::Numberlike(word, value) if self.set.contains(word.text) => {
                let message = format!("Trencher reads the number {value} here, not the register `{}`", word.text);
                let warning = Diagnostic::warning(word.span, message)
                    .with_note("it is read as the register here, because the thread sets it")
                    .with_help("give the register a name that does not start with a digit");
                self.diagnostics.push(warning);
                Expr::Atom(self.register(*word))
            }
            Term::Numberlike(word, value) => {
                let message = format!("`{}` is read as the number {value}", word.text);
                let warning = Diagnostic::warning(word.span, message)
                    .with_note("Trencher stops at the first character that is not a digit")
                    .with_help(format!("write `{value}`"));
                self.diagnostics.push(warning);
                Expr::Const(*value)
            }
            Term::Register(word) => {
                if self.complete && !self.set.contains(word.text) && !self.names.contains_key(word.text) {
                    self.warn_of_unset(*word);
                }
                Expr::Atom(self.register(*word))
            }
            Term::Not(operand) => Expr::unary(UnaryOp::Not, self.term(operand)),
            Term::Binary(op, left, right) => {
                let left = self.term(left);
                Expr::binary(*op, left, self.term(right))
            }
        }
    }

    /// Legal, but it is mostly a misspelling, or an operator that the language does not have.
    fn warn_of_unset(&mut self, word: Word<'a>) {
        let message = format!("the register `{}` is never set in this thread, so it is always 0", word.text);
        let warning = Diagnostic::warning(word.span, message);
        let symbol = !word.text.chars().any(|character| character.is_alphanumeric() || character == '_');
        self.diagnostics.push(match word.text.strip_prefix('-') {
            _ if symbol => warning.with_note("the operators are ! == != < <= > >= && || + - * &"),
            Some(name) => warning.with_help(format!("there is no unary minus; write `- 0 {name}`")),
            None => warning,
        });
    }
}

/// The register that an instruction sets.
fn target<'a>(instruction: &InstructionText<'a>) -> Option<Word<'a>> {
    match instruction {
        InstructionText::Read { register, .. } | InstructionText::Local { register, .. } => Some(*register),
        _ => None,
    }
}

/// One warning for each state that is left by transitions but cannot be reached.
fn warn_of_unreachable(thread: &Thread, diagnostics: &mut Vec<Diagnostic>) {
    let mut reached = vec![false; thread.locations.len()];
    let mut open = vec![thread.initial];
    while let Some(location) = open.pop() {
        // A thread without an initial state may have no states at all.
        if location.0 < reached.len() && !std::mem::replace(&mut reached[location.0], true) {
            open.extend(thread.outgoing(location).map(|(_, transition)| transition.to));
        }
    }
    if !reached.contains(&true) {
        return;
    }
    for (location, state) in thread.locations.iter().enumerate() {
        if !reached[location] && !thread.is_end(LocId(location)) {
            let message = format!("no transition leads from the initial state to `{}`", state.labels[0]);
            diagnostics.push(Diagnostic::warning(state.span, message));
        }
    }
}
