//! The search of `shared.rs` by several processes. Each has the SC states that its hashes name, as in every exploration, and every
//! hunter is in one process, by its number.
//!
//! A stage goes in turns. In a turn every hunter continues until its share is used up or it needs SC states that it was not sent yet. Then
//! all processes tell how their hunters ended, and send what was asked for. Hunters take the steps that they take in one process, in the
//! same order, so what they find is the same.
//!
//! At the end, the states of feasible attacks are told to all, their beginnings are followed backwards through the SC space by all
//! together, and each process reads all computations back.

use super::clock::{HuntStop, STOP_WORDS};
use super::hunter::ShareEnd;
use super::offers::{BATCH, OfferBatch};
use super::read_back::{AttackPath, FeasibleRun};
use super::shared::{HuntStages, HunterOutcome, ShareResult, lock, unlocked};
use crate::layout::Overflow;
use ravelin_explore::{Peers, Space, StateId};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The process in which a hunter is.
fn home(hunter: usize, peers: &dyn Peers) -> usize {
    hunter % peers.processes()
}

/// The end of a hunter's turn: its number, what it was, and the words of a stop or the places that it waits for.
const REPORT_WORDS: usize = 2 + STOP_WORDS;

fn report(number: usize, result: &Result<ShareEnd, HuntStop>, wanted: Range<u64>) -> [u64; REPORT_WORDS] {
    let (kind, [first, second, third, fourth]) = match result {
        Ok(ShareEnd::UsedUp) => (0, [0; STOP_WORDS]),
        Ok(ShareEnd::Idle) => (1, [0; STOP_WORDS]),
        Ok(ShareEnd::Done) => (2, [0; STOP_WORDS]),
        Ok(ShareEnd::Waits) => (3, [wanted.start, wanted.end, 0, 0]),
        Err(stop) => (4, stop.words()),
    };
    [number as u64, kind, first, second, third, fourth]
}

impl HuntStages<'_> {
    /// Lets the hunters of all processes use their shares. All processes come to the same results.
    pub fn search_among(
        &mut self,
        peers: &dyn Peers,
        space: &Space<Overflow>,
        offered: usize,
    ) -> Result<Vec<ShareResult>, HuntStop> {
        let all = space.statistics.states.min(offered as u64);
        let mut results: Vec<ShareResult> = self.hunters.iter().map(|_| None).collect();
        let mut active: Vec<usize> = (0..self.hunters.len()).collect();
        let mut halt = usize::MAX;
        while !active.is_empty() {
            active.retain(|&number| home(number, peers) == peers.number());
            let mut reports = Vec::new();
            for (&number, result) in active.iter().zip(self.share_out(space, offered, &active, halt)) {
                let from = unlocked(&mut self.hunters[number]).offered as u64;
                let wanted = from..from.saturating_add(BATCH).min(all);
                reports.extend(result.iter().flat_map(|result| report(number, result, wanted.clone())));
            }
            let words = [&self.usage_here(peers)[..], &reports].concat();
            let mut wanted = Vec::new();
            let mut used = [0; 2];
            for (process, words) in peers.tell(words)?.iter().enumerate() {
                let Some((usage, reports)) = words.split_first_chunk::<2>() else { continue };
                if process != peers.number() {
                    used = [used[0] + usage[0], used[1] + usage[1]];
                }
                for &[number, kind, first, second, third, fourth] in reports.as_chunks::<REPORT_WORDS>().0 {
                    let Some(result) = results.get_mut(number as usize) else { continue };
                    let end = match kind {
                        0 => Ok(ShareEnd::UsedUp),
                        1 => Ok(ShareEnd::Idle),
                        2 => Ok(ShareEnd::Done),
                        3 => {
                            wanted.push((number as usize, first..second));
                            Ok(ShareEnd::Waits)
                        }
                        _ => Err(HuntStop::of_words([first, second, third, fourth])),
                    };
                    if self.ends_stage(&end) {
                        halt = halt.min(number as usize);
                    }
                    *result = Some(end);
                }
            }
            self.note_usage_elsewhere(used);
            wanted.retain(|(number, _)| *number < halt);
            wanted.sort_unstable_by_key(|(number, _)| *number);
            self.send_offers(peers, space, &wanted)?;
            active = wanted.into_iter().map(|(number, _)| number).collect();
        }
        Ok(results)
    }

    /// States and bytes of the hunters here.
    fn usage_here(&mut self, peers: &dyn Peers) -> [u64; 2] {
        let mut used = [0; 2];
        for (number, hunter) in self.hunters.iter_mut().map(unlocked).enumerate() {
            if home(number, peers) == peers.number() {
                used = [used[0] + hunter.reported.0, used[1] + hunter.reported.1];
            }
        }
        used
    }

    fn note_usage_elsewhere(&mut self, [states, bytes]: [u64; 2]) {
        self.used.states.fetch_add(states.wrapping_sub(self.elsewhere.0), Ordering::Relaxed);
        self.used.bytes.fetch_add(bytes.wrapping_sub(self.elsewhere.1), Ordering::Relaxed);
        self.elsewhere = (states, bytes);
    }

    /// Sends hunters the SC states with the places that they wait for.
    fn send_offers(
        &mut self,
        peers: &dyn Peers,
        space: &Space<Overflow>,
        wanted: &[(usize, Range<u64>)],
    ) -> Result<(), HuntStop> {
        if wanted.is_empty() {
            return Ok(());
        }
        let mut outgoing = vec![Vec::new(); peers.processes()];
        for (number, places) in wanted {
            let hunter = unlocked(&mut self.hunters[*number]);
            let message = &mut outgoing[home(*number, peers)];
            let head = message.len();
            message.extend([*number as u64, 0]);
            for (place, id, state) in space.here(places.clone()).filter(|(.., state)| hunter.can_start_in(state)) {
                message[head + 1] += 1;
                message.extend([place, id.word()]);
                message.extend_from_slice(state);
            }
            if home(*number, peers) == peers.number() {
                hunter.batch = OfferBatch::new(places.end, hunter.attacks.view.sc_words);
            }
        }
        for words in peers.exchange(outgoing)? {
            let mut words = Words(&words);
            while let Some((number, states)) = words.next().zip(words.next()) {
                let Some(hunter) = self.hunters.get_mut(number as usize).map(unlocked) else { break };
                for _ in 0..states {
                    let Some((place, id)) = words.next().zip(words.next()) else { break };
                    let Some(state) = words.take(hunter.attacks.view.sc_words) else { break };
                    hunter.batch.add(place, StateId::of_word(id), state);
                }
            }
        }
        self.hunters.iter_mut().map(unlocked).for_each(|hunter| hunter.batch.complete());
        Ok(())
    }

    /// What the hunters of all processes leave, with all computations.
    pub fn outcomes_among(
        &mut self,
        peers: &dyn Peers,
        space: &Space<Overflow>,
    ) -> Result<Vec<HunterOutcome>, HuntStop> {
        let mut told = Vec::new();
        for (number, hunter) in self.hunters.iter_mut().map(unlocked).enumerate() {
            if home(number, peers) == peers.number() {
                told.push(number as u64);
                HunterOutcome::of(hunter, space).write(&mut told);
            }
        }
        let mut outcomes: Vec<Option<HunterOutcome>> = self.hunters.iter().map(|_| None).collect();
        for words in peers.tell(told)? {
            let mut words = Words(&words);
            while let Some(number) = words.next().map(|number| number as usize)
                && let Some(hunter) = self.hunters.get_mut(number).map(unlocked)
            {
                outcomes[number] = HunterOutcome::read(&mut words, hunter.attacks.view.words);
            }
        }
        let mut starts: Vec<StateId> = outcomes.iter().flatten().flat_map(HunterOutcome::starts).collect();
        starts.sort_unstable();
        starts.dedup();
        let paths = space.paths(peers, &starts)?;
        let mut complete = Vec::new();
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let Some(mut outcome) = outcome else { break };
            for (_, run) in &mut outcome.feasible {
                if let FeasibleRun::Path(path) = run
                    && let Ok(place) = starts.binary_search(&path.start)
                {
                    *run = FeasibleRun::Read(lock(&self.hunters[number]).read_back(path, &paths[place])?);
                }
            }
            complete.push(outcome);
        }
        Ok(complete)
    }
}

