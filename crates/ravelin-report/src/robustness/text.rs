//! Robustness as text for a terminal: the verdict, the witness of a feasible attack, and the table of all attacks.

pub use super::race::race_freedom;
pub(crate) use super::race::race_witness;

use crate::numbers::{counted, grouped};
use crate::parameterised::{self, behind_verdict};
use crate::table::Table;
use crate::text::{Style, narrated_in_parts};
use ravelin_analysis::Verdict;
use ravelin_analysis::robustness::{
    Attack, AttackFate, AttackNames, AttackWitness, JudgedAttack, Place, Reason, Robustness, attack_name, is_delayable,
};
use ravelin_program::{Program, TransitionId, lower_for_hardware};
use std::borrow::Cow;
use std::fmt::Write;

/// The answer to `check`. `program` is the lowered one.
pub fn robustness(file: &str, program: &Program, answer: &Robustness, style: Style) -> String {
    let word = match answer.verdict {
        Verdict::Holds => "robust",
        Verdict::Violated => "not robust",
        Verdict::Unknown => "unknown",
    };
    let mut text = format!("{file} under {}: {}", answer.model, style.word(answer.verdict, word));
    if let Some(found) = &answer.any_number {
        text.push_str(&behind_verdict(found, answer.verdict));
    }
    if let Some(witness) = answer.witness() {
        text.push('\n');
        text.push_str(&shown(&of_instance(program, answer), answer, witness, style));
        if let Some(limit) = answer.limit {
            let _ = writeln!(text, "  Not every attack was settled: {limit}.");
        }
    } else if answer.verdict == Verdict::Unknown {
        text.push_str(&why_unknown(answer));
    } else {
        text.push('\n');
    }
    if let Some(found) = &answer.any_number {
        text.push_str(&parameterised::lines(found));
    }
    text.push_str(&counts(answer));
    style.fitted(text)
}

/// Every attack and what became of it.
pub fn attacks(file: &str, program: &Program, answer: &Robustness, style: Style) -> String {
    let program = &of_instance(program, answer);
    let mut text = format!("{file} under {}: {}", answer.model, counted(answer.attacks.len() as u64, "attack"));
    text.push('\n');
    if answer.attacks.is_empty() {
        return text;
    }
    let mut table = Table::new(&[1, 3]);
    let stores_overtake = answer.attacks.iter().any(|judged| overtaken_by_store(program, judged.attack));
    let overtaking = if stores_overtake { "load or store" } else { "load" };
    table.row(["attack", "line", "store", "line", overtaking, "answer"].map(str::to_owned));
    let mut names = AttackNames::new(program);
    for JudgedAttack { attack, fate } in &answer.attacks {
        let mut place = |transition: TransitionId| {
            let Place { text, position } = names.place(attack.thread, transition);
            [position.map(|position| position.line.to_string()).unwrap_or_default(), text.clone()]
        };
        let (store, load) = (place(attack.store), place(attack.load));
        let fate = match fate {
            AttackFate::Dismissed(reason) => format!("infeasible: {}", reason.describe()),
            AttackFate::Infeasible => "infeasible: searched".to_owned(),
            AttackFate::Feasible(_) => "feasible".to_owned(),
            AttackFate::Open => "open".to_owned(),
        };
        table.row([vec![names.name(*attack)], store.into(), load.into(), vec![fate]].concat());
    }
    text.push_str(&table.render_within("    ", style.width));
    text
}

/// The program that attacks are about: an instance, if one of any number of threads is not robust.
pub(super) fn of_instance<'a>(program: &'a Program, answer: &Robustness) -> Cow<'a, Program> {
    match answer.any_number.as_ref().and_then(|found| found.instance.as_ref()) {
        Some(instance) => Cow::Owned(lower_for_hardware(&instance.program)),
        None => Cow::Borrowed(program),
    }
}

/// Under PSO a store may overtake, too.
fn overtaken_by_store(program: &Program, attack: Attack) -> bool {
    is_delayable(&program.threads[attack.thread.0].transitions[attack.load.0].instruction)
}

