//! `match`: a chain of tests, one for each arm, in the order of the text.
//!
//! The last arm of a match that has one for every value needs no test. A match that does not is refused, unless the values
//! between those of an enum are the only ones without an arm: such a value can be stored, and is an error when it is met.

use super::super::ast::{Arm, ArmPattern, Block, Expr as Tree, Match};
use super::constant::evaluate;
use super::expression::Typed;
use super::kind::{Kind, joined};
use super::thread::ThreadLowering;
use crate::Diagnostic;
use ravelin_program::{BinaryOp, Domain, Expr, Instruction, RegId, Span, Value};

/// From the least to the greatest value of a pattern.
type Interval = (Value, Value);

/// An arm whose patterns are known.
struct KnownArm {
    /// `None` for `_`.
    intervals: Option<Vec<Interval>>,
    span: Span,
}

impl ThreadLowering<'_, '_> {
    /// A match as a statement. Gives back whether it certainly does not go on to the next one.
    pub fn match_statement(&mut self, matched: &Match<Block>, span: Span) -> bool {
        let mut left = true;
        let known = self.matched(&matched.value, &matched.arms, span, |lowering, arm| {
            lowering.hidden_used = lowering.hidden_floor;
            left &= lowering.block(&arm.body);
        });
        known && left
    }

    /// A match as a value.
    pub fn match_into(&mut self, matched: &Match<Tree>, register: RegId, whole: Span) -> Option<Kind> {
        let needed = self.hidden_used;
        let mut kinds = Vec::new();
        self.matched(&matched.value, &matched.arms, whole, |lowering, arm| {
            lowering.hidden_used = needed;
            kinds.push(lowering.value_into(&arm.body, register, arm.body.span));
        });
        self.hidden_used = needed;
        kinds.into_iter().reduce(joined).flatten()
    }

    /// Adds the tests, and the arms by `run`; `false` if the match is wrong.
    fn matched<B>(
        &mut self,
        value: &Tree,
        arms: &[Arm<B>],
        span: Span,
        mut run: impl FnMut(&mut Self, &Arm<B>),
    ) -> bool {
        if self.locked.is_some() {
            self.branches_in_locked(value.span);
            return false;
        }
        let (domain, at) = (self.known_domain(value), value.span);
        let typed = self.typed(value);
        let known: Vec<Option<KnownArm>> = arms.iter().map(|arm| self.known_arm(&arm.patterns, arm.span)).collect();
        let known: Option<Vec<KnownArm>> = known.into_iter().collect();
        let (Some((value, kind)), Some(known)) = (typed, known) else {
            // Wrong; the arms are looked at all the same.
            self.every_arm(arms, span, run);
            return false;
        };
        let domain = match &value {
            // A hidden register is wider than what it holds here.
            Expr::Atom(register) if domain.is_full() => self.registers[register.0].domain,
            _ => domain,
        };
        let Some(complete) = self.check_arms(&known, domain, kind, at) else {
            self.every_arm(arms, span, run);
            return false;
        };
        let value = self.kept((value, kind), span);
        let join = self.flow.fresh();
        for (number, (arm, known)) in arms.iter().zip(&known).enumerate() {
            let last = number + 1 == arms.len();
            let test = match &known.intervals {
                Some(intervals) if !(last && complete) => {
                    intervals.iter().map(|&of| within(&value, of)).reduce(Expr::or)
                }
                _ => None,
            };
            let next = self.flow.fresh();
            if let Some(test) = test {
                let inside = self.flow.fresh();
                match test.constant() {
                    Some(holds) => self.flow.jump(self.here, if holds != 0 { inside } else { next }, known.span),
                    None => {
                        self.emit_to(Instruction::Assume(test.clone()), inside, known.span);
                        self.emit_to(Instruction::Assume(test.not()), next, known.span);
                    }
                }
                self.here = inside;
            }
            run(self, arm);
            self.flow.jump(self.here, join, span);
            self.here = next;
        }
        if !complete {
            self.emit(Instruction::Assert(Expr::Const(0)), span);
            self.flow.jump(self.here, join, span);
        }
        self.here = join;
        true
    }

    /// The arms of a match that is wrong, as if any of them could be taken.
    fn every_arm<B>(&mut self, arms: &[Arm<B>], span: Span, mut run: impl FnMut(&mut Self, &Arm<B>)) {
        let join = self.flow.fresh();
        for arm in arms {
            let (inside, next) = (self.flow.fresh(), self.flow.fresh());
            self.emit_to(Instruction::Nop, inside, span);
            self.emit_to(Instruction::Nop, next, span);
            self.here = inside;
            run(self, arm);
            self.flow.jump(self.here, join, span);
            self.here = next;
        }
        self.flow.jump(self.here, join, span);
        self.here = join;
    }

