//! What parsers have in common: what they say where something else was expected, the end of a statement, and limits on
//! nesting and on operators.
//!
//! The limits exist because everything that walks the tree afterwards does so by recursion; a chain of operators is a
//! tree as deep as it is long.

use super::cursor::Cursor;
use super::token::{LineToken, Token, TokenClass};
use crate::Diagnostic;
use crate::suggest::did_you_mean;
use ravelin_program::Span;

/// A syntax error was found and has been reported.
pub struct SyntaxError;

pub type Parse<T> = Result<T, SyntaxError>;

/// How deeply blocks and expressions may be nested in each other.
const MAX_DEPTH: usize = 128;
/// How many operators one statement may hold.
const MAX_OPERATORS: usize = 400;

/// Errors of a text that may come with a suggestion. A file that is no program at all has very many errors.
const MOST_SUGGESTIONS: usize = 500;

/// How much is open at a place of a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// Blocks and expressions around this place.
    pub depth: usize,
    /// Operators of this statement so far.
    pub operators: usize,
}

/// A parser over a [`Cursor`]. What it needs of a language stands first, what follows from it afterwards.
pub trait TokenParser<'a> {
    type Token: for<'s> Token<Symbol<'s> = &'s str> + 'a;

    /// What a word that cannot be a name is called: `keyword` or `reserved word`.
    const RESERVED: &'static str;

    fn cursor(&mut self) -> &mut Cursor<'a, Self::Token>;
    fn diagnostics(&mut self) -> &mut Vec<Diagnostic>;
    fn is_reserved(word: &str) -> bool;

    fn report(&mut self, diagnostic: Diagnostic) -> SyntaxError {
        self.diagnostics().push(diagnostic);
        SyntaxError
    }

    /// What stands here, for messages.
    fn found(&mut self) -> String {
        let cursor = self.cursor();
        let quote = cursor.quote(cursor.span());
        match cursor.token().class() {
            TokenClass::End => "the end of the file".to_owned(),
            TokenClass::Word if Self::is_reserved(quote) => format!("the {} `{quote}`", Self::RESERVED),
            _ => format!("`{quote}`"),
        }
    }

    fn expect(&mut self, symbol: &str, why: &str) -> Parse<()> {
        if self.cursor().eat(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}` {why}"))) }
    }

    fn expect_word(&mut self, word: &str, why: &str) -> Parse<()> {
        if self.cursor().eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}` {why}"))) }
    }

    /// Reports that something else was expected here. What is missing has been reported already.
    fn expected(&mut self, what: &str) -> SyntaxError {
        self.expected_word(what, [])
    }

    /// The same where one of some words would have been accepted.
    fn expected_word<'b>(&mut self, what: &str, words: impl IntoIterator<Item = &'b str>) -> SyntaxError {
        if self.cursor().token().class() == TokenClass::Missing {
            return SyntaxError;
        }
        let message = format!("expected {what}, found {}", self.found());
        let mut diagnostic = Diagnostic::error(self.cursor().span(), message);
        if self.diagnostics().len() < MOST_SUGGESTIONS {
            diagnostic.help = self.cursor().word().and_then(|word| did_you_mean(word, words));
        }
        self.report(diagnostic)
    }
}

/// A parser of a language whose blocks and expressions are in each other.
pub trait NestedParser<'a>: TokenParser<'a> {
    /// What can be done about a statement that is nested too deeply, and about one with too many operators.
    const SIMPLIFY: [Option<&'static str>; 2];

    fn open(&mut self) -> &mut Open;

    /// Runs a parser one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.open().depth >= MAX_DEPTH {
            let message = format!("blocks and expressions are nested more than {MAX_DEPTH} deep here");
            return Err(self.too_much(message, Self::SIMPLIFY[0]));
        }
        self.open().depth += 1;
        let result = parse(self);
        self.open().depth -= 1;
        result
    }

    /// Counts the operator that stands here.
    fn count_operator(&mut self) -> Parse<()> {
        self.open().operators += 1;
        if self.open().operators <= MAX_OPERATORS {
            return Ok(());
        }
        let message = format!("one statement may hold {MAX_OPERATORS} operators, and this one holds more");
        Err(self.too_much(message, Self::SIMPLIFY[1]))
    }

    fn too_much(&mut self, message: String, help: Option<&str>) -> SyntaxError {
        let mut diagnostic = Diagnostic::error(self.cursor().span(), message);
        diagnostic.help = help.map(str::to_owned);
        self.report(diagnostic)
    }
}

/// What parsers of languages with `;` at the ends of statements have in common.
pub trait StatementParser<'a>: TokenParser<'a, Token = LineToken> {
    /// Takes the `;` after a complete statement. One that is missing at the end of a line, of a block or of the text is
    /// reported, and nothing is skipped.
    fn end_statement(&mut self, after: &str) -> Parse<()> {
        if self.cursor().eat(";") {
            return Ok(());
        }
        let message = format!("expected `;` after {after}, found {}", self.found());
        let cursor = self.cursor();
        let (ends_line, end) = (cursor.token().starts_line || cursor.is_end(), cursor.last_end());
        let ends = ends_line || cursor.is("}");
        let span = if ends_line { Span::new(end, end) } else { cursor.span() };
        let reported = self.report(Diagnostic::error(span, message).with_label("expected `;`"));
        if ends { Ok(()) } else { Err(reported) }
    }
}

impl<'a, P: TokenParser<'a, Token = LineToken>> StatementParser<'a> for P {}
