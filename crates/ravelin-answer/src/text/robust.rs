//! Robustness as text for a terminal: the verdict, the witness of a feasible attack, and the table of all attacks.

use super::Style;
use super::numbers::{counted, grouped};
use super::run::steps;
use super::table::TextTable;
use super::threads::{behind_verdict, lines};
use crate::{
    Attack, AttackWitness, Fate, Impact, InfeasibilityReason, OvertakingAccess, Robustness, SourcePlace, Verdict,
};
use ravelin_program::Model;
use std::fmt::Write;

/// The answer to `check`.
pub fn robustness(answer: &Robustness, style: Style) -> String {
    let robust = answer.robust();
    let word = style.word(answer.verdict, robust.on_robustness());
    let mut text = format!("{} under {}: {word}", answer.file, answer.model);
    if let Some(found) = &answer.any_number {
        text.push_str(&behind_verdict(found, robust));
    }
    if let Some(impact) = &answer.impact {
        text.push_str(&impact.summary(answer.model, answer.deadlocks.as_ref()));
    }
    if let Some(witness) = &answer.witness {
        text.push('\n');
        text.push_str(&attack_witness(witness, style));
        if !answer.impact.as_ref().is_some_and(Impact::is_harmless) {
            text.push_str(&remedy(answer, witness));
        }
        if let Some(limit) = &answer.limit {
            let _ = writeln!(text, "  Not every attack was settled: {limit}.");
        }
    } else if robust == Verdict::Unknown {
        text.push_str(&why_unknown(answer));
    } else {
        text.push('\n');
        text.push_str(&implied(answer.implied_by));
    }
    if let Some(found) = &answer.any_number {
        text.push_str(&lines(found));
    }
    text.push_str(&counts(answer));
    style.fitted(text)
}

/// Every attack and its result.
pub fn attacks(answer: &Robustness, style: Style) -> String {
    let mut text =
        format!("{} under {}: {}", answer.file, answer.model, counted(answer.attacks.len() as u64, "attack"));
    text.push('\n');
    if answer.attacks.is_empty() {
        return text;
    }
    let mut table = TextTable::new(&[1, 3]);
    let stores_overtake = answer.attacks.iter().any(|attack| attack.overtaking == OvertakingAccess::Store);
    let overtaking = if stores_overtake { "load or store" } else { "load" };
    table.row(["attack", "line", "store", "line", overtaking, "answer"].map(str::to_owned));
    let line = |place: &SourcePlace| place.position.map(|position| position.line.to_string()).unwrap_or_default();
    for Attack { name, store, load, fate, reason, .. } in &answer.attacks {
        let fate = match (fate, reason) {
            (Fate::Infeasible, Some(reason)) => format!("infeasible: {}", reason.describe()),
            (Fate::Infeasible, None) => "infeasible".to_owned(),
            (Fate::Feasible, _) => "feasible".to_owned(),
            (Fate::Open, _) => "open".to_owned(),
        };
        table.row([name.clone(), line(store), store.text.clone(), line(load), load.text.clone(), fate]);
    }
    text.push_str(&table.render_within("    ", style.width));
    text
}

/// From which other answer this one follows.
pub(super) fn implied(by: Option<Model>) -> String {
    by.map(|by| format!("  This follows from robustness against {by}, which allows more.\n")).unwrap_or_default()
}

fn why_unknown(answer: &Robustness) -> String {
    match &answer.limit {
        Some(limit) => format!(": {limit}\n"),
        None if answer.one_delaying_thread => {
            let mut text = ": no violation with one delaying thread\n".to_owned();
            text.push_str("  Robustness against PSO is not proved: several threads can delay stores, and none does harm alone. Whether they do\n");
            text.push_str(
                "  together is not known for programs with locked blocks, values that cannot be listed, or updates that may fault.\n",
            );
            text
        }
        None => ": some attacks were not settled\n".to_owned(),
    }
}

