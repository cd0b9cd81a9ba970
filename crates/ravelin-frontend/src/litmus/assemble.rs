//! From lines with labels and jumps, as assembly code is written, to a thread's automaton.
//!
//! Jumps cost no step: a line that jumps is the location it leads to. Code that nothing leads to is dropped. An infinite
//! loop without any step becomes one location with a step that does nothing. All ways out lead to one end.

use ravelin_program::{Copies, Expr, Instruction, LocId, Location, Register, Span, Thread, Transition, UnaryOp};

/// A label, before it has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

#[derive(Debug)]
enum Line {
    Step(Instruction, Span),
    Jump(Label, Span),
    /// Goes to the label if the condition holds, else on.
    Branch(Expr, Label, Span),
}

/// One thread's code under construction.
#[derive(Debug, Default)]
pub struct Assembly {
    lines: Vec<Line>,
    /// The line that each label stands before.
    places: Vec<Option<usize>>,
    names: Vec<(Label, String)>,
    pub registers: Vec<Register>,
}

impl Assembly {
    pub fn step(&mut self, instruction: Instruction, span: Span) {
        self.lines.push(Line::Step(instruction, span));
    }

    pub fn fresh(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// Puts a label here.
    pub fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.lines.len());
    }

    /// Gives a label the name that the source has for it.
    pub fn name(&mut self, label: Label, name: &str) {
        self.names.push((label, name.to_owned()));
    }

    pub fn jump(&mut self, label: Label, span: Span) {
        self.lines.push(Line::Jump(label, span));
    }

    /// Goes to the label if the condition holds. A constant condition costs nothing.
    pub fn branch(&mut self, condition: Expr, label: Label, span: Span) {
        match condition.constant() {
            Some(0) => {}
            Some(_) => self.jump(label, span),
            None => self.lines.push(Line::Branch(condition, label, span)),
        }
    }

    /// The thread. A label that was never placed stands at the end.
    pub fn finish(self, name: String, span: Span, end_span: Span) -> Thread {
        let end = self.lines.len();
        let target = |label: Label| self.places[label.0].unwrap_or(end);
        let settled = self.settle(&target);

        let mut reachable = vec![false; end + 1];
        let mut stack = vec![settled[0]];
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut reachable[at], true) && at < end {
                match &self.lines[at] {
                    Line::Step(..) => stack.push(settled[at + 1]),
                    Line::Branch(_, label, _) => stack.extend([settled[at + 1], settled[target(*label)]]),
                    Line::Jump(..) => {}
                }
            }
        }

        let mut number = vec![LocId(0); end + 1];
        let mut locations = Vec::new();
        for at in (0..=end).filter(|&at| reachable[at]) {
            number[at] = LocId(locations.len());
            let span = match self.lines.get(at) {
                Some(Line::Step(_, span) | Line::Jump(_, span) | Line::Branch(_, _, span)) => *span,
                None => end_span,
            };
            locations.push(Location { labels: Vec::new(), span });
        }
        for (label, name) in &self.names {
            let at = settled[target(*label)];
            if reachable[at] {
                locations[number[at].0].labels.push(name.clone());
            }
        }

        let initial = number[settled[0]];
        let mut transitions = Vec::new();
        for (at, line) in self.lines.into_iter().enumerate().filter(|(at, _)| reachable[*at]) {
            let mut edge = |to: usize, instruction, span| {
                transitions.push(Transition { from: number[at], to: number[to], instruction, span, call: None });
            };
            match line {
                Line::Step(instruction, span) => edge(settled[at + 1], instruction, span),
                Line::Jump(_, span) => edge(at, Instruction::Nop, span),
                Line::Branch(condition, label, span) => {
                    let to = settled[self.places[label.0].unwrap_or(end)];
                    edge(to, Instruction::Assume(condition.clone()), span);
                    edge(settled[at + 1], Instruction::Assume(negate(condition)), span);
                }
            }
        }
        Thread {
            name,
            template: None,
            copies: Copies::One,
            registers: self.registers,
            locations,
            transitions,
            initial,
            calls: Vec::new(),
            span,
        }
    }

    /// For each line where one really is when at it: jumps are followed. Jumps that only lead to each other settle on one
    /// of them.
    fn settle(&self, target: &impl Fn(Label) -> usize) -> Vec<usize> {
        let end = self.lines.len();
        let mut settled: Vec<Option<usize>> = vec![None; end + 1];
        let mut path = Vec::new();
        let mut on_path = vec![false; end + 1];
        for start in 0..=end {
            let mut at = start;
            let place = loop {
                if let Some(place) = settled[at] {
                    break place;
                }
                match self.lines.get(at) {
                    Some(Line::Jump(label, _)) if !on_path[at] => {
                        on_path[at] = true;
                        path.push(at);
                        at = target(*label);
                    }
                    _ => break at,
                }
            };
            settled[at] = Some(place);
            for passed in path.drain(..) {
                on_path[passed] = false;
                settled[passed] = Some(place);
            }
        }
        settled.into_iter().map(|place| place.unwrap_or(end)).collect()
    }
}

/// A condition that holds exactly where the given one does not.
pub fn negate(condition: Expr) -> Expr {
    match condition {
        Expr::Unary(UnaryOp::Not, _, inner) => *inner,
        other => other.opposite().unwrap_or_else(|| other.not()),
    }
}
