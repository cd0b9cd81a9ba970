//! The programs: where each comes from, which of its files are compiled and how, and what it is given to do.
//!
//! Only names and lists are ours. `{0}`, `{1}`, … stand for the folders of the packages in their order, `{own}` for
//! `bench/programs/real`, where the drivers of libraries are.

use super::packages::Package::{self, Crate, Headers, Source};

/// A program of others with what it does in a run.
pub struct RealProgram {
    pub name: &'static str,
    pub packages: &'static [Package],
    pub recipe: Recipe,
    /// What it does, for people.
    pub does: &'static str,
    /// Its arguments: `{size}` is a size, `{input}` a file with so many bytes, `{scratch}` an empty folder.
    pub words: &'static str,
    /// Two sizes; the work is proportional to them.
    pub sizes: [u64; 2],
}

pub enum Recipe {
    Compile(Compilation),
    /// A program of the package `bench/programs/real/rust`, whose dependencies Cargo fetches.
    Cargo,
}

pub struct Compilation {
    pub flags: &'static [&'static str],
    /// Files; `*` stands for any part of a file name, and a leading `!` takes files out again.
    pub files: &'static [&'static str],
}

/// The Debian releases that packages come from. Older ones are named where a newer version does not suit.
const STABLE: &str = "trixie";
const OLD_STABLE: &str = "bookworm";

/// The files of libuv, without tests.
pub const LIBUV: &[&str] = &[
    "{0}/src/*.c",
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
];

