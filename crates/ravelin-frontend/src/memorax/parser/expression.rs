//! Expressions over registers, and conditions on them. Parentheses group integers, brackets group conditions.

use super::super::ast::{Expr, Name};
use super::{Parse, Parser};
use crate::Diagnostic;
use crate::parsing::{NestedParser, TokenKind, TokenParser};
use ravelin_program::{Arithmetic, BinaryOp, Expr as Term, UnaryOp};

type Tree = Term<Name>;

const COMPARISONS: [(&str, BinaryOp); 6] = [
    ("=", BinaryOp::Eq),
    ("!=", BinaryOp::Ne),
    ("<=", BinaryOp::Le),
    (">=", BinaryOp::Ge),
    ("<", BinaryOp::Lt),
    (">", BinaryOp::Gt),
];

impl Parser<'_, '_> {
    pub(super) fn expr(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let tree = self.sum()?;
        Ok(Expr { tree, span: self.span_from(start) })
    }

    pub(super) fn condition(&mut self) -> Parse<Expr> {
        let start = self.cursor.at;
        let tree = self.disjunction()?;
        Ok(Expr { tree, span: self.span_from(start) })
    }

    fn disjunction(&mut self) -> Parse<Tree> {
        let mut tree = self.conjunction()?;
        while self.operator("||")? {
            tree = Tree::binary(BinaryOp::Or, tree, self.conjunction()?);
        }
        Ok(tree)
    }

    fn conjunction(&mut self) -> Parse<Tree> {
        let mut tree = self.literal()?;
        while self.operator("&&")? {
            tree = Tree::binary(BinaryOp::And, tree, self.literal()?);
        }
        Ok(tree)
    }

    fn literal(&mut self) -> Parse<Tree> {
        if self.cursor.eat_word("not") {
            let operand = self.nested(|parser| parser.literal())?;
            return Ok(match operand {
                Tree::Const(value) => Tree::Const(i64::from(value == 0)),
                operand => operand.not(),
            });
        }
        if self.cursor.eat_word("true") {
            return Ok(Tree::Const(1));
        }
        if self.cursor.eat_word("false") {
            return Ok(Tree::Const(0));
        }
        if self.cursor.eat("[") {
            let tree = self.nested(|parser| parser.disjunction())?;
            self.expect("]", "after the condition")?;
            return Ok(tree);
        }
        let left = self.sum()?;
        let Some((symbol, op)) = COMPARISONS.into_iter().find(|(symbol, _)| self.cursor.is(symbol)) else {
            return Err(self.expected("a comparison such as `=` or `<`"));
        };
        self.operator(symbol)?;
        let right = self.sum()?;
        Ok(fold(op, left, right))
    }

    fn sum(&mut self) -> Parse<Tree> {
        let mut tree = self.unit()?;
        loop {
            let op = match () {
                () if self.operator("+")? => BinaryOp::Add,
                () if self.operator("-")? => BinaryOp::Sub,
                () => return Ok(tree),
            };
            tree = fold(op, tree, self.unit()?);
        }
    }

    fn unit(&mut self) -> Parse<Tree> {
        match self.cursor.token().kind {
            TokenKind::Register => self.register().map(Tree::Atom),
            TokenKind::Number(_) => self.natural("a number").map(Tree::Const),
            TokenKind::Symbol("-") => {
                self.cursor.bump();
                Ok(match self.nested(|parser| parser.unit())? {
                    // Numbers as they are read have no minus of their own, so this cannot overflow.
                    Tree::Const(value) if value > i64::MIN => Tree::Const(-value),
                    operand => Tree::unary(UnaryOp::Neg, operand),
                })
            }
            TokenKind::Symbol("(") => {
                self.cursor.bump();
                let tree = self.nested(|parser| parser.sum())?;
                self.expect(")", "after the expression")?;
                Ok(tree)
            }
            TokenKind::Word if self.is_name() => {
                let token = self.cursor.token();
                let diagnostic = Diagnostic::error(token.span, "an expression holds registers and numbers only")
                    .with_help("read the variable into a register first: `read: $r := x`");
                Err(self.report(diagnostic))
            }
            _ => Err(self.expected("a register, a number or `(`")),
        }
    }

    /// Takes an operator if it is there and the expression may still grow.
    fn operator(&mut self, symbol: &str) -> Parse<bool> {
        if !self.cursor.is(symbol) {
            return Ok(false);
        }
        self.count_operator()?;
        self.cursor.bump();
        Ok(true)
    }
}

/// Computes what is known: macros like to put numbers together. What overflows is left to run time.
fn fold(op: BinaryOp, left: Tree, right: Tree) -> Tree {
    if let (Tree::Const(a), Tree::Const(b)) = (&left, &right)
        && let Ok(value) = op.apply(Arithmetic::Checked, *a, *b)
    {
        return Tree::Const(value);
    }
    Tree::binary(op, left, right)
}
