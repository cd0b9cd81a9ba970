//! Calls, and what calls and records say about variables of the source.

use super::{Kind, Parse, Parser, Token};
use crate::ir::module::{Call, Callee, Constant, Operand, Type, Value};

impl Parser<'_> {
    /// After `call` or `invoke`, to the last attribute. `None`: it only says what something is called in the source.
    pub fn call(&mut self) -> Parse<Option<Call>> {
        self.skip_attributes();
        let written = self.written_type()?;
        let returns = written.returns.unwrap_or(written.ty);
        let callee = if self.cursor.eat_word("asm") {
            self.assembly()?
        } else {
            let token = self.cursor.token();
            if token.kind == Kind::Global && self.cursor.text_of(token).starts_with("@llvm.dbg.") {
                self.cursor.at += 1;
                self.debug_variable();
                self.skip_attributes();
                return Ok(None);
            }
            Callee::Value(self.value(&Type::Pointer)?)
        };
        let arguments = self.arguments()?;
        self.skip_attributes();
        if self.cursor.is(b'[') && !self.cursor.token().starts_line {
            // Bundles: what optimisations may assume.
            let start = self.cursor.at;
            self.skip_balanced();
            self.hide(start..self.cursor.at);
        }
        Ok(Some(Call { callee, returns, arguments }))
    }

    fn assembly(&mut self) -> Parse<Callee> {
        while matches!(self.cursor.word(), Some("sideeffect" | "alignstack" | "inteldialect" | "unwind")) {
            self.cursor.at += 1;
        }
        if self.cursor.token().kind != Kind::String {
            return self.unexpected("a string");
        }
        let template = self.string();
        self.expect(b',')?;
        if self.cursor.token().kind != Kind::String {
            return self.unexpected("a string");
        }
        Ok(Callee::Assembly { template, constraints: self.string() })
    }

    fn arguments(&mut self) -> Parse<Vec<Operand>> {
        let mut arguments = Vec::new();
        self.expect(b'(')?;
        while !self.cursor.eat(b')') {
            arguments.push(self.argument()?);
            if !self.cursor.eat(b',') && !self.cursor.is(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Parse<Operand> {
        let unsupported =
            |ty: Type, what: &str| Operand { ty, value: Value::Constant(Constant::Unsupported(what.to_owned())) };
        if self.cursor.word() == Some("metadata") {
            let start = self.cursor.at;
            while !self.cursor.is_end() && !self.cursor.is(b',') && !self.cursor.is(b')') {
                self.skip_balanced();
            }
            self.hide(start..self.cursor.at);
            return Ok(unsupported(Type::Other, "metadata"));
        }
        let ty = self.ty()?;
        self.skip_attributes();
        if self.cursor.is(b',') || self.cursor.is(b')') {
            // A constant of a kind that is not known was taken for an attribute.
            return Ok(unsupported(ty, "constant"));
        }
        let value = self.value(&ty)?;
        Ok(Operand { ty, value })
    }

    /// `#dbg_declare(…)` and other records.
    pub fn debug_record(&mut self) {
        self.cursor.at += 1;
        if self.cursor.is(b'(') {
            self.debug_variable();
        } else {
            self.skip_line();
        }
    }

    /// `(value, variable, expression, …)`: the value is the variable or its address if the expression is empty.
    fn debug_variable(&mut self) {
        if !self.cursor.is(b'(') {
            return;
        }
        let mut at = self.cursor.at + 1;
        self.skip_balanced();
        let end = self.cursor.at.saturating_sub(1);
        let mut last: [Option<Token>; 3] = [None; 3];
        let mut empty = false;
        let mut number = 0;
        let mut depth = 0usize;
        while at < end && number < 3 {
            let token = self.cursor.nth(at);
            match token.kind {
                Kind::Symbol(b',') if depth == 0 => {
                    number += 1;
                    at += 1;
                    continue;
                }
                Kind::Symbol(b'(' | b'[' | b'{') => depth += 1,
                Kind::Symbol(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if number == 2 && token.kind == Kind::MetadataName {
                empty = self.cursor.nth(at + 2).kind == Kind::Symbol(b')');
            }
            last[number] = Some(token);
            at += 1;
        }
        let [Some(value), Some(variable), _] = last else { return };
        if value.kind == Kind::Local
            && variable.kind == Kind::Metadata
            && empty
            && let Some(node) = self.metadata_number(variable)
        {
            self.name_local(value, node);
        }
    }
}
