//! Tries suggestions: some accesses count as stronger than they are, and some fences count as present.
//!
//! The program does not change, and neither do the effects of its accesses, which are all seq_cst here anyway. Only the
//! input of the clocks changes, at the places that `ravelin run` names by file and offset. `ravelin run` may also
//! request a list of all atomic accesses that were made, so that it can report their number.

use crate::atomics;
use crate::file;
use crate::spin::Spin;
use ravelin_clocks::AtomicOrder;
use ravelin_findings::{AccessKind, Record, SiteRecord};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// In [`crate::this_thread::WatchedThread::special`]: there are repairs, or accesses must be listed.
pub const REPAIRED: u32 = 2;

static SPECIAL: AtomicU32 = AtomicU32::new(0);

/// What to do at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderRepair {
    AtLeast(AtomicOrder),
    FenceBefore,
}

/// A repair as requested: a hash of the file, an offset in it.
#[derive(Debug, PartialEq, Eq)]
struct RequestedRepair {
    file: u64,
    offset: usize,
    repair: OrderRepair,
}

static ASKED: Spin<Vec<RequestedRepair>> = Spin::new(Vec::new());
/// Repairs by address, sorted.
static REPAIRS: Spin<Vec<(usize, OrderRepair)>> = Spin::new(Vec::new());

/// Accesses seen: address, kind and order in one word, by a hash of the address.
const SITES: usize = 1 << 14;
static SEEN: [AtomicU64; SITES] = [const { AtomicU64::new(0) }; SITES];
const PC: u64 = (1 << 48) - 1;

/// Whether the accesses of new threads need this module.
pub fn special() -> u32 {
    SPECIAL.load(Ordering::Relaxed)
}

/// Whether there is anything to do.
pub fn is_on() -> bool {
    special() != 0
}

/// Requests a list of all atomic accesses.
pub fn want_sites() {
    SPECIAL.store(REPAIRED, Ordering::Relaxed);
}

/// Reads `FILE-HASH:OFFSET:ORDER` or `FILE-HASH:OFFSET:fence`, numbers in hexadecimal; other texts are ignored.
pub fn want(text: &str) {
    if let Some(asked) = requested_repair(text) {
        ASKED.lock().push(asked);
        want_sites();
    }
}

fn requested_repair(text: &str) -> Option<RequestedRepair> {
    let mut parts = text.split(':');
    let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
    let (file, offset) = (number()?, number()? as usize);
    let repair = match parts.next()? {
        "acquire" => OrderRepair::AtLeast(AtomicOrder::Acquire),
        "release" => OrderRepair::AtLeast(AtomicOrder::Release),
        "acq_rel" => OrderRepair::AtLeast(AtomicOrder::AcqRel),
        "seq_cst" => OrderRepair::AtLeast(AtomicOrder::SeqCst),
        "fence" => OrderRepair::FenceBefore,
        _ => return None,
    };
    Some(RequestedRepair { file, offset, repair })
}

/// Finds the addresses of the requested repairs, when the files are loaded.
pub fn find_places() {
    let asked = ASKED.lock();
    if asked.is_empty() {
        return;
    }
    let modules = file::modules();
    let mut repairs: Vec<(usize, OrderRepair)> = Vec::new();
    for one in asked.iter() {
        if let Some(module) = modules.iter().find(|module| ravelin_findings::hash(&module.path) == one.file) {
            repairs.push((one.offset.wrapping_add(module.bias as usize), one.repair));
        }
    }
    repairs.sort_by_key(|(pc, _)| *pc);
    *REPAIRS.lock() = repairs;
}

/// Before an access: lists it, executes a requested fence, and returns the order that the access must have.
pub fn prepare(pc: usize, code: i32, kind: AccessKind) -> i32 {
    note(pc, code, kind);
    let mut code = code;
    apply(pc, |least| code = stronger(code, least, kind));
    code
}

