//! What a compiler's command line asks for, as far as the sanitizer needs it.
//!
//! Arguments are read, never changed: compilers have too many options to know them all. What matters is whether there
//! is anything to compile or link, where the compiler will stop, and what conflicts with the sanitizer.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Options whose argument is the next word, so that it is not taken for a file to compile.
const WITH_ARGUMENT: &[&str] = &[
    "-o",
    "-I",
    "-L",
    "-D",
    "-U",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "--param",
    "--sysroot",
    "-include-pch",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "--target",
    "-gcc-toolchain",
    "-working-directory",
    "-specs",
    "--specs",
    "-G",
];

/// Sanitizers that the compilers do not combine with `thread`.
const INCOMPATIBLE: &[&str] =
    &["address", "hwaddress", "kernel-address", "kernel-hwaddress", "kernel-memory", "leak", "memory", "dataflow"];

/// Suffixes of names that the compilers take for headers, which they precompile and do not link.
const HEADERS: &[&str] = &[".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc"];

/// How deep nested response files (`@file`) are followed.
const DEEPEST: usize = 16;

/// Where the compiler stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileStage {
    /// Nothing is compiled at all: a query such as `--version`, or no input.
    AtOnce,
    /// Before linking.
    Compiled,
    /// With a relocatable object (`-r`).
    Relocatable,
    /// With a shared library.
    SharedLibrary,
    /// With an executable.
    Executable,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileRequest {
    pub stops: CompileStage,
    /// The user has chosen the debug information.
    pub debug_chosen: bool,
}

/// Requests that are not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedRequest {
    #[error("{0} does not work with the sanitizer, which replaces functions of a dynamic C library; omit {0}")]
    Static(String),
    #[error("the sanitizer needs the C library, so {0} works only together with -lc")]
    NoLibrary(String),
    #[error("-fsanitize={0} does not work with this sanitizer; use a separate build for each")]
    OtherSanitizer(String),
}

/// Reads the arguments.
pub fn understand(arguments: &[OsString]) -> Result<CompileRequest, UnsupportedRequest> {
    let mut seen = CommandLineScan::default();
    seen.look(arguments, DEEPEST);
    if let Some(sanitizer) = seen.other_sanitizer {
        return Err(UnsupportedRequest::OtherSanitizer(sanitizer));
    }
    let stops = match () {
        () if !seen.input => CompileStage::AtOnce,
        () if seen.compiles_only || (seen.header && !seen.linked) => CompileStage::Compiled,
        () if seen.relocatable => CompileStage::Relocatable,
        () if seen.shared => CompileStage::SharedLibrary,
        () => CompileStage::Executable,
    };
    match seen.static_option {
        Some(option) if stops == CompileStage::Executable => Err(UnsupportedRequest::Static(option)),
        _ if stops == CompileStage::Executable && seen.no_library.is_some() && !seen.library => {
            Err(UnsupportedRequest::NoLibrary(seen.no_library.unwrap_or_default()))
        }
        _ => Ok(CompileRequest { stops, debug_chosen: seen.debug_chosen }),
    }
}

#[derive(Default)]
struct CommandLineScan {
    input: bool,
    /// A header to be precompiled.
    header: bool,
    /// Some input is not a header.
    linked: bool,
    /// The language that `-x` sets for the next inputs.
    language: Option<String>,
    no_library: Option<String>,
    /// The C library is named.
    library: bool,
    compiles_only: bool,
    relocatable: bool,
    shared: bool,
    debug_chosen: bool,
    static_option: Option<String>,
    other_sanitizer: Option<String>,
}

