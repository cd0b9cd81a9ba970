//! Dekker's mutual exclusion between neighbours on a ring: a thread looks at the flags of the two beside it only.

use super::each;

pub fn text(threads: usize) -> String {
    let thread = |me: usize| {
        let (before, behind) = ((me + threads - 1) % threads, (me + 1) % threads);
        format!(
            "
thread p$me {{
    loop {{
        flag[$me].store(1);
        while flag[{before}].load() == 1 || flag[{behind}].load() == 1 {{
            if turn.load() != $me {{
                flag[$me].store(0);
                while turn.load() != $me {{}}
                flag[$me].store(1);
            }}
        }}
        @critical;
        turn.store({behind});
        flag[$me].store(0);
    }}
}}
"
        )
    };
    format!("static flag: [bool; {threads}];\nstatic turn: 0..{threads};\n{}", each(threads, thread))
}
