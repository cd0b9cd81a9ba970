//! The sixteen general registers and the names of their parts.
//!
//! `%al`, `%ax`, `%eax` and `%rax` are views of one register. Conditions and listings name it by its widest view: `rax` in
//! X86_64, `EAX` in X86. The numbers are herd's order of registers, in which final states are shown.

use super::super::cursor::Name;
use super::super::header::Dialect;
use super::value::Width;
use crate::Diagnostic;

pub const COUNT: usize = 16;
/// The register that `cmpxchg` compares with.
pub const ACCUMULATOR: usize = 0;

const LEGACY: [&str; 8] = ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"];
const BYTES: [&str; 8] = ["al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl"];

/// A register by any of its names, in any case: its number and how much of it is meant.
pub fn find(name: &str, dialect: Dialect) -> Option<(usize, Width)> {
    let name = name.to_ascii_lowercase();
    let wide = dialect != Dialect::X86;
    let legacy = |rest: &str| LEGACY.iter().position(|known| *known == rest);
    if let Some(number) = legacy(&name) {
        return Some((number, Width::Word));
    }
    if let Some(number) = BYTES.iter().position(|known| *known == name) {
        return (wide || number < 4).then_some((number, Width::Byte));
    }
    if let Some(number) = name.strip_prefix('e').and_then(legacy) {
        return Some((number, Width::Long));
    }
    if let Some(number) = name.strip_prefix('r').and_then(legacy) {
        return wide.then_some((number, Width::Quad));
    }
    let rest = name.strip_prefix('r')?;
    let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.parse::<usize>().ok().filter(|number| (8..COUNT).contains(number))?;
    let width = match &rest[digits.len()..] {
        "" => Width::Quad,
        "d" => Width::Long,
        "w" => Width::Word,
        "b" => Width::Byte,
        _ => return None,
    };
    (wide && !digits.starts_with('0')).then_some((number, width))
}

/// What conditions call it.
pub fn name(number: usize, dialect: Dialect) -> String {
    match (LEGACY.get(number), dialect) {
        (Some(name), Dialect::X86) => format!("E{}", name.to_ascii_uppercase()),
        (Some(name), _) => format!("r{name}"),
        (None, _) => format!("r{number}"),
    }
}

pub fn unknown(name: &Name, dialect: Dialect) -> Diagnostic {
    let known = match dialect {
        Dialect::X86 => "EAX EBX ECX EDX ESI EDI EBP ESP and their parts AX, AL, …",
        _ => "rax rbx rcx rdx rsi rdi rbp rsp r8 … r15 and their parts eax, ax, al, r8d, …",
    };
    Diagnostic::error(name.span, format!("there is no register `{}`", name.text))
        .with_help(format!("the registers are {known}"))
}
