//! Maps addresses of a program that ran to functions, source lines and variables.

mod module;
mod names;

pub use names::{
    demangled, is_atomic_wrapper, is_library_header, is_part_of, is_rust_library, is_standard_header,
    is_standard_library,
};

use module::ModuleSymbols;
use ravelin_answer::sanitizer::Frame;
use ravelin_findings::Module;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether the code of a frame belongs to the standard library of C++ or Rust.
pub fn is_in_standard_library(frame: &Frame) -> bool {
    match frame.file.as_deref() {
        Some(file) if is_rust_library(file) || is_standard_header(file) => true,
        // Rust's `std::` needs no guess: its files are known.
        Some(file) if file.ends_with(".rs") => false,
        _ => frame.function.as_deref().is_some_and(is_standard_library),
    }
}

/// Whether the code of a frame belongs to a library of the system: the C++ standard library, or code without name and
/// source in the C library.
fn is_in_system(frame: &Frame) -> bool {
    let system = ["libstdc++.so", "libc++.so", "libc.so", "libpthread.so", "libm.so"];
    is_in_standard_library(frame) || frame.file.is_none() && system.iter().any(|name| frame.code.starts_with(name))
}

/// Everything known about loaded files; each is read once.
#[derive(Default)]
pub struct Symbols {
    modules: HashMap<PathBuf, ModuleSymbols>,
    directory: Option<PathBuf>,
}

impl Symbols {
    /// Source files below `directory` are shown relative to it.
    pub fn new(directory: Option<PathBuf>) -> Symbols {
        Symbols { modules: HashMap::new(), directory }
    }

    /// The frames of a stack of return addresses, innermost first. Functions that only wrap atomic operations are
    /// omitted: the access belongs to their caller.
    pub fn stack(&mut self, modules: &[Module], program: Option<&Path>, stack: &[u64]) -> Vec<Frame> {
        // A return address is the one after the call, which may already belong to the next line.
        let mut frames: Vec<Frame> =
            stack.iter().flat_map(|&pc| self.frames(modules, program, pc.saturating_sub(1))).collect();
        if let (true, Some(pc)) = (frames.is_empty(), stack.first()) {
            frames.push(Frame { code: format!("{pc:#x}"), ..Frame::default() });
        }
        without_wrappers(frames)
    }

    /// The variable at an address, as `name` or `name+offset`.
    pub fn variable(&mut self, modules: &[Module], program: Option<&Path>, address: u64) -> Option<String> {
        let (path, in_file) = locate(modules, program, address)?;
        match self.module(&path).variable(in_file)? {
            (name, 0) => Some(name.to_owned()),
            (name, offset) => Some(format!("{name}+{offset}")),
        }
    }

    /// The functions at an address. None for code of the runtime without a name, which calls a thread's first function.
    fn frames(&mut self, modules: &[Module], program: Option<&Path>, address: u64) -> Vec<Frame> {
        let Some((path, in_file)) = locate(modules, program, address) else {
            return vec![Frame { code: format!("{address:#x}"), ..Frame::default() }];
        };
        let name = path.file_name().unwrap_or(OsStr::new("?")).to_string_lossy();
        let code = format!("{name}+{in_file:#x}");
        let module = self.module(&path);
        let mut functions = module.functions(in_file);
        if module.is_runtime(in_file) && functions.iter().all(|function| function.name.is_none()) {
            return Vec::new();
        }
        if functions.is_empty() {
            functions.push(module::SymbolFunction::default());
        }
        let frame = |function: module::SymbolFunction| {
            let frame = Frame {
                file: function.file.map(|file| self.relative(&file)),
                function: function.name,
                line: function.line,
                column: function.column,
                code: code.clone(),
                inlined: function.inlined,
                near: function.near,
                system: false,
            };
            Frame { system: is_in_system(&frame), ..frame }
        };
        functions.into_iter().map(frame).collect()
    }

    fn module(&mut self, path: &Path) -> &ModuleSymbols {
        self.modules.entry(path.to_owned()).or_insert_with(|| ModuleSymbols::read(path))
    }

    fn relative(&self, file: &str) -> String {
        // Compilers name headers by indirect paths such as `/usr/bin/../lib/…`.
        let direct = file.contains("/../").then(|| std::fs::canonicalize(file).ok()).flatten();
        let direct = direct.map(|path| path.display().to_string());
        let file = direct.as_deref().unwrap_or(file);
        let below = self.directory.as_ref().and_then(|directory| Path::new(file).strip_prefix(directory).ok());
        below.map_or_else(|| file.to_owned(), |below| below.display().to_string())
    }
}

/// The loaded file at an address, and the address in it. If several were loaded there, the last one.
fn locate(modules: &[Module], program: Option<&Path>, address: u64) -> Option<(PathBuf, u64)> {
    let module = modules.iter().rev().find(|module| (module.start..module.end).contains(&address))?;
    let path = match (&*module.path, program) {
        ([], program) => program?.to_owned(),
        (path, _) => PathBuf::from(OsStr::from_bytes(path)),
    };
    Some((path, address.wrapping_sub(module.bias)))
}

/// The stack without the wrappers of atomic operations at its top, and without Rust's standard library. At least one
/// frame remains.
fn without_wrappers(mut frames: Vec<Frame>) -> Vec<Frame> {
    let is_rust = |frame: &Frame| frame.file.as_deref().is_some_and(is_rust_library);
    if frames.iter().any(|frame| !is_rust(frame) && frame.file.is_some()) {
        frames.retain(|frame| !is_rust(frame));
    }
    let is_wrapper = |frame: &Frame| is_rust(frame) || frame.function.as_deref().is_some_and(is_atomic_wrapper);
    let wrappers = frames.iter().take_while(|frame| is_wrapper(frame)).count();
    if wrappers < frames.len() {
        frames.drain(..wrappers);
    }
    frames
}
