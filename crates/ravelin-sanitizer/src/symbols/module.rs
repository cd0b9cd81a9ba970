//! One loaded file: its debug information and its variables.

use super::names::demangled;
use addr2line::Loader;
use object::{Object, ObjectSymbol, SymbolKind};
use std::path::Path;

/// What a file tells about its code and data. A file that cannot be read tells nothing.
pub struct ModuleSymbols {
    debug: Option<Loader>,
    variables: Vec<Variable>,
}

struct Variable {
    start: u64,
    size: u64,
    name: String,
}

/// One function at an address; several where functions were inlined, the innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub inlined: bool,
}

impl ModuleSymbols {
    pub fn read(path: &Path) -> ModuleSymbols {
        ModuleSymbols { debug: Loader::new(path).ok(), variables: variables(path).unwrap_or_default() }
    }

    /// The functions at an address of the file.
    pub fn functions(&self, address: u64) -> Vec<Function> {
        let Some(debug) = &self.debug else { return Vec::new() };
        let mut functions = Vec::new();
        if let Ok(mut frames) = debug.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
                let location = frame.location.as_ref();
                functions.push(Function {
                    name: name.map(|name| demangled(&name)),
                    file: location.and_then(|location| location.file).map(str::to_owned),
                    line: location.and_then(|location| location.line).filter(|&line| line > 0),
                    column: location.and_then(|location| location.column).filter(|&column| column > 0),
                    inlined: true,
                });
            }
        }
        if functions.is_empty() {
            functions.push(Function::default());
        }
        if let Some(outermost) = functions.last_mut() {
            outermost.inlined = false;
            // The symbol table names the function that has code, and does so without debug information, too. For lambdas
            // and what is local to a file only it tells in which scope they are.
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

/// The variables of a file, by address.
fn variables(path: &Path) -> Option<Vec<Variable>> {
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut variables: Vec<Variable> = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.is_definition() && symbol.kind() == SymbolKind::Data {
            let name = symbol.name().unwrap_or_default();
            if !name.is_empty() {
                variables.push(Variable { start: symbol.address(), size: symbol.size(), name: demangled(name) });
            }
        }
    }
    // Several names for one address: the largest object, and of these the shortest name.
    variables.sort_by(|a, b| (a.start, b.size, a.name.len()).cmp(&(b.start, a.size, b.name.len())));
    variables.dedup_by_key(|variable| variable.start);
    Some(variables)
}
