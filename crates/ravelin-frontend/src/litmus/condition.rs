//! What stands after the code: `locations [x; 0:rax;]`, `filter P`, and `exists P`, `~exists P` or `forall P`.
//!
//! In a proposition `not` binds tightest, then `/\`, then `\/`, then `=>`, which groups to the right.

use super::cursor::{LitmusCursor, MAX_DEPTH, Name};
use super::lexer::LitmusTokenKind;
use crate::Diagnostic;
use crate::parsing::TokenParser;
use ravelin_program::{GoalKind, Span, Value};

#[derive(Debug, Default)]
pub struct FinalClause {
    pub locations: Vec<FinalPlace>,
    pub filter: Option<Proposition>,
    pub condition: Option<(GoalKind, Proposition, Span)>,
}

/// Something whose final value can be asked for.
#[derive(Clone, Debug)]
pub enum FinalPlace {
    Register { thread: Value, number: Span, name: Name },
    Cell { name: Name, index: Option<(Value, Span)> },
}

#[derive(Clone, Debug)]
pub enum Proposition {
    Constant(bool),
    Equal(FinalPlace, Operand),
    Not(Box<Proposition>),
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
    Implies(Box<Proposition>, Box<Proposition>),
}

#[derive(Clone, Debug)]
pub enum Operand {
    Number(Value),
    /// The address of a cell: a name on the right of `=` is no content.
    AddressOf(Name, Value),
    /// The content of another place.
    Content(FinalPlace),
}

/// The code ends before one of these.
pub fn starts(cursor: &LitmusCursor<'_, '_>) -> bool {
    ["exists", "forall", "locations", "filter", "~"].iter().any(|word| cursor.is(word))
        || (cursor.is("not") && cursor.is_ahead(1, "exists"))
}

pub fn parse(cursor: &mut LitmusCursor<'_, '_>) -> FinalClause {
    let mut verdict = FinalClause::default();
    while !cursor.is_end() {
        let start = cursor.token().span;
        let before = cursor.at;
        let parsed = if cursor.eat("locations") {
            locations(cursor, &mut verdict)
        } else if cursor.eat("filter") {
            proposition(cursor, 0).map(|filter| verdict.filter = Some(filter))
        } else {
            quantified(cursor, start, &mut verdict)
        };
        if parsed.is_none() {
            // One word about a broken end is enough.
            while !cursor.is_end() && (cursor.at == before || !starts(cursor)) {
                cursor.bump();
            }
        }
        while cursor.eat(";") {}
    }
    verdict
}

fn quantified(cursor: &mut LitmusCursor<'_, '_>, start: Span, verdict: &mut FinalClause) -> Option<()> {
    let kind = if cursor.eat("exists") {
        GoalKind::Exists
    } else if cursor.eat("forall") {
        GoalKind::Finally
    } else if (cursor.is("~") || cursor.is("not")) && cursor.is_ahead(1, "exists") {
        cursor.bump();
        cursor.bump();
        GoalKind::NeverFinally
    } else {
        let expected = match verdict.condition {
            Some(_) => "nothing after the condition",
            None => "`locations`, `filter`, `exists`, `~exists` or `forall`",
        };
        cursor.expected(expected);
        return None;
    };
    let condition = proposition(cursor, 0)?;
    let span = start.to(cursor.before());
    if let Some((_, _, earlier)) = verdict.condition {
        let second = Diagnostic::error(span, "a test has one condition").with_secondary(earlier, "the first one");
        cursor.report(second);
        return None;
    }
    verdict.condition = Some((kind, condition, span));
    Some(())
}

fn locations(cursor: &mut LitmusCursor<'_, '_>, verdict: &mut FinalClause) -> Option<()> {
    cursor.take("[", "after `locations`")?;
    while !cursor.is("]") {
        if cursor.eat(";") {
            continue;
        }
        verdict.locations.push(place(cursor)?);
        if !cursor.is(";") && !cursor.is("]") {
            cursor.expected("`;` or `]` after a location");
            return None;
        }
    }
    cursor.bump();
    Some(())
}

fn proposition(cursor: &mut LitmusCursor<'_, '_>, depth: usize) -> Option<Proposition> {
    if depth > MAX_DEPTH {
        let span = cursor.token().span;
        cursor.error(span, format!("conditions nest at most {MAX_DEPTH} deep"));
        return None;
    }
    let left = disjunction(cursor, depth)?;
    if cursor.eat("=>") {
        let right = proposition(cursor, depth + 1)?;
        return Some(Proposition::Implies(Box::new(left), Box::new(right)));
    }
    Some(left)
}

