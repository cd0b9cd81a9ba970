//! Any number of threads.

use ravelin_analysis::parameterised::{self, NetReport};
use ravelin_answer::{AnyNumber, CopyCount, Instance, NetSearch};

pub(super) fn any_number(found: &parameterised::AnyNumber) -> AnyNumber {
    AnyNumber {
        instance: found.instance.as_ref().map(instance),
        nets: found.nets.iter().map(net).collect(),
        instances_explored: found.instances,
        explored_up_to: found.up_to,
    }
}

pub(super) fn instance(found: &parameterised::Instance) -> Instance {
    let copies = found.copies.iter().map(|(thread, copies)| CopyCount { thread: thread.clone(), copies: *copies });
    Instance { copies: copies.collect(), smallest: found.smallest }
}

fn net(net: &NetReport) -> NetSearch {
    NetSearch {
        attacker: net.thread.clone(),
        places: net.places,
        transitions: net.transitions,
        sets: net.by_sets,
        coverable: net.coverable,
        markings_generated: net.counts.generated,
        markings_pruned: net.counts.pruned,
        markings_kept: net.counts.kept,
        markings_minimal: net.counts.minimal,
        seconds: net.elapsed.as_secs_f64(),
    }
}
