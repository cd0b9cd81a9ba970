//! `ravelin states`.

use crate::arguments::{Format, States};
use crate::exit::Exit;
use crate::reach::{Shown, for_each_question};
use ravelin_analysis::states::states;
use ravelin_report::{json, text};

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, models, search, output } = arguments;
    for_each_question("states", inputs, models, search, output, &|file, program, question, style| {
        let answer = states(program, question)?;
        let complete = answer.limit.is_none() && !answer.cut_off;
        let shown = match output.format {
            Format::Text => Shown::Text(text::final_states(file, &answer, style)),
            Format::Json => Shown::Json(json::final_states(file, &answer)),
        };
        Ok((if complete { Exit::Holds } else { Exit::Unknown }, shown))
    })
}