    /// A value that the tests can look at several times.
    fn kept(&mut self, (value, kind): Typed, span: Span) -> Expr {
        match value {
            Expr::Const(_) | Expr::Atom(_) => value,
            _ => {
                let register = self.hidden(Domain::FULL, kind, span);
                self.emit(Instruction::Assign { reg: register, value }, span);
                Expr::Atom(register)
            }
        }
    }

    /// `None` if a pattern is wrong.
    fn known_arm(&mut self, patterns: &[ArmPattern], span: Span) -> Option<KnownArm> {
        let mut intervals = Some(Vec::new());
        for pattern in patterns {
            let interval = match pattern {
                ArmPattern::Any => {
                    intervals = None;
                    continue;
                }
                ArmPattern::Value(value) => {
                    let value = evaluate(value, self)?;
                    (value, value)
                }
                ArmPattern::Range(range) => {
                    let (lo, hi) = (evaluate(&range.lo, self), evaluate(&range.hi, self));
                    let (lo, hi) = (lo?, hi?);
                    let last = if range.inclusive { Some(hi) } else { hi.checked_sub(1) };
                    let Some(last) = last.filter(|&last| lo <= last) else {
                        let span = range.lo.span.to(range.hi.span);
                        self.report(Diagnostic::error(span, "there is no value in this range"));
                        return None;
                    };
                    (lo, last)
                }
            };
            if let Some(intervals) = &mut intervals {
                intervals.push(interval);
            }
        }
        Some(KnownArm { intervals, span })
    }

    /// Whether some arm is for every value of the domain; `None` if one is missing, which is reported.
    fn check_arms(&mut self, arms: &[KnownArm], domain: Domain, kind: Option<Kind>, span: Span) -> Option<bool> {
        let mut covered = Cover::default();
        let mut all = false;
        for arm in arms {
            let useless = all
                || arm.intervals.as_ref().is_some_and(|intervals| {
                    intervals.iter().all(|&interval| covered.first_missing(interval).is_none())
                });
            if useless {
                self.report(
                    Diagnostic::warning(arm.span, "no value comes to this arm")
                        .with_note("the arms before it are for all of its values"),
                );
            }
            match &arm.intervals {
                Some(intervals) => intervals.iter().for_each(|&interval| covered.add(interval)),
                None => all = true,
            }
        }
        if all || covered.first_missing((domain.lo, domain.hi)).is_none() {
            return Some(true);
        }
        let missing = match kind {
            Some(Kind::Enum(number)) => {
                let of = &self.globals.enums.types[number].names;
                let missing = of.names.iter().filter(|(value, _)| covered.first_missing((*value, *value)).is_some());
                let missing: Vec<String> = missing.map(|(_, name)| format!("`{}::{name}`", of.ty)).collect();
                if missing.is_empty() {
                    return Some(false);
                }
                missing.join(", ")
            }
            _ => covered.first_missing((domain.lo, domain.hi)).unwrap_or_default().to_string(),
        };
        self.report(
            Diagnostic::error(span, format!("this match has no arm for {missing}"))
                .with_help("add one, or `_ => …` for all other values"),
        );
        None
    }
}

/// That a value is in an interval.
fn within(value: &Expr, (lo, hi): Interval) -> Expr {
    if lo == hi {
        return value.clone().eq(Expr::Const(lo));
    }
    let above = Expr::binary(BinaryOp::Ge, value.clone(), Expr::Const(lo));
    above.and(Expr::binary(BinaryOp::Le, value.clone(), Expr::Const(hi)))
}

/// A set of values, as intervals that do not touch, in order.
#[derive(Default)]
struct Cover(Vec<Interval>);

impl Cover {
    fn add(&mut self, (mut lo, mut hi): Interval) {
        // Everything that overlaps or touches becomes one.
        let touches =
            |of: &Interval, lo: Value, hi: Value| of.0 <= hi.saturating_add(1) && lo <= of.1.saturating_add(1);
        self.0.retain(|of| {
            let merged = touches(of, lo, hi);
            if merged {
                (lo, hi) = (lo.min(of.0), hi.max(of.1));
            }
            !merged
        });
        let at = self.0.partition_point(|of| of.0 < lo);
        self.0.insert(at, (lo, hi));
    }

    fn first_missing(&self, (lo, hi): Interval) -> Option<Value> {
        match self.0.iter().find(|of| of.0 <= lo && lo <= of.1) {
            None => Some(lo),
            Some(of) if of.1 >= hi => None,
            // The next interval does not touch this one.
            Some(of) => of.1.checked_add(1),
        }
    }
}
