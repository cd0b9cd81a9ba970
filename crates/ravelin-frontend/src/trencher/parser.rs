//! Words to threads.
//!
//! Every word can be a name, keywords included: `transition a end noop` is legal and leads to a state named `end`. So an
//! operand that was forgotten swallows the next keyword, and the error shows only later. A keyword that was taken for a
//! name although it starts a line is therefore remembered; if an error comes before the next command, that keyword is
//! what is complained about, and reading goes on from there.

use super::numeral::Numeral;
use super::syntax::{FileText, InstructionText, MemorySize, Term, ThreadText, TransitionText};
use super::word::{Word, WordToken, words};
use crate::Diagnostic;
use crate::parsing::{Cursor, Parse, SyntaxError};
use ravelin_program::{BinaryOp, Value};

const KEYWORDS: [&str; 4] = ["thread", "initial", "transition", "end"];
const INSTRUCTIONS: [&str; 8] = ["read", "write", "local", "check", "mfence", "noop", "lock", "unlock"];

/// Operators nest at most this deep; whatever walks expressions later does so recursively.
const MAX_DEPTH: usize = 64;
/// One instruction holds at most this many operators.
const MAX_OPERATORS: usize = 256;
const MAX_THREADS: usize = 1024;
const MAX_TRANSITIONS: usize = 100_000;
/// As many as an array of `.rav` may have.
const MAX_CELLS: Value = 65_536;

/// What could be made out, and everything wrong with the text.
pub fn parse(text: &str) -> (FileText<'_>, Vec<Diagnostic>) {
    let mut parser = Parser {
        cursor: Cursor::new(text, words(text)),
        diagnostics: Vec::new(),
        swallowed: None,
        cut_short: false,
        transitions: 0,
        operators: 0,
    };
    let file = parser.file();
    (file, parser.diagnostics)
}

