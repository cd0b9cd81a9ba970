//! Wide strings: the words of [`super::touching`] for characters of four bytes, and the lines of the table
//! ([`super::ranges`]) that use them, from `<wchar.h>`, `<stdlib.h>` and `<stdio.h>`.
//!
//! Arguments of wide formats are not read: only what `swprintf` writes counts.

use super::descriptors::{fills_stream, flushes_stream, sent};
use super::touching::{counts, reads, writes};
use crate::{memory, options};
use libc::{c_int, c_long};

/// The size of `wchar_t`.
const WIDE: usize = size_of::<libc::wchar_t>();
const ALL: usize = usize::MAX;

mod next {
    next! {
        fn wcslen(text: usize) -> usize;
        fn wcsnlen(text: usize, most: usize) -> usize;
    }
}

// Strings and memory.
ranges! {
    fn wcslen(text: usize) -> length: usize => reads(text, WIDE * (length + 1));
    fn wcsnlen(text: usize, most: usize) -> length: usize => reads_wide_text(text, most);
    fn wcscpy(to: usize, from: usize) -> end: usize => reads_wide(from), writes_wide(to);
    fn wcpcpy(to: usize, from: usize) -> end: usize => reads_wide(from), writes_wide(to);
    fn wcsncpy(to: usize, from: usize, most: usize) -> end: usize
        => reads_wide_text(from, most), writes_wides(to, most);
    fn wcpncpy(to: usize, from: usize, most: usize) -> end: usize
        => reads_wide_text(from, most), writes_wides(to, most);
    fn wcscat(to: usize, from: usize) -> end: usize, first appends_wide(to, from, ALL);
    fn wcsncat(to: usize, from: usize, most: usize) -> end: usize, first appends_wide(to, from, most);
    fn wcscmp(left: usize, right: usize) -> order: c_int => reads_wide_while_same(left, right, ALL);
    fn wcsncmp(left: usize, right: usize, most: usize) -> order: c_int => reads_wide_while_same(left, right, most);
    fn wcscoll(left: usize, right: usize) -> order: c_int => reads_wide(left), reads_wide(right);
    fn wcschr(text: usize, letter: c_int) -> found: usize => reads_wide_until(text, found);
    fn wcsrchr(text: usize, letter: c_int) -> found: usize => reads_wide(text);
    fn wcsstr(text: usize, part: usize) -> found: usize => reads_wide(part), reads_wide_until(text, found);
    fn wcspbrk(text: usize, letters: usize) -> found: usize => reads_wide(letters), reads_wide_until(text, found);
    fn wcsspn(text: usize, letters: usize) -> length: usize => reads_wide(letters), reads(text, WIDE * (length + 1));
    fn wcscspn(text: usize, letters: usize) -> length: usize => reads_wide(letters), reads(text, WIDE * (length + 1));
    fn wcsdup(from: usize) -> to: usize => reads_wide(from), writes_wide(to);
    fn wmemcpy(to: usize, from: usize, count: usize) -> end: usize, first reads_wides(from, count), writes_wides(to, count);
    fn wmempcpy(to: usize, from: usize, count: usize) -> end: usize, first reads_wides(from, count), writes_wides(to, count);
    fn wmemmove(to: usize, from: usize, count: usize) -> end: usize, first reads_wides(from, count), writes_wides(to, count);
    fn wmemset(to: usize, letter: c_int, count: usize) -> end: usize, first writes_wides(to, count);
    fn wmemcmp(left: usize, right: usize, count: usize) -> order: c_int, first reads_wides(left, count), reads_wides(right, count);
    fn wmemchr(at: usize, letter: c_int, count: usize) -> found: usize => reads_wides_until(at, count, found);
    fn __wcscpy_chk(to: usize, from: usize, room: usize) -> end: usize => reads_wide(from), writes_wide(to);
    fn __wcsncpy_chk(to: usize, from: usize, most: usize, room: usize) -> end: usize
        => reads_wide_text(from, most), writes_wides(to, most);
    fn __wcscat_chk(to: usize, from: usize, room: usize) -> end: usize, first appends_wide(to, from, ALL);
    fn __wcsncat_chk(to: usize, from: usize, most: usize, room: usize) -> end: usize, first appends_wide(to, from, most);
    fn __wmemcpy_chk(to: usize, from: usize, count: usize, room: usize) -> end: usize,
        first reads_wides(from, count), writes_wides(to, count);
    fn __wmemmove_chk(to: usize, from: usize, count: usize, room: usize) -> end: usize,
        first reads_wides(from, count), writes_wides(to, count);
    fn __wmemset_chk(to: usize, letter: c_int, count: usize, room: usize) -> end: usize, first writes_wides(to, count);
}

