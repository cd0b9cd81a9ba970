//! The open files of a program that serves runs.
//!
//! Processes that are forked share the position in a file. A file that is only read is therefore opened again in each
//! run, at the same position. Other files are obstacles, unless nothing is kept in them (`/dev/null`), or the program
//! has inherited them: then new processes would share them, too.

use crate::kernel;
use crate::spin::Spin;
use ravelin_findings::serving::ForkObstacle;
use std::io::Write;

/// More files than this are not looked at.
const MOST: usize = 64;

/// An open file: what it is, and the position in it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct OpenFile {
    number: i32,
    device: u64,
    inode: u64,
    kind: u32,
    rdev: u64,
    flags: i32,
    position: i64,
}

const NONE: OpenFile = OpenFile { number: -1, device: 0, inode: 0, kind: 0, rdev: 0, flags: 0, position: 0 };

/// Files that were open when the program began.
static INHERITED: Spin<[OpenFile; MOST]> = Spin::new([NONE; MOST]);
/// Files that each run opens again.
static READ: Spin<[OpenFile; MOST]> = Spin::new([NONE; MOST]);

/// The program begins. What it has not inherited, it opens itself.
pub fn remember_inherited(socket: i32) {
    let mut inherited = INHERITED.lock();
    let mut next = inherited.iter_mut();
    for_each(socket, |file| {
        if let Some(place) = next.next() {
            *place = file;
        }
        true
    });
}

/// Looks for files that runs would share, and remembers those that they open again.
pub fn find_obstacle(socket: i32) -> Option<ForkObstacle> {
    let (inherited, mut read) = (INHERITED.lock(), READ.lock());
    let (mut obstacle, mut count) = (None, 0);
    for_each(socket, |file| {
        match sharing(&file, inherited.contains(&file)) {
            Sharing::Harmless => {}
            Sharing::Position if count < MOST && reopen(&file, false) => {
                read[count] = file;
                count += 1;
            }
            Sharing::Position => obstacle = Some(ForkObstacle::SharedFile),
            Sharing::Content(found) => obstacle = Some(found),
        }
        obstacle.is_none()
    });
    obstacle
}

/// In a run: opens the files again. Returns whether that was possible.
pub fn open_again() -> bool {
    READ.lock().iter().take_while(|file| file.number >= 0).all(|file| reopen(file, true))
}

/// What processes share that are forked with an open file.
#[derive(Debug, PartialEq, Eq)]
enum Sharing {
    Harmless,
    /// Only the position.
    Position,
    Content(ForkObstacle),
}

fn sharing(file: &OpenFile, inherited: bool) -> Sharing {
    const MEMORY: u32 = 1;
    /// null, zero, full, random and urandom.
    const DEVICES: [u32; 5] = [3, 5, 7, 8, 9];
    let writes = file.flags & libc::O_ACCMODE != libc::O_RDONLY;
    match file.kind {
        libc::S_IFCHR if libc::major(file.rdev) == MEMORY && DEVICES.contains(&libc::minor(file.rdev)) => {
            Sharing::Harmless
        }
        libc::S_IFREG | libc::S_IFDIR if !writes => Sharing::Position,
        // Not used so far: as new processes would find it.
        _ if inherited => Sharing::Harmless,
        libc::S_IFREG => Sharing::Content(ForkObstacle::FileForWriting),
        _ => Sharing::Content(ForkObstacle::SharedFile),
    }
}

/// Opens a file again, and in place of the old one if `replace`. Returns whether that was possible.
fn reopen(file: &OpenFile, replace: bool) -> bool {
    let mut path = [0_u8; 32];
    // There is room for any number.
    let _ = write!(&mut path[..], "/proc/self/fd/{}", file.number);
    let flags = (file.flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC)) | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte; the others are numbers. The new file is closed.
    unsafe {
        let new = kernel::call(libc::SYS_open, [path.as_ptr() as usize, flags as usize, 0]);
        if new < 0 {
            return false;
        }
        let new = new as usize;
        let at = file.position as usize;
        let mut done = kernel::call(libc::SYS_lseek, [new, at, libc::SEEK_SET as usize]) == file.position as isize;
        if replace && done {
            let number = file.number as usize;
            let closes = kernel::call(libc::SYS_fcntl, [number, libc::F_GETFD as usize]) as i32 & libc::FD_CLOEXEC;
            let closes = if closes != 0 { libc::O_CLOEXEC } else { 0 };
            done = kernel::call(libc::SYS_dup3, [new, number, closes as usize]) >= 0;
        }
        kernel::call(libc::SYS_close, [new]);
        done
    }
}

