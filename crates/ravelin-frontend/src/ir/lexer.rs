//! The tokens of a text of LLVM IR. Any text has some: bytes that mean nothing become [`Kind::Unknown`], which only
//! matters where the parser meets it.

use crate::parsing::{self, TokenClass};
use ravelin_program::Span;
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword, a type such as `i32`, an attribute, `$name` or `...`.
    Word,
    /// `name:`, `12:` or `"name":`, with the colon.
    Label,
    /// `%name`, `%"name"`, `%12`.
    Local,
    /// `@name`.
    Global,
    /// `!12`.
    Metadata,
    /// `!name`.
    MetadataName,
    /// `#12`.
    Attributes,
    /// `#dbg_value`.
    Record,
    Integer,
    Float,
    /// `"text"`, with its quotes.
    String,
    /// `c"text"`.
    Bytes,
    Symbol(u8),
    /// `^12`, of a summary.
    Summary,
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    /// The first token of its line.
    pub starts_line: bool,
    pub start: u32,
    pub end: u32,
}

impl parsing::Token for Token {
    /// One byte.
    type Symbol<'s> = u8;

    fn class(self) -> TokenClass {
        match self.kind {
            Kind::Word => TokenClass::Word,
            Kind::End => TokenClass::End,
            _ => TokenClass::Other,
        }
    }

    fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }

    fn is_symbol(self, _: &str, symbol: u8) -> bool {
        self.kind == Kind::Symbol(symbol)
    }
}

/// All tokens of a text of less than 4 GiB; the last one is [`Kind::End`].
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0 };
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let mut starts_line = true;
    loop {
        starts_line |= lexer.skip_space();
        let start = lexer.at;
        let kind = lexer.token();
        tokens.push(Token { kind, starts_line, start: start as u32, end: lexer.at as u32 });
        starts_line = false;
        if kind == Kind::End {
            return tokens;
        }
    }
}

/// The name in a token such as `%name` or `@"na\6De"`, of which `start` bytes come before the name. What was quoted
/// although it is a number stays quoted, because it is another name than the number.
pub fn name(token: &str, start: usize) -> Cow<'_, str> {
    let name = token.get(start..).unwrap_or("");
    let Some(quoted) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Cow::Borrowed(name);
    };
    if !quoted.is_empty() && quoted.bytes().all(|byte| byte.is_ascii_digit()) {
        return Cow::Borrowed(name);
    }
    if !quoted.contains('\\') {
        return Cow::Borrowed(quoted);
    }
    match String::from_utf8(unescape(quoted)) {
        Ok(name) => Cow::Owned(name),
        Err(_) => Cow::Borrowed(quoted),
    }
}

/// The bytes between two quotes: `\0A` is one byte, and so is `\\`.
pub fn unescape(quoted: &str) -> Vec<u8> {
    let bytes = quoted.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    let mut result = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte != b'\\' {
            result.push(byte);
        } else if bytes.get(at) == Some(&b'\\') {
            result.push(b'\\');
            at += 1;
        } else if let (Some(high), Some(low)) = (digit(at), digit(at + 1)) {
            result.push((high * 16 + low) as u8);
            at += 2;
        } else {
            result.push(b'\\');
        }
    }
    result
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    /// Skips white space and comments. Returns whether a line ended.
    fn skip_space(&mut self) -> bool {
        let mut newline = false;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => newline = true,
                b' ' | b'\t' | b'\r' | 0 => {}
                b';' => {
                    self.skip_while(|byte| byte != b'\n');
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        newline
    }

    fn token(&mut self) -> Kind {
        let Some(byte) = self.peek(0) else { return Kind::End };
        match byte {
            b'%' => self.named(Kind::Local),
            b'@' => self.named(Kind::Global),
            b'!' => match self.peek(1) {
                Some(next) if next.is_ascii_digit() => self.numbered(Kind::Metadata),
                Some(next) if is_word(next) || next == b'\\' => {
                    self.at += 1;
                    self.skip_while(|byte| is_word(byte) || byte == b'\\');
                    Kind::MetadataName
                }
                _ => self.symbol(),
            },
            b'#' => match self.peek(1) {
                Some(next) if next.is_ascii_digit() => self.numbered(Kind::Attributes),
                Some(next) if next.is_ascii_alphabetic() => {
                    self.at += 1;
                    self.skip_while(is_word);
                    Kind::Record
                }
                _ => self.symbol(),
            },
            b'^' => self.numbered(Kind::Summary),
            b'"' => {
                if !self.string() {
                    return Kind::Unknown;
                }
                self.label_or(Kind::String)
            }
            b'0'..=b'9' => self.number(),
            b'-' | b'+' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'=' | b',' | b'*' | b'|' | b'/' | b':' => {
                self.symbol()
            }
            _ if is_word(byte) => self.word(),
            _ => {
                // Other characters than ASCII are skipped as a whole.
                self.at += 1;
                self.skip_while(|byte| byte & 0xc0 == 0x80);
                Kind::Unknown
            }
        }
    }

    fn peek(&self, distance: usize) -> Option<u8> {
        self.bytes.get(self.at + distance).copied()
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn symbol(&mut self) -> Kind {
        let symbol = self.bytes[self.at];
        self.at += 1;
        Kind::Symbol(symbol)
    }

    /// A sign and digits.
    fn numbered(&mut self, kind: Kind) -> Kind {
        self.at += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        kind
    }

    /// A sign and a name, which may be quoted.
    fn named(&mut self, kind: Kind) -> Kind {
        self.at += 1;
        match self.peek(0) {
            Some(b'"') if self.string() => kind,
            Some(next) if is_word(next) => {
                self.skip_while(is_word);
                kind
            }
            _ => Kind::Unknown,
        }
    }

    /// From one quote to the next; without that, to the end of the text.
    fn string(&mut self) -> bool {
        self.at += 1;
        self.skip_while(|byte| byte != b'"');
        let closed = self.at < self.bytes.len();
        self.at += usize::from(closed);
        closed
    }

    fn label_or(&mut self, otherwise: Kind) -> Kind {
        match self.peek(0) {
            Some(b':') => {
                self.at += 1;
                Kind::Label
            }
            _ => otherwise,
        }
    }

    fn number(&mut self) -> Kind {
        let hexadecimal = self.peek(0) == Some(b'0') && self.peek(1) == Some(b'x');
        self.at += 1;
        if hexadecimal {
            self.skip_while(|byte| byte.is_ascii_alphanumeric());
            return Kind::Float;
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek(0) != Some(b'.') {
            return self.label_or(Kind::Integer);
        }
        self.at += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        Kind::Float
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(is_word);
        let word = &self.bytes[start..self.at];
        if self.peek(0) == Some(b'"') && (word == b"c" || word == b"$") {
            return match self.string() {
                true if word == b"c" => Kind::Bytes,
                true => Kind::Word,
                false => Kind::Unknown,
            };
        }
        self.label_or(Kind::Word)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'.' | b'_' | b'-')
}
