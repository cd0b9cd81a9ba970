//! Global variables, and the heads of functions.

use super::body::Body;
use super::{Kind, Parse, Parser};
use crate::ir::module::{Function, Global, Parameter, Type};
use crate::parsing::Token as _;
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
        let start = self.cursor.at;
        let token = self.cursor.bump();
        self.expect(b'=')?;
        let Some(super::Symbol::Global(number)) = self.symbols.get(&self.name_of(token)).copied() else {
            // Aliases were read with the symbols.
            self.skip_statement();
            return Ok(());
        };
        let mut external = false;
        let mut thread_local = false;
        let constant = loop {
            let Some(word) = self.cursor.word() else { return self.unexpected("`global` or `constant`") };
            self.cursor.at += 1;
            match word {
                "global" => break false,
                "constant" => break true,
                "external" | "extern_weak" => external = true,
                "thread_local" => thread_local = true,
                _ => {}
            }
            if self.cursor.is(b'(') {
                self.skip_balanced();
            }
        };
        let ty = self.ty()?;
        let initial = match !external && self.at_constant() {
            true => Some(self.constant(&ty)?),
            false => None,
        };
        let (mut align, mut debug) = (None, None);
        while !self.cursor.is_end() && !self.cursor.token().starts_line {
            if self.cursor.eat_word("align") {
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
        self.cursor.bump();
        self.body = Body::default();
        let mut debug = None;
        while let Some(node) = self.attachment() {
            debug = debug.or(node);
        }
        let Some(number) = self.head()? else { return Ok(()) };
        while !self.cursor.is_end() && !self.cursor.token().starts_line {
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
        self.cursor.bump();
        self.body = Body::default();
        let number = self.head();
        if number.is_err() {
            // The body would only be misunderstood without its parameters.
            while !self.cursor.is_end() && !self.cursor.is(b'{') {
                self.cursor.at += 1;
            }
            self.skip_balanced();
        }
        let number = number?;
        let mut debug = None;
        while !self.cursor.is(b'{') {
            if self.cursor.is_end() {
                return self.unexpected("`{`");
            }
            if matches!(self.cursor.word(), Some("personality" | "prefix" | "prologue")) {
                self.cursor.at += 1;
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
        let token = self.cursor.token();
        if token.kind != Kind::Global {
            return self.unexpected("the name of a function");
        }
        self.cursor.at += 1;
        let name = self.name_of(token);
        let number = match self.symbols.get(&name) {
            Some(super::Symbol::Function(number)) => Some(*number),
            _ => None,
        };
        self.body.function = Function::named(&name, token.span());
        self.body.function.returns = returns;
        self.expect(b'(')?;
        while !self.cursor.eat(b')') {
            if self.cursor.eat_word("...") {
                self.body.function.variadic = true;
            } else {
                self.parameter()?;
            }
            if !self.cursor.eat(b',') && !self.cursor.is(b')') {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(number)
    }

    fn parameter(&mut self) -> Parse<()> {
        let ty = self.ty()?;
        let by_value = self.attributes()?;
        let token = self.cursor.token();
        let name = (token.kind == Kind::Local).then(|| self.cursor.bump());
        let local = self.define_local(name, ty, token.span())?;
        self.body.function.parameters.push(Parameter { local, by_value });
        Ok(())
    }

    /// Attributes of a value, with the type in `byval(type)`.
    pub fn attributes(&mut self) -> Parse<Option<Type>> {
        let Some(by_value) = self.skip_attributes() else { return Ok(None) };
        let end = std::mem::replace(&mut self.cursor.at, by_value + 1);
        let ty = self.ty()?;
        self.cursor.at = end;
        Ok(Some(ty))
    }

    /// Skips attributes, linkage, calling conventions and whatever else is words before a type or a value or after an
    /// instruction. Gives the parenthesis after `byval`.
    pub fn skip_attributes(&mut self) -> Option<usize> {
        let mut by_value = None;
        let start = self.cursor.at;
        loop {
            let token = self.cursor.token();
            match token.kind {
                Kind::Word => {
                    let word = self.cursor.text_of(token);
                    let ends = self.at_type() || self.at_constant() || super::instructions::is_opcode(word);
                    if ends
                        || matches!(word, "to" | "asm" | "personality")
                        || (token.starts_line && self.cursor.at > start)
                    {
                        return by_value;
                    }
                    self.cursor.at += 1;
                    if self.cursor.is(b'(') {
                        if word == "byval" {
                            by_value = Some(self.cursor.at);
                        }
                        self.skip_balanced();
                    } else if matches!(word, "align" | "cc" | "alignstack") && self.cursor.token().kind == Kind::Integer
                    {
                        self.cursor.at += 1;
                    }
                }
                Kind::String => {
                    self.cursor.at += 1;
                    if self.cursor.eat(b'=') {
                        self.cursor.bump();
                    }
                }
                Kind::Attributes => self.cursor.at += 1,
                _ => return by_value,
            }
        }
    }
}
