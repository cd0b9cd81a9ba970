//! crossbeam-channel: unbounded, bounded, rendezvous, select, and disconnecting.

use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};

fn main() {
    for (sender, receiver) in [unbounded(), bounded(4), bounded(0)] {
        exchange(sender, receiver);
    }
    let ((first, from_first), (second, from_second)) = (unbounded(), bounded(2));
    std::thread::scope(|scope| {
        scope.spawn(move || (0..300).for_each(|item| first.send(Box::new(item)).unwrap()));
        scope.spawn(move || (0..300).for_each(|item| second.send(Box::new(item)).unwrap()));
        let mut open = 2;
        let (mut a, mut b) = (from_first, from_second);
        while open > 0 {
            select! {
                recv(a) -> item => if item.is_err() { open -= 1; a = crossbeam_channel::never() },
                recv(b) -> item => if item.is_err() { open -= 1; b = crossbeam_channel::never() },
            }
        }
    });
}

fn exchange(sender: Sender<Box<usize>>, receiver: Receiver<Box<usize>>) {
    std::thread::scope(|scope| {
        for me in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..300).for_each(|item| sender.send(Box::new(me * 300 + item)).unwrap()));
        }
        drop(sender);
        for _ in 0..2 {
            let receiver = receiver.clone();
            scope.spawn(move || receiver.iter().for_each(|item| assert!(*item < 600)));
        }
    });
}
