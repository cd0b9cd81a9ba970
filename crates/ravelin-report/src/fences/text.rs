//! Fences as text for a terminal.

use super::{Done, Shown, after, threads};
use crate::numbers::{counted, grouped};
use crate::robustness::text::{attack_witness, race_witness};
use crate::table::Table;
use crate::text::{Style, run, violation};
use ravelin_analysis::Verdict;
use ravelin_analysis::fences::{FenceSet, Outcome, Purpose, Sets, Trouble, Why};
use ravelin_program::{Change, Program, Site, lower_for_hardware};
use std::fmt::Write;

/// Sets that are shown; JSON has all of them.
const MOST_SHOWN: usize = 20;

/// The answer to `fence`.
pub fn fences(shown: &Shown, style: Style) -> String {
    let mut text = format!("{} under {}: ", shown.file, shown.model);
    match &shown.answer.outcome {
        Outcome::NotNeeded => {
            let how = if matches!(shown.model, "ra" | "rc20") { "as it is" } else { "without fences" };
            let word = format!("{} {how}", quality(shown.purpose));
            let _ = writeln!(text, "{}", style.word(Verdict::Holds, &word));
            text.push_str(&superfluous(shown, style));
        }
        Outcome::Found => text.push_str(&found(shown, style)),
        Outcome::WrongUnderSc(trouble) => {
            let _ = writeln!(text, "{}", style.word(Verdict::Violated, "wrong under sc already, no fence helps"));
            text.push_str(&told(&shown.lowered(&[]), trouble, style));
        }
        Outcome::NoSet(trouble) => {
            let word = format!("no set of fences at the places that are allowed makes it {}", quality(shown.purpose));
            let _ = writeln!(text, "{}", style.word(Verdict::Violated, &word));
            text.push_str("  This remains, whichever of them are taken:\n");
            text.push_str(&told(&shown.lowered(&[]), trouble, style));
        }
        Outcome::Unknown(why) => text.push_str(&unknown(shown, why, style)),
    }
    if let Some(reading) = shown.seq_cst {
        text.push_str(&crate::c11::text::reading(reading));
    }
    if let Some(checked) = &shown.checked {
        let _ = writeln!(text, "  {checked}");
    }
    text.push_str(&reasons(shown, style));
    let effort = &shown.answer.effort;
    let _ = writeln!(
        text,
        "  {}, {}, {} explored, in {:.2} s.",
        match effort.queries {
            1 => "1 query".to_owned(),
            queries => format!("{} queries", grouped(queries as u64)),
        },
        counted(effort.clauses as u64, "clause"),
        counted(effort.states, "state"),
        effort.elapsed.as_secs_f64()
    );
    style.fitted(text)
}

