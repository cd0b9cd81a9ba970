//! Global variables, and the heads of functions.

use super::body::Body;
use super::{Kind, Parse, Parser};
use crate::ir::module::{Function, Global, Parameter, Type};
use ravelin_program::Span;

/// A global variable whose name alone is known.
pub fn unread(name: String, span: Span) -> Global {
    Global {
        name,
        ty: Type::Other,
        initial: None,
        constant: false,
        thread_local: false,
        align: None,
        debug: None,
        span,
    }
}

impl Function {
    /// A function whose name alone is known.
    pub(super) fn named(name: &str, span: Span) -> Function {
        Function {
            name: name.to_owned(),
            returns: Type::Void,
            parameters: Vec::new(),
            variadic: false,
            locals: Vec::new(),
            blocks: Vec::new(),
            variables: Vec::new(),
            hidden: Vec::new(),
            debug: None,
            span,
        }
    }
}

impl Parser<'_> {
    pub fn global_definition(&mut self) -> Parse<()> {
        let start = self.at;
        let token = self.bump();
        self.expect(b'=')?;
        let Some(super::Symbol::Global(number)) = self.symbols.get(&self.name_of(token)).copied() else {
            // Aliases were read with the symbols.
            self.skip_statement();
            return Ok(());
        };
        let mut external = false;
        let mut thread_local = false;
        let constant = loop {
            let Some(word) = self.word() else { return self.unexpected("`global` or `constant`") };
            self.at += 1;
            match word {
                "global" => break false,
                "constant" => break true,
                "external" | "extern_weak" => external = true,
                "thread_local" => thread_local = true,
                _ => {}
            }
            if self.is(b'(') {
                self.skip_balanced();
            }
        };
        let ty = self.ty()?;
        let initial = match !external && self.at_constant() {
            true => Some(self.constant(&ty)?),
            false => None,
        };
        let (mut align, mut debug) = (None, None);
        while !self.is_end() && !self.token().starts_line {
            if self.eat_word("align") {
                align = Some(self.number()?);
            } else if let Some(node) = self.attachment() {
                debug = debug.or(node);
            } else {
                self.skip_balanced();
            }
        }
        let span = self.span_from(start);
        let global = &mut self.module.globals[number];
        *global =
            Global { name: std::mem::take(&mut global.name), ty, initial, constant, thread_local, align, debug, span };
        Ok(())
    }

    pub fn declaration(&mut self) -> Parse<()> {
        self.bump();
        self.body = Body::default();
        let mut debug = None;
        while let Some(node) = self.attachment() {
            debug = debug.or(node);
        }
        let Some(number) = self.head()? else { return Ok(()) };
        while !self.is_end() && !self.token().starts_line {
            if let Some(node) = self.attachment() {
                debug = debug.or(node);
            } else {
                self.skip_balanced();
            }
        }
        self.body.function.debug = debug;
        self.module.functions[number] = std::mem::take(&mut self.body).function;
        Ok(())
    }

    pub fn definition(&mut self) -> Parse<()> {
        self.bump();
        self.body = Body::default();
        let number = self.head();
        if number.is_err() {
            // The body would only be misunderstood without its parameters.
            while !self.is_end() && !self.is(b'{') {
                self.at += 1;
            }
            self.skip_balanced();
        }
        let number = number?;
        let mut debug = None;
        while !self.is(b'{') {
            if self.is_end() {
                return self.unexpected("`{`");
            }
            if matches!(self.word(), Some("personality" | "prefix" | "prologue")) {
                self.at += 1;
                let ty = self.ty()?;
                self.constant(&ty)?;
            } else if let Some(node) = self.attachment() {
                debug = debug.or(node);
            } else {
                self.skip_balanced();
            }
        }
        self.body.function.debug = debug;
        self.function_body()?;
        if let Some(number) = number {
            self.module.functions[number] = std::mem::take(&mut self.body).function;
        }
        Ok(())
    }

    /// From the linkage to the end of the parameters. Gives the number of the function; `None`: its name is taken, which
    /// has been reported.
    fn head(&mut self) -> Parse<Option<usize>> {
        self.skip_attributes();
        let returns = self.ty()?;
        let token = self.token();
        if token.kind != Kind::Global {
            return self.unexpected("the name of a function");
        }
        self.at += 1;
        let name = self.name_of(token);
        let number = match self.symbols.get(&name) {
            Some(super::Symbol::Function(number)) => Some(*number),
            _ => None,
        };
        self.body.function = Function::named(&name, self.span_of(token));
        self.body.function.returns = returns;
        self.expect(b'(')?;
        while !self.eat(b')') {
            if self.eat_word("...") {
                self.body.function.variadic = true;
            } else {
                self.parameter()?;
            }
            if !self.eat(b',') && !self.is(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(number)
    }

    fn parameter(&mut self) -> Parse<()> {
        let ty = self.ty()?;
        let by_value = self.attributes()?;
        let token = self.token();
        let name = (token.kind == Kind::Local).then(|| self.bump());
        let local = self.define_local(name, ty, self.span_of(token))?;
        self.body.function.parameters.push(Parameter { local, by_value });
        Ok(())
    }

    /// Attributes of a value, with the type in `byval(type)`.
    pub fn attributes(&mut self) -> Parse<Option<Type>> {
        let Some(by_value) = self.skip_attributes() else { return Ok(None) };
        let end = std::mem::replace(&mut self.at, by_value + 1);
        let ty = self.ty()?;
        self.at = end;
        Ok(Some(ty))
    }

    /// Skips attributes, linkage, calling conventions and whatever else is words before a type or a value or after an
    /// instruction. Gives the parenthesis after `byval`.
    pub fn skip_attributes(&mut self) -> Option<usize> {
        let mut by_value = None;
        let start = self.at;
        loop {
            let token = self.token();
            match token.kind {
                Kind::Word => {
                    let word = self.str(token);
                    let ends = self.at_type() || self.at_constant() || super::instructions::is_opcode(word);
                    if ends || matches!(word, "to" | "asm" | "personality") || (token.starts_line && self.at > start) {
                        return by_value;
                    }
                    self.at += 1;
                    if self.is(b'(') {
                        if word == "byval" {
                            by_value = Some(self.at);
                        }
                        self.skip_balanced();
                    } else if matches!(word, "align" | "cc" | "alignstack") && self.token().kind == Kind::Integer {
                        self.at += 1;
                    }
                }
                Kind::String => {
                    self.at += 1;
                    if self.eat(b'=') {
                        self.bump();
                    }
                }
                Kind::Attributes => self.at += 1,
                _ => return by_value,
            }
        }
    }
}
