//! Answers about any number of threads: which instance shows a fault, or what proves that none does.

use crate::numbers::{counted, grouped};
use ravelin_analysis::Verdict;
use ravelin_analysis::parameterised::{AnyNumber, AskedNet, Instance};
use serde_json::{Value, json};
use std::fmt::Write;

/// What to say behind the verdict, on its line.
pub(crate) fn behind_verdict(found: &AnyNumber, verdict: Verdict) -> String {
    match (&found.instance, verdict) {
        (_, Verdict::Holds) => " for every number of threads".to_owned(),
        (Some(instance), _) => format!(" with {}", instance.show()),
        (None, _) => String::new(),
    }
}

/// How the answer was found.
pub(crate) fn lines(found: &AnyNumber) -> String {
    let mut text = String::new();
    match &found.instance {
        Some(Instance { smallest: true, .. }) => {
            text.push_str("  The smallest instance: with fewer copies there is no such computation.\n");
        }
        Some(_) => {
            text.push_str("  Smaller instances could not all be explored within the limits; one may show it, too.\n")
        }
        None => {}
    }
    for net in &found.nets {
        let whose = net.thread.as_ref().map_or("goals".to_owned(), |thread| format!("attacks of {thread}"));
        let _ = writeln!(
            text,
            "  {whose} as a net of {} and {}: {} backwards, {} pruned, {} kept{}, in {:.2} s.",
            counted(net.places as u64, "place"),
            counted(net.transitions as u64, "transition"),
            counted(net.counts.generated, "marking"),
            grouped(net.counts.pruned),
            grouped(net.counts.kept),
            if net.by_sets { " (sets suffice)" } else { "" },
            net.counts.elapsed.as_secs_f64()
        );
    }
    if let (None, Some(up_to)) = (&found.instance, found.up_to) {
        let instances = counted(found.instances as u64, "instance");
        let _ = writeln!(text, "  {instances} with up to {} explored before that.", counted_copies(up_to));
    }
    text
}

fn counted_copies(number: usize) -> String {
    if number == 1 { "1 copy".to_owned() } else { format!("{number} copies") }
}

/// For programs.
pub(crate) fn json(found: &AnyNumber) -> Value {
    json!({
        "instance": found.instance.as_ref().map(instance),
        "nets": found.nets.iter().map(net).collect::<Vec<_>>(),
        "instances_explored": found.instances,
        "explored_up_to": found.up_to,
    })
}

pub(crate) fn instance(instance: &Instance) -> Value {
    let copies = instance.copies.iter().map(|(thread, copies)| json!({ "thread": thread, "copies": copies }));
    json!({ "copies": copies.collect::<Vec<_>>(), "smallest": instance.smallest })
}

fn net(net: &AskedNet) -> Value {
    json!({
        "attacker": net.thread,
        "places": net.places,
        "transitions": net.transitions,
        "sets": net.by_sets,
        "coverable": net.coverable,
        "markings_generated": net.counts.generated,
        "markings_pruned": net.counts.pruned,
        "markings_kept": net.counts.kept,
        "markings_minimal": net.counts.minimal,
        "seconds": net.counts.elapsed.as_secs_f64(),
    })
}