/// The places where fences may go.
pub fn places(file: &str, program: &Program, places: &[(&Site, u64)], style: Style) -> String {
    let mut text = format!("{file}: {}\n", counted(places.len() as u64, "place"));
    let mut table = Table::new(&[1]);
    table.row(["place", "cost", "after", "in"].map(str::to_owned));
    for (site, cost) in places {
        table.row([site.name.clone(), cost.to_string(), after(program, site), threads(program, site).join(", ")]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text
}

/// What the fences make of a program.
fn quality(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Robust => "robust",
        Purpose::RaceFree => "free of triangular races",
        Purpose::Safe(_) => "safe",
    }
}

fn found(shown: &Shown, style: Style) -> String {
    let sets = &shown.answer.sets;
    let Some(first) = sets.first() else { return "no set\n".to_owned() };
    let has = |change: Change| first.offers.iter().any(|&offer| shown.sites[shown.offers[offer].site].change == change);
    let what = match () {
        () if has(Change::Lock) => "locked store",
        () if has(Change::Strengthen) => "change",
        () => "fence",
    };
    let fences = counted(first.fences(shown.offers, shown.sites) as u64, what);
    let make = if fences.starts_with("1 ") { "makes" } else { "make" };
    let word = format!("{fences} {make} it {}", quality(shown.purpose));
    let mut text = format!("{}, cost {}, proved minimal\n", style.word(Verdict::Holds, &word), first.cost.main);
    match (shown.wanted, sets.len()) {
        (Sets::Cheapest, _) => text.push_str(&table(shown, first, style)),
        (Sets::AllCheapest, 1) => {
            text.push_str("  No other set costs as little.\n");
            text.push_str(&table(shown, first, style));
        }
        (Sets::AllMinimal, 1) => {
            text.push_str("  Every set that does contains this one.\n");
            text.push_str(&table(shown, first, style));
        }
        (wanted, number) => {
            let kind = if wanted == Sets::AllCheapest { "cost as little" } else { "are minimal" };
            let _ = writeln!(text, "  {} sets {kind}:", grouped(number as u64));
            for (place, set) in sets.iter().take(MOST_SHOWN).enumerate() {
                let fences = counted(set.fences(shown.offers, shown.sites) as u64, what);
                let _ = writeln!(text, "  set {}: {fences}, cost {}", place + 1, set.cost.main);
                text.push_str(&table(shown, set, style));
            }
            if shown.answer.truncated {
                let _ = writeln!(text, "  There are more; these are the cheapest.");
            }
            if number > MOST_SHOWN {
                let _ = writeln!(text, "  … and {} more (--format json lists all).", number - MOST_SHOWN);
            }
        }
    }
    match shown.purpose {
        Purpose::Robust if !shown.program.goals.is_empty() && !matches!(shown.model, "ra" | "rc20") => {
            let _ = writeln!(
                text,
                "  With {fences} nothing differs from sc. To keep its goals from being reached, fewer or none may do (--for safety)."
            );
        }
        Purpose::Safe(_) => {
            let _ = writeln!(
                text,
                "  With {fences} no goal can be reached. Other behaviour may still differ from sc (--for robustness excludes that)."
            );
        }
        _ => {}
    }
    text
}

/// A set of fences, one a line.
fn table(shown: &Shown, set: &FenceSet, style: Style) -> String {
    let mut table = Table::new(&[]);
    table.row(["place", "change", "", "in"].map(str::to_owned));
    for (number, done) in shown.changes(set) {
        let site = &shown.sites[number];
        let after = after(shown.program, site);
        let detail = match done {
            Done::Insert(_) => format!("after {after}"),
            Done::Keep | Done::Remove | Done::Lock | Done::Strengthen => after,
        };
        table.row([site.name.clone(), done.name().to_owned(), detail, threads(shown.program, site).join(", ")]);
    }
    table.render_within("    ", style.width)
}

/// Where fences stand that are not needed.
fn superfluous(shown: &Shown, style: Style) -> String {
    let nothing = FenceSet { offers: Vec::new(), cost: Default::default() };
    if shown.changes(&nothing).is_empty() { String::new() } else { table(shown, &nothing, style) }
}

fn unknown(shown: &Shown, why: &Why, style: Style) -> String {
    let mut text = style.word(Verdict::Unknown, "unknown");
    match why.limit {
        Some(limit) => {
            let _ = writeln!(text, ": {limit}");
        }
        None if why.one_delaying_thread => {
            text.push_str(": robustness against pso is not proved where several threads can delay stores\n");
            if why.unchecked.offers.is_empty() {
                text.push_str("  No fence is needed against what one thread can do by delaying its stores.\n");
            } else {
                text.push_str("  These fences stop all that one thread can do by delaying its stores:\n");
                text.push_str(&table(shown, &why.unchecked, style));
            }
        }
        None => text.push_str(": the engine cannot settle it\n"),
    }
    if why.unchecked.cost.main > 0 {
        let _ = writeln!(text, "  Any set costs at least {}.", why.unchecked.cost.main);
    }
    if !shown.answer.sets.is_empty() {
        let _ = writeln!(text, "  {} found until then:", counted(shown.answer.sets.len() as u64, "minimal set"));
        for set in shown.answer.sets.iter().take(MOST_SHOWN) {
            text.push_str(&table(shown, set, style));
        }
    }
    text
}

/// Why each fence is needed.
fn reasons(shown: &Shown, style: Style) -> String {
    let mut text = String::new();
    let Some(set) = shown.answer.sets.first() else { return text };
    for needed in &shown.reasons {
        let name = &shown.sites[shown.offers[needed.offer].site].name;
        let _ = writeln!(text, "  Without the one at {name}:");
        let rest: Vec<usize> = set.offers.iter().copied().filter(|&offer| offer != needed.offer).collect();
        match &needed.trouble {
            Some(trouble) => text.push_str(&told(&shown.lowered(&rest), trouble, style)),
            None => text.push_str("  a limit was met before a run was found.\n"),
        }
    }
    text
}

fn told(program: &Program, trouble: &Trouble, style: Style) -> String {
    match trouble {
        Trouble::Attack(witness, Some(instance)) => {
            let lowered = lower_for_hardware(&instance.program);
            format!("  with {}:\n{}", instance.show(), attack_witness(&lowered, witness, style))
        }
        Trouble::Attack(witness, None) => attack_witness(program, witness, style),
        Trouble::Race(race) => race_witness(race, style),
        Trouble::C11(violation) => crate::c11::text::violation(violation, style),
        Trouble::Run(witness, instance) => {
            let with = instance.as_ref().map(|instance| format!("  with {}:\n", instance.show())).unwrap_or_default();
            format!("{with}  {}\n{}", violation(&witness.violation), run(witness, style))
        }
    }
}
