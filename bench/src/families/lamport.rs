//! The first algorithm of Lamport's fast mutual exclusion (1987), each thread once, as in `examples/lamport-fast.rav`.

pub fn text(threads: usize) -> String {
    format!(
        "const N = {threads};
static x: 0..=N;
static y: 0..=N;

thread p[me in 1..=N] {{
    loop {{
        x.store(me);
        if y.load() != 0 {{
            continue;
        }}
        y.store(me);
        if x.load() == me {{
            break;
        }}
        assume(y.load() != me);
    }}
    @critical;
    y.store(0);
}}
"
    )
}
