//! What a test's condition is about: names become registers and addresses, the condition a goal, and what is mentioned
//! is what is shown of a final state, in herd's order: registers by thread, then cells by name.

use super::Code;
use super::cells::NamedCells;
use super::condition::{FinalClause, FinalPlace, Operand, Proposition};
use super::cursor::{Name, listed};
use super::header::Dialect;
use super::init::Init;
use super::x86::register as x86_register;
use crate::Diagnostic;
use ravelin_program::{
    Arithmetic, Condition, Domain, Expr, Goal, GoalKind, Notation, Observable, Observation, RegId, Register, ThreadId,
    Value,
};
use std::collections::BTreeMap;

pub struct Observer<'a> {
    pub dialect: Dialect,
    pub init: &'a Init,
    pub code: Code,
    pub cells: NamedCells,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// The order in which herd shows places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Register(Value, usize, String),
    Cell(String, Value),
}

type ShownPlace = BTreeMap<Rank, (String, Observable)>;

impl Observer<'_> {
    pub fn resolve(&mut self, verdict: &FinalClause) -> (Option<Goal>, Option<Observation>) {
        self.check_registers();
        let mut shown = ShownPlace::new();
        for place in &verdict.locations {
            self.show(place, &mut shown);
        }
        let filter = verdict.filter.as_ref().and_then(|filter| self.proposition(filter, &mut shown));
        let goal = verdict.condition.as_ref().and_then(|(kind, condition, span)| {
            let condition = self.proposition(condition, &mut shown)?;
            let condition = match (filter.clone(), kind) {
                (None, _) => condition,
                (Some(filter), GoalKind::Finally) => filter.not().or(condition),
                (Some(filter), _) => filter.and(condition),
            };
            Some(Goal { kind: *kind, condition, span: *span })
        });
        // A test that mentions nothing shows everything.
        let mentions = !shown.is_empty() || filter.is_some() || goal.is_some();
        let shown = shown.into_values().collect();
        (goal, mentions.then_some(Observation { shown, filter }))
    }

    /// Initial values of registers must belong to threads of the test.
    fn check_registers(&mut self) {
        for register in &self.init.registers {
            if !self.code.numbers.contains(&register.thread) {
                let message = format!("there is no thread P{}", register.thread);
                self.diagnostics.push(Diagnostic::error(register.name.span, message));
            }
        }
    }

    fn proposition(&mut self, proposition: &Proposition, shown: &mut ShownPlace) -> Option<Condition> {
        match proposition {
            Proposition::Constant(holds) => Some(Expr::Const(Value::from(*holds))),
            Proposition::Equal(place, operand) => {
                self.show(place, shown);
                let left = self.place(place);
                let right = match operand {
                    Operand::Number(number) => Some(Expr::Const(self.value(*number))),
                    Operand::AddressOf(name, index) => {
                        self.cells.address_of(name, *index, self.diagnostics).map(Expr::Const)
                    }
                    Operand::Content(other) => {
                        self.show(other, shown);
                        self.place(other).map(|(_, _, observable)| Expr::Atom(observable))
                    }
                };
                Some(Expr::Atom(left?.2).eq(right?))
            }
            Proposition::Not(inner) => Some(self.proposition(inner, shown)?.not()),
            Proposition::And(parts) => self.join(parts, shown, Expr::and),
            Proposition::Or(parts) => self.join(parts, shown, Expr::or),
            Proposition::Implies(left, right) => {
                let (left, right) = (self.proposition(left, shown), self.proposition(right, shown));
                Some(left?.not().or(right?))
            }
        }
    }

    /// A long chain is made a balanced tree, so that no condition is too deep to walk.
    fn join(
        &mut self,
        parts: &[Proposition],
        shown: &mut ShownPlace,
        join: fn(Condition, Condition) -> Condition,
    ) -> Option<Condition> {
        const LONG: usize = 16;
        let parts: Vec<Option<Condition>> = parts.iter().map(|part| self.proposition(part, shown)).collect();
        let mut parts = parts.into_iter().collect::<Option<Vec<Condition>>>()?;
        if parts.len() <= LONG {
            return parts.into_iter().reduce(join);
        }
        while parts.len() > 1 {
            let mut rest = parts.into_iter();
            let mut joined = Vec::new();
            while let Some(left) = rest.next() {
                joined.push(match rest.next() {
                    Some(right) => join(left, right),
                    None => left,
                });
            }
            parts = joined;
        }
        parts.pop()
    }

    /// A number as the program holds it.
    fn value(&self, number: Value) -> Value {
        match self.code.arithmetic {
            Arithmetic::Wrapping(domain) => domain.wrap(i128::from(number)),
            Arithmetic::Checked => number,
        }
    }

    fn show(&mut self, place: &FinalPlace, shown: &mut ShownPlace) {
        if let FinalPlace::Cell { name, index: None } = place {
            let cell = self.cells.cell(&name.text, name.span);
            if let Some(len) = cell.len {
                // An array is shown cell by cell.
                for index in 0..len as Value {
                    let observable = Observable::Memory(cell.address + index * cell.stride);
                    let text = format!("{}[{index}]", name.text);
                    shown.insert(Rank::Cell(name.text.clone(), index), (text, observable));
                }
                return;
            }
        }
        if let Some((rank, text, observable)) = self.place(place) {
            shown.insert(rank, (text, observable));
        }
    }

    fn place(&mut self, place: &FinalPlace) -> Option<(Rank, String, Observable)> {
        match place {
            FinalPlace::Cell { name, index } => {
                let at = index.map_or(0, |(index, _)| index);
                let address = self.cells.address_of(name, at, self.diagnostics)?;
                let text = match index {
                    Some(_) => format!("{}[{at}]", name.text),
                    None => format!("[{}]", name.text),
                };
                Some((Rank::Cell(name.text.clone(), at), text, Observable::Memory(address)))
            }
            FinalPlace::Register { thread, number, name } => {
                let Some(index) = self.code.numbers.iter().position(|known| known == thread) else {
                    self.diagnostics.push(Diagnostic::error(*number, format!("there is no thread P{thread}")));
                    return None;
                };
                let (register, rank, text) = self.register(index, name)?;
                let rank = Rank::Register(*thread, rank, text.clone());
                Some((rank, format!("{thread}:{text}"), Observable::Register(ThreadId(index), register)))
            }
        }
    }

    /// A register of a thread: its id, its rank among the registers and its name.
    fn register(&mut self, thread: usize, name: &Name) -> Option<(RegId, usize, String)> {
        let thread = &mut self.code.threads[thread];
        if self.dialect == Dialect::C {
            let Some(register) = thread.find_register(&name.text) else {
                let named = thread.registers.iter().filter(|register| !register.hidden);
                let known = listed(named.map(|register| register.name.as_str()));
                let mut diagnostic =
                    Diagnostic::error(name.span, format!("{} has no local variable `{}`", thread.name, name.text));
                if !known.is_empty() {
                    diagnostic = diagnostic.with_help(format!("it has {known}"));
                }
                self.diagnostics.push(diagnostic);
                return None;
            };
            return Some((register, 0, name.text.clone()));
        }
        let Some((number, _)) = x86_register::find(&name.text, self.dialect) else {
            self.diagnostics.push(x86_register::unknown(name, self.dialect));
            return None;
        };
        let text = x86_register::name(number, self.dialect);
        let id = thread.find_register(&text).unwrap_or_else(|| {
            // Never touched by the code, so it keeps its first value.
            thread.registers.push(Register {
                name: text.clone(),
                domain: Domain::FULL,
                initial: 0,
                hidden: false,
                notation: Notation::Signed,
                span: name.span,
            });
            RegId(thread.registers.len() - 1)
        });
        Some((id, number, text))
    }
}
