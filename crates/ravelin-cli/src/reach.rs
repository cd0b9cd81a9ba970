//! `ravelin reach`.

use crate::arguments::{Format, Reach};
use crate::ask::{Shown, for_each_subject};
use crate::exit::Exit;
use crate::expect::{self, Asked};
use anyhow::bail;
use ravelin_analysis::reachability::reach;
use ravelin_report::{json, text};

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, search, output } = arguments;
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if *expect {
        let asked = Asked::Reach { buffer: models.buffer, reductions: search.reductions() };
        return expect::run(asked, inputs, &models.all(), &search.resources, output);
    }
    for_each_subject("reach", inputs, &models.all(), output, &|subject| {
        let answer = reach(subject.program, &subject.reachability(models, search))?;
        let shown = match output.format {
            Format::Text | Format::Herd => Shown::Text(text::reachability(subject.file, &answer, subject.style)),
            Format::Json => Shown::Json(json::reachability(subject.file, &answer)),
        };
        Ok((answer.verdict.into(), shown))
    })
}
