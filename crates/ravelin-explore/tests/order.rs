//! Any number of workers finds the same, in the same order, by the same paths.

use crate::jumble;

use jumble::Jumble;
use ravelin_explore::{Budget, End, Limit, Options, Space, Until, explore, explore_in_stages};

const WORKERS: [usize; 3] = [2, 3, 5];

/// Spaces with small levels, and with levels that several threads expand in several rounds.
fn systems() -> Vec<Jumble> {
    let narrow = (1..8).map(|seed| Jumble::new(seed, 3_000));
    let wide = (1..4).map(|seed| Jumble { wide: true, ..Jumble::new(seed, 400_000) });
    narrow.chain(wide).collect()
}

fn explored(system: &Jumble, workers: usize, until: Until) -> Space<u64> {
    explore(system, &Options { budget: Budget::unlimited().workers(workers), until })
}

/// The states in their order; what was found, where; and the path to each finding.
type Essence = (Vec<u64>, Vec<(u32, Vec<u64>)>);

fn essence(space: &Space<u64>) -> Essence {
    let states = space.ids().map(|id| space.state(id)[0]).collect();
    let path = |id| space.path(id).iter().map(|state| state[0]).collect();
    (states, space.findings.iter().map(|finding| (finding.kind, path(finding.state))).collect())
}

#[test]
fn states_findings_and_paths_are_those_of_one_worker() {
    for mut system in systems() {
        system.goals = (0..60).map(|goal| goal * goal * 101 % system.size).collect();
        let expected = essence(&explored(&system, 1, Until::Exhausted));
        assert!(expected.1.len() > 5);
        for workers in WORKERS {
            let found = essence(&explored(&system, workers, Until::Exhausted));
            assert!(found.0 == expected.0, "states with seed {}, {workers} workers", system.seed);
            assert_eq!(found.1, expected.1, "findings with seed {}, {workers} workers", system.seed);
        }
    }
}

#[test]
fn the_first_finding_is_that_of_one_worker() {
    for mut system in systems() {
        let order: Vec<u64> = essence(&explored(&system, 1, Until::Exhausted)).0;
        // Some of the states in the middle, most of them in one level.
        system.goals = (0..40).map(|goal| order[order.len() / 2 + goal * order.len() / 200]).rev().collect();
        let expected = essence(&explored(&system, 1, Until::FirstFinding)).1;
        let level = essence(&explored(&system, 1, Until::LevelOfFirstFinding)).1;
        assert_eq!(level[0], expected[0]);
        assert!(level.iter().all(|(_, path)| path.len() == expected[0].1.len()));
        for workers in WORKERS {
            let found = essence(&explored(&system, workers, Until::FirstFinding)).1;
            assert_eq!(found[0], expected[0], "seed {}, {workers} workers", system.seed);
            let found = essence(&explored(&system, workers, Until::LevelOfFirstFinding)).1;
            assert_eq!(found, level, "seed {}, {workers} workers", system.seed);
        }
    }
}

#[test]
fn whether_a_finding_or_an_interrupt_comes_first_does_not_depend_on_workers() {
    for mut system in systems() {
        let order: Vec<u64> = essence(&explored(&system, 1, Until::Exhausted)).0;
        let middle = order.len() / 2;
        for (refused, goal) in [(middle, middle + 1), (middle + 1, middle), (middle + 700, middle)] {
            (system.refused, system.goals) = (Some(order[refused]), vec![order[goal]]);
            for until in [Until::FirstFinding, Until::LevelOfFirstFinding] {
                let expected = explored(&system, 1, until).end;
                for workers in WORKERS {
                    assert_eq!(explored(&system, workers, until).end, expected, "seed {}, {workers}", system.seed);
                }
            }
        }
    }
}

#[test]
fn a_limit_of_states_is_passed_by_one_state_for_each_worker() {
    for (fan, workers) in [(1, 1), (1, 2), (1, 5), (100, 1), (100, 2), (100, 5)] {
        let system = Jumble { wide: true, fan, ..Jumble::new(5, 400_000) };
        for most in [2, 100, 5_000, 50_000, 200_000] {
            let budget = Budget::unlimited().workers(workers).states(most);
            let options = Options { budget, until: Until::Exhausted };
            let space = explore(&system, &options);
            assert_eq!(space.end, End::Limit(Limit::States(most)));
            let states = space.statistics.states;
            // One that is too many, and one that each of the other workers is about to store.
            assert!(states > most && states <= most + workers as u64, "{states} of {most}, {workers} workers");
        }
    }
}

/// Looking on the way changes nothing, and each look shows the beginning of the whole.
#[test]
fn stages_are_parts_of_one_exploration() {
    for system in systems() {
        let whole = explored(&system, 1, Until::Exhausted);
        let expected = essence(&whole).0;
        for workers in [1, 2, 3] {
            let options = Options { budget: Budget::unlimited().workers(workers), until: Until::Exhausted };
            let mut size = 1;
            let mut looks = 0;
            let space = explore_in_stages(&system, &options, size, &mut |space| {
                let seen = essence(space).0;
                assert!(seen.len() as u64 > size && seen.len() as u64 == space.statistics.states);
                let certain = size as usize;
                assert!(seen[..certain] == expected[..certain], "seed {}, {workers} workers", system.seed);
                for (place, id) in space.ids().enumerate().step_by(certain.div_ceil(50)) {
                    assert_eq!(space.depth(place) + 1, space.path(id).len());
                }
                looks += 1;
                size = size * 3 / 2 + 1;
                Some(size)
            });
            assert_eq!((space.end.clone(), looks > 10), (End::Exhausted, true));
            assert!(essence(&space).0 == expected, "seed {}, {workers} workers", system.seed);
        }
        let mut looks = 0;
        let space = explore_in_stages(&system, &Options::default(), 100, &mut |_| {
            looks += 1;
            (looks < 3).then_some(looks * 200)
        });
        assert_eq!((space.end, looks), (End::Limit(Limit::States(400)), 3));
    }
}