fn disjunction(cursor: &mut LitmusCursor<'_, '_>, depth: usize) -> Option<Proposition> {
    let mut parts = vec![conjunction(cursor, depth)?];
    while cursor.eat("\\/") {
        parts.push(conjunction(cursor, depth)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Proposition::Or(parts) })
}

fn conjunction(cursor: &mut LitmusCursor<'_, '_>, depth: usize) -> Option<Proposition> {
    let mut parts = vec![atom(cursor, depth)?];
    while cursor.eat("/\\") {
        parts.push(atom(cursor, depth)?);
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Proposition::And(parts) })
}

fn atom(cursor: &mut LitmusCursor<'_, '_>, depth: usize) -> Option<Proposition> {
    let mut negated = false;
    while cursor.eat("~") || cursor.eat("not") {
        negated = !negated;
    }
    let inner = if cursor.eat("(") {
        let inner = proposition(cursor, depth + 1)?;
        cursor.take(")", "after the condition")?;
        inner
    } else if cursor.eat("true") {
        Proposition::Constant(true)
    } else if cursor.eat("false") {
        Proposition::Constant(false)
    } else {
        comparison(cursor)?
    };
    Some(if negated { Proposition::Not(Box::new(inner)) } else { inner })
}

fn comparison(cursor: &mut LitmusCursor<'_, '_>) -> Option<Proposition> {
    let left = place(cursor)?;
    let negated = cursor.is("!=");
    if !negated && !cursor.is("=") && !cursor.is("==") {
        cursor.expected("`=` and a value");
        return None;
    }
    cursor.bump();
    let right = operand(cursor)?;
    let equal = Proposition::Equal(left, right);
    Some(if negated { Proposition::Not(Box::new(equal)) } else { equal })
}

fn operand(cursor: &mut LitmusCursor<'_, '_>) -> Option<Operand> {
    let is_register = matches!(cursor.token().kind, LitmusTokenKind::Int(_)) && cursor.is_ahead(1, ":");
    if is_register || cursor.is("[") || cursor.is("*") {
        return place(cursor).map(Operand::Content);
    }
    if cursor.eat("&") || cursor.is_name(0) {
        let name = cursor.name("the name of a memory cell")?;
        let index = index(cursor)?.map_or(0, |(index, _)| index);
        return Some(Operand::AddressOf(name, index));
    }
    cursor.integer("a number, an address or a location").map(|(number, _)| Operand::Number(number))
}

/// `0:rax`, `P0:r1`, `x`, `[x]`, `*x` or `t[1]`.
pub fn place(cursor: &mut LitmusCursor<'_, '_>) -> Option<FinalPlace> {
    if let LitmusTokenKind::Int(number) = cursor.token().kind {
        let token = cursor.bump();
        let Ok(number) = Value::try_from(number) else {
            cursor.error(token.span, "there is no such thread");
            return None;
        };
        return register(cursor, number, token.span);
    }
    if cursor.is_name(0) && cursor.is_ahead(1, ":") {
        let token = cursor.token();
        if let Some(number) = cursor.text_of(token).strip_prefix('P').and_then(|digits| digits.parse().ok()) {
            cursor.bump();
            return register(cursor, number, token.span);
        }
    }
    if cursor.eat("[") {
        let name = cursor.name("the name of a memory cell")?;
        let index = index(cursor)?;
        cursor.take("]", "after the name")?;
        return Some(FinalPlace::Cell { name, index });
    }
    cursor.eat("*");
    let name = cursor.name("a register (`0:rax`) or a memory cell (`x`)")?;
    let index = index(cursor)?;
    Some(FinalPlace::Cell { name, index })
}

fn register(cursor: &mut LitmusCursor<'_, '_>, thread: Value, number: Span) -> Option<FinalPlace> {
    cursor.take(":", "and a register after the thread's number")?;
    cursor.eat("%");
    let name = cursor.name("the name of a register")?;
    Some(FinalPlace::Register { thread, number, name })
}

fn index(cursor: &mut LitmusCursor<'_, '_>) -> Option<Option<(Value, Span)>> {
    if !cursor.eat("[") {
        return Some(None);
    }
    let index = cursor.integer("an index")?;
    cursor.take("]", "after the index")?;
    Some(Some(index))
}
