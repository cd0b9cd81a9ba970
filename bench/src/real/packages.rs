//! Sources of other people's programs, fetched by package name with the ordinary clients and kept.
//!
//! `apt-get source` and `apt-get download` work with lists of their own inside the cache, so nothing of the system's
//! changes and no right beyond a network connection is needed. Crates come with `cargo fetch` from a manifest inside the
//! cache. A folder gets its final name only when it is complete, so an interrupted fetch is repeated.

use crate::sanitizer::started::succeeds;
use anyhow::{Context, Result, bail, ensure};
use ravelin_process::interrupt::is_asked;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where sources come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// A source package of a Debian release.
    Source(&'static str, &'static str),
    /// A binary package of a Debian release, for libraries that are headers only.
    Headers(&'static str, &'static str),
    /// A crate that carries sources in C, with the version that Cargo is asked for.
    Crate(&'static str, &'static str),
}

/// A package that is there: its folder, and its version as the package manager calls it.
#[derive(Clone, Debug)]
pub struct PackageSources {
    pub folder: PathBuf,
    pub version: String,
}

const MIRROR: &str = "http://deb.debian.org/debian";

impl Package {
    pub fn name(self) -> &'static str {
        let (Package::Source(name, _) | Package::Headers(name, _) | Package::Crate(name, _)) = self;
        name
    }

    /// The package in the cache; fetched if it is not there yet.
    pub fn fetched(self, cache: &Path) -> Result<PackageSources> {
        let fetch = || match self {
            Package::Source(name, release) => debian(cache, name, release, DebianKind::Source),
            Package::Headers(name, release) => debian(cache, name, release, DebianKind::Binary),
            Package::Crate(name, version) => from_crates_io(cache, name, version),
        };
        fetch().with_context(|| format!("cannot fetch {}", self.name()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DebianKind {
    Source,
    Binary,
}

fn debian(cache: &Path, name: &str, release: &str, kind: DebianKind) -> Result<PackageSources> {
    let folder = cache.join("debian").join(release).join(name);
    if !folder.is_dir() {
        let lists = lists(cache, release)?;
        let mut fetched = unpack(&lists, &folder, name, release, kind);
        if fetched.is_err() && !is_asked() {
            // The lists may be older than what the mirror has.
            std::fs::remove_dir_all(&lists)?;
            fetched = unpack(&self::lists(cache, release)?, &folder, name, release, kind);
        }
        fetched?;
    }
    let end = if kind == DebianKind::Source { "dsc" } else { "deb" };
    let described = only(&folder, |path| path.extension().is_some_and(|found| found == end))?;
    let version = debian_version(&described).context("a package without a version")?;
    Ok(PackageSources { folder: only(&folder, Path::is_dir)?, version })
}

fn unpack(lists: &Path, folder: &Path, name: &str, release: &str, kind: DebianKind) -> Result<()> {
    let place = folder.with_extension("part");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place)?;
    let word = format!("{name}/{release}");
    match kind {
        DebianKind::Source => {
            succeeds(apt(lists).current_dir(&place).args(["--only-source", "source"]).arg(word))?;
        }
        DebianKind::Binary => {
            succeeds(apt(lists).current_dir(&place).arg("download").arg(word))?;
            let package = only(&place, |path| path.extension().is_some_and(|end| end == "deb"))?;
            succeeds(Command::new("dpkg").arg("-x").arg(&package).arg(place.join("unpacked")))?;
        }
    }
    Ok(std::fs::rename(&place, folder)?)
}

/// What stands between the first and the second `_` of `name_version_architecture.deb` and of `name_version.dsc`.
fn debian_version(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_str()?;
    let version = stem.split('_').nth(1)?;
    Some(version.replace("%3a", ":"))
}

/// The lists of one release, brought up to date once.
fn lists(cache: &Path, release: &str) -> Result<PathBuf> {
    let lists = cache.join("apt").join(release);
    if !lists.join("complete").exists() {
        for folder in ["lists/partial", "cache/archives/partial"] {
            std::fs::create_dir_all(lists.join(folder))?;
        }
        let sources = ["deb", "deb-src"].map(|kind| format!("{kind} {MIRROR} {release} main\n"));
        std::fs::write(lists.join("sources.list"), sources.concat())?;
        succeeds(apt(&lists).arg("update"))?;
        std::fs::write(lists.join("complete"), "")?;
    }
    Ok(lists)
}

fn apt(lists: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let options: [(&str, PathBuf); 6] = [
        ("Dir::Etc::SourceList", lists.join("sources.list")),
        ("Dir::Etc::SourceParts", "/dev/null".into()),
        ("Dir::State::Lists", lists.join("lists")),
        ("Dir::Cache", lists.join("cache")),
        // The lists are the user's own, so there is nothing to give up root's rights for.
        ("APT::Sandbox::User", "".into()),
        ("Acquire::Retries", "2".into()),
    ];
    for (name, value) in options {
        command.arg("-o").arg(format!("{name}={}", value.display()));
    }
    command.arg("-qq");
    command
}

fn from_crates_io(cache: &Path, name: &str, version: &str) -> Result<PackageSources> {
    let project = cache.join("crates").join(name);
    std::fs::create_dir_all(project.join("src"))?;
    std::fs::write(project.join("src/lib.rs"), "")?;
    std::fs::write(project.join("Cargo.toml"), manifest(name, version))?;
    let cargo = || {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&project);
        command
    };
    if !project.join("Cargo.lock").exists() {
        succeeds(cargo().args(["fetch", "--quiet"]))?;
    }
    let metadata = succeeds(cargo().args(["metadata", "--format-version", "1"]))?;
    package_in(&metadata, name).with_context(|| format!("cargo does not know {name}"))
}

fn manifest(name: &str, version: &str) -> String {
    format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n{name} = \"{version}\"\n"
    )
}

/// Where `cargo metadata` says a crate is.
fn package_in(metadata: &str, name: &str) -> Option<PackageSources> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    let package = metadata["packages"].as_array()?.iter().find(|package| package["name"] == name)?;
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
    Some(PackageSources { folder, version: package["version"].as_str()?.to_owned() })
}

/// The only entry of a folder that is meant.
fn only(folder: &Path, meant: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        found.extend(Some(entry?.path()).filter(|path| meant(path)));
    }
    ensure!(found.len() < 2, "{} holds more than was expected", folder.display());
    match found.pop() {
        Some(path) => Ok(path),
        None => bail!("{} does not hold what was expected", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_file_names() {
        let version = |name: &str| debian_version(Path::new(name));
        assert_eq!(version("xz-utils_5.8.1-1+deb13u1.dsc").as_deref(), Some("5.8.1-1+deb13u1"));
        assert_eq!(version("libtaskflow-cpp-dev_3.9.0+ds-1_amd64.deb").as_deref(), Some("3.9.0+ds-1"));
        assert_eq!(version("strange.dsc"), None);
    }

    #[test]
    fn a_crate_is_found_in_what_cargo_says() {
        let metadata = r#"{"packages": [{"name": "a", "version": "1.2.3", "manifest_path": "/x/a-1.2.3/Cargo.toml"}]}"#;
        let found = package_in(metadata, "a").unwrap();
        assert_eq!((found.folder.as_path(), found.version.as_str()), (Path::new("/x/a-1.2.3"), "1.2.3"));
        assert!(package_in(metadata, "b").is_none() && package_in("", "a").is_none());
    }
}
