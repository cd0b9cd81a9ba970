//! The structure of a C text, as far as changes need it: brackets, the statement around a place, and calls.
//!
//! It is found without a parser, from brackets and a few keywords, and works for C++ as well. What is found wrongly does no harm: the
//! changed text is compiled and checked again.

use std::ops::Range;

pub struct CText {
    /// The text without strings, comments and lines of the preprocessor, byte by byte.
    pub code: String,
    /// In the order in which they open.
    brackets: Vec<Bracket>,
}

struct Bracket {
    open: usize,
    close: usize,
    /// The number of the one around it.
    around: Option<usize>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CStatement {
    /// To the semicolon, or, of a statement with a condition, to the end of the condition.
    pub range: Range<usize>,
    /// It stands where only one statement may: under an `if` or a loop, without braces.
    pub is_part: bool,
    pub kind: StatementKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// It ends with a semicolon.
    Simple,
    /// The same, and nothing comes after it: `return`.
    Leaving,
    /// Its condition is evaluated once, as of `if` and `switch`.
    Choice,
}

impl CText {
    /// Of a text whose strings and comments are blanked.
    pub fn new(blanked: &str) -> CText {
        let code = without_directives(blanked);
        let mut brackets: Vec<Bracket> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (at, byte) in code.bytes().enumerate() {
            match byte {
                b'(' | b'[' | b'{' => {
                    brackets.push(Bracket { open: at, close: code.len(), around: open.last().copied() });
                    open.push(brackets.len() - 1);
                }
                b')' | b']' | b'}' => {
                    if let Some(number) = open.pop() {
                        brackets[number].close = at;
                    }
                }
                _ => {}
            }
        }
        CText { code, brackets }
    }

    /// The bracket that closes the one at this place.
    pub fn close(&self, open: usize) -> Option<usize> {
        let number = self.brackets.binary_search_by_key(&open, |bracket| bracket.open).ok()?;
        Some(self.brackets[number].close).filter(|&close| close < self.code.len())
    }

    /// The innermost bracket around a place.
    fn around(&self, at: usize) -> Option<usize> {
        let mut number = self.brackets.partition_point(|bracket| bracket.open < at).checked_sub(1);
        while let Some(bracket) = number.map(|number| &self.brackets[number]) {
            if bracket.close > at {
                return number;
            }
            number = bracket.around;
        }
        None
    }

    /// The statement that a place belongs to; `None` outside of functions, and in the heads of loops.
    pub fn statement(&self, at: usize) -> Option<CStatement> {
        // Out of brackets that are part of an expression.
        let mut inner = at;
        let mut number = self.around(at)?;
        while self.is_expression(number) {
            inner = self.brackets[number].open;
            number = self.around(inner)?;
        }
        let block = &self.brackets[number];
        let mut start = self.start(block.open + 1, inner);
        let mut is_part = false;
        loop {
            start = self.skip_blanks(start);
            let word = self.word(start);
            let after = self.skip_blanks(start + word.len());
            match word {
                "else" | "do" => (start, is_part) = (after, true),
                "if" | "while" | "for" | "switch" => {
                    // `if constexpr (`
                    let open = after + self.code.get(after..)?.find('(')?;
                    let close = self.close(open)?;
                    if close < at {
                        (start, is_part) = (close + 1, true);
                    } else if matches!(word, "if" | "switch") {
                        return Some(CStatement { range: start..close + 1, is_part, kind: StatementKind::Choice });
                    } else {
                        return None;
                    }
                }
                "case" | "default" => start = self.colon(start, at)? + 1,
                _ if !word.is_empty() && self.is_label(after) => start = after + 1,
                _ => break,
            }
        }
        let mut end = inner;
        loop {
            end += self.code.get(end..block.close)?.find([';', '(', '[', '{'])?;
            if self.code.as_bytes()[end] == b';' {
                break;
            }
            end = self.close(end)? + 1;
        }
        let leaves = matches!(self.word(start), "return" | "break" | "continue" | "goto" | "co_return");
        let kind = if leaves { StatementKind::Leaving } else { StatementKind::Simple };
        Some(CStatement { range: start..end + 1, is_part, kind })
    }

