//! flume: unbounded, bounded, rendezvous, and timeouts.

use std::time::Duration;

fn main() {
    for (sender, receiver) in [flume::unbounded(), flume::bounded(4), flume::bounded(0)] {
        std::thread::scope(|scope| {
            for me in 0..2 {
                let sender = sender.clone();
                scope.spawn(move || (0..300).for_each(|item| sender.send(Box::new(me * 300 + item)).unwrap()));
            }
            drop(sender);
            let second = receiver.clone();
            scope.spawn(move || while second.recv_timeout(Duration::from_millis(1)).is_ok() {});
            scope.spawn(move || receiver.iter().for_each(|item: Box<usize>| assert!(*item < 600)));
        });
    }
}
