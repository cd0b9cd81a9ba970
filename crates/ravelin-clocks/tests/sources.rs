//! From whom a read reads, as far as happens-before does not tell: what advice about data races is made of.

use ravelin_clocks::{AtomicOrder, FenceLocation, LocationAccess, LocationClocks, ThreadClocks, WitnessMode};

fn access(order: AtomicOrder) -> LocationAccess {
    LocationAccess { place: 8, order, site: 42, mode: WitnessMode::Predict }
}

/// A location to which the first of two threads has written with this order, after a fence if there is one.
fn written(fence: Option<AtomicOrder>, order: AtomicOrder) -> (LocationClocks, ThreadClocks, ThreadClocks) {
    let (mut writer, reader) = (ThreadClocks::new(1, 5), ThreadClocks::new(2, 5));
    if let Some(fence) = fence {
        writer.fence(fence, &mut FenceLocation::new());
    }
    let mut location = LocationClocks::new(0);
    location.store(&mut writer, access(order), 1);
    (location, writer, reader)
}

#[test]
fn a_write_is_the_source_of_the_first_read_of_it() {
    let (mut location, writer, mut reader) = written(None, AtomicOrder::Relaxed);
    assert_eq!(location.source(&writer, false), None, "its own write is nothing new to a thread");
    let source = location.source(&reader, false).expect("a write of another thread");
    assert_eq!((source.writer, source.written_at, source.site), (1, 5, 42));
    location.load(&mut reader, access(AtomicOrder::Relaxed));
    assert_eq!(location.source(&reader, false), None, "it was read before");
    assert!(location.source(&reader, true).is_some(), "a read-modify-write continues its release sequence");
}

#[test]
fn an_initial_value_has_no_source() {
    assert_eq!(LocationClocks::new(0).source(&ThreadClocks::new(2, 5), true), None);
}

#[test]
fn a_source_says_up_to_when_it_releases() {
    for (fence, order, released) in [
        (None, AtomicOrder::Relaxed, 0),
        (None, AtomicOrder::Release, 5),
        (None, AtomicOrder::SeqCst, 5),
        (Some(AtomicOrder::Release), AtomicOrder::Relaxed, 5),
        (Some(AtomicOrder::Acquire), AtomicOrder::Relaxed, 0),
        (Some(AtomicOrder::SeqCst), AtomicOrder::Release, 6),
    ] {
        let (location, _, reader) = written(fence, order);
        let source = location.source(&reader, false).expect("a write of another thread");
        assert_eq!(source.released, released, "{fence:?} {order:?}");
    }
}

#[test]
fn what_happens_before_is_no_source() {
    let (mut location, mut writer, mut reader) = written(None, AtomicOrder::Relaxed);
    reader.acquire(&writer.release());
    assert_eq!(location.source(&reader, true), None);
    location.store(&mut writer, access(AtomicOrder::Relaxed), 2);
    assert!(location.source(&reader, true).is_some(), "that came later");
}
