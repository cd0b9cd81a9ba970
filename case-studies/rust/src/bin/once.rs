//! once_cell: cells and lazy values that several threads want at once, and the racy variants.

use once_cell::race::OnceBox;
use once_cell::sync::{Lazy, OnceCell};

static LAZY: Lazy<Vec<u32>> = Lazy::new(|| (0..100).collect());

fn main() {
    for round in 0..100 {
        let (cell, racy) = (OnceCell::new(), OnceBox::new());
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (cell, racy) = (&cell, &racy);
                scope.spawn(move || {
                    assert_eq!(cell.get_or_init(|| vec![round; 3]).len(), 3);
                    assert_eq!(cell.get().map(|made| made[me]), Some(round));
                    assert_eq!(racy.get_or_init(|| Box::new(vec![round; 3])).len(), 3);
                    assert_eq!(LAZY.len(), 100);
                });
            }
        });
    }
}
