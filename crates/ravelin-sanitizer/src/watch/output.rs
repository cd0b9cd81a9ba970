//! What a program writes to its standard output and its standard error.
//!
//! Both are pipes. A thread reads them while the program runs, so that it never has to wait. When a run has ended, all that
//! it wrote is in the pipes or has been read, and [`OutputPipes::take`] gets it.
//!
//! A program that forks its runs may have written something before: each run has that at its beginning, as a new process
//! would ([`OutputPipes::keep_beginning`]).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};

/// More than this is not kept of a stream.
const MOST: usize = 1 << 20;

/// What a run wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunOutput {
    /// To its standard output and its standard error.
    pub streams: [Vec<u8>; 2],
    /// There was more.
    pub is_cut: bool,
}

/// The pipes of a program.
#[derive(Debug)]
pub struct OutputPipes {
    read: Arc<ReadEnds>,
    write: [OwnedFd; 2],
    beginning: Mutex<RunOutput>,
}

#[derive(Debug)]
struct ReadEnds {
    files: [OwnedFd; 2],
    so_far: Mutex<RunOutput>,
}

impl OutputPipes {
    pub fn new() -> io::Result<OutputPipes> {
        let ([out, to_out], [error, to_error]) = (pipe()?, pipe()?);
        let read = Arc::new(ReadEnds { files: [out, error], so_far: Mutex::default() });
        let reader = read.clone();
        // It ends when the pipes are closed on the other side.
        let mut open = [true; 2];
        std::thread::Builder::new().spawn(move || while reader.wait(&mut open) {})?;
        Ok(OutputPipes { read, write: [to_out, to_error], beginning: Mutex::default() })
    }

    /// The ends for a process that is started.
    pub fn ends(&self) -> io::Result<[Stdio; 2]> {
        let [out, error] = &self.write;
        Ok([out.try_clone()?.into(), error.try_clone()?.into()])
    }

    /// What was written so far belongs to each run from now on.
    pub fn keep_beginning(&self) {
        *lock(&self.beginning) = self.read.take();
    }

    /// Runs are new processes from now on.
    pub fn forget_beginning(&self) {
        *lock(&self.beginning) = RunOutput::default();
        self.read.take();
    }

    /// What a run wrote that has ended.
    pub fn take(&self) -> RunOutput {
        let mut output = lock(&self.beginning).clone();
        let RunOutput { streams, is_cut } = self.read.take();
        for (all, new) in output.streams.iter_mut().zip(streams) {
            all.extend(new);
        }
        output.is_cut |= is_cut;
        output
    }
}

impl ReadEnds {
    /// Reads when there is something. Returns whether there can be more, and notes which pipes are closed.
    fn wait(&self, open: &mut [bool; 2]) -> bool {
        let entry = |number: usize| {
            // Without a number it is left alone.
            let fd = if open[number] { self.files[number].as_raw_fd() } else { -1 };
            libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
        };
        let mut entries = [entry(0), entry(1)];
        // SAFETY: the kernel fills the entries.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, -1) };
        if ready < 0 {
            return io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        }
        drop(self.read_all());
        for (open, entry) in open.iter_mut().zip(entries) {
            *open &= entry.revents & libc::POLLIN != 0 || entry.revents & libc::POLLHUP == 0;
        }
        open.contains(&true)
    }

    fn take(&self) -> RunOutput {
        std::mem::take(&mut *self.read_all())
    }

    /// Reads all that is there.
    fn read_all(&self) -> MutexGuard<'_, RunOutput> {
        let mut so_far = lock(&self.so_far);
        let RunOutput { streams, is_cut } = &mut *so_far;
        let mut bytes = [0_u8; 4096];
        for (file, stream) in self.files.iter().zip(streams) {
            loop {
                // SAFETY: at most that many bytes are written; the file does not wait.
                let length = unsafe { libc::read(file.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
                let Ok(length @ 1..) = usize::try_from(length) else { break };
                let room = MOST.saturating_sub(stream.len());
                stream.extend(&bytes[..length.min(room)]);
                *is_cut |= length > room;
            }
        }
        so_far
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The two ends of a pipe. Reading from it never waits.
fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends = [-1; 2];
    // SAFETY: the C library fills two numbers, which are new files.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        let ends = ends.map(|end| OwnedFd::from_raw_fd(end));
        if libc::fcntl(ends[0].as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn run(pipes: &OutputPipes, script: &str) {
        let [out, error] = pipes.ends().expect("ends");
        let ended = Command::new("sh").args(["-c", script]).stdout(out).stderr(error).status();
        assert!(ended.expect("a shell").success());
    }

    #[test]
    fn a_run_has_what_was_written_before_and_its_own() {
        let pipes = OutputPipes::new().expect("pipes");
        run(&pipes, "printf begin");
        pipes.keep_beginning();
        for word in ["one", "other"] {
            run(&pipes, &format!("printf {word}; printf wrong >&2"));
            let RunOutput { streams: [out, error], is_cut } = pipes.take();
            assert_eq!((out, error, is_cut), (format!("begin{word}").into_bytes(), b"wrong".to_vec(), false));
        }
        pipes.forget_beginning();
        assert_eq!(pipes.take(), RunOutput::default());
    }

    #[test]
    fn more_than_a_pipe_holds_does_not_block_the_program() {
        let pipes = OutputPipes::new().expect("pipes");
        run(&pipes, "head -c 1500000 /dev/zero; head -c 100000 /dev/zero >&2");
        let output = pipes.take();
        assert_eq!(output.streams.map(|stream| stream.len()), [MOST, 100_000]);
        assert!(output.is_cut);
    }
}
