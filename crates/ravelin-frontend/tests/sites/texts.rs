//! How changed texts look, language by language, and what sites are called.

use super::same::check;
use expect_test::{Expect, expect};
use ravelin_frontend::Language;
use ravelin_frontend::sites::{RepairKind, SiteRequest, Sites};
use ravelin_program::{Change, FenceStrength};

const FENCES: SiteRequest = SiteRequest::new(RepairKind::Fence);
const EXISTING: SiteRequest = SiteRequest { existing: true, ..SiteRequest::new(RepairKind::Fence) };
const LOCKS: SiteRequest = SiteRequest::new(RepairKind::Rmw);

/// The sites, the text with all of them, and the text with none.
fn claim(text: &str, language: Language, request: &SiteRequest, all: Expect, none: Option<Expect>) -> Sites {
    let found = check("text", text, language, request, 20);
    let chosen: Vec<(usize, FenceStrength)> =
        (0..found.sites.len()).map(|number| (number, FenceStrength::Full)).collect();
    let sites = found.sites.iter().map(|site| {
        let change = match site.change {
            Change::Insert { after_label: true } => " after its label",
            Change::Insert { after_label: false } => "",
            Change::Keep => " kept",
            Change::Lock => " locked",
            Change::Order(_) => " order",
        };
        format!("{}{change} ({})", site.name, site.edges.len())
    });
    let sites = sites.collect::<Vec<_>>().join(", ");
    all.assert_eq(&format!("{sites}\n{}", found.text(&chosen).expect("a text")));
    if let Some(none) = none {
        none.assert_eq(&found.text(&[]).expect("a text"));
    }
    found
}

