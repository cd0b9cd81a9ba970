//! Lamport's bakery (1974). Numbers have no bound, so there are infinitely many states.

use super::{each, others};

pub fn text(threads: usize) -> String {
    let thread = |me| {
        let highest = others(threads, me, "", |other| {
            format!(
                "        seen = number[{other}].load();
        if seen > mine {{
            mine = seen;
        }}
"
            )
        });
        let waits = others(threads, me, "", |other| {
            let equal = if me < other { ">=" } else { ">" };
            format!(
                "        while choosing[{other}].load() == 1 {{}}
        loop {{
            seen = number[{other}].load();
            if seen == 0 || seen {equal} mine {{
                break;
            }}
        }}
"
            )
        });
        format!(
            "
thread p$me {{
    loop {{
        let mut mine = 0;
        let mut seen = 0;
        choosing[$me].store(1);
{highest}        mine = mine + 1;
        number[$me].store(mine);
        choosing[$me].store(0);
{waits}        @critical;
        number[$me].store(0);
    }}
}}
"
        )
    };
    format!("static choosing: [bool; {threads}];\nstatic number: [_; {threads}];\n{}", each(threads, thread))
}
