//! The search against a naive one: small random nets, explored forwards as far as a bound on tokens allows.
//!
//! `RAVELIN_PROGRAMS` and `RAVELIN_SEED` choose how many nets, and from where.

use ravelin_backward::nets::{
    CoverVerdict, InitialTokens, Marking, Net, NetCertificate, certify, check, cover, fire, spec,
};
use ravelin_explore::Budget;
use ravelin_testing::Random;
use std::collections::HashSet;

/// Tokens a place may have in the naive search.
const BOUND: u32 = 6;

fn random_net(seed: u64) -> Net {
    let mut random = Random::new(seed);
    let mut net = Net::default();
    let places = 2 + random.below(4) as u32;
    for place in 0..places {
        let initial = match random.below(8) {
            0 => InitialTokens::AtLeast(0),
            1 | 2 => InitialTokens::Exactly(1),
            3 => InitialTokens::Exactly(2),
            _ => InitialTokens::Exactly(0),
        };
        net.place(format!("p{place}"), initial);
    }
    let marking = |most: usize, random: &mut Random| {
        let arcs = random.below(most + 1);
        (0..arcs).map(|_| (random.below(places as usize) as u32, 1 + (random.below(5) / 4) as u32)).collect::<Vec<_>>()
    };
    for _ in 0..1 + random.below(5) {
        let takes = marking(2, &mut random);
        let gives = marking(3, &mut random);
        net.transition(takes, gives);
    }
    for _ in 0..1 + random.below(2) {
        let target = marking(2, &mut random);
        net.targets.push(Marking::new(target));
    }
    net
}

/// What exploring all markings with at most `BOUND` tokens a place says: covered, not covered, or that some were cut off.
fn naive(net: &Net) -> Option<bool> {
    let mut cut = false;
    let tokens = |initial: &InitialTokens| match *initial {
        InitialTokens::Exactly(tokens) => tokens,
        InitialTokens::AtLeast(_) => BOUND,
    };
    let unbounded: Vec<bool> = net.initial.iter().map(|initial| matches!(initial, InitialTokens::AtLeast(_))).collect();
    let start: Vec<u32> = net.initial.iter().map(tokens).collect();
    let mut seen = HashSet::from([start.clone()]);
    let mut waiting = vec![start];
    while let Some(marking) = waiting.pop() {
        let covered = |target: &Marking| target.iter().all(|(place, count)| marking[place as usize] >= count);
        if net.targets.iter().any(covered) {
            return Some(true);
        }
        for transition in &net.transitions {
            if transition.takes.iter().any(|(place, count)| marking[place as usize] < count) {
                continue;
            }
            let mut next = marking.clone();
            transition.takes.iter().for_each(|(place, count)| next[place as usize] -= count);
            transition.gives.iter().for_each(|(place, count)| next[place as usize] += count);
            for place in 0..next.len() {
                // Where any number may be at the start, more can be had.
                if unbounded[place] {
                    next[place] = BOUND;
                } else if next[place] > BOUND {
                    cut = true;
                    next[place] = BOUND;
                }
            }
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    (!cut).then_some(false)
}

fn soak(from: u64, to: u64) {
    let (mut covered, mut proved) = (0, 0);
    for seed in from..to {
        let net = random_net(seed);
        let answer = cover(&net, Budget::default());
        match &answer.verdict {
            CoverVerdict::Coverable(sequence) => {
                covered += 1;
                assert!(fire(&net, sequence).is_ok(), "seed {seed}:");
                // Markings are cut off downwards only, so the naive search never claims too much.
                assert_ne!(naive(&net), Some(false), "seed {seed}: {}", spec::print(&net));
                assert_eq!(certify(&net, &answer), None);
            }
            CoverVerdict::Uncoverable => {
                proved += 1;
                assert_ne!(naive(&net), Some(true), "seed {seed}: {}", spec::print(&net));
                let certificate = certify(&net, &answer).expect("a proof has a certificate");
                let text = serde_json::to_string(&certificate).expect("can be written");
                let read: NetCertificate = serde_json::from_str(&text).expect("can be read");
                assert!(check(&net, &read).is_ok(), "seed {seed}: {:?}", check(&net, &read));
            }
            CoverVerdict::Unknown(limit) => panic!("seed {seed}: {limit}"),
        }
        let printed = spec::print(&net);
        assert_eq!(spec::parse(&printed).as_ref(), Ok(&net), "seed {seed}: {printed}");
    }
    let enough = to - from < 200 || covered > (to - from) / 10 && proved > (to - from) / 10;
    assert!(enough, "{covered} covered, {proved} proved");
}

#[test]
fn the_search_agrees_with_a_naive_one() {
    let seeds = ravelin_testing::seeds(4_000);
    soak(seeds.start, seeds.end);
}

#[test]
fn a_broken_certificate_is_found_out() {
    let net = spec::parse(
        "vars a b c lock rules a >= 1, lock >= 1 -> a' = a - 1, lock' = lock - 1, b' = b + 1; b >= 1 -> b' = b - 1, a' = a + 1, \
         lock' = lock + 1; init a >= 0, lock = 1 target b >= 2",
    )
    .expect("a net");
    let answer = cover(&net, Budget::default());
    let certificate = certify(&net, &answer).expect("two are never in");
    assert!(check(&net, &certificate).is_ok());
    for left_out in 0..certificate.markings.len() {
        let mut broken = certificate.clone();
        broken.markings.remove(left_out);
        assert!(check(&net, &broken).is_err(), "without marking {left_out}");
    }
    let mut greedy = certificate.clone();
    greedy.markings.push(Vec::new());
    assert!(check(&net, &greedy).is_err(), "the empty marking is initial");
    let mut unlocked = net.clone();
    unlocked.initial[3] = InitialTokens::Exactly(2);
    assert!(check(&unlocked, &certificate).is_err());
    assert!(matches!(cover(&unlocked, Budget::default()).verdict, CoverVerdict::Coverable(_)));
}