#[test]
fn a_fence_in_rav_gets_a_line_or_a_place_in_one() {
    let text = "static x;
static y;

thread p[2] {
    loop {
        // Nothing is pending here at first.
        x.store(1);
        if y.load() == 0 { x.store(0); }
        @critical;
        choose { y.store(1); } or {}
    }
}

never p[0]@critical && p[1]@critical;
";
    claim(
        text,
        Language::Rav,
        &FENCES,
        expect![[r#"
        L8.9 (2), L8.28 (2), L9 (4), L8.40 (2), L11 (4), L10 (2)
        static x;
        static y;

        thread p[2] {
            loop {
                // Nothing is pending here at first.
                x.store(1);
                fence();
                if y.load() == 0 { fence(); x.store(0); fence(); }
                fence();
                @critical;
                choose { y.store(1); fence(); } or {}
                fence();
            }
        }

        never p[0]@critical && p[1]@critical;
    "#]],
        None,
    );
}

#[test]
fn fences_of_rav_can_be_taken_away() {
    let text = "static x;
thread t {
    x.store(1);
    fence();
    fence(release); // in order
    x.store(2); fence(); x.store(3);
}
";
    claim(
        text,
        Language::Rav,
        &EXISTING,
        expect![[r#"
            L6.5 (1), L7 (1), L4 kept (1), L5 kept (1), L6.17 kept (1)
            static x;
            thread t {
                x.store(1);
                fence();
                fence(release); // in order
                fence();
                x.store(2); fence(); x.store(3);
                fence();
            }
        "#]],
        Some(expect![[r#"
        static x;
        thread t {
            x.store(1);
            // in order
            x.store(2); x.store(3);
        }
    "#]]),
    );
}

#[test]
fn stores_of_rav_become_exchanges() {
    let text = "static x: [u8; 2];
static m;
thread t {
    x[0].store(1);
    x[m.load()].store(m.load() + 1, release);
    lock(m);
    x[1].write(2);
    unlock(m);
    x[0].store(1, seq_cst);
    locked { x[0].store(3); }
}
";
    claim(
        text,
        Language::Rav,
        &LOCKS,
        expect![[r#"
        L4 locked (1), L5 locked (1), L7 locked (1), L8 locked (1)
        static x: [u8; 2];
        static m;
        thread t {
            x[0].swap(1, seq_cst);
            x[m.load()].swap(m.load() + 1, seq_cst);
            lock(m);
            x[1].swap(2, seq_cst);
            m.swap(0, seq_cst);
            x[0].store(1, seq_cst);
            locked { x[0].store(3); }
        }
    "#]],
        None,
    );
}

#[test]
fn a_loop_is_entered_gone_round_and_left() {
    let text = "static x;\nthread t {\n    x.store(1);\n    while x.load() == 1 {\n        x.store(2);\n    }\n}\n";
    let found = claim(
        text,
        Language::Rav,
        &FENCES,
        expect![[r#"
            L4.11 (2), L4.5 (1), L5 (1), L6 (1), L7 (1)
            static x;
            thread t {
                x.store(1);
                fence();
                while { fence(); x.load() == 1 } {
                    fence();
                    x.store(2);
                    fence();
                }
                fence();
            }
        "#]],
        None,
    );
    assert!(found.offers(FenceStrength::StoreStore));
    let text = found.text(&[(0, FenceStrength::StoreStore)]).expect("a text");
    assert!(text.contains("while { fence(release); x.load() == 1 } {\n"), "{text}");
}

#[test]
fn copies_of_a_parameterised_thread_share_their_sites() {
    let text = "static x; thread p[*] { x.store(1); let r = x.load(); } thread q { x.store(2); }";
    let found = check("copies", text, Language::Rav, &SiteRequest { copies: Some(3), ..FENCES }, 5);
    assert_eq!(found.program.threads.len(), 4);
    assert_eq!(found.sites.iter().map(|site| site.threads()).collect::<Vec<_>>(), [3, 3, 1]);
    let found = check("any", text, Language::Rav, &FENCES, 5);
    assert_eq!(found.sites.iter().map(|site| site.threads()).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn what_is_locked_has_no_places_inside() {
    let text = "static x; thread t { bus_lock; x.store(1); bus_unlock; locked { x.store(2); } }";
    let found = check("locked", text, Language::Rav, &FENCES, 5);
    assert_eq!(found.sites.iter().map(|site| site.name.as_str()).collect::<Vec<_>>(), ["L1.56", "L1.79"]);
}

#[test]
fn a_fence_in_an_x86_test_gets_a_row() {
    let text = "X86_64 SB
{ }
 P0            | P1            ;
 movl $1,(x)   | movl $1,(y)   ;
 movl (y),%eax | movl (x),%eax ;
               | mfence        ;
               | cmpl $0,%eax  ;
 L: nop        | je M          ;
 mfence        | M: sfence     ;
exists (0:rax=0 /\\ 1:rax=0)
";
    let found = claim(
        text,
        Language::Litmus,
        &EXISTING,
        expect![[r#"
        L5.2 (1), L5.18 (1), L8 (1), L9.21 after its label (2), L9.18 (1), L9.32 (1), L6 kept (1), L9.2 kept (1), L9.21#2 kept (1)
        X86_64 SB
        { }
         P0            | P1            ;
         movl $1,(x)   | movl $1,(y)   ;
         mfence        | mfence        ;
         movl (y),%eax | movl (x),%eax ;
                       | mfence        ;
                       | cmpl $0,%eax  ;
                       | mfence        ;
         L: nop        | je M          ;
                       | mfence        ;
                       | M: mfence     ;
         mfence        |    sfence     ;
                       | mfence        ;
        exists (0:rax=0 /\ 1:rax=0)
    "#]],
        Some(expect![[r#"
        X86_64 SB
        { }
         P0            | P1            ;
         movl $1,(x)   | movl $1,(y)   ;
         movl (y),%eax | movl (x),%eax ;
                       | cmpl $0,%eax  ;
         L: nop        | je M          ;
                       | M:            ;
        exists (0:rax=0 /\ 1:rax=0)
    "#]]),
    );
    assert!(found.text(&[(0, FenceStrength::StoreStore)]).expect("a text").contains(" sfence "));
}

#[test]
fn a_label_of_an_x86_test_moves_to_the_fence() {
    let text = "X86 loop\n{ }\n P0             ;\n MOV [x],$1     ;\n L: MOV EAX,[y] ;\n CMP EAX,$0     ;\n JE L           ;\n";
    claim(
        text,
        Language::Litmus,
        &FENCES,
        expect![[r#"
        L5.5 after its label (2), L5.2 (1), L6 (1), L7.2 (1), L7.17 (1)
        X86 loop
        { }
         P0             ;
         MOV [x],$1     ;
         MFENCE         ;
         L: MFENCE      ;
            MOV EAX,[y] ;
         MFENCE         ;
         CMP EAX,$0     ;
         MFENCE         ;
         JE L           ;
         MFENCE         ;
    "#]],
        None,
    );
}

#[test]
fn a_fence_in_a_c_test_gets_braces_where_it_needs_them() {
    let text = "C control
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  if (r0) *x = 2; else atomic_thread_fence(memory_order_seq_cst);
}

P1 (atomic_int* x) { *x = 3; }
exists (x=1)
";
    claim(
        text,
        Language::Litmus,
        &EXISTING,
        expect![[r#"
        L5 (1), L6.3 (1), L6.11 (1), L7 (2), L6.19 (1), L9 (1), L6.24 kept (1)
        C control
        {}
        P0 (atomic_int* x, atomic_int* y) {
          atomic_store_explicit(x, 1, memory_order_relaxed);
          atomic_thread_fence(memory_order_seq_cst);
          int r0 = atomic_load_explicit(y, memory_order_relaxed);
          atomic_thread_fence(memory_order_seq_cst);
          if (r0) { atomic_thread_fence(memory_order_seq_cst); { *x = 2; } atomic_thread_fence(memory_order_seq_cst); } else atomic_thread_fence(memory_order_seq_cst);
          atomic_thread_fence(memory_order_seq_cst);
        }

        P1 (atomic_int* x) { *x = 3; atomic_thread_fence(memory_order_seq_cst); }
        exists (x=1)
    "#]],
        Some(expect![[r#"
        C control
        {}
        P0 (atomic_int* x, atomic_int* y) {
          atomic_store_explicit(x, 1, memory_order_relaxed);
          int r0 = atomic_load_explicit(y, memory_order_relaxed);
          if (r0) *x = 2; else ;
        }

        P1 (atomic_int* x) { *x = 3; }
        exists (x=1)
    "#]]),
    );
    claim(
        text,
        Language::Litmus,
        &LOCKS,
        expect![[r#"
        L4 locked (1), L6 locked (1), L9 locked (1)
        C control
        {}
        P0 (atomic_int* x, atomic_int* y) {
          atomic_exchange_explicit(x, 1, memory_order_seq_cst);
          int r0 = atomic_load_explicit(y, memory_order_relaxed);
          if (r0) atomic_exchange_explicit(x, 2, memory_order_seq_cst); else atomic_thread_fence(memory_order_seq_cst);
        }

        P1 (atomic_int* x) { atomic_exchange_explicit(x, 3, memory_order_seq_cst); }
        exists (x=1)
    "#]],
        None,
    );
}

#[test]
fn a_fence_in_tpl_stands_before_or_after_a_label() {
    let text = "max_value 2;
global x, y;
fn p {
  local r;
  again: x.store(1);
  r = y.load();
  if (r == 1) goto again;
  last: fence(rel);
  oneof ({ x.store(2); } { skip; });
}
";
    let found = claim(
        text,
        Language::Rocker,
        &EXISTING,
        expect![[r#"
        L5 after its label (1), L6 (1), L7 (1), L8.3 (1), L9.3 (1), L10 (2), L9.24 (1), L9.34 (1), L8.9 kept (1)
        max_value 2;
        global x, y;
        fn p {
          local r;
          again: fence(seq_cst); x.store(1);
          fence(seq_cst);
          r = y.load();
          fence(seq_cst);
          if (r == 1) goto again;
          fence(seq_cst);
          last: fence(rel);
          fence(seq_cst);
          oneof ({ x.store(2); fence(seq_cst); } { skip; fence(seq_cst); });
          fence(seq_cst);
        }
    "#]],
        Some(expect![[r#"
        max_value 2;
        global x, y;
        fn p {
          local r;
          again: x.store(1);
          r = y.load();
          if (r == 1) goto again;
          last: skip;
          oneof ({ x.store(2); } { skip; });
        }
    "#]]),
    );
    assert!(found.text(&[(0, FenceStrength::StoreStore)]).expect("a text").contains("fence(rel);"));
}

#[test]
fn a_fence_in_a_macro_of_memorax_is_one_site_for_all_its_uses() {
    let text = "forbidden CS CS
macro set(v)
  write: v := 1;
  fence
endmacro
data x = 0
process(2)
data flag = 0
registers $r = 0
text
  L0: set(flag[my]);
      read: $r := flag[0];
      if $r = 1 then goto L0;
      set(x);
  CS: write: x := 0;
      either { nop or write: flag[my] := 0; goto L0 }
";
    let found = claim(
        text,
        Language::Memorax,
        &EXISTING,
        expect![[r#"
        L3 after its label (6), L11 after its label (4), L13.7 (2), L13.22 (2), L14 (2), L16.7 (2), L16.20 (2), L16.45 (2), L4 kept (4)
        forbidden CS CS
        macro set(v)
          fence;
          write: v := 1;
          fence
        endmacro
        data x = 0
        process(2)
        data flag = 0
        registers $r = 0
        text
          L0: fence; set(flag[my]);
              read: $r := flag[0];
              fence;
              if $r = 1 then { fence; goto L0 };
              fence;
              set(x);
          CS: write: x := 0;
              fence;
              either { nop; fence or write: flag[my] := 0; fence; goto L0 }
    "#]],
        Some(expect![[r#"
        forbidden CS CS
        macro set(v)
          write: v := 1;
          nop
        endmacro
        data x = 0
        process(2)
        data flag = 0
        registers $r = 0
        text
          L0: set(flag[my]);
              read: $r := flag[0];
              if $r = 1 then goto L0;
              set(x);
          CS: write: x := 0;
              either { nop or write: flag[my] := 0; goto L0 }
    "#]]),
    );
    assert!(found.text(&[(0, FenceStrength::StoreStore)]).expect("a text").contains("ssfence"));
    claim(
        text,
        Language::Memorax,
        &LOCKS,
        expect![[r#"
        L3 locked (4), L15 locked (2), L16 locked (2)
        forbidden CS CS
        macro set(v)
          locked write: v := 1;
          fence
        endmacro
        data x = 0
        process(2)
        data flag = 0
        registers $r = 0
        text
          L0: set(flag[my]);
              read: $r := flag[0];
              if $r = 1 then goto L0;
              set(x);
          CS: locked write: x := 0;
              either { nop or locked write: flag[my] := 0; goto L0 }
    "#]],
        None,
    );
}

#[test]
fn a_fence_of_trencher_is_a_state_or_a_way_into_one() {
    let text = "# comment
thread t1
initial q0
transition q0 q1 write 1 0
transition q1 q1\tread r 1
transition q1 q2 mfence
transition q2 q3 lock
transition q3 q4 write 1 1
transition q4 q0 unlock
end
";
    claim(
        text,
        Language::Trencher,
        &EXISTING,
        expect![[r#"
        t1:q0 after its label (1), t1:q1 after its label (2), t1:q0->q1 (1), t1:q1->q1 (1), t1:q1->q2:mfence kept (1)
        # comment
        thread t1
        initial q0
        transition q0 q0_fence mfence
        transition q0_fence q1_fence2 write 1 0
        transition q1_fence2 q1 mfence
        transition q1 q1_fence mfence
        transition q1_fence q1_fence3	read r 1
        transition q1_fence3 q1 mfence
        transition q1_fence q2 mfence
        transition q2 q3 lock
        transition q3 q4 write 1 1
        transition q4 q0 unlock
        end
    "#]],
        Some(expect![[r#"
        # comment
        thread t1
        initial q0
        transition q0 q1 write 1 0
        transition q1 q1	read r 1
        transition q1 q2 noop
        transition q2 q3 lock
        transition q3 q4 write 1 1
        transition q4 q0 unlock
        end
    "#]]),
    );
}
