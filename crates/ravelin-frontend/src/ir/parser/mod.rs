//! Tokens of LLVM IR to a [`Module`].
//!
//! Names of globals and functions are collected first, because they are used before they are defined. Everything else is
//! read in one pass. After an error the parser goes on at the next line.

mod body;
mod calls;
mod constants;
mod globals;
mod instructions;
mod metadata;
mod types;

use super::lexer::{self, Kind, Token};
use super::module::{Constant, Function, Module, NamedStruct};
use super::verify::verify;
use crate::Diagnostic;
use crate::parsing::{Cursor, Parse, SyntaxError, Token as _};
use body::Body;
use ravelin_program::Span;
use std::borrow::Cow;
use std::collections::HashMap;

/// Errors that are reported about one text.
const MOST_ERRORS: usize = 20;

/// Types and constants in each other. It also bounds the depth of what is built, and so of what walks down it.
const DEEPEST: usize = 48;

/// What a global name stands for.
#[derive(Clone, Copy, Debug)]
enum Symbol {
    Global(usize),
    Function(usize),
    /// Another name for the one in this token.
    Alias(Token),
    /// An alias of a part of something, or a function that is chosen when the program starts.
    Unsupported(&'static str),
}

struct Parser<'a> {
    cursor: Cursor<'a, Token>,
    /// How many types and constants are being read, one in the other.
    depth: usize,
    /// How many parts of types may still be copied from one type to another.
    copies: usize,
    module: Module,
    structs: HashMap<Cow<'a, str>, usize>,
    symbols: HashMap<Cow<'a, str>, Symbol>,
    body: Body<'a>,
    diagnostics: Vec<Diagnostic>,
}

pub fn read(text: &str) -> Result<Module, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diagnostic::error(Span::NOWHERE, "a text of more than 4 GiB is not read")]);
    }
    let mut parser = Parser {
        cursor: Cursor::new(text, lexer::tokens(text)),
        depth: 0,
        copies: 1_000_000 + text.len(),
        module: Module::default(),
        structs: HashMap::new(),
        symbols: HashMap::new(),
        body: Body::default(),
        diagnostics: Vec::new(),
    };
    parser.collect_symbols();
    parser.module_text();
    let Parser { mut module, mut diagnostics, .. } = parser;
    if !diagnostics.is_empty() {
        crate::diagnostic::tidy(&mut diagnostics, MOST_ERRORS);
        return Err(diagnostics);
    }
    for function in module.functions.iter().filter(|function| !function.is_declaration()) {
        diagnostics.extend(verify(function));
        if diagnostics.len() > MOST_ERRORS {
            break;
        }
    }
    if !diagnostics.is_empty() {
        crate::diagnostic::tidy(&mut diagnostics, MOST_ERRORS);
        return Err(diagnostics);
    }
    name_variables(&mut module);
    Ok(module)
}

/// Fills in the names of local variables, which stand at the end of a text.
fn name_variables(module: &mut Module) {
    for function in &mut module.functions {
        function.variables.retain_mut(|variable| match module.debug.local_name(variable.node) {
            Some(name) => {
                name.clone_into(&mut variable.name);
                true
            }
            None => false,
        });
    }
}

// The module.

impl<'a> Parser<'a> {
    /// Finds what defines a name: only there a `=` follows it, or `define` or `declare` stands before it.
    fn collect_symbols(&mut self) {
        let mut at = 0;
        while self.cursor.nth(at).kind != Kind::End {
            let token = self.cursor.nth(at);
            at += 1;
            match token.kind {
                Kind::Word if matches!(self.cursor.text_of(token), "define" | "declare") => {
                    while !matches!(self.cursor.nth(at).kind, Kind::Global | Kind::End | Kind::Symbol(b'{')) {
                        at += 1;
                    }
                    // A return type may begin with a brace.
                    while !matches!(self.cursor.nth(at).kind, Kind::Global | Kind::End)
                        && !self.cursor.nth(at).starts_line
                    {
                        at += 1;
                    }
                    let found = self.cursor.nth(at);
                    if found.kind == Kind::Global {
                        let name = self.name_of(found);
                        let symbol = Symbol::Function(self.module.functions.len());
                        self.module.functions.push(Function::named(&name, found.span()));
                        self.define_symbol(name, symbol, found);
                    }
                }
                Kind::Global if self.cursor.nth(at).kind == Kind::Symbol(b'=') => {
                    let name = self.name_of(token);
                    let symbol = self.global_symbol(at + 1);
                    if let Symbol::Global(_) = symbol {
                        let global = globals::unread(name.to_string(), token.span());
                        self.module.globals.push(global);
                    }
                    self.define_symbol(name, symbol, token);
                }
                _ => {}
            }
        }
    }