/// Several lists of files as one.
pub const fn joined<const LENGTH: usize>(lists: &[&[&'static str]]) -> [&'static str; LENGTH] {
    let mut all = [""; LENGTH];
    let (mut list, mut next) = (0, 0);
    while list < lists.len() {
        let mut file = 0;
        while file < lists[list].len() {
            all[next] = lists[list][file];
            next += 1;
            file += 1;
        }
        list += 1;
    }
    assert!(next == LENGTH);
    all
}

pub const PROGRAMS: [RealProgram; 14] = [
    RealProgram {
        name: "xz",
        packages: &[Source("xz-utils", STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &[
                "-DPACKAGE=\"xz\"",
                "-DPACKAGE_NAME=\"XZ\"",
                "-DPACKAGE_BUGREPORT=\"\"",
                "-DPACKAGE_URL=\"\"",
                "-DTUKLIB_SYMBOL_PREFIX=lzma_",
                "-DHAVE_ENCODERS",
                "-DHAVE_DECODERS",
                "-DHAVE_ENCODER_LZMA1",
                "-DHAVE_ENCODER_LZMA2",
                "-DHAVE_DECODER_LZMA1",
                "-DHAVE_DECODER_LZMA2",
                "-DHAVE_LZIP_DECODER",
                "-DHAVE_MF_HC3",
                "-DHAVE_MF_HC4",
                "-DHAVE_MF_BT2",
                "-DHAVE_MF_BT3",
                "-DHAVE_MF_BT4",
                "-DHAVE_CHECK_CRC32",
                "-DHAVE_CHECK_CRC64",
                "-DHAVE_STDBOOL_H",
                "-DHAVE__BOOL",
                "-DHAVE_STDINT_H",
                "-DHAVE_INTTYPES_H",
                "-DHAVE_STRING_H",
                "-DMYTHREAD_POSIX",
                "-DTUKLIB_CPUCORES_SYSCONF",
                "-DTUKLIB_PHYSMEM_SYSCONF",
                "-DTUKLIB_FAST_UNALIGNED_ACCESS",
                "-DHAVE_CLOCK_GETTIME",
                "-DHAVE_CLOCK_MONOTONIC",
                "-DHAVE_FUTIMENS",
                "-DHAVE_VISIBILITY=0",
                "-DASSUME_RAM=128",
                "-DNDEBUG",
                "-D_GNU_SOURCE",
                "-DSIZEOF_SIZE_T=8",
                "-I{0}/src/common",
                "-I{0}/src/liblzma/api",
                "-I{0}/src/liblzma/common",
                "-I{0}/src/liblzma/check",
                "-I{0}/src/liblzma/lz",
                "-I{0}/src/liblzma/rangecoder",
                "-I{0}/src/liblzma/lzma",
                "-I{0}/src/liblzma/delta",
                "-I{0}/src/liblzma/simple",
            ],
            files: &[
                "{0}/src/liblzma/common/*.c",
                "{0}/src/liblzma/lz/*.c",
                "{0}/src/liblzma/lzma/*.c",
                "{0}/src/liblzma/rangecoder/*.c",
                "!{0}/src/liblzma/lzma/fastpos_tablegen.c",
                "!{0}/src/liblzma/rangecoder/price_tablegen.c",
                "{0}/src/liblzma/check/check.c",
                "{0}/src/liblzma/check/crc*_fast.c",
                "{0}/src/common/tuklib_*.c",
                "{0}/src/xz/*.c",
            ],
        }),
        does: "compresses with 4 threads, level 2, blocks of 128 KiB; size in bytes",
        words: "-T4 -2 --block-size=128KiB -c {input}",
        sizes: [256 << 10, 1 << 20],
    },
    RealProgram {
        name: "pigz",
        packages: &[Source("pigz", STABLE), Source("zlib", STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &["-DHAVE_UNISTD_H", "-DNOZOPFLI", "-I{1}"],
            files: &["{0}/pigz.c", "{0}/yarn.c", "{0}/try.c", "{1}/*.c"],
        }),
        does: "compresses with 4 threads, blocks of 32 KiB; size in bytes",
        words: "-p4 -b 32 -c {input}",
        sizes: [1 << 20, 4 << 20],
    },
    RealProgram {
        name: "zstd",
        packages: &[Source("libzstd", STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &[
                "-DZSTD_MULTITHREAD",
                "-DZSTD_DISABLE_ASM",
                "-DZSTD_NODICT",
                "-DZSTD_NOTRACE",
                "-DXXH_NAMESPACE=ZSTD_",
                "-I{0}/lib",
                "-I{0}/lib/common",
            ],
            files: &[
                "{0}/lib/common/*.c",
                "{0}/lib/compress/*.c",
                "{0}/lib/decompress/*.c",
                "{0}/programs/*.c",
                "!{0}/programs/dibio.c",
                "!{0}/programs/zstdcli_trace.c",
            ],
        }),
        does: "compresses with 4 threads, level 3, jobs of 512 KiB; size in bytes",
        words: "-T4 -3 -B512KiB -q -c {input}",
        sizes: [2 << 20, 8 << 20],
    },
    RealProgram {
        name: "lz4",
        packages: &[Source("lz4", STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &["-DLZ4IO_MULTITHREAD=1", "-I{0}/lib"],
            files: &["{0}/lib/*.c", "{0}/programs/*.c"],
        }),
        does: "compresses with 4 threads, level 1, blocks of 64 KiB; size in bytes",
        words: "-T4 -1 -B4 -q -c {input}",
        // It starts threads for pieces of 4 MiB.
        sizes: [8 << 20, 16 << 20],
    },
    RealProgram {
        name: "sqlite",
        packages: &[Crate("libsqlite3-sys", "0.39")],
        recipe: Recipe::Compile(Compilation {
            flags: &["-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-I{0}/sqlite3"],
            files: &["{own}/sqlite.c", "{0}/sqlite3/sqlite3.c"],
        }),
        does: "4 connections in WAL mode insert and select; size in transactions of each",
        words: "{scratch} {size}",
        sizes: [150, 600],
    },
    RealProgram {
        name: "libuv",
        packages: &[Source("libuv1", STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-I{0}/include", "-I{0}/src"],
            files: &joined::<{ 1 + LIBUV.len() }>(&[&["{own}/libuv.c"], LIBUV]),
        }),
        does: "a loop with its thread pool; size in pieces of work",
        words: "{size}",
        sizes: [10_000, 40_000],
    },
    RealProgram {
        name: "leveldb",
        packages: &[Source("leveldb", OLD_STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &[
                "-DLEVELDB_PLATFORM_POSIX=1",
                "-DLEVELDB_HAS_PORT_CONFIG_H=0",
                "-DHAVE_FDATASYNC=1",
                "-DHAVE_FULLFSYNC=0",
                "-DHAVE_O_CLOEXEC=1",
                "-DHAVE_CRC32C=0",
                "-DHAVE_SNAPPY=0",
                "-I{0}",
                "-I{0}/include",
            ],
            files: &[
                "{own}/leveldb.cpp",
                "{0}/db/*.cc",
                "{0}/table/*.cc",
                "{0}/util/*.cc",
                "!{0}/db/*_test.cc",
                "!{0}/table/*_test.cc",
                "!{0}/util/*_test.cc",
                "!{0}/db/leveldbutil.cc",
                "!{0}/util/testutil.cc",
                "!{0}/util/env_windows.cc",
            ],
        }),
        does: "4 threads put, get and iterate; size in operations of each",
        words: "{scratch} {size}",
        sizes: [2_000, 8_000],
    },
    RealProgram {
        name: "concurrentqueue",
        packages: &[Headers("libconcurrentqueue-dev", OLD_STABLE)],
        recipe: Recipe::Compile(Compilation { flags: &["-I{0}/usr/include"], files: &["{own}/concurrentqueue.cpp"] }),
        does: "2 producers and 2 consumers; size in items of each producer",
        words: "{size}",
        sizes: [250_000, 1_000_000],
    },
    RealProgram {
        name: "taskflow",
        packages: &[Headers("libtaskflow-cpp-dev", STABLE)],
        recipe: Recipe::Compile(Compilation { flags: &["-I{0}/usr/include"], files: &["{own}/taskflow.cpp"] }),
        does: "a graph of 257 tasks on 4 threads; size in runs of the graph",
        words: "{size}",
        sizes: [500, 2_000],
    },
    RealProgram {
        name: "mimalloc v2",
        packages: &[Crate("libmimalloc-sys", "0.1.49"), Source("mimalloc", OLD_STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &["-DNDEBUG", "-DMI_TSAN=1", "-I{0}/c_src/mimalloc/v2/include"],
            files: &["{1}/test/test-stress.c", "{0}/c_src/mimalloc/v2/src/static.c"],
        }),
        does: "its own stress test, 4 threads, scale 10; size in iterations",
        words: "4 10 {size}",
        sizes: [4, 16],
    },
    RealProgram {
        name: "mimalloc v3",
        packages: &[Crate("libmimalloc-sys", "0.1.49"), Source("mimalloc", OLD_STABLE)],
        recipe: Recipe::Compile(Compilation {
            flags: &["-DNDEBUG", "-DMI_TSAN=1", "-I{0}/c_src/mimalloc/v3/include"],
            files: &["{1}/test/test-stress.c", "{0}/c_src/mimalloc/v3/src/static.c"],
        }),
        does: "the same with the next version",
        words: "4 10 {size}",
        sizes: [4, 16],
    },
    RealProgram {
        name: "rayon",
        packages: &[],
        recipe: Recipe::Cargo,
        does: "parallel sort, map and reduce on 4 threads; size in rounds",
        words: "{size}",
        sizes: [10, 40],
    },
    RealProgram {
        name: "crossbeam",
        packages: &[],
        recipe: Recipe::Cargo,
        does: "channels, a deque and an epoch-based queue on 4 threads; size in items",
        words: "{size}",
        sizes: [25_000, 100_000],
    },
    RealProgram {
        name: "dashmap",
        packages: &[],
        recipe: Recipe::Cargo,
        does: "4 threads insert, look up and remove; size in operations of each",
        words: "{size}",
        sizes: [25_000, 100_000],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_of_their_own_and_grow() {
        for (number, program) in PROGRAMS.iter().enumerate() {
            assert!(PROGRAMS[..number].iter().all(|other| other.name != program.name), "{}", program.name);
            assert!(program.sizes[0] * 2 <= program.sizes[1], "{}", program.name);
            assert!(program.words.contains("{size}") || program.words.contains("{input}"), "{}", program.name);
        }
    }

    #[test]
    fn recipes_name_packages_and_drivers_that_are_there() {
        for program in &PROGRAMS {
            let Recipe::Compile(compilation) = &program.recipe else {
                let source = format!("bench/programs/real/rust/src/bin/{}.rs", program.name);
                assert!(crate::root().join(&source).is_file(), "{source}");
                continue;
            };
            for word in compilation.flags.iter().chain(compilation.files) {
                if let Some((_, driver)) = word.split_once("{own}/") {
                    assert!(crate::root().join("bench/programs/real").join(driver).is_file(), "{driver}");
                }
                let number = word.split_once('{').and_then(|(_, rest)| rest[..1].parse::<usize>().ok());
                assert!(number.is_none_or(|number| number < program.packages.len()), "{}: {word}", program.name);
            }
        }
    }
}
