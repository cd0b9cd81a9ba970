//! The kinds of findings, in one table: names, headings, sentences, rules and what would help. Text, JSON, SARIF, pages
//! and suppressions take what they say about a kind from here.

use super::{WatchedAccess, WatchedLocation};
use serde::{Deserialize, Serialize};

/// What is wrong between two places in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// They conflict, at least one is not atomic, and nothing orders them.
    DataRace,
    /// A read may miss the write.
    StaleRead,
    /// A store may be overtaken by the write.
    StaleWrite,
    /// A read-modify-write may miss the write.
    StaleUpdate,
    /// Threads lock the same locks in different orders: another schedule may deadlock.
    LockOrderInversion,
    /// A lock is unlocked by a thread that does not hold it while another one does.
    UnlockByAnother,
    /// A lock is unlocked that no thread holds.
    UnlockOfUnlocked,
    /// A lock is destroyed while a thread holds it.
    DestroyOfLocked,
    /// A thread waits for a lock that it holds itself.
    DoubleLock,
    /// A lock is used after it was destroyed.
    UseOfDestroyed,
    /// A block of the heap is freed twice.
    DoubleFree,
    /// A thread has ended and was neither joined nor detached.
    ThreadLeak,
    /// A signal handler changes `errno` of the code that it interrupts.
    ErrnoChange,
    /// A file descriptor is closed, and nothing orders that with another call that uses or closes it.
    DescriptorRace,
}

/// A group of problems, which a line of a suppressions file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemGroup {
    /// Data races.
    Race,
    /// Robustness violations.
    Robustness,
    /// Locks, threads, memory and other objects of the C library that are used wrongly.
    Misuse,
}

impl ProblemGroup {
    /// Its name in suppressions.
    pub fn name(self) -> &'static str {
        match self {
            ProblemGroup::Race => "race",
            ProblemGroup::Robustness => "robust",
            ProblemGroup::Misuse => "misuse",
        }
    }
}

/// What is said about a problem wherever it is reported.
struct ProblemTraits {
    name: &'static str,
    group: ProblemGroup,
    /// A heading.
    words: &'static str,
    /// The problem in general, as a rule says it.
    description: &'static str,
    /// Whether it is an error by itself, not only a possibility of one.
    certain: bool,
    /// What the two places are.
    roles: [&'static str; 2],
    /// What is between the first place and the second one.
    joint: &'static str,
    /// The finding in a sentence, with `{access}`, `{other}` and `{location}`.
    sentence: &'static str,
    /// What would help; empty if that depends on the finding.
    advice: &'static str,
}

impl Problem {
    /// In the order of the table.
    pub const ALL: [Problem; 14] = [
        Problem::DataRace,
        Problem::StaleRead,
        Problem::StaleWrite,
        Problem::StaleUpdate,
        Problem::LockOrderInversion,
        Problem::UnlockByAnother,
        Problem::UnlockOfUnlocked,
        Problem::DestroyOfLocked,
        Problem::DoubleLock,
        Problem::UseOfDestroyed,
        Problem::DoubleFree,
        Problem::ThreadLeak,
        Problem::ErrnoChange,
        Problem::DescriptorRace,
    ];

    /// Its name in documents, suppressions and options; stable across versions.
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// The problem with a name.
    pub fn of_name(name: &str) -> Option<Problem> {
        Problem::ALL.into_iter().find(|problem| problem.name() == name)
    }

    /// The group it belongs to.
    pub fn group(self) -> ProblemGroup {
        self.traits().group
    }

    /// A heading.
    pub fn words(self) -> &'static str {
        self.traits().words
    }