    /// What a `@name =` defines: its linkage and so on come before the word that says it.
    fn global_symbol(&self, mut at: usize) -> Symbol {
        loop {
            let token = self.cursor.nth(at);
            at += 1;
            // Not beyond the next definition, also where many stand on one line.
            if matches!(token.kind, Kind::End | Kind::Symbol(b'=')) || token.starts_line {
                return Symbol::Global(self.module.globals.len());
            }
            match self.cursor.text_of(token) {
                "ifunc" => return Symbol::Unsupported("ifunc"),
                "alias" => break,
                "global" | "constant" => return Symbol::Global(self.module.globals.len()),
                _ => {}
            }
        }
        // The name is last, and not in parentheses.
        let mut last = self.cursor.nth(at);
        let mut depth = 0usize;
        while !self.cursor.nth(at).starts_line && !matches!(self.cursor.nth(at).kind, Kind::End | Kind::Symbol(b'=')) {
            match self.cursor.nth(at).kind {
                Kind::Symbol(b'(' | b'[' | b'{') => depth += 1,
                Kind::Symbol(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Kind::Symbol(b',') if depth == 0 && last.kind == Kind::Global => break,
                _ => {}
            }
            last = self.cursor.nth(at);
            at += 1;
        }
        if last.kind == Kind::Global { Symbol::Alias(last) } else { Symbol::Unsupported("alias") }
    }

    fn define_symbol(&mut self, name: Cow<'a, str>, symbol: Symbol, token: Token) {
        if self.symbols.contains_key(&name) {
            self.error(token.span(), format!("`@{}` is defined twice", shown(&name)));
        }
        self.symbols.insert(name, symbol);
    }

    /// The constant that a global name stands for.
    fn symbol(&mut self, token: Token) -> Parse<Constant> {
        let mut name = self.name_of(token);
        // Aliases of aliases are rare, and may be circular.
        for _ in 0..16 {
            match self.symbols.get(&name) {
                Some(Symbol::Global(number)) => return Ok(Constant::Global(*number)),
                Some(Symbol::Function(number)) => return Ok(Constant::Function(*number)),
                Some(Symbol::Unsupported(what)) => return Ok(Constant::Unsupported((*what).to_owned())),
                Some(Symbol::Alias(target)) => name = self.name_of(*target),
                None => return self.fail(token.span(), format!("`@{}` is not defined", shown(&name))),
            }
        }
        Ok(Constant::Unsupported("alias".to_owned()))
    }

    fn module_text(&mut self) {
        while !self.cursor.is_end() && self.diagnostics.len() < MOST_ERRORS {
            let before = self.cursor.at;
            self.depth = 0;
            if self.top_level().is_err() {
                self.cursor.at = self.cursor.at.max(before + 1);
                self.skip_line();
            }
        }
    }

    fn top_level(&mut self) -> Parse<()> {
        let token = self.cursor.token();
        match token.kind {
            Kind::Word => match self.cursor.text_of(token) {
                "define" => self.definition(),
                "declare" => self.declaration(),
                "target" => {
                    self.cursor.at += 1;
                    if self.cursor.eat_word("triple")
                        && self.cursor.eat(b'=')
                        && self.cursor.token().kind == Kind::String
                    {
                        self.module.target = Some(self.string());
                    }
                    self.skip_line();
                    Ok(())
                }
                "source_filename" | "module" | "attributes" | "uselistorder" | "uselistorder_bb" | "deplibs" => {
                    self.cursor.at += 1;
                    self.skip_statement();
                    Ok(())
                }
                word if word.starts_with('$') => {
                    self.cursor.at += 1;
                    self.skip_line();
                    Ok(())
                }
                _ => self.unexpected("a definition"),
            },
            Kind::Local => self.struct_definition(),
            Kind::Global => self.global_definition(),
            Kind::Metadata => self.metadata_definition(),
            Kind::MetadataName | Kind::Summary => {
                self.cursor.at += 1;
                self.skip_statement();
                Ok(())
            }
            _ => self.unexpected("a definition"),
        }
    }

    fn struct_definition(&mut self) -> Parse<()> {
        let token = self.cursor.bump();
        self.expect(b'=')?;
        self.expect_word("type")?;
        let name = self.name_of(token);
        let number = self.named_struct(name);
        if self.cursor.eat_word("opaque") {
            return Ok(());
        }
        let body = self.ty()?;
        if self.module.structs[number].body.replace(body).is_some() {
            let name = self.name_of(token);
            return self.fail(token.span(), format!("`%{}` is defined twice", shown(&name)));
        }
        Ok(())
    }

    /// The number of a named struct, which may be defined later.
    fn named_struct(&mut self, name: Cow<'a, str>) -> usize {
        if let Some(number) = self.structs.get(&name) {
            return *number;
        }
        let number = self.module.structs.len();
        self.module.structs.push(NamedStruct { name: name.to_string(), body: None });
        self.structs.insert(name, number);
        number
    }
}

// Tokens.

impl<'a> Parser<'a> {
    /// From a token to the last one that was consumed, or that token.
    fn span_from(&self, start: usize) -> Span {
        let last = self.cursor.nth(self.cursor.at.saturating_sub(1).max(start));
        self.cursor.nth(start).span().to(last.span())
    }

