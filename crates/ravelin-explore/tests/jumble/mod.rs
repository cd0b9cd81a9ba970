//! A system with a space of any size that looks random, and threads that take the part of processes.

mod threads;

pub use threads::Threads;

use ravelin_explore::{Sink, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A graph on numbers below `size`, with edges that look random; states of `width` words.
pub struct Jumble {
    pub size: u64,
    pub seed: u64,
    pub width: usize,
    /// Whether edges lead everywhere, so that there are few levels, and large ones.
    pub wide: bool,
    /// By how much the number of edges is multiplied.
    pub fan: u64,
    pub goals: Vec<u64>,
    pub refused: Option<u64>,
    pub expanded: AtomicU64,
}

impl Jumble {
    pub fn new(seed: u64, size: u64) -> Jumble {
        let width = 1 + seed as usize % 3;
        Jumble { size, seed, width, wide: false, fan: 1, goals: Vec::new(), refused: None, expanded: AtomicU64::new(0) }
    }

    pub fn packed(&self, number: u64) -> Vec<u64> {
        (0..self.width as u64).map(|word| number.wrapping_mul(word * 2 + 1)).collect()
    }

    pub fn next(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        (0..self.fan * (1 + number % 3)).map(move |edge| {
            let mixed = (number * 4 * self.fan + edge + self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Mostly to neighbours, so that there are many levels.
            if self.wide || mixed >> 60 == 0 {
                (mixed >> 20) % self.size
            } else {
                (number + (mixed >> 40) % 97) % self.size
            }
        })
    }
}

impl System for Jumble {
    type Scratch = ();
    type Interrupt = u64;

    fn width(&self) -> usize {
        self.width
    }

    fn scratch(&self) {}

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        for number in [0, self.size / 2, 0] {
            emit(&self.packed(number));
        }
    }

    fn expand(&self, state: &[u64], _: &mut (), sink: &mut Sink) -> Result<(), u64> {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        let number = state[0];
        if self.refused == Some(number) {
            return Err(number);
        }
        if let Some(goal) = self.goals.iter().position(|&goal| goal == number) {
            sink.report(goal as u32 % 3);
        }
        if number % 11 == 3 {
            sink.cut_off();
        }
        self.next(number).for_each(|next| sink.push(&self.packed(next)));
        Ok(())
    }
}

/// A directory of its own, gone when dropped.
pub struct TestDirectory(PathBuf);

impl TestDirectory {
    pub fn new() -> TestDirectory {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("explore-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a temporary directory");
        TestDirectory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&self.0).expect("a directory").flatten().map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    pub fn clear(&self) {
        for file in self.files() {
            std::fs::remove_file(file).expect("a file");
        }
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
