//! How the steps of a run are told to users: registers that a front end made are named after what they hold, and if
//! nothing tells what that is, by their value.

use crate::{Address, Expr, Instruction, LocId, Program, RegId, Show, Span, Thread, Transition, UnaryOp, Value};

/// What a register holds, as far as the code before a location tells.
enum Origin<'a> {
    /// What was loaded from here.
    Place(&'a Address),
    /// The same as another register, which has a name.
    Register(RegId),
    /// Whether a compare-exchange has succeeded.
    Outcome,
}

impl Program {
    /// A transition as printed in a run. A register that a front end made for a load inside an expression is named
    /// after the cell it was loaded from. A condition that must not hold is inverted: `flag[1] != 1`. A condition
    /// without such a form is quoted.
    pub fn tell_transition(&self, thread: &Thread, transition: &Transition) -> String {
        self.tell(thread, transition, None)
    }

    /// A transition that is taken in a run while the registers of its thread hold these values. A computed place that
    /// the source does not write as `mem[…]` is told by the name of the cell.
    pub fn tell_step(&self, thread: &Thread, transition: &Transition, values: &[Value]) -> String {
        let as_written = self.source.quote(transition.span).contains("mem[");
        self.tell(thread, transition, Some(values).filter(|_| !as_written))
    }

