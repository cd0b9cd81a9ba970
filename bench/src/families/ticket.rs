//! A ticket lock: a thread draws a number and waits until it is its turn. Numbers wrap around.

pub fn text(threads: usize) -> String {
    let numbers = threads + 1;
    format!(
        "static next: 0..{numbers};
static serving: 0..{numbers};
static holder: 0..{threads};

thread p[me in 0..{threads}] {{
    let mut mine;
    let mut seen;
    loop {{
        loop {{
            mine = next.load(acquire);
            if next.compare_exchange(mine, (mine + 1) % {numbers}, acq_rel) == mine {{
                break;
            }}
        }}
        wait(serving == mine, acquire);
        holder.store(me, release);
        seen = holder.load(acquire);
        assert(seen == me);
        serving.store((mine + 1) % {numbers}, release);
    }}
}}
"
    )
}
