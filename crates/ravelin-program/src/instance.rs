//! Instances of a parameterised program: `thread p[*]` replaced by a fixed number of copies.

use crate::{BinaryOp, Condition, Copies, Expr, Observable, Program, Thread, ThreadId, Value};

impl Program {
    /// The program with `copies` threads in place of each `thread p[*]`, named `p[0]`, `p[1]`, …
    ///
    /// A condition's count of copies at a location becomes a sum. Registers of `[*]` threads cannot be named in
    /// conditions (validation ensures it), so nothing else changes.
    pub fn instance(&self, copies: usize) -> Program {
        self.instance_of(&vec![copies; self.threads.len()])
    }

    /// The program with this many threads in place of each `thread p[*]`, by thread; the entries of other threads are
    /// ignored.
    pub fn instance_of(&self, copies: &[usize]) -> Program {
        debug_assert_eq!(copies.len(), self.threads.len());
        let mut instance = Program { threads: Vec::new(), goals: Vec::new(), ..self.clone() };
        let mut renamed: Vec<Vec<ThreadId>> = Vec::new();
        for (thread, &copies) in self.threads.iter().zip(copies) {
            let first = instance.threads.len();
            match thread.copies {
                Copies::One => instance.threads.push(thread.clone()),
                Copies::Any => instance.threads.extend((0..copies).map(|copy| numbered(thread, copy))),
            }
            renamed.push((first..instance.threads.len()).map(ThreadId).collect());
        }
        for goal in &self.goals {
            let mut goal = goal.clone();
            goal.condition = goal.condition.map_atoms(&mut |atom| rename(atom, &renamed));
            instance.goals.push(goal);
        }
        instance
    }
}

fn numbered(template: &Thread, copy: usize) -> Thread {
    Thread {
        name: format!("{}[{copy}]", template.name),
        template: Some((template.name.clone(), copy as Value)),
        copies: Copies::One,
        ..template.clone()
    }
}

fn rename(atom: &Observable, renamed: &[Vec<ThreadId>]) -> Condition {
    match atom {
        Observable::At(thread, location) => renamed[thread.0]
            .iter()
            .map(|&copy| Expr::Atom(Observable::At(copy, *location)))
            .reduce(|sum, term| Expr::binary(BinaryOp::Add, sum, term))
            .unwrap_or(Expr::Const(0)),
        Observable::Register(thread, register) => match renamed[thread.0].first() {
            Some(&copy) => Expr::Atom(Observable::Register(copy, *register)),
            None => Expr::Const(0),
        },
        Observable::Memory(address) => Expr::Atom(Observable::Memory(*address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Goal, GoalKind, Instruction, ProgramBuilder, Span};

    #[test]
    fn copies_are_named_and_counted() {
        let mut builder = ProgramBuilder::new("p");
        let mut thread = builder.thread("p");
        thread.thread.copies = Copies::Any;
        thread.push(Instruction::Nop);
        let critical = thread.label("critical");
        let thread = thread.finish();
        builder.goal(Goal {
            kind: GoalKind::Never,
            condition: Expr::Atom(Observable::At(thread, critical)).eq(2.into()),
            span: Span::NOWHERE,
        });
        let program = builder.finish().expect("valid");
        let instance = program.instance(3);
        assert_eq!(
            instance.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(),
            ["p[0]", "p[1]", "p[2]"]
        );
        let mut counted = 0;
        instance.goals[0].condition.for_each_atom(&mut |_| counted += 1);
        assert_eq!(counted, 3);
    }
}
