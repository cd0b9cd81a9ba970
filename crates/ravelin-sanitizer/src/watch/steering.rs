//! Runs whose steps are given: the memory in which a script goes to the program and its events come back.
//!
//! The runtime's part is `ravelin-runtime/src/schedule/steer.rs`; [`ravelin_findings::steering`] has the layout. Programs
//! may overwrite anything that is mapped in them, so everything that is read is checked.

use super::store::FindingsStore;
use super::{
    FreshReason, NotWatched, RunOutput, RunServer, ServedRun, WatchCommand, WatchedRun, interrupted, watch_in,
};
use ravelin_findings::arena;
use ravelin_findings::events::{Act, RunEvent, flags};
use ravelin_findings::steering::{self, SteeredEnd};
use ravelin_verify::{RecordedRun, Script};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// A program that makes runs whose steps are given.
pub struct SteeredProgram {
    watch: WatchCommand,
    maker: Maker,
    /// How often a loop may be repeated that is not known to wait.
    unroll: u64,
}

enum Maker {
    /// Runs are forked.
    Server(Box<RunServer>, SteeringArea),
    /// Each run is a new process, for this reason.
    Fresh(FreshReason),
}

/// One run.
pub struct SteeredRun {
    pub watched: WatchedRun,
    pub run: RecordedRun,
    /// An or of [`steering::doubts`].
    pub doubts: u64,
    /// What it wrote, if that is [captured](super::Streams::captured).
    pub output: RunOutput,
}

impl SteeredProgram {
    /// Starts the program. `watch` has no schedule.
    pub fn start(mut watch: WatchCommand, fresh: bool, unroll: u64) -> Result<SteeredProgram, NotWatched> {
        // Room for the number of a socket.
        watch.options.push(format!("{:<40}", "schedule=steered:0"));
        let mut maker = Maker::Fresh(FreshReason::Wanted);
        if !fresh {
            maker = match RunServer::start(&watch, watch.file())? {
                Ok(server) => match server.arena().map(SteeringArea::new) {
                    Some(Ok(area)) => Maker::Server(Box::new(server), area),
                    _ => Maker::Fresh(FreshReason::Unsupported),
                },
                Err(reason) => Maker::Fresh(reason),
            };
        }
        if let Some(pipes) = &watch.streams.captured {
            match maker {
                Maker::Server(..) => pipes.keep_beginning(),
                Maker::Fresh(_) => pipes.forget_beginning(),
            }
        }
        Ok(SteeredProgram { watch, maker, unroll })
    }

    /// Why each run is a new process; `None` if they are forked.
    pub fn fresh_reason(&self) -> Option<FreshReason> {
        match self.maker {
            Maker::Server(..) => None,
            Maker::Fresh(reason) => Some(reason),
        }
    }

    /// Makes a run; `None` if there was a request to end.
    pub fn run(&mut self, script: &Script) -> Result<Option<SteeredRun>, NotWatched> {
        if let Maker::Server(server, area) = &mut self.maker {
            area.write(script, self.unroll);
            match server.run("schedule=steered:0 livelock=0")? {
                // A signal that asked to end may have reached the run.
                _ if interrupted() => return Ok(None),
                ServedRun::Made(watched, _) => {
                    let run = area.read(*watched);
                    return Ok(Some(self.with_output(run)));
                }
                ServedRun::NotMade(reason) => self.maker = Maker::Fresh(reason),
            }
            self.watch.streams.captured.iter().for_each(|pipes| pipes.forget_beginning());
        }
        let store = FindingsStore::new(None)?;
        let not_mapped = |error| NotWatched::NotKept("memory".into(), error);
        let Some(arena) = store.arena() else { return Err(not_mapped(io::ErrorKind::Unsupported.into())) };
        let mut area = SteeringArea::new(arena).map_err(not_mapped)?;
        area.write(script, self.unroll);
        let watched = watch_in(&self.watch, self.watch.file(), &store)?;
        if interrupted() {
            return Ok(None);
        }
        Ok(Some(self.with_output(area.read(watched))))
    }

