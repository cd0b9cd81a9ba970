//! The search as Ravelin makes it: rounds, over timely's communication layer only.

use crate::spaces::Space;
use anyhow::{Result, ensure};
use ravelin_cluster::{Hosts, Introduction, WaitPolicy, connect};
use ravelin_explore::{Budget, End, Options, Peers, Sink, Storage, System, Until, explore};
use std::time::Duration;

impl System for Space {
    type Scratch = ();
    type Interrupt = ();

    fn width(&self) -> usize {
        1
    }

    fn scratch(&self) {}

    fn initial(&self, emit: &mut dyn FnMut(&[u64])) {
        emit(&[Space::INITIAL]);
    }

    fn expand(&self, state: &[u64], (): &mut (), sink: &mut Sink) -> Result<(), ()> {
        self.successors(state[0], |next| sink.push(&[next]));
        Ok(())
    }
}

/// States, and the steps to the farthest one.
pub fn search(space: Space, process: usize, addresses: &[String]) -> Result<(u64, u64)> {
    let hosts = Hosts::parse(&addresses.join("\n"))?;
    let introduction = Introduction { process, fingerprint: 0 };
    let links = connect(&hosts, introduction, &WaitPolicy::new(Duration::from_secs(20)))?;
    let peers: &dyn Peers = &links;
    let storage = Storage { peers: Some(peers), ..Storage::default() };
    let budget = Budget { storage, ..Budget::unlimited() };
    let found = explore(&space, &Options { budget, until: Until::Exhausted });
    ensure!(found.end == End::Exhausted, "the search did not end");
    Ok((found.statistics.states, found.statistics.depth))
}
