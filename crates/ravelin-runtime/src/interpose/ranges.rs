//! Which ranges of the program's memory functions of the C library read and write: one line per function, from the
//! signatures of the C standard, POSIX and glibc.
//!
//! `fn name(argument: type, …) -> result: type, first a(…), b(…) => c(…), d(…);`: what happens before the call and after
//! it. The words are those of [`super::touching`], of [`super::formats`] for formats, and of [`super::descriptors`] for
//! functions that hand something over. Memory that a call hands over is read before it does so, and memory that it
//! receives is written afterwards: in between another thread may get it.
//!
//! Lengths are those of what a call did, not of what it was allowed to do: the rest may belong to others. Functions that
//! do more around a call are elsewhere ([`super::copies`], [`super::polling`], [`super::clocks`]).

use super::descriptors::{
    closes_all, closes_stream, fills_stream, flushes_stream, opened_by, opened_pair, puts_one, queues, received,
    receives, releases, sends, sent, took_from_queue, took_one,
};
use super::formats::reads_arguments;
use super::touching::{
    appends, copies_string, reads, reads_message, reads_number, reads_range_until, reads_string, reads_text,
    reads_until, reads_vectors, reads_while_same, writes, writes_address, writes_elements, writes_if_zero, writes_line,
    writes_message, writes_string, writes_vectors,
};
use crate::closes::{closes, opened, replaced, replaces, uses};
use libc::{c_int, c_long, c_uint};

macro_rules! ranges {
    ($(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ident: $kind:ty
        $(, first $($before:ident($($given:expr),*)),+)? $(=> $($after:ident($($known:expr),*)),+)?;)*) => {
        interpose! {
            $(
                #[allow(clippy::let_unit_value)]
                fn $name($($arg: $type),*; pc) -> $kind {
                    $($($before($($given,)* pc);)+)?
                    let $result = real($($arg),*);
                    $($($after($($known,)* pc);)+)?
                    $result
                }
            )*
        }
    };
}

const ALL: usize = usize::MAX;
/// `struct tm`.
const CALENDAR: usize = size_of::<libc::tm>();
const SECONDS: usize = size_of::<libc::time_t>();
const FILE_STATUS: usize = size_of::<libc::stat>();
const TIMER: usize = size_of::<libc::itimerspec>();
const PAIR: usize = size_of::<[c_int; 2]>();
const SYSTEM_NAMES: usize = size_of::<libc::utsname>();

// Strings and memory: <string.h>, <strings.h>. Copies are in `copies.rs`.
ranges! {
    fn strlen(text: usize) -> length: usize => reads(text, length + 1);
    fn strnlen(text: usize, most: usize) -> length: usize => reads(text, most.min(length.saturating_add(1)));
    fn strchr(text: usize, letter: c_int) -> found: usize => reads_until(text, found);
    fn strchrnul(text: usize, letter: c_int) -> found: usize => reads_until(text, found);
    fn strrchr(text: usize, letter: c_int) -> found: usize => reads_string(text);
    fn strstr(text: usize, part: usize) -> found: usize => reads_string(part), reads_until(text, found);
    fn strcasestr(text: usize, part: usize) -> found: usize => reads_string(part), reads_until(text, found);
    fn strpbrk(text: usize, letters: usize) -> found: usize => reads_string(letters), reads_until(text, found);
    fn strspn(text: usize, letters: usize) -> length: usize => reads_string(letters), reads(text, length + 1);
    fn strcspn(text: usize, letters: usize) -> length: usize => reads_string(letters), reads(text, length + 1);
    fn strcmp(left: usize, right: usize) -> order: c_int => reads_while_same(left, right, ALL, false);
    fn strncmp(left: usize, right: usize, most: usize) -> order: c_int => reads_while_same(left, right, most, false);
    fn strcasecmp(left: usize, right: usize) -> order: c_int => reads_while_same(left, right, ALL, true);
    fn strncasecmp(left: usize, right: usize, most: usize) -> order: c_int => reads_while_same(left, right, most, true);
    fn strcoll(left: usize, right: usize) -> order: c_int => reads_string(left), reads_string(right);
    fn strdup(from: usize) -> to: usize => copies_string(from, ALL, to);
    fn __strdup(from: usize) -> to: usize => copies_string(from, ALL, to);
    fn strndup(from: usize, most: usize) -> to: usize => copies_string(from, most, to);
    fn strncat(to: usize, from: usize, most: usize) -> end: usize, first appends(to, from, most);
    fn __strncat_chk(to: usize, from: usize, most: usize, room: usize) -> end: usize, first appends(to, from, most);
    fn __strcat_chk(to: usize, from: usize, room: usize) -> end: usize, first appends(to, from, ALL);
    fn __strcpy_chk(to: usize, from: usize, room: usize) -> end: usize => reads_string(from), writes_string(to);
    fn __stpcpy_chk(to: usize, from: usize, room: usize) -> end: usize => reads_string(from), writes_string(to);
    fn __strncpy_chk(to: usize, from: usize, most: usize, room: usize) -> end: usize
        => reads_text(from, most), writes(to, most);
    fn memchr(at: usize, byte: c_int, length: usize) -> found: usize => reads_range_until(at, length, found);
    fn memrchr(at: usize, byte: c_int, length: usize) -> found: usize => reads(at, length);
    fn rawmemchr(at: usize, byte: c_int) -> found: usize => reads_range_until(at, 0, found);
    fn memmem(at: usize, length: usize, part: usize, size: usize) -> found: usize
        => reads(part, size), reads_range_until(at, length, found);
    fn bzero(at: usize, length: usize) -> nothing: (), first writes(at, length);
    fn explicit_bzero(at: usize, length: usize) -> nothing: (), first writes(at, length);
}