    fn with_output(&self, run: SteeredRun) -> SteeredRun {
        let output = self.watch.streams.captured.as_ref().map(|pipes| pipes.take()).unwrap_or_default();
        SteeredRun { output, ..run }
    }
}

/// The memory, mapped.
struct SteeringArea(*mut AtomicU64);

// SAFETY: atomics in memory that stays mapped as long as this exists.
unsafe impl Send for SteeringArea {}

impl SteeringArea {
    /// In the last segment of an arena.
    fn new(arena: &File) -> io::Result<SteeringArea> {
        let segments = arena.metadata()?.len().saturating_sub(arena::HEAD as u64) / arena::SEGMENT as u64;
        let offset = arena::offset(segments.saturating_sub(1)) as libc::off_t;
        let (access, file) = (libc::PROT_READ | libc::PROT_WRITE, arena.as_raw_fd());
        // SAFETY: a mapping at an address the kernel chooses; the file has that many bytes there.
        let area = unsafe { libc::mmap(std::ptr::null_mut(), steering::BYTES, access, libc::MAP_SHARED, file, offset) };
        if area == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let area = SteeringArea(area.cast());
        area.word(steering::MAGIC_AT).store(steering::MAGIC, Ordering::Relaxed);
        Ok(area)
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < steering::WORDS);
        // SAFETY: mapped as long as this exists, and any bits are atomics.
        unsafe { &*self.0.add(index) }
    }

    fn set(&self, index: usize, value: u64) {
        self.word(index).store(value, Ordering::Relaxed);
    }

    fn get(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Relaxed)
    }

    fn write(&mut self, script: &Script, unroll: u64) {
        let choices = &script.choices[..script.choices.len().min(steering::MOST_CHOICES)];
        for (index, choice) in choices.iter().enumerate() {
            let times_out = if choice.times_out { steering::TIMES_OUT } else { 0 };
            self.set(steering::SCRIPT + index, u64::from(choice.thread) | times_out);
        }
        let sleepers = &script.sleepers[..script.sleepers.len().min(steering::MOST_SLEEPERS)];
        for (index, sleeper) in sleepers.iter().enumerate() {
            self.set(steering::SLEEPERS + index, u64::from(*sleeper));
        }
        self.set(steering::CHOICES, choices.len() as u64);
        self.set(steering::ASLEEP, sleepers.len() as u64);
        self.set(steering::UNROLL, unroll);
        self.set(steering::SEED, script.seed);
        self.set(steering::STALE, script.stale.map_or(0, |stale| stale.step as u64 + 1));
        let source = script.stale.and_then(|stale| stale.source);
        self.set(steering::STALE_SOURCE, source.map_or(0, |source| source as u64 + 1));
        self.set(steering::STALE_VALUE, script.stale.map_or(0, |stale| stale.value));
        for index in [steering::EVENT_COUNT, steering::END, steering::DOUBTS] {
            self.set(index, 0);
        }
    }

    /// What the run did.
    fn read(&self, watched: WatchedRun) -> SteeredRun {
        let mut run = RecordedRun { end: SteeredEnd::of(self.get(steering::END)), ..RecordedRun::default() };
        let count = (self.get(steering::EVENT_COUNT) as usize).min(steering::MOST_EVENTS);
        for index in 0..count {
            let at = |offset: usize| self.get(steering::EVENTS + index * RunEvent::WORDS + offset);
            match RunEvent::of(std::array::from_fn(at)) {
                Some(event) if event.is(flags::PENDING) => run.pending.push(event),
                Some(event) => run.events.push(event),
                None => break,
            }
        }
        let is_stuck = watched.processes.iter().any(|process| process.stuck.is_some());
        let exits = run.events.last().is_some_and(|event| event.operation.act == Act::Exit);
        run.ended_early = run.end.is_none() && !is_stuck && !exits && !run.pending.is_empty();
        SteeredRun { watched, run, doubts: self.get(steering::DOUBTS), output: RunOutput::default() }
    }
}

impl Drop for SteeringArea {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length.
        unsafe { libc::munmap(self.0.cast(), steering::BYTES) };
    }
}