/// Calls `work` with every open file but the socket, until it returns false.
fn for_each(socket: i32, mut work: impl FnMut(OpenFile) -> bool) {
    const NAME_AT: usize = 19;
    let mut entries = [0_u64; 256];
    let flags = (libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) as usize;
    // SAFETY: the path ends with a zero byte.
    let folder = unsafe { kernel::call(libc::SYS_open, [c"/proc/self/fd".as_ptr() as usize, flags, 0]) };
    if folder < 0 {
        return;
    }
    'all: loop {
        let (to, room) = (entries.as_mut_ptr() as usize, size_of_val(&entries));
        // SAFETY: the kernel writes at most that many bytes.
        let length = unsafe { kernel::call(libc::SYS_getdents64, [folder as usize, to, room]) };
        let Ok(length @ 1..) = usize::try_from(length) else { break };
        // SAFETY: the kernel has written that many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(entries.as_ptr().cast::<u8>(), length) };
        let mut at = 0;
        while at + NAME_AT < length {
            let long = usize::from(u16::from_ne_bytes([bytes[at + 16], bytes[at + 17]]));
            let name = bytes[at + NAME_AT..(at + long).min(length)].split(|&byte| byte == 0).next().unwrap_or_default();
            let number = std::str::from_utf8(name).ok().and_then(|name| name.parse::<i32>().ok());
            if let Some(number) = number
                && number != socket
                && number as isize != folder
                && let Some(file) = about(number)
                && !work(file)
            {
                break 'all;
            }
            at += long.max(1);
        }
    }
    // SAFETY: opened above.
    unsafe { kernel::call(libc::SYS_close, [folder as usize]) };
}

fn about(number: i32) -> Option<OpenFile> {
    let mut about = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills a `stat`.
    unsafe {
        if kernel::call(libc::SYS_fstat, [number as usize, about.as_mut_ptr() as usize]) != 0 {
            return None;
        }
        let about = about.assume_init();
        Some(OpenFile {
            number,
            device: about.st_dev,
            inode: about.st_ino,
            kind: about.st_mode & libc::S_IFMT,
            rdev: about.st_rdev,
            flags: kernel::call(libc::SYS_fcntl, [number as usize, libc::F_GETFL as usize]) as i32,
            position: kernel::call(libc::SYS_lseek, [number as usize, 0, libc::SEEK_CUR as usize]) as i64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::os::fd::AsRawFd;

    fn of(file: &impl AsRawFd) -> OpenFile {
        about(file.as_raw_fd()).expect("an open file")
    }

    #[test]
    fn only_what_keeps_nothing_or_is_read_can_be_open() {
        let own = std::env::current_exe().expect("the test program");
        assert_eq!(sharing(&of(&File::open("/dev/null").expect("a device")), false), Sharing::Harmless);
        assert_eq!(sharing(&of(&File::open(own).expect("a file")), false), Sharing::Position);
        assert_eq!(sharing(&of(&File::open("/").expect("a folder")), false), Sharing::Position);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let shared = || Sharing::Content(ForkObstacle::SharedFile);
        assert_eq!([sharing(&of(&reader), false), sharing(&of(&writer), false)], [shared(), shared()]);
        assert_eq!(sharing(&of(&reader), true), Sharing::Harmless);
        let socket = std::os::unix::net::UnixDatagram::unbound().expect("a socket");
        assert_eq!(sharing(&of(&socket), false), shared());
        // SAFETY: the names end with a zero byte.
        let (memory, events) =
            unsafe { (libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC), libc::eventfd(0, 0)) };
        let of_number = |number| about(number).expect("an open file");
        assert_eq!(sharing(&of_number(memory), false), Sharing::Content(ForkObstacle::FileForWriting));
        assert_eq!(sharing(&of_number(memory), true), Sharing::Harmless);
        assert_eq!(sharing(&of_number(events), false), shared());
        // SAFETY: opened above.
        unsafe { (libc::close(memory), libc::close(events)) };
    }

    #[test]
    fn a_file_that_is_opened_again_has_its_own_position() {
        let mut file = File::open(std::env::current_exe().expect("the test program")).expect("a file");
        file.seek(SeekFrom::Start(5)).expect("a position");
        let old = file.try_clone().expect("a file");
        let mut shared = old;
        assert!(reopen(&of(&file), true));
        let mut bytes = [0; 3];
        file.read_exact(&mut bytes).expect("three bytes");
        assert_eq!(file.stream_position().expect("a position"), 8);
        assert_eq!(shared.stream_position().expect("a position"), 5, "the other one stays");
        let before = of(&file);
        assert!(reopen(&before, false) && of(&file) == before);
    }

    #[test]
    fn all_open_files_are_seen_but_the_socket() {
        let (one, other) = (File::open("/dev/null").expect("a file"), File::open("/dev/null").expect("a file"));
        let mut seen = (false, false);
        for_each(other.as_raw_fd(), |file| {
            seen.0 |= file.number == one.as_raw_fd();
            seen.1 |= file.number == other.as_raw_fd();
            true
        });
        assert_eq!(seen, (true, false));
    }
}