    /// Where the statement begins that goes on at a place, with its labels and what it stands under.
    fn start(&self, from: usize, at: usize) -> usize {
        let mut start = from;
        let mut here = from;
        while let Some(next) = self.code.get(here..at).and_then(|rest| rest.find([';', '(', '[', '{'])) {
            let open = here + next;
            if self.code.as_bytes()[open] == b';' {
                (start, here) = (open + 1, open + 1);
                continue;
            }
            let Some(close) = self.close(open).filter(|&close| close < at) else { break };
            here = close + 1;
            let number = self.brackets.binary_search_by_key(&open, |bracket| bracket.open);
            let is_block = self.code.as_bytes()[open] == b'{' && number.is_ok_and(|number| !self.is_expression(number));
            if is_block {
                start = here;
            }
        }
        start
    }

    /// Parentheses, indices, and the braces of initial values.
    fn is_expression(&self, number: usize) -> bool {
        let bracket = &self.brackets[number];
        if self.code.as_bytes()[bracket.open] != b'{' {
            return true;
        }
        let before = self.code[..bracket.open].trim_end();
        match before.chars().next_back() {
            Some('=' | ',' | '(') => true,
            Some('{') => bracket.around.is_some_and(|around| self.is_expression(around)),
            _ => before.ends_with("return") && !before[..before.len() - "return".len()].ends_with(is_word),
        }
    }

    /// The colon that ends `case x` or `default`.
    fn colon(&self, from: usize, to: usize) -> Option<usize> {
        let mut here = from;
        loop {
            here += self.code.get(here..to)?.find(':')?;
            if !self.code[here..].starts_with("::") {
                return Some(here);
            }
            here += 2;
        }
    }

    fn is_label(&self, after: usize) -> bool {
        let rest = self.code.get(after..).unwrap_or("");
        rest.starts_with(':') && !rest.starts_with("::")
    }