    /// A step that is not in the source: it only moves a value between registers that a front end made, or between
    /// two that stand for one variable, or looks at what a compare-exchange has just said.
    pub fn is_internal(&self, thread: &Thread, transition: &Transition) -> bool {
        match &transition.instruction {
            Instruction::Assign { reg, .. } if thread.registers[reg.0].hidden => true,
            Instruction::Assign { reg, value: Expr::Atom(from) } => thread.variable(*reg) == thread.variable(*from),
            Instruction::Assume(Expr::Atom(register)) => self.is_outcome(thread, transition.from, *register),
            Instruction::Assume(Expr::Unary(UnaryOp::Not, _, inner)) => match **inner {
                Expr::Atom(register) => self.is_outcome(thread, transition.from, register),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_outcome(&self, thread: &Thread, location: LocId, register: RegId) -> bool {
        thread.is_compiled(register) && matches!(thread.origin(location, register), Some(Origin::Outcome))
    }

    fn tell(&self, thread: &Thread, transition: &Transition, values: Option<&[Value]>) -> String {
        let hidden = |register: &RegId| thread.registers[register.0].hidden;
        let instruction = &transition.instruction;
        let (read, written) = (instruction.read_registers(), instruction.written_registers());
        let mut aliases = vec![None; thread.registers.len()];
        // Versions of one variable have one name where they hold the same.
        let same = |one: RegId, other: RegId| values.is_some_and(|values| values[one.0] == values[other.0]);
        for &register in read.iter().chain(&written).filter(|register| !hidden(register)) {
            let variable = thread.variable(register);
            let mut others = read.iter().chain(&written).filter(|other| **other != register);
            if others.all(|&other| thread.variable(other) != variable || same(register, other)) {
                aliases[register.0] = Some(variable.to_owned());
            }
        }
        let mut nameless = Vec::new();
        for register in read.iter().filter(|register| hidden(register)) {
            aliases[register.0] = match thread.origin(transition.from, *register) {
                Some(Origin::Place(place)) => Some(Show { values, ..Show::bare(self, thread) }.address(place)),
                Some(Origin::Register(other)) => Some(thread.variable(other).to_owned()),
                Some(Origin::Outcome) | None => None,
            };
            if aliases[register.0].is_none() {
                nameless.push(*register);
                let number = values.filter(|_| thread.is_compiled(*register)).map(|values| values[register.0]);
                aliases[register.0] = number.map(|number| number.to_string());
            }
        }
        let show = Show { aliases: &aliases, values, ..Show::bare(self, thread) };
        match instruction {
            Instruction::Assume(condition) if !nameless.is_empty() => {
                match self.truth(thread, transition.span, condition, &nameless) {
                    Some((quote, holds)) => format!("{quote} is {holds}"),
                    None => show.expr(&turned(condition)),
                }
            }
            Instruction::Assume(condition) => show.expr(&turned(condition)),
            Instruction::Assert(_) if self.is_rest(thread, transition) => self.quoted(transition.span),
            instruction => {
                let text = show.instruction(instruction);
                match text.split_once(" = ") {
                    Some((_, value)) if !written.is_empty() && written.iter().all(hidden) => value.to_owned(),
                    _ => text,
                }
            }
        }
    }

    /// The text of a condition in the source, and whether it holds. Compiled code tells by a bit alone which: a
    /// comparison may be the opposite of the one in the source, and of `a && b` it looks at one half at a time.
    fn truth(&self, thread: &Thread, span: Span, condition: &Expr, nameless: &[RegId]) -> Option<(String, bool)> {
        let (condition, holds) = match condition {
            Expr::Unary(UnaryOp::Not, _, inner) => (&**inner, false),
            condition => (condition, true),
        };
        let quote = Some(self.quoted(span)).filter(|quote| !quote.is_empty())?;
        let compiled = nameless.iter().any(|register| thread.is_compiled(*register));
        let whole = matches!(condition, Expr::Atom(_)) && !quote.contains("&&") && !quote.contains("||");
        (!compiled || whole).then_some((quote, holds))
    }

    /// Whether an assertion is what is left of one in the source: a part of it was looked at before.
    fn is_rest(&self, thread: &Thread, transition: &Transition) -> bool {
        if !self.source.quote(transition.span).starts_with("assert") {
            return false;
        }
        let mut at = transition.from;
        for _ in 0..thread.locations.len() {
            let mut incoming = thread.transitions.iter().filter(|before| before.to == at);
            let Some(before) = incoming.next() else { return false };
            match before.instruction {
                Instruction::Assume(_) => return before.span == transition.span,
                _ if self.is_internal(thread, before) => at = before.from,
                _ => return false,
            }
        }
        false
    }

    /// The source's text in one line.
    fn quoted(&self, span: Span) -> String {
        self.source.quote(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

impl Thread {
    /// The name without the number that tells the versions of one variable apart: `pos` for `pos.1`.
    fn variable(&self, register: RegId) -> &str {
        let name = &self.registers[register.0].name;
        match name.rsplit_once('.') {
            Some((variable, number)) if !variable.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                variable
            }
            _ => name,
        }
    }

    /// Whether a register comes from compiled code: no text in the source made it.
    fn is_compiled(&self, register: RegId) -> bool {
        let register = &self.registers[register.0];
        register.hidden && register.span == Span::NOWHERE
    }

    /// Where the value of a register comes from, if all paths to a location agree and it can still be found there.
    fn origin(&self, location: LocId, register: RegId) -> Option<Origin<'_>> {
        let (mut at, mut wanted) = (location, register);
        let mut overwritten: Vec<RegId> = Vec::new();
        for _ in 0..self.locations.len() {
            let mut incoming = self.transitions.iter().filter(|transition| transition.to == at);
            let only = incoming.next().filter(|_| incoming.next().is_none())?;
            let written = only.instruction.written_registers();
            match &only.instruction {
                Instruction::Load { reg, address, .. } if *reg == wanted => {
                    let mut still_there = true;
                    address.expr.for_each_atom(&mut |register| {
                        still_there &= !overwritten.contains(register) && register != reg;
                    });
                    return still_there.then_some(Origin::Place(address));
                }
                Instruction::CompareExchange { ok: Some(ok), .. } if *ok == wanted => return Some(Origin::Outcome),
                Instruction::Assign { reg, value: Expr::Atom(other) } if *reg == wanted => {
                    match self.registers[other.0].hidden {
                        true => wanted = *other,
                        false => return Some(Origin::Register(*other)).filter(|_| !overwritten.contains(other)),
                    }
                }
                _ if written.contains(&wanted) => return None,
                _ => {}
            }
            overwritten.extend(written);
            at = only.from;
        }
        None
    }
}

/// The condition without a leading negation, if it has an opposite.
fn turned(condition: &Expr) -> Expr {
    match condition {
        Expr::Unary(UnaryOp::Not, _, inner) => inner.opposite().unwrap_or_else(|| condition.clone()),
        _ => condition.clone(),
    }
}
