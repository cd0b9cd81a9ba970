//! Dining philosophers: each takes the fork on its left and then the one on its right, the last one the other way round.

use super::each;

pub fn text(threads: usize) -> String {
    let thread = |me: usize| {
        let (first, second) = if me + 1 < threads { (me, me + 1) } else { (0, me) };
        format!(
            "
thread p$me {{
    loop {{
        fork[{first}].bcas(0, 1, acq_rel);
        fork[{second}].bcas(0, 1, acq_rel);
        meals.write($me);
        fork[{second}].store(0, release);
        fork[{first}].store(0, release);
    }}
}}
"
        )
        .replace("meals", &format!("meal{me}"))
    };
    let meals: String = (0..threads).map(|me| format!("static meal{me}: 0..{threads};\n")).collect();
    format!("static fork: [bool; {threads}];\n{meals}{}", each(threads, thread))
}