fn why_unknown(answer: &Robustness) -> String {
    match answer.limit {
        Some(limit) => format!(": {limit}\n"),
        None if answer.one_delaying_thread => {
            let mut text = ": no violation with one delaying thread\n".to_owned();
            text.push_str("  Robustness against PSO is not proved: several threads can delay stores, and that they do no harm together where\n");
            text.push_str("  none does alone is a theorem for TSO only.\n");
            text
        }
        None => ": some attacks were not settled\n".to_owned(),
    }
}

/// A witness, and what would help.
fn shown(program: &Program, answer: &Robustness, witness: &AttackWitness, style: Style) -> String {
    let mut text = attack_witness(program, witness, style);
    text.push_str(&remedy(answer, witness, overtaken_by_store(program, witness.attack)));
    text
}

/// A witness: what happens in one sentence, who takes part, the computation, the cycle. `program` is the lowered one.
pub(crate) fn attack_witness(program: &Program, witness: &AttackWitness, style: Style) -> String {
    let mut text = format!("  {}\n", witness.sentence);
    let name = attack_name(program, witness.attack);
    let helpers = if witness.helpers.len() == 1 { "helper" } else { "helpers" };
    let _ = writeln!(text, "  attack {name}: attacker {}, {helpers} {}", witness.attacker, witness.helpers.join(", "));
    let by_store = overtaken_by_store(program, witness.attack);
    let mut table = Table::new(&[]);
    let overtaking = if by_store { "overtaking store" } else { "overtaking load" };
    for (role, place) in [("delayed store", &witness.store), (overtaking, &witness.load)] {
        let line = place.position.map(|position| format!("line {}", position.line)).unwrap_or_default();
        table.row([role.to_owned(), line, place.text.clone()]);
    }
    text.push_str(&table.render_within("    ", style.width));
    let visible = witness.steps.iter().filter(|step| !step.told.internal).count() as u64;
    let _ = writeln!(text, "  computation under {} of {}:", witness.model, counted(visible, "step"));
    let steps = witness.steps.iter().map(|step| (step.part.name(), &step.told));
    text.push_str(&narrated_in_parts(steps, true, style));
    text.push_str("  happens-before cycle:\n");
    text.push_str(&cycle(witness, style));
    text
}

/// One event a line, with the edge that leads to the next; the last leads to the first.
fn cycle(witness: &AttackWitness, style: Style) -> String {
    let mut table = Table::new(&[1]);
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

/// The fence that stops the attack, and what is known of the others.
fn remedy(answer: &Robustness, witness: &AttackWitness, by_store: bool) -> String {
    let (fence, second) =
        if by_store { ("A release fence (`fence(release)`)", "store") } else { ("A fence (`fence(seq_cst)`)", "load") };
    let line = |place: &Place| place.position.map(|at| format!(" on line {}", at.line)).unwrap_or_default();
    let feasible = answer.count(|fate| matches!(fate, AttackFate::Feasible(_)));
    let others = match (feasible, answer.count(|fate| matches!(fate, AttackFate::Open))) {
        (1, 0) => ", the only feasible one".to_owned(),
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

/// How many attacks there are and what became of them, and how much was explored.
fn counts(answer: &Robustness) -> String {
    let dismissed = answer.count(|fate| matches!(fate, AttackFate::Dismissed(_)));
    let searched = answer.count(|fate| matches!(fate, AttackFate::Infeasible));
    let feasible = answer.count(|fate| matches!(fate, AttackFate::Feasible(_)));
    let open = answer.count(|fate| matches!(fate, AttackFate::Open));
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
        parts.push("no thread has a store and an access that could overtake it".to_owned());
    }
    let mut text = format!("  {}: {}.\n", counted(answer.attacks.len() as u64, "attack"), parts.join(", "));
    let mut table = Table::new(&[0]);
    for reason in Reason::ALL.into_iter().filter(|reason| answer.dismissed(*reason) > 0) {
        table.row([grouped(answer.dismissed(reason) as u64), reason.describe().to_owned()]);
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
    let _ = writeln!(text, ", in {:.2} s.", explored.elapsed.as_secs_f64());
    text
}
