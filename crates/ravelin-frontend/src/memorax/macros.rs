//! Macros: sequences of tokens with parameters, put in the place of their uses before anything else is understood.
//!
//! A macro is defined before it is used, definitions do not nest, and a macro that uses itself is an error. Arguments are
//! expanded first; what stands in a body is expanded after they have been put in. Because sizes multiply with every
//! level, the number of tokens made this way is limited.

use super::lexer::{Token, is_reserved};
use crate::Diagnostic;
use crate::parsing::TokenKind;
use crate::suggest::did_you_mean;
use ravelin_program::Span;
use std::collections::HashMap;

/// How many tokens the expansion of a file may handle.
const MAX_TOKENS: usize = 200_000;
/// How deeply uses may be nested in arguments and bodies.
const MAX_DEPTH: usize = 64;

/// Replaces every use of a macro; definitions disappear.
pub fn expand(text: &str, tokens: &[Token], diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut names = HashMap::new();
    for pair in tokens.windows(2) {
        if quote(text, pair[0]) == "macro" && pair[1].kind == TokenKind::Word {
            names.entry(quote(text, pair[1])).or_insert(pair[1].span);
        }
    }
    let mut expander = Expander {
        text,
        macros: Vec::new(),
        known: HashMap::new(),
        names,
        handled: 0,
        exhausted: false,
        active: Vec::new(),
        outermost: None,
        diagnostics,
    };
    let mut out = Vec::new();
    expander.file(tokens, &mut out);
    out
}

struct Macro<'a> {
    name: &'a str,
    span: Span,
    parameters: Vec<&'a str>,
    body: Vec<Token>,
}

struct Expander<'a, 'd> {
    text: &'a str,
    macros: Vec<Macro<'a>>,
    known: HashMap<&'a str, usize>,
    /// Every name defined anywhere, to tell one that comes too late from one that does not exist.
    names: HashMap<&'a str, Span>,
    handled: usize,
    exhausted: bool,
    /// The macros whose bodies are being expanded, outermost first.
    active: Vec<usize>,
    outermost: Option<Span>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Expander<'a, '_> {
    fn file(&mut self, tokens: &[Token], out: &mut Vec<Token>) {
        let mut start = 0;
        while let Some(found) = tokens[start..].iter().position(|&token| quote(self.text, token) == "macro") {
            self.sequence(&tokens[start..start + found], 0, out);
            start += found;
            start += self.definition(&tokens[start..]);
        }
        self.sequence(&tokens[start..], 0, out);
    }

    /// Takes a definition that starts with the first token; tells how many tokens it has.
    fn definition(&mut self, tokens: &[Token]) -> usize {
        let word = |index: usize| tokens.get(index).map_or("", |&token| quote(self.text, token));
        let Some(end) = (1..tokens.len()).find(|&index| word(index) == "endmacro") else {
            self.diagnostics.push(
                Diagnostic::error(tokens[0].span, "this macro is never closed").with_help("end it with `endmacro`"),
            );
            return tokens.len();
        };
        if let Some(nested) = (1..end).find(|&index| word(index) == "macro") {
            self.diagnostics.push(
                Diagnostic::error(tokens[nested].span, "a macro cannot be defined in another macro")
                    .with_secondary(tokens[0].span, "this one is not closed yet")
                    .with_help("end the first with `endmacro`"),
            );
        }
        let (Some(name), "(") = (tokens.get(1).filter(|token| token.kind == TokenKind::Word), word(2)) else {
            self.diagnostics.push(
                Diagnostic::error(tokens[0].span, "a definition begins with `macro NAME(`")
                    .with_help("`macro name() … endmacro`, with parameters between the parentheses if it has any"),
            );
            return end + 1;
        };
        let (name, span) = (quote(self.text, *name), name.span);
        if is_reserved(name) {
            self.diagnostics.push(Diagnostic::error(span, format!("`{name}` is a reserved word and cannot be a name")));
        }
        let mut parameters = Vec::new();
        let mut at = 3;
        while at < end && word(at) != ")" {
            let parameter = word(at);
            if tokens[at].kind != TokenKind::Word || is_reserved(parameter) {
                let message = format!("expected the name of a parameter, found `{parameter}`");
                self.diagnostics.push(Diagnostic::error(tokens[at].span, message));
            } else if parameters.contains(&parameter) {
                let message = format!("there are two parameters `{parameter}`");
                self.diagnostics.push(Diagnostic::error(tokens[at].span, message));
            } else {
                parameters.push(parameter);
            }
            at += 1;
            if word(at) == "," {
                at += 1;
            } else if word(at) != ")" {
                let message = "expected `,` or `)` after the name of a parameter";
                self.diagnostics.push(Diagnostic::error(tokens[at].span, message));
                at = end;
            }
        }
        let number = self.macros.len();
        let region = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let body = tokens.get(at + 1..end).unwrap_or_default();
        let body = body.iter().map(|&token| Token { region, ..token }).collect();
        if let Some(&earlier) = self.known.get(name) {
            self.diagnostics.push(
                Diagnostic::error(span, format!("there are two macros `{name}`"))
                    .with_secondary(self.macros[earlier].span, "the first one"),
            );
        }
        self.known.entry(name).or_insert(number);
        self.macros.push(Macro { name, span, parameters, body });
        end + 1
    }

    /// Expands a sequence without definitions.
    fn sequence(&mut self, tokens: &[Token], depth: usize, out: &mut Vec<Token>) {
        let mut at = 0;
        while at < tokens.len() && !self.exhausted {
            let token = tokens[at];
            let word = quote(self.text, token);
            let opens = tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Symbol("("));
            if token.kind == TokenKind::Word && opens && !is_reserved(word) {
                at += self.call(&tokens[at..], depth, out);
                continue;
            }
            if word == "endmacro" {
                let message = "this `endmacro` ends no macro";
                self.diagnostics.push(Diagnostic::error(token.span, message));
            } else if self.may_handle(token.span) {
                out.push(Token { used_at: self.outermost.filter(|_| token.region > 0), ..token });
            }
            at += 1;
        }
    }

