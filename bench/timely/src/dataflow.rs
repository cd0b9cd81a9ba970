//! The search as a dataflow: states are exchanged by their hash, and successors go back in a loop. An iteration is a level, which a
//! process begins when timely's progress tracking tells it that nothing of the level before can arrive any more.
//!
//! What differs from Ravelin's rounds is only that. The visited set is Ravelin's, with a parent for each state, and successors that were
//! sent a moment ago are not sent again.

use crate::spaces::Space;
use anyhow::{Result, anyhow};
use ravelin_explore::StateSet;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Concat, ConnectLoop, Feedback, ToStream};
use timely::{CommunicationConfig, Config, WorkerConfig};

/// A state, and its parent.
type Record = (u64, u64);

/// Slots for states that were sent lately.
const RECENT: usize = 1 << 14;

fn hash(state: u64) -> u64 {
    let product = u128::from(state ^ 0x9e37_79b9_7f4a_7c15) * 0xa076_1d64_78bd_642f;
    (product as u64) ^ (product >> 64) as u64
}

/// States of this process, and the steps to the farthest one.
pub fn search(space: Space, process: usize, addresses: &[String]) -> Result<(u64, u64)> {
    let communication = match addresses.len() {
        1 => CommunicationConfig::Thread,
        _ => CommunicationConfig::Cluster {
            threads: 1,
            process,
            addresses: addresses.to_vec(),
            report: false,
            zerocopy: false,
        },
    };
    let config = Config { communication, worker: WorkerConfig::default() };
    let guards = timely::execute(config, move |worker| {
        let found = Rc::new(RefCell::new((0, 0)));
        let result = found.clone();
        worker.dataflow::<usize, _, _>(|scope| {
            let mut visited = StateSet::new(1);
            let mut recent = vec![u64::MAX; RECENT];
            let mut arrived: HashMap<usize, Vec<Vec<Record>>> = HashMap::new();
            let (handle, successors) = scope.feedback(1usize);
            // One process knows where to begin.
            let first = (process == 0).then_some((Space::INITIAL, u64::MAX));
            let states = first.to_stream(scope).container::<Vec<_>>().concat(successors);
            let level = states.unary_notify(
                Exchange::new(|record: &Record| hash(record.0)),
                "level",
                vec![],
                move |input, output, notify| {
                    input.for_each_time(|time, data| {
                        arrived
                            .entry(*time.time())
                            .or_insert_with(|| {
                                notify.notify_at(time.retain(output.output_index()));
                                Vec::new()
                            })
                            .extend(data.map(std::mem::take));
                    });
                    notify.for_each(|time, _, _| {
                        let mut session = output.session(&time);
                        for (state, parent) in arrived.remove(time.time()).into_iter().flatten().flatten() {
                            if !visited.insert(&[state], parent as u32) {
                                continue;
                            }
                            let number = visited.len() as u64 - 1;
                            space.successors(state, |next| {
                                let slot = &mut recent[(hash(next) >> 13) as usize % RECENT];
                                if *slot != next {
                                    *slot = next;
                                    session.give((next, number));
                                }
                            });
                            *found.borrow_mut() = (visited.len() as u64, *time.time() as u64);
                        }
                    });
                },
            );
            level.connect_loop(handle);
        });
        while worker.step_or_park(None) {}
        *result.borrow()
    });
    let guards = guards.map_err(|error| anyhow!(error))?;
    guards.join().into_iter().next().ok_or_else(|| anyhow!("no worker"))?.map_err(|error| anyhow!(error))
}
