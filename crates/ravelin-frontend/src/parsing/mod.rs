//! What the parsers of several languages share: tokens, a cursor over them, and what a parser says and does after an
//! error. Each language adds its grammar.

mod cursor;
mod lexeme;
mod parser;
mod token;

pub use cursor::Cursor;
pub use lexeme::Lexer;
pub use parser::{NestedParser, Open, Parse, StatementParser, SyntaxError, TokenParser};
pub use token::{LineToken, Token, TokenClass, TokenKind};
