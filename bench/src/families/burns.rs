//! Burns' mutual exclusion (Burns and Lynch, 1980): a thread gives way to those before it and waits for those behind it.

use super::each;

pub fn text(threads: usize) -> String {
    let thread = |me: usize| {
        let give_way = |text: &mut String| {
            for before in 0..me {
                text.push_str(&format!(
                    "        if flag[{before}].load() == 1 {{
            continue;
        }}
"
                ));
            }
        };
        let mut text = "
thread p$me {
    loop {
        flag[$me].store(0);
"
        .to_owned();
        give_way(&mut text);
        text.push_str("        flag[$me].store(1);\n");
        give_way(&mut text);
        for behind in me + 1..threads {
            text.push_str(&format!("        while flag[{behind}].load() == 1 {{}}\n"));
        }
        text.push_str("        @critical;\n        flag[$me].store(0);\n    }\n}\n");
        text
    };
    format!("static flag: [bool; {threads}];\n{}", each(threads, thread))
}
