//! Fences as text for a terminal.

use super::numbers::{counted, grouped};
use super::robust::attack_witness;
use super::run::{run, violation};
use super::table::TextTable;
use super::{Style, c11, race};
use crate::{
    FenceChange, FenceOutcome, FencePlaces, FencePurpose, FenceSet, Fences, FencesUnknown, Trouble, TroubleKind,
    Verdict, WantedSets,
};
use ravelin_program::SeqCstReading;
use std::fmt::Write;

/// The most sets to show; JSON has all of them.
const MOST_SHOWN: usize = 20;

/// The answer to `fence`. The diff comes last, so that other programs find it.
pub fn fences(answer: &Fences, style: Style) -> String {
    let mut text = format!("{} under {}: ", answer.file, answer.model);
    let quality = answer.purpose.quality();
    if answer.wrong_as_written {
        let _ = write!(text, "{}; ", style.word(Verdict::Violated, &format!("not {quality} as it is written")));
    }
    match answer.outcome {
        FenceOutcome::NotNeeded => {
            let how = match (answer.model.is_c11(), answer.written) {
                (_, Some(_)) if answer.fixed_orders > 0 => "without the fences and orders that can be changed",
                (true, Some(_)) => "with relaxed accesses and without fences",
                (true, None) => "as it is",
                (false, _) => "without fences",
            };
            let _ = writeln!(text, "{}", style.word(Verdict::Holds, &format!("{quality} {how}")));
            if !answer.superfluous.is_empty() {
                text.push_str(&table(&answer.superfluous, style));
            }
        }
        FenceOutcome::Found => text.push_str(&found(answer, style)),
        FenceOutcome::WrongUnderSc => {
            let _ = writeln!(text, "{}", style.word(Verdict::Violated, "wrong under sc already, no fence helps"));
        }
        FenceOutcome::NoSet => {
            let word = format!("no set of fences at the places that are allowed makes it {quality}");
            let _ = writeln!(text, "{}", style.word(Verdict::Violated, &word));
            text.push_str("  This remains, whichever of them are taken:\n");
        }
        FenceOutcome::Unknown => text.push_str(&unknown(answer, style)),
    }
    if answer.fixed_orders > 0 {
        let (accesses, keep) = match answer.fixed_orders {
            1 => ("1 access".to_owned(), "keeps its order"),
            number => (format!("{number} accesses"), "keep their orders"),
        };
        let _ = writeln!(text, "  {accesses} {keep}: what the text says there is an operator, or hides the order.");
    }
    if let Some(found) = &answer.trouble {
        text.push_str(&trouble(found, style));
    }
    text.push_str(match (answer.seq_cst, answer.outcome) {
        (Some(SeqCstReading::RelAcq), _) => {
            "  seq_cst accesses were read as release/acquire ones: RC11 may need less.\n"
        }
        (Some(_), FenceOutcome::Unknown) if answer.unknown.as_ref().is_some_and(|why| why.limit.is_none()) => {
            "  The reason are seq_cst accesses: there are too many execution graphs to judge all of them.\n"
        }
        _ => "",
    });
    if let Some(checked) = &answer.checked {
        let _ = writeln!(text, "  {checked}");
    }
    for needed in &answer.needed {
        let _ = writeln!(text, "  Without the one at {}:", needed.place);
        match &needed.trouble {
            Some(found) => text.push_str(&trouble(found, style)),
            None => text.push_str("  a limit was met before a run was found.\n"),
        }
    }
    let effort = &answer.effort;
    let _ = writeln!(
        text,
        "  {}, {}, {} explored, in {:.2} s.",
        match effort.queries {
            1 => "1 query".to_owned(),
            queries => format!("{} queries", grouped(queries as u64)),
        },
        counted(effort.clauses as u64, "clause"),
        counted(effort.states, "state"),
        effort.seconds
    );
    style.fitted(text)
}

