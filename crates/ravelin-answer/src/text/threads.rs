//! Any number of threads, as text.

use super::numbers::{counted, grouped};
use crate::{AnyNumber, Instance, Verdict};
use std::fmt::Write;

/// The text after the verdict, on its line.
pub fn behind_verdict(found: &AnyNumber, verdict: Verdict) -> String {
    match (&found.instance, verdict) {
        (_, Verdict::Holds) => " for every number of threads".to_owned(),
        (Some(instance), _) => format!(" with {}", instance.words()),
        (None, _) => String::new(),
    }
}

/// How the answer was found.
pub fn lines(found: &AnyNumber) -> String {
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
        let whose = net.attacker.as_ref().map_or("goals".to_owned(), |thread| format!("attacks of {thread}"));
        let _ = writeln!(
            text,
            "  {whose} as a net of {} and {}: {} backwards, {} pruned, {} kept{}, in {:.2} s.",
            counted(net.places as u64, "place"),
            counted(net.transitions as u64, "transition"),
            counted(net.markings_generated, "marking"),
            grouped(net.markings_pruned),
            grouped(net.markings_kept),
            if net.sets { " (sets suffice)" } else { "" },
            net.seconds
        );
    }
    if let (None, Some(up_to)) = (&found.instance, found.explored_up_to) {
        let instances = counted(found.instances_explored as u64, "instance");
        let _ = writeln!(text, "  {instances} with up to {} explored before that.", counted_copies(up_to));
    }
    text
}

fn counted_copies(number: usize) -> String {
    if number == 1 { "1 copy".to_owned() } else { format!("{number} copies") }
}
