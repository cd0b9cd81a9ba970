//! Programs of others, built as [`super::recipes`] says: with a plain compiler, with its thread sanitizer, with Ravelin.
//!
//! An executable is kept and used again as long as its command, the compiler, our driver and the `ravelin` that built it
//! are the same.

use super::packages::PackageSources;
use super::recipes::{Compilation, RealProgram, Recipe};
use crate::sanitizer::started::succeeds;
use crate::sanitizer::{BuildVariant, Instrumentation, compiler};
use anyhow::{Context, Result, ensure};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rust's target with a thread sanitizer and a runtime of Ravelin's.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What is the same for all programs.
pub struct Workshop<'a> {
    pub cache: &'a Path,
    pub ravelin: &'a Path,
    /// Changes with the contents of `ravelin`.
    pub ravelin_mark: u64,
}

impl<'a> Workshop<'a> {
    pub fn new(cache: &'a Path, ravelin: &'a Path) -> Result<Workshop<'a>> {
        let contents = std::fs::read(ravelin).with_context(|| format!("cannot read {}", ravelin.display()))?;
        Ok(Workshop { cache, ravelin, ravelin_mark: mark(&contents) })
    }

    /// The executable of one build.
    pub fn built(&self, program: &RealProgram, packages: &[PackageSources], build: BuildVariant) -> Result<PathBuf> {
        match &program.recipe {
            Recipe::Compile(compilation) => self.compiled(program.name, compilation, packages, build),
            Recipe::Cargo => self.by_cargo(program.name, build),
        }
    }

    /// The same for any list of files.
    pub fn compiled(
        &self,
        name: &str,
        compilation: &Compilation,
        packages: &[PackageSources],
        build: BuildVariant,
    ) -> Result<PathBuf> {
        let stem = format!("{name}-{}", build.name()).replace(' ', "-");
        let executable = self.cache.join("built").join(&stem);
        let flags: Vec<String> = compilation.flags.iter().map(|flag| filled(flag, packages)).collect();
        let files = files(compilation.files, packages)?;
        let key = self.key(&flags, &files, build)?;
        let kept = executable.with_extension("key");
        if executable.exists() && std::fs::read_to_string(&kept).is_ok_and(|found| found == key) {
            return Ok(executable);
        }
        let objects = self.cache.join("objects").join(&stem);
        let _ = std::fs::remove_dir_all(&objects);
        std::fs::create_dir_all(&objects)?;
        std::fs::create_dir_all(executable.parent().unwrap_or(self.cache))?;
        let done = self.objects(&flags, &files, build, &objects).and_then(|objects| {
            let cpp = files.iter().any(|file| is_cpp(file));
            let mut link = compiler(build, self.ravelin, cpp);
            succeeds(link.args(["-O2", "-g", "-pthread"]).args(objects).args(["-ldl", "-lm", "-o"]).arg(&executable))
        });
        let _ = std::fs::remove_dir_all(&objects);
        done?;
        std::fs::write(kept, key)?;
        Ok(executable)
    }

    /// Compiles the files, as many at a time as there are cores.
    fn objects(&self, flags: &[String], files: &[PathBuf], build: BuildVariant, folder: &Path) -> Result<Vec<PathBuf>> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some((number, file)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, files.get(n)?)))
            {
                let cpp = is_cpp(file);
                let mut command = compiler(build, self.ravelin, cpp);
                command.args(["-O2", "-g", "-w", "-pthread"]).args(cpp.then_some("-std=c++17")).args(flags);
                let compiled = succeeds(command.arg("-c").arg(file).arg("-o").arg(object(folder, number)));
                if compiled.is_err() {
                    // The others need not start with what is left.
                    next.store(files.len(), Ordering::Relaxed);
                }
                compiled?;
            }
            Ok(())
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| anyhow::bail!("a thread ended")))
        })?;
        Ok((0..files.len()).map(|number| object(folder, number)).collect())
    }

    /// What the executable depends on and what changes without a change of its package.
    fn key(&self, flags: &[String], files: &[PathBuf], build: BuildVariant) -> Result<String> {
        let mut key = format!("{flags:?}\n{files:?}\n{}", succeeds(Command::new(build.compiler).arg("--version"))?);
        for file in files.iter().filter(|file| file.starts_with(own())) {
            key += &format!("{:x}\n", mark(&std::fs::read(file)?));
        }
        if build.kind == Instrumentation::Ravelin {
            key += &format!("{:x}\n", self.ravelin_mark);
        }
        Ok(key)
    }

    /// Cargo knows by itself what has to be built again.
    fn by_cargo(&self, name: &str, build: BuildVariant) -> Result<PathBuf> {
        let folder = self.cache.join("rust").join(build.name().replace(' ', "-"));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = match build.kind {
            Instrumentation::Ravelin => {
                let mut command = Command::new(self.ravelin);
                command.arg("cargo");
                command
            }
            _ => Command::new(cargo),
        };
        command.current_dir(own().join("rust")).args(["build", "--release", "--locked", "--bin", name, "--target-dir"]);
        command.arg(&folder);
        if build.kind != Instrumentation::Ravelin {
            command.args(["--target", TARGET]);
        }
        if build.kind == Instrumentation::Stock {
            // The runtime is part of the stable toolchain; only the flag is not.
            command.env("RUSTC_BOOTSTRAP", "1");
            command.env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer");
        }
        succeeds(&mut command)?;
        let folder = if build.kind == Instrumentation::Ravelin { folder.join("ravelin") } else { folder };
        let executable = folder.join(TARGET).join("release").join(name);
        ensure!(executable.exists(), "cargo built no {}", executable.display());
        Ok(executable)
    }
}

