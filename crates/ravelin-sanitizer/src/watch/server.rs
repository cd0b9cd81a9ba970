//! Runs of a program that is started once: it stands still before its second thread, and forks a process for each run.
//!
//! The runtime's part is `ravelin-runtime/src/server/`; [`ravelin_findings::serving`] has the messages. A run gives the
//! same findings as one of a new process, or there is a [`FreshReason`] to start one. The program ends when the socket
//! is closed or the thread that started it ends, and a run ends with its program.

use super::signals::{self, ArenaHead};
use super::store::FindingsStore;
use super::{NotWatched, ProgramFile, WatchCommand, WatchedRun, command, interrupted};
use crate::processor::{SharedProcessor, are_idle};
use ravelin_findings::serving::{ForkObstacle, GREETING, Message, WORDS};
use ravelin_findings::{arena, notes};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::Ordering;

/// Why each run is a new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FreshReason {
    #[error("this was asked for")]
    Wanted,
    #[error("the operating system decides the schedule")]
    SystemSchedule,
    #[error("the findings files are kept")]
    KeptFindings,
    #[error("the program has one thread")]
    OneThread,
    #[error("the program starts other processes")]
    Processes,
    #[error("the program did not come to its second thread")]
    NoThread,
    #[error("the process from which runs were forked has ended")]
    Lost,
    #[error("this system cannot do otherwise")]
    Unsupported,
    #[error("{}", sentence(*.0))]
    Program(ForkObstacle),
}

fn sentence(obstacle: ForkObstacle) -> &'static str {
    match obstacle {
        ForkObstacle::Library => "the C library is too old to fork a run",
        ForkObstacle::Threads => "the program has threads that the sanitizer does not know",
        ForkObstacle::Processes => "the program starts processes before its second thread",
        ForkObstacle::Tracer => "the program is traced",
        ForkObstacle::ProcessNumber => "the program asks for its process number before its second thread",
        ForkObstacle::Group => "the program leads a group of processes",
        ForkObstacle::Timer => "the program sets a timer before its second thread",
        ForkObstacle::Signal => "a signal is pending before the second thread",
        ForkObstacle::SharedMemory => "the program shares memory with other processes",
        ForkObstacle::FileForWriting => "a file is open for writing before the second thread",
        ForkObstacle::SharedFile => "a pipe, a socket or another shared file is open before the second thread",
        ForkObstacle::FileSystem => "the program changes files before its second thread",
        ForkObstacle::Findings => "the findings cannot be kept in memory",
        ForkObstacle::OtherThreads => "the program has other threads where it says that runs begin",
    }
}

/// A program that makes runs.
pub struct RunServer {
    child: Child,
    socket: OwnedFd,
    /// Ready when the program has ended.
    process: OwnedFd,
    store: FindingsStore,
    head: HeadMapping,
    executable: Option<PathBuf>,
    /// The processor of all its runs, if they have one.
    processor: Option<usize>,
    /// Whether the thread that asks for runs shares their processor.
    shares: bool,
    /// How many runs it was asked for.
    asked: u64,
}

/// Once in so many runs, the thread that asks for them is free to go to another processor. If there is an idle one, the
/// kernel wakes it there, and the next runs follow.
const MOVES_AFTER: u64 = 32;

/// The result of a request.
pub enum ServedRun {
    /// A run; with a reason, the last one that this program can make.
    Made(Box<WatchedRun>, Option<FreshReason>),
    /// No run: it must be made by a new process.
    NotMade(FreshReason),
}

