//! Random traces.
//!
//! Each trace has a taste of its own: how many threads and locations, which orders and operations it prefers, how long a
//! thread goes on before another has its turn. Traces of one even mixture would hardly ever depend on a relaxed RMW in a
//! release sequence, on a fence, or on a long run of writes.

use super::{LOCATIONS, LOCKS, Operation, Random, SEMAPHORES, Step, SyncOperation, World};
use ravelin_clocks::{AtomicOrder, CasKind};

/// What a generated trace may have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub shortest: usize,
    pub longest: usize,
    /// Threads end and new ones start all the time.
    pub many_threads: bool,
    /// Threads are given new numbers.
    pub renames: bool,
    /// Some threads write the same location on and on.
    pub runs: bool,
    /// Some threads go on for long while the others rest.
    pub alone: bool,
}

struct Taste {
    threads: usize,
    locations: usize,
    orders: [usize; 3],
    weights: [usize; 12],
    stays: usize,
    last_value: usize,
    /// Other locations than the first are accessed once in so many times, if not 0.
    hot: usize,
    /// Other threads than the first two have a turn once in so many times, if not 0. What they know is old.
    busy: usize,
}

impl Taste {
    fn new(random: &mut Random) -> Taste {
        const ORDERS: [[usize; 3]; 6] = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [4, 3, 1], [1, 1, 6], [2, 4, 0]];
        const RANGES: [(usize, usize); 12] =
            [(1, 8), (1, 8), (0, 5), (0, 4), (0, 4), (0, 5), (0, 1), (0, 1), (0, 1), (0, 2), (0, 1), (0, 1)];
        let mut weights = RANGES.map(|(low, high)| random.within(low..=high));
        if random.once_in(3) {
            // What locks and threads order hides what fences and messages do not.
            weights[7..].fill(0);
        }
        Taste {
            threads: random.within(2..=6),
            locations: random.within(1..=LOCATIONS),
            orders: random.pick(&ORDERS),
            weights,
            stays: random.within(1..=5),
            last_value: random.within(1..=3),
            hot: random.pick(&[0, 0, 4, 12]),
            busy: random.pick(&[0, 0, 10, 30]),
        }
    }

    /// Relaxed, one-sided or two-sided, seq_cst.
    fn strength(&self, random: &mut Random) -> usize {
        let mut left = random.below(self.orders.iter().sum());
        self.orders
            .iter()
            .position(|&weight| {
                left < weight || {
                    left -= weight;
                    false
                }
            })
            .unwrap_or(0)
    }

    fn load(&self, random: &mut Random) -> AtomicOrder {
        [AtomicOrder::Relaxed, AtomicOrder::Acquire, AtomicOrder::SeqCst][self.strength(random)]
    }

    fn store(&self, random: &mut Random) -> AtomicOrder {
        [AtomicOrder::Relaxed, AtomicOrder::Release, AtomicOrder::SeqCst][self.strength(random)]
    }

    fn update(&self, random: &mut Random) -> AtomicOrder {
        match self.strength(random) {
            0 => AtomicOrder::Relaxed,
            1 => random.pick(&[AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcqRel]),
            _ => AtomicOrder::SeqCst,
        }
    }

    fn location(&self, random: &mut Random) -> usize {
        if self.hot > 0 && !random.once_in(self.hot) { 0 } else { random.below(self.locations) }
    }

    fn thread(&self, random: &mut Random, running: &[usize]) -> usize {
        let busy = &running[..running.len().min(2)];
        let among = if self.busy > 0 && !random.once_in(self.busy) { busy } else { running };
        random.pick(among)
    }

    fn operation(&self, random: &mut Random, thread: usize, world: &World) -> Operation {
        let mut left = random.below(self.weights.iter().sum());
        let choice = self
            .weights
            .iter()
            .position(|&weight| {
                left < weight || {
                    left -= weight;
                    false
                }
            })
            .unwrap_or(0);
        let x = self.location(random);
        let value = random.within(0..=self.last_value) as u64;
        match choice {
            0 => Operation::Load { x, order: self.load(random) },
            1 => Operation::Store { x, order: self.store(random), value },
            2 => Operation::Update { x, order: self.update(random), value },
            3 | 4 => {
                let kind = random.pick(&[CasKind::Strong, CasKind::Weak, CasKind::Blocking]);
                let (success, failure) = (self.update(random), self.load(random));
                let expected = random.within(0..=self.last_value) as u64;
                Operation::CompareExchange { x, success, failure, kind, expected, value }
            }
            5 => Operation::Wait { x, order: self.load(random), value },
            6 => {
                let order = random.pick(&[
                    AtomicOrder::Relaxed,
                    AtomicOrder::Acquire,
                    AtomicOrder::Release,
                    AtomicOrder::AcqRel,
                    AtomicOrder::SeqCst,
                ]);
                Operation::Synchronise(SyncOperation::Fence { order })
            }
            7 => match world.unborn() {
                Some(child) if world.running().len() < self.threads => {
                    Operation::Synchronise(SyncOperation::Spawn { child })
                }
                _ => world
                    .ended()
                    .map_or(Operation::Synchronise(SyncOperation::Fence { order: AtomicOrder::AcqRel }), |child| {
                        Operation::Synchronise(SyncOperation::Join { child })
                    }),
            },
            8 if thread != 0 => Operation::Synchronise(SyncOperation::End),
            9 => {
                let lock = random.below(LOCKS);
                if random.once_in(2) {
                    Operation::Synchronise(SyncOperation::Lock { lock })
                } else {
                    Operation::Synchronise(SyncOperation::Unlock { lock })
                }
            }
            10 => Operation::Synchronise(SyncOperation::Post { semaphore: random.below(SEMAPHORES) }),
            11 => Operation::Synchronise(SyncOperation::Take {
                semaphore: random.below(SEMAPHORES),
                loads: random.once_in(2),
            }),
            _ => Operation::Synchronise(SyncOperation::Fence { order: AtomicOrder::SeqCst }),
        }
    }
}

