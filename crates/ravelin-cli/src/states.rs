//! `ravelin states`.

use crate::arguments::{Format, States};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::reach::{Shown, for_each_question};
use ravelin_analysis::states::states;
use ravelin_report::{herd, json, text};

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, expect, models, search, output } = arguments;
    if *expect {
        return expect::run(Asked::States, inputs, models, search, output);
    }
    for_each_question("states", inputs, models, search, output, &|file, program, question, style| {
        let answer = states(program, question)?;
        let complete = answer.limit.is_none() && !answer.cut_off;
        let shown = match output.format {
            Format::Text => Shown::Text(text::final_states(file, &answer, style)),
            Format::Herd => Shown::Text(herd::final_states(program, &answer)),
            Format::Json => Shown::Json(json::final_states(file, &answer)),
        };
        Ok((if complete { Exit::Holds } else { Exit::Unknown }, shown))
    })
}
