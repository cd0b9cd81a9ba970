//! `cargo xtask suites`: programs of others run their own tests under the sanitizer, as `docs/case-studies-c.md` tells.
//!
//! Sources come by package name ([`crate::real`]). What was triaged is suppressed by name
//! (`case-studies/c/suites.suppressions`); anything else is printed in full and makes the command fail. A test that
//! takes too long is ended; what it had found by then counts. Whether a test passes is its own matter and is only shown.

use crate::real::build::Workshop;
use crate::real::packages::Package::{self, Source};
use crate::real::recipes::Compilation;
use crate::sanitizer::{BuildVariant, Instrumentation};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Arguments {
    /// Only suites with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// The compiler: gcc or clang
    #[arg(long, default_value = "gcc")]
    compiler: String,
    /// Seconds after which a run is ended
    #[arg(long, default_value_t = 120)]
    limit: u64,
    /// A ravelin that is built already
    #[arg(long, value_name = "PROGRAM")]
    ravelin: Option<PathBuf>,
}

/// Tests of one package that are one program.
struct Suite {
    name: &'static str,
    packages: &'static [Package],
    compilation: Compilation,
    /// The words of each run.
    runs: &'static [&'static str],
}

const ZSTD: &[&str] = &[
    "-DZSTD_MULTITHREAD",
    "-DZSTD_DISABLE_ASM",
    "-DXXH_NAMESPACE=ZSTD_",
    "-DDEBUGLEVEL=1",
    "-I{0}/lib",
    "-I{0}/lib/common",
    "-I{0}/lib/compress",
    "-I{0}/lib/dictBuilder",
    "-I{0}/programs",
    "-I{0}/tests",
];

