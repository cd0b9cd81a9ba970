//! The work-stealing deque of Chase and Lev (2005) with the fences of Lê, Pop, Cohen, Zappa Nardelli (2013), as in
//! `examples/robustness-c11/chase-lev-fixed.rav`: an owner with as many tasks as there are threads, and thieves that steal one each.
//!
//! Thieves have a fence more, before their compare-exchange. Without it four of them are not robust: one whose compare-exchange fails has
//! read the new `bottom` and an old `top`, and another one that has read the next `top` may still read the old `bottom`.

pub fn text(threads: usize) -> String {
    format!(
        "const TASKS = {threads};
static top: 0..=TASKS;
static bottom: -1..=TASKS;

thread owner {{
    let mut popped = 0;
    for i in 0..TASKS {{
        let b = bottom.load(relaxed);
        bottom.store(b + 1, release);
    }}
    for i in 0..TASKS {{
        let b = bottom.load(relaxed) - 1;
        bottom.store(b, release);
        fence(seq_cst);
        let t = top.load(acquire);
        if b < t {{
            bottom.store(t, release);
            break;
        }}
        if b > t {{
            popped |= 1 << b;
        }} else {{
            if top.compare_exchange(t, t + 1, acq_rel).is_ok() {{
                popped |= 1 << b;
            }}
            bottom.store(t + 1, release);
        }}
    }}
}}

thread thief[{thieves}] {{
    let mut stolen = 0;
    let t = top.load(acquire);
    fence(seq_cst);
    let b = bottom.load(acquire);
    fence(seq_cst);
    if t < b && top.compare_exchange(t, t + 1, acq_rel).is_ok() {{
        stolen = 1 << t;
    }}
}}
",
        thieves = threads.saturating_sub(1).max(1)
    )
}
