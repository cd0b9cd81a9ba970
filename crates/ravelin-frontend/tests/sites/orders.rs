//! How texts with stronger and weaker orders look, language by language.

use super::same::check;
use expect_test::{Expect, expect};
use ravelin_frontend::Language;
use ravelin_frontend::sites::{RepairKind, SiteRequest};
use ravelin_program::{Change, FenceStrength, Lowering};

const STRONGER: SiteRequest = SiteRequest::new(RepairKind::Strengthen);

/// The text with all orders as strong as they can be below seq_cst, and no fence.
fn claim_orders(text: &str, language: Language, expected: Expect) {
    let found = check("text", text, language, &STRONGER, 20);
    let kinds = [FenceStrength::AcqRel, FenceStrength::StoreStore, FenceStrength::Acquire];
    let strongest = |number: usize| Some((number, kinds.into_iter().find(|&kind| found.can_have(number, kind))?));
    let stronger = (0..found.sites.len()).filter(|&number| matches!(found.sites[number].change, Change::Order(_)));
    let chosen: Vec<(usize, FenceStrength)> = stronger.filter_map(strongest).collect();
    let names: Vec<&str> = chosen.iter().map(|(number, _)| found.sites[*number].name.as_str()).collect();
    expected.assert_eq(&format!("{}\n{}", names.join(", "), found.text(&chosen).expect("a text")));
}

/// The text with all orders as weak as they can be, the second with every fence and order that may be acquire so.
fn claim_weaker(text: &str, language: Language, relaxed: Expect, acquire: Expect) {
    let request = SiteRequest { existing: true, lower: Lowering::Accesses, ..STRONGER };
    let found = check("text", text, language, &request, 20);
    relaxed.assert_eq(&found.text(&[]).expect("a text"));
    let weak = |&number: &usize| !matches!(found.sites[number].change, Change::Insert { .. });
    let kind = FenceStrength::Acquire;
    let chosen = (0..found.sites.len()).filter(weak).filter(|&number| found.can_have(number, kind));
    let chosen: Vec<(usize, FenceStrength)> = chosen.map(|number| (number, kind)).collect();
    acquire.assert_eq(&found.text(&chosen).expect("a text"));
}

