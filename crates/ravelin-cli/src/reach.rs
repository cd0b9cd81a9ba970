//! `ravelin reach`.

use crate::arguments::{Format, Reach};
use crate::ask::{Shown, Subject, for_each_subject};
use crate::certificate;
use crate::exit::Exit;
use crate::expect::{self, Asked};
use anyhow::bail;
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::certificate::Claim;
use ravelin_analysis::reachability::answer;
use ravelin_report::reachability;
use ravelin_semantics::Model;

pub fn run(arguments: &Reach) -> anyhow::Result<Exit> {
    let Reach { inputs, expect, models, engine, certify, search, output } = arguments;
    let engine = (*engine).into();
    if output.format == Format::Herd {
        bail!("herd's layout is for final states: use it with `ravelin states`");
    }
    if *expect {
        let asked = Asked::Reach { engine, buffer: models.buffer, reductions: search.reductions() };
        return expect::run(asked, inputs, &models.any(), &search.resources, output);
    }
    if certify.is_some() && (inputs.files.len() != 1 || models.all().len() != 1) {
        bail!("--certify writes a proof about one program under one model: name one file, and one model");
    }
    for_each_subject("reach", inputs, &|_, _| models.all(), output, &|subject: &Subject| {
        let any_number = subject.program.is_parameterised();
        match (any_number, subject.model) {
            _ if certify.is_none() => {}
            (true, Model::Sc) | (false, Model::Tso) => {}
            (true, _) => bail!("with any number of threads there are proofs to write under sc only: use --model sc"),
            (false, _) => bail!("--certify writes a proof about a program under tso: use no other model"),
        }
        let answer = answer(subject.program, &subject.reachability(models, search), engine)?;
        if let Some(path) = certify
            && answer.reachability.verdict == Verdict::Holds
        {
            match any_number {
                true => certificate::write_any_number(path, subject, Claim::Unreachable, search.resources.limits())?,
                false => certificate::write(path, subject, &subject.reachability(models, search))?,
            }
        }
        let told = || reachability::text(subject.file, &answer, subject.style);
        let shown = Shown::new(output, told, || reachability::json(subject.file, &answer));
        Ok((answer.reachability.verdict.into(), shown))
    })
}