// Numbers, sorting and paths: <stdlib.h>.
ranges! {
    fn strtol(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn strtoul(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn strtoll(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn strtoull(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn __isoc23_strtol(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn __isoc23_strtoul(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn __isoc23_strtoll(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn __isoc23_strtoull(text: usize, end: usize, base: c_int) -> number: c_long => reads_number(text, end);
    fn strtod(text: usize, end: usize) -> number: f64 => reads_number(text, end);
    fn strtof(text: usize, end: usize) -> number: f32 => reads_number(text, end);
    fn atoi(text: usize) -> number: c_int => reads_number(text, 0);
    fn atol(text: usize) -> number: c_long => reads_number(text, 0);
    fn atoll(text: usize) -> number: c_long => reads_number(text, 0);
    fn atof(text: usize) -> number: f64 => reads_number(text, 0);
    fn qsort(at: usize, count: usize, size: usize, compare: usize) -> nothing: (), first writes_elements(at, count, size);
    fn qsort_r(at: usize, count: usize, size: usize, compare: usize, with: usize) -> nothing: (),
        first writes_elements(at, count, size);
    fn realpath(path: usize, to: usize) -> result: usize => reads_string(path), writes_string(result);
    fn __realpath_chk(path: usize, to: usize, room: usize) -> result: usize => reads_string(path), writes_string(result);
}

// Streams: <stdio.h>.
ranges! {
    fn fread(to: usize, size: usize, count: usize, stream: usize) -> done: usize
        => fills_stream(stream), writes_elements(to, done, size);
    fn fread_unlocked(to: usize, size: usize, count: usize, stream: usize) -> done: usize
        => fills_stream(stream), writes_elements(to, done, size);
    fn __fread_chk(to: usize, room: usize, size: usize, count: usize, stream: usize) -> done: usize
        => fills_stream(stream), writes_elements(to, done, size);
    fn fgets(to: usize, room: c_int, stream: usize) -> result: usize => fills_stream(stream), writes_string(result);
    fn fgets_unlocked(to: usize, room: c_int, stream: usize) -> result: usize
        => fills_stream(stream), writes_string(result);
    fn __fgets_chk(to: usize, room: usize, length: c_int, stream: usize) -> result: usize
        => fills_stream(stream), writes_string(result);
    fn getline(line: usize, size: usize, stream: usize) -> length: isize
        => fills_stream(stream), writes_line(line, size, length);
    fn getdelim(line: usize, size: usize, end: c_int, stream: usize) -> length: isize
        => fills_stream(stream), writes_line(line, size, length);
    fn __getdelim(line: usize, size: usize, end: c_int, stream: usize) -> length: isize
        => fills_stream(stream), writes_line(line, size, length);
    fn fgetc(stream: usize) -> letter: c_int => took_one(stream);
    fn getc(stream: usize) -> letter: c_int => took_one(stream);
    fn fwrite(from: usize, size: usize, count: usize, stream: usize) -> done: usize,
        first reads(from, size.saturating_mul(count)), flushes_stream(stream) => sent();
    fn fwrite_unlocked(from: usize, size: usize, count: usize, stream: usize) -> done: usize,
        first reads(from, size.saturating_mul(count)), flushes_stream(stream) => sent();
    fn fputs(text: usize, stream: usize) -> result: c_int, first reads_string(text), flushes_stream(stream) => sent();
    fn fputs_unlocked(text: usize, stream: usize) -> result: c_int,
        first reads_string(text), flushes_stream(stream) => sent();
    fn puts(text: usize) -> result: c_int, first reads_string(text);
    fn perror(text: usize) -> nothing: (), first reads_string(text);
    fn fputc(letter: c_int, stream: usize) -> result: c_int, first puts_one(stream) => sent();
    fn putc(letter: c_int, stream: usize) -> result: c_int, first puts_one(stream) => sent();
    fn fflush(stream: usize) -> result: c_int, first flushes_stream(stream) => sent();
    fn fclose(stream: usize) -> result: c_int, first closes_stream(stream) => sent();
    fn vsnprintf(to: usize, room: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list) => writes(to, room.min(length.max(0) as usize + 1));
    fn vsprintf(to: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list) => writes(to, length + 1);
    fn vasprintf(to: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list) => writes(to, size_of::<usize>());
    fn vprintf(format: usize, list: usize) -> length: c_int, first reads_arguments(format, list);
    fn vfprintf(stream: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list), flushes_stream(stream) => sent();
    fn vdprintf(file: c_int, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list), uses(file), releases(file) => sent();
    fn __vsnprintf_chk(to: usize, room: usize, flag: c_int, size: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list) => writes(to, room.min(length.max(0) as usize + 1));
    fn __vsprintf_chk(to: usize, flag: c_int, size: usize, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list) => writes(to, length + 1);
    fn __vprintf_chk(flag: c_int, format: usize, list: usize) -> length: c_int, first reads_arguments(format, list);
    fn __vfprintf_chk(stream: usize, flag: c_int, format: usize, list: usize) -> length: c_int,
        first reads_arguments(format, list), flushes_stream(stream) => sent();
}

// Files and descriptors: <unistd.h>, <sys/uio.h>, <sys/socket.h>, <sys/eventfd.h>, <sys/stat.h>.
ranges! {
    fn write(file: c_int, from: usize, length: usize) -> count: isize, first reads(from, length), sends(file) => sent();
    fn pwrite(file: c_int, from: usize, length: usize, at: i64) -> count: isize, first uses(file), reads(from, length);
    fn pwrite64(file: c_int, from: usize, length: usize, at: i64) -> count: isize, first uses(file), reads(from, length);
    fn writev(file: c_int, vectors: usize, many: c_int) -> count: isize,
        first reads_vectors(vectors, many, ALL), sends(file) => sent();
    fn pwritev(file: c_int, vectors: usize, many: c_int, at: i64) -> count: isize,
        first uses(file), reads_vectors(vectors, many, ALL);
    fn send(file: c_int, from: usize, length: usize, flags: c_int) -> count: isize,
        first reads(from, length), sends(file) => sent();
    fn sendto(file: c_int, from: usize, length: usize, flags: c_int, to: usize, size: c_uint) -> count: isize,
        first reads(from, length), reads(to, size), sends(file) => sent();
    fn sendmsg(file: c_int, message: usize, flags: c_int) -> count: isize,
        first reads_message(message), sends(file) => sent();
    fn sendmmsg(file: c_int, messages: usize, many: c_uint, flags: c_int) -> count: c_int, first sends(file) => sent();
    fn eventfd_write(file: c_int, value: u64) -> result: c_int, first sends(file) => sent();
    fn connect(file: c_int, address: usize, length: c_uint) -> result: c_int,
        first uses(file), reads(address, length), releases(file) => sent();
    fn bind(file: c_int, address: usize, length: c_uint) -> result: c_int, first uses(file), reads(address, length);
    fn shutdown(file: c_int, how: c_int) -> result: c_int, first uses(file), releases(file) => sent();
    fn close(file: c_int) -> result: c_int, first closes(file), releases(file) => sent();
    fn close_range(start: c_uint, last: c_uint, flags: c_int) -> result: c_int, first closes_all(start, last, flags)
        => sent();
    fn closefrom(start: c_int) -> done: (), first closes_all(start.max(0) as c_uint, c_uint::MAX, 0) => sent();

    fn read(file: c_int, to: usize, length: usize) -> count: isize,
        first receives(file) => received(file, count), writes(to, count);
    fn __read_chk(file: c_int, to: usize, length: usize, room: usize) -> count: isize,
        first receives(file) => received(file, count), writes(to, count);
    fn pread(file: c_int, to: usize, length: usize, at: i64) -> count: isize, first uses(file) => writes(to, count);
    fn pread64(file: c_int, to: usize, length: usize, at: i64) -> count: isize, first uses(file) => writes(to, count);
    fn readv(file: c_int, vectors: usize, many: c_int) -> count: isize,
        first receives(file) => received(file, count), writes_vectors(vectors, many, count);
    fn preadv(file: c_int, vectors: usize, many: c_int, at: i64) -> count: isize,
        first uses(file) => writes_vectors(vectors, many, count);
    fn recv(file: c_int, to: usize, length: usize, flags: c_int) -> count: isize,
        first receives(file) => received(file, count), writes(to, length.min(count.max(0) as usize));
    fn __recv_chk(file: c_int, to: usize, length: usize, room: usize, flags: c_int) -> count: isize,
        first receives(file) => received(file, count), writes(to, length.min(count.max(0) as usize));
    fn recvfrom(file: c_int, to: usize, length: usize, flags: c_int, from: usize, size: usize) -> count: isize,
        first receives(file) => received(file, count), writes(to, length.min(count.max(0) as usize)),
        writes_address(count as c_int, from, size);
    fn recvmsg(file: c_int, message: usize, flags: c_int) -> count: isize,
        first receives(file) => received(file, count), writes_message(message, count);
    fn recvmmsg(file: c_int, messages: usize, many: c_uint, flags: c_int, limit: usize) -> count: c_int,
        first receives(file) => received(file, count as isize);
    fn eventfd_read(file: c_int, value: usize) -> result: c_int,
        first receives(file) => received(file, result as isize), writes_if_zero(result, value, 8);
    fn accept(file: c_int, address: usize, length: usize) -> new: c_int,
        first receives(file) => opened(new), received(file, new as isize), writes_address(new, address, length);
    fn accept4(file: c_int, address: usize, length: usize, flags: c_int) -> new: c_int,
        first receives(file) => opened(new), received(file, new as isize), writes_address(new, address, length);
    fn timerfd_settime(file: c_int, flags: c_int, new: usize, old: usize) -> result: c_int,
        first uses(file), reads(new, TIMER), releases(file) => writes_if_zero(result, old, TIMER);
    fn mq_send(queue: c_int, from: usize, length: usize, priority: c_uint) -> result: c_int,
        first reads(from, length), queues(queue) => sent();
    fn mq_timedsend(queue: c_int, from: usize, length: usize, priority: c_uint, limit: usize) -> result: c_int,
        first reads(from, length), queues(queue) => sent();
    fn mq_receive(queue: c_int, to: usize, length: usize, priority: usize) -> count: isize
        => took_from_queue(queue, count), writes(to, count);
    fn mq_timedreceive(queue: c_int, to: usize, length: usize, priority: usize, limit: usize) -> count: isize
        => took_from_queue(queue, count), writes(to, count);
    fn getsockname(file: c_int, address: usize, length: usize) -> result: c_int,
        first uses(file) => writes_address(result, address, length);
    fn getpeername(file: c_int, address: usize, length: usize) -> result: c_int,
        first uses(file) => writes_address(result, address, length);
    fn pipe(ends: usize) -> result: c_int => opened_pair(result, ends), writes_if_zero(result, ends, PAIR);
    fn pipe2(ends: usize, flags: c_int) -> result: c_int
        => opened_pair(result, ends), writes_if_zero(result, ends, PAIR);
    fn socketpair(family: c_int, kind: c_int, protocol: c_int, ends: usize) -> result: c_int
        => opened_pair(result, ends), writes_if_zero(result, ends, PAIR);
    fn stat(path: usize, to: usize) -> result: c_int => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn stat64(path: usize, to: usize) -> result: c_int => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn lstat(path: usize, to: usize) -> result: c_int => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn lstat64(path: usize, to: usize) -> result: c_int => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn fstat(file: c_int, to: usize) -> result: c_int, first uses(file) => writes_if_zero(result, to, FILE_STATUS);
    fn fstat64(file: c_int, to: usize) -> result: c_int, first uses(file) => writes_if_zero(result, to, FILE_STATUS);
    fn fstatat(folder: c_int, path: usize, to: usize, flags: c_int) -> result: c_int
        => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn fstatat64(folder: c_int, path: usize, to: usize, flags: c_int) -> result: c_int
        => reads_string(path), writes_if_zero(result, to, FILE_STATUS);
    fn readlink(path: usize, to: usize, room: usize) -> length: isize => reads_string(path), writes(to, length);
    fn getcwd(to: usize, room: usize) -> result: usize => writes_string(result);
    fn uname(to: usize) -> result: c_int => writes_if_zero(result, to, SYSTEM_NAMES);
}

// Functions that make a descriptor, or use one without memory of the program.
ranges! {
    fn socket(family: c_int, kind: c_int, protocol: c_int) -> file: c_int => opened(file);
    fn eventfd(value: c_uint, flags: c_int) -> file: c_int => opened(file);
    fn epoll_create(size: c_int) -> file: c_int => opened(file);
    fn epoll_create1(flags: c_int) -> file: c_int => opened(file);
    fn timerfd_create(clock: c_int, flags: c_int) -> file: c_int => opened(file);
    fn signalfd(old: c_int, mask: usize, flags: c_int) -> file: c_int => replaced(file);
    fn memfd_create(name: usize, flags: c_uint) -> file: c_int => opened(file);
    fn inotify_init() -> file: c_int => opened(file);
    fn inotify_init1(flags: c_int) -> file: c_int => opened(file);
    fn dup(file: c_int) -> new: c_int, first uses(file) => opened(new);
    fn dup2(file: c_int, to: c_int) -> new: c_int, first uses(file), replaces(to, file) => replaced(new);
    fn dup3(file: c_int, to: c_int, flags: c_int) -> new: c_int, first uses(file), replaces(to, file) => replaced(new);
    fn fcntl(file: c_int, command: c_int, value: usize) -> result: c_int, first uses(file) => opened_by(command, result);
    fn fcntl64(file: c_int, command: c_int, value: usize) -> result: c_int, first uses(file) => opened_by(command, result);
    fn ioctl(file: c_int, command: usize, value: usize) -> result: c_int, first uses(file);
    fn fsync(file: c_int) -> result: c_int, first uses(file);
    fn fdatasync(file: c_int) -> result: c_int, first uses(file);
    fn ftruncate(file: c_int, length: i64) -> result: c_int, first uses(file);
    fn ftruncate64(file: c_int, length: i64) -> result: c_int, first uses(file);
    fn lseek(file: c_int, by: i64, from: c_int) -> at: i64, first uses(file);
    fn lseek64(file: c_int, by: i64, from: c_int) -> at: i64, first uses(file);
    fn listen(file: c_int, most: c_int) -> result: c_int, first uses(file);
    fn setsockopt(file: c_int, level: c_int, name: c_int, value: usize, size: c_uint) -> result: c_int,
        first uses(file), reads(value, size);
    fn getsockopt(file: c_int, level: c_int, name: c_int, value: usize, size: usize) -> result: c_int,
        first uses(file) => writes_address(result, value, size);
    fn sendfile(to: c_int, from: c_int, offset: usize, count: usize) -> done: isize, first uses(from), sends(to) => sent();
    fn sendfile64(to: c_int, from: c_int, offset: usize, count: usize) -> done: isize, first uses(from), sends(to) => sent();
}

// Times, of which some functions have one result for all threads: <time.h>.
ranges! {
    fn localtime(seconds: usize) -> result: usize => reads(seconds, SECONDS), writes(result, CALENDAR);
    fn gmtime(seconds: usize) -> result: usize => reads(seconds, SECONDS), writes(result, CALENDAR);
    fn localtime_r(seconds: usize, to: usize) -> result: usize => reads(seconds, SECONDS), writes(result, CALENDAR);
    fn gmtime_r(seconds: usize, to: usize) -> result: usize => reads(seconds, SECONDS), writes(result, CALENDAR);
    fn mktime(calendar: usize) -> seconds: c_long => writes(calendar, CALENDAR);
    fn timegm(calendar: usize) -> seconds: c_long => writes(calendar, CALENDAR);
    fn asctime(calendar: usize) -> result: usize => reads(calendar, CALENDAR), writes_string(result);
    fn ctime(seconds: usize) -> result: usize => reads(seconds, SECONDS), writes_string(result);
    fn asctime_r(calendar: usize, to: usize) -> result: usize => reads(calendar, CALENDAR), writes_string(result);
    fn ctime_r(seconds: usize, to: usize) -> result: usize => reads(seconds, SECONDS), writes_string(result);
    fn strftime(to: usize, room: usize, format: usize, calendar: usize) -> length: usize
        => reads_string(format), reads(calendar, CALENDAR), writes(to, room.min(length + 1));
}

// `name ends after n arguments and is the other`: functions with any number of arguments.
variadic! {
    snprintf 3 vsnprintf,
    sprintf 2 vsprintf,
    asprintf 2 vasprintf,
    printf 1 vprintf,
    fprintf 2 vfprintf,
    dprintf 2 vdprintf,
    __snprintf_chk 5 __vsnprintf_chk,
    __sprintf_chk 4 __vsprintf_chk,
    __printf_chk 2 __vprintf_chk,
    __fprintf_chk 3 __vfprintf_chk
}
