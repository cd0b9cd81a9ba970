//! crossbeam-epoch: a Treiber stack whose nodes are reclaimed.

use crossbeam_epoch::{self as epoch, Atomic, Owned};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

struct Node {
    value: usize,
    next: Atomic<Node>,
}

fn push(head: &Atomic<Node>, value: usize) {
    let mut node = Owned::new(Node { value, next: Atomic::null() });
    let guard = epoch::pin();
    loop {
        let top = head.load(Relaxed, &guard);
        node.next.store(top, Relaxed);
        match head.compare_exchange(top, node, Release, Relaxed, &guard) {
            Ok(_) => return,
            Err(failed) => node = failed.new,
        }
    }
}

fn pop(head: &Atomic<Node>) -> Option<usize> {
    let guard = epoch::pin();
    loop {
        let top = head.load(Acquire, &guard);
        // SAFETY: nodes live as long as somebody is pinned who may have seen them.
        let node = unsafe { top.as_ref() }?;
        let next = node.next.load(Relaxed, &guard);
        if head.compare_exchange(top, next, Relaxed, Relaxed, &guard).is_ok() {
            let value = node.value;
            // SAFETY: nobody finds the node any more.
            unsafe { guard.defer_destroy(top) };
            return Some(value);
        }
    }
}

fn main() {
    let head = Atomic::null();
    std::thread::scope(|scope| {
        for me in 0..3 {
            let head = &head;
            scope.spawn(move || {
                for round in 0..600 {
                    push(head, me * 600 + round);
                    if round % 2 == 1 {
                        pop(head);
                        pop(head);
                    }
                    if round % 64 == 0 {
                        epoch::pin().flush();
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    while pop(&head).is_some() {}
}