    /// The word at a place, or nothing.
    pub fn word(&self, at: usize) -> &str {
        let rest = self.code.get(at..).unwrap_or("");
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    pub fn skip_blanks(&self, at: usize) -> usize {
        self.code.get(at..).map_or(at, |rest| self.code.len() - rest.trim_start().len())
    }

    /// Where `s->part` begins, or `part` alone, whose last word begins here.
    pub fn start_of_members(&self, word: usize) -> Option<usize> {
        let mut start = word;
        loop {
            let before = self.code[..start].trim_end();
            let object = match before.strip_suffix("->").or(before.strip_suffix('.')) {
                Some(object) => object.trim_end(),
                None => return Some(start),
            };
            let mut end = object.len();
            while object[..end].ends_with([']', ')']) {
                end = self.brackets.iter().find(|bracket| bracket.close + 1 == end)?.open;
                end = object[..end].trim_end().len();
            }
            let name = object[..end].rfind(|c| !is_word(c)).map_or(0, |at| at + char_length(object, at));
            let bracketed = end < object.len() && name == end;
            start = if bracketed { end + object[end..].len() - object[end..].trim_start().len() } else { name };
            if start >= word || object.is_empty() {
                return None;
            }
        }
    }

    /// Somewhere an array with this name has atomic elements.
    pub fn declares_atomic_array(&self, name: &str) -> bool {
        self.code.split([';', '{', '}']).any(|statement| {
            let is_atomic =
                statement.contains("_Atomic") || statement.contains("atomic_") || statement.contains("atomic<");
            let declared = statement.match_indices(name).any(|(at, _)| {
                let before = statement[..at].chars().next_back();
                !before.is_some_and(is_word) && statement[at + name.len()..].trim_start().starts_with('[')
            });
            is_atomic && declared
        })
    }

    /// The words before opening parentheses in a part of the text, and where the parentheses are.
    pub fn calls(&self, part: Range<usize>) -> impl Iterator<Item = (&str, usize)> {
        let first = self.brackets.partition_point(|bracket| bracket.open < part.start);
        let brackets = self.brackets[first..].iter().take_while(move |bracket| bracket.open < part.end);
        let parentheses = brackets.filter(|bracket| self.code.as_bytes()[bracket.open] == b'(');
        parentheses.filter_map(|bracket| {
            let before = self.code[..bracket.open].trim_end();
            let word = &before[before.rfind(|c| !is_word(c)).map_or(0, |at| at + char_length(before, at))..];
            (!word.is_empty()).then_some((word, bracket.open))
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn char_length(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

/// Blanks lines that begin with `#`, with those that they continue on.
fn without_directives(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut continues = false;
    for line in code.split_inclusive('\n') {
        let is_directive = continues || line.trim_start().starts_with('#');
        continues = is_directive && line.trim_end().ends_with('\\');
        if is_directive {
            kept.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statement around the first `@` of a text, which is taken out.
    fn statement(text: &str) -> Option<(String, bool, StatementKind)> {
        let at = text.find('@').expect("a place");
        let text = text.replacen('@', "", 1);
        let found = CText::new(&text).statement(at)?;
        Some((text[found.range].to_owned(), found.is_part, found.kind))
    }

    #[test]
    fn statements_are_found_by_their_brackets() {
        use StatementKind::{Choice, Leaving, Simple};
        for (text, expected, is_part, kind) in [
            ("void f(void) { a; @b; c; }", "b;", false, Simple),
            ("void f(void) { int r = g(1, (@b)); }", "int r = g(1, (b));", false, Simple),
            ("void f(void) { if (a) { } @b; }", "b;", false, Simple),
            ("void f(void) { if (a) @b; }", "b;", true, Simple),
            ("void f(void) { if (a) b; else @c; }", "c;", true, Simple),
            ("void f(void) { for (;;) @b; }", "b;", true, Simple),
            ("void f(void) { while (a) if (c) @b; }", "b;", true, Simple),
            ("void f(void) { do @b; while (c); }", "b;", true, Simple),
            ("void f(void) { if (a && @b) c; }", "if (a && b)", false, Choice),
            ("void f(void) { if (a) c; else if (@b) d; }", "if (b)", true, Choice),
            ("void f(void) { switch (x) { case 1: @b; } }", "b;", false, Simple),
            ("void f(void) { again: @b; }", "b;", false, Simple),
            ("void f(void) { return @b; }", "return b;", false, Leaving),
            ("void f(void) { int a[] = { 1, @b }; }", "int a[] = { 1, b };", false, Simple),
            ("void f(void) { a = (struct s){ 1 }; @b; }", "b;", false, Simple),
            ("void f() { std::thread t([&] { @x.store(1); }); }", "x.store(1);", false, Simple),
            ("void f() { std::y(); std::@z(1); }", "std::z(1);", false, Simple),
            ("void f() { a(b[0]); @b; }", "b;", false, Simple),
            ("#define X { (\nvoid f() { a;\n#if 1\n@b;\n#endif\n}", "b;", false, Simple),
        ] {
            assert_eq!(statement(text), Some((expected.to_owned(), is_part, kind)), "{text}");
        }
    }

    #[test]
    fn heads_of_loops_are_no_statements() {
        for text in [
            "void f(void) { while (@b) {} }",
            "void f(void) { for (@a; b; c) {} }",
            "void f(void) { for (a; b; @c) {} }",
            "void f(void) { do {} while (@b); }",
            "int @x;",
            "void f(void) { @b",
            ")@}(",
        ] {
            assert_eq!(statement(text), None, "{text}");
        }
    }

    #[test]
    fn calls_are_words_before_parentheses() {
        let text = CText::new("f(g (1), (int)h, x->load(2))");
        let names: Vec<&str> = text.calls(0..text.code.len()).map(|(name, _)| name).collect();
        assert_eq!(names, ["f", "g", "load"]);
    }
}
