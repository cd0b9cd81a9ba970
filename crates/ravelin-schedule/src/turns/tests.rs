//! What the threads of a program do in turns.

use super::*;

fn turns(text: &str) -> Turns {
    Turns::new(text.parse().expect("a schedule"), 10_000)
}

/// Runs `threads` threads of `points` points each, all with effects. Returns the thread that ran at each point.
fn runs(text: &str, threads: usize, points: usize) -> Vec<usize> {
    let mut turns = turns(text);
    let mut left = vec![points; threads];
    for _ in 1..threads {
        turns.add();
    }
    let mut order = Vec::new();
    let mut me = 0;
    loop {
        let next = if left[me] > 0 {
            left[me] -= 1;
            order.push(me);
            turns.point(me, PointEffect::Effect, 0)
        } else {
            turns.end(me)
        };
        match next {
            TurnDecision::Stay => {}
            TurnDecision::Switch(other) => me = other,
            TurnDecision::Idle => return order,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_seed_gives_one_schedule_and_seeds_give_many() {
    for strategy in ["random:SEED", "pct:SEED:3:30"] {
        let of = |seed: usize| runs(&strategy.replace("SEED", &seed.to_string()), 3, 10);
        let all: std::collections::HashSet<Vec<usize>> = (0..200).map(of).collect();
        assert_eq!(of(7), of(7));
        assert_eq!(of(7).len(), 30);
        assert!(all.len() > 100, "{strategy}: {}", all.len());
    }
}

#[test]
fn pct_switches_only_at_ends_and_change_points() {
    for seed in 0..100 {
        let order = runs(&format!("pct:{seed}:3:30"), 3, 10);
        let switches = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
        // The first thread begins, whatever its priority; two end before the last; there are two change points.
        assert!(switches <= 5, "{order:?}");
    }
}

/// Under PCT a bug of depth two in a program of n threads and k points is found with probability 1/(n k) at least.
#[test]
fn pct_finds_bugs_of_depth_two_as_often_as_it_promises() {
    let (threads, points) = (3, 5);
    let length = threads * points;
    let seeds = 6_000;
    // Thread 1 is between its third and fourth point when thread 2 makes all of its points.
    let found = (0..seeds)
        .filter(|seed| {
            let order = runs(&format!("pct:{seed}:2:{length}"), threads, points);
            let mine: Vec<usize> = order.iter().enumerate().filter(|(_, who)| **who == 1).map(|(at, _)| at).collect();
            order.iter().enumerate().filter(|(_, who)| **who == 2).all(|(at, _)| at > mine[2] && at < mine[3])
        })
        .count();
    assert!(found * threads * length >= seeds, "{found}");
}

#[test]
fn a_waiting_loop_does_not_starve_whom_it_waits_for() {
    for strategy in ["random:3", "pct:3:1:10"] {
        let mut turns = turns(strategy);
        let other = turns.add();
        let mut me = 0;
        for step in 0.. {
            assert!(step < 100, "{strategy}");
            match turns.point(me, PointEffect::Look { again: true }, 0) {
                TurnDecision::Switch(next) if next == other => break,
                TurnDecision::Switch(next) => me = next,
                _ => {}
            }
        }
    }
}

#[test]
fn everybody_waiting_is_a_deadlock_unless_time_passes() {
    let mut turns = turns("random:1");
    let other = turns.add();
    let next = turns.wait(0, WaitReason::Object(1), None);
    assert_eq!(next, TurnDecision::Switch(other));
    assert_eq!(turns.wait(other, WaitReason::Object(2), Some(5_000_000)), TurnDecision::Stay);
    assert!(turns.timed_out(other) && turns.now() == 5_000_000);
    assert_eq!(turns.wait(other, WaitReason::Object(2), None), TurnDecision::Stuck(Stalemate::Deadlock));
    turns.wake(1, usize::MAX);
    assert_eq!(turns.state(0), ThreadStatus::Ready);
}

#[test]
fn looking_for_ever_is_a_livelock() {
    let mut turns = turns("random:1");
    let mut next = TurnDecision::Stay;
    for _ in 0..20_000 {
        next = turns.point(0, PointEffect::Look { again: true }, 0);
        if next != TurnDecision::Stay {
            break;
        }
    }
    assert_eq!(next, TurnDecision::Stuck(Stalemate::Livelock));
}

#[test]
fn who_sleeps_is_waited_for_by_whoever_spins() {
    let mut turns = turns("pct:1:3:100");
    let other = turns.add();
    let mut me = 0;
    if let TurnDecision::Switch(next) = turns.wait(0, WaitReason::Time, Some(1_000_000_000)) {
        assert_eq!(next, other);
        me = next;
    }
    for _ in 0..20_000 {
        if let TurnDecision::Switch(next) = turns.point(me, PointEffect::Look { again: true }, 0) {
            assert_eq!(next, 0);
            return;
        }
    }
    panic!("the sleeper never went on");
}

#[test]
fn who_comes_back_takes_a_turn_that_nobody_has() {
    let mut turns = turns("random:1");
    assert_eq!(turns.leave(0), TurnDecision::Idle);
    assert!(turns.come_back(0));
    let other = turns.add();
    assert_eq!(turns.leave(0), TurnDecision::Switch(other));
    assert!(!turns.come_back(0));
}

/// What a program with one thread does first, and then three threads; chosen by `seed`.
#[test]
fn who_sleeps_is_not_kept_from_waking_by_those_outside() {
    let mut turns = turns("random:1");
    let (sleeper, other) = (0, turns.add());
    assert_eq!(turns.wait(sleeper, WaitReason::Time, Some(1_000)), TurnDecision::Switch(other));
    assert!(matches!(turns.leave(other), TurnDecision::Ask { .. }));
    turns.abandon();
    assert_eq!(turns.anybody(), None);
    turns.abandoned();
    assert_eq!(turns.anybody(), Some(sleeper));
    assert!(turns.timed_out(sleeper) && turns.now() >= 1_000);
}

fn alone(turns: &mut Turns, seed: u64) {
    let mut random = Random::new(seed);
    for place in 0..random.below(60) {
        match random.below(7) {
            0 => drop(turns.point(0, PointEffect::Effect, place)),
            1 => drop(turns.point(0, PointEffect::Look { again: place % 2 == 0 }, place)),
            2 => drop(turns.point(0, PointEffect::Yield, place)),
            3 => drop(turns.wait(0, WaitReason::Time, Some(turns.now() + random.below(5_000)))),
            4 => turns.pass(random.below(1_000)),
            5 => drop(turns.wake(7, usize::MAX)),
            _ => drop(turns.number()),
        }
    }
}

fn together(turns: &mut Turns) -> Vec<(usize, u64, u64)> {
    let (one, other) = (turns.add(), turns.add());
    assert_eq!((one, other), (1, 2));
    let mut order = Vec::new();
    let mut me = turns.running().expect("a thread that runs");
    for step in 0..200 {
        let did = if step % 3 == 0 { PointEffect::Yield } else { PointEffect::Effect };
        if let TurnDecision::Switch(next) = turns.point(me, did, step) {
            me = next;
        }
        order.push((me, turns.now(), turns.trail()));
    }
    order
}

#[test]
fn under_another_schedule_is_as_if_it_had_been_under_that_from_its_beginning() {
    for seed in 0..200 {
        for (begun, asked) in [("random:1", format!("random:{seed}")), ("pct:9:4:30", format!("pct:{seed}:3:80"))] {
            let mut fresh = turns(&asked);
            alone(&mut fresh, seed);
            let mut server = turns(begun);
            alone(&mut server, seed);
            let mut forked = server.under(asked.parse().expect("a schedule"), 10_000);
            let now = |turns: &Turns| (turns.points(), turns.now(), turns.trail());
            assert_eq!(now(&forked), now(&fresh), "{asked}");
            assert_eq!(together(&mut forked), together(&mut fresh), "{asked}");
            assert_eq!(forked.number(), fresh.number(), "{asked}");
        }
    }
}

#[test]
fn numbers_follow_from_the_seed_as_soon_as_there_is_a_second_thread() {
    let (mut one, mut other) = (turns("random:1"), turns("random:2"));
    assert_eq!([0; 3].map(|_| one.number()), [0; 3].map(|_| other.number()));
    assert_ne!(one.number(), one.number());
    one.add();
    other.add();
    assert_ne!(one.number(), other.number());
}
