//! Small tests of crossbeam for `cargo ravelin verify`: docs/verify-rust.md.

use crossbeam_queue::{ArrayQueue, SegQueue};
use crossbeam_utils::sync::Parker;
use std::thread;

#[test]
fn seg_push_pop() {
    let q = SegQueue::new();
    thread::scope(|s| {
        s.spawn(|| q.push(1));
        let got = q.pop();
        assert!(got.is_none() || got == Some(1));
    });
}

#[test]
fn seg_two_each() {
    let q = SegQueue::new();
    thread::scope(|s| {
        s.spawn(|| {
            q.push(1);
            q.push(2);
        });
        let (a, b) = (q.pop(), q.pop());
        assert!(matches!((a, b), (None, None) | (None, Some(1)) | (Some(1), None) | (Some(1), Some(2))));
    });
}

#[test]
fn array_push_pop() {
    let q = ArrayQueue::new(2);
    thread::scope(|s| {
        s.spawn(|| q.push(1).unwrap());
        let got = q.pop();
        assert!(got.is_none() || got == Some(1));
    });
}

#[test]
fn array_two_each() {
    let q = ArrayQueue::new(2);
    thread::scope(|s| {
        s.spawn(|| {
            q.push(1).unwrap();
            q.push(2).unwrap();
        });
        let (a, b) = (q.pop(), q.pop());
        assert!(matches!((a, b), (None, None) | (None, Some(1)) | (Some(1), None) | (Some(1), Some(2))));
    });
}

#[test]
fn parker() {
    let p = Parker::new();
    let u = p.unparker().clone();
    thread::scope(|s| {
        s.spawn(move || u.unpark());
        p.park();
    });
}

#[test]
fn seg_push_push() {
    let q = SegQueue::new();
    thread::scope(|s| {
        s.spawn(|| q.push(1));
        q.push(2);
    });
}

#[test]
fn array_push_push_room_for_one() {
    let q = ArrayQueue::new(1);
    thread::scope(|s| {
        let other = s.spawn(|| q.push(1).is_ok());
        let mine = q.push(2).is_ok();
        assert!(mine != other.join().unwrap());
    });
}