/// The same for a compare-exchange, with an order for success and one for failure. Both become stronger; a failed one
/// is a load.
pub fn prepare_exchange(pc: usize, (mut success, mut failure): (i32, i32)) -> (i32, i32) {
    note(pc, success, AccessKind::CompareExchange);
    apply(pc, |least| {
        success = stronger(success, least, AccessKind::CompareExchange);
        failure = stronger(failure, least, AccessKind::Load);
    });
    (success, failure)
}

/// Does what is requested at a place: executes fences, and passes the weakest allowed orders to `at_least`.
fn apply(pc: usize, mut at_least: impl FnMut(AtomicOrder)) {
    let mut fence = false;
    {
        let repairs = REPAIRS.lock();
        let first = repairs.partition_point(|(at, _)| *at < pc);
        for (_, repair) in repairs[first..].iter().take_while(|(at, _)| *at == pc) {
            match repair {
                OrderRepair::AtLeast(least) => at_least(*least),
                OrderRepair::FenceBefore => fence = true,
            }
        }
    }
    if fence {
        atomics::fence(AtomicOrder::SeqCst);
    }
}

/// The code of an order that is at least `least`, as far as an access of this kind allows.
fn stronger(code: i32, least: AtomicOrder, kind: AccessKind) -> i32 {
    let least = match (least, kind) {
        (AtomicOrder::AcqRel | AtomicOrder::Acquire, AccessKind::Load) => AtomicOrder::Acquire,
        (AtomicOrder::Release, AccessKind::Load) | (AtomicOrder::Acquire, AccessKind::Store) => return code,
        (AtomicOrder::AcqRel, AccessKind::Store) => AtomicOrder::Release,
        (least, _) => least,
    };
    let code = code & 0x7fff;
    match (code, least) {
        (5, _) | (_, AtomicOrder::SeqCst) => 5,
        (4, _) | (_, AtomicOrder::AcqRel) | (1 | 2, AtomicOrder::Release) | (3, AtomicOrder::Acquire) => 4,
        (0, AtomicOrder::Acquire) => 2,
        (0, AtomicOrder::Release) => 3,
        _ => code,
    }
}

fn note(pc: usize, code: i32, kind: AccessKind) {
    let word = pc as u64 & PC | (kind as u64) << 48 | ((code & 7) as u64) << 52 | 1 << 63;
    let mut at = (pc as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20;
    for _ in 0..64 {
        at %= SITES;
        match SEEN[at].compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return,
            Err(seen) if seen & PC == word & PC => return,
            Err(_) => at += 1,
        }
    }
}

