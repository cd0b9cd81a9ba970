//! The standard library's channels: unbounded, bounded, rendezvous.

use std::sync::mpsc::{channel, sync_channel};

fn main() {
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for me in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || (0..300).for_each(|item| sender.send(Box::new(me * 300 + item)).unwrap()));
        }
        drop(sender);
        assert_eq!(receiver.iter().map(|item| *item).sum::<usize>(), 899 * 450);
    });
    for bound in [0, 1, 8] {
        let (sender, receiver) = sync_channel(bound);
        std::thread::scope(|scope| {
            for me in 0..3 {
                let sender = sender.clone();
                scope.spawn(move || (0..200).for_each(|item| sender.send(Box::new(me * 200 + item)).unwrap()));
            }
            drop(sender);
            assert_eq!(receiver.iter().count(), 600);
        });
    }
}