/// The trace of a seed.
pub fn generate(seed: u64, shape: Shape) -> Vec<Step> {
    let mut random = Random::new(seed);
    let taste = Taste::new(&mut random);
    let length = random.within(shape.shortest..=shape.longest);
    let mut world = World::new();
    let mut trace = Vec::new();
    let add = |step: Step, world: &mut World, trace: &mut Vec<Step>| {
        if world.perform(step).is_some() {
            trace.push(step);
        }
    };
    // Most threads start early: they know little of each other.
    for child in 1..random.within(2..=taste.threads) {
        add(
            Step { thread: 0, operation: Operation::Synchronise(SyncOperation::Spawn { child }) },
            &mut world,
            &mut trace,
        );
    }
    let (mut thread, mut alone) = (0, 0);
    while trace.len() < length {
        let running = world.running();
        if shape.alone && alone == 0 && random.once_in(40) {
            alone = random.within(10..=120);
        }
        alone = alone.saturating_sub(1);
        if alone > 0 && running.contains(&thread) {
            let operation = taste.operation(&mut random, thread, &world);
            add(Step { thread, operation }, &mut world, &mut trace);
            continue;
        }
        if random.once_in(taste.stays) || !running.contains(&thread) {
            thread = taste.thread(&mut random, &running);
        }
        let mut operation = taste.operation(&mut random, thread, &world);
        if shape.many_threads && random.once_in(6) {
            operation = match (world.ended(), world.unborn(), random.below(3)) {
                (Some(child), _, 0 | 1) => Operation::Synchronise(SyncOperation::Join { child }),
                (_, Some(child), 0 | 1) if running.len() < 6 => Operation::Synchronise(SyncOperation::Spawn { child }),
                _ if thread != 0 => Operation::Synchronise(SyncOperation::End),
                _ => operation,
            };
        }
        if shape.renames && random.once_in(12) {
            operation = Operation::Synchronise(SyncOperation::Rename);
        }
        if shape.runs && random.once_in(25) {
            let (x, order) = (random.below(taste.locations), taste.store(&mut random));
            for _ in 0..random.within(10..=40) {
                let value = random.within(0..=taste.last_value) as u64;
                let update = random.once_in(9);
                let operation =
                    if update { Operation::Update { x, order, value } } else { Operation::Store { x, order, value } };
                add(Step { thread, operation }, &mut world, &mut trace);
            }
        }
        add(Step { thread, operation }, &mut world, &mut trace);
    }
    trace
}
