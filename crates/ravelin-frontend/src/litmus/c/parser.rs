//! Functions and statements: `P0 (atomic_int* x, int* y) { int r0 = *y; if (r0) { … } }`.

use super::super::condition;
use super::super::cursor::{LitmusCursor, MAX_DEPTH, Name};
use super::super::init::size_of;
use super::super::outline::{CStatement, StatementRole};
use super::expression::{self, expression};
use super::{Expression, ExpressionKind, Function, Operation, Statement};
use crate::Diagnostic;
use crate::parsing::TokenParser;
use ravelin_program::Span;

const MAX_THREADS: usize = 64;

pub fn functions(cursor: &mut LitmusCursor<'_, '_>) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    while !cursor.is_end() && !condition::starts(cursor) {
        let before = cursor.at;
        match function(cursor) {
            Some(function) if functions.iter().any(|earlier| earlier.number == function.number) => {
                cursor.error(function.name.span, format!("there are two threads `{}`", function.name.text));
            }
            Some(function) if functions.len() >= MAX_THREADS => {
                cursor.error(function.name.span, format!("a test has at most {MAX_THREADS} threads"));
                break;
            }
            Some(function) => functions.push(function),
            None => skip_function(cursor, before),
        }
    }
    if functions.is_empty() && !cursor.diagnostics.iter().any(Diagnostic::is_error) {
        cursor.expected("a thread: `P0 (atomic_int* x) { … }`");
    }
    functions
}

/// Goes on to what may be the next function.
fn skip_function(cursor: &mut LitmusCursor<'_, '_>, before: usize) {
    if cursor.at == before {
        cursor.bump();
    }
    while !cursor.is_end() && !condition::starts(cursor) {
        let token = cursor.token();
        let name = cursor.text_of(token);
        if name.starts_with('P') && cursor.is_ahead(1, "(") && cursor.is_name(0) {
            return;
        }
        cursor.bump();
    }
}

fn function(cursor: &mut LitmusCursor<'_, '_>) -> Option<Function> {
    while cursor.is("static") || cursor.is("void") {
        cursor.bump();
    }
    let name = cursor.name("a thread (`P0 (…) { … }`) or the condition")?;
    let Some(number) = name.text.strip_prefix('P').and_then(|digits| digits.parse().ok()) else {
        cursor.error(name.span, format!("threads are named P0, P1, …, not `{}`", name.text));
        return None;
    };
    let mut wide = false;
    cursor.take("(", "after the name of a thread")?;
    let parameters = parameters(cursor, &mut wide)?;
    cursor.take("{", "at the start of the thread's code")?;
    let mut body = Vec::new();
    let mut parser = Parser { cursor, wide: &mut wide, operators: 0, written: Vec::new() };
    parser.statements(&mut body, 0);
    let written = parser.written;
    let end = cursor.take("}", "at the end of the thread's code")?;
    Some(Function { number, name, parameters, body, end, wide, written })
}

/// `atomic_int* x, volatile int* y)`
fn parameters(cursor: &mut LitmusCursor<'_, '_>, wide: &mut bool) -> Option<Vec<Name>> {
    let mut parameters: Vec<Name> = Vec::new();
    if cursor.is("void") && cursor.is_ahead(1, ")") {
        cursor.bump();
    }
    while !cursor.eat(")") {
        let (stars, _) = type_of(cursor, wide);
        let name = cursor.name("a parameter: `atomic_int* x`")?;
        if cursor.eat("[") {
            cursor.take("]", "after `[`")?;
        } else if stars == 0 {
            cursor.report(
                Diagnostic::error(name.span, format!("the parameter `{}` is no pointer", name.text))
                    .with_help(format!("a thread gets the addresses of cells: `atomic_int* {}`", name.text)),
            );
        }
        if parameters.iter().any(|earlier| earlier.text == name.text) {
            cursor.error(name.span, format!("there are two parameters `{}`", name.text));
        }
        parameters.push(name);
        if !cursor.is(")") {
            cursor.take(",", "or `)` after a parameter")?;
        }
    }
    Some(parameters)
}

