// Mutual exclusion and a sequence lock. The arguments are the algorithm, the order of its stores and that of its loads.
// case dekker-release-acquire dekker release acquire: violation, may violation
// case dekker-seq-cst dekker seq_cst seq_cst: none
// case peterson-release-acquire peterson release acquire: violation, may violation
// case peterson-seq-cst peterson seq_cst seq_cst: none
// case lamport-release-acquire lamport release acquire: violation, may violation
// case lamport-seq-cst lamport seq_cst seq_cst: none
// case seqlock-fences seqlock relaxed relaxed: may violation
// case seqlock-release-acquire seqlock release acquire: none
// case seqlock-seq-cst seqlock seq_cst seq_cst: none
// case ticket-release-acquire ticket release acquire: may violation
// case spsc-release-acquire spsc release acquire: may violation
// case bar-release-acquire bar release acquire: may violation
// case bar-seq-cst bar seq_cst seq_cst: none

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, Ordering::*, fence};
use std::thread::yield_now;
use watched::{argument, at_once, order};

fn main() {
    let (w, r) = (order(&argument(2)), order(&argument(3)));
    match &*argument(1) {
        "dekker" => dekker(w, r),
        "peterson" => peterson(w, r),
        "lamport" => lamport(w, r),
        "seqlock" => seqlock(w, r),
        "ticket" => ticket(w, r),
        "spsc" => spsc(w, r),
        "bar" => bar(w, r),
        other => panic!("{other} is no algorithm"),
    }
}

fn dekker(w: Ordering, r: Ordering) {
    let (wants, turn) = ([AtomicU32::new(0), AtomicU32::new(0)], AtomicUsize::new(0));
    at_once(2, |me| {
        let other = 1 - me;
        for round in 0..300 {
            wants[me].store(1, w);
            while wants[other].load(r) != 0 {
                if turn.load(r) != me {
                    wants[me].store(0, w);
                    while turn.load(r) != me {
                        yield_now();
                    }
                    wants[me].store(1, w);
                }
            }
            turn.store(other, w);
            wants[me].store(0, w);
            if round % 16 == 0 {
                yield_now();
            }
        }
    });
}

fn peterson(w: Ordering, r: Ordering) {
    let (wants, last) = ([AtomicU32::new(0), AtomicU32::new(0)], AtomicUsize::new(0));
    at_once(2, |me| {
        for _ in 0..300 {
            wants[me].store(1, w);
            last.store(me, w);
            while wants[1 - me].load(r) != 0 && last.load(r) == me {
                yield_now();
            }
            wants[me].store(0, w);
        }
    });
}

/// The second algorithm of Lamport's fast mutual exclusion.
fn lamport(w: Ordering, r: Ordering) {
    let (trying, x, y) = ([AtomicU32::new(0), AtomicU32::new(0)], AtomicUsize::new(0), AtomicUsize::new(0));
    at_once(2, |number| {
        let me = number + 1;
        for _ in 0..100 {
            loop {
                trying[number].store(1, w);
                x.store(me, w);
                if y.load(r) != 0 {
                    trying[number].store(0, w);
                    ravelin_hints::wait(&y, 0, r);
                    continue;
                }
                y.store(me, w);
                if x.load(r) != me {
                    trying[number].store(0, w);
                    for one in &trying {
                        ravelin_hints::wait(one, 0, r);
                    }
                    if y.load(r) != me {
                        ravelin_hints::wait(&y, 0, r);
                        continue;
                    }
                }
                break;
            }
            y.store(0, w);
            trying[number].store(0, w);
        }
    });
}

fn seqlock(w: Ordering, r: Ordering) {
    let (sequence, x, y) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    at_once(3, |me| {
        if me == 0 {
            for round in 1..=200 {
                let seen = sequence.load(Relaxed);
                sequence.store(seen + 1, w);
                fence(Release);
                x.store(round, w);
                y.store(round, w);
                sequence.store(seen + 2, if w == SeqCst { SeqCst } else { Release });
                if round % 16 == 0 {
                    yield_now();
                }
            }
            return;
        }
        for _ in 0..200 {
            loop {
                let before = sequence.load(if r == SeqCst { SeqCst } else { Acquire });
                let (a, b) = (x.load(r), y.load(r));
                fence(Acquire);
                if before == sequence.load(r) && before % 2 == 0 {
                    assert_eq!(a, b);
                    break;
                }
                yield_now();
            }
        }
    });
}

fn ticket(w: Ordering, r: Ordering) {
    let (next, serving, sum) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    at_once(3, |_| {
        for _ in 0..100 {
            let mine = next.fetch_add(1, Relaxed);
            ravelin_hints::wait(&serving, mine, r);
            sum.store(sum.load(Relaxed) + 1, Relaxed);
            serving.store(mine + 1, w);
        }
    });
    assert_eq!(sum.into_inner(), 300);
}

fn spsc(w: Ordering, r: Ordering) {
    let (slots, head, tail) = ([const { AtomicU32::new(0) }; 8], AtomicUsize::new(0), AtomicUsize::new(0));
    at_once(2, |me| {
        for item in 0..500 {
            if me == 0 {
                while item - head.load(r) == slots.len() {
                    yield_now();
                }
                slots[item % slots.len()].store(item as u32, Relaxed);
                tail.store(item + 1, w);
            } else {
                while tail.load(r) == item {
                    yield_now();
                }
                assert_eq!(slots[item % slots.len()].load(Relaxed), item as u32);
                head.store(item + 1, w);
            }
        }
    });
}

/// A barrier of two threads that spin on each other's flag: a stale read only makes them go round once more.
fn bar(w: Ordering, r: Ordering) {
    let flags = [AtomicU32::new(0), AtomicU32::new(0)];
    at_once(2, |me| {
        flags[me].store(1, w);
        while flags[1 - me].load(r) == 0 {
            yield_now();
        }
    });
}