struct Parser<'a> {
    cursor: Cursor<'a, WordToken>,
    diagnostics: Vec<Diagnostic>,
    /// A keyword at the start of a line that was taken for a name in this command, by number, and what was expected there.
    swallowed: Option<(usize, &'static str)>,
    /// It has been said that the text ends too early.
    cut_short: bool,
    transitions: usize,
    /// In the instruction that is being read.
    operators: usize,
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> FileText<'a> {
        let mut file = FileText::default();
        while let Some(word) = self.next() {
            match word.text {
                "#" => self.skip_line(),
                "thread" if file.threads.len() >= MAX_THREADS => {
                    let message = format!("a program may have {MAX_THREADS} threads, and this one has more");
                    self.diagnostics.push(Diagnostic::error(word.span, message));
                    return file;
                }
                "thread" => {
                    let before = self.diagnostics.len();
                    if let Ok(mut thread) = self.thread(word) {
                        thread.complete = !self.diagnostics[before..].iter().any(Diagnostic::is_error);
                        file.threads.push(thread);
                    }
                }
                "memory_size" => {
                    let Ok(size) = self.memory_size(word) else { continue };
                    match file.memory_size {
                        None => file.memory_size = Some(size),
                        Some(first) => self.diagnostics.push(
                            Diagnostic::error(size.span, "the size of memory is given twice")
                                .with_secondary(first.span, "the first one"),
                        ),
                    }
                }
                text if text.starts_with('#') => {
                    let error = Diagnostic::error(word.span, "a comment starts with a `#` that stands alone");
                    self.diagnostics.push(error.with_help("put a blank after the `#`"));
                    self.skip_line();
                }
                text => {
                    let error = Diagnostic::error(word.span, format!("expected `thread` or a comment, found `{text}`"));
                    self.diagnostics.push(error);
                    self.recover(&["thread", "memory_size", "#"]);
                }
            }
        }
        file
    }

    /// What follows the word `memory_size`.
    fn memory_size(&mut self, keyword: Word<'a>) -> Parse<MemorySize> {
        self.swallowed = None;
        let word = self.name("the number of memory cells")?;
        match Numeral::of(word.text) {
            Numeral::Number(cells @ 1..=MAX_CELLS) => {
                Ok(MemorySize { cells: cells as usize, span: keyword.span.to(word.span) })
            }
            _ => {
                let message = format!("expected a number of memory cells from 1 to {MAX_CELLS}, found `{}`", word.text);
                Err(self.report(Diagnostic::error(word.span, message)))
            }
        }
    }

    /// What follows the word `thread`. Whatever is wrong inside a thread, its other commands are read.
    fn thread(&mut self, keyword: Word<'a>) -> Parse<ThreadText<'a>> {
        self.swallowed = None;
        let name = self.name("the name of a thread")?;
        let mut thread = ThreadText {
            name,
            initial: Vec::new(),
            transitions: Vec::new(),
            complete: true,
            span: keyword.span.to(name.span),
        };
        loop {
            let Some(word) = self.peek() else {
                if self.cut_short {
                    return Ok(thread);
                }
                let message = format!("thread `{}` has no `end`", name.text);
                if self.fail(Diagnostic::error(keyword.span.to(name.span), message)) {
                    continue;
                }
                return Ok(thread);
            };
            let read = match word.text {
                "initial" => {
                    self.command();
                    self.name("the name of a state").map(|state| thread.initial.push(state))
                }
                "transition" => {
                    self.command();
                    self.transition(word).map(|transition| thread.transitions.push(transition))
                }
                "end" => {
                    self.command();
                    thread.span = keyword.span.to(word.span);
                    return Ok(thread);
                }
                "thread" => {
                    let error = Diagnostic::error(word.span, format!("thread `{}` has no `end`", name.text))
                        .with_secondary(keyword.span.to(name.span), "it starts here");
                    if self.fail(error) {
                        continue;
                    }
                    return Ok(thread);
                }
                "#" => {
                    self.command();
                    let error = Diagnostic::error(word.span, "a comment cannot stand inside a thread");
                    self.diagnostics.push(error.with_help("put it before the `thread`, or after its `end`"));
                    self.skip_line();
                    Ok(())
                }
                text => {
                    let expected = "`initial`, `transition` or `end`";
                    let error = Diagnostic::error(word.span, format!("expected {expected}, found `{text}`"));
                    Err(self.report(error))
                }
            };
            if let Err(SyntaxError) = read {
                self.recover(&KEYWORDS);
            }
        }
    }

    fn transition(&mut self, keyword: Word<'a>) -> Parse<TransitionText<'a>> {
        self.transitions += 1;
        if self.transitions == MAX_TRANSITIONS + 1 {
            let message = format!("a program may have {MAX_TRANSITIONS} transitions, and this one has more");
            self.diagnostics.push(Diagnostic::error(keyword.span, message));
        }
        let from = self.name("the state that the transition leaves")?;
        let to = self.name("the state that the transition leads to")?;
        self.operators = 0;
        let instruction = self.instruction()?;
        if self.transitions > MAX_TRANSITIONS {
            return Err(SyntaxError);
        }
        Ok(TransitionText { from, to, instruction, span: keyword.span.to(self.last().span) })
    }

    fn instruction(&mut self) -> Parse<InstructionText<'a>> {
        let word = self.name("an instruction")?;
        Ok(match word.text {
            "read" => InstructionText::Read {
                register: self.name("the register to read into")?,
                address: self.term("an address", 0)?,
            },
            "write" => InstructionText::Write {
                value: self.term("the value to write", 0)?,
                address: self.term("an address", 0)?,
            },
            "local" => InstructionText::Local {
                register: self.name("the register to set")?,
                value: self.term("the value of the register", 0)?,
            },
            "check" => InstructionText::Check(self.term("a condition", 0)?),
            "mfence" => InstructionText::Mfence,
            "noop" => InstructionText::Noop,
            "lock" => InstructionText::Lock,
            "unlock" => InstructionText::Unlock,
            text => {
                let error = Diagnostic::error(word.span, format!("there is no instruction `{text}`"))
                    .with_note(format!("the instructions are {}", INSTRUCTIONS.join(", ")));
                return Err(self.report(error));
            }
        })
    }

    /// An expression in prefix notation.
    fn term(&mut self, expected: &'static str, depth: usize) -> Parse<Term<'a>> {
        let word = self.name(expected)?;
        let operator = binary(word.text);
        if operator.is_some() || word.text == "!" {
            self.operators += 1;
            if depth >= MAX_DEPTH {
                let message = format!("operators are nested more than {MAX_DEPTH} deep here");
                return Err(self.report(Diagnostic::error(word.span, message)));
            }
            if self.operators > MAX_OPERATORS {
                let message = format!("one instruction may hold {MAX_OPERATORS} operators, and this one holds more");
                return Err(self.report(Diagnostic::error(word.span, message)));
            }
        }
        if let Some(operator) = operator {
            let left = self.term("the left operand", depth + 1)?;
            let right = self.term("the right operand", depth + 1)?;
            return Ok(Term::Binary(operator, Box::new(left), Box::new(right)));
        }
        if word.text == "!" {
            return Ok(Term::Not(Box::new(self.term("an operand", depth + 1)?)));
        }
        Ok(match Numeral::of(word.text) {
            Numeral::Number(value) => {
                if i32::try_from(value).is_err() {
                    let message = format!("Trencher's numbers have 32 bits, and `{}` does not fit", word.text);
                    self.diagnostics.push(
                        Diagnostic::warning(word.span, message)
                            .with_note("it is read as a number here; Trencher would take it for a register"),
                    );
                }
                Term::Number(value)
            }
            Numeral::TooLarge => {
                let message = format!("the number `{}` does not fit 64 bits", word.text);
                self.diagnostics.push(Diagnostic::error(word.span, message));
                Term::Number(0)
            }
            Numeral::Beginning(value) => Term::Numberlike(word, value),
            Numeral::None => Term::Register(word),
        })
    }

    /// The next word, whatever it is.
    fn name(&mut self, expected: &'static str) -> Parse<Word<'a>> {
        let Some(word) = self.next() else {
            let error =
                Diagnostic::error(self.cursor.span(), format!("expected {expected}, found the end of the file"));
            self.cut_short = !self.fail(error);
            return Err(SyntaxError);
        };
        if self.last().starts_line && self.swallowed.is_none() && KEYWORDS.contains(&word.text) {
            self.swallowed = Some((self.cursor.at - 1, expected));
        }
        Ok(word)
    }

    fn next(&mut self) -> Option<Word<'a>> {
        let word = self.peek()?;
        self.cursor.bump();
        Some(word)
    }

    fn peek(&self) -> Option<Word<'a>> {
        let text = self.cursor.word()?;
        Some(Word { text, span: self.cursor.span() })
    }

    /// The word read last.
    fn last(&self) -> WordToken {
        self.cursor.nth(self.cursor.at.saturating_sub(1))
    }

    /// Goes to the end of the line that the last word stands on.
    fn skip_line(&mut self) {
        self.cursor.skip_until(|word| word.starts_line);
    }

    /// Takes the keyword of a command. Its predecessor is complete, so nothing was swallowed.
    fn command(&mut self) {
        self.swallowed = None;
        self.next();
    }

    fn report(&mut self, error: Diagnostic) -> SyntaxError {
        self.fail(error);
        SyntaxError
    }

    /// Reports an error, or what is behind it: a keyword that was swallowed. Reading then goes on from that keyword, and
    /// the answer is that it does.
    fn fail(&mut self, error: Diagnostic) -> bool {
        let Some((number, expected)) = self.swallowed.take() else {
            self.diagnostics.push(error);
            return false;
        };
        let keyword = self.cursor.nth(number);
        let message = format!("expected {expected}, found the keyword `{}`", self.cursor.text_of(keyword));
        self.diagnostics.push(Diagnostic::error(keyword.span, message));
        self.cursor.at = number;
        true
    }

    /// Skips to the next word of these.
    fn recover(&mut self, words: &[&str]) {
        while let Some(word) = self.peek()
            && !words.contains(&word.text)
        {
            self.next();
        }
    }
}

fn binary(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "&" => BinaryOp::BitAnd,
        _ => return None,
    })
}