impl HunterOutcome {
    /// The SC states where feasible attacks begin.
    fn starts(&self) -> impl Iterator<Item = StateId> {
        self.feasible.iter().filter_map(|(_, run)| match run {
            FeasibleRun::Path(path) => Some(path.start),
            FeasibleRun::Read(_) => None,
        })
    }

    /// As words, for all processes.
    fn write(&self, words: &mut Vec<u64>) {
        let HunterOutcome { sizes, before_stage, is_idle, open, feasible } = self;
        words.extend([sizes.0, sizes.1, before_stage.0, before_stage.1, u64::from(*is_idle), open.len() as u64]);
        words.extend(open.iter().map(|&attack| attack as u64));
        let paths = feasible.iter().filter_map(|(attack, run)| match run {
            FeasibleRun::Path(path) => Some((attack, path)),
            FeasibleRun::Read(_) => None,
        });
        words.push(paths.clone().count() as u64);
        for (attack, AttackPath { start, load, delaying, helping }) in paths {
            words.extend([*attack as u64, start.word(), *load as u64, delaying.len() as u64, helping.len() as u64]);
            words.extend(delaying.iter().chain(helping).flatten());
        }
    }

    /// From the words of a process. `width`: words of a state of the hunter.
    fn read(words: &mut Words, width: usize) -> Option<HunterOutcome> {
        let [delaying, helping, delaying_before, helping_before, is_idle, open] = *words.take(6)?.first_chunk()?;
        let open = words.take(open as usize)?.iter().map(|&attack| attack as usize).collect();
        let mut feasible = Vec::new();
        for _ in 0..words.next()? {
            let [attack, start, load, delaying, helping] = *words.take(5)?.first_chunk()?;
            let mut states = |count: u64| (0..count).map(|_| Some(words.take(width)?.to_vec())).collect::<Option<_>>();
            let (delaying, helping) = (states(delaying)?, states(helping)?);
            let path = AttackPath { start: StateId::of_word(start), load: load as usize, delaying, helping };
            feasible.push((attack as usize, FeasibleRun::Path(path)));
        }
        Some(HunterOutcome {
            sizes: (delaying, helping),
            before_stage: (delaying_before, helping_before),
            is_idle: is_idle != 0,
            open,
            feasible,
        })
    }
}

/// A message, from its beginning.
struct Words<'w>(&'w [u64]);

impl<'w> Words<'w> {
    fn next(&mut self) -> Option<u64> {
        let (&word, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(word)
    }

    fn take(&mut self, words: usize) -> Option<&'w [u64]> {
        let (taken, rest) = self.0.split_at_checked(words)?;
        self.0 = rest;
        Some(taken)
    }
}
