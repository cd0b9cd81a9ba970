//! A schedule whose choices are given: what `ravelin verify` lets a program do.
//!
//! The first steps are those of the script. After it the thread that has the turn keeps it as long as it can run, and
//! then the one that was started first gets it. Threads that are asleep do not run: what they would do next was done in
//! another run, and doing it here first would repeat that run. A sleeper wakes up when a thread does something that
//! conflicts with its next step; the caller knows that.
//!
//! A thread that wakes only some of those that wait for an object does not decide which: all of them can run until
//! enough of them have.

use ravelin_findings::steering::{SteeredEnd, TIMES_OUT};

/// What the threads of a steered program do next.
#[derive(Clone, Debug, Default)]
pub struct Steering {
    /// A thread for each of the first steps, or'ed with [`TIMES_OUT`].
    choices: Vec<u64>,
    /// Threads that are asleep after these.
    sleepers: Vec<usize>,
    /// Threads that are asleep.
    asleep: Vec<usize>,
    /// Steps that were made.
    steps: usize,
    /// Threads that wait for an object as soon as they have opened a lock.
    registered: Vec<(usize, usize)>,
    gifts: Vec<Gift>,
    /// Draws threads after the script, unless it is 0.
    seed: u64,
    /// Steps that others can see, and steps since the last one that they cannot. What is drawn depends on these two numbers:
    /// a thread that looks once more than in another run, and then does the same, changes little of what is drawn later.
    visible_steps: u64,
    looks: u64,
}

/// Some of these threads can continue.
#[derive(Clone, Debug)]
struct Gift {
    left: usize,
    takers: Vec<usize>,
}

/// One decision of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptChoice {
    pub thread: usize,
    /// Its wait ends because its time is over.
    pub times_out: bool,
}

impl Steering {
    /// A script begins now, and these threads are asleep after it. Threads that wait for an object still do. `seed` is 0 if
    /// no thread is drawn after the script.
    pub fn begin(&mut self, choices: Vec<u64>, sleepers: Vec<usize>, seed: u64) {
        self.asleep = if choices.is_empty() { sleepers.clone() } else { Vec::new() };
        self.choices = choices;
        self.sleepers = sleepers;
        (self.steps, self.visible_steps, self.looks) = (0, 0, 0);
        self.seed = seed;
    }

    /// The choice for the next step; `None` after the script.
    pub fn choice(&self) -> Option<ScriptChoice> {
        let choice = *self.choices.get(self.steps)?;
        Some(ScriptChoice { thread: (choice & (TIMES_OUT - 1)) as usize, times_out: choice & TIMES_OUT != 0 })
    }

    /// Whether the next step is one of the script.
    pub fn is_in_script(&self) -> bool {
        self.steps < self.choices.len()
    }

    /// A step was made, which others can see or not.
    pub fn stepped(&mut self, is_visible: bool) {
        self.steps += 1;
        (self.visible_steps, self.looks) =
            if is_visible { (self.visible_steps + 1, 0) } else { (self.visible_steps, self.looks + 1) };
        if self.steps == self.choices.len() {
            self.asleep.clone_from(&self.sleepers);
        }
    }

    /// Threads that are asleep.
    pub fn asleep(&self) -> &[usize] {
        &self.asleep
    }

    /// Wakes the sleepers for which `conflicts` is true.
    pub fn wake(&mut self, mut conflicts: impl FnMut(usize) -> bool) {
        self.asleep.retain(|&thread| !conflicts(thread));
    }

    /// After the script: the thread that continues. `ready` is not empty.
    pub fn next(&self, me: usize, ready: &[usize]) -> Result<usize, SteeredEnd> {
        let is_awake = |thread: &usize| !self.asleep.contains(thread);
        let number = mixed(self.seed).wrapping_add(mixed(self.visible_steps)).wrapping_add(self.looks);
        let drawn = if self.seed == 0 { 0 } else { mixed(number) };
        // A thread that has the turn keeps it three times of four: most of what it does next nobody sees.
        if ready.contains(&me) && is_awake(&me) && drawn % 4 != 3 {
            return Ok(me);
        }
        if self.seed != 0 {
            let awake: Vec<usize> = ready.iter().copied().filter(is_awake).collect();
            let at = (drawn >> 2) as usize % awake.len().max(1);
            return awake.get(at).copied().ok_or(SteeredEnd::Asleep);
        }
        ready.iter().copied().filter(is_awake).min().ok_or(SteeredEnd::Asleep)
    }

    /// This thread will wait for an object: from now on it can be woken.
    pub fn register(&mut self, thread: usize, object: usize) {
        self.registered.push((thread, object));
    }

    /// The threads that will wait for an object.
    pub fn registered(&self, object: usize) -> impl Iterator<Item = usize> {
        self.registered.iter().filter(move |(_, on)| *on == object).map(|(thread, _)| *thread)
    }

    /// A thread waits for an object. Returns whether it need not: it was woken since it was registered.
    pub fn has_begun_to_wait(&mut self, thread: usize) -> bool {
        let before = self.registered.len();
        self.registered.retain(|(other, _)| *other != thread);
        let was_registered = self.registered.len() != before;
        was_registered && self.gifts.iter().any(|gift| gift.takers.contains(&thread))
    }

    /// `most` of these threads can continue.
    pub fn give(&mut self, takers: Vec<usize>, most: usize) {
        self.gifts.push(Gift { left: most.min(takers.len()), takers });
    }

    /// A thread continues. Returns the threads that cannot do so any more.
    pub fn take(&mut self, thread: usize) -> Vec<usize> {
        let Some(at) = self.gifts.iter().position(|gift| gift.takers.contains(&thread)) else { return Vec::new() };
        let gift = &mut self.gifts[at];
        gift.takers.retain(|other| *other != thread);
        gift.left -= 1;
        if gift.left > 0 {
            return Vec::new();
        }
        let left = self.gifts.remove(at).takers;
        left.into_iter().filter(|other| !self.gifts.iter().any(|gift| gift.takers.contains(other))).collect()
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