    /// The problem in general.
    pub fn description(self) -> &'static str {
        self.traits().description
    }

    /// Whether it is an error by itself, not only a possibility of one.
    pub fn is_certain(self) -> bool {
        self.traits().certain
    }

    /// What the two places of a finding are: headings for both.
    pub fn roles(self) -> [&'static str; 2] {
        self.traits().roles
    }

    /// What to write between the first place and the second one.
    pub fn joint(self) -> &'static str {
        self.traits().joint
    }

    /// A finding in a sentence, without its places.
    pub fn sentence(self, access: &WatchedAccess, other: &WatchedAccess, location: &WatchedLocation) -> String {
        let sentence = self.traits().sentence.replace("{access}", &access.words()).replace("{other}", &other.words());
        // Names of variables come last, because they could contain anything.
        sentence.replace("{location}", &location.words())
    }

    /// What would help, if it is the same for all findings of this kind.
    pub fn advice(self) -> Option<&'static str> {
        Some(self.traits().advice).filter(|advice| !advice.is_empty())
    }

    fn traits(self) -> ProblemTraits {
        use ProblemGroup::{Misuse, Race, Robustness};
        match self {
            Problem::DataRace => ProblemTraits {
                name: "data-race",
                group: Race,
                words: "data race",
                description: "Conflicting accesses, at least one of them non-atomic, are not ordered by happens-before.",
                certain: true,
                roles: ["the later access", "the earlier access"],
                joint: "is not ordered with the ",
                sentence: "data race on {location}: {access} and {other} are not ordered",
                advice: "",
            },
            Problem::StaleRead => ProblemTraits {
                name: "stale-read",
                group: Robustness,
                words: "may read a stale value",
                description: "Under sequential consistency this read sees a write that it may miss under C11.",
                certain: false,
                roles: ["may be stale", "what it may miss"],
                joint: "may miss the ",
                sentence: "{access} of {location} may miss the {other} and read a stale value",
                advice: "",
            },
            Problem::StaleWrite => ProblemTraits {
                name: "stale-write",
                group: Robustness,
                words: "store may be overtaken",
                description: "Under sequential consistency this store comes after a write that may overwrite it under C11.",
                certain: false,
                roles: ["may be stale", "what it may miss"],
                joint: "may end up before the ",
                sentence: "{access} to {location} may be overtaken by the {other} before it",
                advice: "",
            },
            Problem::StaleUpdate => ProblemTraits {
                name: "stale-update",
                group: Robustness,
                words: "update may read a stale value",
                description: "Under sequential consistency this read-modify-write sees a write that it may miss under C11.",
                certain: false,
                roles: ["may be stale", "what it may miss"],
                joint: "may miss the ",
                sentence: "{access} of {location} may miss the {other} and update a stale value",
                advice: "",
            },
            Problem::LockOrderInversion => ProblemTraits {
                name: "lock-order-inversion",
                group: Misuse,
                words: "locks in different orders, which may deadlock",
                description: "Threads lock the same locks in different orders. In another schedule each may wait for the other.",
                certain: false,
                roles: ["the lock that closes the circle", "a lock in the other order"],
                joint: "is in another order than the ",
                sentence: "{access} of {location} and {other} in another thread may deadlock: the locks are taken in different orders",
                advice: "lock these locks in the same order everywhere, or take them together (std::scoped_lock), or protect both orders by one more lock",
            },
            Problem::UnlockByAnother => ProblemTraits {
                name: "unlock-by-another",
                group: Misuse,
                words: "unlock by a thread that does not hold the lock",
                description: "A lock is unlocked by a thread that does not hold it, while another thread does.",
                certain: true,
                roles: ["the unlock", "how the other thread got the lock"],
                joint: "but another thread holds it since the ",
                sentence: "{access} of {location} by a thread that does not hold it, while another thread does",
                advice: "let the thread that locks also unlock; a semaphore may be handed on between threads",
            },
            Problem::UnlockOfUnlocked => ProblemTraits {
                name: "unlock-of-unlocked",
                group: Misuse,
                words: "unlock of a lock that no thread holds",
                description: "A lock is unlocked that no thread holds.",
                certain: true,
                roles: ["the unlock", "the unlock before it"],
                joint: "but no thread holds it since the ",
                sentence: "{access} of {location}, which no thread holds",
                advice: "unlock exactly once for each lock, on every path",
            },
            Problem::DestroyOfLocked => ProblemTraits {
                name: "destroy-of-locked",
                group: Misuse,
                words: "destruction of a lock that is held",
                description: "A lock is destroyed while a thread holds it.",
                certain: true,
                roles: ["the destruction", "how it came to be held"],
                joint: "but it is held since the ",
                sentence: "{access} of {location}, which is held",
                advice: "unlock it, and wait for the threads that use it, before it is destroyed",
            },
            Problem::DoubleLock => ProblemTraits {
                name: "double-lock",
                group: Misuse,
                words: "lock of a lock that the thread holds itself",
                description: "A thread waits for a lock that it holds itself: it waits for ever.",
                certain: true,
                roles: ["the second lock", "the first lock"],
                joint: "but the thread holds it since the ",
                sentence: "{access} of {location} by a thread that holds it already and now waits for itself",
                advice: "unlock it first, or split the function so that one part expects the lock to be held, or make the mutex recursive",
            },
            Problem::UseOfDestroyed => ProblemTraits {
                name: "use-of-destroyed",
                group: Misuse,
                words: "use of a lock that was destroyed",
                description: "A lock is used after it was destroyed and before it was initialised again.",
                certain: true,
                roles: ["the use", "the destruction"],
                joint: "comes after the ",
                sentence: "{access} of {location} after its {other}",
                advice: "destroy a lock only when no thread will use it any more",
            },
            Problem::DoubleFree => ProblemTraits {
                name: "double-free",
                group: Misuse,
                words: "memory is freed twice",
                description: "A block of the heap is freed that was freed already.",
                certain: true,
                roles: ["the second time", "the first time"],
                joint: "comes after the ",
                sentence: "{location} is freed twice",
                advice: "decide which part of the program owns the block, and free it only there",
            },
            Problem::ThreadLeak => ProblemTraits {
                name: "thread-leak",
                group: Misuse,
                words: "thread was neither joined nor detached",
                description: "A thread has ended, and nothing joins or detaches it: its stack is never given back.",
                certain: false,
                roles: ["where it was started", "the thread that ended"],
                joint: "was neither joined nor detached before the ",
                sentence: "a thread that ended was neither joined nor detached",
                advice: "join the thread, or detach it",
            },
            Problem::ErrnoChange => ProblemTraits {
                name: "errno-change",
                group: Misuse,
                words: "signal handler changes errno",
                description: "A signal handler returns with another errno than it found, which the interrupted code may be about to read.",
                certain: false,
                roles: ["the handler", "what it interrupted"],
                joint: "changed errno in the ",
                sentence: "a signal handler changes errno in the {other}",
                advice: "save errno at the beginning of the handler and restore it at the end",
            },
            Problem::DescriptorRace => ProblemTraits {
                name: "descriptor-race",
                group: Misuse,
                words: "file descriptor is closed while another thread uses it",
                description: "A file descriptor is closed, and nothing orders that with another call that uses or closes it, which may reach the file that gets the number next.",
                certain: true,
                roles: ["the later call", "the earlier call"],
                joint: "is not ordered with the ",
                sentence: "{access} and {other} of {location} are not ordered: the later one may reach another file with the same number",
                advice: "close it when no thread will use it any more: after a join, or under a lock that all uses take; shutdown() wakes a thread that waits for a socket without freeing the number",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_documents_and_differ() {
        for (number, problem) in Problem::ALL.into_iter().enumerate() {
            let written = serde_json::to_value(problem).expect("JSON");
            assert_eq!(written, problem.name(), "{problem:?}");
            assert_eq!(Problem::of_name(problem.name()), Some(problem));
            assert_eq!(problem as usize, number);
            assert_eq!(problem.advice().is_some(), problem.group() == ProblemGroup::Misuse, "{problem:?}");
        }
        assert_eq!(Problem::of_name("race"), None, "a group is no problem");
    }
}