#[test]
fn orders_of_rav_become_weaker() {
    let text = "static x; static a: [_; 2];
thread p[2] {
    x.store(a[x.load(seq_cst)].load(/* why */ acquire), seq_cst);
    fence(); // full
    let r = (x.fetch_add(1, acq_rel));
    let (old, ok) = x.compare_exchange(0, 1, seq_cst);
    if x.compare_exchange_weak(0, 1, release, acquire).is_err() && wait(x == 1 || x == 2, acquire) == r {
        x.bcas(1, 2, seq_cst,);
    } else if x.swap(1, seq_cst) == 0 { x.write(x.read()); }
    while { fence(acq_rel); a[1].load(seq_cst) == 1 } { r += x.load(acquire); }
    x.store(1);
}
";
    claim_weaker(
        text,
        Language::Rav,
        expect![[r#"
        static x; static a: [_; 2];
        thread p[2] {
            x.store(a[x.load()].load(/* why */ ));
            // full
            let r = (x.fetch_add(1));
            let (old, ok) = x.compare_exchange(0, 1);
            if x.compare_exchange_weak(0, 1).is_err() && wait(x == 1 || x == 2) == r {
                x.bcas(1, 2,);
            } else if x.swap(1) == 0 { x.write(x.read()); }
            while { a[1].load() == 1 } { r += x.load(); }
            x.store(1);
        }
    "#]],
        expect![[r#"
        static x; static a: [_; 2];
        thread p[2] {
            x.store(a[x.load(acquire)].load(/* why */ acquire));
            fence(acquire); // full
            let r = (x.fetch_add(1, acquire));
            let (old, ok) = x.compare_exchange(0, 1, acquire);
            if x.compare_exchange_weak(0, 1, acquire, acquire).is_err() && wait(x == 1 || x == 2, acquire) == r {
                x.bcas(1, 2, acquire,);
            } else if x.swap(1, acquire) == 0 { x.write(x.read()); }
            while { fence(acquire); a[1].load(acquire) == 1 } { r += x.load(acquire); }
            x.store(1);
        }
    "#]],
    );
}

#[test]
fn orders_of_c_become_weaker() {
    let text = "C orders
{}
P0 (atomic_int* x, atomic_int* y, int* z) {
  int r = atomic_load(x);
  atomic_store(y, (atomic_load_explicit(x, memory_order_seq_cst)) + 1);
  r = atomic_fetch_add(x, 1);
  if (atomic_compare_exchange_strong_explicit(x, z, 1, memory_order_seq_cst, memory_order_seq_cst) || *z) atomic_store(x, 1);
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_compare_exchange_weak(x, z, (2))) atomic_thread_fence(memory_order_acquire);
}
exists (x=1)
";
    claim_weaker(
        text,
        Language::Litmus,
        expect![[r#"
        C orders
        {}
        P0 (atomic_int* x, atomic_int* y, int* z) {
          int r = atomic_load_explicit(x, memory_order_relaxed);
          atomic_store_explicit(y, (atomic_load_explicit(x, memory_order_relaxed)) + 1, memory_order_relaxed);
          r = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);
          if (atomic_compare_exchange_strong_explicit(x, z, 1, memory_order_relaxed, memory_order_relaxed) || *z) atomic_store_explicit(x, 1, memory_order_relaxed);
          if (atomic_compare_exchange_weak_explicit(x, z, (2), memory_order_relaxed, memory_order_relaxed)) ;
        }
        exists (x=1)
    "#]],
        expect![[r#"
        C orders
        {}
        P0 (atomic_int* x, atomic_int* y, int* z) {
          int r = atomic_load_explicit(x, memory_order_acquire);
          atomic_store_explicit(y, (atomic_load_explicit(x, memory_order_acquire)) + 1, memory_order_relaxed);
          r = atomic_fetch_add_explicit(x, 1, memory_order_acquire);
          if (atomic_compare_exchange_strong_explicit(x, z, 1, memory_order_acquire, memory_order_acquire) || *z) atomic_store_explicit(x, 1, memory_order_relaxed);
          atomic_thread_fence(memory_order_acquire);
          if (atomic_compare_exchange_weak_explicit(x, z, (2), memory_order_acquire, memory_order_acquire)) atomic_thread_fence(memory_order_acquire);
        }
        exists (x=1)
    "#]],
    );
}

#[test]
fn orders_of_tpl_become_weaker() {
    let text = "global x, y;
na z;
fn p {
  local r;
  x.store((r), rel);
  r = x.load(acq); r = y.load( // )
  );
  A: r = CAS(x, 0, (1), acq, rel);
  fence;
  BCAS(y, 0, 1, rlx, rel);
  wait(x, 0, 1, acq);
  B: fence(acq_rel);
}
";
    claim_weaker(
        text,
        Language::Rocker,
        expect![[r#"
        global x, y;
        na z;
        fn p {
          local r;
          x.store((r), rlx);
          r = x.load(rlx); r = y.load( // )
          );
          A: r = CAS(x, 0, (1), rlx, rlx);
          BCAS(y, 0, 1, rlx, rlx);
          wait(x, 0, 1, rlx);
          B: skip;
        }
    "#]],
        expect![[r#"
        global x, y;
        na z;
        fn p {
          local r;
          x.store((r), rlx);
          r = x.load(acq); r = y.load( // )
          acq);
          A: r = CAS(x, 0, (1), acq, rlx);
          fence(acq);
          BCAS(y, 0, 1, acq, rlx);
          wait(x, 0, 1, acq);
          B: fence(acq);
        }
    "#]],
    );
}

#[test]
fn orders_of_rav_are_added_or_replaced() {
    let text = "static x; static a: [_; 2];
thread p[2] {
    x.store(a[x.load()].load(/* why */), relaxed);
    let r = (x.fetch_add(1, acquire));
    let (old, ok) = x.compare_exchange(0, 1);
    if x.compare_exchange_weak(0, 1, release, relaxed).is_err() && wait(x == 1 || x == 2) == r {
        let f = x.compare_exchange(0, 1, acq_rel).is_err();
        x.bcas(1, 2,);
    } else if x.swap(1, seq_cst) == 0 { x.write(x.read()); }
    while a[1].load(relaxed) == 1 { r += x.load(acquire); }
    x.compare_exchange(0, 1, seq_cst, relaxed);
    lock(a[x.load()]);
}
";
    claim_orders(
        text,
        Language::Rav,
        expect![[r#"
            L3.15:order, L3.13:order, L3.5:order, L4:order, L5:order, L5:failure, L6.8:order, L6:failure, L6.68:order, L8:order, L10:order, L11:failure, L12:order
            static x; static a: [_; 2];
            thread p[2] {
                x.store(a[x.load(acquire)].load(/* why */acquire), release);
                let r = (x.fetch_add(1, acq_rel));
                let (old, ok) = x.compare_exchange(0, 1, acq_rel);
                if x.compare_exchange_weak(0, 1, acq_rel, acquire).is_err() && wait(x == 1 || x == 2, acquire) == r {
                    let f = x.compare_exchange(0, 1, acq_rel).is_err();
                    x.bcas(1, 2, acq_rel,);
                } else if x.swap(1, seq_cst) == 0 { x.write(x.read()); }
                while a[1].load(acquire) == 1 { r += x.load(acquire); }
                x.compare_exchange(0, 1, seq_cst, acquire);
                lock(a[x.load(acquire)]);
            }
        "#]],
    );
}

#[test]
fn orders_of_c_are_replaced_where_they_are_written() {
    let text = "C orders
{}
P0 (atomic_int* x, atomic_int* y, int* z) {
  int r = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, (atomic_load_explicit(x, memory_order_relaxed)) + 1, memory_order_relaxed);
  r = atomic_fetch_add_explicit(x, 1, memory_order_release);
  if (atomic_compare_exchange_strong_explicit(x, z, 1, memory_order_acq_rel, memory_order_relaxed) || *z) atomic_store(x, 1);
  while (atomic_exchange_explicit(y, 1, memory_order_relaxed) == 1) *z = atomic_load(y);
  r = atomic_load_explicit(x, memory_order_acquire);
}
exists (x=1)
";
    claim_orders(
        text,
        Language::Litmus,
        expect![[r#"
            L4:order, L5.28:order, L5.3:order, L6:order, L7:failure, L8:order
            C orders
            {}
            P0 (atomic_int* x, atomic_int* y, int* z) {
              int r = atomic_load_explicit(x, memory_order_acquire);
              atomic_store_explicit(y, (atomic_load_explicit(x, memory_order_acquire)) + 1, memory_order_release);
              r = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);
              if (atomic_compare_exchange_strong_explicit(x, z, 1, memory_order_acq_rel, memory_order_acquire) || *z) atomic_store(x, 1);
              while (atomic_exchange_explicit(y, 1, memory_order_acq_rel) == 1) *z = atomic_load(y);
              r = atomic_load_explicit(x, memory_order_acquire);
            }
            exists (x=1)
        "#]],
    );
}

#[test]
fn orders_of_tpl_are_added_or_replaced() {
    let text = "global x, y;
na z;
fn p {
  local r;
  x.store((r));
  r = x.load(rlx); r = y.load( // )
  );
  A: r = CAS(x, 0, (1));
  BCAS(y, 0, 1, rlx, rel);
  wait(x, 0, 1);
  r = FADD(x, 1, acq, rlx);
  r = z.naload();
  exchange(x, 1, acq, rel);
}
";
    claim_orders(
        text,
        Language::Rocker,
        expect![[r#"
        L5:order, L6.3:order, L6.20:order, L8:order, L9:order, L10:order, L11:order
        global x, y;
        na z;
        fn p {
          local r;
          x.store((r), rel);
          r = x.load(acq); r = y.load( // )
          acq);
          A: r = CAS(x, 0, (1), acq, rel);
          BCAS(y, 0, 1, acq, rel);
          wait(x, 0, 1, acq);
          r = FADD(x, 1, acq, rel);
          r = z.naload();
          exchange(x, 1, acq, rel);
        }
    "#]],
    );
}
