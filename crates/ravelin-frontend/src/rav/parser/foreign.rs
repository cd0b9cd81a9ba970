//! What people write who know C or Rust, and what is written here instead.

use super::super::ast::{ExprKind, Name};
use super::{Parse, Parser, SyntaxError, order_named};
use crate::Diagnostic;
use crate::parsing::{TokenKind, TokenParser};
use ravelin_program::Span;

/// For a word where an item should start.
pub fn item(word: &str) -> Option<&'static str> {
    Some(match word {
        "void" | "def" | "func" | "function" => "functions are written `fn f(a, b) { … }`, and `fn f(a) -> u8 { … }`",
        "struct" | "union" | "typedef" | "class" | "type" => {
            "there are no structures: a field of several objects is an array, such as `static next: [0..4; 3];`"
        }
        "let" => "registers belong to threads; shared variables are declared with `static`",
        "pub" | "extern" | "unsafe" | "async" => "leave it out",
        "use" | "include" | "import" | "mod" => "leave it out: a program is one file",
        "macro_rules" | "define" => "constants are written `const N = 3;`",
        "main" | "process" | "proc" | "proctype" => "threads are written `thread p { … }`; all start together",
        "var" | "shared" | "volatile" | "atomic" | "int" | "unsigned" | "long" | "char" | "bool" | "auto" | "u8"
        | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "usize" | "size_t" | "std" | "_Atomic" => DECLARED,
        _ if word.starts_with("atomic_") || word.starts_with("Atomic") || word.ends_with("_t") => DECLARED,
        _ => return None,
    })
}

const DECLARED: &str = "shared variables are declared like `static x: u32 = 0;`";

/// For a word where a statement should start.
pub fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "switch" | "case" => "write `match e { 0 => { … } _ => { … } }`",
        "do" => "write `loop { …; if !(…) { break; } }`",
        "unsafe" => "leave it out",
        "spawn" | "pthread_create" | "thrd_create" => "all threads start together: write another `thread`",
        "join" | "pthread_join" | "thrd_join" => "write `wait(…)` for what the other thread stores at its end",
        "int" | "unsigned" | "long" | "char" | "bool" | "auto" | "var" | "u8" | "u16" | "u32" | "u64" | "i8"
        | "i16" | "i32" | "i64" | "usize" | "size_t" => "registers are declared like `let r: u32 = 0;`",
        "mfence" | "barrier" | "atomic_thread_fence" => "write `fence(seq_cst);`",
        "printf" | "println" | "print" => "leave it out: a run shows what every step reads and writes",
        _ => return None,
    })
}

/// For the name of a type.
pub fn type_named(word: &str) -> Option<&'static str> {
    let atomic = word.strip_prefix("Atomic").or_else(|| word.strip_prefix("atomic_"))?;
    Some(match atomic.to_ascii_lowercase().as_str() {
        "bool" | "flag" => "write `bool`: each access says itself that it is atomic",
        "u8" | "uchar" | "uint8_t" => "write `u8`: each access says itself that it is atomic",
        "u16" | "ushort" | "uint16_t" => "write `u16`: each access says itself that it is atomic",
        "u32" | "uint" | "uint32_t" => "write `u32`: each access says itself that it is atomic",
        "i32" | "int" | "int32_t" => "write `i32`: each access says itself that it is atomic",
        "ptr" => "pointers are numbers: leave the type out, and take the address of a cell by `&x`",
        _ => "write `i64`, or the values that occur, such as `0..8`: each access says itself that it is atomic",
    })
}

/// For the name of an order: as C, C++ and Rust spell it.
pub fn order(word: &str) -> Option<String> {
    let short = word.rsplit("::").next().unwrap_or(word);
    let short = short.strip_prefix("memory_order_").unwrap_or(short).to_ascii_lowercase();
    let name = match short.as_str() {
        "seqcst" | "sc" => "seq_cst",
        "acqrel" => "acq_rel",
        "acq" | "consume" => "acquire",
        "rel" => "release",
        "rlx" | "relaxed" => "relaxed",
        other => other,
    };
    order_named(name).filter(|_| name != word).map(|order| format!("write `{}`", order.name()))
}

/// For the name of a method.
pub fn method(word: &str) -> Option<&'static str> {
    Some(match word {
        "cas" | "compare_and_swap" | "compare_and_set" | "compare_exchange_strong" | "compare_and_exchange" => {
            "write `x.compare_exchange(old, new)`"
        }
        "exchange" | "xchg" | "fetch_store" | "get_and_set" => "write `x.swap(value)`",
        "get" => "write `x.load()`",
        "set" => "write `x.store(value)`",
        "inc" | "increment" | "fetch_inc" => "write `x.fetch_add(1)`",
        "dec" | "decrement" | "fetch_dec" => "write `x.fetch_sub(1)`",
        "fetch_update" => "write a loop with `x.compare_exchange(old, new)`",
        "load_acquire" => "write `x.load(acquire)`",
        "store_release" => "write `x.store(value, release)`",
        _ => return None,
    })
}

impl Parser<'_> {
    /// `Color::Red`; other paths are refused.
    pub(super) fn path(&mut self, ty: Name) -> Parse<ExprKind> {
        let (path, span) = self.rest_of_path(&ty);
        match path.split("::").collect::<Vec<_>>().as_slice() {
            [_, variant] if order(&path).is_none() => {
                let span = Span { start: span.end - variant.len() as u32, end: span.end };
                Ok(ExprKind::Path(ty, Name { text: (*variant).to_owned(), span }))
            }
            _ => Err(self.no_path(&path, span)),
        }
    }

    /// Everything that `::` joins to a name.
    pub(super) fn rest_of_path(&mut self, name: &Name) -> (String, Span) {
        let (mut path, mut span) = (name.text.clone(), name.span);
        while self.cursor.is("::") {
            self.cursor.bump();
            let Some(word) = self.cursor.word() else { break };
            path = format!("{path}::{word}");
            span = span.to(self.cursor.bump().span);
        }
        (path, span)
    }

    pub(super) fn no_path(&mut self, path: &str, span: Span) -> SyntaxError {
        let mut diagnostic = Diagnostic::error(span, format!("there is no `{path}`"));
        let help = || "a path is an enum and one of its values, such as `Color::Red`".to_owned();
        diagnostic.help = Some(order(path).unwrap_or_else(help));
        self.report(diagnostic)
    }

    /// What to write instead of `r++` and `r--`, if one of them was read just before this place.
    pub(super) fn step_operator(&self) -> Option<Diagnostic> {
        let at = self.cursor.at;
        let symbol = |back: usize| match at.checked_sub(back).map(|number| self.cursor.nth(number).kind) {
            Some(TokenKind::Symbol(symbol)) => symbol,
            _ => "",
        };
        let (operator, span, sum) = match (symbol(2), symbol(1), self.cursor.token().kind) {
            (_, "+", TokenKind::Symbol("+")) => ("++", self.cursor.nth(at - 1).span.to(self.cursor.span()), "add"),
            ("-", "-", _) => ("--", self.cursor.nth(at - 2).span.to(self.cursor.nth(at - 1).span), "sub"),
            _ => return None,
        };
        let sign = &operator[..1];
        Some(
            Diagnostic::error(span, format!("there is no operator `{operator}`"))
                .with_help(format!("write `r {sign}= 1;` for a register, `x.fetch_{sum}(1);` for a shared variable")),
        )
    }
}
