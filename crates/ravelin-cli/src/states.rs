//! `ravelin states`.

use crate::arguments::{Format, States};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use crate::stops::StopNotes;
use ravelin_analysis::states::states;
use ravelin_report::{herd, json, text};
use std::time::Instant;

pub fn run(arguments: &States) -> anyhow::Result<Exit> {
    let States { inputs, expect, models, search, storage, output } = arguments;
    output.refuse_sarif("states")?;
    if *expect {
        let asked = Asked::States { buffer: models.buffer, reductions: search.reductions() };
        return expect::run(asked, inputs, &models.models, &search.resources, output);
    }
    let storage = storage.open(inputs, None)?;
    let notes = StopNotes::new(&search.resources, output);
    let exit = for_each_subject(
        "states",
        inputs,
        &|_, _| models.models.clone(),
        output,
        storage.beyond(),
        &|subject: &Subject| {
            let start = Instant::now();
            let answer = states(subject.program, &subject.reachability(models, search))?;
            let complete = answer.limit.is_none() && !answer.cut_off;
            let told = || match output.format {
                Format::Herd => herd::final_states(subject.program, &answer),
                _ => text::final_states(subject.file, &answer, subject.style),
            };
            let shown = Shown::new(output, told, || json::final_states(subject.file, &answer));
            let exit = if complete { Exit::Holds } else { Exit::Unknown };
            notes.add(subject, start, answer.statistics.states, (exit, shown))
        },
    )?;
    storage.farewell(exit);
    Ok(exit)
}