impl RunServer {
    /// Starts a program under some schedule and waits until it can make runs.
    pub fn start(watch: &WatchCommand, file: &ProgramFile) -> Result<Result<RunServer, FreshReason>, NotWatched> {
        let store = FindingsStore::new(None)?;
        let Some(head) = store.arena().and_then(HeadMapping::new) else { return Ok(Err(FreshReason::Unsupported)) };
        let Some((own, theirs, number)) = sockets() else { return Ok(Err(FreshReason::Unsupported)) };
        let mut watch = watch.clone();
        // In place of as many blanks, so that the environment is as long as that of other runs.
        if let Some(last) = watch.options.last_mut() {
            let length = last.len();
            *last = format!("{} serve={number}", last.trim_end());
            *last = format!("{last:<length$}");
        }
        let mut command = command(&watch, &file.built, &store)?;
        let (parent, socket) = (std::process::id() as i32, theirs.as_raw_fd());
        // SAFETY: between fork and exec only system calls are made, which neither allocate nor take a lock.
        unsafe {
            command.pre_exec(move || {
                let ends_with_parent = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
                if !ends_with_parent || libc::getppid() != parent || libc::dup2(socket, number) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        signals::listen();
        if interrupted() {
            return Ok(Err(FreshReason::Lost));
        }
        let Ok(child) = command.spawn() else { return Ok(Err(FreshReason::Unsupported)) };
        drop(theirs);
        let number = child.id() as i32;
        // Until it serves, it is the process that gets the signals.
        head.get()[arena::RUNNING].store(number as u64, Ordering::SeqCst);
        // SAFETY: no pointers; the result is checked.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, number, 0) } as i32;
        // SAFETY: opened just now.
        let process = (process >= 0).then(|| unsafe { OwnedFd::from_raw_fd(process) });
        let socket = own;
        let Some(process) = process else {
            end(child);
            return Ok(Err(FreshReason::Unsupported));
        };
        let executable = file.executable.clone();
        let processor = processor_of(&watch);
        let shares = processor.is_some() || are_idle();
        let server = RunServer { child, socket, process, store, head, executable, processor, shares, asked: 0 };
        let told = server.message();
        server.head.get()[arena::RUNNING].store(0, Ordering::SeqCst);
        let only_one = server.head.get()[arena::TAKEN].load(Ordering::SeqCst) == 1;
        Ok(match told {
            // Another process answers if the program is a shell that starts it.
            Some(Message::Ready(process)) if process == number as u64 && only_one => Ok(server),
            Some(Message::Ready(_)) => Err(FreshReason::Processes),
            Some(Message::Obstacle(obstacle)) => Err(FreshReason::Program(obstacle)),
            _ => Err(FreshReason::NoThread),
        })
    }

    /// Where its runs store what they find.
    pub fn arena(&self) -> Option<&File> {
        self.store.arena()
    }

    /// Makes a run with these options.
    pub fn run(&mut self, options: &str) -> Result<ServedRun, NotWatched> {
        self.head.get()[arena::SIGNAL].store(0, Ordering::SeqCst);
        self.asked += 1;
        let may_move = self.processor.is_none() && self.asked.is_multiple_of(MOVES_AFTER);
        let shares = self.shares && !may_move;
        let shared = if shares { SharedProcessor::take(self.processor) } else { None };
        let words = match &shared {
            Some(shared) => format!("{options} processor={}", shared.number()),
            None => options.to_owned(),
        };
        // A signal before the last line reached no run.
        if interrupted() || !self.send(words.as_bytes()) {
            return Ok(ServedRun::NotMade(FreshReason::Lost));
        }
        let Some(Message::Ended { code, status, others }) = self.message() else {
            return Ok(ServedRun::NotMade(FreshReason::Lost));
        };
        let stored = self.store.read()?;
        let forked = stored.processes.iter().any(|process| process.notes & notes::FORKED != 0);
        let alone = !others && !forked && self.head.get()[arena::TAKEN].load(Ordering::SeqCst) == 1;
        let status = status as i32;
        let (code, signal) = if code as i32 == libc::CLD_EXITED { (Some(status), None) } else { (None, Some(status)) };
        let run = WatchedRun::new(code, signal, self.executable.clone(), stored);
        Ok(ServedRun::Made(Box::new(run), (!alone).then_some(FreshReason::Processes)))
    }

    fn send(&self, bytes: &[u8]) -> bool {
        send(&self.socket, bytes)
    }

    /// The next message; `None` if the program has ended.
    fn message(&self) -> Option<Message> {
        let entry = |file: &OwnedFd| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut files = [entry(&self.socket), entry(&self.process)];
        loop {
            // SAFETY: the kernel fills the two entries.
            let ready = unsafe { libc::poll(files.as_mut_ptr(), files.len() as libc::nfds_t, -1) };
            if ready < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                continue;
            }
            let mut words = [0_u64; WORDS];
            let socket = self.socket.as_raw_fd();
            // SAFETY: at most as many bytes are written as there are.
            let length =
                unsafe { libc::recv(socket, words.as_mut_ptr().cast(), size_of_val(&words), libc::MSG_DONTWAIT) };
            if length == size_of_val(&words) as isize {
                return Message::of(words);
            }
            let nothing_yet = length < 0
                && matches!(io::Error::last_os_error().kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            if !nothing_yet || files[1].revents != 0 {
                return None;
            }
        }
    }
}

impl Drop for RunServer {
    fn drop(&mut self) {
        // It has nothing to do but to wait; a run that it is making ends with it.
        // If it has ended already, there is nothing to kill, and the wait returns at once.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processor that was chosen for the runs of a program.
fn processor_of(watch: &WatchCommand) -> Option<usize> {
    let mut words = watch.options.iter().flat_map(|words| words.split_whitespace());
    words.find_map(|word| word.strip_prefix("processor=")?.parse().ok())
}

fn end(mut child: Child) {
    // As above.
    let _ = child.kill();
    let _ = child.wait();
}

/// The two ends of a connection, and the number that the second has in the program: as high as possible, so that the
/// program's own files have the usual numbers. The first message is in it already.
fn sockets() -> Option<(OwnedFd, OwnedFd, i32)> {
    let mut ends = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the C library fills two numbers; both are new.
    let (own, theirs) = unsafe {
        if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) != 0 {
            return None;
        }
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    };
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the C library fills the structure; if it does not, there is no number.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    // SAFETY: no pointers.
    let is_free = |number: &i32| unsafe { libc::fcntl(*number, libc::F_GETFD) } < 0;
    let number = (LOWEST..limit.rlim_cur.min(HIGHEST) as i32).rev().find(is_free)?;
    send(&own, GREETING).then_some((own, theirs, number))
}

/// The numbers that the program's socket may have.
const LOWEST: i32 = 64;
const HIGHEST: u64 = 1024;

fn send(socket: &OwnedFd, bytes: &[u8]) -> bool {
    // SAFETY: the bytes exist.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    sent == bytes.len() as isize
}

/// The words at the beginning of an arena, known to the handler of signals.
struct HeadMapping(*mut ArenaHead);

// SAFETY: atomics in memory that stays mapped as long as this exists.
unsafe impl Send for HeadMapping {}

impl HeadMapping {
    fn new(arena: &File) -> Option<HeadMapping> {
        let (access, file) = (libc::PROT_READ | libc::PROT_WRITE, arena.as_raw_fd());
        // SAFETY: a mapping at an address the kernel chooses; the arena begins with that many bytes.
        let head = unsafe { libc::mmap(std::ptr::null_mut(), arena::HEAD, access, libc::MAP_SHARED, file, 0) };
        let head: *mut ArenaHead = head.cast();
        if head.cast() == libc::MAP_FAILED {
            return None;
        }
        if !signals::add_server(head) {
            // SAFETY: mapped above, and not used.
            unsafe { libc::munmap(head.cast(), arena::HEAD) };
            return None;
        }
        Some(HeadMapping(head))
    }

    fn get(&self) -> &ArenaHead {
        // SAFETY: mapped as long as this exists, and any bits are atomics.
        unsafe { &*self.0 }
    }
}

impl Drop for HeadMapping {
    fn drop(&mut self) {
        signals::forget_server(self.0);
        // SAFETY: mapped by `new` with this length, and the handler does not use it any more.
        unsafe { libc::munmap(self.0.cast(), arena::HEAD) };
    }
}
