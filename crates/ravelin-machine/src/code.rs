//! Expressions compiled for packed states: the common shapes directly, the rest as code for a small stack.
//!
//! Wrapping operators always use the stack, so that the common shapes stay small.

use crate::layout::Field;
use ravelin_program::{
    Arithmetic, BinaryOp, Domain, Expr, Fault, RegId, RmwOp, UnaryOp, Value, WaitAtom, WaitCondition,
};

#[derive(Clone, Debug)]
pub(crate) enum Code {
    Const(Value),
    Field(Field),
    FieldConst(BinaryOp, Field, Value),
    ConstField(BinaryOp, Value, Field),
    FieldField(BinaryOp, Field, Field),
    Stack { code: Box<[CodeOp]>, depth: usize },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CodeOp {
    Const(Value),
    Field(Field),
    Unary(UnaryOp),
    Binary(BinaryOp),
    WrappingUnary(UnaryOp, Domain),
    WrappingBinary(BinaryOp, Domain),
    /// If the top is 0, makes it the result of `&&` and continues at the index.
    AndElse(usize),
    /// If the top is not 0, makes it the result of `||` and continues at the index.
    OrElse(usize),
    /// The value that a wait has read.
    Read,
}

impl CodeOp {
    /// The field that it reads.
    pub fn field(&self) -> Option<Field> {
        match self {
            CodeOp::Field(field) => Some(*field),
            _ => None,
        }
    }
}

/// The condition of a wait, compiled.
#[derive(Clone, Debug)]
pub(crate) enum WaitCode {
    /// The value read is one of these, compared in this order.
    OneOf(Box<[Code]>),
    Stack {
        code: Box<[CodeOp]>,
        depth: usize,
    },
}

impl WaitCode {
    /// `field` maps a register to its field.
    pub fn new(condition: &WaitCondition, field: &mut impl FnMut(&RegId) -> Field) -> WaitCode {
        if let Some(values) = condition.values() {
            return WaitCode::OneOf(values.iter().map(|value| Code::new(value, field)).collect());
        }
        let mut code = Vec::new();
        let depth = emit(
            &condition.expr,
            &mut |atom| match atom {
                WaitAtom::Read => CodeOp::Read,
                WaitAtom::Register(register) => CodeOp::Field(field(register)),
            },
            &mut code,
        );
        WaitCode::Stack { code: code.into_boxed_slice(), depth }
    }

