//! libvsync's own tests for model checkers, and how each is built.
//!
//! The flags are those of its `cmake/check.cmake` and of the `CMakeLists.txt` of each folder, with the parameters of its
//! quick checks. `bench/programs/verify/libvsync/genmc.h` stands for the interface of GenMC.

use crate::sanitizer::started::succeeds;
use crate::sanitizer::{BuildVariant, Instrumentation, compiler};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};

/// Tests that are built in the same way.
struct Folder {
    name: &'static str,
    /// The file that includes each case; without one each file in C is a test.
    cases: Option<Cases>,
    flags: &'static [&'static str],
}

struct Cases {
    file: &'static str,
    /// What the names of the headers with the cases begin with.
    headers: &'static str,
    /// Each is a flag.
    algorithms: &'static [&'static str],
}

/// For all tests, as `cmake/check.cmake` has them.
const FLAGS: [&str; 5] = [
    "-DVSYNC_VERIFICATION",
    "-DVSYNC_VERIFICATION_QUICK",
    "-DVSYNC_VERIFICATION_RC11",
    "-DDEFAULT_SMR_EBR",
    "-D_GNU_SOURCE",
];

/// The kernel's futex instead of a model of it.
const REAL_FUTEX: &[&str] = &["-UVSYNC_VERIFICATION", "-DVATOMIC_BUILTINS", "-DHAS_ANNEX_K"];

/// Threads that try to take a lock try once, and runs in which that fails are not meant. Otherwise they try again, which
/// is a loop that does not only wait if it writes.
const ONE_TRY: &[&str] = &["-DVSYNC_VERIFICATION_GENERIC", "-DVSYNC_USE_VERIFIER_ASSUME"];

/// The files that know it.
const ONE_TRY_FILES: [&str; 5] = ["caslock", "hemlock", "mcslock", "rec_spinlock", "twalock"];

const FOLDERS: [Folder; 20] = [
    Folder { name: "test/spinlock", cases: None, flags: &[] },
    Folder { name: "test/spinlock", cases: None, flags: ONE_TRY },
    Folder { name: "test/queue", cases: None, flags: &[] },
    Folder { name: "test/quack", cases: None, flags: &[] },
    Folder { name: "verify/thread", cases: None, flags: &[] },
    Folder { name: "verify/thread", cases: None, flags: REAL_FUTEX },
    Folder { name: "verify/bbq", cases: None, flags: &["-DHAS_ANNEX_K"] },
    Folder { name: "verify/cachedq", cases: None, flags: &[] },
    Folder { name: "verify/chaselev", cases: None, flags: &[] },
    Folder { name: "verify/pool", cases: None, flags: &[] },
    Folder { name: "verify/bitmap", cases: cases("verify.c", &["BITMAP"]), flags: &[] },
    Folder {
        name: "verify/mpsc",
        cases: cases("verify.c", &["MPSC"]),
        flags: &["-DNTHREADS=3", "-DVMEM_LIB_ALLOC_TRACKING_OFF", "-DDEFAULT"],
    },
    Folder { name: "verify/simpleht", cases: cases("verify.c", &["SIMPLEHT"]), flags: &[] },
    Folder {
        name: "verify/skiplist",
        cases: cases("verify.c", &["LOCK_FREE_SKIPLIST"]),
        flags: &["-DVSKIPLIST_MAX_HEIGHT=2", "-DSMR_MAX_NTHREADS=4", "-DSMR_NONE"],
    },
    Folder {
        name: "verify/smr",
        cases: cases("verify.c", &["SMR_EBR"]),
        flags: &["-DCAP_TESTING", "-DSMR_MAX_NTHREADS=3"],
    },
    Folder {
        name: "verify/stack",
        cases: cases("verify_stack.c", &["STACK_XBO_BACKOFF", "STACK_ELIMINATION_BACKOFF"]),
        flags: &[
            "-DVSTACK_TESTING",
            "-DSMR_THRESHOLD=1",
            "-DSMR_MAX_NTHREADS=4",
            "-DVSTACK_XCHGER_COUNT=1",
            "-DSMR_NONE",
        ],
    },
    Folder {
        name: "verify/unbounded_queue",
        cases: cases("verify.c", &["VQUEUE_UB_LF_RECYCLE", "VQUEUE_UB_TOTAL", "VQUEUE_UB_LF"]),
        flags: &["-DSMR_MAX_NTHREADS=4"],
    },
    Folder {
        name: "verify/listset",
        cases: cases("verify.c", &["LISTSET_COARSE", "LISTSET_FINE", "LISTSET_LAZY", "LISTSET_OPT", "LISTSET_LF"]),
        flags: &["-DSMR_MAX_NTHREADS=4", "-DSMR_NONE"],
    },
    Folder {
        name: "verify/priority_queue",
        cases: cases(
            "verify.c",
            &[
                "VQUEUE_PRIO_STACK_ARRAY_BASED",
                "VQUEUE_PRIO_STACK_TREE_BASED",
                "VQUEUE_PRIO_SKIPLIST_BASED",
                "VQUEUE_PRIO_HEAP_BASED",
            ],
        ),
        flags: &[
            "-DVQUEUE_PRIO_TESTING",
            "-DVSTACK_TESTING",
            "-DVSKIPLIST_MAX_HEIGHT=2",
            "-DSKIPLIST_ONE_HEIGHT",
            "-DSMR_MAX_NTHREADS=4",
            "-DVSTACK_XCHGER_COUNT=1",
            "-DSMR_NONE",
        ],
    },
    Folder {
        name: "verify/treeset",
        cases: Some(Cases {
            file: "verify.c",
            headers: "testcase",
            algorithms: &["TREESET_BST_FINE", "TREESET_RB_FINE", "TREESET_BST_COARSE", "TREESET_RB_COARSE"],
        }),
        flags: &["-DVMEM_LIB_ALLOC_TRACKING_OFF"],
    },
];

