//! Changes of memory orders as changes of source files: C, C++ and Rust.
//!
//! An access is known by the line and the column that the compiler noted for it. [`orders`] finds the call there and the
//! orders in it; a fence is a line of its own before the statement. What cannot be written like that, such as an
//! order that a macro hides or a fence in the middle of a condition, is left to the user.

mod fences;
mod orders;

use crate::repair::OrderChange;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A change at a place of the source.
#[derive(Clone, Debug)]
pub struct SourceEdit {
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: Option<u32>,
    pub change: OrderChange,
    /// No other access of the line comes before it.
    pub is_first: bool,
}

/// A file with changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub file: PathBuf,
    pub before: String,
    pub after: String,
}

/// A piece of a text to replace.
struct Replacement {
    from: usize,
    to: usize,
    with: String,
}

/// Applies edits to the files. Returns the changed files, and the numbers of the edits that could not be applied.
pub fn patches(edits: &[SourceEdit]) -> (Vec<Patch>, Vec<usize>) {
    let mut files: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (number, edit) in edits.iter().enumerate() {
        files.entry(&edit.file).or_default().push(number);
    }
    let mut patches = Vec::new();
    let mut undone = Vec::new();
    for (file, numbers) in files {
        let Ok(before) = std::fs::read_to_string(file) else {
            undone.extend(numbers);
            continue;
        };
        let (after, not_done) = patched(file, &before, numbers.iter().map(|number| &edits[*number]));
        undone.extend(not_done.into_iter().map(|index| numbers[index]));
        if after != before {
            patches.push(Patch { file: file.to_owned(), before, after });
        }
    }
    undone.sort_unstable();
    (patches, undone)
}

/// The text with edits, and the numbers of those that could not be applied.
fn patched<'a>(file: &Path, text: &str, edits: impl Iterator<Item = &'a SourceEdit>) -> (String, Vec<usize>) {
    let mut replacements: Vec<Replacement> = Vec::new();
    let mut undone = Vec::new();
    for (number, edit) in edits.enumerate() {
        let made = match edit.change {
            OrderChange::Fence => fences::insertion(file, text, edit).map(|insertion| vec![insertion]),
            order => orders::replacements(text, edit, order),
        };
        match made {
            Some(made) => replacements.extend(made),
            None => undone.push(number),
        }
    }
    // From the end, so that what is before does not move.
    replacements.sort_by_key(|replacement| std::cmp::Reverse((replacement.from, replacement.to)));
    replacements.dedup_by(|one, other| one.from == other.from && one.with == other.with);
    let mut after = text.to_owned();
    for Replacement { from, to, with } in replacements {
        after.replace_range(from..to, &with);
    }
    (after, undone)
}