impl CommandLineScan {
    fn look(&mut self, arguments: &[OsString], depth: usize) {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if let Some(file) = text.strip_prefix('@') {
                self.response_file(file, depth);
            } else if text == "-" || !text.starts_with('-') {
                self.input(&text);
            } else if text == "-Xlinker" || text == "-l" {
                // Anything that is passed to the linker makes the compilers link.
                self.input = true;
                let word = words.next();
                self.library |= text == "-l" && word.is_some_and(|word| word == "c");
            } else if text == "-x" {
                self.language = words.next().map(|word| word.to_string_lossy().into_owned());
            } else if WITH_ARGUMENT.contains(&&*text) {
                words.next();
            } else {
                self.option(&text);
            }
        }
    }

    fn input(&mut self, file: &str) {
        let header = match self.language.as_deref() {
            None | Some("none") => HEADERS.iter().any(|end| file.ends_with(end)),
            Some(language) => language.ends_with("-header"),
        };
        self.input = true;
        self.header |= header;
        self.linked |= !header;
    }

    fn option(&mut self, option: &str) {
        match option {
            "-lc" => (self.input, self.library) = (true, true),
            "-nostdlib" | "-nodefaultlibs" | "-nolibc" => self.no_library = Some(option.to_owned()),
            _ if option.starts_with("-x") => self.language = Some(option[2..].to_owned()),
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "--compile" | "--assemble" | "--preprocess"
            | "-emit-ast" | "--analyze" | "--precompile" => self.compiles_only = true,
            "-r" => self.relocatable = true,
            "-shared" | "--shared" | "-dynamiclib" => self.shared = true,
            "-static" | "--static" | "-static-pie" => self.static_option = Some(option.to_owned()),
            _ if option.starts_with("-l") || option.starts_with("-Wl,") => self.input = true,
            _ if option.starts_with("-g") => self.debug_chosen = true,
            _ => {
                let sanitizers = option.strip_prefix("-fsanitize=").into_iter().flat_map(|list| list.split(','));
                if let Some(other) = sanitizers.into_iter().find(|sanitizer| INCOMPATIBLE.contains(sanitizer)) {
                    self.other_sanitizer = Some(other.to_owned());
                }
            }
        }
    }

    /// Options may be in a file. A file that cannot be read is an input, as it is for the compilers.
    fn response_file(&mut self, file: &str, depth: usize) {
        match std::fs::read(Path::new(file)) {
            Ok(bytes) if depth > 0 => self.look(&words(&bytes), depth - 1),
            _ => self.input(file),
        }
    }
}

/// The words of a response file: separated by white space, with quotes and backslashes.
fn words(bytes: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take().map(OsString::from_vec)),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// Whether an argument asks for a static runtime of a sanitizer, which does not exist.
pub fn is_about_the_runtime(argument: &OsStr) -> bool {
    matches!(argument.as_bytes(), b"-static-libtsan" | b"-static-libsan" | b"-shared-libsan" | b"-shared-libasan")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<CompileRequest, UnsupportedRequest> {
        understand(&line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn where_a_compiler_stops() {
        use CompileStage::*;
        let cases = [
            ("", AtOnce),
            ("--version", AtOnce),
            ("-v", AtOnce),
            ("-print-file-name=libtsan.so", AtOnce),
            ("-dumpmachine", AtOnce),
            ("-o x -I include -MF deps", AtOnce),
            ("-c x.c", Compiled),
            ("-MD -MT x.o -MF x.d -o x.o -c x.c", Compiled),
            ("-E -dM -x c -", Compiled),
            ("-S x.c", Compiled),
            ("-M x.c", Compiled),
            ("x.c", Executable),
            ("-x c - -o x", Executable),
            ("x.o -o x -lm", Executable),
            ("-o x -Wl,x.o", Executable),
            ("-Xlinker x.o", Executable),
            ("-shared x.o -o x.so", SharedLibrary),
            ("-r x.o y.o -o z.o", Relocatable),
            ("-shared -c x.c", Compiled),
            ("-static -c x.c", Compiled),
            ("-x c++-header x.hpp -o x.hpp.gch", Compiled),
            ("-xc-header x", Compiled),
            ("all.h", Compiled),
            ("-x c all.h -o x", Executable),
            ("-include all.h x.c", Executable),
            ("-nostdlib -shared x.o", SharedLibrary),
            ("-nodefaultlibs x.o -lc", Executable),
        ];
        for (line, stops) in cases {
            assert_eq!(request(line).map(|asked| asked.stops), Ok(stops), "{line}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert_eq!(request("-static x.c"), Err(UnsupportedRequest::Static("-static".to_owned())));
        assert_eq!(request("-static-pie x.c"), Err(UnsupportedRequest::Static("-static-pie".to_owned())));
        assert_eq!(request("-nostdlib x.c"), Err(UnsupportedRequest::NoLibrary("-nostdlib".to_owned())));
        assert_eq!(
            request("-c -fsanitize=undefined,address x.c"),
            Err(UnsupportedRequest::OtherSanitizer("address".to_owned()))
        );
        assert!(request("-fsanitize=thread -fsanitize=undefined x.c").is_ok());
    }

    #[test]
    fn debug_information_is_left_to_whoever_chose() {
        for (line, chosen) in [("x.c", false), ("-g x.c", true), ("-g0 x.c", true), ("-ggdb3 x.c", true)] {
            assert_eq!(request(line).map(|asked| asked.debug_chosen), Ok(chosen), "{line}");
        }
    }

    #[test]
    fn a_response_file_is_words_with_quotes() {
        assert_eq!(words(b"-c 'a b.c'\n\"-DX=\\\"1\\\"\" c\\ d \"\""), ["-c", "a b.c", "-DX=\"1\"", "c d", ""]);
        assert!(words(b"").is_empty());
    }
}
