//! Dijkstra's mutual exclusion (1965): `turn` picks a candidate, the flags decide.

use super::{each, others};

pub fn text(threads: usize) -> String {
    let thread = |me| {
        let about_to_enter = others(threads, me, " || ", |other| format!("flag[{other}].load() == 2"));
        format!(
            "
thread p$me {{
    loop {{
        flag[$me].store(1);
        let mut whose = turn.load();
        while whose != $me {{
            if flag[whose].load() == 0 {{
                turn.store($me);
            }}
            whose = turn.load();
        }}
        flag[$me].store(2);
        if {about_to_enter} {{
            continue;
        }}
        @critical;
        flag[$me].store(0);
    }}
}}
"
        )
    };
    format!("static flag: [0..3; {threads}];\nstatic turn: 0..{threads};\n{}", each(threads, thread))
}
