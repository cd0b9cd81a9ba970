//! `ravelin states`.

use crate::arguments::{Format, States};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use ravelin_analysis::states::states;
use ravelin_report::{herd, json, text};

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, expect, models, search, output } = arguments;
    output.refuse_sarif("states")?;
    if *expect {
        let asked = Asked::States { buffer: models.buffer, reductions: search.reductions() };
        return expect::run(asked, inputs, &models.any(), &search.resources, output);
    }
    for_each_subject("states", inputs, &|_, _| models.all(), output, &|subject: &Subject| {
        let answer = states(subject.program, &subject.reachability(models, search))?;
        let complete = answer.limit.is_none() && !answer.cut_off;
        let told = || match output.format {
            Format::Herd => herd::final_states(subject.program, &answer),
            _ => text::final_states(subject.file, &answer, subject.style),
        };
        let shown = Shown::new(output, told, || json::final_states(subject.file, &answer));
        Ok((if complete { Exit::Holds } else { Exit::Unknown }, shown))
    })
}
