//! Szymanski's mutual exclusion (1988): a waiting room with two doors.

use super::{each, others};

pub fn text(threads: usize) -> String {
    let thread = |me: usize| {
        let any = |is: &str| others(threads, me, " || ", |other| format!("flag[{other}].load() {is}"));
        let (inside, at_door, closing) = (any(">= 3"), any("== 1"), any("== 4"));
        let before: String = (0..me).map(|other| format!("        while flag[{other}].load() >= 2 {{}}\n")).collect();
        let behind: String = (me + 1..threads)
            .map(|other| {
                format!(
                    "        loop {{
            let seen = flag[{other}].load();
            if seen < 2 || seen == 4 {{
                break;
            }}
        }}
"
                )
            })
            .collect();
        format!(
            "
thread p$me {{
    loop {{
        flag[$me].store(1);
        while {inside} {{}}
        flag[$me].store(3);
        if {at_door} {{
            flag[$me].store(2);
            loop {{
                if {closing} {{
                    break;
                }}
            }}
        }}
        flag[$me].store(4);
{before}        @critical;
{behind}        flag[$me].store(0);
    }}
}}
"
        )
    };
    format!("static flag: [0..5; {threads}];\n{}", each(threads, thread))
}
