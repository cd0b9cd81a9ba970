//! The suites: which files of which package are compiled, and what each run is given.

use crate::real::packages::Package::{self, Source};
use crate::real::recipes::{Compilation, LIBUV, PROGRAMS, Recipe, joined};

/// Tests of one package that are one program.
pub struct Suite {
    pub name: &'static str,
    pub program: SuiteProgram,
    /// Files that are copied into the folder of each run.
    pub copies: &'static [&'static str],
    /// The words of each run. `;` parts commands of the program that follow one another in one folder, and `*` stands
    /// for any part of the name of a file there.
    pub runs: &'static [&'static str],
}

/// What is compiled for a suite.
pub enum SuiteProgram {
    Tests {
        packages: &'static [Package],
        compilation: Compilation,
    },
    /// The program of this name in [`PROGRAMS`]: its own tests are scripts that call it.
    Itself(&'static str),
}

impl SuiteProgram {
    pub fn parts(&self) -> Option<(&[Package], &Compilation)> {
        match self {
            SuiteProgram::Tests { packages, compilation } => Some((packages, compilation)),
            SuiteProgram::Itself(name) => {
                let program = PROGRAMS.iter().find(|program| program.name == *name)?;
                match &program.recipe {
                    Recipe::Compile(compilation) => Some((program.packages, compilation)),
                    Recipe::Cargo => None,
                }
            }
        }
    }
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

/// The tests of libuv, which include some of its files.
const LIBUV_TESTS: &[&str] = &[
    "!{0}/src/idna.c",
    "!{0}/src/strscpy.c",
    "!{0}/src/strtok.c",
    "{0}/test/test-*.c",
    "{0}/test/*-server.c",
    "{0}/test/run-tests.c",
    "{0}/test/runner.c",
    "{0}/test/runner-unix.c",
];

pub const SUITES: [Suite; 9] = [
    Suite {
        name: "zstd-pool",
        program: SuiteProgram::Tests {
            packages: &[Source("libzstd", "trixie")],
            compilation: Compilation {
                flags: ZSTD,
                files: &["{0}/lib/common/*.c", "{0}/lib/compress/*.c", "{0}/tests/poolTests.c"],
            },
        },
        copies: &[],
        runs: &[""],
    },
    Suite {
        name: "zstd-stream",
        program: SuiteProgram::Tests {
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
        },
        copies: &[],
        runs: &["-T30s", "-T30s --newapi"],
    },
    Suite {
        name: "libuv",
        program: SuiteProgram::Tests {
            packages: &[Source("libuv1", "trixie")],
            compilation: Compilation {
                flags: &["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-I{0}/include", "-I{0}/src"],
                files: &joined::<{ LIBUV.len() + LIBUV_TESTS.len() }>(&[LIBUV, LIBUV_TESTS]),
            },
        },
        // Each test is a process of its own, and a test given twice is one without a runner. These have several threads.
        copies: &[],
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
        program: SuiteProgram::Tests {
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
        },
        copies: &[],
        runs: &[
            "--gtest_filter=EnvTest.*:CacheTest.*:SkipTest.*:SkipListTest.*",
            "--gtest_filter=RecoveryTest.*:CorruptionTest.*:Issue*",
            "--gtest_filter=DBTest.MultiThreaded*:DBTest.ReadWrite:DBTest.Compaction*:DBTest.Snapshot:DBTest.Iter*",
            "--gtest_filter=FaultInjectionTest.*:AutoCompactTest.*",
        ],
    },
    Suite {
        name: "mimalloc-api",
        program: SuiteProgram::Tests {
            packages: &[Source("mimalloc", "bookworm")],
            compilation: Compilation {
                flags: &["-DMI_TSAN=1", "-I{0}/include", "-I{0}/test"],
                files: &["{0}/test/test-api.c", "{0}/src/static.c"],
            },
        },
        copies: &[],
        runs: &[""],
    },
    Suite {
        name: "mimalloc-stress",
        program: SuiteProgram::Tests {
            packages: &[Source("mimalloc", "bookworm")],
            compilation: Compilation {
                flags: &["-DNDEBUG", "-DMI_TSAN=1", "-I{0}/include"],
                files: &["{0}/test/test-stress.c", "{0}/src/static.c"],
            },
        },
        copies: &[],
        runs: &["4 10 10"],
    },
    // The programs that compress are run as their own tests run them (`make test` of pigz, `test_files.sh` of xz), with
    // several threads and with blocks small enough that each has something to do.
    Suite {
        name: "pigz",
        program: SuiteProgram::Itself("pigz"),
        copies: &["{0}/pigz.c", "{1}/deflate.c"],
        runs: &[
            "-kf -p4 pigz.c ; -t pigz.c.gz",
            "-kfb 32 -p4 pigz.c ; -t pigz.c.gz ; -df pigz.c.gz",
            "-kfp 1 pigz.c ; -t pigz.c.gz",
            "-kfz -p4 pigz.c ; -t pigz.c.zz",
            "-kfK -p4 pigz.c ; -t pigz.c.zip",
            "-kfib 32 -p4 pigz.c deflate.c ; -tp4 pigz.c.gz deflate.c.gz ; -l pigz.c.gz deflate.c.gz",
            "-kfR -b 32 -p4 pigz.c ; -dc pigz.c.gz",
        ],
    },
    Suite {
        name: "xz",
        program: SuiteProgram::Itself("xz"),
        copies: &["{0}/tests/files/*.xz", "{0}/src/xz/args.c", "{0}/src/liblzma/lzma/lzma_encoder_optimum_normal.c"],
        runs: &[
            "-T4 -t good-0*.xz ; -T4 -t good-1-b*.xz ; -T4 -t good-1-l*.xz ; -T4 -t good-2*.xz",
            // These are refused, which ends threads that have work.
            "-T4 -t bad-1*.xz",
            "-T4 -t bad-2*.xz ; -T4 -t bad-3*.xz",
            "-T4 -k -2 --block-size=4KiB args.c ; -T4 -t args.c.xz ; -T4 -l args.c.xz ; -T4 -dkf args.c.xz",
            "-T4 -k -6 --block-size=4KiB --flush-timeout=1 lzma*.c ; -T3 -t lzma*.xz",
            "-T4 -k --block-list=1KiB,2KiB,3KiB,0 args.c ; -T2 -t args.c.xz",
            "-T4 -k -1 --block-size=8KiB --memlimit-compress=20MiB lzma*.c ; -T4 -M10MiB -t lzma*.xz",
        ],
    },
    Suite {
        name: "lz4",
        program: SuiteProgram::Itself("lz4"),
        copies: &["{input}"],
        runs: &[
            "-T4 -B4 -f text out.lz4 ; -t out.lz4 ; -d -f out.lz4 back",
            "-T4 -B4 -BD -f text out.lz4 ; -T4 -t out.lz4",
            "-T4 -9 -B5 --content-size -f text out.lz4 ; -T4 -d -f out.lz4 back",
            "-T4 -l -f text out.lz4 ; -T4 -t out.lz4",
            "-T4 -m -k -f text text ; -T4 -t text.lz4",
        ],
    },
];
