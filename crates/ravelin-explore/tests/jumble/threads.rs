//! Threads of one process that take the part of processes: they exchange through memory.

use ravelin_explore::{LostProcess, Peers};
use std::sync::{Arc, Barrier, Mutex};

/// Threads of this process as processes.
pub struct Threads {
    number: usize,
    shared: Arc<Shared>,
}

impl Threads {
    pub fn new(processes: usize) -> Vec<Threads> {
        let messages = (0..processes).map(|_| Mutex::new(Vec::new())).collect();
        let shared = Arc::new(Shared { barrier: Barrier::new(processes), messages });
        (0..processes).map(|number| Threads { number, shared: shared.clone() }).collect()
    }
}

struct Shared {
    barrier: Barrier,
    messages: Vec<Mutex<Vec<Vec<u64>>>>,
}

impl Peers for Threads {
    fn processes(&self) -> usize {
        self.shared.messages.len()
    }

    fn number(&self) -> usize {
        self.number
    }

    fn exchange(&self, outgoing: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, LostProcess> {
        *self.shared.messages[self.number].lock().unwrap() = outgoing;
        self.shared.barrier.wait();
        let incoming = self.shared.messages.iter().map(|sent| std::mem::take(&mut sent.lock().unwrap()[self.number]));
        let incoming = incoming.collect();
        self.shared.barrier.wait();
        Ok(incoming)
    }
}