const fn cases(file: &'static str, algorithms: &'static [&'static str]) -> Option<Cases> {
    Some(Cases { file, headers: "test_case", algorithms })
}

/// One program.
pub struct VsyncTest {
    /// What it is a test of: a folder, and an algorithm if there are several.
    pub structure: String,
    /// The name of its file or of its case.
    pub case: String,
    source: PathBuf,
    flags: Vec<String>,
}

/// All tests in a folder with libvsync's sources.
pub fn tests(sources: &Path) -> Result<Vec<VsyncTest>> {
    let mut tests = Vec::new();
    for folder in &FOLDERS {
        let path = sources.join(folder.name);
        let (_, short) = folder.name.split_once('/').context("a folder of a folder")?;
        let flags: Vec<String> = folder.flags.iter().map(|&flag| flag.to_owned()).collect();
        let Some(Cases { file, headers, algorithms }) = &folder.cases else {
            let structure = match folder.flags {
                REAL_FUTEX => format!("{short}, futex"),
                ONE_TRY => format!("{short}, one try"),
                _ => short.to_owned(),
            };
            for (case, source) in files(&path, "", "c")? {
                if folder.flags == ONE_TRY && !ONE_TRY_FILES.contains(&case.as_str()) {
                    continue;
                }
                tests.push(VsyncTest { structure: structure.clone(), case, source, flags: flags.clone() });
            }
            continue;
        };
        for algorithm in *algorithms {
            let structure = match algorithms {
                [_] => short.to_owned(),
                _ => format!("{short}, {}", algorithm.to_lowercase()),
            };
            for (case, header) in files(&path, headers, "h")? {
                let mut flags = flags.clone();
                flags.push(format!("-D{algorithm}"));
                flags.push(format!("-DTEST_CASE=\"{}\"", header.display()));
                tests.push(VsyncTest { structure: structure.clone(), case, source: path.join(file), flags });
            }
        }
    }
    Ok(tests)
}

impl VsyncTest {
    /// As a list of what was triaged names it.
    pub fn name(&self) -> String {
        format!("{}: {}", self.structure, self.case)
    }

    /// Builds it with `ravelin cc` and gcc, with more flags if there are any.
    pub fn compile(&self, ravelin: &Path, sources: &Path, flags: &[&str], program: &Path) -> Result<()> {
        let build = BuildVariant { compiler: "gcc", kind: Instrumentation::Ravelin };
        let mut command = compiler(build, ravelin, false);
        command.args(["-O2", "-g", "-w", "-pthread"]).args(FLAGS);
        for folder in ["include", "vatomic/include", "test/include", "verify/include"] {
            command.arg("-I").arg(sources.join(folder));
        }
        let own = crate::root().join("bench/programs/verify/libvsync");
        command.arg("-I").arg(&own).arg("-include").arg(own.join("genmc.h"));
        command.args(&self.flags).args(flags).arg(&self.source).arg("-o").arg(program);
        succeeds(&mut command).map(drop).with_context(|| self.name())
    }
}

/// The files of a folder with this beginning and end, by name: their stems and paths.
fn files(folder: &Path, begin: &str, end: &str) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("libvsync has no {}", folder.display()))? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem.starts_with(begin) && path.extension().is_some_and(|extension| extension == end) {
            found.push((stem, path));
        }
    }
    ensure!(!found.is_empty(), "{} has no test", folder.display());
    found.sort();
    Ok(found)
}
