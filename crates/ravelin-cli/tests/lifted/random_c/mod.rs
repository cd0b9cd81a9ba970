//! Random sequential C programs without undefined behaviour, for the comparison of what a compiler makes of a program
//! with what Ravelin reads.
//!
//! A program is global variables, functions that call only functions after them, and a `main` that runs the first one
//! and prints every global. It always ends: loops count. Whatever the order in which a compiler evaluates operands, the
//! result is the same, because a statement has at most one effect. `generate.rs` and `values.rs` make programs from a
//! seed, `shrink.rs` makes them smaller while something stays true of them.

mod generate;
mod shrink;
mod values;

pub use generate::{Random, program};
pub use shrink::{leave_out, shrunk};

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    pub name: &'static str,
    pub bits: u32,
}

const fn int(name: &'static str, bits: u32) -> Int {
    Int { name, bits }
}

/// A `bool` has one byte in memory.
pub const INTS: [Int; 9] = [
    int("int8_t", 8),
    int("uint8_t", 8),
    int("int16_t", 16),
    int("uint16_t", 16),
    int("int32_t", 32),
    int("uint32_t", 32),
    int("int64_t", 64),
    int("uint64_t", 64),
    int("bool", 8),
];

/// A statement or an expression: text with holes. Every value may be replaced by any other value, and every statement
/// of a body may be left out; what must not change is text.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Piece(pub Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Value(Piece),
    Body(Vec<Piece>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub parameters: String,
    pub returns: Int,
    /// Declarations of local variables, with values.
    pub locals: Vec<String>,
    pub body: Vec<Piece>,
    pub result: Piece,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CProgram {
    /// Definitions of types and global variables.
    pub definitions: Vec<String>,
    /// Each integer in a global variable, as C names it.
    pub cells: Vec<(String, Int)>,
    /// A function calls only functions behind it.
    pub functions: Vec<Function>,
    pub caller: Caller,
}

/// Who calls the first function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    Main,
    Thread,
    /// A thread, after another one has assigned to every global. Several threads access them, so their values are known
    /// at run time only.
    LaterThread,
}

impl Piece {
    /// Text in which each `{}` is a value.
    pub fn of(template: &str, values: Vec<Piece>) -> Piece {
        let mut texts = template.split("{}");
        let mut parts = vec![Part::Text(texts.next().unwrap_or_default().to_owned())];
        let mut values = values.into_iter();
        for text in texts {
            parts.push(Part::Value(values.next().expect("a value for each hole")));
            parts.push(Part::Text(text.to_owned()));
        }
        assert!(values.next().is_none(), "{template} has fewer holes");
        Piece(parts)
    }

    pub fn text(text: impl Into<String>) -> Piece {
        Piece(vec![Part::Text(text.into())])
    }

    /// Appends a body and what follows it.
    pub fn body(mut self, body: Vec<Piece>, then: &str) -> Piece {
        self.0.push(Part::Body(body));
        self.0.push(Part::Text(then.to_owned()));
        self
    }

    /// Whether what follows is not reached.
    fn jumps(&self) -> bool {
        let jumps = |text: &str| ["break;", "continue;", "return "].iter().any(|jump| text.starts_with(jump));
        matches!(self.0.first(), Some(Part::Text(text)) if jumps(text))
    }

    fn write(&self, depth: usize, text: &mut String) {
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value(value) => value.write(depth, text),
                Part::Body(statements) => {
                    text.push('\n');
                    write_all(statements, depth + 1, text);
                    text.push_str(&"  ".repeat(depth));
                }
            }
        }
    }
}

pub fn write_all(statements: &[Piece], depth: usize, text: &mut String) {
    for statement in statements {
        text.push_str(&"  ".repeat(depth));
        statement.write(depth, text);
        text.push('\n');
    }
}

impl CProgram {
    /// Prints every cell at the end.
    pub fn c(&self) -> String {
        self.ending(|cell| format!("printf(\"{cell} %lld\\n\", (long long){cell});"))
    }

    /// Asserts at the end that every cell has a value.
    pub fn asserting(&self, value: impl Fn(&str) -> i64) -> String {
        // The smallest number has no literal.
        self.ending(|cell| {
            let value = value(cell);
            format!("assert((long long){cell} == {}LL - {});", value | 1, (value & 1) ^ 1)
        })
    }

    /// With a statement for each cell at the end of `main`.
    fn ending(&self, statement: impl Fn(&str) -> String) -> String {
        let mut text = String::from(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n\n",
        );
        for definition in &self.definitions {
            text.push_str(&format!("{definition}\n"));
        }
        for function in self.functions.iter().rev() {
            let Function { name, parameters, returns, locals, body, result } = function;
            text.push_str(&format!("\nstatic {} {name}({parameters}) {{\n", returns.name));
            for local in locals {
                text.push_str(&format!("  {local}\n"));
            }
            write_all(body, 1, &mut text);
            text.push_str("  return ");
            result.write(1, &mut text);
            text.push_str(";\n}\n");
        }
        let mut threads = Vec::new();
        if self.caller == Caller::LaterThread {
            let assigned =
                self.cells.iter().enumerate().map(|(number, (cell, _))| format!("  {cell} = {};\n", number % 7));
            text.push_str(&format!(
                "\nstatic void *first(void *unused) {{\n{}  return unused;\n}}\n",
                assigned.collect::<String>()
            ));
            threads.push("first");
        }
        if self.caller != Caller::Main {
            text.push_str("\nstatic void *second(void *unused) {\n  f0();\n  return unused;\n}\n");
            threads.push("second");
        }
        text.push_str("\nint main(void) {\n");
        text.push_str(if threads.is_empty() { "  f0();\n" } else { "  pthread_t other;\n" });
        for thread in threads {
            text.push_str(&format!("  pthread_create(&other, NULL, {thread}, NULL);\n  pthread_join(other, NULL);\n"));
        }
        for (cell, _) in &self.cells {
            text.push_str(&format!("  {}\n", statement(cell)));
        }
        text.push_str("  return 0;\n}\n");
        text
    }
}
