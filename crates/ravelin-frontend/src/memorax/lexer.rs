//! Text to tokens. Lexing never stops: characters that mean nothing are reported, once for each run of them, and skipped.

use crate::Diagnostic;
use crate::parsing::{self, TokenClass, TokenKind};
use ravelin_program::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Where it is written, which for a token that a macro produced is in the definition or in an argument.
    pub span: Span,
    /// The number of the macro definition it is written in; 0 outside of them. Only places in one region can be joined.
    pub region: u32,
    /// The outermost use of a macro that produced it, if it is written in a definition.
    pub used_at: Option<Span>,
}

impl parsing::Token for Token {
    type Symbol<'s> = &'s str;

    fn class(self) -> TokenClass {
        self.kind.class()
    }

    fn span(self) -> Span {
        self.span
    }

    fn is_symbol(self, _: &str, symbol: &str) -> bool {
        self.kind.is_symbol(symbol)
    }
}

/// Longer ones first, so that the first match is the longest.
const SYMBOLS: &[&str] = &[
    ":=", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", "[", "]", ";", ":", ",", "=", "<", ">", "+", "-", "*", "@",
];

/// Words that cannot be names.
const RESERVED: &[&str] = &[
    "assume",
    "cas",
    "data",
    "do",
    "either",
    "else",
    "endmacro",
    "false",
    "fence",
    "forbidden",
    "goto",
    "if",
    "llfence",
    "locked",
    "macro",
    "me",
    "my",
    "nop",
    "not",
    "or",
    "other",
    "predicates",
    "process",
    "read",
    "registers",
    "slocked",
    "ssfence",
    "syncrd",
    "syncwr",
    "text",
    "then",
    "true",
    "while",
    "write",
];

pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// The tokens of a text, without the end.
pub fn lex(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(end) => at += end + 4,
                None => {
                    let open = Span::new(at, at + 2);
                    let diagnostic = Diagnostic::error(open, "this comment is never closed");
                    diagnostics.push(diagnostic.with_help("end it with `*/`"));
                    at = text.len();
                }
            }
            continue;
        }
        let (kind, length) = if next.is_ascii_alphabetic() || next == '_' {
            (TokenKind::Word, word_length(rest))
        } else if next == '$' && word_length(&rest[1..]) > 0 {
            (TokenKind::Register, 1 + word_length(&rest[1..]))
        } else if next.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let value = rest[..length].parse::<i64>();
            if value.is_err() {
                diagnostics.push(
                    Diagnostic::error(Span::new(at, at + length), "this integer does not fit in 64 bits")
                        .with_note("`Z` stands for all integers, but only those of 64 bits are computed with"),
                );
            }
            (TokenKind::Number(value.unwrap_or(0).unsigned_abs()), length)
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (TokenKind::Symbol(symbol), symbol.len())
        } else {
            let length =
                rest[next.len_utf8()..].find(|c: char| c.is_ascii()).map_or(rest.len(), |n| n + next.len_utf8());
            diagnostics.push(nonsense(&rest[..length], Span::new(at, at + length)));
            at += length;
            continue;
        };
        tokens.push(Token { kind, span: Span::new(at, at + length), region: 0, used_at: None });
        at += length;
    }
    tokens
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn nonsense(text: &str, span: Span) -> Diagnostic {
    let shown: String = text.escape_debug().take(40).collect();
    let mut diagnostic = Diagnostic::error(span, format!("`{shown}` means nothing here"));
    diagnostic.help = match text {
        "$" => Some("a register is `$` and a name without a blank between them: `$r`".to_owned()),
        "|" | "&" => Some(format!("conditions are joined by `{text}{text}`")),
        "!" => Some("the opposite of a condition is written `not [ … ]`".to_owned()),
        "/" => Some("comments are written `/* … */`".to_owned()),
        _ => None,
    };
    diagnostic
}
