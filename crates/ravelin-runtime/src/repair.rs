//! Suggestions tried out: accesses that count as stronger than they are, and fences that count as present.
//!
//! The program is not changed, and neither is what its accesses do: they are all seq_cst here anyway. Only what the
//! clocks are told changes, for the places that `ravelin run` names by file and offset. It may also ask for a list of
//! all atomic accesses that were made, so that it can say how many there are.

use crate::atomics;
use crate::file;
use crate::spin::Spin;
use ravelin_clocks::Order;
use ravelin_findings::{AccessKind, Record, Site};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// In [`crate::this_thread::Watched::special`]: there are repairs, or accesses are to be listed.
pub const REPAIRED: u32 = 2;

static SPECIAL: AtomicU32 = AtomicU32::new(0);

/// What is to be done at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repair {
    AtLeast(Order),
    FenceBefore,
}

/// A repair as it was asked for: a hash of the file, an offset in it.
struct Asked {
    file: u64,
    offset: usize,
    repair: Repair,
}

static ASKED: Spin<Vec<Asked>> = Spin::new(Vec::new());
/// Repairs by address, sorted.
static REPAIRS: Spin<Vec<(usize, Repair)>> = Spin::new(Vec::new());

/// Accesses seen: address, kind and order in one word, by a hash of the address.
const SITES: usize = 1 << 14;
static SEEN: [AtomicU64; SITES] = [const { AtomicU64::new(0) }; SITES];
const PC: u64 = (1 << 48) - 1;

/// How the accesses of new threads are to be treated.
pub fn special() -> u32 {
    SPECIAL.load(Ordering::Relaxed)
}

/// Whether there is anything to do.
pub fn is_on() -> bool {
    special() != 0
}

/// All atomic accesses are to be listed.
pub fn want_sites() {
    SPECIAL.store(REPAIRED, Ordering::Relaxed);
}

/// Takes over `FILE-HASH:OFFSET:ORDER` or `FILE-HASH:OFFSET:fence`, numbers in hexadecimal; others are left out.
pub fn want(text: &str) {
    let mut parts = text.split(':');
    let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
    let (Some(file), Some(offset)) = (number(), number()) else { return };
    let repair = match parts.next() {
        Some("acquire") => Repair::AtLeast(Order::Acquire),
        Some("release") => Repair::AtLeast(Order::Release),
        Some("acq_rel") => Repair::AtLeast(Order::AcqRel),
        Some("seq_cst") => Repair::AtLeast(Order::SeqCst),
        Some("fence") => Repair::FenceBefore,
        _ => return,
    };
    ASKED.lock().push(Asked { file, offset: offset as usize, repair });
    want_sites();
}

/// Finds the addresses of what was asked for, when the files are loaded.
pub fn find_places() {
    let asked = ASKED.lock();
    if asked.is_empty() {
        return;
    }
    let modules = file::modules();
    let mut repairs: Vec<(usize, Repair)> = Vec::new();
    for one in asked.iter() {
        if let Some(module) = modules.iter().find(|module| ravelin_findings::hash(&module.path) == one.file) {
            repairs.push((one.offset.wrapping_add(module.bias as usize), one.repair));
        }
    }
    repairs.sort_by_key(|(pc, _)| *pc);
    *REPAIRS.lock() = repairs;
}

/// Before an access: lists it, executes a fence that is asked for, and gives the order it is to have.
pub fn prepare(pc: usize, code: i32, kind: AccessKind) -> i32 {
    note(pc, code, kind);
    let mut code = code;
    apply(pc, |least| code = stronger(code, least, kind));
    code
}

/// The same for a compare-exchange, with an order for success and one for failure. Both become stronger; one that fails
/// is a load.
pub fn prepare_exchange(pc: usize, (mut success, mut failure): (i32, i32)) -> (i32, i32) {
    note(pc, success, AccessKind::CompareExchange);
    apply(pc, |least| {
        success = stronger(success, least, AccessKind::CompareExchange);
        failure = stronger(failure, least, AccessKind::Load);
    });
    (success, failure)
}

/// Does what is asked for at a place: executes fences, and tells which orders there have to be at least.
fn apply(pc: usize, mut at_least: impl FnMut(Order)) {
    let mut fence = false;
    {
        let repairs = REPAIRS.lock();
        let first = repairs.partition_point(|(at, _)| *at < pc);
        for (_, repair) in repairs[first..].iter().take_while(|(at, _)| *at == pc) {
            match repair {
                Repair::AtLeast(least) => at_least(*least),
                Repair::FenceBefore => fence = true,
            }
        }
    }
    if fence {
        atomics::fence(Order::SeqCst);
    }
}

/// The code of an order that is at least `least`, as far as an access of this kind can have it.
fn stronger(code: i32, least: Order, kind: AccessKind) -> i32 {
    let least = match (least, kind) {
        (Order::AcqRel | Order::Acquire, AccessKind::Load) => Order::Acquire,
        (Order::Release, AccessKind::Load) | (Order::Acquire, AccessKind::Store) => return code,
        (Order::AcqRel, AccessKind::Store) => Order::Release,
        (least, _) => least,
    };
    let code = code & 0x7fff;
    match (code, least) {
        (5, _) | (_, Order::SeqCst) => 5,
        (4, _) | (_, Order::AcqRel) | (1 | 2, Order::Release) | (3, Order::Acquire) => 4,
        (0, Order::Acquire) => 2,
        (0, Order::Release) => 3,
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
    use ravelin_findings::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    const ORDERS: [ravelin_findings::Order; 6] = [Relaxed, Acquire, Acquire, Release, AcqRel, SeqCst];
    if !is_on() {
        return;
    }
    file::write_modules();
    for site in &SEEN {
        let word = site.swap(0, Ordering::Relaxed);
        if word != 0 {
            let kind = KINDS[(word >> 48 & 0xf).min(3) as usize];
            let order = ORDERS[(word >> 52 & 7).min(5) as usize];
            file::write(&Record::Site(Site { pc: word & PC, kind, order }));
        }
    }
}
