//! What `ravelin run` and a program that serves runs tell each other.
//!
//! Such a program stands still before its second thread and forks a process for each run. It has a socket for messages,
//! whose number is the option `serve`. `ravelin run` sends [`GREETING`] before the program starts, and then the options
//! of one run at a time, as in `RAVELIN_OPTIONS`. The program sends [`Message`]s. All runs use the first segment of the
//! arena, one after the other. The arena also tells which process makes the run now, for signals.

/// What `ravelin run` sends first: a socket of the same number that belongs to another program has other messages.
pub const GREETING: &[u8] = b"ravelin serves runs";
/// No options of a run are longer.
pub const LONGEST: usize = 256;
/// Words of a [`Message`].
pub const WORDS: usize = 4;

/// What the program tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// It stands before its second thread and can make runs. Its process number.
    Ready(u64),
    /// Runs would not be those of new processes.
    Obstacle(ForkObstacle),
    /// A run has ended: how (the kernel's `si_code` and `si_status`), and whether it left other processes.
    Ended { code: u64, status: u64, others: bool },
    /// A run could not be started.
    NotBegun,
}

impl Message {
    /// As words.
    pub fn words(self) -> [u64; WORDS] {
        match self {
            Message::Ready(process) => [1, process, 0, 0],
            Message::Obstacle(obstacle) => [2, obstacle as u64, 0, 0],
            Message::Ended { code, status, others } => [3, code, status, u64::from(others)],
            Message::NotBegun => [4, 0, 0, 0],
        }
    }

    /// The message that has these words.
    pub fn of(words: [u64; WORDS]) -> Option<Message> {
        match words {
            [1, process, _, _] => Some(Message::Ready(process)),
            [2, obstacle, _, _] => {
                ForkObstacle::ALL.into_iter().find(|known| *known as u64 == obstacle).map(Message::Obstacle)
            }
            [3, code, status, others] => Some(Message::Ended { code, status, others: others != 0 }),
            [4, _, _, _] => Some(Message::NotBegun),
            _ => None,
        }
    }
}

/// Why a forked process would not make the same run as a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum ForkObstacle {
    /// The C library cannot fork without calling the program.
    Library,
    /// There are threads that the runtime does not know.
    Threads,
    /// It has started processes.
    Processes,
    /// It is traced.
    Tracer,
    /// It knows its process number.
    ProcessNumber,
    /// It leads a session or a group of processes.
    Group,
    /// A timer is set; children do not inherit it.
    Timer,
    /// A signal is pending; children do not inherit it.
    Signal,
    /// It shares memory that it can write to.
    SharedMemory,
    /// A file is open for writing.
    FileForWriting,
    /// A pipe, a socket or another file is open whose content all runs would share.
    SharedFile,
    /// It has changed files.
    FileSystem,
    /// There is no file for findings that runs can share.
    Findings,
    /// It has other threads where it says that runs begin.
    OtherThreads,
}

impl ForkObstacle {
    /// All obstacles.
    pub const ALL: [ForkObstacle; 14] = [
        ForkObstacle::Library,
        ForkObstacle::Threads,
        ForkObstacle::Processes,
        ForkObstacle::Tracer,
        ForkObstacle::ProcessNumber,
        ForkObstacle::Group,
        ForkObstacle::Timer,
        ForkObstacle::Signal,
        ForkObstacle::SharedMemory,
        ForkObstacle::FileForWriting,
        ForkObstacle::SharedFile,
        ForkObstacle::FileSystem,
        ForkObstacle::Findings,
        ForkObstacle::OtherThreads,
    ];
}
