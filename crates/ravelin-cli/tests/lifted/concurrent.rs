//! Random concurrent C programs, as people write them: atomics by function and by operator, plain data, mutexes, pointers
//! to atomics, functions that take them, loops that count and loops that wait.
//!
//! Each ends in every schedule, or in a deadlock: a lock is not taken twice, threads that wait in a loop wait for a flag that
//! the last thread sets first or last, and that thread does not wait. Threads may also meet at a barrier or wait for a
//! condition variable. `main` may go on between the starts of threads, and a thread may start another one. All values are
//! small.

use super::random_c::{Piece, Random, write_all};

const ATOMICS: [&str; 4] = ["x", "y", "box.flag", "*near"];
const PLAIN: [&str; 2] = ["plain", "box.data"];
const LOCALS: [&str; 3] = ["r", "s", "t"];

const PRELUDE: &str = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>

static atomic_int x, y, done;
static _Atomic uint8_t small;
static struct { atomic_int flag; int data; } box;
static int plain;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
static int gate;

static int get(atomic_int *from) { return atomic_load_explicit(from, memory_order_acquire); }
static void put(atomic_int *to, int value) { atomic_store_explicit(to, value, memory_order_release); }
static int take(atomic_int *from, int old) {
  return atomic_compare_exchange_strong_explicit(from, &old, old + 1, memory_order_acq_rel, memory_order_relaxed) ? 4 : old;
}
";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concurrent {
    pub threads: Vec<Vec<Piece>>,
    /// What `main` does after it has started the first thread.
    pub between: Vec<Piece>,
    /// The last thread is started by the first one.
    pub nested: bool,
    /// What `main` checks at the end.
    pub checks: Vec<Piece>,
}

pub fn concurrent(seed: u64) -> Concurrent {
    let mut random = Random::new(seed ^ 0x0c0c_0a11);
    let count = 2 + usize::from(random.chance(25));
    // Programs that race say little else.
    let waits = random.chance(25);
    let plain = !waits && random.chance(45);
    let statements = if count == 2 { 5 } else { 3 };
    let mut threads: Vec<Vec<Piece>> = Vec::new();
    for _ in 0..count {
        let mut writer = Writer { random: &mut random, left: statements, plain, locked: false };
        threads.push(writer.statements(0));
    }
    if waits {
        let order = *random.pick(&["release", "relaxed", "seq_cst"]);
        let set = Piece::text(format!("atomic_store_explicit(&done, 1, memory_order_{order});"));
        let last = threads.last_mut().expect("a thread");
        let at = random.below(last.len() as u64 + 1) as usize;
        last.insert(at, set);
        let order = *random.pick(&["acquire", "relaxed", "seq_cst"]);
        let wait = Piece::text(format!("while (atomic_load_explicit(&done, memory_order_{order}) == 0) {{}}"));
        let at = random.below(threads[0].len() as u64 + 1) as usize;
        threads[0].insert(at, wait);
    }
    let mut between = Vec::new();
    if random.chance(25) {
        let mut writer = Writer { random: &mut random, left: 2, plain, locked: false };
        between = writer.statements(1);
    }
    let nested = !waits && random.chance(25);
    if nested {
        let at = random.below(threads[0].len() as u64 + 1) as usize;
        threads[0].insert(at, Piece::text(format!("pthread_create(&inner, NULL, thread{}, NULL);", count - 1)));
    }
    if !waits && random.chance(25) {
        meet(&mut random, &mut threads);
    }
    let mut checks = Vec::new();
    if random.chance(40) {
        let (place, value) = (*random.pick(&["x", "y", "small", "plain"]), random.below(4));
        checks.push(Piece::text(format!("assert({place} != {value});")));
    }
    Concurrent { threads, between, nested, checks }
}