// Numbers, and strings of bytes.
ranges! {
    fn wcstol(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn wcstoul(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn wcstoll(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn wcstoull(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn __isoc23_wcstol(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn __isoc23_wcstoul(text: usize, end: usize, base: c_int) -> number: c_long => reads_wide_number(text, end);
    fn wcstod(text: usize, end: usize) -> number: f64 => reads_wide_number(text, end);
    fn wcstof(text: usize, end: usize) -> number: f32 => reads_wide_number(text, end);
    fn mbstowcs(to: usize, from: usize, most: usize) -> length: usize => writes_converted(to, length, most, WIDE);
    fn __mbstowcs_chk(to: usize, from: usize, most: usize, room: usize) -> length: usize
        => writes_converted(to, length, most, WIDE);
    fn wcstombs(to: usize, from: usize, most: usize) -> length: usize
        => reads_wide(from), writes_converted(to, length, most, 1);
    fn __wcstombs_chk(to: usize, from: usize, most: usize, room: usize) -> length: usize
        => reads_wide(from), writes_converted(to, length, most, 1);
}

// Streams.
ranges! {
    fn fgetws(to: usize, room: c_int, stream: usize) -> result: usize => fills_stream(stream), writes_wide(result);
    fn fgetws_unlocked(to: usize, room: c_int, stream: usize) -> result: usize
        => fills_stream(stream), writes_wide(result);
    fn __fgetws_chk(to: usize, room: usize, length: c_int, stream: usize) -> result: usize
        => fills_stream(stream), writes_wide(result);
    fn fputws(text: usize, stream: usize) -> result: c_int, first reads_wide(text), flushes_stream(stream) => sent();
    fn vswprintf(to: usize, room: usize, format: usize, list: usize) -> length: c_int
        => reads_wide(format), writes_printed(to, length);
    fn __vswprintf_chk(to: usize, room: usize, flag: c_int, size: usize, format: usize, list: usize) -> length: c_int
        => reads_wide(format), writes_printed(to, length);
}

variadic! {
    swprintf 3 vswprintf,
    __swprintf_chk 5 __vswprintf_chk
}

/// Whether what a call reads counts.
fn reads_count(pc: usize) -> bool {
    options::races() && counts(pc)
}

/// `count` characters are read.
fn reads_wides(at: usize, count: usize, pc: usize) {
    reads(at, count.saturating_mul(WIDE), pc);
}

/// `count` characters are written.
fn writes_wides(at: usize, count: usize, pc: usize) {
    writes(at, count.saturating_mul(WIDE), pc);
}

/// A string is read with its end; nothing if there is none.
fn reads_wide(at: usize, pc: usize) {
    if at != 0 && reads_count(pc) {
        memory::range(at, WIDE * (next::wcslen(at) + 1), false, pc);
    }
}

/// A string was written with its end; nothing if there is none.
fn writes_wide(at: usize, pc: usize) {
    if at != 0 && counts(pc) {
        memory::range(at, WIDE * (next::wcslen(at) + 1), true, pc);
    }
}

/// A string is read with its end, but no more than `most` characters.
fn reads_wide_text(at: usize, most: usize, pc: usize) {
    if at != 0 && reads_count(pc) {
        reads_wides(at, most.min(next::wcsnlen(at, most).saturating_add(1)), pc);
    }
}

/// A string is read up to the character that was found, or with its end if none was.
fn reads_wide_until(at: usize, found: usize, pc: usize) {
    if found == 0 {
        reads_wide(at, pc);
    } else {
        reads(at, found.wrapping_sub(at).saturating_add(WIDE), pc);
    }
}

/// `count` characters are read, or those up to the one that was found.
fn reads_wides_until(at: usize, count: usize, found: usize, pc: usize) {
    if found == 0 {
        reads_wides(at, count, pc);
    } else {
        reads(at, found.wrapping_sub(at).saturating_add(WIDE), pc);
    }
}

/// Two strings are read up to the first difference, or to their end, but no more than `most` characters of each.
fn reads_wide_while_same(left: usize, right: usize, most: usize, pc: usize) {
    if !reads_count(pc) {
        return;
    }
    // SAFETY: the C library's function has read these characters; volatile because other threads may change them.
    let at = |text: usize, index: usize| unsafe { (text as *const libc::wchar_t).add(index).read_volatile() };
    let mut same = 0;
    while same < most && at(left, same) != 0 && at(left, same) == at(right, same) {
        same += 1;
    }
    let count = most.min(same + 1);
    reads_wides(left, count, pc);
    reads_wides(right, count, pc);
}

/// At most `most` characters of a string are about to be appended to another.
fn appends_wide(to: usize, from: usize, most: usize, pc: usize) {
    if counts(pc) {
        let (before, added) = (next::wcslen(to), next::wcsnlen(from, most));
        reads_wides(to, before + 1, pc);
        reads_wides(from, most.min(added + 1), pc);
        writes_wides(to + WIDE * before, added + 1, pc);
    }
}

/// A number was read from a string. Where it ends is known only if the call was asked to store that.
fn reads_wide_number(at: usize, end: usize, pc: usize) {
    if end == 0 {
        reads(at, WIDE, pc);
    } else if counts(pc) {
        // SAFETY: the call has stored an address there.
        let stopped = unsafe { (end as *const usize).read() };
        reads(at, stopped.wrapping_sub(at).saturating_add(WIDE), pc);
        writes(end, size_of::<usize>(), pc);
    }
}

/// A string of `length` characters of a size was written, with its end if there was room for it; nothing if the call
/// failed.
fn writes_converted(to: usize, length: usize, most: usize, size: usize, pc: usize) {
    if length != ALL {
        writes(to, most.min(length + 1).saturating_mul(size), pc);
    }
}

/// A string of `length` characters was written with its end; nothing if the call failed.
fn writes_printed(to: usize, length: c_int, pc: usize) {
    if let Ok(length) = usize::try_from(length) {
        writes_wides(to, length + 1, pc);
    }
}