/// Writes the list, once.
pub fn tell_sites() {
    const KINDS: [AccessKind; 4] =
        [AccessKind::Load, AccessKind::Store, AccessKind::Update, AccessKind::CompareExchange];
    use ravelin_findings::RecordedOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    const ORDERS: [ravelin_findings::RecordedOrder; 6] = [Relaxed, Acquire, Acquire, Release, AcqRel, SeqCst];
    if !is_on() {
        return;
    }
    file::write_modules();
    for site in &SEEN {
        let word = site.swap(0, Ordering::Relaxed);
        if word != 0 {
            let kind = KINDS[(word >> 48 & 0xf).min(3) as usize];
            let order = ORDERS[(word >> 52 & 7).min(5) as usize];
            file::write(&Record::Site(SiteRecord { pc: word & PC, kind, order }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [AccessKind; 4] =
        [AccessKind::Load, AccessKind::Store, AccessKind::Update, AccessKind::CompareExchange];

    /// Whether the order with this code acquires, releases, and is seq_cst.
    fn powers(code: i32) -> [bool; 3] {
        [matches!(code, 1 | 2 | 4 | 5), matches!(code, 3..=5), code == 5]
    }

    #[test]
    fn a_repair_is_read_with_its_place() {
        let acquire = RequestedRepair { file: 0xab, offset: 0x10, repair: OrderRepair::AtLeast(AtomicOrder::Acquire) };
        assert_eq!(requested_repair("ab:10:acquire"), Some(acquire));
        for (word, repair) in [
            ("release", OrderRepair::AtLeast(AtomicOrder::Release)),
            ("acq_rel", OrderRepair::AtLeast(AtomicOrder::AcqRel)),
            ("seq_cst", OrderRepair::AtLeast(AtomicOrder::SeqCst)),
            ("fence", OrderRepair::FenceBefore),
        ] {
            let text = format!("ffffffffffffffff:0:{word}");
            assert_eq!(requested_repair(&text), Some(RequestedRepair { file: u64::MAX, offset: 0, repair }), "{text}");
        }
    }

    #[test]
    fn what_is_no_repair_is_left_out() {
        for text in
            ["", "ab", "ab:10", "ab:10:", "ab:10:relaxed", "x:10:fence", "ab::fence", "1ffffffffffffffff:0:fence"]
        {
            assert_eq!(requested_repair(text), None, "{text}");
        }
    }

    #[test]
    fn an_order_gets_all_it_had_and_all_that_is_asked_for_as_far_as_the_access_can_have_it() {
        for code in 0..=5 {
            for (least, asked_for) in [
                (AtomicOrder::Relaxed, 0),
                (AtomicOrder::Acquire, 2),
                (AtomicOrder::Release, 3),
                (AtomicOrder::AcqRel, 4),
                (AtomicOrder::SeqCst, 5),
            ] {
                for kind in KINDS {
                    let [acquires, releases, is_seq_cst] = powers(stronger(code, least, kind));
                    let (had, wanted) = (powers(code), powers(asked_for));
                    let can_acquire = kind != AccessKind::Store || is_seq_cst;
                    let can_release = kind != AccessKind::Load || is_seq_cst;
                    let what = format!("{code} to at least {least:?} of {kind:?}");
                    assert_eq!(acquires, had[0] || (wanted[0] && can_acquire), "{what}");
                    assert_eq!(releases, had[1] || (wanted[1] && can_release), "{what}");
                    assert_eq!(is_seq_cst, had[2] || wanted[2], "{what}");
                }
            }
        }
    }

    #[test]
    fn the_accesses_at_a_place_of_a_loaded_file_are_repaired_and_no_others() {
        let module = file::modules().into_iter().find(|module| module.bias != 0).expect("a file that was moved");
        let offset = 0x0ffe_0000;
        let file = ravelin_findings::hash(&module.path);
        for (offset, repair) in [
            (offset + 4, OrderRepair::AtLeast(AtomicOrder::SeqCst)),
            (offset + 12, OrderRepair::AtLeast(AtomicOrder::Release)),
            (offset, OrderRepair::AtLeast(AtomicOrder::Acquire)),
            (offset, OrderRepair::AtLeast(AtomicOrder::Release)),
        ] {
            ASKED.lock().push(RequestedRepair { file, offset, repair });
        }
        ASKED.lock().push(RequestedRepair {
            file: file ^ 1,
            offset: offset + 8,
            repair: OrderRepair::AtLeast(AtomicOrder::SeqCst),
        });
        find_places();
        let at = module.bias as usize + offset;
        let codes = [at - 1, at, at + 1, at + 4, at + 8].map(|pc| prepare(pc, 0, AccessKind::Update));
        assert_eq!(codes, [0, 4, 0, 5, 0]);
        // A failed one is a load: it acquires if a successful one does, and has nothing to release.
        let codes = [at, at + 4, at + 12].map(|pc| prepare_exchange(pc, (0, 0)));
        assert_eq!(codes, [(4, 2), (5, 5), (3, 0)]);
    }

    #[test]
    fn an_access_is_listed_once_with_what_the_program_asked_for() {
        let pc = 0x5e11_0000_0001;
        note(pc, 3, AccessKind::Store);
        note(pc, 5, AccessKind::Store);
        let seen: Vec<u64> = SEEN.iter().map(|site| site.load(Ordering::Relaxed)).collect();
        let here: Vec<&u64> = seen.iter().filter(|word| **word & PC == pc as u64).collect();
        let [word] = here[..] else { panic!("{} entries", here.len()) };
        assert_eq!((word >> 48 & 0xf, word >> 52 & 7), (AccessKind::Store as u64, 3));
    }
}