/// Threads meet at a barrier for two, or wait for what others write with a condition variable.
fn meet(random: &mut Random, threads: &mut [Vec<Piece>]) {
    let at_barrier = random.chance(40);
    for number in 0..threads.len() + usize::from(random.chance(30)) {
        let value = random.below(2);
        let text = match (at_barrier, random.chance(50)) {
            (true, _) => "pthread_barrier_wait(&meeting);".to_owned(),
            (false, true) => format!(
                "pthread_mutex_lock(&lock); while (gate == {value}) pthread_cond_wait(&changed, &lock); pthread_mutex_unlock(&lock);"
            ),
            (false, false) => format!(
                "pthread_mutex_lock(&lock); gate = {value}; pthread_cond_{}(&changed); pthread_mutex_unlock(&lock);",
                random.pick(&["signal", "broadcast"])
            ),
        };
        let count = threads.len();
        let body = &mut threads[number % count];
        let at = random.below(body.len() as u64 + 1) as usize;
        body.insert(at, Piece::text(text));
    }
}

struct Writer<'a> {
    random: &'a mut Random,
    /// Statements that may still be written.
    left: u32,
    plain: bool,
    locked: bool,
}

impl Writer<'_> {
    fn statements(&mut self, depth: u32) -> Vec<Piece> {
        let most = if depth == 0 { u64::from(self.left.max(3)) } else { 2 };
        let mut all = Vec::new();
        let least = if depth == 0 { 3 } else { 1 };
        for _ in 0..least + self.random.below(most - least + 1) {
            if self.left > 0 {
                self.left -= 1;
                all.push(self.statement(depth));
            }
        }
        all
    }

    fn statement(&mut self, depth: u32) -> Piece {
        let (atomic, local) = (*self.random.pick(&ATOMICS), *self.random.pick(&LOCALS));
        let value = self.value();
        let text = match self.random.below(34) {
            0..6 => {
                format!(
                    "atomic_store_explicit(&{atomic}, {value}, {});",
                    self.order(&["relaxed", "release", "seq_cst"])
                )
            }
            6..12 => format!(
                "{local} = atomic_load_explicit(&{atomic}, {});",
                self.order(&["relaxed", "acquire", "seq_cst"])
            ),
            12 => format!("{atomic} = {value};"),
            13 => format!("{local} = {atomic};"),
            14..16 => {
                let order = self.order(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
                let (place, most) = *self.random.pick(&[(atomic, 3), ("small", 255)]);
                let value = if most == 255 && self.random.chance(50) { "255".to_owned() } else { value };
                let name =
                    *self.random.pick(&["fetch_add", "fetch_sub", "fetch_or", "fetch_and", "fetch_xor", "exchange"]);
                format!("{local} = atomic_{name}_explicit(&{place}, {value}, {order});")
            }
            16 => format!("{local} = take(&{atomic}, {value});"),
            17..19 => {
                let fail = self.order(&["relaxed", "acquire", "seq_cst"]);
                let order = self.order(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
                format!(
                    "{local} = {value}; atomic_compare_exchange_strong_explicit(&{atomic}, &{local}, 2, {order}, {fail});"
                )
            }
            19..21 => format!("atomic_thread_fence({});", self.order(&["acquire", "release", "acq_rel", "seq_cst"])),
            21 => format!("{local} = get(&{atomic});"),
            22 => format!("put(&{atomic}, {value});"),
            23 => format!("near = {local} & 1 ? &x : &y;"),
            24..26 if depth < 2 => {
                let (then, other) = (self.statements(depth + 1), self.statements(depth + 1));
                let head = Piece::text(format!("if ({local} == {}) {{", self.random.below(3)));
                return match other.is_empty() {
                    true => head.body(then, "}"),
                    false => head.body(then, "} else {").body(other, "}"),
                };
            }
            26 if depth < 2 => {
                let body = self.statements(depth + 1);
                return Piece::text("for (int i = 0; i < 2; i++) {").body(body, "}");
            }
            27 if depth < 2 && !self.locked => {
                self.locked = true;
                let mut body = self.statements(depth + 1);
                body.push(Piece::text(format!("plain += {value};")));
                self.locked = false;
                return Piece::text("pthread_mutex_lock(&lock);").body(body, "pthread_mutex_unlock(&lock);");
            }
            28 if self.random.chance(60) => format!("assert({local} <= {});", self.random.below(4)),
            29..34 if self.plain || self.locked => {
                let plain = *self.random.pick(&PLAIN);
                match self.random.chance(50) {
                    true => format!("{plain} = {value};"),
                    false => format!("{local} = {plain};"),
                }
            }
            29..31 => format!("{local} = {local} * 2 - {value};"),
            // What store buffering and message passing are made of.
            _ => {
                let (mine, other) = *self.random.pick(&[("x", "y"), ("y", "x")]);
                let order = self.order(&["relaxed", "release", "seq_cst"]);
                let load = self.order(&["relaxed", "acquire", "seq_cst"]);
                format!(
                    "atomic_store_explicit(&{mine}, {value}, {order}); {local} = atomic_load_explicit(&{other}, {load});"
                )
            }
        };
        Piece::text(text)
    }

    fn value(&mut self) -> String {
        match self.random.chance(25) {
            true => (*self.random.pick(&LOCALS)).to_owned(),
            false => self.random.below(3).to_string(),
        }
    }

    fn order(&mut self, all: &[&str]) -> String {
        format!("memory_order_{}", self.random.pick(all))
    }
}

impl Concurrent {
    pub fn c(&self) -> String {
        let mut text = PRELUDE.to_owned();
        for number in 0..self.threads.len() {
            text.push_str(&format!("static void *thread{number}(void *unused);\n"));
        }
        for (number, body) in self.threads.iter().enumerate() {
            text.push_str(&format!("\nstatic void *thread{number}(void *unused) {{\n"));
            text.push_str("  int r = 0, s = 1, t = 2;\n  atomic_int *near = &x;\n");
            if self.starts_inner() && number == 0 {
                text.push_str("  pthread_t inner;\n");
            }
            write_all(body, 1, &mut text);
            if self.starts_inner() && number == 0 {
                text.push_str("  pthread_join(inner, NULL);\n");
            }
            text.push_str("  return unused;\n}\n");
        }
        let count = self.threads.len() - usize::from(self.nested);
        text.push_str(&format!("\nint main(void) {{\n  pthread_t threads[{count}];\n"));
        text.push_str("  int r = 0, s = 1, t = 2;\n  atomic_int *near = &x;\n");
        text.push_str("  pthread_barrier_init(&meeting, NULL, 2);\n");
        for number in 0..count {
            text.push_str(&format!("  pthread_create(&threads[{number}], NULL, thread{number}, NULL);\n"));
            if number == 0 {
                write_all(&self.between, 1, &mut text);
            }
        }
        text.push_str(&format!("  for (int i = 0; i < {count}; i++) pthread_join(threads[i], NULL);\n"));
        write_all(&self.checks, 1, &mut text);
        text.push_str("  return 0;\n}\n");
        text
    }

    /// The shrinker may have left the start out.
    fn starts_inner(&self) -> bool {
        let mut text = String::new();
        write_all(&self.threads[0], 1, &mut text);
        text.contains("&inner")
    }

    pub fn waits(&self) -> bool {
        self.c().contains("while (")
    }

    /// In the model unlocking is a plain store, and in the program a locked instruction.
    pub fn locks(&self) -> bool {
        self.c().matches("&lock").count() > 0
    }

    /// The smallest program that is found with at most so many questions, for which something stays true.
    pub fn shrunk(self, mut questions: u32, mut keeps: impl FnMut(&Concurrent) -> bool) -> Concurrent {
        let mut best = self;
        let mut at = 0;
        while questions > 0 {
            let mut smaller = best.clone();
            if !smaller.without(at) {
                break;
            }
            questions -= 1;
            if keeps(&smaller) {
                (best, at) = (smaller, 0);
            } else {
                at += 1;
            }
        }
        best
    }

    /// Leaves the n-th statement out, or puts those in it in its place; false if there are fewer.
    fn without(&mut self, mut at: usize) -> bool {
        let bodies = self.threads.iter_mut().chain([&mut self.between, &mut self.checks]);
        bodies.into_iter().any(|body| super::random_c::leave_out(body, &mut at))
    }
}