/// A type before a name: how many stars it has, and whether there was one.
pub fn type_of(cursor: &mut LitmusCursor<'_, '_>, wide: &mut bool) -> (usize, bool) {
    let mut words = 0;
    let mut size = 0;
    while cursor.is_name(0) && (cursor.is_name(1) || cursor.is_ahead(1, "*") || cursor.is_ahead(1, ")")) {
        // In a parameter list the word before `)` is the name.
        if cursor.is_ahead(1, ")") && !is_type(cursor.text_of(cursor.token())) {
            break;
        }
        let word = cursor.bump();
        size = size.max(size_of(cursor.text_of(word)));
        words += 1;
    }
    let mut stars = 0;
    while cursor.is("*") || cursor.is("volatile") || cursor.is("const") || cursor.is("restrict") {
        stars += usize::from(cursor.is("*"));
        cursor.bump();
    }
    *wide |= size == 8;
    (stars, words > 0)
}

/// A word that starts a type.
pub fn is_type(word: &str) -> bool {
    let known = [
        "int",
        "char",
        "short",
        "long",
        "unsigned",
        "signed",
        "volatile",
        "const",
        "_Atomic",
        "bool",
        "_Bool",
        "atomic_int",
        "atomic_uint",
        "atomic_long",
        "atomic_ulong",
        "atomic_llong",
        "atomic_ullong",
        "atomic_char",
        "atomic_short",
        "atomic_bool",
        "struct",
    ];
    known.contains(&word) || (word.ends_with("_t") && word.len() > 2)
}

pub struct Parser<'c, 't, 'd> {
    pub cursor: &'c mut LitmusCursor<'t, 'd>,
    pub wide: &'c mut bool,
    /// How many operators the current statement has so far.
    pub operators: usize,
    pub(crate) written: Vec<CStatement>,
}

