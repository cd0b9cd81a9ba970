//! The lock of Mellor-Crummey and Scott (1991): a queue of threads, each of which waits at a cell of its own. 0 is no
//! thread.

pub fn text(threads: usize) -> String {
    format!(
        "const N = {threads};
static tail: 0..=N;
static next: [0..=N; {cells}];
static waits: [bool; {cells}];
static data: 0..=N;

thread p[me in 1..=N] {{
    let mut other;
    let mut seen;
    loop {{
        next[me].store(0, relaxed);
        waits[me].store(1, relaxed);
        other = tail.swap(me, acq_rel);
        if other != 0 {{
            next[other].store(me, release);
            wait(waits[me] == 0, acquire);
        }}
        data.write(me);
        seen = data.read();
        assert(seen == me);
        other = next[me].load(acquire);
        if other == 0 {{
            if tail.compare_exchange(me, 0, acq_rel) == me {{
                continue;
            }}
            wait(next[me] != 0, acquire);
            other = next[me].load(acquire);
        }}
        waits[other].store(0, release);
    }}
}}
",
        cells = threads + 1
    )
}