/// A witness: one sentence, the threads, the computation, the cycle.
pub fn attack_witness(witness: &AttackWitness, style: Style) -> String {
    let mut text = format!("  {}\n", witness.sentence);
    let name = &witness.attack;
    let helpers = if witness.helpers.len() == 1 { "helper" } else { "helpers" };
    let _ = match &witness.together[..] {
        [] => {
            writeln!(text, "  attack {name}: attacker {}, {helpers} {}", witness.attacker, witness.helpers.join(", "))
        }
        threads => writeln!(text, "  {name}, by threads that delay stores together: {}", threads.join(", ")),
    };
    let mut table = TextTable::new(&[]);
    let overtaking = match witness.overtaking {
        OvertakingAccess::Store => "overtaking store",
        OvertakingAccess::Load => "overtaking load",
    };
    for (role, place) in [("delayed store", &witness.store), (overtaking, &witness.load)] {
        let line = place.position.map(|position| format!("line {}", position.line)).unwrap_or_default();
        table.row([role.to_owned(), line, place.text.clone()]);
    }
    text.push_str(&table.render_within("    ", style.width));
    let visible = witness.steps.iter().filter(|step| !step.internal).count() as u64;
    let _ = writeln!(text, "  computation under {} of {}:", witness.model, counted(visible, "step"));
    text.push_str(&steps(&witness.initial.threads, &witness.steps, true, style));
    text.push_str("  happens-before cycle:\n");
    text.push_str(&cycle(witness, style));
    text
}

/// One event per line, with the edge that leads to the next; the last leads to the first.
fn cycle(witness: &AttackWitness, style: Style) -> String {
    let mut table = TextTable::new(&[1]);
    table.row(["thread", "line", "event", "edge to the next"].map(str::to_owned));
    for event in &witness.cycle {
        let cell = event.cell.as_ref().map(|cell| format!(" {cell}")).unwrap_or_default();
        table.row([
            event.thread.clone(),
            event.position.map(|position| position.line.to_string()).unwrap_or_default(),
            event.text.clone(),
            format!("{}{cell}", event.edge),
        ]);
    }
    table.render_within("    ", style.width)
}

/// The fence that stops the attack, and what is known about the others.
fn remedy(answer: &Robustness, witness: &AttackWitness) -> String {
    let (fence, second) = match witness.overtaking {
        OvertakingAccess::Store => ("A release fence (`fence(release)`)", "store"),
        OvertakingAccess::Load => ("A fence (`fence(seq_cst)`)", "load"),
    };
    let line = |place: &SourcePlace| place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
    let feasible = answer.fates(Fate::Feasible);
    if !witness.together.is_empty() {
        return format!(
            "  {fence} between the store{} and the {second}{} stops this computation; others may remain.\n",
            line(&witness.store),
            line(&witness.load)
        );
    }
    let others = match (feasible, answer.fates(Fate::Open)) {
        (0 | 1, 0) => ", the only feasible one".to_owned(),
        (2, 0) => "; one more is feasible".to_owned(),
        (_, 0) => format!("; {} more are feasible", grouped(feasible as u64 - 1)),
        _ => "; others may remain (--attacks lists them)".to_owned(),
    };
    format!(
        "  {fence} between the store{} and the {second}{} stops this attack{others}.\n",
        line(&witness.store),
        line(&witness.load)
    )
}

/// The number of attacks and their results, and how much was explored.
fn counts(answer: &Robustness) -> String {
    let searched = answer.count(|attack| attack.reason == Some(InfeasibilityReason::Searched));
    let dismissed = answer.fates(Fate::Infeasible).saturating_sub(searched);
    let (feasible, open) = (answer.fates(Fate::Feasible), answer.fates(Fate::Open));
    let mut parts = Vec::new();
    for (number, what) in [
        (dismissed, "infeasible without search"),
        (searched, "infeasible after search"),
        (feasible, "feasible"),
        (open, "open"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", grouped(number as u64)));
        }
    }
    if parts.is_empty() {
        let none = match answer.limit {
            None => "no thread has a store and an access that could overtake it",
            Some(_) => "the limit was reached before they were listed",
        };
        parts.push(none.to_owned());
    }
    let mut text = format!("  {}: {}.\n", counted(answer.attacks.len() as u64, "attack"), parts.join(", "));
    let mut table = TextTable::new(&[0]);
    for reason in InfeasibilityReason::WITHOUT_SEARCH {
        let number = answer.count(|attack| attack.reason == Some(reason));
        if number > 0 {
            table.row([grouped(number as u64), reason.describe().to_owned()]);
        }
    }
    text.push_str(&table.render("    "));
    let explored = &answer.explored;
    let _ = write!(text, "  {} explored", counted(explored.states, "state"));
    if explored.sc > 0 {
        let _ = write!(
            text,
            " ({} under sc, {} with stores delayed, {} of helpers)",
            grouped(explored.sc),
            grouped(explored.delaying),
            grouped(explored.helping)
        );
    }
    let _ = writeln!(text, ", in {:.2} s.", explored.seconds);
    text
}
