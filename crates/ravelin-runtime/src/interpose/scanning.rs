//! Functions that read values by a format and store them where their arguments say: `sscanf` and its relatives.
//!
//! The call says how many values it has stored. What it stored is written after it, and a string that it read is read
//! before it.

use super::descriptors::fills_stream;
use super::formats::ArgumentList;
use super::touching;
use libc::c_int;

/// `from name(arguments) …;`: functions that take a list of arguments. `from` says what is read.
macro_rules! scans {
    ($($from:ident $name:ident($($arg:ident),*);)*) => {
        interpose! {
            $(
                fn $name($($arg: usize,)* format: usize, list: usize; pc) -> c_int {
                    // SAFETY: the program gave a list of arguments, which the call uses up.
                    let arguments = unsafe { (list as *const ArgumentList).read() };
                    let count = real($($arg,)* format, list);
                    $from!($($arg)* pc);
                    stored(format, arguments, count, pc);
                    count
                }
            )*
        }
    };
}

macro_rules! string {
    ($text:ident $pc:ident) => {
        touching::reads_string($text, $pc)
    };
}

macro_rules! stream {
    ($stream:ident $pc:ident) => {
        fills_stream($stream, $pc)
    };
}

macro_rules! input {
    ($pc:ident) => {};
}

scans! {
    string vsscanf(text);
    string __isoc99_vsscanf(text);
    string __isoc23_vsscanf(text);
    stream vfscanf(stream);
    stream __isoc99_vfscanf(stream);
    stream __isoc23_vfscanf(stream);
    input vscanf();
    input __isoc99_vscanf();
    input __isoc23_vscanf();
}

variadic! {
    sscanf 2 vsscanf,
    __isoc99_sscanf 2 __isoc99_vsscanf,
    __isoc23_sscanf 2 __isoc23_vsscanf,
    fscanf 2 vfscanf,
    __isoc99_fscanf 2 __isoc99_vfscanf,
    __isoc23_fscanf 2 __isoc23_vfscanf,
    scanf 1 vscanf,
    __isoc99_scanf 1 __isoc99_vscanf,
    __isoc23_scanf 1 __isoc23_vscanf
}

/// How much a conversion has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredLength {
    Bytes(usize),
    /// A string with its end.
    Text,
}

/// The call has stored that many values.
fn stored(format: usize, arguments: ArgumentList, count: c_int, pc: usize) {
    if count > 0 && format != 0 && touching::counts(pc) {
        // SAFETY: the program promises a format that ends with a zero byte, and as many arguments as it names.
        unsafe {
            for_each_stored(format, arguments, count as usize, |at, length| match length {
                StoredLength::Bytes(length) => touching::writes(at, length, pc),
                StoredLength::Text => touching::writes_string(at, pc),
            });
        }
    }
}

/// Calls `work` with the address of each of the first `count` values, and with its length.
///
/// # Safety
/// The format ends with a zero byte, and the list has the arguments that it names.
unsafe fn for_each_stored(
    format: usize,
    mut list: ArgumentList,
    count: usize,
    mut work: impl FnMut(usize, StoredLength),
) {
    // SAFETY: the format is read up to its end only.
    let byte = |at: usize| unsafe { (at as *const u8).read_volatile() };
    let (mut at, mut done) = (format, 0);
    while byte(at) != 0 && done < count {
        at += 1;
        if byte(at - 1) != b'%' {
            continue;
        }
        let (mut is_kept, mut is_new, mut width, mut size) = (true, false, 0_usize, 4_usize);
        loop {
            match byte(at) {
                b'*' => is_kept = false,
                b'm' => is_new = true,
                digit @ b'0'..=b'9' => width = width.saturating_mul(10).saturating_add(usize::from(digit - b'0')),
                b'h' => size /= 2,
                b'l' | b'q' | b'j' | b'z' | b't' => size = 8,
                b'L' => size = 16,
                b'\'' | b'I' => {}
                _ => break,
            }
            at += 1;
        }
        let conversion = byte(at);
        let length = match conversion {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => StoredLength::Bytes(size.min(8)),
            b'n' => StoredLength::Bytes(size.min(8)),
            b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => StoredLength::Bytes(size),
            b'p' => StoredLength::Bytes(8),
            // Wide characters are not looked at.
            b's' | b'[' | b'c' if size == 8 => StoredLength::Bytes(0),
            b'c' => StoredLength::Bytes(width.max(1)),
            b's' => StoredLength::Text,
            b'[' => {
                at += 1;
                at += usize::from(byte(at) == b'^');
                // A bracket that comes first is one of the letters.
                at += usize::from(byte(at) == b']');
                while byte(at) != 0 && byte(at) != b']' {
                    at += 1;
                }
                StoredLength::Text
            }
            b'%' => {
                at += 1;
                continue;
            }
            _ => return,
        };
        at += usize::from(byte(at) != 0);
        if is_kept {
            // SAFETY: the list has an argument for each conversion whose value is kept.
            let place = unsafe { list.integer() };
            work(place, if is_new { StoredLength::Bytes(8) } else { length });
            done += usize::from(conversion != b'n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StoredLength::{Bytes, Text};
    use super::*;

    #[test]
    fn what_is_stored_follows_from_the_format_and_the_number_of_values() {
        for (format, count, expected) in [
            (c"%d", 1, &[(1, Bytes(4))][..]),
            (c"%d", 0, &[]),
            (c"%hhd,%hd %ld %lld%zu", 5, &[(1, Bytes(1)), (2, Bytes(2)), (3, Bytes(8)), (4, Bytes(8)), (5, Bytes(8))]),
            (c"%*d %s %5c", 2, &[(1, Text), (2, Bytes(5))]),
            (c"%f%lf%Lf", 2, &[(1, Bytes(4)), (2, Bytes(8))]),
            (c"%[^]x]%d", 2, &[(1, Text), (2, Bytes(4))]),
            (c"100%% %n%d", 1, &[(1, Bytes(4)), (2, Bytes(4))]),
            (c"%ms %p", 2, &[(1, Bytes(8)), (2, Bytes(8))]),
            (c"%", 1, &[]),
            (c"%y%d", 1, &[]),
        ] {
            let registers: [usize; 6] = std::array::from_fn(|index| index + 1);
            let list = ArgumentList::in_registers(&registers);
            let mut found = Vec::new();
            // SAFETY: there are more arguments than the formats have conversions.
            unsafe { for_each_stored(format.as_ptr() as usize, list, count, |at, length| found.push((at, length))) };
            assert_eq!(found, expected, "{format:?} {count}");
        }
    }
}