const SUITES: [Suite; 6] = [
    Suite {
        name: "zstd-pool",
        packages: &[Source("libzstd", "trixie")],
        compilation: Compilation {
            flags: ZSTD,
            files: &["{0}/lib/common/*.c", "{0}/lib/compress/*.c", "{0}/tests/poolTests.c"],
        },
        runs: &[""],
    },
    Suite {
        name: "zstd-stream",
        packages: &[Source("libzstd", "trixie")],
        compilation: Compilation {
            flags: ZSTD,
            files: &[
                "{0}/lib/common/*.c",
                "{0}/lib/compress/*.c",
                "{0}/lib/decompress/*.c",
                "{0}/lib/dictBuilder/*.c",
                "{0}/tests/zstreamtest.c",
                "{0}/tests/seqgen.c",
                "{0}/tests/external_matchfinder.c",
                "{0}/programs/datagen.c",
                "{0}/programs/lorem.c",
                "{0}/programs/util.c",
                "{0}/programs/timefn.c",
            ],
        },
        runs: &["-T30s", "-T30s --newapi"],
    },
    Suite {
        name: "libuv",
        packages: &[Source("libuv1", "trixie")],
        compilation: Compilation {
            flags: &["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-I{0}/include", "-I{0}/src"],
            files: &[
                "{0}/src/*.c",
                // Tests include these.
                "!{0}/src/idna.c",
                "!{0}/src/strscpy.c",
                "!{0}/src/strtok.c",
                "{0}/src/unix/async.c",
                "{0}/src/unix/core.c",
                "{0}/src/unix/dl.c",
                "{0}/src/unix/fs.c",
                "{0}/src/unix/getaddrinfo.c",
                "{0}/src/unix/getnameinfo.c",
                "{0}/src/unix/linux.c",
                "{0}/src/unix/loop-watcher.c",
                "{0}/src/unix/loop.c",
                "{0}/src/unix/pipe.c",
                "{0}/src/unix/poll.c",
                "{0}/src/unix/process.c",
                "{0}/src/unix/procfs-exepath.c",
                "{0}/src/unix/proctitle.c",
                "{0}/src/unix/random-devurandom.c",
                "{0}/src/unix/random-getrandom.c",
                "{0}/src/unix/random-sysctl-linux.c",
                "{0}/src/unix/signal.c",
                "{0}/src/unix/stream.c",
                "{0}/src/unix/tcp.c",
                "{0}/src/unix/thread.c",
                "{0}/src/unix/tty.c",
                "{0}/src/unix/udp.c",
                "{0}/test/test-*.c",
                "{0}/test/*-server.c",
                "{0}/test/run-tests.c",
                "{0}/test/runner.c",
                "{0}/test/runner-unix.c",
            ],
        },
        // Each test is a process of its own, and a test given twice is one without a runner. These have several threads.
        runs: &[
            "thread_create thread_create",
            "thread_equal thread_equal",
            "thread_local_storage thread_local_storage",
            "thread_mutex thread_mutex",
            "thread_rwlock thread_rwlock",
            "thread_rwlock_trylock thread_rwlock_trylock",
            "condvar_1 condvar_1",
            "condvar_2 condvar_2",
            "condvar_3 condvar_3",
            "condvar_4 condvar_4",
            "condvar_5 condvar_5",
            "semaphore_1 semaphore_1",
            "semaphore_2 semaphore_2",
            "semaphore_3 semaphore_3",
            "barrier_1 barrier_1",
            "barrier_2 barrier_2",
            "barrier_3 barrier_3",
            "barrier_serial_thread barrier_serial_thread",
            "async async",
            "async_null_cb async_null_cb",
            "threadpool_queue_work_simple threadpool_queue_work_simple",
            "threadpool_multiple_event_loops threadpool_multiple_event_loops",
            "threadpool_cancel_work threadpool_cancel_work",
            "threadpool_cancel_getaddrinfo threadpool_cancel_getaddrinfo",
            "threadpool_cancel_fs threadpool_cancel_fs",
            "fs_file_async fs_file_async",
            "fs_file_noent fs_file_noent",
            "fs_async_dir fs_async_dir",
            "fs_async_sendfile fs_async_sendfile",
            "fs_mkdtemp fs_mkdtemp",
            "fs_fstat fs_fstat",
            "fs_utime fs_utime",
            "fs_read_write_null_arguments fs_read_write_null_arguments",
            "getaddrinfo_basic getaddrinfo_basic",
            "getaddrinfo_concurrent getaddrinfo_concurrent",
            "random_async random_async",
            "signal_multiple_loops signal_multiple_loops",
            "loop_alive loop_alive",
            "tcp_close_accept tcp_close_accept",
            "pipe_close_stdout_read_stdin pipe_close_stdout_read_stdin",
            "ipc_send_recv_pipe_inprocess ipc_send_recv_pipe_inprocess",
        ],
    },
    Suite {
        name: "leveldb",
        packages: &[Source("leveldb", "bookworm"), Source("googletest", "trixie")],
        compilation: Compilation {
            flags: &[
                "-DLEVELDB_PLATFORM_POSIX=1",
                "-DLEVELDB_HAS_PORT_CONFIG_H=0",
                "-DHAVE_FDATASYNC=1",
                "-DHAVE_FULLFSYNC=0",
                "-DHAVE_O_CLOEXEC=1",
                "-DHAVE_CRC32C=0",
                "-DHAVE_SNAPPY=0",
                // Each test has the same one.
                "-Dmain=__attribute__((weak)) main",
                "-I{0}",
                "-I{0}/include",
                "-I{1}/googletest/include",
                "-I{1}/googletest",
                "-I{1}/googlemock/include",
                "-I{1}/googlemock",
                "-I{own}/../suites",
            ],
            files: &[
                "{0}/db/*.cc",
                "{0}/table/*.cc",
                "{0}/util/*.cc",
                "!{0}/db/*_test.cc",
                "!{0}/table/*_test.cc",
                "!{0}/util/*_test.cc",
                "!{0}/db/leveldbutil.cc",
                "!{0}/util/env_windows.cc",
                "{0}/helpers/memenv/memenv.cc",
                "{0}/db/db_test.cc",
                "{0}/db/autocompact_test.cc",
                "{0}/db/corruption_test.cc",
                "{0}/db/fault_injection_test.cc",
                "{0}/db/recovery_test.cc",
                "{0}/db/skiplist_test.cc",
                "{0}/issues/*_test.cc",
                "{0}/util/cache_test.cc",
                "{0}/util/env_test.cc",
                "{1}/googletest/src/gtest-all.cc",
                "{1}/googlemock/src/gmock-all.cc",
            ],
        },
        runs: &[
            "--gtest_filter=EnvTest.*:CacheTest.*:SkipTest.*:SkipListTest.*",
            "--gtest_filter=RecoveryTest.*:CorruptionTest.*:Issue*",
            "--gtest_filter=DBTest.MultiThreaded*:DBTest.ReadWrite:DBTest.Compaction*:DBTest.Snapshot:DBTest.Iter*",
            "--gtest_filter=FaultInjectionTest.*:AutoCompactTest.*",
        ],
    },
    Suite {
        name: "mimalloc-api",
        packages: &[Source("mimalloc", "bookworm")],
        compilation: Compilation {
            flags: &["-DMI_TSAN=1", "-I{0}/include", "-I{0}/test"],
            files: &["{0}/test/test-api.c", "{0}/src/static.c"],
        },
        runs: &[""],
    },
    Suite {
        name: "mimalloc-stress",
        packages: &[Source("mimalloc", "bookworm")],
        compilation: Compilation {
            flags: &["-DNDEBUG", "-DMI_TSAN=1", "-I{0}/include"],
            files: &["{0}/test/test-stress.c", "{0}/src/static.c"],
        },
        runs: &["4 10 10"],
    },
];

