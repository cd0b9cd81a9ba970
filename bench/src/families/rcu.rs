//! User-level RCU with quiescent states (Desnoyers et al., 2012; after Lahav and Vafeiadis, 2015), as in `examples/c11/rcu.rav`: a writer
//! reuses a container when every reader has said that it let go. The readers are all threads but one.

pub fn text(threads: usize) -> String {
    format!(
        "const READERS = {readers};
static current: bool;
static container: [bool; 2] = [1, 0];
static epoch: bool;
static seen: [bool; READERS];

thread writer {{
    let mut new = 1;
    loop {{
        container[new].write(1);
        current.store(new, release);
        epoch.store(new, release);
        for i in 0..READERS {{
            wait(seen[i] == new, acquire);
        }}
        new = 1 - new;
        container[new].write(0);
    }}
}}

thread reader[me in 0..READERS] {{
    loop {{
        choose {{
            let which = current.load(acquire);
            assert(container[which].read() == 1);
        }} or {{
            seen[me].store(epoch.load(acquire), release);
        }}
    }}
}}
",
        readers = threads.saturating_sub(1).max(1)
    )
}
