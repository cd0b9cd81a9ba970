// Small programs, each in a fixed order of threads. The arguments are the program, the order of its stores and that of its
// loads, and perhaps the order of fences.
// runs: 1
// case sb-relaxed sb relaxed relaxed: violation sb-wx sb-rx
// case sb-release-acquire sb release acquire: violation sb-wx sb-rx
// case sb-seq-cst sb seq_cst seq_cst: none
// case sb-fences sb relaxed relaxed seq_cst: none
// case sb-weak-fences sb relaxed relaxed acq_rel: violation sb-wx sb-rx
// case mp-relaxed mp relaxed relaxed: violation mp-wx mp-rx
// case mp-release-relaxed mp release relaxed: violation mp-wx mp-rx
// case mp-relaxed-acquire mp relaxed acquire: violation mp-wx mp-rx
// case mp-release-acquire mp release acquire: none
// case mp-seq-cst mp seq_cst seq_cst: none
// case mp-fences mp relaxed relaxed acq_rel: none
// case overwritten overwritten release acquire: violation ov-wx ov-rx
// case overwritten-no-predict overwritten release acquire | --no-predict: none
// case overwritten-seq-cst overwritten seq_cst seq_cst: none
// case 2+2w-release 2+2w release relaxed: violation ww-wx ww-ax
// case 2+2w-seq-cst 2+2w seq_cst relaxed: none
// case iriw-acquire iriw release acquire: violation iriw-wx iriw-rx
// case iriw-seq-cst iriw seq_cst seq_cst: none
// case updates updates relaxed relaxed: none
// case update-and-store update-and-store relaxed relaxed: violation up-wx up-ux
// case bar-marked bar-1-1 release acquire: none
// case bar-0-2 bar-0-2 release acquire: none
// case bar-0-0 bar-0-0 release acquire: violation bar-wx bar-rx
// case bar-0-0-fences bar-0-0 release acquire seq_cst: none
// case weak-cas weak-cas release acquire: violation cas-wx cas-x
// case strong-cas strong-cas release acquire: none
// case blocking-cas blocking-cas release acquire: none
// case types types release acquire: violation ty-wx ty-rx
// case types-seq-cst types seq_cst seq_cst: none

use std::sync::atomic::{AtomicU32, Ordering, fence};
use watched::{argument, in_turns, in_turns_last_blocks, order};

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
static TX: ravelin_hints::atomic::AtomicU32 = ravelin_hints::atomic::AtomicU32::new(0);
static TY: ravelin_hints::atomic::AtomicU32 = ravelin_hints::atomic::AtomicU32::new(0);

/// Orders of stores, loads and fences.
#[derive(Clone, Copy)]
struct Orders {
    w: Ordering,
    r: Ordering,
    f: Option<Ordering>,
}

impl Orders {
    fn fence(self) {
        if let Some(order) = self.f {
            fence(order);
        }
    }
}

type Turn = Box<dyn FnOnce() + Send>;

fn main() {
    let fence = Some(argument(4)).filter(|name| !name.is_empty());
    let o = Orders { w: order(&argument(2)), r: order(&argument(3)), f: fence.map(|name| order(&name)) };
    match &*argument(1) {
        "sb" => in_turns::<Turn>(vec![Box::new(move || sb_left(o)), Box::new(move || sb_right(o))]),
        "mp" => in_turns::<Turn>(vec![Box::new(move || mp_left(o)), Box::new(move || mp_right(o))]),
        "overwritten" => in_turns::<Turn>(vec![Box::new(move || ov_left(o)), Box::new(move || ov_right(o))]),
        "2+2w" => in_turns::<Turn>(vec![Box::new(move || ww_left(o)), Box::new(move || ww_right(o))]),
        "iriw" => in_turns::<Turn>(vec![
            Box::new(move || X.store(1, o.w)), //@iriw-wx
            Box::new(move || iriw_left(o)),
            Box::new(move || Y.store(1, o.w)),
            Box::new(move || iriw_right(o)),
        ]),
        "updates" => in_turns::<Turn>(vec![Box::new(move || up_left(o, false)), Box::new(move || up_right(o))]),
        "update-and-store" => {
            in_turns::<Turn>(vec![Box::new(move || up_left(o, true)), Box::new(move || up_right(o))]);
        }
        "bar-1-1" => watched::at_once(2, |me| bar(o, me)),
        "bar-0-2" => {
            in_turns_last_blocks::<Turn>(vec![Box::new(move || bar_left(o)), Box::new(move || bar_right(o, 2))])
        }
        "bar-0-0" => {
            in_turns_last_blocks::<Turn>(vec![Box::new(move || bar_left(o)), Box::new(move || bar_right(o, 0))])
        }
        kind @ ("weak-cas" | "strong-cas" | "blocking-cas") => {
            let kind = kind.trim_end_matches("-cas").to_owned();
            in_turns::<Turn>(vec![Box::new(move || cas_left(o)), Box::new(move || cas_right(o, &kind))]);
        }
        "types" => in_turns::<Turn>(vec![Box::new(move || types_left(o)), Box::new(move || types_right(o))]),
        other => panic!("{other} is no program"),
    }
}