/// Where a line begins and ends, without its end of line.
fn line_of(text: &str, line: u32) -> Option<(usize, usize)> {
    let number = (line as usize).checked_sub(1)?;
    let from = text.split_inclusive('\n').take(number).map(str::len).sum();
    (text.lines().count() > number).then(|| (from, text[from..].find('\n').map_or(text.len(), |at| from + at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after one edit at the first line with `access`, whose column is where the access begins.
    fn edited(file: &str, text: &str, access: &str, change: OrderChange) -> Option<String> {
        let at = text.find(access).expect("the access is there");
        let line = text[..at].matches('\n').count() as u32 + 1;
        let column = (at - text[..at].rfind('\n').map_or(0, |end| end + 1)) as u32 + 1;
        let edit = SourceEdit { file: file.into(), line, column: Some(column), change, is_first: true };
        let (after, undone) = patched(Path::new(file), text, [&edit].into_iter());
        undone.is_empty().then_some(after)
    }

    #[test]
    fn an_order_is_replaced_as_it_is_written() {
        for (before, after, change) in [
            ("atomic_store_explicit(&x, 1, memory_order_relaxed);", "memory_order_release", OrderChange::Release),
            ("x.store(1, std::memory_order_relaxed);", "std::memory_order_release", OrderChange::Release),
            ("x.store(1, std::memory_order::relaxed);", "std::memory_order::release", OrderChange::Release),
            ("__atomic_store_n(&x, 1, __ATOMIC_RELAXED);", "__ATOMIC_RELEASE", OrderChange::Release),
            ("x.store(1, Ordering::Relaxed);", "Ordering::Release", OrderChange::Release),
            ("x.store(1, Relaxed);", "Release", OrderChange::Release),
            ("x.fetch_add(1, Ordering::Acquire);", "Ordering::AcqRel", OrderChange::Release),
            ("a = x.load(Ordering::Relaxed);", "Ordering::SeqCst", OrderChange::SeqCst),
        ] {
            let old = &before[before.rfind(&after[..2]).expect("an order")..before.len() - 2];
            let access = before.split(" = ").last().expect("an access");
            assert_eq!(
                edited("x.c", before, access, change).as_deref(),
                Some(&*before.replace(old, after)),
                "{before}"
            );
        }
    }

    #[test]
    fn a_compare_exchange_has_two_orders() {
        let text = "while (!x.compare_exchange_weak(old, old + 1, std::memory_order_relaxed,\n    std::memory_order_relaxed)) {}\n";
        let expected = text.replacen("relaxed", "acq_rel", 1).replacen("relaxed", "acquire", 1);
        assert_eq!(edited("x.cpp", text, "x.compare", OrderChange::AcqRel), Some(expected));
        let expected = text.replacen("relaxed", "release", 1);
        assert_eq!(edited("x.cpp", text, "x.compare", OrderChange::Release), Some(expected));
    }

    #[test]
    fn the_column_says_which_access_of_a_line() {
        let text = "x.store(1, relaxed(Relaxed)); y.store(y.load(Relaxed), Relaxed);\n";
        let expected = "x.store(1, relaxed(Relaxed)); y.store(y.load(Acquire), Relaxed);\n";
        assert_eq!(edited("x.rs", text, "y.load", OrderChange::Acquire).as_deref(), Some(expected));
        let expected = "x.store(1, relaxed(Relaxed)); y.store(y.load(Relaxed), Release);\n";
        assert_eq!(edited("x.rs", text, "y.store", OrderChange::Release).as_deref(), Some(expected));
    }

    #[test]
    fn an_order_that_is_not_written_there_is_left_to_the_user() {
        let hidden = "atomic_compare_exchange_strong_explicit(&x, &(int[2]){0, 1}[0], 1, PUSH, memory_order_relaxed)";
        assert_eq!(edited("x.c", hidden, hidden, OrderChange::Release), None);
        for text in ["LOAD(&x);", "x.load(order);", "a = x;", "", "f(\"memory_order_relaxed)\");"] {
            assert_eq!(edited("x.c", text, text, OrderChange::Acquire), None, "{text}");
        }
    }

    #[test]
    fn a_fence_is_a_line_of_its_own() {
        let text = "#include <stdatomic.h>\nvoid f(void) {\n\tint r = atomic_load(&x);\n}\n";
        let expected = "#include <stdatomic.h>\nvoid f(void) {\n\tatomic_thread_fence(memory_order_seq_cst);\n\tint r = atomic_load(&x);\n}\n";
        assert_eq!(edited("x.c", text, "atomic_load", OrderChange::Fence).as_deref(), Some(expected));
        let text = "    let r = x.load(Relaxed);\n";
        let expected =
            "    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);\n    let r = x.load(Relaxed);\n";
        assert_eq!(edited("x.rs", text, "x.load", OrderChange::Fence).as_deref(), Some(expected));
    }

    #[test]
    fn a_fence_in_the_middle_of_a_statement_is_left_to_the_user() {
        for text in [
            "while (atomic_load(&x)) {}",
            "int a = f(b,\natomic_load(&x));",
            "if (y)\n  atomic_load(&x);",
            "} else if (atomic_load(&x)) {",
        ] {
            assert_eq!(edited("x.c", text, "atomic_load", OrderChange::Fence), None, "{text}");
        }
    }
}
