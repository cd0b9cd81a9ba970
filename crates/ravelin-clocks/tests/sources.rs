//! From whom a read reads, as far as happens-before does not tell: what advice about data races is made of.

use ravelin_clocks::{Access, Hidden, Location, Mode, Order, Thread};

fn access(order: Order) -> Access {
    Access { place: 8, order, site: 42, mode: Mode::Predict }
}

/// A location to which the first of two threads has written with this order, after a fence if there is one.
fn written(fence: Option<Order>, order: Order) -> (Location, Thread, Thread) {
    let (mut writer, reader) = (Thread::new(1, 5), Thread::new(2, 5));
    if let Some(fence) = fence {
        writer.fence(fence, &mut Hidden::new());
    }
    let mut location = Location::new(0);
    location.store(&mut writer, access(order), 1);
    (location, writer, reader)
}

#[test]
fn a_write_is_the_source_of_the_first_read_of_it() {
    let (mut location, writer, mut reader) = written(None, Order::Relaxed);
    assert_eq!(location.source(&writer, false), None, "its own write is nothing new to a thread");
    let source = location.source(&reader, false).expect("a write of another thread");
    assert_eq!((source.writer, source.written_at, source.site), (1, 5, 42));
    location.load(&mut reader, access(Order::Relaxed));
    assert_eq!(location.source(&reader, false), None, "it was read before");
    assert!(location.source(&reader, true).is_some(), "a read-modify-write continues its release sequence");
}

#[test]
fn an_initial_value_has_no_source() {
    assert_eq!(Location::new(0).source(&Thread::new(2, 5), true), None);
}

#[test]
fn a_source_says_up_to_when_it_releases() {
    for (fence, order, released) in [
        (None, Order::Relaxed, 0),
        (None, Order::Release, 5),
        (None, Order::SeqCst, 5),
        (Some(Order::Release), Order::Relaxed, 5),
        (Some(Order::Acquire), Order::Relaxed, 0),
        (Some(Order::SeqCst), Order::Release, 6),
    ] {
        let (location, _, reader) = written(fence, order);
        let source = location.source(&reader, false).expect("a write of another thread");
        assert_eq!(source.released, released, "{fence:?} {order:?}");
    }
}

#[test]
fn what_happens_before_is_no_source() {
    let (mut location, mut writer, mut reader) = written(None, Order::Relaxed);
    reader.acquire(&writer.release());
    assert_eq!(location.source(&reader, true), None);
    location.store(&mut writer, access(Order::Relaxed), 2);
    assert!(location.source(&reader, true).is_some(), "that came later");
}