fn sb_left(o: Orders) {
    X.store(1, o.w); //@sb-wx
    o.fence();
    Y.load(o.r);
}

fn sb_right(o: Orders) {
    Y.store(1, o.w);
    o.fence();
    X.load(o.r); //@sb-rx
}

fn mp_left(o: Orders) {
    X.store(1, Ordering::Relaxed); //@mp-wx
    o.fence();
    Y.store(1, o.w);
}

fn mp_right(o: Orders) {
    Y.load(o.r);
    o.fence();
    X.load(Ordering::Relaxed); //@mp-rx
}

/// Example 3.1 of Margalit et al., 2025.
fn ov_left(o: Orders) {
    X.store(1, o.w); //@ov-wx
    Y.load(o.r);
    X.store(2, o.w);
}

fn ov_right(o: Orders) {
    Y.store(1, o.w);
    X.load(o.r); //@ov-rx
    Y.store(2, o.w);
}

fn ww_left(o: Orders) {
    X.store(1, o.w); //@ww-wx
    Y.store(2, o.w);
}

fn ww_right(o: Orders) {
    Y.store(1, o.w);
    X.store(2, o.w); //@ww-ax
}

fn iriw_left(o: Orders) {
    X.load(o.r);
    Y.load(o.r);
}

fn iriw_right(o: Orders) {
    Y.load(o.r);
    X.load(o.r); //@iriw-rx
}

fn up_left(o: Orders, store: bool) {
    if store {
        X.store(1, o.w); //@up-wx
    } else {
        X.fetch_add(1, o.w);
    }
    Y.fetch_add(1, o.w);
}

fn up_right(o: Orders) {
    Y.fetch_add(1, o.w);
    X.fetch_add(1, o.w); //@up-ux
}

/// The barriers of example 4.2 of Margalit et al., 2025.
fn bar(o: Orders, me: usize) {
    let (mine, other) = if me == 0 { (&X, &Y) } else { (&Y, &X) };
    mine.store(1, o.w);
    ravelin_hints::wait(other, 1, o.r);
}

fn bar_left(o: Orders) {
    X.store(1, o.w); //@bar-wx
    o.fence();
    ravelin_hints::wait(&Y, 0, o.r);
}

fn bar_right(o: Orders, value: u32) {
    Y.store(1, o.w);
    o.fence();
    ravelin_hints::wait(&X, value, o.r); //@bar-rx
}

/// An increment is missed by a weak compare-exchange, which may fail spuriously; a strong one that reads the value from
/// before the increment would have to succeed, and then it would squeeze in between.
fn cas_left(o: Orders) {
    X.fetch_add(1, o.w); //@cas-wx
    Y.load(o.r);
}

fn cas_right(o: Orders, kind: &str) {
    Y.store(1, o.w);
    let _ = match kind {
        "weak" => ravelin_hints::cas_weak(&X, 0, 2, Ordering::AcqRel, o.r), //@cas-x
        "strong" => ravelin_hints::cas_strong(&X, 0, 2, Ordering::AcqRel, o.r),
        _ => {
            ravelin_hints::bcas(&X, 1, 2, Ordering::AcqRel);
            Ok(1)
        }
    };
}

fn types_left(o: Orders) {
    TX.store(1, o.w); //@ty-wx
    TY.load(o.r);
}

fn types_right(o: Orders) {
    TY.store(1, o.w);
    TX.load(o.r); //@ty-rx
}
