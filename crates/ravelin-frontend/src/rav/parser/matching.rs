//! `match`, as a statement and as an expression.

use super::super::ast::{Arm, ArmPattern, Expr, ExprKind, Match, RangeExpr, StatementKind};
use super::{Parse, Parser};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenParser};

impl Parser<'_> {
    /// `match e { A => { … } B | C => { … } }`.
    pub(super) fn match_statement(&mut self) -> Parse<StatementKind> {
        let matched = self.nested(|parser| {
            parser.matched(|parser| {
                if !parser.cursor.is("{") {
                    let message = format!("expected `{{` and the statements of the arm, found {}", parser.found());
                    let diagnostic = Diagnostic::error(parser.cursor.span(), message);
                    return Err(parser.report(diagnostic.with_help("write `pattern => { … }`")));
                }
                let body = parser.block("of the arm")?;
                parser.cursor.eat(",");
                Ok((body, true))
            })
        })?;
        Ok(StatementKind::Match(matched))
    }

    /// `match e { A => 1, B | C => 2 }`.
    pub(super) fn match_expr(&mut self) -> Parse<ExprKind> {
        self.count_operator()?;
        let matched = self.matched(|parser| {
            let value = parser.expr()?;
            Ok((value, parser.cursor.eat(",")))
        })?;
        Ok(ExprKind::Match(Box::new(matched)))
    }

    /// `body` gives the body of an arm, and whether another arm can follow.
    fn matched<B>(&mut self, mut body: impl FnMut(&mut Self) -> Parse<(B, bool)>) -> Parse<Match<B>> {
        self.cursor.bump();
        let value = self.expr()?;
        let open = self.cursor.span();
        self.expect("{", "and the arms of the match")?;
        let mut arms = Vec::new();
        while !self.cursor.is("}") {
            if self.cursor.is_end() || self.item_starts() {
                return Err(self.unclosed(open));
            }
            let start = self.cursor.at;
            let mut patterns = vec![self.arm_pattern()?];
            while self.cursor.eat("|") {
                patterns.push(self.arm_pattern()?);
            }
            let span = self.cursor.span_from(start);
            if self.cursor.is_word("if") {
                let diagnostic = Diagnostic::error(self.cursor.span(), "an arm has no condition of its own");
                return Err(self.report(diagnostic.with_help("write the `if` into the arm")));
            }
            self.expect("=>", "after the pattern")?;
            let (body, goes_on) = body(self)?;
            arms.push(Arm { patterns, body, span });
            if !goes_on {
                break;
            }
        }
        self.expect("}", "or `,` and another arm")?;
        Ok(Match { value, arms })
    }

    fn arm_pattern(&mut self) -> Parse<ArmPattern> {
        if self.cursor.is_word("_") {
            self.cursor.bump();
            return Ok(ArmPattern::Any);
        }
        let lo = self.pattern_value()?;
        let inclusive = self.cursor.is("..=");
        if !inclusive && !self.cursor.is("..") {
            return Ok(ArmPattern::Value(lo));
        }
        self.cursor.bump();
        let hi = self.pattern_value()?;
        Ok(ArmPattern::Range(RangeExpr { lo, hi, inclusive }))
    }

    /// A constant, in which `|` would part patterns.
    fn pattern_value(&mut self) -> Parse<Expr> {
        self.tighter_than_or()
    }
}