pub fn run(arguments: &Arguments) -> Result<()> {
    let ravelin = arguments.ravelin.clone().map_or_else(crate::sanitizer::built, Ok)?;
    let ravelin = ravelin.canonicalize().with_context(|| format!("cannot find {}", ravelin.display()))?;
    let Some(compiler) = ["gcc", "clang"].into_iter().find(|name| *name == arguments.compiler) else {
        bail!("`{}` is no compiler; expected gcc or clang", arguments.compiler);
    };
    let build = BuildVariant { compiler, kind: Instrumentation::Ravelin };
    let cache = crate::target().join("bench-programs");
    std::fs::create_dir_all(&cache)?;
    let workshop = Workshop::new(&cache, &ravelin)?;
    println!("| suite | runs | ended by limit | failed | findings triaged | not triaged |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let mut new = 0;
    for suite in SUITES.iter().filter(|suite| suite.name.contains(&arguments.only)) {
        let packages = suite.packages.iter().map(|package| package.fetched(&cache)).collect::<Result<Vec<_>>>()?;
        let program = workshop.compiled(suite.name, &suite.compilation, &packages, build)?;
        let mut row = SuiteRow::default();
        for words in suite.runs {
            once(&ravelin, &program, words, arguments.limit, &mut row)?;
        }
        let SuiteRow { late, failed, triaged, new: found } = row;
        println!("| {} | {} | {late} | {failed} | {triaged} | {found} |", suite.name, suite.runs.len());
        new += found;
    }
    ensure!(new == 0, "{new} findings are not triaged");
    Ok(())
}

#[derive(Default)]
struct SuiteRow {
    late: u64,
    failed: u64,
    triaged: u64,
    new: u64,
}

/// One run: what it found is counted, and printed if it is not triaged.
fn once(ravelin: &Path, program: &Path, words: &str, limit: u64, row: &mut SuiteRow) -> Result<()> {
    /// How `timeout` ends if it was needed.
    const LATE: i32 = 124;
    const FOUND: i32 = 99;
    let place = std::env::temp_dir().join(format!("ravelin-suites-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place)?;
    let report = place.join("report.json");
    // A program that is ended gives `ravelin run` the time to report.
    let mut run = Command::new("timeout");
    run.current_dir(&place).env("TMPDIR", &place).env("TEST_TMPDIR", &place).stdin(Stdio::null());
    run.arg(limit.to_string()).arg(ravelin);
    run.args(["run", "--format", "json", "--exit-code", &FOUND.to_string(), "--output"]).arg(&report);
    run.arg("--suppressions").arg(crate::root().join("case-studies/c/suites.suppressions"));
    run.arg(program).args(words.split_whitespace());
    let output = run.output().context("ravelin run")?;
    match output.status.code() {
        Some(LATE) => row.late += 1,
        Some(0 | FOUND) => {}
        _ => {
            row.failed += 1;
            eprintln!("{} {words}: {}", program.display(), output.status);
        }
    }
    let text = std::fs::read_to_string(&report);
    std::fs::remove_dir_all(&place)?;
    let text = text.with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let json: Value = serde_json::from_str(&text)?;
    let answer = &json["answers"][0];
    row.triaged += answer["hidden"]["suppressed"].as_u64().unwrap_or(0);
    for finding in answer["findings"].as_array().into_iter().flatten() {
        row.new += 1;
        println!("{} {words}: {finding:#}", program.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_names_of_their_own_and_something_to_run() {
        for (number, suite) in SUITES.iter().enumerate() {
            assert!(SUITES[..number].iter().all(|other| other.name != suite.name), "{}", suite.name);
            assert!(!suite.runs.is_empty() && !suite.compilation.files.is_empty(), "{}", suite.name);
        }
    }
}