impl Parser<'_, '_, '_> {
    /// Statements up to a `}`, which is left.
    fn statements(&mut self, into: &mut Vec<Statement>, depth: usize) {
        let mut last = None;
        while !self.cursor.is("}") && !self.cursor.is_end() {
            let before = self.cursor.at;
            last = Some(self.cursor.token().span.start);
            if self.statement_outline(into, depth, StatementRole::Listed).is_none() {
                self.skip_statement(before);
            }
        }
        let span = self.cursor.token().span;
        self.written.push(CStatement { span, role: StatementRole::End { last }, depth: depth as i32, fence: false });
    }

    /// A statement, and a note of where it stands. A block under an `if` needs none: what is in it has its own.
    fn statement_outline(&mut self, into: &mut Vec<Statement>, depth: usize, role: StatementRole) -> Option<()> {
        let (start, block, first) = (self.cursor.token().span, self.cursor.is("{"), into.len());
        self.statement(into, depth)?;
        let fence = match into.get(first..) {
            Some([Statement::Evaluate(Expression { kind: ExpressionKind::Call(call), .. })]) => {
                !block && call.operation == Operation::Fence
            }
            _ => false,
        };
        if !block || matches!(role, StatementRole::Listed) {
            let span = start.to(self.cursor.before());
            self.written.push(CStatement { span, role, depth: depth as i32, fence });
        }
        Some(())
    }

    /// Goes on to the next statement: behind a `;` that is in no parentheses, or to the start of a block.
    fn skip_statement(&mut self, before: usize) {
        let mut depth = 0usize;
        while !self.cursor.is_end() && !self.cursor.is("}") {
            if self.cursor.is("{") && self.cursor.at > before {
                return;
            }
            if depth == 0 && self.cursor.eat(";") {
                return;
            }
            depth += usize::from(self.cursor.is("("));
            depth = depth.saturating_sub(usize::from(self.cursor.is(")")));
            self.cursor.bump();
        }
    }

    fn statement(&mut self, into: &mut Vec<Statement>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            let span = self.cursor.token().span;
            self.cursor.error(span, format!("statements nest at most {MAX_DEPTH} deep"));
            self.give_up();
            return None;
        }
        self.operators = 0;
        let start = self.cursor.token().span;
        if self.cursor.eat(";") {
            return Some(());
        }
        if self.cursor.eat("{") {
            self.statements(into, depth + 1);
            self.cursor.take("}", "at the end of the block")?;
            return Some(());
        }
        if self.cursor.eat("if") {
            let condition = self.condition()?;
            let then = self.part(depth)?;
            let otherwise = if self.cursor.eat("else") { self.part(depth)? } else { Vec::new() };
            into.push(Statement::If { condition, then, otherwise });
            return Some(());
        }
        if self.cursor.eat("while") {
            let condition = self.condition()?;
            let body = self.part(depth)?;
            into.push(Statement::While { condition, body });
            return Some(());
        }
        if self.cursor.eat("do") {
            let body = self.part(depth)?;
            self.cursor.take("while", "after the body of `do`")?;
            let condition = self.condition()?;
            into.push(Statement::Do { body, condition });
            return self.semicolon();
        }
        if self.cursor.eat("return") {
            into.push(Statement::Return(start));
            return self.semicolon();
        }
        let word = self.cursor.text_of(self.cursor.token());
        if ["for", "goto", "switch", "break", "continue"].contains(&word) {
            let message = format!("`{word}` is not supported");
            let help = "control flow is written with `if`, `else`, `while` and `do`";
            self.cursor.report(Diagnostic::error(start, message).with_help(help));
            return None;
        }
        if self.cursor.is_name(0) && (is_type(word) || self.cursor.is_name(1)) {
            return self.declaration(into);
        }
        self.simple(into)
    }

    /// Deeper text is not looked at: everything inside would be too deep as well.
    fn give_up(&mut self) {
        while !self.cursor.is_end() {
            self.cursor.bump();
        }
    }

    /// A statement that belongs to an `if` or a loop.
    fn part(&mut self, depth: usize) -> Option<Vec<Statement>> {
        let mut statements = Vec::new();
        self.statement_outline(&mut statements, depth + 1, StatementRole::Part)?;
        Some(statements)
    }

    fn condition(&mut self) -> Option<super::Expression> {
        self.cursor.take("(", "before the condition")?;
        let condition = expression(self, 0)?;
        self.cursor.take(")", "after the condition")?;
        Some(condition)
    }

    /// `int r0 = e, r1;`
    fn declaration(&mut self, into: &mut Vec<Statement>) -> Option<()> {
        type_of(self.cursor, self.wide);
        loop {
            while self.cursor.eat("*") {}
            let name = self.cursor.name("the name of a local variable")?;
            let value = if self.cursor.eat("=") { Some(expression(self, 0)?) } else { None };
            into.push(Statement::Declare { name, value });
            if !self.cursor.eat(",") {
                return self.semicolon();
            }
        }
    }

    /// An assignment, a plain store, or an expression for its effects.
    fn simple(&mut self, into: &mut Vec<Statement>) -> Option<()> {
        let left = expression(self, 0)?;
        let statement = if self.cursor.eat("=") {
            let value = expression(self, 0)?;
            let span = left.span.to(value.span);
            match left.kind {
                ExpressionKind::Name(text) => Statement::Assign { name: Name { text, span: left.span }, value },
                ExpressionKind::Deref(place) => Statement::Store { place: *place, value, span },
                ExpressionKind::Index(array, index) => {
                    let place = expression::cell_of(*array, *index, left.span);
                    Statement::Store { place, value, span }
                }
                _ => {
                    self.cannot_assign(left.span);
                    return None;
                }
            }
        } else {
            Statement::Evaluate(left)
        };
        into.push(statement);
        self.semicolon()
    }

    fn cannot_assign(&mut self, span: Span) {
        let help = "a local variable (`r0 = 1;`) or a cell (`*x = 1;`) can";
        self.cursor.report(Diagnostic::error(span, "this cannot be assigned to").with_help(help));
    }

    fn semicolon(&mut self) -> Option<()> {
        self.cursor.take(";", "after the statement").map(|_| ())
    }
}
