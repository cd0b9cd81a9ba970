//! Where a Memorax text can be changed: between statements, and in braces that are added under an `if` or a `while`.
//!
//! The text is looked at before macros are put in, since that is what people read and what is changed. So what stands in a macro is one
//! place for all its uses, and before the use of a macro is another. This outline is a guess at which tokens are statements; whoever
//! uses it finds out what a change really does.

use super::edit::{EditPiece, EditPlace, PiecePart, before, indentation, newline, wrap_after, wrap_before};
use super::{FenceWords, TextOutline};
use crate::memorax::lexer::{Token, is_reserved, lex};
use crate::parsing::TokenKind;

/// Nested deeper than this no statements are looked for.
const MAX_DEPTH: i32 = 150;

pub fn outline(text: &str) -> TextOutline {
    let tokens = lex(text, &mut Vec::new());
    let outline = TextOutline::new(FenceWords::new("fence", Some("ssfence")));
    let mut walk = StatementWalk { text, tokens, at: 0, outline };
    walk.file();
    walk.outline
}

struct StatementWalk<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    outline: TextOutline,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoraxRole {
    /// One of several with `;` between them.
    Listed,
    /// Stands where only one may.
    Part,
}

impl StatementWalk<'_> {
    fn file(&mut self) {
        while self.at < self.tokens.len() {
            let starts = match self.word(0) {
                "macro" => {
                    while self.at < self.tokens.len() && !matches!(self.word(0), ")" | "endmacro") {
                        self.at += 1;
                    }
                    self.at += usize::from(self.word(0) == ")");
                    self.starts_statement()
                }
                "text" => {
                    self.at += 1;
                    true
                }
                _ => {
                    self.at += 1;
                    false
                }
            };
            if starts {
                self.list(0);
            }
        }
    }

    /// What a macro begins with looks like a statement and not like a number or a whole process.
    fn starts_statement(&self) -> bool {
        match self.word(0) {
            "assume" | "cas" | "either" | "fence" | "goto" | "if" | "llfence" | "locked" | "nop" | "read"
            | "slocked" | "ssfence" | "syncrd" | "syncwr" | "while" | "write" | "{" => true,
            word if word.starts_with('$') => self.word(1) == ":=",
            _ => self.is_name(0) && matches!(self.word(1), ":" | ";"),
        }
    }

    fn list(&mut self, depth: i32) {
        let mut last;
        loop {
            last = self.start(self.at);
            self.statement(MemoraxRole::Listed, depth + 1);
            if self.word(0) != ";" {
                break;
            }
            self.at += 1;
        }
        let end = self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span.end as usize);
        let line = indentation(self.text, last).map(|indentation| format!(";{}{indentation}", newline(self.text)));
        let parts = vec![line.unwrap_or_else(|| "; ".to_owned()).into(), PiecePart::Fence];
        let pieces = vec![EditPiece::new(end..end, -1 - depth, parts)];
        self.outline.insertions.push(EditPlace { at: self.start(self.at), pieces, ..EditPlace::default() });
    }

    fn statement(&mut self, role: MemoraxRole, depth: i32) {
        let first = self.at;
        while self.is_name(0) && self.word(1) == ":" {
            self.at += 2;
        }
        let kind = self.at;
        if role == MemoraxRole::Listed {
            for at in [Some(first), (kind != first).then_some(kind)].into_iter().flatten() {
                let at = self.start(at);
                let pieces = vec![before(self.text, at, ";", depth)];
                self.outline.insertions.push(EditPlace { at, pieces, ..EditPlace::default() });
            }
        }
        self.kind(role, depth);
        if role == MemoraxRole::Part && self.at > kind {
            let end = self.tokens[self.at - 1].span.end as usize;
            let block = self.quote(kind) == "{";
            let starts = [(first != kind || !block).then_some(first), (first != kind && !block).then_some(kind)];
            for start in starts.into_iter().flatten() {
                let start = self.start(start);
                let pieces = wrap_before(start..end, ";", depth);
                self.outline.insertions.push(EditPlace { at: start, pieces, wraps: true, cell: None });
            }
            if !block {
                let pieces = wrap_after(self.start(first)..end, ";", depth);
                self.outline.insertions.push(EditPlace { at: self.start(self.at), pieces, wraps: true, cell: None });
            }
        }
    }

    fn kind(&mut self, role: MemoraxRole, depth: i32) {
        let start = self.start(self.at);
        let nested = depth < MAX_DEPTH;
        match self.word(0) {
            "if" if nested => {
                self.skip_to("then");
                self.statement(MemoraxRole::Part, depth + 1);
                if self.word(0) == "else" {
                    self.at += 1;
                    self.statement(MemoraxRole::Part, depth + 1);
                }
            }
            "while" if nested => {
                self.skip_to("do");
                self.statement(MemoraxRole::Part, depth + 1);
            }
            "either" if nested && self.word(1) == "{" => {
                self.at += 1;
                self.alternatives(depth);
            }
            "{" if nested => self.alternatives(depth),
            fence @ ("fence" | "ssfence") => {
                let end = start + fence.len();
                self.at += 1;
                // The last of a list, and the only one, leaves something behind.
                let pieces = match (role, self.word(0)) {
                    (MemoraxRole::Listed, ";") => vec![EditPiece::remove(start..self.start(self.at) + 1)],
                    _ => vec![EditPiece::replace(start..end, "nop")],
                };
                self.outline.remove(start, pieces);
            }
            "write" => {
                self.outline.lock(start, vec![EditPiece::replace(start..start, "locked ")]);
                self.skip();
            }
            "slocked" => {
                self.outline.lock(start, vec![EditPiece::replace(start..start + "slocked".len(), "locked")]);
                self.skip();
            }
            _ => self.skip(),
        }
    }

    /// `{ … or … }`.
    fn alternatives(&mut self, depth: i32) {
        loop {
            self.at += 1;
            self.list(depth + 1);
            if self.word(0) != "or" {
                break;
            }
        }
        self.at += usize::from(self.word(0) == "}");
    }

    fn skip_to(&mut self, word: &str) {
        while self.at < self.tokens.len() && self.word(0) != word && !self.ends_statement() {
            self.at += 1;
        }
        self.at += usize::from(self.word(0) == word);
    }

    /// To the end of a statement, over all parentheses.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while self.at < self.tokens.len() && (depth > 0 || !self.ends_statement()) {
            match self.word(0) {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" => depth = depth.saturating_sub(1),
                "endmacro" | "process" => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn ends_statement(&self) -> bool {
        matches!(self.word(0), ";" | "}" | "or" | "else" | "endmacro" | "process" | "macro" | "")
    }

    // Tokens.

    fn quote(&self, token: usize) -> &str {
        let span = self.tokens.get(token).map(|token| token.span).unwrap_or_default();
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn word(&self, ahead: usize) -> &str {
        self.quote(self.at + ahead)
    }

    fn is_name(&self, ahead: usize) -> bool {
        let word = self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == TokenKind::Word);
        word && !is_reserved(self.word(ahead))
    }

    /// Where a token starts, or the text ends.
    fn start(&self, token: usize) -> usize {
        self.tokens.get(token).map_or(self.text.trim_end().len(), |token| token.span.start as usize)
    }
}