    /// Expands the use with which the tokens begin; tells how many tokens it has.
    fn call(&mut self, tokens: &[Token], depth: usize, out: &mut Vec<Token>) -> usize {
        let name = quote(self.text, tokens[0]);
        let (arguments, length) = arguments(tokens);
        let span = match tokens[length - 1].region == tokens[0].region {
            true => tokens[0].span.to(tokens[length - 1].span),
            false => tokens[0].span,
        };
        let result = match arguments {
            None => Err(Box::new(Diagnostic::error(tokens[1].span, "this `(` is never closed"))),
            Some(arguments) => self.check(name, tokens[0].span, &arguments, depth).map(|found| (found, arguments)),
        };
        let (number, arguments) = match result {
            Ok(found) => found,
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                out.push(Token { kind: TokenKind::Missing, ..tokens[0] });
                return length;
            }
        };
        let is_outermost = self.outermost.is_none();
        if is_outermost {
            self.outermost = Some(span);
        }
        let mut expanded: Vec<Vec<Token>> = Vec::new();
        for argument in arguments {
            let mut tokens = Vec::new();
            self.sequence(argument, depth + 1, &mut tokens);
            expanded.push(tokens);
        }
        let mut body = Vec::new();
        for index in 0..self.macros[number].body.len() {
            let token = self.macros[number].body[index];
            let word = quote(self.text, token);
            let parameter = self.macros[number].parameters.iter().position(|&parameter| parameter == word);
            match parameter.filter(|_| token.kind == TokenKind::Word) {
                Some(parameter) if self.may_handle_many(expanded[parameter].len(), span) => {
                    body.extend_from_slice(&expanded[parameter]);
                }
                None if self.may_handle(span) => body.push(token),
                _ => break,
            }
        }
        self.active.push(number);
        self.sequence(&body, depth + 1, out);
        self.active.pop();
        if is_outermost {
            self.outermost = None;
        }
        length
    }

    /// Whether a use can be expanded, and which macro it means.
    fn check(&self, name: &str, span: Span, arguments: &[&[Token]], depth: usize) -> Result<usize, Box<Diagnostic>> {
        let Some(&number) = self.known.get(name) else {
            let mut diagnostic = Diagnostic::error(span, format!("there is no macro `{name}`"));
            match self.names.get(name) {
                Some(&later) => {
                    diagnostic.message = format!("the macro `{name}` is used before its definition");
                    diagnostic = diagnostic.with_secondary(later, "defined here");
                }
                None => {
                    let words = self.known.keys().copied().chain(["cas", "process"]);
                    diagnostic.help = did_you_mean(name, words);
                }
            }
            return Err(Box::new(diagnostic));
        };
        let found = &self.macros[number];
        if self.active.contains(&number) {
            let message = format!("the macro `{name}` uses itself");
            return Err(Box::new(Diagnostic::error(span, message).with_secondary(found.span, "defined here")));
        }
        if depth >= MAX_DEPTH {
            let message = format!("uses of macros are nested more than {MAX_DEPTH} deep here");
            return Err(Box::new(Diagnostic::error(span, message)));
        }
        if arguments.len() != found.parameters.len() {
            let wants = match found.parameters.len() {
                0 => "no argument".to_owned(),
                1 => "1 argument".to_owned(),
                count => format!("{count} arguments"),
            };
            let message = format!("the macro `{name}` takes {wants}, and this use has {}", arguments.len());
            return Err(Box::new(Diagnostic::error(span, message).with_secondary(found.span, "defined here")));
        }
        match arguments.iter().any(|argument| argument.is_empty()) {
            true => Err(Box::new(Diagnostic::error(span, format!("an argument of `{}` is empty", found.name)))),
            false => Ok(number),
        }
    }

    fn may_handle(&mut self, span: Span) -> bool {
        self.may_handle_many(1, span)
    }

    fn may_handle_many(&mut self, count: usize, span: Span) -> bool {
        self.handled = self.handled.saturating_add(count);
        if self.handled > MAX_TOKENS && !self.exhausted {
            self.exhausted = true;
            let message = format!("with its macros put in, the file has more than {MAX_TOKENS} words");
            self.diagnostics.push(Diagnostic::error(self.outermost.unwrap_or(span), message));
        }
        !self.exhausted
    }
}

/// The arguments of a use, which starts with a name and `(`, and its length up to the closing parenthesis. Without one, no
/// arguments, and the length of name and `(`.
fn arguments(tokens: &[Token]) -> (Option<Vec<&[Token]>>, usize) {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0usize, 2);
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token.kind {
            TokenKind::Symbol("(" | "[" | "{") => depth += 1,
            TokenKind::Symbol(")" | "]" | "}") => depth -= 1,
            TokenKind::Symbol(",") if depth == 1 => {
                found.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            if at > 2 {
                found.push(&tokens[start..at]);
            }
            return (Some(found), at + 1);
        }
    }
    (None, 2)
}

fn quote(text: &str, token: Token) -> &str {
    match token.kind {
        TokenKind::Missing => "",
        _ => text.get(token.span.start as usize..token.span.end as usize).unwrap_or(""),
    }
}