    /// The name in a token that begins with `%` or `@`.
    fn name_of(&self, token: Token) -> Cow<'a, str> {
        lexer::name(self.cursor.text_of(token), 1)
    }

    fn expect(&mut self, symbol: u8) -> Parse<()> {
        if self.cursor.eat(symbol) { Ok(()) } else { self.unexpected(&format!("`{}`", char::from(symbol))) }
    }

    fn expect_word(&mut self, word: &str) -> Parse<()> {
        if self.cursor.eat_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`")) }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parse<T> {
        let token = self.cursor.token();
        match (token.kind, self.cursor.text_of(token).parse()) {
            (Kind::Integer, Ok(number)) => {
                self.cursor.at += 1;
                Ok(number)
            }
            _ => self.unexpected("a number"),
        }
    }

    /// The text of a string token.
    fn string(&mut self) -> String {
        let token = self.cursor.bump();
        let quoted = self.cursor.text_of(token).trim_matches('"');
        String::from_utf8_lossy(&lexer::unescape(quoted)).into_owned()
    }

    /// Skips from an opening bracket to its closing one, whatever is between them. Angle brackets are ignored, because
    /// they are also part of operators.
    fn skip_balanced(&mut self) {
        let mut depth = 0usize;
        while !self.cursor.is_end() {
            match self.cursor.bump().kind {
                Kind::Symbol(b'(' | b'[' | b'{') => depth += 1,
                Kind::Symbol(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips to the first token of the next line.
    fn skip_line(&mut self) {
        self.cursor.skip_until(|token| token.starts_line);
    }

    /// Skips to the first token of the next line that is not in brackets.
    fn skip_statement(&mut self) {
        while !self.cursor.is_end() && !self.cursor.token().starts_line {
            self.skip_balanced();
        }
    }

    // Errors.

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn fail<T>(&mut self, span: Span, message: impl Into<String>) -> Parse<T> {
        self.error(span, message);
        Err(SyntaxError)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Parse<T> {
        let token = self.cursor.token();
        let found = match token.kind {
            Kind::End => "the text ends".to_owned(),
            _ => format!("found `{}`", shown(self.cursor.text_of(token))),
        };
        self.fail(token.span(), format!("{found} where {wanted} should be"))
    }

    /// Reads something that may contain others of its kind.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            return self.fail(self.cursor.span(), "types or constants are nested too deeply");
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

/// A piece of the text that is short enough for a message.
fn shown(text: &str) -> String {
    text.escape_debug().take(60).collect()
}