/// Where our drivers are.
fn own() -> PathBuf {
    crate::root().join("bench/programs/real")
}

fn is_cpp(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "cpp" || end == "cc")
}

fn object(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number}.o"))
}

fn mark(contents: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    contents.hash(&mut hasher);
    hasher.finish()
}

/// A word of a recipe with the folders that it stands for.
fn filled(word: &str, packages: &[PackageSources]) -> String {
    let mut word = word.replace("{own}", &own().to_string_lossy());
    for (number, package) in packages.iter().enumerate() {
        word = word.replace(&format!("{{{number}}}"), &package.folder.to_string_lossy());
    }
    word
}

/// The files that a recipe names, in its order.
pub fn files(patterns: &[&str], packages: &[PackageSources]) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        let (out, pattern) = pattern.strip_prefix('!').map_or((false, *pattern), |pattern| (true, pattern));
        let found = matching(&filled(pattern, packages)).with_context(|| format!("no file is {pattern}"))?;
        ensure!(!found.is_empty(), "no file is {pattern}");
        if out {
            files.retain(|file| !found.contains(file));
        } else {
            files.extend(found);
        }
    }
    Ok(files)
}

/// The files of a folder whose names fit a pattern with at most one `*`, by name.
pub fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(pattern);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((begin, end)) = name.split_once('*') else {
        return Ok(path.is_file().then(|| path.to_owned()).into_iter().collect());
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path.parent().context("a pattern without a folder")?)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_patterns() {
        let package = PackageSources { folder: crate::root().join("bench"), version: String::new() };
        let names = |patterns: &[&str]| -> Result<Vec<String>> {
            let files = files(patterns, std::slice::from_ref(&package))?;
            Ok(files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect())
        };
        let found = names(&["{own}/sqlite.c", "{0}/programs/runtime/p*", "!{0}/programs/runtime/plain.c"]).unwrap();
        assert_eq!(found, ["sqlite.c", "pointers.cpp"]);
        assert!(names(&["{0}/no-such-file.c"]).unwrap_err().to_string().contains("{0}/no-such-file.c"));
        assert!(names(&["{0}/no-such-folder/*.c"]).is_err());
    }
}
