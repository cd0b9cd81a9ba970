//! A test-and-test-and-set spinlock that protects a non-atomic cell, in which each thread leaves its number.

pub fn text(threads: usize) -> String {
    format!(
        "static taken: bool;
static data: 0..{threads};

thread p[me in 0..{threads}] {{
    let mut seen;
    loop {{
        while taken.swap(1, acquire) == 1 {{
            wait(taken == 0, relaxed);
        }}
        data.write(me);
        seen = data.read();
        assert(seen == me);
        taken.store(0, release);
    }}
}}
"
    )
}
