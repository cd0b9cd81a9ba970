//! Peterson's mutual exclusion for any number of threads, the filter lock (1981): a thread climbs level by level, and on
//! each the last to arrive waits until no other is as far.

use super::{each, others};

pub fn text(threads: usize) -> String {
    let thread = |me| {
        let levels: String = (1..threads)
            .map(|level| {
                let as_far = others(threads, me, " || ", |other| format!("level[{other}].load() >= {level}"));
                format!(
                    "        level[$me].store({level});
        last[{level}].store($me);
        while last[{level}].load() == $me && ({as_far}) {{}}
"
                )
            })
            .collect();
        format!(
            "
thread p$me {{
    loop {{
{levels}        @critical;
        level[$me].store(0);
    }}
}}
"
        )
    };
    format!(
        "static level: [0..{threads}; {threads}];\nstatic last: [0..{threads}; {threads}];\n{}",
        each(threads, thread)
    )
}