/// The places where fences may go.
pub fn places(answer: &FencePlaces, style: Style) -> String {
    let mut text = format!("{}: {}\n", answer.file, counted(answer.places.len() as u64, "place"));
    let mut table = TextTable::new(&[1]);
    table.row(["place", "cost", "after", "in"].map(str::to_owned));
    for found in &answer.places {
        let FenceChange { place, after, threads, .. } = &found.place;
        table.row([place.clone(), found.cost.to_string(), after.clone(), threads.join(", ")]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text
}

fn found(answer: &Fences, style: Style) -> String {
    let sets = &answer.sets;
    let Some(first) = sets.first() else { return "no set\n".to_owned() };
    let what = first.noun();
    let fences = counted(first.fences as u64, what);
    let (word, cost) = answer.achieved(first);
    let mut text = format!("{}, {cost}, proved minimal\n", style.word(Verdict::Holds, &word));
    match (answer.wanted, sets.len()) {
        (WantedSets::Cheapest, _) => text.push_str(&table(&first.changes, style)),
        (WantedSets::AllCheapest, 1) => {
            text.push_str("  No other set costs as little.\n");
            text.push_str(&table(&first.changes, style));
        }
        (WantedSets::AllMinimal, 1) => {
            text.push_str("  Every set that does contains this one.\n");
            text.push_str(&table(&first.changes, style));
        }
        (wanted, number) => {
            let kind = if wanted == WantedSets::AllCheapest { "cost as little" } else { "are minimal" };
            let _ = writeln!(text, "  {} sets {kind}:", grouped(number as u64));
            for (place, FenceSet { cost, fences, changes }) in sets.iter().take(MOST_SHOWN).enumerate() {
                let _ = writeln!(text, "  set {}: {}, cost {cost}", place + 1, counted(*fences as u64, what));
                text.push_str(&table(changes, style));
            }
            if answer.truncated {
                let _ = writeln!(text, "  There are more; these are the cheapest.");
            }
            if number > MOST_SHOWN {
                let _ = writeln!(text, "  … and {} more (--format json lists all).", number - MOST_SHOWN);
            }
        }
    }
    match answer.purpose {
        FencePurpose::Robustness if answer.goals > 0 && !answer.model.is_c11() => {
            let _ = writeln!(
                text,
                "  With {fences} nothing differs from sc. To keep its goals from being reached, fewer or none may do (--for safety)."
            );
        }
        FencePurpose::Safety => {
            let _ = writeln!(
                text,
                "  With {fences} no goal can be reached. Other behaviour may still differ from sc (--for robustness excludes that)."
            );
        }
        _ => {}
    }
    text
}

/// The changes and their places, one per line.
fn table(changes: &[FenceChange], style: Style) -> String {
    let mut table = TextTable::new(&[]);
    table.row(["place", "change", "", "in"].map(str::to_owned));
    for listed in changes {
        let FenceChange { place, after, threads, change, .. } = listed;
        let detail = match change {
            Some(kind) if kind.is_insertion() => format!("after {after}"),
            _ => after.clone(),
        };
        table.row([place.clone(), listed.words(), detail, threads.join(", ")]);
    }
    table.render_within("    ", style.width)
}

fn unknown(answer: &Fences, style: Style) -> String {
    let mut text = style.word(Verdict::Unknown, "unknown");
    let Some(FencesUnknown { limit, one_delaying_thread, unchecked }) = &answer.unknown else {
        text.push('\n');
        return text;
    };
    match limit {
        Some(limit) => {
            let _ = writeln!(text, ": {limit}");
        }
        None if *one_delaying_thread => {
            text.push_str(": robustness against pso is not proved where several threads can delay stores\n");
            if unchecked.fences == 0 {
                text.push_str("  No fence is needed against what one thread can do by delaying its stores.\n");
            } else {
                text.push_str("  These fences stop all that one thread can do by delaying its stores:\n");
                text.push_str(&table(&unchecked.changes, style));
            }
        }
        None => {
            text.push_str(": the engine cannot settle it\n");
            if unchecked.fences > 0 {
                text.push_str("  Whether these do is open:\n");
                text.push_str(&table(&unchecked.changes, style));
            }
        }
    }
    if unchecked.cost > 0 {
        let _ = writeln!(text, "  Any set costs at least {}.", unchecked.cost);
    }
    if !answer.sets.is_empty() {
        let _ = writeln!(text, "  {} found until then:", counted(answer.sets.len() as u64, "minimal set"));
        for set in answer.sets.iter().take(MOST_SHOWN) {
            text.push_str(&table(&set.changes, style));
        }
    }
    text
}

fn trouble(trouble: &Trouble, style: Style) -> String {
    let with = trouble.instance.as_ref().map(|instance| format!("  with {}:\n", instance.words()));
    let found = match &trouble.found {
        TroubleKind::Attack(witness) => attack_witness(witness, style),
        TroubleKind::Race(found) => race::race(found, style),
        TroubleKind::Stale(witness) => c11::stale(witness, style),
        TroubleKind::DataRace(found) => c11::race(found, style),
        TroubleKind::Run(witness) => format!("  {}\n{}", violation(&witness.violation), run(witness, style)),
    };
    with.unwrap_or_default() + &found
}