    /// Whether a wait that read this value passes.
    #[inline]
    pub fn holds(&self, read: Value, state: &[u64]) -> Result<bool, Fault> {
        match self {
            WaitCode::OneOf(values) => {
                for value in values {
                    if value.eval(state)? == read {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            WaitCode::Stack { code, depth } if *depth <= SMALL_STACK => {
                Ok(run(code, state, read, &mut [0; SMALL_STACK])? != 0)
            }
            WaitCode::Stack { code, depth } => Ok(run(code, state, read, &mut vec![0; *depth])? != 0),
        }
    }
}

/// Deep enough for typical programs; deeper code allocates its stack.
const SMALL_STACK: usize = 16;

impl Code {
    /// `field` maps an atom to its field.
    pub fn new<A>(expr: &Expr<A>, field: &mut impl FnMut(&A) -> Field) -> Code {
        if let Some(value) = expr.constant() {
            return Code::Const(value);
        }
        match expr {
            Expr::Atom(atom) => return Code::Field(field(atom)),
            // Every branch but the first of a condition begins with a negation.
            Expr::Unary(UnaryOp::Not, _, inner) => {
                if let Expr::Binary(op, _, left, right) = &**inner
                    && let Some(opposite) = op.opposite()
                {
                    return Code::comparison(opposite, left, right, field);
                }
            }
            Expr::Binary(op, _, left, right) if op.is_comparison() => {
                return Code::comparison(*op, left, right, field);
            }
            Expr::Binary(op, Arithmetic::Checked, left, right) => match (&**left, &**right) {
                (Expr::Atom(left), Expr::Const(right)) => return Code::FieldConst(*op, field(left), *right),
                (Expr::Const(left), Expr::Atom(right)) => return Code::ConstField(*op, *left, field(right)),
                (Expr::Atom(left), Expr::Atom(right)) => return Code::FieldField(*op, field(left), field(right)),
                _ => {}
            },
            _ => {}
        }
        Code::stack(expr, field)
    }

    fn stack<A>(expr: &Expr<A>, field: &mut impl FnMut(&A) -> Field) -> Code {
        let mut code = Vec::new();
        let depth = emit(expr, &mut |atom| CodeOp::Field(field(atom)), &mut code);
        Code::Stack { code: code.into_boxed_slice(), depth }
    }

    fn comparison<A>(op: BinaryOp, left: &Expr<A>, right: &Expr<A>, field: &mut impl FnMut(&A) -> Field) -> Code {
        match (left, right.constant()) {
            (Expr::Atom(left), Some(right)) => return Code::FieldConst(op, field(left), right),
            (Expr::Atom(left), None) => {
                if let Expr::Atom(right) = right {
                    return Code::FieldField(op, field(left), field(right));
                }
            }
            _ => {}
        }
        let mut code = Vec::new();
        let mut operand_of = |atom: &A| CodeOp::Field(field(atom));
        let depth = emit(left, &mut operand_of, &mut code).max(emit(right, &mut operand_of, &mut code) + 1);
        code.push(CodeOp::Binary(op));
        Code::Stack { code: code.into_boxed_slice(), depth }
    }

    #[inline]
    pub fn eval(&self, state: &[u64]) -> Result<Value, Fault> {
        match self {
            Code::Const(value) => Ok(*value),
            Code::Field(field) => Ok(field.get(state)),
            Code::FieldConst(op, left, right) => apply(*op, left.get(state), *right),
            Code::ConstField(op, left, right) => apply(*op, *left, right.get(state)),
            Code::FieldField(op, left, right) => apply(*op, left.get(state), right.get(state)),
            Code::Stack { code, depth } if *depth <= SMALL_STACK => run(code, state, 0, &mut [0; SMALL_STACK]),
            Code::Stack { code, depth } => run(code, state, 0, &mut vec![0; *depth]),
        }
    }
}

/// [`BinaryOp::apply`] with 64 bits, which avoids 128-bit arithmetic for the most common operators.
#[inline]
fn apply(op: BinaryOp, left: Value, right: Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Eq => Ok(Value::from(left == right)),
        BinaryOp::Ne => Ok(Value::from(left != right)),
        BinaryOp::Lt => Ok(Value::from(left < right)),
        BinaryOp::Le => Ok(Value::from(left <= right)),
        BinaryOp::Gt => Ok(Value::from(left > right)),
        BinaryOp::Ge => Ok(Value::from(left >= right)),
        BinaryOp::Add => left.checked_add(right).ok_or(Fault::Overflow),
        BinaryOp::Sub => left.checked_sub(right).ok_or(Fault::Overflow),
        _ => op.apply(Arithmetic::Checked, left, right),
    }
}

/// The new value after a read-modify-write, as [`apply`] computes it.
#[inline]
pub(crate) fn modify(op: RmwOp, arithmetic: Arithmetic, read: Value, operand: Value) -> Result<Value, Fault> {
    match (op.binary(), arithmetic) {
        (None, _) => Ok(operand),
        (Some(binary), Arithmetic::Checked) => apply(binary, read, operand),
        (Some(binary), arithmetic) => binary.apply(arithmetic, read, operand),
    }
}

/// Adds the code of an expression, and returns the stack depth it needs.
fn emit<A>(expr: &Expr<A>, operand_of: &mut impl FnMut(&A) -> CodeOp, code: &mut Vec<CodeOp>) -> usize {
    match expr {
        Expr::Const(value) => code.push(CodeOp::Const(*value)),
        Expr::Atom(atom) => code.push(operand_of(atom)),
        Expr::Unary(op, arithmetic, operand) => {
            let depth = emit(operand, operand_of, code);
            code.push(match arithmetic {
                Arithmetic::Checked => CodeOp::Unary(*op),
                Arithmetic::Wrapping(domain) => CodeOp::WrappingUnary(*op, *domain),
            });
            return depth;
        }
        Expr::Binary(op, arithmetic, left, right) => {
            let left = emit(left, operand_of, code);
            let jump = code.len();
            match op {
                BinaryOp::And => code.push(CodeOp::AndElse(0)),
                BinaryOp::Or => code.push(CodeOp::OrElse(0)),
                _ => {}
            }
            let right = emit(right, operand_of, code);
            code.push(match arithmetic {
                Arithmetic::Checked => CodeOp::Binary(*op),
                Arithmetic::Wrapping(domain) => CodeOp::WrappingBinary(*op, *domain),
            });
            let end = code.len();
            match op {
                BinaryOp::And => code[jump] = CodeOp::AndElse(end),
                BinaryOp::Or => code[jump] = CodeOp::OrElse(end),
                _ => {}
            }
            return left.max(right + 1);
        }
    }
    1
}

/// `read` is the value that a wait has read; other code does not ask for it.
fn run(code: &[CodeOp], state: &[u64], read: Value, stack: &mut [Value]) -> Result<Value, Fault> {
    let mut top = 0;
    let mut at = 0;
    while let Some(op) = code.get(at) {
        at += 1;
        match op {
            CodeOp::Const(value) => {
                stack[top] = *value;
                top += 1;
            }
            CodeOp::Field(field) => {
                stack[top] = field.get(state);
                top += 1;
            }
            CodeOp::Read => {
                stack[top] = read;
                top += 1;
            }
            CodeOp::Unary(op) => stack[top - 1] = op.apply(Arithmetic::Checked, stack[top - 1])?,
            CodeOp::Binary(op) => {
                top -= 1;
                stack[top - 1] = apply(*op, stack[top - 1], stack[top])?;
            }
            CodeOp::WrappingUnary(op, domain) => {
                stack[top - 1] = op.apply(Arithmetic::Wrapping(*domain), stack[top - 1])?;
            }
            CodeOp::WrappingBinary(op, domain) => {
                top -= 1;
                stack[top - 1] = op.apply(Arithmetic::Wrapping(*domain), stack[top - 1], stack[top])?;
            }
            CodeOp::AndElse(target) if stack[top - 1] == 0 => at = *target,
            CodeOp::OrElse(target) if stack[top - 1] != 0 => {
                stack[top - 1] = 1;
                at = *target;
            }
            CodeOp::AndElse(_) | CodeOp::OrElse(_) => {}
        }
    }
    Ok(stack[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiled_expressions_agree_with_the_plain_ones() {
        let word = |word| Field { word, shift: 0, mask: u64::MAX, lo: 0 };
        let r = |register| Expr::Atom(RegId(register));
        let mut expressions: Vec<Expr> = vec![r(0), r(1), Expr::Const(2), Expr::Const(0)];
        let seven = Arithmetic::Wrapping(Domain::new(0, 6, ravelin_program::Escape::Wrap));
        // All pairs under all operators, twice, which includes nested expressions and mixed arithmetic.
        for round in 0..2 {
            let leaves: Vec<Expr> = expressions.iter().step_by(1 + round * 7).take(20).cloned().collect();
            for arithmetic in [Arithmetic::Checked, seven] {
                for op in BinaryOp::ALL {
                    for left in &leaves {
                        for right in &leaves {
                            expressions.push(Expr::binary_in(arithmetic, op, left.clone(), right.clone()));
                        }
                    }
                }
                for op in [UnaryOp::Neg, UnaryOp::Not] {
                    expressions.extend(leaves.iter().map(|leaf| Expr::unary_in(arithmetic, op, leaf.clone())));
                }
            }
        }
        for expr in &expressions {
            let code = Code::new(expr, &mut |register: &RegId| word(register.0 as u32));
            for state in [[0u64, 0], [1, 3], [5, (-4i64) as u64], [i64::MAX as u64, 63]] {
                let plain = expr.eval(&mut |register| state[register.0] as Value);
                assert_eq!(code.eval(&state), plain, "{expr:?} on {state:?}");
            }
            // The same with the first register for the value read.
            let condition = WaitCondition::on_register(expr, RegId(0));
            let wait = WaitCode::new(&condition, &mut |register: &RegId| word(register.0 as u32));
            for state in [[0u64, 0], [1, 3], [5, (-4i64) as u64], [i64::MAX as u64, 63]] {
                let plain = condition.holds(state[0] as Value, &mut |register| state[register.0] as Value);
                let elsewhere = [!state[0], state[1]];
                assert_eq!(wait.holds(state[0] as Value, &elsewhere), plain, "{expr:?} on {state:?}");
            }
        }
    }
}
