//! One loaded file: its debug information and its variables.

use super::names::demangled;
use addr2line::Loader;
use object::{Object, ObjectSymbol, SymbolKind};
use std::ops::Range;
use std::path::Path;

/// What a file contains about its code and data; nothing if it cannot be read.
pub struct ModuleSymbols {
    debug: Option<Loader>,
    variables: Vec<SymbolVariable>,
    /// The code of the sanitizer's runtime.
    runtime: Range<u64>,
}

struct SymbolVariable {
    start: u64,
    size: u64,
    name: String,
}

/// One function at an address; several where functions were inlined, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymbolFunction {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub inlined: bool,
    /// The line belongs to code nearby: the compiler gave this code none.
    pub near: bool,
}

/// How far, in bytes, code may be from the code whose line is shown for it.
const NEAR: u64 = 256;

impl ModuleSymbols {
    pub fn read(path: &Path) -> ModuleSymbols {
        let (variables, runtime) = variables_and_runtime(path).unwrap_or_default();
        ModuleSymbols { debug: Loader::new(path).ok(), variables, runtime }
    }

    /// Whether an address is in the sanitizer's runtime.
    pub fn is_runtime(&self, address: u64) -> bool {
        self.runtime.contains(&address)
    }

    /// The functions at an address of the file. Code that an optimiser moved out of a loop or merged has no line (line
    /// 0 in DWARF). It gets the functions and lines of the nearest code of the same function that has one.
    pub fn functions(&self, address: u64) -> Vec<SymbolFunction> {
        let functions = self.functions_exactly(address);
        if functions.first().is_some_and(|innermost| innermost.file.is_some() && innermost.line.is_none())
            && let Some(near) = self.nearest_line(address)
        {
            let nearby = self.functions_exactly(near);
            return nearby.into_iter().map(|function| SymbolFunction { near: true, ..function }).collect();
        }
        functions
    }

    /// The nearest address with a line in the same function, preferably after an address: code is usually moved
    /// forward.
    fn nearest_line(&self, address: u64) -> Option<u64> {
        let debug = self.debug.as_ref()?;
        let symbol = debug.find_symbol_info(address)?.address();
        let has_line = |near: u64| {
            let same = debug.find_symbol_info(near).is_some_and(|found| found.address() == symbol);
            same && self.functions_exactly(near).first().is_some_and(|innermost| innermost.line.is_some())
        };
        let starts = |low: u64, high: u64| -> Vec<u64> {
            let locations = debug.find_location_range(low, high).into_iter().flatten();
            locations
                .filter(|(.., location)| location.line.is_some_and(|line| line > 0))
                .map(|(start, ..)| start)
                .collect()
        };
        let behind = starts(address, address.saturating_add(NEAR)).into_iter().find(|&near| has_line(near));
        behind.or_else(|| starts(address.saturating_sub(NEAR), address).into_iter().rev().find(|&near| has_line(near)))
    }

    fn functions_exactly(&self, address: u64) -> Vec<SymbolFunction> {
        let Some(debug) = &self.debug else { return Vec::new() };
        let mut functions = Vec::new();
        if let Ok(mut frames) = debug.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
                let location = frame.location.as_ref();
                functions.push(SymbolFunction {
                    name: name.map(|name| demangled(&name)),
                    file: location.and_then(|location| location.file).map(str::to_owned),
                    line: location.and_then(|location| location.line).filter(|&line| line > 0),
                    column: location.and_then(|location| location.column).filter(|&column| column > 0),
                    inlined: true,
                    near: false,
                });
            }
        }
        if functions.is_empty() {
            functions.push(SymbolFunction::default());
        }
        if let Some(outermost) = functions.last_mut() {
            outermost.inlined = false;
            // The symbol table names the function that contains the code, also without debug information. For lambdas
            // and functions local to a file, only the symbol table contains the scope.
            let symbol = debug.find_symbol(address);
            if let Some(symbol) = symbol.filter(|symbol| outermost.name.is_none() || symbol.starts_with("_Z")) {
                outermost.name = Some(demangled(symbol));
            }
        }
        functions
    }

    /// The variable at an address of the file, and how far into it the address is.
    pub fn variable(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.variables.partition_point(|variable| variable.start <= address);
        let variable = self.variables[..after].last()?;
        let offset = address - variable.start;
        (offset < variable.size.max(1)).then_some((&*variable.name, offset))
    }
}

/// The variables of a file, by address, and where the code of the runtime is.
fn variables_and_runtime(path: &Path) -> Option<(Vec<SymbolVariable>, Range<u64>)> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut variables: Vec<SymbolVariable> = Vec::new();
    let mut runtime = 0..0;
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let name = symbol.name().unwrap_or_default();
        match name {
            // Marks of `build.rs`.
            "__ravelin_code" => runtime.start = symbol.address(),
            "__ravelin_code_end" => runtime.end = symbol.address(),
            "" => {}
            name if symbol.is_definition() && symbol.kind() == SymbolKind::Data => {
                variables.push(SymbolVariable { start: symbol.address(), size: symbol.size(), name: demangled(name) });
            }
            _ => {}
        }
    }
    // If there are several names for one address: the largest object, and of these the shortest name.
    variables.sort_by(|a, b| (a.start, b.size, a.name.len()).cmp(&(b.start, a.size, b.name.len())));
    variables.dedup_by_key(|variable| variable.start);
    Some((variables, runtime))
}
